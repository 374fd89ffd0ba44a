import { spawn } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { findProgram } from '../../../../src/kernel/node/tools/findProgram.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

/** Names that Python, pip, venv and our probes import: beside a downloaded model any of them may be someone's. */
const planted = [
  'json.py',
  'importlib.py',
  'platform.py',
  'sysconfig.py',
  'pip.py',
  'venv.py',
  'virtualenv.py',
  'ensurepip.py',
  'numpy.py',
  'onnx.py',
  'onnxruntime.py',
  'tensorrt/__init__.py',
  'polygraphy/__init__.py',
  'sitecustomize.py',
  'usercustomize.py',
];
const root = temporaryFolder();
const folder = join(root, 'model');
const marks = join(root, 'marks');
const bin = join(root, 'bin');
for (const file of planted) {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  const mark = join(marks, file.replaceAll('/', '-'));
  writeFileSync(path, `open(${JSON.stringify(mark)}, "w").close()\nraise ImportError("planted")\n`);
}
cpSync('test/fixtures/models/fp16_overflow.onnx', join(folder, 'model.onnx'));
mkdirSync(marks);
mkdirSync(join(folder, 'modules'));
mkdirSync(join(root, 'elsewhere'));
mkdirSync(bin);
for (const name of ['a', 'b']) writeFileSync(join(folder, `${name}.json`), '{}');

/**
 * Python's own program, found past version managers, behind a script that writes down where it starts and with what.
 * Other names than `python3` do not answer, so that no search goes on to the machine's other interpreters.
 */
const real = await (async () => {
  const ask = spawn((await findProgram('python3'))!, ['-I', '-c', 'import sys; print(sys.executable)']);
  let said = '';
  for await (const text of ask.stdout) said += String(text);
  return said.trim();
})();
const calls = join(root, 'calls');
const spy = `#!/bin/sh
printf '%s\\t%s\\t%s\\t%s\\n' "$PWD" "$(ls -A | wc -l)" "\${PYTHONPATH-unset}" "$1" >> '${calls}'
exec '${real}' "$@"
`;
writeFileSync(join(bin, 'python3'), spy);
// Polygraphy is a script of Python: this one says what it is, then its interpreter is asked for TensorRT.
writeFileSync(
  join(bin, 'polygraphy'),
  `#!${join(bin, 'python3')}\nimport json\nprint("Polygraphy | Version: 0.49.0")\n`,
);
for (const name of ['python3', 'polygraphy']) chmodSync(join(bin, name), 0o755);

interface Call {
  cwd: string;
  files: number;
  path: string;
  first: string;
}

/** Runs a command in the folder; nothing can be downloaded, but what starts Python to install still does. */
async function run(args: string[], PYTHONPATH: string | undefined): Promise<{ calls: Call[]; said: string }> {
  rmSync(calls, { force: true });
  const env = {
    ...(PYTHONPATH !== undefined && { PYTHONPATH }),
    HOME: root,
    PATH: `.::${bin}:/usr/bin:/bin`,
    TENSORRT_LENS_CACHE: join(root, 'cache'),
    PIP_INDEX_URL: 'http://127.0.0.1:9/',
    PIP_RETRIES: '0',
    PIP_TIMEOUT: '1',
  };
  const cli = join(inject('cli'), 'cli.js');
  const child = spawn(process.execPath, [cli, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (said += text.toString()));
  await new Promise((done) => child.on('close', done));
  const lines = existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [];
  const noted = lines.map((line): Call => {
    const [cwd = '', files = '', path = '', first = ''] = line.split('\t');
    return { cwd, files: Number(files), path, first };
  });
  return { calls: noted, said };
}

/** PYTHONPATH, and what Python may get of it. */
const settings: [path: string | undefined, safe: string][] = [
  [undefined, 'unset'],
  ['', 'unset'],
  [':', 'unset'],
  ['.', 'unset'],
  [`:${join(root, 'elsewhere')}`, join(root, 'elsewhere')],
  ['modules', join(folder, 'modules')],
];

/** Each way in which a command starts Python. */
const commands = [
  ['check', 'model.onnx'],
  ['build', 'model.onnx', '--backend', 'python'],
  ['build', 'model.onnx', '--backend', 'polygraphy'],
  ['accuracy', 'model.onnx'],
  ['sweep', 'model.onnx'],
  ['compare', 'a.json', 'b.json'],
  ['repair', 'model.onnx', '-o', 'repaired.onnx'],
  ['what-if', 'model.onnx', '--opset', '19'],
  ['accuracy', 'model.onnx', '--python', '../bin/python3'],
];

const expectSafe = ({ calls: made, said }: Awaited<ReturnType<typeof run>>, safe: string): void => {
  expect(readdirSync(marks), said).toEqual([]);
  expect(made.length, said).toBeGreaterThan(0);
  for (const { cwd, files, path } of made) {
    expect({ cwd: cwd.startsWith(folder), files }, said).toEqual({ cwd: false, files: 0 });
    // Some calls remove it on purpose.
    expect([safe, 'unset']).toContain(path);
  }
  expect(made.map(({ path }) => path)).toContain(safe);
};

// Fifty programs, one after the other, start Python.
test('no file next to a model runs when Python starts, whatever PYTHONPATH says', { timeout: 600_000 }, async () => {
  for (const [path, safe] of settings)
    for (const command of commands)
      // oxlint-disable-next-line no-await-in-loop -- they share the list of calls
      expectSafe(await run(command, path), safe);
});

test('nor when a private environment is made', async () => {
  const made = await run(['setup', 'calibration', '--yes'], ':');
  expectSafe(made, 'unset');
  expect(made.calls.map(({ first }) => first)).toContain('-m');
  expect(made.said).toContain('Could not install');
});
