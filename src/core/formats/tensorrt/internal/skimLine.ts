import type { LogCursor } from './logCursor.ts';
import { onNodeInputs } from './logParser.ts';
import { enterStage, type LogState } from './logState.ts';

/** Starts of verbose lines that change nothing of what a diagnosis reads: the same lines as their handlers ignore. */
const IGNORED = [
  'Registering layer: ',
  'Registering tensor: ',
  'Searching for input: ',
  'Importing initializer: ',
  'Reading weights from external file: ',
  'Running: ',
  'Removing ',
  'Found ',
  'Swap the layer type of ',
  'Convert layer type of ',
  'Merging layers: ',
  'Eliminating ',
  'Replacing slice ',
  'Generating copy for ',
  'Retargeting ',
  'Swapping ',
  'Fusing convolution weights from ',
  'Fastest Tactic: ',
  '>>>>>>>>>>>>>>> Chose Runner Type: ',
];
const TACTIC_NAME = 'Tactic Name: ';
const STATIC_CHECK = 'Static check for parsing node: ';
const RUNNER = '--------------- Timing Runner: ';

/** The starts by their first character. */
const STARTS: (string[] | undefined)[] = [];
for (const start of [...IGNORED, TACTIC_NAME, STATIC_CHECK, RUNNER]) (STARTS[start.charCodeAt(0)] ??= []).push(start);

/** Whether lines may be skimmed: a diagnosis, which needs neither times nor registered layers, between two blocks. */
const maySkim = (state: LogState): boolean =>
  state.block === 'none' && state.held === null && state.graphNodes === null && state.broken.isEmpty;

/**
 * Reads `[time] [V] [TRT] text` where nothing but its kind counts, most of a verbose log; false: the line must be read in
 * full. `state` is that of a diagnosis.
 */
export function skimLine(state: LogState, cursor: LogCursor, text: string, from: number, to: number): boolean {
  // `[11/21/2026-09:29:17] [V] [TRT] `
  if (
    text.charCodeAt(from + 23) !== 0x56 ||
    text.charCodeAt(from + 20) !== 0x5d ||
    text.charCodeAt(from) !== 0x5b ||
    to - from < 40 ||
    !text.startsWith('] [TRT] ', from + 24) ||
    text.charCodeAt(from + 3) !== 0x2f ||
    text.charCodeAt(from + 11) !== 0x2d
  )
    return false;
  const at = from + 32;
  const first = text.charCodeAt(at);
  if (!maySkim(state)) return false;
  const starts = STARTS[first];
  if (starts === undefined) return first === 0x2f && skimInputs(state, cursor, text, at, to);
  for (const start of starts)
    if (text.startsWith(start, at)) {
      if (start === TACTIC_NAME) state.fresh = false;
      else if (start === STATIC_CHECK) state.section = 'parse';
      else if (start === RUNNER && !skimRunner(state, cursor)) return false;
      state.evidence.prefixed++;
      state.evidence.library++;
      state.evidence.phrases++;
      return true;
    }
  return false;
}

/** The layer of a runner is known from the line where its costs begin. */
function skimRunner(state: LogState, { line }: LogCursor): boolean {
  if (!state.costed || state.combination === null || !state.layer?.name) return false;
  state.section = 'tactics';
  enterStage(state, 'tactics', line);
  return true;
}

/** `/a/b [MatMul] inputs: …` of the node that is being parsed. */
function skimInputs(state: LogState, cursor: LogCursor, text: string, at: number, to: number): boolean {
  if (state.section !== 'parse') return false;
  cursor.text = text;
  cursor.from = at;
  cursor.to = to;
  state.evidence.prefixed++;
  state.evidence.library++;
  onNodeInputs(state, cursor);
  return true;
}
