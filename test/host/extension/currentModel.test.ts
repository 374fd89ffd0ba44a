import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { inRepository, inWorkspace, lens, nextEvent, until } from './support.ts';

describe('an override file that names no model, beside several', () => {
  const folder = inWorkspace('several');
  const [one, two, rules] = ['one.onnx', 'two.onnx', 'rules.trtprec'].map((name) => vscode.Uri.joinPath(folder, name));

  before(() => {
    mkdirSync(folder.fsPath);
    for (const { fsPath } of [one!, two!]) copyFileSync(inRepository('test/fixtures/models/unnamed.onnx'), fsPath);
    writeFileSync(rules!.fsPath, 'op:Conv fp32\n');
  });
  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    rmSync(folder.fsPath, { recursive: true });
  });

  it('is about the one that is shown, also when that is shown later', async () => {
    const { features, sessions } = await lens();
    sessions.setCurrent(inWorkspace('vit_tiny.onnx'));
    await vscode.commands.executeCommand('vscode.open', rules);
    await features.language.serve(rules!);
    // The models near it are looked for beside all else; nothing more is on its way then.
    await until(features.feed.onDidChange, () => (features.feed.paramsOf(rules!)?.models ?? []).length > 0);
    assert.equal(await features.feed.modelOf(rules!), undefined);
    const told = nextEvent(features.feed.onDidChange, (uri) => uri.toString() === rules!.toString());
    sessions.setCurrent(two!);
    await told;
    assert.equal((await features.feed.modelOf(rules!))?.path, two!.path);
  });
});
