import { attentions } from '../model/attentions.ts';
import type { TensorTypes } from '../model/tensorTypes.ts';
import { isRealType } from '../precision/plan/opTyping.ts';
import type { LowModel } from './lowNodes.ts';

/** A whole attention is one kernel only in one type: breaking it costs more than any Casts around it. */
const CASTS_PER_ATTENTION = 100;

/**
 * What nodes in FP32 cost an engine: Casts at the borders between types, and attentions that are no longer in one type.
 * @param groups nodes (by `LowNode.index`) that are kept together
 */
export class FixCost {
  private readonly types: TensorTypes;
  /** Of each node, its group; -1: it is in no low precision. */
  private readonly groupOf: Int32Array;
  /** Of each group, the tensors that its nodes read and make. */
  private readonly around: number[][];
  /** Of each group, the attentions that its nodes are in, each as the groups of its nodes. */
  private readonly inside: Set<number>[][];

  constructor({ model, low }: LowModel, types: TensorTypes, groups: readonly (readonly number[])[]) {
    this.types = types;
    const { nodes, indexOfId, inputs, outputs } = types.graph;
    this.groupOf = new Int32Array(nodes.length).fill(-1);
    const places = groups.map((members) => members.map((own) => indexOfId.get(low[own]!.node.id)!));
    for (const [group, members] of places.entries()) for (const node of members) this.groupOf[node] = group;
    this.around = places.map((members) => [
      ...new Set(members.flatMap((node) => [...inputs[node]!, ...outputs[node]!]).filter((tensor) => tensor >= 0)),
    ]);
    this.inside = groups.map(() => []);
    for (const { scores, softmax, values } of attentions(model.nodes)) {
      const members = new Set([scores, softmax, values].map((node) => this.groupOf[node]!).filter((own) => own >= 0));
      for (const group of members) this.inside[group]!.push(members);
    }
  }

  /** How much cheaper a set of exact groups becomes without one of them, in Casts; negative: dearer. */
  saved(group: number, exact: ReadonlySet<number>): number {
    const rest = new Set(exact);
    rest.delete(group);
    const attention = this.inside[group]!.filter((members) => [...members].every((own) => !rest.has(own))).length;
    return this.casts(group, exact) - this.casts(group, rest) + CASTS_PER_ATTENTION * attention;
  }

  /** Casts at the tensors around a group. */
  private casts(group: number, exact: ReadonlySet<number>): number {
    const { tensors, nodes, graphOutputs } = this.types.graph;
    let casts = 0;
    for (const tensor of this.around[group]!) {
      const { kind, producer, consumers } = tensors[tensor]!;
      const isConstant = kind === 'initializer' || (producer >= 0 && nodes[producer]!.op === 'Constant');
      if (isConstant || !isRealType(this.types.types[tensor] ?? null)) continue;
      const made = producer < 0 || this.isExact(producer, exact);
      const readers = new Set(consumers.map((reader) => this.isExact(reader, exact)));
      if (graphOutputs.includes(tensor)) readers.add(true);
      if (readers.has(!made)) casts += 1;
    }
    return casts;
  }

  private isExact(node: number, exact: ReadonlySet<number>): boolean {
    const group = this.groupOf[node]!;
    return group < 0 || exact.has(group);
  }
}
