import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { captureText } from '../../support/fixtures.ts';

interface Matcher {
  name: string;
  pattern: { regexp: string; message: number; file: number };
}

const { contributes } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  contributes: { problemMatchers: Matcher[] };
};
const [{ pattern }] = contributes.problemMatchers as [Matcher];

it.each([
  ['tensorrt-10.6.0/unsupported_op.fp32/log.txt', 'models/unsupported_op/model.onnx'],
  ['tensorrt-8.6.1/unsupported_op.fp32/log.txt', 'models/unsupported_op/model.onnx'],
])('finds the model of a failed run in %s', (capture, model) => {
  const found = captureText(capture)!
    .split('\n')
    .flatMap((line) => new RegExp(pattern.regexp).exec(line) ?? []);
  expect(found[pattern.file]).toBe(model);
  expect(found[pattern.message]).toMatch(/^FAILED TensorRT\.trtexec \[TensorRT v\d+\]/);
});

it('finds nothing in a build that passed', () => {
  const lines = captureText('tensorrt-10.6.0/vit_tiny.fp16/log.txt')!.split('\n');
  expect(lines.filter((line) => new RegExp(pattern.regexp).test(line))).toEqual([]);
});
