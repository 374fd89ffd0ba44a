import { nodeRoles, type NodeRole } from '../model/nodeRoles.ts';
import type { Add } from './misplaced.ts';
import type { QuantisedGraph } from './quantisedGraph.ts';

/** The values of a node's scales; null: they are not stored in the model. */
export type ScaleValues = (node: number) => readonly number[] | null;

/** Judges the scale and the zero point of one Q or DQ node. */
export class ScaleJudge {
  readonly #network: QuantisedGraph;
  readonly #valuesOf: ScaleValues;
  #roles: readonly NodeRole[] | null = null;

  constructor(network: QuantisedGraph, valuesOf: ScaleValues) {
    this.#network = network;
    this.#valuesOf = valuesOf;
  }

  judge(node: number, add: Add): void {
    const network = this.#network;
    const words = network.words(node);
    const zero = network.constantAt(node, 2);
    const shifted = zero?.ints?.some((value) => value !== 0) ?? false;
    if (zero?.type === 'uint8' || shifted)
      add(
        'asymmetric',
        [node],
        `${words} has ${shifted ? 'a zero point other than 0' : 'the type uint8'}; TensorRT quantizes symmetrically, to int8.`,
        'Quantize again with symmetric int8 (quantize_static: ActivationSymmetric, WeightSymmetric, QInt8).',
      );
    const bad = this.#valuesOf(node)?.find((scale) => !(scale > 0 && Number.isFinite(scale)));
    if (bad !== undefined)
      add(
        'scale-value',
        [node],
        `${words} has a scale of ${bad}, which is not a positive finite number.`,
        'Calibrate again with representative data. A tensor that is always 0 can have any positive scale.',
      );
    if (this.#isRunTime(node))
      add(
        'scale-at-run-time',
        [node],
        `The scale of ${words} is known only when the engine runs; TensorRT needs it for the build.`,
        'Calibrate the model and store the scale as an initializer.',
      );
  }

  #isRunTime(node: number): boolean {
    const { graph } = this.#network;
    const scale = this.#network.input(node, 1);
    if (scale < 0 || this.#network.isConstant(scale)) return false;
    const maker = this.#network.producer(scale);
    if (maker < 0) return true;
    // TensorRT's own operators for FP4 and MXFP8 give the scales of blocks with the values.
    if (graph.nodes[maker]!.op.startsWith('TRT_')) return false;
    this.#roles ??= nodeRoles(graph).roles;
    return this.#roles[maker] !== 'constant';
  }
}
