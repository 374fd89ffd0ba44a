import type { Problem } from '../text/problem.ts';
import type { Algorithm } from './algorithm.ts';

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
