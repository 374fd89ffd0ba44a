import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  cannotCarry,
  dialectOf,
  readLayerSpecs,
  specFor,
  type TrtexecDialect,
  writeLayerSpecs,
} from '../../../../src/kernel/build/trtexecFlags.ts';
import {
  InvalidArgument,
  layerOutputTypes,
  layerPrecisions,
  plausible,
  ported,
  type PortedDialect,
} from './trtexecPort.ts';

const dialects: [string, TrtexecDialect, PortedDialect][] = [
  ['8.4', dialectOf([8, 4, 3]), ported.v84],
  ['8.6', dialectOf([8, 6, 1]), ported.v86],
  ['10.16', dialectOf([10, 16, 1]), ported.v10],
];

/** A small alphabet, so that names, patterns and separators meet often. */
const piece = fc.constantFrom('a', 'b', 'ab', '/', '*', '**', ':', "'", '.0', '+', ',', ' ');
const loose = fc.array(piece, { maxLength: 7 }).map((parts) => parts.join(''));
const type = fc.constantFrom('fp32', 'fp16', 'int8', 'fp32+fp16', 'fp32+', '');
const item = fc.oneof(
  fc.tuple(loose, type).map(([name, value]) => `${name}:${value}`),
  fc.tuple(loose, type).map(([name, value]) => `'${name}':${value}`),
  loose,
);
const layerName = fc
  .array(fc.constantFrom('a', 'b', 'ab', '/', '*', ':', '.0', ' '), { minLength: 1, maxLength: 7 })
  .map((p) => p.join(''));

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidArgument) return null;
    throw error;
  }
}

describe('trtexec specs', () => {
  test.each(dialects)('agrees with trtexec %s on 40,000 random specs and layers', (_, dialect, port) => {
    let matched = 0;
    let refused = 0;
    fc.assert(
      fc.property(
        fc.array(item, { maxLength: 4 }),
        fc.array(layerName, { minLength: 1, maxLength: 3 }),
        (items, layers) => {
          const value = items.join(',');
          const expected = attempt(() => layerPrecisions(value, port));
          const found = readLayerSpecs(value, 'layerPrecisions', dialect);
          expect(found.error === null).toBe(expected !== null);
          if (expected === null) {
            refused++;
            return;
          }
          expect(found.specs.map(({ name, types }) => [name, types[0]])).toEqual([...expected]);
          for (const layer of layers) {
            const { exact, keys } = plausible(expected, layer, port);
            const choice = specFor(layer, found.specs, dialect);
            expect(choice?.specs.map(({ name }) => name) ?? []).toEqual(keys);
            if (choice) {
              expect(choice.exact).toBe(exact);
              matched++;
            }
          }
        },
      ),
      { numRuns: 40_000 },
    );
    expect(matched).toBeGreaterThan(500);
    expect(refused).toBeGreaterThan(500);
  });

  test.each(dialects)('reads output types as trtexec %s does', (_, dialect, port) => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 3 }), (items) => {
        const value = items.join(',');
        const expected = attempt(() => layerOutputTypes(value, port));
        const found = readLayerSpecs(value, 'layerOutputTypes', dialect);
        expect(found.error === null).toBe(expected !== null);
        if (expected) expect(found.specs.map(({ name, types }) => [name, types])).toEqual([...expected]);
      }),
      { numRuns: 5000 },
    );
  });

  test.each(dialects)('every name that %s can carry comes back as the only match', (_, dialect, port) => {
    fc.assert(
      fc.property(fc.uniqueArray(layerName, { minLength: 1, maxLength: 4 }), (names) => {
        const carried = names.filter((name) => cannotCarry(name, dialect, names) === null);
        const specs = carried.map((name, i) => ({ name, types: [i % 2 ? 'fp32' : 'fp16'] }));
        const map = layerPrecisions(writeLayerSpecs(specs), port);
        for (const name of names) {
          const { keys } = plausible(map, name, port);
          expect(keys).toEqual(carried.includes(name) ? [name] : []);
        }
      }),
      { numRuns: 5000 },
    );
  });

  test('says why a name cannot be carried', () => {
    const newest = dialectOf(null);
    expect(cannotCarry('a,b', newest)).toContain('comma');
    expect(cannotCarry("it's", newest)).toContain('single quote');
    expect(cannotCarry('a*', newest, ['a*', 'abc'])).toContain('"abc"');
    expect(cannotCarry('a*', newest, ['a*', 'b'])).toBeNull();
    expect(cannotCarry('a*', dialectOf([8, 6, 1]), ['abc'])).toBeNull();
    expect(cannotCarry('*', dialectOf([8, 6, 1]))).toContain('all other layers');
    expect(cannotCarry('a:b c', newest)).toBeNull();
  });
});
