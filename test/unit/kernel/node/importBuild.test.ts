import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { listBuilds } from '../../../../src/kernel/node/store/buildHistory.ts';
import { importBuild, type ImportedPiece } from '../../../../src/kernel/node/run/importBuild.ts';
import { loadBuild } from '../../../../src/kernel/node/store/loadBuild.ts';
import { captureText, fixturePath, modelPath } from '../../../support/fixtures.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

const cache = temporaryFolder();
const file = (name: string): ImportedPiece => ({ file: fixturePath(`captures/${name}`) });
const text = (name: string): ImportedPiece => ({ text: captureText(name)! });
const imported = (model: string, pieces: ImportedPiece[]) => importBuild({ model: modelPath(model), pieces, cache });

test('a compressed log and layer info become one build of the history', async () => {
  const capture = 'tensorrt-10.6.0/vit_tiny.fp16';
  const build = await imported('vit_tiny', [file(`${capture}/layers.json`), file(`${capture}/log.txt.gz`)]);
  expect(build.manifest).toMatchObject({
    origin: 'imported',
    backend: 'trtexec',
    result: 'passed',
    error: null,
    gpu: 'NVIDIA H200',
    tensorrt: { product: 'tensorrt', version: '10.6.0' },
    files: { log: 'build.log', layers: 'layers.json', profile: null, engine: null },
  });
  expect(build.manifest.command).toContain('--fp16');
  expect(build.manifest.seconds).toBeGreaterThan(1);
  expect(readFileSync(join(build.folder, 'build.log'), 'utf8')).toBe(captureText(`${capture}/log.txt`));
  const [listed] = await listBuilds(modelPath('vit_tiny'), { cache });
  expect(listed).toEqual(build);
  expect((await loadBuild(build)).report.accounting.total).toBe(636);
});

test.each([
  ['tensorrt-10.6.0/unsupported_op.fp32/log.txt', 'failed', 'trtexec', /MyCustomOp/],
  ['tensorrt-10.6.0/deep_encoder_11k.fp16/log.txt', 'cancelled', 'trtexec', /cut off/],
  ['tensorrt-8.6.1/vit_tiny.poly_replay/log0.txt', 'passed', 'polygraphy', null],
  ['tensorrt-rtx-1.7.1/fusion_zoo/log.txt', 'passed', 'rtx', null],
] as const)('a pasted log: %s', async (log, result, backend, error) => {
  const { manifest } = await imported(log.split('/')[1]!.split('.')[0]!, [text(log)]);
  expect(manifest).toMatchObject({ result, backend });
  if (error === null) expect(manifest.error).toBeNull();
  else expect(manifest.error).toMatch(error);
});

test('what is no part of a build is refused, and leaves no folder', async () => {
  const model = modelPath('resnet18');
  const attempt = (pieces: ImportedPiece[]) => importBuild({ model, pieces, cache });
  const log = 'tensorrt-10.6.0/vit_tiny.fp16/log.txt';
  await expect(attempt([{ text: 'Roses are red\n' }])).rejects.toThrow(
    /^The pasted text: .*output of trtexec --verbose/,
  );
  await expect(attempt([{ file: model }])).rejects.toThrow(/^resnet18\.onnx: /);
  await expect(attempt([{ file: join(cache, 'none.txt') }])).rejects.toThrow(/no such file/);
  await expect(attempt([text(log), file(`${log}.gz`)])).rejects.toThrow(/is a second build\.log/);
  await expect(attempt([])).rejects.toThrow(/profile alone/);
  await expect(attempt([file('tensorrt-10.6.0/vit_tiny.fp16/profile.json')])).rejects.toThrow(/profile alone/);
  expect(readdirSync(join(cache, 'builds')).filter((name) => name.startsWith('resnet18'))).toEqual([]);
});

test('the model may be elsewhere', async () => {
  const model = join(cache, 'elsewhere.onnx');
  const { manifest } = await importBuild({ model, pieces: [text('tensorrt-rtx-1.7.1/fusion_zoo/log.txt')], cache });
  expect(manifest.model).toEqual({ file: model, sha256: null, bytes: 0 });
});
