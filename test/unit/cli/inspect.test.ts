import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { inspect } from '../../../src/cli/inspect/inspect.ts';
import { standInEngine } from '../../support/standInTensorrt.ts';
import { runCommand } from './runCommand.ts';

const folder = mkdtempSync(join(tmpdir(), 'inspect-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('an engine that another version cannot load is exit status 1', async () => {
  const file = join(folder, 'net.engine');
  writeFileSync(file, standInEngine());
  const check = async (...options: string[]) => (await runCommand(inspect, file, ...options)).code;
  expect(await check()).toBe(0);
  expect(await check('--tensorrt', '10.6.0')).toBe(0);
  expect(await check('--tensorrt', '8.6.1')).toBe(1);
  expect(await check('--tensorrt', '8.6.1', '--json')).toBe(1);
});
