import type { DiagnosisRule } from '../rule.ts';
import { layerBefore } from '../causeText.ts';
import { onnxType } from './modelRules.ts';

const CAST =
  'Insert a Cast so that both have one type, as a typed copy of the model does. On TensorRT 10 and earlier, mark no outputs inside the region.';
const SYMMETRIC =
  "Quantize again with zero points of 0: symmetric INT8 (`ActivationSymmetric` and `WeightSymmetric` of ONNX Runtime's `quantize_static` with QuantType.QInt8, or TensorRT Model Optimizer).";

/** Element types, and quantization in the model. */
export const TYPE_RULES: readonly DiagnosisRule[] = [
  {
    id: 'input-type',
    code: 'unsupported-op',
    pattern: /ERROR: (?<input>.{1,300}?):\d+ In function importInput:\s{0,20}[^\n]*Failed to convert ONNX dat[ea] type/,
    named: (_, __, { types }) => ({ values: { type: types.length === 1 ? types[0] : undefined } }),
    cause:
      'Input {input} has a type that TensorRT does not have[[: {type}]] (UINT16, INT16, UINT32, UINT64, strings, sequences and optional values are such).',
    advice:
      'Give the input the type INT32, INT64, FP16 or FP32 and cast before the engine. Strings have to stay outside: cut the model after the nodes that read them. In place of a sequence or an optional value give its tensors as inputs.',
    repair: 'widen-inputs',
    source: 'onnx-tensorrt ModelImporter.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'unknown-type',
    code: 'unsupported-op',
    pattern: /Unsupported ONNX data type: (?<name>[\w<>]+)(?: \((?<type>\d+)\))?/,
    named: (m) => ({
      values: { type: m.groups!['type'] ? onnxType(Number(m.groups!['type'])) : m.groups!['name'] },
    }),
    cause: 'The model has tensors of a type that TensorRT does not have: {type}.',
    advice:
      'Use INT32, INT64, FP16 or FP32 and cast outside the engine. Keep strings out: cut the model after the nodes that read them.',
    repair: 'widen-inputs',
    after: ['unsupported-op', 'unsupported-type'],
    source: 'onnx-tensorrt importerUtils.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'type-not-converted',
    code: 'unsupported-op',
    pattern: /Failed to convert ONNX dat[ea] type|Assertion failed: convert_?(?:[oO]nnx_?)?[dD]type\(/,
    cause: 'The model has an input or output of a type that TensorRT does not have.',
    advice:
      'Use INT32, INT64, FP16 or FP32 and cast outside the engine. Keep strings out: cut the model after the nodes that read them.',
    repair: 'widen-inputs',
    source: 'onnx-tensorrt ModelImporter.cpp; captures of TensorRT-RTX 1.7.1',
  },
  {
    id: 'uint8-inside',
    code: 'unsupported-type',
    pattern: /does not support UINT8 types for intermediate tensors|has type UInt8 but must have type/,
    cause: 'A tensor inside the model is UINT8 (at this node); TensorRT has that type only at inputs and outputs.',
    advice: 'Cast right after the input to FP32 or INT32, and to UINT8 only for the output.',
    repair: 'inner-uint8',
    named: (_, text) => ({ layer: layerBefore(text, 'first input has type') ?? layerBefore(text, 'input has type') }),
    source: 'onnx-tensorrt ModelImporter.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'dequantize-uint8',
    code: 'quantization',
    pattern: /Found unsupported input type of (?<type>U?INT8|INT16|UINT16|UINT4|INT32)/,
    at: /^(?:DequantizeLinear|QuantizeLinear)$/,
    cause: 'This node dequantizes {type}, which TensorRT does not support.',
    advice: SYMMETRIC,
    repair: 'dequantize-constants',
    source: 'onnx-tensorrt importerUtils.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'input-uint8-of-operator',
    code: 'unsupported-type',
    pattern: /Found unsupported input type of UINT8/,
    cause:
      'This node[[ ({op})]] has an input of type UINT8, which TensorRT has only at inputs and outputs of the model.',
    advice:
      'Cast to FP32 or INT32 right after the input of the model and compute in that type; cast to UINT8 only for an output of the model.',
    repair: 'narrow-integers',
    source: 'onnx-tensorrt importerUtils.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'input-type-of-operator',
    code: 'unsupported-type',
    pattern: /Found unsupported input type of (?<type>\w+)/,
    cause: 'This node ({op}) has an input of type {type}, which TensorRT does not support for this operator.',
    advice: 'Cast the input to FP32 or another supported type before the node, and back after it.',
    source: 'onnx-tensorrt importerUtils.cpp (10.0 and later); built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'unary-type',
    code: 'unsupported-type',
    pattern:
      /does not support the given (?:unary )?operator (?:(?<function>\w+) )?with the given input data type(?: (?<type>\w+))?/,
    cause: 'This node[[ ({op})]] computes [[{function} of ]]a type that this TensorRT does not take there[[: {type}]].',
    advice: 'Cast the input to FP32 before the node, and back after it.',
    source: 'onnx-tensorrt importerUtils.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'random-type',
    code: 'unsupported-type',
    pattern: /Unsupported data type in random(?<kind>Uniform|Normal)/,
    cause:
      'This node (Random{kind}) draws numbers of a type in which TensorRT does not draw them; it takes FP32 and FP16.',
    advice: 'Set its attribute dtype to 1 (FP32), in PyTorch `dtype=torch.float32`, and cast the numbers after it.',
    source: 'onnx-tensorrt onnxOpCheckers.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'cast-type',
    code: 'unsupported-type',
    pattern: /Unsupported data type for the Cast operator|Unsupported cast!/,
    cause: 'This node casts to a type that TensorRT does not have.',
    advice:
      'Cast to INT32, INT64, FP16 or FP32, and declare an output of the model that it makes so, too; for FP8 and INT4 use QuantizeLinear and DequantizeLinear.',
    source: 'onnx-tensorrt onnxOpCheckers.cpp',
  },
  {
    id: 'operator-types',
    code: 'unsupported-type',
    pattern:
      /This version of TensorRT only supports (?<types>[^\n]+?) (?:input types|inputs) for (?<op>\w+)!?(?: The current input type is (?<type>\w+))?|Only float inputs\/outputs supported in (?<op2>\w+)\.(?: The current data type = (?<type2>\w+))?/,
    named: (m) => ({
      values: {
        op: m.groups!['op'] ?? m.groups!['op2'],
        types: m.groups!['types'] ?? 'FP32 and FP16',
        type: m.groups!['type'] ?? m.groups!['type2'],
      },
    }),
    cause:
      'This node ({op}) has an input of a type that TensorRT does not support for it[[: {type}]]. It supports {types}.',
    advice: 'Cast before and after the node.',
    source: 'onnx-tensorrt onnxOpImporters.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'mod-narrow',
    code: 'unsupported-type',
    pattern: /fmod attribute is set to 0\..*?current input type is (?<type>U?INT8|BOOL)\b/,
    cause: 'This node (Mod) has inputs of type {type}; with fmod=0, TensorRT takes INT32 and INT64.',
    advice: 'Cast the inputs to INT32 before the node. Cast back after it only where the next node needs that type.',
    repair: 'narrow-integers',
    source: 'onnx-tensorrt onnxOpImporters.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'mod-float',
    code: 'model-invalid',
    pattern: /fmod attribute is set to 0\. Inputs cannot be of floating point/,
    cause: 'This node (Mod) has floating-point inputs and fmod=0, which ONNX does not allow.',
    advice: 'Set fmod=1.',
    source: 'onnx-tensorrt onnxOpImporters.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'gridsample-types',
    code: 'type-mismatch',
    pattern:
      /(?<!\S)(?<layer>\S+?): IGridSampleLayer `input` and `grid` must be of same type\. `input` type is (?<a>\w+) and `grid` type is (?<b>\w+)/,
    named: (m) => ({ layer: m.groups!['layer']!.replace(/^\(/, '') }),
    cause: 'The inputs of this node (GridSample) have different types: {a} and {b}.',
    advice: 'Cast the grid to the type of the input.',
    source: 'TensorRT gridSampleNode.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'region-types',
    code: 'type-mismatch',
    pattern: /Mismatched type for tensor (?<tensor>[^,\n]+?)'?, (?<a>\w+) vs\. expected type: ?(?<b>\w+)/,
    named: (m, text) => ({
      layer: /implementation for node (\{ForeignNode\[.*?\]\})/.exec(text)?.[1] ?? '',
      tensors: [m.groups!['tensor']!],
      ...skipped(text),
    }),
    cause: 'Tensor {tensor} is {a} where its region expects {b}, so TensorRT cannot compile the region.',
    advice: CAST,
    source: 'captures of TensorRT 10.6',
  },
  {
    id: 'elementwise-types',
    code: 'type-mismatch',
    pattern: /: \w+ \w+ must have (?:the )?same input types\. But they are of types (?<a>\w+) and (?<b>\w+)/,
    named: (m, text) => ({ layer: layerBefore(text, m[0]) }),
    cause: 'The inputs of this node have different types: {a} and {b}.',
    advice: CAST,
    repair: 'cast-mixed-types',
    source: 'TensorRT elementWiseNode.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'shape-inference-types',
    code: 'type-mismatch',
    pattern:
      /name=(?<layer>\S+)\s[\s\S]*element type \((?<a>\w+)\) differs from input \d+'s element type \((?<b>\w+)\)/,
    named: (_, text) => skipped(text),
    cause: 'The inputs of this node have different types: {a} and {b}.',
    advice: CAST,
    repair: 'cast-mixed-types',
    source: 'TensorRT 10 shape inference of Myelin',
  },
  {
    id: 'zero-point',
    code: 'quantization',
    pattern:
      /only supports symmetric quantization|shiftIsAllZeros|Non-zero zero point is not supported|only zero shifts/,
    cause: 'The model is quantized asymmetrically: the zero point of this node is not 0, and TensorRT supports only 0.',
    advice: SYMMETRIC,
    repair: 'quantize-in-float',
    source: 'onnx-tensorrt onnxOpImporters.cpp; built with TensorRT-RTX 1.7.1; NVIDIA/TensorRT#2774, #4698',
  },
  {
    id: 'zero-point-computed',
    code: 'quantization',
    pattern: /IQuantizeLayer\/IDequantizeLayer (?<layer>\S+) has `zero_point` which is not an initializer/,
    cause: 'The zero point of this node is computed; TensorRT needs the constant 0.',
    advice: SYMMETRIC,
    repair: 'quantize-in-float',
    source: 'TensorRT network.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'scale-not-positive',
    code: 'quantization',
    pattern: /[Ss]cale coefficients must all be positive|scaleAllPositive/,
    cause:
      'A quantization scale of this node is 0 or negative: the calibration saw no values for this tensor or one of its channels, or its ranges were not loaded before the export.',
    advice:
      'Where all scales are 0, calibrate again and load that checkpoint (amax of each quantizer) before the export. Where single channels are, replace their scales by a small positive number (1e-9), or quantize with data that reaches them. Change the sign of a negative scale and of its quantized values.',
    source: 'onnx-tensorrt onnxOpImporters.cpp; built with TensorRT-RTX 1.7.1; onnx/onnx-tensorrt#764',
  },
  {
    id: 'scale-count',
    code: 'quantization',
    pattern:
      /number of scales is not equal to the number of output channels\. Number of output channels = (?<want>\d+), number of scales = (?<have>\d+)|shift weights has count (?<have2>\d+) but (?<want2>\d+) was expected/,
    named: (m) => ({
      values: { have: m.groups!['have'] ?? m.groups!['have2'], want: m.groups!['want'] ?? m.groups!['want2'] },
    }),
    cause: 'This node has {have} scales for {want} channels: they are for another axis.',
    advice: 'Set the attribute axis to the axis that the scales belong to, and export with opset 13 or later.',
    source: 'onnx-tensorrt onnxOpImporters.cpp; built with TensorRT-RTX 1.7.1; NVIDIA/TensorRT#994',
  },
  {
    id: 'quantized-type',
    code: 'quantization',
    pattern:
      /only allows FP8,? (?:and )?INT8.*?quantization\.(?: The specified quantization type is (?<type>\w+))?|dtype == DataType::kFP8 \|\|/,
    cause: 'This node quantizes to a type that TensorRT does not support[[: {type}]].',
    advice: 'Quantize to INT8 (symmetric), FP8 (E4M3FN), INT4 or FP4.',
    repair: 'shift-uint8',
    source: 'onnx-tensorrt onnxOpImporters.cpp',
  },
  {
    id: 'dequantize-type',
    code: 'quantization',
    pattern: /(?<!\S)(?<layer>\S+?): input has type (?<type>\w+) but must have type FP8, FP4, Int4, Int8, or UInt8/,
    named: (m) => ({ layer: m.groups!['layer']!.replace(/^\(/, '') }),
    cause: 'This node (DequantizeLinear) reads {type}, a bias for example, which TensorRT does not dequantize.',
    advice: 'Store the dequantized values as FP32: multiply them by their scale.',
    repair: 'dequantize-constants',
    source: 'TensorRT nodeBase.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'output-dtype',
    code: 'quantization',
    pattern: /Attribute output_dtype specifies an unsupported data type (?<type>\w+)/,
    cause: 'This node asks for the output type {type}, which TensorRT does not support there.',
    advice: 'Remove the attribute output_dtype, or use FP8, INT8 or INT4.',
    source: 'onnx-tensorrt onnxOpImporters.cpp (10.7 and later)',
  },
  {
    id: 'four-bit-odd',
    code: 'quantization',
    pattern: /4-bit quantization requi?r?es an even number/,
    cause: 'A tensor quantized to four bits has an odd number of elements.',
    advice: 'Pad it to an even number.',
    source: 'onnx-tensorrt onnxOpImporters.cpp (10.8 and later)',
  },
  {
    id: 'low-precision-border',
    code: 'quantization',
    pattern: /Tensor (?<tensor>\S+) has datatype (?<type>\w+) but is not (?<side>consumed|produced) by/,
    cause: 'Tensor {tensor} is {type} but is not {side} by a quantizing node.',
    advice: 'Only QuantizeLinear may write such tensors, and only DequantizeLinear may read them: replace the Cast.',
    source: 'TensorRT network validation (10.0 and later); built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'quantized-constant',
    code: 'quantization',
    pattern:
      /Quantized constant \((?<tensor>.+?)\) is only allowed before DQ|: Int8 constant is only allowed before DQ/,
    named: (m, text) => ({ values: { tensor: m.groups!['tensor'] ?? layerBefore(text, ': Int8 constant') } }),
    cause:
      'The constant {tensor} is INT8 and is read by other nodes than DequantizeLinear: TensorRT takes it for quantized.',
    advice:
      'Store tables and masks as INT32 or BOOL. Where it is a quantized weight, fold constants, so that DequantizeLinear reads it directly.',
    repair: 'dequantize-constants',
    source: 'TensorRT matchQuantizedConstant; built with TensorRT-RTX 1.7.1; NVIDIA-AI-IOT/Lidar_AI_Solution#127',
  },
  {
    id: 'uint8-becomes-int8',
    code: 'quantization',
    pattern: /supports QuantizeLinear\/DequantizeLinear with UINT8 zero_point only on DLA/,
    severity: 'warning',
    cause: 'The model quantizes to UINT8, which TensorRT reads as INT8: values above 127 times the scale are clipped.',
    advice: SYMMETRIC,
    repair: 'shift-uint8',
    after: ['quantization'],
    source: 'built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'myelin-types',
    code: 'no-implementation',
    pattern:
      /infer_type\] Could not infer output types for operation:\s*\d+: (?<kind>\w+):[^\n]*?(?:, (?<layer>\S+) filterWeights|$)/m,
    cause: 'TensorRT has no kernel for an operation ({kind}) in the type that the model asks for[[, at {layer}]].',
    advice: 'Compute this node in FP16 or FP32.',
    source: 'Myelin type.cpp; built with TensorRT-RTX 1.7.1',
  },
];

/** Where only a tactic failed, others are tried: the build may pass. */
function skipped(text: string): { severity?: 'warning' } {
  return text.includes('Skipping tactic') && !text.includes('Could not find any implementation')
    ? { severity: 'warning' }
    : {};
}
