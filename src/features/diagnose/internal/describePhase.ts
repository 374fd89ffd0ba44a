import type { BuildLog } from '../../../kernel/read/tensorrt/buildOutput.ts';
import { counted } from '../../../kernel/base/text.ts';
import { adviceFor, type Diagnosis } from '../../../kernel/build/diagnosis.ts';

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
  const said = loadsOnly(log) ? LOADED : (spokenPhase(log) ?? reachedPhase(log));
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
function spokenPhase({ messages }: BuildLog): PhaseReached | undefined {
  for (const { text } of messages.slice(-20).toReversed()) {
    const found = SPOKEN.find(([words]) => words.test(text.slice(0, 2000)));
    if (found) return found[1];
  }
  return undefined;
}

/** What TensorRT says before it times kernels: a program that ends there says no more. */
const TIMES_KERNELS = /\[TRT\].*(?:timing cache in use|Timing cache disabled|invalid timing cache)/;

/** Whether a log ends where kernels are timed. */
export const endsWhereTimed = ({ lastLine }: BuildLog): boolean => TIMES_KERNELS.test(lastLine?.text ?? '');
