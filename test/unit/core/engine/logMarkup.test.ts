import { describe, expect, it } from 'vitest';
import type { BuildLog, LoggedBuild } from '../../../../src/core/formats/tensorrt/buildOutput.ts';
import { BuildLogReader, readBuildLog } from '../../../../src/core/formats/tensorrt/readBuildLog.ts';
import { captureText } from '../../../support/fixtures.ts';
import { recordedLog } from '../../../support/hardModels/builtModels.ts';

const captures = [
  'tensorrt-8.6.1/two_inputs_multi_out.fp32',
  'tensorrt-10.6.0/fusion_zoo.fp32',
  'tensorrt-rtx-1.7.1/fusion_zoo',
];

const eachLine = (change: (line: string, index: number) => string) => (text: string) =>
  text.split('\n').map(change).join('\n');
const levelOf = (line: string) => /\[([VIWE])\]/.exec(line.slice(0, 40))?.[1] ?? 'V';
const words: Record<string, string> = { V: 'DEBUG', I: 'INFO', W: 'WARN', E: 'ERROR' };
const withoutPrefix = (line: string) => line.replace(/^(?:\[\d\d\/[^\]]*\] )?\[[VIWE]\] (?:\[TRT\] )?/, '');

/** Wrappers that leave TensorRT's prefix as it is. */
const around: Record<string, (text: string) => string> = {
  'Docker Compose': eachLine((line) => `trt-builder-1  | ${line}`),
  'Docker Compose, blank ends taken away': eachLine((line) => `trt-builder-1  | ${line}`.trimEnd()),
  "Docker's own files": eachLine((line) =>
    JSON.stringify({ log: `${line}\n`, stream: 'stdout', time: '2026-11-21T09:29:17Z' }),
  ),
  'Docker entries with blanks, the text last': eachLine(
    (line) => `{"time": "2026-11-21T09:29:17Z", "stream": "stdout", "log": ${JSON.stringify(`${line}\r\n`)}}`,
  ),
  'Docker entries with colors': eachLine((line) => JSON.stringify({ log: `\u001b[32m${line}\u001b[0m\n` })),
  'Kubernetes nodes': eachLine((line, i) => `2026-11-21T09:29:17.${1_000_000 + i}Z stdout F ${line}`),
  'a CI service': eachLine((line, i) => `2026-11-21T09:29:17.${1_000_000 + i}Z ${line}`),
  'ROS launch': eachLine((line) => `[trt_node-1] ${line}`),
  'ROS components': eachLine((line, i) => `[component_container_mt-1] [INFO] [17000000${i}.123456789] [trt]: ${line}`),
  journald: eachLine((line, i) => `Nov ${String((i % 28) + 1).padStart(2)} 09:29:17 jetson trtexec[1234]: ${line}`),
  'grep -n': eachLine((line, i) => `build.log:${i + 1}:${line}`),
  'line numbers': eachLine((line, i) => `${String(i + 1).padStart(6)}  ${line}`),
  'a quotation': eachLine((line) => `> ${line}`),
  indentation: eachLine((line) => `    ${line}`),
  'a color around the line': eachLine((line) => `\u001b[32m${line}\u001b[0m`),
  'a color around the level': eachLine((line) => line.replace(/\[([VIWE])\]/, '\u001b[38;5;13m[$1]\u001b[0m')),
  'CR LF': (text) => text.replaceAll('\n', '\r\n'),
};

/** Wrappers that stand in the place of TensorRT's prefix. */
const instead: Record<string, (text: string) => string> = {
  Android: eachLine((line) => `11-21 09:29:17.123  1234  5678 ${levelOf(line)} TRT     : ${withoutPrefix(line)}`),
  ROS: eachLine((line) =>
    line.startsWith('[') ? `[${words[levelOf(line)]}] [1700000000.123456789] [trt_node]: ${withoutPrefix(line)}` : line,
  ),
  "Python's logging": eachLine((line) =>
    line.startsWith('[') ? `${words[levelOf(line)]}:tensorrt:${withoutPrefix(line)}` : line,
  ),
  "Python's logging with a time": eachLine((line) =>
    line.startsWith('[')
      ? `2026-11-21 09:29:17,123 - tensorrt - ${words[levelOf(line)]} - ${withoutPrefix(line)}`
      : line,
  ),
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

  it.each(Object.keys(instead))('%s, in the place of its own prefix, says the same', (name) => {
    const { phases, engineLayers, parsedNodes, finalLayers } = told(readBuildLog(instead[name]!(text)).value);
    const expected = told(plain);
    expect(parsedNodes).toEqual(expected.parsedNodes);
    expect(phases).toEqual(expected.phases);
    expect(engineLayers).toEqual(expected.engineLayers);
    expect(finalLayers).toEqual(expected.finalLayers);
  });
});

it('errors keep their severity where the wrapper has it', () => {
  const { value } = readBuildLog(
    ['INFO', 'ERROR']
      .map((level) => `[${level}] [170.5] [trt]: ${level === 'INFO' ? 'Parsing node: a [Relu]' : '4: Could not build'}`)
      .join('\n'),
  );
  expect(value.messages).toMatchObject([{ severity: 'error', text: '4: Could not build', line: 2 }]);
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

it('a wrapper is learned from pieces of a stream, too', () => {
  const text = around['Docker Compose']!(captureText(`${captures[0]}/log.txt`)!);
  const reader = new BuildLogReader();
  for (let i = 0; i < text.length; i += 97) reader.push(text.slice(i, i + 97));
  expect(told(reader.end().value)).toEqual(told(readBuildLog(text).value));
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

it('names that hold phrases and prefixes are no wrappers', () => {
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
