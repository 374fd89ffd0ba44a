import { describe, expect, it } from 'vitest';
import type { BuildPhase, FusionEvent } from '../../../../src/kernel/read/tensorrt/buildOutput.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import type { FusionReport } from '../../../../src/kernel/fusion/fusionReport.ts';
import { printMetadata } from '../../../../src/kernel/network/layerName.ts';
import { buildLog, buildPhase, engineLayer, layerInfo } from './buildEngine.ts';
import { buildModel } from './buildModel.ts';

const fateOf = (report: FusionReport, name: string) => report.nodes.find((node) => node.name === name)!;
const fates = (report: FusionReport) => Object.fromEntries(report.nodes.map(({ name, fate }) => [name, fate]));

describe('planned layers', () => {
  const model = buildModel({
    inputs: ['x'],
    outputs: ['y'],
    initializers: ['w', 's'],
    nodes: [
      ['q', 'QuantizeLinear', ['x', 's'], ['xq']],
      ['dq', 'DequantizeLinear', ['xq', 's'], ['xd']],
      ['dqw', 'DequantizeLinear', ['w', 's'], ['wd']],
      ['conv', 'Conv', ['xd', 'wd'], ['c']],
      ['relu', 'Relu', ['c'], ['r']],
      ['side', 'Sigmoid', ['xd'], ['sd']],
      ['cat', 'Concat', ['r', 'sd'], ['y']],
    ],
  });
  const event = (line: number, kind: FusionEvent['kind'], layers: string[], pass = 'P'): FusionEvent => ({
    pass,
    kind,
    layers,
    line,
  });
  const log = buildLog({
    outcome: 'failed',
    phases: [
      buildPhase({
        funnel: [
          { stage: 'Original', layers: 8, line: 1 },
          { stage: 'After Myelin optimization', layers: 7, line: 2 },
          { stage: 'After concat removal', layers: 4, line: 30 },
        ],
        events: [
          event(3, 'convert', ['relu']),
          event(4, 'convert', ['side']),
          event(5, 'absorb', ['conv', 'dq_clone_0', 'dqw']),
          event(6, 'remove', ['dq_clone_0']),
          event(7, 'remove', ['dqw']),
          event(8, 'absorb', ['side', 'dq_clone_1']),
          event(9, 'fuse', ['conv', 'PWN(relu)']),
          event(10, 'fuse', ['w', 'conv + PWN(relu)']),
          event(11, 'eliminate', ['cat'], 'concat'),
          event(12, 'copy', ['r', 'y'], 'copy'),
        ],
      }),
    ],
  });

  it('count what fusions leave, not what they went through', () => {
    const report = createReport({ model, modelFile: 'm', log });
    expect(report.layers.map(({ name }) => name)).toEqual(['side', 'w + conv + PWN(relu)', 'r copy']);
  });

  it('hold what the log fuses into them, before anything counts as removed', () => {
    const report = createReport({ model, modelFile: 'm', log });
    expect(fates(report)).toMatchObject({ dq: 'fused', conv: 'fused', relu: 'fused', side: 'fused', cat: 'single' });
    expect(fateOf(report, 'dq')).toMatchObject({ layers: [1, 0], exact: true });
    expect(fateOf(report, 'cat').reason).toBe('TensorRT copies what it joins (log line 12): layer 2.');
  });

  it('say into what a node was fused where that has no place', () => {
    const [phase] = log.phases as [BuildPhase];
    // Before the Myelin stage: the result may be in a ForeignNode that the log does not come to.
    const events = [event(1, 'absorb', ['conv', 'dq']), event(1, 'remove', ['dq'])];
    const tactics = [{ name: 'side', line: 31, combinations: [] }];
    const report = createReport({ model, modelFile: 'm', log: { ...log, phases: [{ ...phase, events, tactics }] } });
    expect(fateOf(report, 'dq')).toMatchObject({
      fate: 'unknown',
      reason: 'TensorRT fused it into "conv" (log line 1), and nothing says which layer that is in.',
    });
  });
});

describe('nodes that the parser registers no layer for', () => {
  const model = buildModel({
    inputs: ['x'],
    outputs: ['y'],
    nodes: [
      ['fill', 'Max', ['x'], ['f']],
      ['add', 'Add', ['x', 'f'], ['a']],
      ['relu', 'Relu', ['a'], ['r']],
      ['last', 'Tanh', ['r'], ['y']],
    ],
  });
  const record = (name: string, op: string, line: number, layers = [name]) => ({ name, op, line, layers, helpers: [] });
  const parsedNodes = [
    record('fill', 'Max', 2, []),
    record('add', 'Add', 3),
    record('relu', 'Relu', 4),
    record('last', 'Tanh', 5),
  ];
  const logWith = (original: number) =>
    buildLog({ parsedNodes, phases: [buildPhase({ funnel: [{ stage: 'Original', layers: original, line: 6 }] })] });
  const layers = [engineLayer('{ForeignNode[add...last]}', { inputs: ['x'], outputs: ['y'] })];
  const reportOn = (log: ReturnType<typeof buildLog>) =>
    createReport({ model, modelFile: 'm', layerInfo: layerInfo(layers), log });

  it('are gone where every layer of the network is registered', () => {
    expect(fateOf(reportOn(logWith(3)), 'fill')).toMatchObject({ fate: 'removed', exact: true });
  });

  it('may be layers without a name where the network has more than are registered', () => {
    expect(fateOf(reportOn(logWith(5)), 'fill')).toMatchObject({ fate: 'foreign', exact: false });
  });
});

describe('native layers beside a ForeignNode', () => {
  it('keep the node in their metadata, though its end is inside the ForeignNode', () => {
    const model = buildModel({
      inputs: ['x'],
      outputs: ['y'],
      nodes: [
        ['nz', 'NonZero', ['x'], ['i']],
        ['cast', 'Cast', ['i'], ['y']],
      ],
    });
    const made = '(Unnamed Layer* 1) [NonZero]_output';
    const layers = [
      engineLayer('nz', { type: 'NonZero', inputs: ['x'], outputs: [made], metadata: printMetadata(['nz']) }),
      engineLayer('{ForeignNode[(Unnamed Layer* 2) [Shuffle]...cast]}', { inputs: [made], outputs: ['y'] }),
    ];
    const report = createReport({ model, modelFile: 'm', layerInfo: layerInfo(layers) });
    expect(fateOf(report, 'nz')).toMatchObject({ fate: 'single', layers: [0], foreignNode: null, exact: true });
    expect(fateOf(report, 'cast')).toMatchObject({ fate: 'foreign', foreignNode: 0 });
    expect(report.foreignNodes[0]!.nodes).toEqual(['1']);
  });

  it('get no node by way of a tensor that TensorRT made', () => {
    const model = buildModel({
      inputs: ['boxes', 'x'],
      outputs: ['chosen'],
      nodes: [
        ['sigmoid', 'Sigmoid', ['x'], ['scores']],
        ['nms', 'NonMaxSuppression', ['boxes', 'scores'], ['chosen']],
      ],
    });
    const layers = [
      engineLayer('{ForeignNode[(Unnamed Layer* 0) [Shuffle]...(Unnamed Layer* 1) [Shuffle]]}', {
        inputs: ['x'],
        outputs: ['made'],
      }),
      engineLayer('(Unnamed Layer* 2) [Shuffle]', { inputs: ['made'], outputs: ['also made'] }),
      engineLayer('nms', { type: 'NMS', inputs: ['boxes', 'also made'], outputs: ['chosen'] }),
    ];
    const report = createReport({ model, modelFile: 'm', layerInfo: layerInfo(layers) });
    expect(fateOf(report, 'nms')).toMatchObject({ fate: 'single', layers: [2] });
    expect(report.layers[2]!.nodes).toEqual(['1']);
    expect(fateOf(report, 'sigmoid')).toMatchObject({ fate: 'foreign', foreignNode: 0, exact: false });
  });
});
