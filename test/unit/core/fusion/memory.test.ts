import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { fusion } from '../../../../src/cli/fusion.ts';
import { loadFiles } from '../../../../src/builder/store/loadBuild.ts';
import { estimateMemory } from '../../../../src/core/report/internal/memoryDocument.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { runCommand } from '../../cli/runCommand.ts';

const capture = (name: string): string => fixturePath(`captures/tensorrt-${name}`);

// Of each kind that there is among all captures with a recorded total; reportText.long.test.ts counts them.
test.each([
  ['10.6.0/vit_tiny.fp16', 'vit_tiny', true, 1],
  ['10.6.0/resnet18.fp32', 'resnet18', false, 1],
  ['10.6.0/unnamed.fp32', 'unnamed', false, 1],
  ['8.6.1/two_inputs_multi_out.fp32', 'two_inputs_multi_out', false, 1],
  ['10.6.0/lstm_gru.fp32', 'lstm_gru', false, 1],
  // The parts of a Concat share its memory.
  ['10.6.0/two_inputs_multi_out.fp32', 'two_inputs_multi_out', false, 1.33],
] as const)('%s %s (%s, layer info %s) is %s times what TensorRT recorded', async (folder, model, hasLayers, ratio) => {
  const log = `${capture(folder)}/log.txt.gz`;
  const layers = hasLayers ? `${capture(folder)}/layers.json` : undefined;
  const build = await loadFiles({ onnx: modelPath(model), log, layers });
  const text = gunzipSync(readFileSync(log)).toString();
  const recorded = Number([...text.matchAll(/Total Activation Memory: (\d+)/g)].at(-1)![1]);
  expect(build.log!.memory.activation).toBe(recorded);
  const { total } = estimateMemory(build.report, build.log);
  if (ratio === 1) expect(total).toBe(recorded);
  else expect(total / recorded).toBeCloseTo(ratio, 1);
});

describe('fusion --memory', () => {
  it('says what is recorded, where the peak is, and how far the estimate reaches', async () => {
    const folder = capture('10.6.0/vit_tiny.fp16');
    const files = ['--log', `${folder}/log.txt.gz`, '--layers', `${folder}/layers.json`];
    const { out } = await runCommand(fusion, '--onnx', modelPath('vit_tiny'), ...files, '--memory');
    // Of the log: 680448 bytes of activations, of which the ForeignNode's scratch is 605184.
    expect(out).toContain('Activation: 665 KiB');
    expect(out).toMatch(/591 KiB\s+scratch of blocks\.0–11 .* \(ForeignNode 0\)\s+this layer only/);
    expect(out).toContain('665 KiB, just what TensorRT recorded.');
  });

  it('asks for what is missing', async () => {
    const layers = ['--layers', `${capture('10.6.0/vit_tiny.fp16')}/layers.json`];
    const { out } = await runCommand(fusion, '--onnx', modelPath('vit_tiny'), ...layers, '--memory');
    expect(out).toContain('pass the verbose log of the build with --log');
    expect(out).toContain('The log records no total to compare with.');
  });
});
