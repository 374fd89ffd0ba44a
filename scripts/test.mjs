// `npm test`: every test, and one closing line `N passed, N failed`. `npm test -- unit host` runs only the named parts.
// It starts on any Node ≥ 20.19 with nothing installed.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { setPriority } from 'node:os';
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
 * `N passed, N failed`. Two parts run at a time: one of the three that compute for minutes, and one of those that `waits`,
 * most of them for a browser, an editor or a compiler; both rows take about as long. The former have a lower priority: they
 * take what the other one leaves, so that both cores are busy and no browser starves. Only one that waits runs at a time:
 * windows of a real editor and the browsers of `webview` slow each other beyond what their tests wait for.
 */
const parts = {
  // While the editor and the browser are installed, which the parts after these wait for.
  check: { command: [node, 'scripts/check.mjs'], waits: true },
  unit: { vitest: 'unit' },
  rules: { vitest: 'rules', waits: true },
  // As it ships. By the Node that runs this script, which may be older than the one of the test runners.
  build: { command: [process.execPath, 'scripts/package.mjs'], waits: true },
  // Its commands of docs run ONNX Runtime.
  long: { vitest: 'long', needs: ['python'] },
  webview: { vitest: 'webview', needs: ['build', 'host'], waits: true },
  driver: { vitest: 'driver', needs: ['python'], waits: true },
  // Other people's files, which are not ours to ship: beside the checkout, or not at all.
  samples: {
    vitest: 'samples',
    needs: ['python'],
    folder: '../shared/samples',
    required: process.env.TRTLENS_SAMPLES === 'required',
    waits: true,
  },
  real: { vitest: 'real', needs: ['build', 'python'] },
  release: { vitest: 'release', needs: ['build'], waits: true },
  host: { command: [node, 'test/host/run.mjs', 'host'], needs: ['build', 'python', 'host'], waits: true },
  ui: { command: [node, 'test/host/run.mjs', 'ui'], needs: ['build', 'python', 'host'], waits: true },
  // It installs Wine, which not everyone wants: only where it is asked for.
  windows: { command: [node, 'test/windows/run.mjs'], waits: true, onRequest: true },
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in parts));
if (unknown.length > 0) {
  console.error(`Unknown part ${unknown.join(', ')}; parts are ${Object.keys(parts).join(', ')}`);
  process.exit(2);
}
/** Those asked for, and the build where one of them tests it. */
const names = Object.keys(parts).filter(
  (name) =>
    (asked.length === 0 && !parts[name].onRequest) ||
    asked.includes(name) ||
    (name === 'build' && asked.some((one) => needs(one, name))),
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
const computing = names.filter((name) => !parts[name].waits);
const waiting = names.filter((name) => parts[name].waits);
const behind = printer(computing.length === 0);
await Promise.all([runAll(computing, printer(true)).then(() => behind.show()), runAll(waiting, behind)]);
if (failures.length > 0) console.log(`\n── failed ${'─'.repeat(64)}\n${failures.join('\n')}`);
const sum = (key) => counts.reduce((all, count) => all + count[key], 0);
console.log(`\nThe whole took ${seconds(Date.now() - begun)}.\n${sum('passed')} passed, ${sum('failed')} failed`);
process.exit(sum('failed') === 0 && sum('passed') > 0 ? 0 : 1);

function needs(part, what) {
  return parts[part].needs?.includes(what) ?? false;
}

/**
 * Prints what a row of parts says: at once, or, while the other row prints, a part in one piece when it ends. `show`: from
 * now on at once.
 */
function printer(live) {
  let held = '';
  const flush = () => {
    process.stdout.write(held);
    held = '';
  };
  return {
    say(text) {
      held += text;
      if (live) flush();
    },
    flush,
    show() {
      live = true;
      flush();
    },
  };
}

/** Runs parts one after the other. */
async function runAll(chosen, { say, flush }) {
  for (const name of chosen) {
    // oxlint-disable-next-line no-await-in-loop -- one part after the other: they share the machine's cores
    await runPart(name, say);
    flush();
  }
}

async function runPart(name, say) {
  const { folder, required, vitest: project, needs: needed = [] } = parts[name];
  const heading = `\n── ${name} ${'─'.repeat(70 - name.length)}\n`;
  if (folder !== undefined && !required && !existsSync(folder)) {
    say(`${heading}${name}: not run, ${folder} does not exist\n`);
    return;
  }
  const had = await Promise.all(needed.map((what) => ready[what]));
  say(heading);
  if (had.includes(false)) {
    counts.push({ passed: 0, failed: 1 });
    failures.push(`── ${name}\nNot run, because the build failed.`);
    say(`${name}: 0 passed, 1 failed, not run, because the build failed\n`);
    return;
  }
  const started = Date.now();
  const count = await (project ? runVitest(name, say) : runCommand(name, say));
  counts.push(count);
  if (count.failed > 0) failures.push(`── ${name}\n${count.why.trimEnd()}`);
  say(`${name}: ${count.passed} passed, ${count.failed} failed, ${seconds(Date.now() - started)}\n`);
  if (name === 'build') buildDone(count.failed === 0);
}

async function runVitest(name, say) {
  const file = `${results}/${name}.json`;
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${file}`];
  const { status } = await run([node, vitest, 'run', '--project', name, ...reporters], {
    say,
    yields: !parts[name].waits,
  });
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

async function runCommand(name, say) {
  // The host tests need no build of their own.
  const { status, said } = await run(parts[name].command, {
    say,
    yields: !parts[name].waits,
    env: { TRTLENS_PACKAGED: '1' },
  });
  const why = said.slice(-4000);
  const count = said
    .trimEnd()
    .split('\n')
    .at(-1)
    .match(/^(\d+) passed, (\d+) failed$/);
  if (!count) return { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, why };
  return { passed: Number(count[1]), failed: Math.max(Number(count[2]), status === 0 ? 0 : 1), why };
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

/**
 * Runs a program to its end: its exit status, and what it printed, which `say` also gets piece by piece. One that `yields`
 * runs, with all that it starts, only where the other programs leave time.
 */
function run([program, ...args], { say = () => {}, yields = false, env = {} } = {}) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  if (yields && child.pid !== undefined) setPriority(child.pid, 5);
  running.add(child);
  let said = '';
  for (const stream of ['stdout', 'stderr'])
    child[stream].setEncoding('utf8').on('data', (chunk) => {
      said += chunk;
      say(chunk);
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
