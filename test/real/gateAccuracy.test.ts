// The rule `accuracy` of a gate, which runs the model in ONNX Runtime.
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { GateResult } from '../../src/features/gate/gateFile.ts';
import { fixturePath } from '../support/fixtures.ts';
import { temporaryFolder } from '../support/rtx.ts';
import { runtimeForTests } from '../support/runtime.ts';

const root = join(import.meta.dirname, '../..');
const folder = temporaryFolder();
const trtlens = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, 'dist/cli.js'), ...args], { cwd: folder, encoding: 'utf8' });

beforeAll(async () => {
  await runtimeForTests();
  for (const [name, file] of [
    ['encoder.onnx', 'model.onnx'],
    ['samples.npz', 'inputs.npz'],
    ['layers.json.gz', 'h200.fp16_all.layers.json.gz'],
  ] as const)
    copyFileSync(fixturePath(`faults/ln_pow_outlier/${file}`), join(folder, name));
  const faults = JSON.parse(readFileSync(fixturePath('faults/faults.json'), 'utf8')) as Record<
    string,
    { fixed: string }
  >;
  writeFileSync(join(folder, 'encoder.trtprec'), faults['ln_pow_outlier']!.fixed);
  const { stdout } = trtlens('fusion', '--onnx', 'encoder.onnx', '--layers', 'layers.json.gz', '--json');
  writeFileSync(join(folder, 'report.json'), stdout);
});

function judge(rule: string, ...args: string[]): [string, string] {
  writeFileSync(join(folder, 'encoder.gate.yaml'), `model: encoder.onnx\nrules:\n  accuracy: ${rule}\n`);
  const { stdout, stderr, status } = trtlens('gate', 'encoder.gate.yaml', '--build', 'report.json', '--json', ...args);
  expect(stderr).toBe('');
  const { checks } = JSON.parse(stdout) as GateResult;
  expect(status).toBe(checks[0]!.verdict === 'failed' ? 1 : 0);
  return [checks[0]!.verdict, checks[0]!.message];
}

test('the model in FP16 misses the limit, and keeps it under the rules of the gate', () => {
  expect(judge('{ error: 0.01, inputs: samples.npz, low: fp16 }')).toEqual(['failed', 'error 1; the limit is 0.01.']);
  const [verdict, message] = judge('{ error: 0.01, inputs: samples.npz, low: fp16, rules: encoder.trtprec }');
  expect(verdict).toBe('passed');
  expect(message).toMatch(/^error 0\.001\d*; the limit is 0\.01\.$/);
});

test('what cannot be judged fails with the reason, unless it is optional', () => {
  expect(judge('{ error: 0.01, inputs: samples.npz }')).toEqual([
    'failed',
    'Nothing says in which low precision the build computes: add `low: fp16` to the rule.',
  ]);
  const missing = '{ error: 0.01, inputs: none.npz, low: fp16, optional: true }';
  const [verdict, message] = judge(missing);
  expect(verdict).toBe('skipped');
  expect(message).toContain('none.npz');
  expect(judge(missing.replace(', optional: true', ''))[0]).toBe('failed');
});

test('a result that is given is not computed again', () => {
  const outputs = [
    { name: 'y', error: 0.004, finite: true, judged: true },
    { name: 'index', error: 1, finite: true, judged: false },
  ];
  writeFileSync(join(folder, 'accuracy.json'), JSON.stringify({ outputs }));
  expect(judge('{ error: 0.01, inputs: none.npz }', '--accuracy', 'accuracy.json')).toEqual([
    'passed',
    'error 0.004; the limit is 0.01.',
  ]);
});
