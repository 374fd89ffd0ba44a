// Forms of a node that its shapes decide: what a parser computes before it accepts the node.
import { intAttribute, intsAttribute, textAttribute } from '../../../kernel/read/onnx/onnxModel.ts';
import { axisOf, type Dim, isKnown } from '../../../kernel/network/outputTypes.ts';
import { standardOpset } from '../../../kernel/network/modelGraph.ts';
import { shapeText } from '../../../kernel/base/text.ts';
import type { NodeProblem } from './checkShapes.ts';
import {
  isRtx,
  constantAt,
  type FormCheck,
  given,
  type NodeToCheck,
  problem,
  shapeOf,
  since,
  valuesAt,
} from './nodeToCheck.ts';

type Dims = readonly Dim[];

const CHECK_EXPORT = 'Check the shapes that the exporter wrote.';
const mismatch = (message: string): NodeProblem => problem('shape-mismatch', message, CHECK_EXPORT);
const MOST_DIMENSIONS = 8;

const rankOf = (one: NodeToCheck, at: number): number | undefined => shapeOf(one, at)?.length;
/** Two sizes that are known and neither equal nor 1. */
const clash = (a: Dim | undefined, b: Dim | undefined): boolean =>
  typeof a === 'number' && typeof b === 'number' && a !== b && a !== 1 && b !== 1;
const differ = (a: Dim | undefined, b: Dim | undefined): boolean =>
  typeof a === 'number' && typeof b === 'number' && a !== b;

/** Shapes that do not broadcast. */
function broadcastProblem(op: string, shapes: readonly (Dims | null)[]): NodeProblem | undefined {
  const known = shapes.filter((shape) => shape !== null);
  for (const [at, a] of known.entries())
    for (const b of known.slice(at + 1))
      if (a.some((size, axis) => clash(size, b[axis - a.length + b.length])))
        return mismatch(`${op} of ${shapeText(a)} and ${shapeText(b)}: the shapes do not fit.`);
  return undefined;
}

const elementwise: FormCheck = (one) =>
  broadcastProblem(
    one.node.op,
    one.node.inputs.map((_, at) => shapeOf(one, at)),
  );

const product: FormCheck = (one) => {
  const [a, b] = [shapeOf(one, 0), shapeOf(one, 1)];
  if (!a || !b) return undefined;
  // A scalar counts as one element, though not next to another.
  const [inner, outer] = [a.length === 0 ? 1 : a.at(-1), b.length === 0 ? 1 : b.at(b.length > 1 ? -2 : -1)];
  if ((a.length === 0 || b.length === 0) && (differ(inner, outer) || a.length === b.length))
    return problem('shape-mismatch', 'MatMul of a scalar is refused.', 'Multiply by a scalar with Mul.');
  if (differ(inner, outer)) return mismatch(`MatMul of ${shapeText(a)} and ${shapeText(b)}: ${inner} is not ${outer}.`);
  // TensorRT takes the row that it makes of a vector away from the front, where the batch is.
  if (a.length === 1 && b.slice(0, -2).some((size) => typeof size === 'number' && size !== 1))
    return problem(
      'unsupported-form',
      `MatMul of a vector and ${shapeText(b)} is refused.`,
      'Unsqueeze the vector before it, and squeeze the result.',
    );
  return broadcastProblem('MatMul', [a.slice(0, -2), b.slice(0, -2)]);
};

const gemm: FormCheck = (one) => {
  const [a, b, c] = [0, 1, 2].map((at) => shapeOf(one, at));
  if (!a || !b) return undefined;
  if (a.length !== 2 || b.length !== 2)
    return mismatch(`Gemm of ${shapeText(a)} and ${shapeText(b)}: both must be 2-D.`);
  const [left, right] = [intAttribute(one.node, 'transA') === 1, intAttribute(one.node, 'transB') === 1];
  if (differ(a[left ? 0 : 1], b[right ? 1 : 0]))
    return mismatch(`Gemm of ${shapeText(a)} and ${shapeText(b)} does not fit.`);
  return c ? broadcastProblem('Gemm', [[a[left ? 1 : 0]!, b[right ? 0 : 1]!], c]) : undefined;
};

/** Operators whose attribute `axis` must be inside the rank; Flatten also takes the rank itself. */
const AXIS = /^(?:Concat|Gather|GatherElements|Softmax|LogSoftmax|Hardmax|Flatten|Split|ArgM(?:ax|in)|TopK)$/;

const axisProblem = (one: NodeToCheck, axes: Dims): NodeProblem | undefined => {
  const rank = rankOf(one, 0);
  const most = one.node.op === 'Flatten' ? 1 : 0;
  const wrong = axes.find(
    (axis) => typeof axis === 'number' && rank !== undefined && (axis < -rank || axis >= rank + most),
  );
  return wrong === undefined
    ? undefined
    : mismatch(`${one.node.op} has axis ${wrong}, and its input ${rank} dimensions.`);
};

const concat: FormCheck = (one) => {
  const shapes = one.node.inputs.map((_, at) => shapeOf(one, at)).filter((shape) => shape !== null);
  const [first, ...others] = shapes;
  const axis = first && axisOf(intAttribute(one.node, 'axis') ?? 0, first.length);
  const other = others.find(
    (shape) => shape.length !== first!.length || shape.some((size, at) => at !== axis && differ(size, first![at])),
  );
  return other && mismatch(`Concat of ${shapeText(first!)} and ${shapeText(other)}: only the axis may differ.`);
};

/** Reshape to another number of elements. */
const reshape: FormCheck = (one) => {
  const from = shapeOf(one, 0);
  const target = valuesAt(one, 1);
  if (!target) return undefined;
  const text = `Reshape of ${from ? shapeText(from) : 'its input'} to ${shapeText(target)}`;
  if (target.length > MOST_DIMENSIONS)
    return problem(
      'unsupported-form',
      `${text}: TensorRT allows ${MOST_DIMENSIONS} dimensions.`,
      'Use fewer dimensions.',
    );
  if (target.filter((size) => size === -1).length > 1) return mismatch(`${text} leaves two dimensions open.`);
  const copies = intAttribute(one.node, 'allowzero') !== 1;
  const sizes = target.map((size, axis) => (size === 0 && copies ? (from?.[axis] ?? null) : size));
  if (!from || !isKnown(from) || !isKnown(sizes)) return undefined;
  const volume = (list: readonly number[]): number => list.reduce((all, size) => all * size, 1);
  const known: readonly number[] = sizes;
  const [all, rest] = [volume(from), volume(known.filter((size) => size !== -1))];
  const fits = sizes.includes(-1) ? rest === 0 || all % rest === 0 : all === rest;
  return fits ? undefined : mismatch(`${text} changes the number of elements.`);
};

const transpose: FormCheck = (one) => {
  const perm = intsAttribute(one.node, 'perm');
  const rank = rankOf(one, 0);
  if (
    !perm ||
    rank === undefined ||
    (perm.length === rank && new Set(perm.map((axis) => axisOf(axis, rank))).size === rank)
  )
    return undefined;
  return mismatch(`Transpose by [${perm.join(', ')}] does not fit ${rank} dimensions.`);
};

const squeeze: FormCheck = (one) => {
  const shape = shapeOf(one, 0);
  const axes = valuesAt(one, 1) ?? intsAttribute(one.node, 'axes') ?? [];
  const wrong = shape && axes.find((axis) => typeof axis === 'number' && differ(shape.at(axis), 1));
  return typeof wrong === 'number'
    ? mismatch(`Squeeze of axis ${wrong} of ${shapeText(shape!)}, which is not 1.`)
    : undefined;
};

/** The same axis twice, once perhaps counted from the end. Reductions may have that. */
const axesOnce =
  (at: number): FormCheck =>
  (one) => {
    const axes = (valuesAt(one, at) ?? intsAttribute(one.node, 'axes') ?? []).filter(
      (axis) => typeof axis === 'number',
    );
    const rank = rankOf(one, 0);
    const places = axes.map((axis) =>
      rank === undefined ? axis : axisOf(axis, one.node.op === 'Unsqueeze' ? rank + axes.length : rank),
    );
    const twice = places.find((place, index) => places.indexOf(place) < index);
    return twice === undefined ? undefined : mismatch(`${one.node.op} has axis ${twice} twice.`);
  };

const unsqueeze: FormCheck = (one) => {
  const rank = rankOf(one, 0);
  const axes = valuesAt(one, 1) ?? intsAttribute(one.node, 'axes');
  if (axes && rank !== undefined && rank + axes.length > MOST_DIMENSIONS)
    return problem(
      'unsupported-form',
      `Unsqueeze to ${rank + axes.length} dimensions is refused: TensorRT allows ${MOST_DIMENSIONS}.`,
      'Use fewer dimensions.',
    );
  // TensorRT 10.6 builds it.
  return since(one, '11.0') ? axesOnce(1)(one) : undefined;
};

/** A list with one element for each dimension, or for each of its axes. */
const listLength =
  (at: number, axes: number, times: number): FormCheck =>
  (one) => {
    const length = valuesAt(one, at)?.length ?? lengthOf(one, at);
    const count = given(one, axes) ? lengthOf(one, axes) : rankOf(one, 0);
    return length === undefined || count === undefined || length === count * times
      ? undefined
      : mismatch(`${one.node.op} has a list of ${length} for ${count} dimensions.`);
  };

/** Elements of a vector. */
function lengthOf(one: NodeToCheck, at: number): number | undefined {
  const shape = constantAt(one, at)?.shape ?? shapeOf(one, at);
  const [length] = shape?.length === 1 ? shape : [];
  return typeof length === 'number' ? length : undefined;
}

const slice: FormCheck = (one) => {
  if (standardOpset(one.graph.model) < 10) return undefined;
  if (valuesAt(one, 4)?.includes(0)) return mismatch('Slice has a step of 0.');
  return axisProblem(one, valuesAt(one, 3) ?? []) ?? (given(one, 3) ? undefined : listLength(1, -1, 1)(one));
};

const blocks: FormCheck = (one) => {
  const shape = shapeOf(one, 0);
  const size = intAttribute(one.node, 'blocksize') ?? 1;
  const isDepth = one.node.op === 'DepthToSpace';
  const parts = isDepth ? [shape?.[1]] : [shape?.[2], shape?.[3]];
  const by = isDepth ? size * size : size;
  return parts.some((part) => typeof part === 'number' && part % by !== 0)
    ? mismatch(`${one.node.op} with blocks of ${size} does not divide ${shapeText(shape!)}.`)
    : undefined;
};

/** Fewest and most dimensions of the first input. */
const ranks =
  (least: number, most = MOST_DIMENSIONS): FormCheck =>
  (one) => {
    const rank = rankOf(one, 0);
    return rank === undefined || (rank >= least && rank <= most)
      ? undefined
      : problem(
          'unsupported-form',
          `${one.node.op} of ${rank} dimensions is refused: it takes ${least === most ? least : most < MOST_DIMENSIONS ? `${least} to ${most}` : `${least} or more`}.`,
          'Reshape the input before it.',
        );
  };

/** Softmax and its like take a vector only where the opset makes a matrix of it. */
const vectors: FormCheck = (one) => (standardOpset(one.graph.model) < 13 ? undefined : ranks(2)(one));

const negativePads: FormCheck = ({ node }) =>
  intsAttribute(node, 'pads')?.some((pad) => pad < 0)
    ? problem('unsupported-form', `${node.op} with negative pads is refused.`, 'Crop with Slice before it.')
    : undefined;

/** Kernel, bias, channels and image of a convolution. */
const window: FormCheck = (one) => {
  const weights = constantAt(one, 1)?.shape ?? shapeOf(one, 1);
  const shape = shapeOf(one, 0);
  if (!weights) return undefined;
  const { op } = one.node;
  if (intsAttribute(one.node, 'strides')?.includes(0)) return mismatch(`${op} has a stride of 0.`);
  const cropped = negativePads(one);
  if (cropped) return cropped;
  const kernel = intsAttribute(one.node, 'kernel_shape');
  if (kernel?.some((size, axis) => differ(weights[axis + 2], size)))
    return mismatch(`${op} has kernel_shape ${shapeText(kernel)} and weights of ${shapeText(weights)}.`);
  if (shape && shape.length !== weights.length)
    return mismatch(`${op} has weights of ${shapeText(weights)} and an input of ${shapeText(shape)}.`);
  return windowChannels(one, weights) ?? (op === 'Conv' ? smallImage(one, weights) : outputPads(one));
};

function windowChannels(one: NodeToCheck, weights: Dims): NodeProblem | undefined {
  const { op } = one.node;
  const group = intAttribute(one.node, 'group') ?? 1;
  const channels = shapeOf(one, 0)?.[1];
  const [first, second] = weights;
  const times = (size: Dim | undefined): Dim | undefined => (typeof size === 'number' ? size * group : size);
  const [takes, gives] = op === 'Conv' ? [times(second), first] : [first, times(second)];
  if (differ(channels, takes)) return mismatch(`${op} has weights for ${takes} channels and an input of ${channels}.`);
  const bias = lengthOf(one, 2);
  if (differ(bias, gives)) return mismatch(`${op} has a bias of ${bias} for ${gives} channels.`);
  return typeof gives === 'number' && gives % group !== 0
    ? mismatch(`${op} has ${gives} channels in ${group} groups.`)
    : undefined;
}

/** An image smaller than the kernel, where nothing pads it. */
function smallImage(one: NodeToCheck, weights: Dims): NodeProblem | undefined {
  const shape = shapeOf(one, 0);
  if (!shape || one.node.attributes.some(({ name }) => /^(?:pads|auto_pad|dilations)$/.test(name))) return undefined;
  const isSmall = shape.slice(2).some((size, axis) => {
    const needs = weights[axis + 2];
    return typeof size === 'number' && typeof needs === 'number' && size < needs;
  });
  return isSmall
    ? mismatch(`Conv with a kernel of ${shapeText(weights.slice(2))} is larger than its input of ${shapeText(shape)}.`)
    : undefined;
}

/** `output_shape` beyond what the strides reach would need negative padding. */
const outputPads: FormCheck = (one) => {
  const [wanted, shape, weights] = [
    intsAttribute(one.node, 'output_shape'),
    shapeOf(one, 0),
    constantAt(one, 1)?.shape,
  ];
  if (!wanted || !shape || !weights) return undefined;
  const list = (name: string, axis: number, usual: number): number => intsAttribute(one.node, name)?.[axis] ?? usual;
  const isBeyond = wanted.slice(-(shape.length - 2)).some((size, axis) => {
    const from = shape[axis + 2];
    if (typeof from !== 'number') return false;
    const reach =
      list('strides', axis, 1) * (from - 1) +
      list('output_padding', axis, 0) +
      (weights[axis + 2]! - 1) * list('dilations', axis, 1) +
      1;
    // TensorRT-RTX puts one more at the end.
    return reach + (isRtx(one) ? 1 : 0) < size;
  });
  return isBeyond
    ? problem(
        'unsupported-form',
        `ConvTranspose with output_shape ${shapeText(wanted)} needs negative padding.`,
        'Give it pads and output_padding.',
      )
    : undefined;
};

const channels: FormCheck = (one) => {
  const [count, shape] = [lengthOf(one, 1), shapeOf(one, 0)];
  return shape && differ(count, shape.length < 2 ? 1 : shape[1])
    ? mismatch(`BatchNormalization has ${count} scales for an input of ${shapeText(shape)}.`)
    : undefined;
};

const groups: FormCheck = (one) => {
  const size = shapeOf(one, 0)?.[1];
  const count = intAttribute(one.node, 'num_groups') ?? 1;
  const scales = lengthOf(one, 1);
  // With one group 10.6 builds it, and normalizes each channel by itself: a known fault.
  if (scales !== undefined && scales !== count && count !== 1 && !since(one, '10.11'))
    return problem(
      'unsupported-form',
      `GroupNormalization with ${scales} scales for ${count} groups is refused when building.`,
      'Write it as InstanceNormalization of the groups, Mul and Add, or use a newer TensorRT.',
    );
  return typeof size === 'number' && size % count !== 0
    ? mismatch(`GroupNormalization of ${size} channels in ${count} groups.`)
    : undefined;
};

/** A slope that widens the input. */
const slope: FormCheck = (one) => {
  const [x, slopes] = [shapeOf(one, 0), shapeOf(one, 1)];
  const isWider =
    x &&
    slopes?.some((size, axis) => {
      const at = axis - slopes.length + x.length;
      return size !== 1 && differ(size, at < 0 ? 1 : x[at]);
    });
  return isWider ? mismatch(`PRelu has slopes of ${shapeText(slopes!)} for an input of ${shapeText(x)}.`) : undefined;
};

/** Only the last dimensions are resized: two by cubic mode, three by linear mode. */
const resize: FormCheck = (one) => {
  if (one.node.op !== 'Resize' || given(one, 4) || intsAttribute(one.node, 'axes')) return undefined;
  const scales = constantAt(one, 2)?.shape[0];
  const rank = rankOf(one, 0);
  if (rank !== undefined && scales !== undefined && scales !== 0 && scales !== rank)
    return mismatch(`Resize has ${scales} scales for ${rank} dimensions.`);
  const [from, sizes] = [shapeOf(one, 0), valuesAt(one, 3)];
  return textAttribute(one.node, 'mode') === 'linear' &&
    from &&
    sizes?.slice(0, -3).some((size, axis) => differ(size, from[axis]))
    ? problem(
        'unsupported-form',
        'Resize in linear mode takes the last three dimensions only.',
        'Resize the others apart.',
      )
    : undefined;
};

const eye: FormCheck = (one) =>
  shapeOf(one, 0)?.some((size) => typeof size !== 'number')
    ? problem('unsupported-form', 'EyeLike of a dynamic shape is refused.', 'Fix the shape when exporting.')
    : undefined;

const einsum: FormCheck = (one) => {
  const equation = textAttribute(one.node, 'equation');
  if (!equation) return undefined;
  if (/[A-Z]/.test(equation))
    return problem('unsupported-form', 'Einsum with capital letters is refused.', 'Use small letters in its equation.');
  const terms = equation.replaceAll(' ', '').split('->')[0]!.split(',');
  if (terms.some((term) => !/^[a-z]*$/i.test(term))) return undefined;
  if (!since(one, '11.0') && terms.some((term) => new Set(term).size < term.length))
    return problem(
      'unsupported-form',
      'Einsum with a diagonal is refused before 11.0.',
      'Take the diagonal with GatherND.',
    );
  const sizes = new Map<string, Dim>();
  for (const [at, term] of terms.entries()) {
    const shape = shapeOf(one, at);
    if (!shape) continue;
    if (shape.length !== term.length) return mismatch(`Einsum reads ${shapeText(shape)} as ${term}.`);
    for (const [axis, letter] of term.split('').entries()) {
      const size = shape[axis]!;
      if (clash(sizes.get(letter), size))
        return mismatch(`Einsum has two sizes for ${letter}: ${sizes.get(letter)} and ${size}.`);
      if (typeof size === 'number') sizes.set(letter, size);
    }
  }
  return undefined;
};

const pool: FormCheck = (one) => {
  const kernel = intsAttribute(one.node, 'kernel_shape');
  const rank = rankOf(one, 0);
  if (kernel && rank !== undefined && kernel.length !== rank - 2)
    return mismatch(`${one.node.op} has a kernel of ${kernel.length} dimensions for an input of ${rank}.`);
  const pads = intsAttribute(one.node, 'pads');
  if (
    one.node.op === 'AveragePool' &&
    intAttribute(one.node, 'count_include_pad') !== 1 &&
    kernel &&
    pads?.some((pad, at) => pad >= kernel[at % kernel.length]!)
  )
    return mismatch(`AveragePool has pads as large as its kernel of ${shapeText(kernel)}.`);
  return negativePads(one) ?? ranks(one.node.op === 'LpPool' ? 4 : 3, 5)(one);
};

const attention: FormCheck = (one) => {
  const [k, v] = [shapeOf(one, 1), shapeOf(one, 2)];
  return k && v && (k.length !== v.length || k.some((size, axis) => differ(size, v[axis])))
    ? problem(
        'unsupported-form',
        `Attention with keys of ${shapeText(k)} and values of ${shapeText(v)} is refused.`,
        'Give them one shape.',
      )
    : undefined;
};

const all =
  (...checks: FormCheck[]): FormCheck =>
  (one) => {
    for (const check of checks) {
      const found = check(one);
      if (found) return found;
    }
    return undefined;
  };

const CHECKS: Readonly<Record<string, FormCheck>> = {
  MatMul: product,
  Gemm: gemm,
  Concat: concat,
  Reshape: reshape,
  Transpose: transpose,
  Squeeze: all(squeeze, axesOnce(1)),
  Unsqueeze: unsqueeze,
  Tile: listLength(1, -1, 1),
  Pad: listLength(1, 3, 2),
  Slice: all(slice, axesOnce(3)),
  DepthToSpace: all(ranks(4, 4), blocks),
  SpaceToDepth: all(ranks(4, 4), blocks),
  Gather: ranks(1),
  GatherElements: ranks(1),
  LRN: ranks(4),
  ArgMax: ranks(2),
  ArgMin: ranks(2),
  Softmax: vectors,
  LogSoftmax: vectors,
  Hardmax: vectors,
  Conv: all(ranks(3, 5), window),
  ConvTranspose: all(ranks(3, 5), window),
  MaxPool: pool,
  AveragePool: pool,
  LpPool: pool,
  GlobalAveragePool: ranks(3),
  GlobalMaxPool: ranks(3),
  InstanceNormalization: ranks(3),
  BatchNormalization: channels,
  GroupNormalization: groups,
  PRelu: slope,
  Resize: resize,
  EyeLike: eye,
  Einsum: einsum,
  // 5-D since 11.0.
  GridSample: (one) => ranks(4, since(one, '11.0') ? 5 : 4)(one),
  TensorScatter: ranks(4, 4),
  Attention: attention,
};

const BROADCAST = /^(?:Add|Sub|Mul|Div|Pow|Min|Max|Mean|Sum|Mod|Equal|(?:Greater|Less)(?:OrEqual)?|And|Or|Xor|Where)$/;

/** What is wrong with the shapes of one node; undefined: nothing that is known. */
export function shapeProblem(one: NodeToCheck): NodeProblem | undefined {
  const { op } = one.node;
  if (BROADCAST.test(op)) return elementwise(one);
  const axis = AXIS.test(op) && (op !== 'Split' || since(one, '11.0')) ? intAttribute(one.node, 'axis') : undefined;
  const axes = op.startsWith('Reduce') ? (valuesAt(one, 1) ?? intsAttribute(one.node, 'axes')) : null;
  return (
    (op.startsWith('Reduce') ? ranks(1)(one) : undefined) ??
    axisProblem(one, axes ?? (axis === undefined ? [] : [axis])) ??
    (Object.hasOwn(CHECKS, op) ? CHECKS[op]!(one) : undefined)
  );
}
