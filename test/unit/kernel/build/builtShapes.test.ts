import { describe, expect, test } from 'vitest';
import { builtShapes, shapesText } from '../../../../src/kernel/build/buildManifest.ts';
import { suggestedShapes, suggestSizes } from '../../../../src/kernel/build/buildCommand.ts';
import { buildModel, type ShortGraph } from '../fusion/buildModel.ts';
import { modelOf } from '../fusion/loadCapture.ts';

const net = (inputs: Record<string, (number | string)[]>, more: Partial<ShortGraph> = {}) =>
  buildModel({ inputs, outputs: ['y'], nodes: [['relu', 'Relu', [Object.keys(inputs)[0]!], ['y']]], ...more });

describe('the shapes of a build', () => {
  test('without a profile: open dimensions are 1, and that is on record', () => {
    const shapes = builtShapes(net({ x: ['batch', 3, 'height', 'width'], scale: [] }));
    expect(shapes).toEqual([
      [
        { input: 'x', min: '1x3x1x1', opt: '1x3x1x1', max: '1x3x1x1', defaulted: [0, 2, 3] },
        { input: 'scale', min: '', opt: '', max: '' },
      ],
    ]);
    expect(shapesText(shapes)).toBe('x 1×3×1×1, scale scalar');
  });

  test('with profiles: theirs; an input without a range is defaulted all the same', () => {
    const range = { min: '1x8', opt: '4x64', max: '8x256' };
    const model = net({ ids: ['batch', 'seq'], mask: ['batch', 'seq'] });
    expect(builtShapes(model, [{ ids: range }])[0]![1]).toMatchObject({ input: 'mask', opt: '1x1', defaulted: [0, 1] });
    const both = { ids: range, mask: { min: '1x8', opt: '1x8', max: '1x8' } };
    expect(shapesText(builtShapes(model, [both, both]))).toBe(
      'profile 0: ids 1×8 to 8×256 (optimum 4×64), mask 1×8; profile 1: ids 1×8 to 8×256 (optimum 4×64), mask 1×8',
    );
  });

  test('weights that are listed as inputs have none', () => {
    expect(builtShapes(net({ x: [1, 8], w: [8, 8] }, { initializers: ['w'] }))[0]!.map(({ input }) => input)).toEqual([
      'x',
    ]);
  });
});

describe('suggested sizes', () => {
  const sizes = (model: ReturnType<typeof net>) =>
    Object.fromEntries(suggestSizes(model).map(({ name, size, why }) => [name, `${size} ${why}`]));

  test('by name and place', () => {
    expect(sizes(net({ x: ['batch', 3, 'height', 'w'] }))).toEqual({
      batch: '1 name',
      height: '224 name',
      w: '224 name',
    });
    expect(sizes(net({ ids: ['B', 'sequence_length'], z: ['B', 'q'] }))).toMatchObject({
      B: '1 name',
      sequence_length: '128 name',
      q: '128 name',
    });
    expect(sizes(net({ x: ['?', 3, -1, -1] }))).toMatchObject({ 'x[2]': '224 name', 'x[3]': '224 name' });
  });

  test('by constants that fit no other size: Add, Concat, MatMul, Reshape', async () => {
    const constant = (shape: number[], op: string, inputs: string[], attribute?: number) => {
      const model = net({ x: ['batch', 'seq', 16] }, { initializers: ['c'], nodes: [['node', op, inputs, ['y']]] });
      model.graph.initializers[0]!.shape = shape;
      if (attribute !== undefined) model.nodes[0]!.attributes.push({ name: 'axis', kind: 'int', value: attribute });
      return model;
    };
    // A position embedding of 77 tokens.
    expect(sizes(constant([1, 77, 16], 'Add', ['x', 'c']))).toMatchObject({ seq: '77 required' });
    expect(sizes(constant([4, 50, 3], 'Concat', ['x', 'c'], 2))).toMatchObject({
      batch: '4 required',
      seq: '50 required',
    });
    const reshape = constant([3], 'Reshape', ['x', 'c']);
    Object.assign(reshape.graph.initializers[0]!, { type: 'int64', ints: [0, 32, 8] });
    expect(sizes(reshape)).toMatchObject({ batch: '1 name', seq: '16 required' });
    const product = net({ x: ['batch', 'k'] }, { initializers: ['c'], nodes: [['node', 'MatMul', ['x', 'c'], ['y']]] });
    product.graph.initializers[0]!.shape = [5, 3];
    expect(suggestedShapes(product, builtShapes(product)[0]!)).toEqual(['x:1x5']);
  });

  test('of a real model', async () => {
    const model = (await modelOf('bert_base'))!;
    expect(suggestedShapes(model, builtShapes(model)[0]!)).toEqual(['input_ids:1x128', 'attention_mask:1x128']);
  });
});
