// `npm test`: every test, and one closing line `N passed, N failed`. `npm test -- unit host` runs only the named parts.
// It starts on any Node ≥ 20.19 with nothing installed.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages, leaveNpm, localNode, requireNode } from './install.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
requireNode();
leaveNpm();
const begun = Date.now();
installPackages();

const node = localNode();
const vitest = 'node_modules/vitest/vitest.mjs';
const results = 'out/test';

/** What a fresh machine lacks; installed while the parts that need none of it run. */
const installs = {
  host: {
    command: ['bash', 'test/host/runtime/install-host.sh'],
    next: 'It needs the npm registry and, where Chromium, a C++ compiler or the headers of Kerberos are missing, apt as root or with sudo. Run test/host/runtime/install-host.sh to see all of it',
  },
  python: {
    command: [node, 'test/support/installTools.ts'],
    next: 'It needs Python 3.11 to 3.13 with pip, and the Python package index. Run npm start to see whether TensorRT-RTX can be installed',
  },
};

/**
 * A part's command, what must be there first, and where it says how many passed: vitest's JSON, or the last line
 * `N passed, N failed`. Parts that are `aside` wait a lot, so they run next to the others once the build is done.
 */
const parts = {
  check: { command: [node, 'scripts/check.mjs'] },
  unit: { vitest: 'unit' },
  rules: { vitest: 'rules' },
  // As it ships. By the Node that runs this script, which may be older than the one of the test runners.
  build: { command: [process.execPath, 'scripts/package.mjs'] },
  long: { vitest: 'long' },
  webview: { vitest: 'webview', needs: ['build', 'host'] },
  driver: { vitest: 'driver', needs: ['python'], aside: true },
  // Other people's files, which are not ours to ship: beside the checkout, or not at all.
  samples: {
    vitest: 'samples',
    needs: ['python'],
    folder: '../shared/samples',
    required: process.env.TRTLENS_SAMPLES === 'required',
  },
  real: { vitest: 'real', needs: ['build', 'python'] },
  release: { vitest: 'release', needs: ['build'] },
  host: { command: [node, 'test/host/run.mjs', 'host'], needs: ['build', 'python', 'host'], aside: true },
  // Not aside: windows of a real editor and the browsers of `webview` slow each other beyond what their tests wait for.
  ui: { command: [node, 'test/host/run.mjs', 'ui'], needs: ['build', 'python', 'host'] },
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in parts));
if (unknown.length > 0) {
  console.error(`Unknown part ${unknown.join(', ')}; parts are ${Object.keys(parts).join(', ')}`);
  process.exit(2);
}
/** Those asked for, and the build where one of them tests it. */
const names = Object.keys(parts).filter(
  (name) => asked.length === 0 || asked.includes(name) || (name === 'build' && asked.some((one) => needs(one, name))),
);
rmSync(results, { recursive: true, force: true });
mkdirSync(results, { recursive: true });
const running = new Set();

/** By name, what a part may wait for: the two installs, and the build. */
const ready = Object.fromEntries(
  Object.keys(installs)
    .filter((name) => names.some((part) => needs(part, name)))
    .map((name) => [name, install(name)]),
);
let buildDone;
ready.build = new Promise((resolve) => (buildDone = resolve));

/** What each part that ran said of itself. */
const counts = [];
/** What failed, said again at the end: by then its own part has scrolled away, or been cut off. */
const failures = [];
const aside = names.filter((name) => parts[name].aside);
await Promise.all([runAll(names.filter((name) => !aside.includes(name))), runAll(aside, { together: false })]);
if (failures.length > 0) console.log(`\n── failed ${'─'.repeat(64)}\n${failures.join('\n')}`);
const sum = (key) => counts.reduce((all, count) => all + count[key], 0);
console.log(`\nThe whole took ${seconds(Date.now() - begun)}.\n${sum('passed')} passed, ${sum('failed')} failed`);
process.exit(sum('failed') === 0 && sum('passed') > 0 ? 0 : 1);

function needs(part, what) {
  return parts[part].needs?.includes(what) ?? false;
}

/** Runs parts one after the other. With `together: false` what a part prints comes at its end, in one piece. */
async function runAll(chosen, { together = true } = {}) {
  for (const name of chosen) {
    const heading = `\n── ${name} ${'─'.repeat(70 - name.length)}`;
    const { folder, required, needs: needed = [] } = parts[name];
    if (folder !== undefined && !required && !existsSync(folder)) {
      console.log(`${heading}\n${name}: not run, ${folder} does not exist`);
      continue;
    }
    // oxlint-disable-next-line no-await-in-loop -- one part after the other: they share the machine's cores
    const had = await Promise.all(needed.map((what) => ready[what]));
    if (had.includes(false)) {
      counts.push({ passed: 0, failed: 1 });
      failures.push(`── ${name}\nNot run, because the build failed.`);
      console.log(`${heading}\n${name}: 0 passed, 1 failed, not run, because the build failed`);
      continue;
    }
    if (together) console.log(heading);
    const started = Date.now();
    // oxlint-disable-next-line no-await-in-loop
    const count = await (parts[name].vitest ? runVitest(name, together) : runCommand(name, together));
    counts.push(count);
    if (count.failed > 0) failures.push(`── ${name}\n${count.why.trimEnd()}`);
    if (!together) console.log(`${heading}\n${count.said.trimEnd()}`);
    console.log(`${name}: ${count.passed} passed, ${count.failed} failed, ${seconds(Date.now() - started)}`);
    if (name === 'build') buildDone(count.failed === 0);
  }
}

async function runVitest(name, shown) {
  const file = `${results}/${name}.json`;
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${file}`];
  const { status, said } = await run([node, vitest, 'run', '--project', name, ...reporters], { shown });
  if (!existsSync(file))
    return { passed: 0, failed: 1, said, why: `vitest exited with ${status} and wrote no results.` };
  const report = JSON.parse(readFileSync(file, 'utf8'));
  // A skipped test is a failed one: it says nothing about what it was written for.
  const bad = report.numFailedTests + report.numPendingTests + report.numTodoTests;
  const broken = report.testResults.filter((r) => r.status === 'failed' && r.assertionResults.length === 0).length;
  const none = report.numTotalTests === 0 ? 1 : 0;
  return {
    said,
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

async function runCommand(name, shown) {
  // The host tests need no build of their own.
  const { status, said } = await run(parts[name].command, { shown, env: { TRTLENS_PACKAGED: '1' } });
  const why = said.slice(-4000);
  const count = said
    .trimEnd()
    .split('\n')
    .at(-1)
    .match(/^(\d+) passed, (\d+) failed$/);
  if (!count) return { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, said, why };
  return { passed: Number(count[1]), failed: Math.max(Number(count[2]), status === 0 ? 0 : 1), said, why };
}

/** Starts an install. When it fails, so does everything, at once: hours of other tests would not help. */
async function install(name) {
  const { command, next } = installs[name];
  const { status, said } = await run(command);
  if (status === 0) return;
  for (const child of running) child.kill();
  console.log(
    `\n${said.slice(-4000).trimEnd()}\n\nWhat the tests need (${name}) could not be installed: ${command.join(' ')} exited with ${status}, see above.\n${next}.`,
  );
  const without = Object.keys(parts).filter((part) => !needs(part, name));
  console.log(`The parts without it: npm test -- ${without.join(' ')}\n\n0 passed, 1 failed`);
  process.exit(1);
}

/** Runs a program to its end: its exit status, and what it printed, which is also passed on when it is `shown`. */
function run([program, ...args], { shown = false, env = {} } = {}) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  running.add(child);
  let said = '';
  for (const stream of ['stdout', 'stderr'])
    child[stream].setEncoding('utf8').on('data', (chunk) => {
      said += chunk;
      if (shown) process[stream].write(chunk);
    });
  return new Promise((resolve) => {
    const end = (status) => {
      running.delete(child);
      resolve({ status, said });
    };
    child.on('error', (error) => {
      said += error.message;
      end(null);
    });
    child.on('close', end);
  });
}

function seconds(time) {
  return `${Math.round(time / 1000)} s`;
}
