import { dataTypeNumber } from '../../../../kernel/read/onnx/onnxModel.ts';
import type { Repair } from '../repair.ts';

export const innerUint8: Repair = {
  id: 'inner-uint8',
  title: 'Compute what is cast to UINT8 and back in INT32',
  class: 'exact',
  rejected: 'UINT8 tensors inside of the network.',
  proof: 'Cast to INT32 and the remainder by 256 give the same integer. Only where nothing but Cast reads it.',
  versions: 'TensorRT 8.6 to 11.2, TensorRT-RTX 1.7',
  issues: [],
  operators: ['Cast'],
  apply: (draft) => {
    const { subject } = draft;
    for (const node of draft.nodes('Cast')) {
      const to = node.attributes.find(({ name }) => name === 'to')?.value;
      const [output = ''] = node.outputs;
      const readers = subject.readers(node, output);
      if (to !== dataTypeNumber('uint8') || subject.isOutput(node, output) || readers.length === 0) continue;
      if (!readers.every((reader) => subject.op(reader) === 'Cast')) {
        draft.refuse(node, 'something other than Cast reads its result');
        continue;
      }
      const at = draft.at(node);
      at.op('Mod', [at.cast(node.inputs[0]!, 'int32'), at.scalar('int32', 256)], { outputs: node.outputs });
      at.done();
    }
  },
};
