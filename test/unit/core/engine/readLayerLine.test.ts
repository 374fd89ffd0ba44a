import { describe, expect, test } from 'vitest';
import { readNativeLayer } from '../../../../src/core/formats/tensorrt/readLayerLine.ts';

describe('a native layer of a log', () => {
  test('has its tensors with types, in either notation', () => {
    const layer = readNativeLayer('Layer(Myelin): a -> b, Tactic: 0x0, in (Half[1,192:8,14]) -> out[Float(1,3)]', 7);
    expect(layer).toMatchObject({ name: 'a -> b', type: 'Myelin', tactic: '0x0', line: 7 });
    expect(layer?.inputs).toMatchObject([{ name: 'in', type: 'Half', dims: [1, 192, 14] }]);
    expect(layer?.outputs).toMatchObject([{ name: 'out', type: 'Float', dims: [1, 3] }]);
  });

  test.each([' (Half[', '[Half('])('takes brackets that nobody closes for a name, and goes on: %s', (open) => {
    const layer = readNativeLayer(`Layer(Myelin): a, Tactic: 0x0, in${open.repeat(3)} -> out (Float[1])`, 1);
    expect(layer?.inputs).toMatchObject([{ name: `in${open.repeat(3)}`, type: null }]);
    expect(layer?.outputs).toMatchObject([{ name: 'out', type: 'Float', dims: [1] }]);
  });
});
