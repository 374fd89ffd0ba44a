import { intAttribute } from '../../formats/onnx/onnxModel.ts';
import { viewsData } from '../../network/nodeRoles.ts';
import { isStandardDomain } from '../../network/modelGraph.ts';
import { unrunNodes } from '../../network/nodeNames.ts';
import { outsideName, runsKernel } from './engineView.ts';
import type { ReportNode } from '../fusionReport.ts';
import { KernelCandidates } from './kernelCandidates.ts';
import { isFree, isTransparent, type Resolution } from './resolution.ts';

/**
 * Adds to each member of a ForeignNode that no kernel names, where kernels name others: the kernels one of which computes it,
 * and whether it changes data at all.
 */
export function addCandidates(from: Resolution, nodes: readonly ReportNode[]): void {
  const { graph, view, nodeLayers, regionOf } = from;
  const shown = view.regions.map(({ layers }) => layers.some((layer) => from.layerEvidence[layer]!.has('metadata')));
  const isKernel = (layer: number): boolean =>
    view.names[layer]!.kind === 'kernel' && runsKernel(view.layers[layer]!.type);
  const layerRegion = view.regionOf.map((region, layer) => (view.names[layer]!.kind === 'kernel' ? region : -1));
  const borders = view.regions.map(({ outputs }) => new Set(outputs));
  let unrun: ReadonlySet<number> | undefined;
  let candidates: KernelCandidates | undefined;
  nodes.forEach((node, index) => {
    const region = regionOf[index]!;
    // Owners and calls are where their bodies are.
    if (
      region < 0 ||
      !shown[region] ||
      nodeLayers[index]!.some((layer) => layerRegion[layer]! >= 0) ||
      graph.bodyOutputs.has(index)
    )
      return;
    unrun ??= unrunNodes(graph);
    if (unrun.has(index) || isEmpty(from, index)) {
      const why = unrun.has(index) ? 'the loop around it makes no round' : 'its result is empty';
      node.reason = derived(node.reason, `no kernel needs to compute it, because ${why}.`);
      return;
    }
    candidates ??= new KernelCandidates({
      graph,
      nodeLayers,
      regionOf,
      layers: view.layers,
      layerRegion,
      isKernel,
      isBorder: (of, tensor) => borders[of]!.has(outsideName(view, tensor)),
      isConstant: (other) => isFree(from, other) && (from.roles[other] === 'constant' || from.roles[other] === 'shape'),
      isTransparent: (other) => isTransparent(from, other),
    });
    const within = candidates.of(index);
    const isView = changesNoData(from, index);
    if (within.length === 0 && !isView) return;
    if (within.length > 0) node.within = within;
    if (isView) node.view = true;
    node.reason = candidateReason(node.reason, within, isView);
  });
}

/** Whether all results of a node have no element. */
function isEmpty({ graph, contradicted }: Resolution, index: number): boolean {
  const outputs = graph.outputs[index]!.filter((tensor) => tensor >= 0);
  const isKnown = (tensor: number): boolean => !contradicted.some((one) => one.tensor === tensor);
  return (
    outputs.length > 0 &&
    outputs.every((tensor) => graph.inferred.shapes[tensor]?.includes(0) === true && isKnown(tensor))
  );
}

/** An operator that only gives a tensor another shape, or one that splits it into parts that follow each other. */
function changesNoData({ graph, contradicted }: Resolution, index: number): boolean {
  const node = graph.nodes[index]!;
  if (!isStandardDomain(node.domain)) return false;
  if (node.op !== 'Split') return viewsData.has(node.op);
  const data = graph.inputs[index]![0]!;
  const shape = graph.inferred.shapes[data];
  if (!shape || contradicted.some(({ tensor }) => tensor === data)) return false;
  const axis = intAttribute(node, 'axis') ?? 0;
  return shape.slice(0, axis < 0 ? axis + shape.length : axis).every((size) => size === 1);
}

function candidateReason(reason: string, within: readonly number[], isView: boolean): string {
  const layers = within.length === 1 ? `layer ${within[0]}` : `one of the layers ${within.join(', ')}`;
  const can = within.length === 0 ? '' : `, and only ${layers} can compute it`;
  return derived(reason, `no kernel names it${isView ? '; it changes no data' : ''}${can}.`);
}

/** Adds a sentence that follows from the graph to a reason, which may have one already. */
const derived = (reason: string, sentence: string): string =>
  reason.startsWith('Derived: ')
    ? `${reason} ${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`
    : `${reason} Derived: ${sentence}`;
