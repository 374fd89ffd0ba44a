import type { LocationLink, Position } from 'vscode-languageserver';
import { toRange } from '../../../kernel/server/places.ts';
import { nodesAt, ruleAt } from './overrideAnalysis.ts';
import type { OverrideAnalysis } from './overrideAnalysis.ts';

const most = 50;

/**
 * The nodes that a selector means, as places in the model: the line is the node's position among the model's nodes
 * (subgraphs after their owner), from 0. The host turns such a place into a selection in the graph.
 */
export function overrideDefinition(analysis: OverrideAnalysis, place: Position): LocationLink[] {
  const rule = ruleAt(analysis, place);
  const { modelUri } = analysis.facts;
  if (!rule?.selector || modelUri === null) return [];
  const origin = toRange(rule.selector.range);
  return Array.from(nodesAt(analysis, rule).subarray(0, most), (node) => {
    const range = { start: { line: node, character: 0 }, end: { line: node, character: 0 } };
    return { targetUri: modelUri, targetRange: range, targetSelectionRange: range, originSelectionRange: origin };
  });
}
