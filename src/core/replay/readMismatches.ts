import type { Algorithm, OfferedChoice, TensorFormat } from './algorithm.ts';
import type { Choices } from './readChoices.ts';

/** A line of Polygraphy about a replay that does not fit. */
export interface ReplayMismatch {
  /** `not-offered`: the entry is not one of the choices. `overruled`: TensorRT took another one. `not-found`: the layer is not in the replay. */
  kind: 'not-offered' | 'overruled' | 'not-found';
  layer: string;
  /** Line of the log, from 1. */
  line: number;
  inReplay: Algorithm | null;
  /** `not-offered`: all that TensorRT offered; `overruled`: what it took. */
  choices: Algorithm[];
}

/** What stands after the layer's name. */
const endings = [
  ['not-offered', ' | Tactic in replay was not provided by TensorRT as a choice for this layer.'],
  ['overruled', ' | TensorRT selected a tactic different than the one specified in the tactic replay.'],
  ['not-found', ' was not found in the tactic replay. Falling back to default tactics.'],
] as const;

/** What Polygraphy writes around a message on a terminal. */
const colour = /\u001b\[[\d;]*[A-Za-z]/g;

/** Follows the choice of the replay, on its line. */
const selected = /, but TensorRT selected:\s*$/;

/** Finds what Polygraphy says about a replay in its log. The same error is printed twice; it is given once. */
export function readMismatches(log: string): ReplayMismatch[] {
  const found: ReplayMismatch[] = [];
  let open: ReplayMismatch | null = null;
  let part: 'replay' | 'choices' | null = null;
  let line = 0;
  const plain = log.includes('\u001b[') ? log.replaceAll(colour, '') : log;
  for (const text of plain.split(/\r?\n/)) {
    line++;
    const start = startOf(text, line);
    if (start) {
      open = start;
      part = null;
      found.push(start);
    } else if (open) {
      const algorithm = readAlgorithm(text.replace(selected, ''));
      if (algorithm && part === 'replay' && !open.inReplay) open.inReplay = algorithm;
      else if (algorithm && part === 'choices') open.choices.push(algorithm);
      if (/Note: Tactic in replay was:/.test(text)) part = 'replay';
      else if (/Provided choices were:/.test(text) || selected.test(text)) part = 'choices';
      else if (!algorithm && /^\[|^At:|^&&&&/.test(text)) open = null;
    }
  }
  return withoutRepeats(found);
}

/** Lines can be as long as a model has nodes, each behind a `Layer: `: patterns would look at them over and over. */
function startOf(text: string, line: number): ReplayMismatch | null {
  const start = text.indexOf('Layer: ') + 'Layer: '.length;
  if (start < 'Layer: '.length) return null;
  for (const [kind, ending] of endings) {
    const end = text.indexOf(ending, start);
    if (end > start) return { kind, layer: text.slice(start, end), line, inReplay: null, choices: [] };
  }
  return null;
}

function withoutRepeats(found: ReplayMismatch[]): ReplayMismatch[] {
  const kept = new Map<string, ReplayMismatch>();
  for (const mismatch of found) {
    const key = `${mismatch.kind}\n${mismatch.layer}`;
    const earlier = kept.get(key);
    if (!earlier) kept.set(key, mismatch);
    else if (mismatch.choices.length > earlier.choices.length) kept.set(key, { ...mismatch, line: earlier.line });
  }
  return [...kept.values()];
}

/** The choices of `not-offered` mismatches, as alternatives to pick from; TensorRT names no times there. */
export function choicesOfMismatches(mismatches: readonly ReplayMismatch[]): Choices {
  const offered = new Map<string, OfferedChoice[]>();
  for (const { kind, layer, choices } of mismatches) {
    if (kind !== 'not-offered' || choices.length === 0) continue;
    offered.set(
      layer,
      choices.map((algorithm) => ({ algorithm, ms: null, workspace: null })),
    );
  }
  return { offered, chosen: new Map(), source: 'mismatch' };
}

/**
 * Reads `(Implementation: 2147483657, Tactic: -37…) | Inputs: (TensorInfo(DataType.FLOAT, (37632, 196), -1, 1),) | Outputs: (…)`
 * in the spelling of any version; null for another text.
 */
export function readAlgorithm(text: string): Algorithm | null {
  const start = text.indexOf('(Implementation: ');
  const found = start < 0 ? null : choice.exec(text.slice(start));
  if (!found) return null;
  const [, implementation = '', tactic = '', inputs = '', outputs = ''] = found;
  const read = { inputs: readTuple(inputs), outputs: readTuple(outputs) };
  return read.inputs && read.outputs ? { implementation, tactic, inputs: read.inputs, outputs: read.outputs } : null;
}

const choice = /^\(Implementation: (-?\d+), Tactic: (-?\d+)\) \| Inputs: (.*?) \| Outputs: (.*)$/;
const tensorInfo =
  /TensorInfo\((?:TensorFormat\.(\w+), )?DataType\.(\w+), \(([-\d, ]*)\), (-?\d+|None), (-?\d+|None)\)/g;
const tensorPair = /\('?TensorFormat\.(\w+)'?, '?DataType\.(\w+)'?(?:, \(([-\d, ]*)\))?\)/g;

function readTuple(text: string): TensorFormat[] | null {
  const formats: TensorFormat[] = [];
  let rest = text.replace(
    tensorInfo,
    (_, format: string | undefined, dtype: string, strides: string, dim: string, components: string) => {
      formats.push({
        dtype,
        format: format ?? null,
        strides: numbers(strides),
        vectorizedDim: numberOrNull(dim),
        components: numberOrNull(components),
      });
      return '';
    },
  );
  rest = rest.replace(tensorPair, (_, format: string, dtype: string, strides: string | undefined) => {
    formats.push({
      dtype,
      format,
      strides: strides === undefined ? null : numbers(strides),
      vectorizedDim: null,
      components: null,
    });
    return '';
  });
  return /^\s*\([, ]*\)\s*$/.test(rest) ? formats : null;
}

function numbers(text: string): number[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(Number);
}

function numberOrNull(text: string): number | null {
  return text === 'None' ? null : Number(text);
}
