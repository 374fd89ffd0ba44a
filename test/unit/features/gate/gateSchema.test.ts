import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { gateRules } from '../../../../src/features/gate/gateFile.ts';
import { readGate } from '../../../../src/features/gate/readGate.ts';
import { units } from '../../../../src/features/gate/internal/readLimit.ts';
import { readSchema, schemaViolations } from '../../../support/jsonSchema.ts';

const schema = readSchema('gate');
const reads = (value: unknown) => readGate(stringify(value)).problems.length === 0;
const fits = (value: unknown) => schemaViolations(value, schema).length === 0;

/** What stands behind keys of gate files, right or wrong. */
const scalar = fc.oneof(
  fc.integer({ min: -3, max: 40 }),
  fc.constantFrom(0.01, 1.5, true, 'fused', 'fp16', 'Half', 'half way', '', '5%', '+5 %', '+2', '-3%', '1e-3', 'x y'),
  fc
    .tuple(
      fc.constantFrom('', '+', '-'),
      fc.constantFrom('0', '12', '0.5', '3e2'),
      fc.constantFrom('', ' '),
      fc.constantFrom('%', ...Object.values(units).flatMap((known) => Object.keys(known))),
    )
    .map((parts) => parts.join('')),
);
const keys = ['max', 'min', 'optional', 'is', 'inputs', 'typo', '/blocks.*'].concat(
  Object.values(gateRules).flatMap(({ keys: own = {} }) => Object.keys(own)),
);
const rule = fc.oneof(scalar, fc.dictionary(fc.constantFrom(...keys), scalar, { minKeys: 1, maxKeys: 2 }));

test('the schema and the reader accept the same limits', () => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(gateRules), 'kernel'), rule, (name, value) => {
      const gate = { rules: { kernels: 1, [name]: value } };
      const read = reads(gate);
      accepted += Number(read);
      expect(fits(gate), JSON.stringify(gate)).toBe(read);
    }),
    { numRuns: 4000 },
  );
  expect(accepted).toBeGreaterThan(300);
});

test('the schema and the reader accept the same files', () => {
  const good = { model: 'm.onnx', baseline: 'b.json', rules: { kernels: 3 } };
  for (const [value, expected] of [
    [good, true],
    [{ ...good, base: 'b.json' }, false],
    [{ model: 'm.onnx' }, false],
    [{ rules: {} }, false],
    [{ rules: { precision: { optional: true } } }, false],
    [[], false],
  ] as const) {
    expect(reads(value), JSON.stringify(value)).toBe(expected);
    expect(fits(value), JSON.stringify(value)).toBe(expected);
  }
});

test('limits that YAML reads as numbers fit, too', () => {
  const text =
    'rules: { kernels: { max: +2, min: 1 }, reformats: { microseconds: 20.5 }, accuracy: 1e-2, time: { total: 0 } }';
  expect(schemaViolations(parse(text), schema)).toEqual([]);
  expect(readGate(text).problems).toEqual([]);
});
