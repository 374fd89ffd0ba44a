import { fateSentence } from '../../report/fateSentence.ts';
import type { FusionReport } from '../../fusion/fusionReport.ts';
import type { GraphData, GraphNode } from '../panel/viewData.ts';
import type { BuildDiff } from '../../diff/buildDiff.ts';
import { statesOf } from '../../diff/comparison.ts';
import type { ChangeState } from '../../diff/comparison.ts';
import { indexGraph } from '../graph/graphIndex.ts';

/** One of two models that are compared, with what became of its nodes. */
export interface OlderModel {
  graph: GraphData;
  report: FusionReport;
}

/** In front of the ids and tensors that only the older model has: no tensor of the newer one may be taken for them. */
const mark = 'A: ';

/**
 * The graph of the newer of two models with the nodes that only the older one has, each where it was: connected with
 * what the newer model has of its neighbours, and inside the same subgraphs. Linear in nodes and edges.
 * @param toB position in the newer graph of each node of the older one; -1: it has none
 */
export function withOlderNodes(newer: GraphData, { graph, report }: OlderModel, toB: Int32Array): GraphData {
  const { nodes } = graph;
  if (!toB.includes(-1)) return newer;
  const ids = new Map<string, string>();
  nodes.forEach(({ id }, at) => ids.set(id, toB[at] === -1 ? olderId(id, ids) : newer.nodes[toB[at]!]!.id));
  const index = indexGraph(graph);
  const inputNames = new Set(newer.inputs.map(({ name }) => name));
  /** Where each tensor that a node reads comes from, by its name. */
  const makers = nodes.map(() => new Map<string, number>());
  index.to.forEach((to, edge) => makers[to]?.set(index.tensorNames[index.tensor[edge]!]!, index.from[edge]!));
  const read = new Set<string>();
  const nameInNewer = (at: number, tensor: string): string => {
    const maker = makers[at]!.get(tensor);
    if (tensor === '' || (maker !== undefined && maker >= nodes.length && inputNames.has(tensor))) return tensor;
    const other = maker === undefined || maker >= nodes.length ? -1 : toB[maker]!;
    const slot = other === -1 ? -1 : nodes[maker!]!.outputs.indexOf(tensor);
    const name = other === -1 ? undefined : newer.nodes[other]!.outputs[slot];
    if (name !== undefined && name !== '') return name;
    read.add(tensor);
    return mark + tensor;
  };
  const added = nodes.flatMap((node, at): GraphNode[] =>
    toB[at] === -1
      ? [
          {
            ...node,
            id: ids.get(node.id)!,
            inputs: node.inputs.map((tensor) => nameInNewer(at, tensor)),
            outputs: node.outputs.map((tensor) => (tensor === '' ? '' : (read.add(tensor), mark + tensor))),
            older: { id: node.id, note: noteOf(report, at) },
          },
        ]
      : [],
  );
  const extra = new Map<number, string[]>();
  index.to.forEach((to, edge) => {
    const reader = toB[to] ?? -1;
    if (reader === -1 || toB[index.from[edge]!] !== -1) return;
    const name = mark + index.tensorNames[index.tensor[edge]!]!;
    const list = extra.get(reader);
    if (list === undefined) extra.set(reader, [name]);
    else if (!list.includes(name)) list.push(name);
  });
  const known = newer.nodes.map((node, at) =>
    extra.has(at) ? { ...node, inputs: [...node.inputs, ...extra.get(at)!] } : node,
  );
  return {
    ...newer,
    nodes: [...known, ...added],
    tensors: [
      ...newer.tensors,
      ...graph.tensors.flatMap((tensor) => (read.has(tensor.name) ? [{ ...tensor, name: mark + tensor.name }] : [])),
    ],
  };
}

/** `20/then_branch/3` stays inside its subgraph, by the id that its owner has in the newer graph. */
function olderId(id: string, ids: ReadonlyMap<string, string>): string {
  const last = id.lastIndexOf('/');
  const branch = id.lastIndexOf('/', last - 1);
  if (branch < 0) return mark + id;
  const owner = ids.get(id.slice(0, branch)) ?? mark + id.slice(0, branch);
  return `${owner}${id.slice(branch, last + 1)}${mark}${id.slice(last + 1)}`;
}

function noteOf(report: FusionReport, at: number): string {
  const node = report.nodes[at];
  return node === undefined ? 'Only in A.' : `Only in A: ${fateSentence(report, node)}`;
}

/** What happened to each node of such a graph, by its id there; what is missing is the same. */
export function graphStates({ nodes }: GraphData, diff: BuildDiff): Map<string, ChangeState> {
  const { nodesA, nodesB } = statesOf(diff);
  for (const { id, older } of nodes) {
    const state = older && nodesA.get(older.id);
    if (state !== undefined) nodesB.set(id, state);
  }
  return nodesB;
}
