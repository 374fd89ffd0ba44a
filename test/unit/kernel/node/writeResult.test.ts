import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { allowReplacing } from '../../../../src/kernel/node/files/replacing.ts';
import {
  checkOutput,
  moveResult,
  type OutputKind,
  writeResult,
} from '../../../../src/kernel/node/files/writeResult.ts';
import { temporaryFolder, temporaryFor } from '../../../../src/kernel/node/files/writeWhole.ts';

const folder = mkdtempSync(join(tmpdir(), 'write-result-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = (name: string) => join(folder, name);

/** A text of each kind, as commands write it, and one of another program that looks alike. */
it.each<[kind: OutputKind, ours: string, foreign: string]>([
  ['page', '<html><meta name="generator" content="TensorRT Lens">', '<html><title>Thesis</title>'],
  ['data', '{"title":"model"}', '{"title":"My thesis"}'],
  ['trace', '{"traceEvents":[]}', '{"traceEvents":[{"name":"of another profiler"}]}'],
  ['report', '{"schema":1,"tensorrt":{}}', '{"schema":1,"title":"of another program"}'],
  ['rules', 'op:Softmax fp32\n', 'op:Softmax fp32\n# edited for weeks\n'],
  ['markdown', '# Result\n', '# Thesis\n'],
  [
    'junit',
    '<?xml version="1.0"?>\n<testsuites>\n</testsuites>\n',
    '<?xml version="1.0"?>\n<testsuites>\n</testsuites>\n',
  ],
  [
    'sarif',
    '{"runs": [{ "tool": { "driver": { "name": "trtlens gate"',
    '{"runs": [{ "tool": { "driver": { "name": "other"',
  ],
  ['code-quality', '[{ "check_name": "trtlens-build" }]', '[{ "check_name": "eslint" }]'],
])('replaces its own %s, and no other', async (kind, ours, foreign) => {
  const path = file(`${kind}.out`);
  await writeResult(path, ours, kind);
  const first = readFileSync(path, 'utf8');
  await writeResult(path, ours, kind);
  expect(readFileSync(path, 'utf8')).toBe(first);
  writeFileSync(path, foreign);
  await expect(writeResult(path, ours, kind)).rejects.toThrow(/already exists and is not .*--force/);
  expect(readFileSync(path, 'utf8')).toBe(foreign);
  allowReplacing(path);
  await writeResult(path, ours, kind);
  expect(readFileSync(path, 'utf8')).toBe(first);
});

it('keeps JSON that it marks readable', async () => {
  await writeResult(file('d.json'), '{"title":"m","graph":null}', 'data');
  await writeResult(file('t.json'), '{"traceEvents":[1]}\n', 'trace');
  expect(JSON.parse(readFileSync(file('d.json'), 'utf8'))).toMatchObject({ title: 'm', graph: null });
  expect(JSON.parse(readFileSync(file('t.json'), 'utf8'))).toMatchObject({ traceEvents: [1] });
});

it('marks archives, which stay readable, and replaces no other', async () => {
  const write = (name: string) =>
    execFileSync('python3', [
      '-Ic',
      'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "w").writestr("a.npy", b"1")',
      file(name),
    ]);
  write('foreign.npz');
  await expect(checkOutput(file('foreign.npz'), [], 'zip')).rejects.toThrow('is not an archive that trtlens wrote');
  for (const _ of [1, 2]) {
    write('made.tmp');
    // oxlint-disable-next-line no-await-in-loop -- the second replaces the first
    await moveResult(file('made.tmp'), file('out.npz'), 'zip');
  }
  const list =
    'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip(), z.namelist(), z.comment.decode())';
  expect(execFileSync('python3', ['-Ic', list, file('out.npz')], { encoding: 'utf8' })).toBe(
    "None ['a.npy'] TensorRT Lens\n",
  );
});

it('removes what killed runs left, and nothing of a run that goes on', async () => {
  const parent = file('cache');
  mkdirSync(parent);
  const mine = await temporaryFolder(parent, 'try-');
  const { pid } = spawnSync(process.execPath, ['--version']);
  const killed = mine.replace(`try-${process.pid}-`, `try-${pid}-`);
  const [, place] = /-\d+-([0-9a-f]{8})-/.exec(mine)!;
  const elsewhere = killed.replace(place!, '00000000');
  for (const path of [killed, elsewhere]) mkdirSync(path);
  mkdirSync(join(parent, 'try-mine'));
  const model = join(parent, 'm.onnx');
  const left = (await temporaryFor(model)).replace(`.${process.pid}-`, `.${pid}-`);
  appendFileSync(left, 'half a model');
  const next = await temporaryFolder(parent, 'try-');
  await temporaryFor(model);
  const names = (paths: string[]) => paths.map((path) => path.slice(parent.length + 1)).toSorted();
  expect(readdirSync(parent).toSorted()).toEqual(names([mine, next, elsewhere, join(parent, 'try-mine')]));
  utimesSync(elsewhere, 0, 0);
  await temporaryFolder(parent, 'try-');
  expect(readdirSync(parent)).not.toContain(names([elsewhere])[0]);
});
