import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OnnxModel } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { checkOverrides } from '../../../../src/features/precision/checkOverrides.ts';
import { NodeIndex, resolveOverrides } from '../../../../src/kernel/rules/resolveOverrides.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';
import { modelFacts, targetOf } from '../../../../src/kernel/rules/buildFacts.ts';
import { planPrecision } from '../../../../src/kernel/rules/precisionPlan.ts';
import { planRewrite } from '../../../../src/features/precision/planRewrite.ts';
import { layerRequests } from '../../../../src/features/precision/importPrecision.ts';
import { keepInfo } from '../../../../src/shell/server/requests.ts';
import { buildModel, type ShortNode } from '../../kernel/fusion/buildModel.ts';
import { modelOf } from '../../kernel/fusion/loadCapture.ts';
import { overrides } from '../../shell/server/serverFixtures.ts';

/** Floating-point arithmetic on positions: what reads one tensor, what also reads a constant. */
const unary = ['Cos', 'Sin', 'Neg', 'Sqrt', 'Floor', 'Identity'] as const;
const binary = ['Mul', 'Add', 'Pow', 'Div'] as const;

/** Position → floats by random operators → data (multiplied with the input) or a shape. */
function positions(operators: string[], use: 'data' | 'shape'): OnnxModel {
  const nodes: ShortNode[] = [
    ['shape', 'Shape', ['x'], ['dims']],
    ['length', 'Gather', ['dims', 'one'], ['length']],
    ['range', 'Range', ['zero', 'length', 'one'], ['positions']],
    ['cast', 'Cast', [use === 'data' ? 'positions' : 'length'], ['f0']],
  ];
  operators.forEach((op, i) =>
    nodes.push([`p${i}`, op, unary.includes(op as (typeof unary)[number]) ? [`f${i}`] : [`f${i}`, 'c'], [`f${i + 1}`]]),
  );
  const last = `f${operators.length}`;
  if (use === 'data') nodes.push(['turn', 'Mul', ['x', last], ['y']]);
  else nodes.push(['back', 'Cast', [last], ['size']], ['resize', 'Reshape', ['x', 'size'], ['y']]);
  const model = buildModel({ inputs: { x: [1, 'n'] }, outputs: ['y'], initializers: ['zero', 'one', 'c'], nodes });
  for (const tensor of model.graph.initializers) if (tensor.name !== 'c') tensor.type = 'int64';
  for (const node of model.nodes) {
    if (node.name === 'cast') node.attributes.push({ name: 'to', kind: 'int', value: 1 });
    if (node.name === 'back') node.attributes.push({ name: 'to', kind: 'int', value: 7 });
  }
  return model;
}

const chain = fc.array(fc.constantFrom(...unary.filter((op) => op !== 'Identity'), ...binary), {
  minLength: 1,
  maxLength: 6,
});

/** A rule for one node of a model, everywhere where it has to arrive. */
function arrivals(model: OnnxModel, name: string) {
  const facts = modelFacts(model, 'model.onnx');
  const index = new NodeIndex(facts);
  const file = readOverrides(`base fp16\n${JSON.stringify(name)} fp32\n`);
  const resolution = resolveOverrides(file, index, null);
  const plan = planPrecision(file, index, resolution);
  const rewrite = planRewrite(model, plan);
  const { problems } = checkOverrides(file, index, null, targetOf('tensorrt', '10.6', null));
  const { analysis } = overrides('', facts);
  const { id } = model.nodes.find((node) => node.name === name)!;
  return {
    problems: problems.map(({ code }) => code),
    messages: problems.map(({ message }) => message).join('\n'),
    flags: layerRequests(plan).layerPrecisions.some((spec) => spec.name === name && spec.type === 'fp32'),
    apply: rewrite.nodes.some((node) => node.name === name && node.asked && node.type === 'float'),
    keep: keepInfo(analysis, { uri: 'a.trtprec', nodes: [id], type: 'fp32' }).text.includes(name),
  };
}

describe('a rule on a node that computes with positions', () => {
  test('reaches flags, apply and Keep in FP32 where its floats are data', () => {
    fc.assert(
      fc.property(chain, (operators) => {
        const model = positions(operators, 'data');
        for (const [i] of operators.entries())
          expect(arrivals(model, `p${i}`)).toMatchObject({ problems: [], flags: true, apply: true, keep: true });
      }),
      { numRuns: 60 },
    );
  });

  test('is left out where they make a shape, with a reason that speaks of no integers', () => {
    fc.assert(
      fc.property(chain, (operators) => {
        const model = positions(operators, 'shape');
        const found = arrivals(model, 'p0');
        expect(found).toMatchObject({ problems: ['shape-node'], flags: false, apply: false, keep: false });
        expect(found.messages).not.toMatch(/integer/);
      }),
      { numRuns: 30 },
    );
  });
});

test('a rule on an engine that ONNX Runtime keeps in the model does not arrive', () => {
  const model = buildModel({ inputs: { x: [1] }, outputs: ['y'], nodes: [['part', 'EPContext', ['x'], ['y']]] });
  expect(arrivals(model, 'part')).toMatchObject({ problems: [], keep: true });
  model.nodes[0]!.domain = 'com.microsoft';
  expect(arrivals(model, 'part')).toMatchObject({ problems: ['engine-node'], flags: false, apply: false, keep: false });
});

test('rotary embeddings of llama_tiny: the rules for them arrive', async () => {
  const model = (await modelOf('llama_tiny'))!;
  for (const name of ['Mul', 'Concat', 'Cos', 'Mul_1', 'Sin', 'Mul_2'])
    expect(arrivals(model, `/lm/model/rotary_emb/${name}`)).toMatchObject({ flags: true, apply: true, keep: true });
});
