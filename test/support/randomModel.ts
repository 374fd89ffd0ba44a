import { onnx } from 'onnx-proto';
import { concat, int } from './wire.ts';

/** A model with every kind of thing that a rewrite meets, and the content of its file of external data. */
export interface RandomModel {
  bytes: Uint8Array;
  /** Lies beside the model as `weights.bin`. */
  weights: Uint8Array;
  /** Names of nodes, for rules. */
  names: string[];
}

const { FLOAT, FLOAT16, DOUBLE, INT8, INT64, BOOL } = onnx.TensorProto.DataType;
const { AttributeType } = onnx.AttributeProto;

/** All floating-point tensors have this shape, so that every operator fits every tensor. */
const shape = [2, 4, 4];

/** The same number, the same model. Values stay around one, so that half precision only rounds. */
export function randomModel(seed: number): RandomModel {
  const maker = new Maker(seed);
  return maker.model();
}

class Maker {
  private state: number;
  private count = 0;
  private readonly initializers: onnx.ITensorProto[] = [];
  private readonly inputs = [valueOf('x', FLOAT, shape), valueOf('z', FLOAT, shape), valueOf('mask', BOOL, shape)];
  private readonly values: onnx.IValueInfoProto[] = [];
  private readonly weights: number[] = [];
  private readonly names: string[] = [];
  private readonly flags: string[] = [];
  private readonly chosen: string[] = [];
  private readonly given: string[] = [];

  constructor(seed: number) {
    this.state = (seed * 2_654_435_761 + 12_345) >>> 0;
  }

  model(): RandomModel {
    this.inputs.push(valueOf('choice', BOOL, []));
    const nodes: onnx.INodeProto[] = [];
    const made = this.graph(nodes, ['x', 'z'], 6 + this.below(14), 0);
    const last = this.fresh('y');
    nodes.push(this.node('Add', [made.at(-1)!, made[this.below(made.length)]!], [last]));
    const more = made.filter((name) => name !== 'x' && name !== 'z' && this.below(8) === 0);
    const outputs = [...new Set([last, ...more])].map((name) => valueOf(name, FLOAT, shape));
    outputs.push(...this.flags.map((name) => valueOf(name, BOOL, shape)));
    outputs.push(...this.chosen.map((name) => valueOf(name, INT64, ['any', 3])));
    outputs.push(...this.given.map((name) => valueOf(name, FLOAT, shape)));
    // Types of tensors that are no longer there, under names that come to mind.
    this.values.push(valueOf('x_fp16', FLOAT, [7]), valueOf('t1_fp32', FLOAT, [7]));
    const isOutput = new Set(outputs.map(({ name }) => name));
    const graph = {
      name: 'random',
      node: nodes,
      input: this.inputs,
      output: outputs,
      initializer: this.initializers,
      valueInfo: this.values.filter(({ name }) => !isOutput.has(name)),
    };
    const opsetImport = [
      { domain: '', version: 19 },
      { domain: 'local', version: 1 },
    ];
    const bytes = onnx.ModelProto.encode({
      irVersion: 9,
      producerName: 'random',
      opsetImport,
      graph,
      functions: [halve],
      metadataProps: [{ key: 'kept', value: 'as it is' }],
    }).finish();
    // And a field of the future, which no decoder knows.
    return { bytes: concat(bytes, int(1000, 7)), weights: Uint8Array.from(this.weights), names: this.names };
  }

  /** Adds nodes; gives the floating-point tensors that there are then. */
  private graph(nodes: onnx.INodeProto[], given: string[], size: number, depth: number): string[] {
    const made = [...given];
    for (let i = 0; i < size; i++) this.step(nodes, made, depth);
    return made;
  }

  private step(nodes: onnx.INodeProto[], made: string[], depth: number): void {
    const any = () => made[Math.max(0, made.length - 1 - this.below(6))]!;
    const add = (op: string, inputs: string[], attributes: onnx.IAttributeProto[] = [], domain?: string): string => {
      const output = this.fresh('t');
      nodes.push(this.node(op, inputs, [output], attributes, domain));
      return output;
    };
    const kinds: (() => string | null)[] = [
      () => add(this.pick('Relu', 'Tanh', 'Sigmoid', 'Neg', 'Abs', 'Identity', 'Erf'), [any()]),
      () => add(this.pick('Add', 'Sub', 'Max'), [any(), this.below(3) === 0 ? this.weight() : any()]),
      () => add('Tanh', [add('Mul', [any(), any()])]),
      () => add('Tanh', [add('MatMul', [any(), this.weight([4, 4])])]),
      () => add('Softmax', [any()], [intOf('axis', -1)]),
      () => add('Transpose', [any()], [intsOf('perm', [0, 2, 1])]),
      () => add('LayerNormalization', [any(), this.weight([4]), this.weight([4])], [intOf('axis', -1)]),
      () => add('Reshape', [any(), add('Shape', [any()])]),
      () => add('Where', ['mask', any(), this.below(2) ? any() : this.weight()]),
      () => add('Clip', [any(), '', this.weight([])]),
      () => {
        this.flags.push(...(depth === 0 ? [add('Less', [any(), this.below(2) ? any() : this.weight()])] : []));
        return null;
      },
      () => {
        if (depth === 0) this.flags.push(add(this.pick('IsInf', 'IsNaN'), [any()]));
        return null;
      },
      () => {
        if (depth === 0) this.chosen.push(add('NonMaxSuppression', [any(), any(), this.count64(2), this.weight([1])]));
        return null;
      },
      () => add('Concat', [any(), this.weight([2, 0, 4])], [intOf('axis', 1)]),
      () => add('Add', [any(), add('ConstantOfShape', [add('Shape', [any()])])]),
      () => {
        const pair = add('SequenceConstruct', [any(), any()]);
        return add('SequenceAt', [this.below(2) ? pair : add('Identity', [pair]), this.count64(1, [])]);
      },
      () => (depth < 2 ? this.scan(nodes, made, depth) : null),
      () => add('Add', [any(), add('Constant', [], [tensorOf('value', this.tensor('', shape, this.below(2) === 0))])]),
      // Half precision has no such number.
      () => add('Max', [any(), add('Constant', [], [floatOf('value_float', -3.4e38)])]),
      () => add('Cast', [add('Cast', [any()], [intOf('to', DOUBLE)])], [intOf('to', FLOAT)]),
      () => add('Cast', [add('Tanh', [add('Cast', [any()], [intOf('to', FLOAT16)])])], [intOf('to', FLOAT)]),
      () => {
        const ends = [this.fresh('left'), this.fresh('right')];
        nodes.push(this.node('Split', [any()], ends, [intOf('axis', 1), intOf('num_outputs', 2)]));
        return add('Concat', [ends[1]!, ends[0]!], [intOf('axis', 1)]);
      },
      () => {
        // ONNX Runtime loses outer tensors that are quantized inside of nested subgraphs.
        if (depth > 0) return null;
        const scale = [this.weight([], 0.01), this.zero()];
        return add('DequantizeLinear', [add('QuantizeLinear', [any(), ...scale]), ...scale]);
      },
      () => add('Halve', [any()], [], 'local'),
      () => (depth < 2 ? this.choose(nodes, made, depth) : null),
      () => (depth < 2 ? this.loop(nodes, made, depth) : null),
    ];
    const found = kinds[this.below(kinds.length)]!();
    if (found === null) return;
    made.push(found);
    if (depth === 0 && this.below(3) === 0) this.values.push(valueOf(found, FLOAT, shape));
  }

  private choose(nodes: onnx.INodeProto[], made: string[], depth: number): string {
    const output = this.fresh('if');
    const branch = (name: string) => graphOf(name, this.body(made, depth + 1, []));
    nodes.push(this.node('If', ['choice'], [output], [branch('then_branch'), branch('else_branch')]));
    return output;
  }

  private loop(nodes: onnx.INodeProto[], made: string[], depth: number): string {
    const output = this.fresh('loop');
    const [step, going, carried] = [this.fresh('step'), this.fresh('going'), this.fresh('carried')];
    const still = this.fresh('still');
    const inputs = [valueOf(step, INT64, []), valueOf(going, BOOL, []), valueOf(carried, FLOAT, shape)];
    const body = this.body([...made, carried], depth + 1, inputs);
    body.node!.push(this.node('Identity', [going], [still]));
    body.output!.unshift(valueOf(still, BOOL, []));
    const [times, on] = [this.count64(2, []), this.fresh('on')];
    this.initializers.push({ name: on, dataType: BOOL, rawData: Uint8Array.of(1) });
    nodes.push(this.node('Loop', [times, on, made.at(-1)!], [output], [graphOf('body', body)]));
    return output;
  }

  /** Over the first axis, with a state that its last step gives out. */
  private scan(nodes: onnx.INodeProto[], made: string[], depth: number): string {
    const [state, slice] = [this.fresh('state'), this.fresh('slice')];
    const body = this.body([...made, state], depth + 1, [valueOf(state, FLOAT, shape), valueOf(slice, FLOAT, [4, 4])]);
    const [sum, row] = [this.fresh('sum'), this.fresh('row')];
    body.node!.push(this.node('Add', [body.output![0]!.name!, slice], [sum]), this.node('Tanh', [slice], [row]));
    body.output = [valueOf(sum, FLOAT, shape), valueOf(row, FLOAT, [4, 4])];
    const ends = [this.fresh('last'), this.fresh('rows')];
    const given = [made.at(-1)!, made.at(-2)!];
    nodes.push(this.node('Scan', given, ends, [graphOf('body', body), intOf('num_scan_inputs', 1)]));
    return this.pick(...ends);
  }

  private body(around: string[], depth: number, inputs: onnx.IValueInfoProto[]): onnx.IGraphProto {
    const nodes: onnx.INodeProto[] = [];
    const made = this.graph(nodes, around, 1 + this.below(4), depth);
    const output = this.fresh('out');
    nodes.push(this.node(this.pick('Tanh', 'Identity'), [made.at(-1)!], [output]));
    return { name: this.fresh('body'), node: nodes, input: inputs, output: [valueOf(output, FLOAT, shape)] };
  }

  private node(
    opType: string,
    input: string[],
    output: string[],
    attribute: onnx.IAttributeProto[] = [],
    domain = '',
  ): onnx.INodeProto {
    // Some nodes have no name, some the name of another.
    const name = this.below(6) === 0 ? '' : `/block.${this.below(4)}/${opType}_${this.below(30)}`;
    if (name !== '') this.names.push(name);
    return { opType, input, output, attribute, name, ...(domain && { domain }) };
  }

  /** An initializer: in the model in either form, or outside of it; at times it is an input with a default, too. */
  private weight(dims = shape, only?: number): string {
    const name = this.fresh('w');
    const tensor = this.tensor(name, dims, this.below(2) === 0, only);
    if (this.below(3) === 0 && tensor.rawData) {
      const entries = {
        location: 'weights.bin',
        offset: String(this.weights.length),
        length: String(tensor.rawData.length),
      };
      this.weights.push(...tensor.rawData);
      delete tensor.rawData;
      tensor.externalData = Object.entries(entries).map(([key, value]) => ({ key, value }));
      tensor.dataLocation = onnx.TensorProto.DataLocation.EXTERNAL;
    } else if (this.below(6) === 0) this.inputs.push(valueOf(name, FLOAT, dims));
    else if (dims === shape && this.below(8) === 0) this.given.push(name);
    this.initializers.push(tensor);
    return name;
  }

  private tensor(name: string, dims: number[], raw: boolean, only?: number): onnx.ITensorProto {
    const size = dims.reduce((product, axis) => product * axis, 1);
    const data = Array.from({ length: size }, () => only ?? 0.1 + (this.below(1000) / 1000) * 0.6);
    const tensor: onnx.ITensorProto = { name, dims, dataType: FLOAT };
    if (raw) tensor.rawData = new Uint8Array(Float32Array.from(data).buffer);
    else tensor.floatData = data;
    return tensor;
  }

  private count64(value: number, dims = [1]): string {
    const name = this.fresh('number');
    this.initializers.push({ name, dims, dataType: INT64, rawData: littleEndian([value], 8) });
    return name;
  }

  private zero(): string {
    const name = this.fresh('zero');
    this.initializers.push({ name, dataType: INT8, rawData: Uint8Array.of(0) });
    return name;
  }

  private fresh(prefix: string): string {
    return `${prefix}${this.count++}`;
  }

  private pick<T>(...items: T[]): T {
    return items[this.below(items.length)]!;
  }

  /** A whole number from 0 to below `limit` (mulberry32). */
  private below(limit: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }
}

/** local.Halve(a): half of it. The constant in its body makes it a function of single precision only. */
const halve: onnx.IFunctionProto = {
  name: 'Halve',
  domain: 'local',
  input: ['a'],
  output: ['b'],
  opsetImport: [{ domain: '', version: 19 }],
  node: [
    { opType: 'Constant', output: ['half'], attribute: [tensorOf('value', { dataType: FLOAT, floatData: [0.5] })] },
    { opType: 'Mul', input: ['a', 'half'], output: ['b'] },
  ],
};

function valueOf(name: string, elemType: number, dims: (number | 'any')[]): onnx.IValueInfoProto {
  const dim = dims.map((size) => (size === 'any' ? {} : { dimValue: size }));
  return { name, type: { tensorType: { elemType, shape: { dim } } } };
}

const floatOf = (name: string, f: number): onnx.IAttributeProto => ({ name, f, type: AttributeType.FLOAT });
const intOf = (name: string, i: number): onnx.IAttributeProto => ({ name, i, type: AttributeType.INT });
const intsOf = (name: string, ints: number[]): onnx.IAttributeProto => ({ name, ints, type: AttributeType.INTS });
function tensorOf(name: string, t: onnx.ITensorProto): onnx.IAttributeProto {
  return { name, t, type: AttributeType.TENSOR };
}
const graphOf = (name: string, g: onnx.IGraphProto): onnx.IAttributeProto => ({ name, g, type: AttributeType.GRAPH });

function littleEndian(values: number[], size: number): Uint8Array {
  const bytes = new Uint8Array(values.length * size);
  for (const [i, value] of values.entries()) bytes[i * size] = value;
  return bytes;
}
