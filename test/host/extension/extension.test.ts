import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { listBuilds } from '../../../src/kernel/node/store/buildHistory.ts';
import { languageCommands } from '../../../src/kernel/protocol/language.ts';
import { commands } from '../../../src/kernel/vscode/ids.ts';
import { closeEditors, extensionId, inRepository, lens } from './support.ts';

interface Manifest {
  contributes: {
    commands: { command: string; title: string; category: string }[];
    views: Record<string, { id: string }[]>;
    customEditors: { viewType: string }[];
  };
}

const manifest = (): Manifest => JSON.parse(readFileSync(inRepository('package.json'), 'utf8')) as Manifest;

describe('the extension', () => {
  it('activates', async () => {
    await lens();
    assert.equal(vscode.extensions.getExtension(extensionId)?.isActive, true);
  });

  it('registers every command that it contributes; the others are for its own lenses, lists, pages and buttons', async () => {
    await lens();
    const registered = (await vscode.commands.getCommands(true)).filter((id) => id.startsWith('tensorrtLens.'));
    const contributed = manifest().contributes.commands.map(({ command }) => command);
    // The editor adds commands of its own for each view.
    const own = registered.filter((id) => !/^tensorrtLens\.(?:fusion|builds)\./.test(id));
    assert.deepEqual(
      contributed.filter((id) => !own.includes(id)),
      [],
    );
    const called = new Set<string>([...Object.values(commands), ...Object.values(languageCommands)]);
    assert.deepEqual(
      own.filter((id) => !contributed.includes(id) && !called.has(id)),
      [],
    );
  });

  it('shows its names, not the keys of its translations', () => {
    const { packageJSON } = vscode.extensions.getExtension(extensionId)!;
    assert.doesNotMatch(JSON.stringify(packageJSON), /"%[\w.]+%"/);
  });

  it('imports the recorded build of a sample once, however often it is clicked', async () => {
    await lens();
    const run = (command: string, ...args: unknown[]) => vscode.commands.executeCommand(command, ...args);
    await Promise.all([
      run('tensorrtLens.openSample', 'convnext_tiny'),
      run('tensorrtLens.openSampleFusion'),
      run('tensorrtLens.openSample', 'convnext_tiny'),
    ]);
    const shown = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).map(({ input }) => input);
    const graph = shown.find((input) => input instanceof vscode.TabInputCustom);
    assert.ok(graph, 'no graph of the sample is open');
    assert.match(graph.uri.path, /convnext_tiny\.onnx$/);
    assert.equal((await listBuilds(graph.uri.fsPath)).length, 1);
    await closeEditors();
  });

  it('brings up its side bar', async () => {
    await vscode.commands.executeCommand('workbench.view.extension.tensorrtLens');
  });
});
