import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { bytesOf } from '../../src/core/base/problem.ts';
import { readModel } from '../../src/core/formats/onnx/readModel.ts';
import { networkOf } from '../../src/core/network/network.ts';
import { modelPath } from '../support/fixtures.ts';
import { hardModel } from '../support/hardModels/builtModels.ts';
import { rtxForTests, temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();
const cli = join(import.meta.dirname, '../../dist/cli.js');

beforeAll(rtxForTests);

function trtlens(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8' });
}

function build(model: string, name: string, ...more: string[]): string {
  const builds = join(folder, name);
  const { status, stderr } = trtlens('build', model, '--backend', 'rtx', '--folder', builds, ...more);
  expect(status, stderr).toBe(0);
  return join(builds, readdirSync(builds)[0]!);
}

/** Rules that take nodes out of INT8, on line 2, and how many Q/DQ nodes the typed copy is without. */
test.each([
  ['quantized_chain', 'c2 fp32', 4],
  ['quantized_chain', 'c1 fp16', 4],
  ['quantized_chain', 'c1, c2 fp32', 8],
  ['quantized_half', 'c1, c2 fp16', 4],
  ['quantized_residual', 'c1, add fp16', 6],
  ['quantized_residual', 'c1, add fp32', 6],
  ['quantized_conv', 'conv fp16', 4],
  ['quantized_conv', 'conv fp32', 4],
])('%s, "%s": the build with the rules is one of its model', (name, rule, count) => {
  const own = `${name} ${rule}`.replaceAll(/[^\w]+/g, '-');
  const model = join(folder, `${name}.onnx`);
  const rules = join(folder, `${own}.trtprec`);
  writeFileSync(model, hardModel(name).bytes);
  writeFileSync(rules, `model ./${name}.onnx\n${rule}\n`);
  const ruled = build(model, own, '--overrides', rules);
  const plain = build(model, `${own}-plain`);

  const verified = trtlens('precision', 'verify', rules, '--build', ruled, '--json');
  expect(verified.status, verified.stderr).toBe(0);
  const { rules: verdicts } = JSON.parse(verified.stdout) as { rules: { counts: Record<string, number> }[] };
  expect(verdicts).toMatchObject([{ counts: { disobeyed: 0, unbuilt: 0 } }]);

  const compared = trtlens('diff', plain, ruled, '--json');
  expect(compared.status, compared.stderr).toBe(0);
  const text = trtlens('diff', plain, ruled).stdout;
  expect(text).toContain('taken out of INT8 by line 2 of its rules');
  expect(text).toContain(`${count} folded`);
});

test('what lint prints for a script makes a typed model, which builds with the types that the flags asked for', async () => {
  const place = join(folder, 'script');
  mkdirSync(place);
  copyFileSync(modelPath('fp16_overflow'), join(place, 'net.onnx'));
  const graph = networkOf((await readModel(bytesOf(readFileSync(modelPath('fp16_overflow'))))).value!);
  const scales = graph.tensors.map(({ name }) => `${name}: 3d000000\n`);
  writeFileSync(join(place, 'net.cache'), `TRT-100600-EntropyCalibration2\n${scales.join('')}`);
  writeFileSync(join(place, 'run.sh'), 'trtexec --onnx=net.onnx --fp16 --int8 --calib=net.cache --buildOnly\n');
  const linted = JSON.parse(trtlens('lint', join(place, 'run.sh'), '--json').stdout) as {
    files: { findings: { step?: { trtlens: string[] } }[] }[];
  };
  const steps = linted.files[0]!.findings.flatMap(({ step }) => step?.trtlens ?? []);
  const made = spawnSync(process.execPath, [cli, ...steps], { encoding: 'utf8', cwd: place });
  expect(made.status, made.stderr).toBe(0);
  expect(made.stdout).toContain('trtexec --onnx=net.typed.onnx --skipInference\n');
  const model = join(place, 'net.typed.onnx');
  const built = trtlens('build', model, '--backend', 'rtx', '--strongly-typed', '--folder', join(place, 'builds'));
  expect(built.status, built.stderr).toBe(0);
  expect(`${built.stdout}${built.stderr}`).toMatch(/Types of \d+ floating-point tensors between layers: .*\d+ % int8/);
});
