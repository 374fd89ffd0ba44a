import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { accepting, inRepository, inWorkspace, lens, roundTrip } from './support.ts';

const replay = inWorkspace('edits.replay.json');
const choices = inWorkspace('edits.replay.choices.jsonl');
const captures = 'test/fixtures/captures/tensorrt-10.6.0';

const convolution = '/patch_embed/proj/Conv';
/** Written by nobody's tool: line ends of Windows, a name beyond the basic plane, blanks, and an id beyond 2^53. */
const odd = `"中文/卷积🙂" :{ "implementation": 2147483683, "tactic":-2870780723387717246, "inputs": [], "outputs": [ ],\r\n      "polygraphy_class": "Algorithm" }`;

/** The recorded replay with an odd entry before the others, for a layer that TensorRT does not know. */
function oddReplay(): string {
  const recorded = readFileSync(inRepository(`${captures}/vit_tiny.poly_replay/replay.json`), 'utf8');
  return recorded.replaceAll('\n', '\r\n').replace('"replay": {', `$&\r\n        ${odd},`);
}

async function show(text: string, at: string): Promise<vscode.TextDocument> {
  const { features } = await lens();
  writeFileSync(replay.fsPath, text);
  const document = await vscode.workspace.openTextDocument(replay);
  const editor = await vscode.window.showTextDocument(document);
  // An editor that had the file open before takes the new one a moment later.
  await vscode.commands.executeCommand('workbench.action.files.revert');
  assert.equal(document.getText(), text);
  await features.language.start();
  await features.feed.settled(replay);
  const cursor = document.positionAt(text.indexOf(at));
  editor.selection = new vscode.Selection(cursor, cursor);
  return document;
}

const undo = () => vscode.commands.executeCommand('undo');

describe('edits of a tactic replay', () => {
  before(() => copyFileSync(inRepository(`${captures}/vit_tiny.algolog/choices.jsonl`), choices.fsPath));
  afterEach(async () => {
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === replay.toString());
    if (document?.isDirty) await document.save();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });
  after(() => {
    for (const { fsPath } of [replay, choices]) rmSync(fsPath, { force: true });
  });

  it('free the layer at the cursor, wherever it stands, and nothing else changes', async () => {
    const text = oddReplay();
    const [start, middle, last] = ['"中文', `"${convolution}"`, '"{ForeignNode['].map((key) => text.indexOf(key));
    const end = text.lastIndexOf('\r\n    },');
    for (const [at, expected] of [
      ['卷积', text.slice(0, start) + text.slice(middle)],
      ['1236070762725864170', text.slice(0, middle) + text.slice(last)],
      // With the last entry goes the comma before it.
      ['ForeignNode', text.slice(0, text.lastIndexOf(',', last)) + text.slice(end)],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- one document
      const document = await show(text, at);
      // oxlint-disable-next-line no-await-in-loop -- as above
      await vscode.commands.executeCommand('tensorrtLens.unpinLayer');
      assert.equal(document.getText(), expected);
      JSON.parse(expected);
      // oxlint-disable-next-line no-await-in-loop -- as above
      await undo();
      assert.equal(document.getText(), text);
    }
  });

  it('free the layer at the cursor also right after a keystroke, of which nobody has been told yet', async () => {
    const text = oddReplay();
    const key = `"${convolution}"`;
    const document = await show(text, key);
    const typed = vscode.commands.executeCommand('type', { text: ' ' });
    await vscode.commands.executeCommand('tensorrtLens.unpinLayer');
    await typed;
    const [start, end] = [text.indexOf(key), text.indexOf('"{ForeignNode[')];
    assert.equal(document.getText(), `${text.slice(0, start)} ${text.slice(end)}`);
    await undo();
    await undo();
    assert.equal(document.getText(), text);
  });

  it('free the layer at the cursor of the editor that has the focus, where two show the file', async () => {
    const text = oddReplay();
    const document = await show(text, '卷积');
    const other = await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Two });
    const cursor = document.positionAt(text.indexOf(convolution));
    other.selection = new vscode.Selection(cursor, cursor);
    await vscode.commands.executeCommand('tensorrtLens.unpinLayer');
    assert.ok(!document.getText().includes(convolution));
    assert.ok(document.getText().includes('卷积'));
    await undo();
    assert.equal(document.getText(), text);
  });

  it('free a layer that is picked, where the cursor is at none', async () => {
    const text = oddReplay();
    const document = await show(text, '{');
    await accepting(vscode.commands.executeCommand('tensorrtLens.unpinLayer', replay));
    assert.equal(document.getText(), text.replace(/"中文.*?\},\s*/s, ''));
    await undo();
    assert.equal(document.getText(), text);
  });

  it('free the layer that was picked, also where the file has changed since the question came', async () => {
    const text = oddReplay();
    const document = await show(text, '{');
    const freed = vscode.commands.executeCommand('tensorrtLens.unpinLayer', replay);
    // The command has read the file and asked the window.
    await roundTrip();
    const edit = new vscode.WorkspaceEdit();
    edit.insert(replay, new vscode.Position(0, 0), ' '.repeat(25));
    assert.ok(await vscode.workspace.applyEdit(edit));
    await accepting(freed);
    assert.equal(document.getText(), ' '.repeat(25) + text.replace(/"中文.*?\},\s*/s, ''));
    await undo();
    await undo();
    assert.equal(document.getText(), text);
  });

  it('pin a layer that the replay leaves free, the choice of TensorRT', async () => {
    const whole = oddReplay();
    const [from, to] = [whole.indexOf(`"${convolution}"`), whole.indexOf('"{ForeignNode[')];
    const text = whole.slice(0, from) + whole.slice(to);
    const document = await show(text, '{');
    await accepting(vscode.commands.executeCommand('tensorrtLens.pinLayer'));
    // At the end of the list, in the file's own form: all of its indentation, line ends and digits.
    const end = text.lastIndexOf('\r\n    },');
    const entry = whole.slice(from, to).trimEnd().slice(0, -1);
    assert.equal(document.getText(), `${text.slice(0, end)},\r\n        ${entry}${text.slice(end)}`);
    await undo();
    assert.equal(document.getText(), text);
  });
});
