import { branchOf, nodesInName, untakenNodes } from '../../network/nodeNames.ts';
import { bodyOf, type ModelGraph, readsOf } from '../../network/modelGraph.ts';
import { torchKeys } from '../../network/sourceLines.ts';
import { computesValues } from './valueFacts.ts';
import { isFree, type Resolution } from './resolution.ts';

/**
 * Notes the nodes that Torch-TensorRT or the log's parser omitted, and those that the last build removes (`Removing X`) or
 * eliminates (`Eliminating slice X …`), unless a layer computes them anyway.
 */
export function claimGone(to: Resolution): void {
  claimUnmade(to);
  claimUnparsed(to);
  for (const event of to.view.phase?.events ?? []) {
    if (event.kind !== 'remove' && event.kind !== 'eliminate') continue;
    // `Retargeting T to U` is about tensors, which may be called as nodes are.
    if (event.pass === 'retarget') continue;
    const [name] = event.layers;
    if (name === undefined) continue;
    for (const nodes of nodesInName(to.names, name)) {
      const [node] = nodes;
      if (node === undefined || nodes.length > 1) continue;
      if (!isFree(to, node) || to.absorbed.has(node)) continue;
      to.gone.set(node, { by: 'event', pass: event.pass, line: event.line });
    }
  }
}

/** Notes the nodes of PyTorch of which no layer was made: they only select or rename. */
function claimUnmade(to: Resolution): void {
  to.graph.nodes.forEach(({ metadata }, node) => {
    const layers = metadata.find(({ key }) => key === torchKeys.layers)?.value;
    if (layers === '0' && isFree(to, node)) to.gone.set(node, { by: 'torch' });
  });
}

/**
 * Notes the nodes that the parser made no layer of but an identity, because they change nothing (a Max of one input, a Pad by zero), and
 * those of an If's branch that it did not read, because it knew the condition.
 */
function claimUnparsed(to: Resolution): void {
  const { graph, names } = to;
  if (!names.registersLayers) return;
  claimBranches(to);
  if (hasUnregistered(to)) return;
  const work: number[] = [];
  const empty: number[] = [];
  let last = 0;
  graph.nodes.forEach((node, index) => {
    const record = names.recordOf(index);
    if (!record) return;
    if (record.line > last) last = record.line;
    // Constants get layers where they are read, owners and calls of functions have them inside.
    if (to.roles[index] !== 'data' || node.subgraphs.length > 0 || isCall(graph, node.op)) return;
    work.push(index);
    if (record.layers.length === 0 && record.helpers.every(isIdentity) && isFree(to, index)) empty.push(index);
  });
  // Where most have none, lines are missing from the log.
  if (empty.length * 2 > work.length) return;
  for (const node of empty) {
    const { line } = names.recordOf(node)!;
    // The last one may be where the log, or the parser, stopped.
    if (line < last) to.gone.set(node, { by: 'parser', line });
  }
}

/**
 * TensorRT's network has more layers than the parser registered: some are without a name, `(Unnamed Layer* 2) [Shuffle]`,
 * and may be of any node.
 */
function hasUnregistered({ view, names }: Resolution): boolean {
  const original = view.phase?.funnel.find(({ stage }) => stage === 'Original');
  return original !== undefined && original.layers > names.registeredLayers;
}

const isIdentity = (helper: string): boolean => helper.startsWith('ONNXTRT_identity');
/** Whether an operator is a local function of the model. */
export const isCall = (graph: ModelGraph, op: string): boolean => graph.model.functions.some(({ name }) => name === op);

/** `20/then_branch/3` → `20/then_branch` */
const graphOf = (id: string): string => id.slice(0, id.lastIndexOf('/'));

/**
 * Notes the nodes of branches that are not taken: the condition is known in the model, or everything that it depends on
 * is, and layers compute nodes of the other branch only. To be asked when the layers have claimed their nodes; a list of
 * a ForeignNode's members is of the time before its compiler decides, and has both branches.
 */
export function claimUntaken(to: Resolution): void {
  const { graph, roles, view } = to;
  const isNamed = (node: number): boolean => to.nodeLayers[node]!.length > 0;
  const leave = (node: number, owner: number, exact: boolean): void => {
    if (!isNamed(node) && !to.gone.has(node)) to.gone.set(node, { by: 'untaken', node: owner, exact });
  };
  // The parser's log shows that it read the other branch; without it, that follows from the condition.
  const isParsed = to.names.registersLayers;
  for (const [node, owner] of untakenNodes(graph)) leave(node, owner, isParsed && !to.names.recordOf(node));
  const hasKernels = view.names.some(({ kind }) => kind === 'kernel');
  const inGraph = new Set(view.phase?.graphNodes?.flatMap(({ name }) => to.names.nodesOfLayer(name)));
  graph.nodes.forEach(({ op, subgraphs }, owner) => {
    const condition = graph.inputs[owner]![0] ?? -1;
    const producer = condition < 0 ? -1 : graph.tensors[condition]!.producer;
    const role = producer < 0 ? undefined : roles[producer];
    if (op !== 'If' || subgraphs.length < 2) return;
    const body = bodyOf(graph, owner);
    // Without a jump the engine decides nothing, and kernels name what computes values.
    const isDecided =
      hasKernels && body.some((node) => isNamed(node)) && !view.layers.some(({ type }) => /^c?jmp$/.test(type));
    const isKnown = role === 'constant' || (role === 'shape' && view.isDynamic === false);
    if (!isKnown && !(isDecided && body.some((node) => !isNamed(node) && computesValues(graph.nodes[node]!)))) return;
    for (const isThere of [isNamed, (node: number) => inGraph.has(node)]) {
      const branches = new Set(body.filter(isThere).map((node) => branchOf(graph, node, owner)));
      if (branches.size !== 1) continue;
      leaveOthers(
        to,
        owner,
        body.filter((node) => !branches.has(branchOf(graph, node, owner))),
        isKnown,
      );
      return;
    }
  });
}

/** Notes the nodes of a branch that has no layers; `isKnown`: the condition is a constant. */
function leaveOthers(to: Resolution, owner: number, nodes: readonly number[], isKnown: boolean): void {
  for (const node of nodes) {
    if (to.nodeLayers[node]!.length > 0 || to.gone.has(node)) continue;
    to.gone.set(node, isKnown ? { by: 'untaken', node: owner, exact: false } : { by: 'decided', node: owner });
  }
  if (!isKnown) leaveConditionOf(to, owner);
}

/** Notes the nodes on which only the condition of an If depends that TensorRT knew when it built the engine. */
function leaveConditionOf(to: Resolution, owner: number): void {
  const { graph } = to;
  const decided = new Set([owner]);
  const stack = [graph.inputs[owner]![0] ?? -1];
  while (stack.length > 0) {
    const tensor = stack.pop()!;
    const { producer = -1, consumers = [] } = graph.tensors[tensor] ?? {};
    if (producer < 0 || decided.has(producer) || !isFree(to, producer) || graph.graphOutputs.includes(tensor)) continue;
    if (!consumers.every((reader) => decided.has(reader)) || to.roles[producer] === 'constant') continue;
    decided.add(producer);
    to.gone.set(producer, { by: 'decided', node: owner });
    stack.push(...readsOf(graph, producer));
  }
}

function claimBranches(to: Resolution): void {
  const { graph, names } = to;
  const read = new Set<string>();
  const partly = new Set<number>();
  graph.nodes.forEach(({ id }, index) => {
    const owner = graph.owner[index]!;
    if (owner < 0 || !names.recordOf(index)) return;
    read.add(graphOf(id));
    partly.add(owner);
  });
  // Owners come before their bodies, so what is inside a branch follows it.
  graph.nodes.forEach(({ id }, index) => {
    const owner = graph.owner[index]!;
    if (owner < 0 || !isFree(to, index) || names.recordOf(index) || to.roles[index] === 'constant') return;
    if (to.gone.has(index)) return;
    const isUnread = graph.nodes[owner]!.op === 'If' && partly.has(owner) && !read.has(graphOf(id));
    if (isUnread) to.gone.set(index, { by: 'branch', node: owner });
    const outer = to.gone.get(owner);
    if (outer?.by === 'branch') to.gone.set(index, outer);
  });
}
