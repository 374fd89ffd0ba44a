import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
// @ts-expect-error -- the script is plain JavaScript
import * as script from '../../scripts/generate.mjs';
// @ts-expect-error -- as above
import * as sources from '../../scripts/generate/loadSource.mjs';
// @ts-expect-error -- as above
import * as texts from '../../scripts/generate/manifestTexts.mjs';
import { temporaryFolder } from '../support/rtx.ts';

type Producer = (read: (file: string) => string | undefined) => { file: string; content: string }[];
const generate = script.generate as (
  list?: Producer[],
  folder?: string,
) => Promise<{ files: Map<string, string>; stale: string[] }>;
const manifestTexts = texts.manifestTexts as Producer;

const folder = temporaryFolder();

it('what is generated from the sources is up to date', async () => {
  const { stale } = await generate();
  expect(stale, 'run npm run generate').toEqual([]);
});

it('a file that is missing or differs is stale, one that is equal after formatting is not', async () => {
  writeFileSync(join(folder, 'same.json'), '{ "a": 1 }\n');
  writeFileSync(join(folder, 'other.json'), '{ "a": 2 }\n');
  const producer: Producer = () =>
    ['same.json', 'other.json', 'none.json'].map((file) => ({ file, content: '{"a":1}' }));
  expect((await generate([producer], folder)).stale).toEqual(['other.json', 'none.json']);
});

it('a producer extends what an earlier one made of the same file, and keeps the rest of it', async () => {
  writeFileSync(join(folder, 'doc.md'), 'old\n');
  const first: Producer = (read) => [{ file: 'doc.md', content: `${read('doc.md')}new\n` }];
  const second: Producer = (read) => [{ file: 'doc.md', content: `${read('doc.md')}more\n` }];
  const { files } = await generate([first, second], folder);
  expect(files.get('doc.md')).toBe('old\nnew\nmore\n');
  expect(readFileSync(join(folder, 'doc.md'), 'utf8')).toBe('old\n');
});

it('a TypeScript module of the sources is loaded with what it imports', async () => {
  const loaded = await (
    sources.loadSource as (path: string) => Promise<{ memoryPools: (options: object) => object[] }>
  )('src/kernel/build/buildOptions.ts');
  expect(loaded.memoryPools({ pools: { dlaSRAM: 1 } })).toMatchObject([{ bindingName: 'dla_managed_sram' }]);
});

it('the texts of the manifest are moved to package.nls.json, and stay there under the key of their place', () => {
  const made = (contributes: object, known: object) =>
    manifestTexts((file) => JSON.stringify(file === 'package.json' ? { contributes } : known)).map(
      ({ content }) => JSON.parse(content) as unknown,
    );
  const command = { command: 'tensorrtLens.a', title: 'Do A', category: 'TensorRT', icon: '$(tools)' };
  const commands = [{ ...command, title: '%commands.a.title%', category: '%category%' }];
  const known = { 'commands.a.title': 'Do A', category: 'TensorRT' };
  expect(made({ commands: [command] }, { gone: 'A text that nothing names' })).toEqual([
    { contributes: { commands } },
    known,
  ]);
  expect(made({ commands }, known)).toEqual([{ contributes: { commands } }, known]);
  expect(() => made({ commands }, {})).toThrow("'%commands.a.title%' is not in package.nls.json");
});

it('no sentence is left in the manifest, but for patterns and what agents read', () => {
  const { contributes } = JSON.parse(readFileSync('package.json', 'utf8')) as { contributes: object };
  const left: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value === 'string') {
      if (/[a-z] [a-z]+ [a-z]/i.test(value)) left.push(`${path}: ${value}`);
    } else if (value !== null && typeof value === 'object')
      for (const [name, item] of Object.entries(value))
        if (!/^(?:when|enablement|regexp|modelDescription|inputSchema)$/.test(name)) visit(item, `${path}.${name}`);
  };
  visit(contributes, 'contributes');
  expect(left).toEqual([]);
});
