import type { OnnxNode } from '../../../../../kernel/read/onnx/onnxModel.ts';
import type { RepairDraft } from '../../draft.ts';
import type { Repair } from '../../repair.ts';

export const indexTexts: Repair = {
  id: 'index-texts',
  title: 'Take the index of a text instead of the text',
  class: 'signature',
  rejected: 'Inputs of strings that LabelEncoder and OneHotEncoder turn into numbers.',
  proof:
    'Each text that the model knows has an index, any other one −1. The list of texts is in the metadata of the model (trtlens.texts); programs look them up before the engine. Only where nothing else works on the texts.',
  versions: 'all',
  issues: [],
  answers: /string/i,
  apply: async (draft) => {
    const { model } = draft.subject;
    const inputs = model.graph.inputs.filter(({ name, type }) => type === 'string' && isRead(draft, name));
    if (inputs.length === 0) return;
    const encoders = encodersOf(
      draft,
      inputs.map(({ name }) => name),
    );
    if (!encoders) return;
    const lists = new Map<OnnxNode, string[]>();
    // oxlint-disable-next-line no-await-in-loop
    for (const node of encoders) lists.set(node, await textsOf(draft, node));
    const texts = [...new Set([...lists.values()].flat())];
    const index = new Map(texts.map((text, at) => [text, at]));
    for (const [node, list] of lists) {
      const numbers = list.map((text) => index.get(text)!);
      const name = node.op === 'OneHotEncoder' ? 'cats_int64s' : 'keys_int64s';
      const attributes = node.attributes.filter((one) => !own.has(one.name));
      const at = draft.at(node);
      at.op(node.op, node.inputs, {
        outputs: node.outputs,
        domain: node.domain,
        like: { ...node, attributes },
        attributes: { [name]: { ints: numbers } },
      });
      at.done();
    }
    for (const { name } of inputs) {
      draft.retype(name, 'int64');
      draft.placeOf(name, 'input', `string → int64, 0 is ${texts[0]}, ${texts.length - 1} is ${texts.at(-1)}`);
    }
    draft.texts = texts;
  },
};

const own = new Set(['keys_strings', 'cats_strings', 'keys_tensor']);

const isRead = ({ subject: { graph } }: RepairDraft, name: string): boolean =>
  (graph.tensors[graph.byName.get(name) ?? -1]?.consumers.length ?? 0) > 0;

const movers = new Set(
  'Identity Reshape Squeeze Unsqueeze Flatten Transpose Gather Slice Split Concat ai.onnx.ml:ArrayFeatureExtractor'.split(
    ' ',
  ),
);
const encoding = new Set(['ai.onnx.ml:LabelEncoder', 'ai.onnx.ml:OneHotEncoder']);

/** The nodes that turn texts into numbers; null: something else reads a text. */
function encodersOf({ subject }: RepairDraft, inputs: readonly string[]): Set<OnnxNode> | null {
  const { graph } = subject;
  const texts = new Set(inputs);
  const found = new Set<OnnxNode>();
  if (graph.graphOutputs.some((tensor) => texts.has(graph.tensors[tensor]!.name))) return null;
  const open = [...inputs];
  for (let name = open.pop(); name !== undefined; name = open.pop())
    for (const reader of graph.tensors[graph.byName.get(name) ?? -1]?.consumers ?? []) {
      const node = graph.nodes[reader]!;
      const op = subject.op(node);
      if (encoding.has(op)) found.add(node);
      else if (!movers.has(op)) return null;
      else
        for (const output of node.outputs) {
          if (subject.isOutput(node, output)) return null;
          if (!texts.has(output)) open.push(output);
          texts.add(output);
        }
    }
  // What is put next to a text must be one of these texts, too.
  const joins = graph.nodes.filter((node) => node.op === 'Concat' && texts.has(node.outputs[0]!));
  return joins.every((node) => node.inputs.every((name) => texts.has(name))) ? found : null;
}

async function textsOf({ subject }: RepairDraft, node: OnnxNode): Promise<string[]> {
  const name = node.op === 'OneHotEncoder' ? 'cats_strings' : 'keys_strings';
  const { strings = [] } = (await subject.lists(node, name)) ?? {};
  return strings.length > 0 ? strings : ((await subject.attributeStrings(node, 'keys_tensor')) ?? []);
}
