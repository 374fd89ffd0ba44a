import assert from 'node:assert/strict';
import { copyFileSync, cpSync, readdirSync, rmSync } from 'node:fs';
import * as vscode from 'vscode';
import { inRepository, inWorkspace, lens, workspaceFolder } from './support.ts';

/** The text that a tool answers to an agent. */
async function ask(tool: string, input: object): Promise<string> {
  const { content } = await vscode.lm.invokeTool(`tensorrtLens_${tool}`, { input, toolInvocationToken: undefined });
  return content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
}

describe('tools for agents', () => {
  const model = inWorkspace('vit_tiny.onnx');
  const build = inWorkspace('recorded');

  before(async () => {
    await lens();
    copyFileSync(inRepository('examples/vit_tiny.onnx'), model.fsPath);
    cpSync(inRepository('examples/recorded/vit_tiny'), build.fsPath, { recursive: true });
  });

  after(() => {
    for (const { fsPath } of [model, build]) rmSync(fsPath, { recursive: true, force: true });
  });

  it('are those of the command line', () => {
    const names = vscode.lm.tools.map(({ name }) => name).filter((name) => name.startsWith('tensorrtLens_'));
    assert.equal(names.length, 10);
  });

  it('explain a node of a build in the workspace, with a path from its folder', async () => {
    const text = await ask('explain_node', {
      onnx: 'vit_tiny.onnx',
      log: 'recorded/build.log.gz',
      node: '/blocks/blocks.0/attn/Softmax',
    });
    assert.match(text, /Kernel\s+__myl_MaxrSubExpSumDivMul_myl0_9\s+computes/);
    assert.match(text, /Log: line 13837/);
  });

  it('read nothing outside of the workspace', async () => {
    await assert.rejects(ask('inspect', { file: '/etc/passwd' }), /outside of the folders that agents may read/);
  });

  it('build with TensorRT-RTX, and leave nothing in the workspace', async () => {
    const before = readdirSync(workspaceFolder().fsPath, { recursive: true, encoding: 'utf8' }).toSorted();
    const text = await ask('what_if', { model: 'fp16_overflow.onnx', output: '/layers.0/norm1/Pow_output_0' });
    assert.match(text, /B has 1 tensor marked as an output/);
    assert.match(text, /TensorRT-RTX/);
    assert.deepEqual(readdirSync(workspaceFolder().fsPath, { recursive: true, encoding: 'utf8' }).toSorted(), before);
  });
});
