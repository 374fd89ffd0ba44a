import { type EngineOptions, optionRows } from '../../build/buildOptions.ts';
import type { OptionKind } from '../../build/buildManifest.ts';

/** Options of a build as a task can give them. */
export type TaskOptions = EngineOptions & {
  /** Name of a launcher of the settings. */
  launcher?: string;
};

/** What a task of tasks.json may give, in addition to the model, and the kind of each. package.json has the same as a schema. */
export const taskOptions: readonly (readonly [string, OptionKind])[] = [
  ...optionRows.filter(([, { except }]) => !except?.includes('task')).map(([name, { kind }]) => [name, kind] as const),
  ['launcher', 'text'],
];

export const taskProperties: readonly string[] = ['model', ...taskOptions.map(([name]) => name)];
