import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { captureText } from '../../../support/fixtures.ts';

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

it('finds the log of a failed build of trtlens, and the model that the parser rejects', () => {
  const matches = (name: string, line: string) => {
    const matcher = contributes.problemMatchers.find((one) => one.name === name)!.pattern;
    const found = new RegExp(matcher.regexp).exec(line);
    return found && [found[matcher.file], found[matcher.message]];
  };
  expect(matches('trtlens', 'trtlens build: net.onnx: The operator Det is not supported. (log: /b/build.log)')).toEqual(
    ['/b/build.log', 'net.onnx: The operator Det is not supported.'],
  );
  expect(matches('tensorrt-parser', "[E] models/net.onnx: node 1 'mm' (MatMul): INVALID_NODE: no")).toEqual([
    'models/net.onnx',
    "node 1 'mm' (MatMul): INVALID_NODE: no",
  ]);
  expect(matches('tensorrt-parser', '[E] [TRT] ModelImporter.cpp:140: While parsing')).toBeNull();
});
