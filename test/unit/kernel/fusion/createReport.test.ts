import { describe, expect, it } from 'vitest';
import type { BuildLog, EngineLayer } from '../../../../src/kernel/read/tensorrt/buildOutput.ts';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import type { FusionReport, ReportInput } from '../../../../src/kernel/fusion/fusionReport.ts';
import { printMetadata } from '../../../../src/kernel/network/layerName.ts';
import type { OnnxModel } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { buildLog, buildPhase, engineLayer, layerInfo } from './buildEngine.ts';
import { buildModel } from './buildModel.ts';

const reportOn = (
  model: OnnxModel,
  layers: EngineLayer[],
  log?: ReturnType<typeof buildLog>,
  more: Partial<ReportInput> = {},
): FusionReport => createReport({ model, modelFile: 'model.onnx', layerInfo: layerInfo(layers), log, ...more });
const fateOf = (report: FusionReport, name: string) => report.nodes.find((node) => node.name === name)!;
const fates = (report: FusionReport) => Object.fromEntries(report.nodes.map(({ name, fate }) => [name, fate]));

describe('fates by the graph', () => {
  const chain = (shape: (number | string)[]) =>
    buildModel({
      inputs: { x: shape },
      outputs: ['y'],
      initializers: ['w', 'axis'],
      nodes: [
        ['two', 'Constant', [], ['c2']],
        ['scaled', 'Mul', ['w', 'c2'], ['w2']],
        ['shape', 'Shape', ['x'], ['s']],
        ['dim', 'Gather', ['s', 'axis'], ['d']],
        ['target', 'Concat', ['d', 'axis'], ['t']],
        ['reshape', 'Reshape', ['x', 't'], ['r']],
        ['same', 'Identity', ['r'], ['i']],
        ['mul', 'MatMul', ['i', 'w2'], ['y']],
        ['lost', 'Relu', ['i'], ['z']],
      ],
    });
  const layers = [
    engineLayer('{ForeignNode[w...(Unnamed Layer* 7) [Shuffle]]}', { inputs: ['x'], outputs: ['y'], metadata: '' }),
  ];

  it('fold shapes that are known before the build', () => {
    expect(fates(reportOn(chain([4, 8]), layers))).toEqual({
      two: 'folded',
      scaled: 'folded',
      shape: 'folded',
      dim: 'folded',
      target: 'folded',
      reshape: 'foreign',
      same: 'removed',
      mul: 'foreign',
      lost: 'removed',
    });
  });

  it('compute dynamic shapes on the host', () => {
    const report = reportOn(chain(['batch', 8]), layers);
    expect(fates(report)).toMatchObject({
      scaled: 'folded',
      shape: 'shape',
      dim: 'shape',
      target: 'shape',
      reshape: 'foreign',
    });
    expect(report.accounting).toEqual({
      total: 9,
      foreign: 2,
      fused: 0,
      single: 0,
      folded: 2,
      removed: 2,
      shape: 3,
      unaccounted: 0,
      unknown: 0,
    });
    expect(fateOf(report, 'mul')).toMatchObject({ foreignNode: 0, exact: false });
    expect(report.foreignNodes[0]).toMatchObject({ exact: false, inputs: ['x'], outputs: ['y'], nodes: ['5', '7'] });
  });

  it('compute on the device what depends on shapes but is no shape', () => {
    const model = buildModel({
      inputs: { x: ['batch', 8] },
      outputs: ['y'],
      initializers: ['axis', 'zero', 'one'],
      nodes: [
        ['shape', 'Shape', ['x'], ['s']],
        ['dim', 'Gather', ['s', 'axis'], ['d']],
        ['positions', 'Range', ['zero', 'd', 'one'], ['p']],
        ['float', 'Cast', ['p'], ['f']],
        ['add', 'Add', ['x', 'f'], ['y']],
      ],
    });
    const report = reportOn(model, [engineLayer('{ForeignNode[a...b]}', { inputs: ['x'], outputs: ['y'] })]);
    expect(fates(report)).toEqual({
      shape: 'shape',
      dim: 'shape',
      positions: 'foreign',
      float: 'foreign',
      add: 'foreign',
    });
  });

  it('take nothing for granted without an engine', () => {
    const failed = buildLog({
      outcome: 'failed',
      messages: [{ severity: 'error', text: 'no', line: 7, code: 4, subject: null }],
    });
    const report = createReport({ model: chain([4, 8]), modelFile: 'model.onnx', log: failed });
    expect(report.accounting.unknown).toBe(9);
    expect(report.nodes[0]!.reason).toContain('log line 7');
    expect(report.problems.map(({ code, severity }) => `${severity} ${code}`)).toEqual(['error no-layers']);
  });
});

describe('names', () => {
  const twins = buildModel({
    inputs: ['x'],
    outputs: ['y'],
    initializers: ['w'],
    nodes: [
      ['fc', 'MatMul', ['x', 'w'], ['a']],
      ['act', 'Relu', ['a'], ['b']],
      ['fc', 'MatMul', ['b', 'w'], ['c']],
      ['act', 'Sigmoid', ['c'], ['y']],
    ],
  });

  it('that nodes share are told apart by what the parser registered', () => {
    const parsed = (name: string, op: string, layer: string) => ({ name, op, line: 1, layers: [layer], helpers: [] });
    const log = buildLog({
      parsedNodes: [
        parsed('fc', 'MatMul', 'fc'),
        parsed('act', 'Relu', 'act'),
        parsed('fc', 'MatMul', 'fc_2'),
        parsed('act', 'Sigmoid', 'act_3'),
      ],
    });
    const report = reportOn(
      twins,
      [
        engineLayer('fc + act', { metadata: printMetadata(['fc', 'act']) }),
        engineLayer('fc_2 + act_3', { metadata: printMetadata(['fc', 'act']) }),
      ],
      log,
    );
    expect(report.nodes.map(({ layers, exact }) => [layers, exact])).toEqual([
      [[0], true],
      [[0], true],
      [[1], true],
      [[1], true],
    ]);
  });

  it('that nodes share are told apart by their tensors, but not exactly', () => {
    const report = reportOn(twins, [
      engineLayer('fc', { inputs: ['x'], outputs: ['a'], metadata: printMetadata(['fc']) }),
      engineLayer('act', { inputs: ['a'], outputs: ['b'], metadata: printMetadata(['act']) }),
      engineLayer('fc_2 + act_3', { inputs: ['b'], outputs: ['y'], metadata: printMetadata(['fc', 'act']) }),
    ]);
    expect(report.nodes.map(({ layers, exact }) => [layers, exact])).toEqual(
      [[0], [1], [2], [2]].map((layers) => [layers, false]),
    );
    expect(report.problems.map(({ code }) => code)).toEqual(['shared-names']);
  });

  it('of nodes without one come from their first output', () => {
    const model = buildModel({
      inputs: ['x'],
      outputs: ['y'],
      nodes: [
        ['', 'Relu', ['x'], ['r']],
        ['', 'Tanh', ['r'], ['y']],
      ],
    });
    const report = reportOn(model, [
      engineLayer('node_of_r + node_of_y', { metadata: '', inputs: ['x'], outputs: ['y'] }),
    ]);
    expect(report.layers[0]).toMatchObject({ kind: 'fused', nodes: ['0', '1'], evidence: ['name'] });
  });

  it.each(['\u001e', '\u001f', ''])('may contain what separates names in metadata (%j)', (separator) => {
    const odd = printMetadata(['a', 'b'], separator).slice('[ONNX Layer: '.length, -1);
    const model = buildModel({
      inputs: ['x'],
      outputs: ['z'],
      nodes: [
        [odd, 'Relu', ['x'], ['y']],
        ['c', 'Tanh', ['y'], ['z']],
      ],
    });
    const report = reportOn(model, [engineLayer('k', { metadata: printMetadata([odd, 'c'], separator) })]);
    expect(report.problems).toEqual([]);
    expect(report.layers[0]).toMatchObject({ nodes: ['0', '1'], evidence: ['metadata'] });
  });

  it('that the model does not have are reported', () => {
    const report = reportOn(twins, [engineLayer('other', { metadata: printMetadata(['other', 'nodes']) })]);
    expect(report.problems.map(({ code }) => code)).toEqual(['unknown-node', 'other-model']);
    expect(report.accounting.unknown).toBe(4);
  });

  it('cut off in the middle leave the rest to the graph, and say so', () => {
    const names = Array.from({ length: 200 }, (_, i) => `/model/encoder/layer.${i}/attention/self/query/MatMul`);
    const model = buildModel({
      inputs: ['x'],
      outputs: [`t${names.length - 1}`],
      nodes: names.map((name, i) => [name, 'Relu', [i === 0 ? 'x' : `t${i - 1}`], [`t${i}`]]),
    });
    const whole = printMetadata(names, '');
    const cut = `${whole.slice(0, 2000)} ... ${whole.slice(-2000)}`;
    const report = reportOn(
      model,
      [engineLayer('{ForeignNode[a...b]}', { inputs: ['x'], outputs: [`t${names.length - 1}`] })],
      buildLog({
        phases: [buildPhase({ foreignNodes: [{ name: '{ForeignNode[a...b]}', line: 9, metadata: cut }] })],
      }),
    );
    expect(report.foreignNodes[0]!.nodes).toHaveLength(200);
    expect(report.foreignNodes[0]!.exact).toBe(false);
    expect(report.nodes.filter(({ exact }) => exact).length).toBeGreaterThan(50);
    expect(report.problems).toMatchObject([{ code: 'truncated-metadata', line: 9 }]);
  });
});

describe('the name of a ForeignNode', () => {
  it('names two of its members', () => {
    const model = buildModel({
      inputs: ['x'],
      outputs: ['y'],
      nodes: [
        ['first', 'Relu', ['x'], ['a']],
        ['between', 'Tanh', ['a'], ['b']],
        ['last', 'Exp', ['b'], ['y']],
      ],
    });
    const report = reportOn(model, [engineLayer('{ForeignNode[first...last]}', { inputs: ['x'], outputs: ['y'] })]);
    expect(report.nodes.map(({ fate, exact }) => [fate, exact])).toEqual([
      ['foreign', true],
      ['foreign', false],
      ['foreign', true],
    ]);
    expect(report.layers[0]!.evidence.toSorted()).toEqual(['name', 'reach']);
    expect(report.foreignNodes[0]!.exact).toBe(false);
  });
});

describe('regions at borders that TensorRT made', () => {
  const model = buildModel({
    inputs: ['x'],
    outputs: ['y'],
    initializers: ['w', 'b'],
    nodes: [
      ['conv', 'Conv', ['x', 'w'], ['a']],
      ['fc', 'Gemm', ['a', 'w', 'b'], ['g']],
      ['soft', 'Softmax', ['g'], ['s']],
      ['norm', 'LayerNormalization', ['s', 'w'], ['n']],
      ['last', 'Conv', ['n', 'w'], ['y']],
    ],
  });

  it('leave a node to the native layer whose metadata has it, though its end is inside', () => {
    const report = reportOn(model, [
      engineLayer('conv', { inputs: ['x'], outputs: ['a'], metadata: printMetadata(['conv']) }),
      engineLayer('fc', {
        inputs: ['a'],
        outputs: ['(Unnamed Layer* 3) [Matrix Multiply]_output'],
        metadata: printMetadata(['fc']),
      }),
      engineLayer('{ForeignNode[b...norm]}', {
        inputs: ['(Unnamed Layer* 3) [Matrix Multiply]_output'],
        outputs: ['n'],
        metadata: '',
      }),
      engineLayer('last', { inputs: ['n'], outputs: ['y'], metadata: printMetadata(['last']) }),
    ]);
    expect(report.foreignNodes[0]!.nodes).toEqual(['2', '3']);
    expect(fateOf(report, 'fc')).toMatchObject({ fate: 'single', layers: [1], exact: true });
    expect(fateOf(report, 'last')).toMatchObject({ fate: 'single', layers: [3] });
  });

  it('are found from behind', () => {
    const report = reportOn(model, [
      engineLayer('conv', { inputs: ['x'], outputs: ['a'], metadata: printMetadata(['conv']) }),
      engineLayer('{ForeignNode[fc...norm]}', {
        inputs: ['a'],
        outputs: ['(Unnamed Layer* 9) [Shuffle]_output'],
        metadata: '',
      }),
      engineLayer('last', {
        inputs: ['(Unnamed Layer* 9) [Shuffle]_output'],
        outputs: ['y'],
        metadata: printMetadata(['last']),
      }),
    ]);
    expect(report.foreignNodes[0]!.nodes).toEqual(['1', '2', '3']);
    expect(report.accounting.unknown).toBe(0);
  });
});

describe('subgraphs', () => {
  const model = buildModel({
    inputs: ['x'],
    outputs: ['y'],
    initializers: ['c', 'w'],
    nodes: [
      ['pre', 'Relu', ['x'], ['p']],
      [
        'if',
        'If',
        ['c'],
        ['y'],
        {
          then_branch: {
            outputs: ['t2'],
            nodes: [
              ['act', 'MatMul', ['p', 'w'], ['t1']],
              ['id', 'Identity', ['t1'], ['t2']],
            ],
          },
          else_branch: { outputs: ['e1'], nodes: [['act', 'Tanh', ['p'], ['e1']]] },
        },
      ],
    ],
  });

  it('are told apart by the branch in the metadata', () => {
    const report = reportOn(
      model,
      [engineLayer('{ForeignNode[pre...if]}', { inputs: ['x'], outputs: ['y'] })],
      buildLog({
        phases: [
          buildPhase({
            foreignNodes: [
              {
                name: '{ForeignNode[pre...if]}',
                line: 2,
                metadata: printMetadata([
                  'pre',
                  'if',
                  'act | then_branch (then_branch) | if (If)',
                  'act | else_branch (else_branch) | if (If)',
                ]),
              },
            ],
          }),
        ],
      }),
    );
    expect(report.foreignNodes[0]).toMatchObject({
      exact: true,
      nodes: ['0', '1', '1/then_branch/0', '1/else_branch/0'],
    });
    expect(report.nodes.map(({ fate, exact }) => [fate, exact])).toEqual([
      ['foreign', true],
      ['foreign', true],
      ['foreign', true],
      // That an Identity leaves nothing behind follows; no line of the log says so.
      ['removed', false],
      ['foreign', true],
    ]);
    expect(report.problems).toEqual([]);
  });

  it('go where their owner goes when nobody names them', () => {
    const report = reportOn(model, [
      engineLayer('{ForeignNode[pre...if]}', { inputs: ['x'], outputs: ['y'], metadata: '' }),
    ]);
    expect(report.nodes.map(({ fate }) => fate)).toEqual(['foreign', 'foreign', 'foreign', 'removed', 'foreign']);
    expect(report.foreignNodes[0]!.inputs).toEqual(['x']);
  });
});

describe('kernels', () => {
  const model = buildModel({
    inputs: ['x'],
    outputs: ['y'],
    initializers: ['w'],
    nodes: [
      ['conv', 'Conv', ['x', 'w'], ['a']],
      ['/m.0/Reshape', 'Reshape', ['a', 'w'], ['r']],
      ['/m.0/MatMul', 'MatMul', ['r', 'w'], ['m']],
      ['tanh', 'Tanh', ['m'], ['y']],
    ],
  });
  const kernels = (profile: string, place = 1): EngineLayer[] => [
    engineLayer(`conv${profile}`, {
      inputs: [`x${profile}`],
      outputs: [`a${profile}`],
      metadata: printMetadata(['conv']),
    }),
    engineLayer(`/m_0/MatMul${profile}_myl${place}_0`, {
      type: 'gemm',
      inputs: [`a${profile}`],
      outputs: ['__mye1'],
      metadata: printMetadata(['/m.0/MatMul']),
    }),
    // Kernels that Myelin made up do not have the profile's suffix.
    engineLayer(`__myl_Tan_myl${place}_1`, {
      type: 'kgen',
      inputs: ['__mye1'],
      outputs: [`y${profile}`],
      metadata: printMetadata(['tanh']),
    }),
  ];

  it('of a ForeignNode without a name get a label that says so', () => {
    const report = reportOn(model, kernels(''));
    expect(report.foreignNodes).toMatchObject([
      {
        name: 'ForeignNode myl1 (its name is in none of the inputs)',
        nodes: ['1', '2', '3'],
        layers: [1, 2],
        exact: false,
        inputs: ['a'],
        outputs: ['y'],
      },
    ]);
    expect(report.problems.map(({ code }) => code)).toEqual(['unnamed-foreign-node']);
    expect(fateOf(report, '/m.0/Reshape')).toMatchObject({ fate: 'foreign', layers: [], exact: false });
    expect(report.layers.map(({ kind }) => kind)).toEqual(['single', 'kernel', 'kernel']);
  });

  it.each([0, 1])('of optimization profile %i are those of the report on it', (optimizationProfile) => {
    const report = reportOn(
      model,
      [...kernels(''), ...kernels(' [profile 1]', 3)],
      buildLog({
        finalLayers: ['conv [profile 1]', '{ForeignNode[a...b]} [profile 1]'],
        phases: [buildPhase({ tactics: [{ name: '{ForeignNode[a...b]}', line: 1, combinations: [] }] })],
      }),
      { optimizationProfile },
    );
    const suffix = optimizationProfile === 0 ? '' : ' [profile 1]';
    expect(report.optimizationProfile).toEqual({ shown: optimizationProfile, of: 2 });
    expect(report.foreignNodes).toMatchObject([
      { name: `{ForeignNode[a...b]}${suffix}`, layers: [1, 2], nodes: ['1', '2', '3'], inputs: ['a'], outputs: ['y'] },
    ]);
    expect(fateOf(report, 'tanh')).toMatchObject({ layers: [2], foreignNode: 0 });
    expect(fateOf(report, 'conv')).toMatchObject({ fate: 'single', layers: [0] });
    expect(report.problems).toMatchObject([{ severity: 'info', code: 'several-profiles' }]);
  });

  it('of a profile that the engine does not have are none, with an error', () => {
    const report = reportOn(model, [...kernels(''), ...kernels(' [profile 1]', 3)], undefined, {
      optimizationProfile: 2,
    });
    expect(report.layers).toEqual([]);
    expect(report.problems).toMatchObject([{ severity: 'error', code: 'several-profiles' }]);
  });

  it('known by name alone still name their gemms', () => {
    const report = reportOn(
      model,
      kernels('').map(({ name }) => engineLayer(name)),
    );
    expect(fateOf(report, '/m.0/MatMul')).toMatchObject({ fate: 'foreign', layers: [1], exact: true });
    expect(report.layers[1]).toMatchObject({ evidence: ['name'], nodes: ['2'] });
  });
});

describe('data movement between native layers', () => {
  it('is computed by the layer whose tensors enclose it', () => {
    const model = buildModel({
      inputs: ['x'],
      outputs: ['y'],
      initializers: ['i'],
      nodes: [
        ['conv', 'Conv', ['x', 'i'], ['a']],
        ['slice', 'Slice', ['a', 'i', 'i'], ['s']],
        ['relu', 'Relu', ['a'], ['r']],
        ['concat', 'Concat', ['s', 'r'], ['y']],
      ],
    });
    const layers = [
      engineLayer('conv + relu', { inputs: ['x'], outputs: ['a', 'y'], metadata: printMetadata(['conv', 'relu']) }),
      engineLayer('s copy', { type: 'Reformat', inputs: ['a'], outputs: ['y'], metadata: printMetadata(['concat']) }),
    ];
    expect(fateOf(reportOn(model, layers), 'slice')).toMatchObject({ fate: 'fused', layers: [1], exact: false });
    const log = buildLog({
      phases: [buildPhase({ events: [{ pass: 'slice', kind: 'eliminate', layers: ['slice'], line: 12 }] })],
    });
    expect(fateOf(reportOn(model, layers, log), 'slice')).toMatchObject({
      fate: 'removed',
      layers: [],
      reason: 'TensorRT removed it (slice, log line 12).',
    });
  });

  it('needs no layer where a view stands between tensors that are both there', () => {
    const model = buildModel({
      inputs: ['x'],
      outputs: ['y'],
      initializers: ['w'],
      nodes: [
        ['pool', 'GlobalAveragePool', ['x'], ['p']],
        ['flat', 'Flatten', ['p'], ['f']],
        ['fc', 'Gemm', ['f', 'w'], ['y']],
      ],
    });
    const report = reportOn(model, [
      engineLayer('pool', { inputs: ['x'], outputs: ['p'], metadata: printMetadata(['pool']) }),
      engineLayer('fc', { inputs: ['f'], outputs: ['y'], metadata: printMetadata(['fc']) }),
    ]);
    expect(fateOf(report, 'flat')).toMatchObject({ fate: 'removed', exact: false });
  });
});

describe('a log that ends before the engine', () => {
  const model = buildModel({
    inputs: ['x'],
    outputs: ['y'],
    initializers: ['w'],
    nodes: [
      ['conv', 'Conv', ['x', 'w'], ['a']],
      ['relu', 'Relu', ['a'], ['b']],
      ['fc', 'MatMul', ['b', 'w'], ['m']],
      ['soft', 'Softmax', ['m'], ['y']],
    ],
  });
  const funnel = [
    { stage: 'Original', layers: 5, line: 1 },
    { stage: 'After Myelin optimization', layers: 3, line: 5 },
  ];
  const fuse = { pass: 'ConvReluFusion', kind: 'fuse' as const, layers: ['conv', 'relu'], line: 7 };
  const timed = (name: string, line: number) => ({ name, line, combinations: [] });

  it('gives the layers that TensorRT had planned', () => {
    const log = buildLog({
      outcome: 'cut-off',
      lines: 20,
      phases: [
        buildPhase({
          funnel,
          events: [fuse],
          tactics: [timed('conv + relu', 9), timed('{ForeignNode[fc...soft]}', 12)],
        }),
      ],
    });
    const report = createReport({ model, modelFile: 'm', log });
    expect(report.layers.map(({ name, kind }) => [name, kind])).toEqual([
      ['conv + relu', 'fused'],
      ['{ForeignNode[fc...soft]}', 'foreign'],
    ]);
    expect(fates(report)).toEqual({ conv: 'fused', relu: 'fused', fc: 'foreign', soft: 'foreign' });
    expect(report.problems).toMatchObject([{ code: 'planned-layers', severity: 'warning' }]);
  });

  it('gives a fused layer once that was converted to a pointwise one', () => {
    const convert = {
      pass: 'EltWiseToPointwiseConversion',
      kind: 'convert' as const,
      layers: ['conv + relu'],
      line: 8,
    };
    const join = { pass: 'PointWiseFusion', kind: 'fuse' as const, layers: ['PWN(conv + relu)', 'PWN(fc)'], line: 9 };
    const planned = (...events: BuildLog['phases'][number]['events']) =>
      createReport({
        model,
        modelFile: 'm',
        log: buildLog({ outcome: 'cut-off', phases: [buildPhase({ funnel, events })] }),
      }).layers.map(({ name }) => name);
    expect(planned(fuse, convert)).toEqual(['conv + relu']);
    expect(planned(fuse, convert, join)).toEqual(['PWN(PWN(conv + relu), PWN(fc))']);
  });

  it('says what it does not know', () => {
    const log = buildLog({ outcome: 'cut-off', phases: [buildPhase({ funnel, events: [fuse] })] });
    const report = createReport({ model, modelFile: 'm', log });
    expect(fates(report)).toEqual({ conv: 'fused', relu: 'fused', fc: 'unknown', soft: 'unknown' });
    expect(fateOf(report, 'fc').reason).toContain('does not show its layer');
  });
});

describe('nodes that only the log places', () => {
  const model = buildModel({
    inputs: ['x'],
    outputs: ['y'],
    initializers: ['w', 'scale'],
    nodes: [
      ['quantize', 'QuantizeLinear', ['x', 'scale'], ['q']],
      ['dequantize', 'DequantizeLinear', ['q', 'scale'], ['d']],
      ['conv', 'Conv', ['d', 'w'], ['y']],
    ],
  });

  it('are where the log says that they were fused', () => {
    const events = [
      { pass: 'QuantizeDoubleInputNodes', kind: 'absorb' as const, layers: ['conv', 'dequantize'], line: 33 },
    ];
    const layers = [
      engineLayer('quantize', { inputs: ['x'], outputs: ['q'], metadata: printMetadata(['quantize']) }),
      engineLayer('conv', { inputs: ['q'], outputs: ['y'], metadata: printMetadata(['conv']) }),
    ];
    const report = reportOn(model, layers, buildLog({ phases: [buildPhase({ events })] }));
    expect(fateOf(report, 'dequantize')).toMatchObject({
      fate: 'fused',
      layers: [1],
      exact: true,
      reason: 'TensorRT fused it with a node of layer 1 (log line 33).',
    });
    expect(report.layers[1]!.evidence).toEqual(['metadata', 'log']);
    expect(fateOf(report, 'conv').fate).toBe('fused');
  });

  it('in functions belong to the call', () => {
    const call = buildModel({ inputs: ['x'], outputs: ['y'], nodes: [['block', 'MyBlock', ['x'], ['y']]] });
    call.functions.push({
      name: 'MyBlock',
      domain: 'my',
      overload: '',
      inputs: ['a'],
      outputs: ['b'],
      nodes: [{ ...call.nodes[0]!, id: '0', name: 'inner', op: 'Relu' }],
    });
    for (const token of ['inner | Local Function: MyBlock', 'inner | block (MyBlock)']) {
      const log = buildLog({ parsedNodes: [{ name: 'inner', op: 'Relu', line: 1, layers: ['inner'], helpers: [] }] });
      const report = reportOn(call, [engineLayer('inner', { metadata: printMetadata([token]) })], log);
      expect(fateOf(report, 'block')).toMatchObject({ fate: 'single', layers: [0] });
      expect(report.problems).toEqual([]);
    }
  });

  it('of another build are not mixed in unnoticed', () => {
    const log = buildLog({ finalLayers: ['other/Conv + other/Relu'] });
    const report = reportOn(model, [engineLayer('conv', { metadata: printMetadata(['conv']) })], log);
    expect(report.problems.map(({ code }) => code)).toEqual(['other-build']);
  });
});

it('a binding that TensorRT 8 makes of an initializer that is an output is that output', () => {
  const model = buildModel({
    inputs: ['x'],
    outputs: ['y', 'b'],
    initializers: ['b'],
    nodes: [['add', 'Add', ['x', 'b'], ['y']]],
  });
  const layers = [
    engineLayer('add', { inputs: ['x'], outputs: ['y'] }),
    engineLayer('b_shared', { type: 'Constant', outputs: ['b_shared_clone_0'] }),
    engineLayer('b_shared_1', { type: 'Constant', outputs: ['b_shared_clone_1'] }),
  ];
  const bindings = ['x', 'y', 'b_shared_clone_0', 'b_shared_clone_1'];
  const report = createReport({ model, modelFile: 'm', layerInfo: { ...layerInfo(layers), bindings } });
  expect(report.problems).toEqual([]);
  expect(report.nodes).toMatchObject([{ name: 'add', fate: 'single' }]);
});
