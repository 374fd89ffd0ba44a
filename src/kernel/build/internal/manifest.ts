// What a build records of itself.
import type { TimeLine } from './buildProgress.ts';
import type { BuiltShape } from './builtShapes.ts';

/** `manifest.json` of a build folder: everything that says what this build was. Times are ISO 8601 and seconds. */
export interface BuildManifest {
  /** Version of this contract. */
  schema: 1;
  /** Folder name; unique, sorts by time. */
  id: string;
  /** Path of the model (relative: to the folder), the SHA-256 of its content (null: not computed), and its size. */
  model: { file: string; sha256: string | null; bytes: number };
  /** What ran the build. */
  backend: 'trtexec' | 'polygraphy' | 'python' | 'rtx';
  /** `recorded`: not built here, a shipped or imported build, and labeled so everywhere. */
  origin: 'built' | 'recorded' | 'imported';
  /** What built the engine; null: not known. */
  tensorrt: { product: 'tensorrt' | 'tensorrt-rtx' | null; version: string | null };
  /** Name of the GPU; null: not known, or built without one. */
  gpu: string | null;
  /** Version of the GPU's driver; null: not known. */
  driver: string | null;
  /** The command as run, one argument per element. */
  command: string[];
  /** Options that the user chose, for comparing two builds. */
  options: Record<string, string | number | boolean | string[]>;
  /** When it started, in ISO 8601. */
  started: string;
  /** How long it took; null: it has not ended. */
  seconds: number | null;
  /** How it ended. */
  result: 'passed' | 'failed' | 'cancelled' | 'running';
  /** One line for the user when it failed. */
  error: string | null;
  /** The same as data, by which programs tell one failure from another; absent: it passed, or an earlier version wrote it. */
  failure?: BuildFailure;
  /** File names inside the folder (the engine may be a path elsewhere); `counters`: the output of `ncu --csv`. */
  files: {
    log: string | null;
    layers: string | null;
    profile: string | null;
    engine: string | null;
    choices?: string;
    counters?: string;
  };
  /** Where the time went; not in manifests of imported builds. */
  timeLine?: TimeLine;
  /** For which shapes it was built: of every input, a list per optimization profile; absent: the model could not be read. */
  shapes?: BuiltShape[][];
  /** SHA-256 of the text of the override rules that it was made with; absent: with none, or not known. */
  rulesSha256?: string;
  /** SHA-256 and size of the engine's content, by which its file is known wherever it is; absent: not computed. */
  engine?: { sha256: string; bytes: number };
  /** What the user calls this build; absent: it has no name. */
  name?: string;
  /** What went wrong next to a build that passed, one sentence each. */
  warnings?: string[];
  /** While it runs: the process that runs it. A build that runs under a process that is gone was cut off. */
  pid?: number;
}

/** Stable codes of `trtlens diagnose`. */
export type DiagnosisCode =
  | 'unsupported-op'
  | 'unsupported-form'
  | 'unsupported-type'
  | 'plugin-missing'
  | 'no-implementation'
  | 'profile-missing'
  | 'profile-inconsistent'
  | 'shape-values-missing'
  | 'unknown-input'
  | 'unknown-flag'
  | 'bad-flag-value'
  | 'flag-conflict'
  | 'workspace-too-small'
  | 'out-of-memory'
  | 'engine-invalid'
  | 'engine-other-version'
  | 'engine-other-device'
  | 'gpu-unsupported'
  | 'replay-mismatch'
  | 'weights-missing'
  | 'model-unreadable'
  | 'model-invalid'
  | 'model-missing'
  | 'library-missing'
  | 'library-mismatch'
  | 'calibration-missing'
  | 'calibration-failed'
  | 'quantization'
  | 'precision-overflow'
  | 'precision-underflow'
  | 'precision-ignored'
  | 'known-fault'
  | 'reported-fault'
  | 'control-flow'
  | 'shape-mismatch'
  | 'type-mismatch'
  | 'file-missing'
  | 'dla-fallback'
  | 'dla-failed'
  | 'runtime-shape'
  | 'runtime-failed'
  | 'killed'
  | 'crashed'
  | 'iteration-failed'
  | 'cut-off'
  | 'failed'
  | 'internal'
  | 'name-too-long';

/** Why a build did not pass. */
export interface BuildFailure {
  /** A code of `trtlens diagnose`, or what happened to the program that built. */
  code: DiagnosisCode | ProgramFailure;
  /** What went wrong, one sentence. */
  message: string;
  /** What to do next; '' if there is nothing that fits every case. */
  advice: string;
  /** Ids of the ONNX nodes concerned, the most likely first. */
  nodes: string[];
  /** Lines of the log that say it, from 1. */
  lines: number[];
}

/**
 * `cancelled`: someone stopped it. `interrupted`: the program that ran it is gone. `stopped`: the program gave a reason of
 * its own before TensorRT built. `exited`, `killed`, `no-program`, `no-engine`: how the program ended, without a reason
 * that is known. `engine-not-moved`: it was built, but could not be put where it should go.
 */
type ProgramFailure =
  | 'cancelled'
  | 'interrupted'
  | 'stopped'
  | 'exited'
  | 'killed'
  | 'no-program'
  | 'no-engine'
  | 'engine-not-moved';

/** A failure that no log explains. */
export const programFailure = (code: ProgramFailure, message: string): BuildFailure => ({
  code,
  message,
  advice: '',
  nodes: [],
  lines: [],
});

/** Whether all networks of a product, and of a major version where it is known, are strongly typed. */
export const buildsOnlyTyped = (product: BuildManifest['tensorrt']['product'], major: number | undefined): boolean =>
  product === 'tensorrt-rtx' || (major ?? 0) >= 11;
