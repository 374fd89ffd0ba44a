import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { buildsFolder } from '../../../src/kernel/node/store/buildFolder.ts';
import { activeEditor, inRepository, inWorkspace, lens, nextEvent } from './support.ts';

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

  it('say what an entry is', async () => {
    const { features } = await lens();
    copyFileSync(inRepository(recorded), replay.fsPath);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(replay));
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
