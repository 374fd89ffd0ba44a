import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readGate, completeGate, gatePath, hoverGate } from '../../../../src/features/gate/readGate.ts';
import { readLimit } from '../../../../src/features/gate/internal/readLimit.ts';

const problems = (text: string) =>
  readGate(text).problems.map(({ line, column, message }) => `${line}:${column}: ${message}`);

const whole = `model: vit.onnx
baseline: vit.report.json
rules:
  attention: fused
  foreignNodes: { max: 2 }
  kernels: { max: +5% }
  reformats: { max: 6, microseconds: 20 }
  nodes: { unknown: 0 }
  precision: { 'op:Softmax': fp32, '/blocks.*/mlp/**': fp16 }
  time: { total: +3%, '/blocks.*': +10% }
  memory: { activation: 512 MiB }
  quantized: { unfused: 0 }
  accuracy: { error: 0.01, inputs: samples.npz }
`;

describe('a gate file', () => {
  test('may have the name that a rule had in version 0.1', () => {
    const text = 'rules: { quantised: { unfused: 0 } }\n';
    const { value, problems: found } = readGate(text);
    expect(found).toEqual([]);
    expect(value!.checks[0]!.id).toBe('quantized.unfused');
  });

  test('gives a check for each limit, with its place', () => {
    const { value, problems: found } = readGate(whole);
    expect(found).toEqual([]);
    expect(value).toMatchObject({ model: 'vit.onnx', baseline: 'vit.report.json' });
    expect(value!.checks.map(({ id, limit }) => [id, limit.kind, 'value' in limit ? limit.value : limit.text])).toEqual(
      [
        ['attention', 'word', 'fused'],
        ['foreignNodes.max', 'max', 2],
        ['kernels.max', 'percent', 5],
        ['reformats.max', 'max', 6],
        ['reformats.microseconds', 'max', 0.02],
        ['nodes.unknown', 'max', 0],
        ['precision.op:Softmax', 'type', 'fp32'],
        ['precision./blocks.*/mlp/**', 'type', 'fp16'],
        ['time.total', 'percent', 3],
        ['time./blocks.*', 'percent', 10],
        ['memory.activation', 'max', 512 * 2 ** 20],
        ['quantized.unfused', 'max', 0],
        ['accuracy.error', 'accuracy', 0.01],
      ],
    );
    expect(value!.checks[5]!.place).toEqual({ line: 8, column: 12, endColumn: 19 });
    expect(value!.checks.at(-1)!.limit).toMatchObject({ inputs: 'samples.npz' });
  });

  test('short forms and optional rules', () => {
    const { value } = readGate(
      'rules:\n  kernels: 12\n  time: { total: 2 ms, optional: true }\n  attention: { is: fused, optional: true }\n',
    );
    expect(value!.checks.map(({ id, optional }) => [id, optional])).toEqual([
      ['kernels.max', false],
      ['time.total', true],
      ['attention', true],
    ]);
  });

  test('unknown keys name the nearest, with line and column', () => {
    expect(problems('rules:\n  kernel: { max: 3 }\n  nodes: { unknwon: 0 }\nbase: x\n')).toEqual([
      "2:3: 'kernel' is not a rule; did you mean 'kernels'? Known: attention, foreignNodes, kernels, layers, reformats, nodes, unaccounted, precision, time, memory, quantized, heldBack, marked, tensorrt, gpu, dynamicShapes, accuracy",
      "3:12: 'unknwon' is not a key of nodes; did you mean 'unknown'? Known: unknown, foreign, fused, single, folded, removed, shape, optional",
      "4:1: 'base' is not a key; did you mean 'baseline'? Known: model, baseline, rules",
    ]);
  });

  test('wrong units, words and types', () => {
    expect(
      problems(
        'rules:\n  memory: { activation: 512 ms }\n  time: { total: 5% }\n  attention: unfused\n  precision: { "op:X": fp17 }\n  kernels: { min: +5% }\n  time2: 1\n',
      ),
    ).toEqual([
      "2:25: memory.activation: 'ms' is not a unit of this key; units are B, KB, MB, GB, KiB, MiB, GiB",
      "3:18: time.total: '5%' has no sign: write '+5%'",
      "4:14: 'unfused' is not a value of attention; values are fused",
      "5:24: precision.op:X: 'fp17' is not a type; types are fp32, fp16, bf16, int8, fp8, int4, int32, int64, bool",
      "6:19: kernels.min: '+5%' compares with the baseline, which this key does not support: write 5",
      "7:3: 'time2' is not a rule; did you mean 'time'? Known: attention, foreignNodes, kernels, layers, reformats, nodes, unaccounted, precision, time, memory, quantized, heldBack, marked, tensorrt, gpu, dynamicShapes, accuracy",
    ]);
  });

  test('a rule without a limit checks nothing, which is a mistake', () => {
    expect(
      problems(
        'rules:\n  kernels: {}\n  precision: { optional: true }\n  accuracy: { inputs: a.npz }\n  attention: {}\n',
      ),
    ).toEqual([
      '2:3: kernels has no limit; keys are max, min',
      '3:3: precision has no limit; keys are patterns of node names',
      '4:3: accuracy has no limit; keys are error',
      "5:3: attention has no limit; write 'is: fused'",
    ]);
  });

  test('limits that nothing exceeds, and selectors that select nothing', () => {
    expect(
      problems("rules:\n  memory: { engine: 1e999 B }\n  kernels: { max: '+1e999%' }\n  precision: { 'op:': fp32 }\n"),
    ).toEqual([
      "2:21: memory.engine: '1e999 B' is too large",
      "3:19: kernels.max: '+1e999%' is too large",
      expect.stringMatching(/^4:23: precision\.op:: 'op:' is not a selector: /),
    ]);
  });

  test('a file that is not YAML has no other problems, and a large one is not read', () => {
    expect(problems('rules:\n\tkernels: 3\n')).toEqual(['2:1: Tabs are not allowed as indentation']);
    expect(problems('rules:\n  kernels: 1\n  kernels: 2\n')).toEqual(['3:3: This key occurs twice in the table']);
    expect(problems('rules: { kernels: 1 }\n---\na: 1\n')[0]).toMatch(/several YAML documents: keep one$/);
    expect(problems(`rules:\n  kernels: 1 # ${'x'.repeat(2 ** 18)}`)).toEqual([
      '1:1: The file is larger than 256 KiB, which is too large for a gate',
    ]);
    expect(problems(`rules: ${'['.repeat(5000)}`)[0]).toMatch(/nested too deeply|Flow/);
  });

  test('settings of the rule accuracy', () => {
    const rule = '{ error: 0.01, inputs: samples, rules: m.trtprec, low: bf16 }';
    expect(readGate(`rules: { accuracy: ${rule} }`).value!.checks[0]!.limit).toMatchObject({
      inputs: 'samples',
      rules: 'm.trtprec',
      low: 'bf16',
    });
    expect(problems('rules: { accuracy: { error: 0.01, inputs: [a, b], low: fp61 } }')).toEqual([
      '1:43: accuracy.inputs: is not a path',
      "1:56: accuracy.low: 'fp61' is not one of fp16, bf16, int8, fp8",
    ]);
  });

  test('no YAML, no rules, empty files, aliases and duplicates are problems, not crashes', () => {
    for (const text of [
      '',
      '42',
      '- a',
      'rules: [',
      'rules: {kernels: 1, kernels: 2}',
      'a: &a 1\nrules: { kernels: *a }',
      'rules: ~',
      'rules: { kernels: }',
      '\u0000',
      'rules: 4',
    ])
      expect(problems(text), JSON.stringify(text)).not.toEqual([]);
  });

  test('any text is read or refused', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: whole.length }),
        fc.nat({ max: 20 }),
        fc.string({ unit: 'binary', maxLength: 8 }),
        (at, removed, added) => {
          const { value, problems: found } = readGate(whole.slice(0, at) + added + whole.slice(at + removed));
          expect(value !== undefined || found.length > 0).toBe(true);
          for (const { line, column, endColumn } of found) {
            expect(line).toBeGreaterThan(0);
            expect(endColumn!).toBeGreaterThan(column!);
          }
        },
      ),
      { numRuns: 150 },
    );
  });
});

test.each([
  ['12', 'count', 12],
  ['1.5', 'count', "'1.5' is not an integer"],
  ['1.2 ms', 'ms', 1.2],
  ['20us', 'ms', 0.02],
  ['20 µs', 'ms', 0.02],
  ['20', 'ms', "'20' has no unit; units are ns, µs, us, ms, s"],
  ['0', 'ms', 0],
  ['1 GiB', 'bytes', 2 ** 30],
  ['+2 MiB', 'bytes', 2 ** 21],
  ['-3%', 'ms', -3],
  ['constructor', 'count', "'constructor' is not a limit: write 12, '+5%' or '+2'"],
  ['5 constructor', 'bytes', "'constructor' is not a unit of this key; units are B, KB, MB, GB, KiB, MiB, GiB"],
] as const)('the limit %s of %s', (text, unit, expected) => {
  const limit = readLimit(text, unit);
  expect(typeof limit === 'string' ? limit : 'value' in limit && limit.value).toBe(expected);
});

/** `|` is where the cursor is. */
const at = (text: string): [string, number] => [text.replace('|', ''), text.indexOf('|')];
const words = (text: string) => completeGate(...at(text)).map(({ label }) => label);

test.each([
  ['|', [], false],
  ['rules:\n  ke|', ['rules'], false],
  ['rules:\n  time: { total: +3%, opt|', ['rules', 'time'], false],
  ["rules:\n  precision: { 'op:Softmax': f|", ['rules', 'precision', 'op:Softmax'], true],
  ['rules:\n  reformats:\n    max: 3\n    mi|', ['rules', 'reformats'], false],
  ['rules:\n  attention: |', ['rules', 'attention'], true],
  ['rules:\n  kernels: { max: 3 }\n  |', ['rules'], false],
])('the path of %j', (text, keys, value) => {
  expect(gatePath(...at(text))).toEqual({ keys, value });
});

test('words by place', () => {
  expect(words('|')).toEqual(['model', 'baseline', 'rules']);
  expect(words('rules:\n  |')).toContain('foreignNodes');
  expect(words('rules:\n  reformats: { |')).toEqual(['max', 'min', 'microseconds', 'optional']);
  expect(words('rules:\n  attention: |')).toEqual(['fused']);
  expect(words("rules:\n  precision: { 'x': |")).toContain('bf16');
  expect(words('rules:\n  time: { optional: |')).toEqual(['true', 'false']);
  expect(words('rules:\n  nonsense: { |')).toEqual([]);
});

test('what a word means', () => {
  expect(hoverGate(...at('rules:\n  kern|els: 3'))?.about).toMatch(/^Number of kernels/);
  expect(hoverGate(...at('rules:\n  reformats: { micro|seconds: 3 }'))?.about).toMatch(/microseconds/);
  expect(hoverGate(...at('rules:\n  kernels: 3|3'))).toBeNull();
});
