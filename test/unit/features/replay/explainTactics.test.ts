import { describe, expect, it } from 'vitest';
import { fusion } from '../../../../src/kernel/node/cli/fusion.ts';
import { fixturePath, modelPath, captureText } from '../../../support/fixtures.ts';
import { runCommand } from '../../shell/cli/runCommand.ts';
import { readFileSync } from 'node:fs';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { fittingModels } from '../../../../src/kernel/read/replay/replayFile.ts';
import { readReplay } from '../../../../src/kernel/read/replay/readReplay.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';

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

const candidate = async (model: string) => {
  const { value } = await readModel(bytesOf(readFileSync(modelPath(model))));
  return { model, nodes: value!.nodes };
};
const layersOf = (capture: string) =>
  readReplay(captureText(`${capture}/replay.json`)!).value!.entries.map(({ layer }) => layer);

it.each([
  ['vit_tiny', 'tensorrt-10.6.0/vit_tiny.poly_replay'],
  ['vit_tiny', 'tensorrt-8.6.1/vit_tiny.poly_replay'],
  ['fp16_overflow', 'tensorrt-8.6.1/fp16_overflow.poly_replay'],
])('finds %s among others by the layers of its replay', async (model, capture) => {
  const all = await Promise.all(['vit_tiny', 'fusion_zoo', 'resnet18', 'loop_if', 'fp16_overflow'].map(candidate));
  const layers = layersOf(capture);
  expect(fittingModels(layers, all)).toEqual([model]);
  expect(
    fittingModels(
      layers,
      all.filter((one) => one.model !== model),
    ),
  ).toEqual([]);
  // The same network twice: somebody has to choose.
  expect(fittingModels(layers, [...all, { ...(await candidate(model)), model: 'copy' }])).toEqual([model, 'copy']);
});

it('fits nothing to no layers', async () => {
  expect(fittingModels([], [await candidate('resnet18')])).toEqual([]);
});
