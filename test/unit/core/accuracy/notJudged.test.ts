import { expect, test } from 'vitest';
import { notJudgedTexts } from '../../../../src/core/accuracy/accuracyText.ts';
import { judgeNodes } from '../../../../src/core/accuracy/judgement.ts';
import type { LowModel } from '../../../../src/core/accuracy/lowNodes.ts';

test('nodes inside bodies are counted with the reason, those that were measured are not', () => {
  const ids = ['0', '3/body/0', '3/body/1', '4/then_branch/0', '4/else_branch/2/body/7'];
  const low = {
    low: ids.map((id, index) => ({
      index,
      node: { id, name: '', op: 'Add', inputs: [], outputs: [] },
      type: 'float16',
      graph: '',
    })),
  } as unknown as LowModel;
  const one = { max: 1, shadow: 0, shadowSum: 0, run: 0, runSum: 0, vanished: 0 };
  const nodes = judgeNodes(low, [[{ node: 0, outputs: [one] }]], new Map(), 0.01);
  expect(nodes.map(({ notJudged }) => notJudged)).toEqual([
    undefined,
    'inside a loop body',
    'inside a loop body',
    'inside a branch of an If',
    'inside a loop body',
  ]);
  expect(notJudgedTexts(nodes)).toEqual([
    '3 nodes not judged: inside a loop body',
    '1 node not judged: inside a branch of an If',
  ]);
});
