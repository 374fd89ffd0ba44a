import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { registerChangingTexts } from '../../../src/kernel/vscode/platform/changingTexts.ts';
import { until } from './support.ts';

describe('a text that can change while it is open', () => {
  it('ends as it is, also when it changes on its way to the editor', async () => {
    const changed = new vscode.EventEmitter<vscode.Uri>();
    const uri = vscode.Uri.from({ scheme: 'lens-changing', path: '/text.txt' });
    let text = 'before';
    const texts = registerChangingTexts(uri.scheme, changed, async () => {
      const given = text;
      if (given === 'before') {
        text = 'after';
        changed.fire(uri);
      }
      return given;
    });
    const document = await vscode.workspace.openTextDocument(uri);
    await until(vscode.workspace.onDidChangeTextDocument, () => document.getText() === 'after');
    assert.equal(document.getText(), text);
    texts.dispose();
  });
});
