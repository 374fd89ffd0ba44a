// Changes of a model, as edits of its file.
import { similarText } from '../../kernel/base/text.ts';
import type { ModelEdits } from '../../kernel/read/onnx/editModel.ts';
import { type DataType, dataTypeNumber, type OnnxNode } from '../../kernel/read/onnx/onnxModel.ts';
import type { NewNode, NewValue } from '../../kernel/read/onnx/writeModel.ts';
import { type InferredTensors, scalesAt } from '../../kernel/network/network.ts';
import { type ModelGraph } from '../../kernel/network/modelGraph.ts';
import type { Shape } from '../../kernel/network/outputTypes.ts';
import { missingNode, missingTensor, type Unfit } from './extractModel.ts';

/**
 * A change of a model to try, at tensors of the main graph and at a node:
 * - outputs: the tensors become outputs of the model
 * - unmark: the tensor is not an output any more
 * - cuts: each tensor becomes an output, and what read it reads a new input of the same type and shape
 * - add: what reads the tensor `at` reads it through new nodes that give the same values (`addable`)
 * - remove: the node passes its first input on that is no constant; it must have the same type and shape as the output
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
  if ('merge' in change) return merged(graph, inferred, change);
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

/** The place of the first input that is no constant; 0: all are. */
export function dataInput(graph: ModelGraph, node: number): number {
  const isConstant = (tensor: number) => {
    const { kind, producer } = graph.tensors[tensor]!;
    return kind === 'initializer' || graph.nodes[producer]?.op === 'Constant';
  };
  return Math.max(
    0,
    graph.inputs[node]!.findIndex((tensor) => tensor >= 0 && !isConstant(tensor)),
  );
}

function without(graph: ModelGraph, { types, shapes }: InferredTensors, id: string): ModelEdits | Unfit {
  const index = graph.indexOfId.get(id);
  const node = index === undefined ? undefined : graph.nodes[index]!;
  if (index === undefined || !node) return { reason: missingNode(graph, id) };
  const [place, output] = [dataInput(graph, index), graph.outputs[index]![0] ?? -1];
  const input = graph.inputs[index]![place] ?? -1;
  const words = `Node ${id}${node.name && ` "${node.name}"`} (${node.op})`;
  if (input < 0 || output < 0) return { reason: `${words} has no input to pass on, so it cannot be removed` };
  const others = graph.outputs[index]!.slice(1).filter(
    (tensor) => graph.tensors[tensor]!.consumers.length > 0 || graph.graphOutputs.includes(tensor),
  );
  if (others.length > 0) return { reason: `${words} has several outputs that are read, so it cannot be removed` };
  const [before, after] = [describe(types[input], shapes[input]), describe(types[output], shapes[output])];
  if (before !== after)
    return { reason: `${words} changes ${before} to ${after}, so the model would be invalid without it` };
  const by = { op: 'Identity', name: node.name, inputs: [node.inputs[place]!], outputs: [node.outputs[0]!] };
  return { replace: [{ node: id, by }] };
}

/** Names of the outputs of products whose inputs are scaled by a number each: some versions lose one of the two scales. */
export const doublyScaled = (graph: ModelGraph, inferred: InferredTensors): string[] =>
  graph.nodes.flatMap(({ outputs }, node) => (scalesAt(graph, inferred.shapes, node) === null ? [] : [outputs[0]!]));

/** A product scaled by one number in place of two: nodes and what is written instead of each. */
export type MergedScales = readonly { node: OnnxNode; by: NewNode[] }[];

/**
 * What scales one input of a product by the product of both numbers; or scales the result, `behind` it.
 * @param matmul index of the product
 * @param fresh gives a name that nothing has yet
 */
export function mergedScales(
  graph: ModelGraph,
  { types, shapes }: InferredTensors,
  matmul: number,
  fresh: (base: string) => string,
  behind = false,
): MergedScales | Unfit {
  const [product = ''] = graph.nodes[matmul]!.outputs;
  const scales = scalesAt(graph, shapes, matmul);
  if (scales === null)
    return {
      reason: `The inputs of what makes "${product}" are not scaled by a number each, so there is nothing to merge`,
    };
  // In the order of the file, so that both numbers are there where their product is made.
  const [first, last] = scales.toSorted((a, b) => a.node - b.node) as typeof scales;
  const numbers = [first, last].map(({ node, at }) => graph.inputs[node]![at]!);
  const [type, other] = numbers.map((number) => types[number]);
  if (type === null || type !== other) return { reason: `The scales of what makes "${product}" have different types` };
  const kept = graph.nodes[behind ? matmul : last.node]!;
  const nameAt = ({ name, outputs }: OnnxNode, op: string) => fresh(`${name || outputs[0]}/merge-scales/${op}`);
  const name = nameAt(kept, 'Mul');
  const both = fresh(`${name}_output`);
  const inputs = numbers.map((number) => graph.tensors[number]!.name);
  const multiplied = { op: 'Mul', name, inputs, outputs: [both] };
  const passed = ({ node: at, at: number }: (typeof scales)[number]) => {
    const node = graph.nodes[at]!;
    const by = {
      op: 'Identity',
      name: node.name || nameAt(node, 'Identity'),
      inputs: [node.inputs[1 - number]!],
      outputs: [...node.outputs],
    };
    return { node, by: [by] };
  };
  const keptName = kept.name || nameAt(kept, kept.op);
  const outputs = [...kept.outputs];
  if (!behind) {
    const scaled = kept.inputs.map((input, place) => (place === last.at ? both : input));
    return [{ node: kept, by: [multiplied, { op: 'Mul', name: keptName, inputs: scaled, outputs }] }, passed(first)];
  }
  const unscaled = fresh(`${keptName}/merge-scales/unscaled`);
  const by = [
    multiplied,
    { op: 'MatMul', name: keptName, inputs: [...kept.inputs], outputs: [unscaled] },
    { op: 'Mul', name: nameAt(kept, 'Mul'), inputs: [unscaled, both], outputs },
  ];
  return [passed(first), passed(last), { node: kept, by }];
}

function merged(
  graph: ModelGraph,
  inferred: InferredTensors,
  { merge, behind }: { merge: string; behind?: boolean },
): ModelEdits | Unfit {
  const tensor = computedTensor(graph, merge, 'merge');
  if (typeof tensor !== 'number') return tensor;
  const fresh = freshNames([...graph.tensors, ...graph.nodes]);
  const places = mergedScales(graph, inferred, graph.tensors[tensor]!.producer, fresh, behind);
  return 'reason' in places ? places : { replace: places.map(({ node, by }) => ({ node: node.id, by })) };
}

const describe = (type: string | null | undefined, shape: Shape | undefined): string =>
  `${type ?? 'an unknown type'}${shape ? `[${shape.map((dim) => dim ?? '?').join(', ')}]` : ''}`;

const freshName = (graph: ModelGraph, name: string): string => freshNames(graph.tensors)(name);

/** Gives names that nothing has yet, each once. */
function freshNames(taken: readonly { name: string }[]): (base: string) => string {
  const names = new Set(taken.map(({ name }) => name));
  return (base) => {
    let name = base;
    for (let number = 1; names.has(name); number += 1) name = `${base}_${number}`;
    names.add(name);
    return name;
  };
}
