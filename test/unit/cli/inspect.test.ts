import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { inspect } from '../../../src/cli/inspect/inspect.ts';
import { standInEngine } from '../../support/standInTensorrt.ts';
import { fixturePath } from '../../support/fixtures.ts';
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

it('says first whether it can be loaded, and of other files what they are', async () => {
  const file = join(folder, 'verdict.engine');
  writeFileSync(file, standInEngine());
  const first = async (...args: string[]) => (await runCommand(inspect, ...args)).out.split('\n')[0];
  expect(await first(file, '--tensorrt', '8.6.1')).toMatch(
    /^verdict.engine: ✗ an engine of TensorRT 10\.6\.0(\.\d+)?, which cannot be loaded: /,
  );
  expect(await first(file, '--tensorrt', '10.6.0')).toMatch(
    /; whether it can be loaded depends on: gpu, hardware-compatibility, platform, driver, plugins, load$/,
  );
  expect(await first(fixturePath('captures/tensorrt-10.6.0/vit_tiny.fp16/log.txt.gz'))).toBe(
    'log.txt.gz: Log of TensorRT 10.6.0 by trtexec: passed, 7,205 lines',
  );
});
