import type { FusionReport, LayerKind, ReportForeignNode, ReportLayer } from '../fusion/fusionReport.ts';

/** What the engine computes as one: a ForeignNode with its kernels, or a native layer. */
export interface EngineGroup {
  kind: LayerKind;
  /** The ForeignNode; null for a native layer, which is then the only one in `layers`. */
  foreign: ReportForeignNode | null;
  layers: ReportLayer[];
  /** Nodes that are counted here. Every node that is computed is counted in one group, so that the groups add up. */
  counted: string[];
  /** Nodes of which this group computes a part, and that are counted in another one. */
  shared: string[];
}

/** Every ForeignNode and native layer, in the report's order, with the nodes that are counted in it. */
export function engineGroups(report: FusionReport): EngineGroup[] {
  const layers = new Map(report.layers.map((layer) => [layer.id, layer]));
  const homes = nodeHomes(report, layers);
  const group = (home: string, nodes: readonly string[]): Pick<EngineGroup, 'counted' | 'shared'> => ({
    counted: nodes.filter((id) => homes.get(id) === home),
    shared: nodes.filter((id) => homes.get(id) !== home),
  });
  const foreign = report.foreignNodes.map((one): EngineGroup => ({
    kind: 'foreign',
    foreign: one,
    layers: one.layers.flatMap((id) => layers.get(id) ?? []),
    ...group(`foreign ${one.id}`, one.nodes),
  }));
  const native = report.layers
    .filter(({ foreignNode }) => foreignNode === null)
    .map((layer): EngineGroup => ({
      kind: layer.kind,
      foreign: null,
      layers: [layer],
      ...group(`layer ${layer.id}`, layer.nodes),
    }));
  return [...foreign, ...native];
}

/**
 * Where each computed node is counted: in its ForeignNode, otherwise in the first layer of the kind that is its fate.
 */
function nodeHomes(report: FusionReport, layers: ReadonlyMap<number, ReportLayer>): Map<string, string> {
  const homes = new Map<string, string>();
  for (const node of report.nodes) {
    if (node.fate === 'foreign' && node.foreignNode !== null) homes.set(node.id, `foreign ${node.foreignNode}`);
    if (node.fate !== 'fused' && node.fate !== 'single') continue;
    const native = node.layers.filter((id) => layers.get(id)?.foreignNode === null);
    const home = native.find((id) => layers.get(id)?.kind === node.fate) ?? native[0];
    if (home !== undefined) homes.set(node.id, `layer ${home}`);
  }
  return homes;
}
