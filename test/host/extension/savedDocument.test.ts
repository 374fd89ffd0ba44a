import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { savedDocument } from '../../../src/kernel/vscode/language/commandTarget.ts';
import { inWorkspace } from './support.ts';

describe('a document that a program is to read', () => {
  const uri = inWorkspace('saved.trtprec');

  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    rmSync(uri.fsPath);
  });

  it('is saved, also where the editor saves it at the same time', async () => {
    writeFileSync(uri.fsPath, 'base fp16\n');
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document);
    const edit = new vscode.WorkspaceEdit();
    edit.insert(uri, new vscode.Position(0, 0), '# all of them\n');
    assert.ok(await vscode.workspace.applyEdit(edit));
    const [, saved] = await Promise.all([document.save(), savedDocument(uri)]);
    assert.equal(saved, document);
    assert.equal(readFileSync(uri.fsPath, 'utf8'), '# all of them\nbase fp16\n');
  });
});
