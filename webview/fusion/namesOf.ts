import type { FusionReport } from '../../src/core/fusion/fusionReport.ts';
import type { GraphData } from '../../src/core/scene/viewData.ts';

/** A name for each node that tells its module: its own, else its first output's, which exporters name alike. '' without both. */
export function namesOf(report: FusionReport, graph: GraphData | null): string[] {
  const outputs = new Map(graph?.nodes.map(({ id, outputs: [first] }) => [id, first ?? '']));
  return report.nodes.map(({ id, name }) => (name === '' ? (outputs.get(id) ?? '') : name));
}
