import { expect, it } from 'vitest';
import { progressText } from '../../../src/host/builds/progressText.ts';
import { severityOf } from '../../../src/host/builds/severityOf.ts';

it.each([
  ['[V] [TRT] Original: 897 layers', 'verbose'],
  ['[11/21/2026-10:00:00] [E] Error[3]: bad', 'error'],
  ['[F] [TRT] internal', 'error'],
  ['[W] [stderr] hm', 'warning'],
  ['[I] done', 'info'],
  ['&&&& PASSED', 'info'],
  ['[ONNX Layer: x]', 'info'],
] as const)('%s', (line, severity) => {
  expect(severityOf(line)).toBe(severity);
});

it('says a step of a build in few words', () => {
  expect(progressText({ phase: 'Timing tactics', step: 12, steps: 40 })).toBe('Timing tactics 12/40');
  expect(progressText({ phase: 'Determining refit engines', step: 0, steps: 1 })).toBe('Determining refit engines');
  expect(progressText({ phase: 'Timing tactics', finished: true })).toBe('Timing tactics');
});
