import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { extractSubgraph } from '../../src/features/surgery/node/extractSubgraph.ts';
import { fillWeights } from '../../src/kernel/node/files/fillWeights.ts';
import { splitFile } from '../../src/features/surgery/node/splitFile.ts';
import { convertOpset } from '../../src/features/trials/node/whatIf.ts';
import { compareChain, recordCut } from '../../src/features/surgery/node/runParts.ts';
import { runPythonJob } from '../../src/kernel/node/tools/runPythonJob.ts';
import { limitOf } from '../../src/features/surgery/node/cli/split.ts';
import { readModel } from '../../src/kernel/read/onnx/readModel.ts';
import { subgraphBetween } from '../../src/features/surgery/extractModel.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { modelPath } from '../support/fixtures.ts';
import { type PythonTools, pythonForTests } from '../support/python.ts';
import { temporaryFolder } from '../support/rtx.ts';

let python: PythonTools;
// Weights are here, too: onnx refuses files with several links, and tests that build parts link the shared ones.
const folder = temporaryFolder();
const driver = (name: string) => fileURLToPath(new URL(`../../src/driver/${name}`, import.meta.url));

beforeAll(async () => {
  python = await pythonForTests();
});

const options = (samples: string[] = []) => ({
  runtime: python.runtime,
  script: driver('run_parts.py'),
  samples,
});

test('a recorded cut: run alone on the recorded inputs, it gives the recorded outputs', async () => {
  const model = await fillWeights(modelPath('vit_tiny'), folder);
  const out = join(folder, 'cut/part.onnx');
  const cut = await extractSubgraph({
    path: model,
    pick: (graph) => subgraphBetween(graph, ['/blocks/blocks.2/Add_1_output_0'], ['/blocks/blocks.4/Add_1_output_0']),
    out,
  });
  const [inputs, outputs] = (await recordCut(model, cut, join(folder, 'cut/part'), options())) as [string, string];
  const again = join(folder, 'cut/again.npz');
  const request = {
    parts: [out],
    whole: null,
    files: [inputs],
    inputs: cut.inputs.map((input) => ({ ...input, random: { shape: [], values: 'zeros' } })),
    save: [{ path: again, names: cut.outputs.map(({ name }) => name) }],
  };
  await runPythonJob({ ...python.runtime, script: driver('run_parts.py'), request });
  // The recorded one carries a mark in the comment of its archive, which its last two bytes give the length of.
  const plain = readFileSync(again).subarray(0, -2);
  expect(Buffer.compare(plain, readFileSync(outputs).subarray(0, plain.length))).toBe(0);
});

test('a cut of an FP16 model rounds, and the limit allows for it', async () => {
  const out = join(folder, 'fp16');
  const model = modelPath('fp16_overflow_fp16');
  const chain = await splitFile(model, ['/layers.0/add_ffn/Add_output_0', '/layers.2/add_ffn/Add_output_0'], out);
  const limit = limitOf(chain);
  expect(limit.error).toBe(2 ** -8);
  for (const { error } of await compareChain(model, chain, out, options())) {
    expect(error).toBeGreaterThan(1e-5);
    expect(error).toBeLessThan(limit.error);
  }
});

test('samples that do not fit say why, and nothing is written', async () => {
  const model = await fillWeights(modelPath('two_inputs_multi_out'), folder);
  const chain = await splitFile(model, [await anyTensor(model)], join(folder, 'unfit'));
  const wrong = compareChain(model, chain, join(folder, 'unfit'), options([join(folder, 'cut/again.npz')]));
  await expect(wrong).rejects.toThrow(/is missing in the given files/);
});

test.each(['vit_tiny', 'resnet18', 'two_inputs_multi_out'])('the parts of %s give the same bytes', async (name) => {
  const model = await fillWeights(modelPath(name), folder);
  const own = join(folder, name);
  mkdirSync(own);
  const chain = await splitFile(model, [await anyTensor(model)], own);
  const differences = await compareChain(model, chain, own, options());
  expect(differences.length).toBeGreaterThan(0);
  expect(differences.map(({ error }) => error)).toEqual(differences.map(() => 0));
});

/** The first output of a node in the middle that another node reads. */
async function anyTensor(path: string): Promise<string> {
  const { nodes } = (await readModel(bytesOf(readFileSync(path)))).value!;
  const main = nodes.filter(({ id, op }) => !id.includes('/') && op !== 'Constant');
  const found = main
    .slice(main.length / 2)
    .find(({ outputs }) => main.some(({ inputs }) => inputs.includes(outputs[0]!)));
  return found!.outputs[0]!;
}

test('another operator set, and one that does not exist', async () => {
  const model = await fillWeights(modelPath('resnet18'), folder);
  const out = join(folder, 'opset/resnet18.onnx');
  const { python: program, environment } = python.runtime;
  const change = { python: program, script: driver('convert_opset.py') };
  vi.stubEnv('PYTHONPATH', environment['PYTHONPATH']);
  onTestFinished(() => void vi.unstubAllEnvs());
  await convertOpset(model, { ...change, opset: 19 }, out);
  const { value } = await readModel(bytesOf(readFileSync(out)));
  expect(value!.opsets).toContainEqual({ domain: '', version: 19 });
  await expect(convertOpset(model, { ...change, opset: 999 }, out)).rejects.toThrow(/knows operator sets 1 to/);
});
