import { causeText } from '../causeText.ts';
import { type DiagnosisRule, EVERY_CAUSE } from '../rule.ts';
import { entryFor, FOLD, withoutEnd } from './layerRules.ts';

/** What a condition of an API call means and what to do, by what it compares. */
const CLAIMS: readonly (readonly [RegExp, string, string])[] = [
  [
    /addConcatenation .*nbInputs/,
    'a concatenation gets no inputs, or too many',
    'Look at the Concat (or route) that comes next after the last layer in the log: its inputs were not found, because an importer does not know how this file writes them. Export with the opset and the versions that the program was made for, or use a later release of the program.',
  ],
  [
    /addInput .*[dD]ims/,
    'the input has dimensions that it cannot have',
    'Give the input a known rank of at most 8 and fixed sizes; -1 needs a network with explicit batch and an optimization profile.',
  ],
  [
    /MAX_KERNEL_DIM|windowSize|kernelSize/,
    'its window (kernel) is too large: it has more elements than TensorRT takes (or a size below 1)',
    'A window may cover fewer than 100,000 elements (height times width). For a large input split it into two poolings or convolutions one after the other, take the mean over height and width (`x.mean((2, 3))`) where the window covers all of it, or use a smaller input.',
  ],
  [
    /isSingle(?:Bit|Dimension)\(axes/,
    'the axes are a mask of bits, in which exactly one has to be set',
    'Give `1 << axis`: 1 is axis 0, 2 axis 1, 4 axis 2. For several axes reshape the tensor before.',
  ],
  [
    /[wW]eight streaming budget cannot be modified/,
    'contexts of the engine exist',
    'Set the budget before the first execution context is made, or delete the contexts first.',
  ],
  [
    /[wW]eight ?[sS]treaming/,
    'the engine was not built for weight streaming, or the budget does not fit it',
    'Build a strongly typed network with the flag WEIGHT_STREAMING (trtexec --allowWeightStreaming --stronglyTyped), and set a budget between 0 and streamable_weights_size before the first context is made.',
  ],
  [
    /containsTensor/,
    'a tensor is not of this network',
    'Use tensors of the network that the layer is added to: one of another network, of an engine, or of a network that was destroyed is none.',
  ],
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
    /[sS]eqLen/,
    'the largest number of steps of the recurrent layer is not a positive number',
    'RNNv2 needs a fixed one: give the longest sequence and set the real lengths by setSequenceLengths (the dimension must not be -1), or build the recurrence with a loop (addLoop), as the ONNX parser does; loops take dynamic lengths.',
  ],
  [
    /use_count/,
    'objects that it made are still in use',
    'Destroy contexts before their engine, and the engine before its runtime or builder.',
  ],
  [
    /[wW]eights|\.count\b|\.values\b/,
    'its weights are missing, or of another number or type than it needs',
    'Check that the weights were loaded (the file, and the names that the program looks up in it), that they stay in memory until the build ends, and that their number is the product of the dimensions. In an ONNX model they are computed in place of initializers: fold constants, or use a TensorRT that takes such weights (8.6 and later for convolutions).',
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
    /[pP]lugin|DDS|STATUS_SUCCESS/,
    'a plugin',
    'Check what the plugin says of its outputs (dimensions, types) and of the formats that it takes, for every input and also for INT8; one that fails when it runs (EfficientNMS, for example) most often lacks GPU memory or gets sizes beyond its limits.',
  ],
  [
    /[cC]utensor|[rR]eformat/,
    'a change of layouts (reformat)',
    'Fix the input shapes, which mostly avoids it, or build without the formats or the type that needs it (FP16, INT8, 3D).',
  ],
  [
    /checkSanity[^\n]*!overlap/,
    'where two tensors are in memory (Concat, Q/DQ nodes)',
    'A model with Q/DQ nodes needs TensorRT 8 or later: for an older one remove them and calibrate (IInt8Calibrator, or the range of each tensor from the training).',
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
    /weights\.type\(\) == DataType::kINT32/,
    'the type of a size or index',
    'Export with opset 12 or later: older ones keep sizes (of Resize, for example) as FP32. TensorRT 8.4 and later read them.',
  ],
  [
    /engineRegions\.count/,
    'an engine with several optimization profiles',
    'Build with one profile, or one engine for each of them; 8.2 and later take several here.',
  ],
  [
    /mUsedAllocators|MyelinAllocator/,
    'memory that several contexts use at the same time',
    'Run one context in one thread (trtexec without --threads, with one stream) to confirm that.',
  ],
  [
    /[mM]em(?:ory|Size)|[aA]lloc|[bB]uffer|[rR]egion(?! [!=]=)/,
    'memory',
    'Lower the batch or the largest shapes: a tensor may be too large.',
  ],
  [
    /[mM]yelin|[fF]oreign|codeGenerator/,
    'a part that is compiled as a whole (ForeignNode)',
    'Split the model there, by an output inside it or by a plugin.',
  ],
];

/** What an assertion of the parser is about, by its words or its condition, and the step that fits. */
const PARSER_TOPICS: readonly (readonly [RegExp, string, string])[] = [
  [
    /shape tensor/,
    'it works on a shape that the model computes, which the parser of this TensorRT (6 and older) takes for data only',
    `${FOLD} TensorRT 7 and later, with explicit batch, compute shapes. In PyTorch, sizes as plain numbers (\`int(x.shape[2])\`) leave no such node.`,
  ],
  [
    /isDynamic\(|\bdynamic (?:inputs?|shapes?|dimensions?|scales|sizes)\b/i,
    'an input has dynamic dimensions, which this parser does not take there',
    'Use a later TensorRT: each version takes more (InstanceNormalization, Slice, Resize and Upsample from 8 on). Otherwise export the model with fixed input sizes, or fix them (`python -m onnxruntime.tools.make_dynamic_shape_fixed`) and fold constants, and build an engine for each size.',
  ],
  [
    /addInput\(/,
    'an input of the model has dimensions, a type or a name that it does not take',
    'Look at the inputs (`polygraphy inspect model`): TensorRT 5 and older take only fixed sizes, later ones a name once, no size of 0 and numbers or booleans as types. Export with fixed input sizes, or use TensorRT 7 or later with an optimization profile.',
  ],
  [
    /is_weights\(\)|[iI]nitializer|[cC]onstant|build-?time/,
    'an input is computed, where it needs a constant',
    `${FOLD} A later TensorRT takes computed values in more places.`,
  ],
  [
    /[tT]ypes?\b|DataType|isBool|isInt|isFp|\bFLOAT\b|\bINT\d+\b|\bBOOL\b/,
    'an input has a type that it does not take',
    'Cast the input before the node to FP32 (INT32 for indices and shapes), and back after it; a later TensorRT takes more types.',
  ],
  [
    /(?:inputs|outputs)(?:\(\))?\.size|nbInputs|(?:in|out)puts? (?:is|are)\b|[nN]umber of (?:in|out)puts|requires \d/,
    'it has another number of inputs or outputs than the parser takes',
    'Export with another opset (one that this TensorRT lists), so that the node has the form that its parser knows, or use a later TensorRT.',
  ],
  [
    /[oO]pset|training|[pP]lugin/,
    'the form of the operator is of another opset or version than the parser takes',
    'Export for inference (`model.eval()`) with an opset that this TensorRT lists, or use a later TensorRT.',
  ],
  [
    /nbDims|[rR]ank|[dD]im(?:s|ension)|[sS]hape|\bax[ei]s\b|\.d\[|nchan|noutput|channel|[sS]ize|[vV]olume|[bB]roadcast|[sS]calar|spatial/,
    'an input has a rank, shape or axis that it does not take',
    `Infer shapes before (\`polygraphy surgeon sanitize --fold-constants\`, onnxsim) with fixed input sizes, and compare what the node gets with its weights and attributes. Parsers of TensorRT 5 and 6 count without the batch and take fewer ranks: use a later one.`,
  ],
  [
    /[mM]ode|[aA]ttr|[tT]ransform|nearest|cubic|linear|align|[pP]ad|[rR]educ|polic|[sS]tride|[dD]ilat|[gG]roup|activation/,
    'an attribute has a value that it does not take',
    'Export the node with another value of it (another mode of interpolation, padding or reduction), or write it with other operators; a later TensorRT takes more.',
  ],
];

/** What a statement of TensorRT is about where no other rule knows it, by its words and the function that made it. */
const STATEMENTS: readonly (readonly [RegExp, string, string])[] = [
  [
    /[dD]eserializ|\bplan\b|[aA]rchive|stream: read|[sS]erializ/,
    'the file of the engine',
    'Check its path and size, and build it again with the TensorRT that loads it, on this GPU.',
  ],
  [
    /(?:[nN]ames?\b[^\n]*(?:distinct|unique|already|twice)|[rR]epeated [^\n]*name)/,
    'names that occur twice',
    'Give each layer, input and output a name of its own (the nodes of an ONNX model, too).',
  ],
  [
    /[aA]ddress|[bB]inding|neither input nor output|not an (?:in|out)put/,
    'a tensor that the program names or gives memory',
    'Ask the engine for its tensors (num_io_tensors, get_tensor_name, get_tensor_mode), and set the address of each with enough bytes before every run.',
  ],
  [
    /[pP]rofile|kMIN|kOPT|kMAX/,
    'an optimization profile',
    'Give each dynamic input min ≤ opt ≤ max with the rank of the model, and select a profile of the engine before the shapes are set.',
  ],
  [
    /[cC]alibrat|[iI]nt8 scale|[dD]ynamic range|[qQ]uantiz/,
    'the scales of INT8',
    'Delete old calibration caches and calibrate with this model, or quantize it with Q/DQ nodes and no calibrator.',
  ],
  [
    /[fF]ormats?\b/,
    'the memory format of an input or output',
    'Leave out --inputIOFormats and --outputIOFormats (setAllowedFormats), or name a format that exists for the type and the number of channels.',
  ],
  [
    /^Not implemented for (?:node|layer) type PLUGIN/,
    'a plugin',
    'Use a later TensorRT, whose optimizer takes plugins in more places, and give every optimization profile sizes of 1 or more: those of 0 lead to this with plugins (10.13 and 10.14; 10.16 takes them).',
  ],
  [
    /[pP]lugin/,
    'a plugin',
    'Compile the plugin with the headers of this TensorRT, and check what it returns for shapes, types and formats.',
  ],
  [
    /[rR]efit|[wW]eights/,
    'weights of the network or the engine',
    'Check that all weights are there, with the type and number that the layer has, and that the engine was built to be refitted where they are exchanged.',
  ],
  [
    /(?<!(?:node|layer) )\btypes?\b|[dD]ata ?[tT]ype|k(?:FLOAT|HALF|INT\d+|FP8|BOOL)/,
    'a type',
    'Cast the inputs of the node to one type that it takes, or remove the precision that is requested for it.',
  ],
  [
    /[dD]im|[sS]hape|[rR]ank|ax[ei]s|[eE]xtent|[vV]olume|scalar|[lL]ength/,
    'a shape',
    `Compare the shapes that the node gets for each optimization profile. ${FOLD}`,
  ],
  [
    /not supported|unsupported|[cC]annot|can not|[nN]ot implemented/,
    'something that this TensorRT does not do here',
    'Use a later TensorRT, or leave out the option or the operator that is named.',
  ],
];

/** What the checker of ONNX refuses, and what helps. */
const CHECKER: readonly (readonly [RegExp, string, string])[] = [
  [
    /topologically sorted, however input '(?<name>[^'\n]*)'/,
    'a node reads a tensor that no node before it makes',
    'Sort the graph (`polygraphy surgeon sanitize` or GraphSurgeon: graph.toposort()). Where the tensor is made by no node at all, an edit or a simplifier lost it, or its name has a character more: take the model before that step, or connect it.',
  ],
  [
    /single static assignment[^\n]*however '(?<name>[^'\n]*)'/,
    'two nodes or inputs have one output name',
    'Rename one of them (GraphSurgeon), or export again.',
  ],
  [
    /(?<!No )Op registered for (?<name>\w+) is dep\w+ed in/,
    'this opset has the operator no more',
    'Declare the opset that the model was written for (Upsample: 9, Scatter: 10), most easily with the onnx version of the script (1.4 for opset 9), or write the operator that replaced it: Resize for Upsample, ScatterElements for Scatter.',
  ],
  [
    /Node ?\((?<name>[^)\n]*)\) has (?:in|out)put size/,
    'a node has another number of inputs or outputs than its operator has in this opset',
    'Script and onnx do not belong together: install the onnx that its requirements name (1.4 for converters of Darknet that are older than 2020), or declare the opset that the nodes are written for (Upsample with an attribute for the scales: 7).',
  ],
  [
    /No Op registered for (?<name>\w+)/,
    'the installed onnx does not know this operator in this opset',
    'Update onnx (`pip install -U onnx`). An operator of a plugin or of another domain needs that domain in the node and in the opset imports; TensorRT then looks for a plugin of its name, so the checker may be left out.',
  ],
  [
    /Unrecognized attribute: (?<name>\w+)/,
    'the operator has no such attribute in the opset that the model declares',
    'Declare a later opset, or remove the attribute; an old onnx does not know those of later opsets (`pip install -U onnx`).',
  ],
  [
    /No opset import for domain '(?<name>[^'\n]*)'/,
    'nodes are of a domain that the model does not import',
    'Add it: model.opset_import.append(onnx.helper.make_opsetid(domain, 1)).',
  ],
  [
    /ir_version (?<name>\d+)/,
    'its IR version is later than the installed onnx reads',
    'Update onnx (`pip install -U onnx`), or save the model with an earlier one (`model.ir_version = 8`).',
  ],
  [
    /TensorProto ?\( ?tensor name: (?<name>[^)\n]*)\)(?: should be (?:stored|file|a rel)| is stored externally|[^\n]*absolute path)/,
    'a file with weights is not where the model says',
    'Keep the file with the external weights next to the .onnx file, with the name that it has in the model, and give check_model the path of the model.',
  ],
  [
    /(?:Field|field) '(?<name>\w+)' of '\w+' is required|tensor name: (?:[^)\n]*)\)/,
    'a part of it lacks what ONNX requires',
    'An edit by hand left it incomplete: export again, or set the field with onnx.helper.',
  ],
  [
    /./,
    'its text names the place',
    'Export again with the current exporter, or repair the node that the text names (GraphSurgeon, onnx.helper). A model that TensorRT reads without this check may still be built.',
  ],
];

/** What an assertion of the parser means; the parser alone is not enough where nothing in it is known. */
function parserSays(claim: string): { values: Record<string, string> } {
  const found = entryFor(PARSER_TOPICS, claim);
  return {
    values: { topic: found?.[1] ?? 'its inputs or attributes are other than it expects', step: found?.[2] ?? FOLD },
  };
}

/** What TensorRT checks before it goes on: general rules, for what no other knows. */
export const CHECK_RULES: readonly DiagnosisRule[] = [
  {
    id: 'parser-assertion',
    code: 'unsupported-form',
    pattern:
      /(?:In function (?:import|check|parse)?\w+:?\s*\[\d+\]|\(\w+\): [A-Z_]+:|\b\w+:\s*\n\[\d+\]) Assertion failed: [^\n]*?(?:&& ?"|[)\w]: )(?<why>[A-Z][^"\n]*?)\.?"?\)?\.? {0,20}(?:\n|$)/,
    named: (m) => parserSays(m[0]),
    cause: "TensorRT's parser refuses this node[[ ({op})]][[: {topic}]] ({why}).",
    advice:
      '[[{step} ]]Otherwise export the model so that the node avoids what the message names: another opset or attribute, or a constant in place of a computed value.',
    sure: 'likely',
    source: 'onnx-tensorrt: the texts of its assertions',
  },
  {
    id: 'parser-condition',
    code: 'unsupported-form',
    pattern:
      /(?:(?:In function \w+:?\s*|^)\[\d+\] Assertion failed: |\(\w+\): [A-Z_]+: Assertion failed: |^Description of the error: Assertion failed: )(?<claim>[^\n]*)/m,
    named: (m) => parserSays(m.groups!['claim']!),
    cause: "TensorRT's parser does not take this node[[ ({op})]] in this form: {topic}.",
    advice:
      '{step} If that changes nothing, fold constants with fixed input shapes, export with another opset, or use a later TensorRT, whose parser takes more forms.',
    sure: 'possible',
    source: 'onnx-tensorrt: its assertions without a text; triton-inference-server/server#281',
  },
  {
    id: 'flags-together',
    code: 'flag-conflict',
    pattern:
      /Parameter check failed[^\n]*condition: [^\n]*(?:[fF]lags?\[BuilderFlag::|builderFlag != BuilderFlag::|getFlag\(BuilderFlag::)/,
    named: (m, text) => ({
      values: {
        step: /only supported for kSTRONGLY_TYPED/.test(text)
          ? 'Create the network strongly typed (`builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))`, trtexec --stronglyTyped), or leave the flag out.'
          : 'Leave one of them out, or add the one that is needed: a strongly typed network takes no precision flags, an excluded lean runtime needs version compatibility.',
        flags: [...new Set(text.slice(m.index).match(/(?<=BuilderFlag::k)[A-Z0-9_]+/g) ?? [])].join(' and '),
      },
    }),
    cause: 'Options of the build do not go together, or one needs the other: {flags}.',
    advice: '{step}',
    source: 'TensorRT builderConfig.cpp (conditions of setFlag)',
  },
  {
    id: 'api-argument',
    code: 'internal',
    pattern:
      /(?:(?<on>\bI\w+::\w+): )?(?:Error Code 3: API Usage Error \()?Parameter check failed(?: at: (?:\S*\W)??(?<call>~?\w+)::\d+)?, condition: (?<claim>[^\n]+)/,
    named: (m) => {
      const { on, call, claim } = m.groups!;
      const [, what = 'a condition on it does not hold', step] =
        entryFor(CLAIMS, `${on ?? call ?? ''} ${claim!}`) ?? [];
      return { values: { call: on ?? call ?? 'a function of TensorRT', what, step } };
    },
    cause: 'The program, or the parser, calls {call} with an argument that it does not take: {what}.',
    advice:
      '[[{step} ]]If an error of TensorRT came before, that one is the cause. A program that was right with another version may need another interface (migration guide of NVIDIA).',
    after: EVERY_CAUSE,
    sure: 'likely',
    source:
      'conditions of the API of TensorRT 10.6; wang-xinyu/tensorrtx#1078, NVIDIA-AI-IOT/torch2trt#122, NVIDIA/TensorRT#536, #3202, #4557',
  },
  {
    id: 'onnx-checker',
    code: 'model-invalid',
    pattern:
      /(?:Nodes in a graph must be topologically sorted|Graph must be in single static assignment|No Op registered for|Op registered for|Unrecognized attribute: |No opset import for domain|Your model ir_version|TensorProto ?\( ?tensor name: |Bad node spec|Field '\w+' of '\w+' is required|checker\.ValidationError: )[^\n]*/,
    severity: 'error',
    once: true,
    named: ({ 0: text }) => {
      const [pattern, what, step] = entryFor(CHECKER, text)!;
      const groups = pattern.exec(text)!.groups;
      return { values: { what, step, checked: groups?.['name'] || undefined } };
    },
    cause: 'The checker of ONNX refuses the model[[: {what}]][[ ({checked})]].',
    advice: '{step}',
    source: 'onnx/checker.cc; onnx/onnx-tensorrt#175, onnx/onnx#1920, #3533, modelscope/FunASR#1566',
  },
  {
    id: 'outputs-differ',
    code: 'failed',
    pattern: /FAILED \| Mismatched outputs: (?<names>\[[^\]\n]*\])/,
    severity: 'error',
    once: true,
    cause: 'The build passed; outputs of the two runners differ by more than the tolerance: {names}.',
    advice:
      'The default tolerance (1e-5) is that of FP32: give --atol and --rtol that suit the precision (about 1e-2 for FP16), leave TF32 out (--no-tf32 or without --tf32), and look at the median of the error first. If it is large, mark all outputs in both runners (--trt-outputs mark all --onnx-outputs mark all) and keep the first node that differs in FP32.',
    after: EVERY_CAUSE,
    source: 'Polygraphy comparator; NVIDIA/TensorRT#3855',
  },
  {
    // Its own checks, in files of the optimizer; `engine != nullptr` only says that one of them failed.
    id: 'internal-check',
    anywhere: true,
    code: 'internal',
    pattern:
      /MyelinCheckException(?![^\n]*CUDA_SUCCESS)|(?:\[[\w.]+\.(?:cpp|h|cu)::[^\]]*\] |\b(?:I[A-Z]\w+::|createInfer)\w+: )Error Code 2: Internal Error\s*(?:$|\((?:Assertion (?!\w*[eE]ngine\w* != nullptr)[^\n]* failed|(?!Assertion )\w))|(?:^(?:Error\[2\]: )?(?:Error Code 2: |2: )?(?:Internal Error \()?|Internal Error \()Assertion (?!\w*[eE]ngine\w* != nullptr)[^\n]* failed|\.(?:cpp|h|cu) ?\(\d+\) - Assertion Error in |(?:\.\.\/(?:builder|optimizer|rt\w*)\/|\/_src\/|\/myelin\w*\/|C:[\\/]source[\\/])\S+\.(?:cpp|h|cu):\d+: [^\n]*Assertion `|what\(\): +Assertion (?!\w*[eE]ngine)[^\n]* failed|^(?:Internal Error: )?Assertion failed: [^]{0,300}\n?(?:\.\.\/|C:\\source\\)[^]{0,80}\.(?:cpp|h|cu):\d+/m,
    named: (m, text, { version, suspect }) => {
      const [, topic, step] = entryFor(TOPICS, text.slice(m.index, m.index + 400)) ?? [];
      // Its own checks do not depend on the workspace.
      const reason = suspect?.includes('workspace') ? undefined : suspect;
      return { values: { topic, step, version: version ?? undefined, suspect: reason } };
    },
    cause:
      'TensorRT[[ {version}]] stopped at a check of its own[[ about {topic}]] while {phase}: most often a bug of this version that the network runs into.',
    advice:
      '[[{suspect} ]]Update TensorRT first: a later version has solved most of these. [[{step} ]]If the version cannot be changed, fold constants and fix the input shapes, build with another builder optimization level, and search for the part that causes it (`polygraphy debug reduce`) to rewrite it.',
    // A program that aborts does so for such a check.
    after: EVERY_CAUSE.filter((code) => code !== 'crashed'),
    sure: 'likely',
    source:
      'NVIDIA/TensorRT#3727, #3883, #4126, #4277, #4468 (solved by 10.11), #2664, #2034, #3769; ultralytics/ultralytics#23841',
  },
];

/** What parsers most often refuse of an operator. */
const STOPS: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:Resize|Upsample)$/,
    'Of a Resize it is mostly scales that are computed, or a coordinate mode: export with fixed sizes and opset 11 or later, and fold constants; TensorRT 8 takes nearly all.',
  ],
  [/^Pad$/, 'Of a Pad it is mostly computed pads, or a mode: fold constants; TensorRT 8.2 and later take other modes.'],
  [/^(?:If|Loop|Scan)$/, 'Of control flow it is mostly a condition or length that is not constant.'],
  [
    /^(?:Slice|Gather|Reshape|Expand|Tile|Squeeze|Unsqueeze|Flatten|Shape|ConstantOfShape)$/,
    'Of such a node it is mostly a shape that the model computes: TensorRT 6 and older take none, 7 and later most.',
  ],
  [
    /^(?:TopK|NonMaxSuppression|NonZero)$/,
    'Of what comes after the network (NMS) it is mostly a K or a count that the model computes: fold constants, or cut the model before and use a plugin (EfficientNMS_TRT) or the host.',
  ],
  [/Quantize/, 'Q/DQ nodes need TensorRT 8, constant scales and a zero point of 0.'],
];

/** What the parser prints of a node that it fails at, without the reason. */
const CUT_AT_NODE =
  /^(?:\w+\.cpp:\d+: )?While parsing node number \d+ \[(?<op>\w{1,100})[^\n]*(?:\n *(?:\w+\.cpp:\d+: )?(?:---|(?:input|output|name|op_type|domain|Node \w+): |attribute|\w+:|[{}]|$|ERROR: \S+:\d+ In func)[^\n]*)*$/;

/** What is left: a statement of TensorRT with its number, of which only the subject is known. */
export const STATEMENT_RULES: readonly DiagnosisRule[] = [
  {
    id: 'parser-stops',
    code: 'unsupported-form',
    pattern: CUT_AT_NODE,
    named: ({ groups }) => ({ values: { hint: entryFor(STOPS, groups!['op']!)?.[1] } }),
    cause: "TensorRT's parser does not take this node ({op}), and the log ends before the line that says why.",
    advice:
      'The line after "In function import…" names the reason: copy it, too. [[{hint} ]]Otherwise fold constants with fixed input shapes (`polygraphy surgeon sanitize --fold-constants`, onnxsim), export with another opset, or use a later TensorRT.',
    after: EVERY_CAUSE,
    sure: 'possible',
    source: 'onnx-tensorrt ModelImporter.cpp; NVIDIA/TensorRT#644',
  },
  {
    id: 'invalid-node',
    code: 'unsupported-form',
    pattern: /(?:^|\n)(?:\[\d+\] )?Invalid Node - [^\n]*(?:\n\s*)?$/,
    cause: 'TensorRT cannot import this node[[ ({op})]] and does not say why.',
    advice:
      'Check the model against this version. Most often an attribute or an input of the node is missing (an axis, a bias), or an input is computed that has to be constant, such as an axis: fold constants, or export with a newer opset.',
    after: EVERY_CAUSE,
    sure: 'likely',
    source: 'onnx-tensorrt ModelImporter.cpp; built with TensorRT 10.6 (Concat, CumSum, DeformConv)',
  },
  {
    id: 'statement',
    code: 'internal',
    pattern:
      /Error Code:? ?\d+: (?:API Usage|Internal|Shape|Unsupported State|Serialization|Miscellaneous)(?: Error)? \((?!Assertion\b|Algorithm selection|(?:Engine|Network|Build\w*|Init|Failed)\b[^\n]*failed)(?<why>[^\n]{10,})/,
    named: (_, text) => {
      const why = withoutEnd(causeText(text));
      const found = entryFor(STATEMENTS, why) ?? entryFor(STATEMENTS, text.replaceAll('buildSerializedNetwork', ''));
      return { values: { why, topic: found?.[1] ?? 'this', step: found?.[2] } };
    },
    cause: 'TensorRT refuses {topic} while {phase}: {why}.',
    advice:
      '[[{step} ]]If that does not fit, keep the whole verbose log, reduce the model to the part that fails (`polygraphy debug reduce`), and try it with the next version of TensorRT.',
    after: [...EVERY_CAUSE, 'failed'],
    sure: 'possible',
    source: 'texts of TensorRT 10.6 and TensorRT-RTX 1.7.1',
  },
];
