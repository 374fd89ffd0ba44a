// Reads layer info, profiles, counters of Nsight Compute and measured times.
import { isRecord, numberOr, readJsonDocuments, textOr } from '../../base/json.ts';
import type { Problem, Read } from '../../base/problem.ts';
import {
  type EngineLayer,
  type EngineTensor,
  type LayerInfo,
  type Profile,
  type ProfileRow,
  type TimeDistribution,
  timeDistribution,
  type Timing,
} from './buildOutput.ts';
import { bareLayer, typeOfFormat } from './readLayerLine.ts';

/** Names that TensorRT writes into its JSON as they are, quotes and backslashes included. */
export const rawLayerMembers: ReadonlySet<string> = new Set(['Name', 'name', 'Layers', 'layers', 'Bindings']);

/** Keys of a layer that have their own field. */
const FIELDS = new Set(['Name', 'LayerType', 'Inputs', 'Outputs', 'Metadata', 'TacticName', 'TacticValue', 'StreamId']);

/** Keys that some version is known to write; others are kept, too, and counted. */
const KNOWN = new Set(
  (
    'ParameterType Kernel PaddingMode PrePadding PostPadding Stride Dilation OutMaps Groups Weights Bias HasSparseWeights Activation HasBias ' +
    'HasReLU ParameterSubType Origin HasDynamicFilter HasDynamicBias HasResidual ConvXAsActInputIdx BiasAsActInputIdx ResAsActInputIdx ' +
    'ElementWiseOperation NbInputArgs InputArgs NbOutputVars OutputVars NbParams Params NbLiterals Literals NbOperations Operations ' +
    'Operation ReduceAxes KeepDimensions FirstTranspose Reshape SecondTranspose ZeroIsPlaceholder shapeValues0 Op dimension dimensions alpha ' +
    'beta weights PoolingType WindowSize BlendFactor AverageCountExcludesPadding Mode Shift Scale Power ChannelAxis InterpolationMode ' +
    'ResizeScales ExcludeOutside CubicCoeff CoordTransform ResizeSelector NNRounding Fmt TopKBoxLimit IsMaxOutputBoxesPerClassConstant ' +
    // The activation that a convolution of 8.6 took in.
    'NbPointWiseExpressionInputArgs PointWiseExpressionInputArgs NbPointWiseExpressionOutputVars PointWiseExpressionOutputVars ' +
    'NbPointWiseExpressionParams PointWiseExpressionParams NbPointWiseExpressionLiterals PointWiseExpressionLiterals ' +
    'NbPointWiseExpressionOperations PointWiseExpressionOperations ' +
    'ProcessIouThresholdTensor ProcessScoreThresholdTensor Constants'
  ).split(' '),
);

/** Most layers that are read of one file. */
const MAX_LAYERS = 1_000_000;

/**
 * Reads layer info as IEngineInspector and `--exportLayerInfo` write it, 8.2 to 11.x: whole layers, names only or an
 * empty file; several documents, a bare list, names that are not escaped, text after the end. Unknown keys are kept in
 * `extra` and counted. `value` is undefined if the text contains no layer info at all; problems say what was odd.
 */
export function readLayerInfo(text: string): Read<LayerInfo> {
  const layers: EngineLayer[] = [];
  const { value, problems } = readEachLayer(text, () => {
    layers.length = 0;
    return (layer) => void layers.push(layer);
  });
  return { value: value && { ...value, layers }, problems };
}

/**
 * The same, for files of any size: each layer is passed on and not kept, so `layers` of the result stays empty.
 * @param begin called where the reading begins, and once more where the JSON turns out not to be proper; gives what takes the
 * layers
 */
export function readEachLayer(text: string, begin: () => (layer: EngineLayer) => void): Read<LayerInfo> {
  const empty = (): LayerInfo => ({
    detail: 'none',
    layers: [],
    bindings: [],
    ioTensors: [],
    documents: 0,
    unknownKeys: {},
    layerTypes: {},
  });
  if (text.trim() === '')
    return {
      value: empty(),
      problems: [
        {
          severity: 'warning',
          code: 'layer-info-empty',
          message:
            'The file is empty: the engine was built with profilingVerbosity=none, or could not be inspected. Build with --profilingVerbosity=detailed.',
        },
      ],
    };
  // A program that asks the inspector for one layer after the other heads each of them: `--- Layer 3 ---`.
  const bare = /^-{2,}\s*Layer \d+\s*-{2,}\s*$/m.test(text)
    ? text.replaceAll(/^-{2,}\s*Layer \d+\s*-{2,}\s*$/gm, '')
    : text;
  let reading = new LayerReading(empty(), begin());
  const rest = properLayers(bare, (layer) => reading.add(layer));
  if (rest !== null) {
    reading.info.documents++;
    addBindings(reading.info, rest);
  } else {
    reading = new LayerReading(empty(), begin());
    const { documents, problems } = readJsonDocuments(bare, { rawMembers: rawLayerMembers });
    reading.problems.push(...problems);
    if (problems.some(({ severity }) => severity === 'error')) reading.info.damaged = true;
    for (const document of documents) reading.addDocument(document);
  }
  return reading.end(text);
}

/** What is read so far. */
class LayerReading {
  readonly info: LayerInfo;
  readonly problems: Problem[] = [];
  readonly #take: (layer: EngineLayer) => void;
  #layers = 0;
  #names = 0;

  constructor(info: LayerInfo, take: (layer: EngineLayer) => void) {
    this.info = info;
    this.#take = take;
  }

  /** Adds what one document contains. */
  addDocument(document: unknown): void {
    const layers = layersOf(document);
    if (layers === undefined) return;
    this.info.documents++;
    if (isRecord(document)) addBindings(this.info, document);
    for (const layer of layers) this.add(layer);
  }

  /** Adds an entry of a list of layers. */
  add(layer: unknown): void {
    if (this.#layers >= MAX_LAYERS) {
      const code = 'too-many-layers';
      const message = `The file has more than ${MAX_LAYERS} layers; the rest was not read.`;
      if (!this.problems.some((problem) => problem.code === code))
        this.problems.push({ severity: 'warning', code, message });
      return;
    }
    if (typeof layer === 'string') this.#take(bareLayer(layer, null));
    else if (isRecord(layer)) this.#take(readLayer(this.info, layer));
    else {
      this.problems.push({
        severity: 'warning',
        code: 'layer-unreadable',
        message: `An entry of "Layers" is neither a name nor a layer: ${briefly(layer)}.`,
      });
      return;
    }
    this.#layers++;
    if (typeof layer === 'string') this.#names++;
  }

  end(text: string): Read<LayerInfo> {
    const { info, problems } = this;
    if (info.documents === 0) {
      const none: Problem = {
        severity: 'error',
        code: 'no-layer-info',
        message: 'Not layer info: the list "Layers" is missing. Use the file that trtexec --exportLayerInfo writes.',
      };
      // What another kind of file, such as a log, lacks for being JSON helps no one.
      return { value: undefined, problems: /"layers"/i.test(text) ? [...problems, none] : [none] };
    }
    if (this.#layers > 0) info.detail = this.#names < this.#layers ? 'detailed' : 'names';
    if (info.detail === 'names')
      problems.push({
        severity: 'info',
        code: 'layer-names-only',
        message:
          'The layer info contains only layer names. Build with --profilingVerbosity=detailed to get types, tensors and nodes.',
      });
    info.bindings = [...new Set([...info.bindings, ...info.ioTensors.map(({ name }) => name)])];
    return { value: info, problems };
  }
}

/** The beginning of layer info that is one object whose first member is the list. */
const LIST = /^\s*\{\s*"Layers"\s*:\s*\[/;
/** What ends, opens or closes something, or begins a string. */
const MARK = /["{}[\]]/g;
const STRING_END = /["\\]/g;

/**
 * Passes on each layer of proper layer info as soon as it is parsed: the values of a whole file take ten times its size.
 * @returns the document without its layers; null: the text is something else, or not proper JSON somewhere
 */
function properLayers(text: string, take: (layer: unknown) => void): Record<string, unknown> | null {
  const list = LIST.exec(text);
  if (list === null) return null;
  let at = list[0].length;
  try {
    for (;;) {
      while (/[\s,]/.test(text[at] ?? '')) at++;
      if (text[at] === ']') break;
      const end = valueEnd(text, at);
      if (end === null) return null;
      take(JSON.parse(text.slice(at, end)));
      at = end;
    }
    const rest: unknown = JSON.parse(`{ "Layers": [${text.slice(at)}`);
    return isRecord(rest) ? rest : null;
  } catch {
    return null;
  }
}

/** Where the object or string ends that begins here; null: it does not, or it is neither. */
function valueEnd(text: string, start: number): number | null {
  let depth = 0;
  MARK.lastIndex = start;
  for (let match = MARK.exec(text); match !== null; match = MARK.exec(text)) {
    if (depth === 0 && match.index > start) return null;
    if (match[0] === '"') {
      const end = stringEnd(text, match.index + 1);
      if (end === null) return null;
      if (depth === 0) return end;
      MARK.lastIndex = end;
    } else depth += match[0] === '{' || match[0] === '[' ? 1 : -1;
    if (depth === 0) return match[0] === '"' ? null : match.index + 1;
  }
  return null;
}

function stringEnd(text: string, from: number): number | null {
  STRING_END.lastIndex = from;
  for (let match = STRING_END.exec(text); match !== null; match = STRING_END.exec(text)) {
    if (match[0] === '"') return match.index + 1;
    STRING_END.lastIndex = match.index + 2;
  }
  return null;
}

/** What an entry is, in words: a list may be nested deeper than a text of it can be made. */
function briefly(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value === null ? 'null' : 'an object';
}

function layersOf(document: unknown, depth = 0): unknown[] | undefined {
  if (Array.isArray(document)) return document.length > 0 && document.every(isLayer) ? document : undefined;
  if (!isRecord(document)) return undefined;
  for (const key of ['Layers', 'layers', 'LayerInfo', 'layerInfo']) {
    const value = document[key];
    if (Array.isArray(value)) return value;
    if (isRecord(value) && depth < 3) return layersOf(value, depth + 1);
  }
  // One layer alone, as IEngineInspector::getLayerInformation gives it.
  return isLayer(document) ? [document] : undefined;
}

/** An entry of a list that no key announces: a name, or an object with a layer's members. */
function isLayer(entry: unknown): boolean {
  if (typeof entry === 'string') return true;
  return isRecord(entry) && 'Name' in entry && ('LayerType' in entry || ('Inputs' in entry && 'Outputs' in entry));
}

function addBindings(info: LayerInfo, document: Record<string, unknown>): void {
  const bindings = document['Bindings'] ?? document['bindings'];
  if (Array.isArray(bindings))
    for (const binding of bindings) {
      const name = isRecord(binding) ? textOr(binding['Name'], null) : textOr(binding, null);
      if (name !== null && !info.bindings.includes(name)) info.bindings.push(name);
    }
  const tensors = document['I/O Tensors'] ?? document['IO Tensors'] ?? document['IOTensors'];
  if (!Array.isArray(tensors)) return;
  for (const tensor of tensors) {
    if (!isRecord(tensor)) continue;
    const mode = textOr(tensor['IOMode'], '').toLowerCase();
    info.ioTensors.push({
      name: textOr(tensor['Name'], ''),
      mode: mode === 'input' || mode === 'output' ? mode : null,
      type: textOr(tensor['DataType'] ?? tensor['Datatype'], null),
      dims: dimsOf(tensor['Dimensions']),
    });
  }
}

function readLayer(info: LayerInfo, source: Record<string, unknown>): EngineLayer {
  const layer = bareLayer(textOr(source['Name'], ''), null);
  layer.type = textOr(source['LayerType'], '');
  layer.inputs = tensorsOf(source['Inputs']);
  layer.outputs = tensorsOf(source['Outputs']);
  layer.metadata = textOr(source['Metadata'], null);
  layer.tacticName = textOr(source['TacticName'], null);
  layer.tactic = textOr(source['TacticValue'], null);
  layer.streamId = numberOr(source['StreamId']);
  for (const [key, value] of Object.entries(source)) {
    if (FIELDS.has(key)) continue;
    setExtra(layer.extra, key, value);
    if (!KNOWN.has(key)) count(info.unknownKeys, key);
  }
  count((info.layerTypes ??= {}), layer.type);
  return layer;
}

/** A key may be anything that a file says, `__proto__` too. */
function setExtra(extra: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(extra, key, { value, enumerable: true, configurable: true, writable: true });
}

function count(counts: Record<string, number>, key: string): void {
  const before = Object.hasOwn(counts, key) ? counts[key]! : 0;
  Object.defineProperty(counts, key, { value: before + 1, enumerable: true, configurable: true, writable: true });
}

function tensorsOf(value: unknown): EngineTensor[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).map((tensor) => {
    const joint = textOr(tensor['Format/Datatype'], null);
    const format = textOr(tensor['Format'], null);
    const type = textOr(tensor['Datatype'] ?? tensor['DataType'], null);
    return {
      name: textOr(tensor['Name'], ''),
      dims: dimsOf(tensor['Dimensions']),
      type: type ?? (joint === null ? null : typeOfFormat(joint)),
      format: joint ?? format ?? type,
    };
  });
}

/** Dimensions as numbers; what is not a number (a range, a name) is dynamic. */
function dimsOf(value: unknown): number[] | null {
  if (!Array.isArray(value)) return null;
  return value.map((size) => (typeof size === 'number' && Number.isFinite(size) && size >= 0 ? size : -1));
}

const rawProfileMembers = new Set(['name']);

/**
 * Reads `--exportProfile`: `{ "count": n }` and one row per layer, in engine order, repeated names kept apart; or a
 * trace in Chrome's format with an event for each layer (Torch-TensorRT, Perfetto) or node (ONNX Runtime). Names that are
 * not escaped, `nan`, `inf` and a cut-off end are read as far as they go. `value` is undefined if the text is no profile.
 */
export function readProfile(text: string): Read<Profile> {
  const { documents, problems } = readJsonDocuments(text, { rawMembers: rawProfileMembers });
  const events = traceEvents(documents);
  if (events.length > 0) return { value: profileOfEvents(events), problems };
  const profile: Profile = { iterations: null, rows: [] };
  let found = false;
  // `trtexec --exportProfile` of several runs, appended to one file: each array is a profile of its own.
  const runs = documents.filter(
    (document) => Array.isArray(document) && document.some((entry) => isRecord(entry) && rowOf(entry) !== null),
  );
  if (runs.length > 1)
    problems.push({
      severity: 'warning',
      code: 'several-profiles',
      message: `The file holds ${runs.length} profiles one after the other, each of a run of its own: this is the last. Keep each in a file of its own to compare them.`,
    });
  for (const entry of (runs.length > 1 ? runs.slice(-1) : documents).flat()) {
    if (!isRecord(entry)) continue;
    const row = rowOf(entry);
    if (row !== null) profile.rows.push(row);
    else if ('count' in entry) profile.iterations = numberOr(entry['count']);
    else continue;
    found = true;
  }
  if (profile.rows.some(({ name }) => isOldRow(name)))
    return {
      value: undefined,
      problems: [
        {
          severity: 'error',
          code: 'old-version',
          message:
            'This profile is of TensorRT 8.0 or earlier, by its rows for reformats ("X input reformatter 0", "to nvm"). TensorRT Lens reads 8.2 and later.',
        },
      ],
    };
  if (found) return { value: profile, problems };
  const none: Problem = {
    severity: 'error',
    code: 'no-profile',
    message:
      'Not a profile: no entry has a name and "timeMs". Use the file that trtexec --exportProfile writes, or a trace in Chrome\'s format.',
  };
  // What another kind of file lacks for being JSON helps no one.
  return { value: undefined, problems: /"(?:timeMs|averageMs)"/.test(text) ? [...problems, none] : [none] };
}

/** A copy as TensorRT called it before 8.2: later it is `Reformatting CopyNode for …`. */
export const isOldRow = (name: string): boolean =>
  / (?:input|output) reformatter \d+$|(?:^| )(?:to|from) nvm$/.test(name);

function rowOf(entry: Record<string, unknown>): ProfileRow | null {
  const name = textOr(entry['name'], null);
  const timeMs = numberOr(entry['timeMs']);
  const averageMs = numberOr(entry['averageMs']);
  if (name === null || (timeMs === null && averageMs === null)) return null;
  return {
    name,
    timeMs: timeMs ?? Number.NaN,
    averageMs: averageMs ?? Number.NaN,
    medianMs: numberOr(entry['medianMs']),
    percentage: numberOr(entry['percentage']) ?? Number.NaN,
  };
}

/** A complete event of a trace in Chrome's format. */
interface TraceEvent {
  name: string;
  /** Microseconds. */
  ts: number;
  dur: number;
}

/**
 * The events of layers: all complete ones of Torch-TensorRT; of ONNX Runtime, which writes events of sessions and
 * threads, too, the kernels of its nodes.
 */
function traceEvents(documents: readonly unknown[]): TraceEvent[] {
  const entries = documents.flatMap((document) =>
    isRecord(document) ? (document['traceEvents'] ?? document) : document,
  );
  const events: TraceEvent[] = [];
  const kernels: TraceEvent[] = [];
  for (const entry of entries.flat()) {
    if (!isRecord(entry) || entry['ph'] !== 'X') continue;
    const [name, dur] = [textOr(entry['name'], null), numberOr(entry['dur'])];
    if (name === null || dur === null) continue;
    const event = { name, ts: numberOr(entry['ts']) ?? 0, dur };
    const isNode = entry['cat'] === 'Node' && name.endsWith('_kernel_time');
    if (isNode) kernels.push({ ...event, name: name.slice(0, -'_kernel_time'.length) });
    else events.push(event);
  }
  return kernels.length > 0 ? kernels : events;
}

/** Where the same names come again in the same order, they are further inferences; otherwise names are added up. */
function profileOfEvents(events: TraceEvent[]): Profile {
  const sorted = events.toSorted((a, b) => a.ts - b.ts);
  const period = periodOf(sorted.map(({ name }) => name));
  const rounds = sorted.length / period;
  const totals: { name: string; us: number }[] = [];
  for (const [index, { name, dur }] of sorted.entries()) {
    const row = totals[index % period];
    if (row) row.us += dur;
    else totals.push({ name, us: dur });
  }
  const whole = totals.reduce((sum, { us }) => sum + us, 0);
  const rows = totals.map(({ name, us }): ProfileRow => ({
    name,
    timeMs: us / 1000,
    averageMs: us / 1000 / rounds,
    medianMs: null,
    percentage: whole > 0 ? (100 * us) / whole : 0,
  }));
  return { iterations: rounds, rows };
}

/** The length after which a list repeats itself to its end; its own length if it does not. */
function periodOf(names: readonly string[]): number {
  // The length of the longest beginning of the list that also ends each part of it.
  const borders = new Int32Array(names.length);
  for (let at = 1, border = 0; at < names.length; at++) {
    while (border > 0 && names[at] !== names[border]) border = borders[border - 1]!;
    if (names[at] === names[border]) border++;
    borders[at] = border;
  }
  const period = names.length - (borders.at(-1) ?? 0);
  return names.length % period === 0 ? period : names.length;
}

/** What Nsight Compute measured of one kernel: percent of what the GPU can do; null: not measured. */
export interface KernelCounters {
  /** The kernel's function, as ncu names it. */
  name: string;
  /** Throughput of the multiprocessors. */
  sm: number | null;
  /** Throughput of the GPU's memory. */
  dram: number | null;
  /** Use of the tensor cores, of the kind that is used most. */
  tensor: number | null;
  /** Warps that are active, of those that fit. */
  occupancy: number | null;
}

type Counter = Exclude<keyof KernelCounters, 'name'>;

/** Which counter a metric is: by its name in `--page raw`, by its words in `--page details`. */
const metrics: readonly [counter: Counter, name: RegExp][] = [
  ['sm', /^(?:sm__throughput\.avg\.pct_of_peak_sustained_elapsed|Compute \(SM\) Throughput|Compute \(SM\) \[%\])$/],
  ['dram', /^(?:(?:gpu__)?dram__?throughput\.avg\.pct_of_peak_sustained_elapsed|DRAM Throughput)$/],
  ['tensor', /^sm__(?:inst_executed_)?pipe_tensor\w*\.(?:avg|sum)\.pct_of_peak_sustained_(?:active|elapsed)$/],
  ['occupancy', /^(?:sm__warps_active\.avg\.pct_of_peak_sustained_active|Achieved Occupancy)$/],
];

/**
 * Reads what `ncu --csv` prints, `--page raw` (a column a metric, with a row of units) or `--page details` (a row a
 * metric), in the order of the launches. `value` is undefined, with the reason, if the text is neither.
 */
export function readNcu(text: string): Read<KernelCounters[]> {
  const rows = csvRows(text);
  const start = rows.findIndex((row) => row.includes('Kernel Name') && row.includes('ID'));
  if (start < 0)
    return fail(
      'no-counters',
      'Not the output of Nsight Compute: there is no column "Kernel Name". Use ncu --csv --page raw.',
    );
  const head = rows[start]!;
  const at = (name: string): number => head.indexOf(name);
  const kernels =
    at('Metric Name') >= 0
      ? byRow(rows.slice(start + 1), {
          id: at('ID'),
          name: at('Kernel Name'),
          metric: at('Metric Name'),
          value: at('Metric Value'),
        })
      : byColumn(rows.slice(start + 1), head, at('Kernel Name'));
  if (kernels.length === 0)
    return fail('no-counters', 'The output of Nsight Compute has no kernels. Check that ncu ran without errors.');
  if (kernels.every(({ sm, dram, tensor, occupancy }) => [sm, dram, tensor, occupancy].every((one) => one === null)))
    return fail(
      'no-counters',
      'The output of Nsight Compute has none of the metrics that are read. Record with ncu --set full, or with SpeedOfLight, Occupancy and ComputeWorkloadAnalysis.',
    );
  return { value: kernels, problems: [] };
}

const fail = (code: string, message: string): { value: undefined; problems: Problem[] } => ({
  value: undefined,
  problems: [{ severity: 'error', code, message }],
});

const empty = (name: string): KernelCounters => ({ name, sm: null, dram: null, tensor: null, occupancy: null });

/** Several metrics may be one counter: the largest counts. */
function put(kernel: KernelCounters, metric: string, text: string | undefined): void {
  const counter = metrics.find(([, name]) => name.test(metric))?.[0];
  const value = Number(text?.replaceAll(',', '').trim() || Number.NaN);
  if (counter !== undefined && Number.isFinite(value)) kernel[counter] = Math.max(kernel[counter] ?? 0, value);
}

function byColumn(rows: readonly string[][], head: readonly string[], name: number): KernelCounters[] {
  // The first row has the units, and no kernel.
  return rows
    .filter((row) => row.length === head.length && row[name] !== '')
    .map((row) => {
      const kernel = empty(row[name]!);
      head.forEach((metric, column) => put(kernel, metric, row[column]));
      return kernel;
    });
}

function byRow(
  rows: readonly string[][],
  { id, name, metric, value }: Record<'id' | 'name' | 'metric' | 'value', number>,
): KernelCounters[] {
  const byId = new Map<string, KernelCounters>();
  for (const row of rows) {
    const kernel = row[name];
    if (kernel === undefined || kernel === '' || row[metric] === undefined) continue;
    let known = byId.get(row[id]!);
    if (!known) byId.set(row[id]!, (known = empty(kernel)));
    put(known, row[metric], row[value]);
  }
  return [...byId.values()];
}

/** Rows as RFC 4180 has them; a line that is none, as ncu's own messages, is skipped. No cell goes over lines. */
const csvRows = (text: string): string[][] => text.split(/\r?\n/).flatMap((line) => csvCells(line) ?? []);

function csvCells(line: string): [string[]] | null {
  const cells: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/gy;
  for (let at = 0; ; at = cell.lastIndex) {
    cell.lastIndex = at;
    const found = cell.exec(line);
    if (found === null) return null;
    cells.push(found[1]?.replaceAll('""', '"') ?? found[2]!);
    if (found[3] === '') return [cells];
  }
}

/**
 * Reads `--exportTimes`: one row per inference. Versions before 8.2 write fewer members. `value` is undefined if the
 * text contains no row with a compute time.
 */
export function readTiming(text: string): Read<Timing> {
  const { documents, problems } = readJsonDocuments(text, {});
  const timing: Timing = { rows: [] };
  for (const entry of documents.flat()) {
    if (!isRecord(entry)) continue;
    const computeMs = numberOr(entry['computeMs']);
    if (computeMs === null) continue;
    timing.rows.push({
      computeMs,
      latencyMs: numberOr(entry['latencyMs']),
      h2dMs: numberOr(entry['h2dMs'] ?? entry['inMs']),
      d2hMs: numberOr(entry['d2hMs'] ?? entry['outMs']),
    });
  }
  if (timing.rows.length > 0) return { value: timing, problems };
  problems.push({
    severity: 'error',
    code: 'no-timing',
    message: 'Not a list of inference times: no entry has "computeMs". Use the file that trtexec --exportTimes writes.',
  });
  return { value: undefined, problems };
}

/** By part of an inference; one that was not recorded is omitted. */
export type TimingSummary = Partial<Record<keyof Timing['rows'][number], TimeDistribution>>;

export function summarizeTiming({ rows }: Timing): TimingSummary {
  const summary: TimingSummary = {};
  for (const part of ['computeMs', 'latencyMs', 'h2dMs', 'd2hMs'] as const) {
    const times = Float64Array.from(rows.flatMap((row) => row[part] ?? []));
    if (times.length > 0) summary[part] = timeDistribution(times, 1);
  }
  return summary;
}
