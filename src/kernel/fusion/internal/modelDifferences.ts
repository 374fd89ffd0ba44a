import { computesOperator } from './operatorForms.ts';
import { type BuildLog, outerInput } from '../../read/tensorrt/buildOutput.ts';
import type { Problem } from '../../base/problem.ts';
import { counted, shapeText, thousands } from '../../base/text.ts';
import { quote } from './namedMembers.ts';
import { modelTensor, type Resolution } from './resolution.ts';
import { isStandardDomain, type ModelGraph } from '../../network/modelGraph.ts';
import { overloadedFunctions, parserName } from '../../network/nodeNames.ts';

/** In what the model differs from the one that the log and the layers are of: examples, and how many of how many. */
interface Difference {
  found: string[];
  of: number;
  /** Says it of one or several: `n` is how many. */
  text: (n: number, first: string) => string;
}

/**
 * Compares names, operators, tensors and shapes of the model with those of log and layers.
 * @returns an error if most of one kind differ: then nothing in them is about this model; a warning for single ones
 */
export function modelProblem(
  from: Resolution,
  log: BuildLog | undefined,
  added: readonly string[] = [],
): Problem | undefined {
  const differences = differencesOf(from, log, new Set(added)).filter(({ found }) => found.length > 0);
  const wrong = differences.find(({ found, of }) => found.length > of / 2);
  const say = ({ found, text }: Difference) => text(found.length, found[0]!);
  if (wrong) {
    const message = `${say(wrong)}. Pass the model that the engine was built from.`;
    return { severity: 'error', code: 'other-model', message };
  }
  if (differences.length === 0) return undefined;
  const message = `The model differs from the one that was built: ${differences.map(say).join('; ')}. Pass the model that the engine was built from.`;
  return { severity: 'warning', code: 'model-differs', message };
}

function differencesOf(from: Resolution, log: BuildLog | undefined, added: ReadonlySet<string>): Difference[] {
  const { graph, names, unbuilt } = from;
  const { unmatched } = names;
  const nameOf = (node: number) => quote(graph.nodes[node]!.name || graph.nodes[node]!.id);
  const tensors = borderTensors(from, log);
  const known = tensors.filter(({ name }) => modelTensor(from, name) >= 0);
  const layers = typedLayers(from);
  const others = new Set(unmatched.operators.map(({ node }) => node));
  return [
    {
      found: unmatched.names.filter((name) => !added.has(name)).map(quote),
      of: unmatched.of,
      text: (n, first) =>
        `${counted(n, 'node')} in the log ${n === 1 ? 'is' : 'are'} not in the model (the first is ${first})`,
    },
    {
      found: [...unbuilt].filter((node) => !others.has(node) && !isInOverload(graph, node)).map(nameOf),
      of: graph.nodes.length,
      text: (n, first) =>
        `${counted(n, 'node')} of the model ${n === 1 ? 'is' : 'are'} not in the log (the first is ${first})`,
    },
    {
      found: unmatched.operators.map(
        ({ node, op }) => `${nameOf(node)}, ${op} there and ${graph.nodes[node]!.op} here`,
      ),
      of: unmatched.of,
      text: (n, first) =>
        `${counted(n, 'node')} ${n === 1 ? 'has' : 'have'} another operator in the log (the first is ${first})`,
    },
    {
      found: tensors.filter((tensor) => !known.includes(tensor)).map(({ name }) => quote(name)),
      of: tensors.length,
      text: (n, first) =>
        `${thousands(n)} of the engine's ${counted(tensors.length, 'input or output', 'inputs and outputs')} ${n === 1 ? 'is' : 'are'} not in the model (the first is ${first})`,
    },
    {
      found: known.flatMap(({ name, dims }) => shapeDifference(from, name, dims)),
      // A model exported again with another shape has the same nodes.
      of: Infinity,
      text: (n, first) => `${counted(n, 'tensor')} ${n === 1 ? 'has' : 'have'} another shape (the first is ${first})`,
    },
    {
      found: layers.flatMap(({ wrong }) => wrong),
      of: layers.length,
      text: (n, first) =>
        `${counted(n, 'layer')} ${n === 1 ? 'computes' : 'compute'} what none of ${n === 1 ? 'its' : 'their'} nodes does (the first is ${first})`,
    },
  ];
}

/** Inputs and outputs of the engine that a model can have named, with their shapes where an input gives them. */
function borderTensors({ view }: Resolution, log: BuildLog | undefined): { name: string; dims: number[] | null }[] {
  const dims = new Map<string, number[]>();
  view.layers.forEach(({ inputs, outputs }, layer) => {
    // A kernel of a loop has one step of a tensor under the name of the whole.
    if (view.names[layer]!.kind === 'kernel') return;
    for (const tensor of [...inputs, ...outputs]) if (tensor.dims) dims.set(tensor.name, tensor.dims);
  });
  // The parser had the whole of an input, a layer may read a part.
  for (const { name, dims: text } of log?.model?.inputs ?? []) {
    const shape = /^\(([-\d, ]*)\)$/.exec(text)?.[1];
    if (shape !== undefined)
      dims.set(
        name,
        shape
          .split(',')
          .filter((dim) => dim.trim() !== '')
          .map(Number),
      );
  }
  const names = new Set([...view.bindings, ...(log?.model?.inputs ?? []).map(({ name }) => name)]);
  // Every tensor can be marked as an output, also those that TensorRT made.
  const isMade = /^(?:\(Unnamed |ONNXTRT_)/;
  return [...names].filter((name) => !isMade.test(name)).map((name) => ({ name, dims: dims.get(name) ?? null }));
}

function shapeDifference(from: Resolution, name: string, dims: number[] | null): string[] {
  const shape = from.graph.tensors[modelTensor(from, name)]!.value?.shape;
  if (!dims || !shape) return [];
  const size = (list: readonly (number | string | null)[]) =>
    list.reduce<number>((product, dim) => (typeof dim === 'number' && dim >= 0 ? product * dim : NaN), 1);
  const isSame =
    dims.length === shape.length
      ? dims.every((dim, axis) => dim < 0 || typeof shape[axis] !== 'number' || dim === shape[axis])
      : !(size(dims) !== size(shape) && !Number.isNaN(size(dims)) && !Number.isNaN(size(shape)));
  const text = (list: readonly (number | string | null)[]) => shapeText(list);
  // A layer may read a part of what a Split takes apart, or write a part of what a Concat joins, under the whole's name.
  const isPart =
    partsOf(from, modelTensor(from, name)) &&
    dims.length === shape.length &&
    dims.every((dim, axis) => typeof shape[axis] !== 'number' || dim <= shape[axis]);
  return isSame || isPart ? [] : [`${quote(name)}, ${text(dims)} in the engine and ${text(shape)} in the model`];
}

/** Whether layers may have parts of a tensor in place of the whole: something takes it apart, or joins it. */
function partsOf({ graph }: Resolution, tensor: number): boolean {
  const { producer, consumers } = graph.tensors[tensor]!;
  return (
    graph.nodes[producer]?.op === 'Concat' || consumers.some((node) => /^(?:Split|Slice)/.test(graph.nodes[node]!.op))
  );
}

const products = [
  'Conv',
  'ConvTranspose',
  'ConvInteger',
  'QLinearConv',
  'Gemm',
  'MatMul',
  'MatMulInteger',
  'QLinearMatMul',
  'FusedMatMul',
  'Einsum',
  'LSTM',
  'GRU',
  'RNN',
  'Attention',
];
/** What at least one node of a layer of some types has to be. */
const operatorsOfType: [type: RegExp, operators: Set<string>][] = [
  [/^Cask(?:Gemm|Flatten)?(?:Convolution|Deconvolution)/, new Set(products)],
  [
    /^CaskPooling$/,
    new Set([
      'MaxPool',
      'AveragePool',
      'GlobalAveragePool',
      'GlobalMaxPool',
      'LpPool',
      'GlobalLpPool',
      'ReduceMean',
      'ReduceMax',
    ]),
  ],
  [/^NMS$/, new Set(['NonMaxSuppression'])],
  [/^TopK$/, new Set(['TopK', 'ArgMax', 'ArgMin'])],
];

/** Layers of a type that says what they compute, and where none of the nodes in their metadata does. */
function typedLayers({ view, layerNodes, layerEvidence, graph }: Resolution): { wrong: string[] }[] {
  return view.layers.flatMap(({ name, type }, layer) => {
    const operators = operatorsOfType.find(([pattern]) => pattern.test(type))?.[1];
    const nodes = [...layerNodes[layer]!].map((node) => graph.nodes[node]!);
    if (!operators || nodes.length === 0 || !layerEvidence[layer]!.has('metadata')) return [];
    // Functions and plugins may be anything.
    const isRight = nodes.some(({ op, domain }) => operators.has(op) || !isStandardDomain(domain));
    return [{ wrong: isRight ? [] : [`${quote(name)}, a ${type} of ${nodes[0]!.op} ${quote(nodes[0]!.name)}`] }];
  });
}

/** TensorRT's parser knows functions by their names: it builds one overload in the place of all. */
export function overloadProblem({ graph, names, unbuilt }: Resolution): Problem[] {
  if (overloadedFunctions(graph.model).length === 0) return [];
  const replaced = graph.nodes.flatMap((node, index) => {
    if (!isInOverload(graph, index)) return [];
    const record = names.recordOf(index);
    return unbuilt.has(index) || (record && record.op !== node.op) ? [{ node, record }] : [];
  });
  const [first] = replaced;
  if (!first) return [];
  const { node, record } = first;
  const call = quote(parserName(graph.nodes[graph.owner[graph.indexOfId.get(node.id)!]!]!));
  const built = record
    ? `it built ${record.op} in place of ${node.op} ${quote(node.name)}`
    : `it did not build ${node.op} ${quote(node.name)}`;
  return [
    {
      severity: 'warning',
      code: 'ignored-overload',
      message: `TensorRT ignores the overloads of functions: in call ${call} ${built}, so the engine computes something else than the model. Give the functions names of their own.`,
      node: node.id,
    },
  ];
}

/** A function that is called inside of another may be given an outer tensor of the same name as its input. */
export function scopeProblem(log: BuildLog | undefined): Problem[] {
  for (const { text, line } of log?.messages ?? []) {
    const input = outerInput.exec(text)?.groups!['tensor'];
    if (input !== undefined) return [scopeWarning(quote(input), line)];
  }
  return [];
}

const scopeWarning = (input: string, line: number): Problem => ({
  severity: 'warning',
  code: 'function-scope',
  message: `TensorRT's parser took input ${input} of a function that another function calls from outside (log line ${line}), so the engine may compute something else than the model. Inline the functions (onnx.inliner.inline_local_functions).`,
  line,
});

/**
 * TensorRT's parser knows operators by their names: it does not look for a function of one's name. That is no problem
 * where the function is the operator's own definition, as exporters write it.
 */
export function operatorProblem({ graph, names }: Resolution): Problem[] {
  const call = [...new Set(names.replaced.values())].find((one) => !computesOperator(graph, one));
  if (call === undefined) return [];
  const { id, op, domain } = graph.nodes[call]!;
  return [
    {
      severity: 'warning',
      code: 'ignored-function',
      message: `TensorRT built the operator ${op} in place of the local function ${domain}.${op} (call ${quote(parserName(graph.nodes[call]!))}), so the engine computes something else than the model. Give the function a name that no operator has.`,
      node: id,
    },
  ];
}

/** The node is in a call of a function that has several overloads. */
export function isInOverload(graph: ModelGraph, node: number): boolean {
  if (graph.model.functions.length < 2 || graph.owner[node]! < 0) return false;
  const owner = graph.owner[node]!;
  const { op, domain, subgraphs } = graph.nodes[owner]!;
  const isCall = subgraphs.some(({ attribute }) => attribute === op);
  return (
    (isCall && overloadedFunctions(graph.model).some((one) => one.name === op && one.domain === domain)) ||
    isInOverload(graph, owner)
  );
}

/** Notes the nodes that the parser did not see. It reads only one branch of an If whose condition it knows. */
export function noteUnbuilt({ graph, names, unbuilt, gone }: Resolution, log: BuildLog | undefined): void {
  for (const [node, call] of names.replaced) {
    const line = names.recordOf(call)?.line;
    if (line !== undefined) gone.set(node, { by: 'operator', node: call, line });
  }
  if (!log || log.parsedNodes.length === 0 || log.phases.length === 0 || log.dropped?.['parsedNodes']) return;
  const isInBranch = (node: number): boolean => {
    const owner = graph.owner[node]!;
    return owner >= 0 && (graph.nodes[owner]!.op === 'If' || isInBranch(owner));
  };
  for (let node = 0; node < graph.nodes.length; node++) {
    if (!names.recordOf(node) && !isInBranch(node) && !gone.has(node)) unbuilt.add(node);
  }
}
