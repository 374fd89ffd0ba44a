import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { openFile } from '../../../src/kernel/node/files/fileSource.ts';
import { ParsedFiles } from '../../../src/kernel/node/files/parsedFiles.ts';
import { buildsFolder } from '../../../src/kernel/node/store/buildFolder.ts';
import { FactsReader } from '../../../src/kernel/vscode/language/internal/knownFacts.ts';
import { DiskSource } from '../../../src/shell/vscode/diskSource.ts';
import {
  activeEditor,
  activeTab,
  dismissing,
  inRepository,
  inWorkspace,
  lens,
  nextEvent,
  openModel,
  roundTrip,
  until,
} from './support.ts';

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

  it('is shown from its log and layer info, labeled as imported', async () => {
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

  it('is parsed once for the views and the language server together', async () => {
    const opened: string[] = [];
    const files = new ParsedFiles({
      open: (path) => {
        opened.push(basename(path));
        return openFile(path);
      },
    });
    const log = vscode.window.createOutputChannel('parsed once', { log: true });
    const views = new DiskSource(log, files);
    const [shown, , facts] = await Promise.all([
      views.readNewestBuild(model(), null, null),
      views.readModel(model(), null),
      new FactsReader(log, files).read(model()),
    ]);
    assert.equal(shown!.report!.nodes.length, 636);
    assert.equal(facts.build!.nodes.length, 636);
    assert.equal(facts.model!.nodes.length, 636);
    assert.deepEqual(opened.toSorted(), ['build.log', 'layers.json', 'vit_tiny.onnx']);
    log.dispose();
  });

  it('keeps what is selected as it is, where the side bar has no line for just that', async () => {
    const { sessions, tree } = await lens();
    const session = sessions.find(model())!;
    // The side bar brings up the line that comes next to the selection, and could report that one as selected.
    await tree.bringUp();
    const revealed = nextEvent(tree.onDidReveal);
    const selected = { kind: 'nodes', ids: session.state.graph!.nodes.slice(100, 103).map(({ id }) => id) } as const;
    sessions.select(session, selected, 'host');
    await revealed;
    await roundTrip();
    assert.deepEqual(session.selection, selected);
  });

  it('leaves things as they are when a file is something else', async () => {
    const { sessions } = await lens();
    const before = sessions.find(model())!.state.newest!.build.id;
    const other = inWorkspace('notes.txt');
    writeFileSync(other.fsPath, 'buy milk\n');
    await dismissing(vscode.commands.executeCommand('tensorrtLens.attach', model(), [other]));
    await sessions.reload(model());
    assert.equal(sessions.find(model())!.state.newest!.build.id, before);
    rmSync(other.fsPath);
  });
});

describe('a model that records its lines of Python', () => {
  const fixture = (name: string) => inRepository(`test/fixtures/torch/vision/${name}`);
  const model = () => inWorkspace('tiny_vit.onnx');
  const code = () => inWorkspace('vision/blocks.py');

  before(() => {
    copyFileSync(fixture('tiny_vit.onnx'), model().fsPath);
    mkdirSync(inWorkspace('vision').fsPath, { recursive: true });
    copyFileSync(fixture('blocks.py'), code().fsPath);
  });
  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    rmSync(buildsFolder(model().fsPath), { recursive: true, force: true });
    rmSync(model().fsPath);
    rmSync(inWorkspace('vision').fsPath, { recursive: true });
  });

  it('leads from a node to the line, and from the line to the node', async () => {
    const { sessions } = await lens();
    const session = await openModel(model());
    await vscode.commands.executeCommand('tensorrtLens.attach', model(), [vscode.Uri.file(fixture('build.log.gz'))]);
    await until(sessions.onDidChange, () => session.report !== null);
    const softmax = session.state.graph!.nodes.find(({ op }) => op === 'Softmax')!;
    const selection = { kind: 'nodes', ids: [softmax.id] };
    await vscode.commands.executeCommand('tensorrtLens.goToSource', { selection });
    const { document, selection: at } = await activeEditor(({ uri }) => uri.fsPath === code().fsPath);
    assert.match(document.lineAt(at.active.line).text, /softmax\(dim=-1\)/);
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      code(),
      50,
    );
    const lens30 = lenses.find(({ range }) => range.start.line === at.active.line)!;
    assert.match(lens30.command!.title, /\(ForeignNode 0\) · 2 nodes · \d+ kernels/);
    await vscode.commands.executeCommand(lens30.command!.command, ...(lens30.command!.arguments as unknown[]));
    assert.ok(session.selection.kind === 'nodes' && session.selection.ids.includes(softmax.id));
  });

  it('says which tactics a layer could have', async () => {
    const { sessions } = await lens();
    const session = sessions.find(model())!;
    const selection = { kind: 'nodes', ids: [session.state.graph!.nodes[0]!.id] };
    await vscode.commands.executeCommand('tensorrtLens.showTactics', { selection });
    await activeTab(({ label }) => label === 'Tactics');
  });
});
