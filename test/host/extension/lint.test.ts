import assert from 'node:assert/strict';
import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { closeEditors, eventually, inRepository, inWorkspace, lens, nextEvent } from './support.ts';

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

  it('a command with flags for types becomes a typed model and its command', async () => {
    const [model, file] = [inWorkspace('lint_fp16.onnx'), inWorkspace('lint_fp16.sh')];
    const [out, rules] = [inWorkspace('lint_fp16.typed.onnx'), inWorkspace('lint_fp16.typed.trtprec')];
    copyFileSync(inRepository('test/fixtures/models/fp16_overflow.onnx'), model.fsPath);
    writeFileSync(file.fsPath, '#!/bin/sh\ntrtexec --onnx=lint_fp16.onnx --fp16 --buildOnly\n');
    const document = await vscode.workspace.openTextDocument(file);
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      file,
      document.lineAt(1).range,
    );
    const { command } = actions.find(({ title }) => title === 'Write the Typed Model and Its Command…')!;
    // It ends when the question about the command is answered, which nobody does here.
    void vscode.commands.executeCommand(command!.command, ...(command!.arguments as unknown[]), out);
    await eventually(() => existsSync(out.fsPath));
    assert.match(
      (await vscode.workspace.openTextDocument(rules)).getText(),
      /^model \.\/lint_fp16\.onnx\nbase fp16\n$/,
    );
    for (const one of [model, file, out, rules]) rmSync(one.fsPath);
  });
});
