import { intAttribute } from '../../read/onnx/onnxModel.ts';
import { viewsData } from '../../network/nodeRoles.ts';
import { isStandardDomain, readsOf } from '../../network/modelGraph.ts';
import { computesValues, ValueFacts } from './valueFacts.ts';
import { unrunNodes } from '../../network/nodeNames.ts';
import { outsideName, runsKernel } from './engineView.ts';
import type { ReportNode } from '../fusionReport.ts';
import { quote } from './namedMembers.ts';
import { KernelCandidates } from './kernelCandidates.ts';
import { isFree, isTransparent, type Resolution } from './resolution.ts';

/**
 * Adds to each member of a ForeignNode that no kernel names, where kernels name others: the kernels one of which can compute it,
 * and whether it changes data at all.
 */
export function addCandidates(from: Resolution, nodes: readonly ReportNode[]): void {
  const { graph, view, nodeLayers, regionOf } = from;
  // The kernel may be one that the log lacks.
  if (view.isCut) return;
  const shown = view.regions.map(({ layers }) => layers.some((layer) => from.layerEvidence[layer]!.has('metadata')));
  const isKernel = (layer: number): boolean =>
    view.names[layer]!.kind === 'kernel' && runsKernel(view.layers[layer]!.type);
  const layerRegion = view.regionOf.map((region, layer) => (view.names[layer]!.kind === 'kernel' ? region : -1));
  const borders = view.regions.map(({ outputs }) => new Set(outputs));
  let unrun: ReadonlySet<number> | undefined;
  let candidates: KernelCandidates | undefined;
  let facts: ValueFacts | undefined;
  nodes.forEach((node, index) => {
    const region = regionOf[index]!;
    // Owners and calls are where their bodies are.
    if (
      region < 0 ||
      !shown[region] ||
      nodeLayers[index]!.some((layer) => layerRegion[layer]! >= 0) ||
      graph.bodyOutputs.has(index) ||
      // What depends on constants only is computed with them, before the engine runs.
      from.roles[index] === 'constant'
    )
      return;
    unrun ??= unrunNodes(graph);
    if (unrun.has(index) || isEmpty(from, index)) {
      const why = unrun.has(index) ? 'the loop around it makes no round' : 'its result is empty';
      node.reason = derived(node.reason, `no kernel needs to compute it, because ${why}.`);
      return;
    }
    facts ??= new ValueFacts(graph, new Set());
    const sure = placeByValues(from, facts, index, layerRegion);
    if (sure !== undefined) {
      if (sure.within.length > 0) node.within = sure.within;
      node.reason = derived(node.reason, sure.sentence);
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
      isTransparent: (other) => isTransparent(from, other) || from.unaccounted.has(other),
    });
    const within = candidates.of(index);
    const isView = changesNoData(from, index);
    if (within.length === 0 && !isView) return;
    if (within.length > 0) node.within = within;
    if (isView) node.view = true;
    node.reason = derived(node.reason, candidateSentence(within, isView));
  });
}

/** What a node's values alone say of its kernels: it needs none, those of an equal node, or the jump that compares. */
function placeByValues(
  from: Resolution,
  facts: ValueFacts,
  node: number,
  layerRegion: readonly number[],
): { within: number[]; sentence: string } | undefined {
  const { graph, nodeLayers, regionOf } = from;
  const idle = idleReason(from, facts, node);
  if (idle !== undefined) return { within: [], sentence: `no kernel needs to compute it, because ${idle}.` };
  const region = regionOf[node]!;
  const twin = from.twins.get(node) ?? twinOf(from, facts, node);
  const own = (twin === undefined ? [] : nodeLayers[twin]!).filter((layer) => layerRegion[layer] === region);
  if (own.length > 0 && own.length <= mostLayers) {
    const name = quote(graph.nodes[twin!]!.name || graph.nodes[twin!]!.id);
    const sentence = `no kernel names it, and ${layerWords(own)} can compute it with ${name}, which gives the same.`;
    return { within: own, sentence };
  }
  const jumps = comparesForJump(from, facts, node, region);
  if (jumps.length === 0 || jumps.length > mostLayers) return undefined;
  return { within: jumps, sentence: candidateSentence(jumps, false) };
}

/** Why a node's values are not needed, by the model alone; undefined where they may be. */
function idleReason(from: Resolution, facts: ValueFacts, node: number): string | undefined {
  if (!computesValues(from.graph.nodes[node]!)) return undefined;
  if (facts.isNeutral(node, (other) => from.nodeLayers[other]!.length > 0))
    return 'its result is one of its inputs, or a constant';
  return facts.reachesResult(node) ? undefined : 'no result depends on its values';
}

/** A node that kernels name and that computes the same: TensorRT merges such nodes. */
function twinOf(from: Resolution, facts: ValueFacts, node: number): number | undefined {
  // One that is equal reads the same tensors, or equal constants.
  const near = readsOf(from.graph, node).flatMap((tensor) => from.graph.tensors[tensor]!.consumers);
  return near.find((other) => other !== node && from.nodeLayers[other]!.length > 0 && facts.areEqual(node, other));
}

/** The jumps of a ForeignNode that compare by themselves, for a node whose result decides an If or a Loop. */
function comparesForJump({ graph, view }: Resolution, facts: ValueFacts, node: number, region: number): number[] {
  if (!comparing.has(graph.nodes[node]!.op)) return [];
  if (!facts.readers(node).some((reader) => graph.nodes[reader]!.subgraphs.length > 0)) return [];
  return view.regions[region]!.layers.filter(
    (layer) => view.layers[layer]!.type === 'cjmp' && view.layers[layer]!.inputs.length > 1,
  );
}

/** As many layers as a node's `within` has at most. */
const mostLayers = 3;
const comparing: ReadonlySet<string> = new Set(['Equal', 'Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual']);

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

const layerWords = (layers: readonly number[]): string =>
  layers.length === 1 ? `layer ${layers[0]}` : `one of the layers ${layers.join(', ')}`;

function candidateSentence(within: readonly number[], isView: boolean): string {
  const can = within.length === 0 ? '' : `, and only ${layerWords(within)} can compute it`;
  return `no kernel names it${isView ? '; it changes no data' : ''}${can}.`;
}

/** Adds a sentence that follows from the graph to a reason, which may have one already. */
const derived = (reason: string, sentence: string): string =>
  reason.startsWith('Derived: ')
    ? `${reason} ${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`
    : `${reason} Derived: ${sentence}`;
