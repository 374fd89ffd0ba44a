import { counted } from '../../../base/text.ts';
import { causeText } from '../causeText.ts';
import type { DiagnosisRule } from '../rule.ts';

const CALIBRATE = {
  trtexec: 'Pass --calib=CACHE with a cache of this model, or quantize the model with Q/DQ nodes.',
  polygraphy: 'Pass --calibration-cache and --data-loader-script, or quantize the model with Q/DQ nodes.',
  onnxruntime:
    'Calibrate with a CalibrationDataReader (`onnxruntime.quantization.create_calibrator`, write_calibration_table) and name the table in trt_int8_calibration_table_name (trt_int8_use_native_calibration_table for a TensorRT cache); its path is relative to trt_engine_cache_path. Or quantize the model with Q/DQ nodes.',
  deepstream: 'Name the cache in int8-calib-file, or set network-mode=2 (FP16).',
  ultralytics: 'Export with int8=True and data=DATA.yaml, which calibrates, or with half=True.',
  other:
    'Calibrate (`config.int8_calibrator`, up to TensorRT 10) with real data or a cache, or quantize the model with Q/DQ nodes; without scales such layers stay in higher precision.',
};

const WEAK_FLAGS = {
  trtexec:
    'Remove --fp16, --bf16, --int8, --fp8, --best and layer precisions; put the types into the model (export it in FP16, or with Q/DQ and Cast nodes).',
  polygraphy:
    'Remove --fp16, --int8 and the like (or --strongly-typed); put the types into the model (export it in FP16, or with Q/DQ and Cast nodes).',
  trtlens: 'Leave --precision out and build a typed copy of the model.',
  rtx: 'TensorRT-RTX has no precision flags: put the types into the model, as a typed copy of the model does.',
  onnxruntime: 'Set trt_fp16_enable and trt_int8_enable to false; put the types into the model.',
  other:
    'Remove the precision flags (FP16, BF16, INT8, FP8) and constraints from the configuration, and what sets types of layers (layer.precision, set_output_type): in a strongly typed network the model gives every type. Export it in FP16, or insert Casts.',
};

/** Where FP16 goes wrong in most networks, and how to leave that in FP32. */
const KEEP_FP32 =
  'Keep normalization (LayerNorm: Pow, ReduceMean, Sqrt, Div), Softmax and masks with huge values in FP32 (--layerPrecisions with --precisionConstraints=obey; in Python also set the output types and OBEY_PRECISION_CONSTRAINTS), or build in BF16.';

/** TensorRT Model Optimizer (modelopt): it quantizes before anything is built. */
const MODEL_OPTIMIZER: readonly DiagnosisRule[] = [];

/** INT8 calibration, and numbers that do not fit a type. */
export const PRECISION_RULES: readonly DiagnosisRule[] = [
  {
    id: 'scale-of-output',
    code: 'quantization',
    pattern: /Assertion [\w.]*quantizations?\.is(?<side>In|Out)putSet\(\d*\) failed/,
    severity: 'error',
    named: (m) => ({ values: { side: m.groups!['side'] === 'In' ? 'input' : 'output' } }),
    cause:
      'A layer that TensorRT runs in INT8 has no scale for its {side}: the quantization of the model is incomplete there.',
    advice:
      'Use a later TensorRT first. Otherwise put Q/DQ pairs before every input of Conv, MatMul, Gemm and of the Add after a Conv, or before none of them, and find the place by quantizing one half of the layers after the other; with a calibration cache, calibrate the whole network again.',
    sure: 'likely',
    source: 'TensorRT weightConvertors.cpp; NVIDIA/TensorRT#3220',
  },
  {
    id: 'calibration-nan',
    code: 'calibration-failed',
    pattern: /Assertion min_ ?<= ?max_ failed|DynamicRange::\d[^\n]*(?:min|max)/,
    cause:
      'Calibration gave a tensor no valid range (min > max): it saw NaN or infinite values, or nothing at all because the tensor is unused.',
    advice:
      'Check the calibration data and the model for NaN and Inf: run the data through ONNX Runtime with every tensor as an output, and look for the first one that is not finite. Remove unused branches.',
    sure: 'likely',
    source: 'TensorRT quantization.cpp; NVIDIA/TensorRT#1634',
  },
  {
    id: 'calibration-scale',
    code: 'calibration-failed',
    pattern:
      /Assertion (?:scale|scales?\[?\w*\]?|getter\(i\)|std::isfinite\(scale\)) ?(?:>=?|!=) ?0[\s\S]{0,10} failed|(?:zero|NaN|infinite) (?:scale|dynamic range)/i,
    cause:
      'A scale of the calibration is zero or not finite: the tensor has only zeros, NaN or infinite values in the data.',
    advice:
      'Calibrate with data that reaches every tensor, delete the old cache, or keep that layer in FP16. Run the data through ONNX Runtime to find the tensor.',
    sure: 'likely',
    source: 'TensorRT calibrator.cpp, weightConvertors.cpp',
  },
  {
    id: 'calibration-cache-missing',
    code: 'calibration-missing',
    pattern:
      /[Nn]o calibration (?:cache|table)(?! is provided, this)|(?:calibration (?:cache|table)|[Cc]alib(?:ration)? file)[^\n]*(?:not found|does not exist|cannot be opened|No such file)|Failed to (?:open|read) (?:the )?calibration/,
    cause: 'The calibration cache does not exist or cannot be read, so INT8 has no scales.',
    advice: CALIBRATE,
    source: 'TensorRT, ONNX Runtime',
  },
  {
    id: 'calibration-no-scales',
    code: 'calibration-missing',
    pattern:
      /Calibrator data loader provided no data|Calibration failure occur+ed with no scaling factors|provide missing int8 scales|Builder failed while configuring INT8 mode/,
    once: true,
    cause: 'The build is to use INT8, and no scales came: it has no calibrator, or the calibrator gave no data.',
    advice: {
      trtexec:
        'Pass --calib=CACHE with a cache of this model, quantize the model with Q/DQ nodes, or leave --int8 out.',
      other:
        'Give the configuration that builds a calibrator (config.int8_calibrator, up to TensorRT 10) whose get_batch returns data, and see that its images are found and an old cache is deleted; or set the dynamic range of every tensor. A model with Q/DQ nodes needs the INT8 flag only: TensorRT 7 and older do not read them. Without INT8 the build passes.',
    },
    source:
      'TensorRT standardEngineBuilder.cpp; Polygraphy calibrator.py; NVIDIA/TensorRT#1827, #2865, CaoWGG/TensorRT-CenterNet#7, NVIDIA/retinanet-examples#101, PKUZHOU/MTCNN_FaceDetection_TensorRT#5',
  },
  {
    id: 'calibration-missing',
    code: 'calibration-missing',
    pattern:
      /Calibrator is not being used|Missing scale and zero-point for tensor (?<tensor>\(Unnamed Layer\* \d+\) \[\w+\]\S*?|\S+?)[,.]?(?:\s|$)|Int8 (?:mode )?(?:is )?(?:specified|requested|set) (?:but|without)[^\n]*calibrat/,
    once: true,
    severity: 'warning',
    cause:
      'INT8 has no scale{plural}[[ for tensor {tensor}]]: neither a calibration table (or cache) nor Q/DQ nodes provide one.',
    named: (m) => ({ values: { plural: m.groups!['tensor'] === undefined ? 's' : '' } }),
    advice: CALIBRATE,
    source: 'captures; microsoft/onnxruntime#17235',
  },
  {
    id: 'calibration-zero-tensor',
    code: 'calibration-missing',
    pattern: /\bTensor (?<tensor>\(Unnamed Layer\* \d+\) \[\w+\]\S*|\S+)(?: copy)? is uniformly zero(?!; network)/,
    once: true,
    severity: 'warning',
    cause: 'While calibrating, tensor {tensor} was 0 for all data: it gets no scale for INT8.',
    named: (m) => ({ values: { tensor: m.groups!['tensor'] } }),
    advice:
      'Constants of zeros, and what a ReLU cuts off, may be 0: where the engine is built and accurate, nothing has to be done. Otherwise see that the calibrator finds its images and prepares them as the network expects (size, order of the dimensions, mean and range), delete the calibration cache, and look whether the model gives results in FP32 for them. Outputs of a plugin are 0 where its enqueue does not fill them.',
    source:
      'TensorRT documentation, error messages; NVIDIA/TensorRT#521, #663, #1102, NVIDIA/retinanet-examples#79, #188',
  },
  {
    id: 'strongly-typed-flags',
    code: 'flag-conflict',
    pattern:
      /condition: !?config\.getFlag\(BuilderFlag::k(?<flag>FP16|BF16|INT8|FP8|INT4|(?:OBEY|PREFER)_PRECISION_CONSTRAINTS)\)|builderFlag != BuilderFlag::k(?<flag2>\w+) \|\| !getConfig\(\)\.stronglyTyped|[Ss]trongly ?[Tt]yped[^\n]{0,100}(?:not (?:be )?(?:set|allowed|supported|specified|valid)|cannot|conflict|incompatible|ignored)|(?:not (?:be )?(?:set|allowed|supported|specified)|cannot)[^\n]{0,80}strongly ?typed/i,
    named: (m) => ({ values: { flag: m.groups!['flag'] ?? m.groups!['flag2'] } }),
    cause: 'The network is strongly typed, where the flag[[ {flag}]] is not allowed: its types come from the model.',
    advice: WEAK_FLAGS,
    source: 'TensorRT builder (10 and later); NVIDIA/TensorRT#4253, NVIDIA/TensorRT-LLM#2386',
  },
  {
    id: 'precision-not-enabled',
    code: 'bad-flag-value',
    pattern: /\b(?<type>\w+) precision has been set for a layer or layer output, but \w+ is not configured/,
    cause: 'A layer requests {type}, which the build does not allow.',
    advice: {
      trtexec: 'Add --{type} to the build.',
      polygraphy: 'Add --{type} to the build.',
      other: 'Allow {type} in the configuration of the builder.',
    },
    source: 'NVIDIA/TensorRT#1823',
  },
  {
    id: 'precision-ignored',
    code: 'precision-ignored',
    pattern:
      /--(?:layerPrecisions?|layerOutputTypes)[^\n]*(?:have|has) no effect|(?:No implementation of layer|For layer) (?<layer>.+?) (?:obeys the requested constraints|a non-conforming implementation was chosen)/,
    severity: 'warning',
    cause: 'TensorRT ignored a requested precision[[ of {layer}]].',
    advice: {
      trtexec:
        'Pass --precisionConstraints=obey (prefer lets TensorRT ignore them). Inside a ForeignNode requests have no effect: split the model there, or build a typed copy of the model.',
      polygraphy:
        'Pass --precision-constraints obey. Inside a ForeignNode requests have no effect: split the model there, or build a typed copy of the model.',
      other:
        'Set the builder flag OBEY_PRECISION_CONSTRAINTS. Inside a ForeignNode requests have no effect: build a typed copy of the model.',
    },
    source: 'NVIDIA/TensorRT#3889, #2407; trtexec',
  },
  {
    id: 'weights-overflow',
    code: 'precision-overflow',
    pattern:
      /(?:Weights \[name=(?<layer>.+?)\] had the following issues when converted to FP16[\s\S]*)?(?:[Oo]verflow in FP16 detected|overflow\S* (?:in|to) FP16|values? (?:overflow|out of range).*FP16)/,
    severity: 'warning',
    cause: 'Weights[[ of {layer}]] hold values too large for FP16: they are clipped to its largest value.',
    advice: `Keep the nodes that read these weights in FP32, or use BF16. ${KEEP_FP32}`,
    source: 'captures of TensorRT 8.6',
  },
  {
    id: 'weights-underflow',
    code: 'precision-underflow',
    pattern: /Weights \[name=(?<layer>.+?)\] had the following issues when converted to FP16/,
    severity: 'warning',
    cause: 'Weights of {layer} hold values too small for FP16: these lose digits or become 0.',
    advice: `Small values that lose digits seldom matter: compare the accuracy first. Where it suffers, or the output is NaN, values inside the network most often leave the range of FP16. ${KEEP_FP32}`,
    source: 'NVIDIA/TensorRT#2118, #2189',
  },
  {
    id: 'weights-converted',
    code: 'precision-underflow',
    pattern:
      /encountered issues when converting weights between types|(?<count>\b\d+) weights are affected by this issue/,
    severity: 'warning',
    once: true,
    cause:
      'Weights[[ ({count})]] lost digits, became 0 or were clipped when they were converted to FP16; a verbose log names them.',
    advice: `Small values that lose digits seldom matter: compare the accuracy first (\`polygraphy run --trt --onnxrt --fp16\`). Where it suffers, it most often does so in activations. ${KEEP_FP32}`,
    after: ['precision-overflow', 'precision-underflow'],
    source: 'TensorRT 8.5 and later',
  },
  {
    id: 'layernorm-fp16',
    harmless: true,
    once: true,
    code: 'precision-overflow',
    pattern: /[Ll]ayernorm nodes in FP16|FP16 may cause overflow|FP16 Reduce or Pow may cause overflow/,
    severity: 'warning',
    named: (_, text) => ({
      names: /nodes in FP16: (.*)/.exec(text)?.[1]?.split(', ').filter(Boolean) ?? [],
      values: { what: layerNorms(text) },
    }),
    cause: '{what}',
    advice: {
      'torch-tensorrt':
        'Keep the layer normalizations in FP32: `torch_tensorrt.compile(…, use_explicit_typing=True)` with a model that casts around them (`x.float()`), or `torch_executed_ops` for aten::layer_norm. Exporting through ONNX needs opset 17 or later.',
      other:
        'Keep normalization and softmax nodes in FP32 (an override file: `op:LayerNormalization fp32`), or export with opset 17 or later.',
    },
    source: 'captures of TensorRT 10.6; pytorch/TensorRT#2730, NVIDIA/TensorRT#4061',
  },
  ...MODEL_OPTIMIZER,
];

/** TensorRT lists every node, and empty names for those with a precision of their own. */
function layerNorms(text: string): string {
  const list = /nodes in FP16: (.*)/.exec(text)?.[1];
  const torch = /(?:= )?(aten::layer_norm)\([\s\S]*?scope: (\S+)/.exec(text);
  if (torch) {
    const scope = torch[2]!
      .split('/')
      .at(-1)!
      .replace(/^__module\./, '');
    return `Layer normalization ${scope} (${torch[1]}) runs in FP16 and may overflow.`;
  }
  const names = list?.split(', ').filter(Boolean);
  if (!names) return `Layer normalizations run in FP16 and may overflow: ${causeText(text)}`;
  return names.length === 0
    ? 'All normalization nodes have an explicit precision.'
    : `${counted(names.length, 'node')} of layer normalizations ${names.length === 1 ? 'runs' : 'run'} in FP16 and may overflow.`;
}
