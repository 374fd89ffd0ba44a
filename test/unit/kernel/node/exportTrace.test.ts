import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { ParsedFiles } from '../../../../src/kernel/node/files/parsedFiles.ts';
import { importBuild } from '../../../../src/kernel/node/run/importBuild.ts';
import { exportingWith } from '../../../../src/kernel/node/tools/exportTrace.ts';
import { engineFilesOf } from '../../../../src/kernel/node/store/engineFiles.ts';
import { loadBuild } from '../../../../src/kernel/node/store/loadBuild.ts';
import { fakeTool } from '../../../support/fakeTool.ts';
import { fixturePath, modelPath, readFixture } from '../../../support/fixtures.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

const folder = temporaryFolder();
const report = join(folder, 'a run; $x.nsys-rep');
writeFileSync(report, 'NVIDIA report');
const sqlite = join(folder, 'plain.sqlite');
writeFileSync(sqlite, readFixture('traces/vit_tiny.fp16/plain.sqlite.gz'));

/** An nsys that exports the trace of vit_tiny, and writes down its arguments. */
const nsys = fakeTool(
  folder,
  'nsys',
  `const fs = require('node:fs');
   fs.writeFileSync(${JSON.stringify(join(folder, 'args.json'))}, JSON.stringify(args));
   fs.copyFileSync(${JSON.stringify(sqlite)}, args.find((one) => one.startsWith('--output=')).slice('--output='.length));`,
);
const exported = () => readdirSync(tmpdir()).filter((name) => name.startsWith('tensorrt-lens-trace-'));

test('a report of Nsight Systems is read through nsys, and nothing of the export stays', async () => {
  const before = exported();
  const { value, problems } = await new ParsedFiles({ exportTrace: exportingWith(() => nsys) }).profile(report);
  expect([value!.trace!.kernels, problems]).toEqual([267, []]);
  const args = JSON.parse(readFileSync(join(folder, 'args.json'), 'utf8')) as string[];
  expect([args[0], ...args.slice(1, 3), args.at(-1)]).toEqual([
    'export',
    '--type=sqlite',
    '--force-overwrite=true',
    report,
  ]);
  expect(existsSync(args[3]!.slice('--output='.length))).toBe(false);
  expect(exported()).toEqual(before);
});

test('without nsys, or with one that fails, the message says what to do', async () => {
  const profile = (program: string) => new ParsedFiles({ exportTrace: exportingWith(() => program) }).profile(report);
  await expect(profile(join(folder, 'none'))).rejects.toThrow(
    /a run; \$x\.nsys-rep: only nsys of Nsight Systems can read this file, and .*none was not found\. Install Nsight Systems/,
  );
  const failing = fakeTool(folder, 'old-nsys', "console.error('Importer error: newer version'); process.exit(1);");
  await expect(profile(failing)).rejects.toThrow(/nsys export failed: Importer error: newer version\. A report opens/);
  const silent = fakeTool(folder, 'silent-nsys', '');
  await expect(profile(silent)).rejects.toThrow(/nsys export failed: exit status 0/);
  await expect(new ParsedFiles().profile(join(folder, 'gone.nsys-rep'))).rejects.toThrow(/no such file/);
  await expect(new ParsedFiles().profile(report)).rejects.toThrow(/cannot be read here\. Run nsys export/);
});

test('a trace is the profile of an imported build, as SQLite and as a report', async () => {
  const layers = fixturePath('traces/vit_tiny.fp16/layers.json.gz');
  const model = modelPath('vit_tiny');
  for (const file of [fixturePath('traces/vit_tiny.fp16/plain.sqlite.gz'), sqlite, report]) {
    // oxlint-disable-next-line no-await-in-loop -- one import after the other
    const build = await importBuild({ model, pieces: [{ file: layers }, { file }], cache: folder, nsys: () => nsys });
    expect(readFileSync(join(build.folder, 'trace.sqlite')).equals(readFileSync(sqlite))).toBe(true);
    expect(build.manifest.files).toEqual({ log: null, layers: 'layers.json', profile: 'trace.sqlite', engine: null });
    // oxlint-disable-next-line no-await-in-loop -- as above
    const { report: joined } = await loadBuild(build);
    expect(joined.profile).toMatchObject({ source: 'nsys', kernels: 267, attributed: 267, passes: 3 });
  }
});

test('a report finds the layer info next to it', async () => {
  writeFileSync(
    join(folder, 'layers.json'),
    gunzipSync(readFileSync(fixturePath('traces/vit_tiny.fp16/layers.json.gz'))),
  );
  copyFileSync(report, join(folder, 'run.nsys-rep'));
  const given = await engineFilesOf(
    join(folder, 'run.nsys-rep'),
    new ParsedFiles({ exportTrace: exportingWith(() => nsys) }),
  );
  expect(given).toEqual({ profile: join(folder, 'run.nsys-rep'), layers: join(folder, 'layers.json') });
});

test('what Nsight Compute printed is part of an imported build, and is found next to its layer info', async () => {
  const near = join(folder, 'ncu');
  mkdirSync(near);
  const layers = join(near, 'layers.json');
  writeFileSync(layers, readFixture('traces/vit_tiny.fp16/layers.json.gz'));
  const { Layers } = JSON.parse(readFileSync(layers, 'utf8')) as { Layers: { TacticName?: string }[] };
  const tactics = Layers.flatMap(({ TacticName }) => TacticName ?? []);
  const tactic = tactics.find((name) => tactics.filter((other) => other.startsWith(name)).length === 1)!;
  const kernel = (name: string) => `"0","${name}_execute","37.5","12.25"`;
  const columns = '"ID","Kernel Name","sm__throughput.avg.pct_of_peak_sustained_elapsed","gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"'; // oxfmt-ignore
  const ncu = join(near, 'ncu.csv');
  writeFileSync(ncu, ['==PROF== Connected to process 1', columns, '"","","%","%"', kernel(tactic)].join('\n'));
  expect(await engineFilesOf(ncu)).toEqual({ layers, ncu });
  expect(await engineFilesOf(layers)).toEqual({ layers, ncu });
  const build = await importBuild({ model: modelPath('vit_tiny'), pieces: [{ file: ncu }, { file: layers }], cache: folder }); // oxfmt-ignore
  expect(build.manifest.files).toMatchObject({ layers: 'layers.json', counters: 'ncu.csv' });
  const measured = (await loadBuild(build)).report.layers.flatMap(({ counters }) => counters ?? []);
  expect(measured).toEqual([{ sm: 37.5, dram: 12.25, tensor: null, occupancy: null }]);
  writeFileSync(ncu, [columns, '"","","%","%"', kernel('another')].join('\n'));
  expect(await engineFilesOf(layers)).toEqual({ layers });
  await expect(importBuild({ model: modelPath('vit_tiny'), pieces: [{ file: ncu }], cache: folder })).rejects.toThrow(/Add the build log/); // oxfmt-ignore
});

test('a trace that cannot be read is refused with the reason', async () => {
  const pieces = (name: string) => [{ file: fixturePath('traces/vit_tiny.fp16/layers.json.gz') }, { file: fixturePath(`traces/${name}.sqlite`) }]; // oxfmt-ignore
  const attempt = (name: string) => importBuild({ model: modelPath('vit_tiny'), pieces: pieces(name), cache: folder });
  await expect(attempt('wal')).rejects.toThrow(/^wal\.sqlite: The SQLite file uses a write-ahead log/);
  await expect(attempt('renamed')).rejects.toThrow(
    /^renamed\.sqlite: The table CUPTI_ACTIVITY_KIND_KERNEL, .*has no column/,
  );
});
