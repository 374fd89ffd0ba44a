// Installs the npm packages when they are missing or the lock file has changed. Plain Node, no dependency.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const STAMP = 'node_modules/.installed-lock';
/** The oldest Node that package.json's `engines` names. */
const OLDEST = [20, 19];

/** Ends the process with a line that says so where this Node is older than what package.json asks for. */
export function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  console.error(`Node ${OLDEST.join('.')} or later is required, this is ${process.versions.node}`);
  process.exit(2);
}

/** Installs what package-lock.json locks into the current folder unless the installed packages already are those of package-lock.json. Exits with npm's status when it fails. */
export function installPackages() {
  const lock = createHash('sha256').update(readFileSync('package-lock.json')).digest('hex');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lock) return;
  console.log('Installing npm packages …');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const options = { stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' };
  // Not `npm ci`: it refuses a lock file without the binaries of platforms that not every registry has.
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  const { status, error } = spawnSync(npm, args, options);
  if (status !== 0) {
    console.error(
      `npm install failed${error ? `: ${error.message}` : ''}. It needs access to the npm registry. Run npm install yourself to see why.`,
    );
    process.exit(status ?? 1);
  }
  writeFileSync(STAMP, lock);
}

/** The Node of the test runners; on Windows, where npm puts a script in its place, the one that runs this. */
export const localNode = () =>
  process.platform !== 'win32' && existsSync('node_modules/.bin/node') ? 'node_modules/.bin/node' : process.execPath;

/**
 * Removes from the environment what an outer `npm` says of itself and of the Node that runs it: what is installed or
 * tested here runs under another one. What a user sets for npm (registry, cache, proxy) stays.
 */
export function leaveNpm() {
  for (const name of Object.keys(process.env))
    if (/^npm_(?!config_)|^npm_config_(?:user_agent|node_gyp|(?:local_|global_)?prefix)$|^NODE$/.test(name))
      delete process.env[name];
}
