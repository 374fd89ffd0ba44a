import type { CheckFinding } from '../../kernel/build/diagnosis.ts';
import { versionNumber } from '../../kernel/base/text.ts';
import { gpuSupport, OPERATOR_REPAIRS } from './gpuSupport.ts';
import {
  builtNetworkOf,
  inferTensors,
  type InferredTensors,
  type Network,
  networkOf,
  withBody,
} from '../../kernel/network/network.ts';
import {
  inDataOrder,
  isStandardDomain,
  type ModelGraph,
  outOfOrder,
  readsOf,
} from '../../kernel/network/modelGraph.ts';
import { outputTypes } from '../../kernel/network/outputTypes.ts';
import { addTo } from '../../kernel/base/addTo.ts';
import {
  isEpContext,
  byteLength,
  type OnnxModel,
  type OnnxNode,
  type OnnxTensor,
  type OnnxValue,
} from '../../kernel/read/onnx/onnxModel.ts';
import {
  type AddError,
  errorsOf,
  checkShapes,
  type CheckTarget,
  type GivenShape,
  type NodeProblem,
} from './internal/checkShapes.ts';
import { knownFaults } from '../../kernel/faults/knownFaults.ts';
import { formProblem, leftOut } from './internal/nodeForms.ts';
import { constantAt, typeText } from './internal/nodeToCheck.ts';
import { shapeProblem } from './internal/nodeShapes.ts';
import { typesProblem } from './internal/nodeTypes.ts';
import { OPERATOR_ROWS, operatorRow, rtxOfTables } from './operatorTable.ts';
import { OWN_PLUGINS } from './pluginTable.ts';

export type { CheckTarget, GivenShape } from './internal/checkShapes.ts';
export { computeCapability } from './gpuSupport.ts';

/** The version that tables without one are for. */
const NEWEST = '11.2';
/** Types of graph inputs and initializers that no version has. */
const NO_TYPES = /^(?:u?int16|uint32|uint64|string|complex\d+|uint4|float8e5m2\w*|float8e4m3fnuz)$/;
/** Quantized types that no version has, and what takes their place. */
const QUANTIZED: Readonly<Record<string, string>> = {
  uint4: 'Quantize to INT4 or INT8, with zero points of 0.',
  float8e5m2: 'Quantize to FP8 E4M3FN or INT8.',
};
const MOST_NAME = 4096;
const MOST_DIMENSIONS = 8;

/**
 * What a version of TensorRT refuses in a model, without a build: operators, types, forms, the GPU, and shapes that do not
 * fit, from tables of what its parser accepts; and what it builds and computes wrong (code `known-fault`). No finding with
 * `error`: it will be accepted, and its values are right, as far as is known.
 */
export function checkModel(model: OnnxModel, target: CheckTarget, given: readonly GivenShape[] = []): CheckFinding[] {
  const graph = networkOf(model);
  const { inferred } = graph;
  const found: CheckFinding[] = [
    ...checkGpu(target),
    ...checkKernels(graph, target),
    ...checkBorders(graph),
    ...checkOutputTypes(graph, target),
    ...checkOrder(graph),
    ...checkNames(graph),
    ...checkRecursion(model),
    ...checkShapes(graph, inferred, given),
    ...checkNodes(model.functions.length === 0 ? graph : builtNetworkOf(model), target),
    ...knownFaults(model, target),
  ];
  const rank = { error: 0, warning: 1, unknown: 2 };
  return found.toSorted((a, b) => rank[a.severity] - rank[b.severity]);
}

/** Where the tables were not measured for a version: what they are instead. '' where they were. */
export function tableBasis({ product, version }: CheckTarget): string {
  if (version === null) return '';
  const here = versionNumber(version);
  if (product === 'tensorrt-rtx')
    return here === versionNumber(rtxOfTables)
      ? ''
      : `The tables are those of TensorRT-RTX ${rtxOfTables}; other versions may differ.`;
  if (here > versionNumber('10.10') && here < versionNumber('10.15'))
    return `The tables of ${version} are interpolated between 10.10 and 10.15.`;
  if (here === versionNumber('11.0')) return 'The tables of 11.0 are interpolated between 10.16 and 11.1.';
  if (here > versionNumber(NEWEST)) return `The tables end with ${NEWEST}; ${version} may accept more.`;
  return here < versionNumber('8.6') ? `The tables begin with 8.6; ${version} may refuse more.` : '';
}

function checkGpu({ capability, version, product }: CheckTarget): CheckFinding[] {
  if (capability === null) return [];
  const support = gpuSupport(capability, version ?? (product === 'tensorrt' ? NEWEST : null), product);
  const base = { code: 'gpu-unsupported', nodes: [], tensors: [] };
  if (support === null)
    return [
      {
        ...base,
        severity: 'unknown',
        message: `Whether this version supports compute capability ${capability} is not known.`,
        advice: "Look it up in NVIDIA's support matrix.",
      },
    ];
  return support.supported
    ? []
    : [{ ...base, severity: 'error', message: `${support.why}.`, advice: `${support.use}.` }];
}

/**
 * What TensorRT has no kernels for on a GPU: FP4 before Blackwell, and of TensorRT-RTX several on Turing. Measured with
 * TensorRT-RTX 1.7.1, whose compiler says `HW-specific datatypes: fp4_e2m1` and `no FP32 kernel`.
 */
function checkKernels(graph: Network, { product, capability }: CheckTarget): CheckFinding[] {
  const { types } = graph.inferred;
  if (capability === null) return [];
  const fp4 = graph.nodes.filter((_, node) =>
    [...graph.inputs[node]!, ...graph.outputs[node]!].some((tensor) => types[tensor] === 'float4e2m1'),
  );
  if (fp4.length > 0 && Number(capability) < 10)
    return [
      {
        severity: 'error',
        code: 'gpu-unsupported',
        message: `FP4 needs compute capability 10.0 or later; ${capability} has none, and the build fails.`,
        advice: 'Build for a Blackwell GPU, or quantize to FP8 (8.9 and later), INT8 or INT4.',
        nodes: fp4.map(({ id }) => id),
        tensors: [],
      },
    ];
  if (product !== 'tensorrt-rtx' || capability !== '7.5') return [];
  const typeOf = (node: number): string => types[graph.outputs[node]![0] ?? -1] ?? '';
  const rankOf = (node: number): number => graph.inferred.shapes[graph.inputs[node]![0] ?? -1]?.length ?? 0;
  const kinds: [what: string, is: (op: string, node: number) => boolean][] = [
    ['matrix products (GEMM) in FP32', (op, node) => /^(?:MatMul|Gemm)$/.test(op) && typeOf(node) === 'float'],
    ['convolutions of three dimensions', (op, node) => /^Conv(?:Transpose)?$/.test(op) && rankOf(node) === 5],
    ['BF16', (op, node) => typeOf(node) === 'bfloat16' && op !== 'Cast'],
  ];
  return kinds.flatMap(([what, is]): CheckFinding[] => {
    const nodes = graph.nodes.filter(({ op, domain }, node) => isStandardDomain(domain) && is(op, node));
    if (nodes.length === 0) return [];
    return [
      {
        severity: 'error',
        code: 'gpu-unsupported',
        message: `TensorRT-RTX has no kernels for ${what} on compute capability 7.5: the build fails, or the engine gives zeros.`,
        advice: 'Convert the model to FP16, or build for compute capability 8.0 and later.',
        nodes: nodes.map(({ id }) => id),
        tensors: [],
      },
    ];
  });
}

/** Inputs, outputs, initializers and names. */
function checkBorders(graph: ModelGraph): CheckFinding[] {
  const found: CheckFinding[] = [];
  const { model } = graph;
  const initializers = new Set(model.graph.initializers.map(({ name }) => name));
  const add = errorsOf(found);
  for (const input of model.graph.inputs) if (!initializers.has(input.name)) checkInput(input, add);
  if (model.graph.outputs.length === 0)
    add('model-invalid', 'The model has no outputs.', 'Name the tensors that the engine gives.', [], 'name-outputs');
  for (const initializer of model.graph.initializers) checkInitializer(initializer, add);
  for (const { name } of model.graph.outputs) {
    const tensor = graph.tensors[graph.byName.get(name) ?? -1];
    if (name === '' || tensor === undefined || tensor.kind === 'undefined')
      add(
        'model-invalid',
        name === '' ? 'An output has no name.' : `No node gives output ${name}.`,
        'Remove it from the outputs, or name the tensor that was meant.',
        [name],
        'name-outputs',
      );
  }
  const isLong = (name: string): boolean => name.length > MOST_NAME;
  const long = graph.nodes.filter(({ name, outputs }) => [name, ...outputs].some(isLong));
  if (long.length > 0 || model.graph.inputs.some(({ name }) => isLong(name)))
    found.push({
      severity: 'error',
      code: 'model-invalid',
      message: `Names of more than ${MOST_NAME} characters; TensorRT refuses them.`,
      advice: 'Shorten them.',
      nodes: long.map(({ id }) => id),
      tensors: [],
      repair: 'shorten-names',
    });
  return found;
}

/** Types that TensorRT converts to one another at an output. */
const kindOf = (type: string): string =>
  /^(?:b?float(?:16)?|double)$/.test(type) ? 'float' : type.replace(/^int(?:32|64)$/, 'int');

/** Outputs whose declared type is not the one that their node gives: 10.6 stops while building, at a check of its own. */
function checkOutputTypes(graph: Network, { product, version }: CheckTarget): CheckFinding[] {
  const here = versionNumber(version ?? NEWEST);
  if (product !== 'tensorrt' || here < 1000 || here > 1010) return [];
  return graph.model.graph.outputs.flatMap(({ name, type }): CheckFinding[] => {
    const at = graph.byName.get(name) ?? -1;
    const producer = graph.tensors[at]?.producer ?? -1;
    const node = graph.nodes[producer];
    if (type === null || node === undefined) return [];
    const reads = graph.inputs[producer]!.map((tensor) => graph.inferred.types[tensor] ?? null);
    const made = outputTypes(node, reads)[graph.outputs[producer]!.indexOf(at)] ?? null;
    const given = made === 'uint8' && node.op === 'QuantizeLinear' ? 'int8' : made;
    if (given === null || kindOf(given) === kindOf(type)) return [];
    return [
      {
        severity: 'error',
        code: 'model-invalid',
        message: `Output ${name} is declared ${typeText(type)}, and ${node.op} gives ${typeText(given)}.`,
        advice: `Declare it ${typeText(given)}, or insert a Cast.`,
        nodes: [node.id],
        tensors: [name],
        ...(node.op === 'QuantizeLinear' && { repair: 'quantize-in-float' }),
      },
    ];
  });
}

/** Type and rank of an input. */
function checkInitializer({ name, type, shape, data, sparse }: OnnxTensor, add: AddError): void {
  // Of sparse ones it is the bytes of their values, of scattered ones also what is between the parts.
  const raw = data && 'inline' in data && !sparse ? data.inline : undefined;
  const stored = raw && raw.field === undefined && !raw.scattered ? raw.length : 0;
  const needed = byteLength(type, shape);
  if (stored > 0 && needed !== undefined && stored !== needed)
    add(
      'model-invalid',
      `Initializer ${name} has ${stored} bytes, and its type and shape need ${needed}.`,
      'Export the model again.',
      [name],
    );
  if (NO_TYPES.test(type))
    add(
      'unsupported-type',
      `Initializer ${name} is ${typeText(type)}, which TensorRT does not have.`,
      type === 'string'
        ? 'Have the model give numbers, and look the texts up in the program.'
        : (QUANTIZED[type.replace(/^float8.*/, 'float8e5m2')] ??
            (/^u?int16$/.test(type)
              ? 'A zero point: quantize to INT8. Otherwise store it as INT32, INT64 or FP32.'
              : type === 'uint32'
                ? 'Store it as INT64, with what it is computed with. Write a BitShift as Div, or as Mul and Mod, by powers of two.'
                : 'Store it as INT32, INT64 or FP32.')),
      [name],
    );
}

function checkInput({ name, type, shape }: OnnxValue, add: AddError): void {
  if (type !== null && NO_TYPES.test(type))
    add(
      'unsupported-type',
      `Input ${name} is ${typeText(type)}, which TensorRT does not have.`,
      type === 'string'
        ? 'Keep strings outside: cut the model after the nodes that read them.'
        : 'Give it the type INT32, INT64 or FP32 and cast before the engine.',
      [name],
      type === 'string' ? undefined : 'widen-inputs',
    );
  if (shape !== null && shape.length > MOST_DIMENSIONS)
    add(
      'unsupported-form',
      `Input ${name} has ${shape.length} dimensions; TensorRT allows ${MOST_DIMENSIONS}.`,
      'Reshape it outside the engine.',
      [name],
    );
}

/** The parser sorts the nodes, so their order in the file alone is no problem; a cycle is. */
function checkOrder(graph: ModelGraph): CheckFinding[] {
  if (outOfOrder(graph) === null) return [];
  const nodes = cycleIn(graph);
  if (nodes.length === 0) return [];
  return [
    {
      severity: 'error',
      code: 'model-unreadable',
      message: 'The graph has a cycle: these nodes read what they give.',
      advice: 'Connect one of them to the tensor that was meant, or export the model again.',
      nodes: nodes.map((node) => graph.nodes[node]!.id),
      tensors: [],
    },
  ];
}

/** The nodes of one cycle, in the order of the data; none where the nodes can be sorted. */
function cycleIn(graph: ModelGraph): number[] {
  const place = new Map(inDataOrder(graph).map((node, at) => [node, at]));
  const producerOf = (tensor: number): number => graph.tensors[tensor]?.producer ?? -1;
  for (let start = 0; start < graph.nodes.length; start++) {
    // Sorted nodes come after all that they read.
    const late = readsOf(graph, start).some((tensor) => (place.get(producerOf(tensor)) ?? -1) >= place.get(start)!);
    if (!late) continue;
    const from = new Map<number, number>();
    const open = [start];
    while (open.length > 0) {
      const at = open.pop()!;
      for (const tensor of readsOf(graph, at)) {
        const producer = producerOf(tensor);
        if (producer === start) return wayBack(from, at, start);
        if (producer < 0 || from.has(producer)) continue;
        from.set(producer, at);
        open.push(producer);
      }
    }
  }
  return [];
}

function wayBack(from: ReadonlyMap<number, number>, end: number, start: number): number[] {
  const nodes = [start];
  for (let at = end; at !== start; at = from.get(at)!) nodes.push(at);
  return nodes;
}

/** Names that two tensors of one graph have: the parser registers each once. */
function checkNames(graph: ModelGraph): CheckFinding[] {
  const bodies = graph.nodes.flatMap(({ subgraphs }) => subgraphs.map(({ graph: body }) => body));
  return [graph.model.graph, ...bodies].flatMap((source) => {
    const inputs = source.inputs.map(({ name }) => name);
    const initializers = source.initializers.map(({ name }) => name);
    const stored = new Set([...inputs, ...initializers]);
    const first = new Map<string, string>();
    /** By name: the nodes that give it again. */
    const again = new Map<string, string[]>();
    for (const { id, outputs } of source.nodes)
      for (const name of outputs) {
        if (name === '') continue;
        if (stored.has(name) || first.has(name)) addTo(again, name, id);
        else first.set(name, id);
      }
    return [
      ...repeated(inputs).map((name) => duplicate(name, 'Two inputs', [])),
      ...repeated(initializers).map((name) => duplicate(name, 'Two initializers', [])),
      ...[...again].map(([name, nodes]) => {
        if (stored.has(name))
          return duplicate(name, `A node and an ${inputs.includes(name) ? 'input' : 'initializer'}`, nodes);
        return duplicate(name, `${nodes.length + 1} outputs of nodes`, [first.get(name)!, ...nodes]);
      }),
    ];
  });
}

/** A function that calls itself, perhaps through others: the parser follows the calls until it crashes. */
function checkRecursion({ functions, nodes }: OnnxModel): CheckFinding[] {
  const keyOf = ({ domain, op }: OnnxNode): string => `${domain}:${op}`;
  const calls = new Map(functions.map((one) => [`${one.domain}:${one.name}`, one.nodes.flatMap(withBody).map(keyOf)]));
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    (calls.get(from) ?? []).some(
      (next) => next === to || (calls.has(next) && !seen.has(next) && reaches(next, to, seen.add(next))),
    );
  return functions.flatMap(({ domain, name }): CheckFinding[] => {
    const key = `${domain}:${name}`;
    if (!reaches(key, key)) return [];
    return [
      {
        severity: 'error',
        code: 'model-invalid',
        message: `The function ${name} calls itself, which ONNX does not allow; the parser crashes.`,
        advice: 'Write its body without the call, as a Loop for example, or export the model again.',
        nodes: nodes.flatMap((node) => (keyOf(node) === key ? [node.id] : [])),
        tensors: [],
      },
    ];
  });
}

const repeated = (names: readonly string[]): string[] => {
  const seen = new Set<string>();
  return [...new Set(names.filter((name) => seen.has(name) || !seen.add(name)))];
};

const duplicate = (name: string, what: string, nodes: string[]): CheckFinding => ({
  severity: 'error',
  code: 'model-invalid',
  message: `${what} have the name ${name}; a name must be unique in its graph.`,
  advice: 'Rename one of them, and what reads it.',
  nodes: [...new Set(nodes)],
  tensors: [name],
});

/** What the checks of one model share. */
interface Checked {
  graph: ModelGraph;
  inferred: InferredTensors;
  target: CheckTarget;
  /** Number of inputs of each function, by domain and name. */
  functions: ReadonlyMap<string, number>;
  sparse: ReadonlySet<string>;
  /** What the tables say of an operator, by domain and name. */
  operators: Map<string, NodeProblem | null>;
  /** The shapes of tensors without what the file declares of those that nodes make. */
  undeclared: () => InferredTensors;
}

/** Every node, also those that nothing reads: the parser imports them, too. */
function checkNodes(graph: Network, target: CheckTarget): CheckFinding[] {
  const groups = new Map<string, CheckFinding>();
  let undeclared: InferredTensors | undefined;
  const checked: Checked = {
    graph,
    inferred: graph.inferred,
    target,
    functions: new Map(graph.model.functions.map(({ domain, name, inputs }) => [`${domain}:${name}`, inputs.length])),
    sparse: new Set(graph.model.graph.initializers.flatMap(({ name, sparse }) => (sparse ? [name] : []))),
    operators: new Map(),
    undeclared: () => (undeclared ??= inferTensors(graph, true)),
  };
  const add = (one: NodeProblem, node: OnnxNode): void => {
    const key = `${one.code}\n${one.message}`;
    const earlier = groups.get(key);
    if (earlier) earlier.nodes.push(node.id);
    else groups.set(key, { ...one, nodes: [node.id], tensors: [] });
  };
  const skipped = untaken(graph);
  for (let index = 0; index < graph.nodes.length; index++)
    if (!skipped.has(index)) checkNode(graph.nodes[index]!, index, checked, add);
  const found = [...groups.values()];
  if (!found.some(({ severity }) => severity === 'error')) return found;
  const dead = deadNodes(graph);
  return found.map((one) =>
    one.severity === 'error' && one.nodes.every((id) => dead.has(id))
      ? {
          ...one,
          advice: `Nothing reads what ${one.nodes.length === 1 ? 'this node gives' : 'these nodes give'}: remove ${one.nodes.length === 1 ? 'it' : 'them'}.`,
          repair: 'remove-dead-nodes',
        }
      : one,
  );
}

/** Nodes of branches that a stored condition rules out: the parser does not read them. */
function untaken(graph: ModelGraph): Set<number> {
  const found = new Set<number>();
  const bodies = new Map<number, string>();
  for (const [index, node] of graph.nodes.entries()) {
    const owner = graph.owner[index]!;
    const path = bodies.get(owner);
    if (found.has(owner) || (path !== undefined && node.id.startsWith(path))) found.add(index);
    if (node.op !== 'If') continue;
    const condition = constantAt({ graph, index }, 0)?.ints?.[0];
    const dead = condition === undefined ? undefined : condition === 0 ? 'then_branch' : 'else_branch';
    if (dead !== undefined) bodies.set(index, `${node.id}/${dead}/`);
  }
  return found;
}

function checkNode(
  node: OnnxNode,
  index: number,
  checked: Checked,
  add: (one: NodeProblem, node: OnnxNode) => void,
): void {
  const { graph, inferred, target, functions } = checked;
  const key = `${node.domain}:${node.op}`;
  const called = functions.get(key);
  if (called !== undefined) {
    const problem = callProblem(node, called, target) ?? leftOut({ node, index, graph, inferred, target });
    if (problem) add(problem, node);
    return;
  }
  const missing = missingInput(node, index, checked);
  if (missing) add(missing, node);
  let support = checked.operators.get(key);
  if (support === undefined) checked.operators.set(key, (support = operatorProblem(node, target) ?? null));
  if (support) add(support, node);
  if (support?.severity === 'error') return;
  const one = { node, index, graph, inferred, target };
  const form =
    formProblem(one) ??
    typesProblem(one) ??
    typeProblem(node, index, graph, inferred, target) ??
    // What a file declares of a shape may be stale: only what follows from the inputs counts.
    (shapeProblem(one) && shapeProblem({ ...one, inferred: checked.undeclared() }));
  if (form) add(form, node);
  if (node.domain !== '' && support === null && !isStandardDomain(node.domain) && !STANDARD_ONLY.has(node.domain))
    add(
      {
        severity: 'warning',
        code: 'foreign-domain',
        message: `${node.op} of domain ${node.domain} is imported as ONNX's ${node.op}: TensorRT ignores the domain.`,
        advice: 'Check that it means the same, or rename the operator and register a plugin.',
      },
      node,
    );
}

/** A call of a function of the model with other inputs than the function has. */
function callProblem({ op, inputs }: OnnxNode, declared: number, { product }: CheckTarget): NodeProblem | undefined {
  const error = { severity: 'error', code: 'model-invalid' } as const;
  if (declared !== inputs.length)
    return {
      ...error,
      message: `The function ${op} takes ${declared} inputs, and a call gives ${inputs.length}.`,
      advice: 'Pass them all, or inline the function (onnx.inliner.inline_local_functions).',
    };
  if (!inputs.includes('') || product !== 'tensorrt-rtx') return undefined;
  return {
    ...error,
    message: `A call of the function ${op} leaves out an input, which the parser refuses.`,
    advice: 'Inline the function (onnx.inliner.inline_local_functions), or pass a value.',
    repair: 'inline-functions',
  };
}

/** An input that no node, input or initializer gives. */
function missingInput(node: OnnxNode, index: number, { graph, sparse }: Checked): NodeProblem | undefined {
  for (const tensor of graph.inputs[index]!) {
    const read = graph.tensors[tensor];
    if (read === undefined || (read.kind !== 'undefined' && !(sparse.size > 0 && sparse.has(read.name)))) continue;
    if (sparse.has(read.name))
      return {
        severity: 'error',
        code: 'model-invalid',
        message: `${node.op} reads ${read.name}, which is a sparse initializer.`,
        advice: 'Export it again, with dense initializers.',
        repair: 'dense-initializers',
      };
    return {
      severity: 'error',
      code: 'model-invalid',
      message: `${node.op} reads ${read.name}, which nothing gives.`,
      advice: 'The model was cut or edited badly: add the node, the input or the initializer that gives it.',
    };
  }
  return undefined;
}

/** Domains whose operators TensorRT imports by design. */
const STANDARD_ONLY: ReadonlySet<string> = new Set(['com.microsoft', 'trt', 'trt.plugins', 'com.nvidia', 'TRT']);

/** Whether the parser has the operator at all. */
function operatorProblem(node: OnnxNode, { product, version }: CheckTarget): NodeProblem | undefined {
  const row = operatorRow(node.op);
  const repair = Object.hasOwn(OPERATOR_REPAIRS, node.op) ? OPERATOR_REPAIRS[node.op] : undefined;
  const extra = repair === undefined ? {} : { repair };
  if (row === undefined || (node.op.startsWith('TRT_') && product === 'tensorrt'))
    return unknownOperator(node, product, extra);
  return knownOperator(node, row, { product, version }, extra);
}

function unknownOperator(node: OnnxNode, product: CheckTarget['product'], extra: { repair?: string }): NodeProblem {
  if (node.op.startsWith('TRT_') || OWN_PLUGINS.test(node.op))
    return {
      severity: 'unknown',
      code: 'plugin-missing',
      message: `${node.op} is a plugin: it is accepted where its library is loaded.`,
      advice:
        product === 'tensorrt-rtx'
          ? 'TensorRT-RTX has no plugin library of its own.'
          : 'Load the library before parsing.',
    };
  if (isEpContext(node))
    return {
      severity: 'error',
      code: 'unsupported-op',
      message: 'EPContext is an engine that ONNX Runtime keeps in this model: TensorRT cannot build it again.',
      advice: 'Use the model from which ONNX Runtime made this one.',
    };
  return {
    severity: 'error',
    code: 'unsupported-op',
    message: `No version of TensorRT has the operator ${node.op}${node.domain === '' ? '' : ` (${node.domain})`}; it needs a plugin of that name.`,
    advice: 'Replace it with ONNX operators, or register a plugin.',
    ...extra,
  };
}

function knownOperator(
  node: OnnxNode,
  row: string,
  { product, version }: Pick<CheckTarget, 'product' | 'version'>,
  extra: { repair?: string },
): NodeProblem | undefined {
  const [since = '-', rtx = '?'] = row.split(' ');
  const error = (message: string): NodeProblem => ({
    severity: 'error',
    code: 'unsupported-op',
    message,
    advice: 'Replace it with supported operators, or leave that part outside the engine.',
    ...extra,
  });
  if (product === 'tensorrt-rtx') {
    if (rtx === 'n') return error(`TensorRT-RTX does not support the operator ${node.op}.`);
    if (rtx === 'y') return undefined;
    return {
      severity: 'unknown',
      code: 'unsupported-op',
      message: `Whether TensorRT-RTX builds ${node.op} is not known${node.op === 'RoiAlign' ? ': its plugin needs a GPU while the model is parsed' : ''}.`,
      advice: 'Try a build.',
    };
  }
  const [first = '-', last] = since.split('-').filter(Boolean);
  if (since === '-') return error(`TensorRT does not support the operator ${node.op}.`);
  const here = versionNumber(version ?? NEWEST);
  if (here < versionNumber(first)) return error(`TensorRT supports the operator ${node.op} since ${first}.`);
  if (last !== undefined && here > versionNumber(last))
    return error(`TensorRT supports the operator ${node.op} up to ${last}.`);
  return undefined;
}

const LETTERS: Readonly<Record<string, string>> = {
  bool: 'B',
  bfloat16: 'b',
  double: 'D',
  float: 'F',
  float16: 'H',
  int32: 'i',
  int64: 'l',
  int8: 'c',
};

/** Operators whose first input does not decide what they compute in. */
const OTHER_TYPES =
  /^(?:OneHot|Range|Cast\w*|ConstantOfShape|Constant|Random\w+|EyeLike|Shape|Size|NonZero|(?:De)?[Qq]uantizeLinear|If|Loop|Scan|Where|TopK|Dropout|Mod|Identity|Compress|Gather\w*|Scatter\w*|Expand|Reshape|Squeeze|Unsqueeze|Slice|Concat|Split|Transpose|Flatten|Tile|Pad)$/;

/** The types that the parsers refuse, by operator. */
const REFUSED_TYPES: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(OPERATOR_ROWS).flatMap(([op, row]) => {
    const refused = row.split(' ')[2];
    return refused === undefined || OTHER_TYPES.test(op) ? [] : [[op, refused.split('/')]];
  }),
);

/** A type that the parser refuses for the operator, where it was measured. */
function typeProblem(
  node: OnnxNode,
  index: number,
  graph: ModelGraph,
  inferred: InferredTensors,
  { product, version }: CheckTarget,
): NodeProblem | undefined {
  const refused = REFUSED_TYPES.get(node.op);
  if (refused === undefined) return undefined;
  const here = versionNumber(version ?? NEWEST);
  const column = product === 'tensorrt-rtx' ? 0 : here >= 1100 ? 1 : here >= 1000 ? 2 : -1;
  const type = inferred.types[graph.inputs[index]![0] ?? -1];
  const letter = LETTERS[type ?? ''];
  if (column < 0 || letter === undefined || !(refused[column] ?? '').includes(letter)) return undefined;
  return {
    severity: 'error',
    code: 'unsupported-type',
    message: `${node.op} of ${typeText(type!)} is refused.`,
    advice: /^(?:LSTM|GRU|RNN)$/.test(node.op)
      ? 'Cast its input, states and weights to FP32, and its outputs back.'
      : 'Cast the input to FP32 before it, and back after it.',
  };
}

/** Nodes of the main graph that lead to no output. */
function deadNodes(graph: ModelGraph): Set<string> {
  const alive = new Set<number>();
  const open = graph.graphOutputs
    .flatMap((tensor) => graph.tensors[tensor]?.producer ?? [])
    .filter((node) => node >= 0);
  while (open.length > 0) {
    const node = open.pop()!;
    if (alive.has(node)) continue;
    alive.add(node);
    for (const tensor of [...graph.inputs[node]!, ...graph.captured[node]!]) {
      const producer = graph.tensors[tensor]?.producer ?? -1;
      if (producer >= 0) open.push(producer);
    }
  }
  return new Set(graph.nodes.flatMap(({ id }, index) => (graph.owner[index] === -1 && !alive.has(index) ? [id] : [])));
}
