import fc from 'fast-check';
import { expect, test } from 'vitest';
import { printJson, type Terminal } from '../../../src/cli/terminal.ts';

async function printed(value: unknown): Promise<string[]> {
  const pieces: string[] = [];
  const terminal: Pick<Terminal, 'out'> = { out: (text) => Promise.resolve(void pieces.push(text)) };
  await printJson(terminal as Terminal, value);
  return pieces;
}

test('prints what JSON.stringify gives, whatever the value', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      expect((await printed(value)).join('')).toBe(`${JSON.stringify(value, null, 2)}\n`);
    }),
  );
  for (const value of [
    { a: undefined, b: [undefined, {}], c: { d: undefined } },
    { text: 'a\nb', list: [] },
    undefined,
  ])
    expect((await printed(value)).join('')).toBe(`${JSON.stringify(value, null, 2) ?? 'null'}\n`);
});

test('prints a large document in pieces', async () => {
  const nodes = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `/layer/${id}`, layers: [id, id + 1] }));
  const pieces = await printed({ schema: 1, nodes });
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(100_000);
  expect(JSON.parse(pieces.join(''))).toEqual({ schema: 1, nodes });
});
