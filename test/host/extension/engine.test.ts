import assert from 'node:assert/strict';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { buildsFolder } from '../../../src/kernel/node/store/buildFolder.ts';
import { inRepository, inWorkspace, lens, until } from './support.ts';

const captured = (name: string) => inRepository(`test/fixtures/captures/tensorrt-10.6.0/fusion_zoo.fp32/${name}`);

describe('layer info without its model', () => {
  const layers = () => inWorkspace('zoo.layers.json');
  const profile = () => inWorkspace('zoo.profile.json');
  const model = () => inWorkspace('fusion_zoo.onnx');

  before(() => {
    copyFileSync(captured('layers.json'), layers().fsPath);
    copyFileSync(captured('profile.json'), profile().fsPath);
  });
  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    rmSync(buildsFolder(model().fsPath), { recursive: true, force: true });
    for (const uri of [layers(), profile(), model()]) rmSync(uri.fsPath, { force: true });
  });

  it('opens as the graph of the engine, with the profile next to it and the way to the model', async () => {
    const { sessions, tree } = await lens();
    await vscode.commands.executeCommand('tensorrtLens.openWith', layers());
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    assert.ok(input instanceof vscode.TabInputCustom && input.viewType === 'tensorrtLens.graph');
    const session = sessions.current!;
    assert.equal(session.uri.toString(), layers().toString());
    await until(sessions.onDidChange, () => session.state.model === 'ready');
    const { report, graph, state } = session.viewData!;
    assert.equal(report!.subject, 'engine');
    assert.equal(graph!.nodes.length, 44);
    assert.ok(report!.layers.every(({ averageMs }) => averageMs !== null));
    assert.match(state!.notices[0]!.message, /zoo\.profile\.json/);
    assert.deepEqual(state!.notices[0]!.steps, ['chooseModel']);
    assert.deepEqual(
      tree.getChildren().map(({ label }) => label),
      [
        'ForeignNode 0',
        'ForeignNode 2',
        'instance_norm … group_norm',
        'Native layers (14)',
        'Reformats (7)',
        'Where time goes (3)',
      ],
    );
  });

  it('opens as a build of its model once that is there', async () => {
    const { sessions } = await lens();
    copyFileSync(inRepository('test/fixtures/models/fusion_zoo.onnx'), model().fsPath);
    await vscode.commands.executeCommand('tensorrtLens.openWith', layers());
    const session = sessions.current!;
    assert.equal(session.uri.toString(), model().toString());
    await until(sessions.onDidChange, () => session.report !== null);
    assert.equal(session.report!.subject, undefined);
    assert.equal(session.report!.accounting.unknown, 0);
    assert.ok(session.report!.layers.some(({ averageMs }) => averageMs !== null));
  });
});

describe('an engine', () => {
  const engine = () => inWorkspace('some.engine');

  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    rmSync(engine().fsPath, { force: true });
  });

  it('opens in its own editor', async () => {
    await lens();
    writeFileSync(engine().fsPath, 'ftrt');
    await vscode.commands.executeCommand('vscode.open', engine());
    const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    assert.ok(input instanceof vscode.TabInputCustom && input.viewType === 'tensorrtLens.engine');
  });
});
