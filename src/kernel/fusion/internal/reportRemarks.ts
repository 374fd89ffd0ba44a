import type { BuildLog, BuildPhase, FusionEvent, PrecisionLine } from '../../read/tensorrt/buildOutput.ts';
import { knownFaults } from '../../faults/knownFaults.ts';
import { boundaryRemarks } from './boundaryRemarks.ts';
import type { FusionReport, Remark, ReportLayer } from '../fusionReport.ts';
import { quote } from './namedMembers.ts';
import type { ModelGraph } from '../../network/modelGraph.ts';
import { nodesInName } from '../../network/nodeNames.ts';
import { readMap } from '../../network/repairMap.ts';
import { type NetworkLayers, networkRemarks } from './networkLayers.ts';
import type { Resolution } from './resolution.ts';
import { addTo } from '../../base/addTo.ts';
import { counted, thousands, timeText } from '../../base/text.ts';

/** Remarks of one kind beyond these are merged into one. */
const mostReformats = 50;

/** Why boundaries are where they are and what was or was not fused, each from evidence in the inputs. */
export function findRemarks(
  from: Resolution,
  report: FusionReport,
  found: readonly NetworkLayers[],
  log: BuildLog | undefined,
): Remark[] {
  return [
    ...(from.view.phase ? passRemarks(from, from.view.phase) : []),
    ...attentionRemarks(report),
    ...networkRemarks(found),
    ...repairRemarks(from.graph),
    ...(log ? faultRemarks(from.graph, log) : []),
    ...boundaryRemarks(from, report),
    ...layerRemarks(report),
    ...(log ? precisionRemarks(from, report, log.precision) : []),
  ];
}

/** What the optimizer did, by pass. */
function passRemarks(from: Resolution, phase: BuildPhase): Remark[] {
  const remarks: Remark[] = [];
  const stage = phase.funnel.findIndex(({ stage: name }) => /myelin/i.test(name));
  const before = phase.funnel[stage - 1];
  const after = phase.funnel[stage];
  // Other passes run before this count, too: without a ForeignNode, or with fusions of theirs, it is not Myelin's doing alone.
  const isShared = phase.events.some(
    ({ kind, line }) =>
      (kind === 'fuse' || kind === 'absorb') && line > (before?.line ?? 0) && line < (after?.line ?? 0),
  );
  if (before && after && after.layers < before.layers && from.view.regions.length > 0) {
    remarks.push({
      kind: 'passed',
      code: 'myelin',
      message: `${isShared ? 'Myelin and the passes before it' : 'Myelin'} reduced ${thousands(before.layers)} TensorRT layers to ${thousands(after.layers)}.`,
      evidence: { line: after.line },
      nodes: [],
      layers: foreignLayers(from),
    });
  }
  const passes = new Map<string, FusionEvent[]>();
  for (const event of phase.events) {
    if (event.kind === 'convert' || event.kind === 'swap') continue;
    addTo(passes, `${event.kind} ${event.pass}`, event);
  }
  for (const events of passes.values()) {
    const remark = passRemark(from, events);
    if (remark) remarks.push(remark);
  }
  return remarks;
}

/** Layers of all ForeignNodes. */
const foreignLayers = (from: Resolution): number[] => from.view.regions.flatMap(({ layers }) => layers);

function passRemark(from: Resolution, events: FusionEvent[]): Remark | undefined {
  const [{ kind, pass, line }] = events as [FusionEvent];
  const nodes = nodesOfEvents(from, events);
  if (nodes.length === 0) return undefined;
  const steps = events.length === 1 ? '' : ` in ${thousands(events.length)} steps`;
  const about = `${counted(nodes.length, 'node')}`;
  const remark = { evidence: { line }, nodes, layers: [] };
  switch (kind) {
    case 'fuse':
    case 'absorb':
      return { kind: 'passed', code: 'fusion', message: `${pass} fused ${about}${steps}.`, ...remark };
    case 'merge':
      return {
        kind: 'passed',
        code: 'merge',
        message: `TensorRT merged parallel layers of ${about}${steps}.`,
        ...remark,
      };
    case 'remove':
    case 'eliminate':
      if (pass === 'retarget') return undefined;
      return { kind: 'passed', code: 'removal', message: `TensorRT removed ${about} (${pass}).`, ...remark };
    case 'pattern':
      return {
        kind: 'passed',
        code: 'pattern',
        message: `TensorRT matched ${about} to its ${pass} pattern.`,
        ...remark,
      };
    case 'copy':
      return {
        kind: 'missed',
        code: 'copy',
        message: `TensorRT had to copy the data of ${about}${steps}.`,
        ...remark,
      };
    default:
      return undefined;
  }
}

function nodesOfEvents(from: Resolution, events: FusionEvent[]): string[] {
  const found = new Set<number>();
  const seen = new Set<readonly number[]>();
  for (const { layers, kind } of events) {
    for (const layer of layers) {
      for (const nodes of nodesInName(from.names, layer)) {
        // All nodes of one name are one list, which many events may name.
        if (!seen.has(nodes)) for (const node of nodes) found.add(node);
        seen.add(nodes);
      }
      const tensor = kind === 'copy' ? from.graph.byName.get(layer) : undefined;
      const producer = tensor === undefined ? -1 : from.graph.tensors[tensor]!.producer;
      if (producer >= 0) found.add(producer);
    }
  }
  return [...found].toSorted((a, b) => a - b).map((node) => from.graph.nodes[node]!.id);
}

/** Kernels that compute attention as a whole. */
function attentionRemarks(report: FusionReport): Remark[] {
  const kernels = report.layers.filter(({ kind, name }) => kind === 'kernel' && /^_gem[mv]_mha_/.test(name));
  if (kernels.length === 0) return [];
  return [
    {
      kind: 'passed',
      code: 'fused-attention',
      message: `${counted(kernels.length, 'kernel computes', 'kernels each compute')} a whole attention block: MatMul, Softmax and MatMul (${quote(kernels[0]!.name)}).`,
      evidence: { layer: kernels[0]!.id },
      nodes: kernels.flatMap(({ nodes }) => nodes),
      layers: kernels.map(({ id }) => id),
    },
  ];
}

/** Layers that compute no node. */
function layerRemarks(report: FusionReport): Remark[] {
  const reformats = report.layers.filter(({ kind }) => kind === 'reformat');
  const remarks = reformats.slice(0, mostReformats).map(reformatRemark);
  if (reformats.length > mostReformats) {
    remarks.push({
      kind: 'missed',
      code: 'reformat',
      message: `${counted(reformats.length - mostReformats, 'more reformat')} between layers.`,
      evidence: { layer: reformats[mostReformats]!.id },
      nodes: [],
      layers: reformats.slice(mostReformats).map(({ id }) => id),
    });
  }
  for (const layer of report.layers) {
    if (layer.kind !== 'shape' || layer.foreignNode !== null) continue;
    const tensor = (layer.outputs[0] ?? layer.inputs[0])?.name;
    remarks.push({
      kind: 'analysis',
      code: 'host-shape',
      message: `Layer ${layer.id} copies a shape between host and device${tensor === undefined ? '' : ` (${quote(tensor)})`}.`,
      evidence: { layer: layer.id, ...(tensor === undefined ? {} : { tensor }) },
      nodes: [],
      layers: [layer.id],
    });
  }
  return remarks;
}

/** `linear FP16` and `FP16, linear` of `Row major linear FP16 format`; null: no format is given. */
function formatWords(format: string | null | undefined): { text: string; list: string } | null {
  if (!format) return null;
  const [, major, type = '', multiple] =
    /^(Row major linear|Channel major) (\w+)(?: format)?(?: where channel % (\d+) == 0)?$/.exec(format) ?? [];
  if (major === undefined) return { text: format, list: format };
  const layout = major === 'Channel major' ? 'channel-major' : 'linear';
  const note = multiple === undefined ? '' : ` (multiples of ${multiple})`;
  return { text: `${layout} ${type}${note}`, list: `${type}, ${layout}${note}` };
}

function reformatRemark(layer: ReportLayer): Remark {
  const [input] = layer.inputs;
  const [output] = layer.outputs;
  const time = layer.averageMs === null ? '' : ` (${timeText(layer.averageMs)})`;
  const free = layer.type === 'NoOp';
  const name = quote(input?.name ?? layer.name);
  const [from, into] = [formatWords(input?.format), formatWords(output?.format)];
  const what = free
    ? `reinterprets the same bytes: ${name} is not copied`
    : from && into && input?.format === output?.format
      ? `copies ${name} (${from.list} on both sides)`
      : `reformats ${name}${from && into ? ` from ${from.text} to ${into.text}` : ''}`;
  return {
    kind: free ? 'analysis' : 'missed',
    code: 'reformat',
    message: `Layer ${layer.id} ${what}${free ? '' : time}.`,
    evidence: { layer: layer.id, ...(input ? { tensor: input.name } : {}) },
    nodes: [],
    layers: [layer.id],
  };
}

/** What the log says about requested precisions, one remark a kind and reason. */
function precisionRemarks(from: Resolution, report: FusionReport, lines: readonly PrecisionLine[]): Remark[] {
  const groups = new Map<string, PrecisionLine[]>();
  for (const line of lines) addTo(groups, `${line.kind} ${line.type} ${line.reason}`, line);
  return [...groups.values()].map((group) => {
    const found = new Set<number>();
    for (const { layer } of group) {
      for (const nodes of nodesInName(from.names, layer)) for (const node of nodes) found.add(node);
    }
    const nodes = [...found].toSorted((a, b) => a - b);
    const [first] = group as [PrecisionLine];
    const hidden = nodes.filter((node) => isHidden(from, report, node)).length;
    return {
      kind:
        first.kind === 'non-conforming' || first.kind === 'ignored' || first.kind === 'skipped' ? 'missed' : 'analysis',
      code: 'precision',
      message: precisionMessage(first, group.length, hidden),
      evidence: { line: first.line },
      nodes: nodes.map((node) => from.graph.nodes[node]!.id),
      layers: [...new Set(nodes.flatMap((node) => from.nodeLayers[node]!))],
    };
  });
}

/** True for a node in a ForeignNode whose kernels are not listed or compute other nodes, too: its type cannot be verified. */
function isHidden(from: Resolution, report: FusionReport, node: number): boolean {
  if (from.regionOf[node]! < 0) return false;
  const layers = from.nodeLayers[node]!;
  return layers.length === 0 || layers.some((layer) => report.layers[layer]!.nodes.length > 1);
}

function precisionMessage({ kind, type, reason }: PrecisionLine, count: number, hidden: number): string {
  const layers = counted(count, 'layer');
  const unseen =
    hidden === 0
      ? ''
      : ` ${counted(hidden, 'of the nodes is', 'of the nodes are')} fused with others in a ForeignNode, so their precision cannot be verified.`;
  switch (kind) {
    case 'set':
      return `${type ?? 'A type'} was requested for ${layers}.${unseen}`;
    case 'set-output':
      return `${type ?? 'A type'} was requested for the outputs of ${layers}.${unseen}`;
    case 'skipped':
      return `No type was set for ${layers}: ${reason ?? 'the log gives no reason.'}`;
    case 'ignored':
      return reason ?? `The types requested for ${layers} have no effect.`;
    case 'non-conforming':
      return `TensorRT did not obey the types requested for ${layers}, because another implementation was faster.`;
    case 'layernorm-fp16':
      return `TensorRT warns that layer norms may overflow in FP16${count > 1 ? ` (${layers})` : ''}.`;
  }
}

/** What this TensorRT is known to compute wrong. */
function faultRemarks({ model }: ModelGraph, { product, version, outcome }: BuildLog): Remark[] {
  const found =
    product === null || outcome === 'failed' ? [] : knownFaults(model, { product, version, capability: null });
  return found
    .filter(({ severity }) => severity === 'error')
    .map(({ message, advice, nodes }) => ({
      kind: 'analysis',
      code: 'known-fault',
      message: `${message} ${advice}`,
      evidence: {},
      nodes,
      layers: [],
    }));
}

/** What nodes of a repaired model stand for in the original, one remark for each place of a repair. */
function repairRemarks({ model }: ModelGraph): Remark[] {
  const map = readMap(model);
  if (!map) return [];
  const byName = new Map(model.nodes.map(({ id, name }) => [name, id]));
  return map.repairs.flatMap(({ id, places }) =>
    places.flatMap(({ from, operator, to }): Remark[] => {
      const nodes = to.flatMap((name) => byName.get(name) ?? []);
      if (nodes.length === 0) return [];
      const message = `${quote(from)} (${operator}) of the original is computed as ${counted(nodes.length, 'node')} since repair ${id}.`;
      return [{ kind: 'analysis', code: 'repair', message, evidence: {}, nodes, layers: [] }];
    }),
  );
}
