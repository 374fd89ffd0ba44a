// Reads a replay and its mismatches.
import { type JsonNode, type JsonObject, memberOf, readLosslessJson } from '../../base/json.ts';
import type { Problem } from '../../base/problem.ts';
import { LineIndex } from '../../base/text.ts';
import { readTensorFormat } from './internal/readTensorFormat.ts';
import type { Choices } from './readChoices.ts';
import {
  type Algorithm,
  type EntryPlaces,
  implementationId,
  type OfferedChoice,
  type ReplayEntry,
  type ReplayFile,
  type ReplayFix,
  type ReplayKind,
  type ReplayProblem,
  type ReplayVariant,
  type Span,
  tacticId,
  type TensorFormat,
} from './replayFile.ts';

/** What reading a replay gives: `kind` `debug` is Polygraphy's record of `debug` iterations, another format without tactics. */
export interface ReplayRead {
  value: ReplayFile | undefined;
  kind: ReplayKind | null;
  problems: ReplayProblem[];
}

/** Whether a text looks like a replay of Polygraphy, from its beginning. */
export function sniffReplay(text: string): ReplayKind | null {
  const head = text.slice(0, 4000);
  if (/^\s*\{\s*"_N\d\w*"\s*:/.test(head) && /IterationContext|iteration_info|"success"/.test(head)) return 'debug';
  if (/^\s*\{[^]*"replay"\s*:\s*\{/.test(head) && /"implementation"|TacticReplayData|"replay"\s*:\s*\{\s*\}/.test(text))
    return 'tactics';
  return null;
}

/** Reads a tactic replay of any version of Polygraphy. Never throws; ids keep all their digits. */
export function readReplay(text: string): ReplayRead {
  const reader = new ReplayReader(text);
  return reader.read();
}

const marker = 'polygraphy_class';
const encoded = '__polygraphy_encoded_';
/** The value of those of the old form. */
const encodedValue = 'polygraphy_serialized_json_type';

/** Problems that leave values without a place of their own. */
const gaps = new Set(['bad-entry', 'bad-class', 'missing-member', 'bad-tensor']);

/** Collects problems with lines and offsets. */
export class ReplayReader {
  readonly problems: ReplayProblem[] = [];
  private readonly text: string;
  private readonly lines: LineIndex;
  private layer: string | undefined;
  /** What is wrong with the JSON itself. */
  private broken: ReplayProblem[] = [];

  constructor(text: string) {
    this.text = text;
    this.lines = new LineIndex(text);
  }

  read(): ReplayRead {
    const json = readLosslessJson(this.text);
    for (const problem of json.problems) this.adopt(problem);
    this.broken = [...this.problems];
    if (this.text.startsWith('\uFEFF')) {
      const message =
        'The file starts with a byte order mark, which Python rejects in JSON. Save it as UTF-8 without one.';
      const fixes = [{ title: 'Remove the byte order mark', edits: [{ start: 0, end: 1, text: '' }], preferred: true }];
      this.add({ start: 0, end: 1 }, 'error', 'json-bom', message, fixes);
    }
    const [root, second] = json.documents;
    if (second)
      this.add(
        { start: second.start, end: second.start + 1 },
        'error',
        'json-trailing',
        'Unexpected text after the end of the JSON document. Remove it.',
      );
    if (root?.kind !== 'object') {
      const message =
        this.text.trim() === ''
          ? 'The file is empty, so no tactics were recorded. Record the replay again.'
          : 'Not a tactic replay: the file is not a JSON object.';
      this.add({ start: 0, end: Math.min(1, this.text.length) }, 'error', 'no-replay', message);
      return { value: undefined, kind: null, problems: this.problems };
    }
    const replay = memberOf(root, 'replay');
    if (replay?.kind !== 'object') return this.other(root);
    const file: ReplayFile = { variant: null, marker: markerOf(root), entries: [], span: spanOf(replay) };
    this.mark(root, 'TacticReplayData', { start: root.start, end: root.start + 1 });
    const seen = new Map<string, ReplayEntry>();
    for (const member of replay.members) {
      if (isMarker(member.key)) continue;
      const entry = this.entry(member.key, { start: member.keyStart, end: member.keyEnd }, member.value, file);
      if (seen.has(entry.layer)) {
        this.layer = entry.layer;
        this.add(
          entry.key,
          'error',
          'duplicate-entry',
          'This layer appears more than once; Python uses the last entry and drops the others.',
        );
      }
      seen.set(entry.layer, entry);
      file.entries.push(entry);
    }
    return { value: file, kind: 'tactics', problems: this.problems };
  }

  private other(root: JsonObject): ReplayRead {
    if (root.members.length > 0 && root.members.every(({ key }) => /^_N\d+/.test(key) || isMarker(key))) {
      const first = root.members[0];
      const span = first ? { start: first.keyStart, end: first.keyEnd } : spanOf(root);
      this.add(
        span,
        'info',
        'debug-replay',
        'This is the record of a "polygraphy debug" run: which iterations passed. It contains no tactics.',
      );
      return { value: undefined, kind: 'debug', problems: this.problems };
    }
    const end = Math.min(root.start + 1, root.end);
    this.add(
      { start: root.start, end },
      'error',
      'no-replay',
      'Not a tactic replay: the object "replay" is missing. Polygraphy writes replays with --save-tactics.',
    );
    return { value: undefined, kind: null, problems: this.problems };
  }

  private entry(layer: string, key: Span, value: JsonNode, file: ReplayFile): ReplayEntry {
    this.layer = layer;
    const before = this.problems.length;
    const algorithm: Algorithm = { implementation: '', tactic: '', inputs: [], outputs: [] };
    const places: EntryPlaces = {
      value: spanOf(value),
      implementation: null,
      tactic: null,
      inputs: null,
      outputs: null,
      tensors: [],
      gaps: false,
    };
    if (value.kind !== 'object') {
      this.add(
        spanOf(value),
        'error',
        'bad-entry',
        'An entry must be an object with implementation, tactic, inputs and outputs.',
      );
    } else {
      places.implementation = this.id(value, 'implementation', key, algorithm);
      places.tactic = this.id(value, 'tactic', key, algorithm);
      places.inputs = this.tensors(value, 'inputs', key, algorithm.inputs, places, file);
      places.outputs = this.tensors(value, 'outputs', key, algorithm.outputs, places, file);
      this.mark(value, 'Algorithm', key);
    }
    // Where the JSON itself is broken, what was read may not be what stands there.
    const broken = this.broken.filter(
      ({ start, code }) => value.start <= start && (start < value.end || (start === value.end && code === 'json-end')),
    );
    const own = [...this.problems.slice(before), ...broken];
    const whole = !own.some(({ severity }) => severity === 'error');
    places.gaps = own.some(({ code }) => gaps.has(code) || code.startsWith('json-'));
    const entry = { layer, algorithm, key, span: { start: key.start, end: value.end }, places, whole };
    this.layer = undefined;
    return entry;
  }

  private id(value: JsonObject, name: 'implementation' | 'tactic', key: Span, algorithm: Algorithm): Span | null {
    const node = memberOf(value, name);
    if (!node) {
      this.add(key, 'error', 'missing-member', `This entry has no "${name}".`);
      return null;
    }
    const text = node.kind === 'number' ? node.text : '';
    algorithm[name] = text;
    const signed = name === 'tactic' ? tacticId(text) : null;
    const valid = name === 'tactic' ? signed !== null : implementationId(text) !== null;
    if (signed?.startsWith('-') && !text.startsWith('-')) {
      const message = `TensorRT writes tactic ids as signed integers: ${signed}.`;
      const fixes = [{ title: `Change to ${signed}`, edits: [{ ...spanOf(node), text: signed }], preferred: true }];
      this.add(spanOf(node), 'error', 'bad-id', message, fixes);
    } else if (!valid || text.startsWith('0x')) {
      const range = name === 'tactic' ? 'a 64-bit integer' : 'a 32-bit integer';
      this.add(spanOf(node), 'error', 'bad-id', `"${name}" must be ${range} in decimal digits.`);
    }
    return spanOf(node);
  }

  private tensors(
    value: JsonObject,
    name: 'inputs' | 'outputs',
    key: Span,
    into: TensorFormat[],
    places: EntryPlaces,
    file: ReplayFile,
  ): Span | null {
    const node = memberOf(value, name);
    if (node?.kind !== 'array') {
      if (node) this.add(spanOf(node), 'error', 'bad-entry', `"${name}" must be a list.`);
      else this.add(key, 'error', 'missing-member', `This entry has no "${name}".`);
      return node ? spanOf(node) : null;
    }
    for (const item of node.items) {
      const tensor = readTensorFormat(item, (span, code, message, fixes, severity = 'error') =>
        this.add(span, severity, code, message, fixes),
      );
      if (!tensor) continue;
      into.push(tensor.format);
      places.tensors.push(tensor.places);
      if (item.kind === 'object') this.mark(item, 'TensorInfo', spanOf(item));
      this.variant(file, tensor.variant, tensor.places.span);
    }
    return spanOf(node);
  }

  /** Polygraphy takes an object for what its mark says, and loads no file if one is missing. */
  private mark(node: JsonObject, name: string, place: Span): void {
    const isText = ({ value }: JsonObject['members'][number], text: string) =>
      value.kind === 'string' && value.value === text;
    // A mark of the old form with its value comes first for Polygraphy, too.
    const olds = node.members.filter(({ key }) => key.startsWith(encoded));
    const old = olds.find((member) => isText(member, encodedValue)) ?? olds.find(({ key }) => key === encoded + name);
    const own = node.members.findLast(({ key }) => key === marker);
    const hasOld = old !== undefined && isText(old, encodedValue);
    if (hasOld ? old.key === encoded + name : own && isText(own, name)) return;
    if (old && (hasOld || !own)) return this.markOld(old, name);
    const wanted = JSON.stringify(name);
    const last = node.members.at(-1);
    const before = last ? this.text.slice(0, last.keyStart) : '';
    const gap = before.slice(before.trimEnd().length);
    const at = last?.value.end ?? node.start + 1;
    // In an object that is cut off, the place after its last member is inside something else.
    const closed = at < node.end && this.text.charAt(node.end - 1) === '}';
    const edit = own
      ? { ...spanOf(own.value), text: wanted }
      : { start: at, end: at, text: `${last ? ',' : ''}${gap}"${marker}": ${wanted}` };
    const title = `${own ? 'Change to' : 'Add'} "${marker}": ${wanted}`;
    const message = `Polygraphy does not recognize this as ${name} without "${marker}", so the build fails. Add "${marker}": ${wanted}.`;
    const fixes = own || closed ? [{ title, edits: [edit], preferred: true }] : [];
    this.add(own ? spanOf(own.value) : place, 'error', 'bad-class', message, fixes);
  }

  private markOld({ keyStart, key, value }: JsonObject['members'][number], name: string): void {
    const wanted = `${JSON.stringify(encoded + name)}: ${JSON.stringify(encodedValue)}`;
    const span = key === encoded + name ? spanOf(value) : { start: keyStart, end: value.end };
    const text = key === encoded + name ? JSON.stringify(encodedValue) : wanted;
    const message = `Polygraphy does not recognize this as ${name} without ${wanted}, so the build fails.`;
    const fixes = [{ title: `Change to ${text}`, edits: [{ ...span, text }], preferred: true }];
    this.add(span, 'error', 'bad-class', message, fixes);
  }

  private variant(file: ReplayFile, variant: ReplayVariant, span: Span): void {
    file.variant ??= variant;
    if (file.variant === variant) return;
    if (file.variant > 'B' && variant > 'B') {
      const message =
        'Only some inputs and outputs have a "tensor_format". Polygraphy up to 0.49.0 cannot load such a file; later versions can.';
      this.add(span, 'warning', 'mixed-variants', message);
      return;
    }
    this.add(
      span,
      'error',
      'mixed-variants',
      `This entry has the format of another Polygraphy version (${variant}) than the entries before it (${file.variant}). Use one format per file.`,
    );
  }

  /** A problem of the JSON itself, which has lines and columns only. Python is strict about each: nothing is loaded. */
  private adopt(problem: Problem): void {
    const start = this.offsetOf(problem.line ?? 1, problem.column ?? 1);
    const end = problem.endColumn === undefined ? start + 1 : this.offsetOf(problem.line ?? 1, problem.endColumn);
    this.problems.push({ ...problem, severity: 'error', start, end, fixes: [] });
  }

  private offsetOf(line: number, column: number): number {
    let start = 0;
    for (let n = 1; n < line; n++) {
      const next = this.text.indexOf('\n', start);
      if (next < 0) break;
      start = next + 1;
    }
    return Math.min(this.text.length, start + column - 1);
  }

  private add(
    span: Span,
    severity: Problem['severity'],
    code: string,
    message: string,
    fixes: ReplayProblem['fixes'] = [],
  ): void {
    this.problems.push(replayProblem(this.lines, span, severity, code, message, this.layer, fixes));
  }
}

/** A problem at a span of a text. Fixes that take time to find are computed on request. */
export function replayProblem(
  lines: LineIndex,
  span: Span,
  severity: Problem['severity'],
  code: string,
  message: string,
  layer?: string,
  fixes: ReplayFix[] | (() => ReplayFix[]) = [],
): ReplayProblem {
  const from = lines.placeOf(span.start);
  const to = lines.placeOf(span.end);
  let found = typeof fixes === 'function' ? null : fixes;
  return {
    severity,
    code,
    message,
    ...from,
    ...(to.line === from.line ? { endColumn: to.column } : {}),
    start: span.start,
    end: span.end,
    ...(layer === undefined ? {} : { layer }),
    get fixes() {
      return (found ??= typeof fixes === 'function' ? fixes() : fixes);
    },
  };
}

function spanOf({ start, end }: JsonNode): Span {
  return { start, end };
}

function isMarker(key: string): boolean {
  return key === marker || key.startsWith(encoded);
}

function markerOf(root: JsonObject): ReplayFile['marker'] {
  if (root.members.some(({ key }) => key === marker)) return marker;
  return root.members.some(({ key }) => key.startsWith(encoded)) ? 'encoded' : null;
}

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
const color = /\u001b\[[\d;]*[A-Za-z]/g;

/** Follows the choice of the replay, on its line. */
const selected = /, but TensorRT selected:\s*$/;

/** Finds what Polygraphy says about a replay in its log. The same error is printed twice; it is given once. */
export function readMismatches(log: string): ReplayMismatch[] {
  const found: ReplayMismatch[] = [];
  let open: ReplayMismatch | null = null;
  let part: 'replay' | 'choices' | null = null;
  let line = 0;
  const plain = log.includes('\u001b[') ? log.replaceAll(color, '') : log;
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
