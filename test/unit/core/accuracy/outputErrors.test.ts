import { expect, it } from 'vitest';
import {
  type ComparedOutput,
  outputErrors,
  trialError,
  worstError,
} from '../../../../src/core/accuracy/outputErrors.ts';

const output = (given: Partial<ComparedOutput>): ComparedOutput => ({
  name: 'y',
  kind: 'float',
  shape: [2],
  max: 1,
  error: 0,
  finite: true,
  ...given,
});

it('the worst sample counts, and what is not finite in one sample is not finite', () => {
  const samples = [[output({ error: 0.1, max: 3 })], [output({ error: 0.3, max: 2 })]];
  expect(outputErrors(samples, false)).toEqual([
    { name: 'y', max: 3, error: 0.3, finite: true, judged: true, mean: 0.2 },
  ]);
  expect(trialError(samples, false)).toBe(0.3);
  const broken = [...samples, [output({ error: null, finite: false })]];
  expect(outputErrors(broken, false)[0]).toMatchObject({ error: null, finite: false, mean: null });
  expect(trialError(broken, false)).toBe(Infinity);
  expect(worstError(outputErrors(broken, false))).toBeNull();
});

it('outputs of other types than floating point count only on request', () => {
  const samples = [[output({ error: 0.01 }), output({ name: 'class', kind: 'other', max: null, error: 0.5 })]];
  expect(trialError(samples, false)).toBe(0.01);
  expect(worstError(outputErrors(samples, false))).toBe(0.01);
  expect(trialError(samples, true)).toBe(0.5);
  expect(worstError(outputErrors(samples, true))).toBe(0.5);
});
