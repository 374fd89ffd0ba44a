import { tensorPrecision } from '../../engine/tensorPrecision.ts';
import type { FusionReport } from '../../fusion/fusionReport.ts';
import type { GraphNode } from '../panel/viewData.ts';
import type { GraphIndex } from './graphIndex.ts';
import { matcher, wordsOf } from './searchWords.ts';
import type { Match } from './searchWords.ts';

export interface GraphSearchResult {
  /** Points that match, in the graph's order. */
  points: number[];
  /** What is wrong with the query, as text; '' otherwise. */
  problem: string;
}

/** Words before a colon that say where to look; without one, names and operators are searched. */
export const searchFields = ['op', 'name', 'tensor', 'layer', 'kernel', 'group', 'fate', 'dtype', 'id'] as const;
type Field = (typeof searchFields)[number];

/** Fields that must match as a whole. */
const wholeFields: ReadonlySet<Field | null> = new Set(['op', 'fate', 'dtype', 'id'] as const);

interface Test {
  field: Field | null;
  match: Match;
}

/**
 * Finds nodes, inputs and outputs. A query is words, all of which must match: `softmax`, `op:MatMul`, `tensor:mask`,
 * `layer:_gemm_mha`, `kernel:sm80`, `group:0` (ForeignNode 0), `fate:folded`, `dtype:fp16` (a type that it writes, in the
 * model or in the engine), `name:/^.blocks\.3/`. A word between slashes is a regular expression, others are plain text
 * without regard to case, with spaces between double quotes; `op:`, `fate:`, `dtype:` and `id:` want the whole text
 * unless it is an expression. '' finds nothing.
 */
export function searchGraph(graph: GraphIndex, report: FusionReport | null, query: string): GraphSearchResult {
  const tests: Test[] = [];
  for (const word of wordsOf(query)) {
    const [field, text] = fieldOf(word);
    if (text === '') continue;
    // The number of a ForeignNode is not part of another one's.
    const isNumber = field === 'group' && /^\d+$/.test(text);
    const match = matcher(isNumber ? `ForeignNode ${text}` : text, isNumber || wholeFields.has(field));
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
  return field === undefined ? [null, unquoted(word)] : [field, unquoted(word.slice(at + 1))];
}

/** `"ForeignNode 0"` without its quotes. */
const unquoted = (text: string): string => /^"(.*)"$/.exec(text)?.[1] ?? text;

/** What the report says is looked up by layer, tensor and fate: the ids of all nodes that match. */
function reportMatches(report: FusionReport | null, tests: Test[]): Map<Match, Set<string>> {
  const found = new Map<Match, Set<string>>();
  for (const { field, match } of tests) {
    const find = field === null ? undefined : inReport[field];
    if (find !== undefined) found.set(match, new Set(report === null ? [] : find(report, match)));
  }
  return found;
}

/** The ids of the nodes that match in a field that only the report knows. */
const inReport: Partial<Record<Field, (report: FusionReport, match: Match) => string[]>> = {
  fate: ({ nodes }, match) => nodes.filter(({ fate }) => match(fate)).map(({ id }) => id),
  layer: ({ layers, foreignNodes }, match) => nodesOf([...layers, ...foreignNodes].filter(({ name }) => match(name))),
  kernel: ({ layers }, match) =>
    nodesOf(layers.filter(({ name, kind, tactic }) => match(tactic ?? '') || (kind === 'kernel' && match(name)))),
  group: ({ layers, foreignNodes }, match) => [
    ...nodesOf(foreignNodes.filter(({ id, name }) => match(`ForeignNode ${id}`) || match(name))),
    ...nodesOf(layers.filter(({ foreignNode, name }) => foreignNode === null && match(name))),
  ],
  dtype: ({ layers, tensors }, match) => [
    ...tensors.flatMap(({ producer, type }) =>
      producer !== null && type !== null && typeNames(type).some(match) ? [producer] : [],
    ),
    ...nodesOf(
      layers.filter(({ outputs }) => outputs.some((output) => typeNames(tensorPrecision(output) ?? '').some(match))),
    ),
  ],
};

const nodesOf = (all: readonly { nodes: readonly string[] }[]): string[] => all.flatMap(({ nodes }) => nodes);

/** A type by all its names: ONNX's, TensorRT's and the short one. */
const typeNames = (type: string): readonly string[] =>
  sameTypes.find((names) => names.includes(type.toLowerCase())) ?? [type];

const sameTypes: readonly (readonly string[])[] = [
  ['fp32', 'float', 'float32'],
  ['fp16', 'float16', 'half'],
  ['bf16', 'bfloat16'],
  ['fp8', 'float8e4m3fn'],
  ['fp4', 'float4e2m1'],
];

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
  const node = data.nodes[point]!;
  if (said.get(match)?.has(node.id) === true) return true;
  return field === null ? isCalled(node, match) || match(node.op) : (inNode[field]?.(node, match, graph) ?? false);
}

/** By its name, or by what its box shows instead: a layer of an engine has there what it was made from. */
const isCalled = ({ name, scope = '', label }: GraphNode, match: Match): boolean =>
  match(name) || (label !== undefined && match(`${scope}/${label}`));

/** Whether a node matches in a field that the model knows. */
const inNode: Partial<Record<Field, (node: GraphNode, match: Match, graph: GraphIndex) => boolean>> = {
  op: ({ op }, match) => match(op),
  name: isCalled,
  id: ({ id }, match) => match(id),
  tensor: ({ inputs, outputs }, match) => inputs.some(match) || outputs.some(match),
  dtype: ({ outputs }, match, { tensors }) =>
    outputs.some((output) => typeNames(tensors.get(output)?.type ?? '').some(match)),
};
