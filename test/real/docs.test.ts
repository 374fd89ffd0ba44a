// Runs the blocks of README and docs that need ONNX Runtime or TensorRT, and compares what they print with the page.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { blocksOf, docPages, readPage, runPage } from '../support/docPages.ts';
import { outputViolations } from '../support/outputs.ts';
import { rtxForTests, temporaryFolder } from '../support/rtx.ts';
import { runtimeForTests } from '../support/runtime.ts';

const has = (needs: string): boolean => /^(?:ONNX Runtime|TensorRT)$/.test(needs);
const cli = join(import.meta.dirname, '../../dist/cli.js');
const pages = docPages.filter((page) => blocksOf(page).some(({ needs = '' }) => has(needs)));

const folder = temporaryFolder();

beforeAll(async () => {
  await Promise.all([rtxForTests(), runtimeForTests()]);
  spawnSync(process.execPath, [cli, 'setup', 'samples'], { cwd: folder });
  writeFileSync(join(folder, 'nets.yaml'), 'models: [samples/encoder/encoder.onnx]\n');
});

test.each(pages)('%s', (page) => {
  const { text, failed } = runPage(page, cli, has, false);
  expect(failed).toEqual([]);
  expect(text).toBe(readPage(page));
});

const overflow = 'samples/overflow/overflow.onnx --inputs samples/overflow/samples.npz';
test.each([
  ['accuracy', `accuracy ${overflow}`],
  ['sweep', `sweep ${overflow} --precisions fp32,fp16 --times`],
  ['compare', 'compare samples/overflow/fp32.npz samples/overflow/fp16.npz --onnx samples/overflow/overflow.onnx'],
  ['quantization', 'quantization samples/resnet_int8/resnet_int8.onnx'],
  ['build', 'build samples/encoder/encoder.onnx --backend rtx --folder builds'],
  ['matrix', 'matrix nets.yaml'],
  ['what-if', 'what-if samples/encoder/encoder.onnx --backend rtx --compute-capability 12.0'],
  ['what-if', 'what-if samples/encoder/encoder.onnx --backend rtx --break 90 --max-builds 2'],
  ['repair', 'repair samples/yolo_like/yolo_like.onnx --backend rtx --dry-run'],
  ['reduce', 'reduce samples/unsupported_op/unsupported_op.onnx --backend rtx --random-weights -o failure'],
  ['split', 'split samples/encoder/encoder.onnx --at /layers.1/add_ffn/Add_output_0 -o parts --check'],
  ['extract', `extract ${overflow} --nodes 12 -o part.onnx`],
])('its JSON is that of schemas/%s: trtlens %s', (name, args) => {
  expect(outputViolations(cli, folder, name, args)).toEqual([]);
});
