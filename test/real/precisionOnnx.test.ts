import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { fillWeights } from '../../src/kernel/node/files/fillWeights.ts';
import type { RewrittenModel } from '../../src/features/precision/node/rewriteModel.ts';
import { readModel } from '../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { UserError } from '../../src/kernel/node/files/userError.ts';
import type { OnnxNode } from '../../src/kernel/read/onnx/onnxModel.ts';
import { halfSince } from '../../src/kernel/rules/opTypes.ts';
import { followsType, outputFollows, readsAnyType, typingOf } from '../../src/kernel/rules/precisionPlan.ts';
import { readOverrides } from '../../src/kernel/rules/readOverrides.ts';
import type { RewriteOptions } from '../../src/features/precision/planRewrite.ts';
import { fixturePath, modelPath } from '../support/fixtures.ts';
import { type ModelAnswer, type ModelJob, pythonForTests, type PythonTools } from '../support/python.ts';
import { randomModel } from '../support/randomModel.ts';
import { rewriteWithRules } from '../support/rewriteWithRules.ts';
import { temporaryFolder } from '../support/rtx.ts';

let python: PythonTools;
const folder = temporaryFolder();
let written = 0;

beforeAll(async () => {
  python = await pythonForTests();
});

function rewrite(model: string, rules: string, options: RewriteOptions = {}): Promise<RewrittenModel> {
  const file = readOverrides(rules);
  expect(file.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return rewriteWithRules(model, rules, join(folder, `${written++}`, basename(model)), options);
}

const pathOf = ({ files }: RewrittenModel): string => files[0]!.path;

/** Whether rules take a node out of INT8: what it reads is neither rounded nor clipped by a pair any more. */
async function readsAroundPairs(model: string, { rewrite: { inputs, casts } }: RewrittenModel): Promise<boolean> {
  const { value } = await readModel(bytesOf(readFileSync(model)));
  const producer = new Map(value!.nodes.flatMap(({ op, outputs }) => outputs.map((output) => [output, op])));
  const nodes = new Map(value!.nodes.map((node) => [node.id, node]));
  return inputs.some(({ node, index, tensor }) => {
    const old = nodes.get(node)?.inputs[index] ?? '';
    const source = casts.find(({ output }) => output === tensor)?.input ?? tensor;
    return producer.get(old) === 'DequantizeLinear' && source !== old;
  });
}

async function answersOf(jobs: ModelJob[]): Promise<Map<ModelJob, ModelAnswer>> {
  const answers = await python.check(jobs);
  return new Map(jobs.map((job, i) => [job, answers[i]!]));
}

test('which operator takes which type, in every opset: as ONNX defines it', async () => {
  const wrong: string[] = [];
  const left = new Set<string>();
  let compared = 0;
  for (const { op, opset, inputs, outputs } of await python.operatorTypes()) {
    const node: OnnxNode = {
      id: '0',
      name: '',
      op,
      domain: '',
      inputs: inputs.map(() => 'x'),
      outputs: outputs.map(() => 'y'),
      attributes: [],
      subgraphs: [],
      metadata: [],
    };
    const hasGraphs = ['If', 'Loop', 'Scan', 'SequenceMap'].includes(op);
    if (hasGraphs || readsAnyType(node)) continue;
    if (typingOf(node, ['float'], new Set()) === 'fixed') {
      left.add(op);
      continue;
    }
    const own = [
      ...inputs.filter((types, i) => types?.includes('float') && followsType(node, i)),
      ...outputs.filter((types, i) => types?.includes('float') && outputFollows(node, i)),
    ];
    if (own.length === 0) continue;
    for (const type of ['float16', 'bfloat16'] as const) {
      const says = halfSince(op, '', type) <= opset;
      const may = own.every((types) => types?.includes(type));
      compared++;
      // Its own definition adds single-precision constants to what it takes on paper.
      if (op === 'MeanVarianceNormalization') expect(says).toBe(false);
      else if (says !== may) wrong.push(`${op} ${opset} ${type}: ${says ? 'taken' : 'not taken'}`);
    }
  }
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(compared).toBeGreaterThan(4000);
  expect([...left].filter((op) => !/Random|uantize|Sequence|Optional|Window|QLinear|Integer|Cast/.test(op))).toEqual([
    'Bernoulli',
    'Constant',
    'ConstantOfShape',
    'EyeLike',
    'ImageDecoder',
    'MelWeightMatrix',
    'Multinomial',
    'RegexFullMatch',
    'StringSplit',
    'TfIdfVectorizer',
  ]);
});

/** ONNX Runtime's CPU provider lacks these, which says nothing of the model. */
const missingInRuntime = /MLFloat16 data type is not supported with Scatter(Elements|ND) opset/;

test('every operator of ONNX, in its own test models: valid in FP16 and BF16, and still running', async () => {
  const source = join(folder, 'operators');
  mkdirSync(source);
  const names = await python.operatorModels(source);
  expect(names.length).toBeGreaterThan(1000);
  const jobs: (ModelJob & { before: string; rules: string })[] = [];
  const refused: string[] = [];
  for (const [i, name] of names.entries()) {
    const model = join(source, `${name}.onnx`);
    for (const rules of ['base fp16', 'base bf16', ...(i % 5 === 0 ? ['** fp16 -> fp32'] : [])]) {
      try {
        const made = await rewrite(model, rules);
        if (made.rewrite.casts.length === 0 && made.rewrite.initializers.length === 0) continue;
        jobs.push({
          model: pathOf(made),
          run: true,
          reference: rules.includes('bf16'),
          against: model,
          before: model,
          rules,
        });
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        refused.push(error.message);
      }
    }
  }
  expect(refused.filter((message) => !/(BF16 needs opset 13|Casts need opset 6) or later/.test(message))).toEqual([]);
  expect(jobs.length).toBeGreaterThan(1000);
  const before = await answersOf([...new Set(jobs.map((job) => job.before))].map((model) => ({ model, run: true })));
  const original = new Map([...before].map(([{ model }, answer]) => [model, answer]));
  const wrong: string[] = [];
  let ran = 0;
  for (const [job, after] of await answersOf(jobs)) {
    const { checked, ran: could, inputs, declared } = original.get((job as (typeof jobs)[0]).before)!;
    const what = `${basename(job.model)} ${(job as (typeof jobs)[0]).rules}`;
    if (checked === true && after.checked !== true) wrong.push(`${what}: ${after.checked}`);
    if (could === true && after.ran !== true && !missingInRuntime.test(after.ran!)) wrong.push(`${what}: ${after.ran}`);
    if (after.ran === true) ran++;
    expect([what, after.inputs, after.declared]).toEqual([what, inputs, declared]);
  }
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(ran).toBeGreaterThan(700);
});

describe('captured models', () => {
  const all = readdirSync(modelPath('x').replace(/x\.onnx$/, '')).filter((name) => name.endsWith('.onnx'));
  const shapes = { input_ids: [1, 16], attention_mask: [1, 16] };

  test.each(all)('%s passes the checker in every mixture, and runs', async (name) => {
    const model = await fillWeights(modelPath(name.replace('.onnx', '')));
    const large = /deep_encoder|bert/.test(name);
    const mixtures: [string, RewriteOptions, number][] = [
      ['base fp16', {}, 0.1],
      ['base fp16\nop:Softmax, op:LayerNormalization, op:ReduceMean, op:Conv fp32', { grow: true }, 0.1],
      ['base fp16', { io: 'follow' }, 0.1],
      ['base bf16\nop:MatMul, op:Conv fp32', {}, 0.3],
      ['** fp32', {}, 0.1],
    ];
    const jobs: ModelJob[] = [{ model, run: !large, shapes }];
    let around = false;
    for (const [rules, options] of large ? mixtures.slice(0, 2) : mixtures) {
      const made = await rewrite(model, rules, options);
      const path = pathOf(made);
      around = await readsAroundPairs(model, made);
      // BF16 is for GPUs: ONNX Runtime's CPU provider has next to nothing in it.
      jobs.push({ model: path, run: !large && !rules.includes('bf16'), shapes, against: model });
    }
    const [before, ...after] = [...(await answersOf(jobs)).values()];
    // A custom operator runs nowhere: ONNX Runtime has none of it.
    const known = name !== 'unsupported_op.onnx';
    expect(before).toMatchObject({ checked: true, ...(!large && { ran: known ? true : expect.any(String) }) });
    for (const [i, answer] of after.entries()) {
      const what = mixtures[i]![0];
      expect([what, answer.checked]).toEqual([what, true]);
      if (before!.ran === true && answer.ran !== undefined) expect([what, answer.ran]).toEqual([what, true]);
      if (mixtures[i]![1].io === 'follow') continue;
      expect([answer.inputs, answer.declared]).toEqual([before!.inputs, before!.declared]);
    }
    if (!known || large || around) return;
    const exact = name.includes('fp16') ? 0.1 : 0;
    for (const { error = 0, largest = 0 } of Object.values(after.at(-1)!.outputs!))
      expect(error).toBeLessThanOrEqual(exact * largest);
  });
});

describe('fp16_overflow: what FP16 breaks', () => {
  const kept =
    '/layers.1/attn/qk/MatMul, /layers.1/attn/scale/Mul, /layers.3/ffn/down/**, /layers.3/add_ffn/Add, /final_norm/** fp32';

  test.each([false, true])(
    'all in FP16 gives no number, the kept nodes in FP32 repair it (reference: %s)',
    async (reference) => {
      const model = modelPath('fp16_overflow');
      const half = await rewrite(model, 'base fp16');
      const mixed = await rewrite(model, `base fp16\n${kept}`);
      const grown = await rewrite(model, `base fp16\n${kept}`, { grow: true });
      const wide = await rewrite(model, 'base bf16');
      expect(half.rewrite.counts).toMatchObject({ byType: { float: 0, float16: 207, bfloat16: 0 } });
      expect(mixed.rewrite.counts).toMatchObject({ casts: 11, byType: { float: 14, float16: 193, bfloat16: 0 } });
      const job = { run: true, against: model, reference, optimized: true };
      const [broken, repaired, same] = await python.check(
        [half, mixed, grown].map((one) => ({ model: pathOf(one), ...job })),
      );
      expect(broken).toMatchObject({ checked: true, ran: true, outputs: { y: { type: 'float32', finite: false } } });
      for (const answer of [repaired, same]) {
        expect(answer).toMatchObject({ checked: true, ran: true, outputs: { y: { type: 'float32', finite: true } } });
        expect(answer!.outputs!['y']!.error!).toBeLessThan(0.01);
      }
      // BF16 has FP32's range: it needs no islands.
      const [brain] = await python.check([{ model: pathOf(wide), run: true, against: model, reference: true }]);
      expect(brain).toMatchObject({ checked: true, ran: true, outputs: { y: { finite: true } } });
      expect(brain!.outputs!['y']!.error!).toBeLessThan(0.2);
    },
  );
});

test('a quantized network whose rules read around Q/DQ pairs: valid, and of the same meaning', async () => {
  const model = fixturePath('builds/qdq/model.onnx');
  const jobs: ModelJob[] = [];
  for (const rules of ['conv1 fp32', 'conv2 fp32\nadd fp32', 'flat, fc fp32', '** fp32', 'conv3 fp16', '** fp16'])
    jobs.push({ model: pathOf(await rewrite(model, rules)), run: true, against: model, largest: 0.3 });
  await expect(rewrite(model, 'fc fp32')).rejects.toThrow(/"fc" cannot leave its quantized kernel: .*"flat"/);
  const answers = [...(await answersOf(jobs)).values()];
  for (const { checked, ran } of answers) expect([checked, ran]).toEqual([true, true]);
  // Inside the range of the pairs only their rounding is gone; later pairs of this network clip, which goes, too.
  for (const { outputs } of answers.slice(0, 3)) expect(outputs!['y']!.error!).toBeLessThan(0.3);
});

test('random graphs with random rules: valid, of the same inputs and outputs, and of the same meaning', async () => {
  const models: string[] = [];
  const jobs: (ModelJob & { before: string; rules: string; around: boolean })[] = [];
  const random = randomRules(7);
  for (let seed = 0; seed < 150; seed++) {
    const { bytes, weights, names } = randomModel(seed);
    const place = join(folder, `random-${seed}`);
    mkdirSync(place);
    const model = join(place, 'model.onnx');
    writeFileSync(model, bytes);
    writeFileSync(join(place, 'weights.bin'), weights);
    models.push(model);
    for (const rules of ['base fp16', random(names), random(names)]) {
      const grow = seed % 2 === 0;
      const made = await rewrite(model, rules, { grow });
      expect(readFileSync(model).equals(bytes)).toBe(true);
      jobs.push({
        model: pathOf(made),
        run: true,
        reference: rules.includes('bf16'),
        against: model,
        before: model,
        rules,
        around: await readsAroundPairs(model, made),
      });
    }
  }
  const before = new Map(
    (await python.check(models.map((model) => ({ model, run: true })))).map((answer, i) => [models[i], answer]),
  );
  const wrong: string[] = [];
  let compared = 0;
  for (const [job, { checked, ran, inputs, declared, outputs }] of await answersOf(jobs)) {
    const { before: model, rules, around } = job as (typeof jobs)[0];
    const old = before.get(model)!;
    expect([model, old.checked]).toEqual([model, true]);
    const what = `${job.model} of ${model} with ${JSON.stringify(rules)}`;
    // ONNX Runtime itself loses outer tensors in some nested subgraphs.
    if (old.ran !== true && checked === true) continue;
    compared++;
    if (checked !== true || ran !== true) wrong.push(`${what}: ${checked} ${ran}`);
    else if (JSON.stringify([inputs, declared]) !== JSON.stringify([old.inputs, old.declared]))
      wrong.push(`${what}: types`);
    else
      for (const [name, { finite, error, largest }] of Object.entries(outputs!))
        if (finite === false || (!around && (error ?? 0) > 0.12 * Math.max(1, largest!)))
          wrong.push(`${what}: ${name} is off by ${error} of ${largest}`);
  }
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(compared).toBeGreaterThan(350);
});

/** Rules for nodes of these names, another text at each call. */
function randomRules(seed: number): (names: string[]) => string {
  let state = seed;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const pick = (items: string[]): string => items[below(items.length)]!;
  const types = ['fp32', 'fp16', 'bf16', 'fp32 -> fp16', 'fp16 -> fp32', 'fp32 -> fp32'];
  return (names) => {
    const lines = [`base ${pick(['keep', 'fp16', 'bf16'])}`];
    for (let i = below(6); i > 0; i--) {
      const selector = below(2)
        ? JSON.stringify(pick(names))
        : pick(['op:Add', 'op:Tanh', 'op:Softmax', '/block.1/**', '**']);
      lines.push(`${selector} ${pick(types)}`);
    }
    return lines.join('\n');
  };
}
