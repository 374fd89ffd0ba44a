import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { inRepository, inWorkspace, lens, nextEvent, until } from './support.ts';

const older = inWorkspace('before.replay.json');
const newer = inWorkspace('after.replay.json');
const noReplay = inWorkspace('other.json');
const captured = 'test/fixtures/captures/tensorrt-10.6.0/vit_tiny.poly_replay/replay.json';

describe('two tactic replays', () => {
  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));
  after(() => {
    for (const { fsPath } of [older, newer, noReplay]) rmSync(fsPath, { force: true });
  });

  it('are compared by meaning, whatever their layout', async () => {
    await lens();
    const recorded = readFileSync(inRepository(captured), 'utf8');
    writeFileSync(older.fsPath, recorded);
    writeFileSync(newer.fsPath, recorded.replaceAll(/\n\s*/g, ' ').replace('DataType.HALF', 'DataType.FLOAT'));
    await vscode.commands.executeCommand('tensorrtLens.compareReplays', newer, older);
    const { input, label } = vscode.window.tabGroups.activeTabGroup.activeTab!;
    assert.equal(label, 'before.replay.json ↔ after.replay.json');
    assert.ok(input instanceof vscode.TabInputTextDiff);
    const [left, right] = await Promise.all(
      [input.original, input.modified].map(async (uri) => (await vscode.workspace.openTextDocument(uri)).getText()),
    );
    assert.match(left!, /^1 layer is the same in both\.\n\n\/patch_embed\/proj\/Conv\n[^]*Input 0: FP16, vectors of 4/);
    assert.equal(right, left!.replace('Input 0: FP16', 'Input 0: FP32'));
  });

  it('are compared anew when one of them is saved', async () => {
    await lens();
    const recorded = readFileSync(inRepository(captured), 'utf8');
    writeFileSync(older.fsPath, recorded);
    writeFileSync(newer.fsPath, recorded);
    await vscode.commands.executeCommand('tensorrtLens.compareReplays', newer, older);
    const { input } = vscode.window.tabGroups.activeTabGroup.activeTab!;
    assert.ok(input instanceof vscode.TabInputTextDiff);
    const shown = await vscode.workspace.openTextDocument(input.modified);
    const edited = await vscode.workspace.openTextDocument(newer);
    // Of the comparison before this one, the text may still be there.
    await until(vscode.workspace.onDidChangeTextDocument, () => shown.getText().startsWith('2 layers are the same'));
    const edit = new vscode.WorkspaceEdit();
    const start = edited.positionAt(edited.getText().indexOf('DataType.HALF'));
    edit.replace(newer, new vscode.Range(start, start.translate(0, 'DataType.HALF'.length)), 'DataType.FLOAT');
    await vscode.workspace.applyEdit(edit);
    const told = nextEvent(vscode.workspace.onDidChangeTextDocument, ({ document }) => document === shown);
    await edited.save();
    await told;
    assert.match(shown.getText(), /Input 0: FP32/);
  });

  it('are compared only where both are replays', async () => {
    await lens();
    writeFileSync(newer.fsPath, readFileSync(inRepository(captured), 'utf8'));
    writeFileSync(noReplay.fsPath, '{ "name": "x" }');
    let told = false;
    const done = Promise.resolve(vscode.commands.executeCommand('tensorrtLens.compareReplays', newer, noReplay)).then(
      () => (told = true),
    );
    // It ends when its message is put away.
    while (!told) {
      // oxlint-disable-next-line no-await-in-loop -- nothing says when the message is there
      await vscode.commands.executeCommand('notifications.clearAll');
    }
    await done;
    assert.equal(vscode.window.tabGroups.activeTabGroup.activeTab, undefined);
  });
});
