import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { readModel } from '../../../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../../../src/kernel/base/problem.ts';
import { activeTab, closeEditors, inRepository, inWorkspace, lens, openModel } from './support.ts';

const model = inWorkspace('cut.onnx');
const part = inWorkspace('cut-part.onnx');
// Next to the model: its weights, which are not there, need not be copied.
const folder = vscode.Uri.file(path.dirname(model.fsPath));
const written = ['chain.json', 'part-0.onnx', 'part-1.onnx'].map(inWorkspace);

const nodesOf = async (file: string) => (await readModel(bytesOf(readFileSync(file)))).value!.nodes;

const showsGraphOf = (uri: vscode.Uri) => (tab: vscode.Tab) =>
  tab.input instanceof vscode.TabInputCustom && tab.input.uri.toString() === uri.toString();

describe('parts of a model', () => {
  before(() => copyFileSync(inRepository('examples/vit_tiny.onnx'), model.fsPath));

  after(async () => {
    await closeEditors();
    for (const uri of [model, part, ...written]) rmSync(uri.fsPath, { force: true });
  });

  it('are extracted from what is selected, with the nodes between, and shown next to the model', async () => {
    const { sessions } = await lens();
    const session = await openModel(model);
    const original = readFileSync(model.fsPath);
    const nodes = await nodesOf(model.fsPath);
    const first = nodes.findIndex(({ op }) => op === 'Softmax');
    const ids = [nodes[first - 1]!.id, nodes[first + 1]!.id];
    sessions.select(session, { kind: 'nodes', ids }, 'graph');
    const taken = await vscode.commands.executeCommand<string[]>('tensorrtLens.extractNodes', model, undefined, part);
    assert.ok(taken.includes(nodes[first]!.id), 'the node between was left out');
    await activeTab(showsGraphOf(part));
    assert.deepEqual(
      (await nodesOf(part.fsPath)).map(({ name }) => name),
      taken.map((id) => nodes.find((node) => node.id === id)!.name),
    );
    assert.ok(original.equals(readFileSync(model.fsPath)), 'the model was changed');
  });

  it('follow a split behind a node', async () => {
    const nodes = await nodesOf(model.fsPath);
    const { id, outputs } = nodes.filter(({ op }) => op === 'Softmax').at(-1)!;
    const chain = await vscode.commands.executeCommand<{ at: string[] }>('tensorrtLens.splitHere', model, [id], folder);
    assert.deepEqual(chain.at, [outputs[0]]);
    assert.ok(written.every(({ fsPath }) => existsSync(fsPath)));
    await activeTab(showsGraphOf(written[1]!));
  });
});
