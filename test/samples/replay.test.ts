import { describe, expect, test } from 'vitest';
import { checkReplay, emptyContext } from '../../src/features/replay/checkReplay.ts';
import { implementationName } from '../../src/kernel/read/replay/readChoices.ts';
import { formatName } from '../../src/features/replay/editReplay.ts';
import { readReplay, sniffReplay } from '../../src/kernel/read/replay/readReplay.ts';
import { readSchema, schemaViolations } from '../support/jsonSchema.ts';
import { sampleText, samplesIn } from '../support/samples.ts';

const cookbook = (name: string): string => sampleText(`replay/cookbook_${name}.replay.json`);
const entriesOf = (name: string) => readReplay(cookbook(name)).value!.entries;

describe.each(samplesIn('replay'))('%s', (name) => {
  const source = sampleText(`replay/${name}`);
  const debug = name.includes('debug');

  test('reads without a problem', () => {
    expect(sniffReplay(source)).toBe(debug ? 'debug' : 'tactics');
    const { kind, problems } = readReplay(source);
    expect(kind).toBe(debug ? 'debug' : 'tactics');
    expect(problems.map(({ code }) => code)).toEqual(debug ? ['debug-replay'] : []);
  });

  test('fits the schema', () => {
    expect(schemaViolations(JSON.parse(source), readSchema('replay'))).toEqual([]);
  });
});

test.each(['8.0-8.2_mnist_fp32', '8.4.1_mnist_inspect', '8.6.1_mnist_fp16_convert'])(
  'ids of %s that a JSON tool has rounded, when nothing is known of choices',
  (name) => {
    const source = cookbook(name);
    const rounded = JSON.stringify(JSON.parse(source), null, 4);
    const found = (of: string): number =>
      checkReplay(of, readReplay(of), emptyContext).filter(({ code }) => code === 'rounded-id').length;
    expect([found(source), found(rounded)]).toEqual([
      0,
      entriesOf(name).filter(({ algorithm: { tactic } }) => tactic.length > 16).length,
    ]);
    expect(found(rounded)).toBeGreaterThan(1);
  },
);

test('layouts get the names that TensorRT gave them', () => {
  const formats = entriesOf('8.6.1_mnist_fp16_convert').flatMap(({ algorithm: { inputs, outputs } }) => [
    ...inputs,
    ...outputs,
  ]);
  expect(formats.map(({ format }) => format)).toContain('CHW2');
  expect(formats.map(formatName)).toEqual(formats.map(({ format }) => format));
});

test('the same number names another implementation in TensorRT 8.0 to 8.2', () => {
  const names = (name: string) =>
    entriesOf(name).map(
      ({ layer, algorithm }) => `${layer.slice(0, 8)}: ${implementationName(algorithm.implementation)}`,
    );
  expect(names('8.0-8.2_mnist_fp32')).toEqual([
    'Conv__25: CaskConvolution (0x8000000a)',
    'MaxPool2: TiledPooling (0x80000020)',
    'Conv__27: CaskConvolution (0x8000000a)',
    'MaxPool2: TiledPooling (0x80000020)',
    'MaxPool2: Shuffle (0x8000000e)',
    'MatMul +: CublasConvolution (0x8000002d)',
    'MatMul_1: CublasConvolution (0x8000002d)',
    'copied_s: Shuffle (0x8000000e)',
    'y + z: LogSoftmaxTopK (0x80000026)',
    '(Unnamed: Shuffle (0x8000000e)',
  ]);
  expect(names('8.4.1_mnist_inspect').slice(0, 2)).toEqual([
    'Conv-1 +: CaskConvolution (0x80000009)',
    'MaxPool-: TiledPooling (0x8000001c)',
  ]);
});
