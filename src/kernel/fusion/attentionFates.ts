// What became of each Softmax of a network.
import { isMadeUpKernel } from '../network/layerName.ts';
import { type FusionReport, opaqueForeignNodes, type ReportLayer, type ReportNode } from './fusionReport.ts';
import { type AttentionNode, attentions } from '../network/modelGraph.ts';

/** A Softmax, and whether one kernel computes it with the products around it. */
export interface AttentionFate {
  softmax: ReportNode;
  /** `alone`: it is not between two products, so no attention. */
  state: 'fused' | 'split' | 'unknown' | 'alone';
  /** The kernel that computes all of it (fused), or the first node that is not in the kernel of the first product (split). */
  kernel: ReportLayer | undefined;
  first?: ReportNode;
}

/** A kernel that Myelin made for copies of what an attention reads names the nodes of the attention, too. */
const onlyMoves = ({ name }: ReportLayer): boolean => isMadeUpKernel(name) && !/Exp|Soft/.test(name);

/** Each Softmax of a network, in its order. `network`: the nodes of the report, in its order. */
export function attentionFates<Tensor extends string | number>(
  report: FusionReport,
  network: readonly AttentionNode<Tensor>[],
): AttentionFate[] {
  const layers = new Map(report.layers.map((layer) => [layer.id, layer]));
  const opaque = opaqueForeignNodes(report);
  const found = new Map(attentions(network).map((attention) => [attention.softmax, attention]));
  return network.flatMap(({ op }, index): AttentionFate[] => {
    if (op !== 'Softmax') return [];
    const softmax = report.nodes[index]!;
    const attention = found.get(index);
    if (!attention) return [{ softmax, state: 'alone', kernel: layers.get(softmax.layers[0] ?? -1) }];
    const { scores, values, path } = attention;
    const ends = [scores, index, values].map((node) => report.nodes[node]!);
    const shared = ends[0]!.layers.filter((id) => ends.every((node) => node.layers.includes(id)));
    const kernel = shared
      .map((id) => layers.get(id))
      .find((layer) => layer && layer.kind !== 'foreign' && !onlyMoves(layer));
    if (kernel) return [{ softmax, state: 'fused', kernel }];
    // A member of a ForeignNode can be in no known kernel.
    const isUnknown = ends.some(
      ({ fate, layers: own, foreignNode }) =>
        fate === 'unknown' || (fate === 'foreign' && own.length === 0) || opaque.has(foreignNode ?? -1),
    );
    if (isUnknown || shared.some((id) => layers.get(id)?.kind === 'foreign'))
      return [{ softmax, state: 'unknown', kernel: undefined }];
    const own = new Set(ends[0]!.layers);
    const first = [...path, values]
      .map((node) => report.nodes[node]!)
      .find((node) => node.layers.length > 0 && !node.layers.some((id) => own.has(id)));
    const other = first ?? softmax;
    return [{ softmax, state: 'split', kernel: layers.get(other.layers[0] ?? -1), first: other }];
  });
}

/** `/attn/Softmax is split: the first that is not in the kernel of the product before it is /attn/Add, in __myl_Add`. */
export function attentionText({ softmax, state, kernel, first }: AttentionFate): string {
  const name = titleOf(softmax);
  const by = kernel ? kernel.tactic || kernel.name : 'an unknown kernel';
  switch (state) {
    case 'fused':
      return `${name} is fused in ${by}`;
    case 'split':
      return first === softmax || !first
        ? `${name} is computed by ${by}, without the product before it`
        : `${name} is split: the first that is not in the kernel of the product before it is ${titleOf(first)} (${first.op}), computed by ${by}`;
    case 'unknown':
      return `${name}: the kernel is unknown`;
    case 'alone':
      return `${name} is not between two products`;
  }
}

const titleOf = ({ name, id }: ReportNode): string => name || `node ${id}`;
