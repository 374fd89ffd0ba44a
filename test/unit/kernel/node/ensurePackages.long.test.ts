import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import {
  ensurePackages,
  findPackages,
  NotConfirmed,
  type SetUpOptions,
} from '../../../../src/kernel/node/tools/ensurePackages.ts';
import { packageSets } from '../../../../src/kernel/node/tools/packageSets.ts';
import { Cancelled } from '../../../../src/kernel/node/files/userError.ts';
import { fakeTool } from '../../../support/fakeTool.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

const rtxVersion = packageSets['tensorrt-rtx'].version;

// A stand-in for Python: says what FAKE says it is, writes down how it was called, makes environments of itself.
const body = `
const { appendFileSync, chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } = require('fs');
const { dirname, join } = require('path');
const home = process.env.FAKE_HOME;
const fake = JSON.parse(readFileSync(join(home, 'fake.json'), 'utf8'));
appendFileSync(join(home, 'calls'), JSON.stringify({ args, python: __filename, env: process.env.PYTHONPATH ?? null }) + '\\n');
const fail = (text) => { console.error(text); process.exit(1); };
if (args[0] === '-c') {
  if (!args[1].includes('importlib.util')) { if (fake.importError) fail(fake.importError); console.log('ok'); }
  else console.log(JSON.stringify({ path: __filename, version: [3, 11, 2], tag: 'cp311', platform: 'linux-x86_64', libc: 'glibc 2.36', modules: [], ...fake.is }));
} else if (args[1] === 'venv' || args[1] === 'virtualenv') {
  if (fake.venvError) fail(fake.venvError);
  mkdirSync(join(args[2], 'bin'), { recursive: true });
  copyFileSync(__filename, join(args[2], 'bin', 'python'));
  chmodSync(join(args[2], 'bin', 'python'), 0o755);
} else if (args[1] === 'pip') {
  if (args.includes('--version')) console.log('pip 23');
  else if (fake.hang) setInterval(() => {}, 1000);
  else if (fake.pipError && !args.includes('tensorrt-rtx-cu13==' + '${rtxVersion}')) fail(fake.pipError);
  else if (fake.sourceError && args.includes('tensorrt-rtx-cu13==' + '${rtxVersion}')) fail(fake.sourceError);
  else {
    const at = args.indexOf('--target');
    const site = at >= 0 ? args[at + 1] : join(dirname(dirname(__filename)), 'lib');
    mkdirSync(join(site, '__pycache__'), { recursive: true });
    writeFileSync(join(site, 'library.so'), 'native code');
    writeFileSync(join(site, '__pycache__/library.pyc'), 'compiled');
    console.log('Successfully installed ' + args.at(-1));
  }
} else fail('unexpected ' + args.join(' '));
`;

const setUpRtx = (chosen: SetUpOptions) => ensurePackages('tensorrt-rtx', chosen);
const findRtx = (chosen: Pick<SetUpOptions, 'python' | 'cache'>) => findPackages('tensorrt-rtx', chosen);

const folder = temporaryFolder();
const cache = join(folder, 'cache');
const python = fakeTool(folder, 'python3', body);
process.env['FAKE_HOME'] = folder;
afterAll(() => delete process.env['FAKE_HOME']);
const asked: string[] = [];
const told: string[] = [];
const yes = (text: string) => (asked.push(text), Promise.resolve(true));
const options = { python, cache, confirm: yes, progress: (line: string) => void told.push(line) };
const fake = (what: object) => writeFileSync(join(folder, 'fake.json'), JSON.stringify(what));
const calls = () =>
  readFileSync(join(folder, 'calls'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { args: string[]; python: string; env: string | null });
const everything = { is: { modules: ['venv', 'ensurepip', 'pip'] } };
const target = join(cache, `tensorrt-rtx-${rtxVersion}-cp311-linux-x86_64`);

beforeEach(() => {
  rmSync(cache, { recursive: true, force: true });
  rmSync(join(folder, 'calls'), { force: true });
  asked.length = told.length = 0;
  fake(everything);
});

test('asks once, saying what, whose, how much and whereto, and installs wheels only', async () => {
  const made = await setUpRtx(options);
  expect(made).toEqual({ folder: target, python: join(target, 'bin/python'), environment: {}, version: rtxVersion });
  expect(asked).toHaveLength(1);
  for (const part of [rtxVersion, 'NVIDIA', 'license', '100 MB', target]) expect(asked[0]).toContain(part);
  const installs = calls().filter(({ args }) => args[1] === 'pip');
  expect(installs[0]!.args).toContain('--only-binary=:all:');
  expect(installs[0]!.args).toContain(`tensorrt-rtx-cu13-libs==${rtxVersion}`);
  expect(installs[0]!.python).toBe(join(target, 'bin/python'));
  expect(told.at(-1)).toContain('is ready');
});

test('is done once: no question and no download the second time', async () => {
  await setUpRtx(options);
  const before = calls().length;
  const again = await setUpRtx({ ...options, confirm: () => Promise.reject(new Error('asked again')) });
  expect(again.folder).toBe(target);
  expect(calls().length).toBe(before + 1); // what the interpreter is
  expect(await findRtx({ python, cache })).toEqual(again);
});

test('a no leaves everything as it was', async () => {
  await expect(setUpRtx({ ...options, confirm: () => Promise.resolve(false) })).rejects.toThrow(NotConfirmed);
  expect(existsSync(cache)).toBe(false);
  expect(await findRtx({ python, cache })).toBeUndefined();
});

test('two at once: one downloads, both have it', async () => {
  const both = await Promise.all([setUpRtx(options), setUpRtx(options)]);
  expect(both[0]).toEqual(both[1]);
  expect(calls().filter(({ args }) => args[1] === 'venv')).toHaveLength(1);
});

test('half an installation is made again from the start', async () => {
  mkdirSync(join(target, 'bin'), { recursive: true });
  writeFileSync(join(target, 'bin/old'), '');
  await setUpRtx(options);
  expect(existsSync(join(target, 'bin/old'))).toBe(false);
});

test('without ensurepip (plain Debian) it uses pip with a folder of its own', async () => {
  fake({ is: { modules: ['venv', 'pip'] } });
  const made = await setUpRtx(options);
  expect(made).toEqual({
    folder: target,
    python,
    environment: { PYTHONPATH: join(target, 'site') },
    version: rtxVersion,
  });
  expect(calls().some(({ args }) => args[1] === 'venv')).toBe(false);
  expect(calls().find(({ args }) => args[1] === 'pip' && args.includes('--target'))!.args).toContain(
    join(target, 'site'),
  );
  expect(await findRtx({ python, cache })).toEqual(made);
});

test('a venv that fails gives way to the next', async () => {
  fake({
    ...everything,
    venvError: 'The virtual environment was not created successfully because ensurepip is not available.',
  });
  expect((await setUpRtx(options)).environment).toEqual({ PYTHONPATH: join(target, 'site') });
});

test('with nothing at all it says what to install', async () => {
  fake({ is: { modules: ['venv'] } });
  const { PATH } = process.env;
  process.env['PATH'] = folder;
  try {
    await expect(setUpRtx(options)).rejects.toThrow(
      /neither create a virtual environment nor run pip.*sudo apt-get install python3 python3-venv/,
    );
  } finally {
    process.env['PATH'] = PATH;
  }
  expect(existsSync(target)).toBe(false);
});

test.each([
  [{ version: [3, 7, 0] }, /Python 3\.8 to 3\.14/],
  [{ version: [2, 7, 18] }, /Python 3\.8 to 3\.14/],
  [{ tag: 'PyPy310' }, /not CPython/],
  [{ platform: 'macosx-14-arm64' }, /TensorRT does not exist for macOS/],
  [{ platform: 'linux-aarch64' }, /no wheels for Arm on Linux/],
  [{ libc: '' }, /musl/],
  [{ libc: 'glibc 2.17' }, /glibc 2\.28 or later is required, this is glibc 2\.17/],
])('an interpreter without wheels is refused, with the reason: %j', async (is, message) => {
  fake({ is });
  await expect(setUpRtx(options)).rejects.toThrow(message);
  expect(asked).toEqual([]);
});

test('says why the wheels could not be had, and cleans up', async () => {
  fake({ ...everything, pipError: 'ERROR: No matching distribution found for tensorrt-rtx-cu13-libs' });
  await expect(setUpRtx(options)).rejects.toThrow(
    /Could not install the wheels of TensorRT-RTX: ERROR: No matching distribution.*network/,
  );
  expect(existsSync(target)).toBe(false);
  expect(existsSync(`${target}.lock`)).toBe(false);
});

test('does without the package that comes as source', async () => {
  fake({ ...everything, sourceError: 'error: no setuptools' });
  expect((await setUpRtx(options)).folder).toBe(target);
  expect(told.some((line) => line.includes('Polygraphy'))).toBe(true);
});

test('an installation that does not load is none', async () => {
  fake({ ...everything, importError: 'ImportError: libstdc++.so.6: cannot open shared object file' });
  await expect(setUpRtx(options)).rejects.toThrow(/does not load: ImportError: libstdc\+\+/);
  expect(await findRtx({ python, cache })).toBeUndefined();
});

test('cancelled while it downloads: nothing is left', async () => {
  fake({ ...everything, hang: true });
  const abort = new AbortController();
  const refused = expect(setUpRtx({ ...options, signal: abort.signal })).rejects.toThrow(Cancelled);
  await expect.poll(() => calls().some(({ args }) => args[1] === 'pip' && args.includes('install'))).toBe(true);
  abort.abort();
  await refused;
  expect(existsSync(target)).toBe(false);
});

const library = join(target, 'lib/library.so');
const damaged = () => told.filter((line) => line.includes('Reinstalling '));

test.each([
  ['missing', () => rmSync(library), 'lib/library.so is missing'],
  ['cut off', () => writeFileSync(library, 'native'), 'lib/library.so has 6 bytes, not 11'],
])('a file that is %s: the installation is repaired, after asking', async (_, damage, what) => {
  const made = await setUpRtx(options);
  damage();
  expect(await findRtx({ python, cache })).toBeUndefined();
  await expect(setUpRtx({ ...options, confirm: () => Promise.resolve(false) })).rejects.toThrow(NotConfirmed);
  expect(await setUpRtx(options)).toEqual(made);
  expect(damaged().at(-1)).toContain(what);
  expect(readFileSync(library, 'utf8')).toBe('native code');
  expect(await findRtx({ python, cache })).toEqual(made);
});

test('compiled copies that come and go are no damage', async () => {
  await setUpRtx(options);
  rmSync(join(target, 'lib/__pycache__'), { recursive: true });
  await setUpRtx({ ...options, confirm: () => Promise.reject(new Error('asked again')) });
  expect(damaged()).toEqual([]);
});

test('with tryImport, files of the right size that do not load are found, too', async () => {
  await setUpRtx(options);
  fake({ ...everything, importError: 'ImportError: library.so: invalid ELF header' });
  expect(await findRtx({ python, cache })).toBeDefined();
  // The stand-in does not load after the repair either.
  await expect(setUpRtx({ ...options, tryImport: true })).rejects.toThrow(/does not load: ImportError: library\.so/);
  expect(damaged().at(-1)).toContain('invalid ELF header');
  fake(everything);
  expect((await setUpRtx({ ...options, tryImport: true })).folder).toBe(target);
});

test('an installation of an earlier version, without a list of its files, is tried once and then listed', async () => {
  await setUpRtx(options);
  writeFileSync(join(target, '.complete'), `${rtxVersion}\n`);
  const never = { ...options, confirm: () => Promise.reject(new Error('asked again')) };
  await setUpRtx(never);
  const tried = () => calls().filter(({ args }) => args[0] === '-c' && args[1]!.includes('bindings')).length;
  const before = tried();
  await setUpRtx(never);
  expect(tried()).toBe(before);
  rmSync(library);
  expect(await findRtx({ python, cache })).toBeUndefined();
});

test('ONNX Runtime goes to an environment of its own, with its own question and limits', async () => {
  const { version } = packageSets.onnxruntime;
  const made = await ensurePackages('onnxruntime', options);
  expect(made.folder).toBe(join(cache, `onnxruntime-${version}-cp311-linux-x86_64`));
  expect(asked.at(-1)).toMatch(/ONNX Runtime .*MIT.*40 MB/s);
  const installs = calls().filter(({ args }) => args[1] === 'pip');
  expect(installs).toHaveLength(1);
  expect(installs[0]!.args.slice(-2)).toEqual([`onnxruntime==${version}`, 'numpy==2.4.6']);
  expect(await findRtx({ python, cache })).toBeUndefined();
  fake({ is: { ...everything.is, version: [3, 10, 4], tag: 'cp310' } });
  await expect(ensurePackages('onnxruntime', options)).rejects.toThrow(/Python 3\.11 to 3\.14/);
});
