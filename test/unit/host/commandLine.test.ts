import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');
/** What reaches the editor; gate files and reports of accuracy name the command that writes their input. */
const folders = [
  'src/host',
  'src/server',
  'src/core/build',
  'src/core/diagnose',
  'src/core/fusion',
  'src/core/precision',
];
/** Help of the command line, and scripts that it writes. */
const own = new Set(['buildOptions.ts', 'launcher.ts']);

it('no text of the editor tells people to use the command line', () => {
  const found = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !own.has(file))
      .flatMap((file) => {
        const code = readFileSync(join(root, folder, file), 'utf8').replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '');
        return code.match(/.*\btrtlens [a-z].*/g)?.map((line) => `${file}: ${line.trim()}`) ?? [];
      }),
  );
  expect(found).toEqual([]);
});
