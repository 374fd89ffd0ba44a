// Pairs and their fates, as text and as a page.
import { counted, firstOf, oneLine, sizeText, thousands, timeText } from '../base/text.ts';
import type { DataType } from '../read/onnx/onnxModel.ts';
import type { FusionReport, ReportLayer } from '../fusion/fusionReport.ts';
import type { Misplaced } from './internal/misplaced.ts';
import {
  type FloatIsland,
  isDequantize,
  isPart,
  isQuantize,
  type QuantizedGraph,
  typeWord,
} from '../fusion/quantizedGraph.ts';

export { type Misplaced, misplaced } from './internal/misplaced.ts';
export {
  type FloatIsland,
  floatIslands,
  isDequantize,
  isPart,
  isQuantize,
  QuantizedGraph,
} from '../fusion/quantizedGraph.ts';

/**
 * What became of a Q or DQ node in a build:
 * - `fused`: computed with a neighbor; `moved`: with nodes that are not its neighbors
 * - `kernel`: alone, or with other Q/DQ nodes only; `reformat`: a copy into another type or layout
 * - `folded`, `removed`: nothing runs for it; `unknown`: the build does not say, or there is none
 */
export type PairFate = 'fused' | 'moved' | 'kernel' | 'reformat' | 'folded' | 'removed' | 'unknown';

/** A QuantizeLinear with the DequantizeLinear nodes that read it, or one that reads stored integers. */
export interface QuantizedPair {
  /** Name of the tensor that is quantized. */
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
const worstFirst: PairFate[] = ['reformat', 'kernel', 'moved', 'unknown', 'fused', 'removed', 'folded'];

/** All pairs of the model, in its order. @param report on a build; null: none */
export function quantizedPairs(
  network: QuantizedGraph,
  wrong: readonly Misplaced[],
  report: FusionReport | null,
): QuantizedPair[] {
  const { graph } = network;
  const fates = report ? new Fates(network, report) : null;
  const heads = [...graph.nodes.keys()].filter((node) => {
    const op = network.op(node);
    const maker = network.producer(network.input(node, 0));
    return isQuantize(op) || (isDequantize(op) && !(maker >= 0 && isQuantize(network.op(maker))));
  });
  /** The place in the list of the first problem of each node. */
  const firstWith = new Map<string, number>();
  wrong.forEach(({ nodes }, at) => {
    for (const id of nodes) if (!firstWith.has(id)) firstWith.set(id, at);
  });
  return heads.map((head) => {
    const quantize = isQuantize(network.op(head)) ? head : -1;
    const dequantize = quantize < 0 ? [head] : network.readers(head).filter((node) => isDequantize(network.op(node)));
    const all = quantize < 0 ? dequantize : [quantize, ...dequantize];
    const ids = all.map((node) => graph.nodes[node]!.id);
    const known = all.map((node) => fates?.of(node) ?? { fate: 'unknown' as const, why: 'There is no build.' });
    const worst = known.toSorted((a, b) => worstFirst.indexOf(a.fate) - worstFirst.indexOf(b.fate))[0]!;
    const problem = wrong[Math.min(...ids.map((id) => firstWith.get(id) ?? wrong.length))];
    const cause = worst.fate === 'kernel' || worst.fate === 'reformat' ? causeOf(network, head, dequantize) : null;
    const bad = worst.fate === 'kernel' || worst.fate === 'reformat' || worst.fate === 'unknown';
    const tensor = network.input(head, 0);
    return {
      tensor: graph.tensors[tensor]?.name ?? '',
      constant: network.isConstant(tensor),
      quantize: quantize < 0 ? null : graph.nodes[quantize]!.id,
      dequantize: dequantize.map((node) => graph.nodes[node]!.id),
      fate: worst.fate,
      why: [worst.why, problem && bad ? problem.message : cause].filter((part) => part).join(' '),
      fix: bad ? (problem?.fix ?? null) : null,
    };
  });
}

/** Why nothing next to a pair can take it into its kernel, where the graph says so; null: it does not. */
function causeOf(network: QuantizedGraph, head: number, dequantize: readonly number[]): string | null {
  const { graph } = network;
  const tensor = network.input(head, 0);
  const name = `"${graph.tensors[tensor]?.name ?? ''}"`;
  const maker = network.producer(tensor);
  const type = typeWord(network.quantizedType(head));
  if (isQuantize(network.op(head)) && !network.isConstant(tensor)) {
    if (maker < 0) return `${name} is an input of the graph: there is no kernel before it that could write ${type}.`;
    const floats = graph.tensors[tensor]!.consumers.filter((node) => !isQuantize(network.op(node)));
    if (floats.length > 0)
      return `${network.words(floats[0]!)} reads ${name} in floating point, so the kernel before it writes that.`;
  }
  const given = new Set(graph.graphOutputs);
  const output = dequantize.flatMap((node) => graph.outputs[node]!).find((one) => given.has(one));
  if (output === undefined) return null;
  return `"${graph.tensors[output]!.name}" is an output of the graph: there is no kernel behind it that could read ${type}.`;
}

class Fates {
  readonly #network: QuantizedGraph;
  readonly #report: FusionReport;
  readonly #byId: Map<string, FusionReport['nodes'][number]>;
  readonly #ops: Map<string, string>;

  constructor(network: QuantizedGraph, report: FusionReport) {
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

  /** Ids of the neighbors, seen through other Q/DQ nodes. */
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

/** What is known about the quantization of a model: `trtlens quantize --json`, and what views show. */
export interface Quantization {
  tensors: TensorScale[];
  /** How many samples `observed` is from; absent: nothing was measured. */
  samples?: number;
  pairs: QuantizedPair[];
  misplaced: Misplaced[];
  islands: FloatIsland[];
  /** What in the calibration cache has no effect, in sentences; absent: nothing. */
  notes?: string[];
}

/** How a tensor is quantized. */
export interface TensorScale {
  tensor: string;
  /** The only one, or the largest of several; null: its value cannot be read. */
  scale: number | null;
  /** How many there are; more than one: per channel. null: not known. */
  count: number | null;
  /** The model's Q/DQ nodes, or a calibration cache. */
  source: 'model' | 'cache';
  /** Ids of the QuantizeLinear nodes that have it, or of DequantizeLinear nodes that read stored integers; none of a cache. */
  nodes: string[];
  /** Of the quantized values: `int8`. */
  type: DataType;
  /** The values that the type covers with that scale; null: not known. */
  range: [low: number, high: number] | null;
  /** What given data hold; absent: not measured. */
  observed?: ObservedValues;
}

/** The values of a tensor in all samples, against its scales. */
export interface ObservedValues {
  values: number;
  /** How many of them are rounded to the end of the range because they are beyond it, and their share, 0…1. */
  clipped: number;
  clippedShare: number | null;
  /** The largest magnitude; null: not finite, or there are no values. */
  largest: number | null;
}

/** Smallest and largest quantized value of the types that TensorRT or ONNX Runtime quantize activations and weights to. */
const limits: Readonly<Record<string, [number, number]>> = {
  int8: [-128, 127],
  uint8: [0, 255],
  int4: [-8, 7],
  uint4: [0, 15],
  int16: [-32_768, 32_767],
  uint16: [0, 65_535],
  float8e4m3fn: [-448, 448],
  float8e5m2: [-57_344, 57_344],
  float4e2m1: [-6, 6],
};

/** Smallest and largest quantized value of a type; undefined: what is stored in it is not clipped, or not known. */
export const limitsOf = (type: DataType): readonly [number, number] | undefined => limits[type];

/** The distance of a type's largest value from the one before it: what is at most half of it beyond is not clipped. */
export const lastStep = (type: DataType): number => ({ float8e4m3fn: 32, float8e5m2: 8192, float4e2m1: 2 })[type] ?? 1;

/** The values that a type covers; null: not known, or the scale is not a positive finite number. @param zeroPoint quantized value that stands for 0 */
export function rangeOf(scale: number | null, type: DataType, zeroPoint: number): [number, number] | null {
  const limit = limitsOf(type);
  return scale === null || limit === undefined || !(scale > 0 && Number.isFinite(scale))
    ? null
    : [(limit[0] - zeroPoint) * scale, (limit[1] - zeroPoint) * scale];
}

/** `0.0475`, `largest of 64: 0.0475`. */
export function scaleText({ scale, count }: TensorScale): string {
  const value = scale === null ? 'value not known' : numberText(scale);
  return count !== null && count > 1 ? `largest of ${thousands(count)}: ${value}` : value;
}

/** `-6.08 to 6.03 as int8`; '' if it is not known. */
export const rangeText = ({ range, type }: TensorScale): string =>
  range === null ? '' : `${numberText(range[0])} to ${numberText(range[1])} as ${type}`;

export const sourceText = ({ source }: TensorScale): string =>
  source === 'cache' ? 'calibration cache' : 'Q/DQ nodes';

/** With four significant digits. */
const numberText = (value: number): string => String(Number(value.toPrecision(4)));

const HEADER = /^TRT-\d+-\w+$/;
const LINE = /^(.+): ([0-9a-fA-F]{8})$/;

/** A calibration cache of TensorRT 10 and earlier: INT8 scales by tensor. */
export interface CalibrationCache {
  /** First line, such as `TRT-8601-EntropyCalibration2`; null: none. */
  header: string | null;
  /** Scale by tensor name: the dynamic range is 127 times that. */
  scales: Map<string, number>;
  /** Tensors whose scale is zero, negative or not finite. */
  unusable: string[];
  /** Numbers of the lines behind the first that are not a tensor with its scale. */
  unread: number[];
}

/**
 * What in a cache has no effect, in sentences.
 * @param isTensor whether the model has a tensor of a name; absent: it is not looked at
 */
export function cacheNotes(
  { scales, unusable, unread }: CalibrationCache,
  isTensor?: (name: string) => boolean,
): string[] {
  // TensorRT makes tensors of its own, which no model has.
  const others = isTensor ? [...scales.keys()].filter((name) => !isTensor(name) && !name.startsWith('(Unnamed')) : [];
  const names = others.map((name) => `"${oneLine(name)}"`);
  return [
    ...(others.length === 0
      ? []
      : [
          `The model has no tensor for ${counted(others.length, 'scale')} of the calibration cache: ${firstOf(names, 3)}. If these are no names that TensorRT made, the cache is of another export of the model: calibrate again.`,
        ]),
    ...unusable.map((tensor) => `The calibration cache has no positive finite scale for "${oneLine(tensor)}".`),
    ...(unread.length === 0
      ? []
      : [
          `${unread.length === 1 ? `Line ${unread[0]!} of the calibration cache is` : `${thousands(unread.length)} lines of the calibration cache, the first of them ${unread[0]!}, are`} not a tensor with its scale. Write the cache again if it was cut off.`,
        ]),
  ];
}

/** Reads the text of a calibration cache: `tensor: 3ebfcfb9`, a float in big-endian hexadecimal digits. null: it is none. */
export function readCalibrationCache(text: string): CalibrationCache | null {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const header = HEADER.test(lines[0] ?? '') ? lines[0]! : null;
  const cache: CalibrationCache = { header, scales: new Map(), unusable: [], unread: [] };
  const bits = new DataView(new ArrayBuffer(4));
  for (const [index, line] of lines.entries()) {
    const found = index === 0 && header !== null ? null : LINE.exec(line);
    if (!found) {
      if (index > 0 && line.trim() !== '') cache.unread.push(index + 1);
      continue;
    }
    bits.setUint32(0, Number.parseInt(found[2]!, 16));
    const scale = bits.getFloat32(0);
    if (scale > 0 && Number.isFinite(scale)) cache.scales.set(found[1]!, scale);
    else cache.unusable.push(found[1]!);
  }
  cache.unusable = cache.unusable.filter((tensor) => !cache.scales.has(tensor));
  return header === null && cache.scales.size === 0 ? null : cache;
}

/** What became of a pair, as it is read in a sentence: `Pair of "x": fused`. */
export const pairFates: Readonly<Record<PairFate, string>> = {
  fused: 'fused into a kernel next to it',
  moved: 'fused into a kernel further away',
  kernel: 'a kernel of its own',
  reformat: 'a reformat',
  folded: 'folded',
  removed: 'removed',
  unknown: 'unknown',
};

/** `64 fused, 2 kernels of their own`, of the pairs of activations; '' if there are none. */
export function pairCounts(pairs: readonly QuantizedPair[]): string {
  const fates = new Map<PairFate, number>();
  for (const { fate, constant } of pairs) if (!constant) fates.set(fate, (fates.get(fate) ?? 0) + 1);
  return [...fates].map(([fate, count]) => countText(fate, count)).join(', ');
}

function countText(fate: PairFate, count: number): string {
  if (fate === 'kernel') return count === 1 ? '1 kernel of its own' : `${count} kernels of their own`;
  return fate === 'reformat' ? counted(count, fate) : `${count} ${fate}`;
}

/** `2 nodes in floating point between quantized nodes: 2.00 KiB go in and out, 12.4 µs`. */
export function islandText({ nodes, bytes, ms }: FloatIsland): string {
  const cost = [bytes === null ? '' : `${sizeText(bytes)} go in and out`, ms === null ? '' : timeText(ms)];
  const known = cost.filter((part) => part !== '').join(', ');
  return `${counted(nodes.length, 'node')} in floating point between quantized nodes${known === '' ? '' : `: ${known}`}`;
}
