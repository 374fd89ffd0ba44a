// Everything that can be said about the code without running it: types, lint, format, dead code, stale generated files.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Two rows of steps, next to each other, each a step at a time. The linter comes after the compiler: it reads the types that
 * one module has of another from what the compiler wrote.
 * @type {[string, string[]][][]}
 */
const rows = [
  [
    ['tsc', ['-b']],
    ['oxlint', ['--type-aware', '--deny-warnings', 'src', 'webview', 'test', 'bench', 'scripts']],
  ],
  [
    ['oxfmt', ['--check']],
    ['knip', []],
    ['node', ['scripts/generate.mjs', '--check']],
    [
      'vitest',
      [
        'run',
        '--project',
        'rules',
        'test/rules/budgets.test.ts',
        'test/rules/spelling.test.ts',
        '--disable-console-intercept',
      ],
    ],
  ],
];

let failed = 0;
await Promise.all(
  rows.map(async (row) => {
    // oxlint-disable-next-line no-await-in-loop -- see above
    for (const [program, args] of row) await runStep(program, args);
  }),
);
process.exit(failed ? 1 : 0);

/** What a step prints comes at its end, in one piece. */
async function runStep(program, args) {
  const script = program === 'node' ? [] : [scriptOf(program)];
  const child = spawn(process.execPath, [...script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (said += chunk));
  const status = await new Promise((resolve) => child.on('close', resolve));
  process.stdout.write(`${said}${status === 0 ? 'ok  ' : 'FAIL'} ${program} ${args.join(' ')}\n`);
  if (status !== 0) failed += 1;
}

/** What `node_modules/.bin` names: on Windows that is a batch file, which only a shell could run. */
function scriptOf(program) {
  const folder = join('node_modules', program === 'tsc' ? 'typescript' : program);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return join(folder, typeof bin === 'string' ? bin : bin[program]);
}
