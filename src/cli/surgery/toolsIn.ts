import type { BuildTools } from '../../builder/run/buildPlan.ts';
import { type BuildValues, textOf } from '../build/buildOptions.ts';

/** The programs that the user names. */
export const toolsIn = (values: BuildValues): Partial<Pick<BuildTools, 'python' | 'trtexec' | 'polygraphy'>> =>
  Object.fromEntries(
    ['python', 'trtexec', 'polygraphy'].flatMap((name) => {
      const value = textOf(values, name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
