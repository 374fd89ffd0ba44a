import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { eventually, inRepository, inWorkspace, lens } from './support.ts';

describe('the text of a build log', () => {
  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('has the stages of the build in its outline', async () => {
    await lens();
    const uri = inWorkspace('zoo.log');
    const recorded = inRepository('test/fixtures/captures/tensorrt-10.6.0/fusion_zoo.fp32/log.txt.gz');
    writeFileSync(uri.fsPath, gunzipSync(readFileSync(recorded)));
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
    const symbols = () =>
      vscode.commands.executeCommand<vscode.DocumentSymbol[] | undefined>('vscode.executeDocumentSymbolProvider', uri);
    await eventually(async () => ((await symbols()) ?? []).length > 0);
    const stages = (await symbols())!;
    assert.deepEqual(
      stages.map(({ name }) => name),
      ['parsing the model', 'fusing layers', 'timing tactics', 'finishing the engine', 'running the engine', 'done'],
    );
    assert.equal(stages[2]!.children.length, 20);
    assert.equal(stages[0]!.selectionRange.start.line, 159);
  });
});
