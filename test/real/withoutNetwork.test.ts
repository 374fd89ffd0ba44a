import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { runProcess } from '../../src/kernel/node/tools/runProcess.ts';
import { interpreter, oldestRuntimeForTests, pythonForTests } from '../support/python.ts';
import { temporaryFolder } from '../support/rtx.ts';

const cli = join(import.meta.dirname, '../../dist/cli.js');
const root = temporaryFolder();
const folder = join(root, 'models');
const marks = join(root, 'marks');

/** Root may take the network away from a program; elsewhere the package index is out of reach. */
const alone = spawnSync('unshare', ['-n', 'true']).status === 0 ? ['unshare', '-n'] : [];

/** A virtual environment with nothing but packages of a folder, made without a network, too. */
async function environment(name: string, site: string): Promise<string> {
  const python = await interpreter();
  const place = join(root, name);
  const args = [...python.args, '-m', 'venv', '--without-pip', place];
  expect((await runProcess({ program: python.program, args })).code).toBe(0);
  const version = python.version.slice(0, 2).join('.');
  const packages = process.platform === 'win32' ? 'Lib/site-packages' : `lib/python${version}/site-packages`;
  writeFileSync(join(place, packages, 'packages.pth'), `${site}\n`);
  return join(place, process.platform === 'win32' ? 'Scripts' : 'bin');
}

let bins: Record<string, string>;
beforeAll(async () => {
  mkdirSync(folder);
  mkdirSync(marks);
  const python = await pythonForTests();
  await python.repairModels(folder);
  cpSync('test/fixtures/models/fp16_overflow.onnx', join(folder, 'model.onnx'));
  for (const name of ['json', 'numpy', 'onnxruntime', 'platform', 'zipfile', 'gzip', 'sitecustomize'])
    writeFileSync(join(folder, `${name}.py`), `open(${JSON.stringify(join(marks, name))}, "w").close()\n`);
  for (const [name, value] of [
    ['a', '[1, 2]'],
    ['b', '[1, 2.001]'],
  ])
    writeFileSync(join(folder, `${name}.json`), `[{ "name": "y", "dimensions": "2", "values": ${value} }]`);
  bins = {
    oldest: await environment('oldest', await oldestRuntimeForTests()),
    pinned: await environment('pinned', python.runtime.environment['PYTHONPATH']!),
  };
});

const commands = [
  ['accuracy', 'model.onnx'],
  ['sweep', 'model.onnx', '--precisions', 'fp32,fp16'],
  ['compare', 'a.json', 'b.json'],
  ['repair', 'pair_128.onnx', '--tensorrt', '10.6', '--force'],
];

/** In an empty home, next to planted modules. */
function run(args: readonly string[], path: string) {
  const env = {
    HOME: join(root, 'home'),
    PATH: `${path}:/usr/bin:/bin`,
    PYTHONPATH: ':.',
    PIP_INDEX_URL: 'http://127.0.0.1:9/',
    PIP_RETRIES: '0',
  };
  const [program, ...rest] = [...alone, process.execPath, cli, ...args] as [string, ...string[]];
  return spawnSync(program, rest, { cwd: folder, env, encoding: 'utf8', timeout: 120_000 });
}

test.each(['oldest', 'pinned'].flatMap((which) => commands.map((command) => [which, command[0]!, command] as const)))(
  'the %s ONNX Runtime of an environment does for %s',
  (which, _, command) => {
    const { stdout, stderr } = run([...command, '--json'], bins[which]!);
    expect(stdout, stderr).toContain('{');
    const { runtime } = JSON.parse(stdout) as { runtime?: { python: string; onnxruntime: string } };
    expect(runtime?.python, stderr).toBe(join(bins[which]!, 'python3'));
    if (which === 'oldest') expect(runtime?.onnxruntime).toBe('1.21.0');
    expect(readdirSync(marks), 'files next to the model that ran').toEqual([]);
    if (command[0] !== 'repair') expect(run(command, bins[which]!).stdout).toContain(`of ${runtime?.python}.`);
  },
);

test('an interpreter is chosen with --python, relative to the folder', () => {
  const { stdout, stderr } = run([...commands[2]!, '--json', '--python', '../oldest/bin/python'], bins['pinned']!);
  expect(stdout, stderr).toContain('"1.21.0"');
});

test('with nothing to use and no network, the error has pip’s lines for wheels from another machine', async () => {
  const python = (await interpreter()).path;
  const { stderr, status } = run([...commands[0]!, '--yes', '--python', python], '/nowhere');
  expect(status, stderr).toBe(2);
  expect(stderr).toMatch(/pip download .*--platform manylinux_2_28_\w+ .*-d wheels onnxruntime==/);
  expect(stderr).toMatch(/-m pip install --no-deps --no-index --find-links wheels onnxruntime==/);
});
