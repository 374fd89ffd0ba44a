import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { extract } from '../../../src/cli/surgery/extract.ts';
import { fixturePath } from '../../support/fixtures.ts';
import { runCommand } from './runCommand.ts';

const folder = mkdtempSync(join(tmpdir(), 'extract-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('--close adds every node that the selection needs, which the message offers', async () => {
  const model = fixturePath('builds/identities/model.onnx');
  const out = ['-o', join(folder, 'part.onnx'), '--json'];
  const chosen = ['0', '35'];
  const alone = runCommand(extract, model, '--nodes', chosen.join(','), ...out);
  await expect(alone).rejects.toThrow(/Select it, too, or pass --close, which adds \d+ nodes/);
  const closed = await runCommand(extract, model, '--nodes', chosen.join(','), '--close', ...out);
  const { nodes } = JSON.parse(closed.out) as { nodes: string[] };
  expect(nodes.length).toBeGreaterThan(2);
  expect(nodes).toEqual(expect.arrayContaining(chosen));
  await expect(runCommand(extract, model, '--nodes', '0,999', '--close', ...out)).rejects.toThrow(
    'There is no node 999',
  );
});
