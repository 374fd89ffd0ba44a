import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { closeEditors, inWorkspace, lens, nextEvent } from './support.ts';

const script = inWorkspace('build_engine.py');
const code = 'import tensorrt as trt\n\nflags = 1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH)\n';

/** The diagnostics of the extension, when there are so many. */
async function diagnosed(count: number): Promise<vscode.Diagnostic[]> {
  for (;;) {
    const found = vscode.languages.getDiagnostics(script).filter(({ source }) => source === 'TensorRT Lens');
    if (found.length === count) return found;
    // oxlint-disable-next-line no-await-in-loop -- until they have come
    await nextEvent(vscode.languages.onDidChangeDiagnostics);
  }
}

describe('code for other versions of TensorRT', () => {
  after(async () => {
    await closeEditors();
    rmSync(script.fsPath);
  });

  it('what is gone is marked and replaced; another version has it', async () => {
    await lens();
    writeFileSync(script.fsPath, code);
    const document = await vscode.workspace.openTextDocument(script);
    await vscode.window.showTextDocument(document);
    const [problem] = await diagnosed(1);
    assert.match(problem!.message, /EXPLICIT_BATCH is gone since TensorRT 11\.0/);
    assert.equal(document.getText(problem!.range), 'trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH');

    const settings = vscode.workspace.getConfiguration('tensorrtLens', script);
    await settings.update('lint.tensorrt', '10.6', vscode.ConfigurationTarget.Workspace);
    await diagnosed(0);
    await settings.update('lint.tensorrt', undefined, vscode.ConfigurationTarget.Workspace);
    await diagnosed(1);

    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      script,
      problem!.range,
    );
    const fix = actions.find(({ title }) => title === 'Replace by 0');
    assert.ok(fix?.edit, actions.map(({ title }) => title).join());
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
    assert.equal(document.getText(), code.replace(/1 << int\(.*\)/, '0'));
    await diagnosed(0);
  });
});
