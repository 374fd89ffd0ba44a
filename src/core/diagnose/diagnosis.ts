/** Stable codes of `trtlens diagnose` (docs/command-line.md). */
export type DiagnosisCode =
  | 'unsupported-op'
  | 'plugin-missing'
  | 'no-implementation'
  | 'profile-missing'
  | 'profile-inconsistent'
  | 'unknown-input'
  | 'unknown-flag'
  | 'bad-flag-value'
  | 'workspace-too-small'
  | 'out-of-memory'
  | 'engine-invalid'
  | 'engine-other-version'
  | 'engine-other-device'
  | 'replay-mismatch'
  | 'weights-missing'
  | 'model-unreadable'
  | 'model-missing'
  | 'library-missing'
  | 'calibration-missing'
  | 'precision-overflow'
  | 'precision-underflow'
  | 'shape-mismatch'
  | 'type-mismatch'
  | 'file-missing'
  | 'iteration-failed'
  | 'cut-off'
  | 'internal';

/** What went wrong in a build, in plain words, and what to do next. */
export interface Diagnosis {
  code: DiagnosisCode;
  severity: 'error' | 'warning';
  message: string;
  advice: string;
  /** Line of the log that says it, from 1. */
  line: number;
  /** Ids of the ONNX nodes concerned, the most likely first; empty if the log names none or there is no model. */
  nodes: string[];
  /** The layer or node as TensorRT names it; null if it names none. */
  layer: string | null;
}
