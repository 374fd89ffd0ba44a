import { intAttribute, type OnnxNode } from '../../../../../kernel/read/onnx/onnxModel.ts';
import type { RepairDraft } from '../../draft.ts';
import type { NewPlace } from '../../place.ts';
import type { Repair } from '../../repair.ts';

const issues = ['NVIDIA/TensorRT#1515', 'microsoft/onnxruntime#10905'];
const versions = 'all';
const contrib = 'Operators of com.microsoft, into which ONNX Runtime fuses nodes when it saves an optimized model.';

/** LayerNormalization over the last axis, or without it the nodes that it stands for. */
function normalized(
  at: NewPlace,
  input: string,
  {
    type,
    gamma,
    beta,
    epsilon,
    simplified,
  }: { type: string; gamma: string; beta: string; epsilon: number; simplified: boolean },
  outputs: readonly string[],
): void {
  if (!simplified && at.subject.opset >= 17) {
    const attributes = { axis: { int: -1 }, epsilon: { float: epsilon } };
    at.op('LayerNormalization', [input, gamma, ...(beta ? [beta] : [])], { attributes, outputs });
    return;
  }
  const centered = simplified ? input : at.op('Sub', [input, at.reduce('ReduceMean', input, [-1], true)]);
  const variance = at.reduce('ReduceMean', at.op('Mul', [centered, centered]), [-1], true);
  const root = at.op('Sqrt', [at.op('Add', [variance, at.scalar(type, epsilon)])]);
  const scaled = at.op('Mul', [at.op('Div', [centered, root]), gamma], beta ? {} : { outputs });
  if (beta) at.op('Add', [scaled, beta], { outputs });
}

export const skipLayerNormalization: Repair = {
  id: 'skip-layer-normalization',
  title: 'Write SkipLayerNormalization as Add and LayerNormalization',
  class: 'rounding',
  rejected: contrib,
  proof: 'Add and LayerNormalization in the same precision; sums may be in another order.',
  versions,
  issues,
  apply: (draft) => {
    for (const node of draft.nodes(
      'com.microsoft:SkipLayerNormalization',
      'com.microsoft:SkipSimplifiedLayerNormalization',
    )) {
      const simplified = node.op === 'SkipSimplifiedLayerNormalization';
      const [input = '', skip = '', gamma = '', fourth = '', fifth = ''] = node.inputs;
      const [beta, bias] = simplified ? ['', fourth] : [fourth, fifth];
      if (node.outputs.slice(1, 3).some((name) => draft.subject.isUsed(node, name))) {
        draft.refuse(node, 'its mean or variance is used');
        continue;
      }
      const type = draft.subject.type(node, input) ?? 'float';
      const at = draft.at(node);
      const sum = at.op('Add', [input, skip]);
      const whole = bias ? at.op('Add', [sum, bias]) : sum;
      const summed = node.outputs[3] ?? '';
      if (summed !== '') at.op('Identity', [whole], { outputs: [summed] });
      normalized(
        at,
        whole,
        { type, gamma, beta, epsilon: numberOf(node, 'epsilon', 1e-12), simplified },
        node.outputs.slice(0, 1),
      );
      at.done();
    }
  },
};

const numberOf = (node: OnnxNode, name: string, usual: number): number => intAttribute(node, name) ?? usual;

export const embedLayerNormalization: Repair = {
  id: 'embed-layer-normalization',
  title: 'Write EmbedLayerNormalization as Gather, Add and LayerNormalization',
  class: 'rounding',
  rejected: contrib,
  proof: 'The same sums of embeddings; the normalization may add in another order.',
  versions,
  issues,
  apply: (draft) => {
    for (const node of draft.nodes('com.microsoft:EmbedLayerNormalization')) embed(draft, node);
  },
};

function embed(draft: RepairDraft, node: OnnxNode): void {
  const [ids = '', segments = '', words = '', positions = '', segmentTable = '', gamma = '', beta = ''] = node.inputs;
  const [mask = '', given = ''] = node.inputs.slice(7);
  if (mask !== '' || draft.subject.isUsed(node, node.outputs[1] ?? ''))
    return draft.refuse(node, 'it also computes indices of a mask');
  const type = draft.subject.type(node, words) ?? 'float';
  const at = draft.at(node);
  const number = (value: number): string => at.scalar('int64', value);
  const counted = (): string => at.op('Range', [number(0), at.gather(at.op('Shape', [ids]), number(1), 0), number(1)]);
  let sum = at.op('Add', [at.gather(words, ids, 0), at.gather(positions, given || counted(), 0)]);
  if (segmentTable !== '' && segments !== '') sum = at.op('Add', [sum, at.gather(segmentTable, segments, 0)]);
  const summed = node.outputs[2] ?? '';
  if (summed !== '') at.op('Identity', [sum], { outputs: [summed] });
  const epsilon = numberOf(node, 'epsilon', 1e-12);
  normalized(at, sum, { type, gamma, beta, epsilon, simplified: false }, node.outputs.slice(0, 1));
  at.done();
}

export const geluOperators: Repair = {
  id: 'gelu-operators',
  title: 'Write FastGelu, BiasGelu and QuickGelu in ONNX operators',
  class: 'rounding',
  rejected: contrib,
  proof: 'The formula that each operator documents, in the same precision.',
  versions,
  issues,
  apply: (draft) => {
    for (const node of draft.nodes(
      'com.microsoft:FastGelu',
      'com.microsoft:BiasGelu',
      'com.microsoft:QuickGelu',
      'com.microsoft:Gelu',
    )) {
      const type = draft.subject.type(node, node.inputs[0]!) ?? 'float';
      const at = draft.at(node);
      const number = (value: number): string => at.scalar(type, value);
      const [input = '', bias = ''] = node.inputs;
      const x = bias === '' || node.op === 'QuickGelu' ? input : at.op('Add', [input, bias]);
      if (node.op === 'QuickGelu') {
        const gate = at.op('Sigmoid', [at.op('Mul', [x, number(numberOf(node, 'alpha', 1.702))])]);
        at.op('Mul', [x, gate], { outputs: node.outputs });
      } else if (node.op === 'FastGelu') {
        const cube = at.op('Mul', [at.op('Mul', [x, x]), x]);
        const inner = at.op('Mul', [
          at.op('Add', [x, at.op('Mul', [cube, number(0.044715)])]),
          number(Math.sqrt(2 / Math.PI)),
        ]);
        const gate = at.op('Add', [at.op('Tanh', [inner]), number(1)]);
        at.op('Mul', [at.op('Mul', [x, gate]), number(0.5)], { outputs: node.outputs });
      } else {
        const gate = at.op('Add', [at.op('Erf', [at.op('Div', [x, number(Math.SQRT2)])]), number(1)]);
        at.op('Mul', [at.op('Mul', [x, gate]), number(0.5)], { outputs: node.outputs });
      }
      at.done();
    }
  },
};
