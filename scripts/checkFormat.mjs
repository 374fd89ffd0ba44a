// Whether each file has the format that `npm run format` gives it. Prettier takes a minute for all of them. oxfmt, which
// formats alike, takes a second: Prettier judges only what oxfmt would write differently.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const doubtful = run('oxfmt', '--list-different');
if (![0, 1].includes(doubtful.status) || doubtful.stderr !== '') fail(doubtful);
const files = doubtful.stdout.split('\n').filter((line) => line !== '');
if (doubtful.status === 1 && files.length === 0) fail(doubtful);
if (files.length > 0) {
  const judged = run('prettier', '--check', '--log-level', 'warn', ...files);
  if (judged.status !== 0) fail(judged);
}

function run(name, ...args) {
  const manifest = require.resolve(`${name}/package.json`);
  const { bin } = require(manifest);
  const program = join(dirname(manifest), typeof bin === 'string' ? bin : bin[name]);
  return spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
}

function fail({ stdout, stderr }) {
  console.error(`${stdout}${stderr}`.trim());
  process.exit(1);
}
