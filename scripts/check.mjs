// Everything that can be said about the code without running it: types, lint, format, dead code, stale generated files.
import { spawnSync } from 'node:child_process';

/** @type {[string, string[]][]} */
const steps = [
  ['tsc', ['-b']],
  ['oxlint', ['--type-aware', '--deny-warnings', 'src', 'webview', 'test', 'bench', 'scripts']],
  ['prettier', ['--check', '--log-level', 'warn', '.']],
  ['knip', []],
  ['node', ['scripts/generate.mjs', '--check']],
];

let failed = 0;
for (const [program, args] of steps) {
  const path = program === 'node' ? process.execPath : `node_modules/.bin/${program}`;
  const { status } = spawnSync(path, args, { stdio: 'inherit' });
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${program} ${args.join(' ')}`);
  if (status !== 0) failed += 1;
}
process.exit(failed ? 1 : 0);
