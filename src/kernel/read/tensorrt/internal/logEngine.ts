import type { EngineLayer, LoggedShape, LoggedTimingCache } from '../buildOutput.ts';
import type { LogCursor } from './logCursor.ts';
import {
  enterStage,
  forget,
  keep,
  kept,
  type LayerList,
  type LogState,
  own,
  type PhraseHandler,
  type Room,
} from './logState.ts';
import { bareLayer, readDetailedLayer, readNativeLayer } from '../readLayerLine.ts';

/** Lines about the finished engine: its layers, memory, times, and the table of `--dumpProfile`. */
export const ENGINE_PHRASES: [string, PhraseHandler][] = [
  ['Engine Layer Information:', (state, cursor) => openList(state, cursor)],
  ['Layers:', (state, cursor) => openList(state, cursor)],
  ['Layer: ', onFinalLayer],
  ['Total number of blocks in pre-optimized', (state) => (state.restartFinalLayers = true)],
  ['Total Activation Memory: ', (state, cursor, at) => (state.log.memory.activation = bytes(cursor, at))],
  ['Total Weights Memory: ', (state, cursor, at) => (state.log.memory.weights = bytes(cursor, at))],
  ['Max Scratch Memory: ', (state, cursor, at) => (state.log.memory.scratch = bytes(cursor, at))],
  ['Total Scratch Memory: ', (state, cursor, at) => (state.log.memory.scratch = bytes(cursor, at))],
  ['Total Host Persistent Memory: ', (state, cursor, at) => (state.log.memory.hostPersistent = bytes(cursor, at))],
  ['Total Device Persistent Memory: ', (state, cursor, at) => (state.log.memory.devicePersistent = bytes(cursor, at))],
  [
    'Created engine with size: ',
    (state, cursor, at) => (state.log.memory.engine = sized(cursor.text.slice(at, cursor.to))),
  ],
  ['Memory Pools', onMemoryPools],
  ['Input build shape: ', onBuiltShape],
  ['Input build shape (profile ', onBuiltShapeOfProfile],
  ['Dynamic dimensions required for input: ', onDefaultedShape],
  ['Local timing cache in use', (state) => (cacheOf(state).mode = 'local')],
  ['Global timing cache in use', (state) => (cacheOf(state).mode = 'global')],
  ['Timing cache disabled', (state) => (cacheOf(state).mode = 'disabled')],
  ['Disabling tactic timing cache', (state) => (cacheOf(state).mode = 'disabled')],
  ['Loaded ', onCacheFile],
  ['Saved ', onCacheFile],
  ['Serialized ', onCacheFile],
  ['Deleting timing cache: ', onCacheDeleted],
  ['Engine generation completed in ', onGenerated],
  // Also where the level INFO is all that a program prints.
  ['[MemUsageStats] Peak memory usage of TRT CPU/GPU', onFinished],
  ['[MemUsageChange] TensorRT-managed allocation in building engine', onFinished],
  ['Engine built in ', onBuilt],
  ['Finished engine building in ', onBuilt],
  ['Adding ', onPlan],
  ['=== Profile (', (state) => onProfile(state)],
  ['Starting inference', (state, cursor) => startRun(state, cursor)],
];

function bytes(cursor: LogCursor, at: number): number | null {
  const value = Number.parseInt(cursor.text.slice(at, cursor.to), 10);
  return Number.isFinite(value) ? value : null;
}

/** `13.1 MiB` in bytes. */
function sized(text: string): number | null {
  const match = /^([\d.]+) ?(B|KiB|MiB|GiB)?/.exec(text);
  if (match === null) return null;
  const unit = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }[match[2] ?? 'MiB'] ?? 1;
  return Math.round(Number(match[1]) * unit);
}

function cacheOf(state: LogState): LoggedTimingCache {
  return (state.log.timingCache ??= { mode: null, loadedBytes: null, savedBytes: null, entries: null, served: null });
}

/** `Saved 74236 bytes of timing cache to tc.bin`, `Serialized 15 timing cache entries` */
function onCacheFile(state: LogState, cursor: LogCursor): void {
  const match = /^(Loaded|Saved|Serialized) (\d+) (bytes of timing cache|timing cache entries)/.exec(
    cursor.text.slice(cursor.from, Math.min(cursor.to, cursor.from + 100)),
  );
  if (match === null) return;
  const cache = cacheOf(state);
  const count = Number(match[2]);
  if (match[3] === 'timing cache entries') cache.entries = count;
  else if (match[1] === 'Loaded') cache.loadedBytes = count;
  else cache.savedBytes = count;
}

/** `2 entries, served 0 hits since creation.`, in older versions `29 entries, 0 hits` */
function onCacheDeleted(state: LogState, cursor: LogCursor, at: number): void {
  const match = /^(\d+) entries, (?:served )?(\d+) hits/.exec(cursor.text.slice(at, cursor.to));
  if (match === null) return;
  const cache = cacheOf(state);
  cache.entries = Number(match[1]);
  cache.served = Number(match[2]);
}

/** trtexec's `Memory Pools: workspace: 1024 MiB, …` (`default` says no number), Polygraphy's `Memory Pools | [WORKSPACE: 1024.00 MiB, …`. */
function onMemoryPools(state: LogState, cursor: LogCursor, at: number): void {
  const match = /workspace: ([\d.]+ \w+)/i.exec(cursor.text.slice(at, cursor.to));
  state.log.memory.workspace = match ? sized(match[1]!) : null;
}

/** trtexec's `Input build shape: x=1x8+4x64+8x256`, before TensorRT 10. */
function onBuiltShape(state: LogState, cursor: LogCursor, at: number, profile = 0): void {
  const match = /^(.+)=([\dx]*)\+([\dx]*)\+([\dx]*)\s*$/.exec(cursor.text.slice(at, cursor.to));
  if (match === null) return;
  const [, input, min, opt, max] = match;
  addBuiltShape(state, { profile, input: input!, min: sizes(min!), opt: sizes(opt!), max: sizes(max!) });
}

/** The same of TensorRT 10: `Input build shape (profile 0): x=…`. */
function onBuiltShapeOfProfile(state: LogState, cursor: LogCursor, at: number): void {
  const number = /^(\d+)\): /.exec(cursor.text.slice(at, at + 20));
  if (number !== null) onBuiltShape(state, cursor, at + number[0].length, Number(number[1]));
}

/** trtexec's `…x, but no shapes were provided. Automatically overriding shape to: 1x1`. */
function onDefaultedShape(state: LogState, cursor: LogCursor, at: number): void {
  const match = /^(.+), but no shapes were provided\. Automatically overriding shape to: ([\dx]*)\s*$/.exec(
    cursor.text.slice(at, cursor.to),
  );
  if (match === null) return;
  const shape = sizes(match[2]!);
  addBuiltShape(state, { profile: 0, input: match[1]!, min: shape, opt: shape, max: shape });
}

const sizes = (text: string): number[] => (text === '' ? [] : text.split('x').map(Number));

function addBuiltShape(state: LogState, shape: LoggedShape): void {
  const others = (state.log.builtShapes ?? []).filter(
    ({ profile, input }) => profile !== shape.profile || input !== shape.input,
  );
  if (keep(state.room.bindings, shape.input.length))
    state.log.builtShapes = [...others, { ...shape, input: own(state, shape.input) }];
}

function onFinished(state: LogState, cursor: LogCursor): void {
  state.verdict = { outcome: 'passed', line: cursor.line };
}

function onGenerated(state: LogState, cursor: LogCursor, at: number): void {
  onFinished(state, cursor);
  const seconds = Number.parseFloat(cursor.text.slice(at, cursor.to));
  if (Number.isFinite(seconds) && state.log.seconds.build === null) state.log.seconds.build = seconds;
}

function onBuilt(state: LogState, cursor: LogCursor, at: number): void {
  onFinished(state, cursor);
  const seconds = Number.parseFloat(cursor.text.slice(at, cursor.to));
  if (Number.isFinite(seconds)) state.log.seconds.build = seconds;
}

/** `Adding 1 engine(s) to plan file.` */
function onPlan(state: LogState, cursor: LogCursor): void {
  if (cursor.text.slice(cursor.from, cursor.to).includes('engine(s) to plan file')) onFinished(state, cursor);
}

function startRun(state: LogState, cursor: LogCursor): void {
  state.section = 'run';
  enterStage(state, 'run', cursor.line);
}

/** `X Host Persistent: 5296 Device Persistent: 0 Scratch Memory: 0`: the layers in their final order. */
function onFinalLayer(state: LogState, cursor: LogCursor, at: number): void {
  if (!state.times) return;
  const text = cursor.text.slice(at, cursor.to);
  const end = text.lastIndexOf(' Host Persistent: ');
  if (end < 0) return;
  if (state.restartFinalLayers) {
    state.restartFinalLayers = false;
    state.log.finalLayers = [];
    delete state.log.memory.layerScratch;
    forget(state.room.finalLayers);
  }
  if (!keep(state.room.finalLayers, end)) return;
  const name = kept(state, cursor, at, at + end);
  state.log.finalLayers.push(name);
  const scratch = Number(/ Scratch Memory: (\d+)/.exec(text.slice(end))?.[1] ?? 0);
  if (scratch > 0) (state.log.memory.layerScratch ??= []).push({ name, bytes: scratch, line: cursor.line });
}

/** Opens a list of engine layers; the lines after it, without prefix, are its entries. */
export function openList(state: LogState, cursor: LogCursor): void {
  closeList(state);
  state.lastList = null;
  const source = cursor.severity === 'info' || cursor.severity === 'none' ? 'inspector' : 'builder';
  state.list = { source, line: cursor.line, run: state.log.runs?.length ?? 0, lines: [], bindings: [] };
  forget(roomOf(state, state.list));
  state.block = 'layers';
}

/** The list is over: it replaces the one before it of the same source, if it contains anything. */
export function closeList(state: LogState): void {
  const { list } = state;
  state.list = null;
  if (list === null || list.lines.length === 0) return;
  state.lastList = list;
  if (list.source === 'builder') state.builderList = list;
  else state.inspectorList = list;
}

/** Goes on with a list that another thread's line broke off, where a line can be nothing but an entry of it. */
export function resumeList(state: LogState, cursor: LogCursor): boolean {
  const { lastList } = state;
  if (lastList === null || formOf(lastList.lines[0]!.text) === null) return false;
  const text = cursor.text.slice(cursor.from, cursor.to);
  if (formOf(text.trimStart()) !== formOf(lastList.lines[0]!.text)) return false;
  state.list = lastList;
  state.block = 'layers';
  return onListLine(state, cursor);
}

/** How a list writes its entries; null for names alone. */
const formOf = (text: string): 'detailed' | 'native' | null =>
  text.startsWith('Layer(') && text.includes(', Tactic: ')
    ? 'native'
    : text.startsWith('Name: ') && text.includes(', LayerType: ')
      ? 'detailed'
      : null;

/** The first line of an entry whose name goes on in the next one. */
const isBrokenEntry = ({ broken }: LogState, text: string): boolean =>
  !broken.isEmpty && text.startsWith('Name: ') && broken.endsAt(text);

/** A line of another form behind a whole entry is no part of the list; behind half of one it is the rest. */
function isForeignLine(list: LayerList, text: string): boolean {
  const first = list.lines[0];
  const form = first === undefined ? null : formOf(first.text);
  if (form === null || formOf(text) === form) return false;
  const last = list.lines.at(-1)!.text;
  if (form === 'native') return readNativeLayer(last, 1) !== null;
  const metadata = last.lastIndexOf(', Metadata: ');
  return metadata >= 0 && /(?:^ *|\])$/.test(last.slice(metadata + 12).trimEnd());
}

/** A line inside a list; false if the list is over. */
export function onListLine(state: LogState, cursor: LogCursor): boolean {
  const { list } = state;
  if (list === null) return false;
  const text = cursor.text.slice(cursor.from, cursor.to);
  const trimmed = text.trim();
  if (state.block === 'layers') return onLayerLine(state, list, text, trimmed, cursor);
  if (trimmed === '') {
    if (state.block === 'bindings' && list.bindings.length === 0) return true;
    state.block = 'none';
    closeList(state);
    return true;
  }
  if (state.block === 'io-tensors') {
    const match = /^Name: (.*), IOMode: (\w+)/.exec(trimmed);
    if (match && keep(state.room.bindings, match[1]!.length)) list.bindings.push(own(state, match[1]!));
    return match !== null;
  }
  if (keep(state.room.bindings, trimmed.length)) list.bindings.push(own(state, trimmed));
  return true;
}

/** Of a list whose layers do not matter, the first entry, which shows its form, and the last one, which may go on. */
function addEntry(state: LogState, list: LayerList, text: string, line: number): void {
  if (!state.times && list.lines.length > 1) list.lines[1] = { text, line };
  else if (keep(roomOf(state, list), text.length)) list.lines.push({ text: own(state, text), line });
}

function onLayerLine(state: LogState, list: LayerList, text: string, trimmed: string, cursor: LogCursor): boolean {
  const entry = list.lines.at(-1);
  if (entry && !state.broken.isEmpty && state.broken.goesOn(entry.text, text)) {
    if (keep(roomOf(state, list), text.length)) entry.text += `\n${own(state, text)}`;
    return true;
  }
  if (trimmed === '') return true;
  if (trimmed === 'Bindings:') state.block = 'bindings';
  else if (trimmed === 'I/O Tensors:') state.block = 'io-tensors';
  else {
    const last = list.lines.at(-1);
    if (last !== undefined && trimmed.startsWith('[ONNX Layer: ') && last.text.includes(', Metadata: ')) {
      if (keep(roomOf(state, list), trimmed.length)) last.text += `\x1e${own(state, trimmed)}`;
    } else if (!isBrokenEntry(state, text) && isForeignLine(list, trimmed)) {
      state.block = 'none';
      closeList(state);
      return false;
    } else addEntry(state, list, text.trimStart(), cursor.line);
  }
  return true;
}

function roomOf(state: LogState, list: LayerList): Room {
  return list.source === 'builder' ? state.room.engineLayers : state.room.inspectorLayers;
}

/** Puts the last lists into the result: the builder's own before the inspector's, unless that is of a later run. */
export function finishLists(state: LogState): void {
  closeList(state);
  const { builderList, inspectorList, log } = state;
  const last =
    builderList === null || (inspectorList !== null && inspectorList.run > builderList.run)
      ? inspectorList
      : builderList;
  if (last === null) return;
  log.engineLayers = state.times ? readList(last) : last.lines.map(({ text, line }) => bareLayer(text, line));
  log.bindings = last.bindings.length > 0 ? last.bindings : (inspectorList?.bindings ?? []);
  if (!state.times || inspectorList === null || inspectorList === last || inspectorList.run !== last.run) return;
  const same = inspectorList.lines.length === last.lines.length && !last.lines[0]!.text.startsWith('Layer(');
  if (!same) log.inspectorLayers = readList(inspectorList);
}

function readList(list: LayerList): EngineLayer[] {
  return list.lines.map(
    ({ text, line }) => readNativeLayer(text, line) ?? readDetailedLayer(text, line) ?? bareLayer(text, line),
  );
}

const COLUMNS: [RegExp, string][] = [
  // Torch-TensorRT: times of all invocations together
  [/^TensorRT layer name/, 'name'],
  [/^Runtime, %/, 'percentage'],
  [/^Invocations/, 'invocations'],
  [/^Runtime, ms/, 'timeMs'],
  [/^Layer\b/, 'name'],
  [/^Time ?\(ms\)/, 'timeMs'],
  [/^Avg\. ?(?:Time )?\(ms\)/, 'averageMs'],
  [/^Median ?(?:Time )?\(ms\)/, 'medianMs'],
  [/^Time ?\(?%\)?/, 'percentage'],
];

function onProfile(state: LogState): void {
  state.log.profile = [];
  forget(state.room.profile);
  state.profileColumns = [];
  state.block = 'profile';
}

const TORCH_HEADER = /^ *TensorRT layer name +Runtime, % +Invocations +Runtime, ms$/;

/** A line of Torch-TensorRT's table, none of which has a prefix; its columns are as wide as the longest name. */
export function readTorchProfile(state: LogState, cursor: LogCursor): boolean {
  const { text, from, to } = cursor;
  if (state.block === 'profile' && state.profileColumns?.includes('invocations')) {
    if (onProfileLine(state, cursor)) return true;
    state.block = 'none';
    state.profileColumns = null;
  }
  if (!text.endsWith('Runtime, ms', to) || !TORCH_HEADER.test(text.slice(from, to))) return false;
  onProfile(state);
  return onProfileLine(state, cursor);
}

const NUMBER = / *([-+\d.einfaINF]+)(?= |$)/y;

/** The cells of a row: numbers and a name, which may hold anything and stands first in old versions, last in others. */
function profileCells(columns: string[], text: string): string[] | null {
  const numbers = columns.length - 1;
  const cells: string[] = [];
  if (columns[0] !== 'name') {
    NUMBER.lastIndex = 0;
    let end = 0;
    for (let index = 0; index < numbers; index++) {
      const match = NUMBER.exec(text);
      if (match === null) return null;
      cells.push(match[1]!);
      end = NUMBER.lastIndex;
    }
    return [...cells, text.slice(end).replace(/^ {1,3}/, '')];
  }
  let end = text.trimEnd().length;
  for (let index = 0; index < numbers; index++) {
    const blank = text.lastIndexOf(' ', end - 1);
    if (blank < 0 || !/^[-+\d.einfaINF]+%?$/.test(text.slice(blank + 1, Math.min(end, blank + 40)))) return null;
    cells.unshift(text.slice(blank + 1, end));
    end = blank;
    while (end > 0 && text.charCodeAt(end - 1) === 0x20) end--;
  }
  return [text.slice(0, end).trimStart(), ...cells];
}

const ROW = / *\d+(?:\.\d*)? +\d/y;

/** A line of the profile's table that only has times. */
function isProfileRow({ text, from, to, severity }: LogCursor): boolean {
  ROW.lastIndex = from;
  return severity === 'info' && ROW.test(text) && !text.startsWith('Total', to - 5);
}

/** A line of the profile's table, header first; false if the table is over. Old versions have the name in front. */
export function onProfileLine(state: LogState, cursor: LogCursor): boolean {
  const columns = state.profileColumns;
  if (columns === null) return false;
  if (!state.times && columns.length > 0 && isProfileRow(cursor)) return true;
  const text = cursor.text.slice(cursor.from, cursor.to);
  if (columns.length === 0) {
    for (let rest = text.trim(); rest !== '';) {
      const found = COLUMNS.find(([pattern]) => pattern.test(rest));
      if (found === undefined) return false;
      columns.push(found[1]);
      rest = rest.replace(found[0], '').trim();
    }
    return columns.length > 0;
  }
  const values = profileCells(columns, text);
  if (values === null) return false;
  const row: Record<string, string> = {};
  columns.forEach((column, index) => (row[column] = values[index] ?? ''));
  const name = row['name'] ?? '';
  if (name.trim() === 'Total') return false;
  if (keep(state.room.profile, name.length))
    state.log.profile.push({
      name: own(state, name),
      timeMs: Number(row['timeMs']),
      averageMs: Number(row['averageMs'] ?? Number(row['timeMs']) / Number(row['invocations'])),
      medianMs: row['medianMs'] === undefined ? null : Number(row['medianMs']),
      percentage: Number.parseFloat(row['percentage']!),
    });
  return true;
}
