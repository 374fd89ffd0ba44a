import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { commandModules } from '../../../../src/shell/cli/commandTable.ts';
import { UserError } from '../../../../src/kernel/node/files/userError.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { runCommand } from './runCommand.ts';

const root = mkdtempSync(join(tmpdir(), 'results-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const recorded = join(import.meta.dirname, '../../../../examples/recorded/vit_tiny');

/** What each place has: a model, a build of it, a log, a gate, rules, samples, a calibration and a timing cache. */
function newPlace(): string {
  const place = mkdtempSync(join(root, 'place-'));
  cpSync(modelPath('vit_tiny'), join(place, 'm.onnx'));
  cpSync(recorded, join(place, 'build'), { recursive: true });
  const manifest = join(place, 'build/manifest.json');
  const content = JSON.parse(readFileSync(manifest, 'utf8')) as { model: object; files: object };
  writeFileSync(join(place, 'build/model.engine'), 'ftrt');
  const files = { ...content.files, engine: 'model.engine' };
  const model = { ...content.model, file: '../m.onnx', sha256: null };
  writeFileSync(
    manifest,
    JSON.stringify({ ...content, files, model, tensorrt: { product: 'tensorrt', version: '10.6.0' } }),
  );
  writeFileSync(join(place, 'g.gate.yaml'), 'model: m.onnx\nbaseline: base.report.json\nrules:\n  foreignNodes: 9\n');
  writeFileSync(join(place, 'rules.trtprec'), 'op:Softmax fp32\n');
  writeFileSync(join(place, 's.npz'), 'samples');
  writeFileSync(join(place, 'x.engine'), 'ftrt');
  cpSync(fixturePath('int8/calibration.cache'), join(place, 'c.cache'));
  writeFileSync(join(place, 'foreign.txt'), 'years of work\n');
  mkdirSync(join(place, 'folder'));
  writeFileSync(join(place, 'folder', 'inside'), 'also work\n');
  return place;
}

/** How each output of each command is named; `OUT` is its place, `OUT/name` a file in a folder that is named. */
const outputs: Readonly<Record<string, readonly string[]>> = {
  report: ['--build build -o OUT', '--build build -o OUT.json', '--build build --perfetto OUT'],
  'report folder': ['--build build --model-explorer DIR (fate.json)'],
  show: ['build -o OUT'],
  diff: ['build build --markdown OUT', 'build build --html OUT'],
  gate: [
    ...['sarif', 'junit', 'markdown', 'gitlab'].map((kind) => `g.gate.yaml --build build --${kind} OUT`),
    'GATE --update --build build',
    'OUT --init --build build',
  ],
  build: ['m.onnx -o OUT', 'm.onnx --timing-cache OUT', 'm.onnx --html OUT'],
  extract: ['m.onnx --nodes 0 -o OUT'],
  reduce: ['m.onnx -o OUT.zip'],
  'reduce folder': ['m.onnx -o DIR (model.onnx)', 'm.onnx -o DIR (build.log)', 'm.onnx -o DIR (command.txt)'],
  repair: ['m.onnx -o OUT', 'm.onnx --html OUT'],
  'plugin folder': [
    'm.onnx --nodes 0 --name My -o DIR (model.onnx)',
    'm.onnx --nodes 0 --name My -o DIR (CMakeLists.txt)',
  ],
  'split folder': ['m.onnx --at CUT -o DIR (chain.json)', 'm.onnx --at CUT -o DIR (part-0.onnx)'],
  'what-if': ['m.onnx --output CUT --html OUT'],
  quantization: ['migrate m.onnx --calibration-cache c.cache -o OUT'],
  accuracy: ['m.onnx -o OUT', 'm.onnx --html OUT', 'm.onnx --remedy OUT'],
  run: ['build --inputs s.npz -o OUT'],
  'bisect folder': ['m.onnx -o DIR (model.onnx)', 'm.onnx -o DIR (README.md)', 'm.onnx -o DIR (inputs.npz)'],
  precision: [
    'apply rules.trtprec --onnx m.onnx -o OUT',
    'import -o OUT -- trtexec --layerPrecisions=a:fp32',
    'import --apply OUT -- trtexec --onnx=m.onnx --fp16',
  ],
  triton: ['build -o OUT'],
  'torch-hook': ['-o OUT'],
  inspect: ['x.engine --read --layers OUT'],
};

const commandOf = (key: string): string => key.split(' ')[0]!;

it('names an output of every command that writes what a user names', async () => {
  const writing: string[] = [];
  const without: string[] = [];
  for (const [name, row] of Object.entries(commandModules)) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { options } = await row();
    if (options['force']) writing.push(name);
    else if (['out', 'html', 'markdown', 'engine'].some((option) => options[option])) without.push(name);
  }
  expect(without).toEqual([]);
  expect(new Set(Object.keys(outputs).map(commandOf))).toEqual(new Set(writing));
});

/** Every file, link and folder with what it has. */
function contents(place: string): string[] {
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const path = join(place, name);
      const status = lstatSync(path);
      if (status.isSymbolicLink()) return `${name} → ${readlinkSync(path)}`;
      const content = status.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
      return `${name} ${content}`;
    });
}

/** What is where a result should go, by the way it would be lost; gives the file that must stay. */
const hazards: Readonly<Record<string, (place: string, path: string) => void>> = {
  'an input': (place, path) => linkSync(join(place, 'm.onnx'), path),
  'a foreign file': (place, path) => cpSync(join(place, 'foreign.txt'), path),
  'a link': (place, path) => symlinkSync(join(place, 'foreign.txt'), path),
  'a broken link': (place, path) => symlinkSync(join(place, 'elsewhere', 'missing'), path),
  '/dev/full': (_, path) => symlinkSync('/dev/full', path),
  'a folder': (place, path) => cpSync(join(place, 'folder'), path, { recursive: true }),
};

describe.skipIf(process.platform === 'win32')('loses nothing', () => {
  const cases = Object.entries(outputs).flatMap(([key, lines]) =>
    lines.flatMap((line) => Object.keys(hazards).map((hazard) => [commandOf(key), line, hazard] as const)),
  );
  it.concurrent.each(cases)('trtlens %s %s, onto %s', async (name, line, hazard) => {
    const place = newPlace();
    const [, command, inFolder] = /^(.*?)(?: \((.*)\))?$/.exec(line)!;
    const ending = /OUT(\.\w+)?/.exec(command!)?.[1] ?? (line.includes('--apply OUT') ? '.onnx' : '');
    let out = join(place, inFolder === undefined ? `result${ending}` : `dir/${inFolder}`);
    const cut = '/patch_embed/proj/Conv_output_0';
    const words = command!.split(' ').map((word) => {
      if (word.startsWith('OUT')) return out;
      if (word === 'DIR') return dirname(out);
      if (word === 'CUT') return cut;
      if (word === 'GATE') return join(place, 'g.gate.yaml');
      return existsSync(join(place, word)) ? join(place, word) : word.replace('=m.onnx', `=${join(place, 'm.onnx')}`);
    });
    if (words.includes('--update')) out = join(place, 'base.report.json');
    mkdirSync(dirname(out), { recursive: true });
    hazards[hazard]!(place, out);
    const before = contents(place);
    const { code } = await runCommand(await commandModules[name as keyof typeof commandModules](), ...words).catch(
      (error: unknown) => {
        expect(error).toBeInstanceOf(UserError);
        expect((error as Error).message).toContain(out);
        return { code: 2 };
      },
    );
    expect(code).not.toBe(0);
    expect(contents(place)).toEqual(before);
    expect(statSync(join(place, 'foreign.txt')).size).toBe(14);
  });

  it('gate writes no baseline through a link to a folder', async () => {
    const place = newPlace();
    symlinkSync(mkdtempSync(join(root, 'home-')), join(place, 'link'));
    const gate = join(place, 'g.gate.yaml');
    writeFileSync(gate, 'model: m.onnx\nbaseline: link/base.json\nrules:\n  foreignNodes: 9\n');
    const words = [gate, '--update', '--build', join(place, 'build')];
    await expect(runCommand(await commandModules.gate(), ...words)).rejects.toThrow('leads through a link');
    expect(readdirSync(join(place, 'link'))).toEqual([]);
  });

  it.each(['m.onnx', 'build/manifest.json', 'g.gate.yaml'])('even with --force, gate keeps its %s', async (input) => {
    const place = newPlace();
    const gate = join(place, 'g.gate.yaml');
    writeFileSync(gate, `model: m.onnx\nbaseline: ${input}\nrules:\n  foreignNodes: 9\n`);
    const before = contents(place);
    const words = [gate, '--update', '--build', join(place, 'build'), '--force'];
    await expect(runCommand(await commandModules.gate(), ...words)).rejects.toThrow(/would overwrite the input/);
    expect(contents(place)).toEqual(before);
  });
});
