import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  atomsOf,
  parseLayerName,
  printLayerName,
  type KnownNames,
  type LayerName,
} from '../../../../src/kernel/network/layerName.ts';

const knowing = (...names: string[]): KnownNames => ({
  has: (name) => names.includes(name),
  longest: Math.max(0, ...names.map(({ length }) => length)),
});
const atom = (text: string): LayerName => ({ kind: 'atom', text });

describe('parseLayerName', () => {
  it.each<[string, string[]]>([
    ['/last_conv/Conv', ['/last_conv/Conv']],
    ['/a/Conv + /a/bn/BatchNormalization + /a/Relu', ['/a/Conv', '/a/bn/BatchNormalization', '/a/Relu']],
    ['/c/Conv + /Relu_2 || /b/Conv + /Relu_1', ['/c/Conv', '/Relu_2', '/b/Conv', '/Relu_1']],
    ['PWN(PWN(/Mul), PWN(/Add))', ['/Mul', '/Add']],
    [
      'PWN(PWN(/Constant_3_output_0, PWN(PWN(/Mul_3, PWN(/Sqrt)), /Max)), /Div)',
      ['/Constant_3_output_0', '/Mul_3', '/Sqrt', '/Max', '/Div'],
    ],
    ['PWN(/encoder/Add + /encoder/Relu_1)', ['/encoder/Add', '/encoder/Relu_1']],
    ['/fc/Gemm + (Unnamed Layer* 12) [ElementWise]', ['/fc/Gemm', '(Unnamed Layer* 12) [ElementWise]']],
    ['PWN((Unnamed Layer* 12) [ElementWise], /Relu)', ['(Unnamed Layer* 12) [ElementWise]', '/Relu']],
    ['reshape_before_node_of_output', ['node_of_output']],
    ['copied_squeeze_after_(Unnamed Layer* 12) [ElementWise]', ['(Unnamed Layer* 12) [ElementWise]']],
    ['{ForeignNode[/a/Cast.../b/Tanh]}', ['/a/Cast', '/b/Tanh']],
    [
      '{ForeignNode[gemm1.weight + ONNXTRT_Broadcast...ONNXTRT_castHelper_9]}',
      ['gemm1.weight', 'ONNXTRT_Broadcast', 'ONNXTRT_castHelper_9'],
    ],
    ['{ForeignNode[alone]}', ['alone']],
    ['{ForeignNode[a...b]} [profile 1]', ['a', 'b']],
    ['/conv/Conv [profile 2]', ['/conv/Conv']],
    ['Reformatting CopyNode for Input Tensor 0 to /a + /b', []],
    ['/left/Relu_output_0 copy', []],
    ['__myl_AddTanh_myl3_14', []],
  ])('%s', (text, atoms) => {
    const name = parseLayerName(text);
    expect(atomsOf(name)).toEqual(atoms);
    expect(printLayerName(name)).toBe(text);
  });

  it('reads kernels with their region, number and profile', () => {
    expect(parseLayerName('/v/MatMul+/k/MatMul_myl17_5')).toEqual({
      kind: 'kernel',
      base: '/v/MatMul+/k/MatMul',
      profile: null,
      group: 17,
      index: 5,
    });
    expect(parseLayerName('node_linear [profile 1]_myl11_2')).toEqual({
      kind: 'kernel',
      base: 'node_linear',
      profile: 1,
      group: 11,
      index: 2,
    });
    expect(parseLayerName('A_myl0_3', knowing('A_myl0_3'))).toEqual(atom('A_myl0_3'));
  });

  it('reads reformats with what they belong to', () => {
    expect(parseLayerName('Reformatting CopyNode for Output Tensor 1 to {ForeignNode[a...b]}')).toEqual({
      kind: 'reformat',
      side: 'Output',
      index: 1,
      of: { kind: 'foreign', first: atom('a'), last: atom('b') },
    });
  });

  it('tries few readings of ForeignNodes inside ForeignNodes', () => {
    const inside = (depth: number): string => (depth === 0 ? 'a' : `{ForeignNode[${inside(depth - 1)}]}`);
    const lookUps = (text: string): number => {
      let count = 0;
      expect(printLayerName(parseLayerName(text, { has: () => ++count < 0, longest: 1000 }))).toBe(text);
      return count;
    };
    // Each place to cut at had all those of its parts to try: half a kilobyte took a quarter of a minute.
    const short = `{ForeignNode[${Array(12).fill(inside(3)).join('...')}]}`;
    const long = `{ForeignNode[${Array(48).fill(inside(6)).join('...')}]}`;
    expect(lookUps(short)).toBeLessThan(50_000);
    expect(lookUps(long)).toBeLessThan(1_000_000);
  });

  it('takes the longest name of the model first', () => {
    const known = knowing('a', 'b', 'a + b', 'c, d', 'f(x)', 'g)', 'h || i');
    expect(atomsOf(parseLayerName('a + b + a', known))).toEqual(['a + b', 'a']);
    expect(atomsOf(parseLayerName('PWN(c, d, f(x))', known))).toEqual(['c, d', 'f(x)']);
    expect(atomsOf(parseLayerName('PWN(g), a)', known))).toEqual(['g)', 'a']);
    expect(atomsOf(parseLayerName('h || i || a', known))).toEqual(['h || i', 'a']);
  });

  it('cuts a ForeignNode where both ends are names of the model', () => {
    const known = knowing('a...b', 'b', 'c', 'd', 'a', 'b...c');
    expect(parseLayerName('{ForeignNode[a...b...c]}', known)).toEqual({
      kind: 'foreign',
      first: atom('a...b'),
      last: atom('c'),
    });
    expect(parseLayerName('{ForeignNode[a...b...d]}', known)).toEqual({
      kind: 'foreign',
      first: atom('a...b'),
      last: atom('d'),
    });
    expect(parseLayerName('{ForeignNode[a...b]}', known)).toEqual({
      kind: 'foreign',
      first: atom('a'),
      last: atom('b'),
    });
  });

  it('prints what it read, whatever the text', () => {
    const pieces = fc.constantFrom(
      'a',
      '/b/Conv',
      ' + ',
      ' || ',
      ', ',
      'PWN(',
      ')',
      '(',
      '...',
      '{ForeignNode[',
      ']}',
      ' copy',
      '_myl1_2',
      ' [profile 1]',
      'Reformatting CopyNode for Input Tensor 0 to ',
      'reshape_before_',
      '(Unnamed Layer* 3) [Shuffle]',
      ' ',
      '',
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(pieces, { maxLength: 14 }).map((list) => list.join('')),
    );
    fc.assert(
      fc.property(text, fc.array(fc.oneof(pieces, fc.string()), { maxLength: 5 }), (name, names) => {
        expect(printLayerName(parseLayerName(name, knowing(...names)))).toBe(name);
      }),
      { numRuns: 2000 },
    );
  });

  it('reads back the tree of every name that TensorRT could print', () => {
    const names = ['/a/Conv', 'conv 1', 'x, y', 'p(q)', 'm.0.weight', '日本'];
    const leaf = fc.constantFrom(...names).map(atom);
    const { fused } = fc.letrec<{ fused: LayerName; vertical: LayerName; pointwise: LayerName }>((tie) => ({
      pointwise: fc
        .array(fc.oneof({ maxDepth: 3 }, leaf, tie('pointwise')), { minLength: 1, maxLength: 3 })
        .map((parts): LayerName => ({ kind: 'pointwise', parts })),
      vertical: fc.oneof(
        leaf,
        tie('pointwise'),
        fc
          .array(fc.oneof(leaf, tie('pointwise')), { minLength: 2, maxLength: 4 })
          .map((parts): LayerName => ({ kind: 'vertical', parts })),
      ),
      fused: fc.oneof(
        tie('vertical'),
        fc
          .array(tie('vertical'), { minLength: 2, maxLength: 3 })
          .map((parts): LayerName => ({ kind: 'horizontal', parts })),
      ),
    }));
    const whole = fc.oneof(
      fused,
      fc.tuple(fused, fused).map(([first, last]): LayerName => ({ kind: 'foreign', first, last })),
      fc.tuple(fused, fc.nat(9)).map(([of, index]): LayerName => ({ kind: 'reformat', side: 'Input', index, of })),
      fc.tuple(fused, fc.nat(9)).map(([of, profile]): LayerName => ({ kind: 'profile', of, profile })),
    );
    fc.assert(
      fc.property(whole, (tree) => {
        expect(parseLayerName(printLayerName(tree), knowing(...names))).toEqual(tree);
      }),
      { numRuns: 1000 },
    );
  });

  it('survives names that no TensorRT wrote', () => {
    for (const text of [
      'PWN('.repeat(20_000),
      'PWN(a, '.repeat(3000),
      '('.repeat(50_000),
      ' + '.repeat(20_000),
      '{ForeignNode['.repeat(5000) + ']}'.repeat(5000),
      `{ForeignNode[${'...'.repeat(20_000)}]}`,
      '_myl1_1'.repeat(10_000),
    ]) {
      expect(printLayerName(parseLayerName(text, knowing('a')))).toBe(text);
    }
  });
});
