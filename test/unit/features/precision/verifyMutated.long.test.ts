import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BuildFacts, SeenTensor } from '../../../../src/kernel/rules/buildFacts.ts';
import { type NodeVerdict, planPrecision } from '../../../../src/kernel/rules/precisionPlan.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';
import { resolveOverrides } from '../../../../src/kernel/rules/resolveOverrides.ts';
import { verifyPrecision } from '../../../../src/kernel/rules/verifyPrecision.ts';
import { captured } from './overrideFixtures.ts';

const builds = [
  'tensorrt-8.6.1/vit_tiny.prec_obey',
  'tensorrt-10.6.0/vit_tiny.prec_obey',
  'tensorrt-10.6.0/vit_tiny.prec_wild',
  'tensorrt-10.6.0/vit_tiny.fp32',
  'tensorrt-10.6.0/fp16_overflow_mixed.typed',
  'tensorrt-11.2.1/fp16_overflow_mixed.typed',
  'tensorrt-rtx-1.7.1/fp16_overflow_mixed',
];
const words = { Float: 'fp32', Half: 'fp16', BFloat16: 'bf16' } as const;
type Word = keyof typeof words;

/** What happens to a build before it is judged. */
const mutation = fc.record({
  /** The types of layers, each with this chance in eight: another one, or none. */
  share: fc.integer({ min: 0, max: 8 }),
  type: fc.constantFrom<(Word | null)[]>('Float', 'Half', 'BFloat16', null),
  seed: fc.integer(),
  flags: fc.boolean(),
  lines: fc.constantFrom('all', 'none', 'half'),
  layers: fc.boolean(),
});

test.each(builds)('%s: however the evidence is changed, nothing is obeyed that it does not show', async (name) => {
  const { index, build } = await captured(name);
  fc.assert(
    fc.property(mutation, (how) => {
      const { facts, changed } = mutated(build, how);
      const verdicts = new Map<string, NodeVerdict[]>();
      for (const type of Object.values(words)) {
        const file = readOverrides(`** ${type}`);
        const plan = planPrecision(file, index, resolveOverrides(file, index, facts));
        for (const { nodes } of verifyPrecision(plan, facts, index))
          for (const verdict of nodes)
            verdicts.set(verdict.node.id, [...(verdicts.get(verdict.node.id) ?? []), verdict]);
      }
      for (const [id, found] of verdicts) {
        const obeyed = found.filter(({ verdict }) => verdict === 'obeyed');
        expect(obeyed.length, `types that ${id} obeys`).toBeLessThan(2);
        for (const { node, reason, layer } of obeyed) {
          const own = facts.nodes[node.position]!.layers.map((i) => facts.layers[i]!);
          const only = facts.flags?.types.length === 1 && node.compute === 'fp32' && reason.endsWith('only.');
          const typed = reason.includes('strongly typed');
          if (typed)
            expect(index.nodes[node.position]!.types.map((type) => type && typeNames[type])).toContain(node.compute);
          if (only || typed) continue;
          // Without layers, or with all their types taken or changed to another, there is nothing to obey by.
          expect(own.map((one) => one.name)).toContain(layer);
          // A kernel that says in its name that it casts first need not show the type at its ends.
          if (reason.includes('its name says that it casts to') && /Cast?(?:Mul)?Mea/.test(layer!)) {
            expect([node.compute, node.op]).toEqual(['fp32', 'LayerNormalization']);
            continue;
          }
          const shown = own.flatMap((one) =>
            [...one.inputs, ...one.outputs, ...(one.constants ?? [])].map((tensor) => tensor.type).concat(one.weights),
          );
          expect(shown.map((type) => words[type as Word])).toContain(node.compute);
          if (own.every((one) => changed.has(one.name))) expect(words[how.type as Word]).toBe(node.compute);
        }
      }
    }),
    { numRuns: name.includes('8.6') ? 10 : 25 },
  );
});

const typeNames: Readonly<Record<string, string>> = { float: 'fp32', float16: 'fp16', bfloat16: 'bf16' };

function mutated(
  build: BuildFacts,
  { share, type, seed, flags, lines, layers }: ReturnType<typeof sample>,
): { facts: BuildFacts; changed: Set<string> } {
  let state = seed >>> 0;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const changed = new Set<string>();
  const retyped = (tensors: SeenTensor[]) => tensors.map((tensor) => ({ ...tensor, type }));
  const facts: BuildFacts = {
    ...build,
    flags: flags ? build.flags : null,
    lines: lines === 'none' ? null : (build.lines?.filter(() => lines === 'all' || below(2) === 0) ?? null),
    nodes: layers ? build.nodes : build.nodes.map((node) => ({ ...node, layers: [] })),
    layers: build.layers.map((layer) => {
      if (below(8) >= share) return layer;
      changed.add(layer.name);
      return {
        ...layer,
        inputs: retyped(layer.inputs),
        outputs: retyped(layer.outputs),
        ...(layer.constants && { constants: retyped(layer.constants) }),
        weights: layer.weights && type,
      };
    }),
  };
  return { facts, changed };
}

const sample = () => fc.sample(mutation, 1)[0]!;
