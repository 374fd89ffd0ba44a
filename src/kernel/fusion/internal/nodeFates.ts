import type { EngineView } from './engineView.ts';
import type { Accounting, Fate, ReportNode } from '../fusionReport.ts';
import { viewsData } from '../../network/nodeRoles.ts';
import { sourceFrom } from '../../network/sourceLines.ts';
import { quote } from './namedMembers.ts';
import { isInOverload } from './modelDifferences.ts';
import type { Provenance, Resolution } from './resolution.ts';

/** Assigns every node its one fate, with a sentence that says how it is known, or why it is not. */
export function nodeFates(from: Resolution, staticShapes: boolean, noEngine: string | null): ReportNode[] {
  const whole: Whole = {
    staticShapes,
    noEngine,
    unknown: unknownReason(from.view),
    listed: isListedWithout(from),
    hidden: from.view.regions.some(
      ({ layers }, region) =>
        !from.listed[region] && !layers.some((layer) => from.layerEvidence[layer]!.has('metadata')),
    ),
    bare: from.view.regions.some(
      ({ layers }, region) =>
        !from.listed[region] &&
        layers.some((layer) => from.view.names[layer]!.kind === 'kernel') &&
        !layers.some((layer) => from.layerEvidence[layer]!.has('metadata')),
    ),
  };
  return from.graph.nodes.map((node, index) => {
    const judged = judge(from, index, whole);
    const made: ReportNode = {
      id: node.id,
      name: node.name,
      op: node.op,
      fate: judged.fate,
      layers: from.nodeLayers[index]!,
      foreignNode: from.regionOf[index]! < 0 ? null : from.regionOf[index]!,
      exact: judged.exact,
      reason: judged.reason,
    };
    const gone = from.gone.get(index);
    if (gone?.by === 'rule') made.removedByLine = gone.line;
    const { source } = sourceFrom(node);
    if (source !== undefined) made.source = source;
    return made;
  });
}

/** What holds for all nodes alike. */
interface Whole {
  staticShapes: boolean;
  noEngine: string | null;
  /** Why nothing is known of a node. */
  unknown: string;
  listed: boolean;
  /** Some ForeignNode shows neither its members nor, by metadata, what its kernels compute. */
  hidden: boolean;
  /** One of these lists its kernels. */
  bare: boolean;
}

interface Judged {
  fate: Fate;
  exact: boolean;
  reason: string;
}

function judge(from: Resolution, index: number, whole: Whole): Judged {
  const exact = from.exact[index] === 1;
  if (from.regionOf[index]! >= 0) return { fate: 'foreign', exact, reason: memberReason(from, index) };
  const layers = from.nodeLayers[index]!;
  if (layers.length > 0) {
    const alone = layers.every((layer) => from.layerNodes[layer]!.size === 1);
    return { fate: alone ? 'single' : 'fused', exact, reason: layerReason(from, index) };
  }
  const unaccounted = from.unaccounted.get(index);
  if (unaccounted !== undefined) return { fate: 'unaccounted', exact: false, reason: unaccounted };
  if (whole.noEngine !== null) return { fate: 'unknown', exact: false, reason: whole.noEngine };
  if (from.unbuilt.has(index)) {
    return {
      fate: 'unknown',
      exact: false,
      reason: isInOverload(from.graph, index)
        ? 'The log does not parse it: TensorRT built another overload of its function.'
        : 'The log does not parse it: it is not in the model that was built.',
    };
  }
  const gone = from.gone.get(index);
  if (gone?.by === 'constant') {
    return {
      fate: 'folded',
      exact: true,
      reason: `TensorRT made a constant of it (log line ${gone.line}).`,
    };
  }
  if (gone) {
    if (gone.by === 'decided' && from.view.isCut) return cutOff;
    const isSure = gone.by !== 'decided' && (!('exact' in gone) || gone.exact);
    return { fate: 'removed', exact: isSure, reason: goneReason(from, gone) };
  }
  return judgeByRole(from, index, whole);
}

function goneReason(from: Resolution, gone: Provenance): string {
  switch (gone.by) {
    case 'parser':
      return `TensorRT's parser made no layer for it (log line ${gone.line}).`;
    case 'untaken': {
      const owner = from.graph.nodes[gone.node]!;
      const name = quote(owner.name || owner.op);
      return gone.exact
        ? `The condition of ${name} is constant and selects the other branch, and TensorRT's parser did not read this one.`
        : `Derived: the condition of ${name} is constant and selects the other branch, and no layer names this one.`;
    }
    case 'decided': {
      const owner = from.graph.nodes[gone.node]!;
      return `Derived: no kernel names it, and none decides ${quote(owner.name || owner.op)}: TensorRT knew its condition when it built the engine.`;
    }
    case 'operator':
      return `TensorRT's parser built the operator ${from.graph.nodes[gone.node]!.op} in place of its function (log line ${gone.line}).`;
    case 'rule':
      return gone.line > 0
        ? `Line ${gone.line} of the rules took it out of INT8: the copy of the model that was built does not have it.`
        : 'The rules took it out of INT8: the copy of the model that was built does not have it.';
    case 'torch':
      return 'Torch-TensorRT made no layer of it.';
    case 'branch':
      return `TensorRT's parser took the other branch of ${quote(from.graph.nodes[gone.node]!.name || from.graph.nodes[gone.node]!.op)}.`;
    case 'event':
      return `TensorRT removed it (${gone.pass}, log line ${gone.line}).`;
    default:
      return 'TensorRT removed it.';
  }
}

function judgeByRole(from: Resolution, index: number, whole: Whole): Judged {
  const { op } = from.graph.nodes[index]!;
  switch (from.roles[index]!) {
    case 'constant':
      if (from.view.isCut && mayRun(from, index)) return cutOff;
      if ((whole.bare && mayRun(from, index)) || (whole.hidden && /^(?:Quantize|Dequantize)Linear$/.test(op))) {
        return {
          fate: 'unknown',
          exact: false,
          reason:
            'It depends only on constants: TensorRT folds it or computes it in a ForeignNode, and nothing says which nodes those compute.',
        };
      }
      return {
        fate: 'folded',
        exact: op === 'Constant',
        reason:
          from.arithmetic[index] === 1
            ? 'Derived: all sizes that are read of it are known at build time, and no layer names it.'
            : constantReason(op, whole.staticShapes),
      };
    case 'dead':
      return { fate: 'removed', exact: true, reason: 'No graph output depends on it.' };
    case 'identity':
      if (from.view.isCut) return cutOff;
      return { fate: 'removed', exact: false, reason: identityReason(from, index) };
    case 'shape':
      if (from.view.isDynamic === false) return knownShape(from.view);
      return {
        fate: 'shape',
        exact: false,
        reason: 'Derived: it depends only on dynamic shapes and constants, so the host computes it.',
      };
    case 'data':
      return from.arithmetic[index] && from.view.isDynamic === false
        ? knownShape(from.view)
        : leftOver(from, index, whole);
  }
}

/** A result that may be data, such as a weight that a kernel transposes or dequantizes, rather than a shape or an index. */
function mayRun({ graph }: Resolution, index: number): boolean {
  const { op } = graph.nodes[index]!;
  if (op === 'Constant' || op === 'Shape' || op === 'Size' || viewsData.has(op)) return false;
  const { types, shapes } = graph.inferred;
  return graph.outputs[index]!.some(
    (tensor) => !/int|bool/.test(types[tensor] ?? '') || (shapes[tensor]?.length ?? 2) > 1,
  );
}

/** Of a log that ends too early: a layer that it lacks may name the node. */
const cutOff: Judged = {
  fate: 'unknown',
  exact: false,
  reason: 'The log ends before it lists all layers, and none that it lists names the node.',
};

const knownShape = ({ profiles }: EngineView): Judged => ({
  fate: 'folded',
  exact: false,
  reason: `Derived: it depends only on shapes and constants, and every shape in ${profiles > 1 ? 'this optimization profile' : 'the engine'} is fixed.`,
});

/** What a round of a loop hands to the next may be copied, though no kernel names the node. */
function identityReason({ graph }: Resolution, index: number): string {
  const { op } = graph.nodes[index]!;
  const owner = graph.owner[index]!;
  const carried = owner < 0 || graph.nodes[owner]!.op === 'If' ? [] : (graph.bodyOutputs.get(owner) ?? []);
  const copied = graph.outputs[index]!.some((tensor) => carried.includes(tensor))
    ? ' A kernel without a node may copy the tensor from one round to the next.'
    : '';
  return `Derived: ${op} passes its input through, and no layer names it.${copied}`;
}

function constantReason(op: string, staticShapes: boolean): string {
  if (op === 'Constant') return 'It is a constant.';
  if (op === 'Shape' || op === 'Size')
    return 'Derived: the shape of its input is known at build time, and no layer names it.';
  const on = staticShapes ? 'constants and shapes known at build time' : 'constants';
  return `Derived: it depends only on ${on}, and no layer names it.`;
}

function leftOver(from: Resolution, index: number, whole: Whole): Judged {
  const { op } = from.graph.nodes[index]!;
  if (from.view.isCut && from.view.source === 'log') return cutOff;
  if (viewsData.has(op) && from.view.source !== 'plan' && isBetweenLayers(from, index)) {
    return {
      fate: 'removed',
      exact: false,
      reason: `No layer computes it: ${op} only changes the shape of the tensor, and its neighbors use the same data.`,
    };
  }
  const record = from.names.recordOf(index);
  if (record && record.layers.length === 0 && record.helpers.length > 0) {
    return {
      fate: 'unknown',
      exact: false,
      reason: `TensorRT's parser built it from layers without its name (log line ${record.line}), so that no layer names it.`,
    };
  }
  if (whole.listed && isBetweenLayers(from, index)) {
    return {
      fate: 'removed',
      exact: false,
      reason: 'TensorRT lists all members of its ForeignNodes, and neither they nor any layer include it.',
    };
  }
  const absorbed = from.absorbed.get(index);
  const reason = absorbed
    ? `TensorRT fused it into ${quote(absorbed.into)} (log line ${absorbed.line}), and nothing says which layer that is in.`
    : whole.unknown;
  return { fate: 'unknown', exact: false, reason };
}

/** What TensorRT lists is all that there is: every ForeignNode's members are listed, and they are this model's. */
function isListedWithout(from: Resolution): boolean {
  const { view, listed, names, problems } = from;
  return (
    view.source !== 'plan' &&
    listed.length > 0 &&
    listed.every(Boolean) &&
    names.unmatched.names.length === 0 &&
    !problems.some(({ code }) => code === 'unknown-node')
  );
}

/** Every neighbor is accounted for, so that nothing but this node is between them. */
function isBetweenLayers(from: Resolution, index: number): boolean {
  const { graph } = from;
  const isPlaced = (node: number) =>
    node < 0 || from.nodeLayers[node]!.length > 0 || from.regionOf[node]! >= 0 || viewsData.has(graph.nodes[node]!.op);
  return (
    graph.inputs[index]!.every((tensor) => tensor < 0 || isPlacedOrConstant(from, tensor, isPlaced)) &&
    graph.outputs[index]!.every((tensor) => graph.tensors[tensor]!.consumers.every(isPlaced))
  );
}

function isPlacedOrConstant(from: Resolution, tensor: number, isPlaced: (node: number) => boolean): boolean {
  const { producer } = from.graph.tensors[tensor]!;
  return producer < 0 || from.roles[producer] === 'constant' || from.roles[producer] === 'shape' || isPlaced(producer);
}

function unknownReason(view: EngineView): string {
  if (view.source === 'plan') {
    return 'The log does not show its layer: it may become a layer of its own or part of a ForeignNode.';
  }
  const hasMetadata = view.layers.some(({ metadata }) => metadata);
  if (!hasMetadata && !view.layers.some(({ outputs }) => outputs.length > 0)) {
    return 'The inputs list layers by name only, and no name contains it. Detailed profiling verbosity or a verbose log would show its layer.';
  }
  return 'No layer names it, and its place in the graph fits several layers or none.';
}

/** ` (log line 12)`: where the log gives the layer's name. */
function inLog({ view }: Resolution, layer: number): string {
  const { line } = view.layers[layer]!;
  return line === null ? '' : ` (log line ${line})`;
}

function memberReason(from: Resolution, index: number): string {
  const provenance = from.provenance[index];
  const region = from.regionOf[index]!;
  const name = `ForeignNode ${region}`;
  const shared = from.exact[index] ? '' : ' Other nodes have the same name, so it may be one of those.';
  switch (provenance?.by) {
    case 'line':
      return `The log lists it among the members of ${name}.${shared}`;
    case 'metadata':
      return `The metadata of layer ${provenance.layer} of ${name} names it.${shared}`;
    case 'name':
      return `The name of layer ${provenance.layer} of ${name} contains it${inLog(from, provenance.layer)}.${shared}`;
    case 'ends':
      return `The name of ${name} contains it.`;
    case 'loop':
      return `Layer ${provenance.layer} of ${name} is a kernel of the loop that TensorRT built from it.`;
    case 'fusion':
      return `TensorRT fused it with a node of ${name} (log line ${provenance.line}).`;
    case 'written':
      return `Derived: no name contains it, but layer ${provenance.layer} of ${name} writes its result.`;
    case 'graph':
      return `Derived: its layer is in the graph that TensorRT optimized (log line ${provenance.line}), and ${name} is the only ForeignNode that it can belong to.`;
    case 'body':
      return `Nodes of its body are in ${name}.`;
    case 'owner':
      return `It is in the body of ${quote(from.graph.nodes[provenance.node]!.name || from.graph.nodes[provenance.node]!.op)}, which is in ${name}.`;
    case 'neighbors':
      return `Derived: it can only belong to ${name}.`;
    default:
      return `Derived: it is between the input and output tensors of ${name}, and no other layer computes it.`;
  }
}

function layerReason(from: Resolution, index: number): string {
  const provenance = from.provenance[index];
  const layers = from.nodeLayers[index]!;
  const where =
    layers.length === 1
      ? `layer ${layers[0]}`
      : `layers ${layers.slice(0, 4).join(', ')}${layers.length > 4 ? ', …' : ''}`;
  const shared = from.exact[index] ? '' : ' Other nodes have the same name, so it may be one of those.';
  switch (provenance?.by) {
    case 'metadata':
      return `The metadata of ${where} names it.${shared}`;
    case 'name':
      return `The name of ${where} contains it${inLog(from, layers[0]!)}.${shared}`;
    case 'fusion':
      return `TensorRT fused it with a node of ${where} (log line ${provenance.line}).`;
    case 'copy':
      return provenance.line === null
        ? `Derived: ${where} ${layers.length === 1 ? 'copies' : 'copy'} what it joins.`
        : `TensorRT copies what it joins (log line ${provenance.line}): ${where}.`;
    case 'body':
      return `Nodes of its body are in ${where}.`;
    case 'written':
      return `Derived: no name contains it, but ${where} write${layers.length === 1 ? 's' : ''} its result.`;
    default:
      return `Derived: it is between the tensors of ${where}, and no other layer computes it.`;
  }
}

/** Sums the fates; they add up to `total`. */
export function accountingOf(nodes: readonly ReportNode[]): Accounting {
  const sum: Accounting = {
    total: nodes.length,
    foreign: 0,
    fused: 0,
    single: 0,
    folded: 0,
    removed: 0,
    shape: 0,
    unaccounted: 0,
    unknown: 0,
  };
  for (const { fate } of nodes) sum[fate]++;
  return sum;
}
