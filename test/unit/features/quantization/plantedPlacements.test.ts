import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { OnnxTensor } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { type Misplaced, misplaced } from '../../../../src/kernel/quantization/internal/misplaced.ts';
import type { QuantizedGraph } from '../../../../src/kernel/quantization/quantization.ts';
import { type NamedNode, networkOfNodes } from './networkOfNodes.ts';

type Code = Misplaced['code'];

const codes = [
  'before-activation',
  'one-side-of-residual',
  'one-side-of-concat',
  'concat-scales',
  'quantized-bias',
  'quantized-output',
  'quantized-twice',
  'pair-mismatch',
  'weight-axis',
  'per-channel-activation',
  'asymmetric',
  'scale-value',
  'scale-at-run-time',
  'unsupported-type',
  'float-weights',
  'float-input',
  'mixed-types',
  'integer-operator',
] as const satisfies readonly Code[];

/** A block of a network: a product with its activation, and perhaps a sum with what came in. */
interface Block {
  op: 'Conv' | 'MatMul' | 'Gemm';
  activation: 'Relu' | 'Sigmoid' | 'Clip' | null;
  residual: boolean;
  bias: boolean;
}

const block: fc.Arbitrary<Block> = fc.record({
  op: fc.constantFrom('Conv', 'MatMul', 'Gemm'),
  activation: fc.constantFrom('Relu', 'Sigmoid', 'Clip', null),
  residual: fc.boolean(),
  bias: fc.boolean(),
});

/** What a block must have so that a code can be planted in it. */
const needs: Partial<Record<Code, Partial<Block>>> = {
  'before-activation': { activation: 'Relu' },
  'one-side-of-residual': { residual: true },
  'quantized-bias': { op: 'Conv', bias: true },
};

/** The scale of the pair in front of a product. */
const scaleOf: Readonly<Record<string, string>> = {
  'per-channel-activation': 'scales',
  'scale-value': 'nan',
  'scale-at-run-time': 'given',
};

const zeroOf: Readonly<Record<string, string>> = { asymmetric: 'odd', 'mixed-types': 'fp8' };

/** The values of scales, by name; of others 0.5. */
const values: Readonly<Record<string, number[]>> = { nan: [Number.NaN], other: [0.25] };

const valuesIn = (network: QuantizedGraph) => (node: number) =>
  values[network.constantAt(node, 1)?.name ?? ''] ?? [0.5];

/** A network of such blocks with Q/DQ pairs as TensorRT's rules say, but for one that is planted. */
function networkOf(blocks: readonly Block[], planted: { code: Code; at: number } | null): QuantizedGraph {
  const nodes: NamedNode[] = [];
  const initializers: OnnxTensor[] = [];
  const tensor = (name: string, type: string, shape: number[], ints?: number[]) => {
    initializers.push({ name, type, shape, data: null, ...(ints && { ints }) });
    return name;
  };
  const add = (op: string, inputs: string[], output: string, axis?: number) => {
    const attributes = axis === undefined ? [] : [{ name: 'axis', kind: 'int' as const, value: axis }];
    nodes.push({ op, inputs, output, attributes });
    return output;
  };
  tensor('scale', 'float', []);
  tensor('scales', 'float', [8]);
  tensor('zero', 'int8', [], [0]);
  tensor('odd', 'int8', [], [3]);
  tensor('fp8', 'float8e4m3fn', []);
  tensor('nan', 'float', []);
  tensor('other', 'float', []);
  tensor('wide', 'uint16', []);
  const pair = (name: string, as: string, scale = 'scale', zero = 'zero', back = scale) =>
    add('DequantizeLinear', [add('QuantizeLinear', [name, scale, zero], `${as}_q`), back, zero], `${as}_dq`);
  const outputs: string[] = [];
  let value = 'x';
  /** What block `i` reads, and what its product does. */
  const fed = (i: number) => {
    const code = planted?.at === i ? planted.code : '';
    const input = code === 'integer-operator' ? add('QLinearAdd', [value, 'scale', 'zero'], `b${i}_integer`) : value;
    if (code === 'float-input') return { input, data: input };
    const once = pair(input, `b${i}_in`, scaleOf[code], zeroOf[code], code === 'pair-mismatch' ? 'other' : undefined);
    return { input, data: code === 'quantized-twice' ? pair(once, `b${i}_again`, 'other') : once };
  };
  blocks.forEach(({ op, activation, residual, bias }, i) => {
    const has = (code: Code) => planted?.at === i && planted.code === code;
    const { input, data } = fed(i);
    const shape = op === 'Conv' ? [8, 8, 1, 1] : [8, 8];
    const right = op === 'Conv' ? 0 : 1;
    const weights = has('float-weights')
      ? tensor(`b${i}_w`, 'float', shape)
      : add(
          'DequantizeLinear',
          [tensor(`b${i}_w`, 'int8', shape), 'scales', 'zero'],
          `b${i}_w_dq`,
          has('weight-axis') ? 1 - right : right,
        );
    const biased = bias && op !== 'MatMul';
    const added = has('quantized-bias')
      ? add('DequantizeLinear', [tensor(`b${i}_b`, 'int32', [8]), 'scale'], `b${i}_b_dq`)
      : biased
        ? tensor(`b${i}_b`, 'float', [8])
        : null;
    value = add(op, [data, weights, ...(added === null ? [] : [added])], `b${i}_product`);
    if (has('before-activation')) value = pair(value, `b${i}_early`);
    if (residual) {
      // The other side is the input of the block, through a pair of its own; the product's may have one or none.
      const own = i % 2 === 0 || has('one-side-of-residual') ? pair(value, `b${i}_sum`) : value;
      value = add('Add', [own, has('one-side-of-residual') ? input : pair(input, `b${i}_skip`)], `b${i}_add`);
    }
    if (activation !== null) value = add(activation, [value], `b${i}_act`);
    const joined = has('one-side-of-concat') ? value : pair(value, `b${i}_left`);
    const beside = pair(input, `b${i}_right`, has('concat-scales') ? 'other' : 'scale');
    outputs.push(add('Softmax', [add('Concat', [joined, beside], `b${i}_concat`)], `b${i}_softmax`));
    if (has('quantized-output')) outputs.push(pair(value, `b${i}_given`));
    if (has('unsupported-type'))
      outputs.push(add('Softmax', [pair(value, `b${i}_wide`, 'scale', 'wide')], `b${i}_unsupported`));
  });
  return networkOfNodes(nodes, { x: [8, 8], given: [8, 8] }, initializers, [value, ...outputs]);
}

test.each(codes)('%s is named where it is planted, and nothing else', (code) => {
  let seen = 0;
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 6 }), fc.nat(), (drawn, place) => {
      const at = place % drawn.length;
      const blocks = drawn.map((one, i): Block => {
        if (i === at) return { ...one, ...needs[code], ...fitting(code) };
        // What comes in is to be no product's own output, which may stay in floating point.
        return i === at - 1 && code === 'one-side-of-residual' ? { ...one, activation: 'Relu' } : one;
      });
      const good = networkOf(blocks, null);
      expect(misplaced(good, valuesIn(good))).toEqual([]);
      const bad = networkOf(blocks, { code, at });
      const found = misplaced(bad, valuesIn(bad));
      expect([...new Set(found.map((one) => one.code))]).toEqual([code]);
      for (const { nodes, fix } of found) {
        const names = nodes.map((id) => bad.graph.nodes[bad.graph.indexOfId.get(id)!]!.name);
        expect(names.some((name) => name.startsWith(`b${at}_`))).toBe(true);
        expect(fix).not.toBe('');
        seen++;
      }
    }),
    { numRuns: 60 },
  );
  expect(seen).toBeGreaterThanOrEqual(60);
});

/** A pair behind a product with a residual is a pair of the sum, not one before its activation. */
const fitting = (code: Code): Partial<Block> => (code === 'before-activation' ? { residual: false } : {});
