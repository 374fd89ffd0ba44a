import { describe, expect, test } from 'vitest';
import { applyEdits, captured, check } from './overrideFixtures.ts';
import fc from 'fast-check';
import { closestWords, editDistance } from '../../../../src/kernel/base/text.ts';

/** The only problem of a one-line text, and the line after its first fix. */
async function explained(text: string, capture: string | null) {
  const { index, build } = capture === null ? { index: null, build: null } : await captured(capture);
  const { problems } = check(text, index?.facts, build);
  const named = problems.filter(({ code }) => code === 'engine-layer-name' || code === 'matches-nothing');
  expect(named).toHaveLength(1);
  const [problem] = named;
  const fix = problem!.fixes[0];
  return { code: problem!.code, message: problem!.message, fixed: fix ? applyEdits(text, fix.edits) : null };
}

const build10 = 'tensorrt-10.6.0/vit_tiny.fp16';

describe('names that TensorRT gives', () => {
  test('a further layer of a node: the network has it, so nobody says that trtexec ignores it', async () => {
    const found = await explained('/blocks/blocks.0/attn/Split_64 fp32', 'tensorrt-8.6.1/vit_tiny.fp16');
    expect(found).toMatchObject({ code: 'engine-layer-name', fixed: '/blocks/blocks.0/attn/Split fp32' });
    expect(found.message).not.toContain('ignores');
  });

  test.each([
    ['[trainStation1] fp32', true],
    ['"[ShapeHostToDeviceCopy 0]" fp32', true],
    ['"/a/Shape_output_0[size][DevicetoShapeHostCopy]" fp32', true],
    ['_gemm_mha_v2_0x30fa300e fp32', true],
    ['sm80_xmma_fprop_implicit_gemm_f32f32 fp32', true],
    // The parser's own helpers are layers of the network.
    ['"(Unnamed Layer* 29) [Shuffle]" fp32', false],
    ['ONNXTRT_castHelper_154 fp32', false],
  ])('%s', async (text, ignored) => {
    const { code, message, fixed } = await explained(text, null);
    expect(code).toBe('engine-layer-name');
    expect(message.includes('trtexec ignores')).toBe(ignored);
    expect(message).toContain('It matches no node');
    expect(fixed).toBe('');
  });

  test('a ForeignNode without its braces', async () => {
    const { build } = await captured(build10);
    const name = build.foreignNodes[0]!.name;
    const found = await explained(`"${name.slice(1, -1)}" fp32`, build10);
    expect(found.fixed).toBe(`group:"${name}" fp32`);
    expect(found.message).toContain('of the last build');
  });

  test('a kernel by its own name, as profilers show it', async () => {
    const { index, build } = await captured(build10);
    const kernel = build.layers.find(({ tactic, nodes }) => tactic?.startsWith('_gemm_mha') && nodes.length > 1)!;
    const found = await explained(`"${kernel.tactic}" fp32`, build10);
    expect(found.message).toContain('a kernel of the last engine');
    expect(found.message).toContain(`"${index.names[kernel.nodes[0]!]}"`);
  });

  test('what is taken away stays taken away', async () => {
    const { fixed } = await explained('**, not:"/layers.1/attn/MatMul + /layers.1/attn/Softmax" fp32', null);
    expect(fixed).toBe('**, not:/layers.1/attn/MatMul, not:/layers.1/attn/Softmax fp32');
  });
});

test.each([
  ['softmax fp32', 'op:Softmax fp32'],
  ['layers.1/attn fp32', '/layers.1/attn/** fp32'],
  ['attn fp32', '**/attn/** fp32'],
  // Names of PyTorch's modules and weights, of older exporters, and patterns that are misspelled.
  ['layers.1.attn fp32', '/layers.1/attn/** fp32'],
  ['layers.10.attn.weight fp32', '/layers.10/attn/** fp32'],
  ['Softmax_5 fp32', 'op:Softmax fp32'],
  ['**/Softmx fp32', '**/Softmax fp32'],
  ['**/softmax fp32', '**/Softmax fp32'],
  ['/layer.*/attn/* fp32', '/layers.*/attn/* fp32'],
  ['/layers.*/atn/Softmax fp32', '/layers.*/attn/Softmax fp32'],
  ['**/Nothing_like_it fp32', ''],
])('%s means %s', async (text, meant) => {
  expect(await explained(text, null)).toMatchObject({ code: 'matches-nothing', fixed: meant });
});

test.each([
  ['input', 'an input of the model'],
  ['weight', 'a weight'],
] as const)('%s is no node: the nodes that read it', async (kind, what) => {
  const { index } = await captured(build10);
  const conv = index.named('/patch_embed/proj/Conv')[0]!;
  const { name } = index.facts.sources!.find((source) => source.kind === kind && source.nodes.includes(conv))!;
  const text = `${name} fp32`;
  const [problem] = check(text, index.facts).problems;
  expect(problem).toMatchObject({ code: 'tensor-name' });
  expect(problem?.message).toContain(what);
  expect(applyEdits(text, problem!.fixes[0]!.edits)).toContain('/patch_embed/proj/Conv');
});

describe('names that the network does not have', () => {
  test.each([
    ['/blocks/blocks.0/norm1/LayerNormalization fp32', 'info', 'in FP32 by default'],
    ['op:LayerNormalization, op:Softmax fp16', 'warning', 'Apply the rules'],
  ])('8.6 registers no layer for a LayerNormalization: %s', async (text, severity, advice) => {
    const { index, build } = await captured('tensorrt-8.6.1/vit_tiny.prec_obey');
    const found = check(text, index.facts, build).problems.find(({ code }) => code === 'layer-unregistered');
    expect(found).toMatchObject({ severity, line: 1, column: 1 });
    expect(found?.message).toContain('--layerPrecisions does not apply to');
    expect(found?.message).toContain(advice);
  });

  test('10.6 registers all that compute, and a model has no flags to reach them by', async () => {
    for (const capture of [build10, 'tensorrt-10.6.0/fp16_overflow_mixed.typed', 'tensorrt-rtx-1.7.1/vit_tiny']) {
      const { index, build } = await captured(capture);
      expect(check('** fp32', index.facts, build).problems.map(({ code }) => code)).not.toContain('layer-unregistered');
    }
  });
});

/** The definition itself. */
function levenshtein(a: string, b: string): number {
  if (a === '' || b === '') return a.length + b.length;
  if (a.charAt(0) === b.charAt(0)) return levenshtein(a.slice(1), b.slice(1));
  return 1 + Math.min(levenshtein(a.slice(1), b), levenshtein(a, b.slice(1)), levenshtein(a.slice(1), b.slice(1)));
}

test('the distance is Levenshtein’s, up to the limit', () => {
  const word = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 6 }).map((letters) => letters.join(''));
  fc.assert(
    fc.property(word, word, fc.nat(6), (a, b, limit) => {
      const exact = levenshtein(a, b);
      expect(Math.min(editDistance(a, b, limit), limit + 1)).toBe(Math.min(exact, limit + 1));
    }),
    { numRuns: 2000 },
  );
});

test('the nearest words come first, and none that is far', () => {
  expect(closestWords('fp3', ['fp32', 'fp16', 'int8', 'fp8'], 2)).toEqual(['fp32', 'fp8']);
  expect(closestWords('softmax', ['Conv'], 3)).toEqual([]);
});
