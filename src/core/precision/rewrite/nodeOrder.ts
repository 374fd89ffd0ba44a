import type { OnnxGraph, OnnxNode } from '../../onnx/onnxModel.ts';

/** A node that reads a tensor which a later node makes. */
export interface OutOfOrder {
  node: OnnxNode;
  tensor: string;
}

interface Around {
  made: ReadonlySet<string>;
  known: ReadonlySet<string>;
  around: Around | null;
}

/** The first node that comes before one that it needs; null: all are in the order that ONNX asks for. */
export function outOfOrder(graph: OnnxGraph, around: Around | null = null): OutOfOrder | null {
  const made = new Set(graph.nodes.flatMap(({ outputs }) => outputs));
  const known = new Set([...graph.inputs, ...graph.initializers].map(({ name }) => name));
  const scope: Around = { made, known, around };
  for (const node of graph.nodes) {
    const tensor = node.inputs.find((name) => name !== '' && comesLater(name, scope));
    if (tensor !== undefined) return { node, tensor };
    for (const { graph: body } of node.subgraphs) {
      const inside = outOfOrder(body, scope);
      if (inside) return inside;
    }
    for (const name of node.outputs) known.add(name);
  }
  return null;
}

function comesLater(name: string, { made, known, around }: Around): boolean {
  if (known.has(name)) return false;
  return made.has(name) || (around !== null && comesLater(name, around));
}
