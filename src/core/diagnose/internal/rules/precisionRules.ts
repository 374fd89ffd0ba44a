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

const OF_MODEL_OPTIMIZER = { code: 'quantization', severity: 'error', sure: 'likely' } as const;

/** TensorRT Model Optimizer (modelopt): it quantizes before anything is built. */
const MODEL_OPTIMIZER: readonly DiagnosisRule[] = [
  {
    ...OF_MODEL_OPTIMIZER,
    id: 'modelopt-data',
    pattern:
      /Model input count and calibration data doesn't match|Calibration data (?:has only one tensor|list is empty)|calibration data must be numpy array or dict|expects shape of rank \S+, but calibration shape|Input names from ONNX model do not match provided|Calibration data file contains pickled objects|Input shape from '[^'\n]+' does not match provided input shape|Either calibration_shapes or calibration_data_reader/,
    cause: 'The calibration data does not fit the inputs of the model.',
    advice:
      'Give --calibration_data as an .npy file for one input, or an .npz file (a dictionary) with an array under the name of each input, of its type and rank, with the samples along the first axis: `numpy.savez("calib.npz", **{name: array})`. Fix dynamic dimensions with --calibration_shapes=name:1x3x224x224. A file with pickled objects needs --trust_calibration_data.',
    source: 'modelopt/onnx/quantization: calib_utils.py, graph_utils.py, __main__.py',
  },
  {
    ...OF_MODEL_OPTIMIZER,
    id: 'modelopt-provider',
    code: 'library-missing',
    pattern:
      /Could not find `TensorrtExecutionProvider`, only|is not accessible (?:via \S+ or site-packages|in \S+! Please make sure)|Could not (?:find|import) the `(?:trtexec|tensorrt)`|'trtexec' binary not found|NvTensorRtRtx EP on Linux is not|`trtexec` version must be >=|TensorRT-RTX ABI was requested|model contains DDS and custom ops\. Custom ops are only supported/,
    cause:
      'Model Optimizer does not find, or cannot use, what it calibrates or times with: TensorRT, trtexec, cuDNN or a provider of ONNX Runtime.',
    advice:
      'Install the wheel tensorrt, and onnxruntime-gpu (with the CUDA of its release) in place of onnxruntime. Put the folders of libcudnn*.so and of the TensorRT libraries on LD_LIBRARY_PATH (PATH on Windows), and that of trtexec on PATH. Calibrate with --calibration_eps cuda:0 cpu where TensorRT is not needed: only custom operators need trt.',
    source: 'modelopt/onnx/quantization/ort_utils.py, ort_patching.py',
  },
  {
    ...OF_MODEL_OPTIMIZER,
    id: 'modelopt-model',
    pattern:
      /Onnx model size larger than 2GB\. Please set|AutoCast can only operate on valid ONNX models|is not properly shape inferenced|Unable to guess tensor type for tensor|Shape inference did not find shape for|Infer types verification failed|Unsupported op types in fp8 mode|requires an unquantized source model|Model must not be quantized/,
    cause:
      'The model cannot be quantized as it is: a type or shape in it is not known, it is quantized already, or too large for one file.',
    advice:
      'Export again with opset 17 or later (FP8 needs 19) and fixed shapes, run shape inference and fold constants first (`polygraphy surgeon sanitize --fold-constants`, onnxsim), and check it (`onnx.checker`). Above 2 GB pass --use_external_data_format. Start from the model without Q/DQ nodes.',
    source: 'modelopt/onnx: quantization/__main__.py, autocast/precisionconverter.py, quantization/ort_patching.py',
  },
  {
    ...OF_MODEL_OPTIMIZER,
    id: 'modelopt-calibration',
    pattern:
      /forward_loop (?:is required for calibration|must (?:be provided|not be None))|amax must be a CUDA tensor for dynamic block|(?:fp4_fake_quant|FP4\w*) requires triton|Could not find transformer layers in model|MoE calibration incomplete|Negative values in amax|pre_quant_scale should be/,
    cause:
      'Model Optimizer cannot calibrate: it lacks a forward_loop with data, the model on the GPU, or Triton, or the data did not reach every layer.',
    advice:
      'Pass mtq.quantize(model, config, forward_loop) a function that runs a few hundred real samples through the whole model, on the GPU (not offloaded to the CPU by device_map="auto"). FP4 and other block formats need the package triton.',
    source: 'modelopt/torch/quantization: mode.py, model_calib.py, tensor_quant.py',
  },
  {
    ...OF_MODEL_OPTIMIZER,
    id: 'modelopt-export',
    pattern:
      /TRT StronglyType requires both weights and amax|Quantized config setting doesn't match TRT's fusion pattern|quantized MHA must have 16-bit inputs|ONNX does not support (?:multi-axis quantization|unsigned narrow range)|Number of bits must be \d for INT\d ONNX export|Unsupported num_bits: [^\n]{1,60} for ONNX export|Converting a (?:BF16 FP8|quantized) ONNX graph to \w+ is not supported/,
    cause:
      'The quantized model cannot be written as ONNX in a form that TensorRT takes: its types, axes or bits do not fit.',
    advice:
      'Convert model and inputs to FP16 (`.half()`; trt_high_precision_dtype "Half" in the configuration) before the export, quantize along one axis only, and use a configuration for TensorRT (INT8_DEFAULT_CFG, FP8_DEFAULT_CFG, INT4_AWQ_CFG, NVFP4_DEFAULT_CFG).',
    source: 'modelopt/torch/quantization/export_onnx.py',
  },
  {
    ...OF_MODEL_OPTIMIZER,
    id: 'modelopt-block-size',
    pattern:
      /Weight shape is not divisible for block size|Weight dimension \S+ must be divisible by block size|Block size \S+ is not divisible by|array_f32_t_shape\[0\] must be divisible/,
    cause: 'A weight cannot be quantized in blocks: its size is no multiple of the block size.',
    advice:
      'Use another block size (--block_size 32, 64 or 128; NVFP4 has 16), leave that layer out (--nodes_to_exclude, or a disabled quantizer for its name), or fill the weight up.',
    source: 'modelopt/onnx/quantization: quant_utils.py, qdq_utils.py; modelopt/torch/quantization',
  },
];

/** INT8 calibration, and numbers that do not fit a type. */
export const PRECISION_RULES: readonly DiagnosisRule[] = [
  {
    id: 'calibration-regions',
    code: 'calibration-failed',
    pattern: /region should have been removed from Graph::regions/,
    severity: 'error',
    once: true,
    cause:
      'TensorRT 10 fails at a check of its own while it prepares the calibration for INT8: a bug of this version that some networks run into, whatever the calibrator and its data are.',
    advice:
      'Quantize the model with Q/DQ nodes (Model Optimizer: `python -m modelopt.onnx.quantization`, or ONNX Runtime) and build that without calibration, or build in FP16. To keep the calibration use another version (8.6 and later 10.x are reported to work), an export with a lower opset, or a cache from one of them.',
    sure: 'likely',
    source: 'NVIDIA/TensorRT#4797, marcoslucianops/DeepStream-Yolo#585, #663',
  },
  {
    id: 'scale-per-channel',
    code: 'quantization',
    pattern: /Assertion (?:outScales|scales)\.size\(\) == 1 failed/,
    severity: 'error',
    cause:
      'A tensor that a plugin or an elementwise layer reads or gives in INT8 needs one scale, and has none (no calibration reached it) or one per channel.',
    advice:
      'Quantize activations per tensor, only weights of Conv, MatMul and Gemm per channel, calibrate every tensor of such a layer, and keep plugins in FP16 or FP32 (no INT8 in their supportsFormatCombination, no Q/DQ nodes around them). If every tensor has one scale, use a later TensorRT.',
    sure: 'likely',
    source: 'NVIDIA/TensorRT#2462, #2664',
  },
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
    id: 'calibration-zero',
    code: 'calibration-failed',
    pattern:
      /Tensor (?<layer>[^\n]{1,200}?)(?: copy)? is uniformly zero; network calibration failed|Could not find tensor (?<tensor>\S+) in tensorScales/,
    severity: 'error',
    cause: 'Calibration saw nothing but zeros, or nothing at all, in a tensor[[, {layer}]]: it gets no scale.',
    advice:
      'Look at the calibration data: whether get_batch() copies real, preprocessed values to the GPU (and the files are found), and enough of them. A part of the network that is dead for them gives it, too: use other images, or set the range of that tensor. The GPU must have INT8 (compute capability 6.1, and from 7.2 on).',
    sure: 'likely',
    source: 'NVIDIA/retinanet-examples#3',
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
    id: 'calibration-memory-access',
    code: 'calibration-failed',
    pattern:
      /(?:calibrator\.c(?:pp|u)::|Histogram::add|absTensorMax|cuCalibrator|calibrateEngine)[^\n]*(?:illegal memory access|invalid configuration argument|invalid argument|memory must be valid|unspecified launch|Assertion context->executeV2)/,
    cause:
      'Calibration failed on the GPU when it ran the network: most often the batch that the calibrator gave is not where or what TensorRT expects.',
    advice: {
      ultralytics:
        'Export without dynamic=True and with a smaller batch. If it stays, it is the model in this TensorRT (YOLOv10 and other models without NMS): calibrate with another version (8.6, or a later 10), or use half=True.',
      other:
        'In get_batch() return device pointers of all inputs, in their order, with the calibration shape and contiguous memory, and keep them alive; copy host arrays to the GPU first. With dynamic inputs set a calibration profile. Do not create another CUDA context meanwhile. A cache calibrated elsewhere avoids the run.',
    },
    sure: 'likely',
    source:
      'NVIDIA/TensorRT#4053, #1869, #4092, #3430; NVIDIA-AI-IOT/torch2trt#438, ultralytics/ultralytics#18512, marcoslucianops/DeepStream-Yolo#585',
  },
  {
    id: 'calibration-symbolic',
    code: 'calibration-failed',
    pattern: /symbol is not concrete/,
    cause:
      'TensorRT needs a size as a number that depends on an input with dynamic dimensions: for a calibration every input needs one fixed shape.',
    advice: {
      trtexec:
        'Pass --minShapesCalib, --optShapesCalib and --maxShapesCalib with one shape for each input, or calibrate the model with fixed input shapes and use that cache.',
      other:
        'Give the configuration a calibration profile in which min, opt and max of every input are the same (`config.set_calibration_profile(profile)`), or calibrate the model with fixed input shapes and use that cache. Update TensorRT (8.2 and later) if it is 8.0.',
    },
    sure: 'likely',
    source: 'TensorRT 8.0 graph.cpp; NVIDIA/TensorRT#1458',
  },
  {
    id: 'quantize-axis',
    code: 'quantization',
    pattern: /(?<layer>\(Unnamed Layer\* \d+\) \[\w+\]|(?<=[(\s])[^\s:()]+): unexpected negative axis/,
    cause: 'This node (Quantize or Dequantize) has a vector of scales and no axis that they belong to.',
    advice:
      'Set its axis right after it is added (`layer.axis = 1` for the channels of an activation, 0 for the outputs of a weight), before its output or a shape is asked for. One scale for the whole tensor is a constant without dimensions: `network.add_constant((), np.array([s], np.float32))`.',
    source: 'TensorRT scaleNode.cpp; NVIDIA/TensorRT#1362',
  },
  {
    id: 'fp16-not-fast',
    code: 'precision-ignored',
    pattern:
      /(?:Half2|FP16) support requested on hardware without native FP16|[pP]latform does not (?:have|has) (?:fast native )?(?:FP16|fp16)/,
    severity: 'warning',
    once: true,
    cause: 'This GPU has no fast FP16: with it the engine is not faster than in FP32.',
    advice: 'Build in FP32 there, or in INT8 where the GPU has it (compute capability 6.1 and from 7.2 on).',
    source: 'TensorRT 5 to 8; dusty-nv/jetson-inference#54, open-mmlab/mmdeploy#1815',
  },
  {
    id: 'precision-not-on-gpu',
    code: 'gpu-unsupported',
    pattern:
      /Network needs native (?<type>FP16|INT8) and platform does not|[sS]pecified (?<type2>FP16|INT8) but not supported on platform|Requested inference in (?<type3>FP16|INT8) but platform does not support/,
    severity: 'error',
    named: ({ groups: { type, type2, type3 } = {} }) => ({ values: { type: type ?? type2 ?? type3 } }),
    cause: 'This GPU has no fast {type}, which the program or the engine asks for.',
    advice:
      'Build in FP32 there, and the engine on the GPU that runs it. Fast FP16 needs compute capability 5.3, 6.0, 6.2 or 7.0 and later (GTX 10 and older have none), fast INT8 6.1, or 7.2 and later (Jetson Nano and TX2 have none).',
    source: 'TensorRT documentation, error messages and precisions of GPUs; Torch-TensorRT TRTEngine; TAO Toolkit',
  },
  {
    id: 'int8-not-faster',
    code: 'precision-ignored',
    pattern:
      /\bint8\b[^\n]{0,60}\b(?:(?<!\b(?:no|not) )slower|not faster|no faster|no speed-?up)\b|\b(?:no|little|same|almost no) (?:speed |time )?(?:difference|speed|time|latency)\b[^\n]{0,60}\bint8\b|\binference time[^\n]{0,20}\bsame\b[^\n]{0,30}\bint8\b|\bno difference in [^\n]{0,40}time\b[^\n]{0,30}\bint8\b/i,
    severity: 'warning',
    once: true,
    harmless: true,
    cause:
      'INT8 is no faster where layers run in another type: without FP16 next to it, those that have no INT8 kernel or no scale run in FP32, and each change of type is a copy (reformat).',
    advice:
      'Allow both types (trtexec --int8 --fp16 or --best, in a script the flags INT8 and FP16), give every tensor a scale (calibrate, or Q/DQ nodes also at additions and concatenations), and compare the GPU compute time of large batches: small layers, few channels and depthwise convolutions gain little. The report of the build with layer info and profile shows which layers left INT8 and what the copies take.',
    sure: 'possible',
    source: 'NVIDIA/TensorRT#550, #983, #993, #1310, #1386',
  },
  {
    id: 'calibration-profile',
    code: 'calibration-failed',
    pattern: /[Cc]alibration [Pp]rofile is not (?:set|valid)|no calibration profile/i,
    cause: 'The network has dynamic inputs and no profile for the calibration.',
    advice: {
      trtexec: 'Pass --minShapesCalib, --optShapesCalib and --maxShapesCalib.',
      other: 'Call `config.set_calibration_profile(profile)` with one shape of each input.',
    },
    source: 'TensorRT builder.cpp',
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
    id: 'calibration-no-tensor',
    code: 'calibration-missing',
    pattern: /(?:Unexpected exception|what\(\):) +(?:_Map_base::at|invalid unordered_map<K, T> key)/,
    cause: 'A tensor that is to be INT8 has no scale: the calibration saw no data, or its cache is of another network.',
    advice:
      'Check that the calibrator gives at least one batch and that its images are found; delete the calibration cache. Where layers get INT8 by hand, calibrate without such requests first.',
    after: ['calibration-failed'],
    sure: 'likely',
    source: 'NVIDIA/TensorRT#3837, pytorch/TensorRT#2782, wang-xinyu/tensorrtx#892',
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
    id: 'calibration-no-scale-of',
    code: 'calibration-missing',
    pattern:
      /[cC]ould not find scales? for tensor (?<tensor>\(Unnamed Layer\* \d+\) \[\w+\]\S*?|\S+?)[.,)]{0,3}(?:\s|$)/,
    once: true,
    severity: 'error',
    named: (m) => ({ values: { tensor: m.groups!['tensor'] } }),
    cause:
      'INT8 has no scale for tensor {tensor}: there is no calibrator, or its cache or the dynamic ranges leave it out.',
    advice: CALIBRATE,
    source: 'TensorRT documentation, error messages',
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
    id: 'type-beyond-gpu',
    code: 'gpu-unsupported',
    pattern:
      /Networks? with (?:QuantizeLayer\/DequantizeLayer|(?<what>\w+)(?: Q\/DQ)?) (?:layers?|precision) requires? hardware with (?<type>\w+) support|\b(?<type2>[A-Z]+\d+) (?:tensors? )?(?:is|are) (?:only supported on|not supported on (?:this|the current)) (?:GPU|hardware|platform|device)/,
    named: (m) => ({ values: { type: m.groups!['type'] ?? m.groups!['type2'] } }),
    cause:
      'The model asks for {type}, which this GPU[[ ({gpu})]] does not compute, or this TensorRT is older than the GPU.',
    advice:
      'INT8 needs compute capability 6.1 or 7.x and later, BF16 8.0 (as does INT4 in TensorRT-RTX), FP8 8.9 (Ada, Hopper; not A6000 or A100), FP4 10.0 (Blackwell, from TensorRT 10.8 on). If the GPU has it, use a TensorRT that supports this GPU and has the type (BF16 and FP8 from 9 on, INT4 from 10 on). Otherwise export the model in FP16 or quantize it to a type that the GPU has.',
    source:
      'NVIDIA/TensorRT#3399, NVIDIA/Model-Optimizer#70; support matrices of TensorRT 8.6 and 10.1 and of TensorRT-RTX 1.4, release notes of 10.8, changelog of onnx-tensorrt',
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
    id: 'constraints-both',
    code: 'flag-conflict',
    pattern: /kPREFER_PRECISION_CONSTRAINTS cannot be set if kOBEY_PRECISION_CONSTRAINTS is set/,
    cause: 'Precision constraints are to be preferred and obeyed at once.',
    advice: 'Set one of the two. For DLA loadables trtexec sets its own: leave --precisionConstraints out.',
    source: 'NVIDIA-AI-IOT/cuDLA-samples#34',
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
    // TensorRT up to 8.0 ends the build there, later ones clip.
    id: 'weights-beyond-fp16',
    code: 'precision-overflow',
    pattern: /Weights are outside of fp16 range/i,
    severity: 'error',
    cause: 'Weights of a layer are too large for FP16 (above 65504), and this version of TensorRT then builds nothing.',
    advice:
      'Build in FP32, or keep that layer in FP32: a verbose log names it shortly before, or look for large values in the model. Most often a batch normalization whose variance is near 0 was folded into its convolution, or the training diverged: train on with weight decay or a smaller learning rate. Later versions clip such weights and warn.',
    source: 'NVIDIA/TensorRT#420, jkjung-avt/tensorrt_demos#327',
  },
  {
    id: 'weights-by-tensor',
    code: 'quantization',
    pattern: /Parameter check failed at: \S*Layers\.cpp::setInput::\d+, condition: mNetwork/,
    cause:
      'The parser gives a layer weights that other nodes compute (DequantizeLinear): this TensorRT does not take such weights in this network.',
    advice:
      'Build models with Q/DQ nodes by TensorRT 8 or later, with INT8 allowed. TensorRT 7 reads no Q/DQ models of PyTorch: take the Q/DQ nodes out of the model and calibrate it there, or set the ranges of its tensors (setDynamicRange).',
    sure: 'likely',
    source: 'NVIDIA/TensorRT#1285',
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
    // As people write it around a log that says less.
    id: 'fp16-nan',
    code: 'precision-overflow',
    pattern:
      /^(?![^\n]{0,300}(?:calib|train|\bloss\b|\?$|\b(?:not?|never|without|fix(?:e[ds])?|may|might|can|could|if|avoids?|prevents?)\b))[^\n]{0,300}?(?:\b(?:fp ?16|float16|half(?:[- ]precision)?)\b[^\n.;]{0,80}\b(?:returns?|outputs?|gives?|gets?|got|gave|produces?|results?|becomes?|(?:is|are|was)(?: all)?)\b[^\n.;]{0,20}\bnan\b|\bnan (?:outputs?|results?|values?)\b[^\n.;]{0,40}\b(?:fp ?16|float16|half precision)\b)/im,
    severity: 'warning',
    once: true,
    cause:
      'The outputs in FP16 are NaN: a value inside the network leaves the range of FP16 (65504), most often in a normalization, a Softmax or an exponential.',
    advice: `Build in FP32 to confirm it. ${KEEP_FP32} To find the node, compare all outputs with ONNX Runtime (\`polygraphy run MODEL --trt --fp16 --onnxrt --trt-outputs mark all --onnx-outputs mark all --fail-fast\`). A LayerNormalization node (opset 17) is computed with more digits than its parts.`,
    sure: 'likely',
    source: 'NVIDIA/TensorRT#2118, #2902',
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
  {
    id: 'calibrator-cache-none',
    code: 'calibration-failed',
    pattern: /Object of type 'NoneType' is not an instance of 'buffer'/,
    cause:
      'The calibrator returns None from read_calibration_cache() where this class of TensorRT takes the bytes of a cache.',
    advice:
      "Return the bytes of the cache file, or b'' where there is none, or derive it from trt.IInt8EntropyCalibrator2 (IInt8MinMaxCalibrator), which take None.",
    source: 'Python bindings of TensorRT 7, pyInt8; NVIDIA/TensorRT#1186',
  },
  {
    id: 'calibrator-exception',
    code: 'calibration-failed',
    pattern:
      /Exception caught in (?<name>get_batch|get_batch_size|read_calibration_cache|write_calibration_cache)\(\): (?<why>[^\n]+)/,
    severity: 'error',
    once: true,
    named: ({ groups }) => ({
      values: {
        step: /pure virtual/.test(groups!['why']!)
          ? `The class does not define ${groups!['name']!}(): define it (get_batch_size returns the batch size as an int).`
          : undefined,
      },
    }),
    cause:
      'The function {name}() of the calibrator in the script raised an exception, so the calibration has no data: {why}.',
    advice:
      '[[{step} ]]get_batch(names) has to return a list with one address on the GPU as an int for each input (`[int(self.device_input)]`), in the order of names, and None at the end; read_calibration_cache() None or bytes. Convert the data to the type of the input (np.ascontiguousarray, float32) and copy it to the GPU before.',
    source: 'TensorRT Python bindings, pyInt8; NVIDIA/TensorRT#3871',
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
