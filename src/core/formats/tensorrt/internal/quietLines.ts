import type { LogState } from './logState.ts';

/**
 * Verbose lines, most of a log, of which a diagnosis needs only that they are there: attempts, deeds of the optimizer,
 * single tactics. With what they change.
 */
const QUIET: [phrase: string, effect?: (state: LogState) => void][] = [
  ['Tactic Name: ', (state) => void (state.fresh = false)],
  ['Searching for input: '],
  ['Static check for parsing node: ', (state) => void (state.section = 'parse')],
  ['Registering layer: '],
  ['Registering tensor: '],
  ['Running: '],
  ['Removing '],
  ['Reading weights from external file: '],
  ['Importing initializer: '],
  ['Found '],
  ['Fastest Tactic: '],
  ['>>>>>>>>>>>>>>> Chose Runner Type: '],
];

const byFirst: ((typeof QUIET)[number][] | undefined)[] = [];
for (const quiet of QUIET) (byFirst[quiet[0].charCodeAt(0)] ??= []).push(quiet);

/** Length of `[MM/DD/YYYY-HH:MM:SS] [V] [TRT] `. */
const PREFIX = 32;

/**
 * Reads a quiet line that continues nothing: reading it as any other line has the same result, and takes several times as
 * long. Only for a diagnosis without a model (neither `times` nor `registered`) and without a listener.
 * @returns false for any other line, which is left as it is
 */
export function readQuietLine(state: LogState, text: string, from: number, to: number): boolean {
  if (text.charCodeAt(from + 23) !== 0x56 || text.charCodeAt(from + 20) !== 0x5d) return false;
  const phrases = byFirst[text.charCodeAt(from + PREFIX)];
  if (phrases === undefined || !isCalm(state)) return false;
  for (const [phrase, effect] of phrases) {
    if (!text.startsWith(phrase, from + PREFIX)) continue;
    if (from + PREFIX + phrase.length > to || !text.startsWith('] [V] [TRT] ', from + 20) || !isTime(text, from))
      return false;
    effect?.(state);
    state.evidence.prefixed++;
    state.evidence.library++;
    state.evidence.phrases++;
    return true;
  }
  return false;
}

/** No block, list or line is open that the next one may continue or end. */
const isCalm = (state: LogState): boolean =>
  state.block === 'none' && state.held === null && state.graphNodes === null && state.broken.isEmpty;

const isTime = (text: string, at: number): boolean =>
  text.charCodeAt(at) === 0x5b && text.charCodeAt(at + 3) === 0x2f && text.charCodeAt(at + 11) === 0x2d;
