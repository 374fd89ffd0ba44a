import type { FusionReport } from '../../fusion/fusionReport.ts';

/**
 * The verdict of a gate on one build: `trtlens gate FILE --build FOLDER --json`; of a matrix, `{ "results": [ … ] }`.
 * Fields may be added; these keep their names and meaning.
 */
export interface GateResult {
  /** Version of this format. */
  schema: 1;
  /** Path of the gate file. */
  gate: string;
  /** The build folder or report that was judged. */
  source: string;
  /** File name of the model. */
  model: string;
  /** What the build was made with. */
  tensorrt: FusionReport['tensorrt'];
  /** GPU that it was made on; null: not known. */
  gpu: string | null;
  /** The report or build folder of the baseline; null: none. */
  baseline: string | null;
  /** No check failed. */
  passed: boolean;
  /** Number of checks with each verdict. */
  counts: Record<CheckVerdict, number>;
  /** The checks, in the order of the gate file. */
  checks: CheckResult[];
}

export type CheckVerdict =
  /** the limit is kept */
  | 'passed'
  /** the limit is exceeded, or the check cannot be judged and is not optional */
  | 'failed'
  /** as `failed`, but a permission lets it fail */
  | 'allowed'
  /** optional, and cannot be judged with what was given */
  | 'skipped';

/** What happened to one check of a gate. */
export interface CheckResult {
  /** The rule that it belongs to: `kernels`. */
  rule: string;
  /** Its name, unique in the gate file: `kernels.max`. It stays the same, for scripts and fingerprints. */
  check: string;
  /** Whether it passed. */
  verdict: CheckVerdict;
  /** false: it cannot be judged with what was given; the message says what is missing. */
  judged: boolean;
  /** What was found, for people. */
  message: string;
  /** The limit as it is written: `+5%`. */
  limit: string;
  /** In the rule's unit: counts, milliseconds, bytes, errors. null: not a number, or not known. */
  value: number | null;
  /** The same of the baseline; null: not compared with it. */
  baseline: number | null;
  /** Whether it fails on the baseline, too. null: no baseline, or it cannot be judged there. */
  failsOnBaseline: boolean | null;
  /** Ids of the nodes to blame. */
  nodes: string[];
  /** Their names, in the same order. */
  names: string[];
  /** Line of the build log that shows it; null: none. */
  logLine: number | null;
  /** Where the check is in the gate file. */
  place: Place;
  /** The permission that lets it fail; null: none was needed. */
  permission: {
    /** The last day on which it may fail: `2027-03-01`. */
    until: string;
    /** The reason. */
    why: string;
  } | null;
}

/** A place in the gate file. */
export interface Place {
  /** From 1. */
  line: number;
  /** From 1, in UTF-16 code units. */
  column: number;
  /** Column behind its last character. */
  endColumn: number;
}
