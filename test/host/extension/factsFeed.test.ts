import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { ParsedFiles } from '../../../src/kernel/node/files/parsedFiles.ts';
import { FactsFeed } from '../../../src/kernel/vscode/language/factsFeed.ts';
import { FactsReader } from '../../../src/kernel/vscode/language/internal/knownFacts.ts';
import { Sessions } from '../../../src/kernel/vscode/workspace/sessions.ts';
import { inWorkspace, nextEvent, until } from './support.ts';

describe('the models near an override file', () => {
  const folder = inWorkspace('near');
  const { findFiles } = vscode.workspace;

  before(() => mkdirSync(folder.fsPath));
  after(() => {
    Object.assign(vscode.workspace, { findFiles });
    rmSync(folder.fsPath, { recursive: true });
  });

  it('are those that are there now, whichever search for them ends last', async () => {
    const nothing = { graph: null, problem: '', hints: [] };
    const log = vscode.window.createOutputChannel('near', { log: true });
    const sessions = new Sessions({
      readModel: () => Promise.resolve(nothing),
      readNewestBuild: () => Promise.resolve(null),
      readQuantization: () => Promise.resolve(null),
    });
    const feed = new FactsFeed(sessions, new FactsReader(log, new ParsedFiles()));
    const rules = vscode.Uri.joinPath(folder, 'rules.trtprec');
    const offered = () => feed.paramsOf(rules)?.models ?? [];
    // The first search ends when it is told to, with what was there when it began.
    let end = () => {};
    const first = new Promise<vscode.Uri[]>((resolve) => (end = () => resolve([])));
    Object.assign(vscode.workspace, {
      findFiles: () => {
        Object.assign(vscode.workspace, { findFiles });
        return first;
      },
    });
    feed.open(rules, 'overrides');
    const known = nextEvent(feed.onDidChange);
    feed.named(rules, './none.onnx', null);
    await known;
    assert.deepEqual(offered(), []);
    writeFileSync(vscode.Uri.joinPath(folder, 'model.onnx').fsPath, '');
    await until(feed.onDidChange, () => offered().includes('./model.onnx'));
    end();
    await first;
    feed.named(rules, './neither.onnx', null);
    await feed.settled(rules);
    assert.ok(offered().includes('./model.onnx'));
    for (const part of [feed, sessions, log]) part.dispose();
  });
});
