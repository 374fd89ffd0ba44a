import type { Placement } from '../engine/readPlacement.ts';
import { expandFunctions } from '../model/expandFunctions.ts';
import type { OnnxModel } from '../onnx/onnxModel.ts';
import type { FusionReport, NodePlacement } from './fusionReport.ts';
import { addTo } from '../text/addTo.ts';

/** Execution providers that run parts of a graph as TensorRT engines. */
const tensorrt = /^(?:Tensorrt|NvTensorRTRTX)ExecutionProvider$/i;

/** A report with where ONNX Runtime runs each node. */
export function placeNodes(report: FusionReport, model: OnnxModel, placement: Placement): FusionReport {
  const { nodes } = expandFunctions(model);
  const place = placer(nodes, placement);
  const placed = report.nodes.map((node, at) => ({ ...node, placement: place(nodes[at]!) }));
  return {
    ...report,
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
