import { shapeText } from '../../../kernel/base/text.ts';
import {
  dataTypeName,
  intAttribute,
  intsAttribute,
  type OnnxGraph,
  type OnnxNode,
  textAttribute,
} from '../../../kernel/read/onnx/onnxModel.ts';
import { isStandardDomain, type ModelGraph, standardOpset } from '../../../kernel/network/modelGraph.ts';
import type { NodeProblem } from './checkShapes.ts';
import {
  comesFromInput,
  constantAt,
  type FormCheck,
  given,
  isRtx,
  type NodeToCheck,
  problem,
  shapeOf,
  since,
  typeOf,
  typeText,
  valuesAt,
} from './nodeToCheck.ts';

const pooling: FormCheck = (one) => {
  if ((intsAttribute(one.node, 'dilations') ?? []).some((size) => size !== 1))
    return problem(
      'unsupported-form',
      `${one.node.op} with dilations is refused.`,
      'Export without dilation, or write it with slices.',
    );
  return optionalOutputs(one);
};

/** Outputs without a name that the parser counts; of other operators it counts only those that have one. */
export function leftOut(one: NodeToCheck, count = one.node.outputs.length): NodeProblem | undefined {
  const { op, outputs, domain } = one.node;
  return since(one, '10.6') && outputs.filter(Boolean).length < count
    ? problem(
        'unsupported-form',
        `${op} without names for all of its outputs is refused.`,
        'Name the others, too, even if nothing reads them.',
        outputs.includes('') && isStandardDomain(domain) ? 'name-outputs' : undefined,
      )
    : undefined;
}

/** Whether something reads an output of a node, or the model gives it. */
const isRead = ({ graph, index }: NodeToCheck, at: number): boolean => {
  const tensor = graph.outputs[index]![at] ?? -1;
  return graph.graphOutputs.includes(tensor) || (graph.tensors[tensor]?.consumers ?? []).length > 0;
};

const optionalOutputs: FormCheck = (one) =>
  since(one, '10.1') && one.node.outputs.filter(Boolean).length > 1
    ? problem(
        'unsupported-form',
        `${one.node.op} with optional outputs is refused, even if nothing reads them.`,
        one.node.op === 'MaxPool'
          ? 'Remove the places of the maxima if nothing reads them; otherwise compute them from slices, one for each place of the window, with ArgMax.'
          : 'Remove the outputs that nothing reads.',
        one.node.op === 'MaxPool' && isRead(one, 1) ? undefined : 'remove-unused-outputs',
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
  const scale = constantAt(one, 1);
  const unfit = scale?.floats?.find((value) => !(value > 0));
  if (unfit !== undefined)
    return problem(
      'quantization',
      `${one.node.op} has the scale ${unfit}; TensorRT needs scales above 0.`,
      'Calibrate again with data that reaches this tensor; where all values are 0, any positive scale does, such as 1.',
    );
  const scales = scale?.shape;
  const shape = shapeOf(one, 0) ?? constantAt(one, 0)?.shape;
  const axis = intAttribute(one.node, 'axis') ?? 1;
  const channels = shape?.[axis < 0 ? axis + shape.length : axis];
  if (scales?.length === 1 && scales[0]! > 1 && typeof channels === 'number' && scales[0] !== channels)
    return problem(
      'quantization',
      `${one.node.op} has ${scales[0]} scales for ${channels} channels.`,
      'Set the attribute axis to the axis of the scales.',
    );
  return quantizedType(one);
};

function quantizedType(one: NodeToCheck): NodeProblem | undefined {
  const type = typeOf(one, 0);
  if (
    one.node.op === 'QuantizeLinear' &&
    (/^int(?:32|64)$/.test(type ?? '') || intAttribute(one.node, 'output_dtype') === 2)
  )
    return problem(
      'quantization',
      'QuantizeLinear of integers, or with UINT8 as output_dtype, is refused.',
      'Quantize FP32 to INT8.',
    );
  if (one.node.op === 'DequantizeLinear' && (type === 'uint8' || type === 'int32') && !quantizedBefore(one))
    return problem(
      'quantization',
      `DequantizeLinear of ${typeText(type)} is refused.`,
      'Store the dequantized values as FP32, or quantize to INT8.',
      'dequantize-constants',
    );
  return undefined;
}

/** UINT8 with zero point 0 between QuantizeLinear and DequantizeLinear is read as INT8, also where it is moved. */
function quantizedBefore({ graph, index }: NodeToCheck): boolean {
  let at = graph.inputs[index]![0] ?? -1;
  for (let steps = 0; steps < 64; steps++) {
    const producer = graph.tensors[at]?.producer ?? -1;
    if (producer < 0) return false;
    if (graph.nodes[producer]!.op === 'QuantizeLinear') return true;
    at = graph.inputs[producer]![0] ?? -1;
  }
  return false;
}

/** Whether a tensor is made of the values of inputs, not of their shapes alone. */
const dependsOnValues = (graph: ModelGraph, tensor: number): boolean =>
  comesFromInput(graph, tensor, (producer) => {
    const { op, domain, subgraphs } = graph.nodes[producer]!;
    // What a branch or loop makes may be decided, too.
    if (subgraphs.length > 0 || (isStandardDomain(domain) && (op === 'Shape' || op === 'Size'))) return [];
    return graph.inputs[producer]!.filter((input) => input >= 0);
  });

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
  for (const [place, output] of a.outputs.entries()) {
    const [left, right] = [a, b].map((body) => {
      const at = graph.tensorAt(body.path, (body === a ? output : b.outputs[place]!).name);
      return at < 0 ? null : (inferred.types[at] ?? null);
    });
    if (left && right && left !== right && since(one, '11.0') && constantAt(one, 0) === undefined)
      return problem(
        'control-flow',
        `The branches of If give ${typeText(left)} and ${typeText(right)}.`,
        'Insert a Cast in one branch.',
      );
  }
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

const ACTIVATIONS =
  /^(?:relu|tanh|sigmoid|leakyrelu|elu|selu|softsign|softplus|scaledtanh|hardsigmoid|thresholdedrelu|clip)$/i;

/** Activations of LSTM, GRU and RNN. */
const recurrent: FormCheck = ({ node }) => {
  const list = node.attributes.find(({ name }) => name === 'activations')?.value;
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const names = list.map(String);
  const unknown = names.find((name) => !ACTIVATIONS.test(name));
  if (unknown !== undefined)
    return problem('unsupported-form', `${node.op} with the activation ${unknown} is refused.`, 'Write it as a Loop.');
  const half = names.length / 2;
  return textAttribute(node, 'direction') === 'bidirectional' &&
    names.some((name, at) => at < half && name !== names[at + half])
    ? problem(
        'unsupported-form',
        `${node.op} with other activations backward is refused.`,
        'Split it into two directions.',
      )
    : undefined;
};

/** What a Loop carries: as many outputs of the body as inputs, and its condition; each of one shape. */
const carried: FormCheck = ({ node, graph, index, inferred }) => {
  const body = node.subgraphs[0]?.graph;
  if (!body) return undefined;
  if (body.outputs.length < node.inputs.length - 1)
    return problem(
      'control-flow',
      'The body of Loop gives fewer values than it carries; the parser may crash.',
      'Export the model again.',
    );
  for (const [place, { name }] of body.outputs.slice(1, node.inputs.length - 1).entries()) {
    const [before, after] = [graph.inputs[index]![place + 2] ?? -1, graph.tensorAt(body.path, name)].map(
      (tensor) => inferred.shapes[tensor],
    );
    if (
      before &&
      after &&
      (before.length !== after.length ||
        after.some((size, at) => typeof size === 'number' && typeof before[at] === 'number' && size !== before[at]))
    )
      return problem(
        'control-flow',
        `A tensor that Loop carries changes its shape: ${shapeText(before)} at first, then ${shapeText(after)}.`,
        'Carry a buffer of the final size, and write each result into its place.',
      );
  }
  return undefined;
};

/** Whether the body of a Loop reads whether to go on: without that input, the parser has nothing to give it. */
const readsCondition = ({ node }: NodeToCheck): boolean => {
  const body = node.subgraphs[0]?.graph;
  const name = body?.inputs[1]?.name;
  const reads = (graph: OnnxGraph): boolean =>
    graph.outputs.some((output) => output.name === name) ||
    graph.nodes.some(({ inputs, subgraphs }) => inputs.includes(name!) || subgraphs.some((one) => reads(one.graph)));
  return body === undefined || name === undefined || reads(body);
};

/** Operators that the builder does not merge: products, and what does not make the same twice. */
const APART = /^(?:MatMul|Random\w+|Bernoulli|Multinomial|Dropout)$/;
const MOVES = /^(?:Reshape|Transpose|Squeeze|Unsqueeze)$/;

/** Whether two tensors are computed alike, by nodes that the builder merges. @param depth how many nodes are followed */
function isSame(graph: ModelGraph, a: number, b: number, isMerged: (node: OnnxNode) => boolean, depth = 32): boolean {
  const [left, right] = [a, b].map((tensor) => uncopied(graph, tensor));
  if (left === right) return true;
  const [one = -1, other = -1] = [left, right].map((tensor) => graph.tensors[tensor!]?.producer);
  if (one < 0 || other < 0 || depth === 0) return false;
  const [first, second] = [graph.nodes[one]!, graph.nodes[other]!];
  if (first.op !== second.op || first.domain !== second.domain || !isMerged(first)) return false;
  if (JSON.stringify(first.attributes) !== JSON.stringify(second.attributes)) return false;
  const [inputs, others] = [graph.inputs[one]!, graph.inputs[other]!];
  return (
    graph.outputs[one]!.indexOf(left!) === graph.outputs[other]!.indexOf(right!) &&
    inputs.length === others.length &&
    inputs.every((input, place) => {
      const [value, same] = [one, other].map((index) => constantAt({ graph, index }, place)?.ints);
      return (
        input === others[place] ||
        (value !== undefined && value.join() === same?.join()) ||
        isSame(graph, input, others[place]!, isMerged, depth - 1)
      );
    })
  );
}

/** The tensor that Identity copies. */
function uncopied(graph: ModelGraph, tensor: number): number {
  let at = tensor;
  for (let steps = 0; steps < 64; steps++) {
    const index = graph.tensors[at]?.producer ?? -1;
    if (graph.nodes[index]?.op !== 'Identity') break;
    at = graph.inputs[index]![0] ?? -1;
  }
  return at;
}

/** Indices that write some elements more than once: with more of them than elements along a dimension. */
const moreIndices: FormCheck = (one) => {
  const [data, indices] = [shapeOf(one, 0), shapeOf(one, 1)];
  const axis =
    indices?.findIndex((size, at) => typeof size === 'number' && size > Number(data?.[at] ?? Infinity)) ?? -1;
  return axis < 0
    ? undefined
    : problem(
        'unsupported-form',
        `ScatterElements with ${String(indices![axis])} indices for the ${String(data![axis])} elements of dimension ${axis} is refused.`,
        'Write them in turns, one index of the dimension after the other.',
      );
};

/** Whether the query and key of an Attention become one tensor. */
function isOfOneTensor(one: NodeToCheck): boolean {
  const [query = -1, key = -1] = one.graph.inputs[one.index]!;
  // Measured: in half precision it merges only nodes of one input, and those that move elements.
  const isFull = typeOf(one, 0) === 'float';
  const isMerged = ({ op, inputs, subgraphs }: OnnxNode): boolean =>
    subgraphs.length === 0 && !APART.test(op) && (isFull || inputs.length === 1 || MOVES.test(op));
  return isSame(one.graph, query, key, isMerged);
}

/** What TensorRT-RTX has no kernel for; three dimensions without a mask need none. */
function attentionKernel(one: NodeToCheck): NodeProblem | undefined {
  if (isOfOneTensor(one))
    return problem(
      'unsupported-form',
      'Attention whose query and key are computed alike crashes the builder of TensorRT-RTX.',
      'Multiply the query by 2 and halve the attribute scale (without it, it is 1/√(head size)): the numbers stay the same.',
      'expand-attention',
    );
  const isCausal = intAttribute(one.node, 'is_causal') === 1;
  const shape = shapeOf(one, 0);
  const how = isCausal
    ? 'with is_causal'
    : given(one, 3)
      ? 'with a mask'
      : shape?.length === 4
        ? 'with 4-D inputs'
        : '';
  if (how === '' || one.node.attributes.some(({ name }) => name === 'TRT_decomposable')) return undefined;
  const type = typeOf(one, 0);
  const heads = shape?.length === 3 ? (intAttribute(one.node, 'q_num_heads') ?? 1) : 1;
  const last = shape?.at(-1);
  const size = typeof last === 'number' ? last / heads : null;
  const lacksKernel = /^b?float16$/.test(type ?? '') && size !== null && (size < 9 || size > 256);
  const which = type === 'float' ? 'in FP32' : lacksKernel ? `of head size ${size}` : null;
  return which === null
    ? undefined
    : problem(
        'no-implementation',
        `Attention ${how} ${which} has no kernel in TensorRT-RTX.`,
        'Set the attribute TRT_decomposable=1, with which TensorRT writes it as products and a Softmax.',
        'expand-attention',
      );
}

const CHECKS: Readonly<Record<string, FormCheck>> = {
  Gather: table,
  MaxPool: pooling,
  AveragePool: pooling,
  LpPool: (one) =>
    (intAttribute(one.node, 'p') ?? 2) > 2
      ? problem('unsupported-form', 'LpPool takes p of 1 and 2 only.', 'Use p=2.')
      : pooling(one),
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
    leftOut(one) ??
    (since(one, '10.0') && (constantAt(one, 2)?.ints?.[0] === 1 || (given(one, 2) && constantAt(one, 2) === undefined))
      ? problem(
          'unsupported-form',
          'Dropout in training mode is refused.',
          'Export for inference: model.eval().',
          'dropout-inference',
        )
      : undefined),
  Squeeze: (one) => {
    const hasAxes = standardOpset(one.graph.model) >= 13 ? given(one, 1) : intsAttribute(one.node, 'axes') !== null;
    const shape = shapeOf(one, 0);
    if (hasAxes) return inputAxes(one);
    if (since(one, '11.5') && !isRtx(one)) return undefined;
    if (shape === null || shape.every((size) => typeof size === 'number')) return undefined;
    if (isRtx(one))
      return {
        ...problem(
          'unsupported-form',
          'Squeeze without axes builds only where its dynamic dimensions are never 1.',
          'Give it the axes that are 1.',
          'squeeze-axes',
        ),
        severity: 'warning',
      };
    return problem(
      'unsupported-form',
      'Squeeze without axes on a tensor of dynamic shape is refused.',
      'Give it the axes that are 1.',
      'squeeze-axes',
    );
  },
  Loop: (one) =>
    given(one, 1) || !readsCondition(one)
      ? carried(one)
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
    const kind = textAttribute(one.node, 'mode') ?? 'nearest';
    const rounded = kind === 'nearest' ? (textAttribute(one.node, 'nearest_mode') ?? 'round_prefer_floor') : null;
    const otherPixels = rounded !== null && rounded !== 'round_prefer_floor';
    if (mode === 'tf_half_pixel_for_nn' && isRtx(one) && (otherPixels || given(one, 3)))
      return problem(
        'unsupported-form',
        `Resize with tf_half_pixel_for_nn and ${otherPixels ? `nearest_mode ${rounded}` : 'sizes'} is refused.`,
        rounded === null
          ? 'Give it scales in place of sizes, or export with half_pixel.'
          : 'Set half_pixel: with nearest_mode round_prefer_ceil in place of floor, or ceil in place of round_prefer_floor, it takes the same pixels.',
        'half-pixel-nearest',
      );
    if (!/^(?:nearest|linear|cubic)$/.test(kind))
      return problem('unsupported-form', `Resize in mode ${kind} is refused.`, 'Use nearest, linear or cubic.');
    if (intAttribute(one.node, 'antialias') === 1)
      return problem('unsupported-form', 'Resize with antialiasing is refused.', 'Export without antialias.');
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
    textAttribute(one.node, 'reduction') === 'none' && !since(one, '10.11')
      ? problem(
          'unsupported-form',
          'ScatterND with the attribute reduction is refused, even if it is none.',
          'Remove the attribute: without it nothing is reduced.',
        )
      : (textAttribute(one.node, 'reduction') ?? 'none') === 'none'
        ? undefined
        : problem(
            'unsupported-form',
            'ScatterND with a reduction is refused.',
            'Write it as a MatMul with one-hot indices.',
            'scatter-reduction',
          ),
  ScatterElements: (one) =>
    (textAttribute(one.node, 'reduction') ?? 'none') === 'none' || (!isRtx(one) && since(one, '10.0'))
      ? moreIndices(one)
      : problem(
          'unsupported-form',
          'ScatterElements with a reduction is refused.',
          'Write it as a MatMul with one-hot indices.',
          'scatter-reduction',
        ),
  TopK: (one) =>
    leftOut(one, 2) ??
    (Number(valuesAt(one, 1)?.[0] ?? constantAt(one, 1)?.ints?.[0] ?? intAttribute(one.node, 'k') ?? 0) > 3840
      ? problem(
          'unsupported-form',
          'TopK of more than 3840 elements is refused.',
          'Ask for fewer, or take 3840 at a time and exclude them from the next TopK.',
        )
      : undefined),
  Split: (one) => leftOut(one),
  DeformConv: (one) =>
    given(one, 4) && !given(one, 3)
      ? problem('unsupported-form', 'DeformConv with a mask and without a bias is refused.', 'Give it a bias of zeros.')
      : undefined,
  Scan: (one) =>
    one.node.inputs.length <= (intAttribute(one.node, 'num_scan_inputs') ?? 0)
      ? problem('control-flow', 'Scan without a state is refused.', 'Give it a state that the body returns as it is.')
      : intsAttribute(one.node, 'scan_input_axes')?.some((axis) => axis < 0)
        ? problem('control-flow', 'Scan along a negative axis is refused.', 'Count the axis from the first dimension.')
        : undefined,
  Upsample: (one) =>
    standardOpset(one.graph.model) < 7 && !one.node.attributes.some(({ name }) => name === 'scales')
      ? problem('unsupported-form', 'Upsample of opset 1 is refused.', 'Convert the model to opset 13 or later.')
      : undefined,
  LSTM: (one) =>
    intAttribute(one.node, 'input_forget') === 1
      ? problem('unsupported-form', 'LSTM with input_forget is refused.', 'Export an ordinary LSTM.')
      : recurrent(one),
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
    if (one.node.outputs.filter(Boolean).length > 1 || given(one, 4))
      return problem(
        'unsupported-form',
        'Attention with a cache or more than one output is refused.',
        'Keep the cache outside.',
      );
    for (const name of ['softcap', 'softmax_precision'])
      if (one.node.attributes.some((each) => each.name === name && each.value !== 0))
        return problem(
          'unsupported-form',
          `Attention with ${name} is refused.`,
          'Export it as MatMul, Softmax and MatMul.',
        );
    if (given(one, 3) && intAttribute(one.node, 'is_causal') === 1)
      return problem(
        'unsupported-form',
        'Attention with a mask and is_causal is refused.',
        'Put the causal mask into the mask.',
      );
    return isRtx(one) ? attentionKernel(one) : undefined;
  },
  GridSample: (one) => {
    const [a, b] = [typeOf(one, 0), typeOf(one, 1)];
    return a !== null && b !== null && a !== b && (isRtx(one) || since(one, '11.0'))
      ? problem('type-mismatch', `GridSample mixes ${typeText(a)} and ${typeText(b)}.`, 'Cast the grid.')
      : undefined;
  },
  Mod: (one) => {
    const type = typeOf(one, 0) ?? '';
    if ((intAttribute(one.node, 'fmod') ?? 0) !== 0) return undefined;
    if (/^(?:float|float16|bfloat16|double)$/.test(type))
      return problem('model-invalid', 'Mod of floating-point numbers needs fmod=1.', 'Set fmod=1.');
    return type === 'int8' && isRtx(one)
      ? problem('unsupported-type', 'Mod of INT8 is refused.', 'Cast to INT32 before it.', 'narrow-integers')
      : undefined;
  },
  Range: (one) =>
    /^(?:float16|bfloat16)$/.test(typeOf(one, 0) ?? '')
      ? problem('unsupported-type', 'Range of half precision is refused.', 'Compute it in FP32 and cast.')
      : undefined,
  QuantizeLinear: quantization,
  DequantizeLinear: quantization,
  Cast: (one) => {
    const type = intAttribute(one.node, 'to') ?? 0;
    if ([4, 5, 8, 12, 13, 14, 15, 18, 19, 20].includes(type))
      return problem(
        'unsupported-type',
        'Cast to a type that TensorRT does not have.',
        'Cast to INT32, INT64 or FP32, and declare an output of the model that it makes so, too.',
      );
    // The builder refuses it: "unsupported types are: {FP8, Int4}".
    if ((type === 17 || type === 22 || typeOf(one, 0) === 'float8e4m3fn') && !since(one, '10.11'))
      return problem(
        'unsupported-type',
        'Cast to or from FP8 or INT4 is refused when building.',
        'Use QuantizeLinear and DequantizeLinear.',
      );
    return isRtx(one) ? table(one) : undefined;
  },
  Unsqueeze: (one) => (since(one, '11.0') ? inputAxes(one) : storedAxes(one)),
  CumSum: (one) => (since(one, '10.15') ? undefined : inputAxes(one)),
  Constant: ({ node }) =>
    node.attributes.some(({ name }) => /^(?:sparse_value|value_strings?)$/.test(name))
      ? problem(
          'unsupported-form',
          'Constant of strings or sparse values is refused.',
          'Store a dense tensor of numbers.',
        )
      : undefined,
  ConstantOfShape: (one) => {
    const value = one.node.attributes.find(({ name }) => name === 'value')?.value;
    return typeof value === 'object' &&
      value !== null &&
      'type' in value &&
      value.type === 'uint8' &&
      since(one, '11.0')
      ? problem('unsupported-type', 'ConstantOfShape of UINT8 is refused.', 'Make INT32 of it.')
      : undefined;
  },
  RandomNormal: (one) => randomType(one),
  RandomUniform: (one) => randomType(one),
  RandomNormalLike: (one) => randomType(one),
  RandomUniformLike: (one) => randomType(one),
  GRU: recurrent,
  RNN: recurrent,
  GroupQueryAttention: ({ node }) =>
    node.attributes.some(({ name }) => name === 'scale')
      ? undefined
      : problem('unsupported-form', 'GroupQueryAttention without a scale is refused.', 'Set the attribute scale.'),
  RotaryEmbedding: (one) =>
    shapeOf(one, 0)?.length === 3 && !intAttribute(one.node, 'num_heads')
      ? problem('unsupported-form', 'RotaryEmbedding of 3 dimensions needs num_heads.', 'Set the attribute num_heads.')
      : undefined,
  TensorScatter: (one) =>
    (textAttribute(one.node, 'mode') ?? 'linear') === 'linear'
      ? undefined
      : problem('unsupported-form', 'TensorScatter takes mode linear only.', 'Export with mode linear.'),
  LRN: (one) => {
    const size = intAttribute(one.node, 'size') ?? 1;
    return size % 2 === 0 || size > 15
      ? problem(
          'unsupported-form',
          size > 15 ? 'LRN of a size above 15 is refused.' : 'LRN of an even size is refused.',
          'Use an odd size up to 15.',
        )
      : undefined;
  },
  STFT: (one) =>
    [1, 2, 3].some((at) => given(one, at) && dependsOnValues(one.graph, one.graph.inputs[one.index]![at]!))
      ? problem(
          'unsupported-form',
          'STFT takes its step, window and length from initializers only.',
          'Store them in the model.',
        )
      : undefined,
};

/** Axes that are not stored in the model: a reduction takes no others, not even folded ones. */
function storedAxes(one: NodeToCheck): NodeProblem | undefined {
  const tensor = one.graph.tensors[one.graph.inputs[one.index]![1] ?? -1];
  const isStored =
    tensor === undefined || tensor.kind === 'initializer' || one.graph.nodes[tensor.producer]?.op === 'Constant';
  return isStored || tensor.kind === 'undefined'
    ? undefined
    : problem('unsupported-form', `${one.node.op} with computed axes is refused.`, 'Make the axes an initializer.');
}

/** Axes that values of inputs decide. */
function inputAxes(one: NodeToCheck): NodeProblem | undefined {
  return dependsOnValues(one.graph, one.graph.inputs[one.index]![1] ?? -1)
    ? problem(
        'unsupported-form',
        `${one.node.op} with axes that are not constant is refused.`,
        'Make the axes an initializer.',
        'squeeze-axes',
      )
    : undefined;
}

/** BFLOAT16, DOUBLE. */
const DRAWN_NOT: ReadonlySet<number> = new Set([16, 11]);
const randomType = ({ node }: NodeToCheck): NodeProblem | undefined =>
  DRAWN_NOT.has(intAttribute(node, 'dtype') ?? 0)
    ? problem(
        'unsupported-type',
        `${node.op} of ${typeText(dataTypeName(intAttribute(node, 'dtype')!))} is refused.`,
        'Set its attribute dtype to FP32, and cast after it.',
      )
    : undefined;

/** Inputs whose values are shapes, which no floating-point number may decide. */
const SIZES: Readonly<Record<string, readonly number[]>> = {
  Reshape: [1],
  Expand: [1],
  Tile: [1],
  ConstantOfShape: [0],
  Range: [0, 1, 2],
  TopK: [1],
  Resize: [2, 3],
};
const NO_SIZE = /^(?:b?float(?:16)?|double|bool)$/;
/** Operators that TensorRT computes for shapes, too. */
const OF_SHAPES =
  /^(?:Cast|Identity|Add|Sub|Mul|Div|Min|Max|Neg|Floor|Ceil|Squeeze|Unsqueeze|Reshape|Gather|Slice|Concat|Reduce(?:Max|Min|Sum|Prod))$/;

/** Inputs of the graph that integers, or what TensorRT computes of shapes, lead to a tensor from. */
function sourcesOf(graph: ModelGraph, tensor: number): number[] {
  const seen = new Set([tensor]);
  for (const at of seen) {
    const producer = graph.tensors[at]?.producer ?? -1;
    if (producer < 0 || !OF_SHAPES.test(graph.nodes[producer]!.op)) continue;
    for (const input of graph.inputs[producer]!) if (input >= 0) seen.add(input);
  }
  return [...seen].filter((at) => graph.tensors[at]?.kind === 'input');
}

/** Shapes that are computed from an input of numbers that are not integers, or from one of unknown length. */
function sizeOfValues(one: NodeToCheck): NodeProblem | undefined {
  const { graph, index, inferred } = one;
  const { op } = one.node;
  if (!Object.hasOwn(SIZES, op)) return undefined;
  for (const tensor of SIZES[op]!.map((place) => graph.inputs[index]![place] ?? -1)) {
    const source = sourcesOf(graph, tensor).find((at) => NO_SIZE.test(inferred.types[at] ?? ''));
    if (source !== undefined)
      return problem(
        'unsupported-form',
        `${op} gets a shape that values of input ${graph.tensors[source]!.name} decide; a shape tensor is INT32 or INT64.`,
        'Make the input INT64, or compute the shape outside the engine.',
      );
    const { kind, name } = graph.tensors[tensor] ?? {};
    const shape = inferred.shapes[tensor];
    if (kind === 'input' && shape?.length === 1 && typeof shape[0] !== 'number')
      return problem(
        'unsupported-form',
        `${op} reads input ${name} as a shape, and its length, the rank, is not fixed.`,
        'Fix the length of the input.',
      );
  }
  return undefined;
}

/** Whether two inputs have other shapes. */
function broadcasts(one: NodeToCheck): boolean {
  const [a, b] = [shapeOf(one, 0), shapeOf(one, 1)];
  return a !== null && b !== null && (a.length !== b.length || a.some((size, axis) => size !== b[axis]));
}

/** Required inputs that have no name, and attributes of opsets that the parser no longer reads. */
const TWO_INPUTS = /^(?:Add|Sub|Mul|Div|Pow|MatMul|Gemm|Conv|Equal|Greater|Less|Gather|And|Or|Where|PRelu)$/;
function isOld(one: NodeToCheck, opset: number): boolean {
  const { op } = one.node;
  return (
    (opset < 7 && TWO_INPUTS.test(op) && !/^(?:MatMul|Gemm|Conv|Gather)$/.test(op) && broadcasts(one)) ||
    (opset < 7 && op === 'Gemm' && given(one, 2) && (shapeOf(one, 2)?.length ?? 2) < 2) ||
    (opset < 2 && op === 'Pad')
  );
}

function oldForm(one: NodeToCheck): NodeProblem | undefined {
  const { op, inputs, domain, attributes } = one.node;
  if (!isStandardDomain(domain)) return undefined;
  if (TWO_INPUTS.test(op) && inputs.slice(0, 2).includes(''))
    return problem('model-invalid', `${op} lacks a required input.`, 'The model was cut or edited badly: connect it.');
  const opset = standardOpset(one.graph.model);
  if (op === 'Reshape' && inputs.length < 2 && (opset >= 5 || !attributes.some(({ name }) => name === 'shape')))
    return problem(
      'model-invalid',
      `Reshape has no shape: opset ${opset} takes it as ${opset >= 5 ? 'the second input' : 'the attribute shape'}.`,
      'Give it one, or export the model again.',
    );
  const bare = op === 'MatMul' ? one.graph.inputs[one.index]!.map((at) => one.graph.tensors[at]) : [];
  const scalar = bare.find((tensor) => tensor?.kind === 'input' && tensor.value?.shape === null);
  if (scalar)
    return problem(
      'model-invalid',
      `Input ${scalar.name} has no shape: TensorRT takes it for a scalar, and MatMul refuses that.`,
      'Declare its shape, with dynamic dimensions where they vary.',
    );
  return isOld(one, opset)
    ? problem('unsupported-form', `${op} of opset ${opset} is refused.`, 'Convert the model to opset 13 or later.')
    : undefined;
}

/** Attributes that an operator must have, with what to give it. */
const REQUIRED: ReadonlyMap<string, readonly [name: string, advice: string]> = new Map<
  string,
  readonly [string, string]
>([
  ['Concat', ['axis', 'Give it the axis: 1 where the opset is below 4.']],
  ...Object.entries({
    AveragePool: 'kernel_shape',
    Cast: 'to',
    DepthToSpace: 'blocksize',
    Einsum: 'equation',
    LRN: 'size',
    LpPool: 'kernel_shape',
    MaxPool: 'kernel_shape',
    RandomNormal: 'shape',
    RandomUniform: 'shape',
    SpaceToDepth: 'blocksize',
  }).map(([op, name]) => [op, [name, 'Set it, or export the model again.']] as const),
]);

function lacksAttribute({ node }: NodeToCheck): NodeProblem | undefined {
  const [name, advice] = REQUIRED.get(node.op) ?? [];
  return name === undefined ||
    advice === undefined ||
    !isStandardDomain(node.domain) ||
    node.attributes.some((one) => one.name === name)
    ? undefined
    : problem('model-invalid', `${node.op} lacks its attribute ${name}.`, advice);
}

/** What is wrong with the form of one node; undefined: nothing that the tables know. */
export function formProblem(one: NodeToCheck): NodeProblem | undefined {
  const { op } = one.node;
  return (
    lacksAttribute(one) ??
    (Object.hasOwn(CHECKS, op) ? CHECKS[op]!(one) : undefined) ??
    (op.startsWith('Reduce') ? storedAxes(one) : undefined) ??
    sizeOfValues(one) ??
    oldForm(one)
  );
}
