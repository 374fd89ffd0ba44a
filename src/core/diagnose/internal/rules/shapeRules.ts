import { type DiagnosisRule, EVERY_CAUSE } from '../rule.ts';
import { causeText, layerBefore } from '../causeText.ts';

const SHAPES_ADVICE =
  '[[{profile} ]]Check the shapes that the exporter wrote. If inputs have dynamic dimensions, give real shapes: a dimension that is built as 1 often does not fit.';
const RUNTIME_ADVICE =
  'The shapes that it was given do not fit the model, often because a batch size or length is fixed in a Reshape. Run with the shapes of the build, or export with a -1 in the reshape and dynamic axes.';

/** Shapes that do not fit each other inside the model, in a build or at run time. */
const RULES: readonly DiagnosisRule[] = [
  {
    id: 'runtime-reshape',
    code: 'runtime-shape',
    pattern:
      /(?:shapeMachine|executeContinuation|enqueue|executionContext)[\s\S]*?reshaping failed for tensor: (?<tensor>\S+)\s[\s\S]*?reshape would change volume (?<a>\d+) to (?<b>\d+)/,
    cause:
      'At run time the input does not fit the model: this node would reshape {a} values of tensor {tensor} into {b}.',
    advice: {
      'tf-trt': `${RUNTIME_ADVICE} Call the converter's build() with every input shape that occurs.`,
      other: RUNTIME_ADVICE,
    },
    named: (m, text) => ({
      layer: /IShuffleLayer (.+?): reshaping failed/.exec(text)?.[1],
      tensors: [m.groups!['tensor']!],
    }),
    source: 'TensorRT shapeMachine.cpp; NVIDIA/TensorRT#3990',
  },
  {
    id: 'matmul-dimensions',
    code: 'shape-mismatch',
    pattern: /: last dimension of input0 = (?<a>\S+) and second to last dimension of input1 = (?<b>\S+) but must match/,
    named: (m, text) => ({ layer: layerBefore(text, m[0]) }),
    cause:
      'This node cannot multiply its inputs: the last dimension of the first is {a}, the second to last of the second is {b}.',
    advice: SHAPES_ADVICE,
    source: 'TensorRT matrixMultiplyLayer.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'recurrent-weights',
    code: 'shape-mismatch',
    pattern: /: last dimension of input0 = (?<a>\S+) and last dimension of input1 = (?<b>\S+) but must match/,
    cause: 'This node[[ ({op})]] multiplies its inputs along their last dimensions, and these differ: {a} and {b}.',
    advice:
      'Compare the two, and correct the one that is wrong: a Transpose is missing, or weights (W and R of a recurrent layer, where R fits hidden_size; B of a Gemm with transB) are of another variant of the model.',
    source: 'TensorRT matrixMultiplyLayer.cpp; LSTM built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'matmul-dimensions-unknown',
    code: 'shape-mismatch',
    pattern: /: attempt to multiply two matrices with mismatching dimensions/,
    named: (m, text) => ({ layer: layerBefore(text, m[0]) }),
    cause: 'This node cannot multiply its inputs: their inner dimensions differ.',
    advice: SHAPES_ADVICE,
    source: 'built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'loop-shapes',
    code: 'control-flow',
    pattern:
      /(?:inputs to IRecurrenceLayer have different|IRecurrenceLayer must have inputs with same) (?<what>\w+)(?:\. First input (?:\S{1,200} )?has (?:dimensions|shape|type) (?<a>\[[^\n]{0,100}?\]|\w{1,20})[^\n]*? and second input (?:\S{1,200} )?has (?:dimensions|shape|type) (?<b>\[[^\n]*?\]|\w+))?|recurrence inputs must have (?:the )?same (?<what2>\w+)/,
    named: ({ groups: { what, what2 } = {} }) => ({ values: { what: /type/.test(what ?? what2!) ? 'type' : 'shape' } }),
    cause:
      'A tensor that a loop of the model carries from one iteration to the next changes its {what} there[[: {a} at first, then {b}]]. TensorRT needs one {what} for all iterations.',
    advice:
      'Carry a buffer of the final size and write each result into its place (ScatterElements, or Where with the index), cast what is carried to one type, or take the loop out of the model: run one step for each call, with the state as inputs and outputs, as text decoders with a cache do. A loop of a fixed length can be unrolled when exporting.',
    source: 'TensorRT graphShapeAnalyzer.cpp, layers.cpp; NVIDIA/TensorRT#2582, #411',
  },
  {
    id: 'concat-shapes',
    code: 'shape-mismatch',
    pattern:
      /: all concat input tensors must have the same (?:dimensions except on the concatenation axis \((?<axis>\d+)\)|number of dimensions).*?Input (?<i>\d+) shape: (?<a>\[[\d, -]*\]), Input (?<j>\d+) shape: (?<b>\[[\d, -]*\])/,
    named: ({ groups: { a, b } = {} }, text) => ({
      layer: layerBefore(text, ': all concat'),
      values: { empty: [a, b].find((shape) => /\b0\b/.test(shape!)) },
    }),
    cause:
      'This node cannot join its inputs[[ along axis {axis}]]: input {i} has shape {a}, input {j} has {b}.[[ The one with {empty} is empty: a size that was unknown when exporting, such as the batch, became 0.]]',
    advice: SHAPES_ADVICE,
    source: 'TensorRT concatenationLayer.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'concat-dimensions',
    code: 'shape-mismatch',
    pattern:
      /: axis (?<axis>\d+) dimensions must be equal for concatenation on axis (?<on>\d+)\. Dimensions are (?<a>\S+) and (?<b>\S+?)\./,
    named: (_, text) => ({ layer: layerBefore(text, ': axis ') }),
    cause: 'This node cannot join its inputs along axis {on}: their dimensions along axis {axis} are {a} and {b}.',
    advice: SHAPES_ADVICE,
    source: 'built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'equal-dimensions',
    code: 'shape-mismatch',
    pattern:
      /dimensions? (?:named |with name )?['"`(]?(?<name>[^'"`()\s]+)['"`)]? (?:must be equal|are not equal|has (?:different|conflicting|inconsistent) (?:values|sizes))|condition "?(?:equal|==)"?.{0,80}violated.{0,40}equal/i,
    cause: 'Dimensions with one name ({name}) must have one size, and the shapes given differ.',
    advice:
      'Give the same size to all dimensions of that name, or rename the dimensions of the model: exporters such as Paddle2ONNX name all of them "?" or "-1".',
    repair: 'rename-dimensions',
    source: 'TensorRT 10 named dimensions; ONNX dim_param',
  },
  {
    id: 'reshape-volume',
    code: 'shape-mismatch',
    pattern:
      /reshape changes volume\. Reshaping (?<from>\[[^\]]*\]) to (?<to>\[[^\]]*\])|reshape would change volume (?<a>\d+) to (?<b>\d+)/,
    named: (m, text) => ({
      layer: layerBefore(text, m.groups!['from'] ? ': reshape changes' : ': reshaping failed'),
      values: {
        from: m.groups!['from'] ?? `${m.groups!['a']} elements`,
        to: m.groups!['to'] ?? m.groups!['b'],
        why: m.groups!['from'] ? ': the numbers of elements differ' : '',
        batch: fixedBatch(m.groups!['from'], m.groups!['to']),
        profile: ofProfile(text),
      },
    }),
    cause: 'This node cannot reshape {from} into {to}{why}[[. {batch}]].',
    advice: `${SHAPES_ADVICE} In post-processing whose sizes depend on the data (boxes after NonZero, TopK or NMS, as in Faster R-CNN and Mask R-CNN), use a later TensorRT (NonZero from 8.5 on), export with a tool that replaces it (mmdeploy), or end the model before it.`,
    source: 'TensorRT shapeContext.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'reshape-wildcards',
    code: 'shape-mismatch',
    pattern:
      /reshape dimension with more than one -1 wildcard(?:\. Reshaping (?<from>\[[^\]]*\]) to (?<to>\[[^\]]*\]))?/,
    named: (_, text) => ({ layer: layerBefore(text, ': reshape dimension') }),
    cause:
      'This node reshapes its input[[, {from},]] to a shape[[, {to},]] with more than one -1: only one size can follow from the others.',
    advice: {
      'torch-tensorrt':
        'With several dynamic dimensions write the sizes of the tensor into view(), reshape() and unflatten() (x.shape[0], not -1), or make only one dimension dynamic. The Dynamo front end (ir="dynamo") keeps such sizes; that of TorchScript makes -1 of each.',
      other:
        'Write the sizes of the tensor into the reshape (x.shape[0], not -1), export with one dynamic dimension less, or give the model fixed input sizes.',
    },
    source: 'TensorRT shapeContext.cpp; pytorch/TensorRT#2617',
  },
  {
    id: 'reshape-inferred',
    code: 'shape-mismatch',
    pattern:
      /reshape wildcard -1 has \w+ (?:integer|number of) solutions?(?:\. Reshaping (?<from>\[[^\]]*\]) to (?<to>\[[^\]]*\]))?|uninferred dimensions are not an exact divisor of input dimensions|reshape changes volume(?=\s*$)|volume mismatch\. Input dimensions (?<from2>\[[^\]]*\]) have volume \d+ and output dimensions (?<to2>\[[^\]]*\])/,
    named: (m, text) => ({
      layer:
        /(\(Unnamed Layer\* \d+\) \[\w+\]|(?<!\S)[^\s:(]+): (?:reshape (?:wildcard|dimension|changes volume)|uninferred dimensions|volume mismatch)/.exec(
          text,
        )?.[1],
      values: { from: m.groups!['from'] ?? m.groups!['from2'], to: m.groups!['to'] ?? m.groups!['to2'] },
    }),
    cause:
      'This node cannot reshape its input[[, {from},]][[ into {to}]]: the number of its elements does not fit the sizes that are given.',
    advice: SHAPES_ADVICE,
    source:
      'TensorRT graphShapeAnalyzer.cpp; lix19937/tensorrt-insight#23, NVIDIA-AI-IOT/torch2trt#406, ultralytics/ultralytics#1136',
  },
  {
    id: 'layer-input-rank',
    code: 'shape-mismatch',
    pattern:
      /(?<layer>\(Unnamed Layer\* \d+\) \[\w+\]|(?<![^\s:(])[^\s:(]+(?::\d{1,3}:[A-Z_]{1,40}:\w{1,10})?): at least (?<least>\w+) (?<without>non-batch )?dimensions are required for input/,
    named: ({ groups: { without } = {} }) => ({ values: { how: without ? ' besides the batch' : '' } }),
    cause: 'The input of this node has too few dimensions: it takes at least {least}{how}.',
    advice: {
      'tf-trt':
        'Give the placeholder and the converter the whole shape of the input (NHWC, with the batch first), convert with is_dynamic_op=True or with build() so that real shapes are used, and use a later TensorFlow where a part lost a dimension.',
      other:
        'Give the input its whole shape: images need N, C, H and W (C, H and W in a network of TensorRT 7 or older without explicit batch). A Squeeze, Reshape or Slice before this node may remove one too many.',
    },
    source: 'TensorRT network.cpp; tensorflow/tensorrt#112',
  },
  {
    id: 'broadcast',
    code: 'shape-mismatch',
    pattern:
      /broadcast dimensions must be conformable|broadcast with incompatible dimensions|elementwise inputs must have same dimensions|dimensions not compatible for elementwise/,
    named: (m, text) => (text.includes('violate shape') ? {} : { layer: layerBefore(text, `: ${m[0]}`) }),
    cause: 'The inputs of this node have shapes that cannot be broadcast to each other.',
    advice: {
      'torch-tensorrt':
        'Where PyTorch itself runs the module, a converter gave another shape than it: write the operation before it in another form (slices for each dimension in place of `...`, fixed sizes), compile with ir="dynamo" or a later Torch-TensorRT, or leave that operator to PyTorch (torch_executed_ops).',
      other: `${SHAPES_ADVICE} Where the node joins maps of two sizes (after a Resize or a strided Conv), use an input height and width that are multiples of the stride of the network (32, or 64).`,
    },
    source: 'TensorRT shapeContext.cpp; built with TensorRT-RTX 1.7.1; pytorch/TensorRT#2026',
  },
  {
    id: 'conv-channels',
    code: 'shape-mismatch',
    pattern: /Kernel weight dimension failed to broadcast to input/,
    cause: 'The weights of this node are for another number of channels than its input has.',
    advice: SHAPES_ADVICE,
    source: 'onnx-tensorrt onnxOpImporters.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'axis-range',
    code: 'shape-mismatch',
    pattern: /Axis must be in the range .* Provided axis is: (?<axis>-?\d+)/,
    named: (_, text) => ({ values: { why: causeText(text) } }),
    cause: 'The axis {axis} of this node does not exist: {why}.',
    advice: SHAPES_ADVICE,
    source: 'onnx-tensorrt importerUtils.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'output-shape',
    code: 'shape-mismatch',
    pattern:
      /Error \((?<layer>[^\n]*?)(?:, scope: [^\n]*?)?: output shape can ?not be computed|(?:[eE]rror while computing output extent|[oO]utput shape can ?not be computed) (?:of|for) node (?<layer2>\(Unnamed Layer\* \d+\) \[[\w ]+\]|[^\s)]+?)\.?(?:\)|\s|$)/,
    named: (m) => ({ layer: m.groups!['layer'] ?? m.groups!['layer2'] }),
    cause:
      'TensorRT cannot compute the output shape of this node: the shapes of its inputs do not fit each other, or depend on values that it does not know.',
    advice:
      'Compare the shapes of its inputs, which must be equal, or 1, from the last dimension on. Give the model fixed input sizes where they are dynamic, and fold what computes shapes.',
    after: [...EVERY_CAUSE, 'failed'],
    source: 'TensorRT graphShapeAnalyzer.cpp; pytorch/TensorRT#2597',
  },
];

/** Shapes that were left out are built as 1, which then does not fit elsewhere. */
export const SHAPE_RULES: readonly DiagnosisRule[] = RULES.map((rule) =>
  rule.code === 'shape-mismatch' ? { after: ['profile-missing'], ...rule } : rule,
);

/** What it says that the shapes of a profile break the model's own; undefined: the message is not about a profile. */
function ofProfile(text: string): string | undefined {
  const which = /\bk(MIN|OPT|MAX) values for profile/.exec(text)?.[1]?.toLowerCase();
  return (
    which &&
    `The shapes of the profile (${which}) do not fit, so the exporter wrote a size of its example, most often the batch, into the model: export again with that dimension dynamic (an update of the export script may do it), or with the batch that is needed, and let the profile have no other.`
  );
}

/** What two shapes say whose sizes differ by a factor that is the first dimension of one of them; undefined: nothing. */
function fixedBatch(from: string | undefined, to: string | undefined): string | undefined {
  const [a, b] = [from, to].map((text) => text?.match(/-?\d+/g)?.map(Number) ?? []) as [number[], number[]];
  const volume = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);
  if (a.length === 0 || b.length === 0 || [...a, ...b].some((size) => size < 1)) return undefined;
  const factor = Math.max(volume(a) / volume(b), volume(b) / volume(a));
  return Number.isInteger(factor) && factor > 1 && (volume(a) > volume(b) ? a : b)[0] === factor
    ? `They differ by the factor ${factor}, the first dimension: most likely a batch size is fixed in one of them by the export`
    : undefined;
}
