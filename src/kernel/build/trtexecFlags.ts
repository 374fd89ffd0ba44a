// Which flags a version of trtexec has, and what those of a command line ask for.

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
  dynamicPlugins: { since: v(8, 6), instead: '--plugins' },
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

/** First version of trtexec that has a flag; null: not known, or all of them. */
export const flagSince = (flag: string): Version | null => lives[flag]?.since ?? null;

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

/** What `trtexec --help` says. */
export interface TrtexecHelp {
  version: Version | null;
  /** Flag names without `--`, aliases included. */
  flags: Set<string>;
}

/**
 * Reads the text that `trtexec --help` prints (8.2 to 11), also with a log's banner and error lines around it.
 * `TensorRT v8601` is 8.6.1, `v100600` 10.6.0. Nothing recognizable gives an empty set.
 */
export function readTrtexecHelp(text: string): TrtexecHelp {
  const flags = new Set<string>();
  for (const line of text.split('\n')) {
    const head = /^ {2,12}(-{1,2}\w[^\s]*(?:,\s+-{1,2}\w[^\s]*)*)/.exec(line)?.[1];
    for (const match of head?.matchAll(/(?:^|[\s,])-{1,2}(\w+)/g) ?? []) flags.add(match[1]!);
  }
  return { version: readBanner(text), flags };
}

/** The version in a frame line such as `&&&& RUNNING TensorRT.trtexec [TensorRT v101601] [b11] # trtexec`. */
export function readBanner(text: string): Version | null {
  const digits = /\[TensorRT v(\d+)\]/.exec(text)?.[1] ?? /TensorRT version: (\d+(?:\.\d+)+)/.exec(text)?.[1];
  if (!digits) return null;
  if (digits.includes('.')) return parseVersion(digits);
  // Up to version 9 it is Mmpp (8203 = 8.2.3), from 10 on MMmmpp (101601 = 10.16.1).
  const match = digits.length <= 4 ? /^(\d)(\d)(\d\d)$/.exec(digits) : /^(\d+)(\d\d)(\d\d)$/.exec(digits);
  return match ? [Number(match[1]), Number(match[2]), Number(match[3])] : null;
}

/** How a version of trtexec reads `--layerPrecisions` and `--layerOutputTypes`. */
export interface TrtexecDialect {
  /** 8.6 and later: `'name':type`, exactly two single quotes. Before, quotes are only taken off. */
  quotes: boolean;
  /** 9.x and 10.x: one `*` a name. Before, only a name that is `*` alone is special: the default of all others. */
  wildcard: boolean;
}

/** The dialect of a version; unknown versions are read as the newest that had the flags, 10.16. */
export function dialectOf(version: Version | null): TrtexecDialect {
  if (!version) return { quotes: true, wildcard: true };
  return { quotes: !before(version, [8, 6, 0]), wildcard: !before(version, [9, 0, 0]) };
}

/** One `name:value` of a spec after trtexec's own reading; a later one with the same name has replaced earlier ones. */
export interface LayerSpec {
  name: string;
  /** One type of `--layerPrecisions`; one or more of `--layerOutputTypes`. */
  types: string[];
}

/** What trtexec makes of the value of `--layerPrecisions` or `--layerOutputTypes`; it stops at the first item that it cannot read. */
export function readLayerSpecs(
  value: string,
  flag: 'layerPrecisions' | 'layerOutputTypes',
  dialect: TrtexecDialect,
): { specs: LayerSpec[]; error: string | null } {
  const specs = new Map<string, LayerSpec>();
  for (const item of separate(value, ',', dialect)) {
    const pair = readItem(item, dialect);
    if (typeof pair === 'string') return { specs: [...specs.values()], error: pair };
    const types = flag === 'layerPrecisions' ? [pair.value] : separate(pair.value, '+', dialect);
    specs.set(pair.name, { name: pair.name, types });
  }
  return { specs: [...specs.values()], error: null };
}

/** Splits as trtexec does: an empty text has no parts, and before 9.0 nothing after a last separator is no part. */
function separate(text: string, separator: string, dialect: TrtexecDialect): string[] {
  if (text === '') return [];
  const parts = text.split(separator);
  if (parts.at(-1) === '' && !dialect.wildcard) parts.pop();
  return parts;
}

/** Name and value of one item, or why trtexec rejects it. */
function readItem(item: string, dialect: TrtexecDialect): { name: string; value: string } | string {
  if (item === '') return 'There is nothing between two commas.';
  const quoted = dialect.quotes ? separate(item, "'", dialect) : [item];
  if (quoted.length !== 1) {
    const [before = '', inside = '', after = ''] = quoted;
    if (quoted.length !== 3 || after === '') return `"${item}" does not have the form 'name':type.`;
    return { name: before + inside, value: after.slice(1) };
  }
  const body = !dialect.wildcard && item.endsWith(':') ? item.slice(0, -1) : item;
  const colon = body.lastIndexOf(':');
  // Without a colon trtexec takes the word for both.
  const name = colon < 0 ? body : body.slice(0, colon);
  return { name: name.replaceAll("'", ''), value: body.slice(colon + 1) };
}

/**
 * Which specs apply to a layer: the exact one, otherwise all that trtexec may pick from (their order is that of a hash
 * table).
 */
export interface SpecChoice {
  exact: boolean;
  specs: LayerSpec[];
}

/** Looks a layer up as trtexec does; null: no spec matches. */
export function specFor(layer: string, specs: readonly LayerSpec[], dialect: TrtexecDialect): SpecChoice | null {
  const exact = specs.find(({ name }) => name === layer);
  if (exact) return { exact: true, specs: [exact] };
  const fitting = specs.filter(({ name }) => (dialect.wildcard ? fits(name, layer) : name === '*'));
  return fitting.length > 0 ? { exact: false, specs: fitting } : null;
}

/** Whether a name with one wildcard matches a layer: the first `*` stands for any text, further ones for themselves. */
export function fits(pattern: string, layer: string): boolean {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === layer;
  const tail = pattern.slice(star + 1);
  return layer.length >= star + tail.length && layer.startsWith(pattern.slice(0, star)) && layer.endsWith(tail);
}

/** Why a name cannot be given to trtexec as an exact name, as half a sentence; null: it can. */
export function cannotCarry(name: string, dialect: TrtexecDialect, others: Iterable<string> = []): string | null {
  if (name.includes(',')) return 'trtexec splits the name at its comma';
  if (name.includes("'")) return 'trtexec removes its single quote';
  if (name.includes('\0')) return 'an argument cannot contain its NUL character';
  if (name === '') return 'it has no name';
  if (!dialect.wildcard) return name === '*' ? 'trtexec reads "*" as all other layers' : null;
  if (!name.includes('*')) return null;
  for (const other of others) {
    if (other !== name && fits(name, other))
      return `trtexec reads its "*" as a wildcard, which also matches ${JSON.stringify(other)}`;
  }
  return null;
}

/** The value of `--layerPrecisions` or `--layerOutputTypes` for specs with names that trtexec can carry. */
export function writeLayerSpecs(specs: readonly LayerSpec[]): string {
  return specs.map(({ name, types }) => `${name}:${types.join('+')}`).join(',');
}

/** The words that belong to each flag: after its `=`, and up to the next flag, such as `-v`. */
export function valuesOfFlags(command: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let current: string[] = [];
  for (const word of command) {
    if (!word.startsWith('-')) {
      current.push(word);
      continue;
    }
    const equals = word.indexOf('=');
    current = equals < 0 ? [] : [word.slice(equals + 1)];
    found.set(equals < 0 ? word : word.slice(0, equals), current);
  }
  return found;
}

/**
 * How the flags of a command line ask for types that rules can say, by the program whose flags they are, `switches` being
 * those for a whole network; null: not at all.
 */
export function typesAsked(
  flags: ReadonlyMap<string, readonly string[]>,
): 'polygraphy' | 'autocast' | 'trtexec' | 'switches' | null {
  if (flags.has('--layer-precisions')) return 'polygraphy';
  if (autocastFlags.some((flag) => flags.has(flag))) return 'autocast';
  if (flags.get('--layerPrecisions')?.[0] !== undefined || flags.get('--layerOutputTypes')?.[0] !== undefined)
    return 'trtexec';
  const isFloat = flags.has('--fp16') || flags.has('--bf16') || flags.has('--best');
  return isFloat || (flags.has('--int8') && scalesAsked(flags) !== undefined) ? 'switches' : null;
}

const autocastFlags = [
  '--low_precision_type',
  ...['nodes', 'op_types'].flatMap((what) => [`--${what}_to_exclude`, `--${what}_to_include`]),
];

/** The calibration cache that a command line names. */
export const scalesAsked = (flags: ReadonlyMap<string, readonly string[]>): string | undefined =>
  (flags.get('--calib') ?? flags.get('--calibration-cache'))?.[0];

/** The model that a command line builds: its place among the words, and the path. */
export function modelOfCommand(command: readonly string[]): { at: number; path: string } | undefined {
  const flag = command.findIndex((word) => word.startsWith('--onnx=') && word !== '--onnx=');
  if (flag >= 0) return { at: flag, path: command[flag]!.slice('--onnx='.length) };
  const named = command.findIndex((word) => word === '--onnx' || word === '--onnx_path');
  if (named >= 0 && command[named + 1]?.startsWith('-') === false) return { at: named + 1, path: command[named + 1]! };
  const plain = command.findIndex((word, at) => at > 0 && !word.startsWith('-') && /\.onnx$/i.test(word));
  return plain < 0 ? undefined : { at: plain, path: command[plain]! };
}
