import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { allowReplacingAll } from '../../../../src/kernel/node/files/replacing.ts';
import { writePlugin } from '../../../../src/features/surgery/node/writePlugin.ts';
import { fixturePath } from '../../../support/fixtures.ts';

const folder = mkdtempSync(join(tmpdir(), 'plugin-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, more: { nodes?: string[]; force?: boolean; signal?: AbortSignal } = {}) =>
  writePlugin({
    path: fixturePath('builds/identities/model.onnx'),
    nodes: ['1'],
    name: 'MyRelu',
    domain: 'custom',
    out: join(folder, name),
    ...more,
  });

it('overwrites nothing that it did not make', async () => {
  for (const [name, file] of [
    ['project', 'CMakeLists.txt'],
    ['models', 'model.onnx'],
  ] as const) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, file), 'mine');
    // oxlint-disable-next-line no-await-in-loop -- two
    await expect(write(name)).rejects.toThrow(`${file} already exists and is not`);
    expect(readdirSync(join(folder, name))).toEqual([file]);
    expect(readFileSync(join(folder, name, file), 'utf8')).toBe('mine');
  }
  allowReplacingAll(true);
  expect((await write('project')).files).toContain(join(folder, 'project', 'CMakeLists.txt'));
  allowReplacingAll(false);
});

it('can be run again, but keeps a kernel that was edited', async () => {
  await write('again');
  await write('again');
  const source = join(folder, 'again', 'MyRelu_plugin.cpp');
  writeFileSync(source, `${readFileSync(source, 'utf8')}// my kernel\n`);
  await expect(write('again')).rejects.toThrow('MyRelu_plugin.cpp already exists');
});

it('leaves nothing when it ends early', async () => {
  await expect(write('new/deep', { signal: AbortSignal.abort() })).rejects.toThrow();
  expect(readdirSync(folder)).not.toContain('new');
});
