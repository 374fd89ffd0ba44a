import type { AccuracyReport } from '../../../src/kernel/simulation/simulated.ts';
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { PrecisionSweep } from '../../../src/features/accuracy/precisionSweep.ts';
import { writeBuildOverrides } from '../../../src/kernel/node/store/overridesRecord.ts';
import { activeTab, closeEditors, inRepository, inWorkspace, lens, openModel } from './support.ts';

const model = inWorkspace('ln_pow.onnx');
const rules = inWorkspace('ln_pow.trtprec');
/** No editor ever shows it. */
const closed = inWorkspace('ln_pow_closed.trtprec');
const inputs = inRepository('test/fixtures/faults/ln_pow_outlier/inputs.npz');

/** Runs the command with input files, as a task or a keybinding may. */
async function find(target: vscode.Uri): Promise<AccuracyReport> {
  const found = await vscode.commands.executeCommand<{ report: AccuracyReport } | undefined>(
    'tensorrtLens.findSensitiveNodes',
    target,
    [inputs],
  );
  assert.ok(found, 'nothing was found');
  return found.report;
}

describe('accuracy', () => {
  before(() => copyFileSync(inRepository('test/fixtures/faults/ln_pow_outlier/model.onnx'), model.fsPath));

  after(async () => {
    for (const document of vscode.workspace.textDocuments)
      if (document.uri.toString() === rules.toString() && document.isDirty) await document.save();
    await closeEditors();
    for (const { fsPath } of [model, rules, closed]) rmSync(fsPath, { force: true });
  });

  it('finds what breaks, colors the graph, and adds the rules as one step to undo', async () => {
    const session = await openModel(model);
    const report = await find(model);
    assert.equal(report.fix!.nodes.length, 6);
    const judged = session.viewData!.accuracy!;
    assert.deepEqual(
      judged.filter(({ role }) => role === 'root').map(({ id }) => id),
      report.nodes.filter(({ role }) => role === 'root').map(({ id }) => id),
    );
    await vscode.commands.executeCommand('tensorrtLens.addFix', model.toString());
    const document = vscode.window.activeTextEditor!.document;
    assert.equal(document.uri.toString(), rules.toString());
    assert.ok(document.isDirty, 'nothing is saved before the user has looked at it');
    for (const { selector } of report.fix!.without) assert.ok(document.getText().includes(`${selector} `), selector);
    await vscode.commands.executeCommand('undo');
    assert.ok(!document.getText().includes('fp32'), document.getText());
    await vscode.commands.executeCommand('redo');
    assert.ok(document.getText().includes('fp32'));
    await document.save();
    // Nothing but the rules that the user saved is beside the model.
    const beside = readdirSync(inWorkspace('.').fsPath).filter((name) => name.startsWith('ln_pow'));
    assert.deepEqual(beside.toSorted(), ['ln_pow.onnx', 'ln_pow.trtprec']);
    assert.ok(existsSync(rules.fsPath));
  });

  it('judges a model under its rules: repaired, there is nothing left; a rule less, a quick fix adds it', async () => {
    const { features } = await lens();
    const document = await vscode.workspace.openTextDocument(rules);
    await vscode.window.showTextDocument(document);
    await features.language.start();
    await features.feed.settled(rules);
    assert.deepEqual((await find(rules)).fix!.nodes, []);
    const line = [...document.getText().split('\n').keys()].find((at) =>
      document.lineAt(at).text.startsWith('/norm/Pow'),
    )!;
    const edit = new vscode.WorkspaceEdit();
    edit.delete(rules, document.lineAt(line).rangeIncludingLineBreak);
    await vscode.workspace.applyEdit(edit);
    const report = await find(rules);
    assert.deepEqual(report.fix!.names, ['/norm/Pow']);
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      rules,
      new vscode.Range(0, 0, 0, 0),
    );
    const repair = actions.find(({ title }) => title === 'Add the 1 rule that repairs FP16');
    assert.ok(repair, actions.map(({ title }) => title).join('; '));
    await vscode.commands.executeCommand(repair.command!.command, ...repair.command!.arguments!);
    assert.ok(document.getText().includes('/norm/Pow fp32'));

    // What the rule removes is at its end: the comment says it, so first without.
    const text = document.getText().replaceAll(/  # without:.*/g, '');
    const plain = new vscode.WorkspaceEdit();
    plain.replace(rules, new vscode.Range(0, 0, document.lineCount, 0), text);
    await vscode.workspace.applyEdit(plain);
    const at = document.positionAt(text.indexOf('/norm/Pow fp32')).line;
    const hints = await vscode.commands.executeCommand<vscode.InlayHint[]>(
      'vscode.executeInlayHintProvider',
      rules,
      new vscode.Range(at, 0, at + 1, 0),
    );
    const labels = hints.map(({ label }) =>
      typeof label === 'string' ? label : label.map((one) => one.value).join(''),
    );
    assert.ok(
      labels.some((label) => /^error 0\.00\d+, without: /.test(label)),
      labels.join('; '),
    );
  });

  it('judges the model of an override file that was never opened, as the menu of the explorer does', async () => {
    writeFileSync(closed.fsPath, 'model ./ln_pow.onnx\nbase fp16\n');
    assert.equal((await find(closed)).fix!.nodes.length, 6);
  });

  it('compares the precisions in one table; a search on the same inputs keeps it, another model drops it', async () => {
    type Found = { report: AccuracyReport; sweep?: PrecisionSweep };
    const run = (command: string) => vscode.commands.executeCommand<Found>(`tensorrtLens.${command}`, model, [inputs]);
    const { sweep, report } = await run('comparePrecisions');
    assert.deepEqual(
      sweep!.rungs.map(({ precision }) => precision),
      ['fp32', 'fp16', 'bf16', 'int8'],
    );
    assert.equal(sweep!.rungs[1]!.fix!.nodes, 6);
    assert.equal(report.fix!.nodes.length, 6);
    // Run, or with the reason why not: this depends on the Python of the machine.
    const int8 = sweep!.rungs[3]!;
    assert.ok(int8.predicted !== null || int8.reason!.startsWith('not run: '), JSON.stringify(int8));
    assert.equal((await activeTab(({ label }) => label === 'Accuracy of ln_pow.onnx')).isActive, true);
    assert.deepEqual((await run('findSensitiveNodes')).sweep, sweep);
    const bytes = readFileSync(model.fsPath);
    // A field that no reader knows: another file, the same model.
    writeFileSync(model.fsPath, Buffer.concat([bytes, Buffer.from([0xfa, 0x3f, 0])]));
    assert.equal((await run('findSensitiveNodes')).sweep, undefined);
  });

  it('judges a build of the history under its rules, with its kernels as a second opinion', async () => {
    const layers = inRepository('test/fixtures/faults/ln_pow_outlier/h200.fixed.layers.json.gz');
    const folder = mkdtempSync(join(tmpdir(), 'tensorrt-lens-'));
    copyFileSync(layers, join(folder, 'layers.json'));
    await writeBuildOverrides(folder, { schema: 1, rules: 'base fp16\n/norm/* fp32\n', way: 'model' });
    const build = {
      folder,
      manifest: {
        model: { file: model.fsPath },
        files: { log: null, layers: 'layers.json', profile: null, engine: null },
      },
    };
    const found = await vscode.commands.executeCommand<{ report: AccuracyReport }>(
      'tensorrtLens.findSensitiveNodes',
      { build },
      [inputs],
    );
    assert.equal(found.report.level, 'kernel');
    assert.ok(found.report.kernel!.held.length > 0);
    // The rules of the build keep the last norm in FP32 already.
    assert.equal(found.report.nodes.filter(({ name }) => name.startsWith('/norm/')).length, 0);
    assert.ok(
      found.report.fix!.names.every((name) => name.startsWith('/layers.2/')),
      found.report.fix!.names.join(),
    );
    rmSync(folder, { recursive: true });
  });
});
