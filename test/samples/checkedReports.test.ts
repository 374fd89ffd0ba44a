import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { loadFiles } from '../../src/kernel/node/store/loadBuild.ts';
import { checkReport } from '../support/checker/checkReport.ts';
import { captureIndex } from '../support/fixtures.ts';
import { samplesPath } from '../support/samples.ts';

/** Captures whose models or layers are not ours to ship, beside the samples. Those that are: checkedCaptures.long.test.ts. */
const root = samplesPath('../captures');
const builds = readdirSync(root)
  .filter((version) => version.startsWith('tensorrt-'))
  .flatMap((version) => readdirSync(`${root}/${version}`).map((name) => `${version}/${name}`))
  .filter((name) => !(name in captureIndex) && existsSync(`${root}/${name}/meta.json`))
  .toSorted();

const pathOf = (path: string): string | undefined => [path, `${path}.gz`].find((one) => existsSync(one));

function textOf(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const bytes = readFileSync(path);
  return new TextDecoder().decode(path.endsWith('.gz') ? gunzipSync(bytes) : bytes);
}

it.each(builds)('nothing in the inputs of %s contradicts its report', async (build) => {
  const folder = `${root}/${build}`;
  const { model } = JSON.parse(readFileSync(`${folder}/meta.json`, 'utf8')) as { model?: string };
  const onnx = `${root}/models/${model ?? ''}.onnx`;
  const log = pathOf(`${folder}/log.txt`) ?? pathOf(`${folder}/log0.txt`);
  const layers = pathOf(`${folder}/layers.json`);
  if (!existsSync(onnx) || (log === undefined && layers === undefined)) return;
  const { report } = await loadFiles({ onnx, log, layers });
  const input = { model: readFileSync(onnx), log: textOf(log), layerInfo: textOf(layers) };
  expect(checkReport(report, input)).toEqual([]);
});

/** Models and logs in which statements were refuted once. */
const truth = samplesPath('../round5/truth');
const otherModels: Record<string, string> = { d07_q_out_nometa: 'd07_q_out', f01_nolayermeta: 'f01_blocks' };
const refuted = readdirSync(truth)
  .filter((name) => name.endsWith('.log'))
  .map((name) => name.slice(0, -4))
  .filter((name) => existsSync(`${truth}/${otherModels[name] ?? name}.onnx`));

it.each(refuted)('nothing in the log of %s contradicts its report', async (name) => {
  const [onnx, log] = [`${truth}/${otherModels[name] ?? name}.onnx`, `${truth}/${name}.log`];
  const { report } = await loadFiles({ onnx, log });
  expect(checkReport(report, { model: readFileSync(onnx), log: textOf(log) })).toEqual([]);
});

/** Weakly typed builds of the models in which FP16 breaks; of the others a changed copy was built. */
const faults = samplesPath('../faults');
const faultBuilds = readdirSync(faults)
  .filter((name) => existsSync(`${faults}/${name}/model.onnx`))
  .flatMap((name) =>
    ['fp32', 'fp16flag'].map((variant) => [name, `${faults}/${name}/h200.${variant}.layers.json.gz`] as const),
  )
  .filter(([, layers]) => existsSync(layers));

it.each(faultBuilds)('nothing in the layers of %s contradicts its report: %s', async (name, layers) => {
  const onnx = `${faults}/${name}/model.onnx`;
  const { report } = await loadFiles({ onnx, layers });
  expect(report.accounting.total).toBeGreaterThan(0);
  expect(checkReport(report, { model: readFileSync(onnx), layerInfo: textOf(layers) })).toEqual([]);
});

const mulEtc = ['sig', 'mul'].map((name) => [name, 'removed', /in place of its function/] as const);

/** What is true of each refuted node, by its name: its fate, and what its reason says or its candidates are. */
const truths: Record<string, readonly (readonly [node: string, fate: string, reason: RegExp, within?: number[]])[]> = {
  a03_cond: [
    ['b_unused_carry', 'removed', /^No graph output depends on it/],
    ['b_dead', 'removed', /^No graph output depends on it/],
  ],
  a05_loop_loop: [['loop', 'unknown', /^The build failed/]],
  a11_if_dynshape: [
    ['s', 'removed', /TensorRT knew its condition/],
    ['gt', 'removed', /TensorRT knew its condition/],
    ['e_sig', 'removed', /TensorRT knew its condition/],
  ],
  d06_fp4: [['mm', 'foreign', /^The log lists it/]],
  d07_q_out: [['dq_out', 'foreign', /^The metadata of layer 4 /]],
  d07_q_out_nometa: [['relu', 'foreign', /^Derived: it is between/]],
  f01_blocks: [['block_dead', 'removed', /^No graph output depends on it/]],
  f01_nolayermeta: [['n1', 'foreign', /^The log lists it/]],
  f02_fn_in_if: [['swish', 'foreign', /^The metadata of layer 8 /], ...mulEtc],
  g10_castlike: [['castlike', 'foreign', /^The metadata of layer 0 /]],
  g17_fill_dyn: [['cos', 'unknown', /built it from layers without its name/]],
  r2_shape_start: [['shape_static_part', 'folded', /known at build time/]],
  r2c_gather_dyn: [['gather_dyn', 'shape', /the host computes it/]],
  r3_cmp_if: [['greater', 'foreign', /only layer 3 can compute it/, [3]]],
  r3b_cmp_int: [['greater', 'foreign', /only layer 2 can compute it/, [2]]],
  r5b_neutral_kgen: [['mul1', 'foreign', /no kernel needs to compute it, because its result is one of its inputs/]],
  r6_dead_exp: [
    ['exp', 'foreign', /no kernel needs to compute it, because no result depends on its values/],
    ['where_true', 'foreign', /no kernel needs to compute it/],
  ],
};

it.each(Object.entries(truths))('%s: what was refuted is said no more', async (name, nodes) => {
  const [onnx, log] = [`${truth}/${otherModels[name] ?? name}.onnx`, `${truth}/${name}.log`];
  const { report } = await loadFiles({ onnx, log });
  for (const [node, fate, reason, within] of nodes) {
    const found = report.nodes.find((other) => other.name === node);
    expect(found, node).toMatchObject({ fate, reason: expect.stringMatching(reason) as string });
    expect(found!.within, node).toEqual(within);
  }
});

it('every model with a log that was refuted has its truth', () => {
  // Of this one the checker proves that no kernel is said to compute what it does not read.
  expect(Object.keys(truths).toSorted()).toEqual(refuted.filter((name) => name !== 'hf_llama_kv_old').toSorted());
});
