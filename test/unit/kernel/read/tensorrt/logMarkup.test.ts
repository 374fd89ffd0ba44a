import { describe, expect, it } from 'vitest';
import type { BuildLog, LoggedBuild } from '../../../../../src/kernel/read/tensorrt/buildOutput.ts';
import { BuildLogReader, readBuildLog } from '../../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { captureText } from '../../../../support/fixtures.ts';
import { recordedLog } from '../../../../support/hardModels/builtModels.ts';

const captures = [
  'tensorrt-8.6.1/two_inputs_multi_out.fp32',
  'tensorrt-10.6.0/fusion_zoo.fp32',
  'tensorrt-rtx-1.7.1/fusion_zoo',
];

const eachLine = (change: (line: string, index: number) => string) => (text: string) =>
  text.split('\n').map(change).join('\n');
const withoutPrefix = (line: string) => line.replace(/^(?:\[\d\d\/[^\]]*\] )?\[[VIWE]\] (?:\[TRT\] )?/, '');

/** What may be around a log. */
const around: Record<string, (text: string) => string> = {
  "Docker's own files": eachLine((line) =>
    JSON.stringify({ log: `${line}\n`, stream: 'stdout', time: '2026-11-21T09:29:17Z' }),
  ),
  'Docker entries with blanks, the text last': eachLine(
    (line) => `{"time": "2026-11-21T09:29:17Z", "stream": "stdout", "log": ${JSON.stringify(`${line}\r\n`)}}`,
  ),
  'Docker entries with colors': eachLine((line) => JSON.stringify({ log: `\u001b[32m${line}\u001b[0m\n` })),
  'a quotation': eachLine((line) => `> ${line}`),
  'a color around the line': eachLine((line) => `\u001b[32m${line}\u001b[0m`),
  'a color around the level': eachLine((line) => line.replace(/\[([VIWE])\]/, '\u001b[38;5;13m[$1]\u001b[0m')),
  'CR LF': (text) => text.replaceAll('\n', '\r\n'),
};

/** What a report is made of. */
const told = ({ version, product, parsedNodes, phases, engineLayers, finalLayers, outcome }: BuildLog) => ({
  version,
  product,
  outcome,
  finalLayers,
  parsedNodes,
  phases: phases.map(({ funnel, events, foreignNodes, tactics }) => ({
    funnel,
    events,
    foreignNodes,
    tactics: tactics.length,
  })),
  engineLayers,
});

describe.each(captures)('%s inside of', (capture) => {
  const text = captureText(`${capture}/log.txt`)!;
  const plain = readBuildLog(text).value;

  it.each(Object.keys(around))('%s reads as it is', (name) => {
    const { value, problems } = readBuildLog(around[name]!(text));
    expect(told(value)).toEqual(told(plain));
    expect(value.messages.map(({ severity, line }) => [severity, line])).toEqual(
      plain.messages.map(({ severity, line }) => [severity, line]),
    );
    expect(problems).toEqual(readBuildLog(text).problems);
  });
});

it.each([captures[0]!, captures[2]!])('%s: lines that Docker cut into entries are put together', (capture) => {
  const text = captureText(`${capture}/log.txt`)!;
  const entry = (log: string) => JSON.stringify({ log, stream: 'stdout', time: '2026-11-21T09:29:17Z' });
  const entries = text
    .split('\n')
    .flatMap((line) => `${line}\n`.match(/[^]{1,40}/g)!)
    .map(entry);
  // Lines are counted as they are in the file.
  const toldBy = (log: string) =>
    JSON.parse(JSON.stringify(told(readBuildLog(log).value)), (key, value: unknown) =>
      key.toLowerCase().endsWith('line') ? null : value,
    ) as unknown;
  expect(toldBy(entries.join('\n'))).toEqual(toldBy(text));
});

it('a last line that Docker did not end is read, too', () => {
  const text = ['[V] [TRT] Parsing node: a [Relu]\n', '[E] 4: Could not', ' build'].map((log) =>
    JSON.stringify({ log }),
  );
  expect(readBuildLog(text.join('\n')).value.messages).toMatchObject([{ text: '4: Could not build' }]);
});

it.each(captures)('%s: lines of another thread leave the list of layers whole', (capture) => {
  const text = captureText(`${capture}/log.txt`)!;
  const mixed = text
    .split('\n')
    .map((line, i) => (i % 7 === 3 ? `${line}\n[V] [TRT] another thread says ${i}\nprogress: ${i} %` : line))
    .join('\n');
  const names = (log: BuildLog) => log.engineLayers.map(({ name }) => name);
  expect(names(readBuildLog(mixed).value)).toEqual(names(readBuildLog(text).value));
});

it.each(captures)('%s: without any prefix the list of layers ends where it ends', (capture) => {
  const text = captureText(`${capture}/log.txt`)!;
  const { value } = readBuildLog(text.split('\n').map(withoutPrefix).join('\n'));
  expect(value.engineLayers.map(({ name }) => name)).toEqual(
    readBuildLog(text).value.engineLayers.map(({ name }) => name),
  );
});

it('names may hold phrases and prefixes', () => {
  const text = [
    '[V] [TRT] Parsing node: a Parsing node: b [Relu]',
    '[V] [TRT] Registering layer: x [V] [TRT] y for ONNX node: a Parsing node: b',
    'x [V] [TRT] a line of a script',
    '[V] [TRT] Parsing node: x [Relu]',
  ].join('\n');
  expect(readBuildLog(text).value.parsedNodes).toMatchObject([
    { name: 'a Parsing node: b', layers: ['x [V] [TRT] y'] },
    { name: 'x' },
  ]);
});

const lineCount = (text: string): number => text.trimEnd().split('\n').length;
const trtexec = captureText('tensorrt-10.6.0/loop_if.fp32/log.txt')!;
const rtx = recordedLog('twins');

function readOnly(text: string, only: LoggedBuild) {
  const reader = new BuildLogReader({ only });
  reader.push(text);
  return reader.end().value;
}

describe('a log of several builds', () => {
  it.each([
    ['one build', trtexec, 1],
    ['a program that ran twice', `${rtx}${rtx}`, 2],
    ['logs of two programs', `${trtexec}${rtx}`, 2],
    ['three builds without frames', rtx.replaceAll(/^&&&&.*\n/gm, '').repeat(3), 3],
    ['a build, and a run that loads its engine', captureText('tensorrt-10.6.0/keep.engine/log.txt')!, 1],
    ['a build that calibrates first', captureText('tensorrt-10.6.0/poly.int8_calib/log.txt')!, 1],
  ])('%s', (_, text, count) => {
    expect(readBuildLog(text).value.builds?.length ?? 1).toBe(count);
  });

  it('is cut where the second program begins, with its frame', () => {
    const text = `${trtexec}${rtx}`;
    const first = lineCount(trtexec);
    expect(readBuildLog(text).value.builds).toEqual([
      { line: 1, end: first },
      { line: first + 1, end: first + lineCount(rtx) },
    ]);
  });

  it('gives each build as if it were alone, with the lines of the whole', () => {
    const text = `${trtexec}${rtx}`;
    const [first, second] = readBuildLog(text).value.builds as [LoggedBuild, LoggedBuild];
    expect(readOnly(text, first)).toEqual(readBuildLog(trtexec).value);
    const shifted = readOnly(text, second);
    const alone = readBuildLog(rtx).value;
    expect(shifted).toMatchObject({ product: 'tensorrt-rtx', version: alone.version, outcome: 'passed' });
    expect(shifted.engineLayers.map(({ name }) => name)).toEqual(alone.engineLayers.map(({ name }) => name));
    expect(shifted.parsedNodes[0]!.line).toBe(alone.parsedNodes[0]!.line + first.end);
  });
});
