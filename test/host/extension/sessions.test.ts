import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import type { GraphData } from '../../../src/kernel/picture/graph/viewData.ts';
import { Sessions } from '../../../src/kernel/vscode/workspace/sessions.ts';
import { inWorkspace, nextEvent, until, workspaceFolder } from './support.ts';

const graph = (name: string): GraphData => ({ name, nodes: [], inputs: [], outputs: [], tensors: [] });

/** Sessions over a model that changes while it is read: each read ends when it is told to. */
function changing() {
  const reads: (() => void)[] = [];
  let text = 'first';
  const sessions = new Sessions({
    readModel: async () => {
      const read = text;
      await new Promise<void>((resolve) => reads.push(resolve));
      return { graph: graph(read), problem: '', hints: [] };
    },
    readNewestBuild: () => Promise.resolve(null),
    readQuantization: () => Promise.resolve(null),
  });
  return { sessions, reads, write: (next: string) => (text = next) };
}

describe('sessions', () => {
  it('read a changed model although a build ends meanwhile', async () => {
    const { sessions, reads, write } = changing();
    const uri = inWorkspace('changing.onnx');
    const { session } = sessions.acquire(uri);
    const shown = new Promise((resolve) => sessions.onDidChange(resolve));
    reads.shift()!();
    await shown;
    assert.equal(session.state.graph?.name, 'first');
    write('second');
    const changed = sessions.reload(uri);
    const ended = sessions.reloadBuild(uri);
    for (const read of reads.splice(0)) read();
    await Promise.all([changed, ended]);
    assert.equal(session.state.graph?.name, 'second');
    sessions.dispose();
  });

  it('have shown what was asked for when they say so, also where a later load took over', async () => {
    const { sessions, reads, write } = changing();
    const uri = inWorkspace('overtaken.onnx');
    const { session } = sessions.acquire(uri);
    write('second');
    const first = sessions.reload(uri);
    write('third');
    const second = sessions.reload(uri);
    let done = false;
    void first.then(() => (done = true));
    // The overtaken read ends first; nothing is shown yet.
    reads.shift()!();
    reads.shift()!();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(done, false);
    reads.shift()!();
    await first;
    assert.equal(session.state.graph?.name, 'third');
    await second;
    sessions.dispose();
  });

  it('say what is left of the builds of every model, not only of the one that is shown', async () => {
    const read: string[] = [];
    const sessions = new Sessions({
      readModel: () => Promise.resolve({ graph: null, problem: '', hints: [] }),
      readNewestBuild: ({ path }) => {
        read.push(path);
        return Promise.resolve(null);
      },
      readQuantization: () => Promise.resolve(null),
    });
    const uris = ['one.onnx', 'other.onnx'].map(inWorkspace);
    for (const uri of uris) sessions.acquire(uri);
    await Promise.all(uris.map((uri) => sessions.reload(uri)));
    read.length = 0;
    await sessions.reloadBuilds();
    assert.deepEqual(
      read.toSorted(),
      uris.map(({ path }) => path),
    );
    sessions.dispose();
  });

  it('show what was read before when a file is deleted right after it has changed', async () => {
    const uri = inWorkspace('deleted.onnx');
    const watcher = vscode.workspace.createFileSystemWatcher(
      new vscode.RelativePattern(workspaceFolder(), 'deleted.onnx'),
    );
    const told = nextEvent(watcher.onDidCreate);
    writeFileSync(uri.fsPath, 'first');
    // Of a file that comes and goes before that is told, nothing is told.
    await told;
    watcher.dispose();
    const due = new Set<() => void>();
    const planned = new vscode.EventEmitter<void>();
    const timers = {
      start: (reload: () => void) => (due.add(reload), planned.fire(), reload),
      stop: (reload: () => void) => due.delete(reload),
    };
    const source = {
      readModel: () =>
        Promise.resolve(
          existsSync(uri.fsPath)
            ? { graph: graph('first'), problem: '', hints: [] }
            : { graph: null, problem: 'no such file', hints: [] },
        ),
      readNewestBuild: () => Promise.resolve(null),
      readQuantization: () => Promise.resolve(null),
    };
    const sessions = new Sessions(source, timers);
    const { session } = sessions.acquire(uri);
    await until(sessions.onDidChange, () => session.state.model === 'ready');
    writeFileSync(uri.fsPath, 'second');
    await until(planned.event, () => due.size === 1);
    rmSync(uri.fsPath);
    await until(sessions.onDidChange, () => session.state.model === 'missing');
    assert.equal(due.size, 0, 'nothing is read any more');
    assert.equal(session.state.graph?.name, 'first');
    sessions.dispose();
  });

  it('show what was read before when a file is gone, also where it is read before that is told', async () => {
    const uri = inWorkspace('gone.onnx');
    let there = true;
    const sessions = new Sessions({
      readModel: () =>
        Promise.resolve(
          there
            ? { graph: graph('first'), problem: '', hints: [] }
            : { graph: null, problem: 'no such file', hints: [] },
        ),
      readNewestBuild: () => Promise.resolve(null),
      readQuantization: () => Promise.resolve(null),
    });
    const { session } = sessions.acquire(uri);
    await until(sessions.onDidChange, () => session.state.model === 'ready');
    there = false;
    // A build that ends then reads nothing of the model, which is not there to be read.
    for (const again of [sessions.reload(uri), sessions.reloadBuild(uri)]) {
      await again;
      assert.equal(session.state.model, 'missing');
      assert.equal(session.state.graph?.name, 'first');
    }
    await sessions.reloadBuild(uri);
    assert.equal(session.state.graph?.name, 'first');
    sessions.dispose();
  });
});
