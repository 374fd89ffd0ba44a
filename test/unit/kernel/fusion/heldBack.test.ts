import { beforeAll, describe, expect, test } from 'vitest';
import { attentionFates } from '../../../../src/kernel/fusion/attentionFates.ts';
import {
  conditionsFor,
  type EngineAttention,
  fitsCondition,
  fusionConditions,
} from '../../../../src/kernel/fusion/internal/fusionConditions.ts';
import { attentionFacts } from '../../../../src/kernel/fusion/attentionFacts.ts';
import { builtNetworkOf } from '../../../../src/kernel/network/network.ts';
import { type BuiltNetwork, builtNetworks } from '../../../support/builtNetworks.ts';
import { reportOf } from './loadCapture.ts';

const types: Readonly<Record<string, string>> = { float: 'fp32', float16: 'fp16', bfloat16: 'bf16' };

/** What the model alone says of its attention, and what became of it; null: it has none that is known. */
function attentionIn({ model, report }: BuiltNetwork): { facts: EngineAttention; state: string } | null {
  const network = builtNetworkOf(model);
  const [found] = attentionFacts(network);
  if (!found) return null;
  const [fate] = attentionFates(
    report,
    network.nodes.map(({ op }, node) => ({ op, inputs: network.inputs[node]!, outputs: network.outputs[node]! })),
  );
  return { facts: { ...found.facts, type: types[found.facts.type ?? ''] ?? null }, state: fate!.state };
}

describe('TensorRT-RTX 1.7: small networks that differ in one thing, built', () => {
  let built: BuiltNetwork[];
  beforeAll(async () => {
    built = await builtNetworks('tensorrt-rtx-1.7.1', /./);
  });
  const attentionsOf = (ids: RegExp) =>
    built.filter(({ id }) => ids.test(id)).flatMap((network) => attentionIn(network) ?? []);

  test.each(
    fusionConditions.filter(({ product }) => product === 'tensorrt-rtx').map((row) => [row.because, row] as const),
  )('%s: was built, and never fused', (_, row) => {
    const fitting = attentionsOf(/^atte/).filter(({ facts }) => fitsCondition(row, facts));
    expect(fitting.length).toBe(row.seen);
    expect(fitting.filter(({ state }) => state !== 'split')).toEqual([]);
  });

  test.each([
    ['combinations that no sweep has', /^held/],
    ['attentions by chance, made after the table', /^new/],
  ])('%s: the condition, or one kernel, is as the build has it', (_, ids) => {
    const rows = conditionsFor({ product: 'tensorrt-rtx', version: '1.7.1' });
    const found = attentionsOf(ids);
    const right = found.filter(
      ({ facts, state }) => rows.some((row) => fitsCondition(row, facts)) === (state === 'split'),
    );
    expect(found.length).toBeGreaterThanOrEqual(20);
    expect(right.length / found.length).toBeGreaterThanOrEqual(0.9);
  });
});

describe('TensorRT 10.6: the same networks, built on an H200', () => {
  let built: BuiltNetwork[];
  beforeAll(async () => {
    built = await builtNetworks('tensorrt-10.6.0', /./);
  });

  test.each(
    fusionConditions
      .filter(({ product, condition }) => product === 'tensorrt' && condition !== 'type')
      .map((row) => [row.because, row] as const),
  )('%s: was built, and never fused', (_, row) => {
    const fitting = built
      .flatMap((network) => attentionIn(network) ?? [])
      .filter(({ facts }) => fitsCondition(row, facts));
    expect(fitting.length).toBe(row.seen);
    expect(fitting.filter(({ state }) => state !== 'split')).toEqual([]);
  });

  test('the report names a condition for each that is split, and nothing for the others', () => {
    const wrong = built.flatMap((network) => {
      const found = attentionIn(network);
      const cause = network.report.heldBack!.find(({ code }) => code === 'attention-not-fused');
      const isRight = found?.state === 'split' ? (cause?.condition ?? 'unknown') !== 'unknown' : cause === undefined;
      return isRight ? [] : [network.id];
    });
    // Its FP8 pairs are in front of all products; what of them splits it, no build separates.
    expect(wrong).toEqual(['held:19']);
    expect(built).toHaveLength(99);
  });
});

/** Recorded builds in which each attention is computed in FP32, and how many they have. */
const inFp32: readonly (readonly [capture: string, attentions: number])[] = [
  ['bert_base.fp32', 12],
  ['deep_encoder_11k.fp32', 232],
  ['fp16_overflow.fp32', 4],
  ['fp16_overflow_mixed.typed', 1],
  ['fusion_zoo.fp32', 1],
  ['vit_tiny.fp32', 12],
  ['vit_tiny.prec_wild', 12],
];

describe('TensorRT 10.6: recorded builds', () => {
  test('the attentions in FP32 are those that the table counts', () => {
    const [row] = conditionsFor({ product: 'tensorrt', version: '10.6.0' });
    expect(row).toMatchObject({ condition: 'type', seen: inFp32.reduce((sum, [, count]) => sum + count, 0) });
  });

  test.each(inFp32)('%s: %i attentions are split because of their type', async (capture, attentions) => {
    const report = (await reportOf(`tensorrt-10.6.0/${capture}`))!;
    const found = report.heldBack!.find(({ code }) => code === 'attention-not-fused');
    const softmaxes = report.nodes.filter(({ id, op }) => op === 'Softmax' && found!.nodes.includes(id));
    expect(found).toMatchObject({ condition: 'type' });
    expect(softmaxes).toHaveLength(attentions);
  });

  test.each(['bert_base.fp16', 'vit_tiny.fp16', 'fp16_overflow_fp16.typed'])(
    '%s: nothing holds an attention back',
    async (capture) => {
      const { heldBack } = (await reportOf(`tensorrt-10.6.0/${capture}`))!;
      expect(heldBack!.filter(({ code }) => code === 'attention-not-fused')).toEqual([]);
    },
  );

  test('of TensorRT 8.6 the kernels are not listed, so nothing is said', async () => {
    expect((await reportOf('tensorrt-8.6.1/vit_tiny.fp16'))!.heldBack).toEqual([]);
  });

  test('a Relu that the other of two added convolutions took in is fused', async () => {
    const { heldBack } = (await reportOf('tensorrt-10.6.0/resnet18.fp32'))!;
    expect(heldBack!.filter(({ code }) => code === 'activation-not-fused')).toEqual([]);
  });
});
