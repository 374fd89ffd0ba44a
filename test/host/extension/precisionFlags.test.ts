import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { accepting, activeEditor, closeEditors, inWorkspace, lens, openModel, until } from './support.ts';

const rules = inWorkspace('flags.trtprec');
const model = inWorkspace('fp16_overflow.onnx');
const softmaxes = [0, 1, 2, 3].map((i) => `/layers.${i}/attn/softmax/Softmax`);

/** Opens rules with this text; they are on the disk, so that the model beside them is found. */
async function show(text: string): Promise<vscode.TextDocument> {
  const { features } = await lens();
  writeFileSync(rules.fsPath, text);
  const document = await vscode.workspace.openTextDocument(rules);
  await vscode.window.showTextDocument(document);
  // An editor that had the file open before takes the new one a moment later.
  await vscode.commands.executeCommand('workbench.action.files.revert');
  assert.equal(document.getText(), text);
  await features.language.start();
  await features.feed.settled(rules);
  return document;
}

async function importing(clipboard: string): Promise<vscode.TextDocument> {
  await vscode.env.clipboard.writeText(clipboard);
  await accepting(vscode.commands.executeCommand('tensorrtLens.importPrecisionFlags'));
  return (await activeEditor(({ languageId }) => languageId === 'trtprec')).document;
}

async function copied(program?: string): Promise<string> {
  await vscode.env.clipboard.writeText('nothing');
  await accepting(vscode.commands.executeCommand('tensorrtLens.copyPrecisionFlags', rules, program));
  return vscode.env.clipboard.readText();
}

describe('precision flags', () => {
  afterEach(async () => {
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === rules.toString());
    if (document?.isDirty) await document.save();
    while (vscode.window.activeTextEditor !== undefined)
      // oxlint-disable-next-line no-await-in-loop -- one editor after the other, none of which asks to be saved
      await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });
  after(() => rmSync(rules.fsPath, { force: true }));

  it('become rules at the end of the open file, which can be undone', async () => {
    const text = 'model ./fp16_overflow.onnx\r\nbase fp16\r\nop:Softmax fp16 # first';
    const document = await show(text);
    const command =
      "cd /models && trtexec --onnx=net.onnx --fp16 \\\n  --precisionConstraints=obey \\\n  --layerPrecisions='a b:fp32,*:fp16' | tee build.log\n";
    assert.equal(await importing(command), document);
    // The file says `base fp16` already.
    assert.equal(document.getText(), `${text}\r\n** fp16\r\n"a b" fp32\r\n`);
    assert.equal(vscode.window.activeTextEditor!.selection.active.line, 3);
    await vscode.commands.executeCommand('undo');
    assert.equal(document.getText(), text);
  });

  it('become a new file where none is open; what cannot be taken over stands above', async () => {
    const { features } = await lens();
    await openModel(model);
    await closeEditors();
    const document = await importing('polygraphy run net.onnx --trt --bf16 --layer-precisions a:float32 b:nonsense -v');
    assert.equal(document.isUntitled, true);
    assert.equal(document.languageId, 'trtprec');
    assert.equal(document.getText(), '# "b:nonsense" has no type of override files.\nbase bf16\na fp32\n');
    // It is about the model that is shown.
    assert.equal((await features.feed.modelOf(document.uri))?.toString(), model.toString());
    await vscode.commands.executeCommand('undo');
    assert.equal(document.getText(), '');
  });

  it('become a new file where the open one was closed while they were asked for', async () => {
    // A file that only the editor has opened: one that a test opens, it keeps for minutes.
    const other = inWorkspace('flagsClosed.trtprec');
    writeFileSync(other.fsPath, 'base fp16\nop:Softmax fp16\n');
    try {
      await vscode.commands.executeCommand('vscode.open', other);
      const { document: before } = await activeEditor(({ uri }) => uri.toString() === other.toString());
      await vscode.env.clipboard.writeText('trtexec --precisionConstraints=obey --layerPrecisions=a:fp32');
      const work = vscode.commands.executeCommand('tensorrtLens.importPrecisionFlags');
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      await until(vscode.workspace.onDidCloseTextDocument, () => before.isClosed);
      await accepting(work);
      const { document } = await activeEditor(({ isUntitled }) => isUntitled);
      assert.equal(document.getText(), 'a fp32\n');
    } finally {
      rmSync(other.fsPath, { force: true });
    }
  });

  it('are copied for each program, and read back as they were', async () => {
    await show('model ./fp16_overflow.onnx\nbase fp16\nop:Softmax fp32\n/layers.1/** fp23\n');
    // The first program of the list.
    const trtexec = await copied();
    const specs = softmaxes.map((name) => `${name}:fp32`).join(',');
    assert.equal(trtexec, `--fp16 --precisionConstraints=obey --layerPrecisions=${specs}`);
    const polygraphy = softmaxes.map((name) => `${name}:float32`).join(' ');
    assert.equal(await copied('polygraphy'), `--fp16 --precision-constraints obey --layer-precisions ${polygraphy}`);
    assert.equal(await copied('autocast'), '--low_precision_type fp16 --keep_io_types --op_types_to_exclude Softmax');
    await closeEditors();
    const document = await importing(trtexec);
    assert.equal(document.getText(), `base fp16\n${softmaxes.map((name) => `${name} fp32\n`).join('')}`);
  });

  it('are not copied where no rule decides for any node', async () => {
    await show('model ./fp16_overflow.onnx\nop:Softmx fp32\n');
    assert.equal(await copied('trtexec'), 'nothing');
  });
});
