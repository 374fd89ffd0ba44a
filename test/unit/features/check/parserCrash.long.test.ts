import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { check } from '../../../../src/features/check/node/cli/check.ts';
import { modelPath } from '../../../support/fixtures.ts';
import { runCommand } from '../../shell/cli/runCommand.ts';

const folder = mkdtempSync(join(tmpdir(), 'parser-'));
afterAll(() => rmSync(folder, { recursive: true }));
const python = join(folder, 'python');

vi.mock('../../../../src/kernel/node/tools/ensurePackages.ts', async (original) => ({
  ...(await original<object>()),
  findPackages: () => Promise.resolve({ folder, python, environment: {}, version: '1.7' }),
}));

it('a parser that crashes does not take what the tables say with it', async () => {
  writeFileSync(python, '#!/bin/sh\nkill -SEGV $$\n');
  chmodSync(python, 0o755);
  const { code, out, err } = await runCommand(check, modelPath('unsupported_op'));
  expect(code).toBe(1);
  expect(err).toContain('The parser of TensorRT-RTX stopped without an answer');
  expect(out).toMatch(/unsupported-op|no plugin|not supported/i);
});
