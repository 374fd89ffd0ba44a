import {
  intAttribute,
  intsAttribute,
  type OnnxNode,
  type OnnxTensor,
  textAttribute,
} from '../../formats/onnx/onnxModel.ts';
import type { InferredTensors } from '../../network/network.ts';
import { isStandardDomain, type ModelGraph, standardOpset } from '../../network/modelGraph.ts';
import { versionNumber } from './gpuSupport.ts';
import type { CheckTarget, NodeProblem } from './checkShapes.ts';
import { shapeText } from '../../base/text.ts';

/** One node with what is known around it. */
export interface NodeToCheck {
  node: OnnxNode;
  index: number;
  graph: ModelGraph;
  inferred: InferredTensors;
  target: CheckTarget;
}

type FormCheck = (one: NodeToCheck) => NodeProblem | undefined;

const problem = (code: string, message: string, advice: string, repair?: string): NodeProblem => ({
  severity: 'error',
  code,
  message,
  advice,
  ...(repair !== undefined && { repair }),
});

const isRtx = ({ target }: NodeToCheck): boolean => target.product === 'tensorrt-rtx';
/** Whether the version is at least this one; TensorRT-RTX has the parser of the newest. */
const since = (one: NodeToCheck, version: string): boolean =>
  isRtx(one) || versionNumber(one.target.version ?? '11.2') >= versionNumber(version);
const typeOf = ({ graph, index, inferred }: NodeToCheck, at: number) =>
  inferred.types[graph.inputs[index]![at] ?? -1] ?? null;
const shapeOf = ({ graph, index, inferred }: NodeToCheck, at: number) =>
  inferred.shapes[graph.inputs[index]![at] ?? -1] ?? null;
const given = ({ node }: NodeToCheck, at: number): boolean => (node.inputs[at] ?? '') !== '';

/** The constant that a node reads, from an initializer or a Constant; undefined: none, or not kept. */
function constantAt({ graph, index }: NodeToCheck, at: number): OnnxTensor | undefined {
  const tensor = graph.tensors[graph.inputs[index]![at] ?? -1];
  if (tensor === undefined) return undefined;
  if (tensor.kind === 'initializer') return initializersOf(graph).get(tensor.name);
  const producer = graph.nodes[tensor.producer];
  const value = producer?.op === 'Constant' ? producer.attributes.find(({ name }) => name === 'value')?.value : null;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

const cache = new WeakMap<ModelGraph, Map<string, OnnxTensor>>();
function initializersOf(graph: ModelGraph): Map<string, OnnxTensor> {
  let map = cache.get(graph);
  if (map === undefined)
    cache.set(graph, (map = new Map(graph.model.graph.initializers.map((one) => [one.name, one]))));
  return map;
}

const pooling: FormCheck = (one) => {
  if ((intsAttribute(one.node, 'dilations') ?? []).some((size) => size !== 1))
    return problem(
      'unsupported-form',
      `${one.node.op} with dilations is refused.`,
      'Export without dilation, or write it with slices.',
      'pool-taps',
    );
  return optionalOutputs(one);
};

const optionalOutputs: FormCheck = (one) =>
  since(one, '10.1') && one.node.outputs.filter(Boolean).length > 1
    ? problem(
        'unsupported-form',
        `${one.node.op} with optional outputs is refused, even if nothing reads them.`,
        'Remove the outputs that nothing reads.',
        'remove-unused-outputs',
      )
    : undefined;

const quantization: FormCheck = (one) => {
  const zero = constantAt(one, 2);
  if (zero?.ints !== undefined && zero.ints.some((value) => value !== 0))
    return problem(
      'quantization',
      `${one.node.op} has a zero point that is not 0: TensorRT supports symmetric quantization only.`,
      'Quantize symmetrically to INT8, with zero points of 0.',
      'quantize-in-float',
    );
  const scales = constantAt(one, 1)?.shape;
  const shape = shapeOf(one, 0) ?? constantAt(one, 0)?.shape;
  const axis = intAttribute(one.node, 'axis') ?? 1;
  const channels = shape?.[axis < 0 ? axis + shape.length : axis];
  if (scales?.length === 1 && scales[0]! > 1 && typeof channels === 'number' && scales[0] !== channels)
    return problem(
      'quantization',
      `${one.node.op} has ${scales[0]} scales for ${channels} channels.`,
      'Set the attribute axis to the axis of the scales.',
    );
  const type = typeOf(one, 0);
  if (one.node.op === 'DequantizeLinear' && (type === 'uint8' || type === 'int32') && !quantizedBefore(one))
    return problem(
      'quantization',
      `DequantizeLinear of ${type.toUpperCase()} is refused.`,
      'Store the dequantized values as FP32, or quantize to INT8.',
      'dequantize-constants',
    );
  return undefined;
};

/** A pair of QuantizeLinear and DequantizeLinear with UINT8 and zero point 0 is read as INT8. */
function quantizedBefore({ graph, index }: NodeToCheck): boolean {
  const tensor = graph.tensors[graph.inputs[index]![0] ?? -1];
  return graph.nodes[tensor?.producer ?? -1]?.op === 'QuantizeLinear';
}

/** Whether a tensor is made of the values of inputs, not of their shapes alone. */
function dependsOnValues(graph: ModelGraph, tensor: number): boolean {
  const seen = new Set<number>();
  const open = [tensor];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { kind, producer = -1 } = graph.tensors[at] ?? {};
    if (kind === 'input') return true;
    if (producer < 0 || seen.has(producer)) continue;
    seen.add(producer);
    const { op, domain, subgraphs } = graph.nodes[producer]!;
    // What a branch or loop makes may be decided, too.
    if (subgraphs.length > 0 || (isStandardDomain(domain) && (op === 'Shape' || op === 'Size'))) continue;
    open.push(...graph.inputs[producer]!.filter((input) => input >= 0));
  }
  return false;
}

const conditional: FormCheck = (one) => {
  const { node, graph, index, inferred } = one;
  const [a, b] = ['then_branch', 'else_branch'].map(
    (name) => node.subgraphs.find(({ attribute }) => attribute === name)?.graph,
  );
  if (!a || !b) return undefined;
  if (a.outputs.length !== b.outputs.length)
    return problem(
      'control-flow',
      'The branches of If have different numbers of outputs.',
      'Keep only the branch that the model takes.',
      'known-branch',
    );
  // A condition that shapes decide may fold to a constant.
  if (!dependsOnValues(graph, graph.inputs[index]![0] ?? -1)) return undefined;
  for (const [place, output] of a.outputs.entries()) {
    const [left, right] = [
      [a, output],
      [b, b.outputs[place]!],
    ].map(([body, value]) => {
      const at = graph.tensorAt((body as typeof a).path, (value as typeof output).name);
      return at < 0 ? null : (inferred.shapes[at] ?? null);
    });
    if (!left || !right) continue;
    const differ =
      left.length !== right.length || (!since(one, '10.11') && left.some((size, axis) => size !== right[axis]));
    if (differ)
      return problem(
        'control-flow',
        `The branches of If give tensors of different ${left.length === right.length ? 'shape' : 'rank'}, and its condition depends on values.`,
        'Keep only the branch that the model takes, or reshape in one branch.',
        'known-branch',
      );
  }
  return undefined;
};

/** Operators that no version computes in UINT8: measured with 10.6, 10.15, 11.2 and TensorRT-RTX 1.7. */
const NO_BYTES = /^(?:Add|Sub|Mul|Div|Min|Max)$/;

const bytes: FormCheck = (one) =>
  one.node.inputs.some((_, at) => given(one, at) && typeOf(one, at) === 'uint8')
    ? problem('unsupported-type', `${one.node.op} of UINT8 is refused.`, 'Cast to INT32 before it.', 'narrow-integers')
    : undefined;

/** Operators whose inputs must have one type where types come from the model. */
const EQUAL_TYPES = /^(?:Add|Sub|Mul|Div|Pow|Min|Max|MatMul|Gemm|Concat|Equal|Greater\w*|Less\w*|PRelu|Sum|Mean)$/;

const equalTypes: FormCheck = (one) => {
  if (!(isRtx(one) || since(one, '11.0'))) return undefined;
  const { node } = one;
  const count = node.op === 'Pow' ? 1 : node.inputs.length;
  const types = Array.from({ length: count }, (_, at) => (given(one, at) ? typeOf(one, at) : null)).filter(
    (type) => type === 'float' || type === 'float16' || type === 'bfloat16',
  );
  const [first, other] = [types[0], types.find((type) => type !== types[0])];
  return other === undefined
    ? undefined
    : problem(
        'type-mismatch',
        `${node.op} mixes ${first!.toUpperCase()} and ${other.toUpperCase()}: the model is strongly typed.`,
        'Insert a Cast.',
        'cast-mixed-types',
      );
};

/** Weights for another number of channels. */
const convolution: FormCheck = (one) => {
  const weights = constantAt(one, 1)?.shape ?? shapeOf(one, 1);
  const channels = shapeOf(one, 0)?.[1];
  const group = intAttribute(one.node, 'group') ?? 1;
  if (typeof channels !== 'number' || typeof weights?.[1] !== 'number' || weights[1] * group === channels)
    return undefined;
  return problem(
    'shape-mismatch',
    `Conv has weights for ${weights[1] * group} channels and an input of ${channels}.`,
    'Check the export: NHWC and NCHW, or a wrong cut.',
  );
};

/** A constant shape of another volume than a static input. */
const reshape: FormCheck = (one) => {
  const from = shapeOf(one, 0);
  const to = constantAt(one, 1)?.ints;
  if (!from || !to || !from.every((size) => typeof size === 'number') || to.some((size) => size <= 0)) return undefined;
  const [a, b] = [from, to].map((sizes) => (sizes as number[]).reduce((product, size) => product * size, 1));
  return a === b
    ? undefined
    : problem(
        'shape-mismatch',
        `Reshape of ${shapeText(from)} to ${shapeText(to)} changes the number of elements.`,
        'Check the shapes that the exporter wrote.',
      );
};

/** Operators that read INT8 tables, which TensorRT takes for quantized. */
const table: FormCheck = (one) =>
  constantAt(one, 0)?.type === 'int8' && since(one, '10.0')
    ? problem(
        'quantization',
        `${one.node.op} reads an INT8 constant, which TensorRT takes for quantized.`,
        'Store tables as INT32.',
        'dequantize-constants',
      )
    : undefined;

const CHECKS: Readonly<Record<string, FormCheck>> = {
  Conv: convolution,
  Reshape: reshape,
  Gather: table,
  MaxPool: pooling,
  AveragePool: pooling,
  LpPool: pooling,
  LayerNormalization: optionalOutputs,
  BatchNormalization: (one) =>
    intAttribute(one.node, 'training_mode') === 1
      ? problem(
          'unsupported-form',
          'BatchNormalization in training mode is refused.',
          'Export for inference: model.eval().',
          'batch-norm-inference',
        )
      : undefined,
  Dropout: (one) =>
    since(one, '10.0') && constantAt(one, 2)?.ints?.[0] === 1
      ? problem(
          'unsupported-form',
          'Dropout in training mode is refused.',
          'Export for inference: model.eval().',
          'dropout-inference',
        )
      : undefined,
  Squeeze: (one) => {
    const hasAxes = standardOpset(one.graph.model) >= 13 ? given(one, 1) : intsAttribute(one.node, 'axes') !== null;
    const shape = shapeOf(one, 0);
    if (hasAxes || (shape !== null && shape.every((size) => typeof size === 'number'))) return undefined;
    if (one.target.product === 'tensorrt' && since(one, '11.5')) return undefined;
    return problem(
      'unsupported-form',
      'Squeeze without axes on a tensor of dynamic shape is refused.',
      'Give it the axes that are 1.',
      'squeeze-axes',
    );
  },
  Loop: (one) =>
    given(one, 1)
      ? undefined
      : problem(
          'control-flow',
          'Loop without a condition is refused.',
          'Give it a condition that is constant true.',
          'loop-condition',
        ),
  If: conditional,
  Resize: (one) => {
    const mode = textAttribute(one.node, 'coordinate_transformation_mode') ?? '';
    if (/^(?:tf_crop_and_resize|half_pixel_symmetric)$/.test(mode))
      return problem('unsupported-form', `Resize with ${mode} is refused.`, 'Export with half_pixel or align_corners.');
    if (intAttribute(one.node, 'antialias') === 1)
      return problem(
        'unsupported-form',
        'Resize with antialiasing is refused.',
        'Export without antialias.',
        'antialias-matrix',
      );
    const policy = textAttribute(one.node, 'keep_aspect_ratio_policy') ?? 'stretch';
    return policy === 'stretch'
      ? undefined
      : problem(
          'unsupported-form',
          `Resize with the policy ${policy} is refused.`,
          'Compute the sizes when exporting.',
        );
  },
  ScatterND: (one) =>
    (textAttribute(one.node, 'reduction') ?? 'none') === 'none'
      ? undefined
      : problem(
          'unsupported-form',
          'ScatterND with a reduction is refused.',
          'Write it as a MatMul with one-hot indices.',
          'scatter-reduction',
        ),
  ScatterElements: (one) =>
    (textAttribute(one.node, 'reduction') ?? 'none') === 'none' || (!isRtx(one) && since(one, '10.0'))
      ? undefined
      : problem(
          'unsupported-form',
          'ScatterElements with a reduction is refused.',
          'Write it as a MatMul with one-hot indices.',
          'scatter-reduction',
        ),
  TopK: (one) =>
    (constantAt(one, 1)?.ints?.[0] ?? intAttribute(one.node, 'k') ?? 0) > 3840
      ? problem('unsupported-form', 'TopK of more than 3840 elements is refused.', 'Split it into chunks and merge.')
      : undefined,
  LSTM: (one) =>
    intAttribute(one.node, 'input_forget') === 1
      ? problem('unsupported-form', 'LSTM with input_forget is refused.', 'Export an ordinary LSTM.')
      : undefined,
  Slice: (one) => {
    const [starts, axes] = [1, 3].map((at) => constantAt(one, at)?.shape[0] ?? shapeOf(one, at)?.[0]);
    return typeof starts !== 'number' || typeof axes !== 'number' || starts === axes
      ? undefined
      : problem(
          'model-invalid',
          'Slice has different numbers of starts and axes.',
          'Give them the same length.',
          'slice-axes',
        );
  },
  Attention: (one) => {
    if (one.node.domain === 'com.microsoft')
      return problem(
        'unsupported-op',
        "Attention of ONNX Runtime (com.microsoft) is taken for ONNX's and refused.",
        "Export without ONNX Runtime's graph optimizations.",
        'contrib-attention',
      );
    if (one.node.outputs.filter(Boolean).length > 1)
      return problem('unsupported-form', 'Attention with more than one output is refused.', 'Keep the cache outside.');
    if (
      shapeOf(one, 0)?.length === 4 &&
      typeOf(one, 0) === 'float' &&
      isRtx(one) &&
      !one.node.attributes.some(({ name }) => name === 'TRT_decomposable')
    )
      return problem(
        'no-implementation',
        'Attention with 4-D inputs in FP32 has no kernel in TensorRT-RTX.',
        'Set the attribute TRT_decomposable=1, use FP16, or give 3-D inputs.',
      );
    return undefined;
  },
  GridSample: (one) => {
    const [a, b] = [typeOf(one, 0), typeOf(one, 1)];
    return a !== null && b !== null && a !== b && (isRtx(one) || since(one, '11.0'))
      ? problem('type-mismatch', `GridSample mixes ${a.toUpperCase()} and ${b.toUpperCase()}.`, 'Cast the grid.')
      : undefined;
  },
  Mod: (one) =>
    (intAttribute(one.node, 'fmod') ?? 0) === 0 && /^(?:float|float16|bfloat16|double)$/.test(typeOf(one, 0) ?? '')
      ? problem('model-invalid', 'Mod of floating-point numbers needs fmod=1.', 'Set fmod=1.')
      : undefined,
  Range: (one) =>
    /^(?:float16|bfloat16)$/.test(typeOf(one, 0) ?? '')
      ? problem('unsupported-type', 'Range of half precision is refused.', 'Compute it in FP32 and cast.')
      : undefined,
  QuantizeLinear: quantization,
  DequantizeLinear: quantization,
  Cast: (one) => {
    const type = intAttribute(one.node, 'to') ?? 0;
    if ([4, 5, 8, 12, 13, 14, 15].includes(type))
      return problem(
        'unsupported-type',
        'Cast to a type that TensorRT does not have.',
        'Cast to INT32, INT64 or FP32.',
      );
    return type === 2 && readByNodes(one)
      ? problem(
          'unsupported-type',
          'UINT8 inside the model: TensorRT has it only at inputs and outputs.',
          'Cast to INT32.',
          'inner-uint8',
        )
      : undefined;
  },
  ReduceSum: (one) => axesConstant(one),
  ReduceMean: (one) => axesConstant(one),
  ReduceMax: (one) => axesConstant(one),
  ReduceMin: (one) => axesConstant(one),
};

/** Axes that are an input of the graph never fold to a constant. */
function axesConstant(one: NodeToCheck): NodeProblem | undefined {
  const tensor = one.graph.tensors[one.graph.inputs[one.index]![1] ?? -1];
  return tensor?.kind === 'input'
    ? problem(
        'unsupported-form',
        `${one.node.op} with axes that are an input is refused.`,
        'Make the axes an initializer.',
      )
    : undefined;
}

const readByNodes = ({ graph, index }: NodeToCheck): boolean =>
  (graph.tensors[graph.outputs[index]![0] ?? -1]?.consumers.length ?? 0) > 0;

/** What is wrong with the form of one node; undefined: nothing that the tables know. */
export function formProblem(one: NodeToCheck): NodeProblem | undefined {
  const { op } = one.node;
  return (
    (Object.hasOwn(CHECKS, op) ? CHECKS[op]!(one) : undefined) ??
    (NO_BYTES.test(op) ? bytes(one) : undefined) ??
    (EQUAL_TYPES.test(op) ? equalTypes(one) : undefined)
  );
}
