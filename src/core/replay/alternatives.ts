import { algorithmKey, compareChoices, sameAlgorithm, typeSignature } from './algorithm.ts';
import type { Algorithm, OfferedChoice } from './algorithm.ts';
import type { Choices } from './readChoices.ts';
import type { ReplayEntry } from './replayFile.ts';
import { withoutProfile } from '../model/layerNameParts.ts';

/** The choices for one layer, and whether they are complete. */
export interface Offer {
  choices: OfferedChoice[];
  source: Choices['source'];
}

/** What each record that has a layer says TensorRT offered for it, in the order of the records. */
export function offersFor(layer: string, records: readonly Choices[]): Offer[] {
  const base = withoutProfile(layer);
  const found: Offer[] = [];
  for (const { offered, source } of records) {
    const choices = offered.get(layer) ?? offered.get(base);
    if (choices && choices.length > 0) found.push({ choices, source });
  }
  return found;
}

/** What TensorRT offered for a layer, by the first record that has it; times are the others', too. */
export function offerFor(layer: string, records: readonly Choices[]): Offer | null {
  const [first, ...others] = offersFor(layer, records);
  if (!first || others.length === 0) return first ?? null;
  const known = new Map<string, OfferedChoice>();
  for (const choice of others.flatMap(({ choices }) => choices)) {
    const key = algorithmKey(choice.algorithm);
    known.set(key, completed(known.get(key) ?? choice, choice));
  }
  return {
    choices: first.choices.map((choice) => completed(choice, known.get(algorithmKey(choice.algorithm)))),
    source: first.source,
  };
}

function completed(choice: OfferedChoice, other: OfferedChoice | undefined): OfferedChoice {
  if (!other) return choice;
  const { algorithm, ms, workspace } = choice;
  const tf32 = choice.tf32 ?? other.tf32;
  return { algorithm, ms: ms ?? other.ms, workspace: workspace ?? other.workspace, ...(tf32 ? { tf32 } : {}) };
}

/**
 * Choices to offer in place of an entry: first those with the entry's data types, since these are what the user asked
 * for, then those nearest to them; within each the best first. Repeats are omitted.
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
    .sort((a, b) => a.distance - b.distance || compareChoices(a.choice, b.choice))
    .map(({ choice }) => choice);
}

/** How many borders have another data type. */
function distance(a: Algorithm, b: Algorithm): number {
  const pairs = [...a.inputs, ...a.outputs].map((format, i) => [format.dtype, [...b.inputs, ...b.outputs][i]?.dtype]);
  return pairs.filter(([x, y]) => x !== y).length;
}

/** A layer that a replay leaves free, with the choice to pin it to. */
export interface FreeLayer {
  layer: string;
  algorithm: Algorithm;
  /** The best of what TensorRT offered; null: it is what TensorRT chose. */
  offered: OfferedChoice | null;
}

/** Layers that are known and not in a replay: first those with TensorRT's own choice, then those with its best offer. */
export function freeLayers(entries: readonly ReplayEntry[], records: readonly Choices[]): FreeLayer[] {
  const taken = new Set(entries.map(({ layer }) => layer));
  const free: FreeLayer[] = [];
  const add = (one: FreeLayer) => {
    if (!taken.has(one.layer)) free.push(one);
    taken.add(one.layer);
  };
  for (const { chosen } of records) for (const [layer, algorithm] of chosen) add({ layer, algorithm, offered: null });
  for (const layer of records.flatMap(({ offered }) => [...offered.keys()])) {
    const [best] = taken.has(layer) ? [] : (offerFor(layer, records)?.choices.toSorted(compareChoices) ?? []);
    if (best) add({ layer, algorithm: best.algorithm, offered: best });
  }
  return free;
}

/** The best choice for each combination of data types: a short list that covers what can be had. */
export function bestOfEachType(choices: readonly OfferedChoice[]): OfferedChoice[] {
  const best = new Map<string, OfferedChoice>();
  for (const choice of choices) {
    const key = typeSignature(choice.algorithm);
    const found = best.get(key);
    if (!found || compareChoices(choice, found) < 0) best.set(key, choice);
  }
  return [...best.values()];
}
