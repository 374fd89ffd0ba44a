import { addTo } from '../../../../../kernel/base/addTo.ts';
import { intAttribute, type OnnxNode, textAttribute } from '../../../../../kernel/read/onnx/onnxModel.ts';
import type { RepairDraft } from '../../draft.ts';
import type { NewPlace } from '../../place.ts';
import type { Repair } from '../../repair.ts';
import { floatInput, label, ml, rejected, transformed } from './machineLearning.ts';

export const mlTrees: Repair = {
  id: 'ml-trees',
  title: 'Write tree ensembles as matrix products',
  class: 'rounding',
  rejected,
  proof:
    'Every split is evaluated; a leaf counts where all splits on its path agree, which is exact; the values of the leaves are added in another order. FP64 inputs are rounded to FP32, and bounds to the FP32 number below. Splits by equality, string labels, and minima or maxima of trees are refused.',
  versions: 'all',
  issues: [],
  apply: async (draft) => {
    for (const node of draft.nodes(
      ...['TreeEnsembleClassifier', 'TreeEnsembleRegressor', 'TreeEnsemble'].map((op) => ml(op)),
    )) {
      const at = draft.at(node);
      // oxlint-disable-next-line no-await-in-loop
      const reason = await write(draft, node, at);
      if (reason === null) at.done();
      else draft.refuse(node, reason);
    }
  },
};

/** Matrices of more elements are not a gain over trees. */
const largestMatrix = 2 ** 25;

/** Splits and leaves are positions in the node's lists. */
interface Tree {
  splits: number[];
  leaves: { leaf: number; path: { split: number; first: boolean }[] }[];
}

interface Forest {
  trees: Tree[];
  /** Of each split: the feature, the bound below which the first branch is taken, and whether NaN takes it. */
  features: number[];
  bounds: number[];
  missing: boolean[];
  /** Below means <; otherwise ≤. */
  strict: boolean;
  /** Of each leaf: what it adds to which output. */
  weights: (leaf: number) => { output: number; weight: number }[];
  /** All weights and the outputs that they are for. */
  all: { output: number; weight: number }[];
  base: number[];
}

/** A branch of a split. */
type Branch = { leaf: number } | { split: number };

/** A tree from its root; null: it has cycles. */
function grow(root: Branch, branches: (split: number) => { first: Branch; second: Branch }, most: number): Tree | null {
  const tree: Tree = { splits: [], leaves: [] };
  const open: { at: Branch; path: Tree['leaves'][number]['path'] }[] = [{ at: root, path: [] }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { at, path } = next;
    if ('leaf' in at) {
      tree.leaves.push({ leaf: at.leaf, path });
      continue;
    }
    const split = tree.splits.push(at.split) - 1;
    if (tree.splits.length > most) return null;
    const { first, second } = branches(at.split);
    open.push({ at: second, path: [...path, { split, first: false }] });
    open.push({ at: first, path: [...path, { split, first: true }] });
  }
  return tree;
}

const modeNames = ['BRANCH_LEQ', 'BRANCH_LT', 'BRANCH_GTE', 'BRANCH_GT'];

/** > and ≥ are ≤ and < with the branches exchanged. */
const isExchanged = (mode: string): boolean => mode === 'BRANCH_GT' || mode === 'BRANCH_GTE';
const isStrict = (mode: string): boolean => mode === 'BRANCH_LT' || mode === 'BRANCH_GTE';

/** The comparison of all splits; null: they differ, or are by equality. */
function strictness(modes: readonly string[]): boolean | null {
  const splits = modes.filter((mode) => mode !== 'LEAF');
  if (!splits.every((mode) => modeNames.includes(mode))) return null;
  const strict = splits.some(isStrict);
  return splits.every((mode) => isStrict(mode) === strict) ? strict : null;
}

/** `TreeEnsembleClassifier` and `-Regressor`: splits and leaves are in the same lists. */
async function readNodes(draft: RepairDraft, node: OnnxNode): Promise<Forest | string> {
  const read = async (name: string) => await draft.subject.lists(node, name);
  const ints = async (name: string) => (await read(name))?.ints ?? [];
  const floats = async (name: string): Promise<number[]> =>
    (await read(name))?.floats ?? [...((await draft.subject.tensorAttribute(node, `${name}_as_tensor`)) ?? [])];
  const [trees, ids] = [await ints('nodes_treeids'), await ints('nodes_nodeids')];
  const [yes, no] = [await ints('nodes_truenodeids'), await ints('nodes_falsenodeids')];
  const modes = (await read('nodes_modes'))?.strings ?? [];
  const tracks = await ints('nodes_missing_value_tracks_true');
  const strict = strictness(modes);
  if (strict === null) return 'its splits are by equality, or of different kinds';
  const keyOf = (index: number, id: number | undefined): string => `${trees[index]}:${id}`;
  const positions = new Map(ids.map((id, index) => [keyOf(index, id), index]));
  const branch = (index: number, id: number | undefined): Branch => {
    const at = positions.get(keyOf(index, id)) ?? -1;
    return modes[at] === 'LEAF' || at < 0 ? { leaf: at } : { split: at };
  };
  const children = new Set(
    ids.flatMap((_, index) => (modes[index] === 'LEAF' ? [] : [keyOf(index, yes[index]), keyOf(index, no[index])])),
  );
  const kind = node.op.endsWith('Classifier') ? 'class' : 'target';
  const [inTrees, atNodes, outputs] = [
    await ints(`${kind}_treeids`),
    await ints(`${kind}_nodeids`),
    await ints(`${kind}_ids`),
  ];
  const all = (await floats(`${kind}_weights`)).map((weight, index) => ({
    output: outputs[index]!,
    weight,
  }));
  const weights = new Map<number, Forest['all']>();
  for (const [index, weight] of all.entries())
    addTo(weights, positions.get(`${inTrees[index]}:${atNodes[index]}`) ?? -1, weight);
  const grown = ids
    .flatMap((id, index) => (children.has(keyOf(index, id)) ? [] : [branch(index, id)]))
    .map((root) => grow(root, (at) => exchanged(modes[at]!, branch(at, yes[at]), branch(at, no[at])), ids.length));
  return {
    trees: grown.filter((tree) => tree !== null),
    features: await ints('nodes_featureids'),
    bounds: await floats('nodes_values'),
    missing: modes.map((mode, index) => (tracks[index] === 1) !== isExchanged(mode)),
    strict,
    weights: (leaf) => weights.get(leaf) ?? [],
    all,
    base: await floats('base_values'),
  };
}

const exchanged = (mode: string, yes: Branch, no: Branch): { first: Branch; second: Branch } =>
  isExchanged(mode) ? { first: no, second: yes } : { first: yes, second: no };

/** `TreeEnsemble` of ai.onnx.ml 5: leaves have lists of their own. */
async function readEnsemble(draft: RepairDraft, node: OnnxNode): Promise<Forest | string> {
  const ints = async (name: string) => (await draft.subject.lists(node, name))?.ints ?? [];
  const tensor = async (name: string): Promise<number[]> => [
    ...((await draft.subject.tensorAttribute(node, name)) ?? []),
  ];
  const modes = (await tensor('nodes_modes')).map((mode) => modeNames[mode] ?? 'other');
  const strict = strictness(modes);
  if (strict === null) return 'its splits are by equality, or of different kinds';
  const [yes, no] = [await ints('nodes_truenodeids'), await ints('nodes_falsenodeids')];
  const [yesLeaf, noLeaf] = [await ints('nodes_trueleafs'), await ints('nodes_falseleafs')];
  const branch = (isLeaf: number | undefined, at: number): Branch => (isLeaf === 1 ? { leaf: at } : { split: at });
  const [outputs, leafWeights] = [await ints('leaf_targetids'), await tensor('leaf_weights')];
  const all = leafWeights.map((weight, index) => ({ output: outputs[index]!, weight }));
  const tracks = await ints('nodes_missing_value_tracks_true');
  const grown = (await ints('tree_roots')).map((root) =>
    grow(
      { split: root },
      (at) => exchanged(modes[at]!, branch(yesLeaf[at], yes[at]!), branch(noLeaf[at], no[at]!)),
      modes.length,
    ),
  );
  return {
    trees: grown.filter((tree) => tree !== null),
    features: await ints('nodes_featureids'),
    bounds: await tensor('nodes_splits'),
    missing: modes.map((mode, index) => (tracks[index] === 1) !== isExchanged(mode)),
    strict,
    weights: (leaf) => all.slice(leaf, leaf + 1),
    all,
    base: [],
  };
}

const largest = (sizes: readonly number[]): number => sizes.reduce((most, size) => Math.max(most, size), 1);

async function write(draft: RepairDraft, node: OnnxNode, at: NewPlace): Promise<string | null> {
  const isClassifier = node.op.endsWith('Classifier');
  const isOld = node.op !== 'TreeEnsemble';
  const labels = isClassifier ? ((await draft.subject.lists(node, 'classlabels_int64s'))?.ints ?? []) : [];
  const { aggregate, post } = isOld ? namedSettings(node) : numberedSettings(node);
  if (aggregate !== 'SUM' && aggregate !== 'AVERAGE') return 'it takes the minimum or maximum of its trees';
  if (isClassifier && labels.length === 0) return 'its labels are strings';
  const forest = await (isOld ? readNodes(draft, node) : readEnsemble(draft, node));
  if (typeof forest === 'string') return forest;
  if (!draft.raiseOpset()) return 'operator set 9 has what it needs, and other nodes of the model would change with it';
  const outputs = isClassifier ? labels.length : (intAttribute(node, 'n_targets') ?? 1);
  let scores = sums(draft, at, forest, outputs);
  if (scores === null) return 'its matrices would be too large';
  if (aggregate === 'AVERAGE') scores = at.op('Div', [scores, at.scalar('float', forest.trees.length)]);
  const { base } = forest;
  if (base.length > 0) scores = at.op('Add', [scores, at.constant('float', [base.length], base)]);
  if (!isOld) return typed(draft, at, scores, post);
  return isClassifier ? classified(at, scores, forest, { labels, post }) : transformed(at, scores, post, node.outputs);
}

interface Settings {
  aggregate: string | undefined;
  post: string | undefined;
}

const namedSettings = (node: OnnxNode): Settings => ({
  aggregate: textAttribute(node, 'aggregate_function') ?? 'SUM',
  post: textAttribute(node, 'post_transform'),
});

const numberedSettings = (node: OnnxNode): Settings => ({
  aggregate: ['AVERAGE', 'SUM'][intAttribute(node, 'aggregate_function') ?? 1],
  post: ['NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO', 'PROBIT'][intAttribute(node, 'post_transform') ?? 0],
});

/** The label and the scores. */
function classified(
  at: NewPlace,
  scores: string,
  { all, base }: Forest,
  { labels, post }: { labels: number[]; post: string | undefined },
): string | null {
  const { outputs } = at.node;
  if (labels.length === 2 && new Set(all.map(({ output }) => output)).size === 1)
    return binary(at, scores, { positive: all[0]!.output, labels, weights: all, base, post });
  label(at, scores, labels, outputs[0]!);
  return transformed(at, scores, post, outputs.slice(1));
}

/** `TreeEnsemble` writes the type that it reads. */
function typed(draft: RepairDraft, at: NewPlace, scores: string, post: string | undefined): string | null {
  const { node } = at;
  const type = draft.subject.type(node, node.inputs[0]!) ?? 'float';
  if (type === 'float') return transformed(at, scores, post, node.outputs);
  const made = at.name();
  const reason = transformed(at, scores, post, [made]);
  if (reason === null) at.cast(made, type, node.outputs);
  return reason;
}

/** The sums of the leaves that each row reaches, one matrix product for all trees. @returns [row, output]; null: too large */
function sums(draft: RepairDraft, at: NewPlace, { trees, ...forest }: Forest, outputs: number): string | null {
  const [wide, deep] = [
    largest(trees.map(({ leaves }) => leaves.length)),
    largest(trees.map(({ splits }) => splits.length)),
  ];
  const count = trees.length;
  if (count * wide * Math.max(deep, outputs) > largestMatrix) return null;
  const paths = new Float64Array(count * deep * wide);
  // A leaf that there is not is never reached.
  const reached = new Float64Array(count * wide).fill(0.5);
  const table = new Float64Array(count * wide * outputs);
  const [features, bounds, missing] = [
    Array<number>(count * deep).fill(0),
    Array<number>(count * deep).fill(0),
    Array<number>(count * deep).fill(0),
  ];
  for (const [tree, { splits, leaves }] of trees.entries()) {
    for (const [index, split] of splits.entries()) {
      features[tree * deep + index] = forest.features[split]!;
      bounds[tree * deep + index] = floatBound(forest.bounds[split]!, forest.strict);
      missing[tree * deep + index] = Number(forest.missing[split]);
    }
    for (const [index, { leaf, path }] of leaves.entries()) {
      for (const { split, first } of path) paths[(tree * deep + split) * wide + index] = first ? 1 : -1;
      reached[tree * wide + index] = path.filter(({ first }) => first).length - 0.5;
      for (const { output, weight } of forest.weights(leaf)) table[(tree * wide + index) * outputs + output]! += weight;
    }
  }
  const read = at.gather(floatInput(draft, at.node, at), at.ints(...features), 1);
  const below = compared(at, read, { bounds, missing, strict: forest.strict });
  const rows = at.transpose(at.reshape(at.cast(below, 'float'), [-1, count, deep]), [1, 0, 2]);
  // The sum over a path reaches the count of its first branches only if every split agrees.
  const agreed = at.op('MatMul', [rows, at.constant('float', [count, deep, wide], paths)]);
  at.keepName();
  const hit = at.cast(at.op('Greater', [agreed, at.constant('float', [count, 1, wide], reached)]), 'float');
  const added = at.op('MatMul', [hit, at.constant('float', [count, wide, outputs], table)]);
  return at.reduce('ReduceSum', added, [0], false);
}

/** Where each split takes its first branch. */
function compared(
  at: NewPlace,
  read: string,
  { bounds, missing, strict }: { bounds: number[]; missing: number[]; strict: boolean },
): string {
  const bound = at.constant('float', [bounds.length], bounds);
  const isNan = (): string => at.op('IsNaN', [read]);
  const below = strict
    ? at.op('Less', [read, bound])
    : at.subject.opset >= 12
      ? at.op('LessOrEqual', [read, bound])
      : at.op('Not', [at.op('Or', [at.op('Greater', [read, bound]), isNan()])]);
  if (missing.every((one) => one === 0)) return below;
  const those = missing.every((one) => one === 1)
    ? isNan()
    : at.op('And', [isNan(), at.constant('bool', [missing.length], missing)]);
  return at.op('Or', [below, those]);
}

/** The FP32 bound that gives the same for every FP32 number. */
function floatBound(bound: number, strict: boolean): number {
  const nearest = Math.fround(bound);
  if (nearest === bound || (strict ? nearest > bound : nearest < bound)) return nearest;
  if (nearest === 0) return strict ? 2 ** -149 : -(2 ** -149);
  const bits = new DataView(new ArrayBuffer(4));
  bits.setFloat32(0, nearest);
  const away = strict === nearest > 0;
  bits.setInt32(0, bits.getInt32(0) + (away ? 1 : -1));
  return bits.getFloat32(0);
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
  }: { positive: number; weights: Forest['all']; base: number[]; post: string | undefined; labels: number[] },
): string | null {
  const logistic = post === 'LOGISTIC';
  const allPositive = weights.every(({ weight }) => weight >= 0);
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
