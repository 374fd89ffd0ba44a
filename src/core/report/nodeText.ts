import type { FusionReport, ReportLayer, ReportNode, ReportTensor } from '../fusion/fusionReport.ts';
import { counted, percentText, timeText } from '../text/numbers.ts';
import { oneLine, shorten } from '../text/oneLine.ts';
import { fateSentence } from './fateSentence.ts';
import { tensorText } from './headerLines.ts';
import { longestName, nodeLabel } from './labels.ts';
import { layerOf } from './layers.ts';
import { wrap } from './textLines.ts';
import { shareOf } from './times.ts';

/** Neighbours and layers beyond these are counted. */
const mostListed = 8;

/** All that a report has on one node. */
export interface NodeDetails {
  node: ReportNode;
  layers: ReportLayer[];
  /** Tensors that it reads and writes, without initializers. */
  inputs: ReportTensor[];
  outputs: ReportTensor[];
}

/** The nodes of a name, or the node of an id; none where the model has neither. */
export function findNodes({ nodes }: FusionReport, nameOrId: string): ReportNode[] {
  const named = nodes.filter(({ name }) => name === nameOrId);
  return named.length > 0 ? named : nodes.filter(({ id }) => id === nameOrId);
}

export function nodeFacts(report: FusionReport, node: ReportNode): NodeDetails {
  return {
    node,
    layers: node.layers.flatMap((id) => layerOf(report, id) ?? []),
    inputs: report.tensors.filter(({ consumers }) => consumers.includes(node.id)),
    outputs: report.tensors.filter(({ producer }) => producer === node.id),
  };
}

/** A node for a terminal: its fate and how that is known, its layers, and what its neighbours became. */
export function formatNode(report: FusionReport, node: ReportNode): string {
  const { layers, inputs, outputs } = nodeFacts(report, node);
  const byId = new Map(report.nodes.map((one) => [one.id, one]));
  const line = lineOf(report, node, layers);
  const neighbours = (title: string, tensors: readonly ReportTensor[], nodesOf: (tensor: ReportTensor) => string[]) =>
    tensors.length === 0
      ? []
      : [
          title,
          ...limited(tensors, 'tensor', (tensor) => [
            ...wrap(tensorText(tensor), '  ', '    '),
            ...limited(nodesOf(tensor), 'node', (id) => {
              const other = byId.get(id);
              return other === undefined
                ? []
                : wrap(`${describe(other)}: ${placeOf(report, node, other)}`, '    ', '      ');
            }),
          ]),
        ];
  return `${[
    shorten(describe(node), 100),
    ...(node.source === undefined ? [] : wrap(`Source: ${oneLine(node.source)}`, '  ', '    ')),
    ...wrap(fateSentence(report, node), '  '),
    ...wrap(
      `${node.fate === 'unknown' ? 'Reason' : node.exact ? 'Exact' : 'Evidence'}: ${oneLine(node.reason)}`,
      '  ',
      '    ',
    ),
    ...(node.placement === undefined
      ? []
      : wrap(
          `ONNX Runtime: ${node.placement.provider ?? 'not known'}. ${oneLine(node.placement.reason)}`,
          '  ',
          '    ',
        )),
    ...(line === null ? [] : [`  Log: line ${line}`]),
    ...(layers.length === 0 ? [] : ['Layers', ...limited(layers, 'layer', (layer) => layerLines(report, layer))]),
    ...neighbours('Inputs', inputs, ({ producer }) => (producer === null ? [] : [producer])),
    ...neighbours('Outputs', outputs, ({ consumers }) => consumers),
  ].join('\n')}\n`;
}

/** `/attn/Softmax (Softmax, node 63)` */
const describe = (node: ReportNode): string =>
  node.name === '' ? nodeLabel(node) : `${oneLine(node.name)} (${node.op}, node ${node.id})`;

/** Where the log says it: the line of the layer, or that of the ForeignNode. */
function lineOf(report: FusionReport, node: ReportNode, layers: readonly ReportLayer[]): number | null {
  const foreign = report.foreignNodes.find(({ id }) => id === node.foreignNode);
  return layers.find(({ line }) => line !== null)?.line ?? foreign?.line ?? null;
}

function layerLines(report: FusionReport, layer: ReportLayer): string[] {
  const share = shareOf(report, layer.averageMs);
  const kind = layer.foreignNode === null ? layer.type : `${layer.kind} of ForeignNode ${layer.foreignNode}`;
  const facts = [
    kind,
    layer.averageMs === null ? '' : timeText(layer.averageMs),
    share === null ? '' : `${percentText(share * 100)} of the time`,
    counted(layer.nodes.length, 'node'),
    layer.tactic === null ? '' : `tactic ${layer.tactic}`,
    layer.evidence.length === 0 ? '' : `evidence: ${layer.evidence.join(', ')}`,
  ].filter((fact) => fact !== '');
  return [
    ...wrap(`layer ${layer.id}: ${shorten(layer.name, longestName)}`, '  ', '    '),
    ...wrap(oneLine(facts.join(', ')), '    '),
  ];
}

/** What another node became, seen from this one. */
function placeOf(report: FusionReport, node: ReportNode, other: ReportNode): string {
  if (other.layers.some((id) => node.layers.includes(id) && layerOf(report, id)?.kind !== 'foreign'))
    return other.foreignNode === null ? 'same layer' : 'same kernel';
  if (other.foreignNode !== null)
    return other.foreignNode === node.foreignNode ? 'same ForeignNode' : `ForeignNode ${other.foreignNode}`;
  if (other.layers.length > 0) return `layer ${other.layers.slice(0, 3).join(', ')}`;
  return other.fate === 'shape' ? 'shape on the host' : other.fate;
}

function limited<T>(all: readonly T[], noun: string, lines: (one: T) => string[]): string[] {
  const shown = all.slice(0, mostListed).flatMap(lines);
  return all.length > mostListed ? [...shown, `  … and ${counted(all.length - mostListed, `more ${noun}`)}`] : shown;
}
