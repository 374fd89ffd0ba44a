import { addTo } from '../text/addTo.ts';
import type { KnownNames } from './layerName.ts';
import { parserName } from './parserName.ts';

/** What the parts of a layer's name can mean in one model. */
export interface LayerNodes extends KnownNames {
  /** Indices of the nodes for which TensorRT made a layer of that name; several where nodes share it. */
  nodesOfLayer(layer: string): readonly number[];
  /** Indices of the nodes in the name of a Myelin kernel, without its `_myl3_14`. */
  nodesOfKernel(base: string): readonly number[];
}

export const noNodes: readonly number[] = [];

/** Logs lose a carriage return at the end of a line, and with it a part of a name: names are compared without. */
export const withoutReturns = (name: string): string => (name.includes('\r') ? name.replaceAll('\r', '') : name);

/** A model's nodes by the names that TensorRT's parser uses for them. */
export class NodesByName implements LayerNodes {
  /** Length of the longest name. */
  readonly longest: number;
  readonly #byName = new Map<string, number[]>();
  #spelled: ReadonlyMap<string, number[]> | undefined;

  /** `without`: indices of nodes that a name means only if no other node has it. */
  constructor(nodes: Iterable<{ name: string; outputs: readonly string[] }>, without: ReadonlySet<number> = new Set()) {
    let longest = 0;
    let index = 0;
    for (const node of nodes) {
      const name = withoutReturns(parserName(node));
      if (name.length > longest) longest = name.length;
      addTo(this.#byName, name, index++);
    }
    this.longest = longest;
    if (without.size === 0) return;
    for (const [name, all] of this.#byName) {
      const kept = all.filter((node) => !without.has(node));
      if (kept.length > 0 && kept.length < all.length) this.#byName.set(name, kept);
    }
  }

  has(name: string): boolean {
    return this.#byName.has(withoutReturns(name));
  }

  /** Distinct names in the order of the nodes. */
  names(): IterableIterator<string> {
    return this.#byName.keys();
  }

  /** Indices of the nodes of exactly that name. */
  nodesOf(name: string): readonly number[] {
    return this.#byName.get(withoutReturns(name)) ?? noNodes;
  }

  /** Nodes of that name, or of the name without the `_18` that TensorRT appends where several nodes share one. */
  nodesOfLayer(layer: string): readonly number[] {
    const found = this.nodesOf(layer);
    return found.length > 0 ? found : this.sharing(layer);
  }

  /** The nodes that share the name that a layer's name is without TensorRT's `_18`. */
  sharing(layer: string): readonly number[] {
    const bare = /^([^]+)_\d+$/.exec(layer)?.[1];
    const found = bare === undefined ? noNodes : this.nodesOf(bare);
    return found.length < 2 ? noNodes : found;
  }

  nodesOfKernel(base: string): readonly number[] {
    this.#spelled ??= kernelSpellings(this.#byName);
    return nodesOfKernel(base, this.#spelled);
  }
}

/** Names as kernels spell them, with `_` for most characters that are not letters or digits. */
export function kernelSpellings(byName: Iterable<readonly [string, readonly number[]]>): Map<string, number[]> {
  const map = new Map<string, number[]>();
  for (const [name, nodes] of byName) for (const index of nodes) addTo(map, kernelSpelling(name), index);
  return map;
}

const kernelSpelling = (name: string): string => name.replace(/[^A-Za-z0-9/]/g, '_');

/** `a+b+c`: gemms that were merged; `$$myelin$$(Unnamed Loop_ 0)^a`: inside a loop. */
export function nodesOfKernel(base: string, spelled: ReadonlyMap<string, number[]>): readonly number[] {
  const whole = spelled.get(kernelSpelling(base));
  if (whole) return whole;
  const nodes: number[] = [];
  const shared = new Set<number[]>();
  for (const piece of base.split('+')) {
    const found = spelled.get(kernelSpelling(piece.slice(piece.lastIndexOf('^') + 1)));
    if (!found || shared.has(found)) continue;
    for (const index of found) nodes.push(index);
    // A name that many nodes share says nothing more where it comes again.
    if (found.length > 1) shared.add(found);
  }
  return nodes;
}
