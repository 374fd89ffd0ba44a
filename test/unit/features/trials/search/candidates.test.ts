import {
  candidatesFor,
  changeText,
  rankTried,
  readGoal,
  searchDocument,
  type Candidate,
  type SearchKind,
  type SearchedModel,
  type Tried,
} from '../../../../../src/features/trials/searchChange.ts';
import { expect, test } from 'vitest';
import { nodesToMatch } from '../../../../../src/kernel/report/buildDiff.ts';
import { inferTensors } from '../../../../../src/kernel/network/network.ts';
import { createModelGraph } from '../../../../../src/kernel/network/modelGraph.ts';
import { renderText } from '../../../../../src/kernel/document/render.ts';
import { inputOf, reportOf } from '../../../kernel/fusion/loadCapture.ts';

async function candidates(
  kind: SearchKind,
  capture: string,
  pattern: RegExp,
  more: Partial<SearchedModel> = {},
): Promise<Candidate[]> {
  const [report, { model }] = [(await reportOf(capture))!, (await inputOf(capture))!];
  const side = { report, network: nodesToMatch(model) };
  const chosen = report.nodes.flatMap(({ name }, index) => (pattern.test(name) ? [index] : []));
  const goal = readGoal(kind, chosen, side);
  if ('reason' in goal) throw new Error(goal.reason);
  const graph = createModelGraph(model);
  const known = { profiles: [], precision: undefined, hasRules: false };
  return candidatesFor(goal, side, { graph, inferred: inferTensors(graph), ...known, ...more });
}

const texts = (found: Candidate[]) => found.map((one) => `${changeText(one)} (${one.results})`);
const scores = '/layers.1/attn/qk/MatMul_output_0';

test('what may break an attention: outputs, types, added nodes, cuts', async () => {
  const found = await candidates('break', 'tensorrt-rtx-1.7.1/fp16_overflow_fp16', /^\/layers\.1\/attn\//);
  expect(texts(found)).toEqual([
    `--output ${scores} (same)`,
    '--output /layers.1/attn/scale/Mul_output_0 (same)',
    '--output /layers.1/attn/softmax/Softmax_output_0 (same)',
    "--rules with '/layers.1/attn/qk/MatMul  fp32' (rounded)",
    "--rules with '/layers.1/attn/softmax/Softmax  fp32' (rounded)",
    "--rules with '/layers.1/attn/MatMul  fp32' (rounded)",
    "--rules with '/layers.1/attn/qk/MatMul, /layers.1/attn/scale/Mul, /layers.1/attn/softmax/Softmax, /layers.1/attn/MatMul  fp32' (rounded)",
    `--add Identity:${scores} (same)`,
    `--add Neg:${scores} (same)`,
    `--add Cast:${scores} (same)`,
    `--cut ${scores} (cut)`,
    '--cut /layers.1/attn/scale/Mul_output_0 (cut)',
    '--cut /layers.1/attn/softmax/Softmax_output_0 (cut)',
    '--remove 122 (other)',
  ]);
});

test('rules lower a float model, raise one that is built in FP16, and cannot be added to others', async () => {
  const rules = async (more: Partial<SearchedModel>) =>
    (await candidates('break', 'tensorrt-rtx-1.7.1/fp16_overflow', /^\/layers\.1\/attn\/softmax\//, more)).flatMap(
      ({ rules: text = [] }) => text,
    );
  expect((await rules({}))[0]).toMatch(/ fp16$/);
  expect((await rules({ precision: 'fp16' }))[0]).toMatch(/ fp32$/);
  expect(await rules({ hasRules: true })).toEqual([]);
});

test('what may keep a node out of a ForeignNode', async () => {
  const found = await candidates('separate', 'tensorrt-10.6.0/fp16_overflow.fp16', /^\/layers\.1\/attn\/softmax\//);
  const [before, behind] = ['/layers.1/attn/scale/Mul_output_0', '/layers.1/attn/softmax/Softmax_output_0'];
  expect(texts(found)).toEqual([
    `--output ${behind} (same)`,
    `--output ${before} (same)`,
    `--output ${before} --output ${behind} (same)`,
    "--rules with '/layers.1/attn/softmax/Softmax  fp16' (rounded)",
    `--cut ${behind} (cut)`,
    `--cut ${before} (cut)`,
    `--cut ${before} --cut ${behind} (cut)`,
    `--add Identity:${before} (same)`,
    `--add Cast:${before} (rounded)`,
  ]);
});

test('what may fuse nodes: fixed shapes, one type, nodes between them removed', async () => {
  const profiles = [{ x: { min: '1x8', opt: '4x8', max: '8x8' } }];
  const found = await candidates(
    'fuse',
    'tensorrt-rtx-1.7.1/fp16_overflow_fp16',
    /^\/layers\.1\/attn\/(?:q\/Add|qk\/MatMul)$/,
    { profiles },
  );
  expect(texts(found)[0]).toMatch(/^--rules with '\/layers\.1\/attn\/q\/Add, .* fp32' \(rounded\)$/);
  expect(texts(found)[1]).toBe('--shapes x:4x8 (same)');
});

const tried = (value: string, more: Partial<Tried>): Tried => ({
  option: 'output',
  values: [value],
  results: 'same',
  reached: true,
  why: null,
  kernels: 1,
  reformats: 0,
  ms: null,
  ...more,
});

test('what works and leaves values alone comes first, then by cost; unknown costs come last', () => {
  const all = [
    tried('no effect', { reached: false, kernels: 0 }),
    tried('unknown', { reached: null, why: 'it fails', kernels: null, reformats: null }),
    tried('cut', { option: 'cut', results: 'cut' }),
    tried('dear', { kernels: 4 }),
    tried('unknown cost', { kernels: null }),
    tried('cheap', { kernels: 3 }),
    tried('reformats', { kernels: 3, reformats: 2 }),
  ];
  expect(rankTried(all).flatMap(({ values }) => values)).toEqual([
    'cheap',
    'reformats',
    'dear',
    'unknown cost',
    'cut',
    'unknown',
    'no effect',
  ]);
  const timed = [tried('slow', { ms: 0.2, kernels: 1 }), tried('fast', { ms: 0.1, kernels: 5 })];
  expect(rankTried(timed).flatMap(({ values }) => values)).toEqual(['fast', 'slow']);
});

test('the text names the version that gave the answer', () => {
  const result = {
    tensorrt: { product: 'tensorrt-rtx' as const, version: '1.7.1' },
    goal: { before: 'Computed together.' },
    tried: [
      tried('a', { kernels: 3, reformats: 1, ms: 0.5 }),
      tried('b', { reached: null, why: 'it fails' }),
      tried('c', { reached: false }),
    ],
    left: 2,
  };
  expect(renderText(searchDocument(result))).toBe(`Computed together.

1 of 3 changes works, the best first
  change      effect
  --output a  +0.500 ms, +3 kernels, +1 reformat, same values

No effect
  --output c

Unknown
  change      why
  --output b  it fails

2 more changes not tried.
This is the result of TensorRT-RTX 1.7.1. It says nothing about other versions, which may fuse differently.
`);
});
