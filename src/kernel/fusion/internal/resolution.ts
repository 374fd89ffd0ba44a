import { appended } from '../../base/addTo.ts';
import type { Problem } from '../../base/problem.ts';
import { outsideName, type EngineView } from './engineView.ts';
import type { Evidence } from '../fusionReport.ts';
import type { Contradiction, Network } from '../../network/network.ts';
import type { NodeNames } from '../../network/nodeNames.ts';
import type { NodeRole } from '../../network/nodeRoles.ts';

/** How it is known what happened to a node; becomes the sentence in its `reason`. */
export type Provenance =
  /** A layer's metadata or name says it. */
  | { by: 'metadata' | 'name'; layer: number }
  /** The log's `ForeignNode … metadata:` line. */
  | { by: 'line'; region: number }
  /** `{ForeignNode[a...b]}` names it. */
  | { by: 'ends'; region: number }
  /** Found between tensors of the layer's or ForeignNode's border. */
  | { by: 'reach'; layer: number; region: number }
  /** The only ForeignNode that it can belong to. */
  | { by: 'neighbors'; region: number }
  /** Its owner's, or its body's. */
  | { by: 'owner' | 'body'; region: number; node: number }
  /** A kernel of the loop or conditional that TensorRT made of it. */
  | { by: 'loop'; layer: number }
  /** The log says that TensorRT fused it with a node that is there. */
  | { by: 'fusion'; line: number }
  /** A layer writes its result. */
  | { by: 'written'; layer: number }
  /** Its layer is in the graph that the optimizer was given, and this ForeignNode is the only one it can be in. */
  | { by: 'graph'; region: number; line: number }
  /** The hook for Torch-TensorRT counted no layer that was made of it. */
  | { by: 'torch' }
  /** TensorRT made a constant of it. */
  | { by: 'constant'; line: number }
  /** A layer copies one of its inputs to where its result is; the line says so, or null: the layer's name. */
  | { by: 'copy'; line: number | null }
  /** The log says that TensorRT removed or eliminated it. */
  | { by: 'event'; pass: string; line: number }
  /** The log parses it and registers no layer for it, at most an identity. */
  | { by: 'parser'; line: number }
  /** The condition of the If is constant, and the branch that it is in is not the one that is taken. */
  | { by: 'untaken'; node: number; exact: boolean }
  /** Of the If only one branch has kernels, and none of them decides: TensorRT knew the condition. */
  | { by: 'decided'; node: number }
  /** It is in a function, and the log registers an operator in place of the function's call. */
  | { by: 'operator'; node: number; line: number }
  /** A rule removed it from the copy of the model that was built. */
  | { by: 'rule'; line: number }
  /** The log parses one branch of the If and not the one that it is in. */
  | { by: 'branch'; node: number };

/** What is known so far: filled step by step, each step adding only where those before it said nothing. */
export interface Resolution {
  graph: Network;
  names: NodeNames;
  view: EngineView;
  roles: NodeRole[];
  /** 1 for a node that depends on shapes and constants only. */
  arithmetic: Uint8Array;
  /** Shapes that the model declares and its inputs contradict. */
  contradicted: readonly Contradiction[];
  /** Nodes that each layer computes, and how that is known. */
  layerNodes: Set<number>[];
  layerEvidence: Set<Evidence>[];
  /** Layers that compute each node. */
  nodeLayers: number[][];
  /** Members of each region. */
  members: Set<number>[];
  /** Region of each node; -1: none. */
  regionOf: Int32Array;
  /** 1 where TensorRT itself named the node for that place. */
  exact: Uint8Array;
  provenance: (Provenance | undefined)[];
  /** Nodes that the log's parser did not see though it saw the whole model that was built: nothing is claimed of them. */
  unbuilt: Set<number>;
  /** Nodes that the log says were fused into a layer whose place is not known. */
  absorbed: Map<number, { into: string; line: number }>;
  /** Nodes that the log says are gone. */
  gone: Map<number, Provenance>;
  /** Regions whose members TensorRT listed in full. */
  listed: boolean[];
  /** Nodes that change values and that TensorRT names nowhere, with the evidence. */
  unaccounted: Map<number, string>;
  /** The named node with which TensorRT merged one that it does not name, because both compute the same. */
  twins: Map<number, number>;
  /** The tensor of the model that each engine tensor is, as far as it was asked for; -1: none. */
  tensors: Map<string, number>;
  problems: Problem[];
}

/** What a resolution starts with. */
type Given = Pick<Resolution, 'graph' | 'names' | 'view' | 'roles' | 'arithmetic' | 'contradicted'>;

export function createResolution({ graph, names, view, roles, arithmetic, contradicted }: Given): Resolution {
  return {
    graph,
    names,
    view,
    roles,
    arithmetic,
    contradicted,
    layerNodes: view.layers.map(() => new Set()),
    layerEvidence: view.layers.map(() => new Set()),
    nodeLayers: graph.nodes.map(() => []),
    members: view.regions.map(() => new Set()),
    regionOf: new Int32Array(graph.nodes.length).fill(-1),
    exact: new Uint8Array(graph.nodes.length),
    provenance: [],
    unbuilt: new Set(),
    absorbed: new Map(),
    gone: new Map(),
    unaccounted: new Map(),
    twins: new Map(),
    listed: view.regions.map(() => false),
    tensors: new Map(),
    problems: [],
  };
}

/** Notes that a layer computes a node, all or in part; inside a region that makes it a member. */
export function assign(
  to: Resolution,
  layer: number,
  node: number,
  evidence: Evidence,
  exact: boolean,
  why?: Provenance,
): void {
  if (to.unbuilt.has(node)) return;
  const nodes = to.layerNodes[layer]!;
  to.layerEvidence[layer]!.add(evidence);
  if (!nodes.has(node)) {
    nodes.add(node);
    to.nodeLayers[node] = appended(to.nodeLayers[node]!, layer);
  }
  const region = to.view.regionOf[layer]!;
  const provenance = why ?? { by: evidence === 'metadata' ? 'metadata' : 'name', layer };
  if (region >= 0) join(to, region, node, exact, provenance);
  else if (to.regionOf[node]! < 0 && (!to.provenance[node] || (exact && !to.exact[node]))) {
    to.exact[node] = exact ? 1 : 0;
    to.provenance[node] = provenance;
  }
}

/** Takes back the layers that a node was said to be in. */
export function unassign(to: Resolution, node: number): void {
  for (const layer of to.nodeLayers[node]!) to.layerNodes[layer]!.delete(node);
  to.nodeLayers[node] = [];
  const region = to.regionOf[node]!;
  if (region >= 0) to.members[region]!.delete(node);
  to.regionOf[node] = -1;
  to.provenance[node] = undefined;
}

/** Makes a node a member of a region. The first region that has it keeps it. */
export function join(to: Resolution, region: number, node: number, exact: boolean, provenance: Provenance): void {
  if (to.unbuilt.has(node)) return;
  to.members[region]!.add(node);
  if (to.regionOf[node]! >= 0) {
    if (to.regionOf[node] === region && exact) to.exact[node] = 1;
    return;
  }
  to.regionOf[node] = region;
  to.exact[node] = exact ? 1 : 0;
  to.provenance[node] = provenance;
}

/** True where nothing claims the node yet. */
export const isFree = (of: Resolution, node: number): boolean =>
  of.regionOf[node]! < 0 && of.nodeLayers[node]!.length === 0;

/** The tensor of the model that an engine tensor is; -1 where TensorRT made it. */
export function modelTensor(of: Resolution, engineTensor: string): number {
  let tensor = of.tensors.get(engineTensor);
  if (tensor === undefined) of.tensors.set(engineTensor, (tensor = findTensor(of, engineTensor)));
  return tensor;
}

function findTensor(of: Resolution, engineTensor: string): number {
  const name = outsideName(of.view, engineTensor);
  const found = of.graph.byName.get(name);
  if (found !== undefined) return found;
  // Of an input that is an output, too, the parser makes two: it reads `__x` and copies it to `x`.
  const copied = name.startsWith('__') ? of.graph.byName.get(name.slice(2)) : undefined;
  if (copied !== undefined && of.graph.tensors[copied]!.producer < 0 && of.graph.graphOutputs.includes(copied))
    return copied;
  // The parser appends `_6` to a tensor whose name is taken, as by a layer; TensorRT 8 calls the copy of an initializer
  // that is an output `b_shared_clone_0`.
  const cloned = name.includes('_clone_') ? /^([^]+?)(?:_shared)?_clone_\d+$/.exec(name)?.[1] : undefined;
  const bare = cloned ?? /^([^]+)_\d+$/.exec(name)?.[1];
  return (bare === undefined ? undefined : of.graph.byName.get(bare)) ?? -1;
}

/** True for a node that no layer computes and that only hands on its first input: an identity, or what TensorRT removed. */
export const isTransparent = (of: Resolution, node: number): boolean =>
  isFree(of, node) && (of.gone.has(node) || of.roles[node] === 'identity');

/** The tensor that a tensor is, behind nodes that only hand it on. */
export function sourceOf(of: Resolution, tensor: number): number {
  let at = tensor;
  for (let steps = of.graph.nodes.length; steps > 0; steps--) {
    const node = of.graph.tensors[at]!.producer;
    const input = node < 0 || !isTransparent(of, node) ? -1 : (of.graph.inputs[node]![0] ?? -1);
    if (input < 0) break;
    at = input;
  }
  return at;
}

/** The nodes that read a tensor, looking through those that only hand it on. */
export function readersOf(of: Resolution, tensor: number): readonly number[] {
  const { consumers } = of.graph.tensors[tensor]!;
  if (!consumers.some((node) => isTransparent(of, node))) return consumers;
  const readers: number[] = [];
  const seen = new Set<number>([tensor]);
  const stack = [tensor];
  while (stack.length > 0) {
    for (const node of of.graph.tensors[stack.pop()!]!.consumers) {
      if (!isTransparent(of, node)) {
        readers.push(node);
        continue;
      }
      for (const next of of.graph.outputs[node]!) {
        if (!seen.has(next)) {
          seen.add(next);
          stack.push(next);
        }
      }
    }
  }
  return readers;
}
