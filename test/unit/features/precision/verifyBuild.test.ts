import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { precision } from '../../../../src/features/precision/node/cli/precision.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { temporaryFolder } from '../../../support/rtx.ts';
import { hardModel, recordedLog } from '../../../support/hardModels/builtModels.ts';
import { runCommand } from '../../shell/cli/runCommand.ts';
import { buildManifest } from '../../../support/buildManifest.ts';

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

test('an engine with several optimization profiles: the verdicts are on one of them, and say on which', async () => {
  const model = join(folder, 'profiles.onnx');
  const log = join(folder, 'profiles.log');
  const rules = join(folder, 'profiles.trtprec');
  writeFileSync(model, hardModel('profiles_static_and_open').bytes);
  writeFileSync(log, recordedLog('profiles_static_and_open'));
  writeFileSync(rules, 'mm fp16\n');
  const given = [rules, '--onnx', model, '--log', log];
  const first = await verify(...given);
  expect(first.out).toContain('The layers are those of optimization profile 0 (the engine has 2).');
  const second = await verify(...given, '--optimization-profile', '1');
  expect(second.out).toContain('The layers are those of optimization profile 1 (the engine has 2).');
  const layerOf = async (...more: string[]) => {
    const { out } = await verify(...given, '--json', ...more);
    const { optimizationProfile, rules: found } = JSON.parse(out) as {
      optimizationProfile: object;
      rules: { nodes: { layer: string }[] }[];
    };
    return { optimizationProfile, layer: found[0]!.nodes[0]!.layer };
  };
  expect(await layerOf()).toEqual({
    optimizationProfile: { shown: 0, of: 2 },
    layer: expect.not.stringContaining('[profile 1]') as string,
  });
  expect(await layerOf('--optimization-profile', '1')).toEqual({
    optimizationProfile: { shown: 1, of: 2 },
    layer: expect.stringContaining('_myl1_') as string,
  });
  expect((await verify(...given, '--optimization-profile', '2')).err).toContain('none with the number 2');
  await expect(verify(...given, '--optimization-profile', 'x')).rejects.toThrow("'x' is not an integer");
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
