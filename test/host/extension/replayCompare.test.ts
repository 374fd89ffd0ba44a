import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { activeTab, closeEditors, dismissing, inRepository, inWorkspace, lens, until } from './support.ts';

const captured = 'test/fixtures/captures/tensorrt-10.6.0/vit_tiny.poly_replay/replay.json';

describe('two tactic replays', () => {
  const written: vscode.Uri[] = [];
  /** Each test has files of its own: the editor learns late that a file that it knows was written again. */
  const write = (name: string, text: string): vscode.Uri => {
    const uri = inWorkspace(name);
    writeFileSync(uri.fsPath, text);
    written.push(uri);
    return uri;
  };

  afterEach(closeEditors);
  after(() => {
    for (const { fsPath } of written) rmSync(fsPath);
  });

  it('are compared by meaning, whatever their layout', async () => {
    await lens();
    const recorded = readFileSync(inRepository(captured), 'utf8');
    const older = write('before.replay.json', recorded);
    const other = recorded.replaceAll(/\n\s*/g, ' ').replace('DataType.HALF', 'DataType.FLOAT');
    const newer = write('after.replay.json', other);
    await vscode.commands.executeCommand('tensorrtLens.compareReplays', newer, older);
    const { input } = await activeTab(({ label }) => label === 'before.replay.json ↔ after.replay.json');
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
    const older = write('older.replay.json', recorded);
    const newer = write('newer.replay.json', recorded);
    await vscode.commands.executeCommand('tensorrtLens.compareReplays', newer, older);
    const { input } = await activeTab(({ label }) => label === 'older.replay.json ↔ newer.replay.json');
    assert.ok(input instanceof vscode.TabInputTextDiff);
    const shown = await vscode.workspace.openTextDocument(input.modified);
    const edited = await vscode.workspace.openTextDocument(newer);
    assert.match(shown.getText(), /^2 layers are the same/);
    const edit = new vscode.WorkspaceEdit();
    const start = edited.positionAt(edited.getText().indexOf('DataType.HALF'));
    edit.replace(newer, new vscode.Range(start, start.translate(0, 'DataType.HALF'.length)), 'DataType.FLOAT');
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.ok(await edited.save());
    await until(vscode.workspace.onDidChangeTextDocument, () => shown.getText().includes('Input 0: FP32'));
  });

  it('are compared only where both are replays', async () => {
    await lens();
    const replay = write('one.replay.json', readFileSync(inRepository(captured), 'utf8'));
    const noReplay = write('other.json', '{ "name": "x" }');
    await dismissing(vscode.commands.executeCommand('tensorrtLens.compareReplays', replay, noReplay));
    assert.equal(vscode.window.tabGroups.activeTabGroup.activeTab, undefined);
  });
});
