import type { AccuracyReport } from '../../src/kernel/simulation/simulated.ts';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fillWeights } from '../../src/kernel/node/files/fillWeights.ts';
import { loadFiles } from '../../src/kernel/node/store/loadBuild.ts';
import { fixturePath, modelPath } from '../support/fixtures.ts';
import { judge } from '../support/runtime.ts';

interface Fault {
  culprits: string[];
  planted: string[];
  necessary: string[];
  /** What TensorRT's own arithmetic adds to the culprits. */
  on_tensorrt?: { culprits: string[] };
  nonfinite_in_all_fp16: string[];
  /** What engines on the GPU gave: with the fix, all in FP16, and with the flag `--fp16`. */
  variants: Record<string, { finite: boolean; error: number | null }>;
  /** The rules that repair it. */
  fixed: string;
}

/** Models in which FP16 breaks for a known reason, what repairs them, and what an H200 gave (TensorRT 10.6). */
const faults = JSON.parse(readFileSync(fixturePath('faults/faults.json'), 'utf8')) as Record<string, Fault>;

const judgeFault = (fault: string, options = {}): Promise<AccuracyReport> =>
  judge(fixturePath(`faults/${fault}/model.onnx`), [fixturePath(`faults/${fault}/inputs.npz`)], options);

const judged = new Map<string, Promise<AccuracyReport>>();

/** With the defaults, which several tests ask about: judged once. */
function plainReport(fault: string): Promise<AccuracyReport> {
  const known = judged.get(fault) ?? judgeFault(fault);
  judged.set(fault, known);
  return known;
}

const worst = ({ outputs }: AccuracyReport): number =>
  Math.max(...outputs.map(({ error, finite }) => (finite ? (error ?? Infinity) : Infinity)));

/** Predicted and measured agree within a factor of two, in what is not finite, too. */
function agrees(predicted: number, { finite, error }: Fault['variants'][string]): boolean {
  const measured = finite ? error! : Infinity;
  return predicted === measured || (predicted <= 2 * measured && measured <= 2 * predicted);
}

describe.each(Object.entries(faults))('%s', (fault, truth) => {
  const { variants } = truth;
  const known = truth.on_tensorrt?.culprits ?? truth.culprits;

  test('the fix is the smallest set known', async () => {
    const report = await plainReport(fault);
    const fix = report.fix!;
    expect(fix.error).toBeLessThanOrEqual(0.01);
    expect(fix.minimal).toBe(true);
    expect(fix.names.length).toBeLessThanOrEqual(known.length);
    expect(fix.names).toEqual(expect.arrayContaining(truth.planted.filter((name) => truth.necessary.includes(name))));
    expect([...fix.names].sort()).toEqual([...known].sort());
    // A node is to blame only where something is to be repaired.
    const roots = report.nodes.filter(({ role }) => role === 'root').map(({ name }) => name);
    expect(known).toEqual(expect.arrayContaining(roots));
    expect(roots.length > 0).toBe(known.length > 0);
    // The rules are the fix: judged under them, nothing is left to do.
    const repaired = await judgeFault(fault, { rules: fix.rules });
    expect(repaired.fix!.nodes).toEqual([]);
    expect(worst(repaired)).toBeCloseTo(fix.error, 6);
  });

  test('the predicted errors are what the H200 gave', async () => {
    const all = worst(await plainReport(fault));
    // There log(1 + exp(x)) is one kernel, which keeps exp(x) in FP32: the simulation stores every value.
    if (fault === 'softplus_exp') expect([all, variants['fp16_all']!.finite]).toEqual([Infinity, true]);
    else expect([fault, agrees(all, variants['fp16_all']!), all]).toEqual([fault, true, all]);
    const fixed = worst(await judgeFault(fault, { rules: truth.fixed, maxRuns: 1 }));
    expect([fault, agrees(fixed, variants['fixed']!), fixed]).toEqual([fault, true, fixed]);
  });
});

test.each(['clip_hides_overflow', 'cumsum_phase', 'softplus_exp'])(
  '%s: with what AutoCast keeps in FP32 the error is the one in docs/reference/benchmarks.md',
  async (fault) => {
    const { models } = JSON.parse(readFileSync(fixturePath('autocast/results.json'), 'utf8')) as {
      models: Record<string, { fp32: string[]; error: number | null }>;
    };
    const { fp32, error } = models[fault]!;
    const rules = ['base fp16', ...fp32.map((name) => `"${name}" fp32`)].join('\n');
    const found = worst(await judgeFault(fault, { rules, maxRuns: 1 }));
    expect([fault, found]).toEqual([fault, error === null ? Infinity : expect.closeTo(error, 4)]);
  },
);

test('an overflow that does no harm is nobody’s fault', async () => {
  const report = await plainReport('gelu_tanh_cube_harmless');
  const { nonfinite_in_all_fp16: overflowing } = faults['gelu_tanh_cube_harmless']!;
  expect(report.nodes.filter(({ role }) => role !== 'fine')).toEqual([]);
  const overflows = report.nodes.filter(({ overflow }) => overflow).map(({ name }) => name);
  expect(overflowing).toEqual(expect.arrayContaining(overflows));
  expect(overflows.length).toBeGreaterThan(0);
  expect(report.fix!.rules).toBe('model ./model.onnx\nbase fp16\n');
});

test('a build as a second opinion: what its kernel holds explains why the engine is fine', async () => {
  const model = fixturePath('faults/softplus_exp/model.onnx');
  const { report: build } = await loadFiles({
    onnx: model,
    layers: fixturePath('faults/softplus_exp/h200.fp16_all.layers.json.gz'),
  });
  const report = await judgeFault('softplus_exp', { build });
  expect(report.level).toBe('kernel');
  expect([worst(report), agrees(worst(report), faults['softplus_exp']!.variants['fp16_all']!)]).toEqual([
    worst(report),
    true,
  ]);
  // The basis of the fix stays the node level.
  expect(report.kernel!.outputs.find(({ name }) => name === 'scale')!.finite).toBe(false);
  expect(report.fix!.names).toHaveLength(3);
  const culprits = report.kernel!.held.filter(({ culprit }) => culprit);
  expect(culprits.map(({ name, kernel }) => [name, kernel])).toEqual([
    ['/scale_head/softplus/Exp', '__myl_CasExpAddLogCas_myl13_0'],
    ['/scale_head/softplus/Add', '__myl_CasExpAddLogCas_myl13_0'],
  ]);
});

test('only one operator, module or node in low precision: the worst comes first', async () => {
  const { sensitivity, fix } = await judgeFault('ln_pow_outlier', { sensitivity: 2 });
  const named = (kind: string) => sensitivity!.filter((one) => one.kind === kind);
  expect(named('node')).toHaveLength(2);
  expect(
    named('operator')
      .map(({ name }) => name)
      .slice(0, 2)
      .sort(),
  ).toEqual(['Pow', 'ReduceMean']);
  expect(named('module').find(({ name }) => name === '/layers.0')!.error).toBeLessThan(0.01);
  expect(fix!.runs).toBeLessThan(60);
});

test.each([
  ['a model in FP16 already', 'fp16_overflow_fp16', 'is in FP16 or BF16 already'],
  ['a model with a custom operator', 'unsupported_op', /node ".+" \(MyCustomOp\)/],
])('%s: one sentence says why not', async (_, name, words) => {
  await expect(judge(await fillWeights(modelPath(name)), [])).rejects.toThrow(words);
});

test('weights that are missing: which file', async () => {
  await expect(judge(modelPath('loop_if'), [])).rejects.toThrow('weights.bin is missing');
});

test('a model from PyTorch with a Loop and an If: nodes inside are judged, but for the branch that is not taken', async () => {
  const { nodes } = await judge(await fillWeights(modelPath('loop_if')), []);
  const inside = nodes.filter(({ id }) => id.includes('/'));
  expect(inside.filter(({ notJudged }) => notJudged === undefined).map(({ name }) => name)).toEqual([
    'loop/matmul',
    'loop/bias',
    'loop/relu',
    'loop/residual',
    'else_branch/matmul',
    'else_branch/add_outer_stem',
    'else_branch/act',
  ]);
  expect(inside).toHaveLength(10);
});

test('BF16 reaches far but is coarse: another fix', async () => {
  const report = await judgeFault('gram_large_k', { low: 'bf16' });
  expect(report.outputs.every(({ finite }) => finite)).toBe(true);
  expect(report.nodes.every(({ overflow, type }) => !overflow && type === 'bfloat16')).toBe(true);
  expect(report.fix!.error).toBeLessThanOrEqual(0.01);
});

test('a model whose attention, FFN and norm overflow, with random inputs', async () => {
  const report = await judge(modelPath('fp16_overflow'), []);
  expect(report.inputs.map(({ source }) => source)).toEqual(['random']);
  expect(report.outputs[0]!.finite).toBe(false);
  const names = report.fix!.names;
  expect(names).toEqual(expect.arrayContaining(['/layers.1/attn/qk/MatMul', '/layers.3/ffn/down/MatMul']));
  expect(report.fix!.minimal).toBe(true);
  expect(names.length).toBeLessThanOrEqual(14);
});
