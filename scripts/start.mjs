// `npm start`: from a fresh clone to the first picture. `npm start -- WHAT` takes anything: a model (builds it), a build
// log, a folder with the files of a build (diagnoses and draws it), or a command line of trtlens. Plain Node, no package
// is needed before this has installed them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages, requireNode } from './install.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const example = join(root, 'examples', 'vit_tiny.onnx');
const recorded = join(root, 'examples', 'recorded', 'vit_tiny');
const cli = join(root, 'dist', 'cli.js');

// npm runs this in the package's folder; paths are meant from where the person stands.
const here = process.env.INIT_CWD ?? process.cwd();
requireNode();
const [first = ''] = process.argv.slice(2);
const isCommand = /^[a-z][a-z-]*$/.test(first) && !existsSync(resolve(here, first));
const { input, serve, port, passed } = readArguments(isCommand ? [] : process.argv.slice(2));
const model = input !== undefined && /\.onnx(\.gz)?$/i.test(input) ? input : undefined;
process.chdir(root);
installPackages();
if (!isBuilt()) run(process.execPath, [join(root, 'esbuild.mjs')], 'Building TensorRT Lens …');
if (isCommand) process.exit(trtlens(process.argv.slice(2)) ?? 1);

const folder = mkdtempSync(join(tmpdir(), 'tensorrt-lens-'));
const removeFolder = () => rmSync(folder, { recursive: true, force: true });
process.on('exit', removeFolder);
const report = join(folder, 'report.html');
if (input === undefined || model !== undefined) build();
else draw();
// Read once: nothing else can be asked for.
const page = existsSync(report) ? readFileSync(report) : undefined;
removeFolder(); // from here on a signal may end this
if (serve && page) showAt(page, port);

function readArguments(args) {
  /** @type {{ input: string | undefined, serve: boolean, port: number, passed: string[] }} */
  const found = { input: undefined, serve: true, port: 0, passed: [] };
  if (args.some((argument) => argument === '--help' || argument === '-h')) {
    console.log(`npm start [-- MODEL.onnx [options of trtlens build] | BUILD.log | FOLDER] [--no-serve] [--port N]
npm start -- COMMAND …   (a command of trtlens; npm start -- help lists them)`);
    process.exit(0);
  }
  args.forEach((argument, index) => {
    // Other words are values of options that trtlens knows.
    const isInput = !argument.startsWith('-') && (index === 0 || /\.onnx(\.gz)?$/i.test(argument));
    if (argument === '--no-serve') found.serve = false;
    else if (argument === '--port') found.port = Number(args[index + 1]);
    else if (args[index - 1] === '--port') return;
    else if (isInput && found.input === undefined)
      found.input = isAbsolute(argument) ? argument : resolve(here, argument);
    else found.passed.push(argument);
  });
  if (!Number.isInteger(found.port) || found.port < 0 || found.port > 65535)
    fail('--port: expected a number up to 65535');
  if (found.input !== undefined && !existsSync(found.input)) fail(`${found.input}: no such file`);
  return found;
}

/** Builds the model for real. Where TensorRT-RTX cannot be had, the example is shown as it was recorded. */
function build() {
  if (trtlens(['setup', '--yes']) !== 0) {
    if (model !== undefined) fail('This model cannot be built without TensorRT-RTX.');
    console.error(
      '\nTensorRT-RTX is not available on this machine. The following is a RECORDED build of the example model.\n',
    );
    const log = join(recorded, 'build.log.gz');
    if (trtlens(['fusion', '--onnx', example, '--log', log]) !== 0) fail('The recorded build could not be read.');
    if (trtlens(['report', '--build', recorded, '-o', report]) !== 0) fail('The recorded build could not be shown.');
    return;
  }
  // The example is shipped without its weights: what TensorRT fuses does not hang on them.
  const own = model === undefined ? [example, '--random-weights'] : [model];
  const backend = passed.some((argument) => /^--backend(=|$)/.test(argument)) ? [] : ['--backend', 'rtx'];
  const status = trtlens(['build', ...own, ...backend, '--yes', '--report', report, ...passed]);
  if (status !== 0) process.exit(status ?? 1);
}

/** Reads the files of a build, says what failed or what TensorRT fused, and draws it. */
function draw() {
  const isFolder = statSync(input).isDirectory();
  if (isFolder && existsSync(join(input, 'manifest.json'))) {
    if (trtlens(['fusion', '--build', input]) === 0) trtlens(['report', '--build', input, '-o', report, ...passed]);
    return;
  }
  const names = readdirSync(isFolder ? input : dirname(input));
  /** The only file of its kind; with several, nobody knows which is meant. */
  const only = (flag, pattern) => {
    const found = names.filter((name) => pattern.test(name));
    return found.length === 1 ? [flag, join(isFolder ? input : dirname(input), found[0])] : [];
  };
  const onnx = only('--onnx', /\.onnx(\.gz)?$/i);
  const log = isFolder ? only('--log', /\.log(\.gz)?$|^log[^.]*\.txt(\.gz)?$/i) : ['--log', input];
  const others = isFolder
    ? [...only('--layers', /layer[^/]*\.json(\.gz)?$/i), ...only('--profile', /profile[^/]*\.json$/i)]
    : [];
  if (log.length + others.length === 0) fail(`${input}: no build log and no layer info in this folder`);
  const said =
    log.length > 0 ? spawnSync(process.execPath, [cli, 'diagnose', log[1], ...onnx], { encoding: 'utf8' }) : undefined;
  // A file of another kind is at least identified.
  if (said && said.status !== 0 && !isFolder) process.exit(trtlens(['inspect', input]) ?? 1);
  process.stdout.write(said?.stdout ?? '');
  const files = [...onnx, ...log, ...others, ...passed];
  const failed = /^error /m.test(said?.stdout ?? '');
  if (failed || trtlens(['fusion', ...files]) === 0) trtlens(['report', ...files, '-o', report]);
}

/** Whether what the last bundling wrote is newer than every source. */
function isBuilt() {
  if (!existsSync(cli) || !existsSync(join(root, 'dist', 'webview', 'report.js'))) return false;
  const built = statSync(cli).mtimeMs;
  const sources = ['src', 'webview', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) => join(root, folder, name)),
  );
  return [...sources, join(root, 'package.json'), join(root, 'esbuild.mjs')].every(
    (path) => statSync(path).mtimeMs <= built,
  );
}

function trtlens(args) {
  return spawnSync(process.execPath, [cli, ...args], { cwd: here, stdio: 'inherit' }).status;
}

function run(program, args, heading) {
  console.error(heading);
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (error || status !== 0) fail(`${program} ${args.join(' ')}: ${error ? error.message : `exited with ${status}`}`);
}

function fail(message) {
  console.error(`npm start: ${message}`);
  process.exit(2);
}

/** Serves the report, which has a policy of its own, to this machine alone. The Host header is checked, so that no web page elsewhere can read them. */
function showAt(page, wanted) {
  const server = createServer((request, response) => {
    const { port: own } = server.address();
    const answer = (status, type, body) => {
      response.writeHead(status, {
        'Content-Type': type,
        'Content-Length': body.length,
        'Content-Security-Policy': "frame-ancestors 'none'",
        'X-Content-Type-Options': 'nosniff',
        'Referrer-Policy': 'no-referrer',
        'Cross-Origin-Resource-Policy': 'same-origin',
        'Cache-Control': 'no-store',
      });
      response.end(request.method === 'HEAD' ? undefined : body);
    };
    const refuse = (status, text) => answer(status, 'text/plain; charset=utf-8', Buffer.from(text));
    if (![`127.0.0.1:${own}`, `localhost:${own}`].includes(request.headers.host)) return refuse(403, 'Wrong host.');
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'Only GET.');
    return request.url === '/' ? answer(200, 'text/html; charset=utf-8', page) : refuse(404, 'No such page.');
  });
  server.on('error', (error) => fail(`cannot listen on 127.0.0.1:${wanted}: ${error.message}`));
  server.listen(wanted, '127.0.0.1', () => {
    console.log(`\nOpen the views: http://127.0.0.1:${server.address().port}/   (Ctrl+C stops the server)`);
  });
}
