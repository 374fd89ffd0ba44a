import { autocastArguments } from './autocastLists.ts';
import type { NodeIndex } from '../language/nodeIndex.ts';
import { polygraphyArguments, trtexecArguments } from './precisionFlags.ts';
import type { PrecisionArguments } from './precisionFlags.ts';
import type { PrecisionPlan } from '../plan/precisionPlan.ts';
import type { TensorrtTarget } from '../plan/tensorrtTarget.ts';

/** Programs whose command line can request a type of a node. */
export const precisionPrograms = ['trtexec', 'polygraphy', 'autocast'] as const;
export type PrecisionProgram = (typeof precisionPrograms)[number];

/** A plan in the words of one of the programs. */
export function programArguments(
  program: PrecisionProgram,
  plan: PrecisionPlan,
  target: TensorrtTarget,
  index: NodeIndex,
): PrecisionArguments {
  if (program === 'trtexec') return trtexecArguments(plan, target, index.names);
  return program === 'polygraphy' ? polygraphyArguments(plan, target) : autocastArguments(plan, index);
}
