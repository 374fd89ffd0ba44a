// Changes to a model, and the search for one that reaches a goal.
import { foreignName } from '../../kernel/report/words.ts';
import { counted, deltaText, releaseName, similarText } from '../../kernel/base/text.ts';
import type { ShapeRange } from '../../kernel/build/buildManifest.ts';
import type { PrecisionMode } from '../../kernel/build/buildOptions.ts';
import type { Both, BuildDiff, DiffSide, NetworkNode } from '../diff/buildDiff.ts';
import { matchNodes, nodeWords, tacticOf } from '../diff/matchNodes.ts';
import { type Document, list, note, section, table } from '../../kernel/document/document.ts';
import type { ModelEdits } from '../../kernel/read/onnx/editModel.ts';
import { type DataType, dataTypeNumber, type OnnxNode } from '../../kernel/read/onnx/onnxModel.ts';
import type { NewNode, NewValue } from '../../kernel/read/onnx/writeModel.ts';
import type { Fate, FusionReport } from '../../kernel/fusion/fusionReport.ts';
import { type InferredTensors, scalesAt } from '../../kernel/network/network.ts';
import { attentions, inDataOrder, type ModelGraph, readsOf } from '../../kernel/network/modelGraph.ts';
import { parserName } from '../../kernel/network/nodeNames.ts';
import type { Shape } from '../../kernel/network/outputTypes.ts';
import { writeName } from '../precision/overrideFile.ts';
import { closed, missingNode, missingTensor, outermost, type Unfit } from './extractModel.ts';

/**
 * A change of a model to try, at tensors of the main graph and at a node:
 * - outputs: the tensors become outputs of the model
 * - unmark: the tensor is not an output any more
 * - cuts: each tensor becomes an output, and what read it reads a new input of the same type and shape
 * - add: what reads the tensor `at` reads it through new nodes that give the same values (`addable`)
 * - remove: the node passes its first input on; it must have the same type and shape as the output
 * - merge: both inputs of the MatMul that makes the tensor are scaled by one number each; one of them, or the result
 *   (`behind`), is scaled by the product of both instead, which is the same but for its rounding
 */
export type ModelChange =
  | { outputs: readonly string[] }
  | { unmark: string }
  | { cuts: readonly string[] }
  | { add: string; at: string }
  | { remove: string }
  | { merge: string; behind?: boolean };

/** The edits that make a change. */
export function editsFor(graph: ModelGraph, inferred: InferredTensors, change: ModelChange): ModelEdits | Unfit {
  if ('outputs' in change) return marked(graph, inferred, change.outputs);
  if ('unmark' in change) return unmarked(graph, change.unmark);
  if ('cuts' in change) return cutAtAll(graph, inferred, change.cuts);
  if ('merge' in change) return mergedScales(graph, inferred, change);
  return 'add' in change ? withNodes(graph, inferred, change) : without(graph, inferred, change.remove);
}

function marked(graph: ModelGraph, inferred: InferredTensors, names: readonly string[]): ModelEdits | Unfit {
  const declare: NonNullable<ModelEdits['declare']> = [];
  for (const name of new Set(names)) {
    const tensor = computedTensor(graph, name, 'mark');
    if (typeof tensor !== 'number') return tensor;
    if (graph.graphOutputs.includes(tensor)) return { reason: `"${name}" is already an output of the model` };
    const value = declared(graph, inferred, tensor);
    if ('reason' in value) return value;
    declare.push({ graph: '', list: 'outputs', value });
  }
  return { declare };
}

function unmarked(graph: ModelGraph, name: string): ModelEdits | Unfit {
  const others = graph.model.graph.outputs.filter((output) => output.name !== name);
  if (others.length === graph.model.graph.outputs.length)
    return {
      reason: `"${name}" is not an output of the model${similarText(
        name,
        others.map((output) => output.name),
      )}`,
    };
  if (others.length === 0) return { reason: `"${name}" is the only output, and a model needs one` };
  return { undeclare: [{ graph: '', list: 'outputs', name }] };
}

function cutAtAll(graph: ModelGraph, inferred: InferredTensors, names: readonly string[]): ModelEdits | Unfit {
  const edits = [...new Set(names)].map((name) => cutAt(graph, inferred, name));
  return (
    edits.find((one) => 'reason' in one) ?? {
      declare: edits.flatMap((one) => ('declare' in one ? (one.declare ?? []) : [])),
      inputs: edits.flatMap((one) => ('inputs' in one ? (one.inputs ?? []) : [])),
    }
  );
}

function cutAt(graph: ModelGraph, inferred: InferredTensors, name: string): ModelEdits | Unfit {
  const tensor = computedTensor(graph, name, 'cut');
  if (typeof tensor !== 'number') return tensor;
  const value = declared(graph, inferred, tensor);
  if ('reason' in value) return value;
  const input = freshName(graph, `${name}_cut`);
  const inputs = readsInstead(graph, tensor, input, 'cut');
  if ('reason' in inputs) return inputs;
  const isOutput = graph.graphOutputs.includes(tensor);
  return {
    declare: [
      ...(isOutput ? [] : [{ graph: '', list: 'outputs' as const, value }]),
      { graph: '', list: 'inputs', value: { ...value, name: input } },
    ],
    inputs,
  };
}

/**
 * What can be added behind a tensor: Identity, Neg twice, Cast to another type and back. All give the values that they
 * read, except Cast of float tensors, which rounds to float16.
 */
export const addable = ['Identity', 'Neg', 'Cast'] as const;

const castThrough: Partial<Record<string, DataType>> = { float: 'float16', float16: 'float', bfloat16: 'float' };

function withNodes(
  graph: ModelGraph,
  inferred: InferredTensors,
  { add, at: name }: { add: string; at: string },
): ModelEdits | Unfit {
  const tensor = graph.byName.get(name);
  if (tensor === undefined) return { reason: missingTensor(graph, name) };
  const type = inferred.types[tensor] ?? null;
  const steps = stepsOf(add, type);
  if (typeof steps === 'string') return { reason: steps };
  const last = freshName(graph, `${name}_added`);
  const inputs = readsInstead(graph, tensor, last, 'add nodes');
  if ('reason' in inputs) return inputs;
  const { producer } = graph.tensors[tensor]!;
  const after = producer < 0 ? null : graph.nodes[producer]!.id;
  const between = freshName(graph, `${last}_first`);
  const insert = steps.map((step, place) => {
    const isLast = place === steps.length - 1;
    const [from, to] = [place === 0 ? name : between, isLast ? last : between];
    return { graph: '', node: { ...step, name: to, inputs: [from], outputs: [to] }, after };
  });
  return { insert, inputs };
}

/** A string: why they cannot be added to a tensor of this type. */
function stepsOf(op: string, type: string | null): Pick<NewNode, 'op' | 'attributes'>[] | string {
  switch (op) {
    case 'Identity':
      return [{ op }];
    case 'Neg':
      return type === 'bool' ? 'Neg has no meaning for bool. Add Identity instead' : [{ op }, { op }];
    case 'Cast': {
      const through = castThrough[type ?? ''];
      if (!through) return 'Cast is for tensors of type float, float16 or bfloat16. Add Identity instead';
      const cast = (to: DataType) => ({ op, attributes: { to: { int: dataTypeNumber(to)! } } });
      return [cast(through), cast(type as DataType)];
    }
    default:
      return `"${op}" cannot be added: pass one of ${addable.join(', ')}`;
  }
}

/** The index of a tensor that a node of the main graph computes. */
function computedTensor(graph: ModelGraph, name: string, verb: string): number | Unfit {
  const tensor = graph.byName.get(name);
  if (tensor === undefined) return { reason: missingTensor(graph, name) };
  return graph.tensors[tensor]!.producer < 0
    ? { reason: `"${name}" is not computed by a node, so there is nothing to ${verb}` }
    : tensor;
}

function declared(graph: ModelGraph, { types, shapes }: InferredTensors, tensor: number): NewValue | Unfit {
  const { name } = graph.tensors[tensor]!;
  const type = types[tensor] ?? null;
  if (type === null) return { reason: `The type of "${name}" is unknown. Pick another tensor` };
  if (dataTypeNumber(type) === undefined)
    return { reason: `"${name}" has the type ${type}, not that of a tensor. Pick another one` };
  const shape = shapes[tensor] ?? null;
  return { name, newType: type, ...(shape && { shape }) };
}

/** The edits after which every reader of a tensor reads another one. */
function readsInstead(
  graph: ModelGraph,
  tensor: number,
  other: string,
  verb: string,
): NonNullable<ModelEdits['inputs']> | Unfit {
  const { name, consumers } = graph.tensors[tensor]!;
  const readers = new Set(consumers.filter((node) => graph.nodes[node]!.inputs.includes(name)));
  if (readers.size < new Set(consumers).size)
    return {
      reason: `"${name}" is read inside a loop or branch, where nothing can be changed: ${verb} before or after that node`,
    };
  if (readers.size === 0) return { reason: `No node reads "${name}", so there is nothing to ${verb}` };
  return [...readers].flatMap((node) =>
    graph.nodes[node]!.inputs.flatMap((read, index) =>
      read === name ? [{ node: graph.nodes[node]!.id, index, tensor: other }] : [],
    ),
  );
}

function without(graph: ModelGraph, { types, shapes }: InferredTensors, id: string): ModelEdits | Unfit {
  const index = graph.indexOfId.get(id);
  const node = index === undefined ? undefined : graph.nodes[index]!;
  if (index === undefined || !node) return { reason: missingNode(graph, id) };
  const [input, output] = [graph.inputs[index]![0] ?? -1, graph.outputs[index]![0] ?? -1];
  const words = `Node ${id}${node.name && ` "${node.name}"`} (${node.op})`;
  if (input < 0 || output < 0) return { reason: `${words} has no input to pass on, so it cannot be removed` };
  const others = graph.outputs[index]!.slice(1).filter(
    (tensor) => graph.tensors[tensor]!.consumers.length > 0 || graph.graphOutputs.includes(tensor),
  );
  if (others.length > 0) return { reason: `${words} has several outputs that are read, so it cannot be removed` };
  const [before, after] = [describe(types[input], shapes[input]), describe(types[output], shapes[output])];
  if (before !== after)
    return { reason: `${words} changes ${before} to ${after}, so the model would be invalid without it` };
  const by = { op: 'Identity', name: node.name, inputs: [node.inputs[0]!], outputs: [node.outputs[0]!] };
  return { replace: [{ node: id, by }] };
}

/** Names of the outputs of products whose inputs are scaled by a number each: some versions lose one of the two scales. */
export const doublyScaled = (graph: ModelGraph, inferred: InferredTensors): string[] =>
  graph.nodes.flatMap(({ outputs }, node) => (scalesAt(graph, inferred.shapes, node) === null ? [] : [outputs[0]!]));

function mergedScales(
  graph: ModelGraph,
  inferred: InferredTensors,
  { merge: name, behind = false }: { merge: string; behind?: boolean },
): ModelEdits | Unfit {
  const tensor = computedTensor(graph, name, 'merge');
  if (typeof tensor !== 'number') return tensor;
  const matmul = graph.tensors[tensor]!.producer;
  const scales = scalesAt(graph, inferred.shapes, matmul);
  if (scales === null)
    return {
      reason: `The inputs of what makes "${name}" are not scaled by a number each, so there is nothing to merge`,
    };
  const numbers = scales.map(({ node, at }) => graph.inputs[node]![at]!);
  const types = new Set(numbers.map((number) => inferred.types[number]));
  if (types.size > 1 || types.has(null)) return { reason: `The scales of what makes "${name}" have different types` };
  const product = freshName(graph, `${graph.tensors[numbers[0]!]!.name}_merged`);
  const both = numbers.map((number) => graph.tensors[number]!.name);
  const multiplied = (node: OnnxNode): NewNode => ({
    op: 'Mul',
    name: `${node.name || node.id}_merged`,
    inputs: both,
    outputs: [product],
  });
  const passed = ({ node, at }: (typeof scales)[number]) => {
    const { id, name: own, inputs, outputs } = graph.nodes[node]!;
    return { node: id, by: { op: 'Identity', name: own, inputs: [inputs[1 - at]!], outputs: [...outputs] } };
  };
  if (behind) {
    const node = graph.nodes[matmul]!;
    const unscaled = freshName(graph, `${name}_unscaled`);
    const by: NewNode[] = [
      multiplied(node),
      { op: 'MatMul', name: node.name, inputs: [...node.inputs], outputs: [unscaled] },
      { op: 'Mul', name: `${node.name || node.id}_scaled`, inputs: [unscaled, product], outputs: [...node.outputs] },
    ];
    return { replace: [...scales.map(passed), { node: node.id, by }] };
  }
  // In the order of the file, so that both numbers are there where the product is made.
  const [first, last] = scales.toSorted((a, b) => a.node - b.node) as typeof scales;
  const kept = graph.nodes[last.node]!;
  const inputs = kept.inputs.map((input, place) => (place === last.at ? product : input));
  const by: NewNode[] = [multiplied(kept), { op: 'Mul', name: kept.name, inputs, outputs: [...kept.outputs] }];
  return { replace: [{ node: kept.id, by }, passed(first)] };
}

const describe = (type: string | null | undefined, shape: Shape | undefined): string =>
  `${type ?? 'an unknown type'}${shape ? `[${shape.map((dim) => dim ?? '?').join(', ')}]` : ''}`;

function freshName(graph: ModelGraph, name: string): string {
  let fresh = name;
  for (let number = 1; graph.tensors.some((tensor) => tensor.name === fresh); number += 1) fresh = `${name}_${number}`;
  return fresh;
}

/**
 * What a change is to bring about:
 * - `break`: nodes that one kernel computes are computed by several
 * - `separate`: nodes of a ForeignNode are outside of every ForeignNode
 * - `fuse`: nodes of several kernels are computed by one
 */
export type SearchKind = 'break' | 'separate' | 'fuse';

/** One build, with the network in the order of `report.nodes`. */
export interface SearchSide {
  report: FusionReport;
  network: NetworkNode[];
}

/** What to reach, in a build of the model as it is. */
export interface SearchGoal {
  kind: SearchKind;
  /** Positions in `report.nodes` of the nodes that it is about. */
  nodes: number[];
  /** The nodes that are computed together with them: the kernel to break, or nothing. */
  around: number[];
  /** What the build of the model as it is does with the nodes, as a sentence. */
  before: string;
}

/**
 * What the user means by some nodes in the build of the model as it is.
 * @param chosen positions in `report.nodes`
 */
export function readGoal(kind: SearchKind, chosen: readonly number[], side: SearchSide): SearchGoal | Unfit {
  const computed = chosen.filter((node) => isComputed(side.report, node));
  if (computed.length === 0)
    return { reason: 'This build computes none of these nodes: they are folded, removed or unknown' };
  if (kind === 'break') return breakGoal(computed, side);
  return kind === 'separate' ? separateGoal(computed, side) : fuseGoal(computed, side);
}

function breakGoal(chosen: readonly number[], { report, network }: SearchSide): SearchGoal | Unfit {
  const wanted = new Set(chosen);
  const shared = [...new Set(chosen.flatMap((node) => kernelsOf(report, node)))]
    .map((layer) => ({ layer, members: membersOf(report, layer) }))
    .filter(({ members }) => members.length > 1);
  const cores = attentions(network)
    .map(({ scores, softmax, values }) => [scores, softmax, values])
    .filter((core) => core.some((node) => wanted.has(node)));
  const fused = shared.flatMap(({ layer, members }) => {
    const inside = new Set(members);
    return cores
      .filter((core) => core.every((node) => inside.has(node)))
      .map((core) => ({ layer, members, nodes: core }));
  });
  const together = shared.map(({ layer, members }) => {
    const both = members.filter((node) => wanted.has(node));
    return { layer, members, nodes: both.length > 1 ? both : members };
  });
  // An attention counts before the kernels around it.
  const found = fused.length > 0 ? fused : together;
  const [only, another] = found;
  if (!only)
    return {
      reason: chosen.some((node) => report.nodes[node]!.foreignNode !== null && kernelsOf(report, node).length === 0)
        ? 'This build does not list the kernels inside its ForeignNodes, so it is unknown what is computed together'
        : `${labels(report, chosen)}: computed alone, so there is nothing to break`,
    };
  if (another)
    return {
      reason: `These nodes are in ${found.length} kernels, ${labels(report, only.nodes)} in one, ${labels(report, another.nodes)} in another. Pass nodes of one`,
    };
  const name = kernelName(report, only.layer);
  const before = `${labels(report, only.nodes)}: computed together with ${counted(only.members.length - only.nodes.length, 'other node')} by kernel ${name}.`;
  return { kind: 'break', nodes: only.nodes, around: only.members, before };
}

function separateGoal(chosen: readonly number[], { report }: SearchSide): SearchGoal | Unfit {
  const inside = chosen.filter((node) => report.nodes[node]!.foreignNode !== null);
  if (inside.length === 0) return { reason: `${labels(report, chosen)}: in no ForeignNode already` };
  const ids = [...new Set(inside.map((node) => report.nodes[node]!.foreignNode!))];
  return {
    kind: 'separate',
    nodes: inside,
    around: [],
    before: `${labels(report, inside)}: in ${ids.map((id) => foreignName(report, id)).join(', ')}.`,
  };
}

function fuseGoal(chosen: readonly number[], { report }: SearchSide): SearchGoal | Unfit {
  const nodes = [...new Set(chosen)];
  if (nodes.length < 2) return { reason: 'Pass at least two nodes to fuse that this build computes' };
  const layers = nodes.map((node) => kernelsOf(report, node));
  if (layers.some((kernels) => kernels.length === 0))
    return {
      reason:
        'This build does not list the kernels inside its ForeignNodes, so it is unknown what is computed together',
    };
  const common = layers[0]!.find((layer) => layers.every((kernels) => kernels.includes(layer)));
  if (common !== undefined)
    return { reason: `${labels(report, nodes)}: one kernel computes them already, ${kernelName(report, common)}` };
  const kernels = new Set(layers.flat()).size;
  return {
    kind: 'fuse',
    nodes,
    around: [],
    before: `${labels(report, nodes)}: computed by ${counted(kernels, 'kernel')}.`,
  };
}

/** Whether a build with a change reaches the goal; null: it does not list the kernels that would tell. */
export function reachesGoal({ kind, nodes }: SearchGoal, before: SearchSide, after: SearchSide): boolean | null {
  const { toB } = matchNodes(before.network, after.network);
  const there = nodes.map((node) => toB[node]!);
  if (there.some((node) => node === -1 || after.report.nodes[node]!.fate === 'unknown')) return null;
  // A node that is no longer computed is neither apart nor together with another one.
  if (there.some((node) => !isComputed(after.report, node))) return false;
  if (kind === 'separate') return there.every((node) => after.report.nodes[node]!.foreignNode === null);
  const kernels = there.map((node) => kernelsOf(after.report, node));
  if (kernels.some((own) => own.length === 0)) return null;
  const together = kernels[0]!.some((layer) => kernels.every((own) => own.includes(layer)));
  return kind === 'fuse' ? together : !together;
}

const computedFates: ReadonlySet<Fate> = new Set(['foreign', 'fused', 'single']);

const isComputed = ({ nodes }: FusionReport, node: number): boolean => computedFates.has(nodes[node]!.fate);

/** Layers that compute a node; a ForeignNode whose kernels are not listed does not count. */
const kernelsOf = ({ nodes, layers }: FusionReport, node: number): number[] =>
  nodes[node]!.layers.filter((id) => {
    const layer = layers[id];
    return layer?.foreignNode === null || layer?.kind === 'kernel';
  });

function membersOf(report: FusionReport, layer: number): number[] {
  const ids = new Set(report.layers[layer]!.nodes);
  return report.nodes.flatMap(({ id }, node) => (ids.has(id) && isComputed(report, node) ? [node] : []));
}

const kernelName = ({ layers }: FusionReport, layer: number): string => tacticOf(layers[layer]!) ?? layers[layer]!.name;

const labels = ({ nodes }: FusionReport, some: readonly number[]): string =>
  nodeWords(some.map((node) => nodes[node]!));

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

/** What came of a change that was tried, and what it costs compared with the model as it is. null: not known. */
export interface Tried extends Pick<Candidate, 'option' | 'values' | 'results'> {
  /** null: it could not be built, or the build does not list what would tell. */
  reached: boolean | null;
  /** Why `reached` is null; otherwise null. */
  why: string | null;
  /** Kernels and layers more than without the change. */
  kernels: number | null;
  /** Reformat layers more. */
  reformats: number | null;
  /** Milliseconds more, of all layers, where both builds were timed. */
  ms: number | null;
}

/** What a change costs, from the comparison with the model as it is. */
export function costOf({ totals, time }: BuildDiff): Pick<Tried, 'kernels' | 'reformats' | 'ms'> {
  const more = ({ a, b }: Both) => (a === null || b === null ? null : b - a);
  return { kernels: more(totals.kernels), reformats: more(totals.reformats), ms: more({ a: time.aMs, b: time.bMs }) };
}

const resultsOrder: Candidate['results'][] = ['same', 'rounded', 'cut', 'other'];

/**
 * Changes in the order in which to consider them: what reaches the goal first; of these what leaves the values of the
 * model as they are; then by time, kernels and reformats. Ties stay in the order in which they were tried.
 */
export function rankTried(tried: readonly Tried[]): Tried[] {
  const verdict = ({ reached }: Tried) => (reached === null ? 1 : reached ? 0 : 2);
  return tried.toSorted(
    (a, b) =>
      verdict(a) - verdict(b) ||
      resultsOrder.indexOf(a.results) - resultsOrder.indexOf(b.results) ||
      less(a.ms, b.ms) ||
      less(a.kernels, b.kernels) ||
      less(a.reformats, b.reformats),
  );
}

/** What is not known comes last. */
const less = (a: number | null, b: number | null): number =>
  a === b ? 0 : (a ?? Number.POSITIVE_INFINITY) - (b ?? Number.POSITIVE_INFINITY);

/** What a search found: the changes, the best first. */
export interface FoundChanges {
  tensorrt: Pick<DiffSide, 'product' | 'version'>;
  goal: { before: string };
  tried: readonly Tried[];
  left: number;
}

/** What the model as it is does, the changes that work with their cost, and those that do not. */
export function searchDocument({ tensorrt, goal, tried, left }: FoundChanges): Document {
  const [works, unknown, not] = [true, null, false].map((verdict) =>
    tried.filter(({ reached }) => reached === verdict),
  );
  const total = counted(tried.length, 'change');
  return {
    title: goal.before,
    blocks: [
      ...(works!.length === 0
        ? [{ kind: 'text', text: `None of ${total} works.` } as const]
        : section(
            `${works!.length} of ${total} ${works!.length === 1 ? 'works' : 'work'}, the best first`,
            table(
              ['change', 'effect'],
              works!.map((one) => ({ cells: [changeText(one), costText(one)] })),
              'change',
            ),
          )),
      ...section('No effect', list(not!.map(changeText), 'change')),
      ...section(
        'Unknown',
        table(
          ['change', 'why'],
          unknown!.map((one) => ({ cells: [changeText(one), one.why ?? ''] })),
          'change',
        ),
      ),
      ...(left > 0 ? [note(`${counted(left, 'more change')} not tried.`)] : []),
      note(versionNote(tensorrt)),
    ],
  };
}

/** The option of `trtlens what-if` that makes a change. */
export const changeText = ({ option, values }: Pick<Tried, 'option' | 'values'>): string =>
  option === 'rules' ? `--rules with '${values[0]}'` : values.map((value) => `--${option} ${value}`).join(' ');

/** `+4 kernels, +0 reformats` and what the change does to values. */
export function costText({ kernels, reformats, ms, results }: Tried): string {
  const more = (count: number | null, noun: string) =>
    count === null ? [] : [`${count < 0 ? '−' : '+'}${counted(Math.abs(count), noun)}`];
  return [
    ...(ms === null ? [] : [deltaText(ms)]),
    ...more(kernels, 'kernel'),
    ...more(reformats, 'reformat'),
    resultsText[results],
  ].join(', ');
}

const resultsText: Record<Candidate['results'], string> = {
  same: 'same values',
  rounded: 'values are rounded differently',
  cut: 'a part of the network gets a new input',
  other: 'another model, with other values',
};

/** Which TensorRT a result is about. */
export const versionNote = (release: Pick<DiffSide, 'product' | 'version'>): string =>
  `This is the result of ${releaseName(release)}. It says nothing about other versions, which may fuse differently.`;
