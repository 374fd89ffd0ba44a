import { addTo } from '../../base/addTo.ts';
import { withoutKernelPlace } from '../../network/layerName.ts';
import { bodyOf } from '../../network/modelGraph.ts';
import { runsKernel } from './engineView.ts';
import { assign, type Resolution } from './resolution.ts';

/** Operators that Myelin unrolls. */
const loops = new Set(['Loop', 'Scan', 'LSTM', 'GRU', 'RNN']);

interface Unrolled {
  loop: number;
  /** The kernels that compute nodes of the loop and no others. */
  own: Set<number>;
  /** Kernels of the loop by their program. */
  programs: Map<string, number>;
}

/**
 * Of a loop that it unrolls, TensorRT names the nodes of the last step only. The other steps are the kernels without a
 * node whose data go to a kernel of the loop, if they are marked as unrolled, run a program of its last step, or get
 * data from the loop, too: no node outside of it can be on that path.
 */
export function claimUnrolled(to: Resolution): void {
  to.view.regions.forEach(({ layers }, region) => {
    const unrolled = [...to.members[region]!]
      .filter((node) => loops.has(to.graph.nodes[node]!.op))
      .toSorted((a, b) => a - b)
      .map((loop) => kernelsOf(to, layers, loop));
    // The kernels of a loop that TensorRT names nowhere could be taken for another's.
    if (unrolled.length === 0 || unrolled.some(({ own }) => own.size === 0)) return;
    const open = new Set(
      layers.filter((layer) => to.layerNodes[layer]!.size === 0 && runsKernel(to.view.layers[layer]!.type)),
    );
    while (claimSteps(to, layers, unrolled, open));
    for (const { loop } of unrolled)
      for (const node of [loop, ...bodyOf(to.graph, loop)])
        to.nodeLayers[node] = to.nodeLayers[node]!.toSorted((a, b) => a - b);
  });
}

function kernelsOf(to: Resolution, layers: readonly number[], loop: number): Unrolled {
  const inside = new Set([loop, ...bodyOf(to.graph, loop)]);
  const own = new Set<number>();
  const programs = new Map<string, number>();
  for (const layer of layers) {
    const nodes = [...to.layerNodes[layer]!];
    if (nodes.length === 0 || !nodes.every((node) => inside.has(node))) continue;
    own.add(layer);
    const { name, type, tacticName } = to.view.layers[layer]!;
    if (type !== 'kgen') continue;
    programs.set(withoutKernelPlace(name), layer);
    if (tacticName) programs.set(tacticName, layer);
  }
  return { loop, own, programs };
}

/** Claims kernels next to those that are known; true where it found some. */
function claimSteps(
  to: Resolution,
  layers: readonly number[],
  unrolled: readonly Unrolled[],
  open: Set<number>,
): boolean {
  const next = neighbors(to.view.layers, layers);
  const sides = unrolled.map(({ own }) => ({
    before: reached(own, next.behind, open),
    after: reached(own, next.ahead, open),
  }));
  const found: [layer: number, unrolled: Unrolled, nodes: Iterable<number>][] = [];
  for (const layer of open) {
    const { name, tacticName, outputs } = to.view.layers[layer]!;
    const only = unrolled.filter(({ programs }) => programs.has(tacticName ?? ''));
    const isMarked =
      /_unroll\d+(?:\+|_myl)/.test(name) || outputs.some((tensor) => /_ur\d+(?:_\d+)?_myl/.test(tensor.name));
    const ahead = sides.findIndex(({ before }) => before.has(layer));
    const home = ahead < 0 && isMarked ? sides.findIndex(({ after }) => after.has(layer)) : ahead;
    // What is behind another loop may be the end of that one.
    const isClear = sides.every(({ after }, other) => other === home || !after.has(layer));
    if (only.length === 1 && home < 0)
      found.push([layer, only[0]!, to.layerNodes[only[0]!.programs.get(tacticName!)!]!]);
    if (home < 0 || !isClear) continue;
    const own = unrolled[home]!;
    const same = own.programs.get(tacticName ?? '') ?? own.programs.get(withoutKernelPlace(name));
    if (same !== undefined) found.push([layer, own, to.layerNodes[same]!]);
    else if (isMarked || sides[home]!.after.has(layer)) found.push([layer, own, [own.loop]]);
  }
  for (const [layer, { own }, nodes] of found) {
    for (const node of nodes) assign(to, layer, node, 'reach', false, { by: 'loop', layer });
    own.add(layer);
    open.delete(layer);
  }
  return found.length > 0;
}

/** The layers that read what a layer writes, and those that write what it reads. */
function neighbors(all: Resolution['view']['layers'], layers: readonly number[]) {
  const writers = new Map<string, number[]>();
  const readers = new Map<string, number[]>();
  for (const layer of layers) {
    for (const { name } of all[layer]!.outputs) addTo(writers, name, layer);
    for (const { name } of all[layer]!.inputs) addTo(readers, name, layer);
  }
  return {
    ahead: (layer: number) => all[layer]!.outputs.flatMap(({ name }) => readers.get(name) ?? []),
    behind: (layer: number) => all[layer]!.inputs.flatMap(({ name }) => writers.get(name) ?? []),
  };
}

/** Layers to which a way leads from others, through such layers only. */
function reached(
  from: ReadonlySet<number>,
  next: (layer: number) => number[],
  through: ReadonlySet<number>,
): Set<number> {
  const found = new Set<number>();
  const stack = [...from];
  while (stack.length > 0) {
    for (const layer of next(stack.pop()!)) {
      if (!through.has(layer) || found.has(layer)) continue;
      found.add(layer);
      stack.push(layer);
    }
  }
  return found;
}
