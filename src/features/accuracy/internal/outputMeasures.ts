// What the outputs of a model are, and how they are judged.
import type { FoundMeasure, MeasureKind, OutputMeasure, PlannedOutput } from '../../../kernel/simulation/simulated.ts';
import { intAttribute, isFloatType, type OnnxNode } from '../../../kernel/read/onnx/onnxModel.ts';
import { products } from '../../../kernel/network/modelGraph.ts';
import type { Network } from '../../../kernel/network/network.ts';
import { counted, percentText, thousands } from '../../../kernel/base/text.ts';
import type { Shape } from '../../../kernel/network/outputTypes.ts';

/** What the error of an output is that is judged by its measure alone. */
export const measureErrorTexts: Readonly<Record<MeasureKind, string>> = {
  numeric: 'max|difference| / max|reference|',
  top1: 'share of rows with another class',
  tokens: 'share of positions with another token',
  iou: '1 - mean IoU of the classes',
  boxes: 'the largest of: share of boxes without a match, 1 - mean IoU, difference of scores',
  cosine: '1 - least cosine',
  set: 'mean difference of the sorted elements',
  elements: 'share of elements that differ',
};

/** What a measure found over all samples: its error, null: none, and in words. */
export function measureText(
  kind: MeasureKind,
  found: readonly (FoundMeasure | null)[],
): { error: number | null; text: string } {
  const known = found.filter((one) => one !== null && one.error !== null) as FoundMeasure[];
  if (known.length < found.length || known.length === 0) return { error: null, text: 'cannot be measured' };
  const sum = (key: 'count' | 'wrong' | 'ties' | 'missing') => known.reduce((total, one) => total + (one[key] ?? 0), 0);
  const least = (key: 'iou' | 'cosine') => Math.min(...known.map((one) => one[key] ?? 1));
  const worst = Math.max(...known.map(({ error }) => error!));
  const ties = sum('ties') > 0 ? `, ${thousands(sum('ties'))} of them a tie` : '';
  const agree = (what: string) => {
    const [count, wrong] = [sum('count'), sum('wrong')];
    const error = wrong / Math.max(1, count);
    return { error, text: `${what} agrees in ${thousands(count - wrong)} of ${thousands(count)}${ties}` };
  };
  switch (kind) {
    case 'top1':
      return agree('top-1');
    case 'tokens':
      return agree('token');
    case 'iou': {
      const [low] = known.toSorted((a, b) => a.worst! - b.worst!);
      const text = `mean IoU ${share(least('iou'))} of ${counted(low!.count!, 'class', 'classes')}, least ${share(low!.worst!)} for class ${low!.label!}`;
      return { error: worst, text };
    }
    case 'boxes': {
      const [count, missing] = [sum('count'), sum('missing')];
      const scores = Math.max(...known.map(({ score }) => score ?? 0));
      const matched = Math.max(0, count - missing);
      const which = missing === 0 ? 'all' : `${thousands(matched)} of`;
      const overlap = matched > 0 ? `, mean IoU ${share(least('iou'))}` : '';
      const text = `${which} ${counted(count, 'box', 'boxes')} matched${overlap}, score error ${Number(scores.toPrecision(2))}`;
      return { error: worst, text };
    }
    case 'cosine':
      return { error: worst, text: `least cosine ${share(least('cosine'))}` };
    case 'elements':
      return { error: worst, text: `${percentText(100 * worst)} of elements differ` };
    case 'set':
      return { error: worst, text: `sorted elements differ by ${Number(worst.toPrecision(2))} on average` };
    case 'numeric':
      return { error: worst, text: '' };
  }
}

/** A share close to 1 with as many digits as set it apart: 0.99991. */
function share(value: number): string {
  if (value >= 1) return '1';
  const digits = value > 0.99 ? Math.min(7, 1 - Math.floor(Math.log10(1 - value))) : 3;
  return value.toFixed(digits).replace(/0+$/, '');
}

/** Which outputs count for the tolerance: those of floating-point types, all, or those with these names. */
export type JudgedOutputs = 'float' | 'all' | readonly string[];

export interface OutputChoice {
  judged: JudgedOutputs;
  /** Measures that the user chose, by output; '' is for all others. */
  measures: ReadonlyMap<string, MeasureKind>;
}

const words = (text: string): string[] => text.split(' ');
/** Operators that choose: close to a tie, a small error gives another index, and with it other results. */
const choosers = new Set(words('ArgMax ArgMin TopK NonMaxSuppression NonZero Unique Compress Multinomial'));
/** Those that make other types of floating-point numbers, also by comparing them. */
const deciders = new Set([
  ...choosers,
  ...words('Greater GreaterOrEqual Less LessOrEqual Equal Cast QuantizeLinear DynamicQuantizeLinear IsNaN IsInf'),
]);
/** What computes with weights or runs bodies: a choice before one of them is not at the end of the network. */
const heavy = new Set([
  ...products,
  ...words('LSTM GRU RNN Einsum Attention MatMulInteger ConvInteger QLinearConv QLinearMatMul If Loop Scan'),
]);
/** Operators that only arrange elements. */
const arranging = new Set(words('Identity Cast Reshape Transpose Squeeze Unsqueeze Flatten Dropout'));
/** What may be between the heads of a detector and its output. */
const decoding = new Set([
  ...arranging,
  ...words('Concat Mul Add Sub Div Pow Exp Split Slice Gather ScatterND Clip Max Min'),
]);
/** As many tensors as are judged for one output. */
const mostBefore = 6;

/** The outputs of a model, and what is judged for those that hold choices, in the order of the outputs. */
export function planOutputs(network: Network, { judged, measures }: OutputChoice): PlannedOutput[] {
  return new OutputPlan(network, measures).plan(judged);
}

class OutputPlan {
  private readonly network: Network;
  private readonly measures: ReadonlyMap<string, MeasureKind>;
  /** Nodes whose results depend on a choice at the end of the network. */
  private readonly tail: ReadonlySet<number>;

  constructor(network: Network, measures: ReadonlyMap<string, MeasureKind>) {
    this.network = network;
    this.measures = measures;
    this.tail = tailOf(network);
  }

  plan(judged: JudgedOutputs): PlannedOutput[] {
    const { tensors, graphOutputs } = this.network;
    const found: PlannedOutput[] = [];
    const extra = new Map<string, PlannedOutput>();
    const names = new Set(graphOutputs.map((tensor) => tensors[tensor]!.name));
    for (const tensor of graphOutputs) {
      const { name } = tensors[tensor]!;
      const isAsked = typeof judged === 'string' || judged.includes(name);
      const chosen = this.chosen(tensor);
      const isOther = !this.isFloat(tensor);
      const isNamed = typeof judged !== 'string';
      const before = chosen || isNamed ? [] : isOther ? this.decidedFrom(tensor) : this.chosenFrom(tensor);
      for (const { tensor: source, by } of before) {
        const own = tensors[source]!.name;
        if (names.has(own) || extra.has(own)) continue;
        const measure = this.guessBefore(source, by);
        extra.set(own, {
          name: own,
          judged: true,
          measure,
          feeds: { node: by.name || by.id, op: by.op, output: name },
        });
      }
      const measure = chosen ?? (isOther ? elements(before) : this.guess(tensor));
      found.push({
        name,
        judged: isAsked && (!isOther || before.length === 0 || judged === 'all' || chosen !== null),
        measure,
        ...(before.length > 0 && { before: before.map(({ tensor: source }) => tensors[source]!.name) }),
      });
    }
    return [...found, ...extra.values()];
  }

  private isFloat(tensor: number): boolean {
    const type = this.network.inferred.types[tensor] ?? null;
    return type === null || isFloatType(type);
  }

  private shapeOf(tensor: number): Shape {
    return this.network.inferred.shapes[tensor] ?? null;
  }

  private makerOf(tensor: number): OnnxNode | undefined {
    return this.network.nodes[this.network.tensors[tensor]?.producer ?? -1];
  }

  /** The node that computes a tensor, behind those that only arrange it. */
  private computes(tensor: number): OnnxNode | undefined {
    let maker = this.makerOf(tensor);
    for (let steps = 0; maker && arranging.has(maker.op) && steps < 16; steps++) {
      const [source = -1] = this.network.inputs[this.network.indexOfId.get(maker.id)!]!;
      maker = this.makerOf(source);
    }
    return maker;
  }

  /** Floating-point tensors, made by nodes, that the nearest decisions before a tensor are about. */
  private decidedFrom(tensor: number): { tensor: number; by: OnnxNode }[] {
    const { inputs } = this.network;
    const found = new Map<number, OnnxNode>();
    const seen = new Set<number>();
    const queue = [tensor];
    for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
      const { producer = -1, owner = 0 } = this.network.tensors[at] ?? {};
      const node = this.network.nodes[producer];
      if (!node || seen.has(producer) || owner !== -1 || node.subgraphs.length > 0) continue;
      if (node.op === 'Shape' || node.op === 'Size') continue;
      seen.add(producer);
      const read = inputs[producer]!.filter((input) => input >= 0);
      const floats = read.filter((input) => this.isComputed(input));
      if (deciders.has(node.op) && floats.length > 0) for (const input of floats) found.set(input, node);
      else queue.push(...read);
    }
    return sources(found);
  }

  /** For an output of floating point that holds what was chosen: what the choice and the chosen come from. */
  private chosenFrom(tensor: number): { tensor: number; by: OnnxNode }[] {
    const { producer = -1 } = this.network.tensors[tensor] ?? {};
    if (!this.tail.has(producer) || this.isSorted(tensor)) return [];
    const found = new Map<number, OnnxNode>();
    const seen = new Set<number>();
    const queue = [producer];
    for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      for (const input of this.network.inputs[at]!) {
        const source = this.network.tensors[input]?.producer ?? -1;
        if (this.tail.has(source)) queue.push(source);
        else if (input >= 0 && this.isComputed(input)) found.set(this.unarranged(input), this.network.nodes[at]!);
      }
    }
    return sources(found);
  }

  /** The tensor whose elements these are, in another shape. */
  private unarranged(tensor: number): number {
    const maker = this.makerOf(tensor);
    if (!maker || !arranging.has(maker.op)) return tensor;
    const [source = -1] = this.network.inputs[this.network.indexOfId.get(maker.id)!]!;
    return this.isComputed(source) ? this.unarranged(source) : tensor;
  }

  /** The largest elements in their order: comparable without their indexes. */
  private isSorted(tensor: number): boolean {
    const maker = this.makerOf(tensor);
    return maker?.op === 'TopK' && maker.outputs[0] === this.network.tensors[tensor]!.name;
  }

  /** A floating-point tensor that depends on inputs. */
  private isComputed(tensor: number): boolean {
    const { network } = this;
    const { producer = -1, kind } = network.tensors[tensor] ?? {};
    const type = network.inferred.types[tensor];
    if (kind !== 'node' || type === null || type === undefined || !isFloatType(type)) return false;
    const seen = new Set<number>();
    const queue = [producer];
    for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      const node = network.nodes[at];
      if (!node || node.op === 'Shape' || node.op === 'Size') continue;
      if (node.subgraphs.length > 0) return true;
      for (const input of network.inputs[at]!) {
        const own = network.tensors[input];
        if (own?.kind === 'input') return true;
        if (own && own.producer >= 0) queue.push(own.producer);
      }
    }
    return false;
  }

  /** The measure that the user chose for an output; null: none. */
  private chosen(tensor: number): OutputMeasure | null {
    const { name } = this.network.tensors[tensor]!;
    const kind = this.measures.get(name) ?? this.measures.get('');
    if (kind === undefined) return null;
    const base = { kind, by: kind === 'numeric' ? 'numeric' : 'measure', reason: 'chosen', chosen: true } as const;
    const rank = this.shapeOf(tensor)?.length ?? 0;
    if (kind === 'boxes') return { ...base, ...(this.boxes(tensor) ?? this.boxesByShape(tensor)) };
    if (kind === 'iou') return { ...base, axis: this.isFloat(tensor) ? (rank >= 3 ? rank - 3 : -1) : null };
    if (kind === 'top1') return { ...base, axis: rank === 4 ? 1 : -1 };
    return kind === 'tokens' || kind === 'cosine' ? { ...base, axis: -1 } : base;
  }

  /** What an output of floating point is, by structure and name. */
  private guess(tensor: number): OutputMeasure | null {
    const { producer, name } = this.network.tensors[tensor]!;
    const isTail = this.tail.has(producer) && !this.isSorted(tensor);
    const boxes = this.boxes(tensor);
    if (boxes) return { ...boxes, by: isTail ? 'measure' : 'numeric' };
    if (isTail) return { kind: 'set', by: 'measure', reason: 'it holds what was chosen, in the order of the choice' };
    return this.guessPlain(tensor, name);
  }

  private guessPlain(tensor: number, name: string): OutputMeasure | null {
    const shape = this.shapeOf(tensor);
    const maker = this.computes(tensor);
    if (!shape || !maker) return null;
    const shown = (kind: MeasureKind, axis: number, reason: string): OutputMeasure => ({
      kind,
      by: 'numeric',
      axis,
      reason,
    });
    if (embeddingName.test(name)) return shown('cosine', -1, 'its name says that it is an embedding');
    if (isNormalized(maker) || this.isDividedByNorm(maker))
      return shown('cosine', -1, `${maker.op} gives vectors of unit length`);
    const isScores = ['Softmax', 'LogSoftmax'].includes(maker.op) || this.isDividedBySum(maker);
    const axis = shape.length === 4 ? 1 : -1;
    const classes = shape.at(axis);
    if (typeof classes !== 'number' || classes < 2) return null;
    const what = `${maker.op} gives ${classes} ${isScores ? 'probabilities' : 'scores'} for each`;
    const kind = this.scoresKind(shape, name, isScores, this.isProduct(maker));
    if (kind === null) return null;
    const each = { top1: 'row', tokens: 'position of a sequence', iou: 'pixel' }[kind];
    return shown(kind, axis, `${what} ${each}`);
  }

  /** What scores or probabilities of classes are of; null: probably nothing of the kind. */
  private scoresKind(
    shape: NonNullable<Shape>,
    name: string,
    isScores: boolean,
    isProduct: boolean,
  ): 'top1' | 'tokens' | 'iou' | null {
    const isNamed = (pattern: RegExp) => isScores || pattern.test(name);
    if (shape.length === 2) return isScores || isProduct ? 'top1' : null;
    if (shape.length === 3) {
      const isProbable = isProduct && (tokenName.test(name) || Number(shape[2]) >= 100);
      return isScores || isProbable ? 'tokens' : null;
    }
    if (shape.length !== 4 || !isNamed(regionName)) return null;
    return shape[2] === 1 && shape[3] === 1 ? 'top1' : 'iou';
  }

  /** A product, also with its bias. */
  private isProduct({ op, id }: OnnxNode): boolean {
    if (op !== 'Add') return products.has(op);
    const { inputs, indexOfId, tensors } = this.network;
    const read = inputs[indexOfId.get(id)!]!;
    const hasBias = read.some((input) => tensors[input]?.kind === 'initializer');
    return hasBias && read.some((input) => products.has(this.makerOf(input)?.op ?? ''));
  }

  /** What a choice is made from. */
  private guessBefore(tensor: number, by: OnnxNode): OutputMeasure | null {
    const rank = this.shapeOf(tensor)?.length ?? 0;
    if (by.op === 'ArgMax') {
      const given = intAttribute(by, 'axis') ?? 0;
      const axis = given < 0 && rank > 0 ? given + rank : given;
      const kind = rank >= 4 ? 'iou' : rank === 3 && axis === 2 ? 'tokens' : 'top1';
      return { kind, by: 'numeric', axis, reason: `ArgMax chooses from it` };
    }
    if (by.op === 'NonMaxSuppression') {
      const [place, scores] = by.inputs;
      if (this.network.tensors[tensor]!.name === place)
        return {
          kind: 'boxes',
          by: 'numeric',
          layout: 'apart',
          axis: -1,
          scores: scores!,
          scoresAxis: 1,
          aligned: true,
          reason: 'NonMaxSuppression reads it as boxes',
        };
    }
    return this.guess(tensor);
  }

  /** A softmax that is written out. */
  private isDividedBySum({ op, id }: OnnxNode): boolean {
    if (op !== 'Div') return false;
    const [value = -1, sum = -1] = this.network.inputs[this.network.indexOfId.get(id)!]!;
    return this.makerOf(value)?.op === 'Exp' && this.makerOf(sum)?.op === 'ReduceSum';
  }

  private isDividedByNorm({ op, id }: OnnxNode): boolean {
    if (op !== 'Div') return false;
    let divisor = this.makerOf(this.network.inputs[this.network.indexOfId.get(id)!]![1] ?? -1);
    for (let steps = 0; divisor && ['Expand', 'Clip', 'Max', 'Add', 'Sqrt'].includes(divisor.op) && steps < 6; steps++)
      divisor = this.makerOf(this.network.inputs[this.network.indexOfId.get(divisor.id)!]![0] ?? -1);
    return divisor?.op === 'ReduceL2';
  }

  /** Boxes with their scores in one tensor, or in outputs of their own; null: it is neither. */
  private boxes(tensor: number): OutputMeasure | null {
    const shape = this.shapeOf(tensor);
    const { name, producer } = this.network.tensors[tensor]!;
    const aligned = !this.tail.has(producer);
    if (shape?.at(-1) === 4 && boxName.test(name)) return this.boxesApart(name, shape, aligned);
    if (!aligned && shape?.at(-1) === 6)
      return {
        kind: 'boxes',
        by: 'numeric',
        layout: 'row',
        axis: -1,
        aligned,
        reason: 'rows of 6 numbers behind a choice: a box, its score, its class',
      };
    if (shape?.length !== 3 || !this.isDecoded(tensor)) return null;
    return this.boxesByShape(tensor);
  }

  /** `[1, 84, 8400]` or `[1, 25200, 85]`. */
  private boxesByShape(tensor: number): OutputMeasure | null {
    const shape = this.shapeOf(tensor);
    const [channels, places] = [shape?.at(-2), shape?.at(-1)];
    if (typeof channels !== 'number' || typeof places !== 'number') return null;
    const [few, many] = [Math.min(channels, places), Math.max(channels, places)];
    if (few < 5 || many < 2 * few) return null;
    const isFirst = channels === few;
    return {
      kind: 'boxes',
      by: 'numeric',
      layout: isFirst || few < 6 ? 'classes' : 'objectness',
      axis: isFirst ? -2 : -1,
      aligned: true,
      reason: `${few} numbers for each of ${many} places, with Sigmoid and Concat before them: boxes with scores`,
    };
  }

  private boxesApart(name: string, shape: NonNullable<Shape>, aligned: boolean): OutputMeasure | null {
    const { tensors, graphOutputs } = this.network;
    const others = graphOutputs.filter((one) => tensors[one]!.name !== name);
    const scores = others.find((one) => this.isFloat(one) && scoreName.test(tensors[one]!.name) && shape.at(-1) === 4);
    if (scores === undefined) return null;
    const labels = others.find((one) => !this.isFloat(one) && labelName.test(tensors[one]!.name));
    return {
      kind: 'boxes',
      by: 'numeric',
      layout: 'apart',
      axis: -1,
      scores: tensors[scores]!.name,
      ...(labels !== undefined && { labels: tensors[labels]!.name }),
      aligned,
      reason: `4 numbers for each place, with scores in "${tensors[scores]!.name}"`,
    };
  }

  /** Whether Concat puts a Sigmoid's results, and others, into a tensor, with only decoding between. */
  private isDecoded(tensor: number): boolean {
    const { network } = this;
    const seen = new Set<number>();
    const queue = [network.tensors[tensor]!.producer];
    const ops = new Set<string>();
    for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
      const node = network.nodes[at];
      if (!node || seen.has(at) || seen.size > 200) continue;
      seen.add(at);
      ops.add(node.op);
      if (decoding.has(node.op))
        for (const input of network.inputs[at]!) queue.push(network.tensors[input]?.producer ?? -1);
    }
    return ops.has('Sigmoid') && ops.has('Concat');
  }
}

const elements = (before: readonly { by: OnnxNode }[]): OutputMeasure => ({
  kind: 'elements',
  by: 'measure',
  reason: before.length > 0 ? `${before[0]!.by.op} chooses them` : 'it is not floating point',
});

const sources = (found: ReadonlyMap<number, OnnxNode>) =>
  [...found].map(([tensor, by]) => ({ tensor, by })).slice(0, mostBefore);

const isNormalized = ({ op }: OnnxNode): boolean => op === 'LpNormalization';

const embeddingName = /embed|feature|hidden_state|descriptor|representation|pooler/i;
const regionName = /seg|mask|logit|class|label/i;
const tokenName = /logit|prob|token|ctc|score|^out/i;
const boxName = /box|loc|rois/i;
const scoreName = /score|conf|logit|prob|cls|class/i;
const labelName = /label|class|cls/i;

/** Nodes behind a choice that nothing heavy follows. */
function tailOf({ nodes, outputs, tensors, owner }: Network): Set<number> {
  const tail = new Set<number>();
  for (const [index, { op }] of nodes.entries()) {
    if (!choosers.has(op) || owner[index] !== -1 || tail.has(index)) continue;
    const behind = new Set<number>();
    const queue = [index];
    let isEnd = true;
    for (let at = queue.pop(); at !== undefined && isEnd; at = queue.pop()) {
      if (behind.has(at)) continue;
      behind.add(at);
      isEnd = at === index || !heavy.has(nodes[at]!.op);
      for (const output of outputs[at]!) queue.push(...(tensors[output]?.consumers ?? []));
    }
    if (isEnd) for (const at of behind) tail.add(at);
  }
  return tail;
}
