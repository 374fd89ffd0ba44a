import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { planEdit } from '../../../../src/kernel/read/onnx/editModel.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { segmentBytes } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { graphPathOf } from '../../../../src/kernel/network/modelGraph.ts';
import { modelFacts } from '../../../../src/kernel/rules/buildFacts.ts';
import { NodeIndex, resolveOverrides } from '../../../../src/kernel/rules/resolveOverrides.ts';
import { planPrecision } from '../../../../src/kernel/rules/precisionPlan.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';
import { type RewritePlan } from '../../../../src/features/precision/internal/rewritePlan.ts';
import { planRewrite, type RewriteOptions } from '../../../../src/features/precision/planRewrite.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { modelPath } from '../../../support/fixtures.ts';
import { randomModel } from '../../../support/randomModel.ts';
import { type WireField, wireFields } from './wireFields.ts';

async function rewrite(
  bytes: Uint8Array,
  rules: string,
  options: RewriteOptions,
): Promise<{ plan: RewritePlan; after: Uint8Array }> {
  const { value: model } = await readModel(bytesOf(bytes), { spans: true });
  const index = new NodeIndex(modelFacts(model!, 'model.onnx'));
  const file = readOverrides(rules);
  const plan = planRewrite(model!, planPrecision(file, index, resolveOverrides(file, index, null)), options);
  const { value, problems } = await planEdit(model!, bytesOf(bytes), plan, { externalFile: 'new.data' });
  expect(problems).toEqual([]);
  const pieces: Uint8Array[] = [];
  for await (const piece of segmentBytes(value!.segments, () => bytesOf(bytes))) pieces.push(piece);
  return { plan, after: Buffer.concat(pieces) };
}

/** Every field of the old file is in the new one, in its place and byte for byte, but for those that the plan names. */
function expectNothingElse(before: Uint8Array, after: Uint8Array, plan: RewritePlan): void {
  const casts = new Set(plan.casts.map(({ name }) => name));
  const removed = new Set(plan.remove);
  // A number in an attribute becomes a tensor in it, in other fields.
  const numbers = new Set(numbersOf(before).filter((id) => plan.constants.some(({ node }) => node === id)));
  const isNumber = ({ place, node }: WireField) => numbers.has(node) && /^[AT]\./.test(place);
  const old = wireFields(before).filter((field) => !isNumber(field) && !removed.has(field.node));
  const named = new Map(plan.names.map(({ node, name }) => [node, Buffer.from(name).toString('hex')]));
  const all = wireFields(after, { added: casts, removed });
  expect(wireFields(after).length - all.length).toBe(casts.size * fieldsOfCast);
  const tensorsOfNumbers = all.filter(isNumber).map(({ place }) => place);
  expect(tensorsOfNumbers).toEqual([...numbers].flatMap(() => ['A.1', 'A.20', 'T.2', 'T.9']));
  // Nodes without a name get one where TensorRT would know them by an output that has another name now.
  const unnamed = new Map(old.filter(({ place }) => place === 'N.3').map((field) => [field.node, field]));
  const kept = all
    .filter((field) => !isNumber(field))
    .flatMap((field) => {
      const isNew = field.place === 'N.3' && field.bytes.split(':')[1] === named.get(field.node);
      if (!isNew) return [field];
      named.delete(field.node);
      const empty = unnamed.get(field.node);
      if (empty) expect(empty.bytes.split(':')[1]).toBe('');
      return empty ? [empty] : [];
    });
  expect(named.size).toBe(0);
  expect(kept.length).toBe(old.length);
  const rewired = new Set([
    ...plan.inputs.map(({ node }) => `N.1 ${node}`),
    ...plan.outputs.map(({ node }) => `N.2 ${node}`),
  ]);
  const tensors = new Set([
    ...plan.initializers.map(({ graph, name }) => `${graph} ${name}`),
    ...plan.constants.map(({ node }) => node).filter((node) => !numbers.has(node)),
  ]);
  const values = new Set(plan.values.map(({ name }) => name));
  const changed = { wires: 0, tensors: 0, values: 0 };
  for (const [i, field] of old.entries()) {
    const now = kept[i]!;
    // A few hundred thousand fields: an expectation for each would take minutes.
    if (now.place === field.place && now.bytes === field.bytes && now.node === field.node) continue;
    expect(now.node).toBe(field.node);
    const reason = explain(field);
    if (reason === null) expect(now).toEqual(field);
    else changed[reason]++;
  }
  expect(changed.wires).toBe(plan.inputs.length + plan.outputs.length);
  expect(changed.tensors).toBe(tensors.size);
  expect(changed.values).toBeGreaterThanOrEqual(values.size);

  function explain({ place, node, owner }: WireField): 'wires' | 'tensors' | 'values' | null {
    if (rewired.has(`${place} ${node}`)) return 'wires';
    if (place === 'S.1' && values.has(owner)) return 'values';
    const isRetyped = tensors.has(node) || tensors.has(`${graphPathOf(node)} ${owner}`) || tensors.has(` ${owner}`);
    if (!isRetyped || !/^(?:T|E)\.\d+$/.test(place)) return null;
    // Its type is counted; its elements, and where they are, change with it.
    if (place === 'T.2') return 'tensors';
    expect(place).toMatch(/^(?:T\.4|T\.5|T\.9|E\.1|E\.2)$/);
    changed.tensors--;
    return 'tensors';
  }
}

/** Ids of Constant nodes that hold one number. */
function numbersOf(file: Uint8Array): string[] {
  const name = `:${Buffer.from('value_float').toString('hex')}`;
  return wireFields(file)
    .filter(({ place, bytes }) => place === 'A.1' && bytes.endsWith(name))
    .map(({ node }) => node);
}

/** input, output, name, op, and the attribute's name, number and type */
const fieldsOfCast = 7;

const mixtures: [string, RewriteOptions][] = [
  ['base fp16', {}],
  ['base fp16\nop:Tanh, op:Softmax, op:MatMul fp32', { grow: true }],
  ['base bf16\nop:Add, op:Conv fp32 -> fp16', {}],
  ['** fp16 -> fp32', { io: 'follow' }],
];

describe('what a rewrite does not name stays byte for byte, in its place', () => {
  test.each([
    'fp16_overflow',
    'fp16_overflow_mixed',
    'vit_tiny',
    'resnet18',
    'loop_if',
    'lstm_gru',
    'fusion_zoo',
    'unnamed',
  ])('%s', async (name) => {
    const before = readFileSync(modelPath(name));
    for (const [rules, options] of mixtures) {
      const { plan, after } = await rewrite(before, rules, options);
      expect(plan.nodes.length).toBeGreaterThan(0);
      expectNothingElse(before, after, plan);
    }
  });

  test('random graphs: subgraphs, functions, metadata, unknown fields, weights in and outside of the model', async () => {
    let casts = 0;
    for (let seed = 1000; seed < 1060; seed++) {
      const { bytes } = randomModel(seed);
      for (const [rules, options] of mixtures) {
        const { plan, after } = await rewrite(bytes, rules, options);
        casts += plan.casts.length;
        expectNothingElse(bytes, after, plan);
      }
    }
    expect(casts).toBeGreaterThan(1500);
  });

  test('no rule, no change', async () => {
    const { bytes } = randomModel(1);
    const { after } = await rewrite(bytes, 'base keep', {});
    expect(Buffer.compare(after, bytes)).toBe(0);
  });
});

test('the fields of a file are all of its bytes', () => {
  const { bytes } = randomModel(3);
  const content = wireFields(bytes).reduce((sum, { bytes: hex }) => sum + (hex.length - hex.indexOf(':') - 1) / 2, 0);
  // The rest is keys and lengths.
  expect(content).toBeGreaterThan(bytes.length * 0.5);
  expect(content).toBeLessThan(bytes.length);
  const other = Uint8Array.from(bytes);
  other[bytes.length - 1]! ^= 1;
  expect(wireFields(other)).not.toEqual(wireFields(bytes));
});
