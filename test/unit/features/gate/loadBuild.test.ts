import { copyFile, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openFile } from '../../../../src/kernel/node/files/fileSource.ts';
import { ParsedFiles } from '../../../../src/kernel/node/files/parsedFiles.ts';
import { rewriteModel } from '../../../../src/features/precision/node/rewriteModel.ts';
import { requestedPrecisions, buildFactsOf } from '../../../../src/kernel/node/store/buildFactsOf.ts';
import { type Build, writeManifest } from '../../../../src/kernel/node/store/buildFolder.ts';
import { loadBuild, loadFiles } from '../../../../src/kernel/node/store/loadBuild.ts';
import { diffDocument, diffReports } from '../../../../src/features/diff/diffReports.ts';
import { renderText } from '../../../../src/kernel/document/render.ts';
import { evaluateGate } from '../../../../src/features/gate/evaluateGate.ts';
import { gateDocument } from '../../../../src/features/gate/gateFile.ts';
import { readGate } from '../../../../src/features/gate/readGate.ts';
import { figuresOf } from '../../../../src/kernel/picture/page/headline.ts';
import { checkOverrides } from '../../../../src/features/precision/checkOverrides.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';
import { planPrecision } from '../../../../src/kernel/rules/precisionPlan.ts';
import { targetOf } from '../../../../src/kernel/rules/buildFacts.ts';
import { diagnoseBuild } from '../../../../src/kernel/vscode/builds/diagnoseBuild.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { buildManifest } from '../../../support/buildManifest.ts';

let folder: string;
let build: Build;
const opened: string[] = [];
/** Counts each file that is opened to be parsed. */
const spy = (keep?: number) =>
  new ParsedFiles({
    open: (path) => {
      opened.push(basename(path));
      return openFile(path);
    },
    ...(keep !== undefined && { keep }),
  });

beforeEach(async () => {
  opened.length = 0;
  folder = await mkdtemp(join(tmpdir(), 'load-'));
  const capture = fixturePath('captures/tensorrt-10.6.0/vit_tiny.prec_obey');
  await copyFile(modelPath('vit_tiny'), join(folder, 'net.onnx'));
  for (const name of ['log.txt.gz', 'layers.json']) await copyFile(join(capture, name), join(folder, name));
  const files = { log: 'log.txt.gz', layers: 'layers.json', profile: null, engine: null };
  const model = { file: join(folder, 'net.onnx'), sha256: null, bytes: 0 };
  build = { folder, manifest: buildManifest({ model, files, gpu: 'a GPU', command: ['trtexec', '--fp16'] }) };
  await writeManifest(build);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const once = ['layers.json', 'log.txt.gz', 'net.onnx'];

test('all that the views, the side bar and the language server ask of a build parses each file once', async () => {
  const files = spy();
  const asking = () => [
    files.readModel(build.manifest.model.file),
    files.indexed(build.manifest.model.file),
    loadBuild(build, { files }),
    loadBuild(build, { onnx: build.manifest.model.file, files }),
    diagnoseBuild(build, files),
  ];
  await Promise.all(asking());
  await Promise.all(asking());
  expect(opened.toSorted()).toEqual(once);
  const [one, other] = [await loadBuild(build, { files }), await loadBuild(build, { files })];
  expect(other.report).toBe(one.report);
  expect(other.model).toBe((await files.model(build.manifest.model.file)).value);
});

test('a file that has changed is parsed again, and only that one', async () => {
  const files = spy();
  const before = await loadBuild(build, { files });
  await writeFile(join(folder, 'layers.json'), '{"Layers": []}');
  const after = await loadBuild(build, { files });
  expect(opened.toSorted()).toEqual(['layers.json', ...once]);
  expect(after.layers).not.toEqual(before.layers);
  expect(after.log).toBe(before.log);
  // The same size again, at another time.
  await utimes(join(folder, 'net.onnx'), new Date(0), new Date(0));
  await loadBuild(build, { files });
  expect(opened.filter((name) => name === 'net.onnx')).toHaveLength(2);
});

test('what was asked for longest ago is forgotten first', async () => {
  const files = spy(2);
  const [a, b, c] = ['a.onnx', 'b.onnx', 'c.onnx'].map((name) => join(folder, name));
  for (const path of [a, b, c]) await copyFile(modelPath('vit_tiny'), path!);
  for (const path of [a, b, a, c, a, b]) await files.model(path!);
  expect(opened).toEqual(['a.onnx', 'b.onnx', 'c.onnx', 'b.onnx']);
});

test('a failure is not kept', async () => {
  const files = spy();
  const path = join(folder, 'later.onnx');
  await expect(files.model(path)).rejects.toThrow('later.onnx: no such file');
  await copyFile(modelPath('vit_tiny'), path);
  expect((await files.model(path)).value.nodes.length).toBeGreaterThan(0);
});

test('a rewrite parses the model once, with the build that its rules are checked against', async () => {
  const files = spy();
  const onnx = join(folder, 'overflow.onnx');
  await copyFile(modelPath('fp16_overflow'), onnx);
  const model = await files.indexed(onnx, { spans: true });
  const read = await loadBuild(build, { onnx, files });
  const rules = readOverrides('base fp16\nop:Softmax fp32\n');
  const { resolution } = checkOverrides(rules, model.index, buildFactsOf(read), targetOf('tensorrt', '11.2', null));
  const plan = planPrecision(rules, model.index, resolution!);
  const { rewrite } = await rewriteModel({ model, plan, out: join(folder, 'out.onnx') });
  expect(rewrite.counts.byType.float16).toBeGreaterThan(0);
  expect(opened.toSorted()).toEqual(['layers.json', 'log.txt.gz', 'overflow.onnx']);
});

test('the facts of a build are the same wherever they are asked for', async () => {
  const rules = '/patch_embed/proj/Conv fp16\n';
  const loaded = await loadBuild(build);
  const declared = loaded.report.nodes.map(() => 'fp16');
  await writeFile(
    join(folder, 'overrides.json'),
    JSON.stringify({ schema: 1, rules, way: 'model', declared, added: [] }),
  );
  const built = await loadBuild(build);
  expect(buildFactsOf(built)).toMatchObject({ gpu: expect.any(String) as string, declared, unfinished: false });
  expect(buildFactsOf(built).flags?.types).toContain('fp16');
  expect(requestedPrecisions(built)).toMatchObject([{ type: 'fp16', line: 1 }]);
  // Of files alone, what only the folder knows is not known.
  const log = join(folder, 'log.txt.gz');
  expect(buildFactsOf(await loadFiles({ onnx: join(folder, 'net.onnx'), log })).declared).toBeUndefined();
});

test('of an engine with two optimization profiles one is read, the first or the one that is asked for', async () => {
  const path = join(folder, 'layers.json');
  const { Layers: first, Bindings } = JSON.parse(await readFile(path, 'utf8')) as {
    Layers: { Name: string }[];
    Bindings: string[];
  };
  const second = first.map((layer) => ({ ...layer, Name: `${layer.Name} [profile 1]` }));
  await writeFile(path, JSON.stringify({ Layers: [...first, ...second], Bindings }));
  build.manifest.files.log = null;
  const files = spy();
  const read = async (optimizationProfile?: number) => (await loadBuild(build, { files, optimizationProfile })).report;
  const [one, other] = [await read(), await read(1)];
  for (const { layers } of [one, other]) expect(layers).toHaveLength(first.length);
  expect([one, other].map(({ optimizationProfile }) => optimizationProfile)).toEqual([
    { shown: 0, of: 2 },
    { shown: 1, of: 2 },
  ]);
  expect(other.layers.every(({ name }) => name.endsWith(' [profile 1]'))).toBe(true);
  expect(await read(0)).toMatchObject({ layers: one.layers });
  expect((await read(2)).problems).toMatchObject([{ severity: 'error', code: 'several-profiles' }]);
  const shown = { a: await read(), b: other };
  const diff = diffReports({ source: 'a', report: shown.a }, { source: 'b', report: shown.b });
  const text = renderText(diffDocument(diff)).replaceAll(/\s+/g, ' ');
  expect(text).toContain('Compared are optimization profile 0 of A and 1 of B.');
  expect(text).toContain('optimization profile 1 (the engine has 2)');
  const gate = readGate('rules:\n  foreignNodes: 9\n').value!;
  const judged = evaluateGate('g.yaml', gate, { source: 'b', report: other }, null);
  expect(gateDocument(judged).title).toMatch(/, optimization profile 1 \(the engine has 2\)$/);
  expect(figuresOf(other, null)[0]).toMatchObject({
    text: expect.stringMatching(/ layers? of profile 1$/) as string,
    meaning: expect.stringContaining('of optimization profile 1 (the engine has 2): ') as string,
  });
  expect(opened.toSorted()).toEqual(['layers.json', 'net.onnx']);
});

test('types of a copy of another version of the model say nothing', async () => {
  await writeFile(
    join(folder, 'overrides.json'),
    JSON.stringify({ schema: 1, rules: '', way: 'model', declared: ['fp16'] }),
  );
  expect(buildFactsOf(await loadBuild(build)).declared).toBeUndefined();
});
