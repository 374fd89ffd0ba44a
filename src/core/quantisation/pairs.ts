import type { FusionReport, ReportLayer } from '../fusion/fusionReport.ts';
import type { Misplaced } from './misplaced.ts';
import { isDequantise, isPart, isQuantise, type QuantisedGraph } from './quantisedGraph.ts';

/**
 * What became of a Q or DQ node in a build:
 * - `fused`: computed with a neighbour; `moved`: with nodes that are not its neighbours
 * - `kernel`: alone, or with other Q/DQ nodes only; `reformat`: a copy into another type or layout
 * - `folded`, `removed`: nothing runs for it; `unknown`: the build does not say, or there is none
 */
export type PairFate = 'fused' | 'moved' | 'kernel' | 'reformat' | 'folded' | 'removed' | 'unknown';

/** A QuantizeLinear with the DequantizeLinear nodes that read it, or one that reads stored integers. */
export interface QuantisedPair {
  /** Name of the tensor that is quantised. */
  tensor: string;
  /** Whether it is known before the build, as weights are. */
  constant: boolean;
  /** Ids. */
  quantize: string | null;
  dequantize: string[];
  fate: PairFate;
  /** One sentence: how the fate is known, or what prevents fusion. */
  why: string;
  fix: string | null;
}

/** The fate of a pair is the worst of its nodes. */
const order: PairFate[] = ['reformat', 'kernel', 'moved', 'unknown', 'fused', 'removed', 'folded'];

/** All pairs of the model, in its order. @param report on a build; null: none */
export function quantisedPairs(
  network: QuantisedGraph,
  wrong: readonly Misplaced[],
  report: FusionReport | null,
): QuantisedPair[] {
  const { graph } = network;
  const fates = report ? new Fates(network, report) : null;
  const heads = [...graph.nodes.keys()].filter((node) => {
    const op = network.op(node);
    const maker = network.producer(network.input(node, 0));
    return isQuantise(op) || (isDequantise(op) && !(maker >= 0 && isQuantise(network.op(maker))));
  });
  /** The place in the list of the first problem of each node. */
  const firstOf = new Map<string, number>();
  wrong.forEach(({ nodes }, at) => {
    for (const id of nodes) if (!firstOf.has(id)) firstOf.set(id, at);
  });
  return heads.map((head) => {
    const quantise = isQuantise(network.op(head)) ? head : -1;
    const dequantise = quantise < 0 ? [head] : network.readers(head).filter((node) => isDequantise(network.op(node)));
    const all = quantise < 0 ? dequantise : [quantise, ...dequantise];
    const ids = all.map((node) => graph.nodes[node]!.id);
    const known = all.map((node) => fates?.of(node) ?? { fate: 'unknown' as const, why: 'There is no build.' });
    const worst = known.toSorted((a, b) => order.indexOf(a.fate) - order.indexOf(b.fate))[0]!;
    const problem = wrong[Math.min(...ids.map((id) => firstOf.get(id) ?? wrong.length))];
    const cause = worst.fate === 'kernel' || worst.fate === 'reformat' ? causeOf(network, head, dequantise) : null;
    const bad = worst.fate === 'kernel' || worst.fate === 'reformat' || worst.fate === 'unknown';
    const tensor = network.input(head, 0);
    return {
      tensor: graph.tensors[tensor]?.name ?? '',
      constant: network.isConstant(tensor),
      quantize: quantise < 0 ? null : graph.nodes[quantise]!.id,
      dequantize: dequantise.map((node) => graph.nodes[node]!.id),
      fate: worst.fate,
      why: [worst.why, problem && bad ? problem.message : cause].filter((part) => part).join(' '),
      fix: bad ? (problem?.fix ?? null) : null,
    };
  });
}

/** Why nothing next to a pair can take it into its kernel, where the graph says so; null: it does not. */
function causeOf(network: QuantisedGraph, head: number, dequantise: readonly number[]): string | null {
  const { graph } = network;
  const tensor = network.input(head, 0);
  const name = `"${graph.tensors[tensor]?.name ?? ''}"`;
  const maker = network.producer(tensor);
  if (isQuantise(network.op(head)) && !network.isConstant(tensor)) {
    if (maker < 0) return `${name} is an input of the graph: there is no kernel before it that could write INT8.`;
    const floats = graph.tensors[tensor]!.consumers.filter((node) => !isQuantise(network.op(node)));
    if (floats.length > 0)
      return `${network.words(floats[0]!)} reads ${name} in floating point, so the kernel before it writes that.`;
  }
  const given = new Set(graph.graphOutputs);
  const output = dequantise.flatMap((node) => graph.outputs[node]!).find((one) => given.has(one));
  if (output === undefined) return null;
  return `"${graph.tensors[output]!.name}" is an output of the graph: there is no kernel behind it that could read INT8.`;
}

class Fates {
  readonly #network: QuantisedGraph;
  readonly #report: FusionReport;
  readonly #byId: Map<string, FusionReport['nodes'][number]>;
  readonly #ops: Map<string, string>;

  constructor(network: QuantisedGraph, report: FusionReport) {
    this.#network = network;
    this.#report = report;
    this.#byId = new Map(report.nodes.map((node) => [node.id, node]));
    this.#ops = new Map(report.nodes.map(({ id, op }) => [id, op]));
  }

  of(node: number): { fate: PairFate; why: string } {
    const { graph } = this.#network;
    const found = this.#byId.get(graph.nodes[node]!.id);
    const words = this.#network.words(node);
    if (!found) return { fate: 'unknown', why: `${words} is not in the build.` };
    if (found.fate === 'folded' || found.fate === 'removed') return { fate: found.fate, why: found.reason };
    const layers = found.layers.map((id) => this.#report.layers[id]!);
    const opaque = layers.find(({ kind }) => kind === 'foreign');
    if (layers.length === 0 || opaque)
      return {
        fate: 'unknown',
        why: opaque ? `${words} is inside a ForeignNode, whose kernels are not listed.` : found.reason,
      };
    const copy = layers.find(({ kind }) => kind === 'reformat');
    if (copy) return { fate: 'reformat', why: `${words} is the reformat "${copy.name}"${conversion(copy)}.` };
    const others = layers.flatMap(({ nodes }) => nodes).filter((id) => !isIdle(this.#ops.get(id) ?? ''));
    const [layer] = layers as [ReportLayer];
    if (others.length === 0) return { fate: 'kernel', why: `${words} is a kernel of its own, "${layer.name}".` };
    const near = this.#near(node);
    return others.some((id) => near.has(id))
      ? { fate: 'fused', why: `${words} is computed by "${layer.name}".` }
      : { fate: 'moved', why: `${words} is computed by "${layer.name}", with nodes that are not next to it.` };
  }

  /** Ids of the neighbours, seen through other Q/DQ nodes. */
  #near(node: number): Set<string> {
    const { graph } = this.#network;
    const seen = new Set([node]);
    const open = [node];
    const near = new Set<string>();
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const before = graph.inputs[at]!.map((tensor) => this.#network.producer(tensor));
      for (const other of [...before, ...this.#network.readers(at)]) {
        if (other < 0 || seen.has(other)) continue;
        seen.add(other);
        if (isPart(this.#network.op(other))) open.push(other);
        else near.add(graph.nodes[other]!.id);
      }
    }
    return near;
  }
}

/** ` from Float to Int8`; '' if the layer info does not say. */
function conversion({ inputs, outputs }: ReportLayer): string {
  const [from, to] = [inputs[0], outputs[0]].map((tensor) => tensor?.format ?? tensor?.type ?? null);
  return from && to ? `, from ${from} to ${to}` : '';
}

const isIdle = (op: string): boolean => isPart(op) || op === 'Constant' || op === '';
