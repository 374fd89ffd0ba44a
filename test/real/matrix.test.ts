import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runBuild } from '../../src/kernel/node/run/runBuild.ts';
import { listBuilds } from '../../src/kernel/node/store/buildHistory.ts';
import { fixturePath, modelPath } from '../support/fixtures.ts';
import { playerTool } from '../support/playerTool.ts';
import { driverPath, rtxForTests, temporaryFolder } from '../support/rtx.ts';
import { runningWith } from '../support/runningWith.ts';
import { slurmCluster, type SlurmCluster } from '../support/slurmCluster.ts';

const folder = temporaryFolder();
const file = (name: string) => join(folder, name);
const cli = join(import.meta.dirname, '../../dist/cli.js');
const cache = file('cache');
let cluster: SlurmCluster;

interface Row {
  name: string;
  result: string;
  error: string | null;
  folder: string | null;
  nodes: number | null;
  foreign: number | null;
}

function trtlens(args: string[], environment: Record<string, string> = {}) {
  const env = { ...process.env, TENSORRT_LENS_CACHE: cache, ...environment };
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, 'matrix', ...args], { env, encoding: 'utf8' });
  return { status, stdout, stderr, jobs: () => (JSON.parse(stdout) as { jobs: Row[] }).jobs };
}

function writeMatrix(name: string, matrix: object): string {
  writeFileSync(file(name), JSON.stringify(matrix));
  return file(name);
}

beforeAll(async () => {
  for (const model of ['vit_tiny', 'resnet18', 'unsupported_op', 'fp16_overflow'])
    copyFileSync(modelPath(model), file(`${model}.onnx`));
  mkdirSync(file('slurm'));
  cluster = await slurmCluster(file('slurm'));
  if (!cluster.real) console.log('No SLURM can be had here: stand-ins for sbatch and srun take its place.');
});
afterAll(() => cluster.stop());

const player = (model: string) => playerTool(folder, `trtexec-${model}`, { capture: `tensorrt-10.6.0/${model}` });

describe('a launcher with srun', () => {
  const command = () => {
    const variables = Object.entries(cluster.environment).map(([name, value]) => `${name}=${value}`);
    return ['env', ...variables, 'srun', '--quiet', '{command}'];
  };
  const build = (name: string, tool: string, log?: () => void, signal?: AbortSignal) => {
    const model = file('qdq.onnx');
    copyFileSync(fixturePath('builds/qdq/model.onnx'), model);
    const overrides = file(`${name}.trtprec`);
    writeFileSync(overrides, 'base fp16\n');
    return runBuild(
      {
        model,
        backend: 'trtexec',
        driver: driverPath,
        cache,
        folder: file(name),
        overrides,
        stronglyTyped: true,
        confirm: () => Promise.resolve(false),
        launcher: { command: command(), paths: [{ here: folder, there: folder }], program: tool },
      },
      log === undefined ? {} : { log },
      signal,
    );
  };

  test('builds in a job', async () => {
    const tool = playerTool(folder, 'in a job', { capture: 'tensorrt-10.6.0/vit_tiny.fp16' });
    const { manifest, folder: made } = await build('srun-passed', tool);
    expect(manifest).toMatchObject({ result: 'passed', error: null, tensorrt: { version: '10.6.0' } });
    expect(readFileSync(join(made, 'model.engine'), 'utf8')).toContain('whole of vit_tiny.fp16');
  });

  test('a cancel ends the job and the program in it, and removes the typed copy', async () => {
    const tool = playerTool(folder, 'cancelled job', { capture: 'tensorrt-10.6.0/vit_tiny.fp16', seconds: 60 });
    const abort = new AbortController();
    const { manifest, folder: made } = await build('srun-cancelled', tool, () => abort.abort(), abort.signal);
    expect(manifest.result).toBe('cancelled');
    await expect.poll(() => runningWith(tool)).toEqual([]);
    await expect.poll(() => cluster.busy()).toBe(false);
    expect(readdirSync(made).sort()).toEqual(['build.log', 'manifest.json', 'overrides.json']);
  });
});

describe('a SLURM job array', () => {
  test('runs every build, real ones by TensorRT-RTX, and their results come into the history', async () => {
    const rtx = await rtxForTests();
    const matrix = writeMatrix('slurm.json', {
      models: ['vit_tiny.onnx', 'resnet18.onnx'],
      precisions: ['fp32', 'fp16'],
      targets: [
        { name: 'recorded', program: player('vit_tiny.fp16'), tensorrt: '10.6', sbatch: ['--time=5'] },
        {
          name: 'rtx',
          backend: 'rtx',
          program: rtx.python,
          options: { environment: rtx.environment, randomWeights: true },
        },
      ],
      exclude: [
        { target: 'rtx', precision: 'fp16' },
        { target: 'recorded', model: 'resnet18.onnx' },
      ],
      concurrency: 2,
    });
    const out = file('array of builds');
    const submitted = trtlens([matrix, '--slurm', out, '--submit'], cluster.environment);
    expect(submitted.stderr).toContain('Afterwards: trtlens build --collect');
    expect(submitted.status).toBe(0);
    expect(submitted.stdout.match(/Submitted batch job \d+/g)).toHaveLength(2);
    await expect.poll(() => cluster.busy(), { timeout: 120_000, interval: 200 }).toBe(false);

    const collected = trtlens(['--collect', out, '--json']);
    const rows = collected.jobs();
    expect(rows.map(({ name, result, error }) => [name, result, error])).toEqual([
      ['vit_tiny-fp32-recorded', 'passed', null],
      ['vit_tiny-fp16-recorded', 'passed', null],
      ['vit_tiny-fp32-rtx', 'passed', null],
      ['resnet18-fp32-rtx', 'passed', null],
    ]);
    expect(collected.status).toBe(0);
    expect(rows.map(({ nodes, foreign }) => [nodes, foreign])).toEqual([
      [636, expect.any(Number)],
      [636, expect.any(Number)],
      [636, 453],
      [49, 49],
    ]);
    expect(readFileSync(join(out, 'recorded/0/model.engine'), 'utf8')).toContain('whole of vit_tiny.fp16');
    const history = await listBuilds(file('vit_tiny.onnx'), { cache });
    expect(history.map(({ manifest }) => String(manifest.options['target'])).sort()).toEqual([
      'recorded',
      'recorded',
      'rtx',
    ]);
    expect(history.every(({ manifest }) => manifest.origin === 'imported')).toBe(true);
    // A second look takes nothing twice.
    expect(trtlens(['--collect', out, '--json']).jobs()).toEqual(rows);
    expect(await listBuilds(file('vit_tiny.onnx'), { cache })).toHaveLength(3);
  });

  test('what failed says why, what did not run is missing', async () => {
    const program = playerTool(folder, 'fails', { capture: 'tensorrt-10.6.0/unsupported_op.fp32' });
    const matrix = writeMatrix('fails.json', {
      models: ['unsupported_op.onnx'],
      targets: [
        { name: 'a', program, tensorrt: '10.6.0' },
        { name: 'b', program: '/no/such/trtexec', tensorrt: '10.6.0' },
        { name: 'c', program, tensorrt: '10.6.0' },
      ],
    });
    const out = file('failing');
    expect(trtlens([matrix, '--slurm', out]).status).toBe(0);
    for (const name of ['a', 'b']) spawnSync('sh', [join(out, name, 'run.sh'), '0']);
    const collected = trtlens(['--collect', out, '--json']);
    expect(collected.status).toBe(1);
    expect(collected.jobs().map(({ result, error }) => [result, error])).toEqual([
      ['failed', expect.stringContaining('MyCustomOp')],
      ['missing', expect.stringMatching(/exited with 127/)],
      ['missing', 'not started'],
    ]);

    // What has begun is not written over, be it collected or not, and nothing else is written then.
    rmSync(join(out, 'c'), { recursive: true });
    const again = trtlens([matrix, '--slurm', out]);
    expect(again.status).toBe(2);
    expect(again.stderr).toContain(`${join(out, 'a')}: builds have started there`);
    expect(readFileSync(join(out, 'a/0/build.log'), 'utf8')).toContain('MyCustomOp');
    expect(existsSync(join(out, 'c'))).toBe(false);
    // A task that is run again by hand is a new build.
    spawnSync('sh', [join(out, 'a', 'run.sh'), '0']);
    const folders = () =>
      trtlens(['--collect', out, '--json'])
        .jobs()
        .map((row) => row.folder);
    const [second] = folders();
    expect(second).not.toBe(collected.jobs()[0]!.folder);
    expect(folders()[0]).toBe(second);
  });
});

test('Kubernetes Indexed Jobs: a stand-in for kubectl runs what the manifest says', () => {
  mkdirSync(file('bin'));
  writeFileSync(
    file('bin/kubectl'),
    `#!${process.execPath}
const [verb, , path] = process.argv.slice(2);
const { kind, metadata, spec } = JSON.parse(require('fs').readFileSync(path, 'utf8'));
if (!/^trtlens-h100-[0-9a-f]{8}$/.test(metadata.name)) process.exit(1);
if (verb !== 'create' || kind !== 'Job' || spec.completionMode !== 'Indexed') process.exit(1);
const [{ command, image, volumeMounts }] = spec.template.spec.containers;
if (!image || volumeMounts[0].mountPath !== '/shared') process.exit(1);
for (let index = 0; index < spec.completions; index += 1)
  require('child_process').spawnSync(command[0], command.slice(1).map((one) => one.replace('/shared', ${JSON.stringify(folder)})),
    { env: { ...process.env, JOB_COMPLETION_INDEX: String(index) } });
console.log('job.batch/x created');
`,
    { mode: 0o755 },
  );
  const program = player('vit_tiny.fp16');
  const matrix = writeMatrix('kubernetes.json', {
    models: ['vit_tiny.onnx'],
    precisions: ['fp32', 'fp16'],
    targets: [{ name: 'h100', program, tensorrt: '10.6', image: 'nvcr.io/nvidia/tensorrt:24.11-py3' }],
    paths: [{ here: folder, there: folder }],
    kubernetes: { claim: 'builds', mount: '/shared' },
    concurrency: 8,
  });
  const out = file('pods');
  const { status, stdout } = trtlens([matrix, '--kubernetes', out, '--submit'], {
    PATH: `${file('bin')}:${process.env['PATH']}`,
  });
  expect(stdout).toContain('job.batch/x created');
  expect(status).toBe(0);
  expect(
    trtlens(['--collect', out, '--json'])
      .jobs()
      .map(({ result }) => result),
  ).toEqual(['passed', 'passed']);
});

test('here, some at a time, with real builds', async () => {
  const rtx = await rtxForTests();
  symlinkSync(rtx.folder, join(cache, basename(rtx.folder)));
  const matrix = file('here.yaml');
  writeFileSync(
    matrix,
    'models: [fp16_overflow.onnx, unsupported_op.onnx]\ntargets: [{ name: here, backend: rtx }]\nconcurrency: 2\n',
  );
  const ran = trtlens([matrix, '--json']);
  expect(ran.jobs().map(({ name, result }) => [name, result])).toEqual([
    ['fp16_overflow-fp32-here', 'passed'],
    ['unsupported_op-fp32-here', 'failed'],
  ]);
  expect(ran.status).toBe(1);
});

test.each([
  ['models: []', /"models" cannot be \[\]/],
  ['targets: [{ name: a }]', /no "models"/],
  ['models: [a.onnx]\nprecision: fp16', /unknown key "precision"; keys are models, precisions/],
  ['models: [a.onnx]\ntargets: [{ name: a, options: { workspce: 1 } }]', /unknown option "workspce"/],
  ['models: [a.onnx]\ntargets: [{ name: a, launcher: {} }]', /The target "a": The launcher has no "command"/],
  ['models: [a.onnx', /flow/i],
])('a matrix that makes no sense: %s', (text, message) => {
  writeFileSync(file('wrong.yaml'), text);
  const { status, stdout, stderr } = trtlens([file('wrong.yaml')]);
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(message);
});
