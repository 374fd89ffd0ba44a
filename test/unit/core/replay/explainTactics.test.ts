import { describe, expect, it } from 'vitest';
import { fusion } from '../../../../src/cli/fusion.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { runCommand } from '../../cli/runCommand.ts';

const explain = async (model: string, files: string[], name: string) =>
  (await runCommand(fusion, '--onnx', modelPath(model), ...files, '--tactics', name)).out;

const vit = [
  '--log',
  fixturePath('captures/tensorrt-10.6.0/vit_tiny.fp16/log.txt.gz'),
  '--layers',
  fixturePath('captures/tensorrt-10.6.0/vit_tiny.fp16/layers.json'),
];

describe('why a layer has its tactic', () => {
  it('lists what the log timed, the one that the engine runs, and the best in other types', async () => {
    const text = await explain('vit_tiny', vit, '/patch_embed/proj/Conv');
    // Of the log: 168 lines "Tactic Name: … Time: …" below this layer, in ten combinations of formats.
    expect(text).toContain(
      'It is the fastest of 168 candidates over 10 combinations of types and layouts: 17.6 µs, the next 19.7 µs (+12 %).',
    );
    expect(text).toMatch(/✓ 17\.6 µs\s+FP16 channels last ×4 → FP16 channels last ×8\s+\S*tilesize128x16x64/);
    expect(text).toMatch(/FP32 → FP32\s+19\.7 µs\s+\+2\.16 µs/);
  });

  it('says that a ForeignNode is timed as a whole', async () => {
    const text = await explain('vit_tiny', vit, '/blocks/blocks.0/attn/Softmax');
    expect(text).toContain('TensorRT times a ForeignNode as a whole');
    expect(text).toMatch(/0\.444 ms\s+FP16 linear → FP16 linear/);
  });

  it('does not say which one runs where nothing lists the layers', async () => {
    const text = await explain(
      'resnet18',
      ['--log', fixturePath('captures/tensorrt-10.6.0/resnet18.fp16/log.txt.gz')],
      '/conv1/Conv',
    );
    expect(text).toContain('Which of them the engine runs is not known: pass the layer info with --layers.');
    expect(text).not.toContain('✓');
  });

  it('says why there are none', async () => {
    const [, log, ...layers] = vit;
    expect(await explain('vit_tiny', layers, '/patch_embed/proj/Conv')).toContain('Pass it with --log.');
    const rtx = fixturePath('captures/tensorrt-rtx-1.7.1/resnet18/log.txt');
    expect(await explain('resnet18', ['--log', rtx], '/conv1/Conv')).toContain(
      'TensorRT-RTX times no tactics while it builds',
    );
    await expect(explain('vit_tiny', ['--log', log!], '/patch_embed/proj/Con')).rejects.toThrow(
      '"/patch_embed/proj/Conv"',
    );
  });
});
