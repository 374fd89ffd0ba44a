import type { PrecisionMode } from '../../build/engineOptions.ts';
import type { ShapeRange } from '../../build/optionKind.ts';
import type { InferredTensors } from '../../model/inferTensors.ts';
import { inDataOrder, type ModelGraph, readsOf } from '../../model/modelGraph.ts';
import { parserName } from '../../model/parserName.ts';
import { writeName } from '../../precision/language/quoteName.ts';
import { editsFor, type ModelChange } from '../changeModel.ts';
import { closed, outermost } from '../pieceOf.ts';
import type { SearchGoal, SearchSide } from './searchGoal.ts';

/** A change to try. */
export interface Candidate {
  /** The option of `trtlens what-if` that makes it. */
  option: 'output' | 'unmark' | 'cut' | 'add' | 'remove' | 'rules' | 'shapes';
  /** Its values, one each time it is given; of `rules` the rules themselves. */
  values: string[];
  /**
   * What it does to the values that the model computes: `same`, `rounded` (in other types), `cut` (a part of the network
   * reads a new input, which must be fed), `other` (another model).
   */
  results: 'same' | 'rounded' | 'cut' | 'other';
  /** The edit of the model; null: options change. */
  change: ModelChange | null;
  /** The rules to build with. */
  rules?: string;
  /** The optimization profiles to build with. */
  profiles?: Record<string, ShapeRange>[];
}

/** The model that is searched, and how it is built. */
export interface SearchedModel {
  graph: ModelGraph;
  inferred: InferredTensors;
  profiles: readonly Record<string, ShapeRange>[];
  precision: PrecisionMode | undefined;
  /** It is built with rules already, to which none can be added. */
  hasRules: boolean;
}

/** Nodes that give what they read. */
const passing: ReadonlySet<string> = new Set(['Identity', 'Dropout']);

/** The changes that may reach a goal, the most likely and the cheapest first. */
export function candidatesFor(goal: SearchGoal, side: SearchSide, model: SearchedModel): Candidate[] {
  const main = (positions: readonly number[]) => mainNodes(model.graph, side, positions);
  const nodes = main(goal.nodes);
  const found = {
    break: () => breaking(model, nodes, main(goal.around)),
    separate: () => separating(model, nodes),
    fuse: () => fusing(model, nodes),
  };
  // What cannot be done to this model is no candidate.
  return found[goal.kind]().filter(
    ({ change }) => change === null || !('reason' in editsFor(model.graph, model.inferred, change)),
  );
}

/** Indices in the main graph, in data order. */
function mainNodes(graph: ModelGraph, { report }: SearchSide, positions: readonly number[]): number[] {
  const found = new Set(
    positions.flatMap((position) => {
      // A node of a function is known by its call.
      const { id } = report.nodes[position]!;
      const index = graph.indexOfId.get(id) ?? graph.indexOfId.get(id.split('/')[0]!);
      return index === undefined ? [] : [outermost(graph, index)];
    }),
  );
  return inDataOrder(graph).filter((node) => found.has(node));
}

function breaking(model: SearchedModel, nodes: readonly number[], members: readonly number[]): Candidate[] {
  const { graph } = model;
  const wanted = new Set(nodes);
  const isMember = new Set(members);
  const inside = members.flatMap((node) =>
    graph.outputs[node]!.filter((tensor) => graph.tensors[tensor]!.consumers.some((reader) => isMember.has(reader))),
  );
  const isNear = (tensor: number) =>
    [graph.tensors[tensor]!.producer, ...graph.tensors[tensor]!.consumers].some((node) => wanted.has(node));
  const near = inside.filter(isNear);
  const tensors = [...near, ...inside.filter((tensor) => !isNear(tensor))].map((tensor) => graph.tensors[tensor]!.name);
  const [first] = tensors;
  return [
    ...tensors.slice(0, near.length).map(output),
    ...nodes.flatMap((node) => typed(model, [node])),
    ...(members.length > 1 ? typed(model, members) : []),
    ...(first === undefined ? [] : ['Identity', 'Neg', 'Cast'].map((op) => added(model, op, first))),
    ...tensors.slice(0, near.length).map((tensor) => cut([tensor])),
    ...tensors.slice(near.length).map(output),
    ...removing(
      model,
      members.filter((node) => !wanted.has(node)),
    ),
  ];
}

function separating(model: SearchedModel, nodes: readonly number[]): Candidate[] {
  const { graph } = model;
  const chosen = new Set(nodes);
  const before = nodes.flatMap((node) =>
    readsOf(graph, node).filter((tensor) => {
      const { producer } = graph.tensors[tensor]!;
      return producer >= 0 && !chosen.has(producer) && graph.nodes[producer]!.op !== 'Constant';
    }),
  );
  const behind = nodes.flatMap((node) =>
    graph.outputs[node]!.filter((tensor) => graph.tensors[tensor]!.consumers.some((reader) => !chosen.has(reader))),
  );
  const names = (tensors: readonly number[]) => [...new Set(tensors)].map((tensor) => graph.tensors[tensor]!.name);
  const sides = [names(behind), names(before), names([...before, ...behind])].filter(
    (tensors, place) => tensors.length > 0 && (place < 2 || (before.length > 0 && behind.length > 0)),
  );
  const isOutput = (name: string) => graph.graphOutputs.some((tensor) => graph.tensors[tensor]!.name === name);
  return [
    ...sides.map((tensors) => tensors.filter((name) => !isOutput(name))).flatMap((tensors) => outputs(tensors)),
    ...typed(model, nodes),
    ...sides.map((tensors) => cut(tensors)),
    ...names(before).flatMap((tensor) => ['Identity', 'Cast'].map((op) => added(model, op, tensor))),
  ];
}

function fusing(model: SearchedModel, nodes: readonly number[]): Candidate[] {
  const { graph } = model;
  const wanted = new Set(nodes);
  const region = closed(graph, wanted).filter((node) => graph.nodes[node]!.op !== 'Constant');
  const isInside = new Set(region);
  const marked = graph.graphOutputs.filter((tensor) => {
    const { producer, consumers } = graph.tensors[tensor]!;
    return isInside.has(producer) && consumers.some((reader) => isInside.has(reader));
  });
  const between = region.filter((node) => !wanted.has(node));
  return [
    ...marked.map((tensor): Candidate => {
      const { name } = graph.tensors[tensor]!;
      return { option: 'unmark', values: [name], results: 'same', change: { unmark: name } };
    }),
    ...removing(
      model,
      between.filter((node) => passing.has(graph.nodes[node]!.op)),
    ),
    ...typed(model, region),
    ...fixed(model.profiles),
    ...removing(
      model,
      between.filter((node) => !passing.has(graph.nodes[node]!.op)),
    ),
  ];
}

const output = (name: string): Candidate => ({
  option: 'output',
  values: [name],
  results: 'same',
  change: { outputs: [name] },
});

const outputs = (names: string[]): Candidate[] =>
  names.length === 0 ? [] : [{ option: 'output', values: names, results: 'same', change: { outputs: names } }];

const cut = (names: string[]): Candidate => ({
  option: 'cut',
  values: names,
  results: 'cut',
  change: { cuts: names },
});

function added({ graph, inferred }: SearchedModel, op: string, tensor: string): Candidate {
  const rounds = op === 'Cast' && inferred.types[graph.byName.get(tensor)!] === 'float';
  return {
    option: 'add',
    values: [`${op}:${tensor}`],
    results: rounds ? 'rounded' : 'same',
    change: { add: op, at: tensor },
  };
}

const removing = ({ graph }: SearchedModel, nodes: readonly number[]): Candidate[] =>
  nodes.map((node) => {
    const { id, op } = graph.nodes[node]!;
    return { option: 'remove', values: [id], results: passing.has(op) ? 'same' : 'other', change: { remove: id } };
  });

/** Nodes that compute floating-point numbers, in another type than now; several in one type, whichever they have. */
function typed({ graph, inferred, precision, hasRules }: SearchedModel, nodes: readonly number[]): Candidate[] {
  const typeOf = (node: number) => inferred.types[graph.outputs[node]![0] ?? -1] ?? '';
  const floats = nodes.filter((node) => ['float', 'float16', 'bfloat16'].includes(typeOf(node)));
  if (hasRules || floats.length === 0) return [];
  const has = new Set(floats.map(typeOf));
  // A weakly typed build computes float tensors in the lower type already.
  const lowered = precision !== undefined && precision !== 'fp32';
  const wanted = has.size > 1 ? ['fp32', 'fp16'] : has.has('float') && !lowered ? ['fp16'] : ['fp32'];
  const names = floats.map((node) => writeName(parserName(graph.nodes[node]!)));
  return wanted.map((type) => {
    const rules = `${[...new Set(names)].join(', ')}  ${type}`;
    return { option: 'rules', values: [rules], results: 'rounded', change: null, rules };
  });
}

/** The sizes for which a dynamic build is tuned, as the only ones. */
function fixed(profiles: readonly Record<string, ShapeRange>[]): Candidate[] {
  const [profile] = profiles;
  const ranges = Object.entries(profile ?? {});
  if (ranges.every(([, { min, max }]) => min === max)) return [];
  const only = Object.fromEntries(ranges.map(([name, { opt }]) => [name, { min: opt, opt, max: opt }]));
  const value = ranges.map(([name, { opt }]) => `${name}:${opt}`).join(',');
  return [{ option: 'shapes', values: [value], results: 'same', change: null, profiles: [only] }];
}
