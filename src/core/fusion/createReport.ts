import type { BuildLog } from '../engine/buildLog.ts';
import type { Problem } from '../text/problem.ts';
import { claimGone } from './eliminatedNodes.ts';
import { createEngineView, outsideName, type EngineView } from './engineView.ts';
import type { FusionReport, LayerKind, ReportForeignNode, ReportLayer } from './fusionReport.ts';
import { claimLoggedFusions } from './loggedFusions.ts';
import { expandFunctions } from '../model/expandFunctions.ts';
import { createModelGraph, readsOf, type ModelGraph } from '../model/modelGraph.ts';
import { claimNamed } from './namedMembers.ts';
import { accountingOf, nodeFates } from './nodeFates.ts';
import { createNodeNames } from '../model/nodeNames.ts';
import { nodeRoles } from '../model/nodeRoles.ts';
import { joinProfile, type ProfileJoin } from './profileJoin.ts';
import { claimReached } from './reachedMembers.ts';
import type { OnnxModel } from '../onnx/onnxModel.ts';
import type { ReportInput } from './reportInput.ts';
import { findRemarks } from './reportRemarks.ts';
import { joinCounters } from './counterJoin.ts';
import { findSavings } from './fusionSavings.ts';
import { findTimes } from './timeFindings.ts';
import { modelProblem, noteUnbuilt } from './modelDifferences.ts';
import { findProblems, noEngineReason, otherBuildProblem, otherModel } from './reportProblems.ts';
import { claimWitnessed } from './witnessedNodes.ts';
import { reportTensors } from './reportTensors.ts';
import { joinTrace } from './traceJoin.ts';
import { createResolution, modelTensor, readersOf, sourceOf, type Resolution } from './resolution.ts';

/**
 * Says for every node of the model what happened to it and for every engine layer which nodes it computes, with the
 * evidence: what TensorRT says first, then what follows from the graph; never more than the inputs give.
 * Never throws on inputs that contradict each other; `problems` says where they do.
 */
export function createReport(input: ReportInput): FusionReport {
  const { layerInfo } = input;
  const model = input.model === null ? noModel : expandFunctions(input.model);
  // What one build says of another is wrong.
  const log = otherBuildProblem(input) ? undefined : input.log;
  const graph = createModelGraph(model);
  const names = createNodeNames(graph, log?.parsedNodes ?? [], !log?.dropped?.['registeredLayers']);
  const view = createEngineView(layerInfo, log, names);
  const tensors = (list: Iterable<string>) =>
    [...list].map((name) => graph.byName.get(name) ?? -1).filter((tensor) => tensor >= 0);
  const { roles, staticShapes } = nodeRoles(graph, tensors(view.bindings), tensors(copiedFromHost(view)));
  const { resolution, other } = resolve(input, log, createResolution(graph, names, view, roles));
  const noEngine = other ? 'The inputs belong to another model.' : noEngineReason(view, log);
  const nodes = nodeFates(resolution, staticShapes, noEngine);
  const times = layerTimes(view, input);
  const foreignNodes = view.regions.map((_, index) => foreignNodeOf(resolution, index, times));
  const streams = new Set(view.layers.flatMap(({ streamId }) => streamId ?? [])).size > 1;
  const layers = view.layers.map((_, index) => layerOf(resolution, index, times, streams));
  const measured = joinCounters(layers, input.counters ?? []);
  const report: FusionReport = {
    schema: 1,
    ...(input.build && { build: input.build }),
    tensorrt: { product: log?.product ?? null, version: log?.version ?? null },
    ...builtShapesOf(input, log),
    ...(input.model === null && { subject: 'engine' as const }),
    model: { file: input.modelFile, nodes: model.nodes.length },
    layers: layers.map((layer, index) => withCounters(layer, measured.counters[index])),
    foreignNodes,
    nodes,
    tensors: reportTensors(resolution),
    accounting: accountingOf(nodes),
    ...(times.traced && { profile: times.traced.profile }),
    funnel: (view.phase?.funnel ?? []).map(({ stage, layers: count }) => ({ stage, layers: count })),
    remarks: [],
    problems: [
      ...(input.modelProblems ?? []),
      ...(input.problems ?? []),
      ...resolution.problems,
      ...findProblems(resolution, input, noEngine, other),
      ...times.problems,
      ...measured.problems,
    ],
  };
  report.remarks = findRemarks(resolution, report, log);
  return { ...report, ...costs(report, resolution) };
}

const withCounters = (layer: ReportLayer, counters: ReportLayer['counters']): ReportLayer =>
  counters === undefined ? layer : { ...layer, counters };

/** What follows from times, and what fusion saved. */
function costs(report: FusionReport, { graph }: Resolution): Pick<FusionReport, 'findings' | 'savings'> {
  const timed = report.layers.some(({ averageMs }) => averageMs !== null);
  const outputs = new Set(graph.graphOutputs.map((tensor) => graph.tensors[tensor]!.name));
  return {
    ...(timed && { findings: findTimes(report) }),
    ...(report.subject !== 'engine' && { savings: findSavings(report, outputs) }),
  };
}

/** What the build's own record says, otherwise its log. */
function builtShapesOf({ builtShapes }: ReportInput, log: BuildLog | undefined): Pick<FusionReport, 'builtShapes'> {
  const shapes = builtShapes ?? log?.builtShapes;
  return shapes === undefined || shapes.length === 0 ? {} : { builtShapes: shapes };
}

/** What the engine's names are read against where there is no ONNX file. */
export const noModel: OnnxModel = {
  irVersion: 0,
  producer: '',
  producerVersion: '',
  domain: '',
  opsets: [],
  metadata: [],
  graph: { name: '', path: '', nodes: [], inputs: [], outputs: [], values: [], initializers: [] },
  functions: [],
  nodes: [],
};

/** Claims nodes for layers, by what TensorRT says first; nothing where the inputs are of another model. */
function resolve(
  { model, added }: ReportInput,
  log: BuildLog | undefined,
  empty: Resolution,
): { resolution: Resolution; other: Problem | undefined } {
  const { graph, names, view, roles, problems } = empty;
  if (model === null) return { resolution: empty, other: undefined };
  noteUnbuilt(empty, log);
  claimNamed(empty, added);
  const differs = modelProblem(empty, log, added);
  const other = differs?.severity === 'error' ? differs : otherModel(empty);
  if (other) return { resolution: { ...createResolution(graph, names, view, roles), problems }, other };
  if (differs) problems.push(differs);
  claimLoggedFusions(empty);
  claimGone(empty);
  claimReached(empty);
  claimWitnessed(empty);
  return { resolution: empty, other };
}

const layerTimes = ({ layers }: EngineView, { profile, log }: ReportInput): ProfileJoin =>
  profile?.trace ? joinTrace(layers, profile.trace) : joinProfile(layers, profile?.rows ?? log?.profile ?? []);

/** Tensors that the host computes and a layer copies to the device. */
const copiedFromHost = (view: EngineView): string[] =>
  view.layers.flatMap(({ type, name, outputs }) =>
    type === 'ShapeHostToDevice' || name.startsWith('[ShapeHostToDeviceCopy')
      ? outputs.map((tensor) => tensor.name)
      : [],
  );

function layerOf(from: Resolution, index: number, times: ProfileJoin, streams: boolean): ReportLayer {
  const layer = from.view.layers[index]!;
  const region = from.view.regionOf[index]!;
  const opaque = region >= 0 && from.view.names[index]!.kind !== 'kernel';
  const nodes = opaque ? from.members[region]! : from.layerNodes[index]!;
  const evidence = new Set(from.layerEvidence[index]);
  if (opaque) {
    for (const node of nodes) {
      const by = from.basis[node]?.by;
      evidence.add(
        by === 'line' || by === 'fusion'
          ? 'log'
          : by === 'ends'
            ? 'name'
            : by === 'metadata' || by === 'name'
              ? by
              : 'reach',
      );
    }
  }
  if (from.view.source === 'plan' && nodes.size > 0) evidence.add('log');
  return {
    id: index,
    name: layer.name,
    type: layer.type,
    kind: kindOf(from.view, index, nodes.size),
    foreignNode: region < 0 ? null : region,
    nodes: idsOf(from.graph, nodes),
    evidence: [...evidence],
    averageMs: rounded(times.averageMs[index]),
    ...times.traced?.layers[index],
    percent: rounded(times.percent[index]),
    tactic: layer.tacticName ?? layer.tactic,
    inputs: layer.inputs,
    outputs: layer.outputs,
    ...(streams && layer.streamId !== null && { stream: layer.streamId }),
    line: layer.line,
    ...(layer.metadata !== null && layer.metadata !== '' && { metadata: layer.metadata }),
  };
}

function kindOf(view: EngineView, index: number, nodes: number): LayerKind {
  const { name, type } = view.layers[index]!;
  if (view.regionOf[index]! >= 0) return view.names[index]!.kind === 'kernel' ? 'kernel' : 'foreign';
  if (nodes > 0) return nodes === 1 ? 'single' : 'fused';
  const native = view.nativeNames.get(index) ?? name;
  if (native.startsWith('Reformatting CopyNode for ') || /^Reformat/i.test(type)) return 'reformat';
  if (
    /^(ShapeHostToDevice|DeviceToShapeHost|TrainStation|shape_call)$/i.test(type) ||
    /Shape(Host|Device)|DevicetoShapeHost/i.test(name)
  ) {
    return 'shape';
  }
  if (/^Constant$/i.test(type) || name.endsWith('[Constant]')) return 'constant';
  return 'other';
}

function foreignNodeOf(from: Resolution, index: number, times: ProfileJoin): ReportForeignNode {
  const region = from.view.regions[index]!;
  const members = from.members[index]!;
  const timed = region.layers.map((layer) => times.averageMs[layer] ?? null).filter((time) => time !== null);
  const { inputs, outputs } = borderOf(from, index);
  // A Loop, If or Scan is where its body's nodes are: TensorRT names those.
  const isNamed = (node: number): boolean => from.exact[node] === 1 || from.graph.bodyOutputs.has(node);
  return {
    id: index,
    name: region.name,
    nodes: idsOf(from.graph, members),
    exact: (from.listed[index]! || members.size > 0) && [...members].every(isNamed),
    layers: region.layers,
    inputs,
    outputs,
    averageMs: timed.length > 0 ? rounded(timed.reduce((sum, time) => sum + time, 0)) : null,
    line: region.line ?? (region.layers.length === 1 ? from.view.layers[region.layers[0]!]!.line : null),
  };
}

/**
 * Tensors at a ForeignNode's border. TensorRT's own list where it is an opaque layer; otherwise those of the model that
 * lead from its members out and in.
 */
function borderOf(from: Resolution, index: number): { inputs: string[]; outputs: string[] } {
  const region = from.view.regions[index]!;
  const opaque = region.layers.length === 1 && from.view.names[region.layers[0]!]!.kind !== 'kernel';
  if (opaque && region.outputs.length > 0) {
    return {
      inputs: region.inputs.map((name) => plain(from, name)),
      outputs: region.outputs.map((name) => plain(from, name)),
    };
  }
  const { graph } = from;
  const members = from.members[index]!;
  const inputs = new Set<string>();
  const outputs = new Set<string>();
  const results = new Set(graph.graphOutputs);
  for (const node of members) {
    for (const read of readsOf(graph, node)) {
      const { producer, kind, name, owner } = graph.tensors[sourceOf(from, read)]!;
      if (kind === 'initializer' || kind === 'formal' || kind === 'undefined' || owner >= 0) continue;
      if (producer >= 0 && (members.has(producer) || from.roles[producer] === 'constant')) continue;
      if (producer >= 0 && from.roles[producer] === 'shape') continue;
      inputs.add(name);
    }
    for (const tensor of graph.outputs[node]!) {
      const { name, owner } = graph.tensors[tensor]!;
      if (owner >= 0) continue;
      const leaves = readersOf(from, tensor).some((reader) => !members.has(reader) && from.roles[reader] === 'data');
      if (results.has(tensor) || leaves || from.view.bindings.has(name)) outputs.add(name);
    }
  }
  return { inputs: [...inputs], outputs: [...outputs] };
}

const plain = (from: Resolution, name: string): string => {
  const tensor = modelTensor(from, name);
  return tensor < 0 ? outsideName(from.view, name) : from.graph.tensors[tensor]!.name;
};

const idsOf = (graph: ModelGraph, nodes: Iterable<number>): string[] =>
  [...nodes].toSorted((a, b) => a - b).map((node) => graph.nodes[node]!.id);

/** Sums of times without the noise of binary fractions: nine digits after the point; null for what is not a number. */
const rounded = (value: number | null | undefined): number | null =>
  value === null || value === undefined || !Number.isFinite(value) ? null : Math.round(value * 1e9) / 1e9;
