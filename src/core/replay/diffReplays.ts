import { implementationId, sameIds, tacticHex } from './algorithm.ts';
import type { Algorithm, TensorFormat } from './algorithm.ts';
import { counted } from '../text/numbers.ts';
import { formatWords, implementationName, isMyelin } from './describeChoice.ts';
import type { ReplayEntry, ReplayFile } from './replayFile.ts';

/** One layer that two replays treat differently, as text. */
export interface ReplayDifference {
  layer: string;
  kind: 'added' | 'removed' | 'changed';
  /** What changed, each in one sentence; for a layer that is in one file only, its choice. */
  changes: string[];
  before: ReplayEntry | null;
  after: ReplayEntry | null;
}

export interface ReplayDiff {
  differences: ReplayDifference[];
  /** Layers that mean the same in both. */
  same: number;
  /** Inputs and outputs that differ in `tensor_format` only, which Polygraphy after 0.49.0 ignores: no differences. */
  ignored: number;
}

/** Compares two replays by meaning: ids by value, order and spelling ignored; the last of repeated entries counts. */
export function diffReplays(before: ReplayFile, after: ReplayFile): ReplayDiff {
  const old = new Map(before.entries.map((entry) => [entry.layer, entry]));
  const fresh = new Map(after.entries.map((entry) => [entry.layer, entry]));
  const differences: ReplayDifference[] = [];
  let same = 0;
  let ignored = 0;
  // Only lists say the layout by its name: objects have the strides and vectors that Polygraphy compares.
  const named = [before, after].some(({ variant }) => variant === 'A' || variant === 'B');
  for (const [layer, entry] of old) {
    const other = fresh.get(layer);
    if (!other) {
      differences.push({ layer, kind: 'removed', changes: [summary(entry.algorithm)], before: entry, after: null });
      continue;
    }
    const changes = changesOf(entry.algorithm, other.algorithm, named);
    if (!named) ignored += ignoredFormats(entry.algorithm, other.algorithm);
    if (changes.length === 0) same++;
    else differences.push({ layer, kind: 'changed', changes, before: entry, after: other });
  }
  for (const [layer, entry] of fresh) {
    if (!old.has(layer))
      differences.push({ layer, kind: 'added', changes: [summary(entry.algorithm)], before: null, after: entry });
  }
  return { differences, same, ignored };
}

function summary(algorithm: Algorithm): string {
  const tactic = isMyelin(algorithm) ? '' : `, tactic ${tacticHex(algorithm.tactic)}`;
  return `${implementationName(algorithm.implementation)}${tactic}`;
}

function changesOf(a: Algorithm, b: Algorithm, named: boolean): string[] {
  const changes: string[] = [];
  if (!sameIds(a, b)) {
    if (implementationId(a.implementation) !== implementationId(b.implementation)) {
      changes.push(`Implementation: ${implementationName(a.implementation)} → ${implementationName(b.implementation)}`);
    }
    if (tacticHex(a.tactic) !== tacticHex(b.tactic))
      changes.push(`Tactic: ${tacticHex(a.tactic)} → ${tacticHex(b.tactic)}`);
  }
  changes.push(
    ...formatChanges('Input', a.inputs, b.inputs, named),
    ...formatChanges('Output', a.outputs, b.outputs, named),
  );
  return changes;
}

function ignoredFormats(a: Algorithm, b: Algorithm): number {
  const sides = [
    [a.inputs, b.inputs],
    [a.outputs, b.outputs],
  ] as const;
  return sides.flatMap(([x, y]) =>
    x.filter((format, i) => {
      const other = y[i];
      return other && sameTensor(format, other, false) && !sameTensor(format, other, true);
    }),
  ).length;
}

function formatChanges(side: string, a: readonly TensorFormat[], b: readonly TensorFormat[], named: boolean): string[] {
  const changes: string[] = [];
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const [x, y] = [a[i], b[i]];
    if (x && y && sameTensor(x, y, named)) continue;
    const words = [x, y].map((format) => (format ? formatWords(format) : 'none'));
    // The words may be the same where only strides differ.
    const strides =
      x?.strides && y?.strides && words[0] === words[1]
        ? ` (strides ${x.strides.join(', ')} → ${y.strides.join(', ')})`
        : '';
    changes.push(`${side} ${i}: ${words[0]} → ${words[1]}${strides}`);
  }
  return changes;
}

/** Members that one file's form does not have say nothing. */
function sameTensor(a: TensorFormat, b: TensorFormat, named: boolean): boolean {
  const known = (x: unknown, y: unknown) => x === null || y === null || x === y;
  const strides = a.strides === null || b.strides === null || a.strides.join() === b.strides.join();
  const format = !named || a.format === null || b.format === null || a.format === b.format;
  return (
    a.dtype === b.dtype &&
    strides &&
    format &&
    known(a.vectorizedDim, b.vectorizedDim) &&
    known(a.components, b.components)
  );
}

/** What to say of `ignored`; null: nothing. */
export function ignoredText({ ignored }: ReplayDiff): string | null {
  if (ignored === 0) return null;
  return `"tensor_format" differs in ${counted(ignored, 'input or output', 'inputs and outputs')}, which is no difference: Polygraphy after 0.49.0 ignores it.`;
}
