import type { FusionReport } from '../../fusion/fusionReport.ts';
import type { GraphIndex } from './graphIndex.ts';
import { matcher, wordsOf } from './searchWords.ts';
import type { Match } from './searchWords.ts';

export interface SearchResult {
  /** Points that match, in the graph's order. */
  points: number[];
  /** What is wrong with the query, as text; '' otherwise. */
  problem: string;
}

/** Words before a colon that say where to look; without one, names and operators are searched. */
export const searchFields = ['op', 'name', 'tensor', 'layer', 'fate', 'id'] as const;
type Field = (typeof searchFields)[number];

/**
 * Finds nodes, inputs and outputs. A query is words, all of which must match: `softmax`, `op:MatMul`, `tensor:mask`,
 * `layer:_gemm_mha`, `fate:folded`, `name:/^.blocks\.3/`. A word between slashes is a regular expression, others are
 * plain text without regard to case; `op:` wants the whole operator unless it is an expression. '' finds nothing.
 */
export function searchGraph(graph: GraphIndex, report: FusionReport | null, query: string): SearchResult {
  const tests: { field: Field | null; match: Match }[] = [];
  for (const word of wordsOf(query)) {
    const [field, text] = fieldOf(word);
    if (text === '') continue;
    const match = matcher(text, field === 'op' || field === 'fate' || field === 'id');
    if (match === null) return { points: [], problem: `${text} is not a regular expression` };
    tests.push({ field, match });
  }
  if (tests.length === 0) return { points: [], problem: '' };
  const said = reportMatches(report, tests);
  const points: number[] = [];
  for (const point of graph.order) {
    if (tests.every(({ field, match }) => matches(graph, said, point, field, match))) points.push(point);
  }
  return { points, problem: '' };
}

function fieldOf(word: string): [Field | null, string] {
  const at = word.indexOf(':');
  const field = searchFields.find((name) => name === word.slice(0, Math.max(0, at)).toLowerCase());
  return field === undefined ? [null, word] : [field, word.slice(at + 1)];
}

/** What the report says is looked up by layer and by fate, which are fewer than nodes: the ids of all nodes that match. */
function reportMatches(
  report: FusionReport | null,
  tests: { field: Field | null; match: Match }[],
): Map<Match, Set<string>> {
  const found = new Map<Match, Set<string>>();
  for (const { field, match } of tests) {
    if (field !== 'layer' && field !== 'fate') continue;
    const ids = new Set<string>();
    found.set(match, ids);
    if (report === null) continue;
    if (field === 'fate') for (const { id, fate } of report.nodes) if (match(fate)) ids.add(id);
    if (field === 'layer') {
      for (const { name, nodes } of [...report.layers, ...report.foreignNodes]) {
        if (match(name)) for (const id of nodes) ids.add(id);
      }
    }
  }
  return found;
}

function matches(
  graph: GraphIndex,
  said: Map<Match, Set<string>>,
  point: number,
  field: Field | null,
  match: Match,
): boolean {
  const { data, nodes } = graph;
  if (point >= nodes) {
    const name = (data.inputs[point - nodes] ?? data.outputs[point - nodes - data.inputs.length])?.name ?? '';
    return (field === null || field === 'name' || field === 'tensor') && match(name);
  }
  const { id, name, op, inputs, outputs } = data.nodes[point]!;
  switch (field) {
    case null:
      return match(name) || match(op);
    case 'op':
      return match(op);
    case 'name':
      return match(name);
    case 'id':
      return match(id);
    case 'tensor':
      return inputs.some(match) || outputs.some(match);
    case 'layer':
    case 'fate':
      return said.get(match)?.has(id) ?? false;
  }
}
