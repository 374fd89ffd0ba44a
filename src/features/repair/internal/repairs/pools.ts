import { intAttribute, intsAttribute, type OnnxNode, textAttribute } from '../../../../kernel/read/onnx/onnxModel.ts';
import { isKnown } from '../../../../kernel/network/outputTypes.ts';
import type { RepairDraft } from '../draft.ts';
import type { NewPlace } from '../place.ts';
import type { Repair } from '../repair.ts';

/** More nodes than this make the graph unreadable, and the build slow. */
const mostTaps = 64;

export const poolTaps: Repair = {
  id: 'pool-taps',
  title: 'Write a pooling as Max or Add of slices, one for each place of its window',
  class: 'rounding',
  rejected:
    'MaxPool, AveragePool and LpPool with dilations, MaxPool whose places of the maxima are used, and LpPool of a norm other than 1 and 2.',
  proof:
    'Each slice takes one place of all windows, and ArgMax finds the first maximum. Sums may be in another order, and the maximum of 0 and −0 the other one. Sizes are known and a window has at most 64 places.',
  versions: 'all',
  issues: [],
  apply: (draft) => {
    for (const node of draft.nodes('MaxPool', 'AveragePool', 'LpPool')) {
      const isDilated = (intsAttribute(node, 'dilations') ?? []).some((dilation) => dilation !== 1);
      const norm = node.op === 'LpPool' ? (intAttribute(node, 'p') ?? 2) : 2;
      const hasPlaces = node.outputs.slice(1).some((name) => draft.subject.isUsed(node, name));
      if (!isDilated && !hasPlaces && (norm === 1 || norm === 2)) continue;
      const reason = taps(draft, node, norm);
      if (reason !== null) draft.refuse(node, reason);
    }
  },
};

/** One dimension of a window, over the padded tensor. */
interface Slide {
  begin: number;
  end: number;
  count: number;
  step: number;
  dilation: number;
  kernel: number;
  size: number;
}

function slidesOf({ subject }: RepairDraft, node: OnnxNode): Slide[] | null {
  const [before, after] = [subject.shape(node, node.inputs[0]!), subject.shape(node, node.outputs[0]!)];
  const kernels = intsAttribute(node, 'kernel_shape') ?? [];
  const pads = intsAttribute(node, 'pads');
  const auto = textAttribute(node, 'auto_pad') ?? 'NOTSET';
  if (before?.length !== kernels.length + 2 || after?.length !== before.length) return null;
  const slides: Slide[] = [];
  for (const [index, kernel] of kernels.entries()) {
    const [size, count] = [before[index + 2], after[index + 2]];
    if (typeof size !== 'number' || typeof count !== 'number') return null;
    const step = intsAttribute(node, 'strides')?.[index] ?? 1;
    const dilation = intsAttribute(node, 'dilations')?.[index] ?? 1;
    const reach = (count - 1) * step + dilation * (kernel - 1) + 1;
    const more = Math.max(0, reach - size);
    const same = auto === 'SAME_UPPER' ? Math.floor(more / 2) : auto === 'SAME_LOWER' ? Math.ceil(more / 2) : 0;
    const begin = pads?.[index] ?? same;
    slides.push({ begin, end: pads?.[index + kernels.length] ?? more - same, count, step, dilation, kernel, size });
  }
  return slides;
}

/** For each place of an output the number of places of its window that count. */
function windowSizes(slides: readonly Slide[], withPads: boolean): number[] {
  let sizes = [1];
  for (const { begin, end, count, step, dilation, kernel, size } of slides) {
    const [first, last] = withPads ? [0, begin + size + end] : [begin, begin + size];
    const places = Array.from({ length: count }, (_, at) =>
      Array.from({ length: kernel }, (__, tap) => at * step + tap * dilation).filter(
        (place) => place >= first && place < last,
      ),
    );
    sizes = sizes.flatMap((outer) => places.map((inner) => outer * inner.length));
  }
  return sizes;
}

interface Windows {
  slides: readonly Slide[];
  /** For each place of a window the tensor of what all windows have there. */
  parts: readonly string[];
  places: readonly (readonly number[])[];
  /** Batch and channels. */
  planes: readonly number[];
  output: string;
}

/** Writes where in the flat input the maxima are: where the window begins, and the way from there to its first maximum. */
function writePlaces(at: NewPlace, { slides, parts, places, planes, output }: Windows): void {
  const windows = at.concat(
    parts.map((part) => at.unsqueeze(part, [-1])),
    -1,
  );
  const first = at.op('ArgMax', [windows], { attributes: { axis: { int: -1 }, keepdims: { int: 0 } } });
  const size = slides.reduce((product, slide) => product * slide.size, 1);
  const begins = Array.from({ length: planes[0]! * planes[1]! }, (_, plane) => plane * size);
  let corners = [0];
  for (const slide of slides)
    corners = corners.flatMap((outer) =>
      Array.from({ length: slide.count }, (_, index) => outer * slide.size + index * slide.step - slide.begin),
    );
  const ways = places.map((place) =>
    place.reduce((sum, tap, axis) => sum * slides[axis]!.size + tap * slides[axis]!.dilation, 0),
  );
  const counts = slides.map(({ count }) => count);
  const starts = at.op('Add', [
    at.constant('int64', [...planes, ...counts.map(() => 1)], begins),
    at.constant('int64', [1, 1, ...counts], corners),
  ]);
  at.op('Add', [starts, at.gather(at.ints(...ways), first, 0)], { outputs: [output] });
}

/** The tensor with as many of `value` on both sides as the windows reach. */
function pad(at: NewPlace, input: string, slides: readonly Slide[], value: string): string {
  const begins = slides.map(({ begin }) => begin);
  const ends = slides.map(({ begin, size, count, step, dilation, kernel }) =>
    Math.max(0, (count - 1) * step + dilation * (kernel - 1) + 1 - begin - size),
  );
  return [...begins, ...ends].every((count) => count === 0)
    ? input
    : at.op('Pad', [input, at.ints(0, 0, ...begins, 0, 0, ...ends), value]);
}

/** @returns why it cannot be done */
function taps(draft: RepairDraft, node: OnnxNode, norm: number): string | null {
  const { subject } = draft;
  const type = subject.type(node, node.inputs[0]!);
  if (subject.opset < 11) return 'the operators that it needs exist since operator set 11';
  const slides = slidesOf(draft, node);
  if (!slides) return 'its sizes are not known';
  if (type === null || !type.startsWith('float')) return 'it is not a pooling of floating-point numbers';
  const [, placesName = ''] = node.outputs;
  const planes = subject.shape(node, node.inputs[0]!)!.slice(0, 2);
  const hasPlaces = placesName !== '' && subject.isUsed(node, placesName);
  if (hasPlaces && (!isKnown(planes) || intAttribute(node, 'storage_order') === 1))
    return 'the places of its maxima are used, and count by columns or over an unknown number of channels';
  if (slides.reduce((product, { kernel }) => product * kernel, 1) > mostTaps) return 'its window is too large';
  const at = draft.at(node);
  const axes = slides.map((_, index) => index + 2);
  const isMax = node.op === 'MaxPool';
  const [whole = ''] = node.inputs;
  const input = node.op === 'LpPool' ? at.op('Pow', [at.op('Abs', [whole]), at.scalar(type, norm)]) : whole;
  const padded = pad(at, input, slides, at.scalar(type, isMax ? -Infinity : 0));
  let places: number[][] = [[]];
  for (const { kernel } of slides)
    places = places.flatMap((outer) => Array.from({ length: kernel }, (_, tap) => [...outer, tap]));
  const parts = places.map((place) => {
    const starts = slides.map(({ dilation }, index) => place[index]! * dilation);
    const stops = slides.map(({ count, step }, index) => starts[index]! + (count - 1) * step + 1);
    const steps = slides.map(({ step }) => step);
    return at.op('Slice', [padded, at.ints(...starts), at.ints(...stops), at.ints(...axes), at.ints(...steps)]);
  });
  if (hasPlaces) writePlaces(at, { slides, parts, places, planes: planes.map(Number), output: placesName });
  const op = isMax ? 'Max' : 'Add';
  const last = parts.pop()!;
  const joined = parts.length === 0 ? '' : parts.reduce((sum, part) => at.op(op, [sum, part]));
  const all = (outputs?: readonly string[]): string =>
    joined === ''
      ? at.op('Identity', [last], outputs ? { outputs } : {})
      : at.op(op, [joined, last], outputs ? { outputs } : {});
  if (isMax) all([node.outputs[0]!]);
  else if (node.op === 'LpPool') at.op('Pow', [all(), at.scalar(type, 1 / norm)], { outputs: node.outputs });
  else {
    const sizes = windowSizes(slides, intAttribute(node, 'count_include_pad') === 1);
    const counts = at.constant(type, [1, 1, ...slides.map(({ count }) => count)], sizes);
    at.op('Div', [all(), counts], { outputs: node.outputs });
  }
  at.done();
  return null;
}
