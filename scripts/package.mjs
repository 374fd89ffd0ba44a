// `npm run package`: builds everything for shipping and packs the extension as dist/tensorrt-lens.vsix.
import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installPackages, localNode } from './install.mjs';

const VSIX = 'dist/tensorrt-lens.vsix';
/** In bytes: who installs it waits for the download. */
const LIMIT = 1_200_000;

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
installPackages();
// vsce needs a newer Node than the one that may have started this.
const node = localNode();

const { collectNotices, packedFiles } = await import('./notices.mjs');
run('esbuild.mjs', '--minify', '--clean');
mkdirSync('dist', { recursive: true });
writeFileSync('dist/THIRD_PARTY_NOTICES.txt', await collectNotices(packedFiles()));
// What the bundles need is in them: no dependencies to install or to ship.
run(
  'node_modules/@vscode/vsce/vsce',
  'package',
  '--no-dependencies',
  '--out',
  VSIX,
  ...process.argv.slice(2).filter((flag) => flag === '--pre-release'),
);
const { size } = statSync(VSIX);
console.log(`${VSIX}: ${size.toLocaleString('en')} bytes`);
if (size > LIMIT) {
  console.error(`The package must not exceed ${LIMIT.toLocaleString('en')} bytes.`);
  process.exit(1);
}

function run(...args) {
  const { status } = spawnSync(node, args, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
