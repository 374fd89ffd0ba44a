import { intAttribute, type OnnxNode, textAttribute } from '../../../../kernel/read/onnx/onnxModel.ts';
import { axisOf } from '../../../../kernel/network/outputTypes.ts';
import type { RepairDraft } from '../draft.ts';
import type { NewPlace } from '../place.ts';
import type { Repair } from '../repair.ts';

const readsMore = (draft: RepairDraft, node: OnnxNode): boolean =>
  node.outputs.slice(1).some((name) => draft.subject.isUsed(node, name));

export const normalizationOutputs: Repair = {
  id: 'normalization-outputs',
  title: 'Compute the statistics that LayerNormalization and BatchNormalization give',
  class: 'rounding',
  rejected: 'LayerNormalization whose mean is used, and BatchNormalization that gives running statistics.',
  proof:
    'The formulas of the ONNX specification with ReduceMean: the same network, also in training mode. What LayerNormalization itself gives stays as it is.',
  versions: 'all',
  issues: [],
  apply: (draft) => {
    for (const node of draft.nodes('LayerNormalization', 'BatchNormalization')) {
      if (!readsMore(draft, node)) continue;
      const rank = draft.subject.rank(node, node.inputs[0]!);
      const at = draft.at(node);
      if (rank === null) draft.refuse(node, 'the rank of its input is not known');
      else if (node.op === 'LayerNormalization') layerStatistics(at, rank);
      else if (intAttribute(node, 'training_mode') === 1) batchStatistics(at, rank);
    }
  },
};

/** Mean and variance of a tensor along axes, as tensors that meet it. */
export function statistics(
  at: NewPlace,
  input: string,
  axes: number[],
  mean?: readonly string[],
): [string, string, string] {
  const middle = at.reduce('ReduceMean', input, axes, true, mean);
  const away = at.op('Sub', [input, middle]);
  return [middle, away, at.reduce('ReduceMean', at.op('Mul', [away, away]), axes, true)];
}

export const deviation = (at: NewPlace, variance: string, type: string): string =>
  at.op('Sqrt', [at.op('Add', [variance, at.scalar(type, intAttribute(at.node, 'epsilon') ?? 1e-5)])]);

function layerStatistics(at: NewPlace, rank: number): void {
  const { node, subject } = at;
  const [output = '', mean = '', inverse = ''] = node.outputs;
  const [input = ''] = node.inputs;
  const first = axisOf(intAttribute(node, 'axis') ?? -1, rank) ?? rank - 1;
  const axes = Array.from({ length: rank - first }, (_, index) => first + index);
  at.op('LayerNormalization', node.inputs, { outputs: [output], like: node });
  at.keepName();
  const wide = subject.type(node, input) === 'float' ? input : at.cast(input, 'float');
  const [, , variance] = statistics(at, wide, axes, mean === '' ? undefined : [mean]);
  if (inverse !== '') at.op('Reciprocal', [deviation(at, variance, 'float')], { outputs: [inverse] });
  at.done();
}

function batchStatistics(at: NewPlace, rank: number): void {
  const { node, subject } = at;
  const [input = '', scale = '', bias = '', oldMean = '', oldVariance = ''] = node.inputs;
  const type = subject.type(node, input) ?? 'float';
  const axes = [...Array(rank).keys()].filter((axis) => axis !== 1);
  const momentum = intAttribute(node, 'momentum') ?? 0.9;
  const [mean, away, variance] = statistics(at, input, axes);
  const along = (name: string): string => at.reshape(name, [1, -1, ...Array<number>(rank - 2).fill(1)]);
  const normal = at.op('Div', [away, deviation(at, variance, type)]);
  at.op('Add', [at.op('Mul', [normal, along(scale)]), along(bias)], { outputs: [node.outputs[0]!] });
  at.keepName();
  for (const [index, [old, now]] of [
    [oldMean, mean],
    [oldVariance, variance],
  ].entries()) {
    const output = node.outputs[index + 1] ?? '';
    if (output === '') continue;
    const kept = at.op('Mul', [old!, at.scalar(type, momentum)]);
    const added = at.op('Mul', [at.reshape(now!, [-1]), at.scalar(type, 1 - momentum)]);
    at.op('Add', [kept, added], { outputs: [output] });
  }
  at.done();
}

export const crossEntropy: Repair = {
  id: 'cross-entropy',
  title: 'Write SoftmaxCrossEntropyLoss and NegativeLogLikelihoodLoss in ONNX operators',
  class: 'rounding',
  rejected: 'Loss functions, which a model that was exported for training still has.',
  proof: 'The definition of the ONNX specification: LogSoftmax, GatherElements and the reduction.',
  versions: 'all',
  issues: [],
  apply: (draft) => {
    for (const node of draft.nodes('SoftmaxCrossEntropyLoss', 'NegativeLogLikelihoodLoss')) {
      const rank = draft.subject.rank(node, node.inputs[0]!);
      const isSoftmax = node.op === 'SoftmaxCrossEntropyLoss';
      if (rank === null) draft.refuse(node, 'the rank of its input is not known');
      else if (isSoftmax && draft.subject.opset < 13 && rank > 2)
        draft.refuse(node, 'LogSoftmax is defined in another way before operator set 13');
      else loss(draft, node, isSoftmax);
    }
  },
};

function loss(draft: RepairDraft, node: OnnxNode, isSoftmax: boolean): void {
  const { subject } = draft;
  const [scores = '', labels = '', weights = ''] = node.inputs;
  const [output = '', logarithms = ''] = node.outputs;
  const type = subject.type(node, scores) ?? 'float';
  const labelType = subject.type(node, labels) ?? 'int64';
  const ignored = intAttribute(node, 'ignore_index');
  const at = draft.at(node);
  const made = logarithms === '' ? {} : { outputs: [logarithms] };
  const logs = isSoftmax ? at.op('LogSoftmax', [scores], { attributes: { axis: { int: 1 } }, ...made }) : scores;
  const zero = at.scalar(type, 0);
  const mask = ignored === undefined ? '' : at.op('Equal', [labels, at.scalar(labelType, ignored)]);
  const classes = mask === '' ? labels : at.op('Where', [mask, at.scalar(labelType, 0), labels]);
  const kept = (name: string): string => (mask === '' ? name : at.op('Where', [mask, zero, name]));
  const picked = at.op('GatherElements', [logs, at.unsqueeze(classes, [1])], { attributes: { axis: { int: 1 } } });
  const each = at.op('Neg', [at.squeeze(picked, [1])]);
  const weight =
    weights !== ''
      ? kept(at.gather(weights, classes, 0))
      : mask === ''
        ? ''
        : at.op('Where', [mask, zero, at.scalar(type, 1)]);
  const losses = kept(weights === '' ? each : at.op('Mul', [each, weight]));
  const reduction = textAttribute(node, 'reduction') ?? 'mean';
  if (reduction === 'none') at.op('Identity', [losses], { outputs: [output] });
  else if (reduction === 'sum') at.reduce('ReduceSum', losses, null, false, [output]);
  else if (weight === '') at.reduce('ReduceMean', losses, null, false, [output]);
  else {
    const sums = [losses, weight].map((one) => at.reduce('ReduceSum', one, null, false));
    at.op('Div', sums, { outputs: [output] });
  }
  at.done();
}
