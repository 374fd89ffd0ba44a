import assert from 'node:assert/strict';
import { copyFileSync, rmSync } from 'node:fs';
import * as vscode from 'vscode';
import { nodeListUri } from '../../../src/kernel/vscode/language/internal/nodeList.ts';
import { inRepository, inWorkspace, openModel, until } from './support.ts';

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
    assert.notEqual(list.lineCount, 636);
    write('vit_tiny');
    await until(vscode.workspace.onDidChangeTextDocument, () => list.lineCount === 636);
  });
});
