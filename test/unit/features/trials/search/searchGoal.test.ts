import {
  reachesGoal,
  readGoal,
  type SearchGoal,
  type SearchKind,
  type SearchSide,
} from '../../../../../src/features/trials/searchChange.ts';
import { expect, test } from 'vitest';
import { nodesToMatch } from '../../../../../src/kernel/report/buildDiff.ts';
import { inputOf, reportOf } from '../../../kernel/fusion/loadCapture.ts';

async function sideOf(capture: string): Promise<SearchSide> {
  return { report: (await reportOf(capture))!, network: nodesToMatch((await inputOf(capture))!.model) };
}

/** Positions of nodes whose names match. */
const named = ({ report }: SearchSide, pattern: RegExp): number[] =>
  report.nodes.flatMap(({ name }, index) => (pattern.test(name) ? [index] : []));

function goalOf(kind: SearchKind, side: SearchSide, pattern: RegExp): SearchGoal {
  const goal = readGoal(kind, named(side, pattern), side);
  if ('reason' in goal) throw new Error(goal.reason);
  return goal;
}

const reasonOf = (kind: SearchKind, side: SearchSide, pattern: RegExp): string => {
  const goal = readGoal(kind, named(side, pattern), side);
  return 'reason' in goal ? goal.reason : '';
};

const attention = /^\/layers\.1\/attn\//;
/** In FP16 TensorRT-RTX fuses each attention, in FP32 none. */
const [fp16, fp32] = ['tensorrt-rtx-1.7.1/fp16_overflow_fp16', 'tensorrt-rtx-1.7.1/fp16_overflow'];

test('to break a module means its attention', async () => {
  const side = await sideOf(fp16);
  const goal = goalOf('break', side, attention);
  expect(goal.nodes.map((node) => side.report.nodes[node]!.op)).toEqual(['MatMul', 'Softmax', 'MatMul']);
  expect(goal.around.length).toBeGreaterThan(goal.nodes.length);
  expect(goal.before).toMatch(/ \(3 nodes\): computed together with \d+ other nodes? by kernel _gemm_mha_v2/);
  expect(reachesGoal(goal, side, side)).toBe(false);
  expect(reachesGoal(goal, side, await sideOf(fp32))).toBe(true);
  // A build that lists no kernels tells nothing.
  expect(reachesGoal(goal, side, await sideOf('tensorrt-8.6.1/fp16_overflow.fp16'))).toBeNull();
});

test('to fuse is the opposite', async () => {
  const [apart, together] = [await sideOf(fp32), await sideOf(fp16)];
  const core = /^\/layers\.1\/attn\/(?:qk\/MatMul|softmax\/Softmax|MatMul)$/;
  const goal = goalOf('fuse', apart, core);
  expect(goal.before).toMatch(/computed by \d+ kernels\.$/);
  expect(reachesGoal(goal, apart, apart)).toBe(false);
  expect(reachesGoal(goal, apart, together)).toBe(true);
  expect(reasonOf('fuse', together, core)).toMatch(/one kernel computes them already, _gemm_mha_v2/);
  expect(reasonOf('fuse', apart, /^\/layers\.1\/attn\/softmax/)).toMatch(/^Pass at least two nodes/);
});

test('a node is separate outside of every ForeignNode', async () => {
  const side = await sideOf('tensorrt-10.6.0/resnet18.fp16');
  const outside = side.report.nodes.findIndex(({ fate, foreignNode }) => fate === 'fused' && foreignNode === null);
  expect(outside).toBeGreaterThanOrEqual(0);
  expect(readGoal('separate', [outside], side)).toMatchObject({
    reason: expect.stringMatching(/in no ForeignNode/) as string,
  });
  const vit = await sideOf('tensorrt-10.6.0/vit_tiny.fp16');
  const goal = goalOf('separate', vit, /^\/blocks\/blocks\.3\/attn\/Softmax/);
  expect(goal.before).toMatch(/: in ForeignNode 0 \(.*\)\.$/);
  expect(reachesGoal(goal, vit, vit)).toBe(false);
});

test('goals that make no sense say why', async () => {
  const side = await sideOf(fp16);
  const folded = side.report.nodes.findIndex(({ fate }) => fate === 'folded');
  expect(readGoal('break', [folded], side)).toMatchObject({
    reason: expect.stringMatching(/folded, removed/) as string,
  });
  expect(reasonOf('break', side, /^\/layers\.[12]\/attn\//)).toMatch(
    /^These nodes are in 2 kernels, .*Pass nodes of one$/,
  );
  const opaque = await sideOf('tensorrt-8.6.1/fp16_overflow.fp16');
  expect(reasonOf('break', opaque, attention)).toMatch(/does not list the kernels/);
  expect(reasonOf('fuse', opaque, attention)).toMatch(/does not list the kernels/);
});
