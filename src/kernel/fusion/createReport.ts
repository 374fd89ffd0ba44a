// Makes the report: for each node its fate, for each layer its nodes.
import { addTo } from '../base/addTo.ts';
import type { Problem } from '../base/problem.ts';
import { counted, versionNumber } from '../base/text.ts';
import { isOldRow } from '../read/tensorrt/readLayerInfo.ts';
import { emptyModel, type OnnxModel } from '../read/onnx/onnxModel.ts';
import type { BuildLog, EngineLayer, LayerInfo, ProfileRow } from '../read/tensorrt/buildOutput.ts';
import { bareLayer, type Placement } from '../read/tensorrt/readLayerLine.ts';
import { builtNetworkOf, contradictedShapes, type Contradiction, networkOf } from '../network/network.ts';
import { withoutProfile } from '../network/layerName.ts';
import { type ModelGraph, readsOf } from '../network/modelGraph.ts';
import { createNodeNames, type NodeNames } from '../network/nodeNames.ts';
import { nodeRoles } from '../network/nodeRoles.ts';
import type {
  FusionReport,
  LayerKind,
  NodePlacement,
  ReportForeignNode,
  ReportInput,
  ReportLayer,
  ReportTensor,
} from './fusionReport.ts';
import { type LoggedShapes } from '../network/nodeRoles.ts';
import { addCandidates } from './internal/candidateKernels.ts';
import { joinCounters } from './internal/counterJoin.ts';
import { claimGone } from './internal/eliminatedNodes.ts';
import { createEngineView, type EngineView, outsideName, runsKernel } from './internal/engineView.ts';
import { findSavings } from './internal/fusionSavings.ts';
import { groupTitles } from './internal/groupTitles.ts';
import { findHeldBack } from './internal/heldBack.ts';
import { claimLoggedFusions } from './internal/loggedFusions.ts';
import {
  modelProblem,
  noteUnbuilt,
  operatorProblem,
  overloadProblem,
  scopeProblem,
} from './internal/modelDifferences.ts';
import { claimNamed } from './internal/namedMembers.ts';
import { accountingOf, nodeFates } from './internal/nodeFates.ts';
import { contentOfRegion, networkLayers } from './internal/networkLayers.ts';
import { joinProfile, type ProfileJoin } from './internal/profileJoin.ts';
import { claimReached } from './internal/reachedMembers.ts';
import { findProblems, noEngineReason, otherBuildProblem, otherModel } from './internal/reportProblems.ts';
import { findRemarks } from './internal/reportRemarks.ts';
import { createResolution, modelTensor, readersOf, type Resolution, sourceOf } from './internal/resolution.ts';
import { findTimes } from './internal/timeFindings.ts';
import { joinTrace } from './internal/traceJoin.ts';
import { findUnaccounted } from './internal/unaccountedNodes.ts';
import { claimUnrolled } from './internal/unrolledKernels.ts';
import { claimWitnessed } from './internal/witnessedNodes.ts';

/** The tensors of all graphs of the model but its initializers, which no layer writes. */
export function reportTensors({ graph, view, contradicted }: Resolution): ReportTensor[] {
  const { types } = graph.inferred;
  const shapes = [...graph.inferred.shapes];
  for (const { tensor, inferred } of contradicted) shapes[tensor] = inferred;
  const writers = new Map<number, number[]>();
  for (const [layer, { outputs }] of view.layers.entries()) {
    for (const output of outputs) {
      const tensor = graph.byName.get(output.name) ?? graph.byName.get(withoutProfile(output.name));
      if (tensor !== undefined) addTo(writers, tensor, layer);
    }
  }
  const idOf = (node: number): string => graph.nodes[node]!.id;
  const found: ReportTensor[] = [];
  graph.tensors.forEach(({ name, kind, producer, consumers }, tensor) => {
    if (kind === 'initializer' || kind === 'undefined') return;
    found.push({
      name,
      producer: producer < 0 ? null : idOf(producer),
      consumers: (consumers.length < 2 ? consumers : [...new Set(consumers)]).map(idOf),
      type: types[tensor] ?? null,
      shape: shapes[tensor] ?? null,
      layers: writers.get(tensor) ?? [],
    });
  });
  return found;
}

/**
 * Says for every node of the model what happened to it and for every engine layer which nodes it computes, with the
 * evidence: what TensorRT says first, then what follows from the graph; never more than the inputs give.
 * Never throws on inputs that contradict each other; `problems` says where they do.
 */
export function createReport(given: ReportInput): FusionReport {
  const input = withProfileLayers(withoutDamagedLayers(withoutOldLog(given)));
  const { log, resolution, other, noEngine, staticShapes } = joinInput(input);
  const { view, graph } = resolution;
  const lostNodes = lostNodesOf(input, resolution, other !== undefined);
  const nodes = nodeFates(resolution, staticShapes, noEngine);
  addCandidates(resolution, nodes);
  const times = layerTimes(view, input);
  const found = networkLayers(resolution);
  const titles = groupTitles(
    graph,
    view.regions.map(({ name }, index) => ({
      name,
      members: resolution.members[index]!,
      content: contentOfRegion(found, index),
    })),
  );
  const loadables = new Set(log?.devices?.loadables);
  const foreignNodes = view.regions.map(({ name }, index) =>
    foreignNodeOf(resolution, index, times, titles[index]!, loadables.has(name)),
  );
  const streams = new Set(view.layers.flatMap(({ streamId }) => streamId ?? [])).size > 1;
  const layers = view.layers.map((_, index) => layerOf(resolution, index, times, streams));
  const measured = joinCounters(layers, input.counters ?? []);
  const report: FusionReport = {
    schema: 1,
    ...(input.build && { build: input.build }),
    tensorrt: { product: log?.product ?? null, version: log?.version ?? null },
    ...builtShapesOf(input, log),
    ...(view.profiles > 1 && { optimizationProfile: { shown: input.optimizationProfile ?? 0, of: view.profiles } }),
    ...(input.model === null && { subject: 'engine' as const }),
    model: { file: input.modelFile, nodes: graph.nodes.length },
    layers: layers.map((layer, index) => withCounters(layer, measured.counters[index])),
    foreignNodes,
    nodes,
    tensors: reportTensors(resolution),
    accounting: accountingOf(nodes),
    ...(lostNodes && { lostNodes }),
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
  report.remarks = findRemarks(resolution, report, found, log);
  const known = input.model !== null && !other;
  return { ...report, ...costs(report, resolution), ...(known && { heldBack: findHeldBack(report, graph) }) };
}

function lostNodesOf({ model, log }: ReportInput, resolution: Resolution, other: boolean): FusionReport['lostNodes'] {
  if (model === null) return undefined;
  if (other) return { checked: false, reason: 'The model differs from the one that was built.' };
  return findUnaccounted(resolution, log);
}

/** The oldest version whose names of layers are known. */
const OLDEST = '8.2';

/** Of a log of an older version only the version is kept. */
function withoutOldLog(input: ReportInput): ReportInput {
  const { log, problems = [] } = input;
  if (log === undefined || log.product === 'tensorrt-rtx') return input;
  const isOld = log.version !== null && versionNumber(log.version) < versionNumber(OLDEST);
  if (!isOld && !log.profile.some(({ name }) => isOldRow(name))) return input;
  const { inspectorLayers: _, devices: __, ...rest } = log;
  const problem: Problem = {
    severity: 'error',
    code: 'old-version',
    message: `The log is of TensorRT ${isOld ? log.version : '8.0 or earlier'}; TensorRT Lens reads ${OLDEST} and later.`,
  };
  const nothing = { parsedNodes: [], phases: [], engineLayers: [], bindings: [], finalLayers: [], profile: [] };
  return { ...input, log: { ...rest, ...nothing }, problems: [...problems, problem] };
}

/** A profile, or a profile's table in a log, names the layers where nothing else lists any. */
function withProfileLayers(input: ReportInput): ReportInput {
  const { log, layerInfo, profile } = input;
  if ((layerInfo?.layers.length ?? 0) > 0 || log === undefined || profile?.trace) return input;
  if (log.engineLayers.length + log.phases.length + (log.devices?.layers.length ?? 0) > 0) return input;
  const rows = layersOfRows(profile?.rows ?? log.profile);
  return rows === undefined ? input : { ...input, layerInfo: rows };
}

/** Layer info that breaks off is left out where a log says more: it lists as many layers or more, or what TensorRT planned. */
function withoutDamagedLayers(input: ReportInput): ReportInput {
  const { layerInfo, log, ...rest } = input;
  if (!layerInfo?.damaged || log === undefined) return input;
  const [had, listed] = [layerInfo.layers.length, log.engineLayers.length];
  if (listed > 0 ? listed < had : log.phases.length === 0) return input;
  const problem: Problem = {
    severity: 'warning',
    code: 'layer-info-damaged',
    message: `The layer info is damaged after ${counted(had, 'layer')}, so the report uses ${listed > 0 ? 'the layers that the log lists' : 'what the log says of the plan'}. Export it again.`,
  };
  return { ...rest, log, problems: [...(input.problems ?? []), problem] };
}

/** The inputs joined: which nodes each layer computes, and what stands in the way of saying so. */
function joinInput(input: ReportInput) {
  // What one build says of another is wrong.
  const log = otherBuildProblem(input) ? undefined : input.log;
  const graph = builtNetworkOf(input.model ?? noModel);
  const names = createNodeNames(graph, log?.parsedNodes ?? [], !log?.dropped?.['registeredLayers']);
  const view = createEngineView(input.layerInfo, log, names, input.optimizationProfile);
  const tensors = (list: Iterable<string>) =>
    [...list].flatMap((name) => graph.byName.get(name) ?? graph.byName.get(withoutProfile(name)) ?? []);
  const contradicted = contradictedShapes(graph);
  const roles = nodeRoles(
    graph,
    tensors(view.bindings),
    tensors(copiedFromHost(view)),
    loggedShapes(graph, names, view, contradicted),
  );
  const given = createResolution({ graph, names, view, contradicted, ...roles });
  const { resolution, other } = resolve(input, log, given);
  const noEngine = other ? 'The inputs belong to another model.' : noEngineReason(view, log);
  return { log, resolution, other, noEngine, staticShapes: roles.staticShapes };
}

/** What the log says of shapes and constants, and which declarations do not count. */
function loggedShapes(
  graph: ModelGraph,
  names: NodeNames,
  { phase }: EngineView,
  contradicted: readonly Contradiction[],
): LoggedShapes {
  const dims = graph.nodes.flatMap((_, node) => {
    const logged = names.recordOf(node)?.inputDims;
    return logged ? [[node, logged] as const] : [];
  });
  return {
    contradicted: new Set(contradicted.map(({ tensor }) => tensor)),
    inputDims: new Map(dims),
    constants: madeConstants(graph, phase),
  };
}

/** The nodes of whose results TensorRT made constants before it optimized, by its list: `CONSTANT x[Constant]`. */
const madeConstants = (graph: ModelGraph, phase: EngineView['phase']): Set<number> =>
  new Set(
    (phase?.graphNodes ?? []).flatMap(({ kind, name }) => {
      const tensor =
        kind === 'CONSTANT' && name.endsWith('[Constant]') ? graph.byName.get(name.slice(0, -10)) : undefined;
      return tensor === undefined ? [] : graph.tensors[tensor]!.producer;
    }),
  );

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
export const noModel: OnnxModel = emptyModel();

/** Claims nodes for layers, by what TensorRT says first; nothing where the inputs are of another model. */
function resolve(
  { model, added, removed = {}, sameModel }: ReportInput,
  log: BuildLog | undefined,
  empty: Resolution,
): { resolution: Resolution; other: Problem | undefined } {
  const { problems } = empty;
  if (model === null) return { resolution: empty, other: undefined };
  for (const [id, line] of Object.entries(removed)) {
    const node = empty.graph.indexOfId.get(id);
    if (node !== undefined) empty.gone.set(node, { by: 'rule', line });
  }
  noteUnbuilt(empty, log);
  claimNamed(empty, added);
  const differs = modelProblem(empty, log, added);
  const other = sameModel ? undefined : differs?.severity === 'error' ? differs : otherModel(empty, added);
  if (other) return { resolution: { ...createResolution(empty), problems }, other };
  if (differs && differs.severity !== 'error') problems.push(differs);
  problems.push(...overloadProblem(empty), ...operatorProblem(empty), ...scopeProblem(log));
  claimLoggedFusions(empty);
  claimGone(empty);
  claimReached(empty);
  claimWitnessed(empty);
  claimUnrolled(empty);
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
      const by = from.provenance[node]?.by;
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
  if (view.regionOf[index]! >= 0) {
    if (view.names[index]!.kind !== 'kernel') return 'foreign';
    return runsKernel(type) ? 'kernel' : type === 'shape_call' ? 'shape' : 'other';
  }
  if (nodes > 0) return nodes === 1 ? 'single' : 'fused';
  const native = view.nativeNames.get(index) ?? name;
  if (native.startsWith('Reformatting CopyNode for ') || /^(?:Myelin)?Reformat/i.test(type)) return 'reformat';
  if (
    /^(ShapeHostToDevice|DeviceToShapeHost|TrainStation|shape_call)$/i.test(type) ||
    /Shape(Host|Device)|DevicetoShapeHost/i.test(name)
  ) {
    return 'shape';
  }
  if (/^Constant$/i.test(type) || name.endsWith('[Constant]')) return 'constant';
  return 'other';
}

function foreignNodeOf(
  from: Resolution,
  index: number,
  times: ProfileJoin,
  title: string,
  isLoadable: boolean,
): ReportForeignNode {
  const region = from.view.regions[index]!;
  const members = from.members[index]!;
  const timed = region.layers.map((layer) => times.averageMs[layer] ?? null).filter((time) => time !== null);
  const { inputs, outputs } = borderOf(from, index);
  // A Loop, If or Scan is where its body's nodes are: TensorRT names those.
  const isNamed = (node: number): boolean => from.exact[node] === 1 || from.graph.bodyOutputs.has(node);
  return {
    id: index,
    name: region.name,
    ...(title !== '' && { title: isLoadable ? `${title} (DLA)` : title }),
    ...(isLoadable && { device: 'dla' as const }),
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

/** What can be said about an engine without the ONNX file that it was built from. */
export interface EngineReport {
  /** `subject` is `engine`: layers and ForeignNodes with their times; nothing about nodes. */
  report: FusionReport;
  /** The engine's layers, in the report's order, with all that was recorded of them. */
  layers: EngineLayer[];
  /** Names of the engine's inputs and outputs; empty where the inputs do not say. */
  bindings: string[];
}

/** The files of a build without its model; `file` names the one that lists the layers. */
export type EngineInput = Omit<
  ReportInput,
  'model' | 'modelFile' | 'modelProblems' | 'added' | 'removed' | 'sameModel'
> & {
  file: string;
};

/**
 * A report on an engine alone, from layer info, a log, a profile or several of them. Where only a profile lists layers,
 * they are its rows: names and times in the engine's order.
 */
export function createEngineReport({ file, ...given }: EngineInput): EngineReport {
  const names = createNodeNames(networkOf(noModel), given.log?.parsedNodes ?? []);
  const first = createEngineView(given.layerInfo, given.log, names, given.optimizationProfile);
  const rows = layersOfRows(given.profile?.rows ?? given.log?.profile ?? []);
  const input = first.source === 'none' && rows !== undefined ? { ...given, layerInfo: rows } : given;
  const view = input === given ? first : createEngineView(rows, given.log, names, given.optimizationProfile);
  const report = createReport({ ...input, model: null, modelFile: file });
  return { report, layers: view.layers, bindings: [...view.bindings] };
}

function layersOfRows(rows: readonly ProfileRow[]): LayerInfo | undefined {
  if (rows.length === 0 || rows.some(({ name }) => isOldRow(name))) return undefined;
  return {
    detail: 'names',
    layers: rows.map(({ name }) => bareLayer(name, null)),
    bindings: [],
    ioTensors: [],
    documents: 1,
    unknownKeys: {},
  };
}

/** Execution providers that run parts of a graph as TensorRT engines. */
const tensorrt = /^(?:Tensorrt|NvTensorRTRTX)ExecutionProvider$/i;

/** In the place of advice to build: who has ONNX Runtime's log asked where nodes run. */
export { placeByContext } from './internal/contextPlacement.ts';
export { withMarkedTimes } from './internal/markedTimes.ts';

const placementOnly: Problem = {
  severity: 'info',
  code: 'placement-only',
  message:
    'The log says where ONNX Runtime runs each node, not what TensorRT fused. For that, add the log or the layer info of a TensorRT build.',
};

/** A report with where ONNX Runtime runs each node. */
export function placeNodes(report: FusionReport, model: OnnxModel, placement: Placement): FusionReport {
  const { nodes } = builtNetworkOf(model);
  const place = placer(nodes, placement);
  const placed = report.nodes.map((node, at) => ({ ...node, placement: place(nodes[at]!) }));
  return {
    ...report,
    problems: report.problems.flatMap((problem) => {
      if (problem.code === 'no-build-log') return [];
      return problem.code === 'no-layers' ? [placementOnly] : [problem];
    }),
    nodes: placed,
    placement: placement.providers.map(({ name, count, nodes: listed, line }) => ({
      provider: name,
      nodes: placed.filter((node) => node.placement.provider === name).length,
      listed: count,
      engines: tensorrt.test(name) ? (listed?.filter(({ op }) => op.startsWith('TRTKernel_')).length ?? count) : 0,
      copies: listed?.filter(({ op }) => op === 'MemcpyFromHost' || op === 'MemcpyToHost').length ?? 0,
      line,
    })),
  };
}

type Node = Pick<OnnxModel['nodes'][number], 'id' | 'name' | 'op'>;

/** Says of each node where it runs. ONNX Runtime knows nodes by their names; it folds, fuses and renames some before. */
function placer(
  nodes: readonly Node[],
  { providers, wholeGraph, reasons, parsed }: Placement,
): (node: Node) => NodePlacement {
  const uses = new Map<string, number>();
  for (const { name } of nodes) uses.set(name, (uses.get(name) ?? 0) + 1);
  const listed = new Map<string, { provider: string; op: string }[]>();
  /** Nodes that ONNX Runtime made of others have their names in theirs: `fused /conv/Conv`, `/fc/MatMul/MatMulAddFusion`. */
  const made = new Map<string, { provider: string; op: string }>();
  for (const { name: provider, nodes: own } of providers)
    for (const { op, name } of own ?? []) {
      addTo(listed, name, { provider, op });
      if (!uses.has(name))
        for (const part of partsOf(name)) if (uses.get(part) === 1 && !made.has(part)) made.set(part, { provider, op });
    }
  const [only] = providers;
  const alone = providers.length === 1 && only!.nodes === null ? only! : null;
  const engine = providers.find(({ name }) => tensorrt.test(name))?.name ?? null;
  const constants = nodes.filter(({ op }) => op === 'Constant').length;
  return ({ name, op }) => {
    const why = reasons.get(name);
    if (op === 'Constant')
      return { provider: null, exact: true, reason: 'ONNX Runtime makes a Constant an initializer.' };
    if (name !== '' && uses.get(name) === 1) {
      const found = listed.get(name);
      if (found?.length === 1) {
        const [{ provider, op: as }] = found as [{ provider: string; op: string }];
        const replaced = as === op ? '' : `, as ${as}`;
        return { provider, exact: as === op, reason: why ? `${why}.` : `The log lists it on ${provider}${replaced}.` };
      }
    }
    if (alone !== null && !tensorrt.test(alone.name)) {
      const all = alone.count === nodes.length - constants;
      const reason = all
        ? `The log says that all nodes run on ${alone.name}.`
        : `All nodes that ONNX Runtime kept run on ${alone.name}; it may have removed this one or fused it into another.`;
      return { provider: alone.name, exact: all, reason };
    }
    const other = made.get(name);
    if (other !== undefined)
      return {
        provider: other.provider,
        exact: false,
        reason: `ONNX Runtime made a node ${other.op} of it and others.`,
      };
    if (engine !== null && (wholeGraph || alone !== null || (name !== '' && parsed.has(name)))) {
      const said = parsed.has(name) ? 'TensorRT parsed it' : 'TensorRT runs the whole graph';
      return { provider: engine, exact: false, reason: `${said}, and no other provider lists it.` };
    }
    const inside = engine === null ? '' : 'is inside a TensorRT engine, or ';
    return {
      provider: null,
      exact: false,
      reason: `The log does not list it: it ${inside}was folded, removed or fused.`,
    };
  };
}

/** Names that a longer name may contain. */
function partsOf(name: string): string[] {
  const words = name.split(/\s+/);
  const paths = words.flatMap((word) => [word, word.slice(0, Math.max(0, word.lastIndexOf('/')))]);
  return [...new Set(paths)].filter((part) => part !== '');
}
