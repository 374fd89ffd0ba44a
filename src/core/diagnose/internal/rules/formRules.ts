import { OPERATOR_REPAIRS } from '../gpuSupport.ts';
import type { DiagnosisRule } from '../rule.ts';

/** Operators that a version has, in forms that it does not. */
export const FORM_RULES: readonly DiagnosisRule[] = [
  {
    id: 'prelu-slope',
    code: 'shape-mismatch',
    pattern: /slope tensor must be unidirectional broadcastable to input tensor/,
    cause:
      'The slopes of this node (PRelu) have a shape that does not broadcast to its input: exporters of MXNet write [C] where it must be [C,1,1].',
    advice:
      'Reshape the initializer of the slopes to [C,1,1] (onnx-graphsurgeon: `node.inputs[1].values = node.inputs[1].values.reshape(-1, 1, 1)`), or export with a later converter (for InsightFace one of the scripts for ONNX).',
    sure: 'likely',
    source: 'onnx/models#156, #240',
  },
  {
    id: 'dropout-training',
    code: 'unsupported-form',
    pattern:
      /does not support the Dr?o?u?pout ?operator|Dropout operator in training mode|Droupout operator with training mode|only supports the training_mode input as an initializer/,
    cause: 'This node (Dropout) is in training mode: the model was exported for training.',
    advice:
      'Export it for inference: `model.eval()` before `torch.onnx.export`, and no `training=TrainingMode.TRAINING`.',
    repair: 'dropout-inference',
    source: 'onnx-tensorrt onnxOpImporters.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'batchnorm-training',
    code: 'unsupported-form',
    pattern: /training_mode == 1 in BatchNormalization|doesn't support mode than 1 outputs for BatchNormalization/,
    cause: 'This node (BatchNormalization) is in training mode: the model was exported for training.',
    advice: 'Export it for inference: `model.eval()` before `torch.onnx.export`.',
    repair: 'batch-norm-inference',
    source: 'onnx-tensorrt onnxOpCheckers.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'optional-outputs',
    code: 'unsupported-form',
    pattern: /doesn't support mo[dr]e than (?<n>\d+) outputs? for (?<op>\w+) nodes/,
    cause:
      'This node ({op}) has more than {n} output; TensorRT refuses its optional outputs even if nothing reads them.',
    advice: 'Remove the unused outputs of the node; those that are used have to be computed by other operators.',
    repair: 'remove-unused-outputs',
    source: 'onnx-tensorrt onnxOpCheckers.cpp (10.1 and later); built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'pool-dilations',
    code: 'unsupported-form',
    pattern: /does not support dilations other than 1/,
    cause: 'This node is a pooling with dilations, which TensorRT does not support.',
    advice: 'Export without dilation, or write it with slices (convolutions may be dilated).',
    source: 'onnx-tensorrt onnxOpCheckers.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'resize-scales-computed',
    code: 'unsupported-form',
    pattern:
      /Resize scales must be an initializer|Assertion failed: scales(?:_input|_weights)?\.(?:is_weights\(\)|shape\.nbDims == 1)/,
    named: (_, __, { op }) => ({ values: { what: op === 'Upsample' ? 'an Upsample' : 'a Resize' } }),
    cause:
      'The scales of {what} are computed by other nodes, and this version of the parser needs them as an initializer.',
    advice:
      'Fold constants (`polygraphy surgeon sanitize --fold-constants` or onnxsim), or export with opset 11 or later and sizes as plain numbers (`F.interpolate(x, size=(int(h), int(w)))`). TensorRT 8 and later accept computed scales.',
    repair: 'fold-constants',
    source: 'onnx-tensorrt 5 to 7.x builtin_op_importers.cpp; NVIDIA/TensorRT#825, onnx/onnx-tensorrt#273, #361',
  },
  {
    id: 'resize-coordinates',
    code: 'unsupported-form',
    pattern: /only supports (?:pytorch_|tf_)?half_pixel|transformationMode == "align_corners"/,
    cause: 'This node (Resize) has a coordinate mode that TensorRT does not support, such as tf_crop_and_resize.',
    advice: 'Export with half_pixel, asymmetric or align_corners; crop with Slice first.',
    source: 'onnx-tensorrt onnxOpCheckers.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'resize-antialias',
    code: 'unsupported-form',
    pattern: /Antialiasing is not supported/,
    repair: 'antialias-matrix',
    cause: 'This node (Resize) uses antialiasing, which TensorRT does not support.',
    advice: 'Export without antialias (the numbers change a little), or downsample with AveragePool or Conv.',
    source: 'onnx-tensorrt onnxOpCheckers.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'resize-aspect',
    code: 'unsupported-form',
    pattern: /Only `stretch` is supported/,
    cause: 'This node (Resize) keeps the aspect ratio, which TensorRT does not support.',
    advice: 'Compute the sizes when exporting and use the policy stretch.',
    source: 'onnx-tensorrt onnxOpCheckers.cpp',
  },
  {
    id: 'resize-axes',
    code: 'unsupported-form',
    pattern: /`axes` attribute is supported with `scales` tensor only when/,
    cause: 'This node (Resize) scales only some axes, by scales that are computed.',
    advice: 'Make the scales an initializer, or give scales for all axes.',
    repair: 'fold-constants',
    source: 'onnx-tensorrt onnxOpCheckers.cpp (10.0 and later)',
  },
  {
    id: 'scatternd-reduction',
    code: 'unsupported-form',
    pattern: /ScatterND with reduction is not supported/,
    cause:
      'This node (ScatterND) adds, multiplies or takes the extreme of what is already there; TensorRT only overwrites.',
    advice: {
      rtx: 'Write the addition as a MatMul with one-hot indices, or as a masked maximum. TensorRT-RTX has no ScatterElements with reduction, either.',
      other: 'Use ScatterElements with the same reduction (TensorRT 10.0 and later), or a MatMul with one-hot indices.',
    },
    repair: 'scatter-reduction',
    source: 'onnx-tensorrt onnxOpImporters.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'scatterelements-reduction',
    code: 'unsupported-form',
    pattern: /Unsupported reduction type/,
    cause: 'A ScatterElements of the model has a reduction, which TensorRT-RTX does not support.',
    advice: 'Write the addition as a MatMul with one-hot indices, or use the full TensorRT (10.0 and later).',
    repair: 'scatter-reduction',
    named: () => ({ values: { op: 'ScatterElements' } }),
    source: 'onnx-tensorrt onnxOpImporters.cpp of TensorRT-RTX; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'attention-outputs',
    code: 'unsupported-form',
    pattern: /only supports Attention nodes with one output/,
    cause: 'This node (Attention) also returns keys and values; TensorRT supports only its first output.',
    advice: 'Keep the cache outside: Concat or TensorScatter before a plain Attention.',
    source: 'onnx-tensorrt onnxOpImporters.cpp (10.14 and later)',
  },
  {
    id: 'attention-softcap',
    code: 'unsupported-form',
    pattern: /Setting softcap is not supported/,
    cause: 'This node (Attention) has a softcap, which TensorRT does not support.',
    advice: 'Expand the operator with the ONNX inliner, so that the softcap becomes Tanh, Mul and Div.',
    source: 'onnx-tensorrt onnxOpCheckers.cpp (10.14 and later)',
  },
  {
    id: 'attention-foreign',
    code: 'unsupported-op',
    pattern: /Q, K, and V inputs must have the same number of dimensions/,
    cause:
      "This node (Attention) has inputs that ONNX's Attention does not have: it is probably the operator of ONNX Runtime (com.microsoft), whose domain TensorRT ignores.",
    advice: "Export without ONNX Runtime's graph optimizations, or write the attention as MatMul and Softmax.",
    sure: 'likely',
    repair: OPERATOR_REPAIRS,
    source: 'built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'attention-not-decomposable',
    code: 'no-implementation',
    pattern: /is_decomposable\(\)\) failed|was not supported by a dedicated kernel/,
    cause: 'TensorRT has no kernel for an Attention of this type and head size, and does not decompose it.',
    advice: {
      trtexec:
        'Pass --decomposableAttentions (TensorRT 10.14 and later), use FP16 or BF16 with a head size of 16 to 256, or expand Attention with the ONNX inliner.',
      other:
        'Set the attribute TRT_decomposable=1 on the Attention node, use FP16 or BF16 with a head size of 16 to 256, or expand it with the ONNX inliner.',
    },
    repair: 'expand-attention',
    source: 'Myelin decompose_composite_ops.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'attention-weakly-typed',
    code: 'flag-conflict',
    pattern: /condition: (?:network->)?usingStronglyTyped\(\)/,
    cause: 'This node needs a strongly typed network, and the build is weakly typed.',
    advice: {
      trtexec: 'Pass --stronglyTyped.',
      polygraphy: 'Pass --strongly-typed.',
      other: 'Create the network with NetworkDefinitionCreationFlag.STRONGLY_TYPED.',
    },
    source: 'TensorRT network.cpp (10.14 to 10.16)',
  },
  {
    id: 'lstm-input-forget',
    code: 'unsupported-form',
    pattern: /Coupled input\/forget is unsupported/,
    cause: 'This node (LSTM) has input_forget=1, which TensorRT does not support.',
    advice: 'Export an ordinary LSTM, or write the cell with a Loop.',
    source: 'onnx-tensorrt onnxOpCheckers.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'rnn-activations',
    code: 'unsupported-form',
    pattern: /activations? .*?for the reverse pass of the (?<op>LSTM|GRU|RNN) do not match/,
    cause: 'This node ({op}) has other activations backward than forward, which TensorRT does not support.',
    advice: 'Split it into two nodes of one direction each.',
    source: 'onnx-tensorrt onnxOpCheckers.cpp',
  },
  {
    id: 'topk-k',
    code: 'unsupported-form',
    pattern: /(?:ITopKLayer (?<layer>\S+?): )?(?:(?<!\S)\S+?: )?K exceeds the maximum value allowed \((?<max>\d+)\)/,
    cause: 'This node (TopK) asks for more than {max} elements, the most that TensorRT supports.',
    advice:
      'Ask for fewer where fewer are used: the best {max} of chunks, then of these. A sort of all of more elements is to be left outside the engine, or written as ranks: Greater between all pairs, a sum, and ScatterElements.',
    source: 'TensorRT graphShapeAnalyzer.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'einsum-letters',
    code: 'unsupported-form',
    pattern: /Invalid character\(s\) in Einsum equation/,
    cause: 'The equation of this node (Einsum) has other letters than small ones, all that TensorRT reads.',
    advice: 'Write it with the letters a to z: `aj,jb->ab` for `Aj,jB->AB`.',
    source: 'onnx-tensorrt onnxOpCheckers.cpp; built with TensorRT 10.6',
  },
  {
    id: 'lp-p',
    code: 'unsupported-form',
    pattern: /Only L1 and L2 normalization are supported/,
    cause: 'This node[[ ({op})]] has another p than 1 or 2, which TensorRT does not support.',
    advice: 'Write it as Abs, Pow, a sum and Pow with 1/p.',
    repair: { LpPool: 'pool-taps' },
    source: 'onnx-tensorrt onnxOpCheckers.cpp; built with TensorRT 10.6',
  },
  {
    // The parser throws before it names the node.
    id: 'rnn-activation-unknown',
    code: 'unsupported-form',
    pattern: /Unknown activation type: (?<type>\w+)/,
    cause: 'An LSTM, GRU or RNN has the activation {type}, which TensorRT does not support.',
    advice: 'Use another activation (Sigmoid, Tanh, Relu and their like), or write the cell with a Loop.',
    source: 'onnx-tensorrt RNNHelpers.cpp; built with TensorRT 10.6',
  },
  {
    id: 'constant-strings',
    code: 'unsupported-type',
    pattern: /does not support the sparse_value, value_string and value_strings attributes/,
    cause: 'This node (Constant) holds strings or a sparse tensor, which TensorRT does not support.',
    advice:
      'Compute what needs the strings outside the engine (tokenizers, labels), and store a sparse tensor as a dense one.',
    source: 'onnx-tensorrt onnxOpCheckers.cpp; built with TensorRT 10.6',
  },
  {
    id: 'matmulnbits-block',
    code: 'unsupported-form',
    pattern: /block_size must be one of (?<sizes>[\d/]+)/,
    cause:
      'The weights of this node[[ ({op})]] are quantized in blocks of a size that TensorRT does not take; it takes {sizes}.',
    advice:
      'Quantize again with such a block_size, for FP16 activations, or write the node as a MatMul with its dequantized weights.',
    repair: 'packed-weights',
    source: 'onnx-tensorrt onnxOpImporters.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'slice-step-zero',
    code: 'model-invalid',
    pattern: /divide by zero In op at \S*shapeContext/,
    at: /^Slice$/,
    cause: 'This node (Slice) has a step of 0, which ONNX does not allow.',
    advice: 'Give it a step other than 0, 1 for a plain slice, or export the model again.',
    source: 'TensorRT shapeContext.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'resize-half-pixel-nn',
    code: 'unsupported-form',
    pattern: /only support round_prefer_floor nearest mode in tf_half_pixel_for_nn/,
    cause:
      'This node (Resize) has the coordinate mode tf_half_pixel_for_nn, which TensorRT does not support with this nearest_mode.',
    advice:
      'Set coordinate_transformation_mode to half_pixel: with nearest_mode round_prefer_ceil in place of floor it takes the same pixels.',
    repair: 'half-pixel-nearest',
    source: 'onnx-tensorrt onnxOpCheckers.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'conv-rank',
    code: 'unsupported-form',
    pattern: /condition: \(kernelSize\)\.nbDims == 2/,
    cause: 'This node has a number of spatial dimensions that TensorRT does not support (2 or 3).',
    advice:
      'Reshape to two or three spatial dimensions, where the kernel has size 1 along the others. Write a convolution over four as a sum of convolutions over three, one for each place of the kernel along the fourth.',
    source: 'TensorRT network.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'tensorscatter',
    code: 'unsupported-form',
    pattern: /past_cache tensor is required to be 4D|Only linear mode is supported for now/,
    cause: 'This node (TensorScatter) has a form that TensorRT does not support: 4-D caches in linear mode only.',
    advice: 'Reshape the cache to [batch, heads, length, size] and use the mode linear.',
    source: 'onnx-tensorrt onnxOpImporters.cpp (10.15 and later)',
  },
  {
    id: 'scan-opset8',
    code: 'unsupported-form',
    pattern: /Invalid Node - /,
    at: /^Scan$/,
    cause: 'TensorRT cannot import this node (Scan).',
    advice: 'Export the loop as Loop, or unrolled.',
    sure: 'likely',
    source: 'built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'size-must-be-constant',
    code: 'unsupported-form',
    pattern: /\(?\bx must be (?:32-bit )?build-time constant|fromSymbolic[^\n]*build-time constant/,
    cause:
      'TensorRT needs a size of the network as a number when it builds, and that size depends on a dynamic dimension of an input.',
    advice:
      'Use a later TensorRT, which needs fewer of them. Otherwise fix that dimension in the model (pad the input to one length, one engine for each), keep only the batch dynamic, and fold constants (`polygraphy surgeon sanitize --fold-constants`, onnxsim).',
    repair: 'fold-constants',
    sure: 'likely',
    source: 'TensorRT symbolicDims.cpp; NVIDIA/TensorRT#1577, onnx/onnx-tensorrt#763',
  },
  {
    id: 'must-be-constant',
    code: 'unsupported-form',
    pattern:
      /(?<![\w`])(?<what>[A-Za-z][\w `]{0,60}?)(?: for \w+(?: operation)?)? (?:must|should) (?:be|resolve to) (?:an? )?(?:initializers?|build-time constants?|constant tensors?)\b/,
    named: (m) => ({ values: { what: inputOf(m.groups!['what']!) } }),
    cause: 'An input of this node[[ ({op})]] is computed, where TensorRT needs a constant when it builds: {what}.',
    advice:
      'Fold constants (`polygraphy surgeon sanitize --fold-constants` or onnxsim), with fixed input shapes if it depends on them, or write it as an initializer. A later TensorRT takes computed values in more places.',
    repair: 'fold-constants',
    source: 'onnx-tensorrt onnxOpImporters.cpp and importerUtils.cpp; NVIDIA/TensorRT#4393, #1997',
  },
  {
    id: 'attribute-missing',
    code: 'unsupported-form',
    pattern: /Attribute not found: (?<name>\w+)|&& "Attribute (?<name2>\w+) is missing/,
    named: (m) => ({ values: { name: m.groups!['name'] ?? m.groups!['name2'] } }),
    cause: 'This node[[ ({op})]] has no attribute {name}, and this parser asks for it.',
    advice:
      'The model is written for another opset than the parser reads it with: export it with an opset that this TensorRT knows (13 for TensorRT 8), set the attribute (`onnx-graphsurgeon`: node.attrs), or use a later TensorRT.',
    sure: 'likely',
    source: 'onnx-tensorrt OnnxAttrs.cpp; LiuLimingCode/HFNet_SLAM#19',
  },
  {
    id: 'input-not-constant',
    code: 'unsupported-form',
    pattern: /Assertion failed: \(?inputs(?:\.at\(|\[)(?<index>\d+)[)\]]\.is_weights\(\)/,
    cause:
      'Input {index} (counted from 0) of this node[[ ({op})]] is computed; the parser of this TensorRT needs a constant.',
    advice:
      'Fold constants first (`polygraphy surgeon sanitize --fold-constants`, onnxsim), with fixed input shapes if it depends on them, or use a later TensorRT: version 8 takes computed inputs of many more operators.',
    repair: 'fold-constants',
    source: 'NVIDIA/TensorRT#670',
  },
  {
    id: 'shape-tensor-rank',
    code: 'unsupported-form',
    pattern:
      /\bI\w+Layer (?:applied to shape tensor must have (?:0 or 1|constant)|cannot be used to compute a shape tensor|cannot produce a shape tensor)|(?:output|tensor) can(?:not| not) be used (?:as|to compute a) shape tensor|not supported in shape (?:analysis|calculations)/,
    named: (_, text) => ({
      layer: /(\(Unnamed Layer\* \d+\) ?\[\w+\]|[^\s(]+)(?:: I\w+Layer (?:applied|cannot)|'s output can)/.exec(
        text,
      )?.[1],
    }),
    cause:
      'The model computes a shape (sizes of a Reshape, Pad, Slice or Resize) by this node, in a form that TensorRT takes for data only: shapes must be computed from scalars and vectors by simple operators.',
    advice:
      'Fix the input shapes and fold constants (`polygraphy surgeon sanitize --fold-constants --override-input-shapes NAME:[1,3,…]`, onnxsim), so that the shape becomes a constant. If it must stay dynamic, write the padding with plain numbers when exporting (the export of `F.pad` with computed sizes makes such a matrix), or pad outside the model. Later versions of TensorRT take more operators in shapes (Where among them).',
    repair: 'fold-constants',
    source:
      'NVIDIA/TensorRT#229, #2088, #2487, #2755; onnx/onnx-tensorrt#264; open-mmlab/mmdeploy#2098; PingoLH/CenterNet-HarDNet#1',
  },
  {
    id: 'transpose-permutation',
    code: 'model-invalid',
    pattern:
      /IShuffleLayer `first_transpose` is not valid\. `input` has (?<n>\d+) dimensions and `first_transpose` is (?<perm>\[[\d,-]*\])/,
    named: (_, text) => ({ layer: /\((\S+?): IShuffleLayer/.exec(text)?.[1] }),
    cause: 'The permutation {perm} of this node (Transpose) does not fit an input of {n} dimensions.',
    advice: 'Correct the export: each axis must occur once.',
    source: 'TensorRT shuffleNode.cpp; built with TensorRT-RTX 1.7.1',
  },
];

/** `Axis input` → `the axis input`; sentences of the parser begin with other words, too. */
const inputOf = (words: string): string => {
  const name = words.trim().replace(/^(?:The|the|All|all) /, '');
  return `the ${/^[A-Z][a-z]/.test(name) ? name[0]!.toLowerCase() + name.slice(1) : name}`;
};
