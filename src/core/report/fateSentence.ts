import type { FusionReport, ReportLayer, ReportNode } from '../fusion/fusionReport.ts';
import { counted, timeText } from '../text/numbers.ts';
import { shorten } from '../text/oneLine.ts';
import { fateTooltip } from './fates.ts';
import { firstOf, longestName, nodeLabel } from './labels.ts';
import { layerOf } from './layers.ts';

/**
 * What happened to a node, in one or two sentences: what it was fused into, the kernels that compute it, and with whom.
 * `Fused into ForeignNode 0 with 452 other nodes. Kernel _gemm_mha_v2 computes it together with qk/MatMul, scale/Mul.`
 */
export function fateSentence(report: FusionReport, node: ReportNode): string {
  const layers = node.layers.map((id) => layerOf(report, id)).filter((layer) => layer !== undefined);
  const derived = node.exact ? '' : ' (derived from the graph)';
  if (report.subject === 'engine') return engineSentence(report, node, layers);
  switch (node.fate) {
    case 'foreign': {
      const group = report.foreignNodes.find(({ id }) => id === node.foreignNode);
      const others = group === undefined ? 0 : group.nodes.length - 1;
      const company = others > 0 ? ` with ${counted(others, 'other node')}` : '';
      const kernels = layers.filter(({ kind }) => kind !== 'foreign');
      return `Fused into ForeignNode ${node.foreignNode ?? '?'}${company}${derived}. ${kernelSentence(report, node, kernels)}`;
    }
    case 'fused':
      return `Computed by ${layerPhrase(layers)}${company(report, node, layers)}${derived}.`;
    case 'single':
      return `Computed by ${layerPhrase(layers)}, which computes nothing else${derived}.`;
    case 'folded':
    case 'removed':
    case 'shape':
    case 'unknown':
      return fateTooltip(node.fate);
  }
}

/** `Kernel of ForeignNode 0: layer 12 (kgen), 0.011 ms.` */
function engineSentence({ foreignNodes }: FusionReport, node: ReportNode, layers: ReportLayer[]): string {
  if (node.foreignNode === null) return `Engine ${layerPhrase(layers)}.`;
  const whole = foreignNodes.length > 1 ? `ForeignNode ${node.foreignNode}` : 'the ForeignNode';
  return `Kernel of ${whole}: ${layerPhrase(layers)}.`;
}

function kernelSentence(report: FusionReport, node: ReportNode, kernels: ReportLayer[]): string {
  if (kernels.length === 0) return 'Its kernel is not known.';
  const one = kernels.length === 1;
  return `${one ? 'Kernel' : 'Kernels'} ${firstOf(
    kernels.map(({ name }) => shorten(name, longestName)),
    3,
  )} ${one ? 'computes' : 'compute'} it${company(report, node, kernels)}.`;
}

function layerPhrase(layers: ReportLayer[]): string {
  if (layers.length === 0) return 'an engine layer that is not listed';
  return layers
    .slice(0, 3)
    .map(
      ({ id, type, averageMs }) =>
        `layer ${id}${type === '' ? '' : ` (${type})`}${averageMs === null ? '' : `, ${timeText(averageMs)}`}`,
    )
    .join(' and ');
}

function company(report: FusionReport, node: ReportNode, layers: ReportLayer[]): string {
  const others = new Set(layers.flatMap(({ nodes }) => nodes));
  others.delete(node.id);
  if (others.size === 0) return '';
  const names = report.nodes.filter(({ id }) => others.has(id)).map(nodeLabel);
  return ` together with ${firstOf(names, 5)}`;
}
