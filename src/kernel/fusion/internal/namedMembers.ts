import { claimUntaken, isCall } from './eliminatedNodes.ts';
import type { EngineLayer } from '../../read/tensorrt/buildOutput.ts';
import { bareName } from './engineView.ts';
import {
  atomsOf,
  type LayerMetadata,
  type MetadataToken,
  parseLayerName,
  parseMetadata,
} from '../../network/layerName.ts';
import { readsOf } from '../../network/modelGraph.ts';
import { assign, join, modelTensor, type Resolution, unassign } from './resolution.ts';
import { counted, thousands } from '../../base/text.ts';

/** Metadata of one layer of the parser is cut at this many characters, half from each end. */
const metadataLimit = 4000;

/**
 * First step: what TensorRT itself says, in metadata, in the log's member lines and in the layers' names. `added` are
 * names of nodes that the file that was built had next to the model's own.
 */
export function claimNamed(to: Resolution, added: readonly string[] = []): void {
  const unknown = new Map<string, number>();
  const truncated: number[] = [];
  to.view.layers.forEach((layer, index) => {
    const metadata = layer.metadata ? parseMetadata(layer.metadata, to.names.likeTokens) : undefined;
    if (metadata && metadata.tokens.length > 0) {
      if (claimTokens(to, index, metadata, unknown)) {
        truncated.push(index);
        claimByName(to, index);
      }
    } else {
      claimByName(to, index);
    }
  });
  claimUntaken(to);
  to.view.regions.forEach((region, index) => {
    if (region.metadata) listMembers(to, index, region.metadata, unknown);
    if (region.named) joinEnds(to, index);
  });
  reportTruncated(to, truncated);
  for (const name of added) unknown.delete(name);
  if (unknown.size > 0) {
    const [example] = unknown.keys();
    to.problems.push({
      severity: 'warning',
      code: 'unknown-node',
      message:
        `TensorRT names ${counted(unknown.size, 'node')} that the model does not have ` +
        `(the first is ${quote(example!)}). Check that the engine was built from this file.`,
    });
  }
}

/** Claims the nodes of a layer's tokens; true where a token was cut. */
function claimTokens(to: Resolution, layer: number, metadata: LayerMetadata, unknown: Map<string, number>): boolean {
  let cut = metadata.cut;
  const shared: (readonly number[])[] = [];
  for (const token of metadata.tokens) {
    const nodes = resolve(to, token);
    if (nodes.length === 1) assign(to, layer, nodes[0]!, 'metadata', true);
    else if (nodes.length > 1) shared.push(nodes);
    else if (isCut(token)) cut = true;
    else unknown.set(token.text, layer);
  }
  if (shared.length > 0) claimShared(to, layer, shared);
  return cut;
}

const resolve = (to: Resolution, token: MetadataToken): readonly number[] => {
  const nodes = to.names.nodesOfToken(token);
  return nodes.length > 0 ? nodes : to.names.callerOf(token);
};

const isCut = (token: MetadataToken): boolean => token.text.includes(' ... ') || token.text.length > metadataLimit;

/**
 * Several nodes have the name that a token gives. The layer's own name tells them apart where the log registered it;
 * otherwise those at the layer's tensors or next to its other nodes are meant, and where that doesn't decide, all may
 * be.
 */
function claimShared(to: Resolution, layer: number, tokens: (readonly number[])[]): void {
  const name = to.view.names[layer]!;
  const registered = new Set(
    name.kind === 'kernel'
      ? name.base.startsWith('__my')
        ? []
        : to.names.registeredInKernel(name.base)
      : atomsOf(name)
          .map((atom) => to.names.registered(atom))
          .filter((index) => index !== undefined),
  );
  const open: (readonly number[])[] = [];
  for (const nodes of tokens) {
    const named = nodes.filter((node) => registered.has(node));
    if (named.length === 0) open.push(nodes);
    for (const node of named) assign(to, layer, node, 'metadata', named.length === 1);
    // One token may stand for several nodes of its name: the layer's last one writes what the layer does.
    for (const node of nodes)
      if (named.length > 0 && writes(to, layer, node)) assign(to, layer, node, 'metadata', false);
  }
  for (const nodes of open) for (const node of meantOf(to, layer, nodes)) assign(to, layer, node, 'metadata', false);
}

/** The node's result is a tensor that the layer writes. */
function writes(to: Resolution, layer: number, node: number): boolean {
  const written = to.view.layers[layer]!.outputs;
  return (
    !to.layerNodes[layer]!.has(node) &&
    written.some(({ name }) => to.graph.outputs[node]!.includes(modelTensor(to, name)))
  );
}

/** Those of several nodes of one name that are at a layer's tensors or next to its nodes; all if none is. */
function meantOf(to: Resolution, layer: number, nodes: readonly number[]): readonly number[] {
  const { inputs, outputs } = to.view.layers[layer]!;
  const read = new Set(inputs.map(({ name }) => modelTensor(to, name)));
  const written = new Set(outputs.map(({ name }) => modelTensor(to, name)));
  const own = to.layerNodes[layer]!;
  const atBorder = nodes.filter(
    (node) =>
      to.graph.outputs[node]!.some((tensor) => written.has(tensor)) ||
      readsOf(to.graph, node).some((tensor) => read.has(tensor)),
  );
  if (atBorder.length > 0) return atBorder;
  const neighbors = nodes.filter((node) =>
    touches(to, node, (tensor) => {
      const { producer, consumers } = to.graph.tensors[tensor]!;
      // Weights that several nodes read make none of them neighbors.
      if (producer < 0 || to.roles[producer] === 'constant') return false;
      return own.has(producer) || consumers.some((consumer) => own.has(consumer));
    }),
  );
  // What an earlier layer computes already is rather the end of that one than the beginning of this.
  const open = neighbors.filter((node) => to.nodeLayers[node]!.length === 0);
  if (neighbors.length > 0) return open.length > 0 ? open : neighbors;
  // Those that TensorRT named for another layer have their place.
  const namedNowhereElse = nodes.filter((node) => to.exact[node] === 0);
  return namedNowhereElse.length > 0 ? namedNowhereElse : nodes;
}

const touches = (to: Resolution, node: number, test: (tensor: number) => boolean): boolean =>
  to.graph.outputs[node]!.some(test) || readsOf(to.graph, node).some(test);

function claimByName(to: Resolution, layer: number): void {
  const native = to.view.nativeNames.get(layer);
  const name = native ? bareName(parseLayerName(native, to.names)) : to.view.names[layer]!;
  if (name.kind === 'kernel') {
    // `__myl_AddTanh`: kernels that Myelin made up carry the operations, no node.
    if (name.base.startsWith('__my')) return;
    const all = to.names.nodesOfKernel(name.base);
    const alive = all.filter((node) => to.roles[node] !== 'dead');
    const nodes = alive.length > 0 ? alive : all;
    const ofLength = countLengths(to, nodes);
    for (const node of nodes) {
      assign(to, layer, node, 'name', nodes.length === 1 || ofLength.get(to.graph.nodes[node]!.name.length) === 1);
    }
    if (nodes.length === 0)
      for (const node of to.names.nodesOfLoop(name.base)) assign(to, layer, node, 'name', false, { by: 'loop', layer });
    return;
  }
  if (name.kind === 'foreign') return;
  for (const atom of atomsOf(name)) {
    if (atom.endsWith('[Constant]')) continue;
    const nodes = to.names.nodesOfLayer(atom);
    for (const node of nodes) assign(to, layer, node, 'name', nodes.length === 1);
  }
  if (name.kind === 'copy') claimCopy(to, layer, name.tensor);
}

/** The two layers in `{ForeignNode[a...b]}` are members, where they are nodes of the model. */
function joinEnds(to: Resolution, region: number): void {
  for (const atom of atomsOf(parseLayerName(to.view.regions[region]!.name, to.names))) {
    const nodes = to.names.nodesOfLayer(atom);
    const [node] = nodes;
    if (node === undefined || nodes.length > 1 || to.nodeLayers[node]!.length > 0) continue;
    if (to.roles[node] !== 'data' && to.roles[node] !== 'identity') continue;
    join(to, region, node, true, { by: 'ends', region });
  }
}

/** Kernels lose punctuation: `/a.b/MatMul` and `/a_b/MatMul` look alike. */
function countLengths(to: Resolution, nodes: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const node of nodes) {
    const { length } = to.graph.nodes[node]!.name;
    counts.set(length, (counts.get(length) ?? 0) + 1);
  }
  return counts;
}

/** `T copy` moves T to where a concatenation wants it. */
function claimCopy(to: Resolution, layer: number, tensor: string): void {
  const index = to.graph.byName.get(tensor);
  if (index === undefined) return;
  for (const consumer of to.graph.tensors[index]!.consumers) {
    if (to.graph.nodes[consumer]!.op === 'Concat')
      assign(to, layer, consumer, 'name', false, { by: 'copy', line: null });
  }
}

/** The members that a `ForeignNode … metadata:` line lists. */
function listMembers(to: Resolution, region: number, text: string, unknown: Map<string, number>): void {
  const metadata = parseMetadata(text, to.names.likeTokens);
  let cut = metadata.cut;
  let named = 0;
  for (const token of metadata.tokens) {
    const nodes = resolve(to, token);
    // All nodes of a shared name that nothing else claims: the line has each name once.
    const free =
      nodes.length > 1
        ? nodes.filter((node) => to.nodeLayers[node]!.length === 0 || to.regionOf[node] === region)
        : nodes;
    const meant = free.length > 0 ? free : nodes;
    for (const node of meant) {
      // A kernel's name that other calls of the function share says no more than the list which of them it computes.
      if (nodes.length === 1 && to.exact[node] === 0 && isOfCall(to, node)) unassign(to, node);
      if (!to.gone.has(node)) join(to, region, node, nodes.length === 1, { by: 'line', region });
      named++;
    }
    if (nodes.length === 0) {
      if (isCut(token)) cut = true;
      else unknown.set(token.text, -1);
    }
  }
  to.listed[region] = named > 0 && !cut;
  if (cut) {
    to.problems.push({
      severity: 'warning',
      code: 'truncated-metadata',
      message: `The log cuts the member list of ${quote(to.view.regions[region]!.name)}; the missing members were derived from the graph.`,
      ...lineOf(to.view.regions[region]!.line),
    });
  }
}

/** Whether a node is in the body of a local function. */
function isOfCall({ graph }: Resolution, node: number): boolean {
  const owner = graph.owner[node]!;
  return owner >= 0 && isCall(graph, graph.nodes[owner]!.op);
}

function reportTruncated(to: Resolution, layers: number[]): void {
  if (layers.length === 0) return;
  const first: EngineLayer = to.view.layers[layers[0]!]!;
  const more = layers.length === 1 ? '' : ` and of ${thousands(layers.length - 1)} more`;
  to.problems.push({
    severity: 'warning',
    code: 'truncated-metadata',
    message:
      `TensorRT cuts metadata longer than ${thousands(metadataLimit)} characters in the middle: nodes of layer ${quote(first.name)}${more} ` +
      'are missing there and come from names and the graph.',
    ...lineOf(first.line),
  });
}

const lineOf = (line: number | null): { line?: number } => (line === null ? {} : { line });

/** A name short enough for a sentence. */
export const quote = (name: string): string =>
  `"${name.length > 120 ? `${name.slice(0, 80)} … ${name.slice(-35)}` : name}"`;
