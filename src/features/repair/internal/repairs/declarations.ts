import { isStandardDomain } from '../../../../kernel/network/modelGraph.ts';
import type { OnnxNode, OnnxValue } from '../../../../kernel/read/onnx/onnxModel.ts';
import type { RepairDraft } from '../draft.ts';
import type { Repair } from '../repair.ts';

export const denseInitializers: Repair = {
  id: 'dense-initializers',
  title: 'Store sparse initializers as dense ones',
  class: 'exact',
  rejected: 'Sparse initializers.',
  proof: 'The same values with zeros in between.',
  versions: 'all',
  issues: [],
  answers: /was not registered|sparse/i,
  apply: async (draft) => {
    for (const tensor of draft.subject.model.graph.initializers) {
      if (!tensor.sparse) continue;
      // oxlint-disable-next-line no-await-in-loop
      const values = await draft.subject.sparse(tensor);
      if (!values) continue;
      draft.removeInitializer('', tensor.name);
      draft.addInitializer(tensor.name, tensor.type, tensor.shape, values);
      draft.placeOf(tensor.name, 'initializer');
    }
  },
};

export const renameDimensions: Repair = {
  id: 'rename-dimensions',
  title: 'Leave dimensions open whose names are not identifiers',
  class: 'exact',
  rejected: 'Symbolic dimensions such as "?" or "-1", which TensorRT takes for expressions.',
  proof: 'A dimension without a name is as open as one with a name.',
  versions: 'all',
  issues: [],
  answers: /dim(?:ension)?_?param|symbolic|dimension|identifier|profile/i,
  apply: (draft) => {
    const { graph } = draft.subject.model;
    for (const list of ['inputs', 'outputs'] as const)
      for (const value of graph[list]) {
        if (value.type === null || !value.shape?.some((dim) => typeof dim === 'string' && !isName(dim))) continue;
        draft.reshape(list, declared(value));
        draft.placeOf(value.name, list === 'inputs' ? 'input' : 'output');
      }
  },
};

const isName = (dim: string): boolean => /^[A-Za-z_][\w.]*$/.test(dim);

const declared = ({ name, type, shape }: OnnxValue) => ({
  name,
  newType: type!,
  shape: shape!.map((dim) => (typeof dim === 'string' && !isName(dim) ? null : dim)),
});

const floats = new Set(['float16', 'bfloat16', 'float', 'double']);
/** Operators whose inputs need not be of one type. */
const mixable = new Set(
  (
    'Cast CastLike Resize TopK QuantizeLinear DequantizeLinear If Loop Scan Reshape Expand Slice Unsqueeze Squeeze Tile ' +
    'Gather GatherND GatherElements Pad ConstantOfShape Range OneHot Clip LayerNormalization'
  ).split(' '),
);

export const castMixedTypes: Repair = {
  id: 'cast-mixed-types',
  title: 'Cast the inputs of nodes that mix FP16 and FP32 to FP32',
  class: 'meaning',
  rejected: 'An operator whose inputs have different floating-point types, which ONNX does not allow.',
  proof:
    'The model is invalid, so there is nothing to compare with: the wider type is taken, and outputs keep the types that the model declares.',
  versions: 'all',
  issues: ['microsoft/onnxruntime#6501', 'microsoft/onnxruntime#11245'],
  answers: /type/i,
  apply: (draft) => {
    for (const node of draft.rest) if (isStandardDomain(node.domain) && !mixable.has(node.op)) mixed(draft, node);
  },
};

function mixed(draft: RepairDraft, node: OnnxNode): void {
  const { subject } = draft;
  if (node.subgraphs.length > 0) return;
  const types = node.inputs.map((name) => (name === '' ? null : subject.type(node, name)));
  const own = new Set(types.filter((type) => type !== null && floats.has(type)));
  if (own.size < 2 || node.op === 'Pow' || node.op === 'Where') return;
  const outputType = subject.type(node, node.outputs[0]!);
  const at = draft.at(node);
  const inputs = node.inputs.map((name, index) =>
    types[index] !== null && floats.has(types[index]!) && types[index] !== 'float' ? at.cast(name, 'float') : name,
  );
  // What follows gets the type that it had, as far as it is known.
  const back = outputType !== null && floats.has(outputType) && outputType !== 'float' && node.outputs.length === 1;
  const made = at.op(node.op, inputs, { like: node, ...(!back && { outputs: node.outputs }) });
  at.keepName();
  if (back) at.cast(made, outputType, node.outputs);
  at.done();
}
