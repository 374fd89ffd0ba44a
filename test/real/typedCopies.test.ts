import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import type { BuildDiff } from '../../src/kernel/report/buildDiff.ts';
import { readModel } from '../../src/kernel/read/onnx/readModel.ts';
import type { FusionReport } from '../../src/kernel/fusion/fusionReport.ts';
import { networkOf } from '../../src/kernel/network/network.ts';
import { modelPath } from '../support/fixtures.ts';
import { hardModel } from '../support/hardModels/builtModels.ts';
import { hard, w } from '../support/hardModels/hardModel.ts';
import { rtxForTests, temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();
const cli = join(import.meta.dirname, '../../dist/cli.js');

function trtlens(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [cli, ...args], { cwd: folder, encoding: 'utf8' });
}

function json<T>(...args: string[]): T {
  const { stdout, stderr } = trtlens(...args, '--json');
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as T;
}

/** A product and a normalization in FP32, in a network in FP16. */
const normalized = hard(
  'normalized',
  [
    ['gemm', 'Gemm', ['x', 'w', 'b'], ['g']],
    ['act', 'Relu', ['g'], ['h']],
    ['mm', 'MatMul', ['h', 'w'], ['m']],
    ['norm', 'LayerNormalization', ['m', 'scale', 'b'], ['n']],
    ['out', 'MatMul', ['n', 'w'], ['y']],
  ],
  { weights: [w, ['b', 'float', [8]], ['scale', 'float', [8], 1]] },
);

/** A convolution of which the weights are INT8: without its Q/DQ pair a kernel of its own dequantizes them. */
const weightsOnly = hard(
  'weights_only',
  [
    ['in_q', 'QuantizeLinear', ['i', 's', 'z'], ['i8']],
    ['in_dq', 'DequantizeLinear', ['i8', 's', 'z'], ['a']],
    ['weights', 'DequantizeLinear', ['k', 'sw', 'zw'], ['f'], { axis: 0 }],
    ['conv', 'Conv', ['a', 'f'], ['m'], { pads: [1, 1, 1, 1], kernel_shape: [3, 3] }],
    ['relu', 'Relu', ['m'], ['o']],
  ],
  {
    inputs: [['i', 'float', 1, 8, 8, 8]],
    outputs: [['o', 'float', 1, 8, 8, 8]],
    weights: [
      ['k', 'int8', [8, 8, 3, 3], Array.from({ length: 576 }, (_, i) => ((i * 7) % 31) - 15)],
      ['s', 'float', [], 0.1],
      ['z', 'int8', [], 0],
      ['sw', 'float', [8], 0.05],
      ['zw', 'int8', [8], 0],
    ],
  },
);

interface Case {
  model: ReturnType<typeof hard>;
  rules: string;
  /** Nodes of the model that the rules remove, on line 2. */
  removed: number;
}

const cases = {
  chain: { model: hardModel('quantized_chain'), rules: 'c1, c2 fp32', removed: 8 },
  residual: { model: hardModel('quantized_residual'), rules: 'c1, add fp16', removed: 6 },
  weights: { model: weightsOnly, rules: 'conv fp16', removed: 2 },
  normalized: { model: normalized, rules: 'base fp16\ngemm fp32\nop:LayerNormalization fp32', removed: 0 },
} satisfies Record<string, Case>;
type Name = keyof typeof cases;
const names = Object.keys(cases) as Name[];

/** A case's build with its rules, and without any. */
const built = {} as Record<Name, { ruled: string; plain: string; rules: string }>;

function build(model: string, name: string, ...more: string[]): string {
  const { status, stderr } = trtlens('build', model, '--backend', 'rtx', '--folder', name, ...more);
  expect(status, stderr).toBe(0);
  return join(name, readdirSync(join(folder, name))[0]!);
}

beforeAll(async () => {
  await rtxForTests();
  for (const name of names) {
    const { model, rules: text } = cases[name];
    const [file, rules] = [`${name}.onnx`, `${name}.trtprec`];
    writeFileSync(join(folder, file), model.bytes);
    writeFileSync(join(folder, rules), `model ./${file}\n${text}\n`);
    built[name] = {
      ruled: build(file, `${name}-ruled`, '--rules', rules),
      plain: build(file, `${name}-plain`),
      rules,
    };
  }
});

const reportOn = (name: Name): FusionReport => json('fusion', '--build', built[name].ruled);

interface Verified {
  rules: {
    counts: Record<string, number>;
    nodes: { name: string; asked: string; verdict: string; reason: string }[];
  }[];
}

const verify = (name: Name): Verified => json('precision', 'verify', built[name].rules, '--build', built[name].ruled);

/** What a gate says of the types of nodes: whether they are computed in them. */
function gate(name: Name, types: Record<string, string>): Record<string, boolean> {
  const lines = Object.entries(types).map(([selector, type]) => `    ${JSON.stringify(selector)}: ${type}\n`);
  writeFileSync(join(folder, 'gate.yaml'), `rules:\n  precision:\n${lines.join('')}`);
  const { checks } = json<{ checks: { check: string; verdict: string }[] }>(
    'gate',
    'gate.yaml',
    '--build',
    built[name].ruled,
  );
  return Object.fromEntries(
    checks.map(({ check, verdict }) => [check.slice('precision.'.length), verdict === 'passed']),
  );
}

const quantized = names.filter((name) => cases[name].removed > 0);

describe('rules that take nodes out of INT8', () => {
  test.each(quantized)('1. %s: the build is one of its model, and the removed nodes say by which line', (name) => {
    const { nodes, problems } = reportOn(name);
    const codes = problems.map(({ code }) => code);
    expect(codes.filter((code) => /other-model|model-differs|unknown-node/.test(code))).toEqual([]);
    expect(nodes.filter(({ fate }) => fate === 'unknown')).toEqual([]);
    const removed = nodes.filter(({ removedByLine }) => removedByLine === 2);
    expect(removed).toHaveLength(cases[name].removed);
    for (const node of removed) {
      expect(node).toMatchObject({ fate: 'removed', exact: true });
      expect(node.reason).toContain('Line 2 of the rules took it out of INT8');
      expect(node.op).toMatch(/^(?:De)?[Qq]uantizeLinear$/);
    }
  });

  test.each(quantized)('2. %s: verify exits with 0, and no rule is disobeyed or unbuilt', (name) => {
    const { rules, ruled } = built[name];
    expect(trtlens('precision', 'verify', rules, '--build', ruled)).toMatchObject({ status: 0 });
    expect(verify(name).rules).toMatchObject([{ counts: { disobeyed: 0, unbuilt: 0 } }]);
  });

  test.each(quantized)('3. %s: a comparison with the build without rules names the line', (name) => {
    const { status, stdout, stderr } = trtlens('diff', built[name].plain, built[name].ruled);
    expect(status, stderr).toBe(0);
    expect(stdout).toContain('taken out of INT8 by line 2 of its rules');
    expect(stdout).toContain(`${cases[name].removed} folded`);
  });

  test.each(quantized)('4. %s: the text on a node and a gate say so, too', (name) => {
    const { ruled, plain } = built[name];
    const { nodes } = reportOn(name);
    const removed = nodes.find(({ removedByLine }) => removedByLine !== undefined)!;
    expect(trtlens('fusion', '--build', ruled, '--nodes', removed.name).stdout).toMatch(
      /Line 2 of the rules took it out\s+of\s+INT8/,
    );
    writeFileSync(join(folder, 'gate.yaml'), 'rules:\n  nodes: { unknown: 0 }\n');
    const { stdout, stderr } = trtlens('gate', 'gate.yaml', '--build', ruled, '--baseline', plain);
    expect(stdout, stderr).toContain('1 check passed');
  });
});

describe('one judgment of the type that a node is computed in', () => {
  test('5. a convolution in FP16 obeys, whatever the kernel does that dequantizes its weights', () => {
    const { nodes, layers } = reportOn('weights');
    const [helper] = nodes.find(({ name }) => name === 'weights')!.layers;
    // It reads no data and writes FP16.
    expect(layers[helper!]).toMatchObject({ inputs: [], outputs: [{ type: 'Half' }] });
    const [rule] = verify('weights').rules;
    expect(rule!.nodes).toMatchObject([{ name: 'conv', asked: 'fp16', verdict: 'obeyed' }]);
    expect(gate('weights', { conv: 'fp16' })).toEqual({ conv: true });
  });

  test('6. a Gemm that is kept in FP32 obeys, and a comparison says nothing else of it', () => {
    const [gemm] = verify('normalized').rules;
    expect(gemm!.nodes).toMatchObject([{ name: 'gemm', verdict: 'obeyed' }]);
    const { plain, ruled } = built.normalized;
    const { stdout } = trtlens('diff', plain, ruled);
    expect(stdout).toContain('gemm and act: output type changed from Float to Half.');
    expect(stdout).not.toMatch(/\bgemm\b.*computed in fp16|Gemm[^,]* (?:now in|in another type)/);
  });

  test('7. a LayerNormalization in FP32 keeps a gate on a kernel that casts first, as its name says', () => {
    const norm = reportOn('normalized').nodes.find(({ name }) => name === 'norm')!;
    const kernel = reportOn('normalized').layers[norm.layers[0]!]!;
    expect(kernel.name).toMatch(/^__myl_CastMean/);
    expect([...kernel.inputs, ...kernel.outputs].map(({ type }) => type)).toEqual(['Half', 'Half']);
    expect(gate('normalized', { 'op:LayerNormalization': 'fp32' })).toEqual({ 'op:LayerNormalization': true });
    expect(gate('normalized', { 'op:LayerNormalization': 'fp16' })).toEqual({ 'op:LayerNormalization': false });
    expect(verify('normalized').rules[1]!.nodes).toMatchObject([{ name: 'norm', verdict: 'obeyed' }]);
  });

  test.each(names)('8. %s: verify, gate and comparison agree on every node', (name) => {
    const verdicts = verify(name).rules.flatMap(({ nodes }) => nodes);
    expect(verdicts.length).toBeGreaterThan(0);
    const asked = Object.fromEntries(verdicts.map((node) => [node.name, node.asked]));
    expect(gate(name, asked)).toEqual(
      Object.fromEntries(verdicts.map((node) => [node.name, node.verdict === 'obeyed'])),
    );
    const { changes } = json<BuildDiff>('diff', built[name].plain, built[name].ruled);
    const { nodes } = reportOn(name);
    for (const { message, nodesB } of changes) {
      const type = /, computed in (\w+) (?:instead|in both)/.exec(message)?.[1];
      if (type === undefined) continue;
      const said = nodes.filter(({ id }) => nodesB.includes(id)).map((node) => [node.name, type]);
      expect(Object.values(gate(name, Object.fromEntries(said)))).not.toContain(false);
    }
  });
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
