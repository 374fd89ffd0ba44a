import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import * as vscode from 'vscode';
import { buildsFolder } from '../../../src/kernel/node/store/buildFolder.ts';
import { accepting, activeTab, inRepository, inWorkspace, lens, openModel, until } from './support.ts';

const captured = (name: string) => inRepository(`test/fixtures/captures/tensorrt-10.6.0/${name}`);

describe('the history', () => {
  const model = () => inWorkspace('unnamed.onnx');

  before(() => copyFileSync(inRepository('test/fixtures/models/unnamed.onnx'), model().fsPath));
  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    rmSync(buildsFolder(model().fsPath), { recursive: true, force: true });
    rmSync(model().fsPath);
  });

  it('takes files that are dropped on it, by place or by content, and text', async () => {
    const { sessions, history } = await lens();
    await openModel(model());
    sessions.setCurrent(model());
    const drops: [string, vscode.DataTransferItem][] = [
      ['text/uri-list', new vscode.DataTransferItem(vscode.Uri.file(captured('unnamed.fp32/log.txt.gz')).toString())],
      ['text/plain', new vscode.DataTransferItem(readFileSync(captured('unsupported_op.fp32/log.txt'), 'utf8'))],
    ];
    for (const [index, [type, item]] of drops.entries()) {
      const data = new vscode.DataTransfer();
      data.set(type, item);
      // oxlint-disable-next-line no-await-in-loop -- one after the other, as a person drops them
      await history.handleDrop(undefined, data);
      // oxlint-disable-next-line no-await-in-loop -- as above
      await history.refresh();
      assert.equal(history.builds.length, index + 1);
    }
    const [newest, oldest] = history.builds;
    assert.deepEqual([newest!.manifest.origin, newest!.manifest.result], ['imported', 'failed']);
    assert.deepEqual([oldest!.manifest.origin, oldest!.manifest.result], ['imported', 'passed']);
  });

  it('shows the build that is chosen, as far as it got', async () => {
    const { sessions, history } = await lens();
    const [newest, oldest] = history.builds;
    const session = sessions.find(model())!;
    await sessions.showBuild(model(), oldest!.manifest.id);
    await until(sessions.onDidChange, () => session.state.newest?.build.id === oldest!.manifest.id);
    assert.ok(session.state.newest!.report!.layers.length > 0);
    await sessions.showBuild(model(), newest!.manifest.id);
    assert.equal(session.state.newest?.build.id, newest!.manifest.id);
    assert.equal(session.state.newest!.report, null);
    assert.match(session.state.newest!.problem, /MyCustomOp/);
  });

  it('compares two builds with the older one first, whichever is chosen first', async () => {
    const { history } = await lens();
    const [newest, oldest] = history.builds;
    const item = (await history.getChildren()).find(({ build }) => build === oldest);
    await accepting(vscode.commands.executeCommand('tensorrtLens.compareBuilds', item));
    const { input } = await activeTab(({ label }) => / ↔ /.test(label));
    assert.ok(input instanceof vscode.TabInputTextDiff);
    const folders = (uri: vscode.Uri) => (JSON.parse(uri.query) as { folders: string[] }).folders;
    assert.deepEqual(folders(input.original), [oldest!.folder, newest!.folder]);
    // From the palette or the walkthrough, with nothing selected: there are only these two.
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    await vscode.commands.executeCommand('tensorrtLens.compareBuilds');
    const again = (await activeTab(({ label }) => / ↔ /.test(label))).input;
    assert.ok(again instanceof vscode.TabInputTextDiff);
    assert.deepEqual(folders(again.original), [oldest!.folder, newest!.folder]);
  });

  it('compares two builds that passed on a page, node by node', async () => {
    const { history } = await lens();
    const passed = history.builds.at(-1)!;
    await accepting(vscode.commands.executeCommand('tensorrtLens.compareBuilds', undefined, [passed, passed]));
    const { input } = await activeTab((tab) => / ↔ /.test(tab.label) && tab.input instanceof vscode.TabInputWebview);
    assert.ok(input instanceof vscode.TabInputWebview);
    assert.match(input.viewType, /tensorrtLens\.comparison$/);
  });

  it('goes on with what is left when the chosen build is deleted', async () => {
    const { sessions, history, diagnostics } = await lens();
    const [newest] = history.builds;
    const told = () => vscode.languages.getDiagnostics(model()).map(({ code }) => (code as { value: string }).value);
    assert.deepEqual(told(), ['unsupported-op']);
    rmSync(newest!.folder, { recursive: true });
    // Who asked first waits for what is shown, too.
    const first = history.refresh();
    void history.refresh();
    await first;
    assert.equal(history.builds.length, 1);
    await sessions.reloadBuild(model());
    await diagnostics.forgetDeleted();
    await history.refresh();
    assert.deepEqual(told(), []);
    assert.equal(history.builds.length, 1);
    assert.equal(sessions.find(model())!.state.newest?.build.id, history.builds[0]!.manifest.id);
  });
});
