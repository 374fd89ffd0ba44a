import assert from 'node:assert/strict';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { buildsFolder } from '../../../src/builder/buildFolder.ts';
import { inRepository, inWorkspace, lens, openModel, until } from './support.ts';

const captured = (name: string) =>
  vscode.Uri.file(inRepository(`test/fixtures/captures/tensorrt-10.6.0/vit_tiny.fp16/${name}`));

describe('a build from elsewhere', () => {
  const model = () => inWorkspace('vit_tiny.onnx');

  before(() => copyFileSync(inRepository('test/fixtures/models/vit_tiny.onnx'), model().fsPath));
  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    rmSync(buildsFolder(model().fsPath), { recursive: true, force: true });
    rmSync(model().fsPath);
  });

  it('is shown from its log and layer info, labelled as imported', async () => {
    const { sessions } = await lens();
    const session = await openModel(model());
    assert.equal(session.state.newest, null);
    const files = [captured('log.txt.gz'), captured('layers.json')];
    await vscode.commands.executeCommand('tensorrtLens.attach', model(), files);
    await until(sessions.onDidChange, () => session.state.newest !== null);
    const { build, report } = session.state.newest!;
    assert.equal(build.origin, 'imported');
    assert.equal(build.tensorrt.version, '10.6.0');
    assert.equal(report!.foreignNodes.length, 1);
    assert.equal(report!.nodes.length, 636);
  });

  it('leaves things as they are when a file is something else', async () => {
    const { sessions } = await lens();
    const before = sessions.find(model())!.state.newest!.build.id;
    const other = inWorkspace('notes.txt');
    writeFileSync(other.fsPath, 'buy milk\n');
    void vscode.commands.executeCommand('tensorrtLens.attach', model(), [other]);
    await sessions.reload(model());
    assert.equal(sessions.find(model())!.state.newest!.build.id, before);
    rmSync(other.fsPath);
  });
});
