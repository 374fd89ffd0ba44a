// What a node does to values, as far as the model alone shows it: nothing, the same as another node, or nothing that counts.
import { valueAt } from '../../base/addTo.ts';
import { intAttribute, type OnnxAttribute, type OnnxNode, type OnnxTensor } from '../../read/onnx/onnxModel.ts';
import { isStandardDomain, products } from '../../network/modelGraph.ts';
import type { Network } from '../../network/network.ts';

/**
 * Operators whose result is made of other values than their inputs', and which TensorRT 10 names where it computes them.
 * Not among them: what moves or converts data (Myelin names few of those), what makes data without an input, Not (a
 * comparison or a Where takes it up), and what the parser builds as a loop.
 */
const computing: ReadonlySet<string> = new Set(
  (
    'Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization Ceil Celu Clip Conv ' +
    'ConvTranspose Cos Cosh Div Elu Einsum Equal Erf Exp Floor Gelu Gemm GlobalAveragePool GlobalMaxPool Greater ' +
    'GreaterOrEqual GroupNormalization HardSigmoid HardSwish InstanceNormalization IsInf IsNaN LayerNormalization ' +
    'LeakyRelu Less LessOrEqual Log LogSoftmax LpNormalization MatMul Max MaxPool Mean MeanVarianceNormalization Min ' +
    'Mish Mod Mul Neg Or PRelu Pow RMSNormalization Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ' +
    'ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Round Selu Sigmoid Sign Sin Sinh Softmax Softplus ' +
    'Softsign Sqrt Sub Sum Tan Tanh ThresholdedRelu TopK Where Xor'
  ).split(' '),
);

/** Operators that hand their first input's elements on, all of them or some, in some order and perhaps several times. */
const moving: ReadonlySet<string> = new Set(
  (
    'Identity Dropout Reshape Flatten Squeeze Unsqueeze Transpose Expand Tile Cast CastLike Slice Split Gather ' +
    'GatherElements GatherND DepthToSpace SpaceToDepth'
  ).split(' '),
);
/** Those that may leave elements out. */
const selecting: ReadonlySet<string> = new Set(['Slice', 'Split', 'Gather', 'GatherElements', 'GatherND']);
const scales: ReadonlySet<string> = new Set(['Mul', 'Div']);
const offsets: ReadonlySet<string> = new Set(['Add', 'Sub']);
const symmetric: ReadonlySet<string> = new Set([
  'Add',
  'Mul',
  'Max',
  'Min',
  'Sum',
  'Mean',
  'And',
  'Or',
  'Xor',
  'Equal',
]);
const variadic: ReadonlySet<string> = new Set(['Max', 'Min', 'Sum', 'Mean']);
/** Operators that give back, or a constant for, what they are given twice. */
const idempotent: ReadonlySet<string> = new Set(['Max', 'Min', 'And', 'Or', 'Sub', 'Xor', 'Equal', 'Div']);
/** The operand (of what is not symmetric, the second one) that leaves the other as it is or makes a constant of it. */
const neutral: Readonly<Record<string, readonly number[]>> = {
  Add: [0],
  Sub: [0],
  Mul: [1],
  Div: [1],
  Pow: [0, 1],
  And: [0, 1],
  Or: [0, 1],
};
const inverses: Readonly<Record<string, string>> = {
  Neg: 'Neg',
  Reciprocal: 'Reciprocal',
  Exp: 'Log',
  Log: 'Exp',
};
/** The bounds of a type, as exporters write them, are none. */
const mostFloat = 3.4e38;
const roundings: ReadonlySet<string> = new Set(['Floor', 'Ceil', 'Round']);
/** Ranges that operators' results are in, whatever their inputs. */
const ranges: Readonly<Record<string, readonly [number, number]>> = {
  Relu: [0, Infinity],
  Abs: [0, Infinity],
  Exp: [0, Infinity],
  Sqrt: [0, Infinity],
  Softplus: [0, Infinity],
  ReduceL1: [0, Infinity],
  ReduceL2: [0, Infinity],
  ReduceSumSquare: [0, Infinity],
  Sigmoid: [0, 1],
  HardSigmoid: [0, 1],
  Softmax: [0, 1],
  Tanh: [-1, 1],
  Erf: [-1, 1],
  Sin: [-1, 1],
  Cos: [-1, 1],
};

/** What Half and BFloat16 cannot tell from a neutral element: TensorRT takes what is below Half's smallest normal number for zero. */
const halfSteps = { Half: [2 ** -14, 2 ** -11], BFloat16: [0, 2 ** -8] } as const;
/** How deep equal nodes are compared, and constants evaluated. */
const deepest = 40;
/** Tensors that are looked at on the way to the results. */
const mostTensors = 20_000;

export class ValueFacts {
  readonly #graph: Network;
  /** Reduced types in which the engine computes. */
  readonly #types: ReadonlySet<string>;
  readonly #equal = new Map<string, boolean>();
  readonly #results: ReadonlySet<number>;

  /** @param types those of the engine's tensors, as TensorRT calls them */
  constructor(graph: Network, types: ReadonlySet<string>) {
    this.#graph = graph;
    this.#types = types;
    this.#results = new Set(graph.graphOutputs);
  }

  /** The one value that all elements of a tensor have; null: they differ, or the model's structure does not show them. */
  uniform(tensor: number, depth = 0): number | null {
    if (tensor < 0 || depth > deepest) return null;
    const { stored, producer } = this.#graph.tensors[tensor]!;
    if (stored) return sameElement(stored);
    const ints = this.#graph.inferred.values?.get(tensor);
    if (ints && ints.length > 0 && ints.every((one) => typeof one === 'number' && one === ints[0]))
      return Number(ints[0]);
    if (producer < 0) return null;
    const node = this.#graph.nodes[producer]!;
    if (!isStandardDomain(node.domain)) return null;
    const of = (at: number): number | null => this.uniform(this.#graph.inputs[producer]![at] ?? -1, depth + 1);
    if (node.op === 'Constant' || node.op === 'ConstantOfShape') return constantElement(node);
    if (node.op === 'Cast') {
      const value = of(0);
      // To bool every value but zero is true, to integers the fraction is lost.
      return value === null ? null : intAttribute(node, 'to') === 9 ? Number(value !== 0) : value;
    }
    if (moving.has(node.op)) return of(0);
    const compute = scalarOf(node.op);
    if (!compute) return null;
    const values = this.#graph.inputs[producer]!.map((_, at) => of(at));
    return values.every((value) => value !== null) ? compute(values[0]!, values[1] ?? 0) : null;
  }

  /**
   * A node whose result is one of its inputs or a constant: `x × 1`, `x × 0`, `x ^ 1`, a Clip that cannot clip.
   * `isComputed`: nodes that run in the engine. Of those a product would have become a constant, had a factor become one.
   */
  isNeutral(node: number, isComputed: (node: number) => boolean): boolean {
    const { op, domain } = this.#graph.nodes[node]!;
    if (!isStandardDomain(domain)) return false;
    const inputs = this.#graph.inputs[node]!;
    const [x = -1, y = -1] = inputs;
    if (inputs.length === 1 && variadic.has(op)) return true;
    if (x === y && idempotent.has(op)) return true;
    return (
      this.#hasNeutralOperand(node, isComputed) ||
      this.#keepsRange(node) ||
      this.#undoesOther(node) ||
      this.#reducesNothing(node) ||
      (op === 'Where' && (this.uniform(x) !== null || this.#areSame(y, inputs[2] ?? -1)))
    );
  }

  #hasNeutralOperand(node: number, isComputed: (node: number) => boolean): boolean {
    const { op } = this.#graph.nodes[node]!;
    const inputs = this.#graph.inputs[node]!;
    const [x = -1, y = -1] = inputs;
    if (op === 'Max' || op === 'Min') return inputs.some((one) => Math.abs(this.uniform(one) ?? 0) >= mostFloat);
    const values = valueAt(neutral, op);
    const operands = symmetric.has(op) ? [x, y] : [y];
    if (values?.some((value) => operands.some((operand) => this.#isValue(operand, value, op)))) return true;
    if (op === 'Div') return this.uniform(x) === 0;
    if (op !== 'Mul' || !operands.some((operand) => this.uniform(operand) === 0)) return false;
    return !this.readers(node).some((at) => products.has(this.#graph.nodes[at]!.op) && isComputed(at));
  }

  /** Leaves what it is given as it is, because that is within its bounds. */
  #keepsRange(node: number): boolean {
    const { op } = this.#graph.nodes[node]!;
    const [x = -1, y = -1] = this.#graph.inputs[node]!;
    if (op === 'Clip') return this.#cannotClip(node);
    if (op === 'Relu' || op === 'Abs') return this.#rangeOf(x)[0] >= 0;
    if (op === 'LeakyRelu' || op === 'PRelu')
      return this.#rangeOf(x)[0] >= 0 || floatOf(this.#graph.nodes[node]!, 'alpha') === 1 || this.uniform(y) === 1;
    return roundings.has(op) && (roundings.has(this.#opOf(x)) || this.#isInteger(x));
  }

  /** One of two that cancel out: `-(-x)`, `log(exp(x))`. */
  #undoesOther(node: number): boolean {
    const inverse = valueAt(inverses, this.#graph.nodes[node]!.op);
    if (inverse === undefined) return false;
    const readers = this.readers(node);
    return (
      this.#opOf(this.#graph.inputs[node]![0] ?? -1) === inverse ||
      (readers.length > 0 && readers.every((reader) => this.#graph.nodes[reader]!.op === inverse))
    );
  }

  /**
   * A product with or a sum of a constant next to another of its kind, which may become one; or one with a long constant,
   * whose elements the model's structure does not show and which may be neutral.
   */
  mayMerge(node: number): boolean {
    const { op } = this.#graph.nodes[node]!;
    const kinds = [scales, offsets].find((kind) => kind.has(op));
    if (!kinds) return false;
    const inputs = this.#graph.inputs[node]!;
    const constant = inputs.findIndex((tensor) => this.#isConstant(tensor));
    if (constant < 0) return false;
    if (this.uniform(inputs[constant]!) === null && !this.#isRead(inputs[constant]!)) return true;
    const isAlike = (other: number): boolean =>
      other >= 0 &&
      kinds.has(this.#graph.nodes[other]!.op) &&
      this.#graph.inputs[other]!.some((tensor) => this.#isConstant(tensor));
    const data = inputs[1 - constant] ?? -1;
    return isAlike(this.#behindMoves(data)) || this.readers(node).some(isAlike);
  }

  /** Whether one of the model's results depends on the values that a node computes. */
  reachesResult(node: number): boolean {
    const graph = this.#graph;
    const seen = new Set<string>();
    const stack = graph.outputs[node]!.map((tensor) => ({ tensor, joined: false }));
    while (stack.length > 0) {
      const { tensor, joined } = stack.pop()!;
      const key = `${tensor}${joined ? 'j' : ''}`;
      if (tensor < 0 || seen.has(key)) continue;
      seen.add(key);
      if (seen.size > mostTensors || this.#results.has(tensor) || graph.tensors[tensor]!.owner >= 0) return true;
      for (const reader of graph.tensors[tensor]!.consumers) {
        const { op, subgraphs } = graph.nodes[reader]!;
        if (subgraphs.length > 0) return true;
        if (!this.#readsValues(reader, tensor)) continue;
        // What is joined and then selected from may not be what is selected.
        if (joined && selecting.has(op)) continue;
        const isJoined = op === 'Concat' || (joined && moving.has(op));
        for (const output of graph.outputs[reader]!) stack.push({ tensor: output, joined: isJoined });
      }
    }
    return false;
  }

  /** Whether two nodes compute the same: of one operator and attributes, from the same tensors or equal constants. */
  areEqual(a: number, b: number, depth = 0): boolean {
    if (a === b) return true;
    const [one, other] = [this.#graph.nodes[a]!, this.#graph.nodes[b]!];
    if (one.op !== other.op || one.domain !== other.domain || depth > deepest) return false;
    if (one.subgraphs.length > 0 || /^Random|^Multinomial$|^Bernoulli$/.test(one.op)) return false;
    const key = a < b ? `${a} ${b}` : `${b} ${a}`;
    const known = this.#equal.get(key);
    if (known !== undefined) return known;
    this.#equal.set(key, false);
    const left = this.#graph.inputs[a]!;
    const right = this.#graph.inputs[b]!;
    const match = (from: readonly number[], to: readonly number[]): boolean =>
      from.every((tensor, at) => this.#areSame(tensor, to[at]!, depth + 1));
    const result =
      left.length === right.length &&
      keyOf(one) === keyOf(other) &&
      (match(left, right) || (symmetric.has(one.op) && left.length === 2 && match(left, right.toReversed())));
    this.#equal.set(key, result);
    return result;
  }

  /** The nodes that read what a node makes, behind those that only move it. */
  readers(node: number): number[] {
    const found = new Set<number>();
    const seen = new Set([node]);
    const stack = [node];
    while (stack.length > 0 && seen.size < 200) {
      for (const tensor of this.#graph.outputs[stack.pop()!]!) {
        for (const reader of this.#graph.tensors[tensor]!.consumers) {
          if (!moving.has(this.#graph.nodes[reader]!.op)) found.add(reader);
          else if (!seen.has(reader) && this.#graph.inputs[reader]![0] === tensor) {
            seen.add(reader);
            stack.push(reader);
          }
        }
      }
    }
    return [...found];
  }

  /** The nodes that make what a node reads, behind those that only move it. */
  sources(node: number): number[] {
    return [...new Set(this.#graph.inputs[node]!.map((tensor) => this.#behindMoves(tensor)).filter((at) => at >= 0))];
  }

  #behindMoves(tensor: number): number {
    let at = tensor;
    for (let steps = 0; steps < 200 && at >= 0; steps++) {
      const { producer } = this.#graph.tensors[at]!;
      if (producer < 0 || !moving.has(this.#graph.nodes[producer]!.op)) return producer;
      at = this.#graph.inputs[producer]![0] ?? -1;
    }
    return -1;
  }

  #areSame(a: number, b: number, depth = 0): boolean {
    if (a === b) return true;
    if (a < 0 || b < 0) return false;
    const [one, other] = [this.#graph.tensors[a]!, this.#graph.tensors[b]!];
    if (one.stored || other.stored) {
      return one.stored !== undefined && other.stored !== undefined && haveSameElements(one.stored, other.stored);
    }
    if (one.producer < 0 || other.producer < 0) return false;
    return (
      this.#graph.outputs[one.producer]!.indexOf(a) === this.#graph.outputs[other.producer]!.indexOf(b) &&
      this.areEqual(one.producer, other.producer, depth)
    );
  }

  #opOf(tensor: number): string {
    const producer = this.#behindMoves(tensor);
    return producer < 0 ? '' : this.#graph.nodes[producer]!.op;
  }

  /** The value, or one that the engine's reduced type cannot tell from it. */
  #isValue(tensor: number, wanted: number, op: string): boolean {
    const value = this.uniform(tensor);
    if (value === null) return false;
    if (value === wanted) return true;
    return (['Half', 'BFloat16'] as const).some((type) => {
      if (!this.#types.has(type)) return false;
      const [absolute, relative] = halfSteps[type];
      if (offsets.has(op)) return wanted === 0 && Math.abs(value) <= absolute;
      return scales.has(op) && wanted === 1 && Math.abs(value - 1) <= relative;
    });
  }

  #rangeOf(tensor: number): readonly [number, number] {
    const producer = this.#behindMoves(tensor);
    if (producer < 0) return [-Infinity, Infinity];
    const node = this.#graph.nodes[producer]!;
    return node.op === 'Clip' ? this.#boundsOf(producer) : (valueAt(ranges, node.op) ?? [-Infinity, Infinity]);
  }

  #boundsOf(node: number): readonly [number, number] {
    const clip = this.#graph.nodes[node]!;
    const [, low = -1, high = -1] = this.#graph.inputs[node]!;
    const min = floatOf(clip, 'min') ?? (low < 0 ? -Infinity : (this.uniform(low) ?? Number.NaN));
    const max = floatOf(clip, 'max') ?? (high < 0 ? Infinity : (this.uniform(high) ?? Number.NaN));
    return [min, max];
  }

  #cannotClip(node: number): boolean {
    const [min, max] = this.#boundsOf(node);
    const [low, high] = this.#rangeOf(this.#graph.inputs[node]![0] ?? -1);
    return (min <= low || min <= -mostFloat) && (max >= high || max >= mostFloat);
  }

  #isInteger(tensor: number): boolean {
    return /int/.test(this.#graph.inferred.types[tensor] ?? '');
  }

  /** A reduction, a pool or a softmax over single elements. */
  #reducesNothing(node: number): boolean {
    const { op } = this.#graph.nodes[node]!;
    const input = this.#graph.inferred.shapes[this.#graph.inputs[node]![0] ?? -1];
    const output = this.#graph.inferred.shapes[this.#graph.outputs[node]![0] ?? -1];
    if (!input?.every((dim) => typeof dim === 'number') || !output?.every((dim) => typeof dim === 'number'))
      return false;
    const size = (dims: readonly unknown[]): number => dims.reduce((all: number, dim) => all * Number(dim), 1);
    if (/^(?:Reduce|Arg|Global)|Pool$/.test(op)) return size(input) === size(output);
    if (op !== 'Softmax' && op !== 'LogSoftmax') return false;
    const axis = intAttribute(this.#graph.nodes[node]!, 'axis') ?? -1;
    return input.at(axis) === 1;
  }

  #isConstant(tensor: number): boolean {
    if (tensor < 0) return false;
    const { kind, producer } = this.#graph.tensors[tensor]!;
    return kind === 'initializer' || (producer >= 0 && this.#graph.roles.roles[producer] === 'constant');
  }

  /** The elements of a constant are known, or follow from those of others that are. */
  #isRead(tensor: number): boolean {
    const { stored, producer } = this.#graph.tensors[tensor]!;
    if (stored) return (stored.floats ?? stored.ints) !== undefined;
    const value =
      producer < 0 ? null : this.#graph.nodes[producer]!.attributes.find(({ name }) => name === 'value')?.value;
    if (isTensor(value)) return (value.floats ?? value.ints) !== undefined;
    return producer >= 0 && this.#graph.nodes[producer]!.op !== 'Constant'
      ? this.#graph.inputs[producer]!.every((input) => input < 0 || this.#isRead(input))
      : true;
  }

  /** Whether the values of an input count for a node's result. */
  #readsValues(node: number, tensor: number): boolean {
    const { op, domain } = this.#graph.nodes[node]!;
    const [x = -1, y = -1, z = -1] = this.#graph.inputs[node]!;
    if (!isStandardDomain(domain)) return true;
    if (op === 'CastLike') return x === tensor;
    if (readsNoValues.has(op) || op.endsWith('Like')) return false;
    if (op === 'Where') {
      if (x === tensor) return !this.#areSame(y, z);
      const condition = this.uniform(x);
      return condition === null || (condition === 0 ? z : y) === tensor;
    }
    if (cancelling.has(op) && x === y) return false;
    if (op === 'Softmax' || op === 'ArgMax' || op === 'ArgMin') return !this.#reducesNothing(node);
    const other = op === 'Pow' ? y : x === tensor ? y : x;
    return valueAt(absorbing, op) === undefined || this.uniform(other) !== valueAt(absorbing, op);
  }
}

/** Operators that read only the shape of what they are given. */
const readsNoValues: ReadonlySet<string> = new Set(['Shape', 'Size']);
/** Operators whose result is the same for all tensors that are given twice. */
const cancelling: ReadonlySet<string> = new Set(['Sub', 'Xor', 'Equal']);
/** The other operand with which an operator's result is always the same. */
const absorbing: Readonly<Record<string, number>> = { Mul: 0, Div: 0, And: 0, Or: 1, Pow: 0 };

/** True for an operator of ONNX that hands its first input's elements on, perhaps in another order or type. */
export const isMove = ({ op, domain }: OnnxNode): boolean =>
  isStandardDomain(domain) && (moving.has(op) || op === 'Concat' || op === 'Pad');

/** True for an operator of ONNX that makes new values, and that TensorRT 10 names where it computes it. */
export const computesValues = ({ op, domain }: OnnxNode): boolean => isStandardDomain(domain) && computing.has(op);

const scalar: Readonly<Record<string, (a: number, b: number) => number>> = {
  Add: (a, b) => a + b,
  Sub: (a, b) => a - b,
  Mul: (a, b) => a * b,
  Div: (a, b) => a / b,
  Pow: (a, b) => a ** b,
  Sqrt: Math.sqrt,
  Neg: (a) => -a,
  Exp: Math.exp,
  Reciprocal: (a) => 1 / a,
  Not: (a) => Number(a === 0),
  Abs: Math.abs,
  Erf: erf,
  Log: Math.log,
  Max: (a, b) => Math.max(a, b),
  Min: (a, b) => Math.min(a, b),
  Relu: (a) => Math.max(0, a),
  Sigmoid: (a) => 1 / (1 + Math.exp(-a)),
  Softplus: (a) => Math.log1p(Math.exp(a)),
  Tanh: Math.tanh,
  Identity: (a) => a,
};

/** What an operator makes of one element, or of two; undefined for others than the simplest. */
export const scalarOf = (op: string): ((a: number, b: number) => number) | undefined =>
  Object.hasOwn(scalar, op) ? scalar[op] : undefined;

/** By its series up to 4; beyond, it is 1 to more digits than are compared. */
function erf(x: number): number {
  if (Math.abs(x) > 4) return Math.sign(x);
  let [sum, term] = [x, x];
  for (let n = 1; n < 120; n++) sum += (term *= (-x * x) / n) / (2 * n + 1);
  return (2 / Math.sqrt(Math.PI)) * sum;
}

const isTensor = (value: OnnxAttribute['value'] | undefined): value is OnnxTensor =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && 'shape' in value;

function sameElement({ floats, ints }: OnnxTensor): number | null {
  const elements = floats ?? ints;
  const [first] = elements ?? [];
  return first !== undefined && elements!.every((one) => one === first) ? first : null;
}

function constantElement(node: OnnxNode): number | null {
  if (node.op === 'ConstantOfShape' && node.attributes.length === 0) return 0;
  for (const { name, value } of node.attributes) {
    if (name === 'value' && isTensor(value)) return sameElement(value);
    if ((name === 'value_float' || name === 'value_int') && typeof value === 'number') return value;
  }
  return null;
}

function haveSameElements(a: OnnxTensor, b: OnnxTensor): boolean {
  const [one, other] = [a.floats ?? a.ints, b.floats ?? b.ints];
  if (a.type !== b.type || a.shape.join() !== b.shape.join() || !one || !other) return false;
  return one.length === other.length && one.every((value, at) => Object.is(value, other[at]));
}

/** A number that is an attribute; undefined: it has none of that name. */
export function floatOf(node: OnnxNode, name: string): number | undefined {
  const value = node.attributes.find((attribute) => attribute.name === name)?.value;
  return typeof value === 'number' ? value : undefined;
}

/** The attributes as text, without the places of tensors in the file; long tensors are equal only to themselves. */
function keyOf({ id, attributes }: OnnxNode): string {
  return attributes
    .map(({ name, value }) => {
      if (!isTensor(value))
        return `${name}=${JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? `${one}` : one))}`;
      const elements = value.floats ?? value.ints;
      return `${name}=${value.type} ${value.shape.join()} ${elements?.map((one) => (Object.is(one, -0) ? '-0' : one)).join() ?? id}`;
    })
    .toSorted()
    .join(';');
}
