import type { Position } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { checkOverrides, type PrecisionCheck } from '../checkOverrides.ts';
import { type OverrideFile, problemAt, type Selector } from '../../../kernel/rules/overrideFile.ts';
import { readOverrides } from '../../../kernel/rules/readOverrides.ts';
import {
  type NodeVerdict,
  planPrecision,
  type RuleFacts,
  type RuleVerdict,
} from '../../../kernel/rules/precisionPlan.ts';
import { verifyPrecision } from '../../../kernel/rules/verifyPrecision.ts';
import type { DocumentFacts } from '../../../kernel/server/facts.ts';
import { isInside } from '../../../kernel/server/places.ts';

/** An override file in its current state, checked against what is known. Every feature starts from it. */
export interface OverrideAnalysis {
  document: TextDocument;
  facts: DocumentFacts;
  file: OverrideFile;
  check: PrecisionCheck;
  /** The build, if it is one of this very model. */
  build: DocumentFacts['build'];
  /** What happened to the rules in the last build; made when it is first asked for. */
  verdicts(): RuleVerdict[];
}

/** `before`: the file as it was read last, of which unchanged lines are taken over. */
export function analyzeOverrides(
  document: TextDocument,
  facts: DocumentFacts,
  before: OverrideFile | null = null,
): OverrideAnalysis {
  const file = readOverrides(document.getText(), before);
  const check = checkOverrides(file, facts.index, facts.build, facts.target, facts.scales);
  const { scales } = file;
  if (scales?.usable && facts.scales && facts.scales.problem !== '')
    check.problems.push(problemAt(scales.valueRange, 'error', 'scales-unreadable', facts.scales.problem));
  const { index } = facts;
  const build = facts.build && index && facts.build.nodes.length === index.nodes.length ? facts.build : null;
  let verdicts: RuleVerdict[] | null = null;
  return {
    document,
    facts,
    file,
    check,
    build,
    verdicts() {
      if (!build || !index || !check.resolution) return [];
      verdicts ??= verifyPrecision(planPrecision(file, index, check.resolution), build, index);
      return verdicts;
    },
  };
}

/** What is under the cursor: a selector of a rule, or the rule alone. */
export interface RulePlace {
  position: number;
  facts: RuleFacts;
  selector: Selector | null;
  /** Position of the selector in the rule. */
  selectorPosition: number;
}

export function ruleAt({ check }: OverrideAnalysis, place: Position): RulePlace | null {
  const position = check.rules.findIndex(({ line }) => line === place.line + 1);
  const facts = check.rules[position];
  if (!facts) return null;
  const selectorPosition = facts.rule.selectors.findIndex(({ range }) => isInside(range, place));
  return { position, facts, selector: facts.rule.selectors[selectorPosition] ?? null, selectorPosition };
}

/** Nodes (positions) that a place is about: a selector's, or all of its rule. */
export function nodesAt(analysis: OverrideAnalysis, place: RulePlace): Int32Array {
  const match = analysis.check.resolution?.matches[place.position];
  if (!match) return new Int32Array(0);
  return place.selector ? (match.selected[place.selectorPosition] ?? match.nodes) : match.nodes;
}

/** The verdict on one node of the model, if a rule applies to it. */
export function verdictOf(analysis: OverrideAnalysis, position: number): NodeVerdict | null {
  for (const { nodes } of analysis.verdicts()) {
    const found = nodes.find(({ node }) => node.position === position);
    if (found) return found;
  }
  return null;
}
