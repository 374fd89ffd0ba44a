import type { BuildFiles } from '../../../build/buildOptions.ts';

/** The files of one build: those that its command names, and those that only the driver reads. */
export interface BuildFilePaths extends BuildFiles {
  /** Holds `driverPrecisions(options)`, where the driver is to read it. */
  precisions: string;
  /** `build_engine.py`, where it is not where the tools say. */
  driver?: string;
}
