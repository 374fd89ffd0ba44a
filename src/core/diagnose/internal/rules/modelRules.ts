import { outerInput } from '../../../formats/tensorrt/buildOutput.ts';
import { type DiagnosisRule } from '../rule.ts';
import { layerBefore } from '../causeText.ts';

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

/** The model as a file and as a graph: weights, damage, names, inputs and outputs. */
export const MODEL_RULES: readonly DiagnosisRule[] = [
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
    id: 'name-too-long',
    code: 'name-too-long',
    pattern:
      /given name exceeds the limit \((?<limit>\d+) characters\)|condition: .*(?:strlen|length).*(?:<=? ?4096|kMAX_NAME_LENGTH)/,
    cause: 'A name in the model is longer than TensorRT allows[[ ({limit} characters)]].',
    advice: 'Shorten the names of nodes and tensors; a cut or a converter that chains scopes makes such names.',
    repair: 'shorten-names',
    source: 'TensorRT apiCheck.cpp; built with TensorRT-RTX 1.7.1',
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
