import type { FusionEvent, LoggedForeignNode } from '../buildOutput.ts';
import type { LogCursor } from './logCursor.ts';
import {
  currentPhase,
  enterStage,
  keep,
  kept,
  type LogState,
  own,
  type PhraseHandler,
  startPhase,
} from './logState.ts';
import { isForeignNodeName } from '../../../network/layerName.ts';

/** Lines of the graph optimizer: the funnel, fusions, removals, ForeignNodes. */
export const OPTIMIZER_PHRASES: [string, PhraseHandler][] = [
  ['Original: ', onFunnel],
  ['After ', onFunnel],
  ['Running: ', onRunning],
  [
    'Removing ',
    (state, cursor, at) => addEvent(state, cursor, 'remove', state.pass, [cursor.text.slice(at, cursor.to)]),
  ],
  ['Found ', onPattern],
  ['Swap the layer type of ', onConversion],
  ['Convert layer type of ', onConversion],
  ['Merging conv layers: ', onMerge],
  ['Merging layers: ', onMerge],
  [
    'Eliminating concatenation ',
    (state, cursor, at) => addEvent(state, cursor, 'eliminate', 'concat', [cursor.text.slice(at, cursor.to)]),
  ],
  ['Eliminating slice ', onEliminatedSlice],
  ['Eliminating ', onDuplicate],
  ['Replacing slice ', onReplacedSlice],
  ['Generating copy for ', onCopy],
  ['Retargeting ', onRetarget],
  ['Swapping ', onSwap],
  ['Fusing convolution weights from ', onWeights],
  ['Perform graph optimization on calibration graph', (state) => (state.calibrating = true)],
  ['Starting Calibration', onCalibration],
  ['Calibration completed in ', (state) => (state.calibrating = false)],
  ['Writing Calibration Cache', (state) => (state.calibrating = false)],
  ['Building graph using backend strategy ', onStrategy],
  ['GRAPH NODES', onGraphNodes],
  ['ForeignNode {', onForeignNode],
];

function onFunnel(state: LogState, cursor: LogCursor, at: number): void {
  const text = cursor.text.slice(cursor.from, cursor.to);
  const match = /^(.+): (\d+) layers?\s*$/.exec(text);
  if (match === null) return;
  const original = cursor.text.charCodeAt(cursor.from) === 0x4f;
  const phase = original ? startPhase(state, cursor.line) : currentPhase(state, cursor.line);
  void at;
  state.begun = true;
  state.verdict = null;
  const stage = own(state, match[1]!);
  const layers = Number(match[2]);
  if (original) {
    state.section = 'optimize';
    state.builds.optimize(cursor.line);
    enterStage(state, state.calibrating ? 'calibrate' : 'optimize', cursor.line);
  }
  if (stage === 'After reformat layers') state.section = 'finalize';
  if (keep(state.room.funnel, stage.length)) phase.funnel.push({ stage, layers, line: cursor.line });
  state.onEvent?.({ kind: 'funnel', stage, layers, line: cursor.line });
}

/** An attempt, not yet a deed; it names the pass for the lines after it that do not. */
function onRunning(state: LogState, cursor: LogCursor, at: number): void {
  if (
    cursor.text.startsWith(state.pass, at) &&
    cursor.text.charCodeAt(at + state.pass.length) === 0x20 &&
    state.pass !== ''
  )
    return;
  const text = cursor.text.slice(at, cursor.to);
  const end = text.indexOf(' ');
  state.pass = own(state, end < 0 ? text : text.slice(0, end));
}

function addEvent(state: LogState, cursor: LogCursor, kind: FusionEvent['kind'], pass: string, layers: string[]): void {
  if (!state.times || !keep(state.room.events, cursor.to - cursor.from)) return;
  if (state.copies) for (let index = 0; index < layers.length; index++) layers[index] = own(state, layers[index]!);
  (state.phase ?? currentPhase(state, cursor.line)).events.push({ pass, kind, layers, line: cursor.line });
}

function onPattern(state: LogState, cursor: LogCursor, at: number): void {
  const { text, to } = cursor;
  for (const [pattern, end] of PATTERNS)
    if (text.startsWith(end, to - end.length)) {
      addEvent(state, cursor, 'pattern', pattern, [text.slice(at, to - end.length)]);
      return;
    }
  const [between, end] = [' to be part of ', ' pattern.'];
  const middle = text.lastIndexOf(between, to);
  if (middle >= at && text.startsWith(end, to - end.length))
    addEvent(state, cursor, 'pattern', own(state, text.slice(middle + between.length, to - end.length)), [
      text.slice(at, middle),
    ]);
}

const PATTERNS = ['self-attention', 'layer norm'].map((name) => [name, ` to be part of ${name} pattern.`] as const);

/** `… X from ACTIVATION to POINTWISE`, `… X from QUANTIZE to kQDQ` */
function onConversion(state: LogState, cursor: LogCursor, at: number): void {
  const match = /^(.*) from [A-Z_]+ to \w+$/.exec(cursor.text.slice(at, cursor.to));
  if (match) addEvent(state, cursor, 'convert', state.pass, [match[1]!]);
}

function onMerge(state: LogState, cursor: LogCursor, at: number): void {
  addEvent(state, cursor, 'merge', 'merge', cursor.text.slice(at, cursor.to).split(' || '));
}

function onEliminatedSlice(state: LogState, cursor: LogCursor, at: number): void {
  addEvent(state, cursor, 'eliminate', 'slice', [before(cursor.text.slice(at, cursor.to), ' by retargeting ')]);
}

function onDuplicate(state: LogState, cursor: LogCursor, at: number): void {
  const match = /^(.*) which duplicates (?:\(\w+\) )?(.*)/s.exec(cursor.text.slice(at, cursor.to));
  if (match) addEvent(state, cursor, 'eliminate', 'duplicate', [match[1]!, match[2]!]);
}

function onReplacedSlice(state: LogState, cursor: LogCursor, at: number): void {
  addEvent(state, cursor, 'copy', 'slice', [before(cursor.text.slice(at, cursor.to), ' with copy from ')]);
}

/** `a to b because input is not movable.` */
function onCopy(state: LogState, cursor: LogCursor, at: number): void {
  const text = cursor.text.slice(at, cursor.to);
  const because = text.lastIndexOf(' because ');
  const to = text.indexOf(' to ');
  if (to < 0 || because < to) return;
  addEvent(state, cursor, 'copy', 'copy', [text.slice(0, to), text.slice(to + 4, because)]);
}

function onRetarget(state: LogState, cursor: LogCursor, at: number): void {
  const match = /^(.*?) to (.*)/s.exec(cursor.text.slice(at, cursor.to));
  if (match) addEvent(state, cursor, 'eliminate', 'retarget', [match[1]!, match[2]!]);
}

function onSwap(state: LogState, cursor: LogCursor, at: number): void {
  const match = /^(.*?) with (.*)/s.exec(cursor.text.slice(at, cursor.to));
  if (match) addEvent(state, cursor, 'swap', state.pass, [match[1]!, match[2]!]);
}

function onWeights(state: LogState, cursor: LogCursor, at: number): void {
  const match = /^(.*?) with (?:scale )?(.*)/.exec(cursor.text.slice(at, cursor.to));
  if (match) addEvent(state, cursor, 'fuse', 'convolution weights', [match[1]!, match[2]!]);
}

function before(text: string, mark: string): string {
  const at = text.indexOf(mark);
  return at < 0 ? text : text.slice(0, at);
}

/** `PassName: Fusing A with B`, `PassName: fusing (A and B) into C`; false for any other line. */
export function onFusion(state: LogState, cursor: LogCursor): boolean {
  const { text } = cursor;
  let at = cursor.from;
  while (isWord(text.charCodeAt(at))) at++;
  if (at === cursor.from || text.charCodeAt(at) !== 0x3a) return false;
  if (!text.startsWith('using ', at + 3)) return false;
  const rest = text.slice(at + 9, cursor.to);
  const into = text.charCodeAt(at + 2) === 0x66 ? rest.lastIndexOf(' into ') : -1;
  const split = into < 0 ? rest.indexOf(' with ') : into;
  if (split < 0) return false;
  if (!state.times) return true;
  const pass =
    text.startsWith(state.pass, cursor.from) && state.pass.length === at - cursor.from
      ? state.pass
      : kept(state, cursor, cursor.from, at);
  state.pass = pass;
  const [first, second] = [rest.slice(0, split), rest.slice(split + 6)];
  if (into < 0) addEvent(state, cursor, 'fuse', pass, [first, second]);
  else addEvent(state, cursor, 'absorb', pass, [second, ...listed(first)]);
  return true;
}

/** `(A and B)`, or one name. */
const listed = (text: string): string[] =>
  text.startsWith('(') && text.endsWith(')') && text.includes(' and ') ? text.slice(1, -1).split(' and ') : [text];

function isWord(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39) || code === 0x5f
  );
}

function onCalibration(state: LogState, cursor: LogCursor): void {
  enterStage(state, 'calibrate', cursor.line);
}

function onStrategy(state: LogState, cursor: LogCursor, at: number): void {
  const strategy = Number.parseInt(cursor.text.slice(at, cursor.to), 10);
  if (Number.isFinite(strategy) && state.phase) state.phase.strategy = strategy;
}

/** `ForeignNode {ForeignNode[a...b]} metadata: [ONNX Layer: …]…`: every member, in TensorRT's own words. */
function onForeignNode(state: LogState, cursor: LogCursor, at: number): void {
  const text = cursor.text.slice(at - 1, cursor.to);
  const split = text.indexOf('} metadata:');
  if (split < 0) return;
  const phase = currentPhase(state, cursor.line);
  const name = own(state, text.slice(0, split + 1));
  const metadata = own(state, text.slice(split + 11).replace(/^ /, ''));
  const known = state.foreignByName.get(name);
  if (known === undefined) announceForeignNode(state, name, cursor.line);
  const fits = keep(state.room.foreignNodes, metadata.length);
  if (!fits && known === undefined) return;
  const node: LoggedForeignNode = known?.metadata === null ? known : { name, line: cursor.line, metadata: null };
  if (known?.metadata !== metadata) {
    if (node !== known) phase.foreignNodes.push(node);
    state.foreignByName.set(name, node);
    if (fits) node.metadata = metadata;
    if (!fits || cursor.cut) node.truncated = true;
    state.foreignNode = node;
  } else state.foreignNode = null;
  state.block = 'foreign-node';
}

function onGraphNodes(state: LogState, cursor: LogCursor): void {
  state.graphNodes = currentPhase(state, cursor.line).graphNodes = [];
}

/** `FILL rnd`, then its shapes, each line further in; false if the list is over. */
export function onGraphNode(state: LogState, cursor: LogCursor): boolean {
  const { text, from, to } = cursor;
  if (text.charCodeAt(from) === 0x20) return true;
  const match = /^([A-Z][A-Z_0-9]*) (?=[^])/.exec(text.slice(from, Math.min(to, from + 60)));
  if (match === null) {
    state.graphNodes = null;
    return false;
  }
  const at = from + match[0].length;
  if (keep(state.room.graphNodes, to - at))
    state.graphNodes?.push({ kind: own(state, match[1]!), name: kept(state, cursor, at), line: cursor.line });
  return true;
}

/** Notes a ForeignNode that is only costed. */
export function sawForeignNode(state: LogState, name: string, line: number): void {
  if (!isForeignNodeName(name)) return;
  const phase = currentPhase(state, line);
  if (state.foreignByName.has(name) || !keep(state.room.foreignNodes, name.length)) return;
  const node: LoggedForeignNode = { name, line, metadata: null };
  state.foreignByName.set(name, node);
  phase.foreignNodes.push(node);
  announceForeignNode(state, name, line);
}

function announceForeignNode(state: LogState, name: string, line: number): void {
  const isLoadable = state.log.devices?.loadables.includes(name) ?? false;
  state.onEvent?.({ kind: 'foreign-node', name, line, ...(isLoadable && { device: 'dla' }) });
}

/**
 * A line without prefix after a `metadata:` line: a writer that takes U+001E for a line end breaks the list there.
 * Returns false if the line continues nothing.
 */
export function onForeignNodeContinued(state: LogState, cursor: LogCursor): boolean {
  const text = cursor.text.slice(cursor.from, cursor.to).trimStart();
  if (!text.startsWith('[ONNX Layer: ') || state.foreignNode === null) return false;
  if (keep(state.room.foreignNodes, text.length))
    state.foreignNode.metadata = `${state.foreignNode.metadata ?? ''}\x1e${own(state, text)}`;
  else state.foreignNode.truncated = true;
  return true;
}
