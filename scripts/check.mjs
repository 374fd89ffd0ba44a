// Everything that can be said about the code without running it: types, lint, format, dead code, stale generated files.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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
  const script = program === 'node' ? [] : [scriptOf(program)];
  const { status } = spawnSync(process.execPath, [...script, ...args], { stdio: 'inherit' });
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${program} ${args.join(' ')}`);
  if (status !== 0) failed += 1;
}
process.exit(failed ? 1 : 0);

/** What `node_modules/.bin` names: on Windows that is a batch file, which only a shell could run. */
function scriptOf(program) {
  const folder = join('node_modules', program === 'tsc' ? 'typescript' : program);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, typeof bin === 'string' ? bin : bin[program]);
}
