import { expect, test } from 'vitest';
import { diffDocument, diffReports } from '../../../../src/features/diff/diffReports.ts';
import {
  type BuildManifest,
  buildWords,
  differingNames,
  requestText,
} from '../../../../src/kernel/build/buildManifest.ts';
import type { DiffInput } from '../../../../src/kernel/report/buildDiff.ts';
import { renderText } from '../../../../src/kernel/document/render.ts';
import { reportWith } from './reportWith.ts';

const hash = '0x7f184016605475328bf540af22775c14';
const names = ['Conv1', 'Relu2', 'Add3'];
const side = (times: (number | null)[], more: Partial<DiffInput> = {}): DiffInput => {
  const groups = times.length === 1 ? [names] : [['Conv1'], ['Relu2', 'Add3']];
  const report = reportWith(
    names,
    groups.map((nodes) => ({ nodes })),
  );
  for (const [at, layer] of report.layers.entries()) {
    layer.averageMs = times[at]!;
    layer.tactic = `__myl_ConvReluAdd${at}_${hash}`;
  }
  return { source: 's', report, ...more };
};
const lines = (a: DiffInput, b: DiffInput) => renderText(diffDocument(diffReports(a, b))).split('\n');

const manifest = (options: BuildManifest['options'], more: Partial<BuildManifest> = {}): BuildManifest => ({
  schema: 1,
  id: 'id',
  model: { file: '/models/vit.onnx', sha256: 'same', bytes: 1 },
  backend: 'trtexec',
  origin: 'built',
  tensorrt: { product: 'tensorrt', version: '10.6.0' },
  gpu: 'A100',
  driver: null,
  command: [],
  options,
  started: '2026-01-01T09:36:00Z',
  seconds: 1,
  result: 'passed',
  error: null,
  files: { log: null, layers: null, profile: null, engine: null },
  ...more,
});

test('leads with what differs in the request, then with what it costs and why', () => {
  const shown = lines(side([1]), side([1, 0.5]));
  expect(shown.slice(0, 2)).toEqual(['m.onnx: two builds', '50 % slower: Conv + Relu split.']);
  expect(lines(side([1, 0.5]), side([0.75]))[1]).toBe('50 % faster: Conv + Relu fused.');
  expect(lines(side([1]), side([1.001]))[1]).toBe('Nothing is computed differently, +0.1 % is noise.');
  expect(lines(side([1]), side([1]))[1]).toBe('Nothing is computed differently, in the same time.');
  expect(lines(side([1]), side([1.5]))[1]).toBe('50 % slower, with nothing known to be computed differently.');
  expect(lines(side([null]), side([null, null]))[1]).toBe('Conv + Relu split; times unknown.');
  const requested = side([1], { manifest: manifest({ precision: 'fp16' }) });
  expect(lines(requested, requested)[0]).toBe('m.onnx: the same request');
});

test('says what differs in what was requested', () => {
  const fp16 = manifest({ precision: 'fp16' });
  const rules = manifest({ precision: 'fp16', overrides: '/models/vit.trtprec' });
  expect(requestText(manifest({}), fp16)).toBe('FP32 → FP16');
  expect(requestText(manifest({}), rules)).toBe('FP32 → FP16 by vit.trtprec');
  expect(requestText(fp16, rules)).toBe('by vit.trtprec');
  expect(requestText(rules, fp16)).toBe('without vit.trtprec');
  expect(requestText({ ...rules, rulesSha256: 'a' }, { ...rules, rulesSha256: 'b' })).toBe(
    'other rules in vit.trtprec',
  );
  expect(requestText(fp16, { ...fp16, tensorrt: { product: 'tensorrt', version: '11.2.1' }, gpu: 'L4' })).toBe(
    'TensorRT 10.6.0 → 11.2.1; A100 → L4',
  );
  expect(requestText(fp16, { ...fp16, model: { file: 'b/vit.onnx', sha256: 'other', bytes: 1 } })).toBe(
    'vit.onnx has changed',
  );
  expect(requestText(fp16, manifest({ precision: 'fp16', noTF32: true, workspace: 512 }))).toBe(
    'with noTF32; workspace default → 512',
  );
  // What only one side knows is no difference; where an engine went is none, either.
  expect(requestText(fp16, manifest({ precision: 'fp16', engine: '/a.engine' }, { gpu: null }))).toBe('');
  expect(requestText(manifest({}, { origin: 'imported' }), fp16)).toBe('');
});

test('names two builds by what differs', () => {
  const fp16 = manifest({ precision: 'fp16' });
  expect(differingNames(manifest({}), fp16)).toEqual(['FP32', 'FP16']);
  expect(differingNames(fp16, manifest({ precision: 'fp16', overrides: 'vit.trtprec' }))).toEqual([
    'no overrides',
    'vit.trtprec',
  ]);
  expect(differingNames(manifest({ noTF32: true }), fp16)).toEqual(['FP32', 'FP16']);
  expect(differingNames(manifest({ noTF32: true }), manifest({ workspace: 9 }))).toEqual([
    'with noTF32 · workspace default',
    'without noTF32 · workspace 9',
  ]);
  expect(differingNames(fp16, fp16)).toEqual(['', '']);
  expect(differingNames(fp16, { ...manifest({}), name: 'mine' })).toEqual(['FP16', 'mine']);
  expect(
    buildWords(manifest({ overrides: 'x/vit.trtprec' }, { tensorrt: { product: 'tensorrt-rtx', version: '1.7.1' } })),
  ).toEqual(['vit.trtprec', 'RTX 1.7']);
});

test('names the side that has no engine, and why', () => {
  const shown = lines(side([1]), side([null, null], { failed: 'the build failed: out of memory.' }));
  expect(shown[1]).toBe('✗ B failed: out of memory.');
});

test('folds the names of kernels, unless all of them is asked for', () => {
  const folded = lines(side([1]), side([1, 0.5])).join('\n');
  expect(folded).toContain('__myl_ConvReluAdd0_0x7f18…');
  expect(folded).not.toContain(hash);
});
