import { MessagePatch } from '../writeModel.ts';
import { ATTRIBUTE, GRAPH, MODEL, NODE } from './onnxFields.ts';
import type { ByteSpan, OnnxGraph, OnnxModel, OnnxNode, OnnxTensor, OnnxValue } from '../onnxModel.ts';
import { addTo } from '../../../base/addTo.ts';

/** Where a node is: in which graph. */
export interface NodePlace {
  node: OnnxNode;
  graph: OnnxGraph;
}

/** Initializers and declared types of one graph by name, of which a file may have several. `tag`: of the type's field. */
interface NamedParts {
  initializers: Map<string, OnnxTensor[]>;
  types: Map<string, { value: OnnxValue; tag: number }[]>;
}

/** Graphs by path and nodes by id, and the patches of their messages, which hang together up to the whole file. */
export class ModelIndex {
  readonly file: MessagePatch;
  readonly graphs = new Map<string, { graph: OnnxGraph; owner: OnnxNode | null }>();
  readonly nodes = new Map<string, NodePlace>();
  private readonly named = new Map<string, NamedParts>();

  /** `model` was read with spans, from a source of `size` bytes. */
  constructor(model: OnnxModel, size: number) {
    this.file = new MessagePatch({ at: 0, offset: 0, length: size }, 0);
    this.add(model.graph, null);
  }

  private add(graph: OnnxGraph, owner: OnnxNode | null): void {
    this.graphs.set(graph.path, { graph, owner });
    for (const node of graph.nodes) {
      this.nodes.set(node.id, { node, graph });
      for (const { graph: body } of node.subgraphs) this.add(body, node);
    }
  }

  /** The parts of a graph that have names; none for a graph that is not there. */
  partsOf(path: string): NamedParts {
    const known = this.named.get(path);
    if (known) return known;
    const parts: NamedParts = { initializers: new Map(), types: new Map() };
    this.named.set(path, parts);
    const graph = this.graphs.get(path)?.graph;
    for (const tensor of graph?.initializers ?? []) addTo(parts.initializers, tensor.name, tensor);
    const lists = [
      { values: graph?.inputs, tag: GRAPH.input },
      { values: graph?.outputs, tag: GRAPH.output },
      { values: graph?.values, tag: GRAPH.value },
    ];
    for (const { values = [], tag } of lists)
      for (const value of values) if (value.type !== null) addTo(parts.types, value.name, { value, tag });
    return parts;
  }

  /** The patch of a graph that has a span. */
  graphPatch(path: string): MessagePatch {
    const { graph, owner } = this.graphs.get(path)!;
    const span = graph.span!;
    if (!owner) return this.file.child(span, MODEL.graph);
    const attribute = owner.attributes.find(({ span: around }) => around !== undefined && isIn(span, around))!;
    // A graph alone and one in a list are in different fields; what was read in brackets came from a list.
    const tag = attribute.kind === 'graphs' ? ATTRIBUTE.graphs : ATTRIBUTE.graph;
    return this.attributePatch(owner.id, attribute.span!).child(span, tag);
  }

  nodePatch(id: string): MessagePatch {
    const { node, graph } = this.nodes.get(id)!;
    return this.graphPatch(graph.path).child(node.span!, GRAPH.node);
  }

  attributePatch(id: string, span: ByteSpan): MessagePatch {
    return this.nodePatch(id).child(span, NODE.attribute);
  }
}

const isIn = (inner: ByteSpan, outer: ByteSpan): boolean =>
  inner.at >= outer.offset && inner.offset + inner.length <= outer.offset + outer.length;
