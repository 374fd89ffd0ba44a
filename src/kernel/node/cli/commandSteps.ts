import type { BuildEvents, BuildOptions } from '../run/runBuild.ts';
import type { Build } from '../store/buildFolder.ts';
import { UserError } from '../files/userError.ts';
import type { Terminal } from './terminal.ts';

/** Steps of commands that features fill. */
export interface CommandSteps {
  /** Repairs a model that did not build, if that is exact, and builds it. null: it cannot be repaired. */
  repairFirst: (failed: Build, options: BuildOptions, terminal: Terminal, yes: boolean) => Promise<Build | null>;
  /** Builds a model again for fixed shapes, and keeps the difference in the folder of its build. */
  dynamicShapesCost: (
    folder: string,
    tools: Omit<BuildOptions, 'model' | 'backend'>,
    events: BuildEvents,
    signal?: AbortSignal,
  ) => Promise<void>;
}

/** `registerSteps` in `src/registry.ts` fills them. */
export const commandSteps: CommandSteps = {
  repairFirst: async () => null,
  dynamicShapesCost: async () => {
    throw new UserError('This program was built without trial builds');
  },
};
