import type { FusionReport, ReportLayer, ReportNode } from '../../fusion/fusionReport.ts';
import { layerOf } from '../graph/fusionGroups.ts';
import { counted, ellipsis, nodeLabel, timeText } from './fusionText.ts';

/**
 * What became of a node, in one or two sentences: who swallowed it, the kernels that compute it and with whom.
 * `Swallowed by ForeignNode 0 with 452 other nodes. Kernel _gemm_mha_v2 computes it with qk/MatMul and scale/Mul.`
 */
export function fateSentence(report: FusionReport, node: ReportNode): string {
  const layers = node.layers.map((id) => layerOf(report, id)).filter((layer) => layer !== undefined);
  const derived = node.exact ? '' : ' (derived from the graph)';
  switch (node.fate) {
    case 'foreign': {
      const group = report.foreignNodes.find(({ id }) => id === node.foreignNode);
      const others = group === undefined ? 0 : group.nodes.length - 1;
      const company = others > 0 ? ` with ${counted(others, 'other node')}` : '';
      const kernels = layers.filter(({ kind }) => kind !== 'foreign');
      return `Swallowed by ForeignNode ${node.foreignNode ?? '?'}${company}${derived}. ${kernelSentence(report, node, kernels)}`.trimEnd();
    }
    case 'fused':
      return `Computed by ${layerPhrase(layers)}${company(report, node, layers)}${derived}.`;
    case 'single':
      return `An engine layer of its own: ${layerPhrase(layers)}${derived}.`;
    case 'folded':
      return 'Folded: evaluated when the engine was built, so nothing is left to compute.';
    case 'removed':
      return 'Removed: it needs no work in this engine.';
    case 'shape':
      return 'Computes shapes, on the host.';
    case 'unknown':
      return 'Unknown: nothing in the inputs says what became of it.';
  }
}

function kernelSentence(report: FusionReport, node: ReportNode, kernels: ReportLayer[]): string {
  if (kernels.length === 0) return 'Which of its kernels computes it is not said.';
  const one = kernels.length === 1;
  return `${one ? 'Kernel' : 'Kernels'} ${ellipsis(
    kernels.map(({ name }) => readable(name)),
    3,
  )} ${one ? 'computes' : 'compute'} it${company(report, node, kernels)}.`;
}

function layerPhrase(layers: ReportLayer[]): string {
  if (layers.length === 0) return 'an engine layer that has no entry';
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
  return ` together with ${ellipsis(names, 5)}`;
}

/** TensorRT's separators become blanks; a name of hundreds of parts is cut. */
export function readable(name: string): string {
  const clean = name.replaceAll(/[\u0000-\u001f]+/g, ' ');
  return clean.length <= 120 ? clean : `${clean.slice(0, 59)}…${clean.slice(-59)}`;
}
