// `npm start [-- MODEL.onnx] [--no-serve] [--port N] [options of trtlens build]`: from a fresh clone to the first
// picture. Plain Node, no package is needed before this has installed them.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages, requireNode } from './install.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const example = join(root, 'examples', 'vit_tiny.onnx');
const recorded = join(root, 'examples', 'recorded', 'vit_tiny');

// npm runs this in the package's folder; paths are meant from where the person stands.
const here = process.env.INIT_CWD ?? process.cwd();
requireNode();
const { model, serve, port, passed } = readArguments(process.argv.slice(2));
process.chdir(root);
installPackages();
run(process.execPath, [join(root, 'esbuild.mjs')], 'Building TensorRT Lens …');

const folder = mkdtempSync(join(tmpdir(), 'tensorrt-lens-'));
const removeFolder = () => rmSync(folder, { recursive: true, force: true });
process.on('exit', removeFolder);
const report = join(folder, 'report.html');
build();
// Read once: nothing else can be asked for.
const page = readFileSync(report);
removeFolder(); // from here on a signal may end this
if (serve) showAt(page, port);

function readArguments(args) {
  /** @type {{ model: string | undefined, serve: boolean, port: number, passed: string[] }} */
  const found = { model: undefined, serve: true, port: 0, passed: [] };
  if (args.some((argument) => argument === '--help' || argument === '-h')) {
    console.log('npm start [-- MODEL.onnx] [--no-serve] [--port N] [options of trtlens build]');
    process.exit(0);
  }
  args.forEach((argument, index) => {
    // Other words are values of options that trtlens knows.
    const isModel = !argument.startsWith('-') && (index === 0 || /\.onnx(\.gz)?$/i.test(argument));
    if (argument === '--no-serve') found.serve = false;
    else if (argument === '--port') found.port = Number(args[index + 1]);
    else if (args[index - 1] === '--port') return;
    else if (isModel && found.model === undefined)
      found.model = isAbsolute(argument) ? argument : resolve(here, argument);
    else found.passed.push(argument);
  });
  if (!Number.isInteger(found.port) || found.port < 0 || found.port > 65535)
    fail('--port: expected a number up to 65535');
  if (found.model !== undefined && !existsSync(found.model)) fail(`${found.model}: no such file`);
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

function trtlens(args) {
  return spawnSync(process.execPath, [join(root, 'dist', 'cli.js'), ...args], { cwd: here, stdio: 'inherit' }).status;
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
