import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join, sep } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { importBuild } from '../../../../src/kernel/node/run/importBuild.ts';
import { ParsedFiles } from '../../../../src/kernel/node/files/parsedFiles.ts';
import { type BuildOptions, runBuild } from '../../../../src/kernel/node/run/runBuild.ts';
import { externalLocations } from '../../../../src/kernel/node/files/writeModel.ts';
import { build } from '../../../../src/features/build/node/cli/build.ts';
import { check } from '../../../../src/features/check/node/cli/check.ts';
import { diagnose } from '../../../../src/features/diagnose/node/cli/diagnose.ts';
import { matrix } from '../../../../src/features/build/node/cli/matrix.ts';
import { precision } from '../../../../src/features/precision/node/cli/precision.ts';
import { replay } from '../../../../src/features/replay/node/cli/replay.ts';
import { report } from '../../../../src/kernel/node/cli/report.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { temporaryFolder } from '../../../support/rtx.ts';
import { runCommand as run } from '../../shell/cli/runCommand.ts';

const folder = temporaryFolder();
const log = fixturePath('captures/tensorrt-10.6.0/vit_tiny.fp16/log.txt.gz');
let count = 0;

/** A model in a folder of its own. */
const copyOfModel = () => copyOf('vit_tiny');

function copyOf(name: string): { place: string; model: string; before: Buffer } {
  const place = join(folder, String(count++));
  mkdirSync(place);
  const model = join(place, 'net.onnx');
  copyFileSync(modelPath(name), model);
  return { place, model, before: readFileSync(model) };
}

const noProgram = join(folder, 'none-trtexec');

/** Begins a build that gets no further than to its program. */
const beginBuild = (model: string, options: Partial<BuildOptions>) =>
  runBuild({
    model,
    backend: 'calibrationCache' in options ? 'polygraphy' : 'trtexec',
    trtexec: noProgram,
    driver: '',
    confirm: () => Promise.reject(new Error('asked')),
    ...options,
  });

describe('what a command reads is not what it writes', () => {
  test('a report takes the place of neither model nor log, by whatever name', async () => {
    const { place, model, before } = copyOfModel();
    symlinkSync(model, join(place, 'page.json'));
    for (const output of [model, join(place, 'page.json'), join(place, '..', place.slice(folder.length), 'net.onnx')])
      await expect(run(report, '--onnx', model, '--log', log, '-o', output)).rejects.toThrow(
        'would overwrite the input',
      );
    expect(readFileSync(model).equals(before)).toBe(true);
    expect((await run(report, '--onnx', model, '--log', log, '-o', join(place, 'new.json'))).code).toBe(0);
    expect((await run(report, '--onnx', model, '--log', log, '-o', join(place, 'new.json'))).code).toBe(0);
  });

  test('a report takes the place of neither the weights nor what a build folder keeps', async () => {
    const { place, model } = copyOfModel();
    const weights = join(place, [...externalLocations((await new ParsedFiles().model(model)).value)][0]!);
    writeFileSync(weights, 'weights');
    await expect(run(report, '--onnx', model, '--log', log, '-o', weights)).rejects.toThrow(
      'would overwrite the input',
    );
    const { folder: build } = await importBuild({ model, pieces: [{ file: log }], folder: join(place, 'builds') });
    for (const output of [model, weights, join(build, 'manifest.json'), join(build, 'build.log')])
      await expect(run(report, '--build', build, '-o', output)).rejects.toThrow('would overwrite the input');
    expect(readFileSync(weights, 'utf8')).toBe('weights');
    expect((await run(report, '--build', build, '-o', join(build, 'missing/report.json'))).code).toBe(0);
    expect((await run(report, '--build', build, '-o', join(build, 'missing/report.json'))).code).toBe(0);
  });

  test('files beside a build folder are not passed over in silence', async () => {
    await expect(run(report, '--build', folder, '--log', log, '-o', join(folder, 'x.json'))).rejects.toThrow(
      '--build cannot be combined with --log',
    );
  });

  test('a rewritten model does not take the place of its rules', async () => {
    const { place, model } = copyOfModel();
    const rules = join(place, 'net.trtprec');
    writeFileSync(rules, 'op:Softmax fp32\n');
    linkSync(rules, join(place, 'same'));
    await expect(run(precision, 'apply', rules, '--onnx', model, '-o', join(place, 'same'))).rejects.toThrow(rules);
    expect(readFileSync(rules, 'utf8')).toBe('op:Softmax fp32\n');
  });

  test.each(['engine', 'timingCache', 'calibrationCache'] as const)(
    'a build whose %s would be the model does not begin',
    async (option) => {
      const { model, before } = copyOfModel();
      await expect(beginBuild(model, { [option]: model })).rejects.toThrow('would overwrite the input');
      expect(readFileSync(model).equals(before)).toBe(true);
    },
  );

  test.each([
    ['engine', 'timingCache'],
    ['engine', 'calibrationCache'],
    ['timingCache', 'calibrationCache'],
  ] as const)('two results of a build are not one file: %s, %s', async (one, other) => {
    const { place, model } = copyOfModel();
    const [path, same] = [join(place, 'new'), join(place, '.', 'sub', '..', 'new')];
    await expect(beginBuild(model, { [one]: path, [other]: same })).rejects.toThrow('would overwrite the input');
  });

  test.each([
    ['timingCache', 'already exists and is not a timing cache'],
    ['calibrationCache', 'already exists and is not a calibration cache'],
  ])('a %s takes the place of no other kind of file', async (option, message) => {
    const { place, model } = copyOfModel();
    const rules = join(place, 'net.trtprec');
    writeFileSync(rules, 'base fp16\nop:Softmax fp32\n');
    await expect(beginBuild(model, { [option]: rules })).rejects.toThrow(message);
    expect(readFileSync(rules, 'utf8')).toContain('Softmax');
  });
});

test.skipIf(process.platform === 'win32')('a model that is no regular file is not built', async () => {
  const { place } = copyOfModel();
  const pipe = join(place, 'pipe.onnx');
  execFileSync('sh', ['-c', 'mkfifo "$0"', pipe]);
  await expect(beginBuild(pipe, {})).rejects.toThrow('is not a regular file');
  await expect(beginBuild('/dev/null', {})).rejects.toThrow('is not a regular file');
});

describe('what cannot be written is said before the build', () => {
  const bad = (place: string): [string, string][] => [
    [join(place, 'net.onnx', 'out'), 'a component of the path is not a folder'],
    [join(place, 'net.onnx', 'deep', 'out'), 'a component of the path is not a folder'],
    [place, 'is a folder. Pass the file to write'],
    [join(place, 'missing') + sep, 'is not a file name'],
    ['', 'is not a file name'],
    [join(place, 'x'.repeat(300)), 'the name is too long'],
    ...(process.platform === 'linux' ? [['/dev/null', 'is not a regular file'] as [string, string]] : []),
  ];

  test.each(['engine', 'timingCache', 'report'] as const)('%s', async (option) => {
    const { place, model } = copyOfModel();
    const begin = (path: string) =>
      option === 'report'
        ? run(build, model, '--backend', 'trtexec', '--trtexec', noProgram, '--report', path)
        : beginBuild(model, { [option]: path });
    for (const [path, message] of bad(place)) await expect(begin(path)).rejects.toThrow(message);
    // All is well with a folder that is not there yet: the build begins, and finds no trtexec.
    await expect(begin(join(place, 'new', 'folder', 'out'))).rejects.toThrow(noProgram);
  });

  test('a page goes to a folder that is made for it', async () => {
    const { place, model } = copyOfModel();
    const page = join(place, 'new', 'folder', 'page.json');
    expect((await run(report, '--onnx', model, '--log', log, '-o', page)).code).toBe(0);
    expect(readFileSync(page, 'utf8')).toContain('"graph"');
  });

  test('imported rules, too', async () => {
    const { place } = copyOfModel();
    const rules = join(place, 'new', 'net.trtprec');
    const command = ['import', '-o', rules, '--', 'trtexec', '--layerPrecisions=a:fp32'];
    expect((await run(precision, ...command)).code).toBe(0);
    expect(readFileSync(rules, 'utf8')).toContain('fp32');
    writeFileSync(rules, 'op:Softmax fp32\n');
    await expect(run(precision, ...command)).rejects.toThrow('already exists');
  });
});

test('a page whose folder is a file', async () => {
  const { model } = copyOfModel();
  await expect(run(report, '--onnx', model, '--log', log, '-o', join(model, 'page.json'))).rejects.toThrow(
    'a component of the path is not a folder',
  );
});

describe('diagnose', () => {
  test.each([
    ['an empty file', ''],
    ['layer info', '{ "Layers": [], "Bindings": [] }'],
    ['a poem', 'Roses are red\n'],
  ])('%s is no log without errors', async (_, text) => {
    const file = join(folder, 'any.log');
    writeFileSync(file, text);
    await expect(run(diagnose, file)).rejects.toThrow('is not a TensorRT build log');
  });

  test('a log without errors', async () => {
    expect(await run(diagnose, log)).toEqual({ code: 0, out: 'Nothing to report: the build passed.\n', err: '' });
  });

  test('memory: the next step says what needs it, of this log only where it has an engine', async () => {
    const failed =
      '[I] [TRT] TensorRT 8.6.1\n[E] [TRT] 2: [virtualMemoryBuffer.cpp::resizePhysical::140] OutOfMemory\n';
    const file = join(folder, 'memory.log');
    writeFileSync(file, failed);
    expect((await run(diagnose, file, '--onnx', modelPath('resnet18'))).out).toMatch(
      /trtlens show --onnx \S*resnet18\S* --log SMALLER_BUILD\.log --memory {3}\(of a build that succeeds/,
    );
    const engine = gunzipSync(readFileSync(log)).toString();
    writeFileSync(file, `${engine.replace(/^&&&& PASSED.*$/m, '')}\n${failed}`);
    expect((await run(diagnose, file)).out).toMatch(
      /trtlens show --onnx MODEL\.onnx --log \S*memory\.log --memory\n/,
    );
  });
});

describe('precision import --apply', () => {
  const import_ = (out: string, ...command: string[]) => run(precision, 'import', '--apply', out, '--', ...command);

  test('the flags of a command become a typed model, and a command that TensorRT 11 takes', async () => {
    const { place, model } = copyOf('fp16_overflow');
    const out = join(place, 'typed.onnx');
    const flags = ['--fp16', '--workspace=1024', '--buildOnly', '--minTiming=3', '--saveEngine=a.plan'];
    const made = await import_(out, 'trtexec', `--onnx=${model}`, ...flags);
    expect(made.code).toBe(0);
    expect(made.out).toMatch(/\d+ in FP16/);
    expect(made.out).toContain(`--onnx=${out} --memPoolSize=workspace:1024 --skipInference --saveEngine=a.plan\n`);
    expect(made.err).toContain('does not have it: --minTiming');
    expect(readFileSync(join(place, 'typed.trtprec'), 'utf8')).toBe('# Written by TensorRT Lens\nbase fp16\n');
    expect(readdirSync(place).toSorted()).toEqual(['net.onnx', 'typed.onnx', 'typed.trtprec']);
    // Rules that the user wrote stay.
    writeFileSync(join(place, 'typed.trtprec'), 'base bf16\n');
    await expect(import_(out, 'trtexec', `--onnx=${model}`, '--bf16')).rejects.toThrow('already exists');
  });

  test('precisions of layers, and a model that Polygraphy gets as an argument', async () => {
    const { place, model } = copyOf('fp16_overflow');
    const out = join(place, 'typed.onnx');
    const layers = [
      '--fp16',
      '--layer-precisions',
      '/layers.1/attn/qk/MatMul:float32',
      '--precision-constraints',
      'obey',
    ];
    const made = await import_(out, 'polygraphy', 'convert', model, ...layers, '-o', 'a.engine');
    expect(made.out).toContain(`polygraphy convert ${out} -o a.engine\n`);
    expect(readFileSync(join(place, 'typed.trtprec'), 'utf8')).toContain('/layers.1/attn/qk/MatMul fp32');
  });

  test('what the command lacks is said', async () => {
    const { place, model } = copyOf('fp16_overflow');
    const out = join(place, 'typed.onnx');
    await expect(import_(out, 'trtexec', `--onnx=${model}`)).rejects.toThrow('asks for no type');
    await expect(import_(out, 'trtexec', '--fp16')).rejects.toThrow('names no model');
    await expect(import_(out, 'trtexec', '--onnx=none.onnx', '--fp16')).rejects.toThrow('none.onnx');
    expect(readdirSync(place)).toEqual(['net.onnx']);
  });
});

test.each([precision, replay])('$name: a verb that is none', async (command) => {
  await expect(run(command, 'chek')).rejects.toThrow("unknown subcommand 'chek'; did you mean 'check'?");
  await expect(run(command)).rejects.toThrow('the subcommand is missing; subcommands are check');
});

test('check compares the sizes of external data with what the model needs, and looks at no other file', async () => {
  const { place, model } = copyOfModel();
  const { value } = await new ParsedFiles().model(model);
  const [location] = externalLocations(value);
  const out = async () => await run(check, model, '--no-parser');
  expect(await out()).toMatchObject({
    code: 1,
    out: expect.stringContaining(`warning weights-missing: The external data ${location} is missing.`),
  });
  writeFileSync(join(place, location!), 'short');
  expect(await out()).toMatchObject({
    code: 1,
    out: expect.stringMatching(
      /^error weights-missing: The external data \S+ has 5 bytes, and tensor \S+ ends at [\d,]+\.$/m,
    ),
  });
  truncateSync(join(place, location!), 1 << 30);
  expect(await out()).toMatchObject({ code: 0, out: expect.not.stringContaining('weights-missing') });
  rmSync(join(place, location!));
  symlinkSync(log, join(place, location!));
  expect(await out()).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^unknown weights-missing: Whether .* is complete is not known\.\n.*symbolic link/m),
  });
});

describe('a cluster folder', () => {
  const written = (targets: object[]) => {
    const { place, model } = copyOfModel();
    const file = join(place, 'net.json');
    writeFileSync(file, JSON.stringify({ models: [model], targets }));
    return { place, file, out: join(place, 'out') };
  };
  const h100 = { name: 'h100', tensorrt: '10.6' };

  test('a file in its place', async () => {
    const { file } = written([h100]);
    await expect(run(matrix, file, '--slurm', file)).rejects.toThrow('a component of the path is not a folder');
  });

  test('files of somebody else in its place stay', async () => {
    const { file, out } = written([h100]);
    mkdirSync(join(out, 'h100', '0'), { recursive: true });
    writeFileSync(join(out, 'h100', '0', 'photo'), 'mine');
    await expect(run(matrix, file, '--slurm', out)).rejects.toThrow('contains other files');
    expect(readFileSync(join(out, 'h100', '0', 'photo'), 'utf8')).toBe('mine');
  });

  test('is written again until a build has begun, also after a refusal', async () => {
    const { place, file, out } = written([h100, { name: 'old' }]);
    await expect(run(matrix, file, '--slurm', out)).rejects.toThrow('has no "tensorrt"');
    const { file: mended } = written([h100, { name: 'old', tensorrt: '8.6' }]);
    expect((await run(matrix, mended, '--slurm', out)).code).toBe(0);
    expect((await run(matrix, mended, '--slurm', out)).code).toBe(0);
    for (const left of ['started', 'build.log']) writeFileSync(join(out, 'h100', '0', left), 'left');
    const { file: more } = written([{ name: 'a100', tensorrt: '10.6' }, h100]);
    await expect(run(matrix, more, '--slurm', out)).rejects.toThrow(`--collect ${out}`);
    expect(readFileSync(join(out, 'h100', '0', 'build.log'), 'utf8')).toBe('left');
    expect(readdirSync(out)).not.toContain('a100');
    expect((await run(matrix, more, '--slurm', join(place, 'new'))).code).toBe(0);
  });
});
