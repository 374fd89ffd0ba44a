import type { DiagnosisCode } from './diagnosis.ts';

/** What a rule makes of one message of the log. */
export interface Finding {
  message: string;
  advice: string;
  /** Overrides the severity of the log's line. */
  severity?: 'error' | 'warning';
  /** Operator, input or file that the text names. */
  op?: string;
  input?: string;
  layer?: string;
  /** Nodes that the text lists. */
  names?: string[];
}

interface Rule {
  code: DiagnosisCode;
  /** Tried in order; the first that matches wins. */
  pattern: RegExp;
  /** In words; `m` is the match, texts as TensorRT wrote them. */
  say(m: RegExpMatchArray, text: string): Finding;
}

/** What to do when tactics do not fit into the workspace. */
export const WORKSPACE_ADVICE =
  'Raise the workspace (`--memPoolSize=workspace:<MiB>`, before TensorRT 8.4 `--workspace=<MiB>`) or leave it unlimited.';
const FOREIGN =
  'Give it more workspace, mark no outputs inside it, build without precision constraints on its nodes, or split the model there; a newer TensorRT often has the missing implementation.';

/**
 * From real messages of TensorRT 7 to 11, TensorRT-RTX and Polygraphy. More particular texts stand before more general ones.
 * A word before a text is looked for from its beginning on only (`\b`, `(?<!\S)`): from each of its characters would take
 * seconds where a line is one long word.
 */
export const RULES: Rule[] = [
  {
    code: 'replay-mismatch',
    pattern: /Layer: (.+?) \| Tactic in replay was not provided by TensorRT/,
    say: (m) => ({
      layer: m[1]!,
      message: `The replay asks for a tactic of ${m[1]} that TensorRT did not offer.`,
      advice:
        'Types, strides, vectorised dimension, implementation and tactic must together be one of the choices listed after "Provided choices were"; changing only a data type is never enough. `trtlens replay check` offers them.',
    }),
  },
  {
    code: 'replay-mismatch',
    pattern: /Layer: (.+?) (?:was not found in the tactic replay|\| TensorRT selected a tactic different)/,
    say: (m) => ({
      layer: m[1]!,
      message: `The replay does not fit layer ${m[1]}: the network or the builder's options differ from those of the recording.`,
      advice: 'Record the replay again with this model and these options.',
    }),
  },
  {
    code: 'weights-missing',
    pattern: /Failed to open file: (.+?)(?:$|\n|;)/,
    say: (m) => ({
      message: `The weights file ${m[1]} is missing.`,
      advice: 'External weights must lie beside the .onnx file, under the name that the model gives.',
    }),
  },
  {
    code: 'weights-missing',
    pattern: /Failed to import initiali?zer:? ?(\S*)/,
    say: (m) => ({
      message: `An initializer cannot be loaded${m[1] ? `: ${m[1]}` : ''}; its weights file is missing or too short.`,
      advice: 'Put the external weights beside the .onnx file.',
    }),
  },
  {
    code: 'model-missing',
    pattern:
      /Could not open file (.+?\.onnx)\b|[Nn]o such file: (.+?\.onnx)|(?:Could not find (?:file|path): |FileNotFoundError: .{0,300}'(?=[^'\n]+\.onnx))(.+?\.onnx)/,
    say: (m) => ({
      message: `The model ${m[1] ?? m[2] ?? m[3]} does not exist or cannot be read.`,
      advice: 'Check the path; it is relative to the folder that the build runs in.',
    }),
  },
  {
    code: 'engine-invalid',
    pattern: /FileNotFoundError: .{0,300}'([^'\n]+\.(?:plan|engine|trt))'/,
    say: (m) => ({
      message: `The engine file ${m[1]} does not exist.`,
      advice: 'A build that failed leaves no engine: look at what it says.',
    }),
  },
  {
    code: 'model-unreadable',
    pattern:
      /MODEL_DESERIALIZE_FAILED|Failed to parse the ONNX model|not an ONNX model|Failed to sort (?:the )?model topologically|Graph contains a cycle/,
    say: (m) => ({
      message: /topolog|cycle/.test(m[0])
        ? 'The graph of the model has a cycle.'
        : 'The file is not a complete ONNX model: it is truncated or damaged.',
      advice: 'Export it again, or compare its size with the original; `trtlens inspect` says where reading stops.',
    }),
  },
  {
    code: 'model-unreadable',
    pattern: /Node input was not registered|toposort/,
    say: () => ({
      message: 'A node reads a tensor that nothing in the file makes: the model is truncated or was cut badly.',
      advice: 'Export it again, or check it with `python -m onnx.checker`.',
    }),
  },
  {
    code: 'plugin-missing',
    pattern:
      /\b(\w+) plugin was not found in the plugin registry|could not find plugin:? (\w+_TRT)\b|Cannot find plugin: (\w+_TRT)\b/,
    say: (m) => ({
      message: `The plugin ${m[1] ?? m[2] ?? m[3]} is not registered.`,
      advice:
        "Load TensorRT's plugin library (libnvinfer_plugin) or your own with --staticPlugins / --dynamicPlugins; a newer TensorRT may do the operator natively.",
    }),
  },
  {
    code: 'unsupported-op',
    pattern:
      /(?:could not find|Cannot find) plugin:? (\w+)|Plugin not found, are the plugin name|No importer registered for op: (\w+)|UNSUPPORTED_NODE/,
    say: (m, text) => ({
      op: m[1] ?? m[2] ?? parsedOp(text),
      message: `TensorRT has no importer for the operator ${m[1] ?? m[2] ?? parsedOp(text)}, and no plugin of that name is registered.`,
      advice:
        'Replace the node by supported operators, or write a plugin of the same name and load it with --staticPlugins / --dynamicPlugins.',
    }),
  },
  {
    code: 'unsupported-op',
    pattern: /In function check(\w+):\s*\n?\s*\[8\]/,
    say: (m) => ({
      op: m[1]!,
      message: `TensorRT does not support the operator ${m[1]}.`,
      advice: 'Replace the node by supported operators, or write a plugin of the same name.',
    }),
  },
  {
    code: 'unsupported-op',
    pattern: /Failed to convert ONNX dat[ea] type|Unsupported ONNX data type: (\w+)/,
    say: (m) => ({
      message: `The model has tensors of a type that TensorRT does not know${m[1] ? `: ${m[1]}` : ''}.`,
      advice: 'Texts and other such types have to stay outside: cut the model behind the nodes that read them.',
    }),
  },
  {
    code: 'workspace-too-small',
    pattern: /(?:implementation for node (.+?) )?due to insufficient workspace/,
    say: (m) => ({
      ...(m[1] ? { layer: m[1] } : {}),
      message: `No tactic${m[1] ? ` of ${m[1]}` : ''} fits into the workspace.`,
      advice: WORKSPACE_ADVICE,
    }),
  },
  {
    code: 'workspace-too-small',
    pattern: /insuff?icient memory on requested size of (\d+)|do not have sufficient workspace memory/,
    say: (m) => ({
      severity: 'warning',
      message: `Tactics were skipped because the workspace is too small${m[1] ? ` (${m[1]} bytes asked for)` : ''}.`,
      advice: WORKSPACE_ADVICE,
    }),
  },
  {
    code: 'out-of-memory',
    pattern:
      /out of memory|OutOfMemory|OUT_OF_MEMORY|cudaErrorMemoryAllocation|memory .*could not be allocated|bad_alloc/i,
    say: () => ({
      message: 'Memory ran out during the build.',
      advice:
        'Close other programs on the GPU, lower the workspace or the largest shape of the optimization profile, or build on a machine with more memory.',
    }),
  },
  {
    code: 'no-implementation',
    pattern: /Could not find any implementation for node (.+?)\.?\)?\.?\s*(?:$|\n)/,
    say: (m, text) => ({
      layer: m[1]!,
      message: `TensorRT found no implementation for ${m[1]}${reasonIn(text)}.`,
      advice: m[1]!.includes('ForeignNode')
        ? FOREIGN
        : 'Allow another precision for it, give it more workspace, or replace the operator.',
    }),
  },
  {
    code: 'no-implementation',
    pattern: /Cannot compile operation '(.+?)'(?: for ([^:]+))?: ([^.\n]+)/,
    say: (m) => ({
      layer: m[1]!,
      message: `TensorRT has no kernel for ${m[1]}${m[2] ? ` on ${m[2]}` : ''}: ${m[3]}.`,
      advice: 'Build for another compute capability, or give the node a precision that this GPU can do.',
    }),
  },
  {
    code: 'no-implementation',
    pattern: /(?:layer |node |(?<!\S))(\S+?)?:? ?has no runners that implement it|[Nn]o tactics to implement operation/,
    say: (m) => ({
      ...(m[1] ? { layer: m[1] } : {}),
      message: `TensorRT can parse ${m[1] ?? 'this operation'} but has no kernel for it on this target.`,
      advice: 'Replace the operator, or build with the full TensorRT for the GPU at hand.',
    }),
  },
  {
    code: 'unknown-input',
    pattern: /Cannot find input tensor with name "(.+?)" in the network inputs|no input named '(.+?)'/,
    say: (m) => ({
      input: m[1] ?? m[2]!,
      message: `The model has no input named ${JSON.stringify(m[1] ?? m[2])}.`,
      advice: 'Use the names of the model.',
    }),
  },
  {
    code: 'profile-missing',
    pattern:
      /Dynamic dimensions required for input: (.+?), but no shapes were provided|no optimization profile has been defined/,
    say: (m) => ({
      ...(m[1] ? { input: m[1] } : {}),
      message: m[1]
        ? `Input ${m[1]} has dynamic dimensions and no shapes were given: the engine is built for one element along each.`
        : 'The network has dynamic inputs and no optimization profile.',
      advice: 'Give --minShapes, --optShapes and --maxShapes for every dynamic input.',
    }),
  },
  {
    code: 'profile-inconsistent',
    pattern:
      /MIN<=OPT<=MAX|condition: profile->isValid|Dimension mismatch for tensor (\S+) and profile|tensor (\S+) has \d+ dimensions but profile|is inconsistent with other shapes|IOptimizationProfile::|optimization profile is invalid|Static dimension mismatch/,
    say: (m, text) => ({
      ...(inputOf(m, text) !== undefined ? { input: inputOf(m, text)! } : {}),
      message: `An optimization profile does not fit${inputOf(m, text) !== undefined ? ` input ${inputOf(m, text)}` : ''}: ${plain(text)}`,
      advice:
        'For every dimension min ≤ opt ≤ max, the same rank as the input, and fixed dimensions as they are in the model.',
    }),
  },
  {
    code: 'unknown-flag',
    pattern: /Unknown option: (\S+)|unrecognized arguments: (.+)/,
    say: (m) => ({
      message: `This program does not know ${m[1] ?? m[2]}.`,
      advice: /disableMHA/.test(m[0])
        ? 'No version of trtexec has --disableMHA; nearest are --decomposableAttentions (10.14 and later) and build-route knobs (11.1 and later).'
        : 'Compare with --help: flags come and go with the version (precision flags are gone in TensorRT 11).',
    }),
  },
  {
    code: 'unknown-flag',
    pattern: /BuilderFlag' has no attribute '(\w+)'/,
    say: (m) => ({
      message: `This TensorRT has no builder flag ${m[1]}.`,
      advice:
        'Precision flags are gone in TensorRT 11 and TensorRT-RTX: put the types into the model (`trtlens precision apply`).',
    }),
  },
  {
    code: 'bad-flag-value',
    pattern: /\b(\w+) precision has been set for a layer or layer output, but \1 is not configured/,
    say: (m) => ({
      message: `A layer asks for ${m[1]}, which the build does not allow.`,
      advice: `Add --${m[1]}.`,
    }),
  },
  {
    code: 'bad-flag-value',
    pattern:
      /Invalid DataType (\S+)|argument (--?\S+): (?:invalid|expected)[^\n]*|Invalid value for (\S+)|--?\S+: expected [^\n]*|--[\w-]+: .* is (?:not one|none) of /,
    say: (m, text) => ({
      message: m[1] ? `${m[1]} is no data type that this version knows.` : plain(text),
      advice: 'Correct the value; a comma inside a layer name splits the list and gives this error, too.',
    }),
  },
  {
    code: 'engine-other-version',
    pattern:
      /expecting library version (\S+) got (?:\.\.)?([^\s,)]+)|Serialized Engine Version|[Vv]ersion tag does not match|kSERIALIZATION_VERSION|not compatible with this version of TensorRT/,
    say: (m) => ({
      message: `The engine was built by another version of TensorRT${m[1] ? ` (${m[2]}; this is ${m[1]})` : ''}.`,
      advice: 'Build it again with this version, or build version-compatible engines (--versionCompatible).',
    }),
  },
  {
    code: 'engine-other-device',
    pattern:
      /incompatible device|different models of devices|Target GPU SM \S+ is not supported|Platform \S.* does not match|compute capability .*(?:mismatch|does not match|not compatible)/i,
    say: () => ({
      message: 'The engine was built for another GPU.',
      advice: 'Build it on this GPU, or with --hardwareCompatibilityLevel.',
    }),
  },
  {
    code: 'engine-invalid',
    pattern: /magicTag|Not a valid plan stream|Serialization assertion|Error opening engine file: (.+)/,
    say: (m) => ({
      message: m[1]
        ? `The engine file ${m[1]} cannot be opened.`
        : 'The file is not a TensorRT engine, or it is damaged.',
      advice: m[1]
        ? 'Check the path; a build that failed leaves no engine.'
        : 'Build the engine again; `trtlens inspect` says what the file is.',
    }),
  },
  {
    code: 'library-missing',
    pattern:
      /Unable to load library: (\S+?):? |(?<!\S)(\S+\.so[.\d]*): cannot open shared object file|Module: '(.+?)' is required but could not be imported|No module named '?([\w.]+)/,
    say: (m) => ({
      message: `${m[1] ?? m[2] ?? m[3] ?? m[4]} cannot be loaded.`,
      advice:
        m[3] || m[4]
          ? 'Install the Python package into the interpreter that runs the build.'
          : "Install it, or add its folder to the loader's path (LD_LIBRARY_PATH, PATH on Windows).",
    }),
  },
  {
    code: 'library-missing',
    pattern: /driver version is insufficient|CUDA initialization failure|libcuda\.so/,
    say: () => ({
      message: 'There is no usable CUDA driver or GPU here.',
      advice: 'Build where the GPU is, or with TensorRT-RTX, which builds without one.',
    }),
  },
  {
    code: 'calibration-missing',
    pattern:
      /[Cc]alibration failure|Calibrator is not being used|Missing scale and zero-point for tensor (\S+)|[Nn]o calibration (?:cache|table)|calibration cache .*(?:not found|does not exist)/,
    say: (m) => ({
      severity: 'warning',
      message: `INT8 has no scale${m[1] ? ` for tensor ${m[1].replace(/[,.]$/, '')}` : 's'}: no calibration cache or Q/DQ nodes cover it.`,
      advice:
        'Calibrate (up to TensorRT 10) or quantise the model with Q/DQ nodes; without scales such layers stay in higher precision.',
    }),
  },
  {
    code: 'precision-overflow',
    pattern:
      /[Ll]ayernorm nodes in FP16|FP16 may cause overflow|FP16 Reduce or Pow may cause overflow|had the following issues when converted to FP16|values? (?:overflow|out of range).*FP16/,
    say: (_, text) => ({
      severity: 'warning',
      names: /nodes in FP16: (.*)/.exec(text)?.[1]?.split(', ').filter(Boolean) ?? [],
      message: layerNorms(text),
      advice:
        'Keep normalisation and softmax nodes in FP32 (an override file: `op:LayerNormalization fp32`), or export with opset 17 or later.',
    }),
  },
];

/** What TensorRT leaves out on its way is no failure: others are tried, and where there are none, it says so. */
const SKIPPED: Rule = {
  code: 'internal',
  pattern: /Skipping tactic (\S+) due to exception ([^\n]*)/,
  say: (m) => ({
    severity: 'warning',
    message: `A tactic was left out: ${m[2]!.trim() || m[1]!}`,
    advice: 'Nothing has to be done as long as the build passes; a newer TensorRT may have mended it.',
  }),
};
RULES.push(SKIPPED);

/** Lines that only repeat that something failed, and noise that TensorRT prints without a driver. */
export const CONSEQUENCES =
  /^(?:\S+\.cpp:\d+: Failed to parse ONNX model from file|Failed to (?:create engine|parse onnx)|Engine (?:set up failed|could not be created|deserialization failed)|Building engine failed|Parsing model failed|Could not parse ONNX correctly|Network And Config setup failed|Inference set up failed|Got invalid engine|Invalid Engine|Could not deserialize|Required optimization profile is invalid|FAILED \||=+ CAPTURED)|catchCudaError|[Aa]lgorithm selection failed|selectAlgorithms returned|Assertion engine(?:Ptr)? != nullptr failed/;

/** Why tactics were skipped before TensorRT gave up. */
function reasonIn(text: string): string {
  const reason = /due to exception (?:\[[^\]]*\] )?([^\n]+?)\.?(?: In \w+ at \/\S+)?(?:\n|$)/.exec(text)?.[1];
  return reason && reason !== 'No Myelin Error exists' ? `: ${reason}` : '';
}

/** TensorRT lists every node, and empty names for those with a precision of their own. */
function layerNorms(text: string): string {
  const names = /nodes in FP16: (.*)/.exec(text)?.[1]?.split(', ').filter(Boolean);
  if (!names) return plain(text);
  return names.length === 0
    ? 'All normalisation nodes have a precision of their own.'
    : `${names.length} nodes of layer normalisations run in FP16, which may overflow.`;
}

/** The input that a text about profiles names. */
const inputOf = (m: RegExpMatchArray, text: string): string | undefined =>
  m.slice(1).find((group) => group !== undefined) ?? /optimization profiles for input tensors (\S+),/.exec(text)?.[1];

/** The operator that the parser was at. */
const parsedOp = (text: string) => /While parsing node number \d+ \[(\S*) ->/.exec(text)?.[1] ?? 'of this node';

/** A message's first line without TensorRT's own prefixes. */
export function plain(text: string): string {
  const first = text.split('\n', 1)[0]!;
  return first
    .replace(/^(?:Error\[\d+\]: )?(?:\d+: )?(?:\[[^\]]*\] )?(?:\w+::\w+: )?(?:Error Code:? \d+: )?/, '')
    .replace(/ In \w+ at \/\S+\)?$/, '')
    .trim();
}
