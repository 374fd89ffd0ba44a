import { sameAlgorithm, typeSignature } from './algorithm.ts';
import type { Algorithm, OfferedChoice } from './algorithm.ts';
import type { Choices } from './readChoices.ts';
import type { ReplayEntry } from './replayFile.ts';

/** The choices for one layer, and whether they are complete. */
export interface Offer {
  choices: OfferedChoice[];
  source: Choices['source'];
}

/** What TensorRT offered for a layer, from the first record that has it. */
export function offerFor(layer: string, records: readonly Choices[]): Offer | null {
  for (const { offered, source } of records) {
    const choices = offered.get(layer) ?? offered.get(layer.replace(/ \[profile \d+\]$/, ''));
    if (choices && choices.length > 0) return { choices, source };
  }
  return null;
}

/**
 * Choices to offer in place of an entry: first those with the entry's data types, since these are what a person asked
 * for, then those nearest to them; within each by time. Repeats are left out.
 */
export function alternatives(entry: ReplayEntry, offer: Offer): OfferedChoice[] {
  const wanted = entry.algorithm;
  const distinct: OfferedChoice[] = [];
  const seen = new Set<string>();
  for (const choice of offer.choices) {
    const key = JSON.stringify(choice.algorithm);
    if (!seen.has(key) && !sameAlgorithm(choice.algorithm, wanted)) distinct.push(choice);
    seen.add(key);
  }
  return distinct
    .map((choice) => ({ choice, distance: distance(choice.algorithm, wanted) }))
    .sort((a, b) => a.distance - b.distance || (a.choice.ms ?? Infinity) - (b.choice.ms ?? Infinity))
    .map(({ choice }) => choice);
}

/** How many borders have another data type. */
function distance(a: Algorithm, b: Algorithm): number {
  const pairs = [...a.inputs, ...a.outputs].map((format, i) => [format.dtype, [...b.inputs, ...b.outputs][i]?.dtype]);
  return pairs.filter(([x, y]) => x !== y).length;
}

/** The best choice for each combination of data types: a short list that covers what can be had. */
export function bestOfEachType(choices: readonly OfferedChoice[]): OfferedChoice[] {
  const best = new Map<string, OfferedChoice>();
  for (const choice of choices) {
    const key = typeSignature(choice.algorithm);
    const found = best.get(key);
    if (!found || (choice.ms ?? Infinity) < (found.ms ?? Infinity)) best.set(key, choice);
  }
  return [...best.values()];
}
