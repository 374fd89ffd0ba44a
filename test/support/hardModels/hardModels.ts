import { bodies } from './bodies.ts';
import { claims } from './claims.ts';
import { control } from './control.ts';
import { functions } from './functions.ts';
import { generators } from './generators.ts';
import type { HardModel } from './hardModel.ts';
import { identities } from './identities.ts';
import { names } from './names.ts';
import { steps } from './steps.ts';

/** All of them, each with a name of its own. */
export const hardModels: HardModel[] = [
  ...generators,
  ...identities,
  ...control,
  ...functions,
  ...names,
  ...bodies,
  ...claims,
  ...steps,
];
