import { intAttribute, type OnnxNode, textAttribute } from '../../../../formats/onnx/onnxModel.ts';
import type { RepairDraft } from '../../draft.ts';
import type { NewPlace } from '../../place.ts';
import type { Repair } from '../../../repair.ts';

const versions = 'all';
const rejected = 'Operators of ai.onnx.ml, as converters of scikit-learn, XGBoost and LightGBM write them.';
const ml = (op: string): string => `ai.onnx.ml:${op}`;

export const mlLookup: Repair = {
  id: 'ml-lookup',
  title: 'Write Scaler, Binarizer, ArrayFeatureExtractor, LabelEncoder and Imputer in ONNX operators',
  class: 'exact',
  rejected,
  proof:
    'Sub and Mul, Gather, Equal and Where: the operations that ai.onnx.ml defines. Labels that are strings are refused.',
  versions,
  issues: [],
  apply: async (draft) => {
    for (const node of draft.nodes(
      ...['Scaler', 'Binarizer', 'ArrayFeatureExtractor', 'LabelEncoder', 'Imputer'].map(ml),
    )) {
      const at = draft.at(node);
      // oxlint-disable-next-line no-await-in-loop
      const reason = await lookups[node.op]!(draft, node, at);
      if (reason === null) at.done();
      else draft.refuse(node, reason);
    }
  },
};

type Write = (draft: RepairDraft, node: OnnxNode, at: NewPlace) => Promise<string | null>;

const floatInput = (draft: RepairDraft, node: OnnxNode, at: NewPlace): string =>
  draft.subject.type(node, node.inputs[0]!) === 'float' ? node.inputs[0]! : at.cast(node.inputs[0]!, 'float');

const lookups: Record<string, Write> = {
  Scaler: async (draft, node, at) => {
    const [offset, scale] = [await draft.subject.lists(node, 'offset'), await draft.subject.lists(node, 'scale')];
    const list = (values: number[]): string => at.constant('float', [values.length], values);
    const shifted = offset
      ? at.op('Sub', [floatInput(draft, node, at), list(offset.floats)])
      : floatInput(draft, node, at);
    at.op('Mul', [shifted, scale ? list(scale.floats) : at.scalar('float', 1)], { outputs: node.outputs });
    return null;
  },
  Binarizer: async (_, node, at) => {
    const above = at.op('Greater', [node.inputs[0]!, at.scalar('float', intAttribute(node, 'threshold') ?? 0)]);
    at.cast(above, 'float', node.outputs);
    return Promise.resolve(null);
  },
  ArrayFeatureExtractor: async (draft, node, at) => {
    const rank = draft.subject.rank(node, node.inputs[0]!);
    if (rank === null) return 'the rank of its input is not known';
    const index = at.reshape(node.inputs[1]!, [-1]);
    if (rank > 1) at.gather(node.inputs[0]!, index, -1, node.outputs);
    else at.reshape(at.gather(node.inputs[0]!, index, -1), [1, -1], node.outputs);
    return Promise.resolve(null);
  },
  LabelEncoder: async (draft, node, at) => {
    const read = (name: string) => draft.subject.lists(node, name);
    const [keys, floats, ints] = [await read('keys_int64s'), await read('values_floats'), await read('values_int64s')];
    if (!keys || (!floats && !ints)) return 'its keys or values are strings';
    const [type, values, usual] = floats
      ? (['float', floats.floats, intAttribute(node, 'default_float') ?? -0] as const)
      : (['int64', ints!.ints, intAttribute(node, 'default_int64') ?? -1] as const);
    const equal = at.op('Equal', [
      at.unsqueeze(node.inputs[0]!, [-1]),
      at.constant('int64', [keys.ints.length], keys.ints),
    ]);
    const hits = at.cast(equal, 'float');
    const found = at.op('ArgMax', [hits], { attributes: { axis: { int: -1 }, keepdims: { int: 0 } } });
    const value = at.gather(at.constant(type, [values.length], values), found, 0);
    const any = at.cast(at.reduce('ReduceMax', hits, [-1], false), 'bool');
    at.op('Where', [any, value, at.scalar(type, usual)], { outputs: node.outputs });
    return null;
  },
  Imputer: async (draft, node, at) => {
    const values = await draft.subject.lists(node, 'imputed_value_floats');
    if (!values) return 'its values are not floats';
    const replaced = intAttribute(node, 'replaced_value_float') ?? 0;
    const missing = Number.isNaN(replaced)
      ? at.op('IsNaN', [node.inputs[0]!])
      : at.op('Equal', [node.inputs[0]!, at.scalar('float', replaced)]);
    at.op('Where', [missing, at.constant('float', [values.floats.length], values.floats), node.inputs[0]!], {
      outputs: node.outputs,
    });
    return null;
  },
};

export const mlLinear: Repair = {
  id: 'ml-linear',
  title: 'Write LinearRegressor, LinearClassifier, SVMRegressor and Normalizer in ONNX operators',
  class: 'rounding',
  rejected,
  proof: 'MatMul and Add, with sums in another order. Labels that are strings and probits are refused.',
  versions,
  issues: [],
  apply: async (draft) => {
    for (const node of draft.nodes(...['LinearRegressor', 'LinearClassifier', 'SVMRegressor', 'Normalizer'].map(ml))) {
      const at = draft.at(node);
      // oxlint-disable-next-line no-await-in-loop
      const reason = await linear[node.op]!(draft, node, at);
      if (reason === null) at.done();
      else draft.refuse(node, reason);
    }
  },
};

/** The coefficients, stored row by row for each target, as a matrix to multiply from the right. */
async function products(draft: RepairDraft, node: OnnxNode, at: NewPlace, targets: number): Promise<string> {
  const { floats = [] } = (await draft.subject.lists(node, 'coefficients')) ?? {};
  const { floats: intercepts = [] } = (await draft.subject.lists(node, 'intercepts')) ?? {};
  const features = floats.length / targets;
  const matrix = Array.from(
    { length: floats.length },
    (_, index) => floats[(index % targets) * features + Math.floor(index / targets)]!,
  );
  const product = at.op('MatMul', [floatInput(draft, node, at), at.constant('float', [features, targets], matrix)]);
  at.keepName();
  return intercepts.length > 0
    ? at.op('Add', [product, at.constant('float', [intercepts.length], intercepts)])
    : product;
}

const linear: Record<string, Write> = {
  LinearRegressor: async (draft, node, at) => {
    const scores = await products(draft, node, at, intAttribute(node, 'targets') ?? 1);
    return transformed(at, scores, textAttribute(node, 'post_transform'), node.outputs);
  },
  LinearClassifier: async (draft, node, at) => {
    const labels = await draft.subject.lists(node, 'classlabels_ints');
    const intercepts = await draft.subject.lists(node, 'intercepts');
    const classes = labels?.ints.length ?? 0;
    if (classes < 2 || (intercepts && intercepts.floats.length !== classes))
      return 'its labels are strings, or it has one score for two classes';
    const scores = await products(draft, node, at, classes);
    label(at, scores, labels!.ints, node.outputs[0]!);
    return transformed(at, scores, textAttribute(node, 'post_transform'), node.outputs.slice(1));
  },
  SVMRegressor: async (draft, node, at) => {
    const list = async (name: string) => (await draft.subject.lists(node, name))?.floats ?? [];
    const [weights, rho, vectors] = [await list('coefficients'), await list('rho'), await list('support_vectors')];
    const count = intAttribute(node, 'n_supports') ?? 0;
    const kind = textAttribute(node, 'kernel_type') ?? 'LINEAR';
    if (
      intAttribute(node, 'one_class') === 1 ||
      (kind !== 'LINEAR' && kind !== 'RBF') ||
      (kind === 'RBF' && count === 0)
    )
      return 'its kernel is neither linear nor a radial one, or it has one class';
    const input = floatInput(draft, node, at);
    const features =
      count === 0 ? input : kernel(at, input, { count, vectors, gamma: (await list('kernel_params'))[0] ?? 0, kind });
    const product = at.op('MatMul', [features, at.constant('float', [weights.length, 1], weights)]);
    at.keepName();
    const scores = at.op('Add', [product, at.scalar('float', rho[0] ?? 0)]);
    return transformed(at, scores, textAttribute(node, 'post_transform'), node.outputs);
  },
  Normalizer: async (_, node, at) => {
    const norm = textAttribute(node, 'norm') ?? 'MAX';
    const reduce = { L1: 'ReduceL1', L2: 'ReduceL2' }[norm];
    if (reduce === undefined) return 'it divides by the maximum';
    const size = at.reduce(reduce, node.inputs[0]!, [1], true);
    const divisor = at.op('Where', [at.op('Equal', [size, at.scalar('float', 0)]), at.scalar('float', 1), size]);
    at.op('Div', [node.inputs[0]!, divisor], { outputs: node.outputs });
    return Promise.resolve(null);
  },
};

/** How near each row is to each support vector. */
function kernel(
  at: NewPlace,
  input: string,
  { count, vectors, gamma, kind }: { count: number; vectors: number[]; gamma: number; kind: string },
): string {
  const size = vectors.length / count;
  if (kind === 'LINEAR') {
    const turned = Array.from(
      { length: vectors.length },
      (_, i) => vectors[(i % count) * size + Math.floor(i / count)]!,
    );
    return at.op('MatMul', [input, at.constant('float', [size, count], turned)]);
  }
  const apart = at.op('Sub', [at.unsqueeze(input, [1]), at.constant('float', [count, size], vectors)]);
  const distance = at.reduce('ReduceSum', at.op('Mul', [apart, apart]), [2], false);
  return at.op('Exp', [at.op('Mul', [distance, at.scalar('float', -gamma)])]);
}

function label(at: NewPlace, scores: string, labels: number[], output: string): void {
  const best = at.op('ArgMax', [scores], { attributes: { axis: { int: 1 }, keepdims: { int: 0 } } });
  at.gather(at.constant('int64', [labels.length], labels), best, 0, [output]);
}

function transformed(at: NewPlace, scores: string, how: string | undefined, outputs: readonly string[]): string | null {
  switch (how ?? 'NONE') {
    case 'NONE':
      at.op('Identity', [scores], { outputs });
      return null;
    case 'LOGISTIC':
      at.op('Sigmoid', [scores], { outputs });
      return null;
    case 'SOFTMAX':
      at.op('Softmax', [scores], { outputs, attributes: { axis: { int: 1 } } });
      return null;
    default:
      return `its post_transform ${how} is not known`;
  }
}

export const mlTrees: Repair = {
  id: 'ml-trees',
  title: 'Write tree ensembles as matrix products',
  class: 'rounding',
  rejected,
  proof:
    'Every split is evaluated; a leaf counts where all splits on its path agree, which is exact; the values of the leaves are added in another order. Splits other than ≤, string labels and averages are refused.',
  versions,
  issues: [],
  apply: async (draft) => {
    for (const node of draft.nodes(...['TreeEnsembleClassifier', 'TreeEnsembleRegressor'].map(ml))) {
      const at = draft.at(node);
      // oxlint-disable-next-line no-await-in-loop
      const reason = await trees(draft, node, at);
      if (reason === null) at.done();
      else draft.refuse(node, reason);
    }
  },
};

/** Matrices of more elements are not a gain over trees. */
const largestMatrix = 2 ** 25;

/** The splits of all trees, with the leaves that each path ends at. */
interface Paths {
  /** Positions of the splits in the node's lists. */
  splits: number[];
  /** Positions of leaves by `tree:node`. */
  leafAt: Map<string, number>;
  leaves: number;
  /** [split, leaf]: 1 where the path takes the upper branch, −1 where it takes the lower one. */
  paths: Float64Array;
  /** How many upper branches each path takes. */
  agreed: Float64Array;
}

async function readPaths(draft: RepairDraft, node: OnnxNode): Promise<Paths | string> {
  const ints = async (name: string) => (await draft.subject.lists(node, name))?.ints ?? [];
  const [trees, ids] = [await ints('nodes_treeids'), await ints('nodes_nodeids')];
  const [yes, no] = [await ints('nodes_truenodeids'), await ints('nodes_falsenodeids')];
  const modes = (await draft.subject.lists(node, 'nodes_modes'))?.strings ?? [];
  if (modes.some((mode) => mode !== 'LEAF' && mode !== 'BRANCH_LEQ')) return 'it has splits other than ≤';
  const keyOf = (index: number, id = ids[index]): string => `${trees[index]}:${id}`;
  const splits = modes.flatMap((mode, index) => (mode === 'LEAF' ? [] : [index]));
  const leaves = modes.flatMap((mode, index) => (mode === 'LEAF' ? [index] : []));
  if (splits.length * leaves.length > largestMatrix) return 'its matrices would be too large';
  const parent = new Map<string, { position: number; key: string; sign: 1 | -1 }>();
  for (const [position, split] of splits.entries()) {
    parent.set(keyOf(split, yes[split]), { position, key: keyOf(split), sign: 1 });
    parent.set(keyOf(split, no[split]), { position, key: keyOf(split), sign: -1 });
  }
  const paths = new Float64Array(splits.length * leaves.length);
  const agreed = new Float64Array(leaves.length);
  for (const [position, leaf] of leaves.entries()) {
    let steps = 0;
    for (let up = parent.get(keyOf(leaf)); up; up = parent.get(up.key)) {
      if (++steps > splits.length) return 'its trees have cycles';
      paths[up.position * leaves.length + position] = up.sign;
      if (up.sign === 1) agreed[position]! += 1;
    }
  }
  const leafAt = new Map(leaves.map((index, position) => [keyOf(index), position]));
  return { splits, leafAt, leaves: leaves.length, paths, agreed };
}

/** [leaf, output]: what each leaf adds. */
async function readLeaves(draft: RepairDraft, node: OnnxNode, { leafAt, leaves }: Paths, outputs: number) {
  const kind = node.op.endsWith('Classifier') ? 'class' : 'target';
  const read = async (name: string) => await draft.subject.lists(node, `${kind}_${name}`);
  const [trees, nodes, ids] = [await read('treeids'), await read('nodeids'), await read('ids')];
  const weights = (await read('weights'))?.floats ?? [];
  const table = new Float64Array(leaves * outputs);
  for (const [index, weight] of weights.entries()) {
    const leaf = leafAt.get(`${trees?.ints[index]}:${nodes?.ints[index]}`);
    if (leaf !== undefined) table[leaf * outputs + ids!.ints[index]!]! += weight;
  }
  return { table, weights, ids: ids?.ints ?? [] };
}

async function trees(draft: RepairDraft, node: OnnxNode, at: NewPlace): Promise<string | null> {
  const isClassifier = node.op.endsWith('Classifier');
  const labels = isClassifier ? ((await draft.subject.lists(node, 'classlabels_int64s'))?.ints ?? []) : [];
  if ((textAttribute(node, 'aggregate_function') ?? 'SUM') !== 'SUM') return 'it does not add its trees';
  if (isClassifier && labels.length === 0) return 'its labels are strings';
  const found = await readPaths(draft, node);
  if (typeof found === 'string') return found;
  if (found.splits.length === 0) return 'its trees have no splits';
  const { splits, leaves } = found;
  const outputs = isClassifier ? labels.length : (intAttribute(node, 'n_targets') ?? 1);
  const { table, weights, ids } = await readLeaves(draft, node, found, outputs);
  const features = (await draft.subject.lists(node, 'nodes_featureids'))!.ints;
  const thresholds = (await draft.subject.lists(node, 'nodes_values'))!.floats;
  const read = at.gather(floatInput(draft, node, at), at.ints(...splits.map((index) => features[index]!)), 1);
  const bounds = splits.map((index) => thresholds[index]!);
  const below = at.op('LessOrEqual', [read, at.constant('float', [splits.length], bounds)]);
  // The sum over a path reaches the count of its upper branches only if every split agrees.
  const sums = at.op('MatMul', [at.cast(below, 'float'), at.constant('float', [splits.length, leaves], found.paths)]);
  at.keepName();
  const reached = at.cast(at.op('Equal', [sums, at.constant('float', [leaves], found.agreed)]), 'float');
  let scores = at.op('MatMul', [reached, at.constant('float', [leaves, outputs], table)]);
  const base = (await draft.subject.lists(node, 'base_values'))?.floats ?? [];
  if (base.length > 0) scores = at.op('Add', [scores, at.constant('float', [base.length], base)]);
  const post = textAttribute(node, 'post_transform');
  return scored(at, scores, { labels, ids, weights, base, post });
}

/** What the node makes of the sums of its leaves. */
function scored(
  at: NewPlace,
  scores: string,
  {
    labels,
    ids,
    ...rest
  }: { labels: number[]; ids: number[]; weights: number[]; base: number[]; post: string | undefined },
): string | null {
  const { node } = at;
  const { post } = rest;
  if (labels.length === 0) return transformed(at, scores, post, node.outputs);
  if (labels.length === 2 && new Set(ids).size === 1) return binary(at, scores, { positive: ids[0]!, labels, ...rest });
  label(at, scores, labels, node.outputs[0]!);
  return transformed(at, scores, post, node.outputs.slice(1));
}

/** Two classes with one score: above a half, or above 0 before a logistic function, it is the second one. */
function binary(
  at: NewPlace,
  scores: string,
  {
    positive,
    weights,
    base,
    post,
    labels,
  }: { positive: number; weights: number[]; base: number[]; post: string | undefined; labels: number[] },
): string | null {
  const logistic = post === 'LOGISTIC';
  const allPositive = weights.every((weight) => weight >= 0);
  if (logistic ? allPositive : !allPositive || (post ?? 'NONE') !== 'NONE' || base.length > 0)
    return 'its scores of two classes are of an unusual form';
  const score = at.gather(scores, at.ints(positive), 1);
  const above = at.op('Greater', [score, at.scalar('float', logistic ? 0 : 0.5)]);
  const share = logistic ? at.op('Sigmoid', [score]) : score;
  at.concat([at.op('Sub', [at.scalar('float', 1), share]), share], 1, at.node.outputs.slice(1));
  const which = at.reshape(at.cast(above, 'int64'), [-1]);
  at.gather(at.constant('int64', [labels.length], labels), which, 0, at.node.outputs.slice(0, 1));
  return null;
}

export const mlZipmap: Repair = {
  id: 'ml-zipmap',
  title: 'Give the probabilities as a matrix instead of a list of dictionaries',
  class: 'signature',
  rejected: 'ZipMap, whose output is no tensor.',
  proof: 'The matrix that ZipMap reads, column by column in the order of its labels.',
  versions,
  issues: [],
  apply: async (draft) => {
    for (const node of draft.nodes(ml('ZipMap'))) {
      const [output = ''] = node.outputs;
      if (!draft.subject.model.graph.outputs.some(({ name }) => name === output)) continue;
      // oxlint-disable-next-line no-await-in-loop
      const [ints, strings] = [
        await draft.subject.lists(node, 'classlabels_int64s'),
        await draft.subject.lists(node, 'classlabels_strings'),
      ];
      const classes = ints?.ints.length || strings?.strings.length || null;
      const at = draft.at(node);
      at.op('Identity', [node.inputs[0]!], { outputs: node.outputs });
      at.done();
      draft.reshape('outputs', { name: output, newType: 'float', shape: [null, classes] });
    }
  },
};
