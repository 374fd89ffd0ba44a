import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { extract } from '../../../../src/features/surgery/node/cli/extract.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { runCommand } from '../../shell/cli/runCommand.ts';

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

describe('a name that is not there', () => {
  const model = modelPath('vit_tiny');
  const extracted = (...args: string[]) => runCommand(extract, model, ...args, '-o', join(folder, 'near.onnx'));

  it('of a tensor is answered with names like it', async () => {
    await expect(extracted('--to', '/blocks/blocks.1/attn/Softmax_outpt_0')).rejects.toThrow(
      'There is no tensor "/blocks/blocks.1/attn/Softmax_outpt_0" in the main graph. Similar names: "/blocks/blocks.1/attn/Softmax_output_0", ',
    );
    await expect(extracted('--to', 'quite another name')).rejects.toThrow(/in the main graph$/);
  });

  it('of a node, too', async () => {
    await expect(extracted('--nodes', '/blocks/blocks.1/attn/Softmx')).rejects.toThrow(
      'no node matches /blocks/blocks.1/attn/Softmx. Similar names: "/blocks/blocks.1/attn/Softmax", ',
    );
    expect(existsSync(join(folder, 'near.onnx'))).toBe(false);
    expect((await extracted('--nodes', '/blocks/blocks.1/attn/Softmax')).code).toBe(0);
  });
});

it('replaces a model, and nothing else unless it is told to', async () => {
  const model = fixturePath('builds/identities/model.onnx');
  const out = join(folder, 'taken.onnx');
  const cut = (...more: string[]) => runCommand(extract, model, '--nodes', '0', '-o', out, ...more);
  writeFileSync(out, 'an engine, say');
  await expect(cut()).rejects.toThrow(
    'taken.onnx already exists and is not a model that trtlens wrote. Choose another file, or pass --force',
  );
  expect(readFileSync(out, 'utf8')).toBe('an engine, say');
  expect((await cut('--force')).code).toBe(0);
  expect((await cut()).code).toBe(0);
});
