import type { DiffSide } from '../../diff/buildDiff.ts';
import { counted, deltaText } from '../../text/numbers.ts';
import type { Candidate } from './candidates.ts';
import type { Tried } from './rankTried.ts';

/** What a search found: the changes, the best first. */
export interface FoundChanges {
  tensorrt: Pick<DiffSide, 'product' | 'version'>;
  goal: { before: string };
  tried: readonly Tried[];
  left: number;
}

/** For a terminal: what the model as it is does, the changes that work with their cost, and those that do not. */
export function searchText({ tensorrt, goal, tried, left }: FoundChanges): string {
  const [works, unknown, not] = [true, null, false].map((verdict) =>
    tried.filter(({ reached }) => reached === verdict),
  );
  const rows = works!.map((one) => `  ${changeText(one)}\n      ${costText(one)}`);
  const odd = unknown!.map((one) => `  ${changeText(one)}\n      ${one.why}`);
  return [
    goal.before,
    works!.length === 0
      ? `None of ${counted(tried.length, 'change')} works.`
      : `${works!.length} of ${counted(tried.length, 'change')} ${works!.length === 1 ? 'works' : 'work'}, the best first:`,
    ...rows,
    ...(not!.length > 0 ? ['No effect:', ...not!.map((one) => `  ${changeText(one)}`)] : []),
    ...(odd.length > 0 ? ['Unknown:', ...odd] : []),
    ...(left > 0 ? [`${counted(left, 'more change')} not tried.`] : []),
    versionNote(tensorrt),
    '',
  ].join('\n');
}

/** The option of `trtlens what-if` that makes a change. */
export const changeText = ({ option, values }: Pick<Tried, 'option' | 'values'>): string =>
  option === 'rules' ? `--rules with '${values[0]}'` : values.map((value) => `--${option} ${value}`).join(' ');

/** `+4 kernels, +0 reformats` and what the change does to values. */
export function costText({ kernels, reformats, ms, results }: Tried): string {
  const more = (count: number | null, noun: string) =>
    count === null ? [] : [`${count < 0 ? '−' : '+'}${counted(Math.abs(count), noun)}`];
  return [
    ...(ms === null ? [] : [deltaText(ms)]),
    ...more(kernels, 'kernel'),
    ...more(reformats, 'reformat'),
    resultsText[results],
  ].join(', ');
}

const resultsText: Record<Candidate['results'], string> = {
  same: 'same values',
  rounded: 'values are rounded differently',
  cut: 'a part of the network gets a new input',
  other: 'another model, with other values',
};

/** Which TensorRT a result is about. */
export function versionNote({ product, version }: Pick<DiffSide, 'product' | 'version'>): string {
  const name = `${product === 'tensorrt-rtx' ? 'TensorRT-RTX' : 'TensorRT'} ${version ?? ''}`.trim();
  return `This is the result of ${name}. It is no proof for another version, which may fuse differently.`;
}
