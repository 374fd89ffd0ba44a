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
  run: PhraseHandler;
  /** Reads the line where only a diagnosis is wanted; null: `run` does. */
  quiet?: ((state: LogState, text: string, at: number, to: number) => boolean) | null;
}

/** Phrases by their first and fifth characters. */
const PHRASES: (Phrase[] | undefined)[] = Array.from({ length: 1024 });

function bucketOf(text: string, at: number): number {
  return ((text.charCodeAt(at) << 3) ^ text.charCodeAt(at + 4)) & 1023;
}

for (const [text, run] of [
  ...PARSER_PHRASES,
  ...TACTIC_PHRASES,
  ...OPTIMIZER_PHRASES,
  ...ENGINE_PHRASES,
  ...FRAME_PHRASES,
  ...PRECISION_PHRASES,
])
  (PHRASES[bucketOf(text, 0)] ??= []).push({ text, run });
// `Loaded Module: ` before `Loaded `: the longest that fits is the one that is meant.
for (const phrases of PHRASES) phrases?.sort((a, b) => b.text.length - a.text.length);

/** The phrase that a message begins with. */
export function phraseAt(text: string, at: number): Phrase | undefined {
  const phrases = PHRASES[bucketOf(text, at)];
  if (phrases !== undefined) for (const phrase of phrases) if (text.startsWith(phrase.text, at)) return phrase;
  return undefined;
}
