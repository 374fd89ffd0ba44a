import type { ModelGraph } from '../../model/modelGraph.ts';
import { isDequantise, isQuantise, QuantisedGraph } from '../../quantisation/quantisedGraph.ts';
import { placeOf } from './quantiseRewrite.ts';

/** What a rewrite makes nodes read in place of what they read in the model. */
export interface NewReads {
  /** The inputs, by `placeOf`. */
  places: ReadonlySet<string>;
  /** Names of the tensors that are read there. */
  tensors: ReadonlySet<string>;
}

/** Ids of the Q/DQ nodes whose output is read in the model, and not after a rewrite. */
export function unreadPairs(graph: ModelGraph, { places, tensors }: NewReads): Set<string> {
  const network = new QuantisedGraph(graph);
  const given = new Set([...graph.graphOutputs, ...[...graph.bodyOutputs.values()].flat()]);
  const unread = new Set<number>();
  const readsNoMore = (reader: number, tensor: number): boolean => {
    if (unread.has(reader)) return true;
    const { id } = graph.nodes[reader]!;
    const read = [...graph.inputs[reader]!.keys()].filter((index) => graph.inputs[reader]![index] === tensor);
    // A node that reads the tensor in its subgraph only has no such input.
    return read.length > 0 && read.every((index) => places.has(placeOf({ node: id, index })));
  };
  const isUnread = (node: number): boolean =>
    graph.outputs[node]!.every(
      (tensor) =>
        !given.has(tensor) &&
        !tensors.has(graph.tensors[tensor]!.name) &&
        graph.tensors[tensor]!.consumers.every((reader) => readsNoMore(reader, tensor)),
    );
  for (const node of [...graph.nodes.keys()].toReversed()) {
    // What nothing reads in the model, its author left there.
    if (!isDequantise(network.op(node)) || network.readers(node).length === 0 || !isUnread(node)) continue;
    unread.add(node);
    const quantise = network.producer(network.input(node, 0));
    if (quantise >= 0 && isQuantise(network.op(quantise)) && isUnread(quantise)) unread.add(quantise);
  }
  return new Set([...unread].map((node) => graph.nodes[node]!.id));
}
