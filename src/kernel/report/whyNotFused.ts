// `show --why`: why a node, or the nodes of a group, are not computed together with their neighbors, as data and as text.
import { counted, oneLine, quoteCommand, thousands } from '../base/text.ts';
import {
  type FusionReport,
  type HeldBack,
  mostHeldBack,
  type Remark,
  type ReportNode,
} from '../fusion/fusionReport.ts';
import { wrap } from './internal/textLines.ts';
import { describeNode, heldBackLines, placeBeside } from './reportText.ts';
import { fateSentence } from './words.ts';

/** A neighbor that no layer computes together with a node. */
export interface ApartNeighbor {
  /** Ids of the node asked about, and of its neighbor. */
  node: string;
  neighbor: string;
  /** The tensor between them. */
  tensor: string;
  direction: 'input' | 'output';
  /** Where the neighbor is: `layer 4`, `ForeignNode 1`, `another kernel of the same ForeignNode`. */
  place: string;
}

/** What `--why --json` writes. */
export interface WhyNotFused {
  /** Ids of the nodes asked about. */
  nodes: string[];
  /** Neighbors outside of the nodes asked about that other layers compute; those without a layer are not listed. */
  apart: ApartNeighbor[];
  /** Causes of the report that concern these nodes, the costliest first. */
  heldBack: HeldBack[];
  /** false: the report lists as many causes as it may, and a cheaper one may concern these nodes. */
  complete: boolean;
  /** What the report remarks of these nodes or their layers, but for what went well: where a ForeignNode begins and ends. */
  remarks: Remark[];
}

const mostApart = 8;

/** Why nodes are not fused with what is around them. `asked`: nodes of the report. */
export function whyNotFused(report: FusionReport, asked: readonly ReportNode[]): WhyNotFused {
  const inside = new Map(asked.map((node) => [node.id, node]));
  const byId = new Map(report.nodes.map((node) => [node.id, node]));
  const apart: ApartNeighbor[] = [];
  const add = (id: string, other: string, tensor: string, direction: ApartNeighbor['direction']) => {
    const [node, neighbor] = [inside.get(id), byId.get(other)];
    if (!node || !neighbor || inside.has(other) || node.layers.length === 0 || neighbor.layers.length === 0) return;
    if (neighbor.layers.some((layer) => node.layers.includes(layer))) return;
    const place = placeBeside(report, node, neighbor);
    apart.push({
      node: id,
      neighbor: other,
      tensor,
      direction,
      place: place.startsWith('same ') ? `another kernel of the ${place}` : place,
    });
  };
  for (const { name, producer, consumers } of report.tensors) {
    if (producer === null) continue;
    for (const consumer of consumers) {
      add(consumer, producer, name, 'input');
      add(producer, consumer, name, 'output');
    }
  }
  const { heldBack = [] } = report;
  const ofLayers = new Set(asked.flatMap(({ layers }) => layers));
  return {
    nodes: [...inside.keys()],
    apart,
    heldBack: heldBack.filter(({ nodes }) => nodes.some((id) => inside.has(id))),
    complete: heldBack.length < mostHeldBack,
    remarks: report.remarks.filter(
      ({ kind, nodes, layers }) =>
        kind !== 'passed' && (nodes.some((id) => inside.has(id)) || layers.some((id) => ofLayers.has(id))),
    ),
  };
}

/** The same for a terminal. `title`: what was asked about, if it is a group. */
export function formatWhy(report: FusionReport, asked: readonly ReportNode[], title?: string): string {
  const { apart, heldBack, complete, remarks } = whyNotFused(report, asked);
  const byId = new Map(report.nodes.map((node) => [node.id, node]));
  const [first] = asked;
  const head =
    title === undefined && first !== undefined
      ? [describeNode(first), ...wrap(fateSentence(report, first), '  ')]
      : [`${title}: ${counted(asked.length, 'node')}`];
  const lines = apart.slice(0, mostApart).flatMap(({ node, neighbor, tensor, direction, place }) => {
    const from = title === undefined ? '' : `${describeNode(byId.get(node)!)} and `;
    return wrap(
      `${direction === 'input' ? 'before' : 'after'}, over ${oneLine(tensor)}: ${from}${describeNode(byId.get(neighbor)!)}, in ${place}`,
      '  ',
      '    ',
    );
  });
  const more = apart.length > mostApart ? [`  … and ${thousands(apart.length - mostApart)} more`] : [];
  return `${[
    ...head,
    ...(apart.length === 0 ? [] : ['Other layers compute', ...lines, ...more]),
    ...remarks.slice(0, mostApart).flatMap(({ message }) => wrap(oneLine(message), '  ', '    ')),
    ...(heldBack.length > 0 ? heldBackLines(heldBack) : noCause(report, asked, apart, complete)),
  ].join('\n')}\n`;
}

/** Without a cause: whether there is anything to explain, and what to try. */
function noCause(
  report: FusionReport,
  asked: readonly ReportNode[],
  apart: readonly ApartNeighbor[],
  complete: boolean,
): string[] {
  if (asked.every(({ layers }) => layers.length === 0))
    return wrap('No layer is known to compute it, so nothing can be said of what holds it back.', '');
  if (apart.length === 0) return ['Nothing is apart: every neighbor that has a layer is computed with it.'];
  if (report.heldBack === undefined)
    return wrap('What holds this build back is not known: pass the model and the layer info of its build.', '');
  const [pair] = apart as [ApartNeighbor];
  return [
    ...wrap(
      `No cause that recorded builds show concerns it${complete ? '' : `; the report lists the ${mostHeldBack} costliest only`}. To find a change that fuses the first two:`,
      '',
    ),
    `  > ${quoteCommand(['trtlens', 'what-if', report.model.file, '--fuse', `${pair.node},${pair.neighbor}`])}`,
  ];
}
