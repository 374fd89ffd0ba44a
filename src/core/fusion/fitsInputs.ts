import type { FusionReport } from './fusionReport.ts';

/** Codes of problems which say that model, log and layer info are of different builds. */
const contradictions = new Set(['other-model', 'other-build']);

/** Whether the inputs of a report can be of one build. */
export const fitsInputs = ({ problems }: FusionReport): boolean =>
  !problems.some(({ code }) => contradictions.has(code));
