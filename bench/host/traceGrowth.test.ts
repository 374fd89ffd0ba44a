// Runs in VS Code's extension host: by how much its memory grows at most while the trace $TRACE opens, after a small one
// ($WARM) has opened, so that the code is loaded. Writes the bytes to $GROWTH. Linux only.
import { readFileSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { lens, until } from '../../test/host/extension/support.ts';

const peak = (): number => Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024;

describe('the extension host', () => {
  it('opens a trace', async () => {
    const { sessions } = await lens();
    const kernels = () => sessions.current?.viewData?.report?.profile?.kernels ?? 0;
    const open = (path: string) => vscode.commands.executeCommand('tensorrtLens.openWith', vscode.Uri.file(path));
    await open(process.env['WARM']!);
    await until(sessions.onDidChange, () => kernels() > 0);
    const small = kernels();
    // The peak counts from here on.
    writeFileSync('/proc/self/clear_refs', '5');
    const before = peak();
    await open(process.env['TRACE']!);
    await until(sessions.onDidChange, () => kernels() > small);
    writeFileSync(process.env['GROWTH']!, JSON.stringify({ kernels: kernels(), bytes: peak() - before }));
  });
});
