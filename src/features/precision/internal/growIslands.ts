import { graphPathOf, type ModelGraph } from '../../../kernel/network/modelGraph.ts';
import type { OnnxNode } from '../../../kernel/read/onnx/onnxModel.ts';
import { isCheap, isRealType, type RealType } from '../../../kernel/rules/precisionPlan.ts';
import type { ChosenType, TypeChoice } from './rewritePlan.ts';

/** Longest chain of cheap nodes between two kept ones that is taken along. */
const longestChain = 4;

/**
 * Takes cheap nodes into the islands of nodes that rules keep in FP32, if that saves Casts: chains that lead from one
 * kept node to another, and neighbors whose other side is FP32 anyway. Changes `choice`; returns the number of nodes
 * taken.
 */
export function growIslands(choice: TypeChoice): number {
  const links = new Links(choice);
  // Many nodes that read one tensor lead to the same chains.
  const tried = new Set<string>();
  let grown = 0;
  for (const node of choice.model.nodes) {
    const chosen = choice.nodes.get(node.id);
    if (!chosen?.asked || chosen.type !== 'float') continue;
    for (const chain of links.chainsFrom(node)) {
      const own = chain.filter((link) => link.type !== 'float');
      const key = own.map((link) => link.node.id).join(' ');
      if (own.length === 0 || tried.has(key)) continue;
      const before = links.casts(own);
      const types = own.map(({ type }) => type);
      for (const link of own) link.type = 'float';
      if (links.casts(own) < before) {
        grown += own.length;
        tried.clear();
      } else {
        for (const [i, link] of own.entries()) link.type = types[i] ?? 'float';
        tried.add(key);
      }
    }
  }
  return grown;
}

/** Neighbors within one graph, and the Casts between them. */
class Links {
  private readonly choice: TypeChoice;
  private readonly graph: ModelGraph;
  private readonly near = new Map<OnnxNode, OnnxNode[]>();
  /** Tensors that a graph outputs. */
  private readonly givenOut: Set<number>;

  constructor(choice: TypeChoice) {
    this.choice = choice;
    this.graph = choice.network;
    this.givenOut = new Set([...this.graph.graphOutputs, ...[...this.graph.bodyOutputs.values()].flat()]);
  }

  /** Cheap neighbors, and chains of such nodes. */
  chainsFrom(start: OnnxNode): ChosenType[][] {
    const chains: ChosenType[][] = [];
    const visit = (node: OnnxNode, chain: ChosenType[]): void => {
      for (const next of this.neighbors(node)) {
        const chosen = this.choice.nodes.get(next.id);
        if (!chosen || chosen.typing !== 'free' || chain.includes(chosen) || next === start) continue;
        if (chosen.type === 'float' || chosen.asked || !isCheap(next)) continue;
        if (chain.length >= longestChain || chains.length > 64) continue;
        const longer = [...chain, chosen];
        chains.push(longer);
        visit(next, longer);
      }
    };
    visit(start, []);
    return chains.sort((a, b) => a.length - b.length);
  }

  private neighbors(node: OnnxNode): OnnxNode[] {
    const known = this.near.get(node);
    if (known) return known;
    const index = this.indexOf(node);
    const { nodes, tensors, inputs, outputs } = this.graph;
    const makers = inputs[index]!.map((tensor) => tensors[tensor]?.producer ?? -1);
    const readers = outputs[index]!.flatMap((tensor) => tensors[tensor]!.consumers);
    const path = graphPathOf(node.id);
    const found = [...new Set([...makers, ...readers])]
      .flatMap((other) => nodes[other] ?? [])
      .filter(({ id }) => graphPathOf(id) === path);
    this.near.set(node, found);
    return found;
  }

  /** Casts at all tensors that these nodes read or make. */
  casts(nodes: readonly ChosenType[]): number {
    const indices = nodes.map(({ node }) => this.indexOf(node));
    const tensors = new Set(indices.flatMap((index) => [...this.graph.inputs[index]!, ...this.graph.outputs[index]!]));
    let casts = 0;
    for (const tensor of tensors) {
      if (tensor < 0 || this.isConstant(tensor)) continue;
      const { producer, consumers } = this.graph.tensors[tensor]!;
      const made = producer >= 0 ? this.typeOf(this.graph.nodes[producer]!) : this.outside(tensor);
      const needed = new Set(consumers.map((reader) => this.typeOf(this.graph.nodes[reader]!)));
      if (producer >= 0) needed.add(this.outside(tensor));
      needed.delete(made);
      needed.delete(undefined);
      casts += needed.size;
    }
    return casts;
  }

  private indexOf(node: OnnxNode): number {
    return this.graph.indexOfId.get(node.id)!;
  }

  private isConstant(tensor: number): boolean {
    const { kind, producer } = this.graph.tensors[tensor]!;
    return kind === 'initializer' || (producer >= 0 && this.graph.nodes[producer]!.op === 'Constant');
  }

  /** The type in which a tensor enters or leaves its graph. */
  private outside(tensor: number): RealType | undefined {
    const { kind } = this.graph.tensors[tensor]!;
    if (kind !== 'input' && kind !== 'formal' && !this.givenOut.has(tensor)) return undefined;
    const type = this.choice.network.inferred.types[tensor] ?? null;
    return isRealType(type) ? type : undefined;
  }

  private typeOf(node: OnnxNode): RealType | undefined {
    const chosen = this.choice.nodes.get(node.id);
    return chosen?.typing === 'free' ? chosen.type : undefined;
  }
}
