import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { buildsFolder } from '../../../src/builder/store/buildFolder.ts';
import {
  accepting,
  activeEditor,
  closeEditors,
  eventually,
  inRepository,
  inWorkspace,
  lens,
  nextEvent,
  until,
} from './support.ts';

const model = inWorkspace('vit_tiny.onnx');
const replay = inWorkspace('vit_tiny.replay.json');
const recorded = 'test/fixtures/captures/tensorrt-10.6.0/vit_tiny.poly_replay/replay.json';

const codesOf = () =>
  vscode.languages.getDiagnostics(replay).map(({ code }) => (typeof code === 'object' ? code.value : code));

async function untilCodes(holds: (codes: ReturnType<typeof codesOf>) => boolean): Promise<void> {
  while (!holds(codesOf())) {
    // oxlint-disable-next-line no-await-in-loop -- until they have come
    await nextEvent(vscode.languages.onDidChangeDiagnostics);
  }
}

async function build(): Promise<string> {
  const { builds } = await lens();
  const ended = nextEvent(builds.onDidEnd, ({ uri }) => uri.toString() === model.toString());
  await vscode.commands.executeCommand('tensorrtLens.buildWithReplay', { uri: replay.toString() });
  const { build: made } = await ended;
  return made.manifest.error ?? made.manifest.result;
}

describe('tactic replays', () => {
  const settings = () => vscode.workspace.getConfiguration('tensorrtLens');

  before(async () => {
    copyFileSync(inRepository('test/fixtures/models/vit_tiny.onnx'), model.fsPath);
    const tool = process.env['REPLAY_TOOL'];
    await settings().update('polygraphy.path', tool, vscode.ConfigurationTarget.Global);
  });
  afterEach(async () => {
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === replay.toString());
    if (document?.isDirty) await document.save();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });
  after(async () => {
    await settings().update('polygraphy.path', undefined, vscode.ConfigurationTarget.Global);
    for (const { fsPath } of [model, replay]) rmSync(fsPath, { force: true });
    rmSync(buildsFolder(model.fsPath), { recursive: true, force: true });
  });

  it('fail by the real message when a type is edited, and a quick fix changes the whole entry', async function () {
    this.timeout(120_000);
    const { features } = await lens();
    const original = readFileSync(inRepository(recorded), 'utf8');
    // The article's edit: FP32 at both sides of the convolution, and nothing else.
    writeFileSync(replay.fsPath, original.replaceAll(/HALF(?=[^]*ForeignNode)/g, 'FLOAT'));
    const document = await vscode.workspace.openTextDocument(replay);
    const editor = await vscode.window.showTextDocument(document);
    await features.language.start();
    await features.feed.settled(replay);
    await untilCodes((codes) => codes.includes('foreign-entry'));
    assert.ok(!codesOf().includes('not-offered'));

    const error = await build();
    assert.match(error, /\/patch_embed\/proj\/Conv/);
    assert.match(error, /did not offer/);
    await untilCodes((codes) => codes.includes('not-offered'));
    const problem = vscode.languages.getDiagnostics(replay).find(({ code }) => code === 'not-offered')!;
    assert.equal(problem.severity, vscode.DiagnosticSeverity.Error);
    assert.match(problem.message, /123 choices/);

    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      replay,
      10,
    );
    const titles = lenses.map(({ command }) => command!.title);
    assert.ok(titles.includes('Build with this replay'));
    const log = lenses.find(({ command }) => command!.title.startsWith('Log line'))!.command!;
    await vscode.commands.executeCommand(log.command, ...log.arguments!);
    const shown = await activeEditor(({ uri }) => uri.path.endsWith('.log'));
    assert.match(shown.document.lineAt(shown.selection.active.line).text, /Conv \| Tactic in replay was not provided/);

    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      replay,
      problem.range,
      'quickfix',
    );
    const fix = actions.find(({ isPreferred }) => isPreferred)!;
    assert.match(fix.title, /^Change the whole entry to FP32 → FP32/);
    assert.ok(await vscode.workspace.applyEdit(fix.edit!));
    await untilCodes((codes) => !codes.includes('not-offered'));
    assert.match(document.getText(), /"tactic": -?\d+/);
    assert.notEqual(document.getText(), original);
    // The rest of the file stays as it was.
    const rest = (text: string) => text.slice(text.indexOf('"{ForeignNode['));
    assert.equal(rest(document.getText()), rest(original));
    assert.equal(await build(), 'passed');
    assert.ok(!document.isDirty);
    assert.equal(editor.document, document);
  });

  it('are recorded by a build, and shown', async function () {
    this.timeout(120_000);
    const { builds } = await lens();
    rmSync(replay.fsPath, { force: true });
    const ended = nextEvent(builds.onDidEnd, ({ uri }) => uri.toString() === model.toString());
    // The question for the types has its first answer, FP16, selected.
    await accepting(vscode.commands.executeCommand('tensorrtLens.recordReplay', model));
    const { build: made } = await ended;
    assert.equal(made.manifest.result, 'passed');
    assert.ok(made.manifest.command.includes('--fp16'));
    assert.equal(made.manifest.command.at(made.manifest.command.indexOf('--save-tactics') + 1), replay.fsPath);
    const { document: shown } = await activeEditor(({ uri }) => uri.toString() === replay.toString());
    const written = readFileSync(inRepository(recorded), 'utf8');
    // An editor that had the file open before takes the new one a moment later.
    while (shown.getText() !== written) {
      // oxlint-disable-next-line no-await-in-loop -- until it has
      await nextEvent(vscode.workspace.onDidChangeTextDocument);
    }
    assert.equal(shown.getText(), written);
    // What else TensorRT offered stays with the build, and comes from there, with times.
    assert.equal(made.manifest.files.choices, 'choices.jsonl');
    const { features } = await lens();
    await features.feed.settled(replay);
    const at = new vscode.Position(2, 12);
    const told = async () => {
      const hovers = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', replay, at);
      return hovers.flatMap(({ contents }) => contents.map((one) => (one as vscode.MarkdownString).value)).join('\n');
    };
    let text = '';
    // Until the server has the facts.
    await eventually(async () => (text = await told()).includes('TensorRT offered'));
    assert.match(text, /TensorRT offered 168 choices; this is one of them, 17\.7 µs/);
  });

  it('are not shown by another build, where the recording could not begin', async function () {
    this.timeout(120_000);
    rmSync(replay.fsPath, { force: true });
    const update = (path: string | undefined) =>
      settings().update('polygraphy.path', path, vscode.ConfigurationTarget.Global);
    await update(inWorkspace('no-polygraphy').fsPath);
    const started = nextEvent(vscode.tasks.onDidStartTask, ({ execution }) => execution.task.source === 'tensorrt');
    await accepting(vscode.commands.executeCommand('tensorrtLens.recordReplay', model));
    // The end of the build before may arrive only now.
    const { execution } = await started;
    await until(vscode.tasks.onDidEndTask, () => !vscode.tasks.taskExecutions.includes(execution));
    await update(process.env['REPLAY_TOOL']);
    await closeEditors();
    // It writes the same replay, for somebody who did not ask to see it.
    const { builds, history } = await lens();
    await history.refresh();
    const other = (await history.getChildren()).find(({ build }) => build?.manifest.command.includes('--save-tactics'));
    const ended = nextEvent(builds.onDidEnd, ({ uri }) => uri.toString() === model.toString());
    await vscode.commands.executeCommand('tensorrtLens.rerunBuild', other);
    assert.equal((await ended).build.manifest.result, 'passed');
    // An editor that nobody asked for would be on its way since the build ended, ahead of this one.
    const notes = inWorkspace('replayNotes.md');
    writeFileSync(notes.fsPath, 'buy milk\n');
    await vscode.commands.executeCommand('workbench.action.newGroupRight');
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(notes), vscode.ViewColumn.Two);
    assert.deepEqual(
      vscode.window.visibleTextEditors.map(({ document }) => document.uri.path),
      [notes.path],
    );
    await closeEditors();
    rmSync(notes.fsPath);
  });

  it('say what an entry is, and let a layer go', async () => {
    const { features } = await lens();
    copyFileSync(inRepository(recorded), replay.fsPath);
    const document = await vscode.workspace.openTextDocument(replay);
    const editor = await vscode.window.showTextDocument(document);
    await features.language.start();
    const entries = await features.language.replayEntries(replay);
    assert.deepEqual(
      entries.map(({ kind }) => kind),
      ['single', 'foreign'],
    );
    const at = new vscode.Position(2, 12);
    const hovers = await vscode.commands.executeCommand<vscode.Hover[]>('vscode.executeHoverProvider', replay, at);
    const text = hovers
      .flatMap(({ contents }) => contents.map((one) => (one as vscode.MarkdownString).value))
      .join('\n');
    assert.match(text, /CaskConvolution/);
    editor.selection = new vscode.Selection(at, at);
    await vscode.commands.executeCommand('tensorrtLens.unpinLayer');
    assert.doesNotMatch(document.getText(), /patch_embed/);
    assert.match(document.getText(), /ForeignNode/);
    await vscode.commands.executeCommand('undo');
    assert.equal(document.getText(), readFileSync(inRepository(recorded), 'utf8'));
  });

  it('leave other JSON files alone', async () => {
    const { features } = await lens();
    const other = await vscode.workspace.openTextDocument({ language: 'json', content: '{ "replay": 1 }' });
    await vscode.window.showTextDocument(other);
    await features.language.start();
    assert.equal(features.feed.isServed(other.uri), false);
    assert.deepEqual(
      vscode.languages.getDiagnostics(other.uri).filter(({ source }) => source === 'TensorRT'),
      [],
    );
  });
});
