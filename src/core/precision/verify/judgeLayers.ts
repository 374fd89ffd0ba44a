import { shorten } from '../../text/oneLine.ts';
import { isConstantName, smallestWeight } from '../check/buildFacts.ts';
import type { SeenTensor, BuildFacts, BuiltLayer } from '../check/buildFacts.ts';
import { products } from '../../model/products.ts';
import type { PlannedNode } from '../plan/precisionPlan.ts';
import { isFloating, typeOfEngineTensor } from '../language/precisionType.ts';
import type { PrecisionType } from '../language/precisionType.ts';
import type { Verdict } from './precisionVerdict.ts';
import { isMadeUpKernel, isProductFactor } from '../../model/layerNameParts.ts';

/** What the layers that compute a node show of its type. */
export interface LayerJudgement {
  verdict: Verdict;
  certain: boolean;
  reason: string;
  layer: string | null;
  /** A kernel that hides its inside, with other types around it than the requested one. */
  otherwise?: true;
  /** Recognised by what a product multiplies, which no Cast around it explains. */
  byOperands?: true;
  /** It computes in a type of Q/DQ nodes. */
  quantised?: true;
}

/** Operators of which TensorRT makes one layer that normalises. */
export const normalisations: ReadonlySet<string> = new Set([
  'LayerNormalization',
  'GroupNormalization',
  'InstanceNormalization',
  'RMSNormalization',
]);

/**
 * Judges a node by the data types at the borders of its layers: exact where a layer is its own, or takes its weights,
 * cautious where nodes share a kernel.
 * @param weight shape of the node's weights, where it multiplies by some
 */
export function judgeLayers(
  node: PlannedNode,
  build: BuildFacts,
  weight: readonly number[] | undefined,
): LayerJudgement {
  const own = build.nodes[node.position]?.layers ?? [];
  const layers = own.map((i) => build.layers[i]).filter((layer) => layer !== undefined);
  if (layers.length === 0) {
    const group = build.foreignNodes[build.nodes[node.position]?.foreign ?? -1];
    const reason = group
      ? `It is inside ${shorten(group.name)}, where no kernel names this node, so its type cannot be verified.`
      : 'No layer of this engine names it, so its type cannot be verified.';
    return unseen(reason, null);
  }
  const multiplying = weight === undefined ? [] : layers.filter((layer) => weightsIn(layer, weight) !== null);
  const judged = (multiplying.length > 0 ? multiplying : telling(node, layers)).map((layer) =>
    judgeLayer(node, layer, weight),
  );
  const worst =
    judged.find(({ verdict }) => verdict === 'disobeyed') ??
    judged.find(({ verdict }) => verdict === 'unseen') ??
    judged.find(({ certain }) => !certain);
  return worst ?? judged[0] ?? unseen('No layer of this engine shows its type.', null);
}

/** Copies and casts around a product carry its name, too: where a product has kernels of its own, those count. */
function telling(node: PlannedNode, layers: BuiltLayer[]): BuiltLayer[] {
  const floating = layers.filter((layer) =>
    [...layer.inputs, ...layer.outputs].some((tensor) => floatType(tensor) !== null),
  );
  const candidates = floating.length > 0 ? floating : layers;
  if (!products.has(node.op)) return candidates;
  const own = candidates.filter((layer) => !isMadeUpKernel(layer.name));
  return own.length > 0 ? own : candidates;
}

function judgeLayer(node: PlannedNode, layer: BuiltLayer, weight: readonly number[] | undefined): LayerJudgement {
  const name = shorten(layer.name);
  const want = node.compute;
  if (layer.inputs.length + layer.outputs.length === 0) {
    return unseen(
      'Only the names of its layers are known, so its type cannot be verified. Build with detailed profiling verbosity, and pass the layer info or the complete verbose log.',
      layer.name,
    );
  }
  if (layer.kind === 'foreign')
    return unseen(
      `It is inside ${name}, which this version shows as one layer, so its type cannot be verified.`,
      layer.name,
    );
  if (/^_(?:gemm_mha|gemv_mha|mha)/.test(layer.name)) {
    const border = [...new Set([...floatTypes(large(layer.inputs)), ...floatTypes(layer.outputs)])];
    const types = border.length > 0 ? `, which has ${listed(border)} at its boundary` : '';
    const reason = `It is inside the fused attention kernel ${name}${types}, so its own type cannot be verified.`;
    return border.some((type) => type !== want)
      ? { ...unseen(reason, layer.name), otherwise: true }
      : unseen(reason, layer.name);
  }
  const told = judgeOperands(node, layer, weight);
  if (told) return told;
  const outputs = floatTypes(layer.outputs);
  const inputs = floatTypes(large(layer.inputs));
  const all = [...inputs, ...outputs];
  if (all.length === 0)
    return unseen(
      `The kernel ${name} has no floating-point inputs or outputs, so its type cannot be verified.`,
      layer.name,
    );
  const one = all.every((type) => type === want) ? uniform(node, layer) : integers(node, layer, all);
  if (one) return one;
  if (layer.nodes.length <= 1 && (inputs.length > 0 ? inputs : outputs).every((type) => type !== want)) {
    return byType(node, layer, false, `it reads ${listed(inputs.length > 0 ? inputs : outputs)}`);
  }
  if (layer.nodes.length <= 1 && inputs.length > 0 && inputs.every((type) => type === want)) {
    return byType(node, layer, true, `it reads ${want}`);
  }
  return shared(node, layer, name);
}

/** A kernel that has the type that was requested at all of its boundary. */
function uniform(node: PlannedNode, layer: BuiltLayer): LayerJudgement {
  const want = node.compute;
  const name = shorten(layer.name);
  // Weights that were not found by their shape may hide behind Casts inside.
  const others = products.has(node.op) ? otherConstants(layer, want) : [];
  if (others.length > 0) {
    const reason = `The kernel ${name} reads and writes ${want} but holds constants in ${listed(others)}, so the type of this node cannot be verified.`;
    return { ...unseen(reason, layer.name), otherwise: true };
  }
  const alone = layer.nodes.length <= 1;
  const reason = `${alone ? 'The' : 'Probably: the'} kernel ${name} reads and writes ${want} only.`;
  return { verdict: 'obeyed', certain: alone, reason, layer: layer.name };
}

/** A kernel that only has integers of Q/DQ nodes at its boundary, and does not convert inside. */
function integers(node: PlannedNode, layer: BuiltLayer, border: readonly PrecisionType[]): LayerJudgement | null {
  if (isQuantised(node.compute) || !border.every(isQuantised) || takesCasts(layer.name)) return null;
  return { ...byType(node, layer, false, `it reads and writes ${listed(border)}`), quantised: true };
}

/** What a layer multiplies, where that shows: its weights, or all that a kernel of a library reads. */
function judgeOperands(
  node: PlannedNode,
  layer: BuiltLayer,
  weight: readonly number[] | undefined,
): LayerJudgement | null {
  const want = node.compute;
  const weights = typeOfEngineTensor(layer.weights) ?? (weight === undefined ? null : weightsIn(layer, weight));
  if (weights !== null)
    return {
      ...byType(node, layer, weights === want, `its weights are ${weights}`),
      byOperands: true,
      ...(isQuantised(weights) && { quantised: true }),
    };
  if (!products.has(node.op) || !/^(?:gemm|correlation|deconv)$/.test(layer.type)) return null;
  // Whatever Casts and sums such a kernel is made of, it has none inside.
  const read = floatTypes(large(layer.inputs));
  if (read.length === 0 || read.includes(want)) return null;
  return {
    ...byType(node, layer, false, `it multiplies ${listed(read)}`),
    byOperands: true,
    ...(read.every(isQuantised) && { quantised: true }),
  };
}

/**
 * A kernel of several nodes with several types: only a normalisation's own constants tell, and only where they are in
 * FP32. FP16 constants are the rule in such a kernel, and may be a neighbour's.
 */
function shared(node: PlannedNode, layer: BuiltLayer, name: string): LayerJudgement {
  const constants = constantsOf(layer);
  const wanted = constants.filter((tensor) => floatType(tensor) === node.compute);
  const elsewhere = large(layer.inputs).some(
    (tensor) => floatType(tensor) !== null && floatType(tensor) !== node.compute,
  );
  if (node.compute === 'fp32' && normalisations.has(node.op) && wanted.length >= 2 && elsewhere) {
    const reason = `Probably: the kernel ${name} reads ${wanted.length} constants (its scale and bias) in ${node.compute}, but its other inputs in another type.`;
    return { verdict: 'obeyed', certain: false, reason, layer: layer.name };
  }
  const types = [...floatTypes(large(layer.inputs)), ...floatTypes(layer.outputs)];
  const what = layer.nodes.length > 1 ? `computes ${layer.nodes.length} nodes and ` : '';
  const hidden = unseen(
    `The kernel ${name} ${what}has ${listed(types)} at its boundary, so the type of this node cannot be verified.`,
    layer.name,
  );
  // Where a kernel has taken in Casts, its name has them; without any, all of it may be in the types of its border.
  const built = floatTypes(constants.filter(({ elements }) => elements !== 1));
  const converts = [...types, ...built].includes(node.compute) || takesCasts(layer.name);
  return converts ? hidden : { ...hidden, otherwise: true };
}

/** Whether a kernel of Myelin converts inside, as its name says: the other side of that is what its border shows. */
const takesCasts = (name: string): boolean => /cas/i.test(name);

/** Whether a node may still obey in a strongly typed build: its kernel converts, and only its boundary is known. */
export const mayConvert = ({ verdict, byOperands, layer }: LayerJudgement): boolean =>
  verdict === 'disobeyed' && !byOperands && takesCasts(layer ?? '');

/**
 * The type of a node's weights among a kernel's constants, recognised by their shape; null: they are not there, or not
 * alone.
 */
function weightsIn(layer: BuiltLayer, weight: readonly number[]): PrecisionType | null {
  const size = weight.reduce((product, dim) => product * dim, 1);
  if (size < smallestWeight) return null;
  const constants = constantsOf(layer);
  const same = constants.filter(({ elements, dims }) => elements === size && (!dims || isReshaped(weight, dims)));
  const found = same.length > 0 ? same : constants.filter(({ dims }) => dims !== undefined && isPadded(weight, dims));
  const types = new Set(found.map(floatType));
  return types.size === 1 ? [...types][0]! : null;
}

/** Whether a constant of as many elements may be the weight: its dimensions in another order, or neighbours as one. */
function isReshaped(weight: readonly number[], dims: readonly number[]): boolean {
  const several = (shape: readonly number[]) => shape.filter((dim) => dim !== 1);
  const [own, made] = [several(weight), several(dims)];
  const sorted = (shape: readonly number[]) => shape.toSorted((x, y) => x - y).join();
  return sorted(own) === sorted(made) || joins(own, made) || joins(own.toReversed(), made);
}

/** Whether one shape is the other with neighbouring dimensions multiplied. */
function joins(one: readonly number[], other: readonly number[]): boolean {
  const [long, short] = one.length > other.length ? [one, other] : [other, one];
  const products = new Set(long.map((_, i) => long.slice(0, i + 1).reduce((size, dim) => size * dim, 1)));
  return short.every((_, i) => products.has(short.slice(0, i + 1).reduce((size, dim) => size * dim, 1)));
}

/** Whether a constant has a weight's shape, as it is or transposed, with dimensions padded to what vectors need. */
function isPadded(weight: readonly number[], dims: readonly number[]): boolean {
  const own = withoutLeadingOnes(weight);
  const made = withoutLeadingOnes(dims);
  const fits = (shape: readonly number[]) =>
    shape.length === made.length && shape.every((dim, i) => made[i] === dim || isPaddedTo(dim, made[i]!));
  return fits(own) || fits(own.toReversed());
}

const isPaddedTo = (dim: number, padded: number): boolean =>
  [2, 4, 8, 16, 32].some((step) => padded === Math.ceil(dim / step) * step);

const withoutLeadingOnes = (dims: readonly number[]): readonly number[] => {
  const first = dims.findIndex((dim) => dim !== 1);
  return first < 0 ? [] : dims.slice(first);
};

/** Types of a kernel's constants of some size other than the requested one: weights that were not found by their shape. */
const otherConstants = (layer: BuiltLayer, want: PrecisionType): PrecisionType[] =>
  floatTypes(constantsOf(layer).filter(({ elements }) => elements === null || elements >= smallestWeight)).filter(
    (type) => type !== want,
  );

const isQuantised = (type: PrecisionType): boolean => type === 'int8' || type === 'fp8' || type === 'int4';

/** TensorRT 10 lists them among the inputs. */
const constantsOf = ({ inputs, constants = [] }: BuiltLayer): SeenTensor[] => [
  ...inputs.filter(({ name }) => isConstantName(name)),
  ...constants,
];

function byType(node: PlannedNode, layer: BuiltLayer, obeyed: boolean, fact: string): LayerJudgement {
  const reason = `In the layer ${shorten(layer.name)} ${fact}${obeyed ? '' : `, not ${node.compute}`}.`;
  return { verdict: obeyed ? 'obeyed' : 'disobeyed', certain: true, reason, layer: layer.name };
}

/** Without the scalars alpha and beta that FP16 gemms take in FP32. */
function large(tensors: readonly SeenTensor[]): SeenTensor[] {
  const named = tensors.filter(({ name }) => !isProductFactor(name));
  const several = named.filter(({ elements }) => elements === null || elements > 1);
  return several.length > 0 ? several : named;
}

function floatType(tensor: SeenTensor): PrecisionType | null {
  const type = typeOfEngineTensor(tensor.type);
  return type !== null && (isFloating(type) || type === 'int8' || type === 'int4') ? type : null;
}

function floatTypes(tensors: readonly SeenTensor[]): PrecisionType[] {
  return tensors.map(floatType).filter((type) => type !== null);
}

function listed(types: readonly PrecisionType[]): string {
  return [...new Set(types)].sort().join(' and ');
}

function unseen(reason: string, layer: string | null): LayerJudgement {
  return { verdict: 'unseen', certain: true, reason, layer };
}
