import assert from 'node:assert/strict';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { buildsFolder } from '../../../src/kernel/node/store/buildFolder.ts';
import { activeEditor, activeTab, closeEditors, inRepository, inWorkspace, lens, nextEvent } from './support.ts';

const model = inWorkspace('gated.onnx');
const gate = inWorkspace('gated.gate.yaml');
const builds = () => buildsFolder(model.fsPath);

const provide = <T>(command: string, ...args: unknown[]) =>
  vscode.commands.executeCommand<T>(`vscode.${command}`, gate, ...args);

async function open(text: string): Promise<vscode.TextDocument> {
  await lens();
  writeFileSync(gate.fsPath, text);
  const document = await vscode.workspace.openTextDocument(gate);
  await vscode.window.showTextDocument(document);
  assert.equal(document.languageId, 'trtgate');
  return document;
}

async function retype(document: vscode.TextDocument, text: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.replace(gate, new vscode.Range(0, 0, document.lineCount, 0), text);
  assert.ok(await vscode.workspace.applyEdit(edit));
}

/** Messages of the diagnostics, when there are so many. */
async function diagnosed(count: number): Promise<string[]> {
  for (;;) {
    const found = vscode.languages.getDiagnostics(gate);
    if (found.length === count) return found.map(({ range, message }) => `${range.start.line + 1}: ${message}`);
    // oxlint-disable-next-line no-await-in-loop -- until they have come
    await nextEvent(vscode.languages.onDidChangeDiagnostics);
  }
}

const lenses = async (): Promise<string[]> =>
  (await provide<vscode.CodeLens[]>('executeCodeLensProvider', 10)).map(({ command }) => command!.title);

describe('gate files', () => {
  before(() => copyFileSync(inRepository('examples/vit_tiny.onnx'), model.fsPath));

  after(async () => {
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === gate.toString());
    if (document?.isDirty) await document.save();
    await closeEditors();
    for (const { fsPath } of [model, gate]) rmSync(fsPath, { force: true });
    rmSync(builds(), { recursive: true, force: true });
  });

  it('says what is wrong, completes keys and explains them', async () => {
    const text = 'model: gated.onnx\nrules:\n  kernel: 3\n  time: { total: 5% }\n';
    const document = await open(text);
    const [unknown, limit] = await diagnosed(2);
    assert.match(unknown!, /^3: 'kernel' is not a rule; did you mean 'kernels'\?/);
    assert.match(limit!, /^4: time\.total: '5%' has no sign/);
    assert.equal((await lenses())[0], 'Not judged: fix the errors in this file first');

    await retype(document, 'model: gated.onnx\nrules:\n  \n');
    const { items } = await provide<vscode.CompletionList>('executeCompletionItemProvider', new vscode.Position(2, 2));
    const labels = items.map(({ label }) => (typeof label === 'string' ? label : label.label));
    for (const rule of ['attention', 'kernels', 'accuracy']) assert.ok(labels.includes(rule), labels.join());

    await retype(document, 'model: gated.onnx\nrules:\n  attention: fused\n');
    const [hover] = await provide<vscode.Hover[]>('executeHoverProvider', new vscode.Position(2, 4));
    assert.match((hover!.contents[0] as vscode.MarkdownString).value, /computed with both by one kernel/);
  });

  it('judges the last build above the first line, and marks the rules that fail', async () => {
    const text = 'model: gated.onnx\nrules:\n  nodes: { unknown: 0 }\n  foreignNodes: 0\n';
    const document = await vscode.workspace.openTextDocument(gate);
    await vscode.window.showTextDocument(document);
    await retype(document, text);
    assert.equal((await lenses())[0], 'Not judged: gated.onnx has no build that passed');

    const folder = path.join(builds(), 'recorded-vit_tiny');
    mkdirSync(folder, { recursive: true });
    cpSync(inRepository('examples/recorded/vit_tiny'), folder, { recursive: true });
    const manifest = path.join(folder, 'manifest.json');
    const value = JSON.parse(readFileSync(manifest, 'utf8')) as { model: { file: string } };
    value.model.file = model.fsPath;
    writeFileSync(manifest, JSON.stringify(value));
    assert.equal((await lenses())[0], '$(error) Build recorded-vit_tiny: 1 of 2 checks failed');
    assert.deepEqual(await diagnosed(1), ['4: 1 ForeignNode; the limit is 0.']);

    await vscode.commands.executeCommand('tensorrtLens.evaluateGate', gate);
    const page = await activeTab(({ label }) => label === 'Result of gated.gate.yaml');
    assert.ok(page.input instanceof vscode.TabInputWebview);
    // A second look is the same page.
    await vscode.commands.executeCommand('tensorrtLens.evaluateGate', gate);
    const pages = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).filter(({ label }) => label === page.label);
    assert.equal(pages.length, 1);

    await retype(document, 'model: gated.onnx\nrules:\n  nodes: { unknown: 0 }\n  foreignNodes: 1\n');
    assert.equal((await lenses())[0], '$(pass) Build recorded-vit_tiny: 2 checks passed');
    assert.deepEqual(await diagnosed(0), []);
  });

  it('creates a gate from the last build that passed, and replaces none', async () => {
    const made = inWorkspace('made.gate.yaml');
    const baseline = inWorkspace('made.report.json');
    try {
      await vscode.commands.executeCommand('tensorrtLens.createGate', model, made);
      const { document } = await activeEditor(({ uri }) => uri.toString() === made.toString());
      assert.match(document.getText(), /^model: "gated\.onnx"$/m);
      const titles = await vscode.commands.executeCommand<vscode.CodeLens[]>(
        'vscode.executeCodeLensProvider',
        made,
        10,
      );
      assert.match(titles[0]!.command!.title, /^\$\(pass\) Build recorded-vit_tiny: \d+ checks passed/);

      writeFileSync(baseline.fsPath, '{}');
      await vscode.commands.executeCommand('tensorrtLens.createGate', model, made);
      assert.equal(readFileSync(baseline.fsPath, 'utf8'), '{}');
    } finally {
      for (const { fsPath } of [made, baseline]) rmSync(fsPath, { force: true });
    }
  });

  it('writes the configuration of Triton for the last build, and the hook of Torch-TensorRT', async () => {
    const config = inWorkspace('config.pbtxt');
    const hook = inWorkspace('trtlens_torch.py');
    try {
      const manifest = path.join(builds(), 'recorded-vit_tiny', 'manifest.json');
      const recorded = readFileSync(manifest, 'utf8');
      await vscode.commands.executeCommand('tensorrtLens.writeTritonConfig', model, config);
      assert.ok(!existsSync(config.fsPath), 'Triton serves no engine of TensorRT-RTX');
      writeFileSync(manifest, recorded.replace('"tensorrt-rtx"', '"tensorrt"'));
      await vscode.commands.executeCommand('tensorrtLens.writeTritonConfig', model, config);
      assert.match(readFileSync(config.fsPath, 'utf8'), /name: "gated"[^]*platform: "tensorrt_plan"/);
      await vscode.commands.executeCommand('tensorrtLens.writeTorchHook', hook);
      assert.match(readFileSync(hook.fsPath, 'utf8'), /^def \w+/m);
    } finally {
      for (const { fsPath } of [config, hook]) rmSync(fsPath, { force: true });
    }
  });
});
