import type { EngineLayer } from '../../read/tensorrt/buildOutput.ts';
import { readsOf, type ModelGraph } from '../../network/modelGraph.ts';
import { addTo } from '../../base/addTo.ts';

/** What is known of the nodes' kernels before candidates are looked for. */
export interface KnownKernels {
  graph: ModelGraph;
  /** Layers that compute each node. */
  nodeLayers: readonly (readonly number[])[];
  /** ForeignNode of each node; -1: none. */
  regionOf: ArrayLike<number>;
  layers: readonly Pick<EngineLayer, 'name' | 'type' | 'inputs' | 'outputs'>[];
  /** ForeignNode of each layer, by index of the layer; -1: none, or the layer is all of it. */
  layerRegion: readonly number[];
  /** True for a layer that runs a kernel. */
  isKernel: (layer: number) => boolean;
  /** True for a tensor that a ForeignNode gives to the outside. */
  isBorder: (region: number, tensor: string) => boolean;
  /** True for a node that is computed before the engine runs, or on the host. */
  isConstant: (node: number) => boolean;
  /** True for a node that hands its first input on and is in no layer. */
  isTransparent: (node: number) => boolean;
}

/**
 * What the name of a generated kernel lists where the kernel computes an operator, in three or four letters: `Sub` in
 * `__myl_AddMeaSub…`. By the kernels of our captures whose metadata name such nodes.
 */
const listed: Readonly<Record<string, RegExp>> = {
  Add: /^Add/,
  Cos: /^Cos/,
  Div: /^Div|^Mul|^Rec/,
  Erf: /^Erf/,
  Exp: /^Exp/,
  MaxPool: /^Max|^Poo/,
  Mul: /^Mul/,
  Neg: /^Neg|^Mul|^Sub/,
  Relu: /^Rel|^Max/,
  Sigmoid: /^Sig|^Sil/,
  Sin: /^Sin/,
  Softmax: /^Exp/,
  Sqrt: /^Sqr|^Rsq/,
  Sub: /^Sub|^Add/,
  Tanh: /^Tan/,
  Transpose: /^Tra/,
  Where: /^Sel/,
  // What makes data without an input.
  ConstantOfShape: /^Iot|^Rep|^Fil|^Eql/,
  EyeLike: /^Iot|^Eql/,
  Range: /^Iot/,
};
const generating = new Set(['ConstantOfShape', 'EyeLike', 'Range']);

/**
 * False for a kernel that cannot compute an operator: `__myl_AddReshTran_myl0_4` lists all that it does, and a product of
 * matrices that reads and writes rows in order transposes none. A long list ends in `Etc`.
 */
export function canCompute({ name, type, inputs, outputs }: KnownKernels['layers'][number], op: string): boolean {
  const word = Object.hasOwn(listed, op) ? listed[op] : undefined;
  if (!word) return true;
  if (type === 'gemm' && op === 'Transpose')
    return ![...inputs, ...outputs].every(({ format }) => format?.startsWith('(Linear) '));
  if (generating.has(op) && type !== 'kgen') return false;
  const steps =
    type === 'kgen' ? /^__myl_((?:[A-Z][a-z0-9]+)+)_myl/.exec(name)?.[1]?.match(/[A-Z][a-z0-9]+/g) : undefined;
  return !steps || steps.some((step) => step === 'Etc' || word.test(step));
}

/** More candidates than these are no answer. */
const mostCandidates = 3;
/** Nodes that are looked through before the search is given up: where none names its kernel, nothing is near. */
const mostSeen = 300;

/**
 * Kernels one of which computes a member of a ForeignNode that none names: those that give it its data and those that
 * take its result, looking through other such members, as far as one hands its results to the other, and those between
 * them.
 */
export class KernelCandidates {
  readonly #known: KnownKernels;
  /** Layers that name no node: data may pass through them. */
  readonly #nameless: boolean[];
  /** Layers that read what each layer writes, and that write what it reads. */
  readonly #after: number[][];
  readonly #before: number[][];
  /** Layers that read and that write what is not of their ForeignNode alone, by its index. */
  readonly #first = new Map<number, number[]>();
  readonly #last = new Map<number, number[]>();
  /** The model's outputs. */
  readonly #results: ReadonlySet<number>;
  /** Tensors that a body's tensor is outside of it, and those that stand for a tensor inside of a body. */
  readonly #outer = new Map<number, number[]>();
  readonly #inner = new Map<number, number[]>();

  constructor(known: KnownKernels) {
    this.#known = known;
    this.#results = new Set(known.graph.graphOutputs);
    const { layers, layerRegion, nodeLayers, graph } = known;
    this.#nameless = layerRegion.map((region) => region >= 0);
    for (const own of nodeLayers) for (const layer of own) this.#nameless[layer] = false;
    this.#after = layers.map(() => []);
    this.#before = layers.map(() => []);
    this.#linkLayers();
    for (const owner of graph.bodyOutputs.keys()) this.#linkBodies(owner);
  }

  /** Indices of at most three layers in engine order; empty where nothing is known at either side, or too many remain. */
  of(node: number): number[] {
    const region = this.#known.regionOf[node]!;
    const above = this.#nearest(node, region, (at) => this.#sources(at));
    const below = this.#nearest(node, region, (at) => this.#readers(at));
    if (!above || !below) return [];
    const down = this.#reached(above, this.#first.get(region), this.#after);
    const up = this.#reached(below, this.#last.get(region), this.#before);
    const between = new Set([...down].filter((layer) => up.has(layer)));
    // What lies between may name other nodes: its neighbors at both sides hand it the data and take the result.
    const middle = { layers: new Set(between), isOpen: false };
    const behind = this.#reached(middle, [], this.#before);
    const ahead = this.#reached(middle, [], this.#after);
    for (const layer of above.layers)
      if (up.has(layer) || behind.has(layer) || below.layers.has(layer)) between.add(layer);
    for (const layer of below.layers) if (down.has(layer) || ahead.has(layer)) between.add(layer);
    // Where the layers' tensors do not connect them, or are not listed, both sides are candidates as a whole.
    const found = between.size > 0 ? between : new Set([...above.layers, ...below.layers]);
    const kernels = [...found].filter((layer) => this.#known.isKernel(layer)).toSorted((a, b) => a - b);
    const { graph, layers } = this.#known;
    const able = kernels.filter((layer) => canCompute(layers[layer]!, graph.nodes[node]!.op));
    return able.length > mostCandidates ? [] : able;
  }

  /** What one layer of a ForeignNode hands to the next. */
  #linkLayers(): void {
    const regions = new Map<number, number[]>();
    this.#known.layerRegion.forEach((region, layer) => {
      if (region >= 0) addTo(regions, region, layer);
    });
    for (const [region, layers] of regions) this.#linkRegion(region, layers);
  }

  #linkRegion(region: number, own: readonly number[]): void {
    const { layers, isBorder } = this.#known;
    const writers = new Map<string, number[]>();
    for (const layer of own) for (const { name } of layers[layer]!.outputs) addTo(writers, name, layer);
    const read = new Set<string>();
    const first: number[] = [];
    for (const layer of own) {
      let isFirst = false;
      for (const { name } of layers[layer]!.inputs) {
        read.add(name);
        const from = writers.get(name);
        if (!from || (from.length === 1 && from[0] === layer)) isFirst = true;
        for (const writer of from ?? []) {
          if (writer === layer) continue;
          this.#after[writer]!.push(layer);
          this.#before[layer]!.push(writer);
        }
      }
      if (isFirst) first.push(layer);
    }
    this.#first.set(region, first);
    const gives = ({ name }: { name: string }): boolean => !read.has(name) || isBorder(region, name);
    this.#last.set(
      region,
      own.filter((layer) => layers[layer]!.outputs.some(gives)),
    );
  }

  /** What an owner is given is what its body reads, what the body gives back is what the owner writes. */
  #linkBodies(owner: number): void {
    const { graph } = this.#known;
    const { subgraphs, op } = graph.nodes[owner]!;
    for (const { graph: body } of subgraphs) {
      const own = graph.scopes.get(body.path);
      const link = (outer: number | undefined, inner: number | undefined): void => {
        if (outer === undefined || inner === undefined || outer < 0 || inner < 0) return;
        addTo(this.#outer, inner, outer);
        addTo(this.#inner, outer, inner);
      };
      const formals = body.inputs.map(({ name }) => own?.get(name));
      const results = body.outputs.map(({ name }) => graph.tensorAt(body.path, name));
      formals.forEach((formal, i) => link(graph.inputs[owner]![i], formal));
      const skipped = op === 'Loop' ? 1 : 0;
      let at = 0;
      graph.nodes[owner]!.outputs.forEach((name, i) => {
        if (name !== '') link(results[i + skipped], graph.outputs[owner]![at++]);
      });
      // What one round of a loop makes, the next is given.
      if (op === 'Loop') formals.slice(2).forEach((formal, i) => link(results[i + 1], formal));
    }
  }

  /** Nodes that make what a node reads; what is constant comes from none. */
  #sources(node: number): Next {
    const { graph, isConstant } = this.#known;
    return this.#follow(readsOf(graph, node), this.#outer, (tensor, found) => {
      const { producer, kind } = graph.tensors[tensor]!;
      const outside = this.#outer.has(tensor);
      if (producer < 0) found.isOpen ||= kind === 'input' && !outside;
      else if (!isConstant(producer) && !(outside && graph.bodyOutputs.has(producer))) found.nodes.push(producer);
    });
  }

  /** Nodes that read what a node makes. */
  #readers(node: number): Next {
    const { graph } = this.#known;
    return this.#follow(graph.outputs[node]!, this.#inner, (tensor, found) => {
      const nodes = graph.tensors[tensor]!.consumers;
      for (const reader of nodes) found.nodes.push(reader);
      found.isOpen ||= this.#results.has(tensor) || (nodes.length === 0 && !this.#inner.has(tensor));
    });
  }

  #follow(
    tensors: readonly number[],
    links: ReadonlyMap<number, number[]>,
    add: (tensor: number, found: Next) => void,
  ): Next {
    const found: Next = { nodes: [], isOpen: false };
    if (links.size === 0) {
      for (const tensor of tensors) add(tensor, found);
      return found;
    }
    const seen = new Set<number>();
    const stack = [...tensors];
    while (stack.length > 0) {
      const tensor = stack.pop()!;
      if (seen.has(tensor)) continue;
      seen.add(tensor);
      add(tensor, found);
      stack.push(...(links.get(tensor) ?? []));
    }
    return found;
  }

  /** The layers of the nearest nodes that have one; undefined where too many nodes have none. */
  #nearest(node: number, region: number, next: (node: number) => Next): Side | undefined {
    const { nodeLayers, regionOf, layerRegion, isTransparent } = this.#known;
    const layers = new Set<number>();
    let isOpen = false;
    const seen = new Set([node]);
    const stack = [node];
    while (stack.length > 0) {
      const found = next(stack.pop()!);
      isOpen ||= found.isOpen;
      for (const other of found.nodes) {
        if (seen.has(other)) continue;
        seen.add(other);
        if (seen.size > mostSeen) return undefined;
        let isNamed = false;
        for (const layer of nodeLayers[other]!) {
          if (layerRegion[layer] !== region) continue;
          layers.add(layer);
          isNamed = true;
        }
        if (isNamed) continue;
        if (regionOf[other] === region || isTransparent(other)) stack.push(other);
        else isOpen = true;
      }
    }
    return { layers, isOpen };
  }

  /** The layers that a side hands its data to, looking through those that name no node. */
  #reached(
    { layers, isOpen }: Side,
    border: readonly number[] = [],
    next: readonly (readonly number[])[],
  ): Set<number> {
    const found = new Set<number>(isOpen ? border : []);
    const stack = [...layers, ...[...found].filter((layer) => this.#nameless[layer])];
    while (stack.length > 0) {
      for (const layer of next[stack.pop()!]!) {
        if (found.has(layer)) continue;
        found.add(layer);
        if (this.#nameless[layer]) stack.push(layer);
      }
    }
    return found;
  }
}

/** The next nodes at one side, and whether the model's inputs or outputs are as near. */
interface Next {
  nodes: number[];
  isOpen: boolean;
}

/** What is next to a node at one side. */
interface Side {
  layers: ReadonlySet<number>;
  /** The ForeignNode's border is as near as the layers. */
  isOpen: boolean;
}
