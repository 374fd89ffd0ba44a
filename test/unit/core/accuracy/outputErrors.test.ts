import { expect, it } from 'vitest';
import {
  type ComparedOutput,
  outputErrors,
  trialError,
  worstError,
} from '../../../../src/core/accuracy/accuracyReport.ts';

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
  expect(outputErrors(samples, 'float')).toEqual([
    { name: 'y', max: 3, error: 0.3, finite: true, judged: true, mean: 0.2 },
  ]);
  expect(trialError(samples, 'float')).toBe(0.3);
  const broken = [...samples, [output({ error: null, finite: false })]];
  expect(outputErrors(broken, 'float')[0]).toMatchObject({ error: null, finite: false, mean: null });
  expect(trialError(broken, 'float')).toBe(Infinity);
  expect(worstError(outputErrors(broken, 'float'))).toBeNull();
});

it('outputs of other types than floating point count only on request', () => {
  const samples = [[output({ error: 0.01 }), output({ name: 'class', kind: 'other', max: null, error: 0.5 })]];
  expect(trialError(samples, 'float')).toBe(0.01);
  expect(worstError(outputErrors(samples, 'float'))).toBe(0.01);
  expect(trialError(samples, 'all')).toBe(0.5);
  expect(worstError(outputErrors(samples, 'all'))).toBe(0.5);
  expect(trialError(samples, ['class'])).toBe(0.5);
  expect(outputErrors(samples, ['y']).map(({ name, judged }) => [name, judged])).toEqual([
    ['y', true],
    ['class', false],
  ]);
});
