// Whether a local function computes what ONNX's operator of its name does.
import { type OnnxNode, textAttribute } from '../../read/onnx/onnxModel.ts';
import type { Network } from '../../network/network.ts';
import { floatOf, scalarOf, ValueFacts } from './valueFacts.ts';

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const softplus = (x: number): number => Math.log1p(Math.exp(x));
const clamp = (x: number, low: number, high: number): number => Math.min(Math.max(x, low), high);

/** What operators of one input make of an element; the call's attributes are the operator's. */
const elementwise: Readonly<Record<string, (x: number, call: OnnxNode) => number>> = {
  Celu: (x, call) => Math.max(0, x) + Math.min(0, alphaOf(call, 1) * Math.expm1(x / alphaOf(call, 1))),
  Elu: (x, call) => (x < 0 ? alphaOf(call, 1) * Math.expm1(x) : x),
  Gelu: (x, call) =>
    textAttribute(call, 'approximate') === 'tanh'
      ? 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)))
      : 0.5 * x * (1 + scalarOf('Erf')!(x / Math.SQRT2, 0)),
  HardSigmoid: (x, call) => clamp(alphaOf(call, 0.2) * x + (floatOf(call, 'beta') ?? 0.5), 0, 1),
  HardSwish: (x) => x * clamp(x / 6 + 0.5, 0, 1),
  LeakyRelu: (x, call) => (x < 0 ? alphaOf(call, 0.01) * x : x),
  Mish: (x) => x * Math.tanh(softplus(x)),
  Relu: (x) => Math.max(0, x),
  Sigmoid: sigmoid,
  Softplus: softplus,
  Softsign: (x) => x / (1 + Math.abs(x)),
  Swish: (x, call) => x * sigmoid(alphaOf(call, 1) * x),
  Tanh: Math.tanh,
};

const alphaOf = (call: OnnxNode, otherwise: number): number => floatOf(call, 'alpha') ?? otherwise;

const points = [-6, -2.7, -1, -0.4, 0, 0.3, 1, 2.6, 7];

/**
 * True where the body of a call gives for an element what the operator of the function's name gives; false where it does
 * not, or where that is not known.
 */
export function computesOperator(graph: Network, call: number): boolean {
  const node = graph.nodes[call]!;
  const reference = Object.hasOwn(elementwise, node.op) ? elementwise[node.op] : undefined;
  const definition = graph.model.functions.find(({ name, domain }) => name === node.op && domain === node.domain);
  const [output] = definition?.outputs ?? [];
  if (!reference || definition?.inputs.length !== 1 || output === undefined) return false;
  const path = `${node.id}/${node.op}`;
  const given = graph.tensorAt(path, definition.inputs[0]!);
  const facts = new ValueFacts(graph, new Set());
  const valueOf = (tensor: number, x: number, depth: number): number => {
    if (tensor === given) return x;
    const { producer } = graph.tensors[tensor] ?? { producer: -1 };
    const constant = facts.uniform(tensor);
    if (constant !== null) return constant;
    const made = graph.nodes[producer];
    if (made === undefined || depth > 40) return Number.NaN;
    const values = graph.inputs[producer]!.map((input) => valueOf(input, x, depth + 1));
    const compute = scalarOf(made.op);
    return compute && values.length < 3 ? compute(values[0]!, values[1] ?? 0) : Number.NaN;
  };
  return points.every((x) => {
    const [made, wanted] = [valueOf(graph.tensorAt(path, output), x, 0), reference(x, node)];
    return Math.abs(made - wanted) <= 1e-5 * Math.max(1, Math.abs(wanted));
  });
}
