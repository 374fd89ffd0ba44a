import { describe, expect, it } from 'vitest';
import {
  languageOf,
  type LintFinding,
  lintSource,
  type SourceLanguage,
} from '../../../../../src/features/check/lint/lintSource.ts';
import { goneNames, trtexecFlags } from '../../../../../src/kernel/build/goneNames.ts';

const found = (text: string, language: SourceLanguage = 'python', target?: string): string[] =>
  lintSource(text, language, target).map(({ code, name }) => `${code} ${name}`);

const py = (body: string): string => `import tensorrt as trt\n${body}\n`;

/** A text after all of its fixes. */
function fixed(text: string): string {
  const fixes = lintSource(text, 'python').flatMap(({ fix }) => (fix ? [fix] : []));
  return fixes.reduceRight((all, fix) => all.slice(0, fix.start) + fix.text + all.slice(fix.end), text);
}

describe('Python', () => {
  it.each([
    ['a flag of the builder', py('config.set_flag(trt.BuilderFlag.FP16)'), ['gone BuilderFlag.FP16']],
    ['an imported name', 'from tensorrt import BuilderFlag as F, Logger\nF.INT8', ['gone BuilderFlag.INT8']],
    [
      'a list of imports',
      'import os, tensorrt as t\nclass C(t.IInt8MinMaxCalibrator): pass',
      ['gone IInt8MinMaxCalibrator'],
    ],
    [
      'an object by what made it',
      py('e = rt.deserialize_cuda_engine(b)\ne.num_bindings'),
      ['gone ICudaEngine.num_bindings'],
    ],
    [
      'an object by its annotation',
      py('def f(x: trt.ICudaEngine):\n    x.num_bindings'),
      ['gone ICudaEngine.num_bindings'],
    ],
    [
      'objects of a with statement',
      py('with trt.Builder(L) as b, b.create_network(0) as n:\n    n.add_fully_connected(x, 1, w)'),
      ['gone INetworkDefinition.add_fully_connected'],
    ],
    [
      'an attribute of self',
      py('self.n = b.create_network()\nself.n.get_layer(0).name\nl = self.n.get_layer(0)\nl.precision'),
      ['gone ILayer.precision'],
    ],
    ['an object by its usual name', py('engine.num_bindings'), ['perhaps-gone ICudaEngine.num_bindings']],
    [
      'a long name of any object',
      py('self.model.get_binding_shape(0)'),
      ['perhaps-gone ICudaEngine.get_binding_shape'],
    ],
    ['the arguments of a program', py('args.max_workspace_size = 3\nself.max_workspace_size = 3'), []],
    ['a function of the file', py('def build_engine(p): pass\nbuild_engine(1)\nself.build_engine(2)'), []],
    ['comments and strings', py('# trt.BuilderFlag.FP16\nx = "trt.BuilderFlag.FP16"\n"""trt.BuilderFlag.FP16"""'), []],
    ['a file without TensorRT', 'import torch\ntrt = 1\nengine.num_bindings  # not tensorrt', []],
    [
      'what is still there',
      py('trt.BuilderFlag.TF32\ntrt.NetworkDefinitionCreationFlag.STRONGLY_TYPED\ntrt.BuilderFlag.DIRECT_IO'),
      [],
    ],
    ['what is deprecated', py('class P(trt.IPluginV2DynamicExt): pass'), ['deprecated IPluginV2DynamicExt']],
    [
      'a member that was asked for',
      py(
        'def f(e: trt.ICudaEngine):\n    if hasattr(e, "num_io_tensors"):\n        return e.num_io_tensors\n    return e.num_bindings',
      ),
      ['perhaps-gone ICudaEngine.num_bindings'],
    ],
    [
      'a failure that is caught',
      py('c = b.create_builder_config()\ntry:\n    c.max_workspace_size = 1\nexcept AttributeError:\n    pass'),
      ['perhaps-gone IBuilderConfig.max_workspace_size'],
    ],
    [
      'a version asked for in another function',
      py('def a():\n    return trt.__version__\ndef b():\n    trt.BuilderFlag.FP16'),
      ['gone BuilderFlag.FP16'],
    ],
    ['a command as a list', py('run(["/opt/trtexec", "--onnx=a", "--fp16"], env={"--int8": 1})'), ['gone --fp16']],
    [
      'a command as a string',
      py('os.system(f"trtexec --onnx={x} --best")\nparser.add_argument("--fp16")'),
      ['gone --best'],
    ],
  ])('%s', (_, text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  it('replaces what another name does', () => {
    const text = py(
      [
        'b = trt.Builder(L)',
        'n = b.create_network(1 << (int)(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))',
        'c = b.create_builder_config()',
        "c.max_workspace_size = size['a'] << 20  # bytes",
        'n.add_pooling(x)',
        'c.profiling_verbosity = trt.ProfilingVerbosity.VERBOSE',
      ].join('\n'),
    );
    expect(fixed(text)).toBe(
      py(
        [
          'b = trt.Builder(L)',
          'n = b.create_network(0)',
          'c = b.create_builder_config()',
          "c.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, size['a'] << 20)  # bytes",
          'n.add_pooling_nd(x)',
          'c.profiling_verbosity = trt.ProfilingVerbosity.DETAILED',
        ].join('\n'),
      ),
    );
    expect(lintSource(fixed(text), 'python')).toEqual([]);
  });

  it('leaves an assignment of several lines, and what is only perhaps gone', () => {
    for (const text of ['c = b.create_builder_config()\nc.max_workspace_size = (\n1)', 'config.max_workspace_size = 1'])
      expect(fixed(py(text))).toBe(py(text));
  });
});

describe('C++', () => {
  const cpp = (body: string): string => `#include <NvInfer.h>\n${body}\n`;
  it.each([
    ['an enumerator', cpp('config->setFlag(nvinfer1::BuilderFlag::kFP16);'), ['gone BuilderFlag::kFP16']],
    [
      'a declared object',
      cpp('IExecutionContext* c; c->enqueueV2(a, b, nullptr);'),
      ['gone IExecutionContext::enqueueV2'],
    ],
    [
      'a smart pointer',
      cpp('std::unique_ptr<nvinfer1::ICudaEngine> mEngine; int n = mEngine->getNbBindings();'),
      ['gone ICudaEngine::getNbBindings'],
    ],
    [
      'what a call made',
      cpp('auto b = createInferBuilder(l); b->setMaxBatchSize(1);'),
      ['gone IBuilder::setMaxBatchSize'],
    ],
    [
      'destroy of an object of TensorRT alone',
      cpp('IHostMemory* m; m->destroy(); window->destroy();'),
      ['gone IHostMemory::destroy'],
    ],
    ['a layer', cpp('IConvolutionLayer* c; c->setPrecision(t);'), ['gone ILayer::setPrecision']],
    [
      'comments and strings',
      cpp('// kFP16 BuilderFlag::kFP16\nauto s = "BuilderFlag::kFP16"; auto r = R"x(BuilderFlag::kINT8)x";'),
      [],
    ],
    [
      'a branch for a version',
      cpp('#if NV_TENSORRT_MAJOR < 10\nIExecutionContext* c; c->enqueueV2(a, b, n);\n#endif\nBuilderFlag::kINT8;'),
      ['perhaps-gone IExecutionContext::enqueueV2', 'gone BuilderFlag::kINT8'],
    ],
    ['a file without its headers', 'tensorrt::BuilderFlag::kFP16; engine->getNbBindings();', []],
  ])('%s', (_, text, expected) => {
    expect(found(text, 'cpp')).toEqual(expected);
  });
});

describe('scripts', () => {
  it.each([
    [
      'several lines',
      'shell',
      'trtexec --onnx=a \\\n  --fp16 \\\n  --workspace=1\necho --int8',
      ['gone --fp16', 'gone --workspace'],
    ],
    ['the end of a command', 'shell', './trtexec --onnx=a && run --fp16 | x --int8; y --best', []],
    ['comments', 'shell', '# trtexec --fp16\necho trtexec.log --fp16', []],
    ['another program of that name', 'shell', 'my-trtexec --fp16\ntrtexec2 --fp16', []],
    ['Polygraphy', 'shell', 'polygraphy run a.onnx --trt --workspace 1G --fp16', ['gone --workspace', 'gone --fp16']],
    [
      'a step of a workflow',
      'yaml',
      'run: |\n  trtexec --onnx=a --int8 --calib=c\n  echo --fp16',
      ['gone --int8', 'gone --calib'],
    ],
    ['a list in YAML', 'yaml', 'args:\n  - trtexec\n  - --onnx=a\n  - "--best"\nother: --int8', ['gone --best']],
  ] as const)('%s', (_, language, text, expected) => {
    expect(found(text, language)).toEqual(expected);
  });

  it.each<[string, SourceLanguage, string, string | null]>([
    [
      'a command',
      'shell',
      'trtexec --onnx="my model.onnx" --fp16 \\\n  --workspace=9 > log',
      'precision import --apply my model.typed.onnx -- trtexec --onnx=my model.onnx --fp16 --workspace=9',
    ],
    [
      'a variable in place of a model',
      'shell',
      'trtexec --onnx=$MODEL --best',
      'precision import --apply MODEL.typed.onnx -- trtexec --onnx=MODEL.onnx --best',
    ],
    ['INT8 without a calibration cache', 'shell', 'polygraphy convert a.onnx --int8 -o a.plan', null],
    [
      'INT8 with one',
      'yaml',
      'args:\n  - trtexec\n  - --onnx=b.onnx\n  - --int8\n  - --calib=b.cache\n',
      'precision import --apply b.typed.onnx -- trtexec --onnx=b.onnx --int8 --calib=b.cache',
    ],
    [
      'a list of words in Python',
      'python',
      'run(["trtexec", f"--onnx={path}", "--bf16"])',
      'precision import --apply MODEL.typed.onnx -- trtexec --onnx=MODEL.onnx --bf16',
    ],
    [
      'calls of the builder',
      'python',
      py('parse("m.onnx")\nc.set_flag(trt.BuilderFlag.INT8)\nc.set_flag(trt.BuilderFlag.FP16)\ncalib("m.cache")'),
      'precision import --apply m.typed.onnx -- trtexec --onnx=m.onnx --fp16 --int8 --calib=m.cache',
    ],
    [
      'calls in C++',
      'cpp',
      '#include <NvInfer.h>\nvoid f() { parse("m.onnx"); config->setFlag(nvinfer1::BuilderFlag::kFP16); }',
      'precision import --apply m.typed.onnx -- trtexec --onnx=m.onnx --fp16',
    ],
    [
      'a model that a program appends',
      'python',
      'run(["trtexec", "--onnx=" + path, "--fp16"])',
      'precision import --apply MODEL.typed.onnx -- trtexec --onnx=MODEL.onnx --fp16',
    ],
    [
      'a model in a word of its own',
      'python',
      'run(["trtexec", "--onnx", path, "--fp16"])',
      'precision import --apply MODEL.typed.onnx -- trtexec --onnx=MODEL.onnx --fp16',
    ],
    [
      'a variable for Polygraphy',
      'shell',
      'polygraphy convert $MODEL --fp16 -o a.plan',
      'precision import --apply MODEL.typed.onnx -- polygraphy convert MODEL.onnx --fp16 -o a.plan',
    ],
    [
      'a command in brackets',
      'shell',
      '(cd x; trtexec --onnx=$(ls a/*.onnx) --fp16)\necho $(trtexec --onnx=b.onnx)',
      'precision import --apply MODEL.typed.onnx -- trtexec --onnx=MODEL.onnx --fp16',
    ],
    [
      'a command that another shell runs',
      'yaml',
      `run: bash -c "trtexec --onnx='a b.onnx' --fp16" x`,
      'precision import --apply a b.typed.onnx -- trtexec --onnx=a b.onnx --fp16',
    ],
    [
      'a path in quotes',
      'shell',
      '"$TRT/bin/trtexec" --onnx="a b.onnx" --fp16',
      'precision import --apply a b.typed.onnx -- trtexec --onnx=a b.onnx --fp16',
    ],
    [
      'a command of a container',
      'shell',
      'CMD ["trtexec", "--onnx=a.onnx", "--fp16"]',
      'precision import --apply a.typed.onnx -- trtexec --onnx=a.onnx --fp16',
    ],
    ['the run of an engine', 'shell', 'trtexec --loadEngine=a.plan --fp16', null],
    ['a command without types', 'shell', 'trtexec --onnx=a.onnx --workspace=9', null],
  ])('one step to the typed model: %s', (_, language, text, expected) => {
    const steps = lintSource(text, language).flatMap(({ step }) => step?.()?.trtlens.join(' ') ?? []);
    expect(steps).toEqual(expected === null ? [] : [expected]);
    expect(lintSource(text, language, '10.6').some(({ step }) => step)).toBe(false);
  });

  it('a new flag is nothing for an old version, nor an old flag for a new one', () => {
    const text = 'trtexec --stronglyTyped --fp16 --useProfile=1';
    expect(found(text, 'shell', '8.6')).toEqual(['too-new --stronglyTyped', 'too-new --useProfile']);
    expect(found(text, 'shell', '10.6')).toEqual([]);
    expect(found(text, 'shell', '11')).toEqual(['gone --fp16']);
  });
});

it('what is found stands where it says, in any piece of a text', () => {
  const text = py(
    'c = b.create_builder_config()\nc.max_workspace_size = "\\\n1 << 3\ntrt.BuilderFlag.FP16 """ x\n#if 1',
  );
  for (let start = 0; start < text.length; start += 3)
    for (const language of ['python', 'cpp', 'shell', 'yaml'] as const)
      for (const finding of lintSource(text.slice(start) + text.slice(0, start), language))
        expectInside(finding, text.length);
});

function expectInside({ start, end, fix }: LintFinding, length: number): void {
  expect(start).toBeLessThan(end);
  expect(end).toBeLessThanOrEqual(length);
  if (fix) expect(fix.end).toBeLessThanOrEqual(length);
}

it('a version has what is gone in a later one', () => {
  for (const { since, python = '' } of goneNames)
    for (const name of python.split(' ').filter(Boolean)) {
      const text = py(`trt.${name}`);
      const [major, minor] = since.split('.').map(Number) as [number, number];
      expect(found(text, 'python', since), name).toEqual([`gone ${name}`]);
      expect(found(text, 'python', minor === 0 ? `${major - 1}.99` : `${major}.${minor - 1}`), name).toEqual([]);
    }
  for (const [flag, [first, gone]] of Object.entries(trtexecFlags))
    expect(first === '8.6' ? gone : first, flag).not.toBe('');
});

it.each([
  ['a/b.py', 'python'],
  ['C:\\x\\Y.CU', 'cpp'],
  ['Dockerfile.gpu', 'shell'],
  ['a/Makefile', 'shell'],
  ['.github/workflows/x.yml', 'yaml'],
  ['a.onnx', null],
  ['pyproject.toml', null],
] as const)('the language of %s', (path, language) => {
  expect(languageOf(path)).toBe(language);
});
