import { expect, it } from 'vitest';
import type { BuildManifest } from '../../../../src/kernel/build/buildManifest.ts';
import { loadFiles } from '../../../../src/kernel/node/store/loadBuild.ts';
import { namedNodes } from '../../../../src/kernel/vscode/builds/namedNodes.ts';
import { diagnoseBuild } from '../../../../src/kernel/vscode/builds/diagnoseBuild.ts';
import { compareBuilds, comparisonTexts } from '../../../../src/kernel/report/buildDiff.ts';
import { overLimit } from '../../../../src/features/build/vscode/history/internal/overLimit.ts';
import { rerunOptions } from '../../../../src/kernel/vscode/builds/rerunOptions.ts';
import { toGraphData } from '../../../../src/kernel/picture/graph/viewData.ts';
import { buildManifest } from '../../../support/buildManifest.ts';

const manifest = (more: Partial<BuildManifest> = {}): BuildManifest =>
  buildManifest({
    id: '20261121-100000-00',
    model: { file: '/m/vit.onnx', sha256: null, bytes: 0 },
    command: ['trtexec'],
    started: '2026-11-21T10:00:00.000Z',
    seconds: 10,
    files: { log: 'build.log', layers: null, profile: null, engine: null },
    ...more,
  });

const captures = 'test/fixtures/captures/tensorrt-10.6.0';
const reportOf = async (capture: string) =>
  (
    await loadFiles({
      onnx: 'test/fixtures/models/vit_tiny.onnx',
      log: `${captures}/${capture}/log.txt.gz`,
      layers: `${captures}/${capture}/layers.json${capture.endsWith('fp32') ? '.gz' : ''}`,
    })
  ).report;

it('compares two real builds by what differs, down to the nodes', async () => {
  const a = { manifest: manifest({ options: { precision: 'fp16' } }), report: await reportOf('vit_tiny.fp16') };
  const b = { manifest: manifest({ options: { noTF32: true }, seconds: 12 }), report: await reportOf('vit_tiny.fp32') };
  const differences = compareBuilds(a, b);
  const fields = differences.map(({ field }) => field);
  expect(fields).toContain('option precision');
  expect(fields).toContain('option noTF32');
  expect(fields).toContain('build time');
  expect(fields).not.toContain('version');
  expect(differences.every(({ values: [one, other] }) => one !== other)).toBe(true);
  for (const { field, values } of differences.filter(({ field: name }) => name.startsWith('node '))) {
    const node = a.report.nodes.find(({ name, op }) => field === `node ${name} (${op})`)!;
    expect(values[0].startsWith(node.fate === 'foreign' ? 'in ForeignNode' : node.fate)).toBe(true);
  }
  const [left, right] = comparisonTexts(differences);
  expect(left.split('\n').length).toBe(right.split('\n').length);
  expect(compareBuilds(a, a)).toEqual([]);
});

it('compares a build that failed with one that passed, and keeps each text on one line', () => {
  const differences = compareBuilds(
    { manifest: manifest(), report: null },
    { manifest: manifest({ result: 'failed', error: 'bad\nname\u001b[2J' }), report: null },
  );
  expect(differences.map(({ field }) => field)).toEqual(['result', 'error']);
  expect(comparisonTexts(differences)[1]).toBe('result  failed\nerror   bad name [2J\n');
});

it('makes a task of what was chosen for a build', () => {
  const options = {
    precision: 'fp16',
    noTF32: true,
    profiles: '[{"x":{"min":"1","opt":"2","max":"3"}}]',
    outputs: ['a', 'b'],
    tacticSources: ['-CUBLAS'],
    unheard: 'of',
  };
  expect(rerunOptions(manifest({ options }))).toEqual({
    backend: 'trtexec',
    precision: 'fp16',
    noTF32: true,
    profiles: [{ x: { min: '1', opt: '2', max: '3' } }],
    outputs: ['a', 'b'],
    tacticSources: ['-CUBLAS'],
  });
  expect(rerunOptions(manifest({ origin: 'imported' }))).toEqual({});
  // A launcher is found again by its command.
  const elsewhere = manifest({ options: { launcher: ['ssh', 'box', '{shell}'] } });
  const launchers = { other: { command: ['srun', '{command}'] }, box: { command: ['ssh', 'box', '{shell}'] } };
  expect(rerunOptions(elsewhere, launchers)['launcher']).toBe('box');
  expect(rerunOptions(elsewhere, {})['launcher']).toBeUndefined();
});

it('lets the oldest builds go beyond the limit, never the newest of a model nor one that runs', () => {
  const sized = (file: string, bytes: number, result: BuildManifest['result'] = 'passed') => ({
    build: { folder: `${file}-${bytes}`, manifest: manifest({ model: { file, sha256: null, bytes: 0 }, result }) },
    bytes,
  });
  const all = [
    sized('a', 50),
    sized('a', 40, 'running'),
    sized('b', 30),
    sized('a', 20),
    sized('b', 10),
    sized('c', 99),
  ];
  expect(overLimit(all, 1000)).toEqual([]);
  expect(overLimit(all, 130).map(({ folder }) => folder)).toEqual(['a-20']);
  expect(overLimit(all, 10).map(({ folder }) => folder)).toEqual(['a-20', 'b-10']);
});

it('finds the nodes in the names of layers as TensorRT writes them', async () => {
  const { model, report } = await loadFiles({
    onnx: 'test/fixtures/models/fp16_overflow.onnx',
    log: `${captures}/fp16_overflow.fp16/log.txt.gz`,
  });
  const graph = toGraphData(model);
  const nameOf = (id: string) => graph.nodes.find((node) => node.id === id)!.name;
  const foreign = '{ForeignNode[/layers.0/norm1/ReduceMean.../head/Add]}';
  expect(namedNodes(graph, foreign).map(nameOf)).toEqual(['/layers.0/norm1/ReduceMean', '/head/Add']);
  // What an earlier build found out says more.
  const members = report.foreignNodes.find(({ name }) => name === foreign)!.nodes;
  expect(members.length).toBeGreaterThan(100);
  expect(namedNodes(graph, foreign, report)).toEqual(members);
  expect(namedNodes(graph, '/head/MatMul + /head/Add').map(nameOf)).toEqual(['/head/MatMul', '/head/Add']);
  expect(namedNodes(graph, 'Reformatting CopyNode for Input Tensor 0')).toEqual([]);
});

it('diagnoses a failed build on the nodes of its model', async () => {
  const build = {
    folder: `${captures}/unsupported_op.fp32`,
    manifest: manifest({
      model: { file: 'test/fixtures/models/unsupported_op.onnx', sha256: null, bytes: 0 },
      result: 'failed',
      files: { log: 'log.txt', layers: null, profile: null, engine: null },
    }),
  };
  const [first] = await diagnoseBuild(build);
  expect(first?.code).toMatch(/unsupported-op|plugin-missing/);
  expect(first?.names.join()).toContain('MyCustomOp');
  expect(await diagnoseBuild({ ...build, folder: '/nowhere' })).toEqual([]);
  const stopped = { ...build, manifest: { ...build.manifest, result: 'cancelled' as const } };
  expect((await diagnoseBuild(stopped)).map(({ severity }) => severity)).not.toContain('error');
});
