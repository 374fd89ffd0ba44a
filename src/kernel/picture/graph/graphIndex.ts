// Look-ups and the search.
import { addTo } from '../../base/addTo.ts';
import { type EngineTensor, tensorPrecision } from '../../read/tensorrt/buildOutput.ts';
import { foreignNumber, type FusionReport, type ReportTensor } from '../../fusion/fusionReport.ts';
import type {
  FloatIsland,
  Misplaced,
  Quantization,
  QuantizedPair,
  TensorScale,
} from '../../quantization/quantization.ts';
import { layerOf } from '../../report/words.ts';
import { type CompressedRows, rowsBy, SmallestFirst } from '../layout/layoutTypes.ts';
import type { GraphData, GraphNode, GraphTensor } from './viewData.ts';

/**
 * A graph with everything numbered, for views that must answer within a frame. Points are numbered in this order:
 * the model's nodes (as in `data.nodes`), its inputs, its outputs. Lists over points are in compressed rows: the edges
 * that leave point p are `outEdges[outStart[p]] … outEdges[outStart[p + 1] - 1]`, each a position in `from`, `to`, `tensor`.
 */
export interface GraphIndex {
  data: GraphData;
  /** Number of the model's nodes; points from here on are its inputs, then its outputs. */
  nodes: number;
  points: number;
  byId: Map<string, number>;
  from: Int32Array;
  to: Int32Array;
  /** Position in `tensorNames` of what an edge carries. */
  tensor: Int32Array;
  tensorNames: string[];
  outStart: Int32Array;
  outEdges: Int32Array;
  inStart: Int32Array;
  inEdges: Int32Array;
  /** For a node of a subgraph its owner's point, otherwise -1. */
  owner: Int32Array;
  /** For a node of a subgraph the attribute that holds it (`then_branch`), else ''. */
  branch: string[];
  /** Points in an order in which every edge runs forward, as close to the file's order as that allows. */
  order: Int32Array;
  /** Position of each point in `order`. */
  rank: Int32Array;
  /** Tensors by name; one that has `producer` by `tensorKey`. */
  tensors: Map<string, GraphTensor>;
}

/** Where `GraphIndex.tensors` has a tensor whose name is that of an earlier one. */
export const tensorKey = (producer: string, name: string): string => `${producer}\n${name}`;

/**
 * Numbers a graph's points and edges in one pass. Names that nothing produces are no edges (weights, a subgraph's own
 * inputs); of two nodes that claim the same output, the last one before the reader wins, as in ONNX Runtime's checker.
 * Cycles, which a broken file can hold, are cut at the node that comes first in the file.
 */
export function indexGraph(data: GraphData): GraphIndex {
  const nodes = data.nodes.length;
  const points = nodes + data.inputs.length + data.outputs.length;
  const byId = new Map<string, number>();
  data.nodes.forEach(({ id }, point) => byId.set(id, point));
  data.inputs.forEach(({ name }, i) => byId.set(`input:${name}`, nodes + i));
  data.outputs.forEach(({ name }, i) => byId.set(`output:${name}`, nodes + data.inputs.length + i));

  const scope = scopesOf(data, byId);
  const edges = collectEdges(data, scope.paths);
  const outgoing = rowsBy(points, edges.from);
  const incoming = rowsBy(points, edges.to);
  const order = topologicalOrder(data, edges, outgoing, incoming.start);
  const rank = new Int32Array(points);
  order.forEach((point, position) => (rank[point] = position));
  return {
    data,
    nodes,
    points,
    byId,
    ...edges,
    outStart: outgoing.start,
    outEdges: outgoing.list,
    inStart: incoming.start,
    inEdges: incoming.list,
    owner: scope.owner,
    branch: scope.branch,
    order,
    rank,
    tensors: new Map(
      data.tensors.map((tensor) => [
        tensor.producer === undefined ? tensor.name : tensorKey(tensor.producer, tensor.name),
        tensor,
      ]),
    ),
  };
}

/** `20/then_branch/3`: owner 20, branch `then_branch`, path `20/then_branch`. */
function scopesOf(
  data: GraphData,
  byId: Map<string, number>,
): { owner: Int32Array; branch: string[]; paths: string[] } {
  const owner = new Int32Array(data.nodes.length).fill(-1);
  const branch: string[] = [];
  const paths = data.nodes.map(({ id }, point) => {
    const last = id.lastIndexOf('/');
    if (last < 0) {
      branch.push('');
      return '';
    }
    const path = id.slice(0, last);
    const before = path.lastIndexOf('/');
    owner[point] = before < 0 ? -1 : (byId.get(path.slice(0, before)) ?? -1);
    branch.push(path.slice(before + 1));
    return path;
  });
  return { owner, branch, paths };
}

interface Edges {
  from: Int32Array;
  to: Int32Array;
  tensor: Int32Array;
  tensorNames: string[];
}

function collectEdges(data: GraphData, paths: string[]): Edges {
  const nodes = data.nodes.length;
  /** Per graph path: tensor name → points that make it: the last one, or in execution order all. */
  const makers = new Map<string, Map<string, number[]>>([['', new Map()]]);
  const makersOf = (path: string) => {
    const known = makers.get(path);
    if (known !== undefined) return known;
    const made = new Map<string, number[]>();
    makers.set(path, made);
    return made;
  };
  data.inputs.forEach(({ name }, i) => makersOf('').set(name, [nodes + i]));
  data.nodes.forEach(({ outputs }, point) => {
    const own = makersOf(paths[point] ?? '');
    for (const name of outputs) {
      if (name === '') continue;
      if (data.inExecutionOrder) addTo(own, name, point);
      else own.set(name, [point]);
    }
  });

  const from: number[] = [];
  const to: number[] = [];
  const tensor: number[] = [];
  const tensorNames: string[] = [];
  const tensorIndex = new Map<string, number>();
  const link = (name: string, path: string, reader: number) => {
    const all = (name === '' ? undefined : findMakers(makers, path, name))?.filter((maker) => maker !== reader) ?? [];
    // Only a loop reads what is written after it.
    const before = data.inExecutionOrder ? all.filter((maker) => maker >= nodes || maker < reader) : all;
    const found = before.length > 0 ? before : all;
    if (found.length === 0) return;
    let index = tensorIndex.get(name);
    if (index === undefined) {
      index = tensorNames.length;
      tensorIndex.set(name, index);
      tensorNames.push(name);
    }
    for (const maker of found) {
      from.push(maker);
      to.push(reader);
      tensor.push(index);
    }
  };
  data.nodes.forEach(({ inputs }, point) => {
    const path = paths[point] ?? '';
    for (const name of inputs) link(name, path, point);
  });
  data.outputs.forEach(({ name }, i) => link(name, '', nodes + data.inputs.length + i));
  return { from: Int32Array.from(from), to: Int32Array.from(to), tensor: Int32Array.from(tensor), tensorNames };
}

/** A subgraph sees its own tensors, then those of the graphs around it. */
function findMakers(makers: Map<string, Map<string, number[]>>, path: string, name: string): number[] | undefined {
  for (let at = path; ;) {
    const found = makers.get(at)?.get(name);
    if (found !== undefined || at === '') return found;
    const owner = at.slice(0, Math.max(0, at.lastIndexOf('/')));
    at = owner.slice(0, Math.max(0, owner.lastIndexOf('/')));
  }
}

/** Of everything that could come next always the first in the file, so that a sorted file keeps its order. */
function topologicalOrder(data: GraphData, edges: Edges, outgoing: CompressedRows, inStart: Int32Array): Int32Array {
  const nodes = data.nodes.length;
  const inputs = data.inputs.length;
  const points = nodes + inputs + data.outputs.length;
  const waiting = new Int32Array(points);
  for (let p = 0; p < points; p++) waiting[p] = inStart[p + 1]! - inStart[p]!;
  const order = new Int32Array(points);
  const done = new Uint8Array(points);
  let filled = 0;
  // Graph inputs are numbered after the nodes, but belong before them: negative keys.
  const key = (point: number) => (point >= nodes && point < nodes + inputs ? point - points : point);
  const heap = new SmallestFirst();
  for (let p = 0; p < points; p++) if (waiting[p] === 0) heap.push(key(p));
  for (let cut = 0; filled < points;) {
    const next = heap.pop();
    if (next === undefined) {
      while (done[cut] === 1 || waiting[cut] === 0) cut += 1;
      waiting[cut] = 0;
      heap.push(key(cut));
      continue;
    }
    const point = next < 0 ? next + points : next;
    if (done[point] === 1) continue;
    done[point] = 1;
    order[filled] = point;
    filled += 1;
    for (let i = outgoing.start[point]!; i < outgoing.start[point + 1]!; i++) {
      const reader = edges.to[outgoing.list[i]!]!;
      if (done[reader] === 1 || waiting[reader] === 0) continue;
      waiting[reader]! -= 1;
      if (waiting[reader] === 0) heap.push(key(reader));
    }
  }
  return order;
}

/** A tensor of the graph. Names may repeat between a graph and its subgraphs, so the point that produces it belongs to it. */
export interface TensorOrigin {
  producer: number;
  name: string;
}

/** What is known about a tensor. */
export interface TensorFacts {
  type: GraphTensor['type'];
  shape: ReportTensor['shape'];
  /** Memory layout, where the graph itself is that of an engine. */
  format?: string;
  /** Ids of the engine layers that write it. */
  writers: number[];
  /** The tensor as the engine has it; null where no layer shows it: it stays inside a layer, or the inputs do not say. */
  engine: EngineTensor | null;
}

/** Looks tensors up by their origin: in the report, otherwise in the model. */
export class TensorIndex {
  readonly #graph: GraphIndex;
  readonly #report: FusionReport | null;
  #known: Map<string, ReportTensor> | null = null;

  constructor(graph: GraphIndex, report: FusionReport | null) {
    this.#graph = graph;
    this.#report = report;
  }

  facts(origin: TensorOrigin): TensorFacts {
    const said = this.#find(origin);
    const declared = this.#graphTensor(origin);
    const writers = said?.layers ?? [];
    return {
      type: said?.type ?? declared?.type ?? null,
      shape: said?.shape ?? declared?.shape ?? null,
      ...(declared?.format !== undefined && { format: declared.format }),
      writers,
      engine: this.#engineTensor(origin.name, writers),
    };
  }

  /** Points that read a tensor, graph outputs included, each once. */
  consumers({ producer, name }: TensorOrigin): number[] {
    const { outStart, outEdges, tensorNames, tensor, to } = this.#graph;
    const found = new Set<number>();
    for (let i = outStart[producer]!; i < outStart[producer + 1]!; i++) {
      const edge = outEdges[i]!;
      if (tensorNames[tensor[edge]!] === name) found.add(to[edge]!);
    }
    return [...found];
  }

  /** The tensor that an edge of the graph carries. */
  ofEdge(edge: number): TensorOrigin {
    const { from, tensor, tensorNames } = this.#graph;
    return { producer: from[edge]!, name: tensorNames[tensor[edge]!]! };
  }

  #graphTensor({ producer, name }: TensorOrigin): GraphTensor | undefined {
    const { tensors, data } = this.#graph;
    const node = data.nodes[producer];
    return (node && tensors.get(tensorKey(node.id, name))) ?? tensors.get(name);
  }

  #find({ producer, name }: TensorOrigin): ReportTensor | undefined {
    const known = (this.#known ??= this.#byOrigin());
    const node = this.#graph.data.nodes[producer];
    return known.get(`${node?.id ?? ''}\n${name}`);
  }

  #byOrigin(): Map<string, ReportTensor> {
    const known = new Map<string, ReportTensor>();
    for (const tensor of this.#report?.tensors ?? []) {
      const key = `${tensor.producer ?? ''}\n${tensor.name}`;
      // The main graph's inputs come before those of subgraphs that have the same name.
      if (!known.has(key)) known.set(key, tensor);
    }
    return known;
  }

  #engineTensor(name: string, writers: readonly number[]): EngineTensor | null {
    for (const id of writers) {
      const outputs = this.#report === null ? [] : (layerOf(this.#report, id)?.outputs ?? []);
      const found = outputs.find((output) => output.name === name);
      if (found !== undefined) return found;
    }
    return null;
  }
}

/** Points that are at most `steps` edges away from some of these, in either direction; these included, in the graph's order. */
export function neighborhood(graph: GraphIndex, points: readonly number[], steps: number): number[] {
  const found = new Set(points);
  let edge = [...found];
  for (let step = 0; step < steps && edge.length > 0; step++) {
    const next: number[] = [];
    for (const point of edge) {
      for (const other of [...readersOf(graph, point), ...makersOf(graph, point)]) {
        if (found.has(other)) continue;
        found.add(other);
        next.push(other);
      }
    }
    edge = next;
  }
  return inOrder(graph, found);
}

/** Points on the paths from one point to another or, if there is none, back from that to the first; [] for none either way. */
export function pathsBetween(graph: GraphIndex, a: number, b: number): number[] {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    const after = reach(graph, from, readersOf);
    if (!after.has(to)) continue;
    const before = reach(graph, to, makersOf);
    return inOrder(graph, new Set([...after].filter((point) => before.has(point))));
  }
  return [];
}

/** The part of a graph with these points only. Tensors from and to the rest stay, so that nodes keep their inputs and outputs. */
export function partOfGraph({ data, nodes }: GraphIndex, points: readonly number[]): GraphData {
  const kept = new Set(points);
  const outputs = nodes + data.inputs.length;
  return {
    ...data,
    nodes: data.nodes.filter((_, point) => kept.has(point)),
    inputs: data.inputs.filter((_, i) => kept.has(nodes + i)),
    outputs: data.outputs.filter((_, i) => kept.has(outputs + i)),
  };
}

type Neighbors = (graph: GraphIndex, point: number) => number[];

const readersOf: Neighbors = ({ outStart, outEdges, to }, point) =>
  Array.from(outEdges.subarray(outStart[point], outStart[point + 1]), (edge) => to[edge]!);
const makersOf: Neighbors = ({ inStart, inEdges, from }, point) =>
  Array.from(inEdges.subarray(inStart[point], inStart[point + 1]), (edge) => from[edge]!);

function reach(graph: GraphIndex, start: number, neighbors: Neighbors): Set<number> {
  const found = new Set([start]);
  // A set gives what is added while it is walked through.
  for (const point of found) for (const next of neighbors(graph, point)) found.add(next);
  return found;
}

const inOrder = ({ rank }: GraphIndex, points: Set<number>): number[] =>
  [...points].sort((a, b) => rank[a]! - rank[b]!);

/** What quantization has to do with one node. */
export interface NodeQuantization {
  /** It is one of the pair's nodes. */
  pairs: QuantizedPair[];
  misplaced: Misplaced[];
  islands: FloatIsland[];
}

/** Looks up the scales of tensors by name, and pairs and placements by a node's id. */
export class QuantizationIndex {
  readonly #scales = new Map<string, TensorScale[]>();
  readonly #nodes = new Map<string, NodeQuantization>();

  constructor(graph: GraphData, found: Quantization | undefined) {
    if (found === undefined) return;
    for (const scale of found.tensors) addTo(this.#scales, scale.tensor, scale);
    const outputs = new Map(graph.nodes.map((node) => [node.id, node.outputs]));
    const byNode = new Map(found.tensors.flatMap((scale) => scale.nodes.map((id) => [id, scale] as const)));
    for (const pair of found.pairs) {
      const ids = pair.quantize === null ? pair.dequantize : [pair.quantize, ...pair.dequantize];
      const scale = byNode.get(ids[0]!);
      for (const id of ids) {
        this.#of(id).pairs.push(pair);
        // The quantized values and what is made of them again have the scale of the tensor that they stand for.
        for (const output of scale === undefined ? [] : (outputs.get(id) ?? [])) this.#scales.set(output, [scale!]);
      }
    }
    for (const one of found.misplaced) for (const id of one.nodes) this.#of(id).misplaced.push(one);
    for (const island of found.islands) for (const id of island.nodes) this.#of(id).islands.push(island);
  }

  /** Several where its Q/DQ nodes differ, or a calibration cache has one, too. */
  scalesOf(tensor: string): readonly TensorScale[] {
    return this.#scales.get(tensor) ?? [];
  }

  /** null: nothing. */
  ofNode(id: string): NodeQuantization | null {
    return this.#nodes.get(id) ?? null;
  }

  #of(id: string): NodeQuantization {
    const known = this.#nodes.get(id);
    if (known) return known;
    const made: NodeQuantization = { pairs: [], misplaced: [], islands: [] };
    this.#nodes.set(id, made);
    return made;
  }
}

/** Whether a text is what a word of a query asks for. */
export type Match = (text: string) => boolean;

/** Words are separated by spaces; an expression between slashes and a text between quotes may contain some. */
export function wordsOf(query: string): string[] {
  return query.match(/(?:\w+:)?(?:\/(?:\\.|[^/\\])+\/|"[^"]*")(?=\s|$)|\S+/g) ?? [];
}

/**
 * What a word of a query matches: a word between slashes is a regular expression, others are plain text without regard
 * to case. null: not a regular expression.
 * @param whole the text must be the word, not contain it
 */
export function matcher(text: string, whole: boolean): Match | null {
  const expression = /^\/(.+)\/$/.exec(text)?.[1];
  // A name may itself begin and end with slashes; without any special sign it is meant as text.
  if (expression !== undefined && /[\\^$*+?()[\]{}|]/.test(expression)) {
    try {
      const compiled = new RegExp(expression, 'i');
      return (value) => compiled.test(value);
    } catch {
      return null;
    }
  }
  const wanted = text.toLowerCase();
  return whole ? (value) => value.toLowerCase() === wanted : (value) => value.toLowerCase().includes(wanted);
}

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
    const match = isNumber ? groupNumbered(text) : matcher(text, wholeFields.has(field));
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

/** A group by its number, whatever kind it is of. */
const groupNumbered =
  (id: string): Match =>
  (value) =>
    value === foreignNumber({ id: Number(id) }) || value === foreignNumber({ id: Number(id), device: 'dla' });

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
    ...nodesOf(foreignNodes.filter((foreign) => match(foreignNumber(foreign)) || match(foreign.name))),
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
