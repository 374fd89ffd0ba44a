import type { AccuracyOutput } from '../../../../src/kernel/simulation/simulated.ts';
import { expect, test } from 'vitest';
import {
  type PrecisionSweep,
  sweepDocument,
  type SweepStep,
} from '../../../../src/features/accuracy/precisionSweep.ts';
import { renderHtml, renderText } from '../../../../src/kernel/document/render.ts';

const output = (name: string, error: number | null, judged = true): AccuracyOutput => ({
  name,
  max: 1,
  error,
  finite: error !== null,
  judged,
  mean: error,
});

const step = (precision: SweepStep['precision'], more: Partial<SweepStep> = {}): SweepStep => ({
  precision,
  predicted: null,
  measured: null,
  milliseconds: null,
  notMeasured: null,
  lowNodes: null,
  culprits: [],
  fix: null,
  reason: null,
  ...more,
});

const sweep = (more: Partial<PrecisionSweep> = {}): PrecisionSweep => ({
  tolerance: 0.01,
  samples: 2,
  rungs: [
    step('fp32', { predicted: [output('a', 0), output('b', 0), output('ids', 0, false)], lowNodes: 0 }),
    step('fp16', {
      predicted: [output('a', 0.002), output('b', null), output('ids', 0.5, false)],
      lowNodes: 25,
      culprits: ['/gram/<MatMul>'],
      fix: { nodes: 4, error: 0.0007, rules: 'base fp16\n/gram/<MatMul> fp32\n' },
    }),
    step('int8', { reason: 'not run: it needs <onnx>' }),
  ],
  ...more,
});

const sweepText = (given: PrecisionSweep) => renderText(sweepDocument(given, 'm'));
const sweepHtml = (given: PrecisionSweep) => renderHtml(sweepDocument(given, 'm'));

test('each precision has a row; with several outputs, each output has one, too; what was not run says why', () => {
  const text = sweepText(sweep());
  expect(text).toMatch(/^✗ FP16 +not finite +25 +4 nodes in FP32: 0\.0007 +\/gram\/<MatMul>$/m);
  expect(text).toMatch(/^– INT8 +not run +- +- +not run: it needs <onnx>$/m);
  expect(text).toMatch(/^predicted error of +FP32 +FP16 +INT8\na +0 +0\.002 +-\nb +0 +not finite +-$/m);
  expect(text).not.toContain('ids');
  const [fp32, fp16] = sweep().rungs.map((one) => ({ ...one, predicted: one.predicted?.slice(0, 1) ?? null }));
  expect(sweepText(sweep({ rungs: [fp32!, fp16!] }))).not.toContain('predicted error of');
});

test('where no output is judged, there is no error', () => {
  const rungs = [step('fp16', { predicted: [output('ids', 0, false)], lowNodes: 1 })];
  expect(sweepText(sweep({ rungs }))).toMatch(/^. FP16 +none judged /m);
  expect(sweepHtml(sweep({ rungs }))).toContain('<td class="n">none judged</td>');
});

test('the same on a page, escaped; the columns of engines only where one was to be run', () => {
  const page = sweepHtml(sweep());
  expect(page).toContain(
    '<tr class="bad"><td class="s"><span class="sign bad" role="img" aria-label="failed">✗</span></td><th scope="row">FP16</th><td class="n">not finite</td>',
  );
  expect(page).toContain('not run: it needs &#60;onnx&#62;');
  expect(page).toContain('<summary>The rules that repair FP16</summary>');
  expect(page).not.toMatch(/<MatMul>|<onnx>|measured<\/th>/);
  const [fp32, ...others] = sweep().rungs;
  const stopped = { ...fp32!, notMeasured: 'no <GPU>' };
  const measured = { ...fp32!, measured: [output('a', 1e-4)], milliseconds: 0.5 };
  const withEngines = sweepHtml(sweep({ rungs: [stopped, measured, ...others] }));
  expect(withEngines).toContain('measured</th>');
  expect(withEngines).toContain('<td class="n">0.0001</td><td class="n">0.500 ms</td>');
  expect(withEngines).toContain('FP32 not measured: no &#60;GPU&#62;.');
});

test('against ONNX Runtime, where that was timed; rows that need a GPU say so', () => {
  const timed = (device: 'CPU' | 'GPU', medianMs: number) => ({
    device,
    runtime: 'ONNX Runtime 1.31.1',
    threads: 8,
    runs: 200,
    medianMs,
    p99Ms: 3 * medianMs,
    perSecond: 1000 / medianMs,
    memory: device === 'CPU' ? 3 << 20 : null,
  });
  const rungs = [
    step('fp32', { predicted: [output('a', 0)], lowNodes: 0, timed: [timed('GPU', 1), timed('CPU', 20)] }),
    step('fp16', { predicted: [output('a', 0.002)], measured: [output('a', 0.003)], milliseconds: 0.5 }),
    step('int8', { predicted: [output('a', 0.05)], timed: [timed('CPU', 10)] }),
  ];
  const text = sweepText(sweep({ rungs }));
  expect(text).toMatch(/^ +ONNX Runtime FP32 +GPU +1\.00 ms +3\.00 ms +1,000 +- +-$/m);
  expect(text).toMatch(/^ +ONNX Runtime FP32 +CPU, 8 threads +20\.0 ms +60\.0 ms +50 +3\.00 MiB +0$/m);
  expect(text).toMatch(/^ +ONNX Runtime INT8 +CPU, 8 threads +10\.0 ms .* 0\.05$/m);
  expect(text).toMatch(/^ +TensorRT FP16 +GPU +0\.500 ms +- +2,000 +- +0\.003$/m);
  expect(text).toMatch(/^– TensorRT FP32 +needs a GPU +- /m);
  expect(sweepText(sweep())).not.toContain('ONNX Runtime');
});
