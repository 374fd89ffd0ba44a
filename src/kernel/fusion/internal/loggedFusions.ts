import { nodesInName } from '../../network/nodeNames.ts';
import { assign, isFree, join, type Resolution } from './resolution.ts';
import { addTo } from '../../base/addTo.ts';

/**
 * Nodes that no layer names though the log says that they were fused with one that is named: quantization that went
 * into its layer, shuffles that went into another. They are where that one is.
 */
export function claimLoggedFusions(to: Resolution): void {
  claimFused(to);
  claimAbsorbed(to);
  claimCopied(to);
}

function claimFused(to: Resolution): void {
  const groups = new Groups();
  for (const { kind, layers, line } of to.view.phase?.events ?? []) {
    if (kind !== 'fuse') continue;
    const nodes = layers.flatMap((name) => nodesIn(to, name));
    for (let i = 1; i < nodes.length; i++) groups.unite(nodes[0]!, nodes[i]!, line);
  }
  for (const { nodes, line } of groups.all()) {
    const free = nodes.filter((node) => isFree(to, node) && to.roles[node] === 'data' && !to.gone.has(node));
    const placed = nodes.filter((node) => !isFree(to, node));
    if (free.length === 0 || placed.length === 0) continue;
    const regions = new Set(placed.map((node) => to.regionOf[node]!));
    const layers = new Set(placed.flatMap((node) => to.nodeLayers[node]!));
    const [region = -1] = regions;
    for (const node of free) {
      if (regions.size === 1 && region >= 0) join(to, region, node, true, { by: 'fusion', line });
      else if (region < 0 && regions.size === 1 && layers.size === 1) {
        for (const layer of layers) assign(to, layer, node, 'log', true, { by: 'fusion', line });
      }
    }
  }
}

/**
 * `fusing (A and B) into C`: A and B are where C is. A dequantization that several layers read is cloned for each
 * (`A_clone_0`), and is then in all of them.
 */
function claimAbsorbed(to: Resolution): void {
  const placed = new Set<number>();
  const absorbed = (to.view.phase?.events ?? []).filter(({ kind }) => kind === 'absorb');
  for (const {
    layers: [into = '', ...names],
    line,
  } of absorbed) {
    const targets = nodesIn(to, into);
    const layers = new Set(targets.flatMap((node) => to.nodeLayers[node]!));
    const regions = new Set(targets.map((node) => to.regionOf[node]!));
    const [region = -1] = regions;
    for (const name of names) {
      const [node, more] = nodesIn(to, name.replace(/_clone_\d+$/, ''));
      if (node === undefined || more !== undefined || !(isFree(to, node) || placed.has(node))) continue;
      placed.add(node);
      if (layers.size === 1) for (const layer of layers) assign(to, layer, node, 'log', true, { by: 'fusion', line });
      else if (region >= 0 && regions.size === 1) join(to, region, node, true, { by: 'fusion', line });
      else to.absorbed.set(node, { into, line });
    }
  }
}

/** `Generating copy for a to b`: what is left of the concatenation that makes b is the layer `a copy`. */
function claimCopied(to: Resolution): void {
  const layers = new Map(to.view.layers.map(({ name }, layer) => [name, layer]));
  for (const {
    kind,
    pass,
    layers: [from = '', into = ''],
    line,
  } of to.view.phase?.events ?? []) {
    const layer = kind === 'copy' && pass === 'copy' ? layers.get(`${from} copy`) : undefined;
    const tensor = layer === undefined ? undefined : to.graph.byName.get(into);
    const node = tensor === undefined ? -1 : to.graph.tensors[tensor]!.producer;
    if (layer === undefined || node < 0) continue;
    if (!isFree(to, node) && to.provenance[node]?.by !== 'copy') continue;
    assign(to, layer, node, 'log', false);
    to.provenance[node] = { by: 'copy', line };
  }
}

const nodesIn = (to: Resolution, name: string): number[] =>
  nodesInName(to.names, name).flatMap((nodes) => (nodes.length === 1 ? [nodes[0]!] : []));

/** Sets of nodes that grow together. */
class Groups {
  readonly #parent = new Map<number, number>();
  readonly #line = new Map<number, number>();

  #find(node: number): number {
    let root = node;
    for (let up = this.#parent.get(root); up !== undefined && up !== root; up = this.#parent.get(root)) root = up;
    for (let at = node; at !== root;) {
      const next = this.#parent.get(at) ?? root;
      this.#parent.set(at, root);
      at = next;
    }
    return root;
  }

  unite(a: number, b: number, line: number): void {
    for (const node of [a, b]) if (!this.#parent.has(node)) this.#parent.set(node, node);
    const [first, second] = [this.#find(a), this.#find(b)];
    this.#parent.set(second, first);
    this.#line.set(first, line);
  }

  all(): { nodes: number[]; line: number }[] {
    const groups = new Map<number, number[]>();
    for (const node of this.#parent.keys()) addTo(groups, this.#find(node), node);
    return [...groups].map(([root, nodes]) => ({
      nodes: nodes.toSorted((a, b) => a - b),
      line: this.#line.get(root) ?? 1,
    }));
  }
}
