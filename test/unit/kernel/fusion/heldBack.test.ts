import { beforeAll, describe, expect, test } from 'vitest';
import { attentionFates } from '../../../../src/kernel/fusion/attentionFates.ts';
import {
  conditionsFor,
  type EngineAttention,
  fitsCondition,
  fusionConditions,
} from '../../../../src/kernel/fusion/internal/fusionConditions.ts';
import { attentionFacts } from '../../../../src/kernel/network/attentionFacts.ts';
import { builtNetworkOf } from '../../../../src/kernel/network/network.ts';
import { type BuiltNetwork, builtNetworks } from '../../../support/builtNetworks.ts';

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
