import { describe, expect, test } from 'vitest';
import type { BuildEvent, BuildLog } from '../../../../../src/kernel/read/tensorrt/buildOutput.ts';
import { BuildLogReader, readBuildLog } from '../../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { decodeVersion } from '../../../../../src/kernel/read/tensorrt/buildOutput.ts';
import { captureText } from '../../../../support/fixtures.ts';

const read = (text: string): BuildLog => readBuildLog(text).value;

const PARSING = 'Parsing node: /a/Conv [Conv]';

describe('shapes that were built for', () => {
  const shapes = (...lines: string[]) =>
    read(lines.map((line) => `[11/21/2026-09:26:25] [I] ${line}\n`).join('')).builtShapes;

  test('of profiles, by TensorRT 8 and 10, a name with an equals sign and a scalar included', () => {
    expect(shapes('Input build shape: a=b=1x8+4x64+8x256')).toEqual([
      { profile: 0, input: 'a=b', min: [1, 8], opt: [4, 64], max: [8, 256] },
    ]);
    expect(shapes('Input build shape (profile 0): s=++', 'Input build shape (profile 1): x=2+3+4')).toEqual([
      { profile: 0, input: 's', min: [], opt: [], max: [] },
      { profile: 1, input: 'x', min: [2], opt: [3], max: [4] },
    ]);
  });

  test('which trtexec chose itself', () => {
    const text =
      'Dynamic dimensions required for input: x, but no shapes were provided. Automatically overriding shape to: 1x3';
    expect(shapes(text)).toEqual([{ profile: 0, input: 'x', min: [1, 3], opt: [1, 3], max: [1, 3] }]);
  });

  test('none where the model has them all', () => expect(shapes('Input build shapes: model')).toBeUndefined());
});

describe('logs of other programs', () => {
  test('Torch-TensorRT: the device, and the table of times, whose lines have no prefix', () => {
    const log = read(
      [
        'DEBUG: [Torch-TensorRT - Debug Build] - Selected: Device(ID: 0, Name: NVIDIA A40, SM Capability: 8.6, Type: GPU)',
        '========== _run_on_acc_0_engine profile ==========',
        '                 TensorRT layer name    Runtime, %  Invocations  Runtime, ms',
        '       [CONVOLUTION]-[aten.c]-[conv]         75.0%            2         3.00',
        '                   __myl_Tra_myl6_10         25.0%            2         1.00',
        '========== _run_on_acc_0_engine total runtime = 4 ms ==========',
        '                   is no row         25.0%            2         1.00',
      ].join('\n'),
    );
    expect([log.gpu, log.host]).toEqual(['NVIDIA A40', 'torch-tensorrt']);
    expect(log.profile).toEqual([
      { name: '[CONVOLUTION]-[aten.c]-[conv]', timeMs: 3, averageMs: 1.5, medianMs: null, percentage: 75 },
      { name: '__myl_Tra_myl6_10', timeMs: 1, averageMs: 0.5, medianMs: null, percentage: 25 },
    ]);
  });

  test('a list of devices that someone kept as comments is a log', () => {
    const { value, problems } = readBuildLog(
      '#[02/19/2022-05:35:26] [I] [TRT] [DlaLayer] {ForeignNode[a...b]}\n# [02/19/2022-05:35:26] [I] [TRT] [GpuLayer] SOFTMAX: c\n# [1, 2] is a comment\n',
    );
    expect(value.devices).toEqual({
      loadables: ['{ForeignNode[a...b]}'],
      gpuLayers: 1,
      layers: ['{ForeignNode[a...b]}', 'c'],
    });
    expect(problems).toEqual([]);
  });
});

describe('prefixes', () => {
  test.each([
    ['trtexec', `[11/21/2026-09:29:17] [V] [TRT] ${PARSING}`],
    ['trtexec itself', `[11/21/2026-09:29:17] [I] ${PARSING}`],
    ['the Python logger', `[11/21/2026-09:29:17] [TRT] [V] ${PARSING}`],
    ['the Python logger without a time', `[TRT] [V] ${PARSING}`],
    ['the library alone', `[V] [TRT] ${PARSING}`],
    ['Polygraphy', `[V] ${PARSING}`],
    ['Polygraphy with times', `[V] [09:29:17] ${PARSING}`],
    ['Polygraphy inside of its own tools', `[V]     ${PARSING}`],
    ['Polygraphy in colors', `\x1b[38;5;8m[V] ${PARSING}\x1b[0m`],
    ['a doubled prefix', `[01/29/2022-15:09:28] [01/29/2022-15:09:28] [V] [TRT] ${PARSING}`],
    ['TensorRT 7 in Python', `[TensorRT] VERBOSE: ${PARSING}`],
    [
      'ONNX Runtime',
      `2023-08-22 10:07:46.563271041 [V:onnxruntime:Default, tensorrt_execution_provider.h:61 log] [2023-08-22 01:07:46 VERBOSE] ${PARSING}`,
    ],
    [
      'ONNX Runtime, short',
      `V onnxruntime: [2024-09-20 12:15:43 VERBOSE] ${PARSING} [tensorrt_execution_provider.h:88 onnxruntime::TensorrtLogger::log]`,
    ],
    [
      'ONNX Runtime in colors',
      `\x1b[0;93m2023-08-22 10:07:46.5 [V:onnxruntime:Default, tensorrt_execution_provider.h:61 log] [2023-08-22 01:07:46 VERBOSE] ${PARSING}\x1b[m`,
    ],
    ['Torch-TensorRT', `DEBUG:torch_tensorrt [TensorRT Conversion Context]:${PARSING}`],
    ['Torch-TensorRT in TorchScript', `DEBUG: [Torch-TensorRT TorchScript Conversion Context] - ${PARSING}`],
    ['DeepStream', `DEBUG: [TRT]: ${PARSING}`],
    ['Triton', `I0822 10:07:46.563271 123 logging.cc:46] ${PARSING}`],
    ['a DOS line end', `[V] [TRT] ${PARSING}\r`],
    ['none at all', PARSING],
  ])('%s', (_writer, line) => {
    expect(read(`${line}\n`).parsedNodes).toEqual([{ name: '/a/Conv', op: 'Conv', line: 1, layers: [], helpers: [] }]);
  });

  test('an error code in brackets is no prefix', () => {
    const log = read(
      '[E] [TRT] ModelImporter.cpp:951: ERROR: checkers.cpp:816 In function check:\n[6] creator && "Plugin not found"\n[I] done\n',
    );
    expect(log.messages).toMatchObject([
      {
        severity: 'error',
        code: 6,
        text: 'ModelImporter.cpp:951: ERROR: checkers.cpp:816 In function check:\n[6] creator && "Plugin not found"',
      },
    ]);
  });

  test('a message printed while another line is written keeps its own level', () => {
    expect(
      read('[I] [11/21/2026-09:30:06] [W] [TRT] The profiling verbosity was set to kNONE.\n').messages,
    ).toMatchObject([{ severity: 'warning', text: 'The profiling verbosity was set to kNONE.' }]);
  });

  test('lines end at LF only: U+001E, U+2028 and CR are part of a line', () => {
    const log = read(
      '[V] [TRT] ForeignNode {ForeignNode[a...b]} metadata: [ONNX Layer: a]\x1e[ONNX Layer: b\u2028c]\x0c\r[ONNX Layer: d]\n[V] [TRT] Original: 1 layers\n',
    );
    expect(log.lines).toBe(2);
    expect(log.phases[0]!.foreignNodes[0]!.metadata).toBe(
      '[ONNX Layer: a]\x1e[ONNX Layer: b\u2028c]\x0c\r[ONNX Layer: d]',
    );
  });

  test('Polygraphy breaks metadata at U+001E; it is put together again', () => {
    const log = read(
      [
        '[V] ForeignNode {ForeignNode[a...c]} metadata: [ONNX Layer: a]',
        '    [ONNX Layer: b]\x1f[ONNX Layer: b2]',
        '    [ONNX Layer: c]',
        '[V] Layers:',
        '    Name: a_myl0_0, LayerType: kgen, Inputs: [], Outputs: [], TacticName: t, StreamId: 0, Metadata: [ONNX Layer: a]',
        '    [ONNX Layer: b]',
        '    Name: c_myl0_1, LayerType: gemm, Inputs: [], Outputs: [], TacticName: t, StreamId: 0, Metadata: ',
        '    ',
        '    Bindings:',
        '    x',
        '    y',
        '[I] Finished engine building in 1.5 seconds',
      ].join('\n'),
    );
    expect(log.phases[0]!.foreignNodes).toEqual([
      {
        name: '{ForeignNode[a...c]}',
        line: 1,
        metadata: '[ONNX Layer: a]\x1e[ONNX Layer: b]\x1f[ONNX Layer: b2]\x1e[ONNX Layer: c]',
      },
    ]);
    expect(log.engineLayers.map(({ name, metadata }) => [name, metadata])).toEqual([
      ['a_myl0_0', '[ONNX Layer: a]\x1e[ONNX Layer: b]'],
      ['c_myl0_1', ''],
    ]);
    expect([log.bindings, log.outcome, log.seconds.build]).toEqual([['x', 'y'], 'passed', 1.5]);
  });

  test("the driver's JSON lines are a log, too", () => {
    const lines = captureText('tensorrt-rtx-1.7.1/resnet18/log.txt')!;
    const plain = read(lines);
    // One event a message: a message of several lines is one event.
    const messages = lines.trimEnd().split(/\n(?=\[[A-Z]\] \[TRT\] )/);
    const names: Record<string, string> = { V: 'VERBOSE', I: 'INFO', W: 'WARNING', E: 'ERROR' };
    const events = messages.map((message) =>
      JSON.stringify({ event: 'log', severity: names[message[1]!], message: message.slice(10) }),
    );
    const log = read(
      `{"event":"start","module":"tensorrt_rtx"}\n${events.join('\n')}\n{"event":"done","engineBytes":1}\n`,
    );
    expect(log.engineLayers.map(({ name, metadata }) => [name, metadata])).toEqual(
      plain.engineLayers.map(({ name, metadata }) => [name, metadata]),
    );
    expect(log.parsedNodes.map(({ name }) => name)).toEqual(plain.parsedNodes.map(({ name }) => name));
    expect([log.bindings, log.product, log.outcome]).toEqual([plain.bindings, 'tensorrt-rtx', 'passed']);
  });
});

describe('versions', () => {
  test.each([
    ['8601', '8.6.1'], ['8203', '8.2.3'], ['8510', '8.5.10'], ['8003', '8.0.3'], ['100600', '10.6.0'], ['101601', '10.16.1'], ['110100', '11.1.0'],
    ['10200', '1.2.0'], ['10.6.0', '10.6.0'], ['10.16.2.5', '10.16.2'], ['', null], ['v8', null], ['86', null],
  ])('%s is %s', (text, version) => {
    expect(decodeVersion(text)).toBe(version);
  }); // oxfmt-ignore

  test("the library's version counts more than trtexec's", () => {
    const log = read(captureText('tensorrt-11.2.1/loop_if.typed/log.txt')!);
    expect([log.version, log.product]).toEqual(['11.2.1', 'tensorrt']);
  });
});

test('a profile table of an old version, without medians', () => {
  const old = read(
    [
      '[I] === Profile (18 iterations ) ===',
      '[I]                        Layer   Time (ms)   Avg. Time (ms)   Time %',
      '[I]             Conv_0 + Relu_1       12.50           0.6944     90.0',
      '[I]  (Unnamed Layer* 1) [Shuffle]        1.39           0.0772     10.0',
      '[I]                        Total       13.89           0.7717    100.0',
    ].join('\n'),
  );
  expect(old.profile).toEqual([
    { name: 'Conv_0 + Relu_1', timeMs: 12.5, averageMs: 0.6944, medianMs: null, percentage: 90 },
    { name: '(Unnamed Layer* 1) [Shuffle]', timeMs: 1.39, averageMs: 0.0772, medianMs: null, percentage: 10 },
  ]);
});

describe('the account of a running build', () => {
  test('events come in order, as the log is written', () => {
    const events: BuildEvent[] = [];
    const reader = new BuildLogReader({ onEvent: (event) => events.push(event) });
    for (const line of captureText('tensorrt-10.6.0/fusion_zoo.fp32/log.txt')!.split('\n')) reader.push(`${line}\n`);
    const log = reader.end().value;
    const of = <K extends BuildEvent['kind']>(kind: K): Extract<BuildEvent, { kind: K }>[] =>
      events.filter((event): event is Extract<BuildEvent, { kind: K }> => event.kind === kind);
    expect(of('stage').map(({ stage }) => stage)).toEqual(['parse', 'optimize', 'tactics', 'finalize', 'run', 'end']);
    expect(of('node').at(-1)!.parsed).toBe(120);
    expect(of('funnel').map(({ layers }) => layers)).toEqual(log.phases[0]!.funnel.map(({ layers }) => layers));
    expect(of('foreign-node').map(({ name }) => name)).toEqual(log.phases[0]!.foreignNodes.map(({ name }) => name));
    const timing = of('timing');
    expect(timing.map(({ layer }) => layer)).toEqual(timing.map((_event, index) => index + 1));
    expect(timing.map(({ name }) => name)).toEqual(
      log.phases[0]!.tactics.filter(({ reformat }) => !reformat).map(({ name }) => name),
    );
    expect(of('cache-hit').at(-1)!.hits).toBe(log.timingCacheHits);
    expect(of('message').map(({ line }) => line)).toEqual(log.messages.map(({ line }) => line));
    expect(of('outcome')).toEqual([{ kind: 'outcome', outcome: 'passed', line: log.lines - 1 }]);
    const lines = events.map(({ line }) => line);
    expect(lines).toEqual(lines.toSorted((a, b) => a - b));
  });

  test('a skipped tactic is told with the layer that is being timed', () => {
    const events: BuildEvent[] = [];
    const reader = new BuildLogReader({ onEvent: (event) => events.push(event) });
    reader.push(captureText('tensorrt-10.6.0/vit_tiny.workspace_1k/log.txt')!);
    reader.end();
    expect(
      events.some(
        (event) =>
          event.kind === 'skipped' &&
          event.name.startsWith('{ForeignNode[') &&
          event.reason.includes('Scratch requested: 1990656'),
      ),
    ).toBe(true);
  });
});

test('text that is no log says so', () => {
  const { value, problems } = readBuildLog('Dear reader,\nthis is a letter.\n');
  expect([value.outcome, value.version, value.phases, problems.map(({ code }) => code)]).toEqual([
    'unknown',
    null,
    [],
    ['no-build-log'],
  ]);
  expect(readBuildLog('').value.lines).toBe(0);
});
