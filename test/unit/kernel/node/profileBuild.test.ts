import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { importBuild } from '../../../../src/kernel/node/run/importBuild.ts';
import { profileBuild } from '../../../../src/kernel/node/run/profileBuild.ts';
import { type Build, readBuildFolder, writeManifest } from '../../../../src/kernel/node/store/buildFolder.ts';
import { loadBuild } from '../../../../src/kernel/node/store/loadBuild.ts';
import type { BuildManifest } from '../../../../src/kernel/build/buildManifest.ts';
import { nsysArguments, tracedRun } from '../../../../src/kernel/build/buildCommand.ts';
import { fakeTool } from '../../../support/fakeTool.ts';
import { fixturePath, modelPath, readFixture } from '../../../support/fixtures.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

const folder = temporaryFolder();
const sqlite = join(folder, 'recorded.sqlite');
writeFileSync(sqlite, readFixture('traces/vit_tiny.fp16/plain.sqlite.gz'));
const calls = join(folder, 'calls.jsonl');
const driver = join(folder, 'build_engine.py');
const said = () => readFileSync(calls, 'utf8').trim().split('\n').map((line) => JSON.parse(line) as string[]); // oxfmt-ignore

/** An nsys whose help lists these flags: it runs the program that it is given, and exports the trace of vit_tiny. */
const nsysTool = (name: string, flags: string[]) =>
  fakeTool(
    folder,
    name,
    `const fs = require('node:fs');
     if (args[1] === '--help') { console.log(${JSON.stringify(flags.join('\n'))}); process.exit(0); }
     fs.appendFileSync(${JSON.stringify(calls)}, JSON.stringify(args) + '\\n');
     const output = args.find((one) => one.startsWith('--output=')).slice('--output='.length);
     if (args[0] === 'export') fs.copyFileSync(${JSON.stringify(sqlite)}, output);
     else {
       const at = args.findIndex((one) => !one.startsWith('-') && one !== 'profile');
       const { status, stderr } = require('node:child_process').spawnSync(args[at], args.slice(at + 1), { encoding: 'utf8' });
       if (status !== 0) { console.error(stderr); process.exit(1); }
       fs.writeFileSync(output + '.nsys-rep', 'report');
     }`,
  );
const nsys = nsysTool('nsys', [
  '--trace=',
  '--cuda-graph-trace=<granularity>',
  '--sample=',
  '--cpuctxsw=',
  '--output=',
]);
const trtexec = fakeTool(
  folder,
  'trtexec',
  `const fs = require('node:fs');
   if (args.includes('--help')) { console.log('  --onnx=<file>  x\\n  --loadEngine=<file>  y\\n  --profilingVerbosity=mode  z'); process.exit(0); }
   if (!fs.existsSync(args.find((one) => one.startsWith('--loadEngine=')).slice('--loadEngine='.length))) {
     console.error('no engine there'); process.exit(1); }`,
);

async function built(more: Partial<BuildManifest> = {}): Promise<Build> {
  const layers = fixturePath('traces/vit_tiny.fp16/layers.json.gz');
  const build = await importBuild({ model: modelPath('vit_tiny'), pieces: [{ file: layers }], cache: folder });
  writeFileSync(join(build.folder, 'model.engine'), 'engine');
  const manifest = { ...build.manifest, files: { ...build.manifest.files, engine: 'model.engine' }, ...more };
  await writeManifest({ ...build, manifest });
  return { ...build, manifest };
}

describe('a trace of a build', () => {
  test('becomes its profile: nsys runs the engine, and the report has the times of its layers', async () => {
    writeFileSync(calls, '');
    const build = await built({ shapes: [[{ input: 'x', min: '1x3', opt: '2x3', max: '4x3' }]] });
    const profiled = await profileBuild({ build, nsys, trtexec, driver });
    const at = (name: string) => join(build.folder, name);
    expect(said()).toEqual([
      [
        'profile',
        '--trace=cuda,nvtx',
        '--cuda-graph-trace=node',
        '--sample=none',
        '--cpuctxsw=none',
        '--force-overwrite=true',
        `--output=${at('trace')}`,
        trtexec,
        `--loadEngine=${at('model.engine')}`,
        '--profilingVerbosity=detailed',
        '--shapes=x:2x3',
        '--iterations=50',
        '--duration=0',
        '--warmUp=0',
      ],
      ['export', '--type=sqlite', '--force-overwrite=true', `--output=${at('trace.sqlite')}`, at('trace.nsys-rep')],
    ]);
    expect((await readBuildFolder(build.folder))!.manifest.files.profile).toBe('trace.sqlite');
    const { report } = await loadBuild(profiled);
    expect(report.profile).toMatchObject({ kernels: 267, attributed: 267, passes: 3 });
  });

  test('is recorded elsewhere through a launcher, with the paths that files have there', async () => {
    writeFileSync(calls, '');
    const build = await built();
    const log = join(folder, 'launched.txt');
    const there = join(folder, 'there');
    mkdirSync(there);
    const over = fakeTool(
      folder,
      'over',
      `require('node:fs').appendFileSync(${JSON.stringify(log)}, args.join(' ') + '\\n');
       const { status, stdout, stderr } = require('node:child_process').spawnSync(args[0], args.slice(1), { encoding: 'utf8' });
       process.stdout.write(stdout); process.stderr.write(stderr); process.exit(status);`,
    );
    const copy = [process.execPath, '-e', 'require("node:fs").copyFileSync(process.argv[1], process.argv[2])'];
    const launcher = {
      command: [over, '{command}'],
      guard: false,
      folder: `${there}/{id}`,
      copyTo: [...copy, '{here}', '{there}'],
      copyBack: [...copy, '{there}', '{here}'],
    };
    const profiled = await profileBuild({ build, nsys, trtexec, launcher, driver });
    expect((await loadBuild(profiled)).report.profile!.kernels).toBe(267);
    const engines = said().flatMap((args) => args.filter((one) => one.startsWith('--loadEngine=')));
    expect(engines).toEqual([expect.stringMatching(new RegExp(`^--loadEngine=${there}/[^/]+/model\\.engine$`))]);
    expect(readFileSync(log, 'utf8')).toContain(`${nsys} profile --help`);
    expect(existsSync(join(build.folder, 'trace.nsys-rep'))).toBe(true);
  });

  test('cannot be recorded without an engine or nsys, and says what the run said', async () => {
    const build = await built();
    const none = { ...build, manifest: { ...build.manifest, files: { ...build.manifest.files, engine: null } } };
    await expect(profileBuild({ build: none, nsys, trtexec, driver })).rejects.toThrow(/this build has no engine/);
    await expect(profileBuild({ build, nsys: join(folder, 'gone'), trtexec, driver })).rejects.toThrow(
      /gone: program not found\. Install Nsight Systems/,
    );
    const other = fakeTool(folder, 'other', "console.log('hello')");
    await expect(profileBuild({ build, nsys: other, trtexec, driver })).rejects.toThrow(
      /is not an nsys that can profile/,
    );
    const failing = fakeTool(folder, 'bad-trtexec', `if (args.includes('--help')) console.log('  --onnx=<file>  x'); else { console.error('engine of another version'); process.exit(1); }`); // oxfmt-ignore
    await expect(profileBuild({ build, nsys, trtexec: failing, driver })).rejects.toThrow(
      'Profiling failed: engine of another version',
    );
    expect(build.manifest.files.profile).toBeNull();
  });
});

test('flags follow the versions of nsys and trtexec', () => {
  const old = nsysArguments(new Set(['--trace', '--sample']), '/a%b/trace', ['run']);
  expect(old).toEqual([
    'profile',
    '--trace=cuda,nvtx',
    '--sample=none',
    '--force-overwrite=true',
    '--output=/a%%b/trace',
    'run',
  ]);
  const run = (known: string[], tracesGraphs: boolean) =>
    tracedRun(new Set(known), 'e', { tracesGraphs, shapes: [{ input: 'x', min: '1', opt: '1', max: '1' }] });
  expect(run(['noCudaGraph', 'profilingVerbosity'], true)).not.toContain('--noCudaGraph');
  expect(run(['noCudaGraph'], false)).toContain('--noCudaGraph');
  expect(run([], false)).toEqual(['--loadEngine=e', '--iterations=50', '--duration=0', '--warmUp=0']);
});
