import type { GateSide } from '../../../../src/kernel/rules/gateSide.ts';
import { describe, expect, test } from 'vitest';
import { evaluateGate } from '../../../../src/features/gate/evaluateGate.ts';
import { readGate } from '../../../../src/features/gate/readGate.ts';
import type { NetworkNode } from '../../../../src/kernel/report/buildDiff.ts';
import type { FusionReport, HeldBack } from '../../../../src/kernel/fusion/fusionReport.ts';
import { type LayerSketch, reportWith } from '../diff/reportWith.ts';

const judge = (rules: string, build: Partial<GateSide>, baseline: Partial<GateSide> | null = null) => {
  const side = (one: Partial<GateSide>): GateSide => ({
    source: 's',
    report: reportWith(['Conv1'], [{ nodes: ['Conv1'] }]),
    ...one,
  });
  const { value, problems } = readGate(`rules:\n  ${rules}\n`);
  expect(problems).toEqual([]);
  const result = evaluateGate('g.yaml', value!, side(build), baseline && side(baseline));
  return result.checks.map(({ verdict, message }) => `${verdict}: ${message}`);
};

const chain = (names: string[], extra: Partial<Record<string, string[]>> = {}): NetworkNode[] =>
  names.map((name, index) => ({
    id: String(index),
    name,
    op: name.replace(/\d+$/, ''),
    inputs: extra[name] ?? [index === 0 ? 'x' : `${names[index - 1]}_out`],
    outputs: [`${name}_out`],
    attributes: '',
    constants: [],
  }));

describe('heldBack', () => {
  const cause = (code: HeldBack['code'], layers: number[]): HeldBack => ({
    code,
    nodes: layers.map(String),
    layers,
    ms: null,
    bytes: null,
    message: '',
    evidence: [],
    change: null,
  });
  const judged = (rule: string, heldBack: HeldBack[] | undefined) => {
    const names = ['MatMul0', 'Softmax1', 'MatMul2'];
    const report = reportWith(
      names,
      names.map((name) => ({ nodes: [name] })),
    );
    return judge(`heldBack: ${rule}`, { report: { ...report, ...(heldBack && { heldBack }) } })[0];
  };
  const split = cause('attention-not-fused', [0, 1, 2]);
  const plain = cause('no-tensor-cores', [0]);

  test.each([
    ['0', [], 'passed: 0 kernels held back; the limit is 0.'],
    ['0', [split, plain], 'failed: 3 kernels held back; the limit is 0.'],
    ['{ attention: 2 }', [split], 'failed: 3 kernels held back; the limit is 2.'],
    ['{ attention: 0 }', [plain], 'passed: 0 kernels held back; the limit is 0.'],
    [
      '{ normalization: 0 }',
      Array(5).fill(plain),
      'failed: The report lists only the 5 costliest causes, and none of this kind.',
    ],
    ['0', undefined, 'failed: What holds the build back is unknown: pass the model, or a report of this version.'],
  ] as const)('%s', (rule, causes, verdict) => {
    expect(judged(rule, causes as HeldBack[] | undefined)).toBe(verdict);
  });
});

describe('attention: fused', () => {
  const names = ['MatMul1', 'Mul2', 'Add3', 'Softmax4', 'MatMul5'];
  const network = chain(names);
  const with_ = (layers: LayerSketch[], other = network) =>
    judge('attention: fused', { report: reportWith(names, layers), network: other });

  test('one kernel with all three passes, more fail and say which', () => {
    expect(with_([{ nodes: names, kind: 'kernel', foreignNode: 0 }])).toEqual([
      'passed: 1 attention: each is one kernel.',
    ]);
    expect(with_([{ nodes: names.slice(0, 3) }, { nodes: ['Softmax4'] }, { nodes: ['MatMul5'] }])).toEqual([
      'failed: Not one kernel: 1 of 1 attention. For example, Softmax4 is computed by kernel_Softmax4, without the product before it.',
    ]);
  });

  test('an opaque ForeignNode, no model and no attention cannot be judged, which fails', () => {
    expect(with_([{ nodes: names, kind: 'foreign', foreignNode: 0 }])[0]).toMatch(
      /^failed: The kernels of 1 of 1 attention are unknown/,
    );
    expect(judge('attention: fused', {})[0]).toMatch(/pass the model with --onnx/);
    expect(with_([{ nodes: names }], chain(['MatMul1', 'Mul2', 'Relu3', 'Softmax4', 'MatMul5']))).toEqual([
      'failed: The model has no attention: no Softmax between two MatMuls.',
    ]);
    expect(judge('attention: { is: fused, optional: true }', {})[0]).toMatch(/^skipped/);
  });

  test('kernels of which only the names are known cannot be judged', () => {
    const report = reportWith(names, [{ nodes: ['MatMul5'], kind: 'kernel', foreignNode: 0, evidence: ['name'] }]);
    for (const node of report.nodes) Object.assign(node, { fate: 'foreign', foreignNode: 0 });
    expect(judge('attention: fused', { report, network })[0]).toMatch(/^failed: The kernels of 1 of 1 attention are/);
  });

  test('a node in no known kernel is not split off', () => {
    const kernel = { kind: 'kernel', foreignNode: 0 } as const;
    const report = reportWith(names, [
      { nodes: names.slice(0, 3), ...kernel },
      { nodes: ['MatMul5'], ...kernel },
    ]);
    Object.assign(report.nodes[3]!, { fate: 'foreign', foreignNode: 0 });
    expect(judge('attention: fused', { report, network })[0]).toMatch(/^failed: The kernels of 1 of 1 attention are/);
  });

  test('a Softmax that is the right factor, or is read by something else only, is no attention', () => {
    const reader = chain(names, { MatMul5: ['y', 'Softmax4_out'] });
    expect(with_([{ nodes: names }], reader)[0]).toMatch(/no attention/);
  });
});

describe('numbers', () => {
  const layers: LayerSketch[] = [
    { nodes: ['Conv1'], averageMs: 0.5 },
    { nodes: [], averageMs: 0.03 },
    { nodes: ['Relu2'], averageMs: 0.25 },
  ];
  const report = reportWith(['Conv1', 'Relu2', 'Add3'], layers, { Add3: 'unknown' });

  test('limits by themselves', () => {
    expect(
      judge('{ kernels: 3, reformats: { max: 0, microseconds: 20 }, nodes: { unknown: 0 }, time: { total: 1 ms } }', {
        report,
      }),
    ).toEqual([
      'passed: 3 kernels; the limit is 3.',
      'failed: 1 reformat layer; the limit is 0.',
      'failed: 30.0 µs; the limit is 20.0 µs.',
      'failed: 1 unknown node; the limit is 0.',
      'passed: 0.780 ms; the limit is 1.00 ms.',
    ]);
  });

  test('against a baseline; without one it cannot be judged', () => {
    const before = { report: reportWith(['Conv1', 'Relu2', 'Add3'], layers.slice(0, 2)) };
    const rules = "{ kernels: { max: +5% }, time: { total: +50%, 'Conv*': +3% } }";
    expect(judge(rules, { report }, before)).toEqual([
      'failed: 3 kernels (baseline 2 kernels, +50.0 %); the limit is +5%.',
      'passed: 0.780 ms (baseline 0.530 ms, +47.2 %); the limit is +50%.',
      'passed: 0.500 ms (baseline 0.500 ms, +0.0 %); the limit is +3%.',
    ]);
    expect(judge('kernels: { max: +5% }', { report })).toEqual([
      'failed: +5% needs a baseline: add `baseline:`, or pass --baseline.',
    ]);
  });

  test('what the files do not say fails with the reason', () => {
    const bare = {
      report: reportWith(['Conv1'], [{ nodes: ['Conv1'], averageMs: null, kind: 'foreign', foreignNode: 0 }]),
    };
    expect(
      judge(
        '{ time: { total: 1 ms }, kernels: 3, memory: { activation: 1 MiB }, quantized: { unfused: 0 }, accuracy: 0.01 }',
        bare,
      ),
    ).toEqual([
      'failed: The times are unknown: pass a profile.',
      'failed: This TensorRT does not list the kernels inside a ForeignNode.',
      'failed: The activation memory is unknown: pass a build folder, or a report that was made with the verbose build log.',
      'failed: The model has no QuantizeLinear or DequantizeLinear node.',
      'failed: No accuracy result: add `inputs:`, or pass --accuracy with the JSON of `trtlens accuracy`.',
    ]);
  });

  test('the plan of a build that made no engine passes no rule', () => {
    const plan = {
      ...reportWith(['Conv1'], [{ nodes: ['Conv1'] }]),
      problems: [{ severity: 'warning' as const, code: 'planned-layers', message: '' }],
    };
    const verdicts = judge(
      '{ foreignNodes: 3, kernels: 3, layers: 3, reformats: 3, nodes: { unknown: 3 }, quantized: 3, attention: fused }',
      { report: plan, network: chain(['MatMul1', 'Softmax2', 'MatMul3']) },
    );
    for (const verdict of verdicts) expect(verdict).toMatch(/^failed: The (engine layers|kernels) are unknown/);
  });

  test('the largest error of an output, or why it is not known', () => {
    const with_ = (accuracy: GateSide['accuracy']) => judge('accuracy: 0.01', { accuracy });
    expect(with_({ error: 0.00512 })).toEqual(['passed: error 0.0051; the limit is 0.01.']);
    expect(with_({ error: null })).toEqual(['failed: not finite; the limit is 0.01.']);
    expect(with_({ missing: 'The model is missing' })).toEqual(['failed: The model is missing.']);
  });

  test('times of a trace are not compared with those of a profile', () => {
    const traced = { ...report, profile: { source: 'nsys' } as never };
    const rules = '{ time: { total: +5%, Conv1: 9 ms }, reformats: { microseconds: +5% } }';
    expect(judge(rules, { report: traced }, { report }).map((text) => text.slice(0, 40))).toEqual([
      'failed: The times are not comparable: on',
      'passed: 0.500 ms; the limit is 9.00 ms.',
      'failed: The times are not comparable: on',
    ]);
    expect(judge(rules, { report: traced }, { report: traced }).every((text) => text.startsWith('passed'))).toBe(true);
  });

  test('several profiles: the median, and noise above the limit is said', () => {
    const at = (ms: number) => reportWith(['Conv1'], [{ nodes: ['Conv1'], averageMs: ms }]);
    const [text] = judge('time: { total: +3% }', { report: at(1), repeats: [at(1.1), at(1.3)] }, { report: at(1.1) });
    expect(text).toBe(
      'passed: 1.10 ms (baseline 1.10 ms, +0.0 %); the limit is +3%. The profiles differ by 27.3 %, which is more than the limit. Profile longer, or raise the limit.',
    );
  });

  test('noise is said of limits in milliseconds and of profiles on both sides of a limit, too', () => {
    const at = (ms: number) => reportWith(['Conv1'], [{ nodes: ['Conv1'], averageMs: ms }]);
    const noisy = { report: at(1), repeats: [at(1.1), at(1.3)] };
    expect(judge('time: { total: +0.2 ms }', noisy, { report: at(1.1) })[0]).toMatch(
      /differ by 0\.300 ms, which is more/,
    );
    expect(judge('time: { total: +0.4 ms }', noisy, { report: at(1.1) })[0]).not.toMatch(/profiles/);
    expect(judge('time: { total: 1.2 ms }', noisy)[0]).toMatch(/^passed.* from 1\.00 ms to 1\.30 ms, on both sides/);
    expect(judge('time: { total: 2 ms }', noisy)[0]).not.toMatch(/profiles/);
  });

  test('a time within the noise of the baseline is no regression, and no improvement either', () => {
    const at = (ms: number, more = {}) => reportWith(['Conv1'], [{ nodes: ['Conv1'], averageMs: ms, ...more }]);
    const against = (limit: string, now: FusionReport, before: FusionReport) =>
      judge(`time: { total: ${limit}, 'Conv*': ${limit} }`, { report: now }, { report: before });
    for (const text of against('+0%', at(1.01), at(1)))
      expect(text).toBe(
        'passed: 1.01 ms (baseline 1.00 ms, +1.0 %); the limit is +0%. The difference is within the noise of the measurements.',
      );
    expect(against('+0%', at(1.03), at(1))[0]).toMatch(/^failed: 1\.03 ms/);
    expect(against('-1%', at(1), at(1))[0], 'an improvement that is asked for').toMatch(/^failed/);
    const samples = against('+0%', at(1.1, { p10: 0.9, p90: 1.2 }), at(1, { p10: 0.9, p90: 1.1 }));
    expect(samples[1]).toMatch(/^passed/);
  });

  test('the time of a part of an opaque ForeignNode is not known, that of all of it is', () => {
    const names = ['/a/Conv1', '/b/Relu2'];
    const report = reportWith(names, [{ nodes: names, kind: 'foreign', foreignNode: 0, averageMs: 3 }]);
    expect(judge("time: { '/a': 5 ms }", { report })[0]).toMatch(/^failed: The build does not list what the kernels/);
    expect(judge("time: { '/*': 5 ms }", { report })[0]).toBe('passed: 3.00 ms; the limit is 5.00 ms.');
  });

  test('a Q/DQ node alone in a kernel is not fused', () => {
    const names = ['QuantizeLinear1', 'DequantizeLinear2', 'Conv3'];
    const build = (q: LayerSketch[]) => ({ report: reportWith(names, q) });
    expect(
      judge(
        'quantized: { unfused: 0 }',
        build([{ nodes: ['QuantizeLinear1'] }, { nodes: ['DequantizeLinear2', 'Conv3'] }]),
      ),
    ).toEqual(['failed: 1 Q/DQ node with a kernel of its own; the limit is 0.']);
    expect(judge('quantized: 0', build([{ nodes: names }]))[0]).toMatch(/^passed/);
  });
});

describe('what no rule looks at is said', () => {
  const notes = (rules: string, build: GateSide, baseline: GateSide | null) =>
    evaluateGate('g.yaml', readGate(`rules:\n  ${rules}\n`).value!, build, baseline).notChecked;
  const names = ['MatMul1', 'Softmax2', 'MatMul3', 'Reshape4', 'Softmax5'];

  test('Softmaxes that are no attention, a missing profile', () => {
    const report = reportWith(names, [{ nodes: names, averageMs: null }]);
    const build = { source: 's', report, network: chain(names) };
    expect(notes('attention: fused', build, null)).toEqual([
      expect.stringMatching(/^The rule attention does not cover 1 Softmax, .+: Softmax5\.$/),
      expect.stringMatching(/no profile/),
    ]);
    const timed = { ...build, report: reportWith(names, [{ nodes: names }]) };
    expect(notes('kernels: 1', timed, timed)).toEqual([]);
  });

  test('another version, GPU and shape than the baseline', () => {
    const shaped = (shape: number[]) => ({
      ...reportWith(names, [{ nodes: names }]),
      tensors: [{ id: 'x', name: 'x', type: 'float32', shape, producer: null, consumers: [] }],
    });
    const figures = {
      activationMemory: null,
      weightsMemory: null,
      engineSize: null,
      buildSeconds: null,
      warnings: null,
    };
    const before = { source: 'a', report: shaped([1, 3]), figures: { ...figures, gpu: 'H100' } } as unknown as GateSide;
    const report = { ...shaped([8, 3]), tensorrt: { product: 'tensorrt', version: '11.2.1' } };
    const now = { source: 'b', report, figures: { ...figures, gpu: 'H200' } } as unknown as GateSide;
    expect(notes('kernels: 1', now, before)).toEqual([
      expect.stringContaining('x 1×3 → 8×3'),
      'The baseline is of another GPU: H100 → H200.',
      'The baseline is of another version: TensorRT 10.6.0 → TensorRT 11.2.1.',
    ]);
    expect(notes('kernels: 1', before, before)).toEqual([]);
  });
});
