import type { ModelGraph } from '../../../kernel/network/modelGraph.ts';
import { networkOf } from '../../../kernel/network/network.ts';
import { doublyScaled, type ModelChange } from '../../surgery/changeModel.ts';

/** A change that keeps what the model computes and may break a fault. */
export interface WorkaroundCandidate {
  /** For people, in the imperative. */
  title: string;
  /** Further options of `build_engine.py`. */
  flags: string[];
  /** On the piece; null: only options change. */
  onPiece: ModelChange | null;
  /** On the whole model: there, and wherever the same structure is. */
  onWhole: ModelChange[];
}

/** What to try for a piece, what costs the least at run time first. */
export function workaroundsFor(graph: ModelGraph, nodes: readonly number[]): WorkaroundCandidate[] {
  return [...mergedScales(graph, nodes), ...options, ...atTensors(graph, nodes)];
}

/** Two scales of one product become one, here and in every product like it. */
function mergedScales(graph: ModelGraph, nodes: readonly number[]): WorkaroundCandidate[] {
  const everywhere = doublyScaled(graph, networkOf(graph.model).inferred);
  const inside = new Set(nodes.flatMap((node) => graph.nodes[node]!.outputs));
  return everywhere
    .filter((name) => inside.has(name))
    .flatMap((name) => [
      {
        title: 'scale one input of the product instead of both',
        flags: [],
        onPiece: { merge: name },
        onWhole: everywhere.map((merge) => ({ merge })),
      },
      {
        title: 'scale the result of the product instead of both inputs',
        flags: [],
        onPiece: { merge: name, behind: true },
        onWhole: everywhere.map((merge) => ({ merge, behind: true })),
      },
    ]);
}

const options: WorkaroundCandidate[] = [5, 1, 0].map((level) => ({
  title: `build with optimization level ${level}`,
  flags: [`--optimization-level=${level}`],
  onPiece: null,
  onWhole: [],
}));

/** Tensors inside the piece as outputs, or through two Neg nodes: both keep values, and end some fusions. */
function atTensors(graph: ModelGraph, nodes: readonly number[]): WorkaroundCandidate[] {
  const inside = new Set(nodes);
  const twinsOf = alike(graph);
  const { types } = networkOf(graph.model).inferred;
  const found: WorkaroundCandidate[] = [];
  for (const node of nodes)
    for (const [place, tensor] of graph.outputs[node]!.entries()) {
      if (tensor < 0 || !graph.tensors[tensor]!.consumers.some((reader) => inside.has(reader))) continue;
      if (!/^(?:b?float|double)/.test(types[tensor] ?? '')) continue;
      const twins = twinsOf(node).map((twin) => graph.tensors[graph.outputs[twin]![place]!]!.name);
      const { name } = graph.tensors[tensor]!;
      const { op } = graph.nodes[node]!;
      found.push(
        {
          title: `make the output of ${op} (${name}) an output`,
          flags: [],
          onPiece: { outputs: [name] },
          onWhole: [{ outputs: twins }],
        },
        {
          title: `add two Neg nodes behind ${op} (${name})`,
          flags: [],
          onPiece: { add: 'Neg', at: name },
          onWhole: twins.map((at) => ({ add: 'Neg', at })),
        },
      );
    }
  return found;
}

/** How far the neighborhoods of twins are alike. */
const ALIKE = 3;

/** The nodes of the main graph by their neighborhood's operators: blocks of a network repeat. */
function alike(graph: ModelGraph): (node: number) => readonly number[] {
  const bySignature = new Map<string, number[]>();
  const signatures = graph.nodes.map((_, node) => (graph.owner[node]! < 0 ? signature(graph, node, ALIKE) : ''));
  for (const [node, text] of signatures.entries()) {
    const twins = bySignature.get(text);
    if (twins) twins.push(node);
    else bySignature.set(text, [node]);
  }
  return (node) => bySignature.get(signatures[node]!) ?? [];
}

function signature(graph: ModelGraph, node: number, depth: number): string {
  const { op } = graph.nodes[node]!;
  if (depth === 0) return op;
  const before = graph.inputs[node]!.map((tensor) => {
    const producer = tensor < 0 ? -1 : graph.tensors[tensor]!.producer;
    return producer < 0 ? '.' : signature(graph, producer, depth - 1);
  });
  const behind = graph.outputs[node]!.map((tensor) =>
    tensor < 0
      ? ''
      : graph.tensors[tensor]!.consumers.map((reader) => graph.nodes[reader]!.op)
          .toSorted()
          .join('+'),
  );
  return `${op}(${before.join()}→${behind.join()})`;
}
