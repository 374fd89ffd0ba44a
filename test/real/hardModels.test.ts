import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkReport } from '../support/checker/checkReport.ts';
import { recordLogs, reportOnBuild } from '../support/hardModels/builtModels.ts';
import { hardModels } from '../support/hardModels/hardModels.ts';
import { driverPath, rtxForTests, temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();
const script = fileURLToPath(new URL('../support/build_models.py', import.meta.url));
const logOf = (name: string): string => readFileSync(join(folder, `${name}.log`), 'utf8');
/** What TensorRT-RTX cannot build: its log is one of a failed build. */
const refused = ['bernoulli_like', 'first_output_empty', 'first_output_empty_unnamed', 'nonzero', 'name_too_long'];

beforeAll(async () => {
  const rtx = await rtxForTests();
  for (const { name, bytes } of hardModels) writeFileSync(join(folder, `${name}.onnx`), bytes);
  const jobs = hardModels.map(({ name, arguments: args }) => ({
    model: `${name}.onnx`,
    log: `${name}.log`,
    arguments: args,
  }));
  const { stdout, stderr } = spawnSync(rtx.python, ['-B', script], {
    cwd: folder,
    input: JSON.stringify(jobs),
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    env: { ...process.env, ...rtx.environment, PYTHONPATH: dirname(driverPath) },
  });
  const results = stdout.trimEnd().split('\n');
  expect(results.length, stderr).toBe(jobs.length);
  const failed = hardModels.filter((_, index) => results[index] !== '"passed"');
  expect(failed.map(({ name }) => name)).toEqual(refused);
  if (process.env['UPDATE_GOLDEN'] !== '1') return;
  recordLogs(Object.fromEntries(hardModels.map(({ name }) => [name, logOf(name)])));
});

describe('a fusion report says nothing that the log of the build contradicts', () => {
  test.each(hardModels)('$name', async ({ name, bytes }) => {
    const log = logOf(name);
    expect(checkReport(await reportOnBuild(name, log), { model: bytes, log })).toEqual([]);
  });
});
