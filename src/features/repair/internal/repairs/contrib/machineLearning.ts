import { intAttribute, type OnnxNode, textAttribute } from '../../../../../kernel/read/onnx/onnxModel.ts';
import type { RepairDraft } from '../../draft.ts';
import type { NewPlace } from '../../place.ts';
import type { Repair } from '../../repair.ts';

const versions = 'all';
export const rejected = 'Operators of ai.onnx.ml, as converters of scikit-learn, XGBoost and LightGBM write them.';
export const ml = (op: string): string => `ai.onnx.ml:${op}`;

export const mlLookup: Repair = {
  id: 'ml-lookup',
  title: 'Write Scaler, Binarizer, encoders, Imputer and feature operators in ONNX operators',
  class: 'exact',
  rejected,
  proof:
    'Sub and Mul, Gather, Equal, Concat and Where: the operations that ai.onnx.ml defines of Scaler, Binarizer, ArrayFeatureExtractor, LabelEncoder, OneHotEncoder, FeatureVectorizer and Imputer. Labels that are strings are refused.',
  versions,
  issues: [],
  apply: async (draft) => {
    for (const node of draft.nodes(...Object.keys(lookups).map(ml))) {
      const at = draft.at(node);
      // oxlint-disable-next-line no-await-in-loop
      const reason = await lookups[node.op]!(draft, node, at);
      if (reason === null) at.done();
      else draft.refuse(node, reason);
    }
  },
};

type Write = (draft: RepairDraft, node: OnnxNode, at: NewPlace) => Promise<string | null>;

export const floatInput = (draft: RepairDraft, node: OnnxNode, at: NewPlace): string =>
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
    const [keys, values] = [await labels(draft, node, 'keys'), await labels(draft, node, 'values')];
    if (!keys || !values || keys.values.length !== values.values.length) return 'its keys or values are strings';
    // ONNX finds NaN by its bits, ONNX Runtime not always.
    if (keys.values.some(Number.isNaN)) return 'one of its keys is NaN';
    const usual = (await draft.subject.tensorAttribute(node, 'default_tensor'))?.[0] ?? usualLabel(node, values.type);
    const input = at.unsqueeze(node.inputs[0]!, [-1]);
    const equal = at.op('Equal', [input, at.constant(keys.type, [keys.values.length], keys.values)]);
    const hits = at.cast(equal, 'float');
    const found = at.op('ArgMax', [hits], { attributes: { axis: { int: -1 }, keepdims: { int: 0 } } });
    const value = at.gather(at.constant(values.type, [values.values.length], values.values), found, 0);
    const any = at.cast(at.reduce('ReduceMax', hits, [-1], false), 'bool');
    at.op('Where', [any, value, at.scalar(values.type, usual)], { outputs: node.outputs });
    return null;
  },
  OneHotEncoder: async (draft, node, at) => {
    const { ints = [] } = (await draft.subject.lists(node, 'cats_int64s')) ?? {};
    if (ints.length === 0) return 'its categories are strings';
    const [input = ''] = node.inputs;
    const wide = draft.subject.type(node, input) === 'int64' ? input : at.cast(input, 'int64');
    const equal = at.op('Equal', [at.unsqueeze(wide, [-1]), at.constant('int64', [ints.length], ints)]);
    at.cast(equal, 'float', node.outputs);
    return null;
  },
  FeatureVectorizer: async (draft, node, at) => {
    const { ints = [] } = (await draft.subject.lists(node, 'inputdimensions')) ?? {};
    const shapes = node.inputs.map((name) => draft.subject.shape(node, name));
    if (shapes.some((shape, index) => shape?.length !== 2 || shape[1] !== ints[index]))
      return 'its inputs do not have the sizes that it names';
    const floats = node.inputs.map((name) =>
      draft.subject.type(node, name) === 'float' ? name : at.cast(name, 'float'),
    );
    at.concat(floats, 1, node.outputs);
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

/** Keys or values of a LabelEncoder in any of the forms of its versions; null: strings. */
async function labels(
  { subject }: RepairDraft,
  node: OnnxNode,
  what: 'keys' | 'values',
): Promise<{ type: string; values: number[] } | null> {
  const { ints = [] } = (await subject.lists(node, `${what}_int64s`)) ?? {};
  if (ints.length > 0) return { type: 'int64', values: ints };
  const { floats = [] } = (await subject.lists(node, `${what}_floats`)) ?? {};
  if (floats.length > 0) return { type: 'float', values: floats };
  const tensor = node.attributes.find(({ name }) => name === `${what}_tensor`)?.value;
  const values = await subject.tensorAttribute(node, `${what}_tensor`);
  if (!values || typeof tensor !== 'object' || tensor === null || !('type' in tensor)) return null;
  return { type: tensor.type, values: [...values] };
}

const usualLabel = (node: OnnxNode, type: string): number =>
  type === 'int64' ? (intAttribute(node, 'default_int64') ?? -1) : (intAttribute(node, 'default_float') ?? -0);

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
    if (intAttribute(node, 'one_class') === 1) return 'it has one class';
    if (kind !== 'LINEAR' && count === 0) return 'it has no support vectors';
    const input = floatInput(draft, node, at);
    const features =
      count === 0 ? input : kernel(at, input, { count, vectors, parameters: await list('kernel_params'), kind });
    const product = at.op('MatMul', [features, at.constant('float', [weights.length, 1], weights)]);
    at.keepName();
    const scores = at.op('Add', [product, at.scalar('float', rho[0] ?? 0)]);
    return transformed(at, scores, textAttribute(node, 'post_transform'), node.outputs);
  },
  Normalizer: async (draft, node, at) => {
    const norm = textAttribute(node, 'norm') ?? 'MAX';
    const input = floatInput(draft, node, at);
    const size =
      norm === 'MAX'
        ? at.reduce('ReduceMax', input, [1], true)
        : at.reduce(norm === 'L1' ? 'ReduceL1' : 'ReduceL2', input, [1], true);
    // A row of zeros stays one.
    const isZero = at.cast(at.op('Not', [at.cast(size, 'bool')]), 'float');
    const divisor = at.op('Add', [size, isZero]);
    at.op('Div', [input, divisor], { outputs: node.outputs });
    return Promise.resolve(null);
  },
};

/** How near each row is to each support vector. */
function kernel(
  at: NewPlace,
  input: string,
  { count, vectors, parameters, kind }: { count: number; vectors: number[]; parameters: number[]; kind: string },
): string {
  const size = vectors.length / count;
  const [gamma = 0, offset = 0, degree = 0] = parameters;
  const number = (value: number): string => at.scalar('float', value);
  if (kind !== 'RBF') {
    const turned = Array.from(
      { length: vectors.length },
      (_, i) => vectors[(i % count) * size + Math.floor(i / count)]!,
    );
    const product = at.op('MatMul', [input, at.constant('float', [size, count], turned)]);
    if (kind === 'LINEAR') return product;
    const scaled = at.op('Add', [at.op('Mul', [product, number(gamma)]), number(offset)]);
    return kind === 'POLY' ? at.op('Pow', [scaled, number(degree)]) : at.op('Tanh', [scaled]);
  }
  const apart = at.op('Sub', [at.unsqueeze(input, [1]), at.constant('float', [count, size], vectors)]);
  const distance = at.reduce('ReduceSum', at.op('Mul', [apart, apart]), [2], false);
  return at.op('Exp', [at.op('Mul', [distance, at.scalar('float', -gamma)])]);
}

export function label(at: NewPlace, scores: string, labels: number[], output: string): void {
  const best = at.op('ArgMax', [scores], { attributes: { axis: { int: 1 }, keepdims: { int: 0 } } });
  at.gather(at.constant('int64', [labels.length], labels), best, 0, [output]);
}

export function transformed(
  at: NewPlace,
  scores: string,
  how: string | undefined,
  outputs: readonly string[],
): string | null {
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
