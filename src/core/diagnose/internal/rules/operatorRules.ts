import { OPERATOR_REPAIRS, versionNumber } from '../gpuSupport.ts';
import { operatorRow } from '../operatorTable.ts';
import { makerOf, OWN_PLUGINS, pluginSince } from '../pluginTable.ts';
import { type Advice, type DiagnosisRule } from '../rule.ts';

/** Operators that ONNX Runtime makes when it optimizes or quantizes a model. */
const FUSED =
  /^(?:Fused\w+|(?:Skip|Embed|SkipSimplified)(?:LayerNormalization)|Bias\w+|FastGelu|QuickGelu|MultiHeadAttention|PackedAttention|DecoderMaskedMultiHeadAttention|NhwcConv|QAttention|QEmbedLayerNormalization|QGemm|QLinear(?:Add|Mul|Sigmoid|LeakyRelu|Softmax|Concat|AveragePool|GlobalAveragePool|Reduce\w+|Where)|MatMulIntegerToFloat|DynamicQuantize(?:MatMul|LSTM)|GroupQueryAttention|RotaryEmbedding|MatMulNBits|GatherBlockQuantized|SparseAttention|QMoE|MoE)$/;
const DYNAMIC =
  /^(?:DynamicQuantizeLinear|MatMulInteger|ConvInteger|DynamicQuantizeMatMul|DynamicQuantizeLSTM|MatMulIntegerToFloat)$/;
const QOPERATOR = /^(?:QLinear\w+|QGemm|QAttention)$/;
const CLASSIC =
  /^(?:ArrayFeatureExtractor|Binarizer|CastMap|CategoryMapper|DictVectorizer|FeatureVectorizer|Imputer|LabelEncoder|Linear(?:Classifier|Regressor)|Normalizer|OneHotEncoder|SVM(?:Classifier|Regressor)|Scaler|TreeEnsemble(?:Classifier|Regressor)?|ZipMap)$/;
const SEQUENCES = /^(?:Sequence\w+|ConcatFromSequence|SplitToSequence|Optional\w*)$/;
const NO_PLUGIN =
  /(?:could not find|Cannot find) plugin:? (?<op>\w+)|Plugin not found, are the plugin name|Cannot find plugin creator|In function importFallbackPluginImporter|No importer registered for op: ?(?<op2>\w+)|UNSUPPORTED_NODE: (?:false$|this version of TensorRT cannot run it|Assertion failed: creator)|In function check\w+:\s*\[8\] (?:Assertion failed: )?false\b|creator && getPluginCreatorVersion/m;

const LOAD_PLUGINS: Advice = {
  rtx: 'TensorRT-RTX has no plugin library: register your own plugin (IPluginV3), or replace the node with supported operators.',
  'tensorrt-llm':
    'Load the plugin library of TensorRT-LLM before the engine (`import tensorrt_llm`, or libnvinfer_plugin_tensorrt_llm.so), of the version that belongs to this TensorRT.',
  trtexec:
    "trtexec loads TensorRT's own plugins itself: where it is one of them, use a later TensorRT, or libnvinfer_plugin built from the TensorRT repository (the branch of this version). Load your own library with --staticPlugins=LIB.so (--plugins before TensorRT 8.6), or replace the node with supported operators.",
  triton:
    'Preload the plugin library (`LD_PRELOAD=libplugin.so tritonserver …`, or the option --backend-config=tensorrt,plugins=…).',
  deepstream: 'Name the plugin library in the configuration (custom-lib-path) or preload it with LD_PRELOAD.',
  other:
    "Load TensorRT's plugin library (`trt.init_libnvinfer_plugins(logger, '')`) or your own before parsing, or replace the node with supported operators. A plugin of TensorRT that this version does not have comes with a later one.",
};

const ENGINE_PLUGIN: Advice = {
  deepstream:
    '[[{build} ]]Name the plugin library in the configuration (custom-lib-path) or preload it with LD_PRELOAD.',
  triton: '[[{build} ]]Preload the plugin library: LD_PRELOAD, or --backend-config=tensorrt,plugins=….',
  trtexec:
    '[[{build} ]]Load its library: --staticPlugins=LIB or --dynamicPlugins=LIB (--plugins=LIB before TensorRT 8.6).',
  other:
    "[[{build} ]]Load the plugin library before the engine: `trt.init_libnvinfer_plugins(logger, '')` for TensorRT's own, `ctypes.CDLL(…)` for others. A plugin that the program builds itself must register its creator (REGISTER_TENSORRT_PLUGIN) in what loads the engine, too.",
};

const PROJECT_PLUGIN: Advice = {
  trtexec: '{build} Then pass the library: --staticPlugins=LIB (--plugins=LIB before TensorRT 8.6).',
  triton: '{build} Then preload the library: LD_PRELOAD, or --backend-config=tensorrt,plugins=….',
  deepstream: '{build} Then name the library in the configuration (custom-lib-path) or preload it with LD_PRELOAD.',
  other: '{build} Then load the library before the model is parsed: `ctypes.CDLL(…)` in Python, or link it.',
};

const RETRAIN =
  "Quantize with Q/DQ nodes and zero points of 0 (TensorRT Model Optimizer, or ONNX Runtime's `quantize_static` with QDQ format, `ActivationSymmetric` and `WeightSymmetric`), or export the float model.";

/** Operators, and forms of operators, that a version does not have. */
export const OPERATOR_RULES: readonly DiagnosisRule[] = [
  {
    // Versions up to 8 print the name on a line of its own, as they do for a node of a model.
    id: 'engine-plugin-named',
    code: 'plugin-missing',
    pattern: /getPluginCreator could not find plugin:? (?<plugin>\w+)/,
    when: ({ phase }) => phase === 'loading the engine',
    named: (m) => ({ values: { ...makerOf(m.groups!['plugin']!) } }),
    cause: 'The engine contains the plugin {plugin}[[ of {maker}]], which is not registered where it is loaded.',
    advice: ENGINE_PLUGIN,
    source: 'NVIDIA/TensorRT#263, #955, enazoe/yolo-tensorrt#157, wang-xinyu/tensorrtx#731',
  },
  {
    id: 'engine-plugin',
    code: 'plugin-missing',
    pattern:
      /Cannot deserialize plugin since corresponding IPluginCreator(?:Interface)? not found|pluginV2Runner\.cpp::(?:nvinfer1::rt::)?load::\d+\] Error Code 1: Seriali|TRTNet: [^\n]*could not find plugin:? (?<plugin>\w+)/,
    cause: 'The engine contains a plugin[[ ({plugin})]] that is not registered where it is loaded.',
    advice: ENGINE_PLUGIN,
    after: ['plugin-missing'],
    source: 'TensorRT pluginV2Runner.cpp; mmdeploy trt_net.cpp, enazoe/yolo-tensorrt#168',
  },
  {
    id: 'plugin-of-project',
    code: 'plugin-missing',
    pattern: NO_PLUGIN,
    when: ({ op }) => op !== undefined && makerOf(op) !== undefined,
    named: (_, __, { op }) => ({ values: { ...makerOf(op!) } }),
    cause: 'The operator {op} of this node is a plugin of {maker}, which is not registered.',
    advice: PROJECT_PLUGIN,
    sure: 'likely',
    source:
      'open-mmlab/mmdeploy#186, #212, NVIDIA/TensorRT#4160, dlunion/tensorRTIntegrate#37; the other projects of the table',
  },
  {
    id: 'plugin-not-created',
    code: 'plugin-missing',
    pattern: /plugin && "Could not create plugin"|Could not create plugin(?! registry)/,
    cause:
      'The plugin of this node[[ ({op})]] is registered, but its creator gave no plugin: the attributes of the node are not those that it expects, or it was compiled for another TensorRT.',
    advice:
      'Compare the attributes of the node (names, types, values) with those that createPlugin() of the plugin reads, use the model and the plugin library of one release of their project, and compile it against this TensorRT.',
    sure: 'likely',
    source: 'onnx-tensorrt importFallbackPluginImporter; wy17646051/tensorrt_scatter#1',
  },
  {
    id: 'plugin-name-mismatch',
    code: 'plugin-missing',
    pattern: /Plugin not found, are the plugin name|(?:could not find|Cannot find) plugin:? \w+/,
    when: ({ op, plugins }) => op !== undefined && similarPlugin(op, plugins) !== undefined,
    named: (_, __, { op = '', plugins }) => ({ values: { plugin: similarPlugin(op, plugins) } }),
    cause:
      'No plugin is registered under the name {op}, which this node needs; the one that was registered is {plugin}: the names in the model and in the plugin library differ.',
    advice:
      'Use the version of the plugin library that belongs to this model, or rename the node (or the plugin creator) so that both have one name.',
    sure: 'likely',
    source: 'NVIDIA-AI-IOT/CUDA-PointPillars#28',
  },
  {
    id: 'nonzero-rtx',
    code: 'unsupported-op',
    pattern: /NonZero plugin creator version \d+ was not found/,
    cause:
      'TensorRT-RTX does not support NonZero, the operator of this node: how many elements it finds depends on the data.',
    advice:
      'Replace it: `Where` with a mask for `x[mask] = v`, a sum for counting, TopK or ArgMax where the number is known. The full TensorRT has NonZero.',
    repair: OPERATOR_REPAIRS,
    named: () => ({ values: { op: 'NonZero' } }),
    source: 'onnx-tensorrt onnxOpImporters.cpp of TensorRT-RTX; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'roialign-device',
    code: 'plugin-missing',
    pattern: /ROIAlign plugin was not found in the plugin registry/,
    cause:
      "The plugin of this node (RoiAlign) is not registered: TensorRT's plugin library is not loaded, or there is no GPU with its driver, which it needs while the model is parsed.",
    advice:
      "Load the plugins before parsing (`trt.init_libnvinfer_plugins(logger, '')`; trtexec does so itself), and build on a machine with a GPU: without one, this operator cannot be built or checked.",
    sure: 'likely',
    source: 'TensorRT roiAlignPlugin.cpp; open-mmlab/mmdeploy#2791; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'plugin-v2-on-rtx',
    code: 'plugin-missing',
    pattern: /imports IPluginV3 plugins registered with an IPluginCreatorV3One creator only/,
    cause: 'TensorRT-RTX loads only plugins of the interface IPluginV3; the one of this node is older.',
    advice: 'Port the plugin to IPluginV3 with an IPluginCreatorV3One.',
    source: 'onnx-tensorrt onnxOpImporters.cpp of TensorRT-RTX',
  },
  {
    id: 'plugin-library-open',
    code: 'library-missing',
    pattern: /(?:Cannot|Could not|Unable to|Failed to) (?:open|load) (?:the )?plugin library:? '?(?<file>[^\s']+)?/i,
    cause:
      'The plugin library[[ {file}]] cannot be loaded: it is not there, or a library that it needs is missing or of another version.',
    advice:
      'Give the whole path, and look at `ldd` of it (on Windows, Dependencies) for libraries that are not found. It must be compiled against this TensorRT and CUDA.',
    source: 'trtexec --staticPlugins; mmdeploy',
  },
  {
    id: 'runtime-provider-plugin',
    code: 'plugin-missing',
    pattern: /failed to load (?<op>\w+) plugin/,
    cause: 'The operator {op} of this node needs a plugin that only ONNX Runtime brings along.',
    advice:
      'Run the model with the NvTensorRTRTX provider of ONNX Runtime, or replace the operator by DequantizeLinear (blocked INT4) and MatMul.',
    source: 'onnx-tensorrt onnxOpImporters.cpp of TensorRT-RTX',
  },
  {
    id: 'matmulnbits-type',
    code: 'type-mismatch',
    pattern: /input tensor A must be FP16/,
    cause: 'This node (MatMulNBits) needs FP16 activations and gets another type.',
    advice: 'Export the model in FP16.',
    source: 'onnx-tensorrt onnxOpImporters.cpp of TensorRT-RTX',
  },
  {
    id: 'instancenorm-plugin',
    code: 'plugin-missing',
    pattern: /InstanceNormalization plugin was not found/,
    cause: 'The plugin of this node (InstanceNormalization) is not loaded.',
    advice: {
      trtexec: 'Pass --nativeInstanceNorm (TensorRT 8.6 and 9), or load the plugins of libnvinfer_plugin.',
      other:
        'Set the parser flag NATIVE_INSTANCENORM, or call `trt.init_libnvinfer_plugins(logger, "")` before parsing.',
    },
    source: 'onnx-tensorrt onnxOpImporters.cpp',
  },
  {
    id: 'tensorrt-plugin-missing',
    code: 'plugin-missing',
    pattern:
      /\b(?<plugin>\w+) plugin was not found in the plugin registry|could not find plugin:? (?<p2>\w+_TRT)\b|Cannot find plugin: (?<p3>\w+_TRT)\b|: (?<p4>\w+) plugin creator version \S+ was not found|getPluginCreator could not find plugin:? ?(?<p5>\w*tensorrt_llm)/,
    named: ({ groups }, _, { version }) => {
      const plugin = Object.values(groups!).find(Boolean)!;
      return { values: { plugin, since: pluginSince(plugin, version) } };
    },
    cause: 'The plugin {plugin} of this node is not registered[[; TensorRT has it from {since} on]].',
    advice: LOAD_PLUGINS,
    source: 'captures of TensorRT 8.6; onnx-tensorrt; NVIDIA/TensorRT-LLM#1584',
  },
  {
    id: 'tensorrt-plugin-of-operator',
    code: 'plugin-missing',
    pattern: NO_PLUGIN,
    at: OWN_PLUGINS,
    named: (_, __, { op = '', version }) => ({ values: { since: pluginSince(op, version) } }),
    cause:
      'The operator {op} of this node is a plugin that is not registered, or not in this version[[; TensorRT has it from {since} on]].',
    advice: LOAD_PLUGINS,
    source: 'onnx-tensorrt importFallbackPluginImporter; the plugins of NVIDIA/TensorRT',
  },
  {
    id: 'dynamically-quantized',
    code: 'quantization',
    pattern: NO_PLUGIN,
    at: DYNAMIC,
    cause: 'The model was quantized dynamically by ONNX Runtime: TensorRT has no {op}, the operator of this node.',
    advice: RETRAIN,
    repair: OPERATOR_REPAIRS,
    source: 'built with TensorRT-RTX 1.7.1; NVIDIA/TensorRT#4698, #3963',
  },
  {
    id: 'qoperator',
    code: 'quantization',
    pattern: NO_PLUGIN,
    at: QOPERATOR,
    cause:
      'The model has quantized operators of ONNX Runtime (its QOperator format): TensorRT has no {op}, the operator of this node.',
    advice: RETRAIN,
    repair: OPERATOR_REPAIRS,
    source: 'built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'onnxruntime-operator',
    code: 'unsupported-op',
    pattern: NO_PLUGIN,
    at: FUSED,
    cause:
      'The operator {op} of this node is one of ONNX Runtime (com.microsoft), made by its optimizer; TensorRT does not have it.',
    advice:
      "Export without ONNX Runtime's graph optimizations, or take the model from before `optimize_model`. Otherwise write it as ONNX operators.",
    repair: OPERATOR_REPAIRS,
    source: 'built with TensorRT-RTX 1.7.1; NVIDIA/TensorRT#1515, microsoft/onnxruntime#10905',
  },
  {
    id: 'classic-operator',
    code: 'unsupported-op',
    pattern: NO_PLUGIN,
    at: CLASSIC,
    cause:
      'The operator {op} of this node is one of classical machine learning (ai.onnx.ml), which TensorRT does not have.',
    advice:
      'Leave that part outside the engine (run it with ONNX Runtime), or write it with ONNX operators: scalers and linear models as Mul, Add and Gemm, trees as matrices.',
    repair: OPERATOR_REPAIRS,
    source: 'built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'sequence-operator',
    code: 'unsupported-op',
    pattern: NO_PLUGIN,
    at: SEQUENCES,
    cause: 'The operator {op} of this node works on sequences or optional values; TensorRT has only tensors.',
    advice: 'Export without lists: sequences of known length become Split and Concat.',
    repair: OPERATOR_REPAIRS,
    source: 'built with TensorRT-RTX 1.7.1; onnx/onnx-tensorrt#1044',
  },
  {
    id: 'string-operator',
    code: 'unsupported-op',
    pattern: NO_PLUGIN,
    at: /^(?:String\w+|RegexFullMatch)$/,
    cause: 'The operator {op} of this node works on strings, which TensorRT does not have.',
    advice: 'Do the text processing before the engine: cut the model after these nodes.',
    source: 'built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'data-dependent-operator',
    code: 'unsupported-op',
    pattern: NO_PLUGIN,
    at: /^(?:NonZero|Unique|Compress)$/,
    // TensorRT has NonZero since 8.5, TensorRT-RTX does not.
    when: ({ op, product }) => op !== 'NonZero' || product === 'tensorrt-rtx',
    cause: 'TensorRT does not support the operator {op} of this node: the size of its result depends on the data.',
    advice:
      'Replace it where the size can be known: Where or a multiplication by the mask for selecting, TopK for a bound, Gather for constant conditions. Otherwise run it outside the engine.',
    repair: OPERATOR_REPAIRS,
    source: 'built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'random-operator',
    code: 'unsupported-op',
    pattern: NO_PLUGIN,
    at: /^(?:Bernoulli|Multinomial)$/,
    cause: 'TensorRT does not support the operator {op} of this node, which draws random numbers.',
    advice: 'Draw them outside the engine, or use RandomUniform and Less.',
    repair: OPERATOR_REPAIRS,
    source: 'built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'operator-unsupported',
    code: 'unsupported-op',
    pattern:
      /In function check(?!Fallback|NotInvalid)(?<op>\w+):\s*\[8\] (?:Assertion failed: )?false\b|UNSUPPORTED_NODE: this version of TensorRT cannot run it/,
    cause: 'TensorRT does not support the operator {op} of this node.',
    advice: 'Replace the node with supported operators, or write a plugin with the same name.',
    repair: OPERATOR_REPAIRS,
    source: 'onnx-tensorrt onnxOpCheckers.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'operator-later',
    code: 'unsupported-op',
    pattern: NO_PLUGIN,
    when: ({ op = '', version, since10, product }) =>
      product !== 'tensorrt-rtx' &&
      sinceOf(op) !== undefined &&
      (version === null
        ? !since10 || versionNumber(sinceOf(op)!) > versionNumber('10.0')
        : versionNumber(version) < versionNumber(sinceOf(op)!)),
    named: (_, __, { op = '' }) => ({
      values: {
        since: sinceOf(op),
        before:
          op === 'NonMaxSuppression'
            ? 'or put the plugin BatchedNMS_TRT or EfficientNMS_TRT in its place with onnx-graphsurgeon, or run it after the engine'
            : 'or export with an earlier opset, which may write it with older operators',
      },
    }),
    cause: 'This TensorRT[[ ({version})]] does not have the operator {op} of this node yet: {since} and later do.',
    advice: 'Use TensorRT {since} or later, {before}.',
    repair: OPERATOR_REPAIRS,
    sure: 'likely',
    source:
      'onnx-tensorrt docs/operators.md by version, docs/Changelog.md; onnx/onnx-tensorrt#552, #553, #800, deepinsight/insightface#1232, #1274',
  },
  {
    id: 'operator-unknown',
    code: 'unsupported-op',
    pattern: NO_PLUGIN,
    named: (_, __, { op }) => ({
      values: {
        where:
          op === undefined
            ? 'The excerpt does not name the operator: the lines before it do ("No importer registered for op: …", "While parsing node number …", op_type). '
            : /\W/.test(op)
              ? `ONNX has no operator of such a name: a script or tool that edited the model wrote ${op} as op_type. Write the operator's name there, or export again. `
              : '',
      },
    }),
    overcome: /Cannot deserialize plugin since corresponding/,
    cause:
      'TensorRT has no importer for the operator[[ {op}]] of this node, and no plugin with that name is registered.',
    advice:
      '{where}Replace the node with supported operators or by a plugin of the same name. A plugin must be loaded with its library before the model is parsed, under that name, version and namespace. A later TensorRT may import the operator, and an export with another opset may write it otherwise.',
    repair: OPERATOR_REPAIRS,
    source: 'captures of TensorRT 8.6 to RTX 1.7.1',
  },
];

/** A plugin whose name shares a word with an operator: `PillarScatterPlugin` for `ScatterBEV`; undefined: none, or itself. */
function similarPlugin(op: string, plugins: readonly string[]): string | undefined {
  if (plugins.includes(op)) return undefined;
  const words = (op.match(/[A-Z]?[a-z]+|[A-Z]{3,}/g) ?? []).filter((word) => word.length > 3 && word !== 'Plugin');
  return plugins.find((plugin) => words.some((word) => plugin.includes(word)));
}

/** Operators that a version before 8.6 brought (operators.md of onnx-tensorrt 5.1, its changelog). */
const EARLIER = new Map(
  Object.entries({
    '5.1': 'Acos Acosh Asin Asinh Atan Atanh Cast Cos Gather Sin',
    '8.0': 'Celu CumSum EyeLike GatherElements GreaterOrEqual LessOrEqual LpNormalization LpPool ReverseSequence',
    '8.2': 'Einsum GatherND IsNaN Round Scatter ScatterElements ScatterND Sign',
    '8.4': 'Shrink Xor',
    '8.5':
      'GridSample MeanVarianceNormalization Mod NonMaxSuppression NonZero RandomNormal RandomUniform RoiAlign Trilu',
  }).flatMap(([version, operators]) => operators.split(' ').map((operator) => [operator, version])),
);

/** Operators that 8.6 has and 7.2 did not, or perhaps not. */
const NOT_IN_7 =
  /^(?:GlobalLpPool|GroupNormalization|HardSwish|IsInf|LayerNormalization|OneHot|RandomNormalLike|RandomUniformLike)$/;

/** The first version from 7.2 on that has an operator, or an earlier one, where it is known; undefined: none. */
function sinceOf(op: string): string | undefined {
  const earlier = EARLIER.get(op);
  if (earlier !== undefined) return earlier;
  const [since = '-', rtx] = (operatorRow(op) ?? '').split(' ');
  if (rtx !== 'y' || !/^\d/.test(since)) return undefined;
  // What the changelog does not name was there before it begins.
  return since === '8.6' && !NOT_IN_7.test(op) ? '7.2' : since;
}
