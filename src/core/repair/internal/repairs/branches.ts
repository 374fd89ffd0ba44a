import type { OnnxGraph, OnnxNode } from '../../../formats/onnx/onnxModel.ts';
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
    for (const node of draft.nodes('If')) {
      if (node.id.includes('/')) continue;
      // oxlint-disable-next-line no-await-in-loop
      const condition =
        (await draft.subject.constant(node, node.inputs[0]))?.values[0] ?? draft.subject.value(node, node.inputs[0]!);
      if (condition === null) {
        draft.refuse(node, 'its condition depends on values, or differs between the given shapes');
        continue;
      }
      // oxlint-disable-next-line no-await-in-loop
      await keep(draft, node, condition === 0 ? 'else_branch' : 'then_branch');
    }
  },
};

/** The nodes of one branch in the place of the If. */
async function keep(draft: RepairDraft, node: OnnxNode, branch: string): Promise<void> {
  const body = node.subgraphs.find(({ attribute }) => attribute === branch)?.graph;
  if (!body) return;
  if (body.nodes.some(({ subgraphs }) => subgraphs.length > 0))
    return draft.refuse(node, 'the branch has subgraphs of its own');
  const at = draft.at(node);
  const names = await constantsOf(draft, body, at);
  if (!names) return draft.refuse(node, 'a constant of the branch cannot be read');
  const made = new Set(body.nodes.flatMap(({ outputs }) => outputs));
  for (const [index, { name }] of body.outputs.entries())
    if (made.has(name) && !names.has(name) && node.outputs[index]) names.set(name, node.outputs[index]);
  const now = (name: string): string => names.get(name) ?? name;
  for (const inner of body.nodes) {
    for (const name of inner.outputs) if (name !== '' && !names.has(name)) names.set(name, at.name());
    at.op(inner.op, inner.inputs.map(now), { outputs: inner.outputs.map(now), like: inner });
  }
  for (const [index, { name }] of body.outputs.entries()) {
    const output = node.outputs[index] ?? '';
    if (output !== '' && now(name) !== output) at.op('Identity', [now(name)], { outputs: [output] });
  }
  at.done(branch === 'then_branch' ? 'the condition is true' : 'the condition is false');
}

/** New names of the initializers of a branch; null: one cannot be read. */
async function constantsOf(draft: RepairDraft, body: OnnxGraph, at: NewPlace): Promise<Map<string, string> | null> {
  const names = new Map<string, string>();
  for (const { name } of body.initializers) {
    const reader = body.nodes.find(({ inputs }) => inputs.includes(name));
    // oxlint-disable-next-line no-await-in-loop
    const constant = reader ? await draft.subject.constant(reader, name) : null;
    if (constant) names.set(name, at.constant(constant.type, constant.shape, constant.values));
    else if (reader || body.outputs.some((output) => output.name === name)) return null;
  }
  return names;
}
