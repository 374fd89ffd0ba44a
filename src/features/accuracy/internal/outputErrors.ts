// How far outputs are from the reference.
import type {
  AccuracyOutput,
  ChannelGroup,
  ComparedOutput,
  PlannedOutput,
} from '../../../kernel/simulation/simulated.ts';
import { addTo } from '../../../kernel/base/addTo.ts';
import { type JudgedOutputs, measureText } from './outputMeasures.ts';

/** A number as a report gives it; null: not finite. */
export const finiteOrNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** Whether an error is within a tolerance; null, not finite, is not. */
export const isWithin = (error: number | null, tolerance: number): boolean => error !== null && error <= tolerance;

export const isJudged = ({ name, kind }: ComparedOutput, judged: JudgedOutputs): boolean =>
  typeof judged === 'string' ? kind === 'float' || judged === 'all' : judged.includes(name);

/** The worst error of all samples' outputs that count; Infinity: not finite. `plan`: how they are judged. */
export function trialError(
  samples: readonly ComparedOutput[][],
  judged: JudgedOutputs,
  plan: readonly PlannedOutput[] = [],
): number {
  const chosen = new Map(plan.map((one) => [one.name, one]));
  const byName = new Map<string, ComparedOutput[]>();
  for (const output of samples.flat()) if (isJudged(output, judged)) addTo(byName, output.name, output);
  const errors = [...byName].map(([name, all]) => errorOfAll(all, chosen.get(name)) ?? Infinity);
  return Math.max(0, ...errors);
}

/** The error of one output over its samples: the worst, or the share of all choices that differ; null: not finite. */
function errorOfAll(all: readonly ComparedOutput[], plan: PlannedOutput | undefined): number | null {
  if (all.some(({ finite, error }) => !finite || error === null)) return null;
  const isShare = plan?.measure?.by === 'measure' && all.every(({ measure }) => measure?.wrong !== undefined);
  if (!isShare) return Math.max(...all.map(({ error }) => error!));
  const sum = (key: 'wrong' | 'count') => all.reduce((total, { measure }) => total + measure![key]!, 0);
  return sum('wrong') / Math.max(1, sum('count'));
}

/** What ONNX Runtime says of an index beyond the rows of its table: Gather, GatherElements, GatherND, Scatter…. */
const outsideTable =
  /out of data bounds|out of range value in index|within bounds|invalid indices? found|invalid index found/i;

/** Each output over its samples (at least one), which have the same outputs in the same order. */
export function outputErrors(
  samples: readonly ComparedOutput[][],
  judged: JudgedOutputs,
  plan: readonly PlannedOutput[] = [],
): AccuracyOutput[] {
  const chosen = new Map(plan.map((one) => [one.name, one]));
  const compared = new Set(samples[0]!.map(({ name }) => name));
  return samples[0]!.map((first, i) => {
    const all = samples.map((sample) => sample[i]!);
    const finite = all.every((one) => one.finite);
    const errors = all.map(({ error }) => error ?? 0);
    const sum = errors.reduce((a, b) => a + b, 0);
    const planned = chosen.get(first.name);
    // Where only outputs were compared, such as those of an engine, the choices themselves are all there is.
    const stands = planned?.before?.length && !planned.before.some((name) => compared.has(name));
    return {
      name: first.name,
      max: first.kind === 'float' ? Math.max(...all.map(({ max }) => max ?? 0)) : null,
      error: finite ? errorOfAll(all, planned) : null,
      finite,
      ...(all.some(({ shapes }) => shapes) && { shapeDiffers: true as const }),
      ...outsideOf(all),
      judged: isJudged(first, judged) || Boolean(stands),
      mean: finite ? sum / errors.length : null,
      ...(planned && describedBy(planned, all)),
      ...groupsOf(all),
    };
  });
}

function outsideOf(all: readonly ComparedOutput[]): Pick<AccuracyOutput, 'outside'> {
  const outside = all.find(({ refused = '' }) => outsideTable.test(refused))?.refused;
  return outside === undefined ? {} : { outside };
}

/** What is said of an output because of its kind. */
function describedBy(
  { measure, feeds, before }: PlannedOutput,
  all: readonly ComparedOutput[],
): Partial<AccuracyOutput> {
  const found = all.map((one) => one.measure ?? null);
  const numeric = all.some((one) => !one.finite || (one.numeric ?? null) === null)
    ? null
    : Math.max(...all.map((one) => one.numeric!));
  const { error, text } = measureText(measure?.kind ?? 'numeric', found);
  const described = measure && { kind: measure.kind, by: measure.by, reason: measure.reason, error, text };
  return {
    ...(measure &&
      described && { measure: { ...described, ...(measure.chosen && { chosen: true as const }) }, numeric }),
    ...(feeds && { feeds }),
    ...(before && { before }),
  };
}

/** The groups of the sample in which one of them has the largest error. */
function groupsOf(all: readonly ComparedOutput[]): Pick<AccuracyOutput, 'groups'> {
  const worst = (groups: ChannelGroup[]) => Math.max(...groups.map(({ error }) => error));
  const found = all.flatMap(({ groups }) => (groups ? [groups] : [])).sort((a, b) => worst(b) - worst(a));
  return found[0] ? { groups: found[0] } : {};
}

/** The worst error of the outputs that count; null: not finite. */
export function worstError(outputs: readonly AccuracyOutput[]): number | null {
  const judged = outputs.filter((output) => output.judged);
  return judged.some(({ finite, error }) => !finite || error === null)
    ? null
    : Math.max(0, ...judged.map(({ error }) => error!));
}
