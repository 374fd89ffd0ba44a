// Changes and compares replays.
import { counted } from '../../kernel/base/text.ts';
import { formatWords, implementationName, isMyelin } from '../../kernel/read/replay/readChoices.ts';
import {
  type Algorithm,
  implementationId,
  type ReplayEntry,
  type ReplayFile,
  type ReplayVariant,
  sameIds,
  type Span,
  type SpanEdit,
  tacticHex,
  type TensorFormat,
  type TensorPlaces,
} from '../../kernel/read/replay/replayFile.ts';

/**
 * Edits that make an entry another algorithm: implementation, tactic and both sides' formats change together, and every
 * other byte stays; an entry with gaps is written again. null: the file's form records something that the algorithm
 * does not say (a format's name).
 */
export function replaceAlgorithm(text: string, file: ReplayFile, entry: ReplayEntry, to: Algorithm): SpanEdit[] | null {
  const { places, algorithm } = entry;
  if (places.gaps) {
    const written = writeEntry(text, file, to, entry.span.start);
    return written === null ? null : [{ ...places.value, text: written }];
  }
  const variant = file.variant ?? 'D';
  const edits: SpanEdit[] = [];
  const number = (span: Span | null, value: string) => {
    if (span && text.slice(span.start, span.end) !== value) edits.push({ ...span, text: value });
  };
  number(places.implementation, to.implementation);
  number(places.tactic, to.tactic);
  const sides = [
    {
      span: places.inputs,
      from: algorithm.inputs,
      into: to.inputs,
      tensors: places.tensors.slice(0, algorithm.inputs.length),
    },
    {
      span: places.outputs,
      from: algorithm.outputs,
      into: to.outputs,
      tensors: places.tensors.slice(algorithm.inputs.length),
    },
  ];
  for (const { span, from, into, tensors } of sides) {
    if (!span) return null;
    if (from.length !== into.length) {
      const written = writeTensors(text, entry.span.start, into, variant);
      if (written === null) return null;
      edits.push({ ...span, text: written });
      continue;
    }
    for (const [i, format] of into.entries()) {
      const places = tensors[i];
      const changed = places && changeTensor(text, places, format);
      if (!changed) return null;
      edits.push(...changed);
    }
  }
  return edits.sort((a, b) => a.start - b.start);
}

function changeTensor(text: string, places: TensorPlaces, to: TensorFormat): SpanEdit[] | null {
  const edits: SpanEdit[] = [];
  const put = (span: Span | null, value: string) => {
    if (span && text.slice(span.start, span.end) !== value) edits.push({ ...span, text: value });
  };
  put(places.dtype, JSON.stringify(`DataType.${to.dtype}`));
  if (places.format) {
    const name = to.format ?? formatName(to);
    if (name === null) return null;
    put(places.format, JSON.stringify(`TensorFormat.${name}`));
  }
  if (places.strides) {
    if (to.strides === null) return null;
    if (places.strideNumbers.length === to.strides.length) {
      for (const [i, stride] of to.strides.entries()) put(places.strideNumbers[i] ?? null, String(stride));
    } else {
      put(places.strides, `[${to.strides.join(', ')}]`);
    }
  }
  put(places.vectorizedDim, String(to.vectorizedDim));
  put(places.components, String(to.components));
  return edits;
}

/** Layouts by rank, order and vector size, as TensorRT names them. */
const formatNames: Readonly<Record<string, string>> = {
  '4 last 1': 'HWC',
  '5 last 1': 'DHWC',
  '4 last 8': 'HWC8',
  '4 last 16': 'HWC16',
  '5 last 8': 'DHWC8',
  '4 last 2': 'CHW2',
  '4 linear 2': 'CHW2',
  '4 linear 4': 'CHW4',
  '4 linear 16': 'CHW16',
  '4 linear 32': 'CHW32',
  '5 linear 32': 'CDHW32',
};

/** TensorRT's name of a layout from its strides, where it is the only one that fits; otherwise null. */
export function formatName(format: TensorFormat): string | null {
  const { strides, vectorizedDim, components } = format;
  if (strides === null) return null;
  const linear = strides.every((stride, i) => i === 0 || stride <= (strides[i - 1] ?? stride));
  const vector = vectorizedDim !== null && vectorizedDim >= 0 ? (components ?? 1) : 1;
  if (vector > 1 && vectorizedDim !== 1) return null;
  if (vector === 1 && linear) return 'LINEAR';
  const order = linear ? 'linear' : strides[1] === 1 ? 'last' : 'other';
  return formatNames[`${strides.length} ${order} ${vector}`] ?? null;
}

/**
 * A list of inputs or outputs as Polygraphy writes it, indented like the file; null if a format's name is not known.
 */
function writeTensors(
  text: string,
  entryStart: number,
  formats: readonly TensorFormat[],
  variant: ReplayVariant,
): string | null {
  const values: unknown[] = [];
  for (const format of formats) {
    const value = tensorValue(format, variant);
    if (value === null) return null;
    values.push(value);
  }
  return indented(values, text, entryStart, 1);
}

function tensorValue(format: TensorFormat, variant: ReplayVariant): unknown {
  const dtype = `DataType.${format.dtype}`;
  const name = variant === 'D' ? '' : (format.format ?? formatName(format));
  if (name === null || (variant !== 'A' && format.strides === null)) return null;
  if (variant === 'A') return [`TensorFormat.${name}`, dtype];
  if (variant === 'B') return [`TensorFormat.${name}`, dtype, format.strides];
  return {
    ...(variant === 'C' ? { tensor_format: `TensorFormat.${name}` } : {}),
    dtype,
    strides: format.strides,
    vectorized_dim: format.vectorizedDim,
    components_per_element: format.components,
    polygraphy_class: 'TensorInfo',
  };
}

/** JSON in the file's indentation, starting at the depth of an entry's members (`levels` below the entry's own line). */
function indented(value: unknown, text: string, at: number, levels: number): string {
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const own = /^[ \t]*/.exec(text.slice(lineStart, at))?.[0] ?? '';
  if (lineStart === 0 || own.length === 0) return JSON.stringify(value);
  const unit = own.includes('\t') ? '\t' : ' '.repeat(Math.max(1, Math.floor(own.length / 2)));
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  return JSON.stringify(value, null, unit).replaceAll('\n', end + own + unit.repeat(levels));
}

/** Edits that take an entry out, so that TensorRT is free to choose for this layer. */
export function removeEntry(text: string, file: ReplayFile, entry: ReplayEntry): SpanEdit[] {
  const position = file.entries.findIndex(({ span }) => span.start === entry.span.start);
  const next = file.entries[position + 1];
  const before = file.entries[position - 1];
  if (next) return [{ start: entry.span.start, end: next.span.start, text: '' }];
  if (before) return [{ start: before.span.end, end: entry.span.end, text: '' }];
  return [{ start: file.span.start + 1, end: file.span.end - 1, text: '' }];
}

/**
 * Edits that add an entry at the end, so that TensorRT must choose so for this layer; null if the file's form cannot
 * say it.
 */
export function addEntry(text: string, file: ReplayFile, layer: string, algorithm: Algorithm): SpanEdit[] | null {
  const last = file.entries.at(-1);
  const json = writeEntry(text, file, algorithm, last?.span.start ?? null);
  if (json === null) return null;
  if (last) {
    const separator = text.slice(text.lastIndexOf('\n', last.span.start) + 1, last.span.start);
    const gap =
      /^[ \t]*$/.test(separator) && last.span.start > 0 && text.includes('\n')
        ? `${text.includes('\r\n') ? '\r\n' : '\n'}${separator}`
        : ' ';
    return [{ start: last.span.end, end: last.span.end, text: `,${gap}${JSON.stringify(layer)}: ${json}` }];
  }
  const open = file.span.start + 1;
  return [{ start: open, end: open, text: `${JSON.stringify(layer)}: ${json}` }];
}

/** An entry's value, indented like the one at `like`, otherwise on one line; null if the file's form cannot say it. */
function writeEntry(text: string, file: ReplayFile, algorithm: Algorithm, like: number | null): string | null {
  const variant = file.variant ?? 'D';
  const tensors = (formats: readonly TensorFormat[]) => formats.map((format) => tensorValue(format, variant));
  const inputs = tensors(algorithm.inputs);
  const outputs = tensors(algorithm.outputs);
  if (inputs.includes(null) || outputs.includes(null)) return null;
  // Ids are put in as text, so that no digit is lost on the way through a number.
  const mark = (id: string) => `\u0000${id}\u0000`;
  const marker =
    file.marker === 'encoded'
      ? { __polygraphy_encoded_Algorithm: 'polygraphy_serialized_json_type' }
      : { polygraphy_class: 'Algorithm' };
  const value = {
    implementation: mark(algorithm.implementation),
    tactic: mark(algorithm.tactic),
    inputs,
    outputs,
    ...marker,
  };
  const json = like === null ? JSON.stringify(value) : indented(value, text, like, 0);
  return json.replace(/"\\u0000(-?\d+)\\u0000"/g, '$1');
}

/** A text after edits that do not overlap. */
export function applySpanEdits(text: string, edits: readonly SpanEdit[]): string {
  let out = '';
  let at = 0;
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    out += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return out + text.slice(at);
}

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
