import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { findDynamicShapesCost } from '../../src/features/trials/node/dynamicShapesCost.ts';
import { type BuildOptions, runBuild } from '../../src/kernel/node/run/runBuild.ts';
import { searchChange } from '../../src/features/trials/node/searchChange.ts';
import { whatIf } from '../../src/features/trials/node/whatIf.ts';
import { fillWeights } from '../../src/kernel/node/files/fillWeights.ts';
import { ParsedFiles } from '../../src/kernel/node/files/parsedFiles.ts';
import { readBuildSide } from '../../src/kernel/node/store/buildSide.ts';
import { gate as gateCommand } from '../../src/features/gate/node/cli/gate.ts';
import { formatReport } from '../../src/kernel/report/reportText.ts';
import { writeChanged } from '../../src/features/surgery/node/writeChanged.ts';
import { readModel } from '../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { fixturePath, modelPath } from '../support/fixtures.ts';
import { forkedScripts } from '../support/forkedScripts.ts';
import { runCommand } from '../unit/shell/cli/runCommand.ts';
import { rtxForTests, temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();
const options: BuildOptions = {
  model: modelPath('fp16_overflow_fp16'),
  backend: 'rtx',
  randomWeights: true,
  driver: '',
  confirm: () => Promise.resolve(true),
};
let base: string;

beforeAll(async () => {
  options.driver = join(await forkedScripts(await rtxForTests(), ['tensorrt_rtx']), 'build_engine.py');
  const build = await runBuild({ ...options, folder: join(folder, 'base') });
  expect(build.manifest.error).toBeNull();
  base = build.folder;
});

test('an output inside an attention dissolves just this one', async () => {
  const { diff } = await whatIf({
    options,
    changed: {},
    change: { outputs: ['/layers.1/attn/qk/MatMul_output_0'] },
    base,
  });
  expect(diff.b).toMatchObject({ model: 'fp16_overflow_fp16.onnx', product: 'tensorrt-rtx' });
  expect(diff.totals.states).toMatchObject({ split: 4, merged: 0, moved: 0, same: diff.matched.byName - 4 });
  expect(diff.marked).toMatchObject({ side: 'b', dissolved: [expect.objectContaining({ kernels: 3 })] });
  const [split] = diff.changes.filter(({ kind }) => kind === 'split');
  expect(split).toMatchObject({ exact: true, a: expect.stringContaining('_gemm_mha_v2') as string });
});

test('a cut leaves both halves, and a node that was taken out is gone', async () => {
  const cut = await whatIf({ options, changed: {}, change: { cuts: ['/layers.1/add_ffn/Add_output_0'] }, base });
  expect(cut.diff.matched).toMatchObject({ onlyA: [], onlyB: [] });

  const without = await whatIf({ options, changed: {}, change: { remove: await softmaxOf('/layers.1/') }, base });
  expect(without.diff.changes.length).toBeGreaterThan(0);
  await expect(whatIf({ options, changed: {}, change: { remove: '9999' }, base })).rejects.toThrow(
    'There is no node 9999',
  );
});

test('an added node changes nothing here, and a mark is taken back', async () => {
  const at = '/layers.1/attn/qk/MatMul_output_0';
  const { diff: added } = await whatIf({ options, changed: {}, change: { add: 'Cast', at }, base });
  expect(added.totals).toMatchObject({ states: { split: 0, merged: 0, moved: 0 }, kernels: { a: 42, b: 42 } });
  const marked = join(folder, 'marked.onnx');
  await writeChanged(await fillWeights(options.model), { outputs: [at] }, marked, new ParsedFiles());
  const { randomWeights: _, ...rest } = options;
  const { diff } = await whatIf({ options: { ...rest, model: marked }, changed: {}, change: { unmark: at } });
  expect(diff.totals.kernels).toEqual({ a: 46, b: 42 });

  const found = await searchChange({
    options: { ...rest, model: marked },
    kind: 'fuse',
    nodes: ['/layers.1/attn/qk/MatMul', '/layers.1/attn/softmax/Softmax'],
    maxBuilds: 4,
  });
  expect(found.tried[0]).toMatchObject({ option: 'unmark', values: [at], reached: true, results: 'same', kernels: -4 });
});

test('a change of a model whose weights are missing', async () => {
  const vit = { ...options, model: modelPath('vit_tiny') };
  const { diff } = await whatIf({
    options: vit,
    changed: {},
    change: { outputs: ['/blocks/blocks.3/attn/Softmax_output_0'] },
  });
  expect(diff.totals.nodes).toEqual({ a: 636, b: 636 });
});

test('a search for what breaks an attention', async () => {
  const found = await searchChange({ options, kind: 'break', nodes: ['/layers.1/attn/**'], base, maxBuilds: 24 });
  expect(found.tensorrt).toMatchObject({ product: 'tensorrt-rtx' });
  const works = found.tried.filter(({ reached }) => reached);
  expect(works.map(({ option }) => option)).toEqual('output output output rules cut cut cut'.split(' '));
  expect(works[0]).toMatchObject({ results: 'same', kernels: 3, reformats: 0, ms: null });
  const added = found.tried.filter(({ option }) => option === 'add');
  expect(added.map(({ reached, kernels }) => [reached, kernels])).toEqual([
    [false, 0],
    [false, 0],
    [false, 0],
  ]);
  expect(found).toMatchObject({ left: 0, builds: found.tried.length });

  const bounded = await searchChange({ options, kind: 'break', nodes: ['/layers.1/attn/**'], base, maxBuilds: 2 });
  expect(bounded.tried).toHaveLength(2);
  expect(bounded.left).toBe(found.tried.length - 2);
  const none = searchChange({ options, kind: 'break', nodes: ['/nowhere/**'], base, maxBuilds: 2 });
  await expect(none).rejects.toThrow('no node has the id or matches the name /nowhere/**');
});

async function softmaxOf(module: string): Promise<string> {
  const { value } = await readModel(bytesOf(readFileSync(options.model)));
  return value!.nodes.find(({ op, name }) => op === 'Softmax' && name.startsWith(module))!.id;
}

test('what open dimensions cost is found once, and is in the report and the gate from then on', async () => {
  const model = join(folder, 'gpt.onnx');
  copyFileSync(fixturePath('builds/gpt_kv/model.onnx'), model);
  const past = { min: '1x4x1x8', opt: '1x4x16x8', max: '4x4x64x8' };
  const caches = Object.fromEntries(['past_k0', 'past_v0', 'past_k1', 'past_v1'].map((name) => [name, past]));
  const profiles = [{ ids: { min: '1x1', opt: '1x16', max: '4x64' }, ...caches }];
  const own = { ...options, model, randomWeights: false };
  const build = await runBuild({ ...own, profiles, folder: join(folder, 'dynamic') });
  const cost = await findDynamicShapesCost(build.folder, { driver: options.driver, confirm: options.confirm });
  expect(cost.kernels.dynamic).toBeGreaterThan(cost.kernels.fixed + 5);
  const { report } = await readBuildSide(build.folder);
  expect(report.dynamicShapes).toEqual(cost);
  const text = formatReport(report).replaceAll(/\s+/g, ' ');
  expect(text).toContain('missed: With fixed ids 1×16, past_k0 1×4×16×8,');
  expect(text).toContain(`(${cost.kernels.fixed} instead of ${cost.kernels.dynamic})`);
  const gate = join(folder, 'dynamic.gate.yaml');
  writeFileSync(gate, 'rules:\n  dynamicShapes: { kernels: 2, fused: 100 }\n');
  const checked = await runCommand(gateCommand, gate, '--build', build.folder, '--json');
  const { checks } = JSON.parse(checked.out) as { checks: { verdict: string }[] };
  expect(checks.map(({ verdict }) => verdict)).toEqual(['failed', 'passed']);
  await expect(findDynamicShapesCost(base, { driver: options.driver, confirm: options.confirm })).rejects.toThrow(
    'was built for fixed shapes',
  );
});
