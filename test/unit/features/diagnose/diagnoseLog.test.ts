import { causeText } from '../../../../src/kernel/build/causeText.ts';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diagnoseLog, howItEnds, isAboutTensorRT } from '../../../../src/features/diagnose/diagnoseLog.ts';
import { modelAround } from '../../kernel/fusion/buildModel.ts';
import { readBuildLog } from '../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { recordedLog } from '../../../support/hardModels/builtModels.ts';
import { captureText, fixturePath, manifest, modelPath } from '../../../support/fixtures.ts';

const diagnose = (text: string) => diagnoseLog(readBuildLog(text).value);
const capture = (name: string) => diagnose(captureText(name)!);
const codes = (text: string) => diagnose(text).map(({ code, severity }) => `${severity} ${code}`);
const model = async (name: string) => (await readModel(bytesOf(readFileSync(modelPath(name))))).value!;

it('does not say that the parser was at its last node where the outputs are marked already', () => {
  const [found] = diagnose(
    [
      '[V] [TRT] Adding network input: x with dtype: float32, dimensions: (4, 16)',
      '[V] [TRT] Parsing node: a [Relu]',
      '[V] [TRT] Marking y_0 as output: y',
      '[E] [TRT] [graphShapeAnalyzer.cpp::checkCalculationStatusSanity::1916] Error Code 2: Internal Error (Assertion !isInFlight(p.second.outputExtents) failed. )',
    ].join('\n'),
  );
  expect(found!.message).toContain('while starting to build after the model was parsed');
});

describe('an exception of Python that no rule knows', () => {
  const raised = (files: string[], text = "RuntimeError: no way to go on with 'y'") =>
    diagnose(
      [
        'Traceback (most recent call last):',
        ...files.flatMap((file) => [`  File "${file}", line 84, in call`, '    call()']),
        text,
      ].join('\n'),
    )[0]!;

  it('is told as it is where no frame is of a known package', () => {
    expect(raised(['app.py']).message).toMatch(/^RuntimeError: /);
  });

  it('is told after what TensorRT said before it', () => {
    const [first] = diagnose('[TRT] [E] 9: something that is unheard of\nValueError: not enough values to unpack\n');
    expect(first!.message).toMatch(/unheard of/);
  });
});

describe('a message is told by what it says, not by what is usual', () => {
  const first = (...lines: string[]) => diagnose(lines.join('\n'))[0]!;

  it('an illegal instruction is no access violation', () => {
    expect(first('Illegal instruction (core dumped)').message).toMatch(/\(illegal instruction\)/);
  });

  it('the library of Torch-TensorRT is none of PyTorch', () => {
    const found = first('OSError: libtorchtrt.so: cannot open shared object file: No such file or directory');
    expect(found.message).toMatch(/it belongs to Torch-TensorRT/);
  });

  it('a provider that fails need not be that of TensorRT', () => {
    const found = first(
      'onnxruntime.capi.onnxruntime_pybind11_state.EPFail: [ONNXRuntimeError] : 11 : EP_FAIL : no graph',
    );
    expect(found.message).toMatch(/^A provider of ONNX Runtime gave up/);
  });

  it('a node whose name has line breaks is one error, with its whole name', () => {
    const found = diagnose(
      [
        '[E] [TRT] ModelImporter.cpp:140: While parsing node number 1 [Det -> "y',
        'z"]:',
        '[E] [TRT] ModelImporter.cpp:142: --- Begin node ---',
        'Node name: a',
        'b',
        '[E] [TRT] ModelImporter.cpp:143: --- End node ---',
        '[E] [TRT] ModelImporter.cpp:151: ERROR: onnxOpCheckers.cpp:1130 In function checkDet:',
        '[8] false',
        "[E] model.onnx: node 1 'a",
        "b' (Det): UNSUPPORTED_NODE: this version of TensorRT cannot run it",
      ].join('\n'),
    );
    expect(found.map(({ message }) => message)).toEqual([
      String.raw`TensorRT does not support the operator Det of node "a\nb".`,
    ]);
  });

  it('what ldd does not find is missing', () => {
    expect(first('\tlibnvinfer.so.10 => not found').message).toMatch(/^libnvinfer\.so\.10 cannot be loaded/);
  });
});

it('the help of a tool has no error', () => {
  const help = [
    'usage: polygraphy convert [-h] model',
    '  -h, --help  show this help message and exit',
    'Options related to building TensorRT engines:',
    '  --calibration-cache  if INT8 is required but no calibration cache is provided, this fails',
  ];
  expect(diagnose(help.join('\n'))).toEqual([]);
});

it.each([
  'INFO:tensorflow:Linked TensorRT version: (0, 0, 0)',
  "UserWarning: Specified provider 'TensorrtExecutionProvider' is not in available provider names.Available providers: 'CPUExecutionProvider'",
  'WARNING: Num classes mismatch. Configured:80, detected by network: 1',
  '[UID = 1]: Backend has maxBatchSize 1 whereas 2 has been requested',
  '[component_container-1] [INFO] [1636920885.33] [node]: GXF_LOG_LEVEL=3',
  'GPU-pipeline: streaming stopped, reason eos',
])('a program that goes on after %s has no error', (line) => {
  expect(diagnose(`${line}\n`).filter(({ severity }) => severity === 'error')).toEqual([]);
});

it('a name that is too long is named as the cause, with the limit', () => {
  const [first] = diagnose(recordedLog('name_too_long'));
  expect(first).toMatchObject({ severity: 'error', code: 'name-too-long' });
  expect(first!.message).toContain('longer than TensorRT allows (4096 characters)');
});

it.each(['constructor', '__proto__'])('an operator %s, which every object has, is in no table', (op) => {
  const text = [
    `While parsing node number 1 [${op} -> "y"]:`,
    'ERROR: builtin_op_importers.cpp:5367 In function importFallbackPluginImporter:',
    '[8] Assertion failed: creator && "Plugin not found, are the plugin name, version, and namespace correct?"',
  ];
  const [first] = diagnose(text.map((line) => `[TRT] [E] ${line}\n`).join(''));
  expect(first).toMatchObject({ code: 'unsupported-op' });
  expect(first!.repair).toBeUndefined();
});

describe('every failure that was captured', () => {
  it.each([
    ['tensorrt-10.6.0/bert_base.badprofile/log.txt', 'error profile-inconsistent'],
    ['tensorrt-10.6.0/bert_base.wrongname/log.txt', 'error unknown-input'],
    ['tensorrt-10.6.0/bert_base.noprofile/log.txt', 'warning profile-missing'],
    ['tensorrt-8.6.1/bert_base.noprofile/log.txt', 'warning profile-missing'],
    ['tensorrt-10.6.0/cli.bad_engine/log.txt', 'error engine-invalid'],
    ['tensorrt-8.6.1/cli.bad_engine/log.txt', 'error engine-invalid'],
    ['tensorrt-10.6.0/cli.other_version_engine/log.txt', 'error engine-invalid'],
    ['tensorrt-10.6.0/cli.disableMHA/log.txt', 'error unknown-flag'],
    ['tensorrt-8.6.1/cli.disableMHA/log.txt', 'error unknown-flag'],
    ['tensorrt-10.6.0/cli.missing_file/log.txt', 'error model-missing'],
    ['tensorrt-10.6.0/cli.missing_weights/log.txt', 'error weights-missing'],
    ['tensorrt-10.6.0/cli.truncated_onnx/log.txt', 'error model-unreadable'],
    ['tensorrt-8.6.1/cli.truncated_onnx/log.txt', 'error model-unreadable'],
    ['tensorrt-10.6.0/resnet18.prec_badtype/log.txt', 'error bad-flag-value'],
    ['tensorrt-10.6.0/unsupported_op.fp32/log.txt', 'error unsupported-op'],
    ['tensorrt-8.6.1/unsupported_op.fp32/log.txt', 'error unsupported-op'],
    ['tensorrt-rtx-1.7.1/unsupported_op/log.txt', 'error unsupported-op'],
    ['tensorrt-8.6.1/fusion_zoo.poly_int8_calib/log0.txt', 'error plugin-missing'],
    ['tensorrt-8.6.1/vit_tiny.workspace_1k/log.txt', 'error workspace-too-small'],
    ['tensorrt-10.6.0/vit_tiny.workspace_1k/log.txt', 'warning workspace-too-small'],
    ['tensorrt-10.6.0/vit_tiny.vc/log.txt', 'error library-missing'],
    ['tensorrt-8.6.1/fp16_overflow.poly_compare/log0.txt', 'error library-missing'],
    ['tensorrt-10.6.0/fp16_overflow.poly_markall/log0.txt', 'error type-mismatch'],
    ['tensorrt-8.6.1/fp16_overflow.poly_markall/log0.txt', 'error no-implementation'],
    ['tensorrt-rtx-1.7.1/vit_tiny_cc75/log.txt', 'error no-implementation'],
    ['tensorrt-10.6.0/vit_tiny.poly_replay/log2.txt', 'error replay-mismatch'],
    ['tensorrt-8.6.1/vit_tiny.poly_replay/log2.txt', 'error replay-mismatch'],
    ['tensorrt-10.6.0/resnet18.prec_int8_impossible/log.txt', 'warning calibration-missing'],
    ['tensorrt-10.6.0/deep_encoder_11k.fp16/log.txt', 'error cut-off'],
    ['tensorrt-10.6.0/fp16_overflow.fp16/log.txt', 'warning precision-overflow'],
  ])('%s: %s', (name, expected) => {
    expect(codes(captureText(name)!)).toContain(expected);
  });

  it('says one cause once: a parser error of twenty lines is one diagnosis', () => {
    for (const name of [
      'tensorrt-10.6.0/unsupported_op.fp32',
      'tensorrt-8.6.1/unsupported_op.fp32',
      'tensorrt-rtx-1.7.1/unsupported_op',
    ])
      expect(capture(`${name}/log.txt`)).toHaveLength(1);
    expect(codes(captureText('tensorrt-8.6.1/fusion_zoo.poly_int8_calib/log0.txt')!)).toEqual(['error plugin-missing']);
  });
});

describe('a failure before a build that passed', () => {
  const run = (model: string, ...lines: string[]) => [
    `&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=${model}`,
    '[11/20/2026-10:00:00] [I] === Model Options ===',
    ...lines,
  ];
  const end = (word: 'PASSED' | 'FAILED') => `&&&& ${word} TensorRT.trtexec [TensorRT v8601] # trtexec`;
  const passed = run('b.onnx', '[11/20/2026-10:01:00] [I] Engine built in 12.1 sec.', end('PASSED'));
  const failure = [
    '[11/20/2026-10:00:01] [E] [TRT] 9: something that is unheard of',
    '[11/20/2026-10:00:01] [E] Engine set up failed',
  ];
  const raised = [
    'Traceback (most recent call last):',
    '  File "a.py", line 1, in <module>',
    'RuntimeError: no way to go',
  ];
  const found = (...lines: string[]) =>
    diagnose(lines.join('\n')).map(({ severity, code, line, message }) => [severity, code, line, message]);

  it.each([
    [
      'the error of a run',
      [...run('a.onnx', ...failure, end('FAILED')), ...passed],
      'internal',
      3,
      /unheard of.* A build after it passed \(line 9\)\.$/,
    ],
    [
      'a run that only says that it failed',
      [...run('a.onnx', failure[1]!, end('FAILED')), ...passed],
      'failed',
      3,
      /begins in line 1 failed.* A build after it passed/,
    ],
    [
      'a run that says nothing',
      [...run('a.onnx', end('FAILED')), ...passed],
      'failed',
      1,
      /begins in line 1 failed.* A build after it passed/,
    ],
    [
      'a crash, whose phase the later run does not tell',
      [...run('a.onnx', 'Segmentation fault (core dumped)'), ...passed],
      'crashed',
      3,
      /while building or running the engine with TensorRT 8\.6\.1\. A build after it passed/,
    ],
    [
      'without the frames of a program',
      [...raised, '[TRT] [I] Engine generation completed in 12.3 seconds.'],
      'internal',
      3,
      /no way to go\. A build after it passed \(line 4\)\.$/,
    ],
  ])('stays an error: %s', (_, lines, code, line, message) => {
    expect(found(...lines)).toEqual([['error', code, line, expect.stringMatching(message)]]);
  });

  it.each([
    ['an exception before the run', [...raised, ...passed], 3, /no way to go\. A build after it passed \(line 7\)\.$/],
    [
      'an error in the run',
      run('b.onnx', failure[0]!, end('PASSED')),
      3,
      /unheard of\. The run passed all the same \(line 4\)\.$/,
    ],
    [
      'an error in an earlier run that passed',
      [...run('a.onnx', failure[0]!, end('PASSED')), ...passed],
      3,
      /unheard of\. A build after it passed \(line 8\)\.$/,
    ],
    ['a run that was stopped', [...run('a.onnx'), ...passed], 1, /does not say how it ended/],
  ])('is a warning: %s', (_, lines, line, message) => {
    expect(found(...lines)).toEqual([['warning', expect.any(String), line, expect.stringMatching(message)]]);
  });

  it('and what comes after that build is what it is', () => {
    expect(found(...passed, ...raised)).toEqual([['error', 'internal', 7, 'RuntimeError: no way to go.']]);
    expect(found(...passed, ...run('a.onnx', ...failure, end('FAILED')))).toEqual([
      ['error', 'internal', 7, 'something that is unheard of.'],
    ]);
    expect(found(...run('a.onnx --help'), ...passed)).toEqual([]);
  });
});

describe('what the author of an issue writes around a log', () => {
  const refused = [
    '[E] [TRT] ModelImporter.cpp:726: While parsing node number 3 [LayerNormalization -> "y"]:',
    '[E] [TRT] ModelImporter.cpp:731: ERROR: builtin_op_importers.cpp:5412 In function importFallbackPluginImporter:',
    '[8] Assertion failed: creator && "Plugin not found, are the plugin name, version, and namespace correct?"',
  ];
  const versionIn = (...lines: string[]) =>
    /^This TensorRT(?: \((.*?)\))? does not have/.exec(
      diagnose([...refused, '', ...lines].join('\n'))[0]!.message,
    )?.[1];

  it.each([
    [['TensorRT Version: 8.4.1 / 8.5.3']],
    [['TensorRT Version: 8.4.1', 'TensorRT Version: 8.5.3']],
    [['I use TensorRT 8.4.1 and 8.5.3.']],
    [['I use TensorRT 8.4.1 here.', 'I am using TensorRT 8.5.3 there.']],
    [['I should use TensorRT 8.5 or later.']],
    [['We updated to TensorRT 8.5 from 8.2.']],
    [['It is a feature of TensorRT 8.5.']],
    [['Our plugin needs TensorRT 8.5.']],
    [['I use Torch-TensorRT 1.4 and TensorRT-LLM 0.9.']],
    [['TensorRT: 23.04-py3', 'TensorRT Version: latest']],
    [['printf("I use TensorRT 8.5");']],
  ])('no version: %j', (lines) => {
    expect(versionIn(...lines)).toBeUndefined();
  });

  it('counts only where the log does not say it', () => {
    const log = [
      '&&&& RUNNING TensorRT.trtexec [TensorRT v8503] # trtexec --onnx=a.onnx',
      ...refused,
      '',
      'TensorRT Version: 8.4.1',
    ];
    expect(diagnose(log.join('\n'))[0]!.message).toMatch(/^This TensorRT \(8\.5\.3\) /);
  });

  it.each([
    ['two of them', ['I use a GTX 1080 and an RTX 3060.', 'TensorRT Version: 10.3'], /for this GPU\.$/],
    ['another one', ['It should run on a GTX 1080, too.'], /for this GPU\.$/],
  ])('the GPU: %s', (_, lines, message) => {
    const text = ['[E] [TRT] CUDA error 209 launching __myl kernel', '', ...lines].join('\n');
    expect(diagnose(text)[0]!.message).toMatch(message);
  });
});

describe('what the manifest says', () => {
  const rows = manifest().filter(({ case: name }) => !name!.startsWith('poly.'));
  it.each(
    rows.filter(({ result }) => result === 'passed').map((row) => [`tensorrt-${row['tensorrt']}/${row['case']}`]),
  )('%s passed: no error', (name) => {
    const text = captureText(`${name}/log.txt`);
    // Polygraphy's cases hold several runs, of which some fail on purpose.
    if (text !== undefined && !name.includes('poly_'))
      expect(codes(text).filter((code) => code.startsWith('error'))).toEqual([]);
  });
  it.each(
    rows.filter(({ result }) => result === 'failed').map((row) => [`tensorrt-${row['tensorrt']}/${row['case']}`]),
  )('%s failed: an error with its line and what to do', (name) => {
    const texts = ['log.txt', 'log0.txt', 'log1.txt', 'log2.txt'].flatMap(
      (file) => captureText(`${name}/${file}`) ?? [],
    );
    const found = texts.flatMap((text) => diagnose(text).map((d) => ({ ...d, lines: text.split('\n').length })));
    expect(found.filter(({ severity }) => severity === 'error').length).toBeGreaterThan(0);
    for (const { line, lines, message, advice } of found) {
      expect(line).toBeGreaterThan(0);
      expect(line).toBeLessThanOrEqual(lines);
      expect(message).toMatch(/\S/);
      expect(advice).toMatch(/\.$/);
    }
  });
});

describe('what TensorRT-RTX says without a GPU', () => {
  // The lines of the reference program in which the failures were recorded, as our own driver writes them.
  const failures = captureText('tensorrt-rtx-1.7.1/errors/errors.txt')!
    .split(/^=== /m)
    .slice(1)
    .map((part) => {
      const [head = '', ...lines] = part.split('\n');
      return [head.split(':')[0]!, lines.flatMap(logLine).join('\n')] as const;
    });
  const texts = new Map(failures);
  const expected: Record<string, string[]> = {
    trunc: ['error model-unreadable'],
    empty: ['error model-unreadable'],
    garbage: ['error model-unreadable'],
    text: ['error model-unreadable'],
    custom: ['error unsupported-op'],
    unique: ['error unsupported-op'],
    missing_input: ['error model-unreadable'],
    badshape: ['error shape-mismatch'],
    det: ['error unsupported-op'],
    string: ['error unsupported-op'],
    cycle: ['error model-unreadable'],
    nofile: ['error model-missing'],
    dyn_badrank: ['error profile-inconsistent'],
    dyn_badstatic: ['error profile-inconsistent'],
    dyn_minmax: ['error profile-inconsistent'],
    dyn_badname: ['error unknown-input'],
    dyn_neg: ['error profile-inconsistent'],
    dyn_syntax: ['error bad-flag-value'],
    badcc: ['error bad-flag-value'],
    badflag: ['error bad-flag-value'],
    cccurrent: ['error library-missing'],
    noweights: ['error weights-missing'],
    badout: ['error internal'],
    module: ['error library-missing'],
  };

  it.each(Object.entries(expected))('%s: %j, and no more', (name, found) => {
    expect(codes(texts.get(name)!)).toEqual(found);
  });
  it('and nothing of the rest', () => {
    const others = failures.filter(([name]) => !(name in expected)).map(([name, text]) => [name, codes(text)]);
    expect(others).toEqual([
      ['double', []],
      ['dyn_noprofile', []],
      ['markmissing', []],
    ]);
  });

  function logLine(line: string): string[] {
    try {
      const { event, severity, message } = JSON.parse(line) as { event: string; severity: string; message: string };
      return event === 'log' ? [`[${severity[0]!}] [TRT] ${message}`] : event === 'error' ? [`[E] ${message}`] : [];
    } catch {
      return [];
    }
  }
});

describe('errors of the model on TensorRT-RTX, as trtlens build logs them', () => {
  const logs = new Map(
    readFileSync(fixturePath('failures/rtx-1.7.1.txt'), 'utf8')
      .split(/^=== /m)
      .slice(1)
      .map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1)]),
  );
  const one = (name: string) => {
    const found = diagnose(logs.get(name)!);
    expect(found).toHaveLength(1);
    return { code: found[0]!.code, message: found[0]!.message, layer: found[0]!.layer };
  };

  it.each([
    ['matmul', 'mm', /"mm" cannot multiply.* is 4, .* is 5\. Its inputs: a 2×4, w 5×3\.$/],
    ['gemm', 'gm', /"gm" cannot multiply.* is 4, .* is 5\. Its inputs: a 2×4, w 5×3, b 3\.$/],
    ['concat', 'cat', /"cat" cannot join.* along axis 1: input 0 has shape \[2,4,8\], input 1 has \[2,4,9\]/],
    ['reshape', 'rs', /"rs" cannot reshape \[2,4\] into \[3,3\]/],
    ['add', 'ad', /"ad" have shapes that cannot be broadcast.* a 2×4, z 2×5\.$/],
    ['conv', 'cv', /"cv" are for another number of channels.* a 1×3×8×8, w 4×5×3×3\.$/],
    ['gather', 'ga', /axis 5 of node "ga" does not exist/],
    ['dynconcat', 'cat', /"cat" cannot join its inputs along axis 1: .* along axis 2 are 0 and 1\.$/],
    ['dynreshape', 'rs', /"rs" cannot reshape \[1,1\] into \[1,4,16\]/],
    ['dynmatmul', 'mm', /"mm" cannot multiply its inputs/],
  ])('%s: the node, the shapes, once', (name, layer, message) => {
    expect(one(name)).toEqual({ code: 'shape-mismatch', layer, message: expect.stringMatching(message) as string });
  });

  it('types that differ', () => {
    expect(one('types')).toEqual({
      code: 'type-mismatch',
      layer: 'ad',
      message: 'The inputs of node "ad" have different types: Half and Float.',
    });
  });
  it('an operator that TensorRT-RTX does not have, though it speaks of a plugin', () => {
    expect(one('nonzero')).toMatchObject({ code: 'unsupported-op', layer: 'nz' });
  });
  it('a cycle, and a tensor that TensorRT does not find: it need not be missing, it may be sparse', () => {
    const advice = (text: string) => diagnose(`[E] [TRT] ${text}`).map(({ message, advice: help }) => [message, help]);
    expect(
      advice('ModelImporter.cpp:945: Assertion failed: toposort(graph.node()): Failed to sort model topologically'),
    ).toEqual([
      [
        expect.stringMatching(/of the same name, or they read each other in a cycle\.$/),
        expect.not.stringContaining('size'),
      ],
    ]);
    expect(advice('In function parseNode: Assertion failed: Node input was not registered.')).toEqual([
      [expect.stringMatching(/cut badly\), or the tensor is a sparse initializer\.$/), expect.stringMatching(/dense/)],
    ]);
  });

  it('a text of a layer that only a general rule knows: its reason, without source positions, and its node', () => {
    expect(one('nms')).toEqual({
      code: 'shape-mismatch',
      layer: 'nms_1',
      message: expect.stringMatching(
        /^Node "nms_1" \(nms layer\) [^/]*: Tensor y has axis 0 [^/]*non-negative length\.$/,
      ) as string,
    });
  });
  it('never tells of the CUDA driver that the machine lacks', () => {
    for (const name of logs.keys())
      for (const { message, advice } of diagnose(logs.get(name)!)) expect(message + advice).not.toMatch(/cuda/i);
  });
  it('gives the shapes of the model where the log has none', async () => {
    const log = readBuildLog(logs.get('dynmatmul')!).value;
    const graph = (await model('unnamed')).graph;
    const value = (name: string, shape: (number | string)[]) => ({ name, type: 'float', shape });
    const node = { ...graph.nodes[0]!, id: '0', name: 'mm', op: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] };
    const inputs = [value('x', ['batch', 'k']), value('w', [5, 3])];
    const net = modelAround({ ...graph, inputs, values: [], initializers: [], nodes: [node] }, [node]);
    expect(diagnoseLog(log, net)[0]).toMatchObject({
      nodes: ['0'],
      message: expect.stringMatching(/Its inputs: x batch×k, w 5×3\.$/) as string,
    });
  });
});

/** A plain node of a model. */
const node = (id: string, op: string, inputs: string[], outputs: string[]) => ({
  id,
  name: `n${id}`,
  op,
  domain: '',
  inputs,
  outputs,
  attributes: [],
  subgraphs: [],
  metadata: [],
});

describe('a cause that the log does not state, with the model', () => {
  const value = (name: string) => ({ name, type: 'float', shape: [2, 2] });
  type Nodes = ReturnType<typeof node>[];
  const withNodes = async (nodes: Nodes) => {
    const { graph } = await model('unnamed');
    return modelAround(
      { ...graph, inputs: [value('x')], outputs: [value('y')], values: [], initializers: [], nodes },
      nodes,
    );
  };
  const said = async (text: string, nodes: Nodes, more: object = {}) =>
    diagnoseLog(readBuildLog(`[I] [TRT] TensorRT-RTX version: 1.7.1\n${text}\n`).value, {
      ...(await withNodes(nodes)),
      ...more,
    });
  const cycle = '[E] [TRT] ModelImporter.cpp:210: Failed to sort model topologically';

  it('counts the operators of a region that could not be built', async () => {
    const text =
      '[E] Error Code 10: Internal Error (Could not find any implementation for node {ForeignNode[n0...n1]}.)';
    const [found] = await said(text, [node('0', 'Neg', ['x'], ['a']), node('1', 'Relu', ['a'], ['y'])]);
    expect(found!.message).toMatch(/the model has 2 nodes: 1 Neg, 1 Relu\.$/);
  });

  it('is the one that check finds: at the nodes of the same name', async () => {
    const twice = [node('0', 'Relu', ['x'], ['a']), node('1', 'Neg', ['x'], ['a']), node('2', 'Relu', ['a'], ['y'])];
    expect((await said(cycle, twice))[0]).toMatchObject({
      code: 'model-invalid',
      message: '2 outputs of nodes have the name a; a name must be unique in its graph.',
      nodes: ['0', '1'],
      sure: 'likely',
    });
  });
  it('stays as it is where check finds nothing', async () => {
    expect((await said(cycle, [node('0', 'Relu', ['x'], ['y'])]))[0]!.message).toMatch(/in a cycle/);
  });
  it('of a tensor without a source has no repair for sparse weights', async () => {
    const text = `[E] [TRT] ModelImporter.cpp:140: While parsing node number 1 [Add -> "y"]:
[E] [TRT] ModelImporter.cpp:151: ERROR: ModelImporter.cpp:356 In function parseNode:
[5] Assertion failed: (ctx->tensors().count(inputName)): Node input was not registered.`;
    const [found] = await said(text, [node('0', 'Relu', ['x'], ['a']), node('1', 'Add', ['a', 'ghost'], ['y'])]);
    expect(found).toMatchObject({ message: 'Add reads ghost, which nothing gives (node "n1").', nodes: ['1'] });
    expect(found).not.toHaveProperty('repair');
  });
  it('of a crash of the parser is a function that calls itself', async () => {
    const functions = ['A', 'B'].map((name, at) => ({
      name,
      domain: '',
      overload: '',
      inputs: ['a'],
      outputs: ['b'],
      nodes: [node(`functions/${at}/0`, name === 'A' ? 'B' : 'A', ['a'], ['b'])],
    }));
    const [found] = await said(
      '&&&& RUNNING TensorRT_RTX.build_engine [TensorRT v10701] [b116] # x\n[V] [TRT] Parsing node: n0 [A]',
      [node('0', 'A', ['x'], ['y'])],
      { functions },
    );
    expect(found).toMatchObject({
      code: 'model-invalid',
      message: expect.stringMatching(
        /^The log ends at line \d.* The model explains it: The function A calls itself/,
      ) as string,
      nodes: ['0'],
    });
  });
});

it('values for the inputs that decide shapes, as many as each has, and not for other integers', async () => {
  const { graph } = await model('unnamed');
  const value = (name: string, shape: number[], type = 'int64') => ({ name, type, shape });
  const nodes = [
    node('0', 'Concat', ['rows', 'columns'], ['s']),
    node('1', 'Expand', ['x', 's'], ['e']),
    node('2', 'Gather', ['e', 'indices'], ['y']),
  ];
  const inputs = [value('x', [1, 1, 1], 'float'), value('rows', [1]), value('columns', [2]), value('indices', [4])];
  const net = modelAround(
    { ...graph, inputs, outputs: [value('y', [4, 1, 1], 'float')], values: [], initializers: [], nodes },
    nodes,
  );
  const log = readBuildLog(
    '&&&& RUNNING TensorRT_RTX.build_engine [TensorRT v10701] [b116] # x\n[E] [TRT] IBuilder::buildSerializedNetwork: Error Code 4: API Usage Error (Network has dynamic or shape inputs, but no optimization profile has been defined. In validate at /_src/optimizer/api/network.cpp:4023)\n',
  ).value;
  expect(diagnoseLog(log, net)[0]).toMatchObject({
    message: expect.stringMatching(/^Inputs rows, columns are shape tensors: /) as string,
    advice: expect.stringContaining('rows:3') as string,
  });
  expect(diagnoseLog(log, net)[0]!.advice).toMatch(/--shapes rows:3,columns:3x3,/);
});

describe('who speaks', () => {
  const messages = (text: string) => diagnose(text).map(({ code, message, advice }) => `${code}: ${message} ${advice}`);
  const driver = (error: string) =>
    `&&&& RUNNING TensorRT_RTX.build_engine [TensorRT v10701] [b116] # x\n[E] ${error}\n&&&& FAILED TensorRT_RTX.build_engine [TensorRT v10701] [b116] # x\n`;

  it("the build driver's own text is not TensorRT's", () => {
    expect(messages(driver("no layer of the network gives a tensor named 'z'"))[0]).not.toMatch(/TensorRT's own text/);
    expect(messages(driver("no input is named 'z'; the model's inputs: x"))[0]).toMatch(/^unknown-input: /);
  });
  it('what a Python script prints is not an error, what it raises is', () => {
    expect(messages('Max Error: 0.01\nMaxError: 0.01\nRelError: 3e-4\nError: none\n')).toEqual([]);
    expect(readBuildLog('MaxError: 0.01\n').value.outcome).toBe('unknown');
    expect(messages('Traceback (most recent call last):\n  File "x.py", line 1\nBadModel.Error: no\n')).toHaveLength(1);
    expect(messages('Traceback (most recent call last):\n  File "x.py", line 1\nMaxError: no\n')[0]).toMatch(
      /Python's/,
    );
    expect(messages('RuntimeError: it broke\n')[0]).toMatch(/Python's own text/);
  });
  it('failed iterations of polygraphy debug are not a build that passed', () => {
    const text =
      '[I] RUNNING | Command: polygraphy debug build m.onnx\n[I]     RUNNING | Iteration 1\n[I]     PASSED | Iteration 1 | Duration 2.5s\n[I]     RUNNING | Iteration 2\n[E]     FAILED | Iteration 2 | Duration 2.5s\n[I] PASSED | Runtime: 9.9s | Command: polygraphy debug build m.onnx\n';
    expect(diagnose(text)).toMatchObject([
      { code: 'iteration-failed', severity: 'warning', line: 5, message: expect.stringContaining('1 of 2') as string },
    ]);
  });
});

describe('memory', () => {
  // Of ultralytics/yolov5 issue 12248, TensorRT 8.2 on a GPU with 2 GB.
  const device =
    '[10/18/2023-20:27:01] [TRT] [W] Tactic Device request: 448MB Available: 425MB. Device memory is insufficient to use tactic.\n';
  const skip =
    '[10/18/2023-20:27:00] [TRT] [W] Skipping tactic 3 due to insuficient memory on requested size of 449 detected for tactic 4.\nTry decreasing the workspace size with IBuilderConfig::setMaxWorkspaceSize().\n';

  it.each([
    ['with its numbers', device + skip, '448 MiB requested, 425 MiB available'],
    ['where the number stands alone', skip, '449 MiB requested'],
  ])('of the device, %s: MiB, and no advice to raise the workspace', (_, text, amount) => {
    const found = diagnose(text);
    expect(found).toMatchObject([{ code: 'out-of-memory', severity: 'warning' }]);
    expect(found[0]!.message).toContain(amount);
    expect(found[0]!.advice).not.toMatch(/[Rr]aise/);
  });
});

it('what a warning says of many tensors is said once', () => {
  const line = (tensor: string) =>
    `[W] [TRT] Missing scale and zero-point for tensor ${tensor}, expect fall back to non-int8`;
  const found = diagnose([line('840'), line('575'), line('840')].join('\n'));
  expect(found).toHaveLength(1);
  expect(found[0]!.message).toContain('tensor 840 and 1 more tensor');
});

it('a log that ends where the parser looks for a plugin names the operator', () => {
  const log = [
    '[03/09/2023-11:20:42] [W] [TRT] onnx2trt_utils.cpp:364: Your ONNX model has been generated with INT64 weights',
    '[03/09/2023-11:20:42] [I] [TRT] No importer registered for op: GridSample. Attempting to imp',
  ];
  expect(diagnose(log.join('\n'))[0]).toMatchObject({ severity: 'warning', code: 'unsupported-op', line: 2 });
  log.push('[03/09/2023-11:20:42] [I] [TRT] Successfully created plugin: GridSample');
  expect(diagnose(log.join('\n'))).toEqual([]);
});

it('an excerpt that ends at a node names the operator for which no plugin was found', () => {
  const log = (found: string) =>
    diagnose(
      `[I] [TRT] No importer registered for op: LayerNormalization. Attempting to import as plugin.\n${found}[E] [TRT] parsers/onnx/ModelImporter.cpp:726: While parsing node number 3 [LayerNormalization -> "y"]:\n[E] [TRT] parsers/onnx/ModelImporter.cpp:727: --- Begin node ---\n`,
    )[0];
  expect(log('')).toMatchObject({ rule: 'operator-later', line: 2 });
  expect(log('[V] [TRT] Global registry found LayerNormalization creator.\n')!.rule).not.toBe('operator-later');
});

it('a timing cache whose compiled kernels cannot be read is a warning', () => {
  const found = diagnose(
    'TensorRT backend: 1: [myelinCache.h::nvinfer1::builder::MyelinCache::deserializeFromBuffer::52] Error Code 1: Myelin (Myelin error from unknown graph)\nTensorRT backend: 4: The timing cache will not be used!\n',
  );
  expect(found.map(({ rule, severity }) => [rule, severity])).toEqual([['timing-cache', 'warning']]);
});

it('a package of TensorRT for other boards is told from a version that is too old', () => {
  const [first] = diagnose('TensorRT Version: 10.13.3\nTarget GPU SM 87 is not supported by this TensorRT release.\n');
  expect(first!.advice).toContain('JetPack');
  expect(first!.message + first!.advice).not.toContain('8.4');
  const [old] = diagnose('TensorRT Version: 10.4.0\nTarget GPU SM 120 is not supported by this TensorRT release.\n');
  expect(old!.advice).toContain('10.8');
});

it('an exception of the parser that names no plugin is about the one that was sought before it', () => {
  const [first] = diagnose(
    '[TRT] [I] No importer registered for op: TRTBatchedNMS. Attempting to import as plugin.\nTraceback (most recent call last):\n  File "deploy.py", line 69, in main\n    raise RuntimeError(error_msgs)\nRuntimeError: Failed to parse onnx, In node 13 (importFallbackPluginImporter): UNSUPPORTED_NODE: Assertion failed: creator && "Plugin not found, are the plugin name, version, and namespace correct?"\n',
  );
  expect(first!.message).toContain('TRTBatchedNMS');
  expect(first!.advice).not.toContain('does not name the operator');
});

it.each([
  ["cuda failure in file 'yolo_layer.cu' line 51:35\n", 'library-missing', 'driver'],
  ["cuda failure in file 'yolo_layer.cu' line 51:700\n", 'runtime-failed', 'compute-sanitizer'],
  [
    'IRuntime::deserializeCudaEngine: Error Code 1: Internal Error (Failed due to an old deserialization call on a newer plan file.)\nPython exception: operator (): engine deserialization failed\n',
    'engine-other-version',
    'Build it again',
  ],
  [
    '[TRT] [E] 3: [engine.cpp::getProfileObliviousBindingIndex::1625] Error Code 3: Internal Error (setInputShape given invalid tensor name: kv_cache)\n',
    'runtime-failed',
    'delete the engine and build it again',
  ],
  [
    'When I run trtexec --onnx=a.onnx:\n[E] [TRT] INVALID_ARGUMENT: getPluginCreator could not find plugin EfficientNMS_TRT version 1\n',
    'plugin-missing',
    '--staticPlugins',
  ],
])('as users quote it: %s', (text, code, step) => {
  const [first, ...others] = diagnose(text);
  expect(first).toMatchObject({ code });
  expect(first!.advice).toContain(step);
  expect(others.filter(({ severity }) => severity === 'error')).toEqual([]);
});

it('a crash follows from the error before it, and explains what comes after it only', () => {
  const check =
    '[E] [TRT] 3: [network.cpp::getInput::1888] Error Code 3: API Usage Error (Parameter check failed at: optimizer/api/network.cpp::getInput::1888, condition: index < getNbInputs())';
  const crash = 'Segmentation fault (core dumped)';
  expect(diagnose(`${check}\n${crash}`)).toMatchObject([{ rule: 'api-argument', follows: [{ line: 2 }] }]);
  expect(diagnose(`${crash}\n${check}`)[0]).toMatchObject({ rule: 'crashed' });
});

it('an operator whose name ONNX cannot have is one that a tool wrote', () => {
  const [found] = diagnose(
    '[E] [TRT] ModelImporter.cpp:773: While parsing node number 6 [[LayerNorm] -> "y"]:\n[E] [TRT] ModelImporter.cpp:779: ERROR: builtin_op_importers.cpp:4890 In function importFallbackPluginImporter:\n[8] Assertion failed: creator && "Plugin not found, are the plugin name, version, and namespace correct?"',
  );
  expect(found!.message).toContain('operator [LayerNorm] of');
  expect(found!.advice).toMatch(/^ONNX has no operator of such a name/);
});

it('a workspace that the command limits is named where a region has no implementation', () => {
  const advice = (options: string) =>
    diagnose(
      `&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=m.onnx ${options}\n[E] Error[10]: Could not find any implementation for node {ForeignNode[a...b]}.`,
    )[0]!.advice;
  expect(advice('--memPoolSize=dlaSRAM:1,workspace:2048')).toContain('limits the workspace to 2048 MiB');
  expect(advice('--workspace=1024000')).not.toContain('limits the workspace');
  expect(advice('')).not.toContain('limits the workspace');
});

it('an input of Concat with a size of 0 is called empty', () => {
  const text = (last: string) =>
    `[E] [concatenationLayer.cpp::estimateOutputDims::110] Error Code 4: Internal Error (c: all concat input tensors must have the same dimensions except on the concatenation axis (1), but dimensions mismatched at index 0. Input 0 shape: [2,64], Input 1 shape: ${last})`;
  expect(diagnose(text('[0,64]'))[0]!.message).toContain('The one with [0,64] is empty');
  expect(diagnose(text('[10,64]'))[0]!.message).not.toContain('empty');
});

it('a crash is placed by the last step that trtexec begins', () => {
  const message = (step: string) => diagnose(`[I] ${step}\nSegmentation fault (core dumped)`)[0]!.message;
  expect(message('Loading standard plugins')).toContain('while loading the plugins');
  expect(message('Start parsing network model')).toContain('while reading the model');
});

describe('the nodes concerned', () => {
  it('are named by id for a parser error', async () => {
    const custom = await model('unsupported_op');
    for (const name of [
      'tensorrt-10.6.0/unsupported_op.fp32',
      'tensorrt-8.6.1/unsupported_op.fp32',
      'tensorrt-rtx-1.7.1/unsupported_op',
    ]) {
      const [first] = diagnoseLog(readBuildLog(captureText(`${name}/log.txt`)!).value, custom);
      expect(first).toMatchObject({ code: 'unsupported-op', nodes: ['11'], layer: '/custom/MyCustomOp' });
      expect(custom.nodes[11]!.op).toBe('MyCustomOp');
    }
  });

  it('are the ends of a ForeignNode without implementation', async () => {
    const log = readBuildLog(captureText('tensorrt-10.6.0/fp16_overflow.poly_markall/log0.txt')!).value;
    const overflow = await model('fp16_overflow');
    const found = diagnoseLog(log, overflow).find(({ code }) => code === 'type-mismatch')!;
    expect(found.nodes.map((id) => overflow.nodes.find((n) => n.id === id)!.name)).toEqual([
      '/layers.0/norm1/ReduceMean',
      '/head/Add',
    ]);
    expect(found.message).toContain('Tensor ONNXTRT_Broadcast_output is f16 where its region expects f32');
  });

  it('come with the nearest right name of an input', async () => {
    const log = readBuildLog(captureText('tensorrt-10.6.0/bert_base.wrongname/log.txt')!).value;
    expect(diagnoseLog(log, await model('bert_base'))[0]!.advice).toContain('Did you mean "input_ids"?');
  });
});

it('never throws on damaged logs', () => {
  const text = captureText('tensorrt-8.6.1/unsupported_op.fp32/log.txt')!;
  fc.assert(
    fc.property(fc.nat(text.length), fc.nat(text.length), fc.string(), (from, length, inserted) => {
      expect(Array.isArray(diagnose(text.slice(0, from) + inserted + text.slice(from + length)))).toBe(true);
    }),
    { numRuns: 50 },
  );
});

describe('a message of one long word', () => {
  // Rules that look for the word before a text tried it from each of its characters on: minutes for these.
  it.each(['a', '_TRT', '.so', ".onnx'", "'.plan"])('%j over and over is told like any other', (word) => {
    const line = word.repeat(20_000 / word.length);
    const found = diagnose(`[E] [TRT] ${line}\n`.repeat(3));
    expect(found.map(({ code, line: at }) => [code, at])).toEqual([['internal', 1]]);
  });

  it('keeps the words that rules take from a text', () => {
    const messages = (text: string) => diagnose(`[E] [TRT] ${text}`).map(({ message }) => message);
    expect(messages('1,layer /a/Conv: has no runners that implement it')[0]).toContain('/a/Conv');
    expect(messages("FileNotFoundError: [Errno 2] No such file or directory: 'it/is.plan'")[0]).toContain(
      ' it/is.plan ',
    );
    expect(messages("FileNotFoundError: [Errno 2] No such file or directory: 'm.onnx'")[0]).toContain(' m.onnx ');
    expect(messages('(Foo_TRT plugin was not found in the plugin registry')[0]).toContain(' Foo_TRT ');
    expect(messages('x libnvinfer.so.10: cannot open shared object file')[0]).toContain('libnvinfer.so.10');
  });
});

it('the condition of an assertion is no part of its reason', () => {
  for (const condition of ['!trainingMode[0]', 'inputs.size() == 2', '(a == b)'])
    expect(causeText(`[8] Assertion failed: ${condition}: TensorRT only supports inference.`)).toBe(
      'TensorRT only supports inference.',
    );
});

describe('a log that stops in the middle, with the prefix of the program around TensorRT', () => {
  it.each([
    "TensorRT: starting export with TensorRT 10.3.0...\nTensorRT: export success ✅ 210.1s, saved as 'yolov8n.engine' (9.0 MB)\n",
    'Building the TensorRT Engine\n** INFO: <bus_callback:239>: Pipeline running\n',
    'I0511 13:20:41.2 1 tensorrt.cc:231] "TRITONBACKEND_ModelInitialize: yolo (version 1)"\nI0511 13:20:51.2 1 model_lifecycle.cc:839] "successfully loaded \'yolo\'"\n',
  ])('one that goes on to its end is none: %s', (text) => {
    const { value: log } = readBuildLog(text);
    expect(diagnoseLog(log)).toEqual([]);
    expect(howItEnds(log)).toContain(text.trim().split('\n').at(-1)!.slice(0, 20).replaceAll('"', '\\"'));
  });

  it.each(['Roses are red\n', 'total 12\n-rw-r--r-- 1 me me 12 notes.txt\n'])('%s is about something else', (text) => {
    expect(isAboutTensorRT(readBuildLog(text).value)).toBe(false);
  });
});

describe('a node that TensorRT refuses inside of ONNX Runtime', () => {
  const log = gunzipSync(readFileSync(fixturePath('ort/split/log.txt.gz'))).toString();

  it('is a note where the session came about', () => {
    const found = diagnose(log);
    expect(found.map(({ severity }) => severity)).toEqual(['warning', 'warning']);
    expect(found[0]).toMatchObject({ code: 'unsupported-op', layer: 'det', line: 83 });
    expect(found[0]!.message).toContain('ONNX Runtime runs it with another execution provider');
  });

  it('is an error where it did not', () => {
    const [first] = diagnose(log.slice(0, log.indexOf('Session successfully initialized')));
    expect(first).toMatchObject({ severity: 'error', code: 'unsupported-op' });
    expect(first!.message).not.toContain('another execution provider');
  });
});

describe('an excerpt of what the parser says', () => {
  const node = [
    '[E] [TRT] ModelImporter.cpp:771: While parsing node number 134 [Add -> "/add_output_0"]:',
    '[E] [TRT] ModelImporter.cpp:772: --- Begin node ---',
    '[E] [TRT] ModelImporter.cpp:773: input: "/conv_output_0"',
    'input: "/resize_output_0"',
    'output: "/add_output_0"',
    'name: "/add"',
    'op_type: "Add"',
    '',
    '[E] [TRT] ModelImporter.cpp:774: --- End node ---',
  ];
  const reason =
    '[E] Error[4]: [shapeContext.cpp::op::19] Error Code 4: Shape Error (broadcast dimensions must be conformable)';

  it('that ends before the reason is repeated names the node after the reason', () => {
    const found = diagnose(
      [
        reason,
        ...node,
        '[E] [TRT] ModelImporter.cpp:777: ERROR: ModelImporter.cpp:195 In function parseGraph:',
        '[6] Invalid Node - /add',
      ].join('\n'),
    );
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ rule: 'broadcast', layer: '/add', line: 1 });
  });

  it('that begins within a node takes the next one that fails', () => {
    const plugin = node.map((line) => line.replace('Add', 'TRTBatchedNMS').replace('/add"', '/nms"'));
    const [first] = diagnose(
      [
        '[E] [TRT] ModelImporter.cpp:968: ERROR: onnxOpCheckers.cpp:819 In function checkFallbackPluginImporter:',
        '[6] creator && "Plugin not found, are the plugin name, version, and namespace correct?"',
        ...plugin,
      ].join('\n'),
    );
    expect(first!.message).toContain('TRTBatchedNMS');
    expect(first!.layer).toBe('/nms');
  });

  it('does not give a node to an error that is further away', () => {
    const [first] = diagnose(
      [reason, '[I] Start parsing network model.', '[V] [TRT] Parsing node: /a [Relu]', ...node].join('\n'),
    );
    expect(first).toMatchObject({ rule: 'broadcast', follows: [{ line: 4 }] });
  });
});

it('a failure of the compiler is found where the reason and the node are on lines of their own', () => {
  const [first] = diagnose(
    [
      '[TRT] [E] Error Code: 9: Skipping tactic 0x0 due to exception',
      '[ir_op_builder.cpp:249: myelinOpSetInput] Called with unknown input tensor',
      'or sequence name "(Unnamed Layer* 7) [ElementWise]_output".',
      '[TRT] [E] IBuilder::buildSerializedNetwork: Error Code 10: Internal Error',
      '(Could not find any implementation for node',
      '{ForeignNode[shape...cond_OutputLayer]}.',
    ].join('\n'),
  );
  expect(first).toMatchObject({
    rule: 'no-implementation-foreign-check',
    layer: '{ForeignNode[shape...cond_OutputLayer]}',
  });
  expect(first!.message).toContain('Called with unknown input tensor');
});

describe('a GPU that the text around an error names', () => {
  const failure = "Name:'TRTKernel_graph_0' Status Message: TensorRT EP failed to create engine from network.";

  it.each([
    ['fits its version', 'TensorRT Version: 8.6.1\nGPU Type: GTX 1080 Ti'],
    ['is one of several', 'TensorRT 10.2\nGPU 0: Quadro P6000\nGPU 1: RTX 3090'],
    ['has no version beside it', 'GPU: Quadro P6000'],
    ['has two versions, of which one supports it', 'TensorRT 8.6 works, TensorRT 10.2 not\nGPU: Quadro P6000'],
    ['is none: a feature map of that name', 'TensorRT 10.2\noutputs of the neck are P4, P5'],
  ])('does not where it %s', (_, text) => {
    expect(diagnose(`${failure}\n${text}\n`)[0]!.code).toBe('failed');
  });
});

it('the same node in the words of a plugin registry and of an exception is one error', () => {
  const quoted =
    'In node 1143 (importFallbackPluginImporter): UNSUPPORTED_NODE: Assertion failed: creator && "Plugin not found, are the plugin name, version, and namespace correct?"';
  const found = diagnose(
    `[TensorRT] ERROR: 3: getPluginCreator could not find plugin: TRTBatchedNMS version: 1\n2022-03-05:23:28:33,root ERROR    [utils.py:43] Failed to parse onnx, ${quoted}\n\nTraceback (most recent call last):\n  File "utils.py", line 76, in create\n    raise RuntimeError(msg)\nRuntimeError: Failed to parse onnx, ${quoted}\n`,
  );
  expect(found.map(({ line, code }) => [line, code])).toEqual([[1, 'plugin-missing']]);
});

it('an engine names the plugin that its registry lacks, in the line before', () => {
  const found = diagnose(
    '[ERROR] [TensorRT] IPluginRegistry::getCreator: Error Code 4: API Usage Error (Cannot find plugin: MyGemm, version: 1, namespace:. In getCreatorInternal at pluginRegistry.cpp:436)\n[ERROR] [TensorRT] IRuntime::deserializeCudaEngineV2: Error Code 1: Serialization (Serialization assertion creator failed. Cannot deserialize plugin since corresponding IPluginCreatorInterface not found in Plugin Registry)\n',
  );
  expect(found.map(({ line, message }) => [line, message])).toEqual([
    [1, 'The engine contains a plugin (MyGemm) that is not registered where it is loaded.'],
  ]);
});

it('a DLA that runs nothing is reported as a whole', () => {
  const [found] = diagnose(
    '[08/14/2026-10:15:16] [W] [TRT] DLA requests all profiles have same min, max, and opt value. All dla layers are falling back to GPU\n',
  );
  expect(found!.message).toBe(
    'Every layer runs on the GPU: DLA requests all profiles have same min, max, and opt value.',
  );
});

it('an operation of the optimizer that knows no plugins is no question of types', () => {
  const [problem] = diagnose(
    '[ERROR] IBuilder::buildSerializedNetwork: Error Code 1: Internal Error (Not implemented for node type PLUGIN_V3. In removeEmptyProducersFromSubgraph at optimizer/myelin/rewrite/removeEmptyProducers.cpp:61)',
  );
  expect(problem!.message).toMatch(/refuses a plugin .*PLUGIN_V3/);
  expect(problem!.advice).toMatch(/later TensorRT.* sizes of 1 or more/);
});

it('precision constraints are a flag that a strongly typed network does not take', () => {
  const [problem] = diagnose(
    '[TRT] [E] IBuilder::buildSerializedNetwork: Error Code 3: API Usage Error (Parameter check failed, condition: !config.getFlag(BuilderFlag::kOBEY_PRECISION_CONSTRAINTS). )',
  );
  expect(problem!.rule).toBe('strongly-typed-flags');
  expect(problem!.message).toContain('OBEY_PRECISION_CONSTRAINTS');
});

it('what a person writes around a log begins no phase', () => {
  expect(diagnose('When I create a session and set TensorrtExecutionProvider, it raises.\n')).toEqual([]);
});

it.each([
  [
    'IBuilder::buildSerializedNetwork: Error Code 2: Internal Error (Assertion cask::isSuccess(status) failed. )',
    'internal-check',
  ],
  [
    'IRuntime::deserializeCudaEngine: Error Code 6: API Usage Error (TensorRT plan major version does not match runtime major version. )',
    'engine-other-version',
  ],
  [
    'Error Code: 9: Skipping tactic 0x0 due to exception [tunable_graph.cpp:create:127] autotuning: User allocator error allocating 4294967296-byte buffer\n[TRT] [E] IBuilder::buildSerializedNetwork: Error Code 10: Internal Error (Could not find any implementation for node {ForeignNode[a...b]}.)',
    'no-tactic-fits',
  ],
])('what TensorRT 10 says through its interface is known: %s', (text, rule) => {
  expect(diagnose(`[TRT] [E] ${text}\n`)[0]!.rule).toBe(rule);
});

it('an excerpt without times is not taken for a build of trtlens', () => {
  const [first] = diagnose(
    '[E] [TRT] Network has dynamic or shape inputs, but no optimization profile has been defined.\n',
  );
  expect(first!.advice).not.toContain('--min-shapes');
});

describe('a flag that trtexec does not have', () => {
  const adviceOf = (banner: string, flag: string) =>
    diagnose(`&&&& RUNNING ${banner} # trtexec --onnx=m.onnx ${flag}\n[E] Unknown option: ${flag}\n`)[0]!.advice;

  it.each([
    [
      'TensorRT.trtexec [TensorRT v110200]',
      '--fp16',
      /11\.0 and later no longer has it\. The types come from the model/,
    ],
    ['TensorRT.trtexec [TensorRT v110200]', '--calib=x.cache', /Quantize the model with Q\/DQ nodes/],
    ['TensorRT.trtexec [TensorRT v8601]', '--bf16', /It came with TensorRT 9:/],
    ['TensorRT.trtexec [TensorRT v100600]', '--buildOnly', /Use --skipInference\./],
    ['TensorRT-RTX.tensorrt_rtx [TensorRT v10200]', '--fp16', /TensorRT-RTX has no such flag\. The types come from/],
    ['TensorRT.trtexec [TensorRT v100600]', '--onxx=m.onnx', /misspelled/],
  ])('%s, %s', (banner, flag, advice) => {
    expect(adviceOf(banner, flag)).toMatch(advice);
  });
});

it.each([
  [
    "type object 'tensorrt_bindings.tensorrt.NetworkDefinitionCreationFlag' has no attribute 'EXPLICIT_BATCH'",
    /Pass 0/,
  ],
  ["'tensorrt.tensorrt.ITensor' object has no attribute 'set_dynamic_range'", /Q\/DQ nodes/],
  ["'tensorrt_bindings.tensorrt.IPluginRegistry' object has no attribute 'plugin_creator_list'", /Use all_creators/],
  [
    "'tensorrt_rtx_bindings.tensorrt_rtx.IPluginRegistry' object has no attribute 'get_plugin_creator'",
    /Use get_creator/,
  ],
])('a name that TensorRT 11 removed: %s', (text, advice) => {
  const [first] = diagnose(`AttributeError: ${text}\n`);
  expect(first).toMatchObject({ rule: 'api-removed' });
  expect(first!.advice).toMatch(/^TensorRT 11\.0 removed it\./);
  expect(first!.advice).toMatch(advice);
});

it.each([
  ['(Unnamed Layer* 0) [Activation]: only activation types allowed as input to this layer.', 'layer-types'],
  ['(Unnamed Layer* 0) [Reduce]: no dimensions to be reduced', 'layer-shapes'],
  [
    'INormalizationLayer (Unnamed Layer* 1) [Normalization]: Assertion input.nbDims == scale.nbDims && input.nbDims == bias.nbDims failed.',
    'layer-shapes',
  ],
])('a layer that says what it does not take: %s', (text, rule) => {
  const found = diagnose(`[TRT] [E] IBuilder::buildSerializedNetwork: Error Code 4: API Usage Error (${text})\n`);
  expect(found).toMatchObject([{ rule }]);
});

it.each([
  ['[E] stoi', 'The value of an option is not a number where one is needed.'],
  [
    '[E] stod conversion failure: failed to parse --memPoolSize. Please double check your input string.',
    'The value of --memPoolSize is not a number where one is needed.',
  ],
])('an option of trtexec without a number: %s', (text, message) => {
  const run = 'TensorRT.trtexec [TensorRT v100600] [b26] # trtexec --onnx=m.onnx';
  expect(diagnose(`&&&& RUNNING ${run}\n${text}\n&&&& FAILED ${run}\n`)).toMatchObject([{ message }]);
});

it('a plugin that an engine lacks is not taken for an operator of a model', () => {
  const found = diagnose(
    '[TRT] [E] IPluginRegistry::getCreator: Error Code 4: API Usage Error (Cannot find plugin: Scale, version: 1, namespace:.)\n[TRT] [E] IRuntime::deserializeCudaEngine: Error Code 1: Serialization (Serialization assertion creator failed.Cannot deserialize plugin since corresponding IPluginCreatorInterface not found in Plugin Registry)\n',
  );
  expect(found).toMatchObject([{ code: 'plugin-missing' }]);
});

it('a crash after an error that no rule knows follows from it', () => {
  const found = diagnose('[TRT] [E] Unexpected thing in the optimizer\nSegmentation fault (core dumped)\n');
  expect(found).toMatchObject([{ code: 'internal', line: 1, follows: [{ line: 2 }] }]);
});

describe('a cause that other messages hide', () => {
  const provider =
    'RuntimeError: provider_bridge_ort.cc:1025 Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load library libonnxruntime_providers_tensorrt.so with error: /x/libonnxruntime_providers_tensorrt.so: undefined symbol: ';
  const check = '[TensorRT] ERROR: Parameter check failed at: engine.cpp::';

  it.each([
    ['a provider of another ONNX Runtime', `${provider}Provider_GetHost`, 'symbol-missing'],
    [
      'a shape outside the profile',
      `${check}setBindingDimensions::949, condition: profileMinDims.d[i] <= dimensions.d[i]\n${check}resolveSlots::1092, condition: allInputDimensionsSpecified(routine)`,
      'outside-profile',
    ],
  ])('%s', (_, text, rule) => {
    expect(diagnose(text).map((one) => one.rule)).toEqual([rule]);
  });

  it.each([
    ['Cudnn Error in execute: 3\n', 'CUDNN_STATUS_BAD_PARAM'],
    ['Cublas Error in initializeCommonContext: 13\n', 'CUBLAS_STATUS_EXECUTION_FAILED'],
    ['Cudnn Error in executeConv: 8 (CUDNN_STATUS_EXECUTION_FAILED)\n', 'CUDNN_STATUS_EXECUTION_FAILED'],
  ])('the status of a library: %j', (line, status) => {
    expect(diagnose(`[TensorRT] ERROR: cuda/x.cpp (12) - ${line}`)[0]!.message).toContain(`(${status})`);
  });
});

describe('memory that ran out while tactics were timed, in an excerpt without frames', () => {
  const short = [
    '[E] [TRT] 1: [defaultAllocator.cpp::allocate::19] Error Code 1: Cuda Runtime (out of memory)',
    '[W] [TRT] Requested amount of GPU memory (8589934592 bytes) could not be allocated.',
    '[W] [TRT] Skipping tactic 2 due to insufficient memory on requested size of 8589934592 detected for tactic 0x02.',
  ];
  const on = '[V] [TRT] --------------- Timing Runner: /conv2/Conv (CaskConvolution[0x80000009])';
  const severityOf = (...lines: string[]) => {
    const [first] = diagnoseLog(readBuildLog(`${lines.join('\n')}\n`).value);
    return `${first!.severity} ${first!.message}`;
  };

  it.each([
    '[V] [TRT] Engine generation completed in 61.2 seconds.',
    '[I] [TRT] [MemUsageStats] Peak memory usage of TRT CPU/GPU memory allocators: CPU 20 MiB, GPU 2048 MiB',
    '[I] [TRT] [MemUsageChange] TensorRT-managed allocation in building engine: CPU +0, GPU +4, now: CPU 0, GPU 4 (MiB)',
    '[I] Engine built in 80.2 sec.',
  ])('is a warning where the same build ended well: %s', (end) => {
    expect(severityOf(...short, on, end)).toMatch(/^warning .* The build went on with other tactics and passed/);
  });

  it('stays an error where the log does not show how the build ended, or that something else failed', () => {
    const end = '[I] Engine built in 80.2 sec.';
    const failed = '[E] [TRT] 10: Error Code 10: Internal Error (Could not find any implementation for node /a/Conv.)';
    expect(severityOf(...short, on)).toMatch(/^error /);
    expect(severityOf(...short, failed, on, end)).toMatch(/^error /);
    expect(severityOf(short[0]!, end)).toMatch(/^error /);
  });
});

describe('what could not be built', () => {
  const failed = (name: string) =>
    `[E] Error[10]: [optimizer.cpp::computeCosts::2011] Error Code 10: Internal Error (Could not find any implementation for node ${name}.)`;
  const of = (version: string, gpu: string, flags: string, ...lines: string[]) =>
    diagnoseLog(
      readBuildLog(
        [
          `&&&& RUNNING TensorRT.trtexec [TensorRT v${version}] # trtexec --onnx=a.onnx ${flags}`,
          `[I] Selected Device: ${gpu}`,
          ...lines,
          `&&&& FAILED TensorRT.trtexec [TensorRT v${version}] # trtexec --onnx=a.onnx ${flags}`,
        ].join('\n'),
      ).value,
    )[0]!;
  const region = failed('{ForeignNode[Unsqueeze_93...Softmax_2088]}');

  it('names the version, the GPU and the types that the command allows', () => {
    const one = of('101303', 'NVIDIA GeForce RTX 3090', '--best --bf16', region);
    expect(one.message).toContain('TensorRT 10.13.3 found no implementation on NVIDIA GeForce RTX 3090 for {Foreign');
    expect(one.advice).toContain('The command allows BF16, FP16 and INT8: build once in FP32');
    expect(of('101303', 'NVIDIA GeForce RTX 3090', '', region).advice).not.toContain('The command allows');
  });

  it('counts the operators from the first to the last node of a region', () => {
    const parsed = ['a [Relu]', 'b [MatMul]', 'c [Add]', 'd [MatMul]', 'e [Softmax]', 'f [Relu]'].map(
      (node) => `[V] [TRT] Parsing node: ${node}`,
    );
    expect(of('101303', 'NVIDIA L4', '', ...parsed, failed('{ForeignNode[x + b...d + e]}')).message).toMatch(
      / From its first to its last node the model has 4 nodes: 2 MatMul, 1 Add, 1 Softmax\.$/,
    );
    expect(of('101303', 'NVIDIA L4', '', ...parsed, failed('{ForeignNode[x...y]}')).message).not.toContain('From its');
  });
});

describe('what the last words of a message are taken for', () => {
  it('a colon after which nothing comes is not a part of the reason', () => {
    const [first] = diagnose(
      '[TRT] [W] Skipping tactic 0 due to Myelin error: autotuning: CUDA error 3 allocating 0-byte buffer:\n[TRT] [E] 10: [optimizer.cpp::computeCosts::2011] Error Code 10: Internal Error (Could not find any implementation for node {ForeignNode[/Flatten.../Concat_94]}.)\n',
    );
    expect(first!.message).toMatch(/allocating 0-byte buffer\. /);
  });

  it('an unnamed layer of a shape keeps its name', () => {
    const [first] = diagnose(
      "[TRT] [E] Layer: (Unnamed Layer* 24)[Select]'s output can not be used as shape tensor.\n",
    );
    expect(first).toMatchObject({ rule: 'shape-tensor-rank', layer: '(Unnamed Layer* 24)[Select]' });
  });
});
