import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  arrayScript,
  kubernetesJob,
  kubernetesName,
  type Matrix,
  matrixJobs,
  readMatrix,
  slurmScript,
} from '../../../../src/kernel/build/launcher.ts';

const read = (value: unknown): Matrix => {
  const matrix = readMatrix(value);
  if (typeof matrix === 'string') throw new Error(matrix);
  return matrix;
};

it('gives every combination but those left out, each under a name of its own', () => {
  const matrix = read({
    models: ['a/net.onnx', 'b/net.onnx', 'c.onnx.gz'],
    precisions: ['fp32', 'int8'],
    targets: [{ name: 'x', options: { workspace: 1 } }, { name: 'y' }],
    options: { workspace: 2, noTF32: true },
    exclude: [
      { precision: 'int8', target: 'y' },
      { model: 'b/net.onnx', target: 'y' },
    ],
  });
  const jobs = matrixJobs(matrix);
  expect(jobs.map(({ name }) => name)).toEqual([
    'net-fp32-x',
    'net-int8-x',
    'net-fp32-x-2',
    'net-int8-x-2',
    'c-fp32-x',
    'c-int8-x',
    'net-fp32-y',
    'c-fp32-y',
  ]);
  expect(jobs[0]!.options).toEqual({ workspace: 1, noTF32: true });
  expect(jobs.at(-1)!.options).toEqual({ workspace: 2, noTF32: true });
});

it('needs nothing but models', () => {
  const jobs = matrixJobs(read({ models: ['m.onnx'] }));
  expect(jobs).toMatchObject([{ name: 'm-fp32-here', precision: 'fp32', options: {} }]);
});

it.each([
  [null, /must be an object, not null/],
  [{ models: 'a.onnx' }, /"models" cannot be "a.onnx"/],
  [{ models: ['a'], precisions: ['fp12'] }, /"precisions" cannot be/],
  [{ models: ['a'], concurrency: 0 }, /"concurrency" cannot be 0/],
  [{ models: ['a'], targets: [{ name: 'A b' }] }, /lower-case letters/],
  [{ models: ['a'], targets: [{ name: 'a' }, { name: 'a' }] }, /Two targets are named "a"/],
  [{ models: ['a'], targets: [{ name: 'a', sbatch: ['--x\n#SBATCH --y'] }] }, /"sbatch" cannot be/],
  [{ models: ['a'], targets: [{ name: 'a', backend: 'cuda' }] }, /"backend" cannot be/],
  [{ models: ['a'], options: { workspace: '1G' } }, /"workspace" is "1G", expected a number/],
  [{ models: ['a'], options: { verbosity: 'loud' } }, /"verbosity" is "loud", expected one of detailed, /],
  [{ models: ['a'], kubernetes: { claim: 'x' } }, /needs a "claim" and its "mount"/],
])('says what is wrong with %j', (value, message) => {
  expect(readMatrix(value)).toMatch(message);
});

it('runs the n-th command with exactly its arguments, and keeps what came of it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tensorrt-lens-test-'));
  try {
    const script = join(folder, 'run.sh');
    const odd = ["it's", '$HOME', '`id`', 'a b', '*', '--x=\\n'];
    writeFileSync(script, arrayScript([['false'], ['printf', '%s|', ...odd]]));
    const run = (args: string[], env: Record<string, string> = {}) =>
      spawnSync('sh', [script, ...args], { env: { ...process.env, ...env } }).status;
    expect([
      run(['0']),
      run([], { SLURM_ARRAY_TASK_ID: '1' }),
      run([], { JOB_COMPLETION_INDEX: '0' }),
      run(['2']),
    ]).toEqual([1, 0, 0, 2]);
    expect(readFileSync(join(folder, '1/build.log'), 'utf8')).toBe(`${odd.join('|')}|`);
    expect(readFileSync(join(folder, '0/exit'), 'utf8')).toBe('1\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it.each([
  ['h100', 6, 'trtlens-h100-0badcafe'],
  ['a-target-'.repeat(10), 1, `trtlens-${'a-target-'.repeat(5)}-0badcafe`.replace('--', '-')],
  ['t'.repeat(100), 12_345, `trtlens-${'t'.repeat(63 - 8 - 9 - 6)}-0badcafe`],
])('%s, %i pods: names of pods are DNS labels', (target, count, expected) => {
  const name = kubernetesName(target, '0badcafe', count);
  expect(name).toBe(expected);
  expect(`${name}-${count - 1}`).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
});

it('names no two jobs alike', () => {
  const matrix = readMatrix({ models: ['a.onnx', 'b/a.onnx'], targets: [{ name: 'h' }, { name: 'h-2' }] });
  const names = matrixJobs(matrix as Matrix).map(({ name }) => name);
  expect(names).toEqual(['a-fp32-h', 'a-fp32-h-2', 'a-fp32-h-2-2', 'a-fp32-h-2-3']);
});

it('writes what sbatch and kubectl take', () => {
  const target = { name: 'h100', sbatch: ['--gres=gpu:h100:1'], image: 'trt:10' };
  expect(slurmScript(target, 6, 2)).toBe(
    '#!/bin/sh\n#SBATCH --job-name=trtlens-h100\n#SBATCH --array=0-5%2\n#SBATCH --output=slurm-%A_%a.txt\n#SBATCH --gres=gpu:h100:1\nexec sh ./run.sh\n',
  );
  expect(
    kubernetesJob(
      'trtlens-h100-1',
      target,
      { claim: 'data', mount: '/shared', namespace: 'ml' },
      '/shared/run.sh',
      6,
      20,
    ),
  ).toMatchObject({
    kind: 'Job',
    metadata: { name: 'trtlens-h100-1', namespace: 'ml' },
    spec: {
      completionMode: 'Indexed',
      completions: 6,
      parallelism: 6,
      template: {
        spec: {
          restartPolicy: 'Never',
          containers: [
            { image: 'trt:10', command: ['sh', '/shared/run.sh'], resources: { limits: { 'nvidia.com/gpu': 1 } } },
          ],
          volumes: [{ persistentVolumeClaim: { claimName: 'data' } }],
        },
      },
    },
  });
});

it('reads every example of the documentation', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../../docs/building.md'), 'utf8');
  const examples = [...text.matchAll(/^```yaml\n([^]*?)^```$/gm)]
    .map(([, yaml]) => parse(yaml!) as object)
    .filter((example) => 'models' in example);
  expect(examples.length).toBeGreaterThan(0);
  for (const example of examples) expect(matrixJobs(read(example)).length).toBeGreaterThan(1);
});
