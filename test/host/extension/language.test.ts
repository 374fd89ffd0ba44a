import assert from 'node:assert/strict';
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { buildsFolder } from '../../../src/kernel/node/store/buildFolder.ts';
import { SettledDocuments } from '../../../src/kernel/vscode/language/settledDocuments.ts';
import { activeEditor, eventually, inWorkspace, lens, nextEvent, openModel } from './support.ts';

/** Each test has a file of its own: a document stays in memory for a while after its editor was closed. */
let rules = inWorkspace('language0.trtprec');
let opened = 0;
const model = inWorkspace('fp16_overflow.onnx');

/** Opens rules with this text, and resolves when the server has said what is wrong with them. */
async function openRules(text: string): Promise<vscode.TextDocument> {
  const { features } = await lens();
  opened += 1;
  rules = inWorkspace(`language${opened}.trtprec`);
  writeFileSync(rules.fsPath, text);
  const document = await vscode.workspace.openTextDocument(rules);
  await vscode.window.showTextDocument(document);
  await features.language.start();
  await features.feed.settled(rules);
  await features.language.verify(rules);
  return document;
}

/** The codes of the diagnostics, when they are these. */
async function diagnosed(...codes: string[]): Promise<vscode.Diagnostic[]> {
  const wanted = codes.toSorted().join();
  for (;;) {
    const found = vscode.languages.getDiagnostics(rules);
    const codes = found.map(({ code }) => String(typeof code === 'object' ? code.value : code));
    if (codes.toSorted().join() === wanted) return found;
    // oxlint-disable-next-line no-await-in-loop -- until they have come
    await nextEvent(vscode.languages.onDidChangeDiagnostics);
  }
}

async function retype(document: vscode.TextDocument, text: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), text);
  assert.ok(await vscode.workspace.applyEdit(edit));
}

/** Kills the language server, and asks it before that is noticed. Resolves when another one runs. */
async function killServer(ask: () => void): Promise<void> {
  const server = path.join(process.env['EXTENSION_FOLDER']!, 'dist', 'server.cjs');
  const running = () =>
    readdirSync('/proc').filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(server);
      } catch {
        return false;
      }
    });
  const [pid, ...others] = running();
  assert.deepEqual(others, []);
  process.kill(Number(pid), 'SIGKILL');
  while (running().includes(pid!)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  for (let count = 0; count < 5; count += 1) ask();
  await eventually(() => running().length > 0);
}

const provide = <T>(command: string, ...args: unknown[]) =>
  vscode.commands.executeCommand<T>(`vscode.${command}`, ...args);
const tabsOf = (uri: vscode.Uri): vscode.Tab[] =>
  vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter(({ input }) => input instanceof vscode.TabInputText && input.uri.toString() === uri.toString());
const textOf = (hovers: vscode.Hover[]): string =>
  hovers.flatMap(({ contents }) => contents.map((one) => (one as vscode.MarkdownString).value)).join('\n');

describe('override files', () => {
  before(() => rmSync(buildsFolder(model.fsPath), { recursive: true, force: true }));
  afterEach(async () => {
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === rules.toString());
    if (document?.isDirty) await document.save();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });
  after(() => rmSync(buildsFolder(model.fsPath), { recursive: true, force: true }));

  it('are a language of their own, with diagnostics and quick fixes', async () => {
    const document = await openRules('model ./fp16_overflow.onnx\n/layers.1/atn/softmax/Softmax fp3x\n');
    assert.equal(document.languageId, 'trtprec');
    const found = await diagnosed('unknown-type', 'matches-nothing');
    const nothing = found.find(({ code }) => code === 'matches-nothing')!;
    assert.equal(nothing.severity, vscode.DiagnosticSeverity.Warning);
    assert.match(nothing.message, /\/layers\.1\/attn\/softmax\/Softmax/);
    // The first fix moves the second problem.
    const fixProblem = async ({ range }: vscode.Diagnostic) => {
      const actions = await provide<vscode.CodeAction[]>('executeCodeActionProvider', rules, range, 'quickfix');
      const fix = actions.find(({ isPreferred }) => isPreferred);
      assert.ok(fix?.edit, actions.map(({ title }) => title).join());
      assert.ok(await vscode.workspace.applyEdit(fix.edit));
    };
    await fixProblem(nothing);
    await fixProblem((await diagnosed('unknown-type'))[0]!);
    await diagnosed();
    assert.equal(document.lineAt(1).text, '/layers.1/attn/softmax/Softmax fp32');
  });

  it('say which model is missing, and take it when it comes', async () => {
    const document = await openRules('model ./nowhere.onnx\nop:Softmax fp32\n');
    const [missing] = await diagnosed('model-missing');
    assert.match(missing!.message, /nowhere\.onnx/);
    // The models of the workspace are looked for beside all else.
    await eventually(async () => {
      const actions = await provide<vscode.CodeAction[]>(
        'executeCodeActionProvider',
        rules,
        missing!.range,
        'quickfix',
      );
      return actions.some(({ title }) => title === 'Change to ./fp16_overflow.onnx');
    });
    const at = new vscode.Position(0, 'model '.length);
    const { items } = await provide<vscode.CompletionList>('executeCompletionItemProvider', rules, at);
    assert.ok(items.some(({ label }) => label === './fp16_overflow.onnx'));
    await retype(document, 'model ./fp16_overflow.onnx\nop:Softmax fp32\n');
    await diagnosed();
  });

  it('are about the model that was typed last, also in a command that comes right after', async () => {
    const { features } = await lens();
    const document = await openRules('model ./fp16_overflow.onnx\nop:Softmax fp32\n');
    assert.equal((await features.feed.modelOf(rules))?.path, model.path);
    await retype(document, 'model ./loop_if.onnx\nop:Softmax fp32\n');
    await features.language.serve(rules);
    assert.equal((await features.feed.modelOf(rules))?.path, inWorkspace('loop_if.onnx').path);
  });

  it('let go of what is known of a model with the last of them', async () => {
    const { features } = await lens();
    // Models and files of its own: what a test opens itself, the editor keeps for minutes.
    const own = inWorkspace('languageOwn.onnx');
    copyFileSync(model.fsPath, own.fsPath);
    const [one, other] = [inWorkspace('languageOne.trtprec'), inWorkspace('languageOther.trtprec')];
    const show = async (uri: vscode.Uri) => {
      writeFileSync(uri.fsPath, 'model ./languageOwn.onnx\nop:Softmax fp32\n');
      await vscode.commands.executeCommand('vscode.open', uri, { preview: false });
      await eventually(() => features.feed.isServed(uri));
      return features.feed.settled(uri);
    };
    const close = async (uri: vscode.Uri) => {
      await vscode.window.tabGroups.close(tabsOf(uri));
      await eventually(() => !features.feed.isServed(uri));
    };
    try {
      const known = await show(one);
      assert.ok(known?.model);
      assert.ok((await show(other)) === known);
      await close(one);
      assert.ok((await show(one)) === known);
      await close(one);
      await close(other);
      assert.ok((await show(one)) !== known);
      await close(one);
    } finally {
      rmSync(own.fsPath, { force: true });
    }
  });

  it('complete names, operators and types', async () => {
    await openRules('model ./fp16_overflow.onnx\nop:Sof\n');
    const at = new vscode.Position(1, 6);
    const { items } = await provide<vscode.CompletionList>('executeCompletionItemProvider', rules, at);
    assert.ok(items.some(({ label }) => String(typeof label === 'string' ? label : label.label).includes('Softmax')));
  });

  it('explain a selector on hover, and rename it wherever it stands', async () => {
    const document = await openRules(
      'model ./fp16_overflow.onnx\nop:Softmax fp32\nnot:op:Softmax, ** fp16\nop:Softmax fp32\n',
    );
    const at = new vscode.Position(1, 5);
    assert.match(textOf(await provide<vscode.Hover[]>('executeHoverProvider', rules, at)), /nodes\*\*|Softmax/);
    const edit = await provide<vscode.WorkspaceEdit>('executeDocumentRenameProvider', rules, at, 'LayerNormalization');
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.equal(document.lineAt(1).text, 'op:LayerNormalization fp32');
    assert.equal(document.lineAt(3).text, 'op:LayerNormalization fp32');
  });

  it('are formatted', async () => {
    const document = await openRules(
      'model ./fp16_overflow.onnx\nop:Softmax    float32\n/layers.1/attn/qk/MatMul fp32\n',
    );
    const edits = await provide<vscode.TextEdit[]>('executeFormatDocumentProvider', rules, { tabSize: 2 });
    const edit = new vscode.WorkspaceEdit();
    edit.set(rules, edits);
    assert.ok(await vscode.workspace.applyEdit(edit));
    assert.match(document.lineAt(1).text, /^op:Softmax +fp32$/);
    assert.equal(document.lineAt(1).text.indexOf('fp32'), document.lineAt(2).text.indexOf('fp32'));
  });

  it('lead to the nodes: as a text to go to, and in the graph', async () => {
    const { sessions } = await lens();
    await openRules('model ./fp16_overflow.onnx\n/layers.1/attn/softmax/Softmax fp32\n');
    const at = new vscode.Position(1, 3);
    const [place] = await provide<vscode.LocationLink[]>('executeDefinitionProvider', rules, at);
    const list = await vscode.workspace.openTextDocument(place!.targetUri);
    assert.match(list.lineAt(place!.targetRange.start.line).text, /^Softmax +\/layers\.1\/attn\/softmax\/Softmax/);

    await diagnosed();
    const lenses = await provide<vscode.CodeLens[]>('executeCodeLensProvider', rules, 10);
    const titles = lenses.map(({ command }) => command?.title);
    assert.deepEqual(titles.slice(0, 2), ['Build with these', 'Apply to the model']);
    const known = new Set(await vscode.commands.getCommands(true));
    for (const { command } of lenses) assert.ok(known.has(command!.command), command!.command);
    const show = lenses.find(({ command }) => command?.title === 'Show 1 node in the graph')!.command!;
    await vscode.commands.executeCommand(show.command, ...show.arguments!);
    const session = sessions.find(model)!;
    assert.equal(session.selection.kind, 'nodes');
    await openModel(model);
    const [id] = session.selection.kind === 'nodes' ? session.selection.ids : [];
    assert.equal(session.state.graph!.nodes.find((node) => node.id === id)!.name, '/layers.1/attn/softmax/Softmax');
  });

  it('are checked again when the language server has died', async function () {
    if (process.platform !== 'linux') this.skip();
    const { features } = await lens();
    const document = await openRules('model ./fp16_overflow.onnx\nop:Softmax fp32\n');
    const at = new vscode.Position(1, 5);
    assert.equal((await features.language.nodesAt(rules, at)).length, 4);
    // What is drawn beside the rules got no answer of the server that died, either.
    let drawn = () => {};
    const drawing = new SettledDocuments(
      features.feed,
      features.language,
      (one) => one === document,
      () => Promise.resolve(drawn()),
    );
    await new Promise<void>((resolve) => (drawn = resolve));
    const again = new Promise<void>((resolve) => (drawn = resolve));
    await killServer(() => void features.language.nodesAt(rules, at));
    await again;
    drawing.dispose();
    await retype(document, 'model ./fp16_overflow.onnx\nop:Softmx fp32\n');
    await diagnosed('matches-nothing');
    assert.deepEqual(await features.language.nodesAt(rules, at), []);
  });

  it('are checked again also where no editor shows them', async function () {
    if (process.platform !== 'linux') this.skip();
    const { features } = await lens();
    await openRules('model ./fp16_overflow.onnx\nop:Softmax fp32\n');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    opened += 1;
    rules = inWorkspace(`language${opened}.trtprec`);
    writeFileSync(rules.fsPath, 'model ./fp16_overflow.onnx\nop:Softmx fp32\n');
    const document = await vscode.workspace.openTextDocument(rules);
    await features.feed.settled(rules);
    await diagnosed('matches-nothing');
    const gone = diagnosed();
    await killServer(() => void features.language.verify(rules));
    await gone;
    await diagnosed('matches-nothing');
    assert.equal(document.isClosed, false);
  });

  it('get rules from the graph, which can be undone', async () => {
    const session = await openModel(model);
    const { features } = await lens();
    const file = inWorkspace('fp16_overflow.trtprec');
    const nodes = session.state.graph!.nodes.filter(({ op }) => op === 'Softmax').map(({ id }) => id);
    try {
      await vscode.commands.executeCommand('tensorrtLens.keepFp32', model, nodes);
      const { document } = await activeEditor(({ uri }) => uri.toString() === file.toString());
      assert.match(document.getText(), /^model +\.\/fp16_overflow\.onnx\nbase +fp16\n\n.+ fp32\n$/);
      const before = document.getText();
      // All of them are kept already: nothing is added twice.
      await vscode.commands.executeCommand('tensorrtLens.keepFp32', model, nodes);
      assert.equal(document.getText(), before);
      // One editor beside the graph, however often.
      const labels = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(({ label }) => label));
      assert.deepEqual(
        labels.filter((label) => label === 'fp16_overflow.trtprec'),
        ['fp16_overflow.trtprec'],
      );
      await features.feed.settled(file);
      await vscode.commands.executeCommand('undo');
      assert.doesNotMatch(document.getText(), / fp32\n/);
      assert.ok(await document.save());
    } finally {
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      rmSync(file.fsPath, { force: true });
    }
  });

  it('get the same rules once, also when asked for twice at once', async () => {
    // Files of its own: of one that was just deleted, the editor still has the text.
    const [own, file] = [inWorkspace('languageTwice.onnx'), inWorkspace('languageTwice.trtprec')];
    copyFileSync(model.fsPath, own.fsPath);
    const session = await openModel(own);
    const nodes = session.state.graph!.nodes.filter(({ op }) => op === 'Softmax').map(({ id }) => id);
    const keep = () => vscode.commands.executeCommand('tensorrtLens.keepFp32', own, nodes);
    try {
      await Promise.all([keep(), keep(), vscode.commands.executeCommand('tensorrtLens.openOverrides', own)]);
      const { document } = vscode.window.visibleTextEditors.find(
        (editor) => editor.document.uri.toString() === file.toString(),
      )!;
      assert.match(document.getText(), /^model +\.\/languageTwice\.onnx\nbase +fp16\n\n.+ fp32\n$/);
      assert.ok(await document.save());
    } finally {
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      for (const { fsPath } of [own, file]) rmSync(fsPath, { force: true });
    }
  });

  it('build with TensorRT-RTX for real as a typed copy, and the rules are verified', async function () {
    this.timeout(120_000);
    const { builds, features } = await lens();
    await openRules('model ./fp16_overflow.onnx\nbase fp16\nop:Softmax fp32\n/layers.1/** fp32\n');
    assert.deepEqual(await features.language.verify(rules), []);
    const ended = nextEvent(builds.onDidEnd, ({ uri }) => uri.toString() === model.toString());
    await vscode.commands.executeCommand('tensorrtLens.buildWithOverrides', { uri: rules.toString() });
    const { build } = await ended;
    assert.equal(build.manifest.result, 'passed', build.manifest.error ?? '');
    assert.equal(build.manifest.options['overrides'], rules.fsPath);
    await eventually(async () => Boolean((await features.feed.settled(rules))?.build));
    const verdicts = await features.language.verify(rules);
    assert.deepEqual(
      verdicts.map(({ line }) => line),
      [2, 3],
    );
    for (const { verdict, message } of verdicts) assert.notEqual(verdict, 'disobeyed', message);
    assert.ok(verdicts[1]!.counts.obeyed > 10);
    assert.match((await features.feed.settled(rules))!.build!.rules!, /fp32/);
  });

  it('are applied to the model as a new file', async () => {
    const { features } = await lens();
    await openRules('model ./fp16_overflow.onnx\nbase fp16\nop:Softmax fp32\n');
    const out = inWorkspace('language.typed.onnx');
    try {
      await vscode.commands.executeCommand('tensorrtLens.applyOverrides', { uri: rules.toString() }, out);
      const session = await openModel(out);
      const casts = session.state.graph!.nodes.filter(({ op }) => op === 'Cast');
      assert.ok(casts.length > 2);
      assert.equal((await features.feed.modelOf(rules))?.toString(), model.toString());
    } finally {
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      rmSync(out.fsPath, { force: true });
    }
  });
});
