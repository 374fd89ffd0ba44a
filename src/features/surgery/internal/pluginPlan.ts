// What a plugin for some nodes has to compute.
import type { EditedModel } from '../../../kernel/read/onnx/editModel.ts';
import { type OnnxAttribute, type OnnxNode, type Segment, segmentsSize } from '../../../kernel/read/onnx/onnxModel.ts';
import { composeModel, importedDomain, type NewGraph, type NewNode } from '../../../kernel/read/onnx/writeModel.ts';
import { type InferredTensors, networkOf } from '../../../kernel/network/network.ts';
import {
  bodyOf,
  inDataOrder,
  isStandardDomain,
  type ModelGraph,
  readsOf,
  standardOpset,
} from '../../../kernel/network/modelGraph.ts';
import { refined } from '../../../kernel/network/outputTypes.ts';
import {
  borderTensor,
  type BorderTensor,
  type KnownTensors,
  type Subgraph,
  OLDEST_IR,
  reachable,
  type Unfit,
} from '../extractModel.ts';

/** A value that the custom node has as an attribute, and the plugin as a field. */
export interface PluginAttribute {
  /** An identifier in C++ and Python. */
  name: string;
  value: { float: number } | { int: number } | { floats: number[] } | { ints: number[] } | { string: string };
  /** Where it comes from, for a comment. */
  from: string;
}

/** A custom node, and the plugin that computes it. */
export interface PluginPlan {
  /** Operator and plugin name; an identifier. */
  name: string;
  /** Of the node, and namespace of the plugin; an identifier. */
  domain: string;
  version: string;
  /** What it replaces: indices of nodes in data order, Constant nodes aside. */
  nodes: number[];
  /** Indices of tensors; the same order as `inputs`. */
  reads: number[];
  inputs: BorderTensor[];
  outputs: BorderTensor[];
  attributes: PluginAttribute[];
  /** How to compute each element, where the nodes are a chain of elementwise operators; otherwise why not. */
  chain: ChainStep[] | { reason: string };
}

/** Constants with one element whose value was read: by the tensor's index. */
export type Scalars = ReadonlyMap<number, number>;

/** Types that plugins have. */
const pluginTypes: ReadonlySet<string> = new Set([
  'float',
  'float16',
  'bfloat16',
  'int64',
  'int32',
  'int8',
  'uint8',
  'bool',
]);

const identifier = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** Namespaces in which `tensorrt.plugin` registers nothing. */
const reserved: ReadonlySet<string> = new Set(['trt', 'tensorrt', 'std']);

/**
 * What a custom node in the place of a subgraph is like. Constants with one element, small lists of integers and the
 * nodes' attributes become its attributes; other constants are inputs.
 * @param name chosen by the user: operator, class and file names
 * @param known types and shapes that the user gives, such as of what unknown operators make
 */
export function planPlugin(
  graph: ModelGraph,
  inferred: InferredTensors,
  subgraph: Subgraph,
  scalars: Scalars,
  { name, domain }: { name: string; domain: string },
  known: KnownTensors = new Map(),
): PluginPlan | Unfit {
  const bad = [name, domain].find((text) => !identifier.test(text));
  if (bad !== undefined)
    return { reason: `'${bad}' is not a name for a plugin: use letters, digits and _, and begin with a letter` };
  if (reserved.has(domain)) return { reason: `'${domain}' is TensorRT's own: choose another domain` };
  const chosen = new Set(subgraph.nodes.filter((node) => graph.nodes[node]!.op !== 'Constant'));
  const nodes = inDataOrder(graph).filter((node) => chosen.has(node));
  if (nodes.length === 0) return { reason: 'Only constants are selected' };
  const made = new Set(nodes.flatMap((node) => graph.outputs[node]!));
  const attributes: PluginAttribute[] = [];
  /** Names of the attributes that tensors became. */
  const constants = new Map<number, string>();
  const reads: number[] = [];
  for (const [place, node] of nodes.entries()) {
    const { op, attributes: own } = graph.nodes[node]!;
    const prefix = `${op.replaceAll(/\W/g, '').slice(0, 24).toLowerCase() || 'node'}${place}`;
    for (const attribute of own) {
      const value = attributeValue(attribute);
      if (value)
        attributes.push({
          name: fresh(attributes, `${prefix}_${attribute.name}`),
          value,
          from: `${op}.${attribute.name}`,
        });
    }
    for (const tensor of [
      ...readsOf(graph, node),
      ...subgraph.initializers.filter((one) => isRead(graph, node, one)),
    ]) {
      if (made.has(tensor) || constants.has(tensor) || reads.includes(tensor)) continue;
      const value = constantValue(graph, tensor, scalars);
      if (value === null) reads.push(tensor);
      else {
        const attribute = fresh(attributes, `${prefix}_input${graph.inputs[node]!.indexOf(tensor)}`);
        constants.set(tensor, attribute);
        attributes.push({ name: attribute, value, from: graph.tensors[tensor]!.name });
      }
    }
  }
  const ends = subgraph.outputs.filter((tensor) => made.has(tensor));
  const border = (tensors: readonly number[]) => tensors.map((tensor) => borderTensor(graph, tensor, inferred, known));
  const [inputs, outputs] = [border(reads), border(ends)];
  const unknown = [...inputs, ...outputs].find((tensor) => typeof tensor === 'string');
  if (unknown !== undefined)
    return {
      reason: `The type of tensor "${unknown}" is unknown. Select other nodes, or pass --like-input if its type and shape are those of the first input`,
    };
  const all = [...inputs, ...outputs] as BorderTensor[];
  const odd = all.find(({ type }) => !pluginTypes.has(type));
  if (odd) return { reason: `Plugins have no tensors of type ${odd.type}, as "${odd.name}" has. Select other nodes` };
  if (inputs.length === 0) return { reason: 'The selected nodes read constants only, so TensorRT folds them' };
  const open = (outputs as BorderTensor[]).find((output) => !outputDims(inputs as BorderTensor[], output));
  if (open)
    return { reason: `The shape of "${open.name}" does not follow from the shapes of the inputs. Select other nodes` };
  const chain = elementwiseChain(graph, inferred, { nodes, reads, ends, constants, attributes });
  return {
    name,
    domain,
    version: '1',
    nodes,
    reads,
    inputs: inputs as BorderTensor[],
    outputs: outputs as BorderTensor[],
    attributes,
    chain,
  };
}

const isRead = (graph: ModelGraph, node: number, tensor: number): boolean =>
  graph.tensors[tensor]!.consumers.includes(node);

/** A name that is an identifier and that no attribute has. Names that begin with `plugin_` are TensorRT's. */
function fresh(attributes: readonly PluginAttribute[], wanted: string): string {
  const base = wanted.replaceAll(/[^A-Za-z0-9_]/g, '_').slice(0, 60);
  let name = base;
  for (let number = 1; attributes.some((one) => one.name === name); number += 1) name = `${base}_${number}`;
  return name;
}

/** null: it cannot be a field of a plugin, or only its beginning is known. */
function attributeValue({ kind, value, count, reference }: OnnxAttribute): PluginAttribute['value'] | null {
  if (value === null || count !== undefined || reference !== undefined) return null;
  if (kind === 'float' && typeof value === 'number') return { float: value };
  if (kind === 'int' && typeof value === 'number') return { int: value };
  // Fields of plugins are bytes: other texts would depend on the encoding.
  if (kind === 'string' && typeof value === 'string' && /^[ -~]*$/.test(value)) return { string: value };
  if (kind === 'floats' && Array.isArray(value)) return { floats: value as number[] };
  if (kind === 'ints' && Array.isArray(value)) return { ints: value as number[] };
  return null;
}

function constantValue(graph: ModelGraph, tensor: number, scalars: Scalars): PluginAttribute['value'] | null {
  const scalar = scalars.get(tensor);
  if (scalar !== undefined) return { float: scalar };
  const { producer, stored } = graph.tensors[tensor]!;
  const maker = graph.nodes[producer];
  const made = maker?.op === 'Constant' ? maker.attributes.find((one) => one.kind === 'tensor')?.value : null;
  const found = stored ?? made;
  const ints = found && typeof found === 'object' && 'ints' in found ? found.ints : undefined;
  return ints && ints.length > 0 ? { ints } : null;
}

/** Each dimension of an output: a size, or an input and the axis where its size is. null: one is not known. */
export function outputDims(
  inputs: readonly BorderTensor[],
  { shape }: BorderTensor,
): (number | { input: number; axis: number })[] | null {
  const dims = shape?.map((dim) => {
    if (typeof dim === 'number') return dim;
    const input = dim === null ? -1 : inputs.findIndex((one) => one.shape?.includes(dim));
    return input < 0 ? null : { input, axis: inputs[input]!.shape!.indexOf(dim) };
  });
  return dims?.every((dim) => dim !== null) ? dims : null;
}

/** One elementwise operator: a variable and the expression that it gets, in C++ on floats. */
export interface ChainStep {
  /** `v3`. */
  variable: string;
  expression: string;
  /** Position of the plugin's output that gets the value; null: an inner value. */
  output: number | null;
  /** Operator and name of the node, for a comment. */
  node: { op: string; name: string };
}

/** Operand `in0` (an element of an input), `v0` (an earlier step) or `p_NAME` (an attribute). */
type Expression = (operands: readonly string[], attribute: (name: string, otherwise: number) => string) => string;

const gelu = 'x * 0.5F * (1.0F + erff(x * 0.70710678F))';
const geluTanh = 'x * 0.5F * (1.0F + tanhf(0.79788456F * (x + 0.044715F * x * x * x)))';
const of = (text: string, x: string) => `(${text.replaceAll(/\bx\b/g, x)})`;
const joined = (operands: readonly string[], operator: string) => operands.join(` ${operator} `);
/** `largest` and `smallest` are functions of the kernel. */
const extreme = (operands: readonly string[], name: string) => operands.reduce((a, b) => `${name}(${a}, ${b})`);

/** ONNX's elementwise operators on floats, by their definition. */
const expressions: Readonly<Record<string, Expression>> = {
  Abs: ([x]) => `fabsf(${x})`,
  Add: (all) => joined(all, '+'),
  Ceil: ([x]) => `ceilf(${x})`,
  Clip: ([x, low, high], attribute) => {
    const [least, most] = [low ?? attribute('min', -3.4028235e38), high ?? attribute('max', 3.4028235e38)];
    return `(${x} < ${least} ? ${least} : ${x} > ${most} ? ${most} : ${x})`;
  },
  Cos: ([x]) => `cosf(${x})`,
  Div: (all) => joined(all, '/'),
  Elu: ([x], attribute) => `(${x} < 0.0F ? ${attribute('alpha', 1)} * expm1f(${x}) : ${x})`,
  Erf: ([x]) => `erff(${x})`,
  Exp: ([x]) => `expf(${x})`,
  Floor: ([x]) => `floorf(${x})`,
  HardSigmoid: ([x], attribute) =>
    `fminf(fmaxf(${attribute('alpha', 0.2)} * ${x} + ${attribute('beta', 0.5)}, 0.0F), 1.0F)`,
  HardSwish: ([x]) => `(${x} * fminf(fmaxf(${x} / 6.0F + 0.5F, 0.0F), 1.0F))`,
  Identity: ([x]) => x!,
  LeakyRelu: ([x], attribute) => `(${x} < 0.0F ? ${attribute('alpha', 0.01)} * ${x} : ${x})`,
  Log: ([x]) => `logf(${x})`,
  Max: (all) => extreme(all, 'largest'),
  Mean: (all) => `((${joined(all, '+')}) / ${all.length}.0F)`,
  Min: (all) => extreme(all, 'smallest'),
  Mish: ([x]) => `(${x} * tanhf(${softplus(x!)}))`,
  Mul: (all) => joined(all, '*'),
  Neg: ([x]) => `-${x}`,
  Pow: ([x, y]) => `powf(${x}, ${y})`,
  PRelu: ([x, slope]) => `(${x} < 0.0F ? ${slope} * ${x} : ${x})`,
  Reciprocal: ([x]) => `1.0F / ${x}`,
  Relu: ([x]) => `(${x} < 0.0F ? 0.0F : ${x})`,
  Round: ([x]) => `rintf(${x})`,
  Sigmoid: ([x]) => `1.0F / (1.0F + expf(-${x}))`,
  Sin: ([x]) => `sinf(${x})`,
  Softplus: ([x]) => softplus(x!),
  Softsign: ([x]) => `${x} / (1.0F + fabsf(${x}))`,
  Sqrt: ([x]) => `sqrtf(${x})`,
  Sub: (all) => joined(all, '-'),
  Sum: (all) => joined(all, '+'),
  Tanh: ([x]) => `tanhf(${x})`,
};

const softplus = (x: string): string => `(fmaxf(${x}, 0.0F) + log1pf(expf(-fabsf(${x}))))`;

/**
 * How the nodes compute each element from the elements at the same place of the inputs; or why they don't: an operator
 * that is not elementwise, several shapes or types, a constant that is not one number.
 * @param constants attributes that tensors with one element became
 */
export function elementwiseChain(
  graph: ModelGraph,
  { types, shapes }: InferredTensors,
  {
    nodes,
    reads,
    ends,
    constants,
    attributes,
  }: {
    nodes: readonly number[];
    reads: readonly number[];
    ends: readonly number[];
    constants: ReadonlyMap<number, string>;
    attributes: readonly PluginAttribute[];
  },
): ChainStep[] | { reason: string } {
  const first = reads[0]!;
  const described = (tensor: number) => {
    const shape = shapes[tensor];
    return shape?.every((dim) => dim !== null) ? `${types[tensor]}[${shape.join(', ')}]` : null;
  };
  const wanted = described(first);
  if (wanted === null) return { reason: `the shape of "${graph.tensors[first]!.name}" is not known` };
  if (types[first] !== 'float' && types[first] !== 'float16')
    return { reason: `"${graph.tensors[first]!.name}" has the type ${types[first]}` };
  const variables = new Map(reads.map((tensor, place) => [tensor, `in${place}`]));
  const steps: ChainStep[] = [];
  for (const [place, node] of nodes.entries()) {
    const { op, domain, name, outputs, subgraphs } = graph.nodes[node]!;
    const expression =
      subgraphs.length === 0 && isStandardDomain(domain) ? expressionOf(graph, graph.nodes[node]!) : undefined;
    if (!expression) return { reason: `${op} is not an elementwise operator that is known here` };
    const tensors = graph.inputs[node]!;
    const differs = [...tensors, ...graph.outputs[node]!].find(
      (tensor) => tensor >= 0 && !constants.has(tensor) && described(tensor) !== wanted,
    );
    if (differs !== undefined)
      return {
        reason: `"${graph.tensors[differs]!.name}" has another shape or type than "${graph.tensors[first]!.name}"`,
      };
    const list = [...constants].find(([tensor, own]) => {
      const value = attributes.find((one) => one.name === own)?.value;
      return tensors.includes(tensor) && !(value && 'float' in value);
    });
    if (list || outputs.length !== 1) return { reason: `${op} reads a constant that is not one number` };
    // An optional input that is not given, such as the lower limit of Clip, counts as its default.
    const operands = tensors.map((tensor) =>
      tensor < 0 ? undefined : constants.has(tensor) ? `p_${constants.get(tensor)}` : variables.get(tensor),
    ) as string[];
    const prefix = `${op.toLowerCase()}${place}_`;
    const attribute = (own: string, otherwise: number) =>
      attributes.some((one) => one.name === `${prefix}${own}`) ? `p_${prefix}${own}` : `${literal(otherwise)}`;
    const [output] = graph.outputs[node] as [number];
    const at = ends.indexOf(output);
    const variable = `v${steps.length}`;
    steps.push({
      variable,
      expression: expression(operands, attribute),
      output: at < 0 ? null : at,
      node: { op, name },
    });
    variables.set(output, variable);
  }
  return steps;
}

function expressionOf(graph: ModelGraph, { op, attributes }: OnnxNode): Expression | undefined {
  if (op === 'Gelu') {
    const approximate = attributes.find(({ name }) => name === 'approximate')?.value ?? 'none';
    return ([x]) => of(approximate === 'tanh' ? geluTanh : gelu, x!);
  }
  // Broadcast along an axis, as these had it before opset 7.
  const old = (standardOpset(graph.model) ?? 0) < 7;
  if (old && ['Add', 'Sub', 'Mul', 'Div', 'Pow', 'PRelu'].includes(op)) return undefined;
  return Object.hasOwn(expressions, op) ? expressions[op] : undefined;
}

/** A number as C++ writes a float. */
export function literal(value: number): string {
  if (Number.isNaN(value)) return 'NAN';
  if (!Number.isFinite(value)) return value < 0 ? '-INFINITY' : 'INFINITY';
  const text = String(Math.fround(value) === value ? value : Number(value.toPrecision(9)));
  return `${/[.e]/.test(text) ? text : `${text}.0`}F`;
}

/**
 * Shapes inside a subgraph in terms of its inputs: their unknown sizes get names, with which the shapes of what the subgraph
 * makes are inferred again. So it shows which size of an output is that of an input, whatever it is.
 */
export function withNamedSizes(graph: ModelGraph, inferred: InferredTensors, subgraph: Subgraph): InferredTensors {
  const taken = new Set(inferred.shapes.flat());
  const shapes = [...inferred.shapes];
  for (const [place, tensor] of subgraph.inputs.entries())
    shapes[tensor] =
      shapes[tensor]?.map((dim, axis) => {
        let name = `size_${place}_${axis}`;
        while (taken.has(name)) name += '_';
        return dim ?? name;
      }) ?? null;
  const inputs = subgraph.inputs.map((tensor) => {
    const shape = shapes[tensor] ?? null;
    return { name: graph.tensors[tensor]!.name, type: inferred.types[tensor] ?? null, shape: shape && [...shape] };
  });
  const nodes = subgraph.nodes.map((node) => graph.nodes[node]!);
  const inside = subgraph.nodes.flatMap((node) => bodyOf(graph, node)).map((node) => graph.nodes[node]!);
  const main = { ...graph.model.graph, nodes, inputs, outputs: [], values: [] };
  const part = networkOf({ ...graph.model, graph: main, nodes: [...nodes, ...inside] });
  const traced = part.inferred;
  for (const tensor of subgraph.nodes.flatMap((node) => graph.outputs[node]!)) {
    const found = part.byName.get(graph.tensors[tensor]!.name);
    if (found !== undefined) shapes[tensor] = refined(traced.shapes[found]!, shapes[tensor]!);
  }
  return { ...inferred, shapes };
}

/** The nodes that a plugin replaces, as a subgraph that reads what the plugin reads. */
export function replacedSubgraph(
  graph: ModelGraph,
  subgraph: Subgraph,
  { reads, nodes, outputs }: PluginPlan,
): Subgraph {
  const given = new Set(reads);
  const constants = subgraph.nodes.filter(
    (node) => graph.nodes[node]!.op === 'Constant' && !graph.outputs[node]!.some((tensor) => given.has(tensor)),
  );
  return {
    nodes: [...constants, ...nodes].toSorted((a, b) => a - b),
    inputs: reads,
    outputs: outputs.map(({ name }) => graph.byName.get(name)!),
    initializers: subgraph.initializers.filter((tensor) => !given.has(tensor)),
  };
}

/** The model with the custom node in the place of the nodes. `graph` is of a model that was read with spans. */
export function replacedModel(graph: ModelGraph, size: number, plan: PluginPlan): EditedModel {
  const { model } = graph;
  const gone = new Set(plan.nodes);
  const behind = reachable(graph, gone, 'behind');
  const main = graph.nodes.flatMap((node, index) =>
    graph.owner[index]! < 0 && !gone.has(index) ? [{ node, index }] : [],
  );
  const nodesOf = (after: boolean) => main.filter(({ index }) => behind.has(index) === after).map(({ node }) => node);
  const made = new Set(plan.nodes.flatMap((node) => graph.outputs[node]!.map((tensor) => graph.tensors[tensor]!.name)));
  for (const { name } of plan.outputs) made.delete(name);
  const read = (tensor: number) =>
    plan.reads.includes(tensor) || graph.tensors[tensor]!.consumers.some((reader) => !gone.has(reader));
  const isOutput = new Set(graph.graphOutputs);
  return composed(graph, size, plan, {
    name: model.graph.name,
    nodes: [...nodesOf(false), pluginNode(graph, plan), ...nodesOf(true)],
    inputs: model.graph.inputs,
    outputs: model.graph.outputs,
    initializers: model.graph.initializers.filter(({ name }) => {
      const tensor = graph.byName.get(name);
      return tensor === undefined || isOutput.has(tensor) || read(tensor);
    }),
    values: model.graph.values.filter(({ name, span }) => span && !made.has(name)),
    others: (model.graph.others ?? []).filter(({ tensor }) => tensor === undefined || !made.has(tensor)),
  });
}

/** The custom node alone, as a model. */
export function pluginModel(graph: ModelGraph, size: number, plan: PluginPlan): EditedModel {
  const value = ({ name, type, shape }: BorderTensor) => ({ name, newType: type, ...(shape && { shape }) });
  return composed(graph, size, plan, {
    name: plan.name,
    nodes: [pluginNode(graph, plan)],
    inputs: plan.inputs.map(value),
    outputs: plan.outputs.map(value),
    initializers: [],
  });
}

function composed(graph: ModelGraph, size: number, { domain }: PluginPlan, made: NewGraph): EditedModel {
  const segments: Segment[] = composeModel(graph.model, size, made, null, OLDEST_IR);
  if (!graph.model.opsets.some((one) => one.domain === domain)) segments.push(importedDomain(domain));
  return { segments, size: segmentsSize(segments), external: null };
}

/**
 * With TensorRT's own attributes, by which its parser finds the plugin. TensorRT 10.6 looks for plugins in Python by the
 * node's name in place of its operator.
 */
function pluginNode(graph: ModelGraph, { name, domain, version, reads, outputs, attributes }: PluginPlan): NewNode {
  return {
    op: name,
    domain,
    name,
    inputs: reads.map((tensor) => graph.tensors[tensor]!.name),
    outputs: outputs.map((tensor) => tensor.name),
    attributes: {
      plugin_version: { string: version },
      plugin_namespace: { string: domain },
      ...Object.fromEntries(attributes.map(({ name: own, value }) => [own, value])),
    },
  };
}
