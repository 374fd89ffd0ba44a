import { nodeRoles, type NodeRole } from '../model/nodeRoles.ts';
import type { Add } from './misplaced.ts';
import { isDequantise, isQuantise, type QuantisedGraph } from './quantisedGraph.ts';

/** The values of a node's scales; null: they are not stored in the model. */
export type ScaleValues = (node: number) => readonly number[] | null;

/** Whether two nodes have the same scales, alone or by channel. One of them may have them in half precision. */
export function sameScales(first: readonly number[], second: readonly number[]): boolean {
  const at = (scales: readonly number[], index: number): number => scales[scales.length === 1 ? 0 : index] ?? NaN;
  const count = Math.max(first.length, second.length);
  return Array.from({ length: count }, (_, index) => [at(first, index), at(second, index)] as const).every(
    ([own, other]) => Object.is(own, other) || Math.abs(own - other) <= Math.abs(own) / 256,
  );
}

/** Types that TensorRT's ONNX parser takes. */
const supported: ReadonlySet<string> = new Set(['int8', 'int4', 'float8e4m3fn', 'float4e2m1']);

const defaulted = 'has no zero point, so ONNX quantizes to uint8 and TensorRT to int8';
const rejected = (what: string): string => `${what}, which TensorRT's ONNX parser rejects`;

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
    const shifted = network.zeroPoints(node)?.some((point) => point !== 0) ?? false;
    const stored = isDequantise(network.op(node)) && network.isConstant(network.input(node, 0));
    const type = network.quantisedType(node);
    const byDefault = isQuantise(network.op(node)) && network.typeByDefault(node);
    if (shifted || type === 'uint8' || byDefault)
      add(
        'asymmetric',
        [node],
        `${words} ${shifted ? rejected('has a zero point other than 0') : byDefault ? defaulted : stored ? rejected('dequantizes stored uint8 values') : 'quantizes to uint8; TensorRT takes int8 in its place, which ends at 127'}.`,
        byDefault
          ? 'Add a zero point: 0, in int8.'
          : 'Quantize again with symmetric int8 (quantize_static: ActivationSymmetric, WeightSymmetric, QInt8).',
      );
    else if (!supported.has(type) && !(type === 'int32' && network.isBias(node)))
      add(
        'unsupported-type',
        [node],
        `${words} ${isQuantise(network.op(node)) ? 'quantizes to' : 'dequantizes'} ${type}, which TensorRT does not support: it has INT8, INT4, FP8 (float8e4m3fn) and FP4 (float4e2m1).`,
        'Quantize again, to int8.',
      );
    const bad = this.#valuesOf(node)?.find((scale) => !(scale > 0 && Number.isFinite(scale)));
    if (bad !== undefined)
      add(
        'scale-value',
        [node],
        `${words} has a scale of ${Number(bad.toPrecision(4))}, which is not a positive finite number.`,
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
