import type { Repair } from '../../repair.ts';

export const splitIntegerProducts: Repair = {
  id: 'split-integer-products',
  title: 'Write MatMulIntegerToFloat and DynamicQuantizeMatMul in the ONNX operators that ONNX Runtime fused',
  class: 'rounding',
  rejected: 'MatMulIntegerToFloat and DynamicQuantizeMatMul of com.microsoft.',
  proof:
    'DynamicQuantizeLinear, MatMulInteger, Cast, Mul and Add in the order in which they were fused; ONNX Runtime may round the product with the scales differently.',
  versions: 'all',
  issues: ['microsoft/onnxruntime#21169'],
  apply: (draft) => {
    for (const node of draft.nodes('com.microsoft:MatMulIntegerToFloat', 'com.microsoft:DynamicQuantizeMatMul')) {
      const at = draft.at(node);
      let [a = '', aScale = '', aZero = ''] = [node.inputs[0], node.inputs[2], node.inputs[4]];
      let [bScale = '', bZero = '', bias = ''] = [node.inputs[3], node.inputs[5], node.inputs[6]];
      if (node.op === 'DynamicQuantizeMatMul') {
        [bScale = '', bZero = '', bias = ''] = node.inputs.slice(2);
        const outputs = [at.name(), at.name(), at.name()];
        at.op('DynamicQuantizeLinear', [a], { outputs });
        [a, aScale, aZero] = outputs as [string, string, string];
      }
      const inputs = [a, node.inputs[1]!, aZero, bZero];
      while (inputs.at(-1) === '') inputs.pop();
      const product = at.op('MatMulInteger', inputs);
      at.keepName();
      const scaled = [at.cast(product, 'float'), at.op('Mul', [aScale, bScale])];
      const result = at.op('Mul', scaled, bias === '' ? { outputs: node.outputs } : {});
      if (bias !== '') at.op('Add', [result, bias], { outputs: node.outputs });
      at.done();
    }
  },
};
