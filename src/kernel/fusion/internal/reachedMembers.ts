import { isCall } from './eliminatedNodes.ts';
import { outsideName } from './engineView.ts';
import { isMove } from './valueFacts.ts';
import { atomsOf } from '../../network/layerName.ts';
import { bodyOf, readsOf } from '../../network/modelGraph.ts';
import { assign, isFree, join, modelTensor, type Provenance, type Resolution } from './resolution.ts';
import { addTo } from '../../base/addTo.ts';

/** Second step: nodes that TensorRT does not name, from the graph between the tensors that it does name. */
export function claimReached(to: Resolution): void {
  const border = engineTensors(to);
  const readers = nativeReaders(to);
  to.view.regions.forEach((_, region) => {
    if (!to.listed[region]) walkRegion(to, region, border, readers);
  });
  joinOwners(to);
  to.view.layers.forEach((_, layer) => {
    if (to.view.regionOf[layer]! < 0) walkLayer(to, layer, border);
  });
  joinNeighbors(to);
  joinOwners(to);
  assignOwners(to);
}

/** Which layers write each tensor of the model; the layers of one region count as one writer. */
function engineTensors(to: Resolution): Map<number, Set<number>> {
  const writers = new Map<number, Set<number>>();
  const add = (tensor: number, writer: number): void => {
    if (tensor < 0) return;
    const known = writers.get(tensor);
    if (known) known.add(writer);
    else writers.set(tensor, new Set([writer]));
  };
  to.view.layers.forEach(({ outputs }, layer) => {
    const region = to.view.regionOf[layer]!;
    // A reformat only hands on what another layer wrote.
    if (to.view.names[layer]!.kind === 'reformat') return;
    for (const { name } of outputs) add(modelTensor(to, name), region < 0 ? layer : regionWriter(region));
  });
  to.view.regions.forEach(({ outputs, layers }, region) => {
    if (layers.length === 0 || to.view.layers[layers[0]!]!.outputs.length === 0) {
      for (const name of outputs) add(modelTensor(to, name), regionWriter(region));
    }
  });
  return writers;
}

const regionWriter = (region: number): number => -1 - region;

/** What a walk may pass: it stops at the tensors that others write and at those that the layer itself is given. */
interface Walk {
  writer: number;
  inputs: Set<number>;
  border: Map<number, Set<number>>;
}

const stopsAt = (walk: Walk, tensor: number): boolean => {
  if (walk.inputs.has(tensor)) return true;
  const writers = walk.border.get(tensor);
  return writers !== undefined && !writers.has(walk.writer);
};

/**
 * The nodes that no layer has yet on the way from the `written` tensors and those in `from` back to where the walk
 * stops; after each one goes on with what it reads.
 */
function* nodesBehind(to: Resolution, walk: Walk, written: readonly number[], from: number[]): Generator<number> {
  const start = new Set(written);
  const stack = [...written, ...from];
  const seen = new Set<number>();
  while (stack.length > 0) {
    const tensor = stack.pop()!;
    if (seen.has(tensor) || (!start.has(tensor) && stopsAt(walk, tensor))) continue;
    seen.add(tensor);
    const node = to.graph.tensors[tensor]!.producer;
    // What a layer's own metadata or name has is that layer's, though its last part may be in the region.
    if (node < 0 || !isFree(to, node) || !isPassed(to, node)) continue;
    if (to.roles[node] === 'data' && !to.gone.has(node)) yield node;
    stack.push(...readsOf(to.graph, node));
  }
}

function walkRegion(
  to: Resolution,
  region: number,
  border: Map<number, Set<number>>,
  readers: Map<string, number[]>,
): void {
  const { inputs, outputs } = to.view.regions[region]!;
  const written = outputs.map((name) => modelTensor(to, name)).filter((tensor) => tensor >= 0);
  const given = new Set(inputs.map((name) => modelTensor(to, name)));
  given.delete(-1);
  for (const tensor of written) given.delete(tensor);
  const walk: Walk = { writer: regionWriter(region), inputs: given, border };
  const from = readBehind(to, region, readers);
  for (const node of to.members[region]!) from.push(...readsOf(to.graph, node));
  const provenance: Provenance = { by: 'reach', layer: -1, region };
  for (const node of nodesBehind(to, walk, written, from)) join(to, region, node, false, provenance);
}

/** The layers outside ForeignNodes that read each tensor, by its name at the other side of a reformat. */
function nativeReaders(to: Resolution): Map<string, number[]> {
  const readers = new Map<string, number[]>();
  to.view.layers.forEach(({ inputs }, layer) => {
    if (to.view.regionOf[layer]! >= 0) return;
    for (const { name } of inputs) addTo(readers, outsideName(to.view, name), layer);
  });
  return readers;
}

/**
 * Where a region gives a tensor that TensorRT made to a native layer, the walk begins at what the nodes of that layer
 * read: one of those is the tensor, under its name in the model. A layer of no node, such as a shuffle, hands it on.
 */
function readBehind(to: Resolution, region: number, readers: Map<string, number[]>): number[] {
  const made = to.view.regions[region]!.outputs.filter((name) => modelTensor(to, name) < 0);
  const layers = new Set(made.flatMap((name) => readers.get(name) ?? []));
  for (const layer of layers) {
    if (to.layerNodes[layer]!.size > 0) continue;
    for (const { name } of to.view.layers[layer]!.outputs) {
      for (const reader of readers.get(outsideName(to.view, name)) ?? []) layers.add(reader);
    }
  }
  return [...layers]
    .toSorted((a, b) => a - b)
    .flatMap((layer) => {
      const own = to.layerNodes[layer]!;
      return [...own].flatMap((node) =>
        readsOf(to.graph, node).filter((tensor) => !own.has(to.graph.tensors[tensor]!.producer)),
      );
    });
}

/** Data, and identities and eliminated nodes, which hand on what they are given. */
const isPassed = (to: Resolution, node: number): boolean => {
  const role = to.roles[node];
  return role === 'data' || role === 'identity';
};

/**
 * Nodes that no name contains but that a native layer's tensors enclose: data movement that it took up, and before
 * 8.6, which has no metadata, biases and similar nodes.
 */
function walkLayer(to: Resolution, layer: number, border: Map<number, Set<number>>): void {
  const nodes = to.layerNodes[layer]!;
  const { inputs, outputs } = to.view.layers[layer]!;
  if (to.view.names[layer]!.kind === 'reformat' || outputs.length === 0) return;
  const given = new Set(inputs.map(({ name }) => modelTensor(to, name)));
  given.delete(-1);
  const written = outputs.map(({ name }) => modelTensor(to, name)).filter((tensor) => tensor >= 0);
  for (const tensor of written) given.delete(tensor);
  const walk: Walk = { writer: layer, inputs: given, border };
  const from: number[] = [];
  // An input that TensorRT made is one of the tensors on the way, and nothing says which.
  if (!inputs.some(({ name }) => isMade(to, name))) for (const node of nodes) from.push(...readsOf(to.graph, node));
  const provenance: Provenance = { by: 'reach', layer, region: -1 };
  const isCopy = movesOnly.test(to.view.layers[layer]!.type);
  for (const node of nodesBehind(to, walk, written, from))
    if (!isCopy || isMove(to.graph.nodes[node]!)) assign(to, layer, node, 'reach', false, provenance);
}

/** Layers that compute no values, by their type. */
const movesOnly = /^(?:NoOp|Shuffle|Slice|(?:Myelin)?Reformat)$/;

/** A tensor of data that TensorRT made; constants of its own are no way into a layer. */
const isMade = (to: Resolution, name: string): boolean =>
  modelTensor(to, name) < 0 && !/\[Constant\]|_constant/.test(name);

/** A Loop or an If belongs where its body does, and what no one names of a body belongs where its owner does. */
function joinOwners(to: Resolution): void {
  const { graph } = to;
  for (let node = graph.nodes.length - 1; node >= 0; node--) {
    const region = to.regionOf[node]!;
    const owner = graph.owner[node]!;
    if (region >= 0 && owner >= 0 && isFree(to, owner)) join(to, region, owner, false, { by: 'body', region, node });
  }
  for (let node = 0; node < graph.nodes.length; node++) {
    const region = to.regionOf[node]!;
    if (region < 0 || graph.nodes[node]!.subgraphs.length === 0) continue;
    for (const inner of bodyOf(graph, node)) {
      // A call that TensorRT itself names is an operator that it built in place of the function.
      const owner = graph.owner[inner]!;
      if (to.exact[owner] === 1 && isCall(graph, graph.nodes[owner]!.op)) continue;
      if (isFree(to, inner) && to.roles[inner] === 'data' && !to.gone.has(inner)) {
        join(to, region, inner, false, { by: 'owner', region, node });
      }
    }
  }
}

/** A call, a Loop or an If of which native layers compute the body is in all of these layers. */
function assignOwners(to: Resolution): void {
  to.graph.nodes.forEach(({ subgraphs }, owner) => {
    if (subgraphs.length === 0 || !isFree(to, owner) || to.gone.has(owner)) return;
    const layers = new Set(bodyOf(to.graph, owner).flatMap((node) => to.nodeLayers[node]!));
    for (const layer of [...layers].toSorted((a, b) => a - b))
      assign(to, layer, owner, 'reach', false, { by: 'body', region: -1, node: owner });
  });
}

/**
 * What is left is sorted by connected pieces: a piece that only one ForeignNode touches, or that holds the ends of only
 * one ForeignNode's name, is part of it.
 */
function joinNeighbors(to: Resolution): void {
  const isLeft = (node: number): boolean =>
    to.graph.owner[node]! < 0 && isFree(to, node) && to.roles[node] === 'data' && !to.gone.has(node);
  const ends = endsOfNames(to);
  const isOpen = to.view.regions.length === 1 && hasOpenBorder(to, 0);
  const seen = new Set<number>();
  for (let start = 0; start < to.graph.nodes.length; start++) {
    if (seen.has(start) || !isLeft(start)) continue;
    const { piece, touched, native } = pieceFrom(to, start, isLeft, seen);
    const inside = new Set(piece.flatMap((node) => ends.get(node) ?? []));
    const candidates = inside.size > 0 ? inside : native ? new Set<number>() : touched;
    const [region] = candidates;
    const only = isOpen && (touched.size === 1 || !native);
    const home = candidates.size === 1 ? region! : only ? 0 : -1;
    // A list of all members that lacks them says that they are none.
    if (home < 0 || to.listed[home]) continue;
    for (const node of piece) join(to, home, node, false, { by: 'neighbors', region: home });
  }
}

function pieceFrom(
  to: Resolution,
  start: number,
  isLeft: (node: number) => boolean,
  seen: Set<number>,
): { piece: number[]; touched: Set<number>; native: boolean } {
  const piece: number[] = [];
  const touched = new Set<number>();
  let native = false;
  const stack = [start];
  seen.add(start);
  const visit = (node: number): void => {
    if (node < 0) return;
    if (isLeft(node)) {
      if (!seen.has(node)) {
        seen.add(node);
        stack.push(node);
      }
    } else if (to.regionOf[node]! >= 0) touched.add(to.regionOf[node]!);
    else if (to.nodeLayers[node]!.length > 0) native = true;
  };
  while (stack.length > 0) {
    const node = stack.pop()!;
    piece.push(node);
    for (const tensor of readsOf(to.graph, node)) visit(to.graph.tensors[tensor]!.producer);
    for (const tensor of to.graph.outputs[node]!) to.graph.tensors[tensor]!.consumers.forEach(visit);
  }
  return { piece, touched, native };
}

/** Nodes that the name `{ForeignNode[a...b]}` of a region names at its ends, or that read a constant named there. */
function endsOfNames(to: Resolution): Map<number, number[]> {
  const ends = new Map<number, number[]>();
  to.view.regions.forEach((region, index) => {
    const layer = region.layers[0];
    const name = layer === undefined ? undefined : to.view.names[layer];
    if (!region.named || to.listed[index] || !name) return;
    for (const atom of atomsOf(name)) {
      const tensor = to.graph.byName.get(atom.replace(/\[Constant\]$/, ''));
      const nodes = to.names.nodesOfLayer(atom);
      const near = nodes.length > 0 ? nodes : tensor === undefined ? [] : to.graph.tensors[tensor]!.consumers;
      if (near.length === 1) addTo(ends, near[0]!, index);
    }
  });
  return ends;
}

/** A border that is not known in full: no tensors at all, or tensors that TensorRT made. */
function hasOpenBorder(to: Resolution, region: number): boolean {
  const { inputs, outputs } = to.view.regions[region]!;
  return outputs.length === 0 || [...inputs, ...outputs].some((name) => modelTensor(to, name) < 0);
}
