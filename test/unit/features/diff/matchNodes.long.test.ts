import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { type NetworkNode, nodesToMatch } from '../../../../src/kernel/report/buildDiff.ts';
import { matchNodes, Structure } from '../../../../src/features/diff/matchNodes.ts';
import { randomFrom } from '../../kernel/fusion/randomEngine.ts';
import { modelOf } from '../../kernel/fusion/loadCapture.ts';

const models = ['vit_tiny', 'resnet18', 'bert_base', 'fusion_zoo', 'lstm_gru', 'two_inputs_multi_out', 'unnamed'];
const networks = new Map<string, NetworkNode[]>();
beforeAll(async () => {
  for (const name of models) {
    // oxlint-disable-next-line no-await-in-loop -- few, and small
    const model = await modelOf(name);
    if (model) networks.set(name, nodesToMatch(model));
  }
});

/** What another export of the same network may differ in. */
interface Export {
  nodes: NetworkNode[];
  /** For each node the position in the original; -1: added. */
  origin: number[];
}

/**
 * A copy with other names, other order and added conversions.
 * @param names `numbers`: operator and running number, as exporters number them; `swapped`: the names of the original in other places
 */
function exported(
  nodes: readonly NetworkNode[],
  random: () => number,
  options: { names: 'kept' | 'numbers' | 'swapped' | 'fresh'; conversions: number; dropped: number },
): Export {
  const tensor = new Map<string, string>();
  let next = 0;
  const renamed = (name: string) => {
    if (name === '' || options.names === 'kept') return name;
    if (!tensor.has(name)) tensor.set(name, `t${(next += 1)}`);
    return tensor.get(name)!;
  };
  const shuffled = nodes.map(({ name }) => name);
  for (let at = shuffled.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [shuffled[at], shuffled[other]] = [shuffled[other]!, shuffled[at]!];
  }
  const result: Export = { nodes: [], origin: [] };
  nodes.forEach((node, index) => {
    if (random() < options.dropped) return;
    const inputs = node.inputs.map((input, slot) => {
      const name = renamed(input);
      if (name === '' || node.constants[slot] || random() >= options.conversions) return name;
      const [quantized, back] = [`q${(next += 1)}`, `d${next}`];
      const conversion = { attributes: '', constants: ['', '[]'] };
      result.nodes.push(
        { ...conversion, id: '', name: `Q${next}`, op: 'QuantizeLinear', inputs: [name, 's'], outputs: [quantized] },
        { ...conversion, id: '', name: `D${next}`, op: 'DequantizeLinear', inputs: [quantized, 's'], outputs: [back] },
      );
      result.origin.push(-1, -1);
      return back;
    });
    const name = {
      kept: node.name,
      numbers: `${node.op}_${result.nodes.length}`,
      swapped: shuffled[index]!,
      fresh: `n${index * 7919}`,
    }[options.names];
    result.nodes.push({ ...node, name, inputs, outputs: node.outputs.map(renamed) });
    result.origin.push(index);
  });
  result.nodes = result.nodes.map((node, index) => ({ ...node, id: String(index) }));
  return result;
}

/** Share of the original's nodes that are matched with themselves or a twin (nobody can tell these apart). */
function recovered(nodes: readonly NetworkNode[], other: Export): number {
  const { toB } = matchNodes(nodes, other.nodes);
  const hashes = new Structure(nodes).wholeHashes();
  const present = new Set(other.origin);
  let right = 0;
  let all = 0;
  nodes.forEach((_, index) => {
    if (!present.has(index)) return;
    all += 1;
    const found = toB[index] === -1 ? undefined : other.origin[toB[index]!];
    if (found !== undefined && found !== -1 && hashes[found] === hashes[index]) right += 1;
  });
  return all === 0 ? 1 : right / all;
}

const cases: [string, Parameters<typeof exported>[2], number][] = [
  ['renamed throughout', { names: 'fresh', conversions: 0, dropped: 0 }, 1],
  ['with the names of other nodes', { names: 'swapped', conversions: 0, dropped: 0 }, 1],
  ['with numbered names', { names: 'numbers', conversions: 0, dropped: 0 }, 1],
  ['quantized', { names: 'kept', conversions: 0.2, dropped: 0 }, 0.99],
  ['quantized and renamed', { names: 'fresh', conversions: 0.2, dropped: 0 }, 0.99],
  ['with nodes missing', { names: 'kept', conversions: 0, dropped: 0.02 }, 0.99],
  ['renamed, with nodes missing', { names: 'fresh', conversions: 0, dropped: 0.02 }, 0.75],
];

describe('a network exported once more', () => {
  test.each(cases)('%s', (_, options, least) => {
    fc.assert(
      fc.property(fc.constantFrom(...networks.keys()), fc.nat(), (name, seed) => {
        const nodes = networks.get(name)!;
        const random = randomFrom(seed);
        expect(recovered(nodes, exported(nodes, random, options)), name).toBeGreaterThanOrEqual(least);
      }),
      { numRuns: 60 },
    );
  });
});
