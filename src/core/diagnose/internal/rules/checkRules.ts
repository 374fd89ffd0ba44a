import { causeText } from '../causeText.ts';
import type { DiagnosisRule } from '../rule.ts';
import { EVERY_CAUSE } from './everyCause.ts';

const FOLD =
  'Fold constants (`polygraphy surgeon sanitize --fold-constants` or onnxsim), with fixed input shapes where that is possible.';

/** Words by which TensorRT says what a layer needs. */
const NEEDS =
  '\\b(?:must|cannot|can ?not|requires?|should|expect(?:s|ed)|unsupported|not supported|out of bounds|mismatch(?:ed|ing)?|incompatible|exceeds?|without)\\b';

/** What TensorRT says of a layer: `conv1: IConvolutionLayer … must …`, `(Unnamed Layer* 3) [Slice]: … must …`. */
const layerSays = (words: string): RegExp =>
  new RegExp(
    `(?:(?:^|: |\\()I[A-Z]\\w+(?:Layer|Node)\\b|\\(Unnamed Layer\\* \\d+\\) \\[\\w+\\]|^(?:Error\\[\\d+\\]: )?[\\w./]+: \\w+Layer |Error Code [349]: (?:API Usage|Internal|Shape) Error \\([^\\s:()]+: )(?=[^\\n]*${NEEDS})(?=[^\\n]*(?:${words}))`,
    'm',
  );

/** The layer of such a message, its kind, and what it says. */
function layerIn(_: unknown, text: string): { layer: string | undefined; values: Record<string, string | undefined> } {
  const cause = causeText(text);
  const [, layer, why = cause] =
    /^(?:I[A-Z]\w+Layer )?(\(Unnamed Layer\* \d+\) \[\w+\][^:]*|[^\s:()]+): (?:\1: )?(.+)$/.exec(cause) ?? [];
  const kind = /\bI([A-Z]\w+?)(?:Layer|Node)\b/.exec(cause)?.[1] ?? /\[(\w+)\]/.exec(layer ?? '')?.[1];
  return {
    layer,
    values: {
      layer,
      kind: kind?.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase(),
      why: why.replace(/[.)\s]+$/, '').replaceAll('`', ''),
    },
  };
}

/** What a condition of an API call means and what to do, by what it compares. */
const CLAIMS: readonly (readonly [RegExp, string, string])[] = [
  [
    /bindingIsInput|kINPUT|isInput/,
    'the tensor is an output of the engine, and the call is for inputs',
    'Set shapes and values of inputs only: those of the outputs follow. Ask the engine which is which (get_tensor_mode), and do not count on the order of its tensors.',
  ],
  [
    /kOUTPUT/,
    'the tensor is not an output of the engine',
    'Ask the engine which tensors are outputs (get_tensor_mode); do not count on their order.',
  ],
  [
    /EnumMax</,
    'a value is not one that this version of TensorRT knows',
    'Compile the program with the headers of the TensorRT that it loads (of one version, also of its samples), and pass only values that they have.',
  ],
  [
    /getNbOptimizationProfiles|nbProfiles/,
    'the engine has no optimization profile of that index',
    'Use an index below the number of profiles. Each context that runs at the same time needs a profile of its own: build the engine with as many, or use one context.',
  ],
  [
    /IOTensors|NbBindings|bindingIndex/,
    'the engine has no tensor of that index or name',
    'List the tensors of the engine (num_io_tensors, get_tensor_name) and use their names.',
  ],
  [
    /getNbInputs|getNbOutputs|getNbLayers/,
    'there is no input, output or layer of that index',
    'Count with the number that the object gives (num_inputs, num_outputs, num_layers). A network whose parser failed has none: look at its errors first.',
  ],
  [
    /use_count/,
    'objects that it made are still in use',
    'Destroy contexts before their engine, and the engine before its runtime or builder.',
  ],
  [
    /[wW]eights|\.count\b|\.values\b/,
    'its weights are missing, or of another number or type than it needs',
    'Check that the weights were loaded (the file, and the names that the program looks up in it), that they stay in memory until the build ends, and that their number is the product of the dimensions.',
  ],
  [
    /\bmemory\b|kUSER_MANAGED/,
    'the context was made without memory of its own and was given none',
    'Give it enough device memory before it runs (set_device_memory; the engine says how much), or let the context allocate it.',
  ],
  [/blob\b/, 'it gets no data', 'Check that the file of the engine was found and read whole (in binary mode).'],
  [
    /\(?\b(?:layer|inputs?(?:\[\w+\])?|tensor|network|plugin|outputs?(?:\[\w+\])?|n|name|\w*[nN]ame)\)? != ?nullptr/,
    'a layer, tensor or name is null',
    'A function that makes or looks up a layer gives null where it fails: check what it returned, and the result of the parser, before it is used. The first error above says why; without one, an index or a name is wrong.',
  ],
  [
    /x >= 0|isValidDims|allDims|d\[\w+\]|isValid\(\)/,
    'a size is negative, zero or beyond the limits',
    'Print the sizes that are passed. Where the model has dynamic dimensions (-1), a profile needs real sizes, and a layer that is added by hand needs a second input with the computed sizes.',
  ],
  [
    /nbDims|[dD]imensions|\bdims\b|volume|[rR]ank|axis|[aA]xes/,
    'a tensor has another rank, size or axis than it takes',
    'Print the shapes before this call. Networks with explicit batch count the batch as a dimension; an unknown shape (rank -1) comes from a layer that failed before.',
  ],
  [
    /[iI]ndex|[iI]dx|< ?\w*(?:[nN]b|getNb)\w*/,
    'an index is out of range',
    'Count with the number that the object itself gives.',
  ],
  [/!= ?nullptr|!= ?0$/, 'a pointer is null', 'Check what the calls before it returned.'],
  [/[nN]ame/, 'a name is wrong or used twice', 'Give each tensor and layer a name of its own.'],
  [
    /[tT]ype|Mode|[fF]lags?/,
    'a type, mode or flag is not one that it takes here',
    'Compare it with what the documentation of this call allows in this version.',
  ],
];

/** What internal checks are about, by the names in them, and the step that fits. */
const TOPICS: readonly (readonly [RegExp, string, string])[] = [
  [
    /nvm|NVM|dla(?!yer)|DLA/,
    'the DLA',
    'Build for the GPU (without --useDLACore) to confirm that; then keep the layer that fails off the DLA, or use a later JetPack or DRIVE release.',
  ],
  [
    /q?dq|QDQ|[qQ]uantiz|[sS]cales?\b|[sS]cales(?:Len|\.)|[cC]alib|[iI]nt8|INT8/,
    'quantization (INT8 or FP8 scales)',
    'Build without INT8 to confirm that. Then quantize activations per tensor and weights per channel, both symmetrically, and leave the nodes that fail, and plugins, in FP16.',
  ],
  [
    /[pP]lugin|DDS/,
    'a plugin',
    'Check what the plugin says of its outputs (dimensions, types) and of the formats that it takes, for every input and also for INT8.',
  ],
  [
    /[cC]ask|[kK]lib|[sS]hader|TimingCache|timing/,
    'the kernels of this GPU',
    'Delete timing caches of another GPU or version, see that all libraries of TensorRT are of one version (libnvinfer and its builder resource), and that this version supports the GPU.',
  ],
  [/[rR]efit/, 'refitting', 'Build without the refit option to confirm that.'],
  [/[lL]oop|[rR]ecurrence|LSTM|[rR]nn/, 'a loop (Loop, Scan, LSTM, GRU)', 'Export the model with the loop unrolled.'],
  [
    /point[wW]ise|element[wW]ise|broadcast/i,
    'element-wise operations',
    'Compare the shapes of the inputs of such nodes for each optimization profile: every dimension must be equal, or 1.',
  ],
  [
    /(?<![a-zA-Z])(?:[sS]huffle|[rR]eshape|[sS]lice|[gG]ather|[sS]catter|[pP]ad(?:ding)?|[cC]oncat|[sS]elect|[tT]op[kK]|[nN]ms|[nN]on[zZ]ero|[rR]esize|[sS]oft[mM]ax|[rR]educe|[nN]ormalization|[cC]onv(?:olution)?|[dD]econv(?:olution)?|[gG]emm|[mM]atrix[mM]ultiply|[eE]insum|[aA]ttention)(?=[A-Z]\w*\.|\w*\.cpp)/,
    'one kind of layer',
    'The file that the message names tells the kind of layer: find such nodes and write one of them in another form.',
  ],
  [
    /[sS]hape|[dD]ims|[eE]xtent|[vV]olume|[iI]nterval|[bB]ound|[sS]ymbolic/,
    'shapes',
    `${FOLD} Where shapes are dynamic, narrow the optimization profile.`,
  ],
  [
    /[mM]em(?:ory|Size)|[aA]lloc|[bB]uffer|[rR]egion/,
    'memory',
    'Lower the batch or the largest shapes: a tensor may be too large.',
  ],
  [
    /[mM]yelin|[fF]oreign|codeGenerator/,
    'a part that is compiled as a whole (ForeignNode)',
    'Split the model there, by an output inside it or by a plugin.',
  ],
];

const entryFor = (table: readonly (readonly [RegExp, string, string])[], text: string) =>
  table.find(([words]) => words.test(text));

/** What TensorRT checks before it goes on: general rules, for what no other knows. */
export const CHECK_RULES: readonly DiagnosisRule[] = [
  {
    id: 'layer-constant',
    code: 'unsupported-form',
    pattern: layerSays(
      'build[- ]time constant|rooted at an IConstantLayer|initializer|must (?:be|have) (?:a )?constant',
    ),
    named: layerIn,
    cause: 'An input of this node[[ ({kind} layer)]] is computed, and TensorRT needs it when it builds: {why}.',
    advice: `${FOLD} Otherwise write that input as an initializer.`,
    source: 'texts of the layers of TensorRT 10.6 and TensorRT-RTX 1.7.1',
  },
  {
    id: 'layer-plugin',
    code: 'unsupported-form',
    pattern: layerSays('PluginV2Layer|IPluginV\\w+|V2DynamicExt'),
    named: layerIn,
    cause: 'The plugin of this node does not implement what this network needs: {why}.',
    advice:
      'Dynamic shapes and explicit batch need IPluginV2DynamicExt or IPluginV3: port the plugin (its interface decides, not its name), or build with fixed shapes where that is all that the message asks for.',
    source: 'texts of the layers of TensorRT 10.6; wang-xinyu/tensorrtx#414',
  },
  {
    id: 'layer-types',
    code: 'type-mismatch',
    pattern: layerSays('\\b(?:types?|k?FLOAT|k?(?:Int|INT)\\d+|Bool|kBOOL|precision)\\b'),
    named: layerIn,
    cause: 'This node[[ ({kind} layer)]] has inputs or outputs of types that it cannot take: {why}.',
    advice:
      'Insert Casts so that its inputs have one type that it takes. In a weakly typed build, leave out the precision that is requested for it.',
    source: 'texts of the layers of TensorRT 10.6 and TensorRT-RTX 1.7.1',
  },
  {
    id: 'layer-shapes',
    code: 'shape-mismatch',
    pattern: layerSays(
      '[dD]im(?:ension)?s?\\b|[rR]ank|[sS]hape|scalar|\\b\\dD\\b|ax[ei]s|extent|channel|sizes?\\b|length|volume|bounds|elements|subscript',
    ),
    named: layerIn,
    cause: 'This node[[ ({kind} layer)]] gets a shape or size that does not fit: {why}.',
    advice:
      'Compare the shapes of its inputs (Netron, `polygraphy inspect model --show layers attrs`) with what it needs for every shape of the profile. Sizes that depend on dynamic dimensions need fixed inputs or folded constants; a program that adds the layer itself has to pass computed sizes as a second input.',
    source: 'texts of the layers of TensorRT 10.6 and TensorRT-RTX 1.7.1; NVIDIA/TensorRT#545',
  },
  {
    id: 'layer-refused',
    code: 'unsupported-form',
    pattern: layerSays(''),
    named: layerIn,
    cause: 'TensorRT does not take this node[[ ({kind} layer)]] as it is: {why}.',
    advice:
      'Export the model so that the node avoids what is named, with constants folded; a later TensorRT may take it.',
    sure: 'likely',
    source: 'texts of the layers of TensorRT 10.6 and TensorRT-RTX 1.7.1',
  },
  {
    id: 'flags-together',
    code: 'flag-conflict',
    pattern:
      /Parameter check failed[^\n]*condition: [^\n]*(?:[fF]lags?\[BuilderFlag::|builderFlag != BuilderFlag::|getFlag\(BuilderFlag::)/,
    named: (m, text) => ({
      values: {
        flags: [...new Set(text.slice(m.index).match(/(?<=BuilderFlag::k)[A-Z0-9_]+/g) ?? [])].join(' and '),
      },
    }),
    cause: 'Options of the build do not go together, or one needs the other: {flags}.',
    advice:
      'Leave one of them out, or add the one that is needed: a strongly typed network takes no precision flags, an excluded lean runtime needs version compatibility.',
    source: 'TensorRT builderConfig.cpp (conditions of setFlag)',
  },
  {
    id: 'api-argument',
    code: 'internal',
    pattern:
      /(?:(?<on>I\w+::\w+): )?(?:Error Code 3: API Usage Error \()?Parameter check failed(?: at: \S*?(?<call>~?\w+)::\d+)?, condition: (?<claim>[^\n]+)/,
    named: (m) => {
      const { on, call, claim } = m.groups!;
      const [, what = 'a condition on it does not hold', step] = entryFor(CLAIMS, claim!) ?? [];
      return { values: { call: on ?? call ?? 'a function of TensorRT', what, step } };
    },
    cause: 'The program, or the parser, calls {call} with an argument that it does not take: {what}.',
    advice:
      '[[{step} ]]If an error of TensorRT came before, that one is the cause. A program that was right with another version may need another interface (migration guide of NVIDIA).',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'conditions of the API of TensorRT 10.6; wang-xinyu/tensorrtx#1078, NVIDIA/TensorRT#536, #3202, #4557',
  },
  {
    // Its own checks, in files of the optimizer; `engine != nullptr` only says that one of them failed.
    id: 'internal-check',
    code: 'internal',
    pattern:
      /MyelinCheckException(?![^\n]*CUDA_SUCCESS)|\[[\w.]+\.(?:cpp|h|cu)::[^\]]*\] Error Code 2: Internal Error\s*(?:$|\((?:Assertion (?!\w*[eE]ngine\w* != nullptr)[^\n]* failed|(?!Assertion )\w))|^(?:Error\[2\]: )?(?:Error Code 2: |2: )?(?:Internal Error \()?Assertion (?!\w*[eE]ngine\w* != nullptr)[^\n]* failed|\.(?:cpp|h|cu) ?\(\d+\) - Assertion Error in |^(?:Internal Error: )?Assertion failed: [^]{0,300}\n?(?:\.\.\/|C:\\source\\)[^]{0,80}\.(?:cpp|h|cu):\d+/m,
    named: (m, text) => {
      const [, topic, step] = entryFor(TOPICS, text.slice(m.index, m.index + 400)) ?? [];
      return { values: { topic, step } };
    },
    cause:
      'TensorRT stopped at a check of its own[[ about {topic}]] while {phase}: most often an error of this version that the network runs into.',
    advice:
      'Try the next version of TensorRT first: that has solved most of these. [[{step} ]]If the version cannot be changed, fold constants and fix the input shapes, build with another builder optimization level, and search for the part that causes it (`polygraphy debug reduce`) to rewrite it.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source:
      'NVIDIA/TensorRT#3727, #3883, #4126, #4277, #4468 (solved by 10.11), #2664, #2034; ultralytics/ultralytics#23841',
  },
];
