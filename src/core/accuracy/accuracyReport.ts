import type { JudgedNode } from './judgement.ts';
import type { HeldValue } from './kernelValues.ts';
import type { RandomInput } from './randomInputs.ts';

/** What `trtlens accuracy --json` prints. Errors are max|difference| / max|reference|, the worst of all samples. */
export interface AccuracyReport {
  /** The low precision: the `base` of the rules or what was requested. */
  low: string;
  /** `node`: every value is rounded; `kernel`: `outputs` are those of a build whose kernels hold values unrounded. */
  level: 'node' | 'kernel';
  samples: number;
  tolerance: number;
  inputs: InputSource[];
  outputs: AccuracyOutput[];
  /** Level `kernel` only: what it is compared with, and why it may differ. */
  kernel?: {
    /** The outputs at node level, to which nodes and fix belong. */
    outputs: AccuracyOutput[];
    /** Values that never leave a kernel, so that they may stay unrounded: a hypothesis until a run confirms it. */
    held: (HeldValue & { name: string; culprit: boolean })[];
  };
  /** Error of the outputs when only this node, operator or module is in low precision, the worst first. */
  sensitivity?: Sensitivity[];
  /** Low-precision nodes in the model's order. */
  nodes: JudgedNode[];
  /** null: there is none, see `reason`. Without nodes: nothing to fix. */
  fix: AccuracyFix | null;
  reason: string | null;
}

/** What is in low precision alone, and the error that it gives; null: not finite. */
export interface Sensitivity {
  kind: 'node' | 'operator' | 'module';
  name: string;
  nodes: string[];
  error: number | null;
}

/** Where the values of an input come from; `values`: what random ones are. */
export interface InputSource {
  name: string;
  source: 'file' | 'random';
  shape: number[];
  values?: RandomInput['values'];
}

export interface AccuracyOutput {
  name: string;
  /** Largest magnitude of the reference; null for other types than floating point. */
  max: number | null;
  /** null: not finite. For other types than floating point the share of elements that differ. */
  error: number | null;
  /** Finite where the reference is, and of the same shape. */
  finite: boolean;
  /** Its shape depends on values, and is another one in low precision. */
  shapeDiffers?: true;
  /** It counts for the tolerance. */
  judged: boolean;
  /** Mean of the samples' errors; null: not finite in one of them. */
  mean: number | null;
}

export interface AccuracyFix {
  nodes: string[];
  names: string[];
  error: number;
  /** No single node can be omitted. */
  minimal: boolean;
  /** Runs of the model that the search took. */
  runs: number;
  /** Casts that \`trtlens precision apply\` adds to the model under these rules; null: for INT8 and FP8, which have none. */
  casts: number | null;
  /** Text of a `.trtprec` with these rules. */
  rules: string;
  /** The lines of it that the fix adds. */
  added: string;
  /** What each rule buys: the error without it; null: not finite, or not tried. */
  without: { selector: string; nodes: string[]; error: number | null }[];
}
