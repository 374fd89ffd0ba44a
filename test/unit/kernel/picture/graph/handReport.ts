import type {
  Fate,
  FusionReport,
  LayerKind,
  ReportLayer,
  ReportNode,
} from '../../../../../src/kernel/fusion/fusionReport.ts';
import { accountingOf } from '../../../../../src/kernel/fusion/internal/nodeFates.ts';
import { layer } from './graphBuilder.ts';

/** A layer of a report written by hand; what is not given is what a report says when nothing is known. */
export const handLayer = (id: number, kind: LayerKind, nodes: string[], more: Partial<ReportLayer> = {}): ReportLayer =>
  layer(id, nodes, { type: 'type', kind, ...more });

/** A report from nodes as `[name, op, fate]` and layers; the joins between them are made here. */
export function handReport(
  nodes: [name: string, op: string, fate: Fate][],
  layers: ReportLayer[],
  more: Partial<FusionReport> = {},
): FusionReport {
  const foreignIds = [...new Set(layers.flatMap(({ foreignNode }) => foreignNode ?? []))];
  const computing = (id: string): ReportLayer[] => layers.filter((layer) => layer.nodes.includes(id));
  const reportNodes = nodes.map(([name, op, fate], index): ReportNode => {
    const own = computing(String(index));
    return {
      id: String(index),
      name,
      op,
      fate,
      layers: own.map(({ id }) => id),
      foreignNode: own.find(({ foreignNode }) => foreignNode !== null)?.foreignNode ?? null,
      exact: true,
      reason: `Node ${index} is ${fate}.`,
    };
  });
  return {
    schema: 1,
    tensorrt: { product: 'tensorrt', version: '10.6.0' },
    model: { file: 'hand.onnx', nodes: nodes.length },
    layers,
    tensors: [],
    foreignNodes: foreignIds.map((id) => {
      const own = layers.filter(({ foreignNode }) => foreignNode === id);
      const times = own.flatMap(({ averageMs }) => averageMs ?? []);
      return {
        id,
        name: `{ForeignNode[a${id}...b${id}]}`,
        nodes: [...new Set(own.flatMap((layer) => layer.nodes))],
        exact: true,
        layers: own.map((layer) => layer.id),
        inputs: ['in'],
        outputs: ['out'],
        averageMs: times.length === 0 ? null : times.reduce((a, b) => a + b, 0),
        line: null,
      };
    }),
    nodes: reportNodes,
    accounting: accountingOf(reportNodes),
    funnel: [],
    remarks: [],
    problems: [],
    ...more,
  };
}

/** Four alike blocks in a ForeignNode of two kernels a block, a native convolution, a reformat, and nodes of the other fates. */
export function blocksReport({ timed = true } = {}): FusionReport {
  const nodes: [string, string, Fate][] = [['/stem/Conv', 'Conv', 'single']];
  const layers: ReportLayer[] = [
    handLayer(0, 'reformat', [], {
      name: 'Reformatting CopyNode for Input Tensor 0 to /stem/Conv',
      averageMs: timed ? 0.5 : null,
    }),
    handLayer(1, 'single', ['0'], { name: '/stem/Conv', averageMs: timed ? 1.5 : null }),
  ];
  for (let block = 0; block < 4; block += 1) {
    const at = nodes.length;
    for (const op of ['MatMul', 'Add', 'Softmax']) nodes.push([`/blocks/blocks.${block}/attn/${op}`, op, 'foreign']);
    const own = { foreignNode: 0, averageMs: timed ? 1 : null };
    const id = layers.length;
    layers.push(
      handLayer(id, 'kernel', [String(at), String(at + 1)], { ...own, name: `gemm_myl2_${2 * block}` }),
      handLayer(id + 1, 'kernel', [String(at + 2)], { ...own, name: `softmax_myl2_${2 * block + 1}` }),
    );
  }
  nodes.push(['/Constant', 'Constant', 'folded'], ['/drop/Identity', 'Identity', 'removed'], ['', 'Shape', 'unknown']);
  return handReport(nodes, layers);
}
