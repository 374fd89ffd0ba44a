import { describe, expect, test } from 'vitest';
import { type BuildFacts, targetOf } from '../../../../src/kernel/rules/buildFacts.ts';
import { checkOverrides } from '../../../../src/features/precision/checkOverrides.ts';
import { NodeIndex } from '../../../../src/kernel/rules/resolveOverrides.ts';
import { writeName } from '../../../../src/kernel/rules/overrideFile.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';
import { applyEdits, captured, check, codes, smallModel, transformer } from './overrideFixtures.ts';

/** The only problem of a text; its first fix applied, if there is one. */
function only(text: string, version: string | null = null, build: BuildFacts | null = null) {
  const { problems } = check(text, transformer, build, version);
  expect(codes(problems)).toHaveLength(1);
  const problem = problems[0]!;
  const fix = problem.fixes.find(({ preferred }) => preferred) ?? problem.fixes[0];
  return { problem, message: problem.message, fixed: fix ? applyEdits(text, fix.edits) : null };
}

describe('what selects nothing', () => {
  test.each([
    ['/layers.1/atn/Softmax fp32', 'matches-nothing', '/layers.1/attn/Softmax fp32'],
    ['/LAYERS.1/attn/softmax fp32', 'matches-nothing', '/layers.1/attn/Softmax fp32'],
    ['/layers.1/attn fp32', 'matches-nothing', '/layers.1/attn/** fp32'],
    ['Softmax fp32', 'matches-nothing', 'op:Softmax fp32'],
    ['bsae fp16', 'matches-nothing', 'base fp16'],
    // "base" is two letters away, and no type stands behind "model".
    ['mask fp16', 'matches-nothing', ''],
    ['modl fp16', 'matches-nothing', ''],
    ['op:Softmx fp32', 'matches-nothing', 'op:Softmax fp32'],
    ['op:ai.onnx::Gelu fp32', 'matches-nothing', 'op:Gelu fp32'],
    ['/layers.2/* fp32', 'matches-nothing', '/layers.2/** fp32'],
    ['attn/Softmax fp32', 'matches-nothing', '/layers.1/attn/Softmax fp32'],
    ['blocks[0]/Mul fp32', 'matches-nothing', '"blocks[0]/Mul" fp32'],
    ['/layers.1/attn/Softmax_output_0 fp32', 'tensor-name', '/layers.1/attn/Softmax fp32'],
    [
      '"{ForeignNode[/layers.1/attn/MatMul.../layers.1/attn/Softmax]}" fp32',
      'engine-layer-name',
      'group:"{ForeignNode[/layers.1/attn/MatMul.../layers.1/attn/Softmax]}" fp32',
    ],
    // Its brackets read like a pattern.
    [
      '{ForeignNode[/layers.1/attn/MatMul.../layers.1/attn/Softmax]} fp32',
      'engine-layer-name',
      'group:"{ForeignNode[/layers.1/attn/MatMul.../layers.1/attn/Softmax]}" fp32',
    ],
    [
      '"/layers.1/attn/MatMul + /layers.1/attn/Softmax" fp32',
      'engine-layer-name',
      '/layers.1/attn/MatMul, /layers.1/attn/Softmax fp32',
    ],
    ['/layers_1/attn/MatMul_myl0_3 fp32', 'engine-layer-name', '/layers.1/attn/MatMul fp32'],
    [
      '/layers_1/attn/MatMul+/layers_2/attn/MatMul_myl0_3 fp32',
      'engine-layer-name',
      '/layers.1/attn/MatMul, /layers.2/attn/MatMul fp32',
    ],
  ])('%s', (text, code, fixed) => {
    const found = only(text);
    expect(found.problem.code).toBe(code);
    expect(found.problem.severity).toBe('warning');
    expect(found.fixed).toBe(fixed);
  });

  test('the message names the nearest names, and the rest of the file still counts', () => {
    const { problems, rules } = check('/layers.2/attn/Sofmax fp32\nop:Softmax fp32');
    expect(problems[0]?.message).toContain('"/layers.2/attn/Softmax"');
    expect(rules.map(({ nodes }) => nodes)).toEqual([0, 3]);
  });

  test('unnamed nodes are reached by node_of_ and op:', () => {
    expect(check('node_of_hidden fp32').rules[0]?.nodes).toBe(1);
    expect(check('op:Relu fp32').rules[0]?.nodes).toBe(3);
    expect(check('op:com.microsoft::Gelu fp32').rules[0]?.nodes).toBe(1);
    expect(check('"中文层/卷积_1, a" fp32').rules[0]?.nodes).toBe(1);
  });

  test('not: that takes away everything, or nothing', () => {
    expect(codes(check('op:Softmax, not:op:Softmax fp32').problems)).toEqual(['1:1-32 matches-nothing']);
    expect(codes(check('op:Softmax, not:op:MatMul fp32').problems)).toEqual(['1:13-26 takes-nothing']);
    expect(check('op:Softmax, not:/layers.1/** fp32').rules[0]?.nodes).toBe(2);
    expect(check('op:Softmax, not:/layers.1/**, /layers.1/attn/Softmax fp32').rules[0]?.nodes).toBe(3);
  });
});

describe('what selects more than meant', () => {
  test('a star after a digit', () => {
    const { problem, fixed } = only('/layers.1*/** fp32');
    expect(problem.code).toBe('matches-more');
    expect(problem.message).toContain('/layers.10/attn/Softmax');
    expect(fixed).toBe('/layers.1/** fp32');
  });

  test.each([
    ['**/layers.1*/attn/* fp32', '**/layers.1/attn/* fp32'],
    ['/layers.1* fp32', null],
    ['/layers.1** fp32', '/layers.1/** fp32'],
    ['**/Softmax_1* fp32', '**/Softmax_1 fp32'],
    ['/layers.10* fp32', null],
  ])('%s: a digit and a star anywhere', (text, narrower) => {
    const facts = smallModel(...transformer.nodes, '/a/Softmax_1 Softmax', '/a/Softmax_12 Softmax');
    const found = check(text, facts).problems.find(({ code }) => code === 'matches-more');
    expect(found ? applyEdits(text, found.fixes[0]!.edits) : null).toBe(narrower);
  });

  test('a name that nodes share', () => {
    expect(only('twin fp32').problem.code).toBe('matches-more');
  });

  test('a pattern that takes most of the model', () => {
    const facts = smallModel(...Array.from({ length: 40 }, (_, i) => `/net/${i}/Add Add`));
    expect(codes(check('/net/** fp32', facts).problems)).toEqual(['1:1-8 matches-more']);
    expect(check('** fp32', facts).problems).toEqual([]);
  });
});

describe('rules that meet', () => {
  test('a later rule wins, and the shadowed one points at it', () => {
    const { problems, rules } = check('/layers.1/attn/Softmax fp16\nop:Softmax fp32');
    expect(codes(problems)).toEqual(['1:1-28 shadowed']);
    expect(problems[0]?.related.map(({ range }) => range.line)).toEqual([2]);
    expect(problems[0]?.unnecessary).toBe(true);
    expect(rules.map(({ effective }) => effective)).toEqual([0, 3]);
  });

  test('a shadowed rule moves below the one that hides it', () => {
    const text = '/layers.1/attn/Softmax fp16 # why\r\nop:Softmax fp32';
    const [fix] = check(text).problems[0]!.fixes;
    const moved = applyEdits(text, fix!.edits);
    expect(moved).toBe('op:Softmax fp32\n/layers.1/attn/Softmax fp16 # why');
    expect(check(moved).problems).toEqual([]);
  });

  test('a selector that comes back after it was taken away is no repetition', () => {
    expect(check('op:Softmax, not:/layers.1/**, op:Softmax fp32').problems).toEqual([]);
    expect(codes(check('op:MatMul, op:Softmax, op:MatMul fp32').problems)).toEqual(['1:24-33 duplicate']);
  });

  test('shadowed by several, and not while one node is left', () => {
    expect(codes(check('op:Softmax fp16\n/layers.1/** fp32\n/layers.2/** fp32').problems)).toEqual([]);
    const { problems } = check('op:LayerNormalization fp16\n/layers.1/** fp32\n/layers.2/** fp32');
    expect(codes(problems)).toEqual(['1:1-27 shadowed']);
    expect(problems[0]?.message).toContain('lines 2, 3');
  });

  test('the same rule or selector twice', () => {
    const text = 'op:Softmax fp32\nop:MatMul fp32\nop:Softmax float32';
    const { problems } = check(text);
    expect(codes(problems)).toEqual(['1:1-16 duplicate']);
    expect(applyEdits(text, problems[0]!.fixes[0]!.edits)).toBe('op:MatMul fp32\nop:Softmax float32');
    const twice = only('op:Softmax, op:Softmax fp32');
    expect(twice.problem.code).toBe('duplicate');
    expect(twice.fixed).toBe('op:Softmax fp32');
  });
});

describe('types and nodes that do not go together', () => {
  test.each([
    ['op:Softmax bf16', '8.6.1', '1:12-16 type-unsupported-version'],
    ['op:Softmax int32', '10.6', '1:12-17 type-unsupported-op'],
    ['op:Softmax int8', '10.6', '1:12-16 type-needs-scales'],
    ['op:Softmax fp8', '10.6', '1:12-15 type-needs-qdq'],
    ['/pool/MaxPool bf16', null, '1:15-19 type-unsupported-op'],
    ['/topk/ArgMax fp32', null, '1:1-13 integer-node'],
    ['/layers.1/Shape fp32', null, '1:1-16 shape-node'],
    ['op:Constant fp32', null, '1:1-12 constant-node'],
    ['op:Cast fp32', null, '1:1-8 convert-node'],
    ['/split/Split fp32 -> fp32, fp16, fp32', null, '1:22-38 output-count'],
  ])('%s in %s', (text, version, expected) => {
    expect(codes(check(text, transformer, null, version).problems)).toEqual([expected]);
  });

  test('int8 rules need scales: of each activation, for operators that TensorRT quantizes', () => {
    const model = new NodeIndex({
      file: 'm.onnx',
      opset: 17,
      nodes: [
        {
          id: '0',
          name: 'conv',
          op: 'Conv',
          domain: '',
          outputs: ['c'],
          types: ['float'],
          exempt: null,
          activations: ['x'],
        },
        { id: '1', name: 'relu', op: 'Relu', domain: '', outputs: ['r'], types: ['float'], exempt: null },
        {
          id: '2',
          name: 'fc',
          op: 'Gemm',
          domain: '',
          outputs: ['y'],
          types: ['float'],
          exempt: null,
          activations: ['r'],
        },
      ],
    });
    const target = targetOf('tensorrt', '11.0.0', null);
    const found = (text: string, tensors?: string[] | null, index = model) =>
      checkOverrides(
        readOverrides(text),
        index,
        null,
        target,
        tensors === undefined ? null : { tensors: tensors && new Set(tensors) },
      ).problems.filter(({ code }) => code !== 'no-layer-flags');
    expect(codes(found('conv int8'))).toEqual(['1:6-10 type-needs-scales']);
    expect(found('conv int8')[0]).toMatchObject({ severity: 'error', message: expect.stringContaining('scales FILE') });
    // Not read yet, or measured: nothing is known to be missing.
    expect(found('scales a.cache\nconv int8')).toEqual([]);
    expect(found('scales a.npz\nconv int8', null)).toEqual([]);
    expect(found('scales a.cache\nconv int8', ['x'])).toEqual([]);
    const [missing] = found('scales a.cache\n** int8', ['x']);
    expect(missing).toMatchObject({ code: 'scale-missing', severity: 'warning', line: 2 });
    expect(missing!.message).toContain('no scale for "r"');
    expect(codes(found('scales a.cache\nrelu int8', ['x', 'r']))).toEqual(['2:6-10 type-unsupported-op']);
    const old = new NodeIndex({ ...model.facts, opset: 12 });
    expect(codes(found('scales a.cache\nconv int8', ['x'], old))).toEqual(['2:6-10 opset-too-old']);
    expect(codes(found('scales\nconv int8'))).toContain('2:6-10 type-needs-scales');
    expect(codes(found('scales a\nscales b\n'))).toEqual(['2:1-9 duplicate-directive']);
    // A node of that name needs quotes.
    expect(writeName('scales')).toBe('"scales"');
  });

  test('in the place of an If, a Loop or a Scan stand the nodes inside', () => {
    const nested = smallModel(
      { name: 'loop', op: 'Loop', exempt: 'control' },
      { id: '0/body/0', name: 'in/if', op: 'If', exempt: 'control' },
      { id: '0/body/0/then_branch/0', name: 'a, b', op: 'MatMul' },
      { id: '0/body/1', name: 'in/Add', op: 'Add' },
      { id: '0/body/2', name: 'in/Less', op: 'Less', exempt: 'integer' },
      { id: '1', name: 'if', op: 'If', exempt: 'control' },
      { id: '10', name: 'other', op: 'MatMul' },
    );
    const fixed = (text: string) => {
      const [problem] = check(text, nested).problems;
      expect(problem?.code).toBe('control-node');
      return applyEdits(text, problem!.fixes[0]!.edits);
    };
    expect(fixed('loop fp32')).toBe('"a, b", in/Add fp32');
    expect(fixed('other, op:If fp32')).toBe('other, "a, b" fp32');
    expect(fixed('if fp32')).toBe('');
  });

  test('patterns over mixed nodes are fine, and count what takes a precision', () => {
    const { problems, rules } = check('/layers.1/** fp32');
    expect(problems).toEqual([]);
    expect(rules[0]).toMatchObject({ nodes: 5, eligible: 3 });
  });
});

const mended = [
  '/layers.1/atn/Softmax fp32',
  'op:Softmx fp32',
  '**/softmax fp32',
  '/layers.1*/** fp32',
  'nothing, op:Relu fp32',
  'op:Relu, nothing, not:op:Conv fp32',
  'nothing, not:op:Relu fp32',
  'op:Relu, op:Constant fp32',
  'op:Constant, op:Relu fp32',
  '/cast/Cast fp32',
  'op:Softmax, not:op:MatMul fp32',
  'op:Softmax, not:op:Softmax fp32',
  'op:Softmax, op:Softmax fp32',
  'op:Softmax fp32\nop:Softmax fp32',
  '/layers.1/attn/Softmax fp16\nop:Softmax fp32',
  'base bf16',
  'op:MatMul bf16',
  'op:MatMul fp8 -> int4',
  'op:MatMul int32',
  '/split/Split fp32 -> fp32, fp16, fp32',
  'op:MatMul fp32 -> int64',
  'require obey\nop:MatMul fp16',
  '"[trainStation1]" fp32',
  '**, not:"/layers.1/attn/MatMul + /layers.1/attn/Softmax" fp32',
];

test.each(mended)('%j: each way out ends its problem and brings no error', (text) => {
  let fixes = 0;
  for (const version of ['8.6.1', '10.6', '11.2']) {
    const target = targetOf('tensorrt', version, 'Tesla T4');
    const problemsOf = (of: string) =>
      checkOverrides(readOverrides(of), new NodeIndex(transformer), null, target).problems;
    const before = problemsOf(text);
    for (const problem of before) {
      for (const fix of problem.fixes) {
        fixes++;
        const after = problemsOf(applyEdits(text, fix.edits));
        expect(
          after.map(({ message }) => message),
          fix.title,
        ).not.toContain(problem.message);
        const errors = after.filter(
          ({ severity, code }) => severity === 'error' && !before.some((one) => one.code === code),
        );
        expect(errors, fix.title).toEqual([]);
      }
    }
  }
  expect(fixes).toBeGreaterThan(0);
});

test('a base that the version or the GPU does not have', () => {
  const found = (text: string, version: string, gpu: string) =>
    checkOverrides(readOverrides(text), new NodeIndex(transformer), null, targetOf('tensorrt', version, gpu)).problems;
  const [old] = found('base bf16', '8.6.1', '8.9');
  expect(codes([old!])).toEqual(['1:6-10 type-unsupported-version']);
  expect(applyEdits('base bf16', old!.fixes[0]!.edits)).toBe('base fp16');
  expect(found('base bf16', '10.6', 'Tesla T4').map(({ code }) => code)).toEqual(['type-unsupported-gpu']);
  expect(found('base bf16\nbase fp16', '10.6', '8.9').map(({ code }) => code)).toEqual(['duplicate-directive']);
  expect(found('base keep', '8.6.1', 'Tesla T4')).toEqual([]);
});

test('output types that the outputs cannot have', () => {
  const facts = smallModel({ name: 'topk', op: 'TopK', outputs: ['c', 'd'], types: ['float', 'int64'] }, 'relu Relu');
  const found = (text: string) => check(text, facts, null, '10.6').problems;
  expect(found('topk fp32 -> fp16\ntopk fp16 -> fp32, int32').map(({ code }) => code)).toEqual(['shadowed']);
  expect(codes(found('topk fp32 -> fp32, fp16'))).toEqual(['1:20-24 output-type']);
  expect(codes(found('relu fp32 -> int64'))).toEqual(['1:14-19 output-type']);
  expect(codes(found('relu fp32 -> int8'))).toEqual(['1:14-18 type-needs-scales']);
  expect(codes(found('relu fp32 -> fp8'))).toEqual(['1:14-17 type-needs-qdq']);
  expect(found('relu fp16 -> fp32, fp32')[0]?.fixes.map(({ title }) => title)).toEqual(['Use fp32 for all outputs']);
});

describe('versions and flags', () => {
  test('TensorRT 11 and RTX have no flags', () => {
    expect(codes(check('require prefer\nop:Softmax fp32', transformer, null, '11.2').problems)).toEqual([
      '1:1-15 no-layer-flags',
    ]);
    expect(only('op:Softmax fp32', 'rtx').problem.code).toBe('no-layer-flags');
    expect(check('op:Softmax fp32', transformer, null, '10.6').problems).toEqual([]);
  });

  test('names that trtexec cannot carry', () => {
    const { problem } = only('op:Conv fp32', '10.6');
    expect(problem).toMatchObject({ code: 'trtexec-cannot-carry', severity: 'warning' });
    expect(problem.message).toContain('comma');
    expect(check('op:Conv fp32', transformer, null, 'rtx').problems.map(({ code }) => code)).toEqual([
      'no-layer-flags',
    ]);
  });

  test('more layers than one argument takes', () => {
    const facts = smallModel(...Array.from({ length: 5000 }, (_, i) => `/a/module/with/a/long/name/${i}/Add Add`));
    const found = (version: string) =>
      check('/a/module/with/a/long/name/1/Add fp32\n** fp32', facts, null, version)
        .problems.filter(({ code }) => code === 'argument-too-long')
        .map(({ line, severity }) => [line, severity]);
    expect(found('10.6')).toEqual([[2, 'warning']]);
    expect(found('11.2')).toEqual([]);
    expect(check('op:Softmax fp32', transformer, null, '10.6').problems).toEqual([]);
  });

  test('without a build a group cannot be named', () => {
    expect(only('group:{ForeignNode[a...b]} fp32').problem.code).toBe('group-needs-build');
  });

  test('without a model only the text is checked', () => {
    const { problems, resolution } = check('nowhere fp32\nx fp99', null);
    expect(codes(problems)).toEqual(['2:3-7 unknown-type']);
    expect(resolution).toBeNull();
  });
});

describe('against recorded builds', () => {
  test('10.6: inside a ForeignNode, told from the log of the build', async () => {
    const { index, build } = await captured('tensorrt-10.6.0/vit_tiny.prec_obey');
    const { problems, rules } = check('/blocks/blocks.0/attn/Softmax fp32', index.facts, build);
    expect(codes(problems)).toEqual(['1:1-30 inside-foreign-node']);
    expect(problems[0]?.message).toContain('"Set layer … to precision" for it');
    expect(problems[0]?.message).toContain('cannot be verified');
    expect(rules[0]).toMatchObject({ nodes: 1, foreign: 1, groups: [{ group: 0, nodes: 1 }] });
    const other = check('/blocks/blocks.5/attn/Softmax fp32', index.facts, build).problems[0];
    expect(other?.message).toContain('did not request it');
  });

  test('8.6: nothing can be seen there, and the file says so', async () => {
    const { index, build } = await captured('tensorrt-8.6.1/vit_tiny.prec_obey');
    const { problems } = check('op:Softmax fp32', index.facts, build);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ code: 'inside-foreign-node', severity: 'warning' });
    expect(problems[0]?.message).toContain('cannot be verified');
  });

  test('a build that ignored the flags', async () => {
    const { index, build } = await captured('tensorrt-10.6.0/vit_tiny.prec_noconstraint');
    const { problems } = check('/patch_embed/proj/Conv fp32', index.facts, build);
    expect(codes(problems)).toEqual(['1:24-28 flag-missing']);
  });

  test('what cannot matter is not said: rules without nodes, nodes without a precision, a flag that the version lacks', async () => {
    const { index, build } = await captured('tensorrt-8.6.1/vit_tiny.prec_obey');
    const found = (text: string) => check(text, index.facts, build).problems.map(({ code }) => code);
    expect(found('/nowhere bf16')).toEqual(['matches-nothing', 'type-unsupported-version']);
    expect(found('/patch_embed/proj/Conv bf16').toSorted()).toEqual([
      'type-unsupported-op',
      'type-unsupported-version',
    ]);
    expect(found('/blocks/blocks.0/attn/Shape fp32')).toEqual(['constant-node']);
  });

  test('a type that no flag brings is said once; one of several nodes is inside', async () => {
    const { index, build } = await captured('tensorrt-10.6.0/vit_tiny.fp16');
    const { problems } = check('/patch_embed/proj/Conv, /blocks/blocks.0/attn/Softmax fp8', index.facts, build);
    expect(problems.map(({ code }) => code)).toEqual(['inside-foreign-node', 'type-needs-qdq']);
    expect(problems[0]?.message).toMatch(/^1 of 2 nodes is inside/);
  });

  test('groups by name and beginning; a ForeignNode used as a name', async () => {
    const { index, build } = await captured('tensorrt-10.6.0/vit_tiny.fp16');
    const name = build.foreignNodes[0]!.name;
    expect(check(`group:"${name}" fp32`, index.facts, build).rules[0]?.nodes).toBeGreaterThan(200);
    expect(check(`group:"${name.slice(0, 20)}" fp32`, index.facts, build).rules[0]?.nodes).toBeGreaterThan(200);
    expect(check('group:nothing fp32', index.facts, build).problems[0]?.code).toBe('group-unknown');
    const text = `"${name}" fp32`;
    const [problem] = check(text, index.facts, build).problems;
    expect(problem?.code).toBe('engine-layer-name');
    expect(problem?.message).toContain('without a warning');
    expect(check(applyEdits(text, problem!.fixes[0]!.edits), index.facts, build).rules[0]?.nodes).toBeGreaterThan(200);
  });

  test('a kernel used as a name becomes its nodes', async () => {
    const { index, build } = await captured('tensorrt-10.6.0/vit_tiny.fp16');
    const kernel = build.layers.find(({ name, nodes }) => name.startsWith('_gemm_mha') && nodes.length > 1)!;
    const text = `${kernel.name} fp32`;
    const [problem] = check(text, index.facts, build).problems;
    expect(problem?.code).toBe('engine-layer-name');
    const fixed = check(applyEdits(text, problem!.fixes[0]!.edits), index.facts, build);
    expect(fixed.rules[0]?.nodes).toBe(kernel.nodes.length);
  });
});
