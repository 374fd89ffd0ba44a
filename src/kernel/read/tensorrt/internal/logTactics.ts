import type { TimedCombination, TimedLayer, TimedOperation } from '../buildOutput.ts';
import type { LogCursor } from './logCursor.ts';
import { currentPhase, enterStage, keep, type LogState, own, type PhraseHandler, shared } from './logState.ts';
import { sawForeignNode } from './logOptimizer.ts';

const MAX_TACTICS = 1000;
/** A line of one tactic is short. */
const MAX_TACTIC = 4000;

/** Lines of the phase that times tactics, in all wordings since TensorRT 5. */
export const TACTIC_PHRASES: [string, PhraseHandler][] = [
  ['Tactic: ', onTactic],
  ['Tactic Name: ', onNamedTactic],
  ['Tactic ', onOldTactic],
  ['=============== Computing costs for', onCosts],
  ['=============== Computing reformatting costs', onReformattingCosts],
  ['*************** Autotuning format combination: ', onCombination],
  ['*************** Autotuning Reformat:', onReformatCombination],
  ['--------------- Timing Runner: ', onRunner],
  ['--------------- Timing ', onRunner],
  ['Fastest Tactic: ', ignore],
  ['>>>>>>>>>>>>>>> Chose Runner Type: ', onChosen],
  ['Skipping tactic ', onSkippedTactic],
  ['Skipping ', onSkippedRunner],
  ['Fast skip Tactic:', onSkippedTactic],
  ['Removed ', onRemovedCombinations],
  ['Adding reformat layer: ', onReformatLayer],
  ['Constructing optimization profile number ', (state, cursor) => startTactics(state, cursor.line)],
  ['Formats and tactics selection completed in ', onSelected],
  ['Autotuning op ', onOperation],
  [' (foreignNode) ', onInsideForeignNode],
  ['Sorted table of all evaluated tactics', ignore],
  ['The selected tactic is ', onSelectedTactic],
  ['Writing the best tactic ', ignore],
];

function ignore(): void {}

function startTactics(state: LogState, line: number): void {
  state.section = 'tactics';
  enterStage(state, 'tactics', line);
}

function onCosts(state: LogState, cursor: LogCursor, at: number): void {
  startTactics(state, cursor.line);
  // Old versions leave the name out, and the blank before it may be gone, too.
  const from = cursor.text.charCodeAt(at) === 0x20 ? at + 1 : at;
  openLayer(state, cursor.text.slice(Math.min(from, cursor.to), cursor.to), cursor.line, false, true);
}

function openLayer(state: LogState, name: string, line: number, reformat: boolean, costed = false): TimedLayer {
  state.costed = costed;
  const layer: TimedLayer = { name: state.times || !reformat ? own(state, name) : name, line, combinations: [] };
  if (reformat) layer.reformat = true;
  // A diagnosis names no reformat.
  const { tactics } = currentPhase(state, line);
  if ((state.times || !reformat) && keep(state.room.timedLayers, name.length)) tactics.push(layer);
  state.layer = layer;
  state.combination = null;
  state.operation = null;
  if (!reformat) {
    state.layersTimed++;
    if (name !== '') announce(state, layer);
  }
  return layer;
}

function announce(state: LogState, layer: TimedLayer): void {
  sawForeignNode(state, layer.name, layer.line);
  state.onEvent?.({ kind: 'timing', name: layer.name, layer: state.layersTimed, line: layer.line });
}

/** From here on reformats are timed; each gets its entry from the line that names it. */
function onReformattingCosts(state: LogState, cursor: LogCursor): void {
  startTactics(state, cursor.line);
  state.layer = null;
  state.combination = null;
  state.operation = null;
}

function onCombination(state: LogState, cursor: LogCursor, at: number): void {
  startTactics(state, cursor.line);
  const layer = state.layer && !state.layer.reformat ? state.layer : openLayer(state, '', cursor.line, false);
  openCombination(state, layer, formatsOf(state, cursor, at), cursor.line);
}

function onReformatCombination(state: LogState, cursor: LogCursor, at: number): void {
  startTactics(state, cursor.line);
  openReformat(state, formatsOf(state, cursor, at), cursor.line);
}

export function openReformat(state: LogState, formats: string, line: number): void {
  const layer = state.layer?.reformat ? state.layer : openLayer(state, '', line, true);
  openCombination(state, layer, formats, line);
}

/** What names of reformats that are timed begin with. */
export const REFORMAT = 'Optimizer Reformat';

function formatsOf(state: LogState, cursor: LogCursor, at: number): string {
  if (!state.times) return '';
  return own(
    state,
    cursor.text
      .slice(at, cursor.to)
      .replace(/ \*{15}\s*$/, '')
      .trimStart(),
  );
}

function openCombination(state: LogState, layer: TimedLayer, formats: string, line: number): TimedCombination {
  let combination = state.times || !state.costed ? undefined : layer.combinations.at(-1);
  if (combination === undefined) {
    combination = { formats, line, tactics: [], chosen: null, cached: false, skipped: [] };
    if (keep(state.room.combinations, formats.length)) layer.combinations.push(combination);
  }
  state.combination = combination;
  state.fresh = true;
  state.tacticName = null;
  state.tried = [];
  if (layer.name !== '' && !layer.reformat) state.onEvent?.({ kind: 'combination', name: layer.name, formats, line });
  return combination;
}

const RUNNER = /^\(([^()[\]]*)(?:\[(0x[0-9a-f]+)\])?\)$/;

/** `X (CaskConvolution[0x80000009])`, `X (CaskConvolution)`, `X(14)` */
function onRunner(state: LogState, cursor: LogCursor, at: number): void {
  startTactics(state, cursor.line);
  // Its layer is known from the line where its costs begin.
  if (!state.times && state.costed && state.combination !== null && state.layer?.name) return;
  const text = cursor.text.slice(at, cursor.to);
  const open = text.lastIndexOf('(');
  const match = open < 0 ? null : RUNNER.exec(text.slice(open));
  const name = match === null ? text : text.slice(0, text.charCodeAt(open - 1) === 0x20 ? open - 1 : open);
  state.runner = { name: own(state, match?.[1] ?? ''), id: match?.[2] ? own(state, match[2]) : null };
  state.tacticName = null;
  const reformat = name.startsWith(REFORMAT) || (state.layer?.reformat === true && state.layer.name === '');
  nameLayer(state, name, cursor.line, reformat);
}

/** Old versions leave the name out where costs begin, or say nothing there; the runner's line has the name. */
function nameLayer(state: LogState, name: string, line: number, reformat: boolean): void {
  const { layer, combination } = state;
  if (layer !== null && layer.name === '') {
    layer.name = own(state, name);
    if (!reformat) announce(state, layer);
  } else if (layer === null || (layer.name !== name && !state.costed)) {
    const opened = openLayer(state, name, line, reformat);
    // The combination is before the name of the layer that it belongs to.
    const fresh = combination !== null && state.fresh && combination.chosen === null;
    if (fresh && layer?.combinations.at(-1) === combination) {
      layer.combinations.pop();
      opened.combinations.push(combination);
      state.combination = combination;
    }
  }
  if (state.combination === null && state.layer !== null) openCombination(state, state.layer, '', line);
}

const TACTIC = /^(0x[0-9a-f]+|-?\d+) (?:Time|time):? (\S+)/;

/** `Tactic: 0x… Time: 0.0179`, `Tactic: 1002 Time: 0.058`, `Tactic: 0x… skipped. Scratch requested: …` */
function onTactic(state: LogState, cursor: LogCursor, at: number): void {
  const text = cursor.text.slice(at, cursor.to);
  const match = TACTIC.exec(text);
  if (match) addTactic(state, state.tacticName, match[1]!, match[2]!);
  else if (text.includes('skipped')) skip(state, cursor, state.times || wantsScratch(text));
  state.tacticName = null;
}

/** TensorRT 5: `Tactic 313790760974845026 time 8.02246`, `Tactic 2 scratch requested: …` */
function onOldTactic(state: LogState, cursor: LogCursor, at: number): void {
  const text = cursor.text.slice(at, cursor.to);
  const match = TACTIC.exec(text);
  if (match) addTactic(state, null, match[1]!, match[2]!);
  else if (wantsScratch(text)) skip(state, cursor, true);
}

const NAMED_TACTIC = /^(.*?),? (?:numSplitK: .*? )?Tactic: (0x[0-9a-f]+|-?\d+)(?: Time: (\S+))?/;

function onNamedTactic(state: LogState, cursor: LogCursor, at: number): void {
  if (!state.times) {
    state.fresh = false;
    return;
  }
  const match = NAMED_TACTIC.exec(cursor.text.slice(at, Math.min(cursor.to, at + MAX_TACTIC)));
  if (match === null) return;
  if (match[3] !== undefined) addTactic(state, match[1]!, match[2]!, match[3]);
  else state.tacticName = own(state, match[1]!);
}

function addTactic(state: LogState, name: string | null, tactic: string, time: string): void {
  state.fresh = false;
  if (!state.times) return;
  const { combination, runner } = state;
  const fits =
    combination !== null &&
    combination.tactics.length < MAX_TACTICS &&
    keep(state.room.tactics, tactic.length + (name?.length ?? 0));
  const ms = milliseconds(time);
  if (!fits) return void state.tried.push({ runner: runner.name, tactic: own(state, tactic), ms });
  const timed = {
    runner: runner.name,
    runnerId: runner.id,
    name: name && shared(state, name),
    tactic: shared(state, tactic),
    ms,
  };
  state.tried.push(timed);
  combination.tactics.push(timed);
}

/** null for `inf` and `nan`. */
function milliseconds(text: string): number | null {
  const ms = Number.parseFloat(text);
  return Number.isFinite(ms) ? ms : null;
}

function onChosen(state: LogState, cursor: LogCursor, at: number): void {
  if (!state.times) return;
  const match = /^(.*?) Tactic: (0x[0-9a-f]+|-?\d+)/.exec(cursor.text.slice(at, cursor.to));
  if (match === null || state.combination === null) return;
  const runner = own(state, match[1]!);
  const tactic = own(state, match[2]!);
  const ms = state.tried.findLast((timed) => timed.runner === runner && timed.tactic === tactic)?.ms ?? null;
  state.combination.chosen = { runner, tactic, ms };
  const { layer } = state;
  if (layer && !layer.reformat)
    state.onEvent?.({ kind: 'chosen', name: layer.name, runner, tactic, ms, line: cursor.line });
}

/** A diagnosis says which tactics the workspace was too small for. */
const wantsScratch = (text: string): boolean => text.includes('cratch requested');

function skip(state: LogState, cursor: LogCursor, counts = state.times): void {
  const text = cursor.text.slice(cursor.from, cursor.to);
  if (!counts && state.onEvent === undefined) return;
  const reason = own(state, text);
  if (counts && state.combination !== null && keep(state.room.skipped, reason.length))
    state.combination.skipped.push({ reason, line: cursor.line });
  if (state.layer) state.onEvent?.({ kind: 'skipped', name: state.layer.name, reason, line: cursor.line });
}

function onSkippedRunner(state: LogState, cursor: LogCursor): void {
  const text = cursor.text.slice(cursor.from, cursor.to);
  if (text.includes(': No valid tactics for ')) skip(state, cursor);
}

function onSkippedTactic(state: LogState, cursor: LogCursor, at: number): void {
  skip(state, cursor, state.times || wantsScratch(cursor.text.slice(at, cursor.to)));
}

function onRemovedCombinations(state: LogState, cursor: LogCursor, at: number): void {
  const match = /^(\d+) format requirement combinations/.exec(cursor.text.slice(at, cursor.to));
  if (match === null) return;
  const phase = currentPhase(state, cursor.line);
  phase.removedCombinations = (phase.removedCombinations ?? 0) + Number(match[1]);
}

/**
 * `Reformatted Input Tensor 0 to X (tensor) from Float(…) to Half(…)`; names and formats may hold brackets and spaces.
 */
function onReformatLayer(state: LogState, cursor: LogCursor, at: number): void {
  if (!state.times) return;
  const text = cursor.text.slice(at, cursor.to);
  const close = text.lastIndexOf(') from ');
  const open = close < 0 ? -1 : openingBracket(text, close);
  const to = text.indexOf(' to ', close + 7);
  if (open < 1 || to < 0 || !keep(state.room.reformats, text.length)) return;
  currentPhase(state, cursor.line).reformats.push({
    layer: own(state, text.slice(0, open - 1)),
    tensor: own(state, text.slice(open + 1, close)),
    from: own(state, text.slice(close + 7, to)),
    to: own(state, text.slice(to + 4)),
    line: cursor.line,
  });
}

/** Where the bracket opens that closes at `close`; -1 without one. */
function openingBracket(text: string, close: number): number {
  let depth = 0;
  for (let at = close; at >= 0; at--) {
    const code = text.charCodeAt(at);
    if (code === 0x29) depth++;
    else if (code === 0x28 && --depth === 0) return at;
  }
  return -1;
}

function onSelected(state: LogState, cursor: LogCursor): void {
  state.section = 'finalize';
  state.layer = null;
  state.combination = null;
  state.operation = null;
  enterStage(state, 'finalize', cursor.line);
}

/** `X [formats] …` or `X (runner) …` of the layer whose tactics are being timed, or of any reformat after another one. */
export function isOfLayer(layer: TimedLayer | null, text: string, from: number, to: number): boolean {
  if (layer === null || layer.name === '') return false;
  if (layer.reformat && text.startsWith('Optimizer Reformat(', from)) return true;
  const open = from + layer.name.length;
  if (open + 1 >= to) return false;
  const bracket = text.charCodeAt(open + 1);
  if (text.charCodeAt(open) !== 0x20 || (bracket !== 0x5b && bracket !== 0x28)) return false;
  if (!text.startsWith(layer.name, from)) return false;
  const next = text.indexOf(' [', open + 1);
  return next < 0 || next >= to;
}

/** Lines with the layer's name in front; false for any other line. */
export function onTacticLine(state: LogState, cursor: LogCursor): boolean {
  if (!state.times && isOfLayer(state.layer, cursor.text, cursor.from, cursor.to)) return true;
  const text = cursor.text.slice(cursor.from, cursor.to);
  const cached = text.lastIndexOf('] got cached result: ');
  if (cached >= 0) {
    onCached(state, cursor, text, cached);
    return true;
  }
  if (text.endsWith(' has no valid tactics for this config, skipping')) {
    skip(state, cursor);
    return true;
  }
  const named = text.indexOf(' Set Tactic Name: ');
  if (named < 0) return false;
  const end = text.indexOf(' Tactic: ', named + 18);
  state.tacticName = own(state, text.slice(named + 18, end < 0 ? text.length : end).replace(/,$/, ''));
  return true;
}

/** `X [Float(…) -> Half(…)] got cached result: CaskPooling, tactic 0x…, 0.0029 ms` */
function onCached(state: LogState, cursor: LogCursor, text: string, close: number): void {
  const open = text.lastIndexOf(' [', close);
  if (!state.times && open > 0) return void cachedLayer(state, text.slice(0, open), cursor.line);
  const result = /^(.*?), tactic (0x[0-9a-f]+|-?\d+), (\S+) ms/.exec(text.slice(close + 21));
  if (open < 0 || result === null) return;
  const name = text.slice(0, open);
  const formats = own(state, text.slice(open + 2, close));
  const [runner, tactic, time] = result.slice(1).map((part) => own(state, part)) as [string, string, string];
  const layer = cachedLayer(state, name, cursor.line);
  const combination = openCombination(state, layer, formats, cursor.line);
  combination.cached = true;
  combination.chosen = { runner, tactic, ms: milliseconds(time) };
  state.onEvent?.({ kind: 'cache-hit', name, hits: state.log.timingCacheHits, line: cursor.line });
}

/** The layer that a result of the timing cache is of. */
function cachedLayer(state: LogState, name: string, line: number): TimedLayer {
  const reformat = name.startsWith('Optimizer Reformat(');
  state.log.timingCacheHits++;
  if (state.layer === null || (state.layer.name !== name && state.layer.name !== ''))
    openLayer(state, name, line, reformat);
  const layer = state.layer!;
  if (layer.name === '') {
    layer.name = name;
    if (!reformat) announce(state, layer);
  }
  return layer;
}

/** ` (foreignNode) …`: the compiler's own lines; newer versions put their tables there. */
function onInsideForeignNode(state: LogState, cursor: LogCursor, at: number): void {
  const { text } = cursor;
  if (text.startsWith('Autotuning op ', at)) onOperation(state, cursor, at + 14);
  else if (text.startsWith('The selected tactic is ', at)) onSelectedTactic(state, cursor, at + 23);
  else onTableRow(state, cursor, at);
}

/** `matMul1(key: 0x1814…):`, `node_linear: [ONNX Layer: node_linear]` */
function onOperation(state: LogState, cursor: LogCursor, at: number): void {
  const text = cursor.text.slice(at, cursor.to);
  const match = /^(.*?)(?:\(key: (0x[0-9a-fA-F]+)\))?:(?: (\[ONNX Layer: .*))?$/s.exec(text) ?? [text, text];
  if (!keep(state.room.operations, text.length)) {
    state.operation = null;
    return;
  }
  const operation: TimedOperation = {
    name: own(state, match[1] ?? ''),
    key: match[2] ? own(state, match[2]) : null,
    metadata: match[3] ? own(state, match[3]) : null,
    layer: state.layer?.name ?? null,
    line: cursor.line,
    tactics: [],
    chosen: null,
  };
  (currentPhase(state, cursor.line).operations ??= []).push(operation);
  state.operation = operation;
}

const TABLE_ROW = /^\s*(\d+), ([\d.e+-]+|inf|nan), ([\d.e+-]+|inf|nan), [^,]*, (.*), (0x[0-9a-fA-F]+),/;

/** `   3, 0.0112640, 1.00000, 0.50673, sm80_xmma_gemm_…, 0x665ded9abbf88,`: false for any other line. */
export function onTableRow(state: LogState, cursor: LogCursor, at: number): boolean {
  const { operation } = state;
  if (operation === null) return false;
  const match = TABLE_ROW.exec(cursor.text.slice(at, cursor.to));
  if (match === null) return false;
  const [, id, ms, ratio, kernel, hash] = match.map((part) => own(state, part)) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  if (operation.tactics.length >= MAX_TACTICS || !keep(state.room.tactics, kernel.length + hash.length)) return true;
  operation.tactics.push({ id: Number(id), ms: milliseconds(ms), ratio: milliseconds(ratio), kernel, hash });
  return true;
}

function onSelectedTactic(state: LogState, cursor: LogCursor, at: number): void {
  const match = /:\s*(0x[0-9a-fA-F]+),\s*(\S+)/.exec(cursor.text.slice(at, cursor.to));
  if (match && state.operation) state.operation.chosen = { hash: own(state, match[1]!), ms: milliseconds(match[2]!) };
}
