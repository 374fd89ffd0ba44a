import type { FusionReport, ReportNode } from '../../../src/kernel/fusion/fusionReport.ts';
import { fateSentence, layerOf, longestName } from '../../../src/kernel/report/words.ts';
import { itemTitle } from '../../../src/kernel/picture/graph/scene.ts';
import type { TensorOrigin } from '../../../src/kernel/picture/graph/graphIndex.ts';
import { counted, shorten, thousands, timeText } from '../../../src/kernel/base/text.ts';
import type { GraphModel } from '../view/graphModel.ts';
import { groupName, pointName } from './details.ts';
import { graphStrings } from './graphStrings.ts';
import { errorFacts } from './accuracyDetails.ts';
import { scaleFacts } from './internal/quantizationDetails.ts';
import { portCard, tensorCard } from './tensorDetails.ts';

const words = graphStrings.facts;

/** What the pointer is on, or the keyboard's focus. */
export type HoverTarget =
  | { kind: 'item'; item: number }
  | { kind: 'group'; group: number }
  | { kind: 'tensors'; origins: TensorOrigin[] };

/** What a hover card says. */
export interface HoverText {
  title: string;
  /** The full name, in the code font; '' for none. */
  name: string;
  sentences: string[];
  facts: [name: string, value: string][];
}

/** A few lines about what is under the pointer; the panel has the rest. */
export function hoverText(model: GraphModel, target: HoverTarget): HoverText {
  switch (target.kind) {
    case 'group':
      return groupText(model, target.group);
    case 'tensors':
      return tensorsText(model, target.origins);
    case 'item': {
      const { scene } = model.picture!;
      const ref = scene.ref[target.item]!;
      const kind = scene.kind[target.item]!;
      if (kind === 'open' || kind === 'closed') return moduleText(model, target.item, ref);
      return kind === 'node' ? nodeText(model, ref) : portText(model, ref, kind);
    }
  }
}

/** The layers of a node: of several, the kernel and the time of the first would pass for those of all. */
function layerFacts(report: FusionReport, { layers }: ReportNode): HoverText['facts'] {
  const [layer, ...more] = layers.map((id) => layerOf(report, id)).filter((one) => one !== undefined);
  if (layer === undefined) return [];
  const name = shorten(layer.name, longestName) || `layer ${layer.id}`;
  if (more.length > 0) return [[words.layer, `${name} ${words.more(more.length)}`]];
  const facts: HoverText['facts'] = [[words.layer, name]];
  if ((layer.tactic ?? '') !== '') facts.push([words.kernel, shorten(layer.tactic!, longestName)]);
  if (layer.averageMs !== null) facts.push([words.layerTime, timeText(layer.averageMs)]);
  return facts;
}

function nodeText(model: GraphModel, point: number): HoverText {
  const node = model.graph.data.nodes[point]!;
  const { report } = model.data;
  const said = report?.nodes[model.fusion.reportOf[point]!];
  const facts: [string, string][] = [];
  const sentences: string[] = node.older === undefined ? [] : [node.older.note];
  if (report !== null && said !== undefined) {
    sentences.push(fateSentence(report, said));
    facts.push([words.evidence, said.fate === 'unknown' ? 'unknown' : said.exact ? 'exact' : 'derived']);
    facts.push(...layerFacts(report, said));
    const group = model.fusion.groups[model.fusion.groupOf[point]!];
    if (group !== undefined && group.points.length > 1) facts.push([words.group, groupName(model, group)]);
  }
  const [output] = node.outputs;
  const type = output === undefined ? '' : tensorCard(model, { producer: point, name: output });
  if (type !== '') facts.push([words.output, type]);
  return { title: node.op, name: node.name === '' ? `${words.id} ${node.id}` : node.name, sentences, facts };
}

function portText(model: GraphModel, point: number, kind: 'input' | 'output'): HoverText {
  const name = pointName(model, point);
  return {
    title: kind === 'input' ? graphStrings.input : graphStrings.output,
    name,
    sentences: [],
    facts: [[words.type, portCard(model, point) || words.unknownType]],
  };
}

function moduleText(model: GraphModel, item: number, index: number): HoverText {
  const { hierarchy, graph, picture } = model;
  const module = hierarchy.modules[index]!;
  const facts: [string, string][] = [[words.contents, graphStrings.nodes(module.end - module.start, model.noun)]];
  if (module.times > 1) facts.push([words.repeated, graphStrings.times(module.times)]);
  for (const { label, nodes } of model.categoriesIn(index).slice(0, 6)) facts.push([label, thousands(nodes)]);
  const ms = model.moduleTime(index);
  if (ms !== null) facts.push([words.time, timeText(ms)]);
  return { title: itemTitle(graph, hierarchy, picture!.scene, item), name: module.id, sentences: [], facts };
}

function groupText(model: GraphModel, index: number): HoverText {
  const group = model.fusion.groups[index]!;
  const report = model.data.report!;
  const facts: [string, string][] = [[words.contents, graphStrings.groupNodes(group, model.noun)]];
  const kernels = group.kind === 'foreign' ? (model.fusion.kernelCounts.get(group.ref) ?? 0) : 0;
  if (kernels > 0) facts.push([words.kernels, thousands(kernels)]);
  const layer = group.kind === 'foreign' ? undefined : layerOf(report, group.ref);
  if ((layer?.tactic ?? '') !== '') facts.push([words.kernel, shorten(layer!.tactic!, longestName)]);
  const ms = model.groupTime(group);
  if (ms !== null) facts.push([words.time, timeText(ms)]);
  const precision = model.groupPrecision(group);
  if (precision !== '') facts.push([words.precision, precision.toUpperCase()]);
  facts.push([words.evidence, group.exact ? 'exact' : 'derived']);
  if (group.kind !== 'foreign')
    return { title: layer?.type || words.layer, name: groupName(model, group), sentences: [], facts };
  const foreign = report.foreignNodes.find(({ id }) => id === group.ref);
  return { title: groupName(model, group), name: shorten(foreign?.name ?? '', longestName), sentences: [], facts };
}

function tensorsText(model: GraphModel, origins: TensorOrigin[]): HoverText {
  const [first] = origins;
  if (first === undefined || origins.length > 1) {
    const facts = origins
      .slice(0, 6)
      .map((origin): [string, string] => [shorten(origin.name, 40), tensorCard(model, origin) || words.unknownType]);
    const sentences = origins.length > 6 ? [words.moreTensors(origins.length - 6)] : [];
    return { title: counted(origins.length, 'tensor'), name: '', sentences, facts };
  }
  const consumers = model.tensors.consumers(first);
  const names = consumers.slice(0, 3).map((point) => pointName(model, point));
  const more = consumers.length > 3 ? ` ${words.more(consumers.length - 3)}` : '';
  return {
    title: tensorCard(model, first) || words.unknownType,
    name: first.name,
    sentences: [],
    facts: [
      [words.producer, pointName(model, first.producer)],
      [counted(consumers.length, words.consumer), names.join(', ') + more],
      ...errorFacts(model, first),
      ...scaleFacts(model, first.name),
    ],
  };
}
