import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { requestedPrecisions } from '../../../../src/kernel/node/store/buildFactsOf.ts';
import { loadBuild } from '../../../../src/kernel/node/store/loadBuild.ts';
import type { BuildManifest } from '../../../../src/kernel/build/buildManifest.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { buildManifest } from '../../../support/buildManifest.ts';

const capture = fixturePath('captures/tensorrt-10.6.0/vit_tiny.prec_obey');
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'asked-'));
  for (const name of ['log.txt.gz', 'layers.json']) await copyFile(join(capture, name), join(folder, name));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const manifest = buildManifest({
  model: { file: 'vit_tiny.onnx', sha256: null, bytes: 0 },
  files: { log: 'log.txt.gz', layers: 'layers.json', profile: null, engine: null },
});

async function asked(record: object | string | null, result: BuildManifest['result'] = 'passed') {
  const text = typeof record === 'string' ? record : JSON.stringify(record);
  if (record !== null) await writeFile(join(folder, 'overrides.json'), text);
  const read = await loadBuild({ folder, manifest: { ...manifest, result } }, { onnx: modelPath('vit_tiny') });
  return { read, asked: requestedPrecisions(read) };
}

describe('what a build was asked for', () => {
  test('node by node, with the rule and what came of it', async () => {
    const rules = '# as built\n/blocks/blocks.0/attn/Softmax fp32\n/patch_embed/proj/Conv fp16\nop:Gemm fp32\n';
    const { read, asked: found } = await asked({ schema: 1, rules, way: 'flags' });
    const nameOf = new Map(read.report.nodes.map(({ id, name }) => [id, name]));
    expect(found.map(({ node, type, line, verdict }) => [nameOf.get(node), type, line, verdict])).toEqual([
      ['/blocks/blocks.0/attn/Softmax', 'fp32', 2, 'unseen'],
      ['/patch_embed/proj/Conv', 'fp16', 3, 'obeyed'],
      ['/head/Gemm', 'fp32', 4, expect.stringMatching(/obeyed|unseen/)],
    ]);
    expect(found[0]?.reason).toContain('_gemm_mha_v2');
  });

  test('a build that did not pass proves nothing, not even what its copy of the model says', async () => {
    const rules = 'op:Gemm fp32\n';
    const { read } = await asked(null);
    const declared = read.report.nodes.map(() => 'fp32');
    for (const result of ['failed', 'cancelled', 'running'] as const) {
      const { asked: found } = await asked({ schema: 1, rules, way: 'model', declared, added: [] }, result);
      expect(found).toMatchObject([{ type: 'fp32', verdict: 'unseen' }]);
    }
  });

  test('nothing without rules, and nothing from a damaged record', async () => {
    expect((await asked(null)).asked).toEqual([]);
    expect((await asked('{"schema": 1, "rul')).asked).toEqual([]);
    expect((await asked({ schema: 1, rules: 'op:NoSuchOperator fp32\n((\n', way: 'flags' })).asked).toEqual([]);
  });
});
