// Forms that TensorRT builds and computes wrong: the same values in a form that it computes right.
import { intAttribute, intsAttribute, type OnnxNode, textAttribute } from '../../../../kernel/read/onnx/onnxModel.ts';
import { isOfOneProduct, scalesAt, transposedPadding } from '../../../../kernel/network/network.ts';
import type { RepairDraft } from '../draft.ts';
import type { NewPlace } from '../place.ts';
import type { Repair } from '../repair.ts';
import { mergedScales } from '../../../surgery/changeModel.ts';

/** Mean and variance of a tensor along axes, as tensors that meet it. */
function statistics(at: NewPlace, input: string, axes: number[], mean?: readonly string[]): [string, string, string] {
  const middle = at.reduce('ReduceMean', input, axes, true, mean);
  const away = at.op('Sub', [input, middle]);
  return [middle, away, at.reduce('ReduceMean', at.op('Mul', [away, away]), axes, true)];
}

const deviation = (at: NewPlace, variance: string, type: string): string =>
  at.op('Sqrt', [at.op('Add', [variance, at.scalar(type, intAttribute(at.node, 'epsilon') ?? 1e-5)])]);

export const mergeScales: Repair = {
  id: 'merge-scales',
  builds: true,
  title: 'Scale one input of a product by the product of both scales',
  class: 'rounding',
  rejected: 'MatMul whose inputs are multiplied by a number each; TensorRT 10.6 builds it and loses one of them.',
  proof:
    '(a·s)(b·t) = a(b·(s·t)). What else reads a scaled tensor would need its scale, so that nothing is changed there.',
  versions: 'TensorRT 10.6, 10.7',
  issues: ['NVIDIA/TensorRT#4333', 'NVIDIA/TensorRT#4328'],
  apply: (draft) => {
    const { graph } = draft.subject;
    for (const node of draft.nodes('MatMul')) {
      const matmul = graph.indexOfId.get(node.id)!;
      const scales = scalesAt(graph, graph.inferred.shapes, matmul);
      if (scales === null) continue;
      if (!isOfOneProduct(graph, scales)) {
        draft.refuse(
          node,
          'its inputs are not parts of one product: with one scale TensorRT 10.6 was wrong as well, seen for cross attention',
        );
        continue;
      }
      const places = mergedScales(graph, graph.inferred, matmul, (base) => draft.fresh(base));
      if ('reason' in places) {
        draft.refuse(node, 'its scales have different types');
        continue;
      }
      if (places.some((place) => draft.isReplaced(place.node))) continue;
      draft.place(node);
      for (const { node: scale, by } of places)
        draft.replace(scale, by, by.length > 1 ? 'scaled by both numbers' : 'not scaled any more');
    }
  },
};

/** Operators that mean something else, or are not there, before operator set 20, or that it changed in more than types. */
const since20 =
  /^(?:AffineGrid|Attention|BitCast|CausalConvWithState|CumProd|DFT|DequantizeLinear|Gelu|GroupNormalization|ImageDecoder|LinearAttention|QLinearMatMul|QuantizeLinear|RMSNormalization|RegexFullMatch|RotaryEmbedding|String(?:Concat|Split)|SwiGLU|Swish|TensorScatter)$/;
/** Element types that operators have only got since. */
const newTypes = /^(?:u?int[24]|float4\w*|float8\w*|bfloat16)$/;
const olderNames: Readonly<Record<string, string>> = { linear: 'bilinear', cubic: 'bicubic' };

export const gridSampleNames: Repair = {
  id: 'grid-sample-names',
  builds: true,
  title: 'Import operator set 19 and name the modes of GridSample as it does',
  class: 'exact',
  rejected:
    'GridSample of operator set 20 in mode linear or cubic; TensorRT 10.6 builds it and takes the nearest element.',
  proof:
    'Operator set 20 renamed bilinear and bicubic. Refused where another operator changed since 19, and for five dimensions, which are new.',
  versions: 'TensorRT 10.6, 10.13',
  issues: ['NVIDIA/TensorRT#4646'],
  apply: (draft) => {
    const { subject } = draft;
    if (subject.opset < 20) return;
    const renamed = draft.nodes('GridSample').filter((node) => (textAttribute(node, 'mode') ?? '') in olderNames);
    const [first] = renamed;
    if (first === undefined) return;
    const reason = cannotImport19(draft);
    if (reason !== null) return draft.refuse(first, reason);
    for (const node of draft.nodes('GridSample')) {
      const mode = textAttribute(node, 'mode') ?? 'linear';
      if (mode === 'nearest') continue;
      const at = draft.at(node);
      const attributes = node.attributes.filter(({ name }) => name !== 'mode');
      at.op('GridSample', node.inputs, {
        outputs: node.outputs,
        like: { ...node, attributes },
        attributes: { mode: { string: olderNames[mode] ?? mode } },
      });
      at.done(`${mode} → ${olderNames[mode] ?? mode}`);
    }
    draft.raiseTo(19);
    draft.placeOf('operator set', 'import', `${subject.opset} → 19`);
  },
};

/** Why a model cannot import operator set 19; null: it can. */
function cannotImport19(draft: RepairDraft): string | null {
  const { subject } = draft;
  if (subject.model.functions.length > 0) return 'the model has functions, which import operator sets of their own';
  for (const node of subject.model.nodes) {
    const op = subject.op(node);
    const types = [...node.inputs, ...node.outputs].map((name) => (name === '' ? null : subject.type(node, name)));
    if (since20.test(op) && (subject.opset > 20 || !/^(?:(?:De)?[Qq]uantizeLinear|GroupNorm\w*|QLinear\w*)$/.test(op)))
      return `${op} is another operator in operator set 19`;
    if (/^Reduce(?:Max|Min)$/.test(op) && types[0] === 'bool') return `${op} has no bool in operator set 19`;
    if (op === 'GridSample' && subject.rank(node, node.inputs[0]!) !== 4)
      return 'GridSample has four dimensions in operator set 19';
    if (subject.opset > 20 && types.some((type) => type !== null && newTypes.test(type)))
      return 'the model has types that operators of set 19 do not take';
  }
  return null;
}

export const logSumExp: Repair = {
  id: 'log-sum-exp',
  builds: true,
  title: 'Write ReduceLogSumExp as Log of a sum, with the maximum taken out',
  class: 'rounding',
  rejected:
    'ReduceLogSumExp, which TensorRT 10.6 builds, but of all axes where operator set 18 gives them as an input, and without taking out the maximum.',
  proof:
    'log Σ exp x = m + log Σ exp(x − m), where m is the maximum as a finite number. Axes are known, and there is at least one.',
  versions: 'TensorRT 10.6',
  issues: [],
  apply: async (draft) => {
    for (const node of draft.nodes('ReduceLogSumExp')) {
      // oxlint-disable-next-line no-await-in-loop -- a few numbers
      const reason = await writeLogSumExp(draft, node);
      if (reason !== null) draft.refuse(node, reason);
    }
  },
};

async function writeLogSumExp(draft: RepairDraft, node: OnnxNode): Promise<string | null> {
  const { subject } = draft;
  const [input = '', listed = ''] = node.inputs;
  const stored = listed === '' ? null : await subject.constant(node, listed);
  if (listed !== '' && stored === null) return 'its axes are computed';
  const given = stored ? Array.from(stored.values) : (intsAttribute(node, 'axes') ?? []);
  if (given.length === 0 && intAttribute(node, 'noop_with_empty_axes') === 1) return 'it reduces no axis';
  const type = subject.type(node, input);
  const most = {
    float: 3.4028234663852886e38,
    float16: 65504,
    double: Number.MAX_VALUE,
    bfloat16: 3.3895313892515355e38,
  }[type ?? ''];
  if (most === undefined) return 'the type of its input is not known';
  const axes = given.length === 0 ? null : given;
  const keep = (intAttribute(node, 'keepdims') ?? 1) !== 0;
  const at = draft.at(node);
  const highest = at.reduce('ReduceMax', input, axes, true);
  const finite = at.clip(highest, type!, -most, most);
  const sum = at.reduce('ReduceSum', at.op('Exp', [at.op('Sub', [input, finite])]), axes, keep);
  // The maximum in the shape of the sum: of elements that are all the same.
  const added = keep ? finite : at.reduce('ReduceMax', finite, axes, false);
  at.op('Add', [at.op('Log', [sum]), added], { outputs: node.outputs });
  at.done();
  return null;
}

export const groupNormMeans: Repair = {
  id: 'group-norm-means',
  builds: true,
  title: 'Write GroupNormalization of one group with its mean and variance',
  class: 'rounding',
  rejected: 'GroupNormalization with one group; TensorRT 10.6 builds it and gives other values.',
  proof:
    'The formula of the ONNX specification: the mean over everything but the batch, in FP32 as its stash_type says. The rank of the input is known.',
  versions: 'TensorRT 10.6',
  issues: [],
  apply: (draft) => {
    for (const node of draft.nodes('GroupNormalization')) {
      if (intAttribute(node, 'num_groups') !== 1) continue;
      const rank = draft.subject.rank(node, node.inputs[0]!);
      const type = draft.subject.type(node, node.inputs[0]!);
      if (rank === null || rank < 3 || type === null) draft.refuse(node, 'the rank or type of its input is not known');
      else writeGroupNorm(draft.at(node), rank, type);
    }
  },
};

function writeGroupNorm(at: NewPlace, rank: number, type: string): void {
  const { node } = at;
  const [input = '', scale = '', bias = ''] = node.inputs;
  // stash_type came with operator set 21; before, the computation is as precise as the input.
  const stash = at.subject.opset >= 21 && (intAttribute(node, 'stash_type') ?? 1) === 1 ? 'float' : type;
  const wide = type === stash ? input : at.cast(input, stash);
  const [, away, variance] = statistics(
    at,
    wide,
    Array.from({ length: rank - 1 }, (_, axis) => axis + 1),
  );
  const normal = at.op('Div', [away, deviation(at, variance, stash)]);
  const back = type === stash ? normal : at.cast(normal, type);
  // One number a group before operator set 21, one a channel since.
  const after = Array.from({ length: rank - 2 }, (_, axis) => axis + 1);
  const wideTo = (tensor: string): string => at.unsqueeze(tensor, after);
  at.op('Add', [at.op('Mul', [back, wideTo(scale)]), wideTo(bias)], { outputs: node.outputs });
  at.done();
}

export const transposedPads: Repair = {
  id: 'transposed-pads',
  builds: true,
  title: 'Give ConvTranspose pads in place of output_shape',
  class: 'exact',
  rejected:
    'ConvTranspose whose output_shape leaves an odd padding; TensorRT 10.6 builds it and puts the larger half at the other end.',
  proof:
    'The pads are those that the ONNX specification computes from output_shape. Refused where the sizes are not known or no padding gives that shape.',
  versions: 'TensorRT 10.6',
  issues: [],
  apply: (draft) => {
    const { subject } = draft;
    for (const node of draft.nodes('ConvTranspose')) {
      if (intsAttribute(node, 'output_shape') === null || textAttribute(node, 'auto_pad') === 'SAME_UPPER') continue;
      const [data = null, weight = null] = node.inputs.map((name) => subject.shape(node, name));
      const paddings = transposedPadding(node, data, weight);
      if (paddings === null || paddings.some((padding) => padding < 0)) {
        draft.refuse(node, 'its sizes are not known, or its output is larger than any padding makes it');
        continue;
      }
      if (paddings.every((padding) => padding % 2 === 0)) continue;
      const begin = paddings.map((padding) => Math.ceil(padding / 2));
      const pads = [...begin, ...paddings.map((padding, axis) => padding - begin[axis]!)];
      const attributes = node.attributes.filter(({ name }) => !/^(?:output_shape|pads|auto_pad)$/.test(name));
      const at = draft.at(node);
      at.op('ConvTranspose', node.inputs, {
        outputs: node.outputs,
        like: { ...node, attributes },
        attributes: { pads: { ints: pads } },
      });
      at.done(`pads ${pads.join(', ')}`);
    }
  },
};
