// Checks a build against its rules.
import { addTo } from '../base/addTo.ts';
import { counted, shorten, thousands } from '../base/text.ts';
import { before, parseVersion } from '../build/trtexecFlags.ts';
import { isFloatType } from '../read/onnx/onnxModel.ts';
import { isMadeUpKernel, isProductFactor } from '../network/layerName.ts';
import { products } from '../network/modelGraph.ts';
import { fateWords } from '../report/words.ts';
import {
  type BuildFacts,
  type BuiltLayer,
  isConstantName,
  type NodeFacts,
  type SeenTensor,
  smallestWeight,
} from './buildFacts.ts';
import { judgeOutputs } from './internal/judgeOutputs.ts';
import { isFloating, type PrecisionType, precisionType, precisionTypes, typeOfEngineTensor } from './overrideFile.ts';
import { readOverrides } from './readOverrides.ts';
import {
  type NodeVerdict,
  type PlannedNode,
  planPrecision,
  type PrecisionPlan,
  type RuleVerdict,
  type Verdict,
  verdictWords,
} from './precisionPlan.ts';
import { type NodeIndex, resolveOverrides } from './resolveOverrides.ts';

/** A node and the type in question. */
type JudgedNode = Pick<PlannedNode, 'position' | 'op' | 'compute'>;

/** What the layers that compute a node show of its type. */
export interface LayerJudgment {
  verdict: Verdict;
  certain: boolean;
  reason: string;
  layer: string | null;
  /** A kernel that hides its inside, with other types around it than the requested one. */
  otherwise?: true;
  /** Recognized by what a product multiplies, which no Cast around it explains. */
  byOperands?: true;
  /** It computes in a type of Q/DQ nodes. */
  quantized?: true;
  /** A kernel that casts what it reads before it computes the node. */
  castsBefore?: true;
}

/** Operators of which TensorRT makes one layer that normalizes. */
export const normalizations: ReadonlySet<string> = new Set([
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
export function judgeLayers(node: JudgedNode, build: BuildFacts, weight: readonly number[] | undefined): LayerJudgment {
  const own = build.nodes[node.position]?.layers ?? [];
  const layers = own.map((i) => build.layers[i]).filter((layer) => layer !== undefined);
  if (layers.length === 0) {
    const group = build.foreignNodes[build.nodes[node.position]?.foreign ?? -1];
    const reason = group
      ? `It is inside ${shorten(group.name)}, where no kernel names this node, so its type cannot be verified.`
      : 'No layer of this engine names it, so its type cannot be verified.';
    return unseen(reason, null);
  }
  // A kernel without data dequantizes or casts the weights for the one that multiplies.
  const computing = layers.filter(readsData);
  const judging = computing.length > 0 ? computing : layers;
  const multiplying = weight === undefined ? [] : judging.filter((layer) => weightsIn(layer, weight) !== null);
  const judged = (multiplying.length > 0 ? multiplying : telling(node, judging)).map((layer) =>
    judgeLayer(node, layer, weight),
  );
  const worst =
    judged.find(({ verdict }) => verdict === 'disobeyed') ??
    judged.find(({ verdict }) => verdict === 'unseen') ??
    judged.find(({ certain }) => !certain);
  return worst ?? judged[0] ?? unseen('No layer of this engine shows its type.', null);
}

/** Copies and casts around a product carry its name, too: where a product has kernels of its own, those count. */
function telling(node: JudgedNode, layers: BuiltLayer[]): BuiltLayer[] {
  const floating = layers.filter((layer) =>
    [...layer.inputs, ...layer.outputs].some((tensor) => floatType(tensor) !== null),
  );
  const candidates = floating.length > 0 ? floating : layers;
  if (!products.has(node.op)) return candidates;
  const own = candidates.filter((layer) => !isMadeUpKernel(layer.name));
  return own.length > 0 ? own : candidates;
}

function judgeLayer(node: JudgedNode, layer: BuiltLayer, weight: readonly number[] | undefined): LayerJudgment {
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
    // The products have the types of the border; a Softmax between them has one of its own, in every model.
    return node.op === 'Softmax' || border.some((type) => type !== want)
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
  const border = inputs.length > 0 ? inputs : outputs;
  const readsHalf = border.every((type) => type === 'fp16' || type === 'bf16');
  if (want === 'fp32' && readsHalf && castsBefore(node, layer)) {
    const reason = `Probably: the kernel ${name} reads and writes ${listed(all)}, but its name says that it casts to ${want} before it computes this node.`;
    return { verdict: 'obeyed', certain: false, reason, layer: layer.name, castsBefore: true };
  }
  if (layer.nodes.length <= 1 && border.every((type) => type !== want)) return readsOther(node, layer, border);
  if (layer.nodes.length <= 1 && inputs.length > 0 && inputs.every((type) => type === want)) {
    return byType(node, layer, true, `it reads ${want}`);
  }
  return shared(node, layer, name);
}

/** A kernel of this node alone that reads other types than the requested one, and may cast what it reads. */
function readsOther(node: JudgedNode, layer: BuiltLayer, border: readonly PrecisionType[]): LayerJudgment {
  if (!isMadeUpKernel(layer.name) || !takesCasts(layer.name))
    return byType(node, layer, false, `it reads ${listed(border)}`);
  const reason = `The kernel ${shorten(layer.name)} reads ${listed(border)}, not ${node.compute}, but its name says that it casts, so the type of this node cannot be verified.`;
  return { ...unseen(reason, layer.name), otherwise: true };
}

/** A kernel that has the type that was requested at all of its boundary. */
function uniform(node: JudgedNode, layer: BuiltLayer): LayerJudgment {
  const want = node.compute;
  const name = shorten(layer.name);
  // Weights that were not found by their shape may hide behind Casts inside.
  const others = products.has(node.op) ? otherConstants(layer, want) : [];
  if (others.length > 0) {
    const reason = `The kernel ${name} reads and writes ${want} but holds constants in ${listed(others)}, so the type of this node cannot be verified.`;
    return { ...unseen(reason, layer.name), otherwise: true };
  }
  if (want !== 'fp32' && castsBefore(node, layer)) {
    const reason = `The kernel ${name} reads and writes ${want} only, but its name says that it casts before it computes this node, so the type of this node cannot be verified.`;
    return { ...unseen(reason, layer.name), otherwise: true };
  }
  const alone = layer.nodes.length <= 1 && !(isMadeUpKernel(layer.name) && takesCasts(layer.name));
  const reason = `${alone ? 'The' : 'Probably: the'} kernel ${name} reads and writes ${want} only.`;
  return { verdict: 'obeyed', certain: alone, reason, layer: layer.name };
}

/** A kernel that only has integers of Q/DQ nodes at its boundary, and does not convert inside. */
function integers(node: JudgedNode, layer: BuiltLayer, border: readonly PrecisionType[]): LayerJudgment | null {
  if (isQuantized(node.compute) || !border.every(isQuantized) || takesCasts(layer.name)) return null;
  return { ...byType(node, layer, false, `it reads and writes ${listed(border)}`), quantized: true };
}

/** What a layer multiplies, where that shows: its weights, or all that a kernel of a library reads. */
function judgeOperands(
  node: JudgedNode,
  layer: BuiltLayer,
  weight: readonly number[] | undefined,
): LayerJudgment | null {
  const want = node.compute;
  const weights = typeOfEngineTensor(layer.weights) ?? (weight === undefined ? null : weightsIn(layer, weight));
  if (weights !== null)
    return {
      ...byType(node, layer, weights === want, `its weights are ${weights}`),
      byOperands: true,
      ...(isQuantized(weights) && { quantized: true }),
    };
  if (!products.has(node.op) || !/^(?:gemm|correlation|deconv)$/.test(layer.type)) return null;
  // Whatever Casts and sums such a kernel is made of, it has none inside.
  const read = floatTypes(large(layer.inputs));
  if (read.length === 0 || read.includes(want)) return null;
  return {
    ...byType(node, layer, false, `it multiplies ${listed(read)}`),
    byOperands: true,
    ...(read.every(isQuantized) && { quantized: true }),
  };
}

/**
 * A kernel of several nodes with several types: only a normalization's own constants tell, and only where they are in
 * FP32. FP16 constants are the rule in such a kernel, and may be a neighbor's.
 */
function shared(node: JudgedNode, layer: BuiltLayer, name: string): LayerJudgment {
  const constants = constantsOf(layer);
  const wanted = constants.filter((tensor) => floatType(tensor) === node.compute);
  const elsewhere = large(layer.inputs).some(
    (tensor) => floatType(tensor) !== null && floatType(tensor) !== node.compute,
  );
  if (node.compute === 'fp32' && normalizations.has(node.op) && wanted.length >= 2 && elsewhere) {
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

/** Whether a kernel of Myelin normalizes what it has cast, as its name says: `AddCasMeaSub…`, `CastMulMean…`. */
const castsBefore = ({ op }: JudgedNode, { name }: BuiltLayer): boolean =>
  normalizations.has(op) && isMadeUpKernel(name) && /Cast?(?:Mul)?Mea/.test(name);

/**
 * The type of a node's weights among a kernel's constants, recognized by their shape; null: they are not there, or not
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

/** Whether a constant of as many elements may be the weight: its dimensions in another order, or neighbors as one. */
function isReshaped(weight: readonly number[], dims: readonly number[]): boolean {
  const several = (shape: readonly number[]) => shape.filter((dim) => dim !== 1);
  const [own, made] = [several(weight), several(dims)];
  const sorted = (shape: readonly number[]) => shape.toSorted((x, y) => x - y).join();
  return sorted(own) === sorted(made) || joins(own, made) || joins(own.toReversed(), made);
}

/** Whether one shape is the other with neighboring dimensions multiplied. */
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

const isQuantized = (type: PrecisionType): boolean => type === 'int8' || type === 'fp8' || type === 'int4';

/** Something that is no constant; a layer of which only the name is known may read anything. */
const readsData = ({ inputs, outputs }: BuiltLayer): boolean =>
  inputs.length + outputs.length === 0 || inputs.some(({ name }) => !isConstantName(name));

/** TensorRT 10 lists them among the inputs. */
const constantsOf = ({ inputs, constants = [] }: BuiltLayer): SeenTensor[] => [
  ...inputs.filter(({ name }) => isConstantName(name)),
  ...constants,
];

function byType(node: JudgedNode, layer: BuiltLayer, obeyed: boolean, fact: string): LayerJudgment {
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

function unseen(reason: string, layer: string | null): LayerJudgment {
  return { verdict: 'unseen', certain: true, reason, layer };
}

/**
 * Compares a plan with the build that was made with it, rule by rule in the order of the file. `index` is the model that
 * was built: in a strongly typed build its own types tell where no kernel does.
 */
export function verifyPrecision(plan: PrecisionPlan, build: BuildFacts, index: NodeIndex | null = null): RuleVerdict[] {
  const byLine = new Map<number, NodeVerdict[]>();
  const log = readLines(build);
  // Without a layer nothing says that it was this model that was built.
  const typed = isStronglyTyped(build) && build.layers.length > 0 ? index : null;
  const wasAsked = builtRequests(build, index, isStronglyTyped(build), declaredType);
  for (const node of plan.nodes) {
    const facts = typed?.nodes[node.position] ?? null;
    const seen = judgeLayers(node, build, index?.nodes[node.position]?.weight);
    const judged = judgeNode(node, build, log, facts, seen);
    const known = !build.unfinished && !build.otherModel;
    const verdict =
      known && !wasAsked(node)
        ? notBuilt(node, judged, seen)
        : judgeOutputs(judged, build, isStronglyTyped(build), facts);
    const place = verdict.verdict === 'obeyed' ? '' : placeOf(node, index);
    addTo(byLine, node.line, { ...verdict, reason: verdict.reason + place });
  }
  for (const { line } of plan.skipped) if (!byLine.has(line)) byLine.set(line, []);
  return [...byLine].sort(([a], [b]) => a - b).map(([line, nodes]) => ruleVerdict(line, nodes));
}

/** Where a node is that is not in the main graph: `1/then_branch/0` is in a branch of node 1. */
function placeOf({ id }: PlannedNode, index: NodeIndex | null): string {
  const path = id.split('/');
  if (path.length < 3) return '';
  const owner = path.slice(0, -2).join('/');
  const name = index?.facts.nodes.find((node) => node.id === owner)?.name || owner;
  return ` The node is in ${path.at(-2)!} of ${JSON.stringify(shorten(name))}.`;
}

/** What the engine happens to do, if no one asked for it. */
function notBuilt(node: PlannedNode, judged: NodeVerdict, { verdict, reason, layer }: LayerJudgment): NodeVerdict {
  const happens =
    verdict === 'disobeyed'
      ? `; ${decapitalized(reason)}`
      : judged.verdict === 'obeyed' && judged.certain
        ? `; this node happens to run in ${node.compute}.`
        : '.';
  return { ...judged, verdict: 'unbuilt', certain: true, reason: `Not built with these rules yet${happens}`, layer };
}

function ruleVerdict(line: number, nodes: NodeVerdict[]): RuleVerdict {
  const counts: Record<Verdict, number> = { obeyed: 0, disobeyed: 0, unseen: 0, unbuilt: 0 };
  for (const { verdict } of nodes) counts[verdict]++;
  const verdict =
    KINDS.find((kind) => kind !== 'obeyed' && counts[kind] > 0) ?? (nodes.length === 0 ? 'unseen' : 'obeyed');
  const certain = nodes.every((node) => node.verdict !== verdict || node.certain);
  return { line, verdict, certain, counts, message: ruleMessage(verdict, counts, nodes), nodes };
}

/** The verdict of one node that applies to its rule, the most important first. */
const KINDS = ['disobeyed', 'unbuilt', 'unseen', 'obeyed'] as const;

function ruleMessage(verdict: Verdict, counts: Record<Verdict, number>, nodes: NodeVerdict[]): string {
  const total = nodes.length;
  if (total === 0) return 'None of the nodes of this rule accepts a precision.';
  const found = nodes.filter((node) => node.verdict === verdict);
  const telling = found.find(({ certain }) => !certain) ?? found[0];
  if (total === 1) return telling?.reason ?? '';
  const sure = verdict === 'obeyed' && nodes.some(({ certain }) => !certain) ? 'probably ' : '';
  const words = { ...verdictWords, obeyed: `${sure}obeyed` };
  const kinds = (['obeyed', 'disobeyed', 'unseen', 'unbuilt'] as const).filter((kind) => counts[kind] > 0);
  const parts = kinds.map((kind) => `${thousands(counts[kind])} ${words[kind]}`);
  const head =
    kinds.length > 1
      ? `Of ${counted(total, 'node')}: ${parts.join(', ')}`
      : `All ${counted(total, 'node')}: ${words[verdict]}`;
  return `${head}. ${telling ? `For example, "${telling.node.name}": ${telling.reason}` : ''}`;
}

/** What log and flags say about precisions, ready for look-ups. */
interface LogLines {
  /** Layer → type and line of `Set layer …`. */
  set: Map<string, { type: string | null; line: number }>;
  skipped: Map<string, { reason: string; line: number }>;
  nonConforming: Map<string, number>;
  /** Line of the warning that all were ignored. */
  ignored: number | null;
  /** The one type that the build could use; null: it had a choice, or it is not known. */
  only: PrecisionType | null;
  /** Nodes (positions) whose name no layer of the network has. */
  unregistered: Set<number>;
  /** The version writes `Set layer …` for each name that it found, and layer precisions were given. */
  tells: boolean;
}

function readLines(build: BuildFacts): LogLines {
  const result: LogLines = {
    set: new Map(),
    skipped: new Map(),
    nonConforming: new Map(),
    ignored: null,
    only: onlyType(build),
    unregistered: new Set(isStronglyTyped(build) ? [] : build.unregistered),
    tells: false,
  };
  for (const { kind, layer, type, reason, line } of build.lines ?? []) {
    if (kind === 'set') result.set.set(layer, { type, line });
    else if (kind === 'skipped') result.skipped.set(layer, { reason: reason ?? '', line });
    else if (kind === 'non-conforming') result.nonConforming.set(layer, line);
    else if (kind === 'ignored') result.ignored = line;
  }
  const asked = build.flags !== null && build.flags.constraints !== 'none' && !build.flags.stronglyTyped;
  result.tells = namesRequests(build) && asked && result.set.size > 0;
  return result;
}

function judgeNode(
  node: PlannedNode,
  build: BuildFacts,
  log: LogLines,
  typed: NodeFacts | null,
  seen: LayerJudgment,
): NodeVerdict {
  return shownType(node, build, log.only, typed, seen) ?? judgeByLog(node, log, seen, giver(node));
}

/** Makes the verdicts of a node. */
const giver =
  (node: PlannedNode): Give =>
  (verdict, reason, more = {}) => ({ node, verdict, certain: true, reason, layer: null, logLine: null, ...more });

/** What the engine, its flags and its model show of the type that a node is computed in; null: nothing of it. */
function shownType(
  node: PlannedNode,
  build: BuildFacts,
  only: PrecisionType | null,
  typed: NodeFacts | null,
  seen: LayerJudgment,
): NodeVerdict | null {
  const give = giver(node);
  if (build.unfinished) return give('unseen', 'This build wrote no engine: it failed, or its log is incomplete.');
  if (build.otherModel) return give('unseen', 'This build is of another model.');
  const built = build.nodes[node.position];
  if (built && (built.fate === 'folded' || built.fate === 'removed' || built.fate === 'shape')) {
    return give('unseen', `It ${fateWords[built.fate].predicate}, so there is nothing to verify.`);
  }
  if (only !== null && only !== node.compute) return give('disobeyed', `The build allowed ${only} only.`);
  const declared = build.declared ? (build.declared[node.position] ?? null) : typed && declaredType(typed);
  const model = build.declared ? 'copy of the model that was built' : 'model';
  if (declared) return judgeTyped(node.compute, declared, model, seen, give);
  if (seen.verdict !== 'unseen') return give(seen.verdict, seen.reason, { certain: seen.certain, layer: seen.layer });
  return only === node.compute && build.layers.length > 0 ? give('obeyed', `The build allowed ${only} only.`) : null;
}

/**
 * Whether nodes are computed in the types of a plan, requested or not: what `verifyPrecision` says where
 * no request is compared.
 */
export function computedTypes(nodes: readonly PlannedNode[], build: BuildFacts, index: NodeIndex): NodeVerdict[] {
  const typed = isStronglyTyped(build) && build.layers.length > 0 ? index : null;
  const only = onlyType(build);
  return nodes.map((node) => {
    const seen = judgeLayers(node, build, index.nodes[node.position]?.weight);
    return (
      shownType(node, build, only, typed?.nodes[node.position] ?? null, seen) ??
      giver(node)('unseen', seen.reason, { layer: seen.layer })
    );
  });
}

/** The type that a build's layers show for sure that a node is computed in; null: they do not. */
export function computeType(node: Omit<JudgedNode, 'compute'>, build: BuildFacts): PrecisionType | null {
  const types = precisionTypes.filter((type) => {
    const { verdict, certain } = judgeLayers({ ...node, compute: type }, build, undefined);
    return verdict === 'obeyed' && certain;
  });
  return types.length === 1 ? types[0]! : null;
}

type Give = (verdict: Verdict, reason: string, more?: Partial<NodeVerdict>) => NodeVerdict;

/** A node of a strongly typed build, whose type the model declares. A kernel that took in the Casts around it shows their other side. */
function judgeTyped(
  asked: PrecisionType,
  declared: PrecisionType,
  model: string,
  seen: LayerJudgment,
  give: Give,
): NodeVerdict {
  const { layer, verdict } = seen;
  const said = `he build was strongly typed, and in the ${model} this node ${declared === 'int8' ? 'is between Q/DQ nodes' : `outputs ${declared}`}`;
  if (verdict === 'disobeyed' && seen.byOperands && declared === asked) {
    const advice = seen.quantized
      ? 'The Q/DQ nodes around it make TensorRT compute it in integers.'
      : `TensorRT removed the Casts around it. Keep a neighboring node in ${asked}, too.`;
    return give(verdict, `${seen.reason} ${advice}`, { certain: seen.certain, layer });
  }
  if (verdict === 'disobeyed' || (verdict === 'obeyed' && declared === asked))
    return give(verdict, seen.reason, { certain: seen.certain, layer });
  if (seen.castsBefore) return give(verdict, seen.reason, { certain: seen.certain, layer });
  if (declared !== asked) return give('disobeyed', `T${said}.`, { layer });
  if (seen.otherwise) return give('unseen', `T${said}, but ${decapitalized(seen.reason)}`, { layer });
  return give('obeyed', `Probably: t${said}.`, { certain: false, layer });
}

/** What the log says of a node whose type no layer shows. */
function judgeByLog(node: PlannedNode, log: LogLines, seen: LayerJudgment, give: Give): NodeVerdict {
  if (node.later && log.ignored === null)
    return give('unseen', `${seen.reason} The log line with this name refers to an earlier node of the same name.`);
  const refused = log.nonConforming.get(node.name);
  if (refused !== undefined)
    return give('disobeyed', 'TensorRT chose an implementation that does not conform, according to the log.', {
      logLine: refused,
    });
  if (log.ignored !== null) {
    return give(
      'disobeyed',
      'TensorRT got no request: it ignored all layer precisions because --precisionConstraints was none.',
      { logLine: log.ignored },
    );
  }
  const skipped = log.skipped.get(node.name);
  if (skipped) return give('disobeyed', `trtexec skipped it: ${skipped.reason}`, { logLine: skipped.line });
  if (log.unregistered.has(node.position)) {
    const reason =
      'TensorRT got no request: the log shows that no layer of its network has the name of this node, so no layer precision applies to it.';
    // It computes in FP32 by default, NVIDIA says, and nothing shows whether it did.
    const ownWay = node.compute === 'fp32' && normalizations.has(node.op);
    return give(ownWay ? 'unseen' : 'disobeyed', reason);
  }
  const set = log.set.get(node.name);
  const type = set?.type == null ? null : precisionType(set.type);
  if (set && type !== null && type !== node.compute)
    return give('disobeyed', `The build requested ${type} (log line ${set.line}), not ${node.compute}.`, {
      logLine: set.line,
    });
  if (set)
    return give('unseen', `TensorRT accepted the request (log line ${set.line}), but ${decapitalized(seen.reason)}`, {
      layer: seen.layer,
      logLine: set.line,
    });
  if (log.tells)
    return give(
      'disobeyed',
      'The build did not request it: the log has "Set layer … to precision" for other nodes but not for this one.',
    );
  return give('unseen', seen.reason, { layer: seen.layer });
}

/** The one type that a weakly typed build could use; null if there was a choice or it is not known. */
function onlyType(build: BuildFacts): 'fp32' | null {
  const { flags } = build;
  if (isStronglyTyped(build) || build.layers.some(hasHalf)) return null;
  return flags !== null && !flags.stronglyTyped && flags.types.length === 1 && flags.types[0] === 'fp32'
    ? 'fp32'
    : null;
}

/** Layers in a half type are of no build that allowed FP32 only: flags and layers come from two builds. */
const hasHalf = ({ inputs, outputs }: BuiltLayer): boolean =>
  [...inputs, ...outputs].some(({ type }) => /^(?:fp|bf)16$/.test(typeOfEngineTensor(type) ?? ''));

/** TensorRT 11 and TensorRT-RTX know no other builds. */
function isStronglyTyped(build: BuildFacts): boolean {
  const version = parseVersion(build.version);
  if (build.product === 'tensorrt-rtx' || (version !== null && !before(version, [11, 0, 0]))) return true;
  return build.flags?.stronglyTyped ?? false;
}

/** The one floating-point type of a node's outputs; null for none or several. */
function declaredType(node: NodeFacts): PrecisionType | null {
  const types = new Set(node.types.filter((type) => type !== null && isFloatType(type)));
  const only = [...types][0];
  return types.size === 1 && only ? precisionType(only) : null;
}

function decapitalized(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}

/** The one floating-point type that a model declares for a node's outputs; null for none or several. */
export type DeclaredType = (node: NodeFacts) => PrecisionType | null;

/** By build: an editor asks again at each keystroke. */
const recordedPlans = new WeakMap<BuildFacts, { index: NodeIndex; plan: PrecisionPlan }>();

/** What the rules that are recorded with a build request of its nodes; null: there are none. */
export function recordedPlan(build: BuildFacts, index: NodeIndex): PrecisionPlan | null {
  if (typeof build.rules !== 'string') return null;
  const known = recordedPlans.get(build);
  if (known?.index === index) return known.plan;
  const file = readOverrides(build.rules);
  const plan = planPrecision(file, index, resolveOverrides(file, index, build));
  recordedPlans.set(build, { index, plan });
  return plan;
}

/**
 * Whether a build was made with a node's request: by the rules that are recorded with it, by layer precisions in its
 * command, or by the types of a strongly typed model that has several. Where nothing says how the build was made, the
 * caller is believed.
 * @param stronglyTyped types came from the model alone
 */
export function builtRequests(
  build: BuildFacts,
  index: NodeIndex | null,
  stronglyTyped: boolean,
  declaredType: DeclaredType,
): (node: PlannedNode) => boolean {
  const made = index && recordedPlan(build, index);
  if (made) {
    const requests = new Map(made.nodes.map((node) => [node.position, textOf(node)]));
    return (node) => requests.get(node.position) === textOf(node);
  }
  if (build.flags?.layers) return loggedRequests(build);
  if (stronglyTyped) {
    if (!index) return () => true;
    const types = index.nodes.map((node) => declaredType(node));
    const several = new Set(types.filter((type) => type !== null)).size > 1;
    return ({ position, compute }) => several && types[position] === compute;
  }
  const told = build.lines?.some(({ kind }) => kind === 'set' || kind === 'skipped') ?? false;
  const without = build.rules === null || build.flags !== null;
  return () => told || !without;
}

/** TensorRT 9 and 10 write `Set layer X to precision …` for each name that they know. */
export function namesRequests({ version: text }: BuildFacts): boolean {
  const version = parseVersion(text);
  return version !== null && !before(version, [9, 0, 0]) && before(version, [11, 0, 0]);
}

/** By what the log says of single layers, where this version says so; otherwise the caller is believed. */
function loggedRequests(build: BuildFacts): (node: PlannedNode) => boolean {
  const lines = build.lines?.filter(({ kind }) => kind === 'set' || kind === 'skipped') ?? [];
  if (!namesRequests(build) || lines.length === 0) return () => true;
  const requests = new Map(lines.map(({ layer, type }) => [layer, type === null ? null : precisionType(type)]));
  // Of a later node of the same name the log says nothing.
  return ({ name, compute, later }) =>
    later === true || (requests.has(name) && [compute, null].includes(requests.get(name)!));
}

const textOf = ({ compute, outputs }: PlannedNode): string => `${compute} ${outputs?.join() ?? ''}`;
