import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { faultsOfBuild } from '../../../../src/kernel/node/run/faultsOfBuild.ts';
import { type Build, requireBuild } from '../../../../src/kernel/node/store/buildFolder.ts';
import {
  deleteBuild,
  listAllBuilds,
  listBuilds,
  removeCutOff,
  trimBuilds,
} from '../../../../src/kernel/node/store/buildHistory.ts';
import { loadBuild } from '../../../../src/kernel/node/store/loadBuild.ts';
import { type BuildOptions, runBuild } from '../../../../src/kernel/node/run/runBuild.ts';
import { UserError } from '../../../../src/kernel/node/files/userError.ts';
import { fakeTool } from '../../../support/fakeTool.ts';
import { captureText, modelPath } from '../../../support/fixtures.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

const folder = temporaryFolder();
const cache = join(folder, 'cache');

/** A trtexec that answers `--help` and then plays a capture: the same log, the same files, the same exit status. */
function player(name: string, capture: string, { code = 0, extra = '' } = {}): string {
  for (const part of ['log.txt', 'layers.json', 'profile.json'])
    writeFileSync(join(folder, `${name}.${part}`), captureText(`${capture}/${part}`) ?? '');
  const help = captureText('tensorrt-10.6.0/cli.help/log.txt')!;
  writeFileSync(join(folder, `${name}.help`), help);
  return fakeTool(
    folder,
    name,
    `const { readFileSync, writeFileSync } = require('fs');
     const read = (part) => readFileSync(${JSON.stringify(join(folder, name))} + '.' + part);
     const value = (flag) => args.find((arg) => arg.startsWith('--' + flag + '='))?.slice(flag.length + 3);
     if (args[0] === '--help') { process.stdout.write(read('help')); return; }
     ${extra}
     process.stdout.write(read('log.txt'));
     if (value('exportLayerInfo')) writeFileSync(value('exportLayerInfo'), read('layers.json'));
     if (value('exportProfile')) writeFileSync(value('exportProfile'), read('profile.json'));
     if (${code} === 0) writeFileSync(value('saveEngine'), 'engine');
     process.exitCode = ${code};`,
  );
}

const options = (trtexec: string, more: Partial<BuildOptions> = {}): BuildOptions => ({
  model: modelPath('vit_tiny'),
  backend: 'trtexec',
  trtexec,
  driver: 'unused',
  cache,
  confirm: () => Promise.reject(new Error('asked')),
  ...more,
});

describe('a build that passes', () => {
  const trtexec = player('trtexec', 'tensorrt-10.6.0/vit_tiny.fp16');

  test('leaves log, layer info, profile, engine and manifest in one folder', async () => {
    const heard: string[] = [];
    const states: string[] = [];
    const { folder: made, manifest } = await runBuild(
      options(trtexec, { precision: 'fp16', profileRun: true, workspace: 64 }),
      {
        started: (build) => states.push(build.manifest.result),
        log: (line) => heard.push(line),
      },
    );
    expect(readdirSync(made).sort()).toEqual([
      'build.log',
      'layers.json',
      'manifest.json',
      'model.engine',
      'profile.json',
    ]);
    expect(readFileSync(join(made, 'build.log'), 'utf8')).toBe(captureText('tensorrt-10.6.0/vit_tiny.fp16/log.txt'));
    expect(heard.length).toBeGreaterThan(1000);
    expect(states).toEqual(['running']);
    expect(manifest).toMatchObject({
      schema: 1,
      backend: 'trtexec',
      origin: 'built',
      result: 'passed',
      error: null,
      model: { file: modelPath('vit_tiny'), bytes: readFileSync(modelPath('vit_tiny')).length },
      tensorrt: { product: 'tensorrt', version: '10.6.0' },
      options: { precision: 'fp16', profileRun: true, workspace: 64 },
      files: { log: 'build.log', layers: 'layers.json', profile: 'profile.json', engine: 'model.engine' },
    });
    expect(manifest.command).toContain(`--onnx=${modelPath('vit_tiny')}`);
    expect(manifest.command).toContain('--fp16');
    expect(JSON.parse(readFileSync(join(made, 'manifest.json'), 'utf8'))).toEqual(manifest);
  });

  test('is read back as the report of its files', async () => {
    const build = await runBuild(options(trtexec, { profileRun: true }));
    const { report } = await loadBuild(build);
    expect(report.tensorrt).toEqual({ product: 'tensorrt', version: '10.6.0' });
    expect(report.model).toEqual({ file: 'vit_tiny.onnx', nodes: 636 });
    expect(report.layers.length).toBeGreaterThan(10);
    expect(report.layers.some(({ averageMs }) => averageMs !== null)).toBe(true);
  });

  test('puts the engine where it was asked for', async () => {
    const engine = join(folder, 'out', 'net.engine');
    const { folder: made, manifest } = await runBuild(options(trtexec, { engine }));
    expect(manifest.files.engine).toBe(engine);
    expect(readFileSync(engine, 'utf8')).toBe('engine');
    expect(readdirSync(join(folder, 'out'))).toEqual(['net.engine']);
    expect(existsSync(join(made, 'model.engine'))).toBe(false);
  });

  test('unpacks a compressed model for TensorRT', async () => {
    const packed = join(folder, 'packed.onnx.gz');
    writeFileSync(packed, gzipSync(readFileSync(modelPath('unnamed'))));
    const { manifest } = await runBuild(options(trtexec, { model: packed }));
    const parsed = manifest.command.find((arg) => arg.startsWith('--onnx='))!.slice('--onnx='.length);
    expect(readFileSync(parsed)).toEqual(readFileSync(modelPath('unnamed')));
    expect(manifest.model.file).toBe(packed);
  });
});

describe('shapes', () => {
  const trtexec = player('shapes', 'tensorrt-10.6.0/vit_tiny.fp16');

  test('of a form that this TensorRT computes wrong, what would be wrong is known before the build', async () => {
    const faultsOf = (trtexecOf: string, model = 'vit_tiny') => {
      const wanted = options(trtexecOf, { model: modelPath(model) });
      return faultsOfBuild(wanted, wanted);
    };
    expect(await faultsOf(trtexec)).toMatchObject([{ code: 'known-fault', repair: 'merge-scales' }]);
    expect(await faultsOf(trtexec, 'resnet18')).toEqual([]);
    expect(await faultsOf(join(folder, 'missing'))).toEqual([]);
  });

  test('of every input are on record', async () => {
    const { manifest } = await runBuild(options(trtexec));
    expect(manifest.shapes).toEqual([[{ input: 'input', min: '1x3x224x224', opt: '1x3x224x224', max: '1x3x224x224' }]]);
    // No size is defaulted; what is known to be wrong is said before the build.
    expect(manifest.warnings).toEqual([
      expect.stringMatching(
        /^The engine will give wrong values at 12 nodes\. TensorRT loses .* Repair: merge-scales\.$/,
      ),
    ]);
  });

  test('that nobody gave are 1, with a warning that suggests others', async () => {
    const heard: string[] = [];
    const started = (_: unknown, notes: { kind: string; message: string }[]) =>
      heard.push(...notes.filter(({ kind }) => kind === 'warned').map(({ message }) => message));
    const { manifest } = await runBuild(options(trtexec, { model: modelPath('bert_base') }), { started });
    expect(manifest.shapes![0]![0]).toEqual({
      input: 'input_ids',
      min: '1x1',
      opt: '1x1',
      max: '1x1',
      defaulted: [0, 1],
    });
    expect(heard).toEqual([
      'Built for 1 along each open dimension, because no shapes were given: batch, seq of input input_ids; batch, seq of input attention_mask. Give real sizes, for example --shapes input_ids:1x128,attention_mask:1x128.',
    ]);
    expect(manifest.warnings).toEqual(heard);
    const range = { min: '1x8', opt: '4x64', max: '8x256' };
    const profiles = [{ input_ids: range, attention_mask: range }];
    const given = await runBuild(options(trtexec, { model: modelPath('bert_base'), profiles }));
    expect(given.manifest.shapes).toEqual([
      [
        { input: 'input_ids', ...range },
        { input: 'attention_mask', ...range },
      ],
    ]);
    expect(given.manifest.warnings).toBeUndefined();
  });
});

test('a build that fails keeps its log, says why, and has no engine', async () => {
  const trtexec = player('failing', 'tensorrt-10.6.0/unsupported_op.fp32', {
    code: 1,
    extra: "writeFileSync(value('saveEngine'), 'half');",
  });
  const engine = join(folder, 'never.engine');
  const { folder: made, manifest } = await runBuild(options(trtexec, { engine }));
  expect(manifest.result).toBe('failed');
  expect(manifest.error).toMatch(/^TensorRT has no importer for the operator MyCustomOp.*\(failing exited with 1\)$/);
  expect(manifest.failure).toMatchObject({ code: 'unsupported-op' });
  expect(manifest.failure!.message).not.toContain(manifest.failure!.advice);
  expect(manifest.failure!.lines).toEqual([expect.any(Number)]);
  expect(manifest.files).toMatchObject({ log: 'build.log', engine: null });
  expect(existsSync(engine)).toBe(false);
  expect(readdirSync(made)).not.toContain('model.engine');
});

test('a program that ends well without an engine has failed', async () => {
  const trtexec = player('empty', 'tensorrt-10.6.0/vit_tiny.fp16', { extra: 'return;' });
  expect((await runBuild(options(trtexec))).manifest).toMatchObject({
    result: 'failed',
    error: 'empty exited with 0 but wrote no engine',
    failure: { code: 'no-engine' },
  });
});

test('cancelled: the log so far stays, no engine and no temporary file', async () => {
  const extra = `writeFileSync(value('saveEngine'), 'half'); writeFileSync(value('saveEngine') + '.tmp', 'half');
    process.stdout.write('[V] [TRT] working\\n'); setInterval(() => {}, 1000); return;`;
  const abort = new AbortController();
  const { folder: made, manifest } = await runBuild(
    options(player('slow', 'tensorrt-10.6.0/vit_tiny.fp16', { extra })),
    { log: (line) => line.includes('working') && abort.abort() },
    abort.signal,
  );
  expect(manifest).toMatchObject({
    result: 'cancelled',
    error: 'cancelled',
    failure: { code: 'cancelled' },
    files: { engine: null },
  });
  expect(readdirSync(made).sort()).toEqual(['build.log', 'manifest.json']);
  expect(readFileSync(join(made, 'build.log'), 'utf8')).toBe('[V] [TRT] working\n');
});

test('what cannot begin leaves no folder', async () => {
  const trtexec = player('fine', 'tensorrt-10.6.0/vit_tiny.fp16');
  const parent = join(folder, 'refused');
  const attempt = (more: Partial<BuildOptions>) => runBuild(options(trtexec, { folder: parent, ...more }));
  await expect(attempt({ model: join(folder, 'none.onnx') })).rejects.toThrow('none.onnx: no such file');
  await expect(attempt({ model: folder })).rejects.toThrow('is a folder');
  await expect(attempt({ trtexec: join(folder, 'no-trtexec') })).rejects.toThrow(/no-trtexec: program not found.*PATH/);
  await expect(attempt({ computeCapability: ['8.9'] })).rejects.toThrow('Only TensorRT-RTX');
  await expect(attempt({ computeCapability: ['8.9'] })).rejects.toThrow(UserError);
  expect(existsSync(parent) ? readdirSync(parent) : []).toEqual([]);
});

test('what cannot begin leaves no file open', async () => {
  const trtexec = player('whole', 'tensorrt-10.6.0/vit_tiny.fp16');
  const parent = join(folder, 'open');
  const attempt = () => runBuild(options(trtexec, { folder: parent, computeCapability: ['8.9'] }));
  await expect(attempt()).rejects.toThrow('Only TensorRT-RTX');
  const open = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      // The one by which this list was read.
      return [];
    }
  });
  expect(open.filter((path) => path.startsWith(parent))).toEqual([]);
});

test('what a launcher has copied goes when the rest cannot be', async () => {
  const there = join(folder, 'there');
  const copy = `require('fs').copyFileSync(...process.argv.slice(1)); process.exit(3);`;
  const launcher = {
    command: ['env', '{command}'],
    folder: join(there, '{id}'),
    copyTo: [process.execPath, '-e', copy, '{here}', '{there}'],
    copyBack: ['cp', '{there}', '{here}'],
    program: player('elsewhere', 'tensorrt-10.6.0/vit_tiny.fp16'),
  };
  const parent = join(folder, 'launched');
  await expect(runBuild(options('unused', { launcher, folder: parent }))).rejects.toThrow(/exit status 3/);
  expect(readdirSync(there)).toEqual([]);
  expect(readdirSync(parent)).toEqual([]);
});

describe('the history of a model', () => {
  const parent = join(folder, 'history', 'builds', 'net');
  const put = (id: string, started: string, more: object = {}) => {
    mkdirSync(join(parent, id), { recursive: true });
    const manifest = {
      schema: 1,
      id,
      model: { file: 'net.onnx', sha256: null, bytes: 1 },
      tensorrt: { product: null, version: null },
      command: [],
      started,
      result: 'passed',
      files: {},
      ...more,
    };
    writeFileSync(join(parent, id, 'manifest.json'), JSON.stringify(manifest));
  };
  const ids = (builds: Build[]) => builds.map(({ manifest }) => manifest.id);

  test('is newest first, and passes over what is none', async () => {
    put('a', '2026-01-01T00:00:00.000Z');
    put('b', '2026-03-01T00:00:00.000Z');
    put('c', '2026-02-01T00:00:00.000Z');
    mkdirSync(join(parent, 'empty'));
    mkdirSync(join(parent, 'damaged'));
    writeFileSync(join(parent, 'damaged', 'manifest.json'), '{"schema": 1');
    expect(ids(await listBuilds('net.onnx', { folder: parent }))).toEqual(['b', 'c', 'a']);
    expect(ids(await listAllBuilds(join(folder, 'history')))).toEqual(['b', 'c', 'a']);
    expect(await listBuilds('other.onnx', { cache })).toEqual([]);
  });

  test('gives a build as cancelled whose process is gone, also where its id is in use again', async () => {
    put('d', '2026-04-01T00:00:00.000Z', { result: 'running', pid: 2 ** 30 });
    put('e', new Date().toISOString(), { result: 'running', pid: process.pid });
    // This process began after that build did.
    put('f', '2026-04-02T00:00:00.000Z', { result: 'running', pid: process.pid });
    const found = await listBuilds('net.onnx', { folder: parent });
    const results = Object.fromEntries(found.map(({ manifest }) => [manifest.id, manifest.result]));
    expect(results).toMatchObject({ d: 'cancelled', e: 'running' });
    if (process.platform === 'linux') expect(results).toMatchObject({ f: 'cancelled' });
    expect((await requireBuild(join(parent, 'd'))).manifest).toMatchObject({
      result: 'cancelled',
      error: expect.stringContaining('interrupted') as string,
      failure: { code: 'interrupted' },
    });
  });

  test('what an interrupted build left half written goes before the next build, and its manifest says how it ended', async () => {
    for (const name of ['typed', 'net.onnx']) mkdirSync(join(parent, 'd', name));
    writeFileSync(join(parent, 'd', 'typed', 'net.onnx.data'), 'weights');
    writeFileSync(join(parent, 'd', 'cache.tmp'), 'half');
    await removeCutOff(parent, ['typed', 'net.onnx']);
    expect(readdirSync(join(parent, 'd'))).toEqual(['manifest.json']);
    const manifest = JSON.parse(readFileSync(join(parent, 'd', 'manifest.json'), 'utf8')) as Record<string, unknown>;
    expect(manifest).toMatchObject({ result: 'cancelled' });
    expect(manifest).not.toHaveProperty('pid');
    expect((await requireBuild(join(parent, 'e'))).manifest.result).toBe('running');
  });

  test('is trimmed from its old end; what runs stays', async () => {
    expect(await trimBuilds(await listBuilds('net.onnx', { folder: parent }), 2)).toBe(4);
    expect(ids(await listBuilds('net.onnx', { folder: parent }))).toEqual(['e', 'f']);
    expect(await trimBuilds(await listBuilds('net.onnx', { folder: parent }), 0)).toBe(1);
    await deleteBuild((await listBuilds('net.onnx', { folder: parent }))[0]!);
    expect(ids(await listBuilds('net.onnx', { folder: parent }))).toEqual([]);
  });
});

test('builds of the same second get folders of their own', async () => {
  const trtexec = player('quick', 'tensorrt-10.6.0/vit_tiny.fp16');
  const builds = await Promise.all([0, 1, 2].map(() => runBuild(options(trtexec, { folder: join(folder, 'same') }))));
  expect(new Set(builds.map(({ manifest }) => manifest.id)).size).toBe(3);
  expect(builds.every(({ manifest }) => manifest.result === 'passed')).toBe(true);
});
