import { outerInput } from '../../../formats/tensorrt/buildOutput.ts';
import { type DiagnosisRule, EVERY_CAUSE } from '../rule.ts';
import { layerBefore } from '../causeText.ts';
import { versionNumber } from '../../../base/text.ts';

const BESIDE = {
  other:
    'Put the external weights next to the .onnx file, with the file name that the model uses, and parse the model by its path (parse_from_file, or parse(bytes, path)): from bytes alone TensorRT looks for them in the working folder.',
  trtexec: 'Put the external weights next to the .onnx file, with the file name that the model uses.',
};
const FOLD =
  'Fold constants (`polygraphy surgeon sanitize --fold-constants` or onnxsim), or export so that it is an initializer.';
const NO_WEIGHTS =
  'In an ONNX model the weights are no constant: they are computed, quantized in a form that this parser does not take, or the file with external weights was not loaded; fold constants and keep weights as initializers. In a program that reads a .wts file, it has no weights of that name: it was written from another version or variant of the model than the program builds.';
const OTHER_WEIGHTS =
  'The weights are of another variant than the network. A program that builds it from a file of weights needs to be told the variant (s, m, l, x, or the multipliers of a custom one) and compiled with the number of classes, and the converter must be of the same version.';
const OTHER_CHANNELS =
  'The input of that node has another number of channels than its weights are for: a Reshape, Slice or Concat before it (grouped convolutions often have one) does not fit the shapes that are given, or was exported for others. Give real input shapes, fold constants, and export it again with fixed sizes; a later TensorRT infers more.';
/** Names of nodes as exporters of ONNX write them. */
const OF_ONNX = /While parsing node|^[\w.]*\/|^\w+_\d+:/m;
const CHECK = 'Export it again, or check it with `python -m onnx.checker`.';

/** What the parsers for UFF and Caffe models refuse. */
const LEGACY: readonly (readonly [RegExp, string, string])[] = [
  [
    /number of graph 0/,
    'the file holds no UFF graph',
    'Look whether the path is right and the file not empty (a download that failed, a Git LFS pointer); for .etlt files the key must be that of the training.',
  ],
  [
    /(?:Output|Input) error/,
    'it has no node of the name that was registered as an input or output',
    'Register the names of the frozen graph (without `:0`; the name of the node that gives the tensor), and list them to the converter (output_nodes): what is after them is cut off.',
  ],
  [
    /Invalid scale mode/,
    'the number of weights of a BatchNormalization or BiasAdd is not that of the channels as the parser counts them',
    'Register the input in the order of the model: NHWC for one of TensorFlow (`parser.register_input(name, (3, 299, 299), trt.UffInputOrder.NCHW)` only where the graph itself is NCHW), or freeze the graph with data_format="channels_first".',
  ],
  [
    /[dD]imensions|Order size/,
    'the dimensions of an input are missing or of another number than a layer needs',
    'Register every Placeholder by its name, with the dimensions without the batch and in their order (`parser.register_input(name, (3, 224, 224))`).',
  ],
  [
    /U(?:FF|ff)Parser/,
    'a node has a form that it cannot import',
    'Convert the frozen graph with tf2onnx and build the ONNX model, or change the network at that node (a constant as the second operand, for example, by another layer).',
  ],
  [
    /no field named/,
    'the prototxt has a field of another edition of Caffe than NVIDIA reads',
    'Remove the field or write the layer with those of plain Caffe; layers that only a fork has (Upsample, Reorg, Region) need a plugin for the parser.',
  ],
  [
    /[cC]ould not parse|deploy file|binary/,
    'the prototxt or the caffemodel cannot be read',
    'The line above says where. Look whether the files are complete and of one model, and use plain Caffe layers.',
  ],
  [
    /./,
    'a layer has a form that it cannot import',
    'The message names the layer and what it lacks (ReLU without a negative slope, for example: write it as a plugin or as other layers).',
  ],
];

/** The model as a file and as a graph: weights, damage, names, inputs and outputs. */
export const MODEL_RULES: readonly DiagnosisRule[] = [
  {
    id: 'model-lfs-pointer',
    code: 'model-unreadable',
    pattern:
      /ModelProto: 1:9: Message type \S+ has no field named ["“”]?version|version https:\/\/git-lfs\.github\.com/,
    severity: 'error',
    cause: 'The model file is a Git LFS pointer: a text of three lines in place of the model.',
    advice:
      'Run `git lfs install` and `git lfs pull` in the repository, or download the file from its web page (Raw), and compare the sizes. The other models of that repository are pointers, too.',
    source: 'protobuf text_format.cc, Git LFS; NVIDIA-AI-IOT/CUDA-PointPillars#11, #93',
  },
  {
    id: 'parser-implicit-batch',
    code: 'flag-conflict',
    pattern:
      /only supports TensorRT INetworkDefinitions with an explicit batch dimension|hasImplicitBatchDimension\(\) && "/,
    cause: 'The network was created without explicit batch, which the ONNX parser needs.',
    advice: {
      trtexec: 'Add --explicitBatch, or use trtexec of TensorRT 8 or later, which needs no such option.',
      other:
        'Create it with the flag: `builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))`, createNetworkV2(1U << kEXPLICIT_BATCH); from TensorRT 10 on every network is so. Set the batch by the shape of the input or an optimization profile, not by max_batch_size.',
    },
    source: 'onnx-tensorrt ModelImporter.cpp; Adlik/Adlik#105',
  },
  {
    id: 'weights-outside',
    code: 'weights-missing',
    pattern: /Relative paths to parent \(\.\.\/\) are not allowed[^\n]*?(?:path is: (?<file>\S+))?$/m,
    cause: 'The model refers to external weights outside its folder[[: {file}]], which TensorRT refuses.',
    advice: 'Move the weights file next to the .onnx file and save the model with that location.',
    source: 'onnx-tensorrt WeightsContext.cpp (TensorRT 9.3 and later)',
  },
  {
    id: 'weights-too-short',
    code: 'weights-missing',
    pattern:
      /Unexpected size for the external weights! Expected size: (?<want>\d+) bytes.*?Actual size: (?<have>\d+) bytes/,
    cause: 'The external weights file is too short: {want} bytes expected, {have} found.',
    advice: 'Complete the download or export again: the .onnx file and its weights must be from the same export.',
    source: 'onnx-tensorrt WeightsContext.cpp',
  },
  {
    id: 'weights-missing',
    code: 'weights-missing',
    pattern: /Failed to open file:(?: (?<file>[^\s;][^\n;]*))?/,
    named: ({ groups: { file } = {} }) => ({
      values: { what: file ? `The weights file ${file}` : 'A file of external weights' },
    }),
    cause: '{what} is missing.',
    advice: BESIDE,
    source: 'onnx-tensorrt WeightsContext.cpp; built with TensorRT-RTX 1.7.1; onnx/onnx-tensorrt#542',
  },
  {
    id: 'weights-count',
    code: 'weights-missing',
    pattern:
      /(?:count of (?<have>\d+) weights in kernel|(?<!quantize_scale_node: )\b(?:constant|kernel|bias|power|scale|shift) weights has count (?<have2>\d{1,20}))[^\n]*?(?:= (?<want>\d+)|but (?<want2>\d+) was expected)/,
    named: ({ groups: { have, have2, want, want2 } = {} }, text) => {
      const layer = /(\(Unnamed Layer\* \d+\) \[\w+\]|[^\s:]+): ?(?:count of|\w+ weights has)/.exec(text)?.[1];
      const advice = (have ?? have2) === '0' ? NO_WEIGHTS : OF_ONNX.test(text) ? OTHER_CHANNELS : OTHER_WEIGHTS;
      return { layer, values: { layer: layer ?? 'a layer', have: have ?? have2, want: want ?? want2, advice } };
    },
    cause: 'The weights of {layer} have {have} numbers, and its shape needs {want}.',
    advice: '{advice}',
    source: 'TensorRT network checks; NVIDIA/TensorRT#805, #1753; wang-xinyu/tensorrtx#877, #899, #1139, #1276',
  },
  {
    id: 'weights-unreadable',
    code: 'weights-missing',
    pattern: /Failed to (?:map file to memory|read weights from external file): (?<file>.*\/)?(?<name>[^/\n]*)$/m,
    named: ({ groups }) => ({
      values: {
        what: groups!['name']
          ? `The weights file ${groups!['file'] ?? ''}${groups!['name']} cannot be read`
          : 'An initializer is external, and the model does not name the file of its data',
      },
    }),
    cause: '{what}.',
    advice:
      'Put the weights where the model looks for them, as a file that can be read, or save the model again with its data (`onnx.save(model, path, save_as_external_data=True)`).',
    source: 'onnx-tensorrt WeightsContext.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'weights-null',
    code: 'weights-missing',
    pattern:
      /(?<layer>\(Unnamed Layer\* \d+\) \[\w+\]|(?<![^\s:])[^\s:]+): ?\w+ weights has (?<what>zero count but non-null|non-zero count but null) values/,
    named: ({ groups: { layer, what } = {} }) => ({
      layer: layer!,
      values: {
        layer,
        what: what === 'zero count but non-null' ? 'have a pointer and the count 0' : 'have a count and no pointer',
      },
    }),
    cause: 'The weights that the program gives {layer} {what}.',
    advice:
      'A layer without them (no bias) gets the pointer nullptr and the count 0; otherwise give both, and keep the memory until the engine is built. A program that looks weights up by name gets empty ones for a name that its file lacks: compare the names and the variant of the model.',
    source: 'TensorRT documentation, error messages',
  },
  {
    id: 'weights-range',
    code: 'weights-missing',
    pattern:
      /external weights offset\/length out of range for file: (?<file>.+?) \(offset=(?<offset>\d+), length=(?<length>\d+), file size=(?<size>\d+)\)/,
    cause:
      'The weights file {file} is too short, or belongs to another model: {length} bytes are to be read at byte {offset}, and it has {size}.',
    advice: 'Complete the download or export again: the .onnx file and its weights must be from the same export.',
    source: 'onnx-tensorrt WeightsContext.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'initializer-size',
    code: 'model-invalid',
    pattern:
      /Size mismatch when importing initializer: (?<tensor>\S+)\. Expected size: (?<have>\d+) , actual size: (?<want>\d+)/,
    cause: 'The initializer {tensor} has {have} bytes of data, and its type and shape need {want}.',
    advice: 'Export the model again, or correct the shape or the type that a tool gave the initializer.',
    source: 'onnx-tensorrt WeightsContext.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'initializer-kind',
    code: 'unsupported-type',
    pattern: /ONNX initializer (?<tensor>\S+) cannot be imported into TensorRT/,
    cause:
      'The initializer {tensor} has a type that TensorRT does not have, such as texts, UINT4, or an FP8 other than E4M3FN.',
    advice:
      'Texts, such as the names of classes: have the model give numbers, and look the texts up in the program. A zero point or quantized weights: quantize to INT8, INT4 or FP8 (E4M3FN) with zero points of 0. Otherwise store it as INT32, INT64, FP16 or FP32.',
    sure: 'likely',
    source: 'onnx-tensorrt WeightsContext.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'initializer-type',
    code: 'unsupported-type',
    pattern: /Found unsupported datatype \((?<type>\d+)\) when importing initializer: (?<tensor>\S+)/,
    named: (m) => {
      const type = onnxType(Number(m.groups!['type']));
      return { values: { type, short: type.endsWith('16') ? type : undefined } };
    },
    cause: 'The initializer {tensor} is {type}, a type that TensorRT does not have.',
    advice:
      '[[The zero point of a quantization to {short}: quantize to INT8 with zero points of 0, because TensorRT has no quantization to 16 bits. Otherwise: ]]Remove it if no node needs it, such as the counters of a profiler (total_ops). Store it as INT32, INT64, FP16 or FP32 and cast in the model. A BitShift of it has to be written as Div, or as Mul and Mod, by powers of two (INT64 for UINT32).',
    repair: 'quantize-in-float',
    source: 'onnx-tensorrt WeightsContext.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'initializer-unreadable',
    code: 'weights-missing',
    pattern: /Failed to import initiali[sz]?er:? ?(?!In node)(?<tensor>\S+)?/,
    cause: 'An initializer cannot be loaded[[: {tensor}]]; its weights file is missing or too short.',
    advice: 'Put the complete external weights next to the .onnx file.',
    after: ['unsupported-type', 'weights-missing', 'model-invalid'],
    sure: 'likely',
    source: 'onnx-tensorrt ModelImporter.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'export-on-two-devices',
    code: 'model-invalid',
    pattern:
      /(?:Exporting|[Ee]xport(?:ing)? to ONNX|ONNX export)[^\n]{0,80}Expected all tensors to be on the same device|invalid unordered_map<K, T> key/,
    severity: 'error',
    cause:
      'The export to ONNX failed, so there is no model to build: some weights are on the CPU and others on the GPU.',
    advice:
      'Start the program without options that move the model between them (--medvram, --lowvram, --medvram-sdxl) and without --api for the export, or export on one device.',
    sure: 'likely',
    source: 'NVIDIA/Stable-Diffusion-WebUI-TensorRT#12, #17, #27, lllyasviel/stable-diffusion-webui-forge#879',
  },
  {
    id: 'model-missing',
    code: 'model-missing',
    pattern:
      /(?:Could not open file |[Nn]o such file: |Could not find (?:file|path): |FileNotFoundError: .{0,300}'(?=[^'\n]+\.onnx)|Failed to open (?:the )?(?:onnx |ONNX )?(?:model )?file:? ?)(?<file>.+?\.onnx)\b/,
    cause: 'The model {file} does not exist or cannot be read.',
    advice: 'Check the path; it is relative to the working directory of the build.',
    after: ['model-invalid'],
    source: 'captures of TensorRT 8.6 to RTX 1.7.1',
  },
  {
    id: 'no-model-named',
    code: 'bad-flag-value',
    pattern: /Model missing or format not recognized/,
    cause: 'The command names no model: trtexec takes it only from an option.',
    advice:
      'Pass --onnx=FILE to build, or --loadEngine=FILE to run an engine; a file name without an option is not read. Caffe and UFF models need TensorRT 9 or earlier.',
    source: 'trtexec; NVIDIA/trt-samples-for-hackathon-cn#99',
  },
  {
    id: 'uff-plugin',
    code: 'plugin-missing',
    pattern:
      /UffParser: Validator error: [^\n]*?: Unsupported operation _?(?<plugin>\w*(?:_TRT|Plugin\w*)|CropAndResize|Proposal\w*|GridAnchor\w*|NMS\w*)\b/,
    cause: 'The UFF model needs the plugin {plugin}, which this TensorRT does not have.',
    advice:
      'Build the plugin library of the TensorRT repository (its release branch of this version) and replace libnvinfer_plugin with it, as the models of TAO and TLT require; or export the model to ONNX.',
    source: 'NVIDIA-AI-IOT/deepstream_tao_apps#24',
  },
  {
    id: 'legacy-operation',
    code: 'unsupported-op',
    pattern:
      /U(?:FF|ff)Parser: Validator error: (?<layer>[^\n]{1,200}?): Unsupported operation _?(?<op>\w+)|[cC]ould not parse layer type (?<op2>\w+)/,
    severity: 'error',
    named: ({ groups: { op, op2 } = {} }) => ({
      values: {
        format: op === undefined ? 'Caffe' : 'UFF',
        step: /_TRT$|Plugin/.test(op ?? op2!)
          ? 'It is a plugin: call initLibNvInferPlugins() (`trt.init_libnvinfer_plugins(logger, "")`) before the parser, and use a libnvinfer_plugin that has it; for TLT and TAO models, and the samples of a later release, build that library from the repository of TensorRT.'
          : op === undefined
            ? 'Give the parser a plugin for the layer (setPluginFactoryV2), or convert the network to ONNX and build that.'
            : 'Convert the frozen graph with tf2onnx and build the ONNX model. With UFF, freeze it in TensorFlow 1.14 or older (AddV2 and others are later), without training nodes, or map the node to a plugin with graphsurgeon.',
      },
    }),
    cause: 'The {format} parser of TensorRT does not know {op} of this node; it is no longer developed.',
    advice: '{step}',
    source:
      'NVIDIA/TensorRT caffeParser.cpp; NVIDIA/TensorRT#89, #125, #208, #1397, #1631, PRBonn/bonnet#46, lewes6369/tensorRTWrapper#9, NVIDIA-AI-IOT/deepstream_tao_apps README',
  },
  {
    id: 'tao-key',
    code: 'model-unreadable',
    pattern:
      /please check the encoding key to make sure it's correct|UffParser: Could not (?:read buffer|parse MetaGraph)/,
    severity: 'error',
    cause:
      'The model of TAO or TLT (.etlt) cannot be decrypted or read: the key is not the one that it was exported with, or the file is incomplete.',
    advice:
      'Give the key of the export (tao-converter: -k; DeepStream: tlt-model-key; models of NGC mostly nvidia_tlt or tlt_encode), and look whether the file is whole (a Git LFS pointer is a short text). A model that holds ONNX (LPRNet and others with dynamic shapes) needs the converter for this TensorRT and -p NAME,min,opt,max in place of -d.',
    after: ['model-missing'],
    sure: 'likely',
    source:
      'tao-converter; NVIDIA-AI-IOT/deepstream_lpr_app#1, NVIDIA-AI-IOT/face-mask-detection#16, NVIDIA-ISAAC-ROS/isaac_ros_dnn_stereo_depth#11',
  },
  {
    id: 'legacy-refused',
    code: 'model-unreadable',
    pattern:
      /U(?:FF|ff)Parser: (?:(?:Parser|Output|Input) error: [^\n]*|Unsupported number of graph[^\n]*)|Caffe ?Parser: (?!Could not open)[^\n]*|error parsing layer type \w+ index \d+|ditcaffe\.[^\n]*/,
    severity: 'error',
    named: ({ 0: text }) => {
      const [, what, step] = LEGACY.find(([pattern]) => pattern.test(text))!;
      return { values: { format: /uff/i.test(text) ? 'UFF' : 'Caffe', what, step } };
    },
    cause: 'The {format} parser of TensorRT refuses the model: {what}.',
    advice: '{step} Neither parser is developed further, and TensorRT 9 has none: the way that lasts is ONNX.',
    sure: 'likely',
    source:
      'NVIDIA/TensorRT caffeParser; NVIDIA/TensorRT#346, #969, #1036, tensorlayer/HyperPose#299, lewes6369/tensorRTWrapper#1, #2, NVIDIA-developer-blog/code-samples#9',
  },
  {
    id: 'uff-inputs',
    code: 'unsupported-form',
    pattern: /^[^\n=]{0,40}uff_graph\.(?<op>\w+)\(inputs\[[^\n]*/,
    severity: 'error',
    cause: 'The converter to UFF finds fewer inputs of a node than it counts on: that node has lost one.',
    advice:
      'Give it the frozen graph of inference alone, with the names of its real outputs: nodes that were removed, folded or shared (Identity, Dropout, BatchNorm of training) leave such gaps. Use the TensorFlow and Keras that the README of the sample names. UFF is no longer developed: tf2onnx and the ONNX parser are the way that lasts.',
    sure: 'likely',
    source: 'NVIDIA/TensorRT#626, #360, nwesem/mtcnn_facenet_cpp_tensorRT#49',
  },
  {
    id: 'uff-or-caffe',
    code: 'model-unreadable',
    pattern:
      /\b(?:failed to (?:load|parse)|UffParser|convert-to-uff)[^\n]*\.?(?<format>uff)\b|(?<!\w)UffParser(?!: Could not open)|(?<!\w)CaffeParser|failed to (?:load|parse)[^\n]*\.(?<format2>caffemodel|prototxt)\b/i,
    cause: 'The program loads a UFF or Caffe model: TensorRT 8.6 is the last version with parsers for them.',
    advice:
      'Export the network to ONNX (tf2onnx for TensorFlow) and build that; if it is TensorRT 8.6 or older, look whether the file exists.',
    sure: 'likely',
    after: ['engine-other-version', 'engine-other-device', 'engine-invalid', 'out-of-memory', 'model-missing'],
    source: 'TensorRT 9.0 release notes; dusty-nv/jetson-inference#297, #680',
  },
  {
    id: 'graph-cycle',
    code: 'model-unreadable',
    pattern: /Failed to sort (?:the )?model topologically|Graph contains a cycle/,
    cause:
      'The nodes of the model cannot be put in order: two of them write tensors of the same name, or they read each other in a cycle.',
    advice: `${CHECK} Rename one of two outputs that share their name, and what reads it.`,
    sure: 'likely',
    source: 'onnx-tensorrt ModelImporter.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'model-is-text',
    code: 'model-unreadable',
    pattern: /this is a text file: TensorRT found no outputs in it/,
    cause: 'The file is a text, not an ONNX model.',
    advice:
      'Look into it: a web page of a failed download, the pointer of Git LFS (`git lfs pull`) or a configuration. Download or export the model again.',
    source: 'build_engine.py with TensorRT-RTX 1.7.1, which takes a text for a model',
  },
  {
    id: 'model-over-2gb',
    code: 'model-unreadable',
    pattern:
      /exceeded maximum protobuf size of 2GB|protobuf.{0,40}(?:2 ?GB|2147483647|too (?:big|large))|A protocol message was rejected because it was too big/i,
    cause: 'The model is larger than 2 GB, which one protobuf file cannot hold.',
    advice:
      'Save it with external data (`onnx.save(…, save_as_external_data=True)`) and parse it from its file, not from memory.',
    source: 'protobuf; NVIDIA/TensorRT issues on large models',
  },
  {
    id: 'polygraphy-parse',
    code: 'model-unreadable',
    pattern: /Failed to parse ONNX model\. Does the model file exist/,
    cause: "TensorRT's parser did not accept the model that Polygraphy gave it.",
    advice:
      'The reason is in the errors of the parser above this line. If there are none, look whether the file exists and is complete.',
    after: EVERY_CAUSE,
    source: 'Polygraphy, backend/trt/loader.py; lllyasviel/stable-diffusion-webui-forge#879',
  },
  {
    id: 'model-damaged',
    code: 'model-unreadable',
    pattern:
      /MODEL_DESERIALIZE_FAILED|Failed to parse (?:the )?ONNX model\b(?! from file| by TensorRT|\. Does the model file exist)|not an ONNX model|Error parsing (?:message|text-format \S*ModelProto)|[Ww]rong wire type|[Pp]rotobuf parsing failed/,
    cause: 'The file is not a complete ONNX model: it is truncated or damaged.',
    advice:
      'Export it again, or compare its size with the original. A Git LFS pointer is a text of three lines; a PyTorch file (.pt, .pth) is not an ONNX model.',
    source: 'captures of TensorRT 8.6 to RTX 1.7.1',
  },
  {
    id: 'ir-version',
    code: 'model-unreadable',
    pattern: /Unsupported model IR version:? (?<ir>\d+)(?:, max supported IR version:? (?<max>\d+))?/,
    cause: 'The ONNX file has IR version {ir}[[; this program reads up to {max}]].',
    advice: 'Save the model with a lower IR version (`model.ir_version = 8`), or update the program.',
    source: 'ONNX Runtime model.cc',
  },
  {
    id: 'opset-unsupported',
    code: 'model-invalid',
    pattern:
      /ONNX Runtime only \*guarantees\* support for models stamped with official released onnx opset versions[^\n]*?Opset (?<opset>\d+)/,
    cause: 'The model uses opset {opset}, which this ONNX Runtime does not know.',
    advice: 'Export with a lower opset, or update ONNX Runtime.',
    source: 'ONNX Runtime model.cc',
  },
  {
    id: 'loop-api',
    code: 'control-flow',
    pattern: /Loop API is not supported on this configuration/,
    cause:
      'The model has a loop (Loop, Scan, LSTM, GRU or RNN), and this TensorRT runs none here: it is linked statically, does not find the compiler libraries that it needs for them, or the network has an implicit batch.',
    advice:
      'Use the shared libraries of TensorRT, and check with ldd that libmyelin (up to version 8) and libnvrtc of the right CUDA are found. Create the network with explicit batch. Otherwise use a later TensorRT.',
    sure: 'possible',
    source: 'NVIDIA/TensorRT#1060, #1737',
  },
  {
    id: 'loop-operation',
    code: 'control-flow',
    pattern: /(?<!\.\.\. )operation not supported within a loop body/,
    named: (m, text) => ({ values: { what: /([^\s(]+) $/.exec(text.slice(0, m.index))?.[1] } }),
    cause:
      'A loop of the model (Loop, Scan, LSTM, GRU) holds an operation that this TensorRT cannot compute there[[: {what}]].',
    advice:
      'Use a later TensorRT, whose loops take more. Otherwise move what does not change out of the loop, fold constants, or export it unrolled with a fixed length.',
    source: 'NVIDIA/TensorRT#1081',
  },
  {
    id: 'weights-unused',
    code: 'unsupported-form',
    pattern: /The given weights is not used in the network/,
    cause:
      'The parser gives a name to weights of this node[[ ({op})]] that the network does not keep: they are computed or changed while it is imported.',
    advice:
      'Use TensorRT 8.2 or later, which accepts that. Otherwise fold constants, so that the weights are initializers, and avoid the attribute that changes them (output_padding of ConvTranspose).',
    sure: 'likely',
    source: 'TensorRT 8.0 network.cpp (setWeightsName); NVIDIA/TensorRT#1654',
  },
  {
    id: 'loop-condition',
    code: 'control-flow',
    pattern: /Node input was not registered|Trying to access (?:weights or )?a null tensor/,
    at: /^Loop$/,
    cause: 'This node is a Loop without a condition, which ONNX allows and the parser does not.',
    advice: 'Give the Loop a condition that is constant true (an initializer of type BOOL).',
    repair: 'loop-condition',
    source: 'built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'initializers-not-inputs',
    code: 'model-unreadable',
    pattern:
      /In function importModel:[^]*tensors\.count\(input_name\)|\[5\] Assertion failed: tensors\.count\(input_name\)|\(importModel\): INVALID_GRAPH: Assertion failed: tensors\.count\(input_name\)/,
    cause:
      'This node reads a tensor that the parser does not know. Parsers of TensorRT 6 and older know weights only where they are inputs of the graph, too, which exporters no longer write (ONNX IR 4 and later).',
    advice:
      'Use TensorRT 7 or later, or export with keep_initializers_as_inputs=True. If the version is newer, check the model with `python -m onnx.checker`.',
    sure: 'likely',
    source: 'onnx-tensorrt ModelImporter.cpp; onnx/onnx-tensorrt#199, #741, tensorlayer/HyperPose#274',
  },
  {
    id: 'weights-not-converted',
    code: 'weights-missing',
    pattern: /Assertion failed: convert_?[oO]nnx_?[wW]eights\(initializer, &weights/,
    cause:
      'The parser cannot read an initializer of the model: of a type that this version does not have, or with values in a file that is missing.',
    advice:
      'Keep files of external weights next to the model. Otherwise use a later TensorRT, or export the weights as FLOAT, FP16, INT32 or INT64, and without values beyond their range.',
    after: ['unsupported-type', 'weights-missing'],
    sure: 'likely',
    source: 'onnx-tensorrt ModelImporter.cpp; seanavery/yolov5-tensorrt#8, TrojanXu/yolov5-tensorrt#33',
  },
  {
    id: 'output-is-constant',
    code: 'model-invalid',
    pattern: /Assertion failed: \S*tensors(?:\(\))?\.at\(output\.name\(\)\)\.is_tensor\(\)/,
    cause: 'An output of the model is a constant, which this parser does not take.',
    advice:
      'Remove that output, or fold the model first, so that it no longer depends on nothing but constants; TensorRT 7.2 and later accept it.',
    sure: 'likely',
    source: 'onnx-tensorrt ModelImporter.cpp; onnx/onnx-tensorrt#425',
  },
  {
    id: 'resize-without-roi',
    code: 'unsupported-form',
    pattern: /tensors(?:\(\))?\.count\(input_?[nN]ame\)/,
    at: /^(?:Resize|Upsample)$/,
    cause: 'This node ({op}) leaves out an input (roi), which the parser of TensorRT 7.0 does not allow.',
    advice:
      'Use TensorRT 7.1 or later and export with opset 11 or later, or fold constants (onnxsim), so that it has sizes or scales only.',
    sure: 'likely',
    source: 'onnx/onnx-tensorrt#414',
  },
  {
    id: 'input-left-empty',
    code: 'unsupported-form',
    pattern: /tensors(?:\(\))?\.count\(input_?[nN]ame\)/,
    when: ({ version }) => version !== null && versionNumber(version) === versionNumber('7.0'),
    cause:
      'TensorRT 7.0 does not find a tensor that this node reads: its parser does not know inputs that are left empty, as Resize has them from opset 11 on.',
    advice:
      'Use TensorRT 7.1 or later; on 7.0 build the parser of a later onnx-tensorrt for it. Otherwise simplify the model (onnxsim) or export with opset 10. If no node has an empty input, the model was cut badly: `python -m onnx.checker`.',
    sure: 'likely',
    source: 'onnx/onnx-tensorrt#414, #428; NVIDIA/TensorRT#284, #425',
  },
  {
    id: 'input-not-registered',
    code: 'model-unreadable',
    pattern: /Node input was not registered|tensors(?:\(\))?\.count\(input_?[nN]ame\)|toposort/,
    cause:
      'TensorRT does not find a tensor that this node reads: no node gives it (the model was cut badly), or the tensor is a sparse initializer.',
    advice:
      'Export it again with dense initializers, or check it with `python -m onnx.checker`. TensorRT 7.0 and older fail so at an optional input that is left empty (Resize of opset 11): use 7.1 or later.',
    repair: 'dense-initializers',
    sure: 'likely',
    source: 'onnx-tensorrt ModelImporter.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'output-not-registered',
    code: 'model-invalid',
    pattern: /output tensor was not registered|Trying to access (?:weights or )?a null tensor/,
    cause: 'The model declares an output that no node gives, or one without a name.',
    advice: 'Remove that output from the model, or name the tensor that was meant.',
    repair: 'name-outputs',
    source: 'onnx-tensorrt ModelImporter.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'no-outputs',
    code: 'model-invalid',
    pattern: /Network must have at least one output/,
    cause: 'The network has no output: the file is empty or no ONNX model, or its parser failed before.',
    advice:
      'Look at the first error of the parser; a script has to print them itself (`parser.get_error(i)`), and the result of parse(). Up to TensorRT 9 the network of an ONNX model needs the flag EXPLICIT_BATCH (`builder.create_network(1)`). If there is no error, check the file: empty files and text parse as a network without layers.',
    after: [
      'unsupported-op',
      'unsupported-form',
      'unsupported-type',
      'plugin-missing',
      'model-unreadable',
      'model-invalid',
      'model-missing',
      'weights-missing',
      'control-flow',
      'shape-mismatch',
      'type-mismatch',
      'quantization',
      'internal',
    ],
    source: 'TensorRT network.cpp; built with TensorRT-RTX 1.7.1; NVIDIA/TensorRT#1731, NVIDIA-AI-IOT/torch2trt#555',
  },
  {
    id: 'repeated-name',
    code: 'model-invalid',
    pattern: /Repeated (?<kind>\w+) name: (?<name>\S+) \(/,
    severity: 'error',
    cause: 'Two {kind}s of the network have the name {name}.',
    advice:
      'Give each a name of its own: in a program where it names them, in an ONNX model the nodes or outputs (onnx-graphsurgeon). Parsers of TensorRT 7 give all layers that they make of one node (such as Split) its name: use TensorRT 8 or later (on a Jetson a later JetPack), or export with another opset.',
    repair: 'unique-names',
    source: 'TensorRT 5 to 7, Network.cpp; marcoslucianops/DeepStream-Yolo#397',
  },
  {
    id: 'name-too-long',
    code: 'name-too-long',
    pattern:
      /given name exceeds the limit \((?<limit>\d+) characters\)|condition: .{0,200}(?:strlen|length).{0,100}(?:<=? ?4096|kMAX_NAME_LENGTH)/,
    cause: 'A name in the model is longer than TensorRT allows[[ ({limit} characters)]].',
    advice: 'Shorten the names of nodes and tensors; a cut or a converter that chains scopes makes such names.',
    repair: 'shorten-names',
    source: 'TensorRT apiCheck.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'input-not-added',
    code: 'model-invalid',
    pattern: /Failed to add input to the network/,
    cause: 'TensorRT does not take an input of the model.',
    advice: 'The message before says why: its name, its type or its dimensions.',
    after: ['name-too-long', 'model-invalid'],
    source: 'onnx-tensorrt ModelImporter.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'too-many-dimensions',
    code: 'unsupported-form',
    pattern: /ERROR: (?<input>.{1,300}?):\d+ In function importInput:\s{0,20}[^\n]*Failed to convert ONNX dimensions/,
    cause: 'Input {input} has more dimensions than TensorRT allows (8).',
    advice: 'Reshape it to at most 8 dimensions outside the engine.',
    source: 'onnx-tensorrt ModelImporter.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'too-many-dimensions-any',
    code: 'unsupported-form',
    pattern: /Failed to convert ONNX dimensions/,
    cause: 'A tensor has more dimensions than TensorRT allows (8).',
    advice: 'Reshape it to at most 8 dimensions outside the engine.',
    source: 'onnx-tensorrt ModelImporter.cpp',
  },
  {
    id: 'dimensions-not-converted',
    code: 'unsupported-form',
    pattern: /Assertion failed: convert_?[oO]nnx_?[dD]ims\(/,
    named: (_, text) => ({ values: { input: /([^\s:]+):\d+ In function importInput/.exec(text)?.[1] } }),
    cause: 'The parser of this TensorRT cannot read the dimensions of input[[ {input}]] of the model: one has no size.',
    advice:
      'Use TensorRT 7 or later with explicit batch, or export with fixed sizes for all inputs (no dynamic axes, a batch of 1). Where the model is one of classical machine learning (trees, scalers), run it with ONNX Runtime.',
    sure: 'likely',
    source: 'onnx-tensorrt ModelImporter.cpp before 7.2; onnx/onnx-tensorrt#486',
  },
  {
    id: 'too-many-dimensions-inside',
    code: 'unsupported-form',
    pattern: /Number of dimensions \((?<have>\d+)\) is not in the valid range/,
    cause: 'This node makes a tensor of {have} dimensions; TensorRT allows 8.',
    advice:
      'Use fewer in the model: merge neighbors that stay neighbors, drop dimensions of size 1, and write a permutation of many dimensions as several of few (a Reshape, Transpose and Reshape for each).',
    source: 'TensorRT network.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'function-inputs-rtx',
    code: 'model-invalid',
    pattern: /node\.input\(\)\.size\(\) == function\.input\(\)\.size\(\)/,
    cause: 'This node calls a function of the model with another number of inputs than its definition has.',
    advice:
      'Pass all inputs of the function, or inline the functions (`onnx.inliner.inline_local_functions`): then an optional input may be left out.',
    source: 'onnx-tensorrt onnxOpCheckers.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'function-inputs',
    code: 'model-invalid',
    pattern:
      /LocalFunction has an unexpected number of inputs! Number of node inputs = (?<have>\d+), number of function inputs = (?<want>\d+)/,
    cause: 'This node calls a function of the model with {have} inputs where its definition has {want}.',
    advice: 'Inline the functions (`onnx.inliner.inline_local_functions`).',
    source: 'onnx-tensorrt onnxOpImporters.cpp (TensorRT 10.1 and later)',
  },
  {
    id: 'function-scope',
    code: 'model-invalid',
    pattern: outerInput,
    severity: 'warning',
    cause:
      "TensorRT's parser takes input {tensor} of a function that another function calls from outside: the engine may compute something else than the model.",
    advice: 'Inline the functions (`onnx.inliner.inline_local_functions`) and compare the outputs with ONNX Runtime.',
    source: 'built with TensorRT 10.6: the first of two nested calls was lost',
  },
  {
    id: 'if-output-counts',
    code: 'control-flow',
    pattern: /then\/else subgraphs should have the same number of outputs/,
    cause: 'The branches of this node (If) have different numbers of outputs: the model is invalid.',
    advice: 'Give both branches the same outputs, or keep only the branch that the model takes.',
    repair: 'known-branch',
    source: 'onnx-tensorrt onnxOpCheckers.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'if-ranks',
    code: 'control-flow',
    pattern:
      /IConditionalOutputLayer (?<layer>\S+?): Must have inputs with equal ranks when condition is not a build-time constant\. Dimensions are (?<a>\[[\d,-]*\]) and (?<b>\[[\d,-]*\])/,
    cause:
      'The branches of this node (If) give tensors of different rank, {a} and {b}, and its condition is not a constant.',
    advice:
      'Replace the If by the branch that is taken (fixed input shapes and `onnxsim` or constant folding do that where shapes decide), or reshape in one branch. The usual source is a `squeeze` of a dimension of unknown size: give it a known size when exporting.',
    repair: 'known-branch',
    source: 'TensorRT conditionalOutputNode.cpp (10.11 and later); built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'if-shapes',
    code: 'control-flow',
    pattern:
      /(?<!\S)(?<layer>\S+?)(?:_OutputLayer(?:_\d+)?)?: (?:IIfConditionalOutputLayer inputs must have the same shape\.?(?: Shapes are (?<a>\[[\d,-]*\]) and (?<b>\[[\d,-]*\]))?|dimensions not compatible for if-conditional outputs)/,
    cause: 'The branches of this node (If) give tensors of different shape or rank[[: {a} and {b}]].',
    advice:
      'Where an export merged two models into one, such as decoder_model_merged.onnx of Optimum, build each of them (decoder_model.onnx and decoder_with_past_model.onnx). Otherwise replace the If by the branch that is taken: fixed input shapes and `onnxsim` (or `polygraphy surgeon sanitize --fold-constants`) do that where shapes decide. The usual source is a `squeeze` of a dimension of unknown size: give it a known size (`squeeze(dim)` with a static shape) when exporting. TensorRT 10.11 and later accept different shapes of equal rank.',
    repair: 'known-branch',
    source: 'TensorRT 8.4 to 10.10; NVIDIA/TensorRT#1731, #2846, #4032, #4603',
  },
  {
    id: 'if-types',
    code: 'control-flow',
    pattern:
      /(?<![^\s(])(?<layer>[^\s(]\S*?)_OutputLayer: (?:IConditionalOutputLayer must have inputs of same type\. First input is of type (?<a>\w+) but second input is of type (?<b>\w+)|Input types should be equivalent)/,
    cause: 'The branches of this node (If) give different types[[: {a} and {b}]].',
    advice: 'Insert a Cast into one branch.',
    source: 'TensorRT conditionalOutputNode.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'if-condition-constant',
    code: 'control-flow',
    pattern: /If condition must be a(?:n)? initializer/,
    cause: 'The condition of this node (If) is computed, which this version of the parser does not support.',
    advice:
      'Fold constants so that the branch is decided (`polygraphy surgeon sanitize --fold-constants`, onnxsim with fixed shapes), or use TensorRT 8.2 or later.',
    repair: 'known-branch',
    source: 'onnx-tensorrt 7.x builtin_op_importers.cpp; dusty-nv/jetson-inference#799',
  },
  {
    id: 'loop-trip-limit',
    code: 'control-flow',
    pattern: /cannot infer the shape of scan output (?<tensor>\S+) since no trip limit was set/,
    cause:
      'This node (Loop) stacks the values of a tensor without a limit for its iterations, so TensorRT does not know how many there are.',
    advice:
      'Export with a known number of iterations, so that the Loop gets its first input M: a constant, or a number computed from shapes (fixed sizes of the inputs make it constant). A loop over rows is often one operation on the whole tensor.',
    source: 'onnx-tensorrt onnxOpImporters.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'nested-conditionals',
    code: 'control-flow',
    pattern: /Assertion tScope\.getType\(\) != ScopeType::kUNDEFINED failed/,
    cause: 'TensorRT cannot build conditionals of the model: an If inside the branches of another one.',
    advice:
      'Keep the branches that your program takes. If an input decides them, such as the sampling rate of a speech model, repair the model with its value in the place of its shape (sr:16000), which writes it into the model. Conditions that depend on shapes fold with fixed input shapes.',
    repair: 'known-branch',
    sure: 'likely',
    source: 'TensorRT graphScope.cpp; Silero VAD 6 on TensorRT-RTX 1.7.1',
  },
  {
    id: 'loop-scan-length',
    code: 'control-flow',
    pattern:
      /makeScopeNodesContiguous|[Ll]oop.{0,80}(?:trip ?count|scan output).{0,60}(?:must|not supported|unsupported)/,
    cause: 'TensorRT cannot build a loop of the model.',
    advice: 'Unroll the loop, or give it a constant trip count, when exporting.',
    sure: 'likely',
    source: 'TensorRT graphScope.cpp; ONNX test loop11 on TensorRT-RTX 1.7.1',
  },
  {
    id: 'squeeze-without-axes',
    code: 'unsupported-form',
    pattern:
      /(?:\bI\w+Layer (?<layer>\S+?): (?:(?<!\S)\S+?: )?)?ISqueezeLayer without an axes input requires|[Ss]queeze (?:without|with no) axes|axes(?: input| attribute)? (?:is|are) (?:missing|required).{0,40}[Ss]queeze/,
    cause: 'This node is a Squeeze without axes: which dimensions go would decide the rank at run time.',
    advice: 'Give the Squeeze its axes (those that are 1), or fix the input shapes before exporting.',
    repair: 'squeeze-axes',
    source: 'built with TensorRT-RTX 1.7.1; NVIDIA/TensorRT#3420, #3515',
  },
  {
    id: 'squeeze-axes-computed',
    code: 'unsupported-form',
    pattern: /(?<kind>un)?squeeze axis is not a constant|Cannot infer squeeze dimensions from a dynamic shape/,
    cause: 'The axes of a Squeeze or Unsqueeze are not known when the engine is built.',
    advice: FOLD,
    repair: 'squeeze-axes',
    source: 'TensorRT shapeContext.cpp; onnx-tensorrt 7 and 8 builtin_op_importers.cpp',
  },
  {
    id: 'slice-axes',
    code: 'model-invalid',
    pattern:
      /shape of input starts misaligns with the shape of input axes\. Shape of input starts = (?<a>\d+), shape of input axes = (?<b>\d+)/,
    cause: 'This node (Slice) has {a} starts and {b} axes: the parser reads them one by one.',
    advice: 'Give starts, ends, axes and steps the same length.',
    repair: 'slice-axes',
    source: 'onnx-tensorrt onnxOpImporters.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'duplicate-tensors',
    code: 'model-invalid',
    pattern: /ONNX graph has duplicate tensor name: (?<tensor>.+)/,
    cause: 'Two tensors of the model have the name {tensor}: inputs, initializers or outputs of nodes.',
    advice: 'Rename one of them and what reads it, or remove the one that is not needed.',
    source: 'onnx-tensorrt ModelImporter.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'duplicate-names',
    once: true,
    code: 'model-invalid',
    pattern: /A node named (?<name>\S+) already exists/,
    severity: 'warning',
    cause: 'Several nodes share a name ({name} is one), so TensorRT renames layers, and rules by name miss them.',
    advice: 'Give the nodes unique names.',
    repair: 'unique-names',
    source: 'onnx-tensorrt ImporterContext.hpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'opset-old',
    code: 'model-invalid',
    pattern: /supports ONNX graphs generated with at least opset (?<opset>\d+)/,
    severity: 'warning',
    cause: 'The model has an opset older than {opset}, which TensorRT does not promise to read correctly.',
    advice: 'Convert it: `onnx.version_converter.convert_version(model, 13)`.',
    source: 'onnx-tensorrt ModelImporter.cpp; built with TensorRT-RTX 1.7.1',
  },
  {
    id: 'symbolic-shape-infer',
    code: 'model-invalid',
    pattern: /File "[^"\n]*symbolic_shape_infer\.py", line|Stopping at incomplete shape inference at/,
    severity: 'error',
    once: true,
    cause: 'The script that infers shapes (symbolic_shape_infer.py) does not manage this model.',
    advice:
      'Fix the input shapes and fold constants first (`python -m onnxruntime.tools.make_dynamic_shape_fixed`, onnxsim, `polygraphy surgeon sanitize --fold-constants`), then run the script of the ONNX Runtime that is installed with --auto_merge --guess_output_rank. Newer releases of the TensorRT provider do not need it where all shapes are known.',
    sure: 'likely',
    source: 'microsoft/onnxruntime#3293, #12127, #18183, #21120, #22662',
  },
  {
    id: 'shape-inference-missing',
    code: 'model-invalid',
    pattern: /TensorRT input: ?(?<tensor>\S+) has no shape specified/,
    cause: 'Tensor {tensor} has no shape in the model, and the TensorRT provider of ONNX Runtime needs one.',
    advice:
      'Run shape inference first: `python -m onnxruntime.tools.symbolic_shape_infer --input model.onnx --output model.inferred.onnx --auto_merge`.',
    source: 'ONNX Runtime tensorrt_execution_provider.cc; microsoft/onnxruntime#10443, #12781',
  },
  {
    id: 'broadcast-of-ranks',
    code: 'unsupported-form',
    pattern:
      /In function combineTensorsElementwise:\s*\[8\] Assertion failed: tensor->getDimensions\(\)\.nbDims == combined->getDimensions\(\)\.nbDims/,
    cause: 'The inputs of this node have different ranks, which this TensorRT (5.0) does not broadcast.',
    advice:
      'Use a later TensorRT (on a Jetson a later JetPack): 5.1 took some, 7 and later take all such nodes. Otherwise reshape the smaller input to the rank of the other when exporting.',
    after: ['unsupported-op', 'shape-mismatch', 'type-mismatch'],
    sure: 'likely',
    source:
      'onnx-tensorrt 5.0 builtin_op_importers.cpp; YonghaoHe/LFFD-A-Light-and-Fast-Face-Detector-for-Edge-Devices#9',
  },
  {
    id: 'output-rank',
    code: 'shape-mismatch',
    pattern:
      /number of dimensions should remain the same adding inputs: ?(?<a>-?\d+) != (?<b>-?\d+)|rank of operands should be the same adding inputs|nbDims == combined->getDimensions\(\)\.nbDims/,
    cause:
      'The inputs of this node have different ranks[[ ({a} and {b})]], or the shape of one is not known after an earlier error.',
    advice: 'Look at the first error of the log; otherwise give the input a shape, or run shape inference.',
    after: ['unsupported-op', 'shape-mismatch', 'type-mismatch'],
    named: (_, text) => ({ layer: layerBefore(text, 'number of dimensions') }),
    sure: 'likely',
    source: 'onnx-tensorrt importerUtils.cpp; built with TensorRT-RTX 1.7.1',
  },
];

const ONNX_TYPES = [
  'undefined',
  'FP32',
  'UINT8',
  'INT8',
  'UINT16',
  'INT16',
  'INT32',
  'INT64',
  'a string',
  'BOOL',
  'FP16',
  'FP64',
  'UINT32',
  'UINT64',
  'COMPLEX64',
  'COMPLEX128',
  'BF16',
  'FP8 (E4M3FN)',
  'FP8 (E4M3FNUZ)',
  'FP8 (E5M2)',
  'FP8 (E5M2FNUZ)',
  'UINT4',
  'INT4',
  'FP4',
];

/** Name of an element type of ONNX. */
export const onnxType = (type: number): string => ONNX_TYPES[type] ?? `type ${type}`;
