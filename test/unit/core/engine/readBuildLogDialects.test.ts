import { describe, expect, test } from 'vitest';
import type { BuildEvent } from '../../../../src/core/engine/buildEvent.ts';
import type { BuildLog } from '../../../../src/core/engine/buildLog.ts';
import { BuildLogReader, readBuildLog } from '../../../../src/core/engine/readBuildLog.ts';
import { decodeVersion } from '../../../../src/core/engine/logFrame.ts';
import { captureText } from '../../../support/fixtures.ts';
import { sampleText } from '../../../support/samples.ts';

const read = (text: string): BuildLog => readBuildLog(text).value;
const sample = (name: string): BuildLog => read(sampleText(name));

const PARSING = 'Parsing node: /a/Conv [Conv]';

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
    ['Polygraphy in colours', `\x1b[38;5;8m[V] ${PARSING}\x1b[0m`],
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
      'ONNX Runtime in colours',
      `\x1b[0;93m2023-08-22 10:07:46.5 [V:onnxruntime:Default, tensorrt_execution_provider.h:61 log] [2023-08-22 01:07:46 VERBOSE] ${PARSING}\x1b[m`,
    ],
    ['Torch-TensorRT', `DEBUG:torch_tensorrt [TensorRT Conversion Context]:${PARSING}`],
    ['Torch-TensorRT in TorchScript', `DEBUG: [Torch-TensorRT TorchScript Conversion Context] - ${PARSING}`],
    ['DeepStream', `DEBUG: [TRT]: ${PARSING}`],
    ['Triton', `I0822 10:07:46.563271 123 logging.cc:46] ${PARSING}`],
    ['a collector', `2026-07-01T12:00:00.123Z [V] [TRT] ${PARSING}`],
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
  }); // prettier-ignore

  test("the library's version counts more than trtexec's", () => {
    const log = read(captureText('tensorrt-11.2.1/loop_if.typed/log.txt')!);
    expect([log.version, log.product]).toEqual(['11.2.1', 'tensorrt']);
  });
});

describe("other people's logs, 5 to 11", () => {
  test.each([
    [
      'logs/cookbook_trtexec_8.0.3_fp32_verbose.log.gz',
      { version: '8.0.3', outcome: 'passed', parsedNodes: 15, engineLayers: 10, funnel: 26 },
    ],
    [
      'logs/lidar_centerpoint_8503_verbose.log.gz',
      { version: '8.2.3', outcome: 'passed', parsedNodes: 140, engineLayers: 94, funnel: 140 },
    ],
    [
      'logs/cookbook_trtexec_8.4.1_fp16_verbose.log.gz',
      { version: '8.4.1', outcome: 'passed', parsedNodes: 15, engineLayers: 12, funnel: 24 },
    ],
    [
      'logs/cookbook_py_8.6_TimingCache_create.log',
      { version: null, outcome: 'passed', parsedNodes: 0, engineLayers: 11, funnel: 14 },
    ],
    [
      'logs/cookbook_trtexec_10.16.1_r02.log.gz',
      { version: '10.16.2', outcome: 'passed', parsedNodes: 12, engineLayers: 6, funnel: 24 },
    ],
    [
      'logs/cookbook_py_10.16.1_ProfilingVerbosity.log.gz',
      { version: '10.16.2', outcome: 'passed', parsedNodes: 12, engineLayers: 26, funnel: 24 },
    ],
  ])('%s', (name, expected) => {
    const log = sample(name);
    expect({
      version: log.version,
      outcome: log.outcome,
      parsedNodes: log.parsedNodes.length,
      engineLayers: log.engineLayers.length,
      funnel: log.phases.at(-1)!.funnel[0]!.layers,
    }).toEqual(expected);
  });

  test('8.0 to 8.4: costs without a name, decimal tactics, tensors in brackets', () => {
    const log = sample('logs/cookbook_trtexec_8.0.3_fp32_verbose.log.gz');
    expect(log.engineLayers[0]).toMatchObject({
      name: 'Conv__25 + Relu',
      type: 'CaskConvolution',
      tactic: '7144526460361122478',
      inputs: [{ name: 'x:0', dims: [-1, 1, 28, 28], type: 'Float' }],
      outputs: [{ name: 'Relu:0', dims: [-1, 32, 28, 28] }],
    });
    const timed = log.phases[0]!.tactics.filter(({ reformat }) => !reformat);
    expect(timed.map(({ name }) => name)).toContain('Conv__25 + Relu');
    const conv = timed.find(({ name }) => name === 'Conv__25 + Relu')!;
    expect(conv.combinations[0]!.tactics.length).toBeGreaterThan(3);
    expect(conv.combinations[0]!.chosen!.tactic).toMatch(/^-?\d+$/);
    expect(conv.combinations[0]!.chosen!.ms).toBeGreaterThan(0);
  });

  test('10.16: ForeignNode members and sorted tables of tactics inside of them', () => {
    const log = sample('logs/cookbook_trtexec_10.16.1_r02.log.gz');
    const phase = log.phases.at(-1)!;
    expect(phase.foreignNodes.find(({ name }) => name === '{ForeignNode[node_linear]}')!.metadata).toBe(
      '[ONNX Layer: node_linear]',
    );
    const operation = phase.operations![0]!;
    expect(operation).toMatchObject({
      name: 'node_linear',
      key: null,
      metadata: '[ONNX Layer: node_linear]',
      layer: '{ForeignNode[node_linear]}',
    });
    expect(operation.tactics[0]).toEqual({
      id: 0,
      ms: 0.0188384,
      ratio: 1,
      kernel: expect.stringContaining('sm80_xmma_gemm_f32f32'),
      hash: '0x4841c72cefae1',
    });
    expect(operation.tactics.length).toBeGreaterThan(30);
    // A fused layer name holds the constants; the list shows the ForeignNode as such.
    expect(log.engineLayers.filter(({ type }) => type === 'Myelin').length).toBeGreaterThan(0);
  });

  test('10.8: a table with a key, quoted in a document', () => {
    const [operation] = sample('logs/README_editable_timing_cache_10.8.md').phases[0]!.operations!;
    expect(operation).toMatchObject({
      name: 'matMul1',
      key: '0x1814870c44ff0f8574df6e3dda04cbd7',
      chosen: { hash: '0x665ded9abbf88', ms: 0.011264 },
    });
    expect(operation!.tactics.map(({ id }) => id)).toEqual([3, 5, 6]);
  });

  test('TensorRT 5 and bare lines', () => {
    const [layer] = sample('issues/trt5_scratch_52.txt').phases[0]!.tactics;
    expect(layer!.name).toBe('module/slice3/conv3/Conv2D');
    expect(layer!.combinations[0]!.tactics.map(({ tactic, ms }) => [tactic, ms])).toEqual([
      ['313790760974845026', 8.02246],
      ['-9018593586369639207', 10.8774],
      ['0', 12.7072],
    ]);
    expect(layer!.combinations[0]!.skipped[0]!.reason).toContain('scratch requested: 301989888');
    expect(
      sample('issues/precision_ignored_strict_7.2_2407.txt').precision.map(({ kind, layer: name }) => [kind, name]),
    ).toEqual([
      ['non-conforming', 'zero__8 + (Unnamed Layer* 13) [Shuffle]'],
      ['non-conforming', 'Mul__9'],
    ]);
  });

  test('several builds in one file: each has its own funnel, the last is the engine', () => {
    const log = sample('logs/cookbook_trtexec_8.4.1_BestPractice_AdjustReduceLayer.log');
    expect(log.phases.length).toBe(3);
    expect(log.runs!.every(({ outcome }) => outcome === 'passed')).toBe(true);
    expect(log.parsedNodes).toHaveLength(4);
  });

  test('errors name what they are about', () => {
    const of = (name: string): [number | null, string | null][] =>
      sample(name)
        .messages.filter(({ severity }) => severity === 'error')
        .map(({ code, subject }) => [code, subject]);
    expect(of('issues/foreignnode_8.6_mmdeploy_2632.txt')).toEqual([
      [
        10,
        '{ForeignNode[(Unnamed Layer* 11697) [Constant] + (Unnamed Layer* 11698) [Shuffle].../backbone/Reshape_3 + /backbone/Transpose_3]}',
      ],
      [
        10,
        '{ForeignNode[(Unnamed Layer* 11697) [Constant] + (Unnamed Layer* 11698) [Shuffle].../backbone/Reshape_3 + /backbone/Transpose_3]}',
      ],
    ]);
    expect(of('issues/foreignnode_nomem_2035.txt').slice(0, 2)).toEqual([
      [10, '{ForeignNode[onnx::Gather_72...ScatterND_170]}'],
      [2, null],
    ]);
    expect(of('issues/onnxruntime_trt_prefix_22164.txt')).toEqual([[9, null]]);
    expect(sample('issues/onnxruntime_trt_prefix_22164.txt').messages[0]!.text).toBe(
      'Error Code: 9: Skipping tactic 0xaa15e43058248292 due to exception canImplement1',
    );
    const multi = sample('issues/skip_tactic_shape_inference_animejanai_36.txt').messages[0]!;
    expect([multi.code, multi.text.split('\n').length]).toEqual([9, 5]);
    expect(sample('issues/replay_mismatch_4040.txt').messages[0]!.subject).toBe(
      '{ForeignNode[Abs_507.... .Cast_3382]}',
    );
    expect(
      sample('issues/foreignnode_tactic_inf_1917.txt').phases[0]!.tactics[0]!.combinations[0]!.skipped[0]!.reason,
    ).toContain('insuficient memory');
  });

  test('a profile table of any age', () => {
    expect(sample('logs/cookbook_trtexec_10.16.1_r05.log').profile).toHaveLength(15);
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
