import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { activeTab, eventually, inRepository, inWorkspace, lens, nextEvent, openModel } from './support.ts';

const graphOf = (uri: vscode.Uri) =>
  activeTab(
    ({ input }) =>
      input instanceof vscode.TabInputCustom &&
      input.viewType === 'tensorrtLens.graph' &&
      input.uri.toString() === uri.toString(),
  );

describe('the graph editor', () => {
  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('opens an .onnx file and reads its structure', async () => {
    const uri = inWorkspace('loop_if.onnx');
    const session = await openModel(uri);
    await graphOf(uri);
    assert.equal(session.state.model, 'ready');
    assert.ok(session.viewData!.graph!.nodes.some(({ op }) => op === 'Loop'));
  });

  it('is what the side bar shows then', async () => {
    const { sessions } = await lens();
    const uri = inWorkspace('fp16_overflow.onnx');
    await openModel(uri);
    assert.equal(sessions.current?.key, uri.toString());
  });

  const broken: [string, (file: string) => void, RegExp][] = [
    ['empty.onnx', (file) => writeFileSync(file, ''), /empty/],
    ['text.onnx', (file) => writeFileSync(file, 'not a model\n'), /text file/],
    [
      'random.onnx',
      (file) => writeFileSync(file, Buffer.from([...Array(999).keys()].map((i) => (i * 7919) & 255))),
      /./,
    ],
    [
      'cut.onnx',
      (file) => {
        copyFileSync(inRepository('test/fixtures/models/fp16_overflow.onnx'), file);
        truncateSync(file, 5000);
      },
      /./,
    ],
    ['gzip.onnx', (file) => writeFileSync(file, Buffer.from('1f8b08000000', 'hex')), /gzip|damaged/],
  ];
  for (const [name, make, problem] of broken) {
    it(`says what is wrong with ${name} and stays usable`, async () => {
      const uri = inWorkspace(name);
      make(uri.fsPath);
      const session = await openModel(uri);
      await graphOf(uri);
      const said = session.state.model === 'unreadable' ? session.state.problem : session.state.hints.join('\n');
      assert.match(said, problem);
      assert.notEqual(said.trim(), '');
      rmSync(uri.fsPath);
    });
  }

  it('says that a file is not there', async () => {
    const session = await openModel(inWorkspace('loop_if.onnx'));
    const { sessions } = await lens();
    const held = sessions.acquire(inWorkspace('nowhere.onnx'));
    await nextEvent(sessions.onDidChange, ({ key }) => key.endsWith('nowhere.onnx'));
    assert.equal(held.session.state.model, 'unreadable');
    assert.match(held.session.state.problem, /no such file/);
    held.dispose();
    assert.equal(session.state.model, 'ready');
  });

  it('reads a file again when it changes, and keeps what is selected', async () => {
    const { sessions } = await lens();
    const uri = inWorkspace('changing.onnx');
    writeFileSync(uri.fsPath, '');
    const session = await openModel(uri);
    assert.equal(session.state.model, 'unreadable');
    sessions.select(session, { kind: 'nodes', ids: ['0'] }, 'host');
    const changed = nextEvent(sessions.onDidChange, ({ key, state }) => key === session.key && state.model === 'ready');
    writeFileSync(uri.fsPath, readFileSync(inRepository('test/fixtures/models/loop_if.onnx')));
    await changed;
    assert.ok(session.viewData!.graph!.nodes.length > 3);
    assert.deepEqual(session.selection, { kind: 'nodes', ids: ['0'] });

    const gone = nextEvent(sessions.onDidChange, ({ key, state }) => key === session.key && state.model === 'missing');
    rmSync(uri.fsPath);
    await gone;
    assert.notEqual(session.viewData, null, 'what was read before stays on view');
  });

  it('lets a model go when its last view has closed', async () => {
    const { sessions } = await lens();
    const uri = inWorkspace('unsupported_op.onnx');
    await openModel(uri);
    const closed = nextEvent(vscode.window.tabGroups.onDidChangeTabs, ({ closed: tabs }) => tabs.length > 0);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await closed;
    // Only now: an editor that is there could still say that it has the focus.
    sessions.setCurrent(inWorkspace('loop_if.onnx'));
    // The editor disposes of documents some time after their tab.
    await eventually(() => sessions.find(uri) === undefined);
  });
});
