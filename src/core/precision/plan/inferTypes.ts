import type { DataType, OnnxFunction, OnnxGraph, OnnxModel, OnnxNode } from '../../onnx/onnxModel.ts';
import { containerOf, contentOf, outputTypes } from './outputTypes.ts';

/** The element type of every tensor of a model, `seq(float)` of what holds tensors; shapes are not needed for it. */
export interface TensorTypes {
  /** The type of a tensor as seen in the graph with this path ('' is the main graph); null: cannot be told. */
  typeOf(graphPath: string, tensor: string): DataType | null;
  /** Types of one node's outputs, in order. */
  outputsOf(node: OnnxNode): (DataType | null)[];
}

/**
 * Infers every tensor's element type: what the file declares, and else what the operator makes of its inputs.
 * Unknown operators of other domains give null unless the file declares their outputs.
 */
export function inferTypes(model: OnnxModel): TensorTypes {
  const walker = new TypeWalker(model.functions);
  walker.graph(model.graph, null);
  return {
    typeOf: (path, tensor) => walker.scopes.get(path)?.find(tensor) ?? null,
    outputsOf: (node) => {
      const scope = walker.scopes.get(graphPathOf(node.id));
      return node.outputs.map((tensor) => (tensor === '' ? null : (scope?.find(tensor) ?? null)));
    },
  };
}

/** The path of the graph that a node is in: `20/then_branch/3` is in `20/then_branch`, `20` in ''. */
export function graphPathOf(nodeId: string): string {
  const slash = nodeId.lastIndexOf('/');
  return slash < 0 ? '' : nodeId.slice(0, slash);
}

/** Tensors visible in one graph: its own, then those of the graphs around it. */
class Scope {
  readonly own = new Map<string, DataType | null>();
  readonly around: Scope | null;

  constructor(around: Scope | null) {
    this.around = around;
  }

  find(tensor: string): DataType | null {
    if (this.own.has(tensor)) return this.own.get(tensor) ?? null;
    return this.around?.find(tensor) ?? null;
  }

  /** What the file declares wins over what is inferred. */
  learn(tensor: string, type: DataType | null): void {
    if (tensor !== '' && (this.own.get(tensor) ?? null) === null) this.own.set(tensor, type);
  }
}

const callOf = (domain: string, name: string, overload = ''): string => [domain, name, overload].join('\n');

/** What a node's subgraphs get, from its inputs. */
function givenTo(op: string, inputs: (DataType | null)[]): (DataType | null)[] {
  if (op === 'If') return [];
  if (op === 'Loop') return ['int64', 'bool', ...inputs.slice(2)];
  return op === 'SequenceMap' ? inputs.map((type) => contentOf(type)) : inputs;
}

const deepest = 64;

class TypeWalker {
  readonly scopes = new Map<string, Scope>();
  private readonly functions = new Map<string, OnnxFunction>();
  /** Results by function and types of the call: functions that call one another twice would be walked without end. */
  private readonly calls = new Map<string, (DataType | null)[]>();
  private depth = 0;

  constructor(functions: readonly OnnxFunction[]) {
    for (const fn of functions) this.functions.set(callOf(fn.domain, fn.name, fn.overload), fn);
  }

  graph(graph: OnnxGraph, around: Scope | null, inputs: (DataType | null)[] = []): (DataType | null)[] {
    const scope = new Scope(around);
    this.scopes.set(graph.path, scope);
    for (const value of [...graph.inputs, ...graph.outputs, ...graph.values]) scope.learn(value.name, value.type);
    for (const tensor of graph.initializers) scope.own.set(tensor.name, tensor.type);
    for (const [i, value] of graph.inputs.entries()) scope.learn(value.name, inputs[i] ?? null);
    this.nodes(graph.nodes, scope);
    return graph.outputs.map((value) => scope.find(value.name));
  }

  private nodes(nodes: readonly OnnxNode[], scope: Scope): void {
    for (const node of nodes) {
      const types = this.node(node, scope);
      for (const [i, tensor] of node.outputs.entries()) scope.learn(tensor, types[i] ?? null);
    }
  }

  private node(node: OnnxNode, scope: Scope): (DataType | null)[] {
    const inputs = node.inputs.map((tensor) => (tensor === '' ? null : scope.find(tensor)));
    if (this.depth >= deepest) return [];
    this.depth++;
    try {
      if (node.subgraphs.length > 0) return this.control(node, inputs, scope);
      const call = callOf(node.domain, node.op, node.overload);
      const fn = this.functions.get(call);
      if (fn) return this.call(fn, call, inputs);
      return outputTypes(node, inputs);
    } finally {
      this.depth--;
    }
  }

  private control(node: OnnxNode, inputs: (DataType | null)[], scope: Scope): (DataType | null)[] {
    const results = node.subgraphs.map(({ graph }) => this.graph(graph, scope, givenTo(node.op, inputs)));
    const first = results[0] ?? [];
    if (node.op === 'Loop') return first.slice(1);
    if (node.op === 'SequenceMap') return first.map((type) => containerOf('seq', type));
    return first.map((type, i) => type ?? results[1]?.[i] ?? null);
  }

  /** A model-local function: its body, walked with the types of this call. */
  private call(fn: OnnxFunction, name: string, inputs: (DataType | null)[]): (DataType | null)[] {
    const key = JSON.stringify([name, inputs]);
    const known = this.calls.get(key);
    if (known) return known;
    // A function that calls itself, which ONNX forbids, learns nothing from that.
    this.calls.set(key, []);
    const scope = new Scope(null);
    for (const [i, input] of fn.inputs.entries()) scope.own.set(input, inputs[i] ?? null);
    this.nodes(fn.nodes, scope);
    const outputs = fn.outputs.map((output) => scope.find(output));
    this.calls.set(key, outputs);
    return outputs;
  }
}
