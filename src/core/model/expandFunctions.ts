import type { OnnxFunction, OnnxGraph, OnnxModel, OnnxNode } from '../onnx/onnxModel.ts';

/** Functions may call one another this deep, and all calls together may have so many nodes. */
const deepest = 32;
const mostNodes = 200_000;

/**
 * A model in which each call of a local function has the function's body as a subgraph, as TensorRT takes it: the body's
 * nodes have the ids `<call>/<function>/<position>`. The same model if it calls none.
 */
export function expandFunctions(model: OnnxModel): OnnxModel {
  if (model.functions.length === 0) return model;
  return new Expansion(model).run();
}

const keyOf = (domain: string, name: string, overload = ''): string => `${domain}\u0000${name}\u0000${overload}`;

class Expansion {
  readonly #model: OnnxModel;
  readonly #functions: Map<string, OnnxFunction>;
  readonly #nodes: OnnxNode[] = [];

  constructor(model: OnnxModel) {
    this.#model = model;
    this.#functions = new Map(model.functions.map((one) => [keyOf(one.domain, one.name, one.overload), one]));
  }

  run(): OnnxModel {
    const graph = this.#graph(this.#model.graph, '', 0);
    return { ...this.#model, graph, nodes: this.#nodes };
  }

  #graph(graph: OnnxGraph, path: string, depth: number): OnnxGraph {
    return { ...graph, path, nodes: this.#list(graph.nodes, path, depth) };
  }

  #list(nodes: readonly OnnxNode[], path: string, depth: number): OnnxNode[] {
    return nodes.map((node, position) => {
      const id = path === '' ? String(position) : `${path}/${position}`;
      const made: OnnxNode = { ...node, id, subgraphs: [] };
      this.#nodes.push(made);
      made.subgraphs = node.subgraphs.map(({ attribute, graph }) => ({
        attribute,
        graph: this.#graph(graph, `${id}/${attribute}`, depth),
      }));
      const called = depth < deepest ? this.#functions.get(keyOf(node.domain, node.op, node.overload)) : undefined;
      if (called && this.#nodes.length + called.nodes.length <= mostNodes) {
        made.subgraphs.push({ attribute: called.name, graph: this.#body(called, `${id}/${called.name}`, depth + 1) });
      }
      return made;
    });
  }

  #body({ name, inputs, outputs, nodes }: OnnxFunction, path: string, depth: number): OnnxGraph {
    const formal = (tensor: string) => ({ name: tensor, type: null, shape: null });
    return {
      name,
      path,
      nodes: this.#list(nodes, path, depth),
      inputs: inputs.map(formal),
      outputs: outputs.map(formal),
      values: [],
      initializers: [],
    };
  }
}
