import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
// @ts-expect-error -- the generators are plain JavaScript
import { readTypes as readTypesOf } from '../../scripts/generate/readTypes.mjs';
import { buildManifest } from '../support/buildManifest.ts';
import { readSchema, schemaViolations, withoutOtherFields } from '../support/jsonSchema.ts';
import { temporaryFolder } from '../support/rtx.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = temporaryFolder();
const readTypes = readTypesOf as (file: string, name: string) => { name: string; fields?: { schema: object }[] }[];

test('manifests of builds fit their schema', () => {
  const schema = withoutOtherFields(readSchema('build-manifest'));
  const recorded = readdirSync(join(root, 'examples/recorded')).map((name) =>
    readFileSync(join(root, 'examples/recorded', name, 'manifest.json'), 'utf8'),
  );
  expect(recorded.length).toBeGreaterThan(0);
  for (const text of [...recorded, JSON.stringify(buildManifest())])
    expect(schemaViolations(JSON.parse(text), schema)).toEqual([]);
  expect(schemaViolations({ ...buildManifest(), result: 'good', seconds: '3', more: 1 }, schema)).toEqual([
    '.seconds',
    '.result',
    '.more',
  ]);
});

/** The types that a source text declares, from `Contract` on. */
function typesIn(text: string): ReturnType<typeof readTypes> {
  const file = join(folder, 'contract.ts');
  writeFileSync(file, text);
  return readTypes(relative(root, file), 'Contract');
}

test('the generator reads the forms that contracts use', () => {
  const [contract, other] = typesIn(`export interface Contract {
    /** One. */
    a: readonly (number | string | null)[];
    /** Two. */
    b?: 'x' | null;
    /** Three. */
    c: Record<string, Other>;
    /** Four. */
    d: { e: number | null; f?: string[] };
    /** Five. */
    g: Other[] | null;
  }
  export type Other =
    /** the first */
    | 'p' | 'q';`);
  expect(contract!.fields!.map(({ schema }) => schema)).toEqual([
    { type: 'array', items: { type: ['number', 'string', 'null'] } },
    { enum: ['x', null] },
    { type: 'object', additionalProperties: { $ref: '#/definitions/Other' } },
    {
      type: 'object',
      required: ['e'],
      properties: { e: { type: ['number', 'null'] }, f: { type: 'array', items: { type: 'string' } } },
    },
    { type: ['array', 'null'], items: { $ref: '#/definitions/Other' } },
  ]);
  expect(other).toEqual({
    name: 'Other',
    doc: '',
    values: [
      { value: 'p', doc: 'the first' },
      { value: 'q', doc: '' },
    ],
  });
});

test('the generator refuses what it cannot describe', () => {
  expect(() => typesIn('export interface Contract { a: number; }')).toThrow('Contract.a has no doc comment');
  expect(() => typesIn('export interface Contract { /** A. */ a: Map<string, number>; }')).toThrow('has no type Map');
  expect(() => typesIn('export interface Contract { /** A. */ a: keyof typeof x; }')).toThrow(
    'not a form of a contract',
  );
});
