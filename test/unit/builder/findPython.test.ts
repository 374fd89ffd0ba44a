import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findPython } from '../../../src/builder/tools/findPython.ts';
import { fakeTool } from '../../support/fakeTool.ts';
import { temporaryFolder } from '../../support/rtx.ts';

test('an interpreter on the PATH that suited is not asked again for a while, one that did not suit or was chosen is', async () => {
  const folder = temporaryFolder();
  const calls = join(folder, 'calls');
  const python = fakeTool(
    folder,
    'python3',
    `require('fs').appendFileSync(${JSON.stringify(calls)}, '.');
console.log(JSON.stringify({ path: __filename, version: [3, 11, 2], tag: 'cp311', platform: 'linux-x86_64', libc: '', modules: [] }));`,
  );
  const { PATH } = process.env;
  process.env['PATH'] = folder;
  try {
    let suits = true;
    const find = (chosen?: string) =>
      findPython({ chosen, reject: ({ path }) => (suits && path === python ? undefined : 'no'), advice: 'None.' });
    const first = await find();
    expect(first).toMatchObject({ program: 'python3', path: python });
    expect(await find()).toEqual(first);
    expect(readFileSync(calls, 'utf8')).toBe('.');
    await find(python);
    expect(readFileSync(calls, 'utf8')).toBe('..');
    suits = false;
    await expect(find()).rejects.toThrow(`${python} (Python 3.11.2): no`);
    expect(readFileSync(calls, 'utf8')).toBe('...');
  } finally {
    process.env['PATH'] = PATH;
  }
});
