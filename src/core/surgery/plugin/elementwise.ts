import type { InferredTensors } from '../../model/inferTensors.ts';
import type { ModelGraph } from '../../model/modelGraph.ts';
import { isStandardDomain, standardOpset } from '../../model/opset.ts';
import type { OnnxNode } from '../../onnx/onnxModel.ts';
import type { PluginAttribute } from './pluginPlan.ts';

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
