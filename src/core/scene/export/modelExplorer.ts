import type { FusionReport, ReportNode } from '../../fusion/fusionReport.ts';
import { fateWordsOf } from '../../report/fates.ts';
import { layerLabel } from '../../report/labels.ts';
import { layerOf } from '../../report/layers.ts';
import { builtPrecision } from '../graph/builtPrecision.ts';
import { fusionGroups } from '../graph/fusionGroups.ts';
import { indexGraph } from '../graph/graphIndex.ts';
import { nodeTimes } from '../graph/overlay.ts';
import { hues } from '../panel/groupColours.ts';
import type { GraphData, GraphNode } from '../panel/viewData.ts';

/**
 * Custom node data of Model Explorer (`NodeDataProviderData` of google-ai-edge/model-explorer): by the graph's id, values by
 * a node's id or one of its output tensors. A file holds one set of values.
 */
export type ModelExplorerData = Record<
  string,
  {
    name: string;
    results: Record<string, { value: string | number; bgColor?: string }>;
    gradient?: { stop: number; bgColor: string }[];
  }
>;

/** The sets of values, as their files are called. */
export const modelExplorerSets = ['fate', 'kernel', 'precision', 'time'] as const;

/** The sets of values: what became of a node, what computes it, in which type and how long it takes, where that is known. */
export function modelExplorerData(
  graph: GraphData,
  report: FusionReport,
): { name: (typeof modelExplorerSets)[number]; data: ModelExplorerData }[] {
  const index = indexGraph(graph);
  const keys = keysOf(graph.nodes);
  const nodes = report.nodes.flatMap((node) => {
    const point = index.byId.get(node.id);
    const key = point === undefined ? undefined : keys[point];
    return key === undefined ? [] : [{ node, point: point!, key }];
  });
  const words = (name: string, value: (node: ReportNode) => string | null): ModelExplorerData => {
    const colours = new Map<string, string>();
    const results = nodes.flatMap(({ node, key }) => {
      const text = value(node);
      if (text === null) return [];
      if (!colours.has(text)) colours.set(text, hues[colours.size % hues.length]!.dark);
      return [[key, { value: text, bgColor: colours.get(text)! }] as const];
    });
    // Unlike an assignment, this keeps a node that is called __proto__.
    return { [graph.name]: { name, results: Object.fromEntries(results) } };
  };
  const times = nodeTimes(index, report, fusionGroups(index, report));
  const timed = nodes.flatMap(({ point, key }) =>
    Number.isNaN(times[point]!) ? [] : [[key, { value: times[point]! }] as const],
  );
  const sets: ReturnType<typeof modelExplorerData> = [
    { name: 'fate', data: words('Fate in the TensorRT engine', ({ fate }) => fateWordsOf(report)[fate].label) },
    { name: 'kernel', data: words('Kernel or layer', (node) => kernelOf(report, node)) },
    { name: 'precision', data: words('Output type', (node) => builtPrecision(report, node)) },
    {
      name: 'time',
      data: {
        [graph.name]: {
          name: 'Time in ms, of a kernel divided equally among its nodes',
          results: Object.fromEntries(timed),
          gradient: [
            { stop: 0, bgColor: '#ffffff' },
            { stop: 1, bgColor: hues[1]!.dark },
          ],
        },
      },
    },
  ];
  return sets.filter(({ data }) => Object.keys(data[graph.name]!.results).length > 0);
}

/** A node's id in Model Explorer is its name, or what it writes, if nothing else is called so. */
function keysOf(nodes: readonly GraphNode[]): (string | undefined)[] {
  const uses = new Map<string, number>();
  for (const { name, outputs } of nodes)
    for (const word of new Set([name, ...outputs])) uses.set(word, (uses.get(word) ?? 0) + 1);
  return nodes.map(({ name, outputs }) => [name, ...outputs].find((word) => word !== '' && uses.get(word) === 1));
}

function kernelOf(report: FusionReport, { layers, foreignNode }: ReportNode): string | null {
  const [first, ...others] = layers.map((id) => layerOf(report, id)).filter((layer) => layer !== undefined);
  if (first === undefined) return foreignNode === null ? null : `ForeignNode ${foreignNode}`;
  return others.length === 0 ? layerLabel(first) : `${layerLabel(first)} and ${others.length} more`;
}
