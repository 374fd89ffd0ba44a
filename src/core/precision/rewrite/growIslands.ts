import type { OnnxGraph, OnnxNode } from '../../onnx/onnxModel.ts';
import { isCheap } from '../plan/opTyping.ts';
import type { RealType } from '../plan/opTyping.ts';
import type { ChosenType, TypeChoice } from './rewriteTypes.ts';
import { addTo } from '../../text/addTo.ts';

/** Longest chain of cheap nodes between two kept ones that is taken along. */
const longestChain = 4;

/**
 * Takes cheap nodes into the islands of nodes that rules keep in FP32, if that saves Casts: chains that lead from one
 * kept node to another, and neighbours whose other side is FP32 anyway. Changes `choice`; returns the number of nodes
 * taken.
 */
export function growIslands(choice: TypeChoice): number {
  let grown = 0;
  for (const graph of allGraphs(choice.model.graph)) grown += growIn(graph, choice);
  return grown;
}

function allGraphs(graph: OnnxGraph): OnnxGraph[] {
  return [graph, ...graph.nodes.flatMap((node) => node.subgraphs.flatMap(({ graph: body }) => allGraphs(body)))];
}

function growIn(graph: OnnxGraph, choice: TypeChoice): number {
  const links = new Links(graph, choice);
  // Many nodes that read one tensor lead to the same chains.
  const tried = new Set<string>();
  let grown = 0;
  for (const node of graph.nodes) {
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

/** Who makes and reads the tensors of one graph. */
class Links {
  private readonly choice: TypeChoice;
  private readonly maker = new Map<string, OnnxNode>();
  private readonly readers = new Map<string, OnnxNode[]>();
  private readonly outside = new Map<string, RealType>();
  private readonly constants = new Set<string>();
  private readonly near = new Map<OnnxNode, OnnxNode[]>();

  constructor(graph: OnnxGraph, choice: TypeChoice) {
    this.choice = choice;
    for (const tensor of graph.initializers) this.constants.add(tensor.name);
    for (const value of [...graph.inputs, ...graph.outputs]) {
      const type = value.type ?? choice.types.typeOf(graph.path, value.name);
      if (type === 'float' || type === 'float16' || type === 'bfloat16') this.outside.set(value.name, type);
    }
    for (const node of graph.nodes) {
      if (node.op === 'Constant') for (const name of node.outputs) this.constants.add(name);
      for (const name of node.outputs) this.maker.set(name, node);
      for (const name of new Set(node.inputs)) addTo(this.readers, name, node);
    }
  }

  /** Cheap neighbours, and chains of such nodes. */
  chainsFrom(start: OnnxNode): ChosenType[][] {
    const chains: ChosenType[][] = [];
    const visit = (node: OnnxNode, chain: ChosenType[]): void => {
      for (const next of this.neighbours(node)) {
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

  private neighbours(node: OnnxNode): OnnxNode[] {
    const known = this.near.get(node);
    if (known) return known;
    const makers = node.inputs.map((name) => this.maker.get(name));
    const readers = node.outputs.flatMap((name) => this.readers.get(name) ?? []);
    const found = [...new Set([...makers, ...readers])].filter((other) => other !== undefined);
    this.near.set(node, found);
    return found;
  }

  /** Casts at all tensors that these nodes read or make. */
  casts(nodes: readonly ChosenType[]): number {
    const tensors = new Set(nodes.flatMap(({ node }) => [...node.inputs, ...node.outputs]));
    let casts = 0;
    for (const name of tensors) {
      if (name === '' || this.constants.has(name)) continue;
      const maker = this.maker.get(name);
      const made = maker ? this.typeOf(maker) : this.outside.get(name);
      const needed = new Set((this.readers.get(name) ?? []).map((reader) => this.typeOf(reader)));
      if (maker && this.outside.has(name)) needed.add(this.outside.get(name));
      needed.delete(made);
      needed.delete(undefined);
      casts += needed.size;
    }
    return casts;
  }

  private typeOf(node: OnnxNode): RealType | undefined {
    const chosen = this.choice.nodes.get(node.id);
    return chosen?.typing === 'free' ? chosen.type : undefined;
  }
}
