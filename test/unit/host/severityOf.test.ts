import { expect, it } from 'vitest';
import { severityOf } from '../../../src/host/builds/internal/severityOf.ts';

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
