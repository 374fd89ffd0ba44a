import { describe, expect, test } from 'vitest';
import { readArguments } from '../../../../src/kernel/node/cli/arguments.ts';

const options = {
  argument: { type: 'string', multiple: true },
  'tactic-sources': { type: 'string' },
  output: { type: 'string', short: 'o' },
  json: { type: 'boolean' },
} as const;
const read = (...args: string[]) => readArguments(args, options, ['[FILE]']);

describe('a value that begins with a dash', () => {
  test('is one: of --argument always, of others unless it is an option', () => {
    expect(read('--argument', '--fp16', '--argument', '--json', 'm.onnx').values).toEqual({
      argument: ['--fp16', '--json'],
    });
    expect(read('--tactic-sources', '-CUBLAS', '--json').values).toEqual({ 'tactic-sources': '-CUBLAS', json: true });
    expect(read('-o', '-odd.onnx').values).toEqual({ output: '-odd.onnx' });
    expect(read('--argument=--x=1').values).toEqual({ argument: ['--x=1'] });
    expect(read('--argument', '--x', '--', '--file').positionals).toEqual(['--file']);
  });

  test('is missing where the next is an option, or nothing', () => {
    expect(() => read('--tactic-sources', '--json')).toThrow(/--tactic-sources/);
    expect(() => read('-o', '--json')).toThrow(/'-o' argument is ambiguous/);
    expect(() => read('--argument')).toThrow(/--argument/);
    expect(() => read('--argument', '--')).toThrow(/--argument/);
  });
});

test('an unknown option names the one that was probably meant', () => {
  expect(() => read('--jsno')).toThrow("Unknown option '--jsno'; did you mean '--json'?");
  expect(() => read('--outptu=x')).toThrow("did you mean '--output'?");
  expect(() => read('--something-else')).toThrow(/^Unknown option '--something-else'$/);
});
