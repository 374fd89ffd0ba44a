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
