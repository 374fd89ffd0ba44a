import type { CodeLens } from 'vscode-languageserver';
import { command } from '../../../kernel/server/lensCommand.ts';
import { languageCommands } from '../../../kernel/protocol/language.ts';
import { toRange } from '../../../kernel/server/places.ts';
import type { OverrideAnalysis } from './overrideAnalysis.ts';
import { counted } from '../../../kernel/base/text.ts';

/** Nodes that one lens takes along; the graph cannot show more at once in a way that says something. */
const mostNodes = 20_000;

/**
 * So many nodes of a file are in its lenses from the start. A lens that is still to be filled in keeps the command of
 * before on the screen for a while, which the editor may have forgotten already: a click on it does nothing.
 */
const filledAtOnce = 200;

/** Above the file: build, apply, verify. Above each rule: its nodes in the graph. */
export function overrideLenses(analysis: OverrideAnalysis): CodeLens[] {
  const { check, document, facts, file } = analysis;
  const top = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
  const uri = document.uri;
  const lenses: CodeLens[] = [];
  if (file.rules.some(({ usable }) => usable) || file.base?.usable) {
    lenses.push({ range: top, command: command('Build with these', languageCommands.buildWithOverrides, { uri }) });
    lenses.push({ range: top, command: command('Apply to the model', languageCommands.applyOverrides, { uri }) });
    if (analysis.build)
      lenses.push({
        range: top,
        command: command('Verify against the last build', languageCommands.verifyOverrides, { uri }),
      });
  }
  const { index } = facts;
  if (!index) return lenses;
  let left = filledAtOnce;
  for (const [position, { rule }] of check.rules.entries()) {
    const nodes = check.resolution?.matches[position]?.nodes;
    if (!rule.usable || !nodes || nodes.length === 0) continue;
    const lens = { range: toRange(rule.range), data: { uri, rule: position } };
    const isFew = nodes.length <= left;
    lenses.push(isFew ? resolveOverrideLens(analysis, lens) : lens);
    if (isFew) left -= nodes.length;
  }
  return lenses;
}

/** Fills in a rule's lens, most of them when they come into view: lists of nodes are long, and most are never seen. */
export function resolveOverrideLens(analysis: OverrideAnalysis, lens: CodeLens): CodeLens {
  const position = ruleOf(lens.data);
  const nodes = analysis.check.resolution?.matches[position]?.nodes ?? new Int32Array(0);
  const ids = Array.from(nodes.subarray(0, mostNodes), (i) => analysis.facts.index?.nodes[i]?.id ?? '');
  const title = `Show ${counted(nodes.length, 'node')} in the graph`;
  return { ...lens, command: command(title, languageCommands.showNodes, { uri: analysis.document.uri, nodes: ids }) };
}

function ruleOf(data: unknown): number {
  return typeof data === 'object' && data !== null && 'rule' in data && typeof data.rule === 'number' ? data.rule : -1;
}
