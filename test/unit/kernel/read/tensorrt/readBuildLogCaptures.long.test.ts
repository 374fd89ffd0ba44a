import { describe, expect, test } from 'vitest';
import type { BuildLog } from '../../../../../src/kernel/read/tensorrt/buildOutput.ts';
import { readBuildLog } from '../../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { readLayerInfo, readProfile } from '../../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { captureText, manifest } from '../../../../support/fixtures.ts';

/** The captures are large: each log is read once for all tests. */
const logs = new Map<string, BuildLog>();

function readLog(path: string): BuildLog | undefined {
  const known = logs.get(path);
  if (known !== undefined) return known;
  const text = captureText(`tensorrt-${path}`);
  if (text === undefined) return undefined;
  const { value } = readBuildLog(text);
  logs.set(path, value);
  return value;
}

const read = (capture: string, name = 'log.txt'): BuildLog => readLog(`${capture}/${name}`)!;
const captureOf = (row: Record<string, string>): string => `${row['tensorrt']}/${row['case']}`;
const countsOf = (log: BuildLog): number[] => log.phases.at(-1)!.funnel.map(({ layers }) => layers);
const ending = (log: BuildLog, code: number | null, text: string): boolean =>
  log.messages.some((message) => message.severity === 'error' && message.code === code && message.text.includes(text));

describe('the funnel, as trtexec counts it', () => {
  // Original, dead-layer, [DebugOutput,] Myelin, scale, dupe, final dead, merging, vertical, dupe/dead/merging again, slice, concat, reformat
  test.each([
    ['8.6.1/vit_tiny.fp16', [897, 897, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3]],
    ['8.6.1/two_inputs_multi_out.fp32', [41, 41, 40, 42, 28, 28, 28, 24, 24, 24, 24, 24, 25, 26]],
    ['8.6.1/unnamed.fp32', [28, 28, 21, 20, 10, 10, 10, 10, 10, 10, 10, 10, 10, 12]],
    ['10.6.0/resnet18.fp32', [53, 53, 53, 48, 48, 23, 23, 23, 23, 23, 23, 23, 23, 23, 25]],
    ['10.6.0/fusion_zoo.fp32', [145, 145, 145, 38, 36, 25, 25, 25, 23, 23, 23, 21, 19, 20, 24]],
    ['10.6.0/bert_base.fp16', [972, 972, 972, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 4]],
    ['10.6.0/deep_encoder_11k.fp32', [22753, 22753, 22753, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]],
    ['11.2.1/fp16_overflow.typed', [415, 415, 415, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]],
  ])('%s', (capture, counts) => {
    expect(countsOf(read(capture))).toEqual(counts);
  });

  test('each stage keeps its name and its line', () => {
    const { funnel } = read('10.6.0/fusion_zoo.fp32').phases[0]!;
    const lines = captureText('tensorrt-10.6.0/fusion_zoo.fp32/log.txt')!.split('\n');
    for (const { stage, layers, line } of funnel)
      expect(lines[line - 1]).toMatch(new RegExp(`${stage}: ${layers} layers$`));
    expect(funnel.map(({ stage }) => stage).slice(0, 4)).toEqual([
      'Original',
      'After dead-layer removal',
      'After adding DebugOutput nodes',
      'After Myelin optimization',
    ]);
  });
});

describe('the account of the parser', () => {
  const models: Record<string, number> = {
    vit_tiny: 636, bert_base: 981, deep_encoder_11k: 14163, fusion_zoo: 120, fp16_overflow: 255, fp16_overflow_fp16: 259,
    fp16_overflow_mixed: 267, resnet18: 49, resnet18_fp16: 51, resnet18_qdq: 170, two_inputs_multi_out: 34, unnamed: 24, loop_if: 18, lstm_gru: 67,
  }; // oxfmt-ignore

  test('every complete verbose log has each ONNX node once, subgraphs included', () => {
    for (const row of manifest()) {
      const log = readLog(`${captureOf(row)}/log.txt`) ?? read(captureOf(row), 'log0.txt');
      if (log.phases.length === 0 || !row['command']!.includes('--verbose')) continue;
      expect([row['case'], log.parsedNodes.length]).toEqual([row['case'], models[row['model']!]]);
    }
  });

  test('the funnel starts with the layers that the parser registered', () => {
    // In 8.6 helpers have no names and are not registered.
    for (const capture of ['10.6.0/vit_tiny.fp16', '10.6.0/deep_encoder_11k.fp32', '11.2.1/deep_encoder_11k.typed']) {
      const log = read(capture);
      const registered = log.parsedNodes.reduce((sum, { layers, helpers }) => sum + layers.length + helpers.length, 0);
      const lines = captureText(`tensorrt-${capture}/log.txt`)!.match(/ Registering layer: /g)!;
      expect(registered).toBe(lines.length);
      expect(registered).toBeGreaterThanOrEqual(log.phases[0]!.funnel[0]!.layers);
    }
  });

  test('a Gemm becomes its layers and helpers', () => {
    const log = read('rtx-1.7.1/resnet18');
    const gemm = log.parsedNodes.find(({ name }) => name === '/fc/Gemm')!;
    expect(gemm.op).toBe('Gemm');
    expect(gemm.layers).toEqual(['/fc/Gemm', '/fc/Gemm_1']);
    expect(gemm.helpers.toSorted()).toEqual(['ONNXTRT_Broadcast', 'ONNXTRT_ShapeShuffle_0', 'fc.bias', 'fc.weight']);
    expect(log.model).toMatchObject({
      file: 'models/resnet18.onnx',
      producer: 'pytorch',
      opset: 17,
      outputs: ['output'],
    });
    expect(log.model!.inputs).toEqual([{ name: 'input', type: 'float32', dims: '(1, 3, 224, 224)' }]);
  });

  test('a node without a name has the name that TensorRT gives it', () => {
    expect(read('10.6.0/unnamed.fp32').parsedNodes[0]!.name).toBe('node_of_/b1/conv/Conv_output_0');
  });
});

describe('ForeignNodes', () => {
  const tokens = (log: BuildLog): number[] =>
    log.phases
      .at(-1)!
      .foreignNodes.map(({ metadata }) => (metadata === null ? 0 : metadata.split('[ONNX Layer: ').length - 1));

  test.each([
    ['11.2.1/fp16_overflow.typed', [207]],
    ['11.2.1/fp16_overflow_fp16.typed', [211]],
    ['11.2.1/fp16_overflow_mixed.typed', [219]],
    ['11.2.1/deep_encoder_11k.typed', [11377]],
    ['11.2.1/loop_if.typed', [17]],
    ['rtx-1.7.1/resnet18', [49]],
    ['rtx-1.7.1/vit_tiny', [453]],
    ['rtx-1.7.1/deep_encoder_11k', [11377]],
    ['rtx-1.7.1/fusion_zoo', [89]],
    // No metadata lines in these versions: the names alone.
    ['10.6.0/fusion_zoo.fp32', [0, 0, 0]],
    ['8.6.1/bert_base.fp16', [0]],
  ])('%s names %j members', (capture, counts) => {
    expect(tokens(read(capture))).toEqual(counts);
  });

  test('the line of 421,724 characters is whole', () => {
    const [node] = read('11.2.1/deep_encoder_11k.typed').phases[0]!.foreignNodes;
    expect(node!.metadata!.length).toBeGreaterThan(421_000);
    expect(node!.metadata!.endsWith(']')).toBe(true);
    expect(node!.truncated).toBeUndefined();
  });

  test('a name may hold constants and brackets', () => {
    expect(read('10.6.0/vit_tiny.fp16').phases[0]!.foreignNodes).toEqual([
      {
        name: '{ForeignNode[/blocks/blocks.11/attn/Slice_output_0[Constant]...(Unnamed Layer* 1340) [ElementWise]]}',
        line: expect.any(Number),
        metadata: null,
      },
    ]);
  });
});

describe('engine layers', () => {
  test('detailed 10.6: kernels, the same as in the layer info, with raw separators in their metadata', () => {
    for (const capture of [
      'vit_tiny.fp16',
      'fusion_zoo.fp32',
      'bert_base.fp32',
      'loop_if.fp32',
      'lstm_gru.fp32',
      'resnet18.fp32',
    ]) {
      const log = read(`10.6.0/${capture}`);
      const info = readLayerInfo(captureText(`tensorrt-10.6.0/${capture}/layers.json`)!).value!;
      expect(log.engineLayers.map(({ name }) => name)).toEqual(info.layers.map(({ name }) => name));
      log.engineLayers.forEach((layer, index) => {
        const other = info.layers[index]!;
        expect([layer.type, layer.tacticName, layer.tactic, layer.streamId]).toEqual([
          other.type,
          other.tacticName,
          other.tactic,
          other.streamId,
        ]);
        // The log leaves the separators of native fusions out.
        expect(layer.metadata!.replaceAll('\x1e', '')).toBe(other.metadata!.replaceAll('\x1e', ''));
        const io = (tensors: typeof layer.inputs): unknown => tensors.map(({ name, dims, type }) => [name, dims, type]);
        expect(io(layer.inputs)).toEqual(io(other.inputs));
        expect(io(layer.outputs)).toEqual(io(other.outputs));
      });
      expect(log.bindings).toEqual(info.bindings);
    }
  });

  test('8.6 and names-only 10.6: native layers, ForeignNodes as such', () => {
    const old = read('8.6.1/fp16_overflow.fp16');
    expect(old.engineLayers.map(({ type }) => type)).toEqual(['Reformat', 'Myelin', 'Reformat']);
    expect(old.engineLayers[1]).toMatchObject({
      name: '{ForeignNode[/layers.0/norm1/ReduceMean.../head/Add]}',
      tactic: '0x0000000000000000',
      inputs: [{ dims: [1, 32, 128], type: 'Half' }],
      outputs: [{ dims: [1, 32, 64], type: 'Half' }],
      line: 2258,
    });
    const named = read('10.6.0/vit_tiny.names_only');
    expect(named.engineLayers).toHaveLength(5);
    expect(named.engineLayers[1]!.outputs).toEqual([
      { name: '/patch_embed/proj/Conv_output_0', dims: [1, 192, 14, 14], type: 'Half', format: 'Half[1,192:8,14,14]' },
    ]);
    expect(named.inspectorLayers).toHaveLength(91);
  });

  test('RTX lists kernels with strides, formats and constants', () => {
    const log = read('rtx-1.7.1/vit_tiny');
    expect(log.engineLayers).toHaveLength(209);
    expect(read('rtx-1.7.1/vit_tiny_markall').engineLayers).toHaveLength(593);
    expect(read('rtx-1.7.1/lstm_gru').engineLayers).toHaveLength(332);
    expect(read('rtx-1.7.1/resnet18').engineLayers).toHaveLength(24);
    const conv = read('rtx-1.7.1/resnet18').engineLayers[1]!;
    expect(conv).toMatchObject({
      name: '/conv1/Conv_myl0_1',
      type: 'correlation',
      metadata: '[ONNX Layer: /conv1/Conv]\x1f[ONNX Layer: /relu/Relu]',
    });
    expect(conv.inputs[0]).toEqual({
      name: '/relu/Relu_output_0.1_2_myl0',
      dims: [1, 3, 224, 224],
      type: 'Float',
      format: '(NHWC) Channel major format',
    });
    expect(conv.extra['Constants']).toMatchObject([
      { name: '__mye1504dconst_myl0', dims: [64, 3, 7, 7], type: 'Float' },
      { dims: [1] },
      { dims: [1] },
      { dims: [1, 64, 1, 1] },
    ]);
    expect(log.bindings).toEqual(['input', 'output']);
  });

  test('the final layers name the ForeignNodes whose kernels the list shows', () => {
    const log = read('10.6.0/fusion_zoo.fp32');
    expect(log.finalLayers.filter((name) => name.startsWith('{ForeignNode['))).toHaveLength(3);
    expect(log.phases[0]!.foreignNodes.map(({ name }) => name)).toEqual(
      log.finalLayers.filter((name) => name.startsWith('{ForeignNode[')),
    );
  });
});

describe('tactics', () => {
  test('a ForeignNode is timed once per combination of formats', () => {
    const [node] = read('10.6.0/vit_tiny.fp16').phases[0]!.tactics.filter(({ name }) =>
      name.startsWith('{ForeignNode['),
    );
    expect(node!.combinations.map(({ formats }) => formats)).toEqual(
      [
        'Float(37632,196,14,1) -> Float(1000,1)',
        'Half(37632,196,14,1) -> Half(1000,1)',
        'Half(4704,1:8,336,24) -> Float(1000,1)',
      ].slice(0, node!.combinations.length),
    );
    expect(node!.combinations[0]!.tactics).toEqual([
      { runner: 'Myelin', runnerId: '0x80000023', name: null, tactic: '0x0000000000000000', ms: 0.619767 },
    ]);
    expect(node!.combinations[0]!.chosen).toEqual({ runner: 'Myelin', tactic: '0x0000000000000000', ms: 0.619767 });
  });

  test('a cached combination says so, with what was chosen', () => {
    const log = read('10.6.0/two_inputs_multi_out.fp32');
    const conv = log.phases[0]!.tactics.find(({ name }) => name === '/encoder/c3/Conv')!;
    expect(conv.combinations).toHaveLength(4);
    expect(conv.combinations[0]).toMatchObject({
      formats: 'Float(32768,1024,32,1) -> Float(16384,256,16,1)',
      cached: true,
      chosen: { runner: 'CaskConvolution', tactic: '0xb0bf940d5e0f9f45', ms: 0.0101812 },
    });
    const lines = captureText('tensorrt-10.6.0/two_inputs_multi_out.fp32/log.txt')!.match(/got cached result/g)!;
    expect(log.timingCacheHits).toBe(lines.length);
  });

  test('tactics have names, ids and times; what is skipped has its reason', () => {
    const log = read('10.6.0/two_inputs_multi_out.fp32');
    const conv = log.phases[0]!.tactics.find(({ name }) => name === '/encoder/c3_1/Conv')!;
    const [combination] = conv.combinations;
    expect(
      combination!.tactics.every(
        ({ name, ms, runner }) => name !== null && ms !== null && runner === 'CaskConvolution',
      ),
    ).toBe(true);
    const fastest = Math.min(...combination!.tactics.map(({ ms }) => ms!));
    expect(combination!.chosen!.ms).toBe(fastest);
    expect(combination!.skipped.map(({ reason }) => reason)).toContain(
      'Skipping CaskFlattenConvolution: No valid tactics for /encoder/c3_1/Conv',
    );
    const small = read('10.6.0/vit_tiny.workspace_1k').phases[0]!.tactics.flatMap(({ combinations }) =>
      combinations.flatMap(({ skipped }) => skipped),
    );
    expect(small.map(({ reason }) => reason)).toContain(
      'Tactic: 0x0000000000000000 skipped. Scratch requested: 1990656, available: 1048',
    );
  });

  test('reformats that were inserted have both formats', () => {
    expect(read('10.6.0/vit_tiny.fp16').phases[0]!.reformats).toEqual([
      {
        layer: 'Reformatted Input Tensor 0 to /patch_embed/proj/Conv',
        tensor: 'input',
        from: 'Float(150528,50176,224,1)',
        to: 'Half(50176,1:4,224,1)',
        line: 6845,
      },
    ]);
    expect(read('10.6.0/bert_base.fp16').phases[0]!.reformats[0]).toMatchObject({
      tensor: 'last_hidden_state',
      from: 'Half((* 768 seq),768,1)',
      to: 'Float((* 768 seq),768,1)',
    });
  });

  test('every timed layer of a build that passed has a choice', () => {
    for (const capture of ['8.6.1/two_inputs_multi_out.fp32', '10.6.0/fusion_zoo.fp32', '10.6.0/resnet18.fp32']) {
      const layers = read(capture).phases[0]!.tactics.filter(({ reformat }) => !reformat);
      expect(layers.length).toBeGreaterThan(5);
      for (const layer of layers)
        for (const { chosen, tactics } of layer.combinations)
          expect([layer.name, chosen !== null || tactics.length === 0]).toEqual([layer.name, true]);
    }
  });
});

describe('fusion events', () => {
  test('10.6 fusion_zoo: passes, conversions, merges, patterns', () => {
    const { events } = read('10.6.0/fusion_zoo.fp32').phases[0]!;
    expect(events.filter(({ kind }) => kind === 'fuse').length).toBeGreaterThan(10);
    expect(events).toContainEqual({
      pass: 'self-attention',
      kind: 'pattern',
      layers: ['/softmax_attention/Softmax'],
      line: 1401,
    });
    const merge = events.find(({ kind }) => kind === 'merge')!;
    expect(merge.layers).toHaveLength(3);
    expect(merge.layers[0]).toBe('/sibling_convs_1x1/branch_c/Conv + /sibling_convs_1x1/Relu_2');
    expect(events.find(({ kind, pass }) => kind === 'eliminate' && pass === 'slice')!.layers).toEqual([
      '/slice_concat/Slice',
    ]);
    expect(events.find(({ kind }) => kind === 'copy')!.layers).toEqual([
      '/concat_branches/Concat_output_0',
      '/slice_concat/Concat_output_0',
    ]);
    expect(
      events.find(({ kind, layers }) => kind === 'convert' && layers[0] === '/pointwise_swish/Sigmoid')!.pass,
    ).toBe('ActivationToPointwiseConversion');
  });

  test('an attempt is no event', () => {
    for (const { pass, kind, layers } of read('10.6.0/deep_encoder_11k.fp32').phases[0]!.events) {
      expect(pass).not.toBe('');
      expect(layers.length).toBe(kind === 'fuse' ? 2 : 1);
    }
  });
});

describe('precision', () => {
  test('10.6 names each layer that is set', () => {
    const log = read('10.6.0/vit_tiny.prec_obey');
    expect(log.precision.filter(({ kind }) => kind === 'set').every(({ type }) => type === 'fp32')).toBe(true);
    expect(log.precision.map(({ layer }) => layer)).toContain('/blocks/blocks.0/attn/Softmax');
    expect(log.phases[0]!.removedCombinations).toBeGreaterThan(0);
  });

  test('a wildcard sets 945 layers and says which it skips and why', () => {
    const { precision } = read('10.6.0/vit_tiny.prec_wild');
    const reasons: Record<string, number> = {};
    for (const { kind, reason } of precision) if (kind === 'skipped') reasons[reason!] = (reasons[reason!] ?? 0) + 1;
    expect(precision.filter(({ kind }) => kind === 'set')).toHaveLength(945);
    expect(reasons).toEqual({
      'this layer operates on a shape tensor.': 220,
      'this constant layer has weights of non-activation type.': 138,
      'this layer has input and output of non-activation type.': 25,
      'the  default layer precision is of non-activation type.': 13,
    });
  });

  test('flags without effect, and the hint about layer norms', () => {
    expect(read('10.6.0/vit_tiny.prec_noconstraint').precision).toEqual([
      {
        kind: 'ignored',
        layer: '',
        type: null,
        reason: expect.stringContaining('have no effect'),
        line: expect.any(Number),
      },
    ]);
    const named = read('8.6.1/fp16_overflow.fp16').precision;
    expect(named.every(({ kind, layer }) => kind === 'layernorm-fp16' && layer !== '')).toBe(true);
    expect(named.filter(({ layer }) => layer.startsWith('/final_norm/'))).toHaveLength(8);
    // With an override the nodes of /final_norm are named no more.
    expect(
      read('8.6.1/fp16_overflow.prec_prefer').precision.filter(({ layer }) => layer.startsWith('/final_norm/')),
    ).toHaveLength(0);
    expect(read('10.6.0/fp16_overflow.fp16').precision).toMatchObject([{ kind: 'layernorm-fp16', layer: '' }]);
    expect(read('8.6.1/fp16_overflow.poly_debug_precision').precision.every(({ layer }) => layer === '')).toBe(true);
  });
});

describe('failures', () => {
  test.each([
    ['10.6.0/unsupported_op.fp32', 4, 'Cannot find plugin: MyCustomOp'],
    ['8.6.1/unsupported_op.fp32', 3, 'getPluginCreator could not find plugin: MyCustomOp version: 1'],
    ['10.6.0/bert_base.wrongname', null, 'Cannot find input tensor with name "ids"'],
    ['10.6.0/bert_base.badprofile', 4, 'Specified optimization profiles must satisfy MIN<=OPT<=MAX.'],
    ['8.6.1/cli.disableMHA', null, 'Unknown option: --disableMHA'],
    ['10.6.0/resnet18.prec_badtype', null, 'Invalid DataType fp8x'],
    ['10.6.0/cli.missing_file', null, 'Could not open file none.onnx'],
    ['10.6.0/cli.missing_weights', null, 'Failed to open file: weights.bin'],
    ['10.6.0/cli.truncated_onnx', 2, 'MODEL_DESERIALIZE_FAILED'],
    ['10.6.0/cli.bad_engine', 4, 'Not a valid plan stream.'],
    ['8.6.1/cli.bad_engine', 1, 'kPLAN_MAGIC_TAG'],
    ['10.6.0/cli.other_version_engine', null, 'Error opening engine file: *.plan'],
    ['10.6.0/vit_tiny.vc', 6, 'Unable to load library: libnvinfer_lean.so.10'],
    ['8.6.1/vit_tiny.workspace_1k', 4, 'due to insufficient workspace'],
  ])('%s: code %s, %s', (capture, code, text) => {
    const log = read(capture);
    expect(log.outcome).toBe('failed');
    expect(ending(log, code, text)).toBe(true);
  });

  test('a message has its continuation lines, its code and the node that it is about', () => {
    for (const version of ['8.6.1', '10.6.0']) {
      const log = read(`${version}/unsupported_op.fp32`);
      const parsing = log.messages.find(({ text }) => text.includes('While parsing node number 11'))!;
      expect(parsing.subject).toBe('/custom/MyCustomOp');
      const reason = log.messages.find(({ text }) => text.includes('Plugin not found'))!;
      expect(reason.text.split('\n')).toHaveLength(2);
      expect(reason.code).toBe(version === '8.6.1' ? 8 : 6);
      expect(reason.subject).toBe('/custom/MyCustomOp');
      expect(log.messages.some(({ text }) => text.includes('name: "/custom/MyCustomOp"'))).toBe(true);
    }
  });

  test('a ForeignNode without an implementation is named', () => {
    const name = '{ForeignNode[/layers.0/norm1/ReduceMean.../head/Add]}';
    for (const capture of ['8.6.1/fp16_overflow.poly_markall', '10.6.0/fp16_overflow.poly_markall']) {
      const messages = read(capture, 'log0.txt').messages.filter(({ text }) =>
        text.includes('Could not find any implementation'),
      );
      expect(messages.length).toBeGreaterThan(0);
      for (const message of messages) expect([message.code, message.subject]).toEqual([10, name]);
    }
    expect(read('8.6.1/vit_tiny.workspace_1k').messages.find(({ code }) => code === 4)!.subject).toMatch(
      /^\{ForeignNode\[.*\]\}$/,
    );
  });

  test('RTX: a missing driver is noise beside the error', () => {
    const log = read('rtx-1.7.1/unsupported_op');
    expect(log.outcome).toBe('failed');
    expect(log.messages.map(({ subject }) => subject)).toContain('/custom/MyCustomOp');
  });
});

describe('every capture', () => {
  test('ends as the manifest says', () => {
    const checked = { passed: 0, failed: 0, 'cut-off': 0, unknown: 0 };
    for (const row of manifest()) {
      const results = row['result']!.split('; ');
      for (let index = 0; index < 6; index++) {
        const log =
          readLog(`${captureOf(row)}/log${index}.txt`) ??
          (index === 0 ? readLog(`${captureOf(row)}/log.txt`) : undefined);
        if (log === undefined) continue;
        const { outcome } = log;
        checked[outcome]++;
        // Programs that only show something say nothing about an end.
        if (outcome !== 'unknown')
          expect([row['case'], index, outcome]).toEqual([
            row['case'],
            index,
            (results[index] ?? results[0])!.replace('cut off', 'cut-off'),
          ]);
        else expect(row['what']).toMatch(/--help|inspect|tactics/);
      }
    }
    expect(checked).toEqual({ passed: 58, failed: 43, 'cut-off': 24, unknown: 12 });
  });

  test('has the version, the writer and the GPU that its commands had', () => {
    for (const row of manifest()) {
      const log = readLog(`${captureOf(row)}/log.txt`);
      if (log === undefined || !row['command']!.startsWith('trtexec')) continue;
      expect([row['case'], log.version, log.writer, log.product]).toEqual([
        row['case'],
        row['tensorrt'],
        'trtexec',
        'tensorrt',
      ]);
      if (row['command']!.includes('--verbose') && log.phases.length > 0) expect(log.gpu).toBe('NVIDIA H200');
    }
  });

  test('counts of layers agree with the manifest', () => {
    let compared = 0;
    for (const row of manifest()) {
      const log = readLog(`${captureOf(row)}/log.txt`);
      if (log === undefined || !/^\d+$/.test(row['engine_layers'] ?? '')) continue;
      const longest = Math.max(log.engineLayers.length, log.inspectorLayers?.length ?? 0);
      if (longest === 0) continue;
      expect([row['case'], longest]).toEqual([row['case'], Number(row['engine_layers'])]);
      compared++;
    }
    expect(compared).toBeGreaterThan(40);
  });

  test('a profile table has the rows of the profile but those of no time', () => {
    let compared = 0;
    for (const row of manifest()) {
      const log = readLog(`${captureOf(row)}/log.txt`);
      const json = captureText(`tensorrt-${captureOf(row)}/profile.json`);
      if (log === undefined || json === undefined) continue;
      const names = readProfile(json)
        .value!.rows.filter(({ timeMs }) => timeMs > 0)
        .map(({ name }) => name);
      expect([row['case'], log.profile.map(({ name }) => name)]).toEqual([row['case'], names]);
      compared++;
    }
    expect(compared).toBeGreaterThan(35);
  });

  test('no capture is too large to keep', () => {
    expect(read('rtx-1.7.1/deep_encoder_11k').dropped).toEqual({});
  });
});

test('a calibration builds a network of its own first', () => {
  const log = read('10.6.0/poly.int8_calib');
  expect(log.phases.map(({ calibration }) => calibration)).toEqual([true, false]);
  expect(log.phases[0]!.funnel.at(-1)).toMatchObject({ stage: 'After reformat layers', layers: 53 });
});

test('two runs in one file', () => {
  const log = read('10.6.0/keep.engine');
  expect(log.runs!.map(({ outcome }) => outcome)).toEqual(['passed', 'passed']);
  expect(log.engineLayers).toHaveLength(26);
});

test('memory and times are in bytes and seconds', () => {
  expect(read('10.6.0/vit_tiny.fp16')).toMatchObject({
    memory: { activation: 680448, weights: 11534336, scratch: 605184 },
    seconds: { parse: 0.0431978, build: 60.8472 },
  });
  expect(read('8.6.1/vit_tiny.fp16').memory.scratch).toBe(832512);
  expect(read('10.6.0/vit_tiny.workspace_1k').memory.workspace).toBe(1049);
});

test('the timing cache: its mode, what was saved, what it served', () => {
  expect(read('10.6.0/vit_tiny.timingcache').timingCache).toEqual({
    mode: 'global',
    loadedBytes: null,
    savedBytes: 74236,
    entries: 15,
    served: null,
  });
  expect(read('8.6.1/fp16_overflow.fp16').timingCache).toMatchObject({ mode: 'local', entries: 2, served: 0 });
  expect(read('8.6.1/fp16_overflow.poly_replay', 'log0.txt').timingCache).toMatchObject({ mode: 'disabled' });
});

test("Polygraphy's memory pools are in its configuration", () => {
  expect(read('10.6.0/fp16_overflow.poly_markall', 'log0.txt').memory.workspace).toBe(Math.round(143155.94 * 2 ** 20));
});
