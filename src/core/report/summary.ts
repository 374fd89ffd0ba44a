import type { Fate, FusionReport } from '../fusion/fusionReport.ts';
import { counted, percentText, thousands } from '../text/numbers.ts';
import { fateOrder } from './fates.ts';
import { countedLayers, countLayers, layerKinds } from './layers.ts';
import { shareOf, totalMs } from './times.ts';

/**
 * What TensorRT did with the model, in two sentences whose numbers add up:
 * `3 engine layers: 1 ForeignNode (209 kernels), 1 single-node layer, 1 reformat. Of 636 nodes, 379 are in the
 * ForeignNode (95 % of the time), 1 is in a single-node layer, 256 were folded, 0 are unknown.`
 */
export const summarySentence = (report: FusionReport): string => `${layersSentence(report)} ${nodesSentence(report)}`;

function layersSentence(report: FusionReport): string {
  const { total, kinds, kernels, planned } = countLayers(report);
  if (total === 0) return 'No engine layers are known.';
  const parts = layerKinds
    .filter((kind) => kinds[kind] > 0)
    .map(
      (kind) =>
        countedLayers(kinds[kind], kind, report) +
        (kind === 'foreign' && kernels > 0 ? ` (${counted(kernels, 'kernel')})` : ''),
    );
  // No engine was seen: the build may have failed, or the log ends before its layers are listed.
  const whole = planned
    ? `The inputs list no engine layers; TensorRT planned ${thousands(total)}`
    : counted(total, 'engine layer');
  return `${whole}: ${parts.join(', ')}.`;
}

function nodesSentence(report: FusionReport): string {
  const { accounting } = report;
  if (report.subject === 'engine') return "Without the ONNX file, what happened to the model's nodes is unknown.";
  const one = report.foreignNodes.length === 1;
  const verbs: Record<Fate, (count: number) => string> = {
    foreign: (count) => `${count === 1 ? 'is' : 'are'} in ${one ? 'the ForeignNode' : 'ForeignNodes'}`,
    fused: (count) => `${count === 1 ? 'is in a fused layer' : 'are in fused layers'}`,
    single: (count) => `${count === 1 ? 'is in a single-node layer' : 'are in single-node layers'}`,
    folded: (count) => `${count === 1 ? 'was' : 'were'} folded`,
    removed: (count) => `${count === 1 ? 'was' : 'were'} removed`,
    shape: (count) => `${count === 1 ? 'computes' : 'compute'} shapes on the host`,
    unknown: (count) => `${count === 1 ? 'is' : 'are'} unknown`,
  };
  if (accounting.total === 0) return 'The model has no nodes.';
  const note = (fate: Fate): string => (fate === 'foreign' ? foreignNote(report) : '');
  const all = fateOrder.find((fate) => accounting[fate] === accounting.total);
  if (all !== undefined) {
    const whole = accounting.total === 1 ? 'The only node' : `All ${thousands(accounting.total)} nodes`;
    return `${whole} ${verbs[all](accounting.total)}${note(all)}.`;
  }
  const parts = fateOrder
    .filter((fate) => accounting[fate] > 0 || fate === 'unknown')
    .map((fate) => `${thousands(accounting[fate])} ${verbs[fate](accounting[fate])}${note(fate)}`);
  return `Of ${counted(accounting.total, 'node')}, ${parts.join(', ')}.`;
}

/** ` (12 derived; 93 % of the time)` */
function foreignNote(report: FusionReport): string {
  const derived = report.nodes.filter(({ fate, exact }) => fate === 'foreign' && !exact).length;
  const share = shareOf(report, totalMs(report.foreignNodes));
  const notes = [
    derived === 0 ? '' : `${derived === report.accounting.foreign ? 'all' : thousands(derived)} derived`,
    share === null ? '' : `${percentText(share * 100)} of the time`,
  ].filter((note) => note !== '');
  return notes.length === 0 ? '' : ` (${notes.join('; ')})`;
}
