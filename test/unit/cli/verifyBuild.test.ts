import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { precision } from '../../../src/cli/precision/precision.ts';
import { fixturePath, modelPath } from '../../support/fixtures.ts';
import { temporaryFolder } from '../../support/rtx.ts';
import { runCommand } from './runCommand.ts';
import { buildManifest } from '../../support/buildManifest.ts';

const folder = temporaryFolder();
const capture = fixturePath('captures/tensorrt-10.6.0/vit_tiny.prec_obey');
let count = 0;

/** A build folder, with its model beside it. */
function buildFolder(record?: object): { build: string; model: string; rules: string } {
  const place = join(folder, String(count++));
  const build = join(place, 'build');
  mkdirSync(build, { recursive: true });
  const model = join(place, 'net.onnx');
  copyFileSync(modelPath('vit_tiny'), model);
  copyFileSync(join(capture, 'log.txt.gz'), join(build, 'build.log'));
  copyFileSync(join(capture, 'layers.json'), join(build, 'layers.json'));
  const manifest = buildManifest({
    model: { file: model, sha256: createHash('sha256').update(readFileSync(model)).digest('hex'), bytes: 1 },
    files: { log: 'build.log', layers: 'layers.json', profile: null, engine: null },
  });
  writeFileSync(join(build, 'manifest.json'), JSON.stringify(manifest));
  if (record) writeFileSync(join(build, 'overrides.json'), JSON.stringify(record));
  const rules = join(place, 'net.trtprec');
  writeFileSync(rules, '/blocks/blocks.0/attn/Softmax fp32\n/patch_embed/proj/Conv fp16\n');
  return { build, model, rules };
}

const verify = (...args: string[]) => runCommand(precision, 'verify', ...args);

test('a build folder says what its files say', async () => {
  const { build, model, rules } = buildFolder();
  const files = ['--log', join(build, 'build.log'), '--layers', join(build, 'layers.json')];
  expect(await verify(rules, '--build', build)).toEqual(await verify(rules, '--onnx', model, ...files));
});

test('and what its record knows: the types of the copy that was built', async () => {
  const declared = Array.from({ length: 636 }, () => 'fp16');
  const { build, rules } = buildFolder({
    schema: 1,
    rules: '/blocks/blocks.0/attn/Softmax fp32 # as before',
    way: 'model',
    declared,
    added: [],
  });
  const { code, out } = await verify(rules, '--build', build);
  expect(code).toBe(1);
  expect(out).toContain(
    ':1: disobeyed: The build was strongly typed, and in the copy of the model that was built this node outputs fp16.',
  );
  expect(out).toContain(':2: unbuilt: Not built with these rules yet');
});

test('a model that has changed since is not held against it', async () => {
  const { build, model, rules } = buildFolder();
  copyFileSync(model, `${model}.before`);
  appendFileSync(model, Buffer.from([0x1a, 0]));
  await expect(verify(rules, '--build', build)).rejects.toThrow(`${model} is not the file that was built in ${build}`);
  const { out } = await verify(rules, '--build', build, '--onnx', `${model}.before`);
  expect(out).toContain(':1: unverifiable: TensorRT accepted the request');
});

test('what does not go with it', async () => {
  const { build, model, rules } = buildFolder();
  await expect(verify(rules, '--build', build, '--log', model)).rejects.toThrow('the folder has its own');
  await expect(verify(rules, '--build', folder)).rejects.toThrow(`${folder} is not a build folder`);
  const manifest = join(build, 'manifest.json');
  const whole = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, unknown>;
  for (const part of ['id', 'model', 'files', 'tensorrt', 'command']) {
    writeFileSync(manifest, JSON.stringify({ ...whole, [part]: null }));
    // oxlint-disable-next-line no-await-in-loop -- one file for all
    await expect(verify(rules, '--build', build)).rejects.toThrow('manifest.json is missing or damaged');
  }
});
