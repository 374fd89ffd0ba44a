import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** Names that Python, pip, venv and our probes import: beside a downloaded model any of them may be someone's. */
const planted = [
  'json.py',
  'importlib.py',
  'platform.py',
  'sysconfig.py',
  'argparse.py',
  'pip.py',
  'venv.py',
  'virtualenv.py',
  'numpy.py',
  'onnx.py',
  'onnxruntime.py',
  'tensorrt_rtx.py',
  'tensorrt/__init__.py',
  'polygraphy/__init__.py',
  'sitecustomize.py',
  'usercustomize.py',
];
const cli = resolve('dist/cli.js');
let folder: string;
let marks: string;
let elsewhere: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'planted-'));
  marks = mkdtempSync(join(tmpdir(), 'marks-'));
  elsewhere = mkdtempSync(join(tmpdir(), 'elsewhere-'));
  cpSync('test/fixtures/builds/qdq/model.onnx', join(folder, 'model.onnx'));
  for (const file of planted) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    const mark = join(marks, file.replaceAll('/', '-'));
    writeFileSync(join(folder, file), `open(${JSON.stringify(mark)}, "w").close()\nraise ImportError\n`);
  }
  // The user's own PYTHONPATH stays: its start-up file shows that an interpreter ran, and under which path.
  mkdirSync(join(folder, 'own'));
  for (const place of [elsewhere, join(folder, 'own')])
    writeFileSync(join(place, 'sitecustomize.py'), `open(${JSON.stringify(join(place, 'ran'))}, "w").close()\n`);
});

afterAll(() => {
  for (const place of [folder, marks, elsewhere]) rmSync(place, { recursive: true, force: true });
});

const commands = [
  ['check', 'model.onnx'],
  ['build', 'model.onnx', '--backend', 'python'],
  ['build', 'model.onnx', '--backend', 'polygraphy'],
  ['accuracy', 'model.onnx'],
  ['repair', 'model.onnx', '-o', 'repaired.onnx'],
  ['what-if', 'model.onnx', '--opset', '19'],
  ['setup', 'calibration', '--yes'],
];
const settings = (): [title: string, path: string | undefined, ran: string | null][] => [
  ['unset', undefined, null],
  ['empty', '', null],
  [':', ':', null],
  ['.', '.', null],
  [':/x', `:${elsewhere}`, elsewhere],
  ['relative', 'own', join(folder, 'own')],
];

/** Nothing can be downloaded: what starts Python to install still does. */
function run(args: string[], PYTHONPATH: string | undefined): Promise<string> {
  const { PYTHONPATH: _, ...rest } = process.env;
  const env = {
    ...rest,
    ...(PYTHONPATH !== undefined && { PYTHONPATH }),
    PATH: `.::${process.env['PATH']}`,
    XDG_CACHE_HOME: join(marks, '..', `cache-${folder.slice(-6)}`),
    PIP_INDEX_URL: 'http://127.0.0.1:9/',
    PIP_RETRIES: '0',
    PIP_TIMEOUT: '1',
  };
  return new Promise((done) => {
    const child = spawn(process.execPath, [cli, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (said += text.toString()));
    child.on('close', () => done(said));
  });
}

it('runs no Python file of the current folder, and the user’s own PYTHONPATH', async () => {
  for (const [title, path, ran] of settings()) {
    // oxlint-disable-next-line no-await-in-loop -- two cores
    const said = await Promise.all(commands.map((command) => run(command, path)));
    expect(readdirSync(marks), `PYTHONPATH ${title}`).toEqual([]);
    if (ran) expect(readdirSync(ran), `PYTHONPATH ${title}: Python ran\n${said.join('\n')}`).toContain('ran');
    else expect(said[1], said.join('\n')).toMatch(/tensorrt/);
  }
}, 300_000);
