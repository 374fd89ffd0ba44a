import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { UserError } from '../../src/kernel/node/files/userError.ts';
import { type ModelJob, pythonForTests } from '../support/python.ts';
import { rewriteWithRules } from '../support/rewriteWithRules.ts';
import { temporaryFolder } from '../support/rtx.ts';
import { samplesIn, samplesPath } from '../support/samples.ts';

test('models of other tools rewritten to FP16: no worse than before, or refused with a reason', async () => {
  const python = await pythonForTests();
  const folder = temporaryFolder();
  const before: ModelJob[] = [];
  const after: ModelJob[] = [];
  const refused: string[] = [];
  for (const [i, model] of samplesIn('onnx')
    .map((name) => samplesPath(`onnx/${name}`))
    .entries()) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one after the other keeps memory low
      const { files } = await rewriteWithRules(model, 'base fp16', join(folder, `${i}`, basename(model)));
      after.push({ model: files[0]!.path, run: true });
      before.push({ model, run: true });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      refused.push(error.message.replace(`${model}: `, ''));
    }
  }
  expect(after.length).toBeGreaterThan(40);
  const [old, fresh] = [await python.check(before), await python.check(after)];
  for (const [i, { checked, ran }] of fresh.entries()) {
    if (old[i]!.checked === true) expect([before[i]!.model, checked]).toEqual([before[i]!.model, true]);
    if (old[i]!.ran === true) expect([before[i]!.model, ran]).toEqual([before[i]!.model, true]);
  }
  expect(refused.toSorted()).toEqual([
    expect.stringContaining('Casts need opset 6') as string,
    expect.stringContaining('not in topological order') as string,
  ]);
});
