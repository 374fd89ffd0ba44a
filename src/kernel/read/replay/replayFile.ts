// The parts of a replay.
import type { Problem } from '../../base/problem.ts';
import { NodesByName, nodesInName } from '../../network/nodeNames.ts';

/**
 * What TensorRT runs a layer with, as Polygraphy records it. Ids are decimal text: they have up to 64 bits, which a
 * number does not hold.
 */
export interface Algorithm {
  implementation: string;
  tactic: string;
  inputs: TensorFormat[];
  outputs: TensorFormat[];
}

/** The type and memory layout of one tensor at a layer's border. */
export interface TensorFormat {
  /** TensorRT's word without `DataType.`: `FLOAT`, `HALF`, `INT8`, … */
  dtype: string;
  /** TensorRT's word without `TensorFormat.`, in files of Polygraphy up to 0.49.0; otherwise null. */
  format: string | null;
  /** In vectors, one a dimension; null in the oldest files. */
  strides: number[] | null;
  /** -1: not vectorized; null: not recorded. */
  vectorizedDim: number | null;
  components: number | null;
}

/** A choice that TensorRT offered for a layer, with what it cost where that is known. */
export interface OfferedChoice {
  algorithm: Algorithm;
  ms: number | null;
  /** Bytes of scratch memory. */
  workspace: number | null;
  /** A TF32 kernel, which Polygraphy is offered only with `--tf32`; absent: not known to be one. */
  tf32?: true;
}

/** The faster first; TF32 kernels last, which a replay cannot have without more ado. */
export function compareChoices(a: OfferedChoice, b: OfferedChoice): number {
  return Number(a.tf32 ?? false) - Number(b.tf32 ?? false) || (a.ms ?? Infinity) - (b.ms ?? Infinity) || 0;
}

/** Implementation ids are unsigned 32 bits; TensorRT 8.0–8.2 wrote them signed. null: no such id. */
export function implementationId(text: string): number | null {
  if (!/^-?\d{1,10}$/.test(text)) return null;
  const value = Number(text);
  if (value < -0x80000000 || value > 0xffffffff) return null;
  return value < 0 ? value + 0x1_0000_0000 : value;
}

const int64Min = -(2n ** 63n);
const int64Max = 2n ** 63n - 1n;

/** A tactic id as signed 64-bit decimal text, from decimal or hexadecimal (`0x…`, as logs write it); null: no such id. */
export function tacticId(text: string): string | null {
  if (!/^(?:-?\d{1,20}|0x[0-9a-fA-F]{1,16})$/.test(text)) return null;
  let value = BigInt(text);
  if (value > int64Max && value < 2n ** 64n) value -= 2n ** 64n;
  return value < int64Min || value > int64Max ? null : value.toString();
}

/** A tactic id as 16 hexadecimal digits, as logs and layer info write it. */
export function tacticHex(tactic: string): string {
  const id = tacticId(tactic);
  return id === null ? tactic : `0x${BigInt.asUintN(64, BigInt(id)).toString(16).padStart(16, '0')}`;
}

/** Whether two algorithms are the same for TensorRT: ids by value; formats as far as both record them. */
export function sameAlgorithm(a: Algorithm, b: Algorithm): boolean {
  return sameIds(a, b) && sameFormats(a.inputs, b.inputs) && sameFormats(a.outputs, b.outputs);
}

/** The same text for algorithms that are the same for TensorRT and written in full. */
export function algorithmKey({ implementation, tactic, inputs, outputs }: Algorithm): string {
  const formats = [...inputs, ...outputs].map(
    ({ dtype, strides, vectorizedDim, components }) => `${dtype} ${strides?.join()} ${vectorizedDim} ${components}`,
  );
  return [implementationId(implementation), tacticId(tactic), inputs.length, ...formats].join('|');
}

/** Whether implementation and tactic are the same by value. */
export function sameIds(a: Algorithm, b: Algorithm): boolean {
  return sameId(a.tactic, b.tactic, tacticId) && sameId(a.implementation, b.implementation, implementationId);
}

function sameId(a: string, b: string, valueOf: (text: string) => number | string | null): boolean {
  if (a === b) return true;
  // Of the many choices that are compared most are far apart, and not by what signed and unsigned ids differ by.
  const apart = Math.abs(Number(a) - Number(b));
  if (apart > 2 ** 32 && apart < 2 ** 63) return false;
  const value = valueOf(a);
  return value !== null && value === valueOf(b);
}

/** Whether two lists of formats are the same, as far as both record them. */
export function sameFormats(a: readonly TensorFormat[], b: readonly TensorFormat[]): boolean {
  return a.length === b.length && a.every((format, i) => sameFormat(format, b[i]));
}

function sameFormat(a: TensorFormat, b: TensorFormat | undefined): boolean {
  if (!b || a.dtype !== b.dtype) return false;
  // Without a format's name both are of the form that records all: null is a value there, TensorRT's before 8.6.
  const all = a.format === null && b.format === null;
  const known = <T>(x: T | null, y: T | null) => x === y || (!all && (x === null || y === null));
  const strides = a.strides === null || b.strides === null || a.strides.join() === b.strides.join();
  return (
    strides && known(a.format, b.format) && known(a.vectorizedDim, b.vectorizedDim) && known(a.components, b.components)
  );
}

/** Whether the data types at both sides are the same. */
export function sameTypes(a: Algorithm, b: Algorithm): boolean {
  const same = (x: readonly TensorFormat[], y: readonly TensorFormat[]) =>
    x.length === y.length && x.every(({ dtype }, i) => dtype === y[i]?.dtype);
  return same(a.inputs, b.inputs) && same(a.outputs, b.outputs);
}

/** Data types at a layer's border: `HALF→FLOAT`. */
export function typeSignature(algorithm: Algorithm): string {
  const types = (formats: readonly TensorFormat[]) => formats.map(({ dtype }) => dtype).join(', ');
  return `${types(algorithm.inputs)} → ${types(algorithm.outputs)}`;
}

/** A stretch of the text: offsets in UTF-16 units, `end` exclusive. */
export interface Span {
  start: number;
  end: number;
}

/** One replacement in a text. */
export interface SpanEdit extends Span {
  text: string;
}

/** A problem with its place as offsets, too, and its fixes. */
export interface ReplayProblem extends Problem, Span {
  /** Name of the layer concerned; absent for the file as a whole. */
  layer?: string;
  readonly fixes: ReplayFix[];
}

export interface ReplayFix {
  title: string;
  edits: SpanEdit[];
  preferred?: boolean;
}

/**
 * How one input or output is written, by Polygraphy's version: A up to 0.41 `[format, dtype]`, B 0.42–0.45 with strides,
 * C 0.46–0.49.0 an object with `tensor_format`, D later without it.
 */
export type ReplayVariant = 'A' | 'B' | 'C' | 'D';

/** A tactic replay of Polygraphy: what TensorRT should run each layer with. */
export interface ReplayFile {
  /** null: no entry has inputs or outputs. */
  variant: ReplayVariant | null;
  /** How the file marks its classes; `encoded` before 0.30. */
  marker: 'polygraphy_class' | 'encoded' | null;
  /** In the order of the file. */
  entries: ReplayEntry[];
  /** The object that holds the entries. */
  span: Span;
}

export interface ReplayEntry {
  layer: string;
  algorithm: Algorithm;
  /** The key with its quotes. */
  key: Span;
  /** From the key to the end of the value. */
  span: Span;
  places: EntryPlaces;
  /** False when something is missing or wrong in it. */
  whole: boolean;
}

export interface EntryPlaces {
  value: Span;
  implementation: Span | null;
  tactic: Span | null;
  inputs: Span | null;
  outputs: Span | null;
  /** Inputs, then outputs. */
  tensors: TensorPlaces[];
  /** Something is missing or cannot be read: other values in the places that there are would not make it whole. */
  gaps: boolean;
}

export interface TensorPlaces {
  span: Span;
  dtype: Span | null;
  format: Span | null;
  /** The list with its brackets, and each number in it. */
  strides: Span | null;
  strideNumbers: Span[];
  vectorizedDim: Span | null;
  components: Span | null;
}

/** What a file that looks like a replay is. */
export type ReplayKind = 'tactics' | 'debug';

/** A model that a replay may be of. */
export interface ReplayCandidate<T> {
  model: T;
  nodes: readonly { name: string; outputs: readonly string[] }[];
}

/**
 * The models whose nodes the layers of a replay name, most layers first: those with as many as the best one, and none
 * unless at least half of the layers name nodes of it. TensorRT's own layers (reformats, constants) name none of any.
 */
export function fittingModels<T>(layers: readonly string[], candidates: readonly ReplayCandidate<T>[]): T[] {
  const counts = candidates.map(({ nodes }) => {
    const names = new NodesByName(nodes);
    return layers.filter((layer) => nodesInName(names, layer).length > 0).length;
  });
  const best = Math.max(0, ...counts);
  if (best === 0 || best < layers.length / 2) return [];
  return candidates.filter((_, index) => counts[index] === best).map(({ model }) => model);
}
