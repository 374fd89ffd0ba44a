import { copyFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { engineFilesOf, filesNearModel, modelOfEngine } from '../../../../src/kernel/node/store/engineFiles.ts';
import { loadFiles } from '../../../../src/kernel/node/store/loadBuild.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';

const capture = (build: string, file: string) => fixturePath(`captures/tensorrt-10.6.0/${build}/${file}`);

let folder: string;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'lens-'))));
afterEach(() => rm(folder, { recursive: true }));

async function put(build: string, file: string, name = file): Promise<string> {
  await copyFile(capture(build, file), join(folder, name));
  return join(folder, name);
}
const names = (given: object) =>
  Object.fromEntries(Object.entries(given).map(([key, path]) => [key, basename(String(path))]));

describe('the files of one build', () => {
  it('are found next to the one that is opened', async () => {
    const layers = await put('vit_tiny.fp16', 'layers.json');
    const profile = await put('vit_tiny.fp16', 'profile.json');
    const log = await put('vit_tiny.fp16', 'log.txt.gz', 'build.log.gz');
    const all = { layers: 'layers.json', profile: 'profile.json', log: 'build.log.gz' };
    for (const path of [layers, profile, log]) expect(names(await engineFilesOf(path))).toEqual(all);
  });

  it('are not those of another build, and none of two that fit', async () => {
    const layers = await put('vit_tiny.fp16', 'layers.json');
    await put('fusion_zoo.fp32', 'profile.json', 'other_profile.json');
    await put('vit_tiny.fp32', 'log.txt.gz', 'other.log.gz');
    expect(names(await engineFilesOf(layers))).toEqual({ layers: 'layers.json' });
    await put('vit_tiny.fp16', 'profile.json', 'profile_1.json');
    await put('vit_tiny.fp16', 'profile.json', 'profile_2.json');
    expect(names(await engineFilesOf(layers))).toEqual({ layers: 'layers.json' });
  });

  it('are offered for the model next to them, and not for another', async () => {
    for (const model of ['vit_tiny', 'resnet18']) await copyFile(modelPath(model), join(folder, `${model}.onnx`));
    await put('vit_tiny.fp16', 'log.txt.gz');
    const offered = async (model: string) =>
      (await filesNearModel(join(folder, `${model}.onnx`))).map((path) => basename(path));
    expect(await offered('vit_tiny')).toEqual(['log.txt.gz']);
    await put('vit_tiny.fp16', 'layers.json');
    await put('vit_tiny.fp16', 'profile.json');
    expect((await offered('vit_tiny')).toSorted()).toEqual(['layers.json', 'log.txt.gz', 'profile.json']);
    expect(await offered('resnet18')).toEqual([]);
  });

  it('are a trace and the layer info next to it', async () => {
    const from = (name: string) => fixturePath(`traces/vit_tiny.fp16/${name}.gz`);
    const [layers, trace] = [join(folder, 'layers.json.gz'), join(folder, 'run.sqlite')] as const;
    await copyFile(from('layers.json'), layers);
    await copyFile(from('plain.sqlite'), trace);
    for (const path of [layers, trace])
      expect(names(await engineFilesOf(path))).toEqual({ layers: 'layers.json.gz', profile: 'run.sqlite' });
  });

  it('are of the kinds that describe layers', async () => {
    const notes = join(folder, 'layer-notes.txt');
    await writeFile(notes, 'buy milk\n');
    await expect(engineFilesOf(notes)).rejects.toThrow('layer-notes.txt: The text is not a build log, layer info,');
    // Why a trace cannot be read is what its user needs.
    const wal = fixturePath('traces/wal.sqlite');
    await expect(engineFilesOf(wal)).rejects.toThrow(
      /^wal\.sqlite: The SQLite file uses a write-ahead log.*journal_mode=delete" first\. Supported/,
    );
  });
});

describe('the model of an engine', () => {
  const model = (name: string) => cp(modelPath(name), join(folder, `${name}.onnx`));

  it('is the one next to the file that has its nodes', async () => {
    const given = await engineFilesOf(await put('vit_tiny.fp16', 'layers.json'));
    expect(await modelOfEngine(given)).toBeNull();
    await model('resnet18');
    expect(await modelOfEngine(given)).toBeNull();
    await model('vit_tiny');
    expect(basename((await modelOfEngine(given))!)).toBe('vit_tiny.onnx');
    // A second one that fits: the user chooses.
    await cp(modelPath('vit_tiny'), join(folder, 'copy.onnx'));
    expect(await modelOfEngine(given)).toBeNull();
  });

  it('is the one that the log names, where it fits', async () => {
    const given = await engineFilesOf(await put('vit_tiny.fp16', 'log.txt.gz', 'build.log.gz'));
    await cp(modelPath('vit_tiny'), join(folder, 'copy.onnx'));
    await cp(modelPath('vit_tiny'), join(folder, 'model.onnx'));
    // `trtexec --onnx=models/vit_tiny/model.onnx`
    expect(basename((await modelOfEngine(given))!)).toBe('model.onnx');
    await cp(modelPath('resnet18'), join(folder, 'model.onnx'));
    expect(basename((await modelOfEngine(given))!)).toBe('copy.onnx');
  });

  it('is the one whose nodes the log of a failed build parsed', async () => {
    const given = await engineFilesOf(await put('unsupported_op.fp32', 'log.txt', 'build.log'));
    await model('resnet18');
    await model('unnamed');
    expect(await modelOfEngine(given)).toBeNull();
    await model('unsupported_op');
    expect(basename((await modelOfEngine(given))!)).toBe('unsupported_op.onnx');
  });

  it('may be the graph of Torch-TensorRT', async () => {
    const torch = (name: string) => fixturePath(`torch/tensorrt-10.6.0/${name}`);
    await cp(torch('encoder.layers.json.gz'), join(folder, 'encoder.layers.json.gz'));
    await cp(fixturePath('torch/convnet.fx.json'), join(folder, 'convnet.fx.json'));
    const given = await engineFilesOf(join(folder, 'encoder.layers.json.gz'));
    expect(await modelOfEngine(given)).toBeNull();
    await cp(torch('encoder.fx.json'), join(folder, 'encoder.fx.json'));
    expect(basename((await modelOfEngine(given))!)).toBe('encoder.fx.json');
  });

  it('is the one whose nodes a log of ONNX Runtime places, without advice to build', async () => {
    await cp(fixturePath('ort/loop_if.cpu.log.gz'), join(folder, 'ort.log.gz'));
    const given = await engineFilesOf(join(folder, 'ort.log.gz'));
    await model('resnet18');
    expect(await modelOfEngine(given)).toBeNull();
    await model('loop_if');
    // It says that all nodes are on the CPU, of any model.
    expect(await modelOfEngine(given)).toBeNull();
    const onnx = join(folder, 'loop_if.onnx');
    const { report } = await loadFiles({ ...given, onnx });
    expect(report.placement).toMatchObject([{ provider: 'CPUExecutionProvider', nodes: 18 }]);
    expect(report.problems.map(({ code }) => code)).toEqual(['placement-only']);
    const line = (text: string) => `2026-11-22 20:14:13.76 [V:onnxruntime:, session_state.cc:1581 Verify] ${text}\n`;
    const first = report.nodes.find(({ op }) => op === 'MatMul')!;
    const lines = ['Node placements', ' Node(s) placed on [CUDAExecutionProvider]. Number of nodes: 1'];
    const cpu = gunzipSync(await readFile(given.log!)).toString();
    await writeFile(join(folder, 'cuda.log'), cpu + [...lines, `   MatMul (${first.name})`].map(line).join(''));
    expect(await modelOfEngine(await engineFilesOf(join(folder, 'cuda.log')))).toBe(onnx);
  });

  it('is not known of a profile alone', async () => {
    await model('vit_tiny');
    expect(await modelOfEngine(await engineFilesOf(await put('vit_tiny.fp16', 'profile.json')))).toBeNull();
  });
});
