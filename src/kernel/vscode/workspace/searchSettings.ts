import { measureKinds, type MeasureKind, measureNames, type LowPrecision } from '../../simulation/simulated.ts';
import * as vscode from 'vscode';
import { counted, durationText, percentText } from '../../base/text.ts';
import { enterText, pickItem, pickItems, pickWord } from '../platform/askUser.ts';

/** How a search is done. */
export interface SearchSettings {
  /** undefined: the base of the rules, without rules FP16. */
  low: Extract<LowPrecision, 'fp16' | 'bf16'> | undefined;
  /** Largest error of an output that passes. */
  tolerance: number;
  /** Names of the outputs that count; undefined: all of floating point. */
  outputs: string[] | undefined;
  /** What outputs are judged by; undefined: their numbers. */
  measure?: MeasureKind | undefined;
  maxSeconds: number;
}

export const usualSettings: SearchSettings = { low: undefined, tolerance: 0.01, outputs: undefined, maxSeconds: 120 };

const key = (model: vscode.Uri): string => `tensorrtLens.accuracySettings ${model.toString()}`;

/** As they were chosen last for this model. */
export const settingsOf = (model: vscode.Uri, memory: vscode.Memento): SearchSettings => ({
  ...usualSettings,
  ...memory.get<Partial<SearchSettings>>(key(model), {}),
});

const precisionText = ({ low }: SearchSettings): string => low?.toUpperCase() ?? "FP16, or the rules' base";
const toleranceText = ({ tolerance }: SearchSettings): string => percentText(100 * tolerance);
const outputsText = ({ outputs }: SearchSettings): string => outputs?.join(', ') ?? 'all of floating point';
const measureText = ({ measure }: SearchSettings): string =>
  measure === undefined ? 'numbers, and what their kind needs' : measureNames[measure];
const limitText = ({ maxSeconds }: SearchSettings): string => durationText(1000 * maxSeconds);

/** All of them in a line: `FP16, tolerance 1.0 %, all outputs, at most 2 min`. */
export const settingsText = (settings: SearchSettings): string =>
  [
    settings.low?.toUpperCase() ?? 'FP16',
    `tolerance ${toleranceText(settings)}`,
    settings.outputs === undefined ? 'all outputs' : counted(settings.outputs.length, 'output'),
    ...(settings.measure === undefined ? [] : [measureNames[settings.measure]]),
    `at most ${limitText(settings)}`,
  ].join(', ');

/** Lets the user change how a search is done, one setting after the other, and remembers it for the model. */
export async function askForSettings(
  model: vscode.Uri,
  memory: vscode.Memento,
  outputNames: readonly string[],
): Promise<void> {
  for (;;) {
    const now = settingsOf(model, memory);
    const items = [
      { label: 'Precision', description: precisionText(now), ask: askPrecision },
      { label: 'Tolerance', description: toleranceText(now), ask: askTolerance },
      { label: 'Outputs', description: outputsText(now), ask: (all: SearchSettings) => askOutputs(all, outputNames) },
      { label: 'Measure', description: measureText(now), ask: askMeasure },
      { label: 'Time Limit', description: limitText(now), ask: askLimit },
      { label: '$(check) Done', description: '', ask: undefined },
    ];
    // oxlint-disable-next-line no-await-in-loop -- one question after the other
    const picked = await pickItem(items, { title: 'Search Options', placeHolder: 'Select what to change' });
    if (picked?.ask === undefined) return;
    // oxlint-disable-next-line no-await-in-loop -- as above
    const changed = await picked.ask(now);
    // oxlint-disable-next-line no-await-in-loop -- as above
    if (changed !== undefined) await memory.update(key(model), { ...now, ...changed });
  }
}

async function askPrecision(): Promise<Partial<SearchSettings> | undefined> {
  const word = await pickWord(["FP16, or the rules' base", 'FP16', 'BF16'], 'Select the precision to search in');
  if (word === undefined) return undefined;
  return { low: word === 'FP16' ? 'fp16' : word === 'BF16' ? 'bf16' : undefined };
}

async function askMeasure(): Promise<Partial<SearchSettings> | undefined> {
  const numbers = { label: 'Numbers', description: 'and what their kind needs', measure: undefined };
  const others = measureKinds.map((measure) => ({ label: measureNames[measure], description: measure, measure }));
  const picked = await pickItem([numbers, ...others], {
    title: 'Search Options',
    placeHolder: 'Select what outputs are judged by',
  });
  return picked && { measure: picked.measure };
}

async function askTolerance({ tolerance }: SearchSettings): Promise<Partial<SearchSettings> | undefined> {
  const percent = await askNumber('Largest error of an output, in percent of its largest value', 100 * tolerance, 0);
  return percent === undefined ? undefined : { tolerance: percent / 100 };
}

async function askLimit({ maxSeconds }: SearchSettings): Promise<Partial<SearchSettings> | undefined> {
  const seconds = await askNumber('Seconds after which the search ends with the best fix so far', maxSeconds, 1);
  return seconds === undefined ? undefined : { maxSeconds: seconds };
}

async function askNumber(question: string, value: number, least: number): Promise<number | undefined> {
  const text = await enterText({
    prompt: question,
    value: String(Number(value.toPrecision(6))),
    validateInput: (typed) =>
      typed.trim() !== '' && Number.isFinite(Number(typed)) && Number(typed) >= least
        ? undefined
        : `'${typed}' is not a number of at least ${least}`,
  });
  return text === undefined ? undefined : Number(text);
}

async function askOutputs(
  { outputs }: SearchSettings,
  names: readonly string[],
): Promise<Partial<SearchSettings> | undefined> {
  const items = names.map((label) => ({ label, picked: outputs?.includes(label) ?? true }));
  const chosen = await pickItems(items, {
    title: 'Search Options',
    placeHolder: 'Select the outputs that count',
  });
  if (chosen === undefined || chosen.length === 0) return undefined;
  return { outputs: chosen.length === names.length ? undefined : chosen.map(({ label }) => label) };
}
