import { NodesByName, nodesInName } from '../../network/nodeNames.ts';
import type { FusionReport } from '../../fusion/fusionReport.ts';
import type { GraphData } from '../../picture/graph/viewData.ts';

/**
 * Ids of the nodes that belong to a layer while it is being timed: what an earlier build says of a layer or ForeignNode
 * of that name, otherwise what TensorRT names in it (the parts of a fused one, the ends of a ForeignNode), in the
 * graph's order. Empty if the name is of something else, such as a reformat.
 */
export function namedNodes(graph: GraphData, layer: string, earlier?: FusionReport | null): string[] {
  const known =
    earlier?.foreignNodes.find(({ name }) => name === layer) ?? earlier?.layers.find(({ name }) => name === layer);
  if (known !== undefined && known.nodes.length > 0) return known.nodes;
  const nodes = new Set(nodesInName(new NodesByName(graph.nodes), layer).flat());
  return graph.nodes.filter((_, index) => nodes.has(index)).map(({ id }) => id);
}
