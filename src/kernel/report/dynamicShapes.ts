import { counted, oneLine, releaseName } from '../base/text.ts';
import type { DynamicShapesCost, FusionReport, Remark, ReportNode } from '../fusion/fusionReport.ts';
import { runningLayers } from './words.ts';

/** Nodes that compute with another one in one kernel or layer. */
function together(report: FusionReport): Set<string> {
  const found = new Set<string>();
  for (const { kind, nodes } of report.layers)
    if (kind !== 'foreign' && nodes.length > 1) for (const id of nodes) found.add(id);
  return found;
}

/**
 * What the open dimensions of a model cost: the build with them against one for fixed shapes.
 * @param shapes the fixed ones, `ids 1×128`
 */
export function dynamicShapesCost(dynamic: FusionReport, fixed: FusionReport, shapes: string): DynamicShapesCost {
  const [before, after] = [together(dynamic), together(fixed)];
  const fates = new Map(fixed.nodes.map(({ id, fate }) => [id, fate]));
  const runs = ({ fate }: ReportNode): boolean => fate !== 'folded' && fate !== 'removed';
  return {
    shapes,
    tensorrt: fixed.tensorrt,
    kernels: { dynamic: runningLayers(dynamic).length, fixed: runningLayers(fixed).length },
    fused: dynamic.nodes.filter(({ id }) => after.has(id) && !before.has(id)).map(({ id }) => id),
    folded: dynamic.nodes
      .filter((node) => runs(node) && (fates.get(node.id) === 'folded' || fates.get(node.id) === 'removed'))
      .map(({ id }) => id),
  };
}

/** One line: `With fixed ids 1×128, the engine has 26 kernels fewer (9 instead of 35) …`. */
export function dynamicShapesRemark({ nodes }: FusionReport, cost: DynamicShapesCost): Remark {
  const { shapes, tensorrt, kernels, fused, folded } = cost;
  const fewer = kernels.dynamic - kernels.fixed;
  const change =
    fewer === 0
      ? `as many kernels (${kernels.fixed})`
      : `${counted(Math.abs(fewer), 'kernel')} ${fewer > 0 ? 'fewer' : 'more'} (${kernels.fixed} instead of ${kernels.dynamic})`;
  const names = new Map(nodes.map((node) => [node.id, node]));
  const first = folded.map((id) => names.get(id)).find((node) => node !== undefined);
  const parts = [
    `the engine has ${change}`,
    ...(fused.length > 0 ? [`${counted(fused.length, 'more node shares', 'more nodes share')} a kernel`] : []),
    ...(first === undefined
      ? []
      : [
          `${counted(folded.length, 'node is', 'nodes are')} folded or removed only then, first ${first.op} "${oneLine(first.name)}"`,
        ]),
  ];
  const list = parts.length === 1 ? parts[0]! : `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)!}`;
  return {
    kind: fewer > 0 || fused.length > 0 ? 'missed' : 'analysis',
    code: 'dynamic-shapes',
    message: `With fixed ${shapes}, ${list} (built by ${releaseName(tensorrt)}).`,
    evidence: {},
    nodes: [...new Set([...fused, ...folded])],
    layers: [],
  };
}
