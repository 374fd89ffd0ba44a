import { addTo } from '../../base/addTo.ts';
import type { BuildLog } from '../../read/tensorrt/buildOutput.ts';
import { bareTensorName, isMadeUpKernel } from '../../network/layerName.ts';
import { parserName } from '../../network/nodeNames.ts';
import { computesValues, ValueFacts } from './valueFacts.ts';
import type { LostNodes } from '../fusionReport.ts';
import { quote } from './namedMembers.ts';
import { modelTensor, type Provenance, type Resolution, unassign } from './resolution.ts';

/** How a node is known that TensorRT itself does not name. */
const inferred: ReadonlySet<Provenance['by']> = new Set(['reach', 'neighbors', 'owner', 'graph']);

/**
 * Finds the nodes that change values and that TensorRT names nowhere: in no kernel, member list, fused name or line that
 * folds or removes one. They are lost, or another kernel computes them without their name; `unaccounted` gets them with
 * the evidence, and no layer or ForeignNode keeps them. Where such a node equals one that is named, TensorRT merged the
 * two: `twins` has the named one.
 * @returns whether the build was checked for them; TensorRT-RTX and TensorRT before 10 name too few nodes
 */
export function findUnaccounted(from: Resolution, log: BuildLog | undefined): LostNodes {
  const reason = uncheckedReason(from, log);
  if (reason !== null) return { checked: false, reason };
  const said = saidNodes(from);
  const { graph } = from;
  const isNamed = (node: number): boolean => from.gone.has(node) || said.has(node) || isSaidOf(from, node);
  const judged = graph.nodes.flatMap((node, index) =>
    graph.owner[index]! < 0 && from.roles[index] === 'data' && !from.arithmetic[index] && computesValues(node)
      ? [index]
      : [],
  );
  const open = judged.filter((node) => !isNamed(node) && isKnownToParser(from, node));
  if (open.length === 0) return { checked: true };
  const facts = new ValueFacts(graph, typesOf(from));
  const lost: number[] = [];
  const sameOp = new Map<string, number[]>();
  for (const node of judged) addTo(sameOp, graph.nodes[node]!.op, node);
  for (const node of open) {
    const twin = sameOp.get(graph.nodes[node]!.op)!.find((other) => isNamed(other) && facts.areEqual(node, other));
    if (twin !== undefined) from.twins.set(node, twin);
    else if (isNeeded(from, facts, node, isNamed)) lost.push(node);
  }
  // Where most are named nowhere, names are missing rather than nodes.
  if (lost.length * 2 > judged.length)
    return { checked: false, reason: 'TensorRT names less than half of the nodes that change values.' };
  const evidence = new Map(lost.map((node) => [node, evidenceOf(from, facts, node, isNamed)]));
  for (const [node, text] of evidence) release(from, node, text);
  return { checked: true };
}

/** Why nothing can be said about lost nodes in this build; null: something can. */
function uncheckedReason(from: Resolution, log: BuildLog | undefined): string | null {
  const { view, problems } = from;
  if (view.layers.length === 0 || view.source === 'plan') return 'The inputs list no engine layers.';
  if (view.isCut) return 'The log ends before it lists all layers.';
  if (log?.product === 'tensorrt-rtx') return 'The kernels of TensorRT-RTX do not name all nodes that they compute.';
  const major = log?.version == null ? null : Number(log.version.split('.')[0]);
  if (major !== null && major < 10) return `TensorRT ${log!.version} does not name the nodes inside ForeignNodes.`;
  if (!view.layers.some(({ metadata }) => metadata))
    return 'The layers have no metadata. Build with --profilingVerbosity=detailed and pass the layer info.';
  if (problems.some(({ code }) => code === 'truncated-metadata')) return 'TensorRT cut the metadata of a layer.';
  if (problems.some(({ code }) => code === 'unknown-node' || code === 'model-differs'))
    return 'The model differs from the one that was built.';
  const hidden = view.regions.findIndex(({ layers }, region) => !isShown(from, region, layers));
  if (hidden >= 0) return `The kernels of ForeignNode ${hidden} do not name their nodes.`;
  // Without a version: only TensorRT 10 and later list kernels with metadata, and TensorRT-RTX has a stub for each tactic.
  const hasTactic = (form: RegExp): boolean => view.layers.some(({ tacticName }) => form.test(tacticName ?? ''));
  const isTimed = hasTactic(/^sm\d/) && !hasTactic(/^__myelin_CASK_STUB/);
  if (major === null && !(isTimed && view.regions.length > 0))
    return 'The inputs do not say which version of TensorRT built the engine.';
  return null;
}

/** Kernels that only move and convert data have no metadata. */
function isShown(from: Resolution, region: number, layers: readonly number[]): boolean {
  if (layers.some((layer) => from.layerEvidence[layer]!.has('metadata'))) return true;
  return layers.every((layer) => {
    const name = from.view.names[layer]!;
    return name.kind === 'kernel' && /^__myl_(?:Cast?|Move?|Resh?|Tran?|Conc?|Slic?)+$/.test(name.base);
  });
}

/** Nodes in kernels' names and those that make tensors at the layers' borders, whatever else the layers say of themselves. */
function saidNodes(from: Resolution): Set<number> {
  const said = new Set<number>();
  from.view.layers.forEach(({ inputs, outputs }, layer) => {
    const name = from.view.names[layer]!;
    if (name.kind === 'kernel' && !isMadeUpKernel(name.base))
      for (const node of from.names.nodesOfKernel(name.base)) said.add(node);
    for (const tensors of [inputs, outputs]) {
      for (const tensor of tensors) {
        const found = modelTensor(from, bareTensorName(tensor.name));
        if (found >= 0) said.add(from.graph.tensors[found]!.producer);
      }
    }
  });
  return said;
}

const isSaidOf = (from: Resolution, node: number): boolean => {
  const by = from.provenance[node]?.by;
  return from.exact[node] === 1 || from.absorbed.has(node) || (by !== undefined && !inferred.has(by));
};

/**
 * A name of its own, and a layer of its own where the log shows the parser's layers: helpers (`ONNXTRT_Broadcast_7`) are
 * called otherwise, and the parser builds a Clip of integers from layers without a name.
 */
function isKnownToParser(from: Resolution, node: number): boolean {
  if (from.unbuilt.has(node)) return false;
  if (from.names.nodesOf(parserName(from.graph.nodes[node]!)).length > 1) return false;
  const { op } = from.graph.nodes[node]!;
  if (op === 'Clip' && /int/.test(from.graph.inferred.types[from.graph.outputs[node]![0]!] ?? '')) return false;
  const record = from.names.recordOf(node);
  return !record || !from.names.registersLayers || record.layers.length > 0;
}

const typesOf = ({ view }: Resolution): Set<string> =>
  new Set(view.layers.flatMap(({ inputs, outputs }) => [...inputs, ...outputs].flatMap(({ type }) => type ?? [])));

function isNeeded(from: Resolution, facts: ValueFacts, node: number, isNamed: (node: number) => boolean): boolean {
  const { graph } = from;
  const isEmpty = graph.outputs[node]!.every((tensor) => graph.inferred.shapes[tensor]?.includes(0));
  if (isEmpty || facts.isNeutral(node, isNamed) || facts.mayMerge(node)) return false;
  // The jump of an If or a Loop compares by itself.
  if (facts.readers(node).some((reader) => graph.nodes[reader]!.subgraphs.length > 0)) return false;
  return facts.reachesResult(node);
}

/** What TensorRT names next to the node, and which of its like that feed the same node. */
function evidenceOf(from: Resolution, facts: ValueFacts, node: number, isNamed: (node: number) => boolean): string {
  const { graph } = from;
  const { op } = graph.nodes[node]!;
  const name = (at: number): string => quote(graph.nodes[at]!.name || `${graph.nodes[at]!.op} ${graph.nodes[at]!.id}`);
  const readers = facts.readers(node);
  const sentences: string[] = [];
  const reader = readers.find((at) => from.nodeLayers[at]!.length > 0);
  if (reader !== undefined) {
    const layer = from.nodeLayers[reader]![0]!;
    const others = [...from.layerNodes[layer]!].filter((at) => at !== reader && at !== node && isNamed(at));
    const more = others.length === 0 ? '' : ` together with ${others.slice(0, 3).map(name).join(', ')}`;
    sentences.push(`${name(reader)}, which reads its result, is in layer ${layer}${more}.`);
    const alike = facts.sources(reader).filter((at) => graph.nodes[at]!.op === op && (at === node || isNamed(at)));
    const named = alike.filter((at) => at !== node);
    if (named.length > 0)
      sentences.push(
        `Of the ${alike.length} ${op} nodes that feed it TensorRT names only ${named.slice(0, 2).map(name).join(', ')}.`,
      );
  }
  return (
    `${op} changes values, and TensorRT names this node nowhere: not in a kernel, a member list or a fused name, ` +
    `and not as folded or removed.${sentences.length > 0 ? ` ${sentences.join(' ')}` : ''} It is lost, or another kernel computes it without its name.`
  );
}

/** Takes back where the graph alone put the node. */
function release(from: Resolution, node: number, evidence: string): void {
  from.unaccounted.set(node, evidence);
  unassign(from, node);
}
