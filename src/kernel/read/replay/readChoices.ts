// Reads what TensorRT could choose from, describes a choice, and explains it.
import { isRecord, plainValue, readLosslessJson } from '../../base/json.ts';
import type { Problem, Read } from '../../base/problem.ts';
import { timeText, typeName } from '../../base/text.ts';
import type { BuildLog } from '../tensorrt/buildOutput.ts';
import { withoutProfile } from '../../network/layerName.ts';
import {
  type Algorithm,
  algorithmKey,
  compareChoices,
  implementationId,
  type OfferedChoice,
  type ReplayEntry,
  sameAlgorithm,
  tacticHex,
  tacticId,
  type TensorFormat,
  typeSignature,
} from './replayFile.ts';
import { layoutWord, readFormats } from './tensorFormats.ts';

export { explainTactics } from './internal/explainTactics.ts';

/** What TensorRT offered for each layer, and what it chose where that was recorded. */
export interface Choices {
  /** In the order of the record; within a layer the best first where times are known. */
  offered: Map<string, OfferedChoice[]>;
  chosen: Map<string, Algorithm>;
  /** Where a log starts to describe a layer, from 1. */
  lines?: Map<string, number>;
  /** Where they come from. */
  source: 'sidecar' | 'mismatch' | 'log';
}

/** Whether a text looks like recorded choices. */
export function sniffChoices(text: string): boolean {
  return /^\s*\{\s*"layer"\s*:[^\n]*"(?:choices|chosen)"\s*:/.test(text.slice(0, 20_000));
}

/**
 * Reads recorded choices: one JSON object per line, `{"layer", "inputs", "outputs", "dims", "choices" | "chosen"}`. Ids
 * keep all their digits.
 */
export function readChoices(text: string): Read<Choices> {
  const problems: Problem[] = [];
  const choices: Choices = { offered: new Map(), chosen: new Map(), source: 'sidecar' };
  let line = 0;
  for (const content of text.split('\n')) {
    line++;
    if (content.trim() === '') continue;
    const document = readLosslessJson(content).documents[0];
    const record = document ? plainValue(document) : null;
    if (!readRecord(record, choices)) {
      problems.push({
        severity: 'warning',
        code: 'bad-choice',
        message: 'This line is not a record of choices and was skipped. An interrupted recording ends like this.',
        line,
        column: 1,
      });
    }
  }
  sortOffers(choices);
  return { value: choices, problems };
}

function readRecord(record: unknown, into: Choices): boolean {
  if (!isRecord(record) || typeof record['layer'] !== 'string') return false;
  const { layer, inputs } = record;
  const count = typeof inputs === 'number' ? inputs : 0;
  if (Array.isArray(record['choices'])) {
    const list = record['choices'].map((one: unknown) => readChoice(one, count));
    if (list.includes(null)) return false;
    into.offered.set(
      layer,
      list.filter((choice) => choice !== null),
    );
    return true;
  }
  const chosen = readChoice(record['chosen'], count);
  if (!chosen) return false;
  into.chosen.set(layer, chosen.algorithm);
  return true;
}

function readChoice(value: unknown, inputs: number): OfferedChoice | null {
  if (!isRecord(value) || !Array.isArray(value['io'])) return null;
  const implementation = idText(value['implementation']);
  const tactic = idText(value['tactic']);
  const io = value['io'].map(readIo);
  if (implementation === null || tactic === null || io.includes(null)) return null;
  const formats = io.filter((format) => format !== null);
  const number = (key: string) => (typeof value[key] === 'number' ? value[key] : null);
  return {
    algorithm: { implementation, tactic, inputs: formats.slice(0, inputs), outputs: formats.slice(inputs) },
    // TensorRT gives 0 for what it did not time.
    ms: isTime(value['timingMs']) ? value['timingMs'] : null,
    workspace: number('workspace'),
  };
}

const isTime = (value: unknown): value is number => typeof value === 'number' && value > 0 && Number.isFinite(value);

function idText(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && /^-?\d+$/.test(value) ? value : null;
}

function readIo(value: unknown): TensorFormat | null {
  if (!isRecord(value) || typeof value['datatype'] !== 'string' || !Array.isArray(value['strides'])) return null;
  const strides = value['strides'].filter((stride) => typeof stride === 'number');
  const number = (key: string) => (typeof value[key] === 'number' ? value[key] : null);
  return {
    dtype: value['datatype'].replace(/^DataType\./, ''),
    format: null,
    strides,
    vectorizedDim: number('vectorizedDim'),
    components: number('componentsPerElement'),
  };
}

function sortOffers(choices: Choices): void {
  for (const list of choices.offered.values()) list.sort(compareChoices);
}

/** What a verbose log timed: the same tactics that a replay can name, for the layers that the log tells in full. */
export function choicesOfLog(log: BuildLog): Choices {
  const lines = new Map<string, number>();
  const choices: Choices = { offered: new Map(), chosen: new Map(), source: 'log', lines };
  for (const { name, line, combinations, reformat } of log.phases.at(-1)?.tactics ?? []) {
    // TensorRT asks no algorithm selector about copies between layouts.
    if (reformat) continue;
    if (!lines.has(name)) lines.set(name, line);
    const offered = choices.offered.get(name) ?? [];
    for (const combination of combinations) {
      const formats = readFormats(combination.formats);
      if (!formats) continue;
      for (const { runnerId, tactic, ms, name: kernel } of combination.tactics) {
        const id = tacticId(tactic);
        if (runnerId === null || id === null) continue;
        offered.push({
          algorithm: { implementation: String(Number(runnerId)), tactic: id, ...formats },
          ms,
          workspace: null,
          // Polygraphy switches TF32 off unless it is told not to: what it timed it can have again.
          ...(log.writer !== 'polygraphy' && kernel?.includes('tf32') ? { tf32: true } : {}),
        });
      }
    }
    if (offered.length > 0) choices.offered.set(name, offered);
  }
  sortOffers(choices);
  return choices;
}

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

/**
 * Implementation ids that builds of 8.4 to 10.16 were seen to print next to their runner's name. Ids may differ in
 * other versions.
 */
const runners: Readonly<Record<number, string>> = {
  0x80000000: 'CudnnConvolution',
  0x80000003: 'ElementWise',
  0x80000005: 'CudnnPooling',
  0x80000006: 'Reformat',
  0x80000007: 'Scale',
  0x80000009: 'CaskConvolution',
  0x8000000d: 'Shuffle',
  0x8000000e: 'Reduce',
  0x8000001c: 'TiledPooling',
  0x8000001f: 'Resize',
  0x80000022: 'LogSoftmaxTopK',
  0x80000023: 'Myelin',
  0x80000024: 'ShapeHostToDevice',
  0x80000026: 'Fill',
  0x80000028: 'PointWiseV2',
  0x80000029: 'CublasConvolution',
  0x8000002d: 'CaskDeconvolutionV2',
  0x8000002e: 'CaskGemmConvolution',
  0x8000002f: 'CaskPooling',
  0x80000030: 'CaskGemmMatrixMultiply',
  0x80000032: 'TrainStation',
  0x80000033: 'NonZero',
  0x80000035: 'MyelinReformat',
  0x80000036: 'CaskFlattenConvolution',
  0x80000037: 'CaskGemmDeconvolution',
  0x80000038: 'NMS',
  0x80000039: 'CaskConvActPool',
  0x8000003e: 'MyelinReduce',
  0x80000040: 'CaskSoftMaxV2',
  0x80000046: 'MyelinElementWise',
  0x80000049: 'PluginV3',
};

/** The same of 8.0 to 8.2, which counted otherwise and wrote ids as signed numbers. */
const signedRunners: Readonly<Record<number, string>> = {
  0x8000000a: 'CaskConvolution',
  0x8000000e: 'Shuffle',
  0x80000020: 'TiledPooling',
  0x80000026: 'LogSoftmaxTopK',
  0x8000002d: 'CublasConvolution',
};

/** Myelin: what runs a ForeignNode. */
export const myelinId = 0x80000023;

/** Whether an implementation is Myelin's; false for ids of 8.0 to 8.2, of which its is not known. */
export function isMyelin({ implementation }: Algorithm): boolean {
  return implementationId(implementation) === myelinId && !implementation.startsWith('-');
}

/**
 * An implementation as text: `CaskConvolution (0x80000009)`, `implementation 0x8000004f` where its name is not known.
 */
export function implementationName(text: string): string {
  const id = implementationId(text);
  if (id === null) return `implementation ${text}`;
  const hex = `0x${id.toString(16).padStart(8, '0')}`;
  const name = (text.startsWith('-') ? signedRunners : runners)[id];
  return name ? `${name} (${hex})` : `implementation ${hex}`;
}

/** One input or output as text: `FP16, vectors of 8 along dimension 1, channels last`. */
export function formatWords(format: TensorFormat): string {
  return `${typeName(format.dtype)}, ${layoutWord(format)}`;
}

/** An algorithm in one line, for lists of alternatives. */
export function choiceTitle(algorithm: Algorithm): string {
  const types = (formats: readonly TensorFormat[]) =>
    [...new Set(formats.map(({ dtype }) => typeName(dtype)))].join(' and ') || 'nothing';
  const tactic = isMyelin(algorithm) ? '' : `, tactic ${tacticHex(algorithm.tactic)}`;
  return `${types(algorithm.inputs)} → ${types(algorithm.outputs)}, ${implementationName(algorithm.implementation)}${tactic}`;
}

/** What tells apart choices of one kernel, in growing detail: the layouts at both sides, then the strides, too. */
function layoutTitles({ inputs, outputs }: Algorithm): string[] {
  const sides = (words: (format: TensorFormat) => string) =>
    [inputs, outputs].map((formats) => [...new Set(formats.map(words))].join(' and ') || 'nothing').join(' → ');
  return [sides(layoutWord), sides((format) => `${layoutWord(format)} (${format.strides?.join(', ') ?? '?'})`)];
}

/** A choice with its time: `FP32 → FP32, CaskConvolution (0x80000009), tactic 0x…, 0.0332 ms`. */
export function titleOf({ algorithm, ms, tf32 }: OfferedChoice): string {
  const time = ms === null ? '' : `, ${timeText(ms)}`;
  return `${choiceTitle(algorithm)}${time}${tf32 ? ' (TF32: load with --tf32)' : ''}`;
}

/** Titles of choices in one list, with as much of their layouts as tells them apart. */
export function titlesOf(choices: readonly OfferedChoice[]): string[] {
  const names = choices.map(({ algorithm }) => {
    const name = choiceTitle(algorithm);
    return [name, ...layoutTitles(algorithm).map((layout) => `${name}, ${layout}`)];
  });
  const count = new Map<string, number>();
  for (const name of names.flat()) count.set(name, (count.get(name) ?? 0) + 1);
  return choices.map((choice, i) => {
    const [name = '', ...longer] = names[i] ?? [];
    const own = [name, ...longer].find((one) => count.get(one) === 1) ?? longer.at(-1) ?? name;
    return titleOf(choice) + own.slice(name.length);
  });
}

/** An algorithm in full, as lines of plain text. */
export function describeAlgorithm(algorithm: Algorithm): string[] {
  const inFull = (format: TensorFormat): string =>
    formatWords(format) + (format.strides ? ` (strides ${format.strides.join(', ')})` : '');
  return [
    implementationName(algorithm.implementation),
    isMyelin(algorithm)
      ? 'ForeignNode: the choice covers only the types and layouts at its boundary; its tactic is always 0.'
      : `Tactic ${tacticHex(algorithm.tactic)} (${algorithm.tactic})`,
    ...algorithm.inputs.map((format, i) => `Input ${i}: ${inFull(format)}`),
    ...algorithm.outputs.map((format, i) => `Output ${i}: ${inFull(format)}`),
  ];
}
