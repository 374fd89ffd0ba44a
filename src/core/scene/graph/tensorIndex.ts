import type { EngineTensor } from '../../engine/engineLayer.ts';
import type { FusionReport, ReportTensor } from '../../fusion/fusionReport.ts';
import { layerOf } from '../../report/layers.ts';
import type { GraphTensor } from '../panel/viewData.ts';
import { tensorKey } from './graphIndex.ts';
import type { GraphIndex } from './graphIndex.ts';

/** A tensor of the graph. Names may repeat between a graph and its subgraphs, so the point that produces it belongs to it. */
export interface TensorOrigin {
  producer: number;
  name: string;
}

/** What is known about a tensor. */
export interface TensorFacts {
  type: GraphTensor['type'];
  shape: ReportTensor['shape'];
  /** Memory layout, where the graph itself is that of an engine. */
  format?: string;
  /** Ids of the engine layers that write it. */
  writers: number[];
  /** The tensor as the engine has it; null where no layer shows it: it stays inside a layer, or the inputs do not say. */
  engine: EngineTensor | null;
}

/** Looks tensors up by their origin: in the report, otherwise in the model. */
export class TensorIndex {
  readonly #graph: GraphIndex;
  readonly #report: FusionReport | null;
  #known: Map<string, ReportTensor> | null = null;

  constructor(graph: GraphIndex, report: FusionReport | null) {
    this.#graph = graph;
    this.#report = report;
  }

  facts(origin: TensorOrigin): TensorFacts {
    const said = this.#find(origin);
    const declared = this.#graphTensor(origin);
    const writers = said?.layers ?? [];
    return {
      type: said?.type ?? declared?.type ?? null,
      shape: said?.shape ?? declared?.shape ?? null,
      ...(declared?.format !== undefined && { format: declared.format }),
      writers,
      engine: this.#engineTensor(origin.name, writers),
    };
  }

  /** Points that read a tensor, graph outputs included, each once. */
  consumers({ producer, name }: TensorOrigin): number[] {
    const { outStart, outEdges, tensorNames, tensor, to } = this.#graph;
    const found = new Set<number>();
    for (let i = outStart[producer]!; i < outStart[producer + 1]!; i++) {
      const edge = outEdges[i]!;
      if (tensorNames[tensor[edge]!] === name) found.add(to[edge]!);
    }
    return [...found];
  }

  /** The tensor that an edge of the graph carries. */
  ofEdge(edge: number): TensorOrigin {
    const { from, tensor, tensorNames } = this.#graph;
    return { producer: from[edge]!, name: tensorNames[tensor[edge]!]! };
  }

  #graphTensor({ producer, name }: TensorOrigin): GraphTensor | undefined {
    const { tensors, data } = this.#graph;
    const node = data.nodes[producer];
    return (node && tensors.get(tensorKey(node.id, name))) ?? tensors.get(name);
  }

  #find({ producer, name }: TensorOrigin): ReportTensor | undefined {
    const known = (this.#known ??= this.#byOrigin());
    const node = this.#graph.data.nodes[producer];
    return known.get(`${node?.id ?? ''}\n${name}`);
  }

  #byOrigin(): Map<string, ReportTensor> {
    const known = new Map<string, ReportTensor>();
    for (const tensor of this.#report?.tensors ?? []) {
      const key = `${tensor.producer ?? ''}\n${tensor.name}`;
      // The main graph's inputs come before those of subgraphs that have the same name.
      if (!known.has(key)) known.set(key, tensor);
    }
    return known;
  }

  #engineTensor(name: string, writers: readonly number[]): EngineTensor | null {
    for (const id of writers) {
      const outputs = this.#report === null ? [] : (layerOf(this.#report, id)?.outputs ?? []);
      const found = outputs.find((output) => output.name === name);
      if (found !== undefined) return found;
    }
    return null;
  }
}
