import { expect, test } from 'vitest';
import { diffDocument, diffReports } from '../../../../src/core/diff/diffReports.ts';
import type { DiffInput } from '../../../../src/core/diff/buildDiff.ts';
import { renderText } from '../../../../src/core/document/render.ts';
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
const lines = (a: DiffInput, b: DiffInput, full = false) =>
  renderText(diffDocument(diffReports(a, b), { full })).split('\n');

test('leads with what a change costs', () => {
  expect(lines(side([1]), side([1, 0.5]))[0]).toBe('m.onnx: B is 0.500 ms slower (+50.0 %), 1 change');
  expect(lines(side([1, 0.5]), side([0.75]))[0]).toBe('m.onnx: B is 0.750 ms faster (−50.0 %), 1 change');
  expect(lines(side([1]), side([1.001]))[0]).toBe('m.onnx: B takes the same time, no differences');
  expect(lines(side([null]), side([null, null]))[0]).toBe('m.onnx: 1 change');
});

test('names the side that has no engine, and why', () => {
  const shown = lines(side([1]), side([null, null], { failed: 'the build failed: out of memory.' }));
  expect(shown[0]).toMatch(/^m\.onnx: .* in what both sides know$/);
  expect(shown[1]).toBe('✗ B has no engine: the build failed: out of memory.');
});

test('folds the names of kernels, unless all of them is asked for', () => {
  const folded = lines(side([1]), side([1, 0.5])).join('\n');
  expect(folded).toContain('__myl_ConvReluAdd0_0x7f18…');
  expect(folded).not.toContain(hash);
  expect(lines(side([1]), side([1, 0.5]), true).join('\n')).toContain(`__myl_ConvReluAdd0_${hash}`);
});
