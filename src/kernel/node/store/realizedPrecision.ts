import { readOverrides } from '../../rules/readOverrides.ts';
import { baseOf } from '../../rules/precisionPlan.ts';
import { precisionShare, type PrecisionShare } from '../../report/words.ts';
import type { LoadedBuild } from './loadBuild.ts';

/** How much of the precision that a build was requested its engine has; null: nothing shows types. */
export const realizedPrecision = (build: LoadedBuild): PrecisionShare | null =>
  precisionShare(build.report, requestedPrecision(build));

/** The low precision, or `fp32`, that a build was requested; null: any type, or not known. */
export function requestedPrecision({ manifest, overrides }: LoadedBuild): string | null {
  const base = overrides ? baseOf(readOverrides(overrides.rules)) : 'keep';
  if (base !== 'keep') return base;
  const precision = manifest?.options['precision'];
  // `best` takes any type.
  return typeof precision === 'string' && precision !== 'best' ? precision : null;
}
