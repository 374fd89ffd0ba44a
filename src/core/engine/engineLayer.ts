/** One tensor at a layer's border, as TensorRT describes it. */
export interface EngineTensor {
  /** The engine's name of the tensor. */
  name: string;
  /** Dimensions; -1: dynamic. null: not given. */
  dims: number[] | null;
  /** Short type name (`Float`, `Half`, `Int8`, `BFloat16`, `FP8`, `Int64`, `Int32`, `Bool`, …), or null. */
  type: string | null;
  /** The format text as TensorRT wrote it (`Row major linear FP32`, `Half`, …), or null. */
  format: string | null;
}

/** One layer of an engine, from layer info or from the list of layers in a log. */
export interface EngineLayer {
  /** As TensorRT writes it, profile suffix included. */
  name: string;
  /** LayerType or runner; '' if only names were recorded. */
  type: string;
  inputs: EngineTensor[];
  outputs: EngineTensor[];
  /** Raw metadata with its separators U+001E and U+001F; null if the source has none (names only, old versions). */
  metadata: string | null;
  tacticName: string | null;
  /** Hexadecimal or decimal text: 64 bits do not fit a number. */
  tactic: string | null;
  streamId: number | null;
  /** Optimization profile, from the suffix ` [profile N]`; 0 without. */
  profile: number;
  /** Line in the log, from 1; null from JSON. */
  line: number | null;
  /** Everything else that the file said, kept and shown. */
  extra: Record<string, unknown>;
}
