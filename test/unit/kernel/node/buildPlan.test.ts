import { mkdirSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type BuildTools, planBuild, refusals } from '../../../../src/kernel/node/run/buildPlan.ts';
import { Answers } from '../../../../src/kernel/node/tools/answers.ts';
import { cacheFolder } from '../../../../src/kernel/node/files/cacheFolder.ts';
import { NotConfirmed } from '../../../../src/kernel/node/tools/ensurePackages.ts';
import { packageSets } from '../../../../src/kernel/node/tools/packageSets.ts';
import { Cancelled } from '../../../../src/kernel/node/files/userError.ts';
import type { EngineOptions } from '../../../../src/kernel/build/buildOptions.ts';
import { fakeTool } from '../../../support/fakeTool.ts';
import { captureText } from '../../../support/fixtures.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

const folder = temporaryFolder();
const { PATH } = process.env;
let bin: string;
let number = 0;

beforeEach(() => {
  bin = join(folder, String((number += 1)));
  mkdirSync(bin);
  // Nothing but what a test puts there: no trtexec, GPU or Python of this machine.
  process.env['PATH'] = bin;
});
afterEach(() => {
  process.env['PATH'] = PATH;
  vi.restoreAllMocks();
});

const asked: string[] = [];
const tools = (more: Partial<BuildTools> = {}): BuildTools => ({
  driver: 'driver/build_engine.py',
  cache: join(folder, 'cache'),
  confirm: (text) => (asked.push(text), Promise.resolve(false)),
  ...more,
});
const plan = (options: Partial<EngineOptions> = {}, more: Partial<BuildTools> = {}) =>
  planBuild({ model: 'm.onnx', ...options }, tools(more));

const gpu = () => fakeTool(bin, 'nvidia-smi', 'console.log("GPU 0: NVIDIA H200")');
const help = JSON.stringify(captureText('tensorrt-10.6.0/cli.help/log.txt')!);
// As some versions do, it prints its help and ends with 1.
const trtexec = () => fakeTool(bin, 'trtexec', `process.stdout.write(${help}); process.exitCode = 1;`);
const python = (is: object) =>
  fakeTool(
    bin,
    'python3',
    `const known = { path: __filename, version: [3, 11, 2], tag: 'cp311', platform: 'linux-x86_64', libc: 'glibc 2.36', modules: [] };
     if (args.at(-1).startsWith('import tensorrt;')) console.log('10.6.0');
     else console.log(JSON.stringify({ ...known, ...${JSON.stringify(is)} }));`,
  );
const files = { engine: 'f/e', layers: 'f/l', profile: 'f/p', times: 'f/t', precisions: 'f/x' };

describe('auto', () => {
  test('without a GPU: TensorRT-RTX, after asking, even where trtexec is', async () => {
    trtexec();
    python({ modules: ['tensorrt'] });
    await expect(plan({ backend: 'auto' })).rejects.toThrow(NotConfirmed);
    expect(asked.at(-1)).toContain(packageSets['tensorrt-rtx'].version);
  });

  test('a GPU that nvidia-smi does not find is none', async () => {
    fakeTool(bin, 'nvidia-smi', 'process.exitCode = 9');
    python({});
    await expect(plan()).rejects.toThrow(NotConfirmed);
  });

  test('beside a GPU: trtexec, then a Python with tensorrt, then TensorRT-RTX', async () => {
    gpu();
    python({});
    await expect(plan()).rejects.toThrow(NotConfirmed);
    python({ modules: ['tensorrt'] });
    expect(await plan()).toMatchObject({ backend: 'python', product: 'tensorrt' });
    trtexec();
    expect(await plan()).toMatchObject({ backend: 'trtexec', version: '10.6.0' });
  });

  test('a trtexec that somebody chose is the one', async () => {
    const chosen = trtexec();
    expect(await plan({}, { trtexec: chosen })).toMatchObject({ backend: 'trtexec', program: chosen });
  });
});

test('trtexec gets the flags that its help knows', async () => {
  trtexec();
  const { command, output } = await plan({ backend: 'trtexec' });
  expect(output).toBe('log');
  const { args } = command({ model: 'm.onnx', precision: 'fp16', engine: 'elsewhere' }, files);
  expect(args).toContain('--saveEngine=f/e');
  expect(args).toContain('--fp16');
  expect(args).toContain('--skipInference');
  expect(refusals(command({ model: 'm.onnx', outputs: 'all' }, files).notes)).toHaveLength(1);
});

test('Python runs the driver, which ends with its caller', async () => {
  const path = python({ modules: ['tensorrt'] });
  const { program, command, output } = await plan({ backend: 'python' });
  expect({ program, output }).toEqual({ program: path, output: 'events' });
  const { args } = command({ model: 'm.onnx' }, files);
  expect(args.slice(0, 5)).toEqual(['-B', 'driver/build_engine.py', '--until-stdin-closes', '--module', 'tensorrt']);
});

test('Polygraphy is told for which TensorRT', async () => {
  python({ modules: ['tensorrt'] });
  const program = fakeTool(bin, 'polygraphy', 'console.log("Polygraphy | Version: 0.49.26")');
  const found = await plan({ backend: 'polygraphy' }, { polygraphy: program });
  expect(found).toMatchObject({ backend: 'polygraphy', product: 'tensorrt', version: '10.6.0', output: 'log' });
  expect(found.command({ model: 'm.onnx', precision: 'fp16' }, files).args).toContain('--fp16');
});

describe('what is not there is named, with what to do', () => {
  test.each([
    ['trtexec', /trtexec: program not found\. Check that TensorRT is installed/],
    ['polygraphy', /polygraphy: program not found\. .*pip install polygraphy/],
  ] as const)('%s', async (backend, message) => {
    await expect(plan({ backend })).rejects.toThrow(message);
  });

  test('a Python without tensorrt', async () => {
    const path = python({});
    await expect(plan({ backend: 'python' }, { python: path })).rejects.toThrow(
      /Python 3\.11\.2\): the module `tensorrt` is missing\..*`rtx`/,
    );
  });

  test('a chosen Python that does not run', async () => {
    await expect(plan({ backend: 'rtx' }, { python: join(bin, 'none') })).rejects.toThrow(
      /none does not run as Python 3/,
    );
    const broken = fakeTool(bin, 'broken', 'console.log("{")');
    await expect(plan({ backend: 'rtx' }, { python: broken })).rejects.toThrow(/broken does not run as Python 3/);
  });
});

test('the cache lies where each platform keeps such things', () => {
  const home = homedir();
  expect(cacheFolder({}, 'linux')).toBe(join(home, '.cache/tensorrt-lens'));
  expect(cacheFolder({ XDG_CACHE_HOME: '/c' }, 'linux')).toBe('/c/tensorrt-lens');
  expect(cacheFolder({ XDG_CACHE_HOME: 'relative' }, 'linux')).toBe(join(home, '.cache/tensorrt-lens'));
  expect(cacheFolder({}, 'darwin')).toBe(join(home, 'Library/Caches/tensorrt-lens'));
  expect(cacheFolder({ LOCALAPPDATA: '/l' }, 'win32')).toBe('/l/tensorrt-lens');
  expect(cacheFolder({ TENSORRT_LENS_CACHE: '/x', XDG_CACHE_HOME: '/c' }, 'linux')).toBe('/x');
});

test('a launcher is asked once, and again where the build has other variables', async () => {
  // Which TensorRT is found there may hang on them.
  const versions = JSON.stringify({
    '10': captureText('tensorrt-10.6.0/cli.help/log.txt'),
    '8': captureText('tensorrt-8.6.1/cli.help/log.txt'),
  });
  const path = fakeTool(bin, 'there', `process.stdout.write(${versions}[args.includes('OLD=1') ? '8' : '10']);`);
  const launcher = { command: [process.execPath, path, '{command}'], guard: false };
  const version = async (environment?: Record<string, string>) =>
    (await plan({ backend: 'trtexec', ...(environment && { environment }) }, { launcher })).version;
  expect(await version()).toBe('10.6.0');
  expect(await version({ OLD: '1' })).toBe('8.6.1');
});

describe('two builds ask the same trtexec at once', () => {
  /** Nobody gets an answer from the first that is started. */
  const slow = () => {
    const mark = join(bin, 'asked');
    const path = fakeTool(
      bin,
      'trtexec',
      `const { existsSync, writeFileSync } = require('fs');
       if (existsSync(${JSON.stringify(mark)})) process.stdout.write(${help});
       else { writeFileSync(${JSON.stringify(mark)}, ''); setInterval(() => {}, 1000); }`,
    );
    return { path, began: () => vi.waitFor(() => access(mark), { timeout: 20_000 }) };
  };

  test.each(['here', 'by a launcher'])('%s: the one that is cancelled does not take the other along', async (where) => {
    const { path, began } = slow();
    const launcher = { command: [process.execPath, path, '{command}'], guard: false };
    const more = where === 'here' ? { trtexec: path } : { launcher };
    const abort = new AbortController();
    const first = plan({ backend: 'trtexec' }, { ...more, signal: abort.signal });
    await began();
    const asks = vi.spyOn(Answers.prototype, 'get');
    const second = plan({ backend: 'trtexec' }, more);
    await vi.waitFor(() => expect(asks).toHaveBeenCalled());
    abort.abort();
    await expect(first).rejects.toThrow(Cancelled);
    await expect(second).resolves.toMatchObject({ backend: 'trtexec', version: '10.6.0' });
  });

  test.each(['here', 'by a launcher'])('%s: the one that did not ask need not wait for the other', async (where) => {
    const { path, began } = slow();
    const launcher = { command: [process.execPath, path, '{command}'], guard: false };
    const more = where === 'here' ? { trtexec: path } : { launcher };
    const [asks, waits] = [new AbortController(), new AbortController()];
    const first = plan({ backend: 'trtexec' }, { ...more, signal: asks.signal });
    await began();
    const questions = vi.spyOn(Answers.prototype, 'get');
    const second = plan({ backend: 'trtexec' }, { ...more, signal: waits.signal });
    await vi.waitFor(() => expect(questions).toHaveBeenCalled());
    waits.abort();
    await expect(second).rejects.toThrow(Cancelled);
    asks.abort();
    await expect(first).rejects.toThrow(Cancelled);
  });
});
