import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { triton } from '../../src/features/engines/node/cli/triton.ts';
import { buildManifest } from '../support/buildManifest.ts';
import { captureBytes, modelPath } from '../support/fixtures.ts';
import { tritonForTests } from '../support/python.ts';
import { temporaryFolder } from '../support/rtx.ts';
import { runCommand } from '../unit/shell/cli/runCommand.ts';

const folder = temporaryFolder();

/** The configuration of a captured build. */
async function configOf(model: string, capture: string): Promise<string> {
  const build = join(folder, model);
  await mkdir(build, { recursive: true });
  await writeFile(join(build, 'build.log'), captureBytes(`tensorrt-10.6.0/${capture}/log.txt`)!);
  const manifest = buildManifest({
    model: { file: modelPath(model), sha256: null, bytes: 0 },
    files: { log: 'build.log', layers: null, profile: null, engine: null },
  });
  await writeFile(join(build, 'manifest.json'), JSON.stringify(manifest));
  const out = join(build, 'config.pbtxt');
  expect(await runCommand(triton, build, '-o', out)).toMatchObject({ code: 0 });
  expect(await runCommand(triton, build, '--check', out)).toMatchObject({ code: 0, out: `${out} fits the engine.\n` });
  return readFile(out, 'utf8');
}

test('tritonclient parses what is written, with the same meaning', async () => {
  const tools = await tritonForTests();
  const texts = [
    await configOf('bert_base', 'bert_base.fp16'),
    await configOf('vit_tiny', 'vit_tiny.fp16'),
    'name: "broken"\ninput [ {',
  ];
  const [bert, vit, broken] = await tools.tritonConfigs(texts);
  expect(bert).toMatchObject({
    name: 'bert_base',
    platform: 'tensorrt_plan',
    max_batch_size: 8,
    input: [
      { name: 'input_ids', data_type: 'TYPE_INT64', dims: ['-1'] },
      { name: 'attention_mask', data_type: 'TYPE_INT64', dims: ['-1'] },
    ],
    dynamic_batching: { preferred_batch_size: [4] },
    instance_group: [{ count: 1, kind: 'KIND_GPU' }],
  });
  expect(vit).toMatchObject({
    name: 'vit_tiny',
    input: [{ name: 'input', data_type: 'TYPE_FP32', dims: ['1', '3', '224', '224'] }],
    output: [{ name: 'output', data_type: 'TYPE_FP32' }],
  });
  expect(vit).not.toHaveProperty('max_batch_size');
  expect(broken).toHaveProperty('error');
});
