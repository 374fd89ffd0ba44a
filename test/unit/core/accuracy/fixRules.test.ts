import { expect, test } from 'vitest';
import { addedRules, fixRules, rulesText } from '../../../../src/core/accuracy/smallestFix.ts';
import { NodeIndex, resolveOverrides } from '../../../../src/core/precision/resolveOverrides.ts';
import { readOverrides } from '../../../../src/core/precision/readOverrides.ts';

const index = (...names: string[]) =>
  new NodeIndex({
    file: 'm.onnx',
    opset: 17,
    nodes: names.map((name, i) => ({
      id: `${i}`,
      name,
      op: 'Add',
      domain: '',
      outputs: [`t${i}`],
      types: ['float'],
      exempt: null,
    })),
  });

/** Nodes that the text's rules select. */
function selected(text: string, nodes: NodeIndex): number[] {
  const file = readOverrides(text);
  expect(file.problems).toEqual([]);
  return [...resolveOverrides(file, nodes, null).winner].flatMap((rule, node) => (rule >= 0 ? [node] : []));
}

test('a pattern stands for nodes that differ by a number, where it selects no other', () => {
  const nodes = index('/step.0/Add', '/step.1/Add', '/layers.0/norm/Pow', '/layers.1/norm/Pow', '/layers.2/norm/Pow');
  const rules = fixRules([0, 1, 2, 4], nodes);
  expect(rules.map(({ selector }) => selector)).toEqual(['/step.*/Add', '/layers.0/norm/Pow', '/layers.2/norm/Pow']);
  const head = { model: './m.onnx', base: 'fp16' as const, comments: ['why'] };
  expect(selected(rulesText(head, rules, []), nodes)).toEqual([0, 1, 2, 4]);
});

test('names with characters of the language are quoted; a name that two nodes share is written once', () => {
  const nodes = index('a b', 'x#1', '*', 'same', 'same', '/op:1');
  const rules = fixRules([0, 1, 2, 3, 4], nodes);
  expect(rules.map(({ selector }) => selector)).toEqual(['"a b"', '"x#1"', '"*"', 'same']);
  expect(
    selected(addedRules(['two\nlines are one comment'.replace('\n', ' ')], rules, ['n', '', '', '']), nodes),
  ).toEqual([0, 1, 2, 3, 4]);
});
