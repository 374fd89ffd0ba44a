// What is known of a file, a log or an engine.
import type { Problem } from '../base/problem.ts';
import { counted, productName, releaseName, shapeRange, sizeText } from '../base/text.ts';
import type { BuildManifest } from '../build/buildManifest.ts';
import type { BuildLog, LogEvidence } from '../read/tensorrt/buildOutput.ts';
import type { TimingSummary } from '../read/tensorrt/readLayerInfo.ts';

/** How an engine was built, as far as its build in the history says. */
export interface EngineOrigin {
  /** The build's id. */
  build: string;
  /** null: not known. */
  versionCompatible: boolean | null;
  /** The lean runtime that a version-compatible engine contains was left out. */
  leanRuntimeExcluded: boolean;
  hardwareCompatibility: HardwareCompatibility | null;
  /** Name of the GPU that it was built on; null: not known, or built without one. */
  gpu: string | null;
  /** The operating system that it is for: as its options say (exact), or by the paths of its command (derived); null: not known. */
  platform: { name: EnginePlatform; exact: boolean } | null;
}

export type HardwareCompatibility = 'none' | 'ampere+' | 'sameComputeCapability';

/** Options that reach the tool as they are may contain the same requests under any of their names. */
const requests = /version.?compatible|[-=]vc\b|hardware.?compatib/i;

/** What a build's manifest says of its engine. Only for a build that was made here does a missing option mean "no". */
export function engineOriginOf({ id, origin, options, gpu, command }: BuildManifest): EngineOrigin {
  const extra = Array.isArray(options['extraArguments']) ? options['extraArguments'].join(' ') : '';
  const isComplete = origin === 'built' && !requests.test(extra);
  const level = options['hardwareCompatibility'];
  return {
    build: id,
    versionCompatible: options['versionCompatible'] === true ? true : isComplete ? false : null,
    leanRuntimeExcluded: /exclude.?lean/i.test(extra),
    hardwareCompatibility:
      level === 'ampere+' || level === 'sameComputeCapability' ? level : isComplete ? 'none' : null,
    gpu,
    platform: platformOf([...command, extra].join(' ')),
  };
}

/**
 * TensorRT builds for the system that it runs on, unless `--runtimePlatform` says otherwise. A command with paths of both
 * systems went through a launcher: where it ended is not known.
 */
function platformOf(command: string): EngineOrigin['platform'] {
  if (/--runtimePlatform[= ]WindowsAMD64/i.test(command)) return { name: 'windows', exact: true };
  const windows = /(?:^|[\s="'])(?:[A-Za-z]:[\\/]|\\\\\w)/.test(command);
  const posix = /(?:^|[\s="'])\/[\w.]/.test(command);
  return windows === posix ? null : { name: windows ? 'windows' : 'linux', exact: false };
}

/** What TensorRT itself says of an engine on one computer (`read_engine.py`). */
export interface EngineReading {
  module: 'tensorrt' | 'tensorrt_rtx';
  /** `10.6.0`, of TensorRT-RTX with the build number. */
  version: string;
  /** The GPU there; `cuda`: the version that its driver supports. null: no driver. */
  gpu: { name: string; computeCapability: string; cuda: string } | null;
  /** TensorRT-RTX's own check of the header (`get_engine_validity`); null: TensorRT has none, or it needs a driver. */
  validity: { verdict: 'VALID' | 'SUBOPTIMAL' | 'INVALID'; reasons: string[] } | null;
  /** null: it could not be loaded. */
  engine: EngineDetails | null;
  /** Why it could not be loaded. */
  error: string | null;
  /** The inspector's JSON; null: not loaded, or built without profiling verbosity. */
  layers: string | null;
  /** What TensorRT warned of: warnings, errors, fatal errors. */
  messages: { severity: 'W' | 'E' | 'F'; message: string }[];
}

/** An engine as TensorRT describes it. null: this version of TensorRT does not say. */
export interface EngineDetails {
  name: string;
  tensors: EngineBinding[];
  /** How many optimization profiles. */
  profiles: number;
  layers: number;
  auxStreams: number | null;
  /** Bytes that an execution context needs on the GPU. */
  deviceMemory: number | null;
  /** Bytes of weights that can be streamed. */
  streamableWeights: number | null;
  refittable: boolean | null;
  /** `NONE`, `AMPERE_PLUS`, `SAME_COMPUTE_CAPABILITY` */
  hardwareCompatibility: string | null;
  /** `STANDARD`, `SAFETY`, `DLA_STANDALONE` */
  capability: string | null;
  /** `LAYER_NAMES_ONLY`, `DETAILED`, `NONE` */
  profilingVerbosity: string | null;
}

/** An input or output. */
export interface EngineBinding {
  name: string;
  mode: 'input' | 'output';
  /** `fp32`, `int64`, … */
  type: string;
  /** -1: open. */
  shape: number[];
  /** `Row major linear FP32 format` */
  format: string | null;
  /** `DEVICE`, `HOST` */
  location: string | null;
  /** Shapes of an input in each optimization profile. */
  profiles: (ProfileRange | null)[];
  /** Values of an input that is a shape, in each optimization profile. */
  values: (ProfileRange | null)[] | null;
}

export interface ProfileRange {
  min: number[];
  opt: number[];
  max: number[];
}

/** `TensorRT 10.6.0 on NVIDIA H100 (compute capability 9.0, CUDA 12.8)` */
export function whereRead({ module, version, gpu }: EngineReading): string {
  const where =
    gpu === null
      ? 'without a driver'
      : `on ${gpu.name} (compute capability ${gpu.computeCapability}, CUDA ${gpu.cuda})`;
  return `${productName(module)} ${version} ${where}`;
}

/** An engine's facts besides its tensors, as label and value; what TensorRT does not say is left out. */
export function detailsOf(engine: EngineDetails): [label: string, value: string][] {
  const { hardwareCompatibility: level, deviceMemory, streamableWeights, refittable } = engine;
  const list: [string, string | null][] = [
    ['Network', engine.name === '' ? null : engine.name],
    ['Layers', String(engine.layers)],
    ['Optimization profiles', String(engine.profiles)],
    ['Auxiliary streams', engine.auxStreams === null ? null : String(engine.auxStreams)],
    ['Device memory of a context', deviceMemory === null ? null : sizeText(deviceMemory)],
    ['Weights that can be streamed', streamableWeights ? sizeText(streamableWeights) : null],
    ['Refittable', refittable === null ? null : refittable ? 'yes' : 'no'],
    ['Hardware compatibility', level === null ? null : words(level)],
    ['Capability', engine.capability === null ? null : words(engine.capability)],
    ['Profiling verbosity', engine.profilingVerbosity === null ? null : words(engine.profilingVerbosity)],
  ];
  return list.filter((fact): fact is [string, string] => fact[1] !== null);
}

const words = (name: string): string => name.toLowerCase().replaceAll('_', ' ');

/** The shapes, and for an input that is a shape the values, that each optimization profile takes, one text a profile. */
export function profilesOf({ profiles, values }: EngineBinding): string[] {
  return profiles.map((shape, index) => {
    const value = values?.[index];
    if (value) return `values ${shapeRange(value)}`;
    return shape === null ? 'unknown' : shapeRange(shape);
  });
}

/** Plugins that TensorRT missed when it loaded the engine: `name, version`. */
export function missingPlugins({ messages }: EngineReading): string[] {
  const names = messages.flatMap(({ message }) => {
    const found = /(?:cannot|could not) find plugin:? (?<name>\w+),?(?:\s*version:? (?<version>\w+))?/i.exec(message);
    const { name, version } = found?.groups ?? {};
    return name === undefined ? [] : [version === undefined ? name : `${name}, version ${version}`];
  });
  return [...new Set(names)];
}

/** Where an engine is to run; null: not known. */
export interface EngineTarget {
  product: 'tensorrt' | 'tensorrt-rtx' | null;
  /** `10.6.0`, or its beginning. */
  version: string | null;
  /** `8.9` */
  computeCapability: string | null;
  /** Which of TensorRT's libraries is to load it; null: the full one. */
  runtime: EngineRuntime | null;
  /** Its operating system. */
  platform: EnginePlatform | null;
}

/** Nothing is known of it. */
export const unknownTarget: EngineTarget = {
  product: null,
  version: null,
  computeCapability: null,
  runtime: null,
  platform: null,
};

export const engineRuntimes = ['full', 'lean', 'dispatch'] as const;
export type EngineRuntime = (typeof engineRuntimes)[number];

export const enginePlatforms = ['linux', 'windows'] as const;
export type EnginePlatform = (typeof enginePlatforms)[number];

/** What the header of an engine file says. */
export interface EngineFacts {
  product: 'tensorrt' | 'tensorrt-rtx' | null;
  version: string | null;
  /** The fourth part of the version; null: the format of the file does not have it. */
  buildNumber: number | null;
  /** TensorRT-RTX only: the compute capabilities that it was built for. null: the header does not say. */
  computeCapabilities: string[] | null;
}

/** One condition for an engine to load. */
export interface PortabilityCheck {
  check:
    | 'file'
    | 'version'
    | 'version-compatible'
    | 'gpu'
    | 'hardware-compatibility'
    | 'platform'
    | 'driver'
    | 'runtime'
    | 'plugins'
    | 'load';
  verdict: 'fits' | 'slower' | 'no' | 'unknown';
  message: string;
}

/** All that is known of an engine. */
export interface EngineKnowledge extends EngineFacts {
  /** The file has all bytes that its header specifies. */
  isWhole: boolean;
  /** Its build in the history; null: not known. */
  origin: EngineOrigin | null;
  /** What TensorRT says of it on one computer; null: it was not asked. */
  reading: EngineReading | null;
}

export type FileKind =
  | 'onnx'
  | 'layer-info'
  | 'build-log'
  | 'profile'
  | 'trace'
  | 'counters'
  | 'timing'
  | 'replay'
  | 'choices'
  | 'calibration-cache'
  | 'timing-cache'
  | 'engine'
  | 'overrides'
  | 'unknown';

/** What a file is, by its content. */
/** An engine that ONNX Runtime put into a model, or next to it. */
export interface EngineContext {
  /** Name of the part of the model that it computes. */
  partition: string;
  /** The execution provider that wrote it; '' if the node does not say. */
  source: string;
  /** Version and GPU as the provider noted them; '' if it did not. */
  sdk: string;
  hardware: string;
  /** Name of the engine's file; null: it is in the model. */
  file: string | null;
  /** What the engine is; null: it cannot be read, and `problem` says why. */
  engine: Inspection | null;
  problem: string | null;
}

export interface Inspection {
  kind: FileKind;
  /** One sentence for the user: what it is and what it contains. */
  summary: string;
  tensorrt: { product: 'tensorrt' | 'tensorrt-rtx' | null; version: string | null };
  /** Numbers of what it contains: `nodes`, `layers`, `rows`, `tensors`, `bytes`, … */
  counts: Record<string, number>;
  /** Of an engine: what its header says, and whether it loads there. */
  engine?: EngineFacts & { portability: PortabilityCheck[] };
  /** Of a model with EPContext nodes of ONNX Runtime: the engine of each. */
  contexts?: EngineContext[];
  /** Of times of inferences: their distribution in milliseconds; a part that was not recorded is omitted. */
  times?: TimingSummary;
  problems: Problem[];
}

export function inspection(
  kind: FileKind,
  summary: string,
  parts: Partial<Omit<Inspection, 'kind' | 'summary'>> = {},
): Inspection {
  return { kind, summary, tensorrt: { product: null, version: null }, counts: {}, problems: [], ...parts };
}

/** What ONNX Runtime's TensorRT execution provider writes into the name of an engine in its cache. */
export interface CachedEngineName {
  /** Name of the graph in the ONNX file, as ONNX Runtime has it. */
  graph: string;
  /** Which sub-graph of it, in ONNX Runtime's numbers: `0_0`. */
  part: string;
  /** `fp16`, `int8`, …; empty: none but FP32. */
  precisions: string[];
  /** `8.9` */
  computeCapability: string;
}

const pattern =
  /^TensorrtExecutionProvider_TRTKernel_graph_(.+)_\d+_(\d+_\d+)((?:_(?:fp16|bf16|int8|fp8))*)_sm(\d+)(\d)\.(?:engine|plan)$/;

/** Reads the name of an engine that ONNX Runtime cached; null: the name has another form. */
export function readCachedEngineName(name: string): CachedEngineName | null {
  const match = pattern.exec(name);
  if (match === null) return null;
  const [, graph = '', part = '', precisions = '', major = '', minor = ''] = match;
  return {
    graph,
    part,
    precisions: precisions.split('_').filter((one) => one !== ''),
    computeCapability: `${major}.${minor}`,
  };
}

/** What a text that was read as a build log is; null if nothing in it comes from TensorRT's tools. */
export function inspectLog(log: BuildLog, problems: Problem[]): Inspection | null {
  const evidence = log.evidence ?? { library: 0, phrases: 0, prefixed: 0, tools: 0 };
  if (
    evidence.library + evidence.tools === 0 &&
    evidence.phrases === 0 &&
    log.engineLayers.length === 0 &&
    log.messages.length === 0
  )
    return null;
  // Errors of any program look alike: without a warning of TensorRT they are no evidence.
  if (
    evidence.library + evidence.tools + evidence.phrases + log.engineLayers.length === 0 &&
    !log.messages.some(({ text }) => TENSORRT_WORDS.test(text))
  )
    return null;
  if (isHelp(log, evidence)) return null;
  const last = log.phases.at(-1);
  const counts: Record<string, number> = {
    lines: log.lines,
    parsedNodes: log.parsedNodes.length,
    builds: log.phases.length,
    engineLayers: log.engineLayers.length,
    foreignNodes: last?.foreignNodes.length ?? 0,
    timedLayers: log.phases.reduce((sum, phase) => sum + phase.tactics.filter((layer) => !layer.reformat).length, 0),
    profileRows: log.profile.length,
    warnings: log.messages.filter((message) => message.severity === 'warning').length,
    errors: log.messages.filter((message) => message.severity === 'error').length,
  };
  for (const [key, value] of Object.entries(counts))
    if (value === 0 && key !== 'warnings' && key !== 'errors') delete counts[key];
  return inspection('build-log', summaryOf(log), {
    tensorrt: { product: log.product, version: log.version },
    counts,
    problems,
  });
}

/** A program's answer to --help is framed as a run, but nothing in it is logged. */
function isHelp(log: BuildLog, evidence: LogEvidence): boolean {
  const logged =
    evidence.library + evidence.prefixed + log.messages.length + log.engineLayers.length + log.phases.length;
  // A log whose frames were cut down to the program, as in a report, has no command.
  return logged === 0 && (log.runs ?? []).some(({ command }) => command !== '');
}

const TENSORRT_WORDS = /TensorRT|trtexec|Myelin|tactic|\{ForeignNode\[|onnx2trt|ModelImporter|tensorrt|polygraphy/;

const WRITERS = {
  trtexec: 'trtexec',
  polygraphy: 'Polygraphy',
  python: 'the Python API',
  onnxruntime: 'ONNX Runtime',
  driver: 'the TensorRT library',
};
const OUTCOMES = { passed: 'passed', failed: 'failed', 'cut-off': 'cut off', unknown: 'no complete build' };

/** Three significant digits. */
const numberText = (value: number): string => String(Number(value.toPrecision(3)));

function summaryOf(log: BuildLog): string {
  const writer = log.writer === null ? '' : ` by ${WRITERS[log.writer]}`;
  const { gpu, seconds, throughput } = log;
  const facts = [
    gpu ?? '',
    seconds.build === null ? '' : `built in ${numberText(seconds.build)} s`,
    throughput ? `${numberText(throughput)} inferences in a second` : '',
  ].filter((fact) => fact !== '');
  return [`Log of ${releaseName(log)}${writer}: ${OUTCOMES[log.outcome]}`, ...facts, counted(log.lines, 'line')].join(
    ', ',
  );
}
