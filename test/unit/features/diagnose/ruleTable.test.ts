import { readFileSync } from 'node:fs';
import { analyse } from 'scslre';
import { describe, expect, it } from 'vitest';
import { diagnoseLog, howItEnds } from '../../../../src/features/diagnose/diagnoseLog.ts';
import { FILTERS } from '../../../../src/features/diagnose/internal/matchRule.ts';
import { NAMED_VALUES } from '../../../../src/features/diagnose/internal/namedValues.ts';
import { RULES } from '../../../../src/features/diagnose/internal/ruleTable.ts';
import { BuildLogReader, readBuildLog } from '../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { diagnosisRows, rowPatterns, ruleExamples } from '../../../support/diagnosisRows.ts';
import { captureText, fixturePath } from '../../../support/fixtures.ts';
import { readSchema, schemaViolations } from '../../../support/jsonSchema.ts';

const logs = ruleExamples;
/** Output of programs that went well, or that only mentions failures. */
const harmless = new Map(
  readFileSync(fixturePath('failures/harmless.txt'), 'utf8')
    .split(/^=== /m)
    .slice(1)
    .map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1)]),
);
const diagnose = (text: string) => diagnoseLog(readBuildLog(text).value);

describe('every rule', () => {
  it('fits the schema', () => {
    expect(schemaViolations(diagnosisRows, readSchema('diagnosis-rules'))).toEqual([]);
  });

  it('has an id of its own, and a recording or a reason', () => {
    const ids = diagnosisRows.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
    const neither = diagnosisRows.filter(({ evidence, reason }) => (evidence === undefined) === (reason === undefined));
    expect(neither.map(({ id }) => id)).toEqual([]);
  });

  it.each(diagnosisRows.map(({ id, example, cause }) => [id, example, cause]))(
    '%s is the first thing said of its example',
    (id, example, cause) => {
      const [first] = diagnose(example);
      expect(first?.rule).toBe(id);
      expect(first!.message).not.toMatch(/\{[a-z]\w*\}|\[\[|\(not named\)/);
      expect(first!.advice).toMatch(/[.)]$/);
      expect(first!.evidence).toMatch(/\S/);
      expect(cause).toMatch(/^(?:[{A-Z]|config|cu[A-Z])/);
    },
  );

  it('uses values that there are', () => {
    const uses = RULES.flatMap(({ use }) => use ?? []);
    expect(uses.filter((use) => !Object.hasOwn(NAMED_VALUES, use))).toEqual([]);
    const filters = JSON.stringify(RULES).matchAll(/\{\w+\|(\w+)\}/g);
    expect([...filters].flatMap(([, name]) => (Object.hasOwn(FILTERS, name!) ? [] : [name]))).toEqual([]);
  });
});

/** Patterns that may look at a part of a line again for each of its characters: with lines of 100 KB that takes seconds. */
const slowIn = (pattern: RegExp) => analyse(pattern).reports.map(({ type }) => type);

it('no pattern of a rule takes time that grows with the square of a line', () => {
  const slow = rowPatterns.flatMap(({ place, pattern }) => slowIn(pattern).map((type) => `${place}: ${type}`));
  expect(slow).toEqual([]);
});

it.each([/(?<layer>[^\s:]+): no tactic/, /size of \d+[^\n]*?\s*Try/, /(?:\w+)*: failed/])(
  'the pattern %s of a rule would be found',
  (pattern) => {
    expect(slowIn(pattern)).not.toEqual([]);
  },
);

it.each([
  'bash: line 1: trtexec: command not found',
  'sh: 1: trtexec: not found',
  'zsh: command not found: trtexec',
  'fish: Unknown command: trtexec',
  'trtexec: Command not found.',
  '-bash: /usr/src/tensorrt/bin/trtexec: No such file or directory',
  "'trtexec' is not recognized as an internal or external command,",
  "trtexec : The term 'trtexec' is not recognized as the name of a cmdlet, function, script file",
])('a shell that does not find the program: %s', (text) => {
  expect(diagnose(`${text}\n`)[0]).toMatchObject({ rule: 'program-not-found', severity: 'error' });
});

it('an option whose value is refused is found within quotes', () => {
  const text = `{"event": "error", "message": "--opt: expected name:1x3x224x224, got 'x=2x4'"}`;
  expect(diagnose(text)[0]).toMatchObject({ rule: 'flag-value' });
});

it.each([...harmless.keys()])('no rule finds an error where nothing failed: %s', (id) => {
  expect(diagnose(harmless.get(id)!).filter(({ severity }) => severity === 'error')).toEqual([]);
});

it.each([
  "I know that 'out of memory' means too little memory, but I still get it with 24 GB: out of memory",
  "When I run trtexec I see 'Segmentation fault (core dumped)'",
  "I used to get 'out of memory', and now it fails with a segmentation fault",
  "What does 'Segmentation fault (core dumped)' mean?",
])('a failure that a sentence quotes as its own is found: %s', (text) => {
  expect(diagnose(text)[0]).toMatchObject({ severity: 'error' });
});

it.each([
  ['packages of one version', harmless.get('pip-list-of-two-digits')!],
  ['praise of INT8', 'int8 is no slower than FP16 with TensorRT.'],
])('no rule warns of %s', (_, text) => {
  expect(diagnose(text)).toEqual([]);
});

describe('a log that is read for a diagnosis alone', () => {
  const inBrief = (text: string) => {
    const reader = new BuildLogReader({ times: false, registered: false });
    reader.push(text);
    return diagnoseLog(reader.end().value);
  };

  it('gives what a log that is read in full gives, for each rule', () => {
    for (const [id, text] of logs) expect(inBrief(text), id).toEqual(diagnose(text));
  });

  it.each([
    'tensorrt-10.6.0/fp16_overflow.poly_markall/log0.txt',
    'tensorrt-10.6.0/unsupported_op.fp32/log.txt',
    'tensorrt-10.6.0/resnet18.fp32/log.txt',
    'tensorrt-10.6.0/resnet18.workspace_1k/log.txt',
    'tensorrt-8.6.1/two_inputs_multi_out.fp32/log.txt',
    'tensorrt-rtx-1.7.1/resnet18/log.txt',
  ])('gives the same of %s, also where it is cut off', (capture) => {
    const text = captureText(capture)!;
    for (const part of [1, 0.9, 0.7, 0.4, 0.1]) {
      const cut = text.slice(0, text.length * part);
      expect(inBrief(cut)).toEqual(diagnose(cut));
    }
  });
});

const wrap = (text: string, width: number): string =>
  text
    .split('\n')
    .map((line) => line.match(new RegExp(`.{1,${width}}`, 'g'))?.join('\n') ?? '')
    .join('\n');

describe('whatever is around the text', () => {
  const message =
    '2: [quantization.cpp::DynamicRange::65] Error Code 2: Internal Error (Assertion min_ <= max_ failed.)';
  it.each([
    ['trtexec', `[11/23/2026-10:41:50] [E] ${message}`],
    ['a library', `[11/23/2026-10:41:50] [E] [TRT] ${message}`],
    ['Python', `[11/23/2026-10:41:50] [TRT] [E] ${message}`],
    ['TensorRT 7', `[TensorRT] ERROR: ${message}`],
    ['Polygraphy', `[E] ${message}`],
    ['C++ loggers', `ERROR: ${message}`],
    ['no prefix', message],
    [
      'ONNX Runtime',
      `2026-01-01 10:00:00.1 [E:onnxruntime:Default, tensorrt_execution_provider.h:75 log] [2026-01-01 10:00:00   ERROR] ${message}`,
    ],
    [
      'NvTensorRTRTX',
      `2026-01-01 10:00:00.1 [E:onnxruntime:Default, nv_execution_provider.h:49 log] [2026-01-01 10:00:00   ERROR] ${message}`,
    ],
    ['Triton', `E0522 15:32:46.696038 19153 logging.cc:43] ${message}`],
    ['Torch-TensorRT', `ERROR: [Torch-TensorRT TorchScript Conversion Context] - ${message}`],
    [
      'TF-TRT',
      `2026-01-01 10:00:00.1: E tensorflow/compiler/tf2tensorrt/utils/trt_logger.cc:87] DefaultLogger ${message}`,
    ],
    ['TensorRT-LLM', `[TensorRT-LLM][ERROR] ${message}`],
    ["TensorRT-LLM's Python", `[11/23/2026-10:41:50] [TRT-LLM] [E] ${message}`],
    ['torch2trt', `[TensorRT] ERROR: ${message}`],
    ['jetson-inference', `[TRT]    ${message}`],
    ['DeepStream', `ERROR: [TRT]: ${message}`],
    ['Isaac ROS', `[component_container-1] [ERROR] [1636920885.337] [tensor_rt]: ${message}`],
    ['ComfyUI', `[ComfyUI-Upscaler-Tensorrt|ERROR] - ${message}`],
    ['mmdeploy', `[2026-03-24 00:18:49.177] [mmdeploy] [error] TRTNet: ${message}`],
    ['an unknown logger', `trt_infer: ${message}`],
    ['Docker Compose', `builder-1  | [11/23/2026-10:41:50] [E] [TRT] ${message}`],
    ['Docker', JSON.stringify({ log: `[E] [TRT] ${message}\n`, stream: 'stderr' })],
    ['journald', `Nov 23 10:41:50 host trt[12]: [11/23/2026-10:41:50] [E] [TRT] ${message}`],
    ['colors', `\u001b[31m[11/23/2026-10:41:50] [E] [TRT] ${message}\u001b[0m`],
    ['Windows line ends', `[11/23/2026-10:41:50] [E] [TRT] ${message}\r`],
    ['a terminal of 80 columns', wrap(`[11/23/2026-10:41:50] [E] [TRT] ${message}`, 80)],
    ['a quotation in Markdown', `> [TensorRT] ERROR: ${message}`],
    ['a quotation of a quotation', `> > [E] [TRT] ${message}`],
    ['code in Markdown', `\`[E] [TRT] ${message}\``],
    ['bold letters in Markdown', `**ERROR: [TRT]: ${message}**`],
    ['a traceback', `Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n[TRT] [E] ${message}`],
  ])('%s', (_, text) => {
    expect(diagnose(`${text}\n`)[0]).toMatchObject({ rule: 'calibration-nan', severity: 'error' });
  });
});

describe('a failure is never nothing', () => {
  const begun = '[11/23/2026-10:41:50] [V] [TRT] Parsing node: /conv/Conv [Conv]\n';
  it.each([
    ['killed', `${begun}Killed\n`],
    [
      'a failed frame',
      '&&&& RUNNING TensorRT.trtexec [TensorRT v100600] [b26] # trtexec\n&&&& FAILED TensorRT.trtexec [TensorRT v100600] [b26] # trtexec\n',
    ],
    ['an unsupported node', 'UNSUPPORTED_NODE: something new\n'],
    ['an end in the middle', begun],
    ['an access violation', `${begun}Process exited with 0xC0000005\n`],
    ['a Python error', 'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: no\n'],
    ['a segmentation fault', `${begun}Segmentation fault (core dumped)\n`],
    ['words of failure', `${begun}[TRT]    device GPU, failed to build CUDA engine\n`],
  ])('%s', (_, text) => {
    const [first] = diagnose(text);
    expect(first).toMatchObject({ severity: 'error' });
    expect(first!.message).toMatch(/\S/);
    expect(first!.advice).toMatch(/\S/);
  });
});

describe('texts next to those that a rule is from', () => {
  const first = (text: string) => diagnose(`${text}\n`)[0];

  it.each([
    [
      'branches of an If in older words',
      '[E] Error[4]: [graphShapeAnalyzer.cpp::analyzeShapes::2084] Error Code 4: Miscellaneous (IConditionalOutputLayer optimum::if_OutputLayer_4945: optimum::if_OutputLayer_4945: dimensions not compatible for if-conditional outputs)',
      'if-shapes',
    ],
    [
      'bindings in older words',
      '[E] [TRT] Parameter check failed at: engine.cpp::enqueue::453, condition: bindings[x] != nullptr',
      'bindings',
    ],
    ['NaN of a program in FP16', 'RuntimeError: no NaN is allowed in fp16 outputs here', null],
    [
      'a loadable of layers that leave the DLA',
      '4: [standardEngineBuilder.cpp::engineValidationForSafeDLAMode::1519] Error Code 4: Internal Error (Safe DLA is enabled but not all layers are running on DLA.)',
      'dla-standalone',
    ],
    [
      'an assertion on the backend of layers',
      '[E] Error[2]: [nvmRegionOptimizer.cpp::forceToUseNvmIO::175] Error Code 2: Internal Error (Assertion std::all_of(a->consumers.begin(), a->consumers.end(), [](Node* n) { return isDLA(n->backend); }) failed. )',
      'dla-standalone',
    ],
    [
      'external weights without a name',
      '[2020-10-15 05:32:39   ERROR] [TRT]onnx2trt_utils.cpp:1312: Failed to open file: \nERROR: ModelImporter.cpp:92 In function parseGraph:\n[8] Assertion failed: convertOnnxWeights(initializer, &weights, ctx)',
      'weights-missing',
    ],
    ['a base class of PyTorch', 'TypeError: torch._C.Base.__init__() must be called when overriding __init__', null],
    ['a shape in a program', 'ValueError: Input shape (1, 3) does not match provided input shape (1, 4)', null],
    [
      'a call of ONNX Runtime',
      'TypeError: run(): incompatible function arguments. The following argument types are supported:\n    1. (self: onnxruntime.capi.onnxruntime_pybind11_state.InferenceSession, arg0: list[str]) -> list\n\nInvoked with: <onnxruntime.capi.InferenceSession object at 0x7f>, None',
      null,
    ],
    [
      'a bias that counts all groups',
      'While parsing node number 180 [ConvTranspose]:\nERROR: builtin_op_importers.cpp:570 In function importConvTranspose:\n[6] Assertion failed: shaped_bias_weights.shape.d[0] == kernel_weights.shape.d[1] * ngroup',
      'parser-condition',
    ],
  ])('%s', (_, text, rule) => expect(first(text)?.rule ?? null).toBe(rule));

  it.each([
    'Config Validation failed: missing key',
    '2 errors: Validation failed: for DeploymentConfig',
    'onnx2trt only supports asymmetric quantization here',
  ])('says nothing of %s', (text) => expect(diagnose(`${text}\n[TRT] INFO: Loading\n`)).toEqual([]));

  it.each([
    [
      '[8] Assertion failed: status.is_success(): Found unsupported input type of UINT8',
      'A node has an input of type UINT8',
    ],
    ['[TensorRT] ERROR: (Unnamed Layer* 31) [Recurrence]: second input is not of this loop.', 'is not of this loop.'],
  ])('%s', (text, said) => {
    const { message } = first(text)!;
    expect(message).toContain(said);
    expect(message).not.toMatch(/\.\.$/);
  });
});

describe('what the command in a log says', () => {
  const message =
    'Dynamic dimensions required for input: x, but no shapes were provided. Automatically overriding shape to: 1x3';

  it('names the inputs that its shapes are for, where they are not of the model', () => {
    const [first] = diagnose(
      `$ trtexec --onnx=m.onnx --minShapes=in:1x3 --optShapes=in:1x9 --maxShapes=in:1x9\n${message}\n`,
    );
    expect(first).toMatchObject({
      message: expect.stringContaining('The command gives shapes for in, which is not its name.'),
      advice: expect.stringContaining('--minShapes=x:…'),
    });
  });

  it('says nothing of them where they are', () => {
    const [first] = diagnose(`$ trtexec --onnx=m.onnx --shapes=x:1x3\n${message}\n`);
    expect(first!.message).not.toContain('The command');
  });
});

it.each([
  [205, 'an earlier one (format 205; this is format 213)'],
  [232, 'a later one (format 232; this is format 213)'],
])('an engine of format %i is of %s', (was, text) => {
  const log = `[TRT] [E] 1: [stdArchiveReader.cpp::StdArchiveReader::40] Error Code 1: Serialization (Serialization assertion stdVersionRead == serializationVersion failed.Version tag does not match. Note: Current Version: 213, Serialized Engine Version: ${was})`;
  expect(diagnose(log)[0]!.message).toContain(text);
});

it('says what a layer of a Q/DQ node needs on the DLA', () => {
  expect(diagnose(logs.get('dla-no-fallback')!)[0]!.advice).toMatch(/^The layer belongs to a Q\/DQ node/);
});

it('keeps the name that torch2trt gives a layer', () => {
  const log = '[TRT] [E] 3: net.conv3_up.0:1:CONVOLUTION:GPU: at least 4 dimensions are required for input.\n';
  expect(diagnose(log)[0]!.message).toContain('"net.conv3_up.0:1:CONVOLUTION:GPU"');
});

it('says that an engine was running where the command only loads one', () => {
  const log =
    'trtexec --loadEngine=m.trt --streams=10 --threads\nwhat(): Assertion mUsedAllocators.find(alloc) != mUsedAllocators.end() && "Myelin free callback called with invalid MyelinAllocator" failed.\n';
  expect(diagnose(log)[0]!.message).toContain('while loading or running the engine');
});

it('TensorRT 8.3 has kernels for Orin', () => {
  const log =
    'GPU Type: Orin\nTensorRT Version: 8.3.0\nvalue.h:394: Assertion failed\n[E] Error[2]: [a.cpp::b::1] Error Code 2: Internal Error (Assertion is_const() failed.)\n';
  expect(diagnose(log)[0]!.rule).toBe('internal-check');
});

describe('the cause first', () => {
  it('folds what follows from it', () => {
    const [first, ...others] = diagnose(logs.get('allocation-failed')!);
    expect(first).toMatchObject({ code: 'out-of-memory', rule: 'allocation-failed' });
    expect(first!.follows.map(({ line }) => line)).toEqual([2, 3]);
    expect(others).toEqual([]);
  });

  it.each([
    [
      'a driver that is too old, then bad_alloc',
      "[W] [TRT] CUDA initialization failure with error: 35.\nterminate called after throwing an instance of 'std::bad_alloc'\n",
      'cuda-runtime-too-new',
    ],
    [
      'a driver that is too old, then data that a sample lacks',
      '[W] [TRT] CUDA initialization failure with error: 35. Please check your CUDA installation\nCould not find mnist.onnx in data directories:\n\tdata/mnist/\n',
      'cuda-runtime-too-new',
    ],
    [
      'an illegal access, then an allocation',
      '[E] Error[1]: [defaultAllocator.cpp::allocate::31] Error Code 1: Cuda Runtime (an illegal memory access was encountered)\n[W] [TRT] Requested amount of GPU memory (4294967296 bytes) could not be allocated.\n',
      'illegal-memory-access',
    ],
    [
      'an allocation, then an illegal access',
      '[W] [TRT] Requested amount of GPU memory (4294967296 bytes) could not be allocated.\n[E] Error[1]: [defaultAllocator.cpp::allocate::31] Error Code 1: Cuda Runtime (an illegal memory access was encountered)\n',
      'allocation-failed',
    ],
    [
      'the kernel and systemd about a killed program',
      'Jan 12 10:12:44 box kernel: Out of memory: Killed process 4412 (serve) total-vm:48811232kB\nJan 12 10:12:45 box systemd[1]: serve.service: Main process exited, code=killed, status=9/KILL\n',
      'killed',
    ],
    [
      'a check that fails, then a builder that is destroyed too early',
      '[E] Error[2]: [shuffleBuilder.cpp::writeGlob::154] Error Code 2: Internal Error (Assertion outputScalesLen >= quantizations.outputs[0].scale.count() failed. )\n[E] Error[3]: [builder.cpp::~Builder::299] Error Code 3: API Usage Error (Parameter check failed at: optimizer/api/builder.cpp::~Builder::299, condition: mObjectCounter.use_count() == 1. Destroying a builder object before destroying objects it created leads to undefined behavior.\n',
      'internal-check',
    ],
    [
      'an excerpt that begins inside the frame of the parser',
      '[E] [TRT] ModelImporter.cpp:774: --- End node ---\n[E] [TRT] ModelImporter.cpp:777: ERROR: ModelImporter.cpp:195 In function parseGraph:\n[6] Invalid Node - /Where\n[graphShapeAnalyzer.cpp::checkCalculationStatusSanity::1503] Error Code 2: Internal Error (Assertion !isPartialWork(p.second.outputExtents) failed. )\n',
      'internal-check',
    ],
    [
      'shapes that were left out, then inputs that cannot be joined',
      '[W] Dynamic dimensions required for input: x, but no shapes were provided. Automatically overriding shape to: 1x4x1x1\n[E] Error[4]: [graphShapeAnalyzer.cpp::analyzeShapes::1872] Error Code 4: Miscellaneous (IConcatenationLayer cat: cat: axis 2 dimensions must be equal for concatenation on axis 1. Dimensions are 2 and 1.)\n',
      'shapes-defaulted',
    ],
    [
      'the text of an exception of TensorRT, after the program aborts for it',
      "terminate called after throwing an instance of 'nvinfer1::InternalError'\n  what():  Assertion mUsedAllocators.find(alloc) != mUsedAllocators.end() failed.\n",
      'internal-check',
    ],
    [
      'a bound of a shape, which is no scale of a calibration',
      '[E] 2: [shapeContext.cpp::checkVolume::2923] Error Code 2: Internal Error (Assertion bound >= 0 failed. )\n',
      'internal-check',
    ],
  ])('is found in %s', (_, text, rule) => {
    expect(diagnose(text)[0]!.rule).toBe(rule);
    expect(diagnose(text).filter(({ severity }) => severity === 'error')).toHaveLength(1);
  });

  it('names libraries of other versions where a program only crashes', () => {
    const text =
      '[TensorRT] WARNING: TensorRT was linked against cuDNN 8.2.1 but loaded cuDNN 8.1.1\nSegmentation fault (core dumped)\n';
    expect(diagnose(text)[0]!.advice).toMatch(
      /^This program loads cuDNN 8\.1\.1 where TensorRT was built with cuDNN 8\.2\.1/,
    );
  });

  it.each([
    ['(layer) != nullptr. )', 'a layer, tensor or name is null'],
    [
      'profileIndex >= 0 && profileIndex < mEngine.getNbOptimizationProfiles()',
      'no optimization profile of that index',
    ],
    ['kernelWeights.count > 0', 'its weights are missing'],
    ['index >= 0 && index < getNbInputs()', 'no input, output or layer of that index'],
  ])('says what the condition %s means', (condition, means) => {
    const [first] = diagnose(
      `[E] [TRT] INetwork::f: Error Code 3: API Usage Error (Parameter check failed, condition: ${condition}\n`,
    );
    expect(first).toMatchObject({ rule: 'api-argument' });
    expect(first!.message).toContain(means);
  });

  it.each([
    [
      '[TensorRT] ERROR: ../rtSafe/cuda/runner.cpp (303) - Cudnn Error in execute: 7 (CUDNN_STATUS_MAPPING_ERROR)',
      'cannot access memory',
    ],
    [
      '[E] [TRT] 1: [runner.cpp::execute::1] Error Code 1: Cuda Runtime (unspecified launch failure)',
      'a kernel failed',
    ],
    ['Cuda failure: 999', 'the driver does not know why'],
    ['Cuda Error in ~ExecutionContext: 4 (unspecified launch failure)', 'a kernel failed'],
    [
      '[E] [TRT] IExecutionContext::enqueueV3: Error Code 1: Cuda Runtime (operation not permitted when stream is capturing)',
      'while a CUDA graph is captured',
    ],
  ])('says what CUDA means by %s', (line, means) => {
    expect(diagnose(`${line}\n`)[0]!.message).toContain(means);
  });

  it.each([
    [1, 'invalid argument', 'an argument is invalid'],
    [3, 'initialization error', 'not initialized'],
    [4, 'driver shutting down', 'was shut down'],
    [9, 'invalid configuration argument', 'an invalid size'],
    [35, 'CUDA driver version is insufficient for CUDA runtime version', 'driver is older'],
    [49, 'incompatible driver context', 'not one that the CUDA runtime can use'],
    [98, 'invalid device function', 'no code for this GPU'],
    [100, 'no CUDA-capable device is detected', 'finds no GPU'],
    [201, 'invalid device context', 'o CUDA context is current'],
    [209, 'no kernel image is available for execution on the device', 'no code for this GPU'],
    [214, 'uncorrectable ECC error encountered', 'memory of the GPU has errors'],
    [215, 'limit is not supported on this architecture', 'does not have the limit'],
    [216, 'exclusive-thread device already in use by a different thread', 'has the GPU for itself'],
    [218, 'a PTX JIT compilation failed', 'could not compile the PTX'],
    [219, 'invalid OpenGL or DirectX context', 'OpenGL or DirectX is not valid'],
    [221, 'PTX JIT compiler library not found', 'libnvidia-ptxjitcompiler'],
    [223, 'PTX JIT compilation was disabled', 'may not compile PTX'],
    [224, 'the provided execution affinity is not supported', 'execution affinity'],
    [304, 'OS call failed or operation not supported on this OS', 'operating system failed'],
    [400, 'invalid resource handle', 'execution context is used in another CUDA context'],
    [401, 'the operation cannot be performed in the present state', 'not in a state for this call'],
    [700, 'an illegal memory access was encountered', 'outside its memory'],
    [701, 'too many resources requested for launch', 'more registers or threads'],
    [702, 'the launch timed out and was terminated', 'longer than the system allows'],
    [710, 'device-side assert triggered', 'checked a value'],
    [715, 'an illegal instruction was encountered', 'an instruction that the GPU does not know'],
    [716, 'misaligned address', 'an address that is not aligned'],
    [719, 'unspecified launch failure', 'a kernel failed'],
    [801, 'operation not supported', 'system does not support the operation'],
    [900, 'operation not permitted when stream is capturing', 'while a CUDA graph is captured'],
    [909, 'wait operation timed out', 'waited too long'],
    [910, 'the graph update was not performed because it included changes', 'a CUDA graph was updated'],
    [999, 'unknown error', 'the driver does not know why'],
  ])('says the same of error %i of CUDA (%s) by its number, its words and both', (number, words, means) => {
    const start = number === 2 ? 'got no memory' : means;
    expect(
      diagnose(`[TRT] [E] 6: CUDA initialization failure with error: ${number}. Please check\n`)[0]!.message,
    ).toContain(start);
    for (const line of [
      `[E] [TRT] 1: [engine.cpp::x::40] Error Code 1: Cuda Runtime (${words})`,
      `[E] [TRT] ../rtSafe/x.cpp (925) - Cuda Error in launch: ${number} (${words})`,
      `CUDA error ${number} at /x/yololayer.cpp:12`,
      `Cuda failure: ${number}`,
      `Cuda failure: ${words}`,
    ])
      expect(diagnose(`${line}\n`)[0]!.message, line).toContain(means);
  });

  it.each([
    ['splits.is_weights()', 'an input is computed'],
    ['dims.nbDims == 3', 'an input has a rank, shape or axis'],
    ['x->getType() == DataType::kFLOAT', 'an input has a type'],
    ['inputs.size() == 2', 'another number of inputs'],
    ['mode == "cubic"', 'an attribute has a value'],
    ['!isDynamic(x->getDimensions()) && "no dynamic inputs!"', 'an input has dynamic dimensions'],
    ['!isShape(x) && "Cannot perform gather on a shape tensor!"', 'a shape that the model computes'],
    ['ok', 'its inputs or attributes are other than it expects'],
  ])('says what the assertion %s of the parser means', (condition, means) => {
    const [first] = diagnose(
      `ERROR: builtin_op_importers.cpp:9 In function importFoo:\n[8] Assertion failed: ${condition}\n`,
    );
    expect(first!.message).toContain(means);
  });

  it.each([
    'Error[1]: [runner.cpp::execute::718] Error Code 1: Myelin (Final synchronize failed (700))',
    'myelin/myelinUtils.cpp (132) - Myelin Error in gateMyelinGraphStartOnStream: 700 ()',
    'Error[1]: [runner.cpp::execute::416] Error Code 1: Myelin (CUDA error 700)',
  ])('finds an illegal access in %s, while the engine runs', (line) => {
    expect(diagnose(`[E] ${line}\n`)[0]).toMatchObject({ rule: 'myelin-memory-access' });
    expect(howItEnds(readBuildLog(`[E] ${line}\n`).value)).toContain('while running the engine');
  });

  it('names the project of a plugin that an engine contains', () => {
    const [first] = diagnose(
      '[E] [TRT] INVALID_ARGUMENT: getPluginCreator could not find plugin YoloLayer_TRT version 1\n[E] [TRT] INVALID_CONFIG: Deserialize the cuda engine failed.\n',
    );
    expect(first!.message).toContain('tensorrt_demos');
  });

  it.each([
    ['It works with TensorRT 7.2 and not with TensorRT 8.0', undefined],
    ['torch-tensorrt 1.1.0 and tensorrtx at yolov5-v6.0', undefined],
  ])('takes the version from the text around a log: %s', (text, version) => {
    const [first] = diagnose(
      `[E] [TRT] 2: [builder.cpp::check::12] Error Code 2: Internal Error (Assertion a.size() failed. )\n\n${text}\n`,
    );
    expect(/^TensorRT ([\d.]+) stopped/.exec(first!.message)?.[1]).toBe(version);
  });

  it('gives the size of an allocation that failed', () => {
    const text =
      '[E] [TRT] 1: [defaultAllocator.cpp::allocate::19] Error Code 1: Cuda Runtime (out of memory)\n[W] [TRT] Requested amount of GPU memory (17920000000 bytes) could not be allocated. There may not be enough free memory for allocation to succeed.\n';
    expect(diagnose(text)).toHaveLength(1);
    expect(diagnose(text)[0]!.message).toContain('16.7 GiB');
  });

  it('says of a log that ends where kernels are timed that it does', () => {
    const text =
      '[04/10/2024-02:13:02] [I] [TRT] Local timing cache in use. Profiling results in this builder pass will not be stored.\n';
    expect(diagnose(text)[0]).toMatchObject({ severity: 'warning', code: 'cut-off' });
  });

  it('ends a reason of the DLA before what was done', () => {
    const text = "[W] [TRT] /up/Resize: DLA only supports nearest resize. Switching this layer's device type to GPU.\n";
    expect(diagnose(text)[0]!.message).toBe(
      '1 layer runs on the GPU instead of the DLA (fallback): 1 layer (DLA only supports nearest resize): /up/Resize.',
    );
  });

  it('joins what TensorRT says of a layer that leaves the DLA: the reason, the kind, the decision', () => {
    const text = [
      '[W] [TRT] /head/Tile: DLA does not support out-of-bounds slice operation.',
      "[W] [TRT] Layer '/head/Tile' (SLICE): Unsupported on DLA. Switching this layer's device type to GPU.",
      "[W] [TRT] Layer '/head/c1' (CONSTANT): Unsupported on DLA. Switching this layer's device type to GPU.",
      "[W] [TRT] Layer '/head/c2' (CONSTANT): Unsupported on DLA. Switching this layer's device type to GPU.",
      '[W] [TRT] This version of DLA does not support reshape layers directly connected to Slice or Concat',
      '[W] [TRT] Validation failed for DLA layer: /attn/Reshape. Switching to GPU fallback.',
      '[W] [TRT] Splitting DLA subgraph at: /attn/Reshape because DLA validation failed for this layer.',
      '[W] [TRT] DLA supports only 8 subgraphs per DLA core. Switching to GPU for layer conv_6',
      '[W] [TRT] DLA Layer conv_7 does not support dynamic shapes in any dimension.',
    ];
    const older = [
      'WARNING: route84: Concatenation on DLA requires at least two inputs.',
      'WARNING: Default DLA is enabled but layer route84 is not running on DLA, falling back to GPU.',
    ];
    expect(diagnose(text.join('\n'))[0]!.message.split(': ').slice(1).join(': ')).toBe(
      [
        '2 CONSTANT (Unsupported on DLA): /head/c1, /head/c2',
        '1 SLICE (DLA does not support out-of-bounds slice operation): /head/Tile',
        '1 layer (This version of DLA does not support reshape layers directly connected to Slice or Concat): /attn/Reshape',
        '1 layer (DLA supports only 8 subgraphs per DLA core): conv_6',
        '1 layer (does not support dynamic shapes in any dimension): conv_7.',
      ].join('; '),
    );
    expect(diagnose(older.join('\n'))[0]!.message).toMatch(
      / 1 layer \(Concatenation on DLA requires at least two inputs\): route84\.$/,
    );
  });

  it('groups all blocking nodes of a log by operator', () => {
    const node = (number: number, op: string) =>
      [
        `[E] [TRT] ModelImporter.cpp:140: While parsing node number ${number} [${op} -> "y${number}"]:`,
        '[E] [TRT] ModelImporter.cpp:142: --- Begin node ---',
        `Node name: n${number}`,
        '[E] [TRT] ModelImporter.cpp:143: --- End node ---',
        `[E] [TRT] ModelImporter.cpp:151: ERROR: onnxOpCheckers.cpp:1258 In function check${op}:`,
        '[8] false',
      ].join('\n');
    const ops = ['Det', 'Unique', 'Col2Im', 'AffineGrid', 'BitwiseAnd', 'CenterCropPad', 'MelWeightMatrix'];
    const text = Array.from({ length: 405 }, (_, number) => node(number, ops[number % 7]!)).join('\n');
    const found = diagnose(text);
    expect(found).toHaveLength(7);
    expect(found.map(({ count }) => count)).toEqual([58, 58, 58, 58, 58, 58, 57]);
    expect(found[0]!.message).toContain('"n0" and 57 more nodes');
  });

  it('uses the words of the program that wrote the log', () => {
    const text = 'Network has dynamic or shape inputs, but no optimization profile has been defined.';
    const advice = (line: string) => diagnose(`${line}\n`)[0]!.advice;
    expect(
      advice(
        `2026-01-01 10:00:00.1 [E:onnxruntime:Default, tensorrt_execution_provider.h:75 log] [2026-01-01 10:00:00   ERROR] ${text}`,
      ),
    ).toContain('trt_profile_min_shapes');
    expect(
      advice(
        `2026-01-01 10:00:00.1 [E:onnxruntime:Default, nv_execution_provider.h:49 log] [2026-01-01 10:00:00   ERROR] ${text}`,
      ),
    ).toContain('nv_profile_min_shapes');
    expect(advice(`[TensorRT] ERROR: ${text}`)).toContain('set_shape');
    expect(
      advice(`&&&& RUNNING TensorRT.trtexec [TensorRT v100600] [b26] # trtexec\n[11/23/2026-10:41:50] [E] ${text}`),
    ).toContain('--minShapes');
  });
});
