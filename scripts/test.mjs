// `npm test`: every test, fast ones first, and one closing line `N passed, N failed`.
// `npm test -- unit host` runs only the named parts. It starts on any Node ≥ 20.19 with nothing installed.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages } from './install.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
installPackages();

const node = existsSync('node_modules/.bin/node') ? 'node_modules/.bin/node' : process.execPath;
const vitest = 'node_modules/vitest/vitest.mjs';
const results = 'out/test';

/** A part's command, and where it says how many passed: vitest's JSON, or the last line `N passed, N failed`. */
const parts = {
  check: { command: [node, 'scripts/check.mjs'] },
  unit: { vitest: 'unit' },
  rules: { vitest: 'rules' },
  build: { command: [node, 'esbuild.mjs', '--clean'] },
  long: { vitest: 'long' },
  webview: { vitest: 'webview', needsHost: true },
  driver: { vitest: 'driver' },
  // Other people's files, which are not ours to ship: beside the checkout, or not at all.
  samples: { vitest: 'samples', folder: '../shared/samples', required: process.env.TRTLENS_SAMPLES === 'required' },
  real: { vitest: 'real' },
  host: { command: [node, 'test/host/run.mjs', 'host'], needsHost: true },
  ui: { command: [node, 'test/host/run.mjs', 'ui'], needsHost: true },
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in parts));
if (unknown.length > 0) {
  console.error(`Unknown part ${unknown.join(', ')}; parts are ${Object.keys(parts).join(', ')}`);
  process.exit(2);
}
const names = asked.length > 0 ? asked : Object.keys(parts);
rmSync(results, { recursive: true, force: true });
mkdirSync(results, { recursive: true });

// The test host takes minutes to install on a fresh machine, so it does that while the fast tests run.
const hostReady = names.some((name) => parts[name].needsHost) ? installHost() : undefined;

let passed = 0;
let failed = 0;
/** What failed, said again at the end: by then its own part has scrolled away, or been cut off. */
const failures = [];
for (const name of names) {
  console.log(`\n── ${name} ${'─'.repeat(70 - name.length)}`);
  const { folder, required } = parts[name];
  if (folder !== undefined && !required && !existsSync(folder)) {
    console.log(`${name}: not run, ${folder} does not exist`);
    continue;
  }
  const started = Date.now();
  // oxlint-disable-next-line no-await-in-loop -- one part after the other: they share two cores
  if (parts[name].needsHost) await hostReady;
  const count = parts[name].vitest ? runVitest(name) : await runCommand(name, parts[name].command);
  passed += count.passed;
  failed += count.failed;
  if (count.failed > 0) failures.push(`── ${name}\n${count.why.trimEnd()}`);
  console.log(
    `${name}: ${count.passed} passed, ${count.failed} failed, ${Math.round((Date.now() - started) / 1000)} s`,
  );
}
if (failures.length > 0) console.log(`\n── failed ${'─'.repeat(64)}\n${failures.join('\n')}`);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;

function runVitest(name) {
  const file = `${results}/${name}.json`;
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${file}`];
  const { status } = spawnSync(node, [vitest, 'run', '--project', name, ...reporters], { stdio: 'inherit' });
  if (!existsSync(file)) return { passed: 0, failed: 1, why: `vitest exited with ${status} and wrote no results.` };
  const report = JSON.parse(readFileSync(file, 'utf8'));
  // A skipped test is a failed one: it says nothing about what it was written for.
  const bad = report.numFailedTests + report.numPendingTests + report.numTodoTests;
  const broken = report.testResults.filter((r) => r.status === 'failed' && r.assertionResults.length === 0).length;
  const none = report.numTotalTests === 0 ? 1 : 0;
  return {
    passed: report.numPassedTests,
    failed: Math.max(bad + broken + none, status === 0 ? 0 : 1),
    why: whyFailed(report) || `vitest exited with ${status}, although no test failed. See its output.`,
  };
}

/** @returns {string} each test of a vitest report that did not pass, by file and name, with what it said. */
function whyFailed({ testResults }) {
  const lines = [];
  for (const { name, message, status, assertionResults } of testResults) {
    const file = relative('.', name);
    if (status === 'failed' && assertionResults.length === 0) lines.push(`${file}\n${message.slice(0, 2000)}`);
    for (const test of assertionResults.filter((result) => result.status !== 'passed'))
      lines.push(`${file}: ${test.fullName} (${test.status})\n${test.failureMessages.join('\n').slice(0, 2000)}`);
  }
  return lines.join('\n');
}

async function runCommand(name, [program, ...args]) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (chunk) => {
    process.stdout.write(chunk);
    said = (said + chunk).slice(-4000);
  });
  const status = await new Promise((resolve) => child.on('close', resolve));
  const count = said
    .trimEnd()
    .split('\n')
    .at(-1)
    .match(/^(\d+) passed, (\d+) failed$/);
  if (!count) return { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, why: said };
  return { passed: Number(count[1]), failed: Math.max(Number(count[2]), status === 0 ? 0 : 1), why: said };
}

/** Resolves when the real VS Code and Chromium are there; what it prints is shown only if it fails. */
function installHost() {
  const child = spawn('bash', ['test/host/runtime/install-host.sh'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  return new Promise((resolve) => {
    child.on('close', (status) => {
      if (status !== 0) console.log(`Installing the test host failed (${status}):\n${said.slice(-4000)}`);
      resolve(undefined);
    });
  });
}
