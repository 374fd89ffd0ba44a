import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildFactsOf } from '../../src/kernel/node/store/buildFactsOf.ts';
import { listBuilds } from '../../src/kernel/node/store/buildHistory.ts';
import type { ParserError } from '../../src/kernel/node/run/internal/driverEvent.ts';
import { loadBuild } from '../../src/kernel/node/store/loadBuild.ts';
import { type BuildEvents, type BuildOptions, runBuild } from '../../src/kernel/node/run/runBuild.ts';
import { ensurePackages, type Installed } from '../../src/kernel/node/tools/ensurePackages.ts';
import { packageSets } from '../../src/kernel/node/tools/packageSets.ts';
import type { FusionReport } from '../../src/kernel/fusion/fusionReport.ts';
import { modelFacts } from '../../src/kernel/rules/buildFacts.ts';
import { NodeIndex, resolveOverrides } from '../../src/kernel/rules/resolveOverrides.ts';
import { planPrecision } from '../../src/kernel/rules/precisionPlan.ts';
import { readOverrides } from '../../src/kernel/rules/readOverrides.ts';
import { verifyPrecision } from '../../src/kernel/rules/verifyPrecision.ts';
import { modelPath } from '../support/fixtures.ts';
import { driverPath, rtxForTests, temporaryFolder } from '../support/rtx.ts';
import { runningWith } from '../support/runningWith.ts';

let rtx: Installed;
const folder = temporaryFolder();
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  rtx = await rtxForTests();
});

const build = (model: string, more: Partial<BuildOptions> = {}, events: BuildEvents = {}, signal?: AbortSignal) =>
  runBuild(
    {
      model,
      backend: 'rtx',
      randomWeights: true,
      driver: driverPath,
      folder: file('builds'),
      confirm: () => Promise.reject(new Error('asked')),
      ...more,
    },
    events,
    signal,
  );

async function reportOf(model: string): Promise<FusionReport> {
  const made = await build(modelPath(model));
  expect(made.manifest).toMatchObject({
    result: 'passed',
    error: null,
    tensorrt: { product: 'tensorrt-rtx', version: packageSets['tensorrt-rtx'].version },
  });
  const { report } = await loadBuild(made);
  expect(report.tensorrt.product).toBe('tensorrt-rtx');
  expect(report.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  const { total, ...fates } = report.accounting;
  expect(Object.values(fates).reduce((sum, count) => sum + count)).toBe(total);
  return report;
}

const nodesOf = (report: FusionReport, op: string) => report.nodes.filter((node) => node.op === op);

describe('what became of every node', () => {
  test('a convolutional net: one ForeignNode holds it all', async () => {
    const report = await reportOf('resnet18');
    expect(report.accounting).toMatchObject({ total: 49, foreign: 49, unknown: 0 });
    expect(report.foreignNodes).toMatchObject([{ exact: true }]);
    expect(report.funnel[0]).toMatchObject({ stage: 'Original', layers: 53 });
    for (const node of nodesOf(report, 'Conv')) expect(node.layers.length, node.name).toBeGreaterThan(0);
  });

  test('a transformer: its constants fold, the rest is one ForeignNode', async () => {
    const report = await reportOf('vit_tiny');
    expect(report.accounting).toMatchObject({ total: 636, foreign: 453, unknown: 0 });
    expect(nodesOf(report, 'Softmax').every(({ fate }) => fate === 'foreign')).toBe(true);
    expect(nodesOf(report, 'Constant').every(({ fate }) => fate === 'folded')).toBe(true);
  });

  test('Loop and If: the nodes of their bodies, under their own ids', async () => {
    const report = await reportOf('loop_if');
    expect(report.accounting.total).toBe(18);
    const inside = report.nodes.filter(({ id }) => id.includes('/'));
    expect(inside.length).toBeGreaterThan(4);
    expect(inside.some(({ fate }) => fate === 'foreign')).toBe(true);
    expect(inside.some(({ id }) => /\/then_branch\/\d+$/.test(id))).toBe(true);
  });

  test('nodes without names, and two inputs with several outputs', async () => {
    expect((await reportOf('unnamed')).accounting.unknown).toBe(0);
    const two = await reportOf('two_inputs_multi_out');
    expect(two.foreignNodes[0]!.inputs.sort()).toEqual(['left', 'right']);
  });
});

describe('options reach TensorRT', () => {
  test('an optimization profile for a dynamic model', async () => {
    const shape = (batch: number, length: number) => ({ min: '1x8', opt: `${batch}x${length}`, max: '8x64' });
    const profiles = [{ input_ids: shape(4, 32), attention_mask: shape(4, 32) }];
    const { folder: made, manifest } = await build(modelPath('bert_base'), { profiles });
    expect(manifest.result).toBe('passed');
    expect(readFileSync(join(made, 'build.log'), 'utf8')).toMatch(
      /ProfileInfo: \[ \{ MinShape: \[1,8\], OptShape: \[4,32\], MaxShape: \[8,64\]/,
    );
  });

  test('a shape that does not fit names input, axis and sizes', async () => {
    const profiles = [{ input_ids: { min: '8x64', opt: '4x32', max: '1x8' } }];
    const { manifest } = await build(modelPath('bert_base'), { profiles });
    expect(manifest).toMatchObject({
      result: 'failed',
      error: expect.stringMatching(/MIN<=OPT<=MAX|input_ids/) as string,
    });
  });

  test('a GPU to build for, a compressed model, an engine in a place of its own', async () => {
    const packed = file('fp16_overflow.onnx.gz');
    writeFileSync(packed, gzipSync(readFileSync(modelPath('fp16_overflow'))));
    const engine = file('engines/net.engine');
    const { manifest, folder: made } = await build(packed, {
      randomWeights: false,
      computeCapability: ['12.0'],
      engine,
    });
    expect(manifest).toMatchObject({ result: 'passed', files: { engine }, model: { file: packed } });
    expect(readFileSync(engine).length).toBeGreaterThan(1000);
    expect(readFileSync(join(made, 'build.log'), 'utf8').split('\n')[0]).toContain('--compute-capability=12.0');
  });

  test('a timing cache, whose folder is made, and which a build reads again', async () => {
    const timingCache = file('new/folder/timing.cache');
    const made = await build(modelPath('unnamed'), { timingCache });
    expect(made.manifest).toMatchObject({ result: 'passed' });
    expect(made.manifest.command.join(' ')).not.toContain(timingCache);
    expect(readdirSync(made.folder).filter((name) => name.includes('.tmp'))).toEqual([]);
    const content = readFileSync(timingCache);
    const again = await build(modelPath('unnamed'), { timingCache });
    expect(again.manifest).toMatchObject({ result: 'passed' });
    expect(again.manifest.warnings).toBeUndefined();
    expect(readFileSync(timingCache).length).toBe(content.length);
  });

  test('what TensorRT-RTX cannot do is refused before it begins', async () => {
    await expect(build(modelPath('unnamed'), { precision: 'fp16' })).rejects.toThrow(/only strongly typed networks/);
    await expect(build(modelPath('unnamed'), { layerPrecisions: [{ name: 'x', type: 'fp32' }] })).rejects.toThrow(
      /typed copy of the model/,
    );
  });
});

describe('what cannot be built fails with file and node', () => {
  test.each([
    ['an empty file', 'empty.onnx', Buffer.alloc(0), /empty\.onnx: the file is empty/],
    ['a text file', 'text.onnx', Buffer.from('# a model\nkind: conv\n'), /text\.onnx: this is a text file/],
    [
      'a truncated file',
      'cut.onnx',
      readFileSync(modelPath('vit_tiny')).subarray(0, 99_000),
      /^The file is not a complete ONNX model/,
    ],
    [
      'a model without its weights',
      'bare.onnx',
      readFileSync(modelPath('resnet18')),
      /^The weights file .*weights\.bin is missing\./,
    ],
  ])('%s', async (_, name, content, message) => {
    mkdirSync(file('broken'), { recursive: true });
    writeFileSync(file(`broken/${name}`), content);
    const { manifest, folder: made } = await build(file(`broken/${name}`), { randomWeights: false });
    expect(manifest.result).toBe('failed');
    expect(manifest.error).toMatch(message);
    expect(readdirSync(made).sort()).toEqual(['build.log', 'manifest.json']);
  });

  test('weights that were cut off', async () => {
    mkdirSync(file('short'), { recursive: true });
    copyFileSync(modelPath('resnet18'), file('short/net.onnx'));
    writeFileSync(file('short/weights.bin'), Buffer.alloc(1000));
    const { manifest } = await build(file('short/net.onnx'), { randomWeights: false });
    expect(manifest.result).toBe('failed');
    expect(manifest.error).toMatch(/weights/);
  });

  test('an operator that it does not have', async () => {
    const errors: ParserError[] = [];
    const { manifest } = await build(
      modelPath('unsupported_op'),
      {},
      { parserErrors: (found) => errors.push(...found) },
    );
    expect(manifest.error).toMatch(
      /^TensorRT has no importer for the operator MyCustomOp of node "\/custom\/MyCustomOp", /,
    );
    expect(errors).toMatchObject([{ node: 11, nodeName: '/custom/MyCustomOp', operator: 'MyCustomOp' }]);
  });
});

describe('a cancel half-way', () => {
  test('leaves no engine, no temporary file and no process', async () => {
    const abort = new AbortController();
    const engine = file('cancelled.engine');
    let asked = false;
    const { folder: made, manifest } = await build(
      modelPath('vit_tiny'),
      { engine },
      {
        progress: ({ phase }) => {
          if (phase !== 'Optimizing graph' || asked) return;
          asked = true;
          abort.abort();
        },
      },
      abort.signal,
    );
    expect(manifest).toMatchObject({ result: 'cancelled', files: { engine: null } });
    expect(readdirSync(made).sort()).toEqual(['build.log', 'manifest.json']);
    expect(existsSync(engine)).toBe(false);
    // TensorRT did not go on to the end.
    expect(readFileSync(join(made, 'build.log'), 'utf8')).not.toContain('Engine generation completed');
    expect(runningWith(made)).toEqual([]);
  });

  test('also when the program that runs the build is killed', async () => {
    const parent = file('killed');
    const cli = join(import.meta.dirname, '../../dist/cli.js');
    const args = [
      cli,
      'build',
      modelPath('deep_encoder_11k'),
      '--random-weights',
      '--backend',
      'rtx',
      '--folder',
      parent,
      '--verbose',
    ];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        if (text.includes('[TRT]')) child.kill('SIGKILL');
      });
      child.once('close', () => resolve());
    });
    const [made] = readdirSync(parent);
    await expect.poll(() => runningWith(join(parent, made!))).toEqual([]);
    await expect.poll(() => readdirSync(join(parent, made!)).sort()).toEqual(['build.log', 'manifest.json']);
    const [listed] = await listBuilds('any', { folder: parent });
    expect(listed!.manifest).toMatchObject({
      result: 'cancelled',
      error: expect.stringContaining('interrupted') as string,
    });
  });
});

test('builds at the same time do not mix', async () => {
  const made = await Promise.all(['unnamed', 'loop_if', 'unnamed'].map((model) => build(modelPath(model))));
  expect(made.map(({ manifest }) => manifest.result)).toEqual(['passed', 'passed', 'passed']);
  expect(new Set(made.map(({ folder: one }) => one)).size).toBe(3);
  const totals = await Promise.all(made.map(async (one) => (await loadBuild(one)).report.accounting.total));
  expect(totals).toEqual([24, 18, 24]);
});

test('the private installation is one: a second set-up asks nothing', async () => {
  const confirm = () => Promise.reject(new Error('asked'));
  expect(await ensurePackages('tensorrt-rtx', { confirm })).toEqual(rtx);
});

describe('precision overrides', () => {
  test('reach inside of a ForeignNode by a typed copy of the model, which does not stay', async () => {
    const overrides = file('vit.trtprec');
    writeFileSync(overrides, 'base fp16\n/blocks/blocks.0/** fp32\n');
    const made = await build(modelPath('vit_tiny'), { overrides });
    expect(made.manifest).toMatchObject({ result: 'passed', options: { overrides } });
    expect(readdirSync(made.folder).toSorted()).toEqual([
      'build.log',
      'manifest.json',
      'model.engine',
      'overrides.json',
    ]);
    const read = await loadBuild(made, { onnx: modelPath('vit_tiny') });
    const { report, model } = read;
    // The copy's Casts are known, so nobody asks whether this is the right model.
    expect(report.problems.filter(({ code }) => code === 'unknown-node')).toEqual([]);
    const facts = buildFactsOf(read);
    const index = new NodeIndex(modelFacts(model, 'vit_tiny.onnx'));
    const verdicts = (text: string) => {
      const rules = readOverrides(text);
      return verifyPrecision(planPrecision(rules, index, resolveOverrides(rules, index, facts)), facts, index);
    };
    const [kept] = verdicts('/blocks/blocks.0/** fp32\n');
    expect(kept).toMatchObject({ verdict: 'obeyed', counts: { disobeyed: 0, unseen: 0 } });
    // Not from the copy's types alone: kernels inside of the ForeignNode say so, too.
    expect(kept!.nodes.filter(({ certain }) => certain).length).toBeGreaterThan(3);
    // The build was not made with this rule, so there is no verdict on it.
    const [rest] = verdicts('/blocks/blocks.5/** fp32\n');
    expect(rest!.verdict).toBe('unbuilt');
  });
});
