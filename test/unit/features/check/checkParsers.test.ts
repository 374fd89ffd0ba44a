import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { checkModel } from '../../../../src/features/diagnose/checkModel.ts';
import type { CheckTarget } from '../../../../src/features/diagnose/internal/checkShapes.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { fixturePath } from '../../../support/fixtures.ts';
import { logsOf106 } from '../../../support/hardModels/builtModels.ts';
import { hardModels } from '../../../support/hardModels/hardModels.ts';

type Outcome = 'accepted' | 'refused' | 'builder refuses';
type Version = 'rtx-1.7' | '10.6';
const { models } = JSON.parse(
  gunzipSync(readFileSync(fixturePath('failures/parsedModels.json.gz'))).toString('utf8'),
) as { models: Record<string, { model: string } & Partial<Record<Version, Outcome>>> };

const targets: Record<Version, CheckTarget> = {
  'rtx-1.7': { product: 'tensorrt-rtx', version: '1.7', capability: null },
  '10.6': { product: 'tensorrt', version: '10.6', capability: null },
};

/** Whether the tables refuse the model. */
async function isRefused(bytes: Uint8Array, target: CheckTarget): Promise<boolean> {
  const { value, problems } = await readModel(bytesOf(bytes));
  const broken = problems.some(({ severity }) => severity === 'error');
  // The declared types of their outputs would only stop a build.
  const found = checkModel(value!, target).filter(({ message }) => !/^Output \S+ is declared/.test(message));
  return broken || found.some(({ severity }) => severity === 'error');
}

it.each(Object.keys(targets) as Version[])(
  '%s: predicts 95 % of what the parser refuses, without an alarm',
  async (version) => {
    const missed: string[] = [];
    const alarms: string[] = [];
    let refused = 0;
    for (const [name, { model, [version]: outcome }] of Object.entries(models)) {
      if (outcome === undefined) continue;
      // oxlint-disable-next-line no-await-in-loop -- nothing here waits for a file
      const predicted = await isRefused(Buffer.from(model, 'base64'), targets[version]);
      if (outcome === 'refused') refused++;
      if (outcome === 'refused' && !predicted) missed.push(name);
      if (outcome === 'accepted' && predicted) alarms.push(name);
    }
    expect(alarms).toEqual([]);
    expect(refused).toBeGreaterThan(500);
    expect([missed.length / refused < 0.05, missed]).toEqual([true, missed]);
  },
);

it('raises no alarm on hard models that were built, and refuses those that were not', async () => {
  const built = logsOf106();
  const alarms: string[] = [];
  for (const { name, bytes } of hardModels)
    for (const target of [targets['rtx-1.7'], ...(name in built ? [targets['10.6']] : [])])
      // oxlint-disable-next-line no-await-in-loop -- nothing here waits for a file
      if (await isRefused(bytes, target)) alarms.push(`${name} ${target.product}`);
  // TensorRT has NonZero, and TensorRT-RTX has not. Both refuse a TopK whose first output has no name.
  expect(alarms).toEqual([
    'bernoulli_like tensorrt-rtx',
    'bernoulli_like tensorrt',
    'first_output_empty tensorrt-rtx',
    'first_output_empty tensorrt',
    'first_output_empty_unnamed tensorrt-rtx',
    'first_output_empty_unnamed tensorrt',
    'nonzero tensorrt-rtx',
    'name_too_long tensorrt-rtx',
    'name_too_long tensorrt',
  ]);
});
