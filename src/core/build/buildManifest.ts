import type { TimeLine } from './buildProgress.ts';

/** `manifest.json` of a build folder: everything that says what this build was. Times are ISO 8601 and seconds. */
export interface BuildManifest {
  schema: 1;
  /** Folder name; unique, sorts by time. */
  id: string;
  model: { file: string; sha256: string | null; bytes: number };
  backend: 'trtexec' | 'polygraphy' | 'python' | 'rtx';
  /** `recorded`: not built here, a shipped or imported build, and labelled so everywhere. */
  origin: 'built' | 'recorded' | 'imported';
  tensorrt: { product: 'tensorrt' | 'tensorrt-rtx' | null; version: string | null };
  gpu: string | null;
  driver: string | null;
  /** The command as run, one argument per element. */
  command: string[];
  /** Options that the user chose, for comparing two builds. */
  options: Record<string, string | number | boolean | string[]>;
  started: string;
  seconds: number | null;
  result: 'passed' | 'failed' | 'cancelled' | 'running';
  /** One line for the user when it failed. */
  error: string | null;
  /** File names inside the folder (the engine may be a path elsewhere). */
  files: { log: string | null; layers: string | null; profile: string | null; engine: string | null; choices?: string };
  /** Where the time went; not in manifests of imported builds. */
  timeLine?: TimeLine;
  /** SHA-256 of the text of the override rules that it was made with; absent: with none, or not known. */
  rulesSha256?: string;
  /** What went wrong next to a build that passed, one sentence each. */
  warnings?: string[];
  /** While it runs: the process that runs it. A build that runs under a process that is gone was cut off. */
  pid?: number;
}
