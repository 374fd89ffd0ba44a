// `npm run golden`: rewrites the golden files. Say in the commit why they changed.
import { spawnSync } from 'node:child_process';

const { status } = spawnSync(
  process.execPath,
  ['node_modules/vitest/vitest.mjs', 'run', '--project', 'long', 'golden', ...process.argv.slice(2)],
  { stdio: 'inherit', env: { ...process.env, UPDATE_GOLDEN: '1' } },
);
process.exit(status ?? 1);
