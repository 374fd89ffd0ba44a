import type { OnnxGraph, OnnxModel, OnnxNode } from '../onnx/onnxModel.ts';
import { expandFunctions } from './expandFunctions.ts';

/** A tensor's name where a function is called, by its name in the function. */
type Names = (name: string) => string;

/**
 * A model in which the nodes of local functions are in place of their calls, as TensorRT inlines them. They have the ids
 * of `expandFunctions`, and their inner tensors the names `<call>/<name>`. The same model if it has no functions.
 */
export function inlineFunctions(model: OnnxModel): OnnxModel {
  if (model.functions.length === 0) return model;
  const called = new Set(model.functions.map(({ domain, name, overload }) => keyOf(domain, name, overload)));
  const expanded = expandFunctions(model);
  const inlining = new Inlining(called);
  const graph = inlining.graph(expanded.graph, (name) => name);
  return { ...expanded, graph, nodes: inlining.all };
}

const keyOf = (domain: string, name: string, overload = ''): string => `${domain}\u0000${name}\u0000${overload}`;

class Inlining {
  /** Nodes of all graphs. */
  readonly all: OnnxNode[] = [];
  readonly #called: ReadonlySet<string>;

  constructor(called: ReadonlySet<string>) {
    this.#called = called;
  }

  graph(graph: OnnxGraph, names: Names): OnnxGraph {
    const nodes: OnnxNode[] = [];
    this.#add(graph.nodes, names, nodes);
    return { ...graph, nodes, outputs: graph.outputs.map((output) => ({ ...output, name: names(output.name) })) };
  }

  #add(list: readonly OnnxNode[], names: Names, nodes: OnnxNode[]): void {
    for (const node of list) {
      const body = this.#called.has(keyOf(node.domain, node.op, node.overload)) ? node.subgraphs.at(-1) : undefined;
      if (body?.attribute === node.op) this.#add(body.graph.nodes, innerNames(node, body.graph, names), nodes);
      else nodes.push(this.#node(node, names));
    }
  }

  #node(node: OnnxNode, names: Names): OnnxNode {
    const made: OnnxNode = { ...node, inputs: node.inputs.map(names), outputs: node.outputs.map(names), subgraphs: [] };
    this.all.push(made);
    made.subgraphs = node.subgraphs.map(({ attribute, graph }) => {
      const own = new Set([
        ...[...graph.inputs, ...graph.initializers].map(({ name }) => name),
        ...graph.nodes.flatMap(({ outputs }) => outputs),
      ]);
      return { attribute, graph: this.graph(graph, (name) => (own.has(name) ? name : names(name))) };
    });
    return made;
  }
}

/** What the formal names of a function stand for in a call. */
function innerNames({ id, inputs, outputs }: OnnxNode, body: OnnxGraph, names: Names): Names {
  const given = new Map([['', '']]);
  body.outputs.forEach(({ name }, index) => outputs[index] && given.set(name, names(outputs[index])));
  body.inputs.forEach(({ name }, index) => given.set(name, names(inputs[index] ?? '')));
  return (name) => given.get(name) ?? `${id}/${name}`;
}
