/**
 * Which version of trtexec knows which flag: from the option tables of its sources and its `--help` texts
 * (8.2.1, 8.6.0, 8.6.1, 10.0.1, 10.6.0, 10.14.1, 10.16.1, 11.1). A flag that is not listed here is in all of them or in
 * none that we know of; the program's own `--help` decides then.
 */
interface FlagLife {
  /** First version that has it. */
  since?: Version;
  /** First version that no longer has it. */
  until?: Version;
  /** Still accepted from this version on, without effect. */
  idle?: Version;
  /** What to do instead if it is missing. */
  instead?: string;
}

/** Major, minor, patch. */
export type Version = readonly [number, number, number];

const castInstead =
  'TensorRT 11 networks are strongly typed: build a typed copy of the model, which an override file makes';
const calibrationInstead = 'TensorRT 11 has no calibration: quantize the model with Q/DQ nodes';
const v = (major: number, minor: number, patch = 0): Version => [major, minor, patch];
const weak: FlagLife = { until: v(11, 0), instead: castInstead };
const calibration: FlagLife = { until: v(11, 0), instead: calibrationInstead };

const lives: Record<string, FlagLife> = {
  fp16: weak,
  bf16: { ...weak, since: v(9, 3) },
  int8: { until: v(11, 0), instead: calibrationInstead },
  fp8: { ...weak, since: v(8, 6) },
  int4: { ...weak, since: v(10, 1) },
  best: weak,
  calib: calibration,
  calibProfile: { ...calibration, since: v(9, 3) },
  minShapesCalib: calibration,
  optShapesCalib: calibration,
  maxShapesCalib: calibration,
  precisionConstraints: { since: v(8, 2, 1), until: v(11, 0), instead: castInstead },
  layerPrecisions: { since: v(8, 4, 1), until: v(11, 0), instead: castInstead },
  layerOutputTypes: { since: v(8, 4, 1), until: v(11, 0), instead: castInstead },
  layerDeviceTypes: { since: v(8, 6) },
  stronglyTyped: { since: v(9, 3), idle: v(11, 0) },
  weightless: { since: v(9, 3), until: v(11, 0), instead: '--stripWeights' },
  restricted: { until: v(11, 0) },
  workspace: { until: v(10, 0), instead: '--memPoolSize=workspace:<MiB>' },
  memPoolSize: { since: v(8, 4, 1), instead: '--workspace=<MiB>' },
  buildOnly: { until: v(8, 6), instead: '--skipInference' },
  skipInference: { since: v(8, 6), instead: '--buildOnly' },
  nvtxMode: { until: v(8, 6), instead: '--profilingVerbosity' },
  minTiming: { until: v(10, 0) },
  explicitBatch: { until: v(10, 0), instead: 'nothing, because every ONNX network has an explicit batch' },
  explicitPrecision: { until: v(10, 0) },
  heuristic: { since: v(8, 5), until: v(10, 0) },
  batch: { until: v(9, 3), instead: '--shapes' },
  maxBatch: { until: v(9, 3), instead: '--maxShapes' },
  deploy: { until: v(9, 3), instead: '--onnx' },
  model: { until: v(9, 3), instead: '--onnx' },
  output: { until: v(9, 3) },
  uff: { until: v(9, 3), instead: '--onnx' },
  plugins: { until: v(8, 6), instead: '--staticPlugins' },
  streams: { until: v(8, 6), instead: '--infStreams' },
  exportLayerInfo: { since: v(8, 2) },
  dumpLayerInfo: { since: v(8, 2) },
  profilingVerbosity: { since: v(8, 2) },
  builderOptimizationLevel: { since: v(8, 6) },
  maxAuxStreams: { since: v(8, 6) },
  hardwareCompatibilityLevel: { since: v(8, 6) },
  versionCompatible: { since: v(8, 6) },
  profile: { since: v(9, 3) },
  useProfile: { since: v(9, 3) },
  errorOnTimingCacheMiss: { since: v(9, 3) },
  noCompilationCache: { since: v(9, 3) },
  markDebug: { since: v(10, 0) },
  saveDebugTensors: { since: v(10, 0) },
  stripWeights: { since: v(10, 0) },
  allowWeightStreaming: { since: v(10, 0) },
  pluginInstanceNorm: { since: v(10, 0) },
  stripAllWeights: { since: v(10, 1) },
  runtimePlatform: { since: v(10, 2) },
  maxTactics: { since: v(10, 4) },
  monitorMemory: { since: v(10, 6) },
  asyncFileReader: { since: v(10, 7) },
  tilingOptimizationLevel: { since: v(10, 8) },
  l2LimitForTiling: { since: v(10, 8) },
  markUnfusedTensorsAsDebugTensors: { since: v(10, 12) },
  saveAllDebugTensors: { since: v(10, 12) },
  decomposableAttentions: { since: v(10, 14) },
  refitFromOnnx: { since: v(10, 14) },
  cpuOnly: { since: v(10, 15) },
  useCudaGraph: { idle: v(11, 0) },
  useSpinWait: { idle: v(11, 0) },
  noDataTransfers: { idle: v(11, 0) },
  separateProfileRun: { idle: v(11, 0) },
  noCudaGraph: { since: v(11, 0) },
  noSpinWait: { since: v(11, 0) },
  includeDataTransfers: { since: v(11, 0) },
  setBuildRoute: { since: v(11, 1) },
  tuneBuildRoutes: { since: v(11, 1) },
};

/** Flags that articles recommend and no trtexec has ever had. */
const inventions: Record<string, string> = {
  disableMHA:
    'no version of trtexec has it; the closest are --decomposableAttentions (10.14 and later), build-route knobs such as match_ragged_mha (11.1 and later)',
  useManagedPlugins: 'no version of trtexec has it; plugins are loaded with --staticPlugins or --dynamicPlugins',
};

/** What a version of trtexec does with a flag, and what to do if it has none. Names come without `--` and value. */
export interface FlagStatus {
  status: 'known' | 'idle' | 'missing' | 'unlisted';
  /** One sentence, '' if there is nothing to say. */
  message: string;
}

/** Judges one flag for one version; `help` (the flags of the program's own `--help`) wins over the table where it is given. */
export function flagStatus(flag: string, version: Version | null, help: ReadonlySet<string> | null): FlagStatus {
  const invention = inventions[flag];
  if (invention && !help?.has(flag)) return { status: 'missing', message: `--${flag}: ${invention}.` };
  const life = lives[flag];
  const listed = help && help.size > 0 ? help.has(flag) : null;
  const why = missingFrom(life, version, listed);
  if (why !== null) return { status: 'missing', message: `--${flag}: ${why}.` };
  if (life?.idle && version && !before(version, life.idle))
    return { status: 'idle', message: `--${flag} has no effect since TensorRT ${shown(life.idle)}.` };
  return { status: life || help ? 'known' : 'unlisted', message: '' };
}

/** Why a version lacks a flag, and what to do instead; null: it has it. `listed`: the program's own help has it; null: not asked. */
function missingFrom(life: FlagLife = {}, version: Version | null, listed: boolean | null): string | null {
  const { since, until } = life;
  const tooOld = since && version && before(version, since) ? `needs TensorRT ${shown(since)} or later` : null;
  const gone = until && version && !before(version, until) ? `removed in TensorRT ${shown(until)}` : null;
  const missing = listed === null ? tooOld !== null || gone !== null : !listed;
  if (!missing) return null;
  // What to do after a flag was removed is no advice for a version before it came.
  const instead = life.instead && !(until && tooOld) ? `; instead: ${life.instead}` : '';
  const words = tooOld ?? (listed === null ? gone : null);
  const which = version?.join('.');
  return words === null
    ? `this trtexec${which ? ` (${which})` : ''} does not list it in --help${instead}`
    : `${words}, this is ${which}${instead}`;
}

/** `8.6.1`, `10.16.1.11` → three numbers; null for anything else. */
export function parseVersion(text: string | null): Version | null {
  const match = /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(text ?? '');
  return match ? [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)] : null;
}

/** Whether `a` is older than `b`. */
export function before(a: Version, b: Version): boolean {
  return a[0] !== b[0] ? a[0] < b[0] : a[1] !== b[1] ? a[1] < b[1] : a[2] < b[2];
}

const shown = ([major, minor, patch]: Version) => (patch ? `${major}.${minor}.${patch}` : `${major}.${minor}`);
