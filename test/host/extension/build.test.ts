import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { ParsedFiles } from '../../../src/kernel/node/files/parsedFiles.ts';
import { buildsFolder } from '../../../src/kernel/node/store/buildFolder.ts';
import { BuildDiagnostics } from '../../../src/features/diagnose/vscode/buildDiagnostics.ts';
import { diagnoseBuild } from '../../../src/kernel/vscode/builds/diagnoseBuild.ts';
import { toEngineOptions } from '../../../src/kernel/vscode/builds/taskDefinition.ts';
import { taskProperties } from '../../../src/kernel/vscode/builds/taskProperties.ts';
import {
  closeEditors,
  configuredTask,
  eventually,
  inRepository,
  inWorkspace,
  lens,
  nextEvent,
  offeredTask,
  openModel,
  runTask,
  until,
} from './support.ts';

describe('building', () => {
  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));

  it('offers a task for each model of the workspace', async () => {
    const tasks = await vscode.tasks.fetchTasks({ type: 'tensorrt' });
    for (const model of ['fp16_overflow.onnx', 'loop_if.onnx', 'unsupported_op.onnx']) {
      const task = tasks.find(({ name }) => name === model);
      assert.ok(task, model);
      assert.deepEqual({ ...task.definition }, { type: 'tensorrt', model });
      assert.equal(task.group, vscode.TaskGroup.Build);
    }
  });

  it('builds a model for real by the command of the context menu', async function () {
    this.timeout(120_000);
    const { sessions, builds } = await lens();
    const uri = inWorkspace('fp16_overflow.onnx');
    const ended = nextEvent(builds.onDidEnd, (end) => end.uri.toString() === uri.toString());
    await vscode.commands.executeCommand('tensorrtLens.build', uri);
    const { build } = await ended;
    assert.equal(build.manifest.result, 'passed', build.manifest.error ?? '');
    assert.equal(build.manifest.backend, 'rtx');
    assert.ok(existsSync(path.join(build.folder, build.manifest.files.engine!)));

    await until(sessions.onDidChange, () => (sessions.current?.state.newest?.report ?? null) !== null);
    assert.equal(sessions.current?.key, uri.toString());
    const { report } = sessions.current.state.newest!;
    assert.ok(report!.foreignNodes[0]!.nodes.length > 5);
    assert.equal(report!.accounting.total, report!.nodes.length);
  });

  it('shows the groups in the side bar, and a click selects them in the graph', async () => {
    const { sessions, tree } = await lens();
    const session = await openModel(inWorkspace('fp16_overflow.onnx'));
    await until(sessions.onDidChange, () => session.state.newest !== null);
    sessions.setCurrent(session.uri);
    const [group] = tree.getChildren();
    assert.equal(group!.selection.kind, 'foreignNode');
    await vscode.commands.executeCommand('tensorrtLens.selectItem', group);
    assert.deepEqual(session.selection, { kind: 'foreignNode', id: 0 });
    const node = tree.getChildren(group)[0]!;
    await vscode.commands.executeCommand('tensorrtLens.selectItem', node);
    assert.equal(session.selection.kind, 'nodes');
    assert.equal(tree.getParent(node), group);
  });

  it('runs a task of tasks.json, with its variables filled in', async function () {
    this.timeout(120_000);
    const task = await configuredTask('build the loop');
    assert.equal(await runTask(task), 0);
    assert.ok(existsSync(inWorkspace('out/loop.engine').fsPath));
  });

  it('knows every property that its schema names, and names every one that it knows', () => {
    const manifest = JSON.parse(readFileSync(inRepository('package.json'), 'utf8')) as {
      contributes: { taskDefinitions: { properties: object }[] };
    };
    const named = Object.keys(manifest.contributes.taskDefinitions[0]!.properties);
    assert.deepEqual(named.toSorted(), [...taskProperties].toSorted());
  });

  it('refuses a definition that makes no sense, with exit code 1', async () => {
    assert.equal(await runTask(await configuredTask('wrong backend')), 1);
    assert.equal(await runTask(await configuredTask('wrong property')), 1);
    const refused = toEngineOptions({ type: 'tensorrt', model: 'net.onnx', precision: 'FP16' }, '/nets');
    assert.ok(typeof refused === 'string');
    assert.match(refused, /^"precision": "FP16" is invalid; expected one of fp32, fp16, /);
  });

  it('says before a build what TensorRT will refuse, with the nodes and what helps', async () => {
    const { checks } = await lens();
    const uri = inWorkspace('unsupported_op.onnx');
    await openModel(uri);
    const said = () => vscode.languages.getDiagnostics(uri).filter(({ source }) => source === 'TensorRT check');
    await until(vscode.languages.onDidChangeDiagnostics, () => said().length > 0);
    const code = said()[0]!.code as { value: string; target: vscode.Uri };
    assert.equal(code.value, 'unsupported-op');
    assert.equal(code.target.path, 'tensorrtLens.fixBuildProblem');
    const [model, place] = JSON.parse(code.target.query) as [string, number];
    // The catalogue has no repair for it, so none is offered.
    assert.deepEqual(
      checks.fixesOf(model, place).map(({ title }) => title),
      ['Show Node', 'Replace by Plugin…'],
    );
  });

  it('says above the graph that a check found nothing, not the problems of other files', async () => {
    const uri = inWorkspace('clean.onnx');
    copyFileSync(inRepository('test/fixtures/models/fp16_overflow.onnx'), uri.fsPath);
    const session = await openModel(uri);
    await vscode.commands.executeCommand('tensorrtLens.checkModel', uri);
    const said = session.viewData?.state?.notices.map(({ kind, message }) => `${kind}: ${message}`);
    assert.deepEqual(said, ['checked: Checked against TensorRT-RTX 1.7: nothing found.']);
    await closeEditors();
    rmSync(uri.fsPath);
  });

  it('explains a pasted log without a model and without a file', async () => {
    await vscode.env.clipboard.writeText(
      'ERROR: Network has dynamic or shape inputs, but no optimization profile has been defined.\n',
    );
    await vscode.commands.executeCommand('tensorrtLens.diagnosePastedLog');
    const { document } = vscode.window.activeTextEditor!;
    assert.ok(document.isUntitled);
    assert.match(document.getText(), /^# Why the build failed\n.*profile-missing.*What to do:/s);
  });

  it('names the operator that TensorRT lacks', async function () {
    this.timeout(120_000);
    const { sessions } = await lens();
    const session = await openModel(inWorkspace('unsupported_op.onnx'));
    assert.equal(await runTask(await configuredTask('build without weights')), 1);
    await until(sessions.onDidChange, () => session.state.newest !== null);
    assert.equal(session.state.newest!.build.result, 'failed');
    assert.match(
      session.state.newest!.problem,
      /no importer for the operator MyCustomOp of node "\/custom\/MyCustomOp"/,
    );
    assert.notEqual(session.state.newest!.log, null);
    // On the model itself, with its node and the way to the log.
    const said = () => vscode.languages.getDiagnostics(inWorkspace('unsupported_op.onnx'));
    await until(vscode.languages.onDidChangeDiagnostics, () => said().length > 0);
    assert.equal(said()[0]!.source, 'TensorRT');
    const code = said()[0]!.code as { value: string; target: vscode.Uri };
    assert.match(code.value, /^(?:unsupported-op|plugin-missing)$/);
    assert.equal(code.target.path, 'tensorrtLens.fixBuildProblem');
    assert.match(said()[0]!.message, /MyCustomOp/);
    assert.match(said()[0]!.relatedInformation![0]!.location.uri.path, /build\.log$/);
  });

  it('says again after a reload why the newest build failed', async () => {
    const again = new BuildDiagnostics(new ParsedFiles());
    const uri = inWorkspace('unsupported_op.onnx');
    try {
      await again.recall(uri);
      assert.notDeepEqual(again.fixesOf(uri.toString(), 0), []);
    } finally {
      again.dispose();
    }
  });

  it('makes the model of the log on view the one that the side bar shows', async () => {
    const { sessions } = await lens();
    const { newest } = (await openModel(inWorkspace('unsupported_op.onnx'))).state;
    sessions.setCurrent(inWorkspace('vit_tiny.onnx'));
    const told = nextEvent(sessions.onDidChangeCurrent);
    await vscode.window.showTextDocument(vscode.Uri.file(newest!.log!));
    assert.equal((await told)?.key, inWorkspace('unsupported_op.onnx').toString());
  });

  it('says which weights are missing', async function () {
    this.timeout(120_000);
    const { builds } = await lens();
    const ended = nextEvent(builds.onDidEnd);
    assert.equal(await runTask(await offeredTask('loop_if.onnx')), 1);
    assert.match((await ended).build.manifest.error!, /weights\.bin/);
  });

  for (const way of ['ends its task', 'cancels it'] as const)
    it(`leaves no process, no engine and no problem when the user ${way}`, async function () {
      this.timeout(120_000);
      const { builds } = await lens();
      const pids = () => (existsSync(process.env['FAKE_PIDS']!) ? readFileSync(process.env['FAKE_PIDS']!, 'utf8') : '');
      const uri = inWorkspace('loop_if.onnx');
      const settings = vscode.workspace.getConfiguration('tensorrtLens');
      await settings.update('trtexec.path', process.env['FAKE_TRTEXEC'], vscode.ConfigurationTarget.Global);
      try {
        const task = await configuredTask('never ends');
        const ended = nextEvent(vscode.tasks.onDidEndTask, ({ execution }) => execution.task.name === 'never ends');
        const exited = nextEvent(
          vscode.tasks.onDidEndTaskProcess,
          ({ execution }) => execution.task.name === 'never ends',
        );
        const over = nextEvent(builds.onDidEnd);
        const execution = await vscode.tasks.executeTask(task);
        await until(builds.onDidChange, () => (builds.runningOf(uri)?.folder ?? null) !== null);
        // The program has started: it says so in a file.
        await eventually(() => pids() !== '');
        if (way === 'ends its task') execution.terminate();
        else await vscode.commands.executeCommand('tensorrtLens.cancelBuild', uri);
        await ended;
        assert.equal((await exited).exitCode, undefined, 'its tab is not that of a failure');
        const { build } = await over;
        assert.equal(build.manifest.result, 'cancelled');
        assert.deepEqual(await diagnoseBuild(build), []);
        const running = pids().trim().split('\n').map(Number).filter(isAlive);
        assert.deepEqual(running, []);
        assert.deepEqual(readdirSync(build.folder).toSorted(), ['build.log', 'manifest.json']);
        assert.equal(builds.runningOf(uri), undefined);
      } finally {
        await settings.update('trtexec.path', undefined, vscode.ConfigurationTarget.Global);
        rmSync(buildsFolder(uri.fsPath), { recursive: true, force: true });
      }
    });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // What has ended but was not waited for is no process that holds anything.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
