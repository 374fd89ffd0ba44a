import type { AccuracyReport, JudgedNode, QuantizedInput, RemedyTensor } from '../../../kernel/simulation/simulated.ts';
import { isQuantized, type ReducedPrecisionModel, scaleInputs } from '../chunkPlan.ts';
import type { OnnxModel, OnnxNode, OnnxTensor } from '../../../kernel/read/onnx/onnxModel.ts';
import type { Network } from '../../../kernel/network/network.ts';
import type { ReadScale } from '../../../kernel/quantization/calibration.ts';
import { standardOpset } from '../../../kernel/network/modelGraph.ts';
import { limitsOf, misplaced } from '../../../kernel/quantization/quantization.ts';
import type { ByteSource } from '../../../kernel/base/problem.ts';
import { observe, type ObservationRequest } from '../../../kernel/node/simulation/observeValues.ts';
import { openQuantized, readScales, readScaleValues } from '../../../kernel/node/store/readScales.ts';
import type { RemedyTrial } from './constantRemedy.ts';

/** What a node reads through a Q/DQ pair, and a better scale for it, if there is one. */
export interface QuantizedRead {
  input: QuantizedInput;
  /** Id of the node. */
  node: string;
  better: RemedyTensor | null;
}

interface Subject {
  model: OnnxModel;
  network: Network;
  low: ReducedPrecisionModel;
  source: ByteSource;
}

/** A pair of a guilty node that is in another place than TensorRT wants it. */
type Placement = NonNullable<AccuracyReport['placements']>[number];

/** A pair that a node reads through. */
interface Pair {
  node: OnnxNode;
  tensor: string;
  quantize: OnnxNode;
  dequantize: OnnxNode;
  /** Of weights that the model has in floating point; undefined: data. */
  weights: OnnxTensor | undefined;
}

/** Weights whose channels have ranges at least so many times apart get a scale for each. */
const APART = 2;
/** A range that is so many times as large as the values is too coarse. */
const COARSE = 1.5;

/**
 * What Q/DQ nodes make of what some nodes read: scale, zero point, values beyond the range, channels of weights; and which
 * of the pairs are misplaced.
 */
export async function readQuantizedInputs(
  { model, network, low, source }: Subject,
  ids: ReadonlySet<string>,
  request: ObservationRequest,
  read: (tensor: OnnxTensor) => Promise<Float64Array | null>,
): Promise<{ reads: QuantizedRead[]; placements: Placement[] }> {
  const pairs = pairsOf(model, low, ids);
  const graph = await openQuantized(network, request.model, source);
  const scaleValues = await readScaleValues(graph, request.model, source);
  const scales = readScales(graph, scaleValues, null);
  const scaleOf = (pair: Pair) => scales.find(({ scale }) => scale.nodes.includes(pair.quantize.id));
  const wanted = [...new Set(pairs.filter(({ weights }) => !weights).flatMap((pair) => scaleOf(pair) ?? []))];
  const { observed } = wanted.length === 0 ? { observed: [] } : await observe(model, source, wanted, request);
  const users = scaleUsers(model);
  const found: QuantizedRead[] = [];
  for (const pair of pairs) {
    const own = scaleOf(pair);
    if (!own) continue;
    const { scale, zeroPoint } = own;
    const seen = pair.weights ? null : (observed[wanted.indexOf(own)] ?? null);
    // oxlint-disable-next-line no-await-in-loop -- one file, one tensor after the other
    const values = pair.weights ? await read(pair.weights) : null;
    const channels = values && pair.weights ? channelRanges(values, pair.weights.shape, channelAxis(pair)) : null;
    const ranges = channels?.filter((range) => range > 0) ?? [];
    const input: QuantizedInput = {
      tensor: pair.tensor,
      scale: scale.scale,
      scales: scale.count,
      type: scale.type,
      zeroPoint,
      largest: channels ? Math.max(...channels) : (seen?.largest ?? null),
      clipped: seen?.clippedShare ?? null,
      spread: ranges.length > 1 ? Math.max(...ranges) / Math.min(...ranges) : null,
    };
    const isShared = (users.get(pair.quantize.inputs[1]!) ?? 0) > 2;
    // Scales of channels came with opset 13.
    const better = isShared ? null : betterScale(pair, own, input, channels, standardOpset(model) >= 13);
    found.push({ input, node: pair.node.id, better });
  }
  const concerned = new Set([...ids, ...pairs.flatMap(({ quantize, dequantize }) => [quantize.id, dequantize.id])]);
  const placements = misplaced(graph, (node) => scaleValues.get(node) ?? null)
    .filter(({ nodes }) => nodes.some((id) => concerned.has(id)))
    .map(({ message, fix }) => ({ message, fix }));
  return { reads: found, placements };
}

/** The nodes with what each reads. */
export const withReads = (nodes: readonly JudgedNode[], reads: readonly QuantizedRead[]): JudgedNode[] =>
  nodes.map((node) => {
    const own = reads.filter((read) => read.node === node.id);
    if (own.length === 0) return node;
    return { ...node, quantized: own.map(({ input }) => input) };
  });

/** All better scales together, then those of data and those of channels alone. */
export function scaleTrials({ model, network }: Subject, reads: readonly QuantizedRead[]): RemedyTrial[] {
  const byTensor = new Map(reads.flatMap(({ better }) => (better ? [[better.tensor, better] as const] : [])));
  const all = [...byTensor.values()];
  const byId = new Map(model.graph.nodes.map((node) => [node.id, node]));
  const zeroType = (id: string) => {
    const zero = byId.get(id)?.inputs[2];
    return zero === undefined || zero === '' ? null : network.typeOf('', zero);
  };
  const [data, channels] = (['scale', 'channels'] as const).map((kind) => all.filter((one) => one.kind === kind));
  const groups = [all, ...(data!.length > 0 && channels!.length > 0 ? [channels!, data!] : [])];
  return groups
    .filter((tensors) => tensors.length > 0)
    .map((tensors) => ({ tensors, replaced: tensors.flatMap((one) => scaleInputs(one, zeroType)) }));
}

function pairsOf(model: OnnxModel, { low }: ReducedPrecisionModel, ids: ReadonlySet<string>): Pair[] {
  const makers = new Map(model.graph.nodes.flatMap((node) => node.outputs.map((name) => [name, node] as const)));
  const stored = new Map(model.graph.initializers.map((tensor) => [tensor.name, tensor]));
  return low.flatMap((one) => {
    if (!isQuantized(one) || !ids.has(one.node.id)) return [];
    return [...one.sources].flatMap(([at, tensor]): Pair[] => {
      const dequantize = makers.get(one.node.inputs[at]!);
      const quantize = dequantize && makers.get(dequantize.inputs[0]!);
      if (!quantize) return [];
      return [{ node: one.node, tensor, quantize, dequantize, weights: stored.get(tensor) }];
    });
  });
}

/** How many nodes read each scale. */
function scaleUsers(model: OnnxModel): Map<string, number> {
  const users = new Map<string, number>();
  for (const { op, inputs } of model.nodes)
    if (op === 'QuantizeLinear' || op === 'DequantizeLinear') users.set(inputs[1]!, (users.get(inputs[1]!) ?? 0) + 1);
  return users;
}

function betterScale(
  { quantize, dequantize, weights, node }: Pair,
  { scale, zeroPoint }: ReadScale,
  { tensor, largest, clipped }: QuantizedInput,
  channels: readonly number[] | null,
  allowsChannels: boolean,
): RemedyTensor | null {
  const limit = limitsOf(scale.type);
  if (scale.scale === null || scale.count !== 1 || !limit || zeroPoint === null || !largest) return null;
  const steps = limit[1] - zeroPoint;
  if (steps <= 0) return null;
  const at = [quantize, dequantize].map(({ id }) => ({ node: id, index: 1 }));
  const own = { tensor, from: scale.scale, elements: 1, at };
  if (channels && weights) {
    const least = Math.min(...channels.filter((range) => range > 0));
    if (zeroPoint !== 0 || !allowsChannels || !(largest / least >= APART)) return null;
    // A channel of zeros gets any scale.
    const scales = channels.map((range) => (range > 0 ? range : largest) / steps);
    const axis = channelAxis({ node, weights });
    return { ...own, kind: 'channels', to: largest / steps, elements: scales.length, scales, axis };
  }
  const isCoarse = scale.scale * steps > COARSE * largest;
  return (clipped ?? 0) > 0 || isCoarse ? { ...own, kind: 'scale', to: largest / steps } : null;
}

/** The axis of a product's output channels in its weights. */
function channelAxis({ node, weights }: Pick<Pair, 'node' | 'weights'>): number {
  if (node.op === 'Conv') return 0;
  if (node.op === 'ConvTranspose') return 1;
  const transposed = node.op === 'Gemm' && node.attributes.some(({ name, value }) => name === 'transB' && value === 1);
  return transposed ? 0 : Math.max(0, (weights?.shape.length ?? 1) - 1);
}

/** The largest magnitude of each channel. */
function channelRanges(values: Float64Array, shape: readonly number[], axis: number): number[] {
  const count = shape[axis] ?? 1;
  const inner = shape.slice(axis + 1).reduce((size, dim) => size * dim, 1);
  const ranges = Array.from({ length: count }, () => 0);
  for (const [i, value] of values.entries()) {
    const channel = Math.floor(i / inner) % count;
    ranges[channel] = Math.max(ranges[channel]!, Math.abs(value));
  }
  return ranges;
}
