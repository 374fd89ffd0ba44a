import { counted, shapeText } from '../../../src/kernel/base/text.ts';
import type { EngineTensor } from '../../../src/kernel/read/tensorrt/buildOutput.ts';
import type { TensorFacts, TensorOrigin } from '../../../src/kernel/picture/graph/graphIndex.ts';
import { layerOf } from '../../../src/kernel/report/words.ts';
import type { GraphModel } from '../view/graphModel.ts';
import { errorFacts } from './accuracyDetails.ts';
import { type DetailLinks, factList, heading, detailSection } from './details.ts';
import { element } from '../../shared/element.ts';
import { graphStrings } from './graphStrings.ts';
import { scaleFacts } from './internal/quantizationDetails.ts';

/** `float 1×197×192`, with the format of an engine's tensor; a dimension of unknown size is `?`. '' where nothing is known. */
export function graphTensorText(tensor: Pick<TensorFacts, 'type' | 'shape' | 'format'> | undefined): string {
  if (tensor === undefined) return '';
  const shape = tensor.shape === null ? '' : shapeText(tensor.shape);
  return [tensor.type ?? '', shape, tensor.format ?? ''].filter((part) => part !== '').join(' ');
}

const words = graphStrings.facts;
/** An edge between two modules may carry more tensors than anyone reads. */
const most = 30;

/** Type and shape of a tensor in the model, as far as they are known. */
export function tensorCard(model: GraphModel, origin: TensorOrigin): string {
  const known = model.tensors.facts(origin);
  return graphTensorText(known) || (known.engine === null ? '' : engineText(known.engine));
}

/** The same of an input or output of the model, by its point. */
export function portCard(model: GraphModel, point: number): string {
  const { data, nodes, inStart, inEdges } = model.graph;
  const input = data.inputs[point - nodes];
  const [first, end] = [inStart[point]!, inStart[point + 1]!];
  if (input !== undefined) return tensorCard(model, { producer: point, name: input.name });
  if (first < end) return tensorCard(model, model.tensors.ofEdge(inEdges[first]!));
  return graphTensorText(data.outputs[point - nodes - data.inputs.length]);
}

/** `Half 1×197×192, Row major linear FP16`: as the engine has it. */
export function engineText({ type, dims, format }: EngineTensor): string {
  const shape = dims === null ? '' : shapeText(dims);
  return [[type ?? '', shape].filter((part) => part !== '').join(' '), format === type ? '' : (format ?? '')]
    .filter((part) => part !== '')
    .join(', ');
}

/** One tensor in full; of several that one edge carries, a list. */
export function tensorDetails(model: GraphModel, origins: TensorOrigin[], links: DetailLinks): Node[] {
  const [only] = origins;
  if (only !== undefined && origins.length === 1) return oneTensor(model, only, links);
  const list = element('ul', { class: 'tensors' });
  for (const origin of origins.slice(0, most)) {
    const text = tensorCard(model, origin) || words.unknownType;
    list.append(element('li', {}, links.tensor(origin), element('div', { class: 'muted' }, text)));
  }
  if (origins.length > most) list.append(element('li', { class: 'muted' }, words.more(origins.length - most)));
  return [heading(counted(origins.length, 'tensor')), list];
}

function oneTensor(model: GraphModel, origin: TensorOrigin, links: DetailLinks): Node[] {
  const known = model.tensors.facts(origin);
  const consumers = model.tensors.consumers(origin);
  const { report } = model.data;
  const rows: [string, string | Node][] = [
    [words.type, known.type ?? words.unknownType],
    [words.shape, graphTensorText({ type: null, shape: known.shape }) || words.unknownShape],
  ];
  if (report !== null)
    rows.push([words.inEngine, known.engine === null ? words.notInEngine : engineText(known.engine)]);
  rows.push(...errorFacts(model, origin), ...scaleFacts(model, origin.name));
  const parts = [
    heading(words.tensor),
    element('p', { class: 'mono wrap' }, origin.name),
    factList(rows),
    detailSection(words.producer, links.points(model, [origin.producer])),
    detailSection(
      counted(consumers.length, words.consumer),
      consumers.length === 0 ? element('p', { class: 'muted' }, words.noConsumer) : links.points(model, consumers),
    ),
  ];
  if (report !== null && known.writers.length > 0) {
    const list = element('ul', { class: 'layers' });
    for (const id of known.writers) {
      const layer = layerOf(report, id);
      if (layer === undefined) continue;
      const note = element('div', { class: 'muted' }, `${layer.type} `, links.line(layer.line));
      list.append(element('li', {}, links.layer(id, layer.name), note));
    }
    parts.push(detailSection(words.writtenBy, list));
  }
  return parts;
}

/** The tensors that a node reads or writes, each with its type and what is at its other end. */
export function nodeTensors(
  model: GraphModel,
  title: string,
  point: number,
  names: string[],
  written: boolean,
  links: DetailLinks,
): Node {
  const list = element('ul', { class: 'tensors' });
  const { graph } = model;
  const [start, edges] = written ? [graph.outStart, graph.outEdges] : [graph.inStart, graph.inEdges];
  for (const name of names) {
    if (name === '') continue;
    const ends: Node[] = [];
    let origin: TensorOrigin | null = written ? { producer: point, name } : null;
    for (let i = start[point]!; i < start[point + 1]! && ends.length < 6; i++) {
      const edge = edges[i]!;
      if (graph.tensorNames[graph.tensor[edge]!] !== name) continue;
      origin ??= model.tensors.ofEdge(edge);
      ends.push(
        links.point(model, written ? graph.to[edge]! : graph.from[edge]!, written ? words.readBy : words.madeBy),
      );
    }
    const declared = origin === null ? graph.tensors.get(name) : undefined;
    const type = (origin === null ? graphTensorText(declared) : tensorCard(model, origin)) || words.unknownType;
    const item = element(
      'li',
      {},
      origin === null ? element('span', { class: 'mono wrap' }, name) : links.tensor(origin),
      element('div', { class: 'muted' }, declared?.initializer === true ? `${words.weight}, ${type}` : type),
    );
    for (const end of ends) item.append(element('div', {}, end));
    list.append(item);
  }
  return detailSection(title, list);
}
