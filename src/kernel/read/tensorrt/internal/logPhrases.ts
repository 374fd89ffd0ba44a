import { ENGINE_PHRASES } from './logEngine.ts';
import { FRAME_PHRASES } from './logFrame.ts';
import { PRECISION_PHRASES } from './logMessages.ts';
import { OPTIMIZER_PHRASES } from './logOptimizer.ts';
import { PARSER_PHRASES } from './logParser.ts';
import type { LogState, PhraseHandler } from './logState.ts';
import { TACTIC_PHRASES } from './logTactics.ts';

/** What a message begins with that a reader knows. */
interface Phrase {
  text: string;
  /** The text in bytes. */
  codes: Uint8Array;
  run: PhraseHandler;
  /** Reads the line where only a diagnosis is wanted, false if it cannot; null: `run` does. */
  quiet: ((state: LogState, text: string, at: number, to: number) => boolean) | null;
}

/** Phrases by their first and fifth characters. */
const PHRASES: (Phrase[] | undefined)[] = Array.from({ length: 1024 });

const bucketOf = (first: number, fifth: number): number => ((first << 3) ^ fifth) & 1023;

for (const [text, run] of [
  ...PARSER_PHRASES,
  ...TACTIC_PHRASES,
  ...OPTIMIZER_PHRASES,
  ...ENGINE_PHRASES,
  ...FRAME_PHRASES,
  ...PRECISION_PHRASES,
]) {
  const codes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  (PHRASES[bucketOf(codes[0]!, codes[4]!)] ??= []).push({ text, codes, run, quiet: null });
}
// `Loaded Module: ` before `Loaded `: the longest that fits is the one that is meant.
for (const phrases of PHRASES) phrases?.sort((a, b) => b.text.length - a.text.length);

/** Characters of the shortest phrase, `&&&& `. */
export const SHORTEST = 5;

/** The phrase that a message begins with. */
export function phraseAt(text: string, at: number): Phrase | undefined {
  if (at + SHORTEST > text.length) return undefined;
  const phrases = PHRASES[bucketOf(text.charCodeAt(at), text.charCodeAt(at + 4))];
  if (phrases !== undefined) for (const phrase of phrases) if (text.startsWith(phrase.text, at)) return phrase;
  return undefined;
}

/** The same of a message in bytes, which are compared in half the time; a line's end, which no phrase holds, is behind it. */
export function phraseIn(bytes: Uint8Array, at: number): Phrase | undefined {
  const phrases = PHRASES[bucketOf(bytes[at]!, bytes[at + 4]!)];
  if (phrases !== undefined) for (const phrase of phrases) if (begins(bytes, at, phrase.codes)) return phrase;
  return undefined;
}

function begins(bytes: Uint8Array, at: number, codes: Uint8Array): boolean {
  for (let index = 0; index < codes.length; index++) if (bytes[at + index] !== codes[index]) return false;
  return true;
}
