import { readNodeInputs } from './logParser.ts';
import { phraseAt, phraseIn, SHORTEST } from './logPhrases.ts';
import type { LogState } from './logState.ts';
import { isOfLayer, openReformat, REFORMAT } from './logTactics.ts';

/** What a quiet line changes; false: here it is not quiet. */
type Effect = (state: LogState, text: string, at: number, to: number) => boolean;

const none: Effect = () => true;

const SPACE = 0x20;

/** A tactic of a layer that is known from the line where its costs begin. */
const ofKnownLayer: Effect = (state) => {
  if (!state.costed || state.combination === null || !state.layer?.name) return false;
  state.section = 'tactics';
  return true;
};

/** Phrases of verbose lines, most of a log, of which a diagnosis needs only that they are there. */
const QUIET: [string, Effect][] = [
  [
    'Tactic Name: ',
    (state) => {
      state.fresh = false;
      return true;
    },
  ],
  ['Searching for input: ', none],
  [
    'Static check for parsing node: ',
    (state) => {
      state.section = 'parse';
      return true;
    },
  ],
  ['Registering layer: ', none],
  ['Registering tensor: ', none],
  ['Running: ', none],
  ['Removing ', none],
  ['Reading weights from external file: ', none],
  ['Importing initializer: ', none],
  ['Found ', none],
  ['Registered plugin creator', none],
  ['Layer: ', none],
  ['Skipping ', none],
  ['Fastest Tactic: ', none],
  ['>>>>>>>>>>>>>>> Chose Runner Type: ', none],
  [
    'Tactic: ',
    (state, text, at, to) => {
      // `0x1 Time: 0.1`; what was skipped may have needed more workspace.
      let end = at;
      while (end < to && text.charCodeAt(end) !== SPACE) end++;
      if (!text.startsWith(' Time: ', end)) return false;
      state.fresh = false;
      state.tacticName = null;
      return true;
    },
  ],
  [
    '=============== Computing reformatting costs',
    (state) => {
      state.section = 'tactics';
      state.layer = null;
      state.combination = null;
      state.operation = null;
      return true;
    },
  ],
  [
    '--------------- Timing Runner: ',
    (state, text, at, to) => {
      if (ofKnownLayer(state, text, at, to)) return true;
      // One reformat is as good as another.
      if (!state.layer?.reformat || state.combination === null || !text.startsWith(REFORMAT, at)) return false;
      state.section = 'tactics';
      state.layer.name ||= REFORMAT;
      return true;
    },
  ],
  [
    '*************** Autotuning Reformat:',
    (state) => {
      if (state.phase === null) return false;
      state.section = 'tactics';
      openReformat(state, '', 0);
      return true;
    },
  ],
  [
    '*************** Autotuning format combination: ',
    (state, text, at, to) => {
      if (!ofKnownLayer(state, text, at, to)) return false;
      state.fresh = true;
      return true;
    },
  ],
];
for (const [text, effect] of QUIET) phraseAt(text, 0)!.quiet = effect;

/** Length of `[MM/DD/YYYY-HH:MM:SS] [V] [TRT] `. */
const PREFIX = 32;

/**
 * Reads a quiet line that continues nothing: reading it as any other line has the same result, and takes several times as
 * long. Only for a diagnosis without a model (neither `times` nor `registered`) and without a listener.
 * @param bytes those of `text`, one for each character
 * @returns false for any other line, which is left as it is
 */
export function readQuietLine(state: LogState, text: string, bytes: Uint8Array, from: number, to: number): boolean {
  const at = from + PREFIX;
  if (to < at + SHORTEST || !isVerbose(bytes, from) || !isCalm(state)) return false;
  const phrase = phraseIn(bytes, at);
  if (phrase === undefined) {
    if (!readOther(state, text, at, to)) return false;
  } else {
    if (phrase.quiet === null || !phrase.quiet(state, text, at + phrase.text.length, to)) return false;
    state.evidence.phrases++;
  }
  state.evidence.prefixed++;
  state.evidence.library++;
  return true;
}

/** A line that begins with no phrase says something while nodes are parsed or tactics timed. */
function readOther(state: LogState, text: string, at: number, to: number): boolean {
  // Polygraphy's indentation.
  if (text.charCodeAt(at) === SPACE) return false;
  if (state.section === 'parse') readNodeInputs(state, text, at, to);
  else if (state.section === 'tactics') return isOfLayer(state.layer, text, at, to);
  return true;
}

/** No block, list or line is open that the next one may continue or end. */
const isCalm = (state: LogState): boolean =>
  state.block === 'none' && state.held === null && state.graphNodes === null && state.broken.isEmpty;

/** `[MM/DD/YYYY-HH:MM:SS] [V] [TRT] `, as `readCommonForm` tells it. */
const isVerbose = (bytes: Uint8Array, at: number): boolean =>
  bytes[at] === 0x5b &&
  bytes[at + 3] === 0x2f &&
  bytes[at + 11] === 0x2d &&
  bytes[at + 20] === 0x5d &&
  bytes[at + 23] === 0x56 &&
  bytes[at + 24] === 0x5d &&
  bytes[at + 25] === 0x20 &&
  bytes[at + 26] === 0x5b &&
  bytes[at + 27] === 0x54 &&
  bytes[at + 30] === 0x5d &&
  bytes[at + 31] === 0x20 &&
  bytes[at + PREFIX] !== 0x5b;
