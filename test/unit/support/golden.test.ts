import { expect, test } from 'vitest';
import { differences, goldenText } from '../../support/golden.ts';

const report = () => ({
  nodes: [
    { id: '0', name: '/a/Conv', fate: 'fused', layers: [0] },
    { id: '1', name: '/a/Relu', fate: 'fused', layers: [0] },
  ],
  accounting: { total: 2, fused: 2 },
});

test('a difference names node and field', () => {
  const changed = report();
  changed.nodes[1]!.fate = 'single';
  changed.nodes[1]!.layers = [1, 2];
  changed.accounting.fused = 1;
  expect(differences(report(), changed)).toEqual([
    'nodes[1 "/a/Relu"].fate: expected "fused", got "single"',
    'nodes[1 "/a/Relu"].layers[0]: expected 0, got 1',
    'nodes[1 "/a/Relu"].layers[1]: unexpected 2',
    'accounting.fused: expected 2, got 1',
  ]);
});

test('a field or element that is gone or new is a difference', () => {
  const { accounting: _, ...rest } = report();
  expect(differences(report(), { ...rest, nodes: rest.nodes.slice(0, 1), more: null })).toEqual([
    'nodes[1 "/a/Relu"]: missing, expected {"id":"1","name":"/a/Relu","fate":"fused","layers":[0]}',
    'accounting: missing, expected {"total":2,"fused":2}',
    'more: unexpected null',
  ]);
  expect(differences([1], { 0: 1 })).toEqual(['the value: expected [1], got {"0":1}']);
  expect(differences(report(), report())).toEqual([]);
});

test('the text is the JSON of the value, one element per line', () => {
  const value = { ...report(), times: new Map([['a', Number.NaN]]), long: ['x'.repeat(300), {}] };
  const text = goldenText(value);
  expect(JSON.parse(text)).toEqual({ ...report(), times: { map: [['a', 'NaN']] }, long: value.long });
  expect(text).toContain('\n "accounting": {"total":2,"fused":2},\n');
});
