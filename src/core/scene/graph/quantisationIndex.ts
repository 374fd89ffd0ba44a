import type { FloatIsland } from '../../quantisation/floatIslands.ts';
import type { Misplaced } from '../../quantisation/misplaced.ts';
import type { QuantisedPair } from '../../quantisation/pairs.ts';
import type { Quantisation, TensorScale } from '../../quantisation/quantisation.ts';
import type { GraphData } from '../panel/viewData.ts';
import { addTo } from '../../text/addTo.ts';

/** What quantization has to do with one node. */
export interface NodeQuantisation {
  /** It is one of the pair's nodes. */
  pairs: QuantisedPair[];
  misplaced: Misplaced[];
  islands: FloatIsland[];
}

/** Looks up the scales of tensors by name, and pairs and placements by a node's id. */
export class QuantisationIndex {
  readonly #scales = new Map<string, TensorScale[]>();
  readonly #nodes = new Map<string, NodeQuantisation>();

  constructor(graph: GraphData, found: Quantisation | undefined) {
    if (found === undefined) return;
    for (const scale of found.tensors) addTo(this.#scales, scale.tensor, scale);
    const outputs = new Map(graph.nodes.map((node) => [node.id, node.outputs]));
    const byNode = new Map(found.tensors.flatMap((scale) => scale.nodes.map((id) => [id, scale] as const)));
    for (const pair of found.pairs) {
      const ids = pair.quantize === null ? pair.dequantize : [pair.quantize, ...pair.dequantize];
      const scale = byNode.get(ids[0]!);
      for (const id of ids) {
        this.#of(id).pairs.push(pair);
        // The quantised values and what is made of them again have the scale of the tensor that they stand for.
        for (const output of scale === undefined ? [] : (outputs.get(id) ?? [])) this.#scales.set(output, [scale!]);
      }
    }
    for (const one of found.misplaced) for (const id of one.nodes) this.#of(id).misplaced.push(one);
    for (const island of found.islands) for (const id of island.nodes) this.#of(id).islands.push(island);
  }

  /** Several where its Q/DQ nodes differ, or a calibration cache has one, too. */
  scalesOf(tensor: string): readonly TensorScale[] {
    return this.#scales.get(tensor) ?? [];
  }

  /** null: nothing. */
  ofNode(id: string): NodeQuantisation | null {
    return this.#nodes.get(id) ?? null;
  }

  #of(id: string): NodeQuantisation {
    const known = this.#nodes.get(id);
    if (known) return known;
    const made: NodeQuantisation = { pairs: [], misplaced: [], islands: [] };
    this.#nodes.set(id, made);
    return made;
  }
}
