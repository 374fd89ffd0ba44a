import type { OnnxGraph, OnnxNode } from '../../../../kernel/read/onnx/onnxModel.ts';
import type { RepairDraft } from '../draft.ts';
import type { NewPlace } from '../place.ts';
import type { Repair } from '../repair.ts';

export const knownBranch: Repair = {
  id: 'known-branch',
  title: 'Keep the branch of If that the shapes decide on',
  class: 'exact',
  rejected: 'If whose branches give tensors of different ranks, as exporters write squeeze().',
  proof:
    'The condition is a constant, or follows from the shapes that the model is built for, the same in all of them. What the file declares of inner tensors is not used, because it may be stale.',
  versions: 'TensorRT up to 10; TensorRT-RTX 1.7 where a branch does not fit the shapes',
  issues: ['NVIDIA/TensorRT#1731', 'NVIDIA/TensorRT#2846', 'NVIDIA/TensorRT#4603'],
  operators: ['If', 'Squeeze', 'Identity', 'Unsqueeze', 'Reshape'],
  answers: /\bif\b|branch|reshape changes volume/i,
  apply: async (draft) => {
    const taken: string[] = [];
    for (const node of draft.nodes('If')) {
      if (taken.some((id) => node.id.startsWith(`${id}/`)) || !isOnlyInsideIfs(draft, node)) continue;
      // oxlint-disable-next-line no-await-in-loop
      const branch = await branchOf(draft, node);
      if (branch === null) {
        draft.refuse(node, 'its condition depends on values, or differs between the given shapes');
        continue;
      }
      const at = draft.at(node);
      // oxlint-disable-next-line no-await-in-loop
      const reason = await hoist(draft, at, { node, branch, outputs: node.outputs }, new Map([['', '']]));
      if (reason === null) {
        at.done(branch === 'then_branch' ? 'the condition is true' : 'the condition is false');
        taken.push(node.id);
      } else draft.refuse(node, reason);
    }
  },
};

/** Shapes can change from one iteration of a Loop or Scan to the next. */
const isOnlyInsideIfs = ({ subject }: RepairDraft, { id }: OnnxNode): boolean =>
  subject.model.nodes.every((outer) => outer.op === 'If' || !id.startsWith(`${outer.id}/`));

/** The attribute with the branch that is taken; null: not known. */
async function branchOf({ subject }: RepairDraft, node: OnnxNode): Promise<string | null> {
  const [condition = ''] = node.inputs;
  const value = (await subject.constant(node, condition))?.values[0] ?? subject.value(node, condition);
  return value === null ? null : value === 0 ? 'else_branch' : 'then_branch';
}

interface Taken {
  node: OnnxNode;
  branch: string;
  /** The names of what it gives, as they are now. */
  outputs: readonly string[];
}

const bodyOf = ({ subgraphs }: OnnxNode, branch: string): OnnxGraph | undefined =>
  subgraphs.find(({ attribute }) => attribute === branch)?.graph;

/** Writes the nodes of a branch, and those of decided branches in it. @param outer new names around it @returns why it cannot be done */
async function hoist(
  draft: RepairDraft,
  at: NewPlace,
  { node, branch, outputs }: Taken,
  outer: ReadonlyMap<string, string>,
): Promise<string | null> {
  const body = bodyOf(node, branch);
  if (!body) return 'a branch is missing';
  // What a subgraph that stays reads must keep its name.
  const kept = await readInside(draft, body);
  const made = new Set(body.nodes.flatMap((inner) => inner.outputs));
  const own = [...made, ...body.initializers.map(({ name }) => name)].filter((name) => kept.has(name));
  if (own.some((name) => draft.subject.graph.tensors.filter((tensor) => tensor.name === name).length > 1))
    return 'a subgraph of the branch reads a name that is used twice';
  const names = new Map([...outer, ...own.map((name) => [name, name] as const)]);
  if (!(await nameConstants(draft, body, at, names))) return 'a constant of the branch cannot be read';
  for (const [index, { name }] of body.outputs.entries())
    if (made.has(name) && !names.has(name) && outputs[index]) names.set(name, outputs[index]);
  const now = (name: string): string => names.get(name) ?? name;
  for (const inner of body.nodes) {
    for (const name of inner.outputs) if (!names.has(name)) names.set(name, at.name());
    // oxlint-disable-next-line no-await-in-loop
    const taken = inner.op === 'If' ? await branchOf(draft, inner) : null;
    if (taken === null) at.op(inner.op, inner.inputs.map(now), { outputs: inner.outputs.map(now), like: inner });
    else {
      // oxlint-disable-next-line no-await-in-loop
      const reason = await hoist(draft, at, { node: inner, branch: taken, outputs: inner.outputs.map(now) }, names);
      if (reason !== null) return reason;
    }
  }
  for (const [index, { name }] of body.outputs.entries()) {
    const output = outputs[index] ?? '';
    if (output !== '' && now(name) !== output) at.op('Identity', [now(name)], { outputs: [output] });
  }
  return null;
}

/** The names that subgraphs read which stay subgraphs when the branch is taken. */
async function readInside(draft: RepairDraft, body: OnnxGraph): Promise<Set<string>> {
  const found = new Set<string>();
  const all = (graph: OnnxGraph): void => {
    for (const { inputs, subgraphs } of graph.nodes) {
      for (const name of inputs) found.add(name);
      for (const inner of subgraphs) all(inner.graph);
    }
    for (const { name } of graph.outputs) found.add(name);
  };
  const open = [body];
  for (let graph = open.pop(); graph; graph = open.pop())
    for (const inner of graph.nodes) {
      // oxlint-disable-next-line no-await-in-loop
      const branch = inner.op === 'If' ? await branchOf(draft, inner) : null;
      const taken = branch === null ? undefined : bodyOf(inner, branch);
      if (taken) open.push(taken);
      else for (const { graph: stays } of inner.subgraphs) all(stays);
    }
  return found;
}

/** Adds the initializers of a branch to the model and their names to `names`. @returns false: one cannot be read */
async function nameConstants(
  draft: RepairDraft,
  body: OnnxGraph,
  at: NewPlace,
  names: Map<string, string>,
): Promise<boolean> {
  for (const { name } of body.initializers) {
    const reader = firstReader(body, name);
    // oxlint-disable-next-line no-await-in-loop
    const constant = reader ? await draft.subject.constant(reader, name) : null;
    if (constant && names.get(name) === name)
      draft.addInitializer(name, constant.type, constant.shape, constant.values);
    else if (constant) names.set(name, at.constant(constant.type, constant.shape, constant.values));
    else if (reader || body.outputs.some((output) => output.name === name)) return false;
  }
  return true;
}

/** A node that reads a name, in a graph or in what is in it. */
function firstReader(graph: OnnxGraph, name: string): OnnxNode | undefined {
  for (const node of graph.nodes) {
    if (node.inputs.includes(name)) return node;
    const inner = node.subgraphs.map((one) => firstReader(one.graph, name)).find(Boolean);
    if (inner) return inner;
  }
  return undefined;
}
