import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { inWorkspace, lens } from './support.ts';

/** Before any other test opens an override file: the language server does not run yet. */
describe('an override file that was never open', () => {
  const rules = inWorkspace('cold.trtprec');
  const out = inWorkspace('cold.typed.onnx');

  after(() => {
    for (const { fsPath } of [rules, out]) rmSync(fsPath, { force: true });
  });

  it('is known to a command that comes from the list of files', async () => {
    const { features } = await lens();
    assert.deepEqual(features.feed.served(), []);
    writeFileSync(rules.fsPath, 'model ./fp16_overflow.onnx\nbase fp16\nop:Softmax fp32\n');
    await vscode.commands.executeCommand('tensorrtLens.applyOverrides', rules, out);
    assert.ok(existsSync(out.fsPath));
  });
});
