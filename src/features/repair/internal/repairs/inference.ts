import { dataTypeName, intAttribute } from '../../../../kernel/read/onnx/onnxModel.ts';
import type { Repair } from '../repair.ts';

export const dropoutInference: Repair = {
  id: 'dropout-inference',
  title: 'Switch Dropout from training to inference',
  class: 'meaning',
  rejected: 'Dropout in training mode.',
  proof: 'In inference Dropout passes its input on. The outputs are no longer random.',
  versions: 'all',
  issues: [],
  apply: async (draft) => {
    for (const node of draft.nodes('Dropout')) {
      // oxlint-disable-next-line no-await-in-loop
      const training = await draft.subject.constant(node, node.inputs[2]);
      if (training?.values[0] !== 1) continue;
      const at = draft.at(node);
      const [input, mask = ''] = [node.inputs[0]!, node.outputs[1]];
      if (mask !== '' && draft.subject.isUsed(node, mask)) {
        const same = at.op('Equal', [input, input]);
        at.op('Or', [same, at.scalar('bool', 1)], { outputs: [mask] });
      }
      at.op('Identity', [input], { outputs: [node.outputs[0]!] });
      at.done();
    }
  },
};

export const batchNormInference: Repair = {
  id: 'batch-norm-inference',
  title: 'Switch BatchNormalization from training to inference',
  class: 'meaning',
  rejected: 'BatchNormalization with training_mode 1.',
  proof:
    'In inference the stored mean and variance are used instead of those of the batch. Only where nothing reads the running statistics.',
  versions: 'all',
  issues: [],
  apply: (draft) => {
    for (const node of draft.nodes('BatchNormalization')) {
      if (intAttribute(node, 'training_mode') !== 1) continue;
      if (node.outputs.slice(1).some((name) => draft.subject.isUsed(node, name))) {
        draft.refuse(node, 'its running mean or variance is used');
        continue;
      }
      const at = draft.at(node);
      at.op('BatchNormalization', node.inputs, {
        outputs: node.outputs.slice(0, 1),
        like: node,
        attributes: { training_mode: { int: 0 } },
      });
      at.done();
    }
  },
};

export const bernoulliUniform: Repair = {
  id: 'bernoulli-uniform',
  title: 'Write Bernoulli as a comparison with uniform random numbers',
  class: 'meaning',
  rejected: 'Bernoulli.',
  proof: 'The numbers have the same distribution, but are other ones.',
  versions: 'all',
  issues: [],
  apply: (draft) => {
    for (const node of draft.nodes('Bernoulli')) {
      const type = draft.subject.type(node, node.inputs[0]!);
      const dtype = intAttribute(node, 'dtype');
      const to = dtype === undefined ? type : dataTypeName(dtype);
      if (to === null) continue;
      const at = draft.at(node);
      const drawn = at.op('RandomUniformLike', [node.inputs[0]!]);
      at.cast(at.op('Less', [drawn, node.inputs[0]!]), to, node.outputs);
      at.done();
    }
  },
};
