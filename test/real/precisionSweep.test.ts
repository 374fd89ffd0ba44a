import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runPrecisionSweep, type SweepRequest } from '../../src/features/accuracy/node/runPrecisionSweep.ts';
import { runPythonJob } from '../../src/kernel/node/tools/runPythonJob.ts';
import { type PrecisionSweep, sweepDocument } from '../../src/features/accuracy/precisionSweep.ts';
import { accuracyDocument } from '../../src/features/accuracy/accuracyDocument.ts';
import { renderText } from '../../src/kernel/document/render.ts';
import { worstError } from '../../src/features/accuracy/accuracyReport.ts';
import { fakeTool } from '../support/fakeTool.ts';
import { fixturePath } from '../support/fixtures.ts';
import { pythonForTests } from '../support/python.ts';
import { temporaryFolder } from '../support/rtx.ts';
import { judge, runtimeForTests } from '../support/runtime.ts';

const temporary = temporaryFolder();
const fault = (name: string, file: string): string => fixturePath(join('faults', name, file));

async function sweepOf(name: string, more: Partial<SweepRequest> = {}): Promise<PrecisionSweep> {
  return runPrecisionSweep({
    model: fault(name, 'model.onnx'),
    inputs: [fault(name, 'inputs.npz')],
    tolerance: 0.01,
    maxRuns: 1000,
    maxSeconds: 200,
    modelLine: './model.onnx',
    precisions: ['fp32', 'fp16', 'bf16', 'int8'],
    measured: new Map(),
    runtime: await runtimeForTests(),
    script: fileURLToPath(new URL('../../src/driver/simulate.py', import.meta.url)),
    ...more,
  });
}

test('FP32, FP16, BF16 in one table, with what an H200 gave; INT8 says what it needs', async () => {
  const measured = new Map([['fp16', fault('cumsum_phase', 'h200.fp16_all.npz')]] as const);
  const sweep = await sweepOf('cumsum_phase', { measured, times: true });
  const [fp32, fp16, bf16, int8] = sweep.rungs;
  expect(worstError(fp32!.predicted!)).toBe(0);
  expect(worstError(fp16!.predicted!)).toBeCloseTo(worstError(fp16!.measured!)!, 2);
  const [cpu] = fp32!.timed!.filter(({ device }) => device === 'CPU');
  expect(cpu!.runs).toBeGreaterThanOrEqual(10);
  expect(cpu!.p99Ms).toBeGreaterThanOrEqual(cpu!.medianMs);
  expect(fp16!.timed).toBeUndefined();
  expect(fp16!.fix!.nodes).toBe(4);
  expect(fp16!.culprits).toContain('/source/CumSum');
  expect(bf16!.fix!.rules).toContain('base bf16');
  expect([int8!.predicted, int8!.reason]).toEqual([null, expect.stringMatching(/not run: .*--int8/)]);
  expect(
    renderText(sweepDocument(sweep, 'm'))
      .split('\n')
      .filter((line) => /^. (?:FP32|FP16|BF16|INT8) /.test(line)),
  ).toHaveLength(4);
});

/** A trtexec that writes engines for the stand-in of TensorRT's runtime: they give what an H200 gave. The third build fails. */
function standInBuilder(): string {
  const outputs = (file: string) => ({
    audio: ['FLOAT', [1, 1, 1024], `np.load(${JSON.stringify(fault('cumsum_phase', file))})["audio"]`],
  });
  const engines = ['h200.fp32.npz', 'h200.fp16_all.npz'].map((file) => ({
    inputs: { f0: ['FLOAT', [1, 1024, 1]], mel: ['FLOAT', [1, 8, 1024]] },
    outputs: outputs(file),
    profiles: [{}],
  }));
  return fakeTool(
    temporary,
    'trtexec',
    `const { existsSync, readFileSync, writeFileSync } = require('fs');
     if (args[0] === '--help') { process.stdout.write(readFileSync(${JSON.stringify(fixturePath('captures/tensorrt-10.6.0/cli.help/log.txt'))})); return; }
     const count = ${JSON.stringify(join(temporary, 'count'))};
     const done = existsSync(count) ? readFileSync(count, 'utf8').length : 0;
     writeFileSync(count, 'x'.repeat(done + 1));
     const engine = ${JSON.stringify(engines)}[done];
     if (!engine || !args.includes('--stronglyTyped')) process.exitCode = 1;
     else writeFileSync(args.find((arg) => arg.startsWith('--saveEngine=')).slice(13), JSON.stringify(engine));`,
  );
}

test('--build: an engine is built and run in each precision; what cannot be built says why', async () => {
  const runtime = await runtimeForTests();
  const scripts = fileURLToPath(new URL('../../src/driver', import.meta.url));
  const standIn = fileURLToPath(new URL('../support/stand_in_engine.py', import.meta.url));
  const build = {
    backend: 'trtexec' as const,
    trtexec: standInBuilder(),
    driver: 'unused',
    cache: temporary,
    confirm: () => Promise.reject(),
  };
  const launcher = {
    command: ['sh', '-c', 'own=$1; shift 3; exec "$0" -B "$own" "$@"', runtime.python, standIn, '{command}'],
    paths: [temporary, scripts, fixturePath('faults')].map((path) => ({ here: path, there: path })),
    program: 'python3',
    guard: false,
  };
  const engines = { build, run: { scripts, launcher } };
  const sweep = await sweepOf('cumsum_phase', { engines });
  const [fp32, fp16, bf16, int8] = sweep.rungs;
  expect([fp32!.notMeasured, fp16!.notMeasured]).toEqual([null, null]);
  expect(worstError(fp32!.measured!)).toBeLessThan(1e-3);
  expect(worstError(fp16!.measured!)).toBeCloseTo(worstError(fp16!.predicted!)!, 2);
  expect([fp32!.milliseconds, fp16!.milliseconds]).toEqual([0.25, 0.25]);
  expect([bf16!.measured, bf16!.notMeasured]).toEqual([null, expect.stringMatching(/^the build failed: /)]);
  expect(int8!.notMeasured).toContain('--int8 MODEL');
  expect(readdirSync(join(temporary, 'sweep'))).toEqual([]);
  const text = renderText(sweepDocument(sweep, 'm'));
  expect(text).toMatch(/^✗ FP16 +0\.86 +0\.8\d+ +0\.250 ms /m);
  expect(text).toMatch(/^BF16 not measured: the build failed/m);
});

test('--build without a GPU: the first run says why, and no other engine is built', async () => {
  const scripts = fileURLToPath(new URL('../../src/driver', import.meta.url));
  const trtexec = fakeTool(
    temporary,
    'trtexec-alone',
    `const { appendFileSync, readFileSync, writeFileSync } = require('fs');
     if (args[0] === '--help') { process.stdout.write(readFileSync(${JSON.stringify(fixturePath('captures/tensorrt-10.6.0/cli.help/log.txt'))})); return; }
     appendFileSync(${JSON.stringify(join(temporary, 'alone'))}, 'x');
     writeFileSync(args.find((arg) => arg.startsWith('--saveEngine=')).slice(13), 'engine');`,
  );
  const build = {
    backend: 'trtexec' as const,
    trtexec,
    driver: 'unused',
    cache: temporary,
    confirm: () => Promise.reject(),
  };
  // An interpreter without TensorRT.
  const engines = { build, run: { scripts, python: (await runtimeForTests()).python } };
  const { rungs } = await sweepOf('cumsum_phase', { engines, precisions: ['fp32', 'fp16'] });
  expect(rungs.map(({ measured }) => measured)).toEqual([null, null]);
  expect(rungs[0]!.notMeasured).toMatch(/tensorrt/);
  expect(rungs[1]!.notMeasured).toBe(rungs[0]!.notMeasured);
  expect(readFileSync(join(temporary, 'alone'), 'utf8')).toBe('x');
});

test('a Q/DQ model: the nodes that read quantized data, judged against the same model without Q and DQ', async () => {
  const { runtime } = await pythonForTests();
  const script = fileURLToPath(new URL('../support/quantize.py', import.meta.url));
  const [model, inputs] = [fault('softmax_no_max', 'model.onnx'), fault('softmax_no_max', 'inputs.npz')];
  const out = join(temporary, 'qdq.onnx');
  const declared = [{ name: 'x', type: 'float', shape: [1, 16, 32], random: { shape: [], values: 'normal' } }];
  await runPythonJob({ ...runtime, script, request: { model, out, files: [inputs], inputs: declared } });
  const report = await judge(out, [inputs], { low: 'int8', maxRuns: 60 });
  expect(new Set(report.nodes.map(({ type }) => type))).toEqual(new Set(['int8']));
  // The same error as against the FP32 model itself, but for the weights.
  const [int8] = (await sweepOf('softmax_no_max', { precisions: ['int8'], quantized: out, maxRuns: 60 })).rungs;
  const [pairs, whole] = [worstError(report.outputs)!, worstError(int8!.predicted!)!];
  expect([pairs > whole / 3, pairs < whole * 3]).toEqual([true, true]);
  // Its weights are stored quantized: what they lose, no set of nodes repairs.
  const against = await judge(out, [inputs], { low: 'int8', maxRuns: 60, reference: model });
  expect(against.storedQuantized).toBeGreaterThan(2);
  expect(against.reference!.model).toBe('model.onnx');
  expect(against.reference!.exact).toBeGreaterThan(1e-4);
  expect(worstError(against.outputs)).toBeCloseTo(whole, 6);
  expect(int8!.culprits).toEqual(against.nodes.filter(({ role }) => role === 'root').map(({ name }) => name));
  expect(against.fix!.error).toBeLessThanOrEqual(Math.max(0.01, against.reference!.exact! + 0.01));
  // Without the FP32 model, the report says what it could not judge.
  expect([report.reference, report.storedQuantized]).toEqual([undefined, against.storedQuantized]);
  const pageOf = (one: typeof report) => renderText(accuracyDocument(one, { title: 'm' }));
  expect(pageOf(report)).toMatch(/Not judged: \d+ tensors that the model stores in INT8\./);
  expect(pageOf(against)).toMatch(
    /Compared with model\.onnx\. With every node exact the error is 0\.\d+: that of \d+ tensors/,
  );
  // Swept by itself, the model is its own INT8; with its FP32 model it is judged as above.
  const more = { model: out, maxRuns: 60, tolerances: new Map([['int8', 0.5]] as const) };
  const { rungs: own } = await sweepOf('softmax_no_max', { ...more, precisions: ['fp32', 'fp16', 'int8'] });
  expect(worstError(own[2]!.predicted!)).toBeCloseTo(worstError(report.outputs)!, 6);
  expect(own[1]!.reason).toContain('--reference MODEL');
  expect(own[2]).toMatchObject({ tolerance: 0.5, notes: [expect.stringContaining('Not judged')] });
  const swept = await sweepOf('softmax_no_max', { ...more, reference: model, precisions: ['fp16', 'int8'] });
  expect(worstError(swept.rungs[0]!.predicted!)).toBeNull();
  expect(worstError(swept.rungs[1]!.predicted!)).toBeCloseTo(whole, 6);
  expect(renderText(sweepDocument(swept, 'm'))).toMatch(/tolerance 0\.01, INT8 0\.5\./);
  expect(report.fix!.error).toBeLessThanOrEqual(0.01);
  expect(report.fix!.rules).toContain('base keep');
  await expect(judge(out, [inputs], { low: 'fp8' })).rejects.toThrow('no Q/DQ nodes in FP8');
});

test('a model without Q/DQ nodes is not taken for INT8', async () => {
  const quantized = fault('gram_large_k', 'model.onnx');
  await expect(sweepOf('gram_large_k', { precisions: ['int8'], quantized })).rejects.toThrow(
    'has no DequantizeLinear node',
  );
});
