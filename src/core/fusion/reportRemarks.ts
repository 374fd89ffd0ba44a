import type { BuildLog } from '../engine/buildLog.ts';
import type { FusionReport, Remark } from './fusionReport.ts';
import type { Resolution } from './resolution.ts';

/** Why boundaries are where they are, from the evidence in the inputs. */
export function findRemarks(_from: Resolution, _report: FusionReport, _log: BuildLog | undefined): Remark[] {
  return [];
}
