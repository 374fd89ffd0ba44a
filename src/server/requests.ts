import type {
  KeepInfo,
  KeepParams,
  NodesInfo,
  PlaceParams,
  ReplayEntryInfo,
  RuleInfo,
  RuleVerdictInfo,
} from '../protocol/language.ts';
import { precisionType } from '../core/precision/precisionType.ts';
import { selectorsForNodes } from '../core/precision/selectorsForNodes.ts';
import { spanRange } from './places.ts';
import { nodesAt, ruleAt } from './precision/overrideAnalysis.ts';
import type { OverrideAnalysis } from './precision/overrideAnalysis.ts';
import { entryAt, hintText, idsOf } from './replay/replayAnalysis.ts';
import type { ReplayAnalysis } from './replay/replayAnalysis.ts';

const noNodes: NodesInfo = { nodes: [], title: '' };

/** The nodes that a place in an override file is about. */
export function overrideNodesAt(analysis: OverrideAnalysis, { line, character }: PlaceParams): NodesInfo {
  const place = ruleAt(analysis, { line, character });
  if (!place) return noNodes;
  const { index } = analysis.facts;
  const nodes = Array.from(nodesAt(analysis, place), (i) => index?.nodes[i]?.id ?? '');
  return { nodes, title: place.selector?.text ?? '' };
}

/** The nodes of the entry around a place of a replay. */
export function replayNodesAt(analysis: ReplayAnalysis, { line, character }: PlaceParams): NodesInfo {
  const entry = entryAt(analysis, { line, character });
  const hint = analysis.hints.find((one) => one.entry === entry);
  return hint ? { nodes: idsOf(analysis, hint), title: hint.entry.layer } : noNodes;
}

/** Each usable rule with the nodes for which it decides. */
export function ruleInfos({ check, facts }: OverrideAnalysis): RuleInfo[] {
  const { resolution } = check;
  if (!resolution || !facts.index) return [];
  const nodes = check.rules.map((): string[] => []);
  for (const [i, rule] of resolution.winner.entries()) nodes[rule]?.push(facts.index.nodes[i]?.id ?? '');
  return check.rules.flatMap(({ rule, line }, i) => {
    if (!rule.usable || !rule.type?.type) return [];
    const range = { line: line - 1, start: rule.range.column - 1, end: rule.range.endColumn - 1 };
    return [{ range, nodes: nodes[i] ?? [], type: rule.type.type }];
  });
}

/** What became of each rule in the last build. */
export function verdictInfos(analysis: OverrideAnalysis): RuleVerdictInfo[] {
  return analysis.verdicts().map(({ line, verdict, certain, message, counts, nodes }) => ({
    line: line - 1,
    verdict,
    certain,
    message,
    counts,
    nodes: nodes.map(({ node, verdict: own, reason }) => ({ id: node.id, verdict: own, reason })),
  }));
}

/** The lines to add so that nodes get a type; nodes that a rule gives it already are left out. */
export function keepInfo(analysis: OverrideAnalysis, { nodes, type }: KeepParams): KeepInfo {
  const { facts, check, document, build } = analysis;
  const { index } = facts;
  const wanted = precisionType(type);
  if (!index || wanted === null) return { text: '', selectors: [] };
  const ids = new Set(nodes);
  const positions: number[] = [];
  // A pattern may take along what has the type already.
  const kept = new Set<number>();
  for (const [i, node] of index.nodes.entries()) {
    if (node.role !== 'compute') continue;
    const rule = check.rules[check.resolution?.winner[i] ?? -1]?.rule;
    if (rule?.type?.type !== wanted) {
      if (ids.has(node.id)) positions.push(i);
    } else if (rule.outputs.length === 0) kept.add(i);
  }
  const selectors = selectorsForNodes(positions, index, build, kept);
  const width = Math.min(64, Math.max(0, ...selectors.map(({ length }) => length)));
  const lines = selectors.map((selector) => `${selector.padEnd(width)}  ${wanted}\n`).join('');
  const text = document.getText();
  return { text: lines === '' || text === '' || text.endsWith('\n') ? lines : `\n${lines}`, selectors };
}

/** The entries of a replay with what their layers swallowed. */
export function replayEntryInfos(analysis: ReplayAnalysis): ReplayEntryInfo[] {
  return analysis.hints.map((hint) => {
    const { start, end } = spanRange(analysis.document, hint.entry.key);
    return {
      layer: hint.entry.layer,
      range: { startLine: start.line, startCharacter: start.character, endLine: end.line, endCharacter: end.character },
      kind: hint.kind,
      nodes: idsOf(analysis, hint),
      exact: hint.exact,
      text: hintText(hint),
    };
  });
}
