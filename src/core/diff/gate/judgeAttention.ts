import type { ReportNode } from '../../fusion/fusionReport.ts';
import { counted } from '../../text/numbers.ts';
import { attentions } from '../../model/attentions.ts';
import { isPlanned } from '../../report/layers.ts';
import { opaqueForeignNodes } from '../groups.ts';
import type { GateFinding, GateSide } from './judgeGate.ts';

/** Judges `attention: fused`. */
export function judgeAttention({ report, network }: GateSide): GateFinding {
  if (!network) return { kept: null, message: 'This rule needs the graph: pass the model with --onnx.' };
  const found = attentions(network);
  if (found.length === 0) return { kept: null, message: 'The model has no attention: no Softmax between two MatMuls.' };
  if (isPlanned(report))
    return { kept: null, message: 'The kernels are unknown: the log does not list the engine layers.' };
  const layers = new Map(report.layers.map((layer) => [layer.id, layer]));
  const opaque = opaqueForeignNodes(report);
  const broken: ReportNode[] = [];
  const hidden: ReportNode[] = [];
  for (const { scores, softmax, values } of found) {
    const [first, middle, last] = [scores, softmax, values].map((index) => report.nodes[index]!) as [
      ReportNode,
      ReportNode,
      ReportNode,
    ];
    const shared = first.layers.filter((id) => middle.layers.includes(id) && last.layers.includes(id));
    // A member of a ForeignNode can be in no known kernel.
    const unknown = [first, middle, last].some(
      ({ fate, layers: own }) => fate === 'unknown' || (fate === 'foreign' && own.length === 0),
    );
    if (shared.some((id) => layers.get(id)?.kind !== 'foreign')) continue;
    if (shared.length > 0 || unknown || [first, middle, last].some((node) => opaque.has(node.foreignNode ?? -1)))
      hidden.push(middle);
    else broken.push(middle);
  }
  const total = counted(found.length, 'attention');
  if (broken.length > 0) {
    const kernels = broken[0]!.layers.map((id) => layers.get(id)?.tactic || layers.get(id)?.name).filter(Boolean);
    const where = kernels[0] ? ` For example, ${broken[0]!.name || 'the first'} is computed by ${kernels[0]}.` : '';
    return {
      kept: false,
      message: `Not one kernel: ${broken.length} of ${total}.${where}`,
      value: broken.length,
      nodes: broken,
      logLine: layers.get(broken[0]!.layers[0] ?? -1)?.line ?? null,
    };
  }
  if (hidden.length > 0)
    return {
      kept: null,
      message: `The kernels of ${hidden.length} of ${total} are unknown: this build does not list what the kernels inside ForeignNodes compute.`,
    };
  return { kept: true, message: `${total}: each is one kernel.`, value: 0 };
}
