import type { BuildLog } from '../../formats/tensorrt/buildOutput.ts';
import { counted } from '../../base/text.ts';
import { adviceFor, type Diagnosis } from '../diagnosis.ts';

/** Diagnoses of a log that no file holds, as a page in Markdown. */
export function diagnosisMarkdown(found: readonly Diagnosis[], log: BuildLog): string {
  if (found.length === 0) return `# No errors found\n\n${howItEnds(log)}\n`;
  const errors = found.filter(({ severity }) => severity === 'error').length;
  const title = errors > 0 ? 'Why the build failed' : 'Warnings of the build';
  return `# ${title}\n\n${found.map(section).join('\n')}`;
}

const SURE = { stated: '', likely: ' (likely)', possible: ' (possible)' };

function section(diagnosis: Diagnosis): string {
  const { severity, code, message, line, evidence, sure, repair, follows } = diagnosis;
  return [
    `## ${severity === 'error' ? 'Error' : 'Warning'} in line ${line}: ${code}${SURE[sure]}`,
    '',
    message,
    '',
    `**What to do:** ${adviceFor(diagnosis)}`,
    ...(repair === undefined ? [] : ['', `A repair of the model removes the cause: ${repair}.`]),
    ...(evidence === '' ? [] : ['', '```text', evidence.replaceAll('```', "'''"), '```']),
    ...(follows.length === 0
      ? []
      : [
          '',
          `And ${counted(follows.length, 'error')} that ${follows.length === 1 ? 'follows' : 'follow'} from it:`,
          '',
          ...follows.map((one) => `- line ${one.line}: ${one.message.replaceAll('\n', ' ')}`),
        ]),
    '',
  ].join('\n');
}

/** Where nothing says it. */
export const SOME_PHASE = {
  phase: 'building or running the engine',
  usual: 'The excerpt does not show what TensorRT was doing.',
};

/** What a build was doing when its log ends, and what usually ends a build there. */
export interface PhaseReached {
  /** `timing tactics of conv1`; fits after "while". */
  phase: string;
  usual: string;
}

const MEMORY = 'Builds that end there without a word most often ran out of memory: watch the RAM and the GPU memory.';

/** How a log ends that says nothing of a failure: where, with which words, and what usually ends a program there. */
export function howItEnds(log: BuildLog): string {
  const { phase, usual } = phaseReached(log);
  const { line, text } = log.lastLine ?? { line: log.lines, text: '' };
  const words = text.trim() === '' ? '' : ` Its last line: ${JSON.stringify(text.trim())}.`;
  return `The log ends at line ${line}, while ${phase}.${words} If the build failed, the lines after that say why: copy them, too. ${usual}`;
}

/** The last phase that the log shows; what usually ends a program there. */
export function phaseReached(log: BuildLog): PhaseReached {
  const reached = phaseOf(log);
  const other = log.messages.find(({ text }) => OTHER_LIBRARY.test(text));
  if (other === undefined) return reached;
  const [, built, loaded] = OTHER_LIBRARY.exec(other.text)!;
  return {
    ...reached,
    usual: `This program loads ${loaded} where TensorRT was built with ${built}: install that one first. ${reached.usual}`,
  };
}

/** `TensorRT was linked against cuDNN 8.4.1 but loaded cuDNN 8.3.1` */
const OTHER_LIBRARY = /TensorRT was linked against (\D{3,30}[\d.]*\d) but loaded (\D{3,30}[\d.]*\d)/;

/** The outputs are marked when all nodes are parsed. */
const wasParsed = ({ seconds, model }: BuildLog): boolean => seconds.parse !== null || (model?.outputs.length ?? 0) > 0;

function phaseOf(log: BuildLog): PhaseReached {
  const last = log.phases.at(-1);
  const layer = last?.tactics.findLast(({ reformat }) => reformat !== true);
  if (log.seconds.build !== null || log.engineLayers.length > 0 || log.bindings.length > 0)
    return {
      phase: 'loading or running the engine after the build',
      usual: 'What fails there is loading, describing or running the engine: missing shapes, buffers or GPU memory.',
    };
  if (layer !== undefined)
    return {
      phase: `timing tactics of ${layer.name}`,
      usual: `${MEMORY} A kernel that crashes is avoided by other tactic sources, a newer driver or version.`,
    };
  if (last !== undefined) {
    const stage = last.funnel.at(-1)?.stage;
    return {
      phase: `optimizing the network${stage === undefined ? '' : ` (${stage})`}`,
      usual: `${MEMORY} Compiling one large ForeignNode can take long without any output.`,
    };
  }
  const node = log.parsedNodes.at(-1);
  const isParsed = wasParsed(log);
  if (node !== undefined && !isParsed)
    return {
      phase: `parsing the model (at node ${node.name})`,
      usual: 'What ends a build there is a node that the parser cannot import, missing weights, or the host memory.',
    };
  if (isParsed)
    return {
      phase: 'starting to build after the model was parsed',
      usual:
        'What ends a build there is a network that is refused (no outputs, no profile), the driver, or the memory.',
    };
  if (log.strays?.some(({ text }) => /^ *(?:Engine Capability|Profiling Verbosity) +\|/.test(text)))
    return { phase: 'building the engine', usual: MEMORY };
  if (log.model)
    return {
      phase: 'reading the model',
      usual: 'What ends a build there is a damaged model, missing weights, or the host memory.',
    };
  const said = loadsOnly(log) ? LOADED : saidPhase(log);
  if (said !== undefined) return said;
  // An excerpt that begins later than the build says nothing of where it was.
  if ((log.runs ?? []).length === 0) return SOME_PHASE;
  return {
    phase: 'starting',
    usual: 'What ends a program there is a missing library, driver or file, or a wrong argument.',
  };
}

/** Whether the commands of trtexec in the log only load an engine. */
function loadsOnly({ runs = [], endedCommand = '', strays = [] }: BuildLog): boolean {
  const commands = [runs.at(-1)?.command ?? '', endedCommand, ...strays.map(({ text }) => text)];
  return commands.some((one) => one.includes('--loadEngine=')) && !commands.some((one) => one.includes('--onnx='));
}

const LOADED: PhaseReached = {
  phase: 'loading or running the engine',
  usual: 'What fails there is an engine of another version or GPU, missing shapes, buffers or GPU memory.',
};

const saidPhase = (log: BuildLog): PhaseReached | undefined => begunPhase(log) ?? spokenPhase(log) ?? reachedPhase(log);

/** Where nothing else says it: the network is optimized, or an engine was loaded. */
function reachedPhase({ reached }: BuildLog): PhaseReached | undefined {
  return reached && REACHED[reached];
}

const REACHED: Readonly<Record<NonNullable<BuildLog['reached']>, PhaseReached>> = {
  plugins: {
    phase: 'loading the plugins and setting up the GPU',
    usual:
      'A crash there is most often the driver or the installation: nvidia-smi has to work and name a CUDA no older than that of this TensorRT. Install the driver again, see that one set of the libraries of TensorRT is found, and try a container of NVIDIA.',
  },
  parsing: {
    phase: 'reading the model',
    usual: 'What ends a build there is a damaged model, missing weights, or the host memory.',
  },
  optimizing: {
    phase: 'optimizing the network',
    usual: `${MEMORY} Otherwise a region (ForeignNode) that this version cannot compile: split the model there.`,
  },
  context: {
    phase: 'running the engine, which was loaded',
    usual:
      'A crash there is most often one of the program: buffers smaller than the shapes of the engine, an input file that was not read, or an engine of another model or batch size than the program expects.',
  },
};

/** Names of functions and files in messages, by the phase that they belong to. */
const SPOKEN: readonly [RegExp, PhaseReached][] = [
  [/[\\/]builder[\\/]|cudnnBuilder|Setting layouts of network/, REACHED.optimizing],
  [/[\\/]rt(?:Safe|Ext)?[\\/]/, SOME_PHASE],
  [
    /calibrat/i,
    {
      phase: 'calibrating',
      usual: 'What ends a build there is the calibration data: NaN, wrong shapes, or buffers that are not on the GPU.',
    },
  ],
  [
    /ModelImporter|onnx2trt|builtin_op_importers|onnxOp|While parsing|In node -?\d+/,
    {
      phase: 'parsing the model',
      usual: 'What ends a build there is a node that the parser cannot import, missing weights, or the host memory.',
    },
  ],
  [
    /deserializ|[aA]rchiveReader|Serialization/,
    {
      phase: 'loading the engine',
      usual: 'What fails there is an engine of another version, platform or GPU, or too little GPU memory.',
    },
  ],
  [
    /computeCosts|Skipping tactic|[gG]etBestTactic|get_best_tactic|tacticOptimizer|autotuner|tactic/,
    {
      phase: 'timing tactics',
      usual: `${MEMORY} A kernel that crashes is avoided by other tactic sources, a newer driver or version.`,
    },
  ],
  [
    /executionContext|enqueue|IExecutionContext|runtime\/|[rR]unner\w*\.cpp::execute|gateMyelinGraphStart/,
    {
      phase: 'running the engine',
      usual: 'What fails there is shapes outside the profile, missing or too small buffers, or GPU memory.',
    },
  ],
  [
    /buildSerializedNetwork|Myelin|graphOptimizer|optimizer\/|shapeCompiler|builder\.cpp/i,
    {
      phase: 'optimizing the network',
      usual: `${MEMORY} Otherwise a region (ForeignNode) that this version cannot compile: split the model there.`,
    },
  ],
];

/** The phase by what the last message names. */
function spokenPhase({ messages, strays = [] }: BuildLog): PhaseReached | undefined {
  for (const { text } of (messages.length > 0 ? messages : strays).slice(-20).toReversed()) {
    const found = SPOKEN.find(([words]) => words.test(text.slice(0, 2000)));
    if (found) return found[1];
  }
  return undefined;
}

const BUILDING: PhaseReached = {
  phase: 'building the engine',
  usual: `${MEMORY} A build can take many minutes without any output.`,
};

/** What programs around TensorRT say when they begin something, the most particular first. */
const BEGUN: readonly [RegExp, PhaseReached][] = [
  [
    /ONNX: (?:starting export|slimming|simplifying)|\bexporting\b.{0,40}\bonnx\b/i,
    {
      phase: 'exporting the model to ONNX',
      usual:
        'A program that ends there without a word most often has a broken package onnx or protobuf (install onnx again; on Windows the Visual C++ runtime, or onnx 1.16.1), or ran out of memory; otherwise the exporter lacks an operator.',
    },
  ],
  [
    /\bloading\b.{0,120}\.(?:engine|trt|plan)\b|\bdeserializ(?:e|ing)\b.{0,80}\bengine\b/i,
    {
      phase: 'loading the engine',
      usual:
        'What ends a program there is an engine of another version, platform or GPU, a missing plugin, or too little GPU memory.',
    },
  ],
  [
    /\bTensorRT: (?:starting export|building|input "|output "|network)|\b(?:re)?build(?:ing)? (?:the |a |an )?(?:\w+ )?(?:TensorRT |TRT )?engines?\b|\bTrying to create engine\b|\bconverting\b.{0,60}\bto (?:an? )?(?:TensorRT|TRT|engine)\b|Configuring with profiles|\bvsmlrt\b|trtexec execution|\bcompiling (?:\S+ )?TensorRT\b|\b(?:engine|TensorRT|TRT|Initializing)\b.{0,80}\b(?:may|can|might|will|would|could) take (?:a while|a long time|(?:several|some|a few|many) minutes|some time)\b/i,
    BUILDING,
  ],
  [
    /\[TRT\].*(?:timing cache in use|Timing cache disabled|invalid timing cache)|Init cu(?:BLAS|DNN)\b.*now: CPU/,
    {
      phase: 'building the engine (timing its kernels)',
      usual: `${MEMORY} A crash there is most often a driver or CUDA, cuBLAS and cuDNN that do not fit this TensorRT, or a GPU that it is too old for.`,
    },
  ],
  [
    /TRITONBACKEND_Model(?:Instance)?Initialize|model_lifecycle\.cc:\d+\] "?loading|\|\s*LOADING\s*\|/,
    {
      phase: 'loading the model into Triton',
      usual:
        "What ends the server there is an engine of another version or GPU, GPU memory, or a configuration that does not fit the model. Triton's model table, at the end of its start, names the reason.",
    },
  ],
  [
    /TensorRT candidate segments|\bpartition(?:ing)? the graph\b|Compilation Settings|\[TF-TRT\]|Linked TensorRT version|Loaded TensorRT version/i,
    {
      phase: 'dividing the graph into parts for TensorRT',
      usual: 'Engines are built next, or at the first inference: what ends a program there is mostly the memory.',
    },
  ],
  [
    /known unsupported method torch|\btorch2trt\(/,
    {
      phase: 'converting the model with torch2trt',
      usual: 'What ends a program there is a method without a converter, or the memory while the engine is built.',
    },
  ],
  [
    /TensorRT provider options|\[TensorRT EP\]|TensorrtExecutionProvider/,
    {
      phase: 'creating the session of ONNX Runtime',
      usual: `${MEMORY} ONNX Runtime builds an engine for each part of the model there: minutes without output, shorter with trt_engine_cache_enable.`,
    },
  ],
  [
    /native precisions? |desired precision|detected model format|-- (?:model|prototxt|batch_size) +\S|loading \w+ network model from/,
    {
      phase: 'preparing the build',
      usual: `${MEMORY} jetson-inference builds the engine next, some minutes without output, and keeps it next to the model.`,
    },
  ],
];

/** Words that something came to its end: what began before is over. */
const OVER =
  /\bsuccess|Skipping this subgraph|\b(?:saved|finished|completed?|done|ready|executed|exported|cached)\b|\bloaded\b|\btook \d|\brunning\.\.\.|Pipeline (?:is )?(?:running|PLAYING)/i;

/** Lines at the end of a log of which one may say what began. */
const LAST_LINES = 12;

/** What people write around a log. */
const PROSE =
  /\bI(?:'(?:m|ve)| (?:am|was|have|had|get|got|tr(?:y|ied)|ran?|use[ds]?|did|do|don't|want|also|created?|can|could|set|buil[dt]|think|installed))\b|\b(?:[Ww]hen|[Ii]f|[Aa]fter) (?:I|we|you)\b/;

/** The last lines that are kept, from the end, without warnings and errors: their words begin nothing. */
function lastLines({ strays = [], messages, lastLine }: BuildLog): string[] {
  const isMessage = messages.some(({ line }) => line === lastLine?.line);
  const near = [...strays.slice(-LAST_LINES), ...(lastLine && !isMessage ? [lastLine] : [])];
  const byLine = new Map(
    near.filter(({ text }) => !PROSE.test(text)).map(({ line, text }) => [line, text.slice(0, 500)]),
  );
  return [...byLine].toSorted(([a], [b]) => b - a).map(([, text]) => text);
}

/** What a program around TensorRT said last that it begins, and in which words; undefined: nothing, or it is over. */
export function begunPhase(log: BuildLog): (PhaseReached & { said: string }) | undefined {
  for (const text of lastLines(log).slice(0, LAST_LINES)) {
    const found = BEGUN.find(([words]) => words.test(text));
    if (found) return { ...found[1], said: text.trim() };
    if (OVER.test(text)) return undefined;
  }
  return undefined;
}
