import { isStandardDomain } from '../../../../kernel/network/modelGraph.ts';
import type { OnnxAttribute, OnnxFunction, OnnxNode } from '../../../../kernel/read/onnx/onnxModel.ts';
import type { NewAttribute } from '../../../../kernel/read/onnx/writeModel.ts';
import type { RepairDraft } from '../draft.ts';
import type { Repair } from '../repair.ts';

export const inlineFailingCalls: Repair = {
  id: 'inline-functions',
  title: 'Write the nodes of local functions in the place of their calls',
  class: 'exact',
  rejected: 'A call of a local function with an operator in its body that must be repaired itself.',
  proof:
    'A call is defined as its body. Only calls that fail; bodies with subgraphs or with another version of the operator set are refused.',
  versions: 'all',
  issues: [],
  apply: (draft) => {
    const functions = new Map(
      draft.subject.model.functions.map((one) => [`${one.domain}:${one.name}:${one.overload}`, one]),
    );
    for (const node of draft.rest) {
      const called = functions.get(`${node.domain}:${node.op}:${node.overload ?? ''}`);
      if (called && draft.blocked.has(node.id)) inline(draft, node, called);
    }
  },
};

function inline(draft: RepairDraft, node: OnnxNode, { inputs, outputs, nodes, opsets = [] }: OnnxFunction): void {
  const own = opsets.find(({ domain }) => isStandardDomain(domain))?.version;
  if (own !== undefined && own !== draft.subject.opset) return draft.refuse(node, 'its function uses another opset');
  if (nodes.some(({ subgraphs }) => subgraphs.length > 0)) return draft.refuse(node, 'its function has subgraphs');
  const at = draft.at(node);
  const names = new Map<string, string>([['', '']]);
  for (const [index, name] of inputs.entries()) names.set(name, node.inputs[index] ?? '');
  for (const [index, name] of outputs.entries()) if (node.outputs[index]) names.set(name, node.outputs[index]);
  const made = new Set(nodes.flatMap((inner) => inner.outputs));
  for (const inner of nodes) {
    for (const name of inner.outputs) if (!names.has(name)) names.set(name, at.name());
    const attributes = given(inner, node);
    if (!attributes) return draft.refuse(node, 'an attribute of its call cannot be passed on');
    at.op(
      inner.op,
      inner.inputs.map((name) => names.get(name) ?? name),
      {
        outputs: inner.outputs.map((name) => names.get(name)!),
        like: { ...inner, attributes: inner.attributes.filter(({ reference }) => reference === undefined) },
        attributes,
      },
    );
  }
  // An output that is an input of the function, unchanged.
  for (const [index, name] of outputs.entries())
    if (!made.has(name) && node.outputs[index])
      at.op('Identity', [node.inputs[inputs.indexOf(name)] ?? ''], { outputs: [node.outputs[index]] });
  at.done();
}

/** The attributes that the body takes from the call; null: one is of a kind that cannot be written. */
function given(inner: OnnxNode, call: OnnxNode): Record<string, NewAttribute> | null {
  const attributes: Record<string, NewAttribute> = {};
  for (const { name, reference } of inner.attributes) {
    if (reference === undefined) continue;
    const found = call.attributes.find((one) => one.name === reference);
    if (!found) continue;
    const value = valueOf(found);
    if (!value) return null;
    attributes[name] = value;
  }
  return attributes;
}

function valueOf({ kind, value, count }: OnnxAttribute): NewAttribute | null {
  if (count !== undefined) return null;
  if (kind === 'float') return { float: value as number };
  if (kind === 'int') return { int: value as number };
  if (kind === 'string') return { string: value as string };
  if (kind === 'ints') return { ints: value as number[] };
  return kind === 'floats' ? { floats: value as number[] } : null;
}
