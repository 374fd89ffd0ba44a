import assert from 'node:assert/strict';
import { copyFileSync, rmSync } from 'node:fs';
import * as vscode from 'vscode';
import { nodeListUri } from '../../../src/host/language/nodeList.ts';
import { inRepository, inWorkspace, nextEvent, openModel } from './support.ts';

describe('the list of a model’s nodes', () => {
  const model = inWorkspace('listed.onnx');
  const write = (name: string) => copyFileSync(inRepository(`test/fixtures/models/${name}.onnx`), model.fsPath);

  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    rmSync(model.fsPath);
  });

  it('is that of the model as it is now', async () => {
    write('unnamed');
    await openModel(model);
    const list = await vscode.workspace.openTextDocument(nodeListUri(model));
    await vscode.window.showTextDocument(list);
    const before = list.getText();
    const told = nextEvent(vscode.workspace.onDidChangeTextDocument, ({ document }) => document === list);
    write('vit_tiny');
    await told;
    assert.notEqual(list.getText(), before);
    assert.equal(list.lineCount, 636);
  });
});
