import type { BuildFacts } from './buildFacts.ts';
import type { DiffInput } from '../report/buildDiff.ts';
import type { FusionReport } from '../fusion/fusionReport.ts';
import { NodeIndex } from './resolveOverrides.ts';
/** A build, or the baseline, as far as a gate looks at it. */
export interface GateSide extends DiffInput {
  /** Reports on further profiles of the same build: a time is the median of all. */
  repeats?: readonly FusionReport[] | undefined;
  /** What layers show of types, with the model's index; absent without the model. */
  types?: { facts: BuildFacts; index: NodeIndex } | undefined;
  /** The largest error of an output, as `trtlens accuracy` finds it (null: an output is not finite), or why it is not known. */
  accuracy?: { error: number | null } | { missing: string } | undefined;
}
