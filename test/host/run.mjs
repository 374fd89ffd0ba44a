// `node test/host/run.mjs host` runs test/host/extension inside VS Code's extension host; `… ui` drives the packaged
// extension by mouse and keyboard (test/host/ui). Installs and packages what they need, unless TRTLENS_PACKAGED says that
// it was done, and ends with one line `N passed, N failed`. More arguments name the test files to run: `… ui walk`.
// HOST_TESTS: another folder with tests for the extension host, such as those that measure.
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { localNode } from '../../scripts/install.mjs';
import { installExtension } from './runtime/server.cjs';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
const [kind, ...names] = process.argv.slice(2);
const parts = { host: runHost, ui: runUi };
if (!(kind in parts)) {
  console.error('Usage: node test/host/run.mjs host|ui [test file …]');
  process.exit(2);
}
// The test runners need Node 22 or later, which the development dependencies bring along.
const node = localNode();
const started = Date.now();
if (process.env.TRTLENS_PACKAGED !== '1') {
  run('bash', ['test/host/runtime/install-host.sh'], { quiet: true });
  run(node, ['scripts/package.mjs'], { quiet: true });
}

const folder = mkdtempSync(join(tmpdir(), 'tensorrt-lens-'));
// As it ships. Installed once, for the servers of all test files.
const extensions = join(folder, 'extensions');
installExtension('dist/tensorrt-lens.vsix', extensions);
const { passed, failed } = await parts[kind]();
rmSync(folder, { recursive: true, force: true });
console.log(`${Math.round((Date.now() - started) / 1000)} s`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

async function runHost() {
  const installed = readdirSync(extensions).find((name) => name.startsWith('trtlens.'));
  await bundleTests('out/host/tests');
  // The packages are there before the first test: nobody is there to agree to their download.
  const kept = keptPackages();
  const cache = join(folder, 'cache');
  mkdirSync(cache);
  for (const name of readdirSync(kept))
    if (/^(?:tensorrt-rtx|onnxruntime)-.*(?<!\.lock)$/.test(name)) symlinkSync(join(kept, name), join(cache, name));
  const results = join(folder, 'results.json');
  const fake = fakeTrtexec(folder);
  const env = {
    EXTENSION_FOLDER: join(extensions, installed),
    TEST_WORKSPACE: workspaceOf(folder, fake),
    REPOSITORY: process.cwd(),
    RESULTS: results,
    TENSORRT_LENS_CACHE: cache,
    FAKE_TRTEXEC: join(fake, 'fakeTrtexec.mjs'),
    FAKE_PIDS: join(fake, 'pids.txt'),
    REPLAY_TOOL: replayTool(folder),
  };
  const status = await runAside(node, ['node_modules/.bin/vscode-test', '--config', 'test/host/.vscode-test.mjs'], env);
  if (!existsSync(results)) return { passed: 0, failed: 1 };
  const count = JSON.parse(readFileSync(results, 'utf8'));
  return { passed: count.passed, failed: Math.max(count.failed, status === 0 ? 0 : 1) };
}

async function runUi() {
  const results = join(folder, 'results.tap');
  const reporters = ['spec', 'tap'].map((name) => `--test-reporter=${name}`);
  const to = ['stdout', results].map((name) => `--test-reporter-destination=${name}`);
  const rows = uiRows(3);
  const args = ['--test', `--test-concurrency=${rows.length}`, ...reporters.flatMap((r, i) => [r, to[i]]), ...rows];
  const env = { EXTENSIONS: extensions, PACKAGES: keptPackages() };
  const status = await runAside(node, args, env);
  const tap = existsSync(results) ? readFileSync(results, 'utf8') : '';
  const count = (name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(tap)?.[1] ?? 0);
  const bad = count('fail') + count('cancelled') + count('skipped') + count('todo');
  return { passed: count('pass'), failed: Math.max(bad, status === 0 ? 0 : 1) };
}

/**
 * Modules that run the files of `test/host/ui` one after the other, on one server and in one browser. They run at the same
 * time: each waits often, for a timer or for another process, while the others go on. Each file goes to the row that has
 * the least, the longest files first.
 */
function uiRows(most) {
  const from = fileURLToPath(new URL('ui/', import.meta.url));
  const size = (file) => statSync(join(from, file)).size;
  const files = chosen(from, '.test.mjs').toSorted((a, b) => size(b) - size(a));
  /** @type {{ files: string[], size: number }[]} */
  const rows = Array.from({ length: Math.min(most, files.length) }, () => ({ files: [], size: 0 }));
  for (const file of files) {
    const [row] = rows.toSorted((a, b) => a.size - b.size);
    row.files.push(file);
    row.size += size(file);
  }
  return rows.map((row, index) => {
    const path = join(folder, `row${index}.mjs`);
    const lines = row.files.map(
      (file) => `suite('${file}', async () => void (await import('${pathToFileURL(from)}${file}')));`,
    );
    const shared = `import { stop } from '${pathToFileURL(join(from, 'windows.mjs'))}';`;
    writeFileSync(path, [`import { after, suite } from 'node:test';`, shared, 'after(stop);', ...lines].join('\n'));
    return path;
  });
}

/** The user's own cache, with the packages that the tests need installed in it. */
function keptPackages() {
  for (const set of ['tensorrt-rtx', 'onnxruntime'])
    run(node, ['dist/cli.js', 'setup', set, '--yes'], { quiet: true, env: { TENSORRT_LENS_CACHE: '' } });
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tensorrt-lens');
}

/** The test files of a folder that the arguments name; all, when they name none. */
function chosen(path, ending) {
  return readdirSync(path).filter(
    (file) => file.endsWith(ending) && (names.length === 0 || names.some((name) => file.includes(name))),
  );
}

/** A folder with models to open and to build, with tasks.json, which tests may change, and with settings. */
function workspaceOf(parent) {
  const workspace = join(parent, 'workspace');
  mkdirSync(join(workspace, '.vscode'), { recursive: true });
  for (const name of ['fp16_overflow.onnx', 'loop_if.onnx', 'unsupported_op.onnx'])
    cpSync(`test/fixtures/models/${name}`, join(workspace, name));
  const task = (label, rest) => ({ label, type: 'tensorrt', model: '${workspaceFolder}/loop_if.onnx', ...rest });
  const tasks = [
    task('build without weights', { model: 'unsupported_op.onnx', backend: 'rtx', randomWeights: true }),
    task('build the loop', {
      backend: 'rtx',
      randomWeights: true,
      engine: '${workspaceFolder}/out/loop.engine',
      computeCapability: ['89'],
    }),
    task('wrong backend', { backend: 'abacus' }),
    task('wrong property', { optimizationLevel: 'high' }),
    task('never ends', { backend: 'trtexec' }),
  ];
  writeFileSync(join(workspace, '.vscode/tasks.json'), JSON.stringify({ version: '2.0.0', tasks }, null, 2));
  // As on a desktop. Else the editor saves on its own while a test does, and one of the two is told that it failed.
  writeFileSync(join(workspace, '.vscode/settings.json'), JSON.stringify({ 'files.autoSave': 'off' }));
  return workspace;
}

/** Gives the folder of a trtexec that never ends by itself. */
function fakeTrtexec(parent) {
  const place = join(parent, 'fake');
  mkdirSync(place);
  cpSync('test/host/fakeTrtexec.mjs', join(place, 'fakeTrtexec.mjs'));
  cpSync('test/fixtures/captures/tensorrt-10.6.0/cli.help/log.txt', join(place, 'help.txt'));
  return place;
}

/** Gives a Polygraphy that loads replays as a recorded one did: a script, because the runner's Node runs it. */
function replayTool(parent) {
  const path = join(parent, 'polygraphy');
  const script = fileURLToPath(new URL('replayTool.mjs', import.meta.url));
  const body = `import(${JSON.stringify(pathToFileURL(script).href)});`;
  // By the Node of the test runners: the script needs the source text of numbers, which JSON.parse gives since Node 22.
  writeFileSync(path, `#!${resolve(node)}\n${body}\n`, { mode: 0o755 });
  return path;
}

async function bundleTests(out) {
  const { build } = await import('esbuild');
  rmSync(out, { recursive: true, force: true });
  const from = process.env.HOST_TESTS ?? 'test/host/extension';
  const files = chosen(from, '.test.ts');
  await build({
    entryPoints: files.map((file) => `${from}/${file}`),
    outdir: out,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    sourcemap: 'inline',
    external: ['vscode'],
    logLevel: 'warning',
  });
}

/** Runs a step to its end; with `quiet`, its output is shown only when it fails. */
function run(program, args, { quiet = false, env = {} } = {}) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    env: { ...process.env, ...env },
    stdio: quiet ? 'pipe' : 'inherit',
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status === 0) return;
  console.error(`${stdout ?? ''}${stderr ?? ''}\n${program} ${args.join(' ')} ended with ${status}`);
  console.log('0 passed, 1 failed');
  process.exit(1);
}

/** Resolves to the exit status. */
function runAside(program, args, env) {
  const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => child.kill(signal));
  return new Promise((resolve) => child.on('close', resolve));
}
