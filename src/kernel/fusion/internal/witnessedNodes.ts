import { readsOf } from '../../network/modelGraph.ts';
import { canCompute } from './kernelCandidates.ts';
import { assign, isFree, join, modelTensor, type Resolution } from './resolution.ts';

/**
 * Last step, before what is left is said to need no work: nodes that no list or name of TensorRT contains, but whose
 * layers are in the graph that its optimizer was given, or whose results a layer writes. The parser leaves out the
 * metadata of some layers (random numbers, EyeLike) and of identities.
 */
export function claimWitnessed(to: Resolution): void {
  claimGraphNodes(to);
  claimWritten(to);
}

/** Layers under `GRAPH NODES`: constants were made at build time, the rest went into the ForeignNode next to it. */
function claimGraphNodes(to: Resolution): void {
  for (const { kind, name, line } of to.view.phase?.graphNodes ?? []) {
    const [node, more] = to.names.nodesOfLayer(name);
    if (node === undefined || more !== undefined || to.roles[node] !== 'data') continue;
    if (!isFree(to, node) || to.gone.has(node)) continue;
    if (kind === 'CONSTANT') to.gone.set(node, { by: 'constant', line });
    else {
      const region = regionBeside(to, node);
      if (region >= 0) join(to, region, node, false, { by: 'graph', region, line });
    }
  }
}

/** The only ForeignNode that there is, or the only one that a node's neighbors are in; -1 for none. */
function regionBeside(to: Resolution, node: number): number {
  if (to.view.regions.length === 1) return 0;
  const { graph } = to;
  const neighbors = [
    ...readsOf(graph, node).map((tensor) => graph.tensors[tensor]!.producer),
    ...graph.outputs[node]!.flatMap((tensor) => graph.tensors[tensor]!.consumers),
  ];
  const homes = new Set(neighbors.filter((other) => other >= 0).map((other) => to.regionOf[other]!));
  const [home = -1] = homes;
  return homes.size === 1 ? home : -1;
}

/** A node that a layer writes the result of is not gone, even where it only hands on what it is given. */
function claimWritten(to: Resolution): void {
  to.view.layers.forEach(({ name, type, outputs }, layer) => {
    if (name.startsWith('Reformatting CopyNode for ') || /^(?:ShapeHostToDevice|Constant)$/.test(type)) return;
    for (const output of outputs) {
      const tensor = modelTensor(to, output.name);
      const node = tensor < 0 ? -1 : to.graph.tensors[tensor]!.producer;
      // What TensorRT eliminates, such as a concatenation, others write in its place.
      if (node < 0 || to.roles[node] === 'shape' || to.gone.get(node)?.by === 'event') continue;
      if (!isFree(to, node) && !isPlacedOnly(to, node)) continue;
      const region = to.view.regionOf[layer]!;
      const { op } = to.graph.nodes[node]!;
      const provenance = { by: 'written', layer } as const;
      if (region >= 0 && !(to.view.names[layer]!.kind === 'kernel' && canCompute(to.view.layers[layer]!, op)))
        join(to, region, node, false, provenance);
      else assign(to, layer, node, 'reach', false, provenance);
    }
  });
}

/** Its ForeignNode is known but not its kernel, or it is placed by the kernels that write its result. */
function isPlacedOnly(to: Resolution, node: number): boolean {
  const by = to.provenance[node]?.by;
  return by === 'written' || ((by === 'ends' || by === 'graph') && to.nodeLayers[node]!.length === 0);
}
