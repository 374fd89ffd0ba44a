import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { repair } from '../../../../src/features/repair/node/cli/repair.ts';
import { reduce } from '../../../../src/features/trials/node/cli/reduce.ts';
import { split } from '../../../../src/features/surgery/node/cli/split.ts';
import { whatIfCommand } from '../../../../src/features/trials/node/cli/whatIf.ts';
import { modelPath } from '../../../support/fixtures.ts';
import { temporaryFolder } from '../../../support/rtx.ts';
import { runCommand as run } from '../../shell/cli/runCommand.ts';

const folder = temporaryFolder();
vi.stubEnv('TENSORRT_LENS_CACHE', join(folder, 'cache'));
afterAll(() => vi.unstubAllEnvs());
const model = modelPath('fp16_overflow');
const missing = join(folder, 'missing');
const { cuts } = JSON.parse((await run(split, model, '--suggest', '--json')).out) as { cuts: { tensor: string }[] };

const commands = [
  ['split', split, ['--at', cuts[0]!.tensor, '-o', join(folder, 'parts'), '--build']],
  ['reduce', reduce, ['-o', join(folder, 'reduced')]],
  ['repair', repair, ['-o', join(folder, 'repaired.onnx')]],
  ['what-if', whatIfCommand, ['--output', cuts[0]!.tensor]],
] as const;

test.each(commands)('%s builds with the programs that its options name', async (_, command, given) => {
  const begin = (...more: string[]) => run(command, model, ...given, '--backend', 'trtexec', ...more);
  await expect(begin('--trtexec', missing)).rejects.toThrow(`${missing}: program not found`);
  await expect(begin('--launcher', `${missing}.yaml`)).rejects.toThrow(`${missing}.yaml: no such file`);
});

test.each(commands)('%s rejects options for what an ordinary build leaves', async (_, command, given) => {
  for (const flag of ['--engine', '--folder', '--verbose'])
    await expect(run(command, model, ...given, flag, 'there')).rejects.toThrow(flag);
});
