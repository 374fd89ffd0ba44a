import { optionWords } from '../../core/build/engineOptions.ts';
import type { EngineOptions } from '../../core/build/engineOptions.ts';

/** Options of a build as a task can give them. */
export interface TaskOptions extends EngineOptions {
  randomWeights?: boolean;
  /** Name of a launcher of the settings. */
  launcher?: string;
}

/** What a value of a task must look like, or the words that it may be. */
export type OptionKind =
  | readonly string[]
  | 'text'
  | 'path'
  | 'flag'
  | 'number'
  | 'texts'
  | 'textsOrAll'
  | 'numbersByName'
  | 'textsByName'
  | 'profiles';

/** What a task of tasks.json may say, next to the model. package.json has the same as a schema. */
export const optionKinds = {
  backend: optionWords.backend,
  engine: 'path',
  precision: optionWords.precision,
  overrides: 'path',
  precisionConstraints: optionWords.precisionConstraints,
  stronglyTyped: 'flag',
  profiles: 'profiles',
  workspace: 'number',
  pools: 'numbersByName',
  tacticSources: 'texts',
  optimizationLevel: 'number',
  timingCache: 'path',
  calibrationCache: 'path',
  versionCompatible: 'flag',
  hardwareCompatibility: optionWords.hardwareCompatibility,
  computeCapability: 'texts',
  verbosity: optionWords.verbosity,
  outputs: 'textsOrAll',
  debugTensors: 'texts',
  profileRun: 'flag',
  recordChoices: 'flag',
  noTF32: 'flag',
  extraArguments: 'texts',
  environment: 'textsByName',
  randomWeights: 'flag',
  launcher: 'text',
} as const satisfies Partial<Record<keyof TaskOptions, OptionKind>>;

export const taskProperties: readonly string[] = ['model', ...Object.keys(optionKinds)];
