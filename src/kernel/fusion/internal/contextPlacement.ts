import type { OnnxModel } from '../../read/onnx/onnxModel.ts';
import { type EpContext, epContexts } from '../../read/onnx/readModel.ts';
import { builtNetworkOf } from '../../network/network.ts';
import { type ModelGraph, readsOf } from '../../network/modelGraph.ts';
import type { FusionReport, NodePlacement, ProviderShare } from '../fusionReport.ts';
import { quote } from './namedMembers.ts';
import { counted, firstOf } from '../../base/text.ts';

/** What runs the nodes that ONNX Runtime left in an EPContext model. */
const elsewhere = 'another provider';

/**
 * A report with the parts of its model that ONNX Runtime gave to TensorRT, by the EPContext model that it wrote: what
 * lies between the inputs and outputs of each node with an engine.
 */
export function placeByContext(report: FusionReport, model: OnnxModel, context: OnnxModel): FusionReport {
  const graph = builtNetworkOf(model);
  const places = new Map<number, NodePlacement>();
  const problems: FusionReport['problems'] = [];
  const shares = new Map<string, ProviderShare>();
  const shareOf = (provider: string): ProviderShare => {
    const known = shares.get(provider) ?? { provider, nodes: 0, listed: 0, engines: 0, copies: 0, line: 0 };
    shares.set(provider, known);
    return known;
  };
  for (const one of epContexts(context)) {
    const provider = one.source || 'TensorrtExecutionProvider';
    const share = shareOf(provider);
    share.engines += 1;
    share.listed += 1;
    const members = partOf(graph, one);
    if (typeof members === 'string') {
      problems.push({
        severity: 'error',
        code: 'other-context',
        message: `${partName(one)} is not a part of this model: ${members}. Pass the model from which ONNX Runtime made the EPContext model.`,
      });
      continue;
    }
    const reason = `It is between the inputs and outputs of ${partName(one)}, which contains an engine of ${counted(members.size, 'node')}.`;
    for (const node of members) if (!places.has(node)) places.set(node, { provider, exact: false, reason });
  }
  if (shares.size === 0)
    return {
      ...report,
      problems: [
        ...report.problems,
        {
          severity: 'error',
          code: 'no-context',
          message:
            'The model that is given for the log of ONNX Runtime has no EPContext node: the session writes one with ep.context_enable=1.',
        },
      ],
    };
  const lacking = lackingBorders(model, context);
  if (lacking !== null && problems.length === 0)
    problems.push({
      severity: 'error',
      code: 'part-of-context',
      message: `The EPContext model is not the whole model: ${lacking}. ONNX Runtime's TensorRT provider writes only one part where it made several (seen with 1.20.2), and what it wrote gives other outputs, or crashes. Split the model, so that TensorRT takes all of each part, or keep the engines with trt_engine_cache_enable instead.`,
    });
  const kept = new Map(context.nodes.map(({ name, op }) => [name, op]));
  graph.nodes.forEach(({ name, op }, node) => {
    if (places.has(node) || name === '' || !kept.has(name)) return;
    const reason = 'The EPContext model has it as a node, so it is in no engine.';
    places.set(node, { provider: elsewhere, exact: kept.get(name) === op, reason });
    shareOf(elsewhere).listed += 1;
  });
  const none: NodePlacement = {
    provider: null,
    exact: false,
    reason: 'It is in no engine of the EPContext model and no node there: ONNX Runtime folded, fused or renamed it.',
  };
  const placed = report.nodes.map((node, at) => ({ ...node, placement: places.get(at) ?? none }));
  for (const { placement } of placed) if (placement.provider !== null) shareOf(placement.provider).nodes += 1;
  return {
    ...report,
    problems: [...report.problems.filter(({ code }) => code !== 'no-build-log' && code !== 'no-layers'), ...problems],
    nodes: placed,
    placement: [...shares.values()],
  };
}

/** Inputs and outputs of an EPContext model that are others than those of the model; null: they are the same. */
function lackingBorders(model: OnnxModel, context: OnnxModel): string | null {
  const constants = new Set(model.graph.initializers.map(({ name }) => name));
  const own = new Set([...model.graph.inputs, ...model.graph.outputs].map(({ name }) => name));
  const extra = [...context.graph.inputs, ...context.graph.outputs].filter(({ name }) => !own.has(name));
  const there = new Set([...context.graph.inputs, ...context.graph.outputs].map(({ name }) => name));
  const missing = [...model.graph.inputs.filter(({ name }) => !constants.has(name)), ...model.graph.outputs].filter(
    ({ name }) => !there.has(name),
  );
  if (extra.length === 0 || missing.length === 0) return null;
  const names = (borders: typeof extra): string =>
    firstOf(
      borders.map(({ name }) => quote(name)),
      5,
    );
  return `it has ${names(extra)} in place of ${names(missing)}`;
}

const partName = ({ partition, node }: EpContext): string => quote(partition || node.id);

/** The nodes from which a part's outputs follow, back to its inputs; a text: why there are none. */
function partOf(graph: ModelGraph, { node: { inputs, outputs } }: EpContext): Set<number> | string {
  const borders = new Set(inputs.map((name) => graph.byName.get(name) ?? -1));
  const network = new Set(graph.model.graph.inputs.map((input) => graph.byName.get(input.name) ?? -1));
  for (const { name } of graph.model.graph.initializers) network.delete(graph.byName.get(name) ?? -1);
  const members = new Set<number>();
  const open: number[] = [];
  for (const name of outputs) {
    const tensor = name === '' ? -1 : graph.byName.get(name);
    if (tensor === undefined) return `it has no tensor ${quote(name)}`;
    if (tensor >= 0) open.push(tensor);
  }
  for (let tensor = open.pop(); tensor !== undefined; tensor = open.pop()) {
    if (borders.has(tensor)) continue;
    const { producer, name } = graph.tensors[tensor]!;
    if (producer < 0) {
      if (network.has(tensor)) return `the graph input ${quote(name)} is not among its inputs`;
      continue;
    }
    if (members.has(producer)) continue;
    members.add(producer);
    open.push(...readsOf(graph, producer));
  }
  return members;
}
