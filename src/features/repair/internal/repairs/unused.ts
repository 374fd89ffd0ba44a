import { intAttribute } from '../../../../kernel/read/onnx/onnxModel.ts';
import { isStandardDomain } from '../../../../kernel/network/modelGraph.ts';
import type { Repair } from '../repair.ts';

export const removeDeadNodes: Repair = {
  id: 'remove-dead-nodes',
  title: 'Remove rejected nodes that nothing reads',
  class: 'exact',
  rejected: 'An operator that TensorRT lacks, although its results are not used.',
  proof: 'No output of the model depends on these nodes. Only failing nodes.',
  versions: 'all',
  issues: [],
  apply: (draft) => {
    for (const node of draft.rest)
      if (draft.blocked.has(node.id) && !node.outputs.some((name) => draft.subject.isUsed(node, name)))
        draft.replace(node, []);
  },
};

const withExtraOutputs = new Set([
  'MaxPool',
  'Dropout',
  'BatchNormalization',
  'LayerNormalization',
  'SkipLayerNormalization',
]);

export const removeUnusedOutputs: Repair = {
  id: 'remove-unused-outputs',
  title: 'Remove optional outputs that nothing reads',
  class: 'exact',
  rejected: 'MaxPool, Dropout or BatchNormalization with a second output, although it is not used.',
  proof: 'Nothing reads these outputs.',
  versions: 'TensorRT 8.6 to 11.2, TensorRT-RTX 1.7',
  issues: [],
  apply: (draft) => {
    for (const node of draft.rest) {
      if (!withExtraOutputs.has(node.op) || !isStandardDomain(node.domain) || node.outputs.length < 2) continue;
      if (intAttribute(node, 'training_mode') === 1) continue;
      if (node.outputs.slice(1).some((name) => draft.subject.isUsed(node, name))) continue;
      const at = draft.at(node);
      at.op(node.op, node.inputs, { outputs: node.outputs.slice(0, 1), like: node });
      at.done();
    }
  },
};

/** Types that TensorRT takes for no input. */
const refused = new Set(['string', 'uint16', 'int16', 'uint32', 'uint64', 'complex64', 'complex128']);

export const removeUnusedInputs: Repair = {
  id: 'remove-unused-inputs',
  title: 'Remove inputs of a rejected type that nothing reads',
  class: 'signature',
  rejected: 'An input of a type that TensorRT lacks.',
  proof: 'No node reads it. Programs must no longer pass it.',
  versions: 'all',
  issues: [],
  answers: /data ?type|onnxDtype|DTYPE|type/i,
  apply: (draft) => {
    const { graph, model } = draft.subject;
    for (const { name, type } of model.graph.inputs) {
      const tensor = graph.tensors[graph.byName.get(name) ?? -1];
      if (!tensor || tensor.consumers.length > 0 || (type !== null && !refused.has(type))) continue;
      if (graph.graphOutputs.includes(graph.byName.get(name)!)) continue;
      draft.undeclare('inputs', name);
      draft.placeOf(name, 'input', `${type ?? 'not a tensor'}`);
    }
  },
};

const wider: Partial<Record<string, string>> = { uint16: 'int32', int16: 'int32', uint32: 'int64', uint64: 'int64' };

export const widenInputs: Repair = {
  id: 'widen-inputs',
  title: 'Declare integer inputs with a wider type',
  class: 'signature',
  rejected: 'Inputs of UINT16, INT16, UINT32 and UINT64.',
  proof:
    'The wider type holds every value, and only Cast reads the input, which gives the same for it. UINT64 beyond 2^63 is not representable.',
  versions: 'all',
  issues: [],
  answers: /data ?type|onnxDtype|DTYPE/i,
  apply: (draft) => {
    const { graph, model } = draft.subject;
    for (const { name, type, shape } of model.graph.inputs) {
      const to = wider[type ?? ''];
      const tensor = graph.tensors[graph.byName.get(name) ?? -1];
      if (to === undefined || tensor?.kind !== 'input' || tensor.consumers.length === 0) continue;
      if (!tensor.consumers.every((node) => graph.nodes[node]!.op === 'Cast')) continue;
      if (graph.graphOutputs.includes(graph.byName.get(name)!)) continue;
      draft.retype(name, to);
      draft.placeOf(name, 'input', `${type} → ${to}${shape ? '' : ''}`);
    }
  },
};

export const dropStringOutputs: Repair = {
  id: 'drop-string-outputs',
  title: 'Drop outputs that pass a text input through',
  class: 'signature',
  rejected: 'Inputs and outputs of strings.',
  proof: 'The output is the input itself, through Identity at most.',
  versions: 'all',
  issues: [],
  apply: (draft) => {
    const { model, graph } = draft.subject;
    for (const { name } of model.graph.outputs) {
      let tensor = graph.tensors[graph.byName.get(name) ?? -1];
      const passed = [];
      while (tensor && tensor.producer >= 0 && graph.nodes[tensor.producer]!.op === 'Identity') {
        passed.push(graph.nodes[tensor.producer]!);
        tensor = graph.tensors[graph.inputs[tensor.producer]![0] ?? -1];
      }
      if (tensor?.kind !== 'input' || tensor.value?.type !== 'string') continue;
      if (model.graph.outputs.length < 2) continue;
      draft.undeclare('outputs', name);
      draft.outputs.set(name, null);
      for (const node of passed) if (draft.subject.readers(node, node.outputs[0]!).length === 0) draft.remove(node);
      draft.placeOf(name, 'output');
    }
  },
};
