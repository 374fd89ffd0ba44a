import type { EngineOptions } from '../../core/build/engineOptions.ts';

/** Options of a build as a task can give them. */
export interface TaskOptions extends EngineOptions {
  randomWeights?: boolean;
  /** Name of a launcher of the settings. */
  launcher?: string;
}

/** What a value of a task must look like. */
export type OptionKind =
  'text' | 'path' | 'flag' | 'number' | 'texts' | 'textsOrAll' | 'numbersByName' | 'textsByName' | 'profiles';

/** What a task of tasks.json may say, beside model and backend. package.json has the same as a schema. */
export const optionKinds = {
  engine: 'path',
  precision: 'text',
  overrides: 'path',
  precisionConstraints: 'text',
  stronglyTyped: 'flag',
  profiles: 'profiles',
  workspace: 'number',
  pools: 'numbersByName',
  tacticSources: 'texts',
  optimizationLevel: 'number',
  timingCache: 'path',
  calibrationCache: 'path',
  versionCompatible: 'flag',
  hardwareCompatibility: 'text',
  computeCapability: 'texts',
  verbosity: 'text',
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

export const taskProperties: readonly string[] = ['model', 'backend', ...Object.keys(optionKinds)];
