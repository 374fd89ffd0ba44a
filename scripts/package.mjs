// `npm run package`: builds everything for shipping and packs the extension as dist/tensorrt-lens.vsix.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages, localNode } from './install.mjs';

const VSIX = 'dist/tensorrt-lens.vsix';
/** In bytes: who installs it waits for the download. */
const LIMIT = 1_600_000;
const VSCE = resolve(import.meta.dirname, '../node_modules/@vscode/vsce/vsce');

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
installPackages();
// vsce needs a newer Node than the one that may have started this.
const node = resolve(localNode());

const { collectNotices, packedFiles } = await import('./notices.mjs');
run(['esbuild.mjs', '--minify', '--clean']);
mkdirSync('dist', { recursive: true });
writeFileSync('dist/THIRD_PARTY_NOTICES.txt', await collectNotices(packedFiles()));
const folder = mkdtempSync(join(tmpdir(), 'tensorrt-lens-'));
try {
  stage(folder);
  const flags = process.argv.slice(2).filter((flag) => flag === '--pre-release');
  const said = run(
    ['--require', resolve('scripts/bestCompression.cjs'), VSCE, 'package', '--out', resolve(VSIX), ...flags],
    folder,
  );
  process.stdout.write(said);
  if (/\bWARNING\b/.test(said)) fail('vsce warns about the package.');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const { size } = statSync(VSIX);
console.log(`${VSIX}: ${size.toLocaleString('en')} bytes`);
if (size > LIMIT) fail(`The package must not exceed ${LIMIT.toLocaleString('en')} bytes.`);

/**
 * Lays out what .vscodeignore names as vsce packs it: with the README of the Marketplace, and a manifest without what
 * only developers need. What the bundles need is in them: no dependencies to install or to ship.
 */
function stage(to) {
  const listed = run([VSCE, 'ls', '--no-dependencies']).trim();
  for (const path of [...listed.split(/\r?\n/), '.vscodeignore']) cpSync(path, join(to, path));
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  // A pre-release has a version of its own, with an odd minor number, before the stable one that follows it.
  const version = process.argv.includes('--pre-release')
    ? manifest.version.replace(/\.(\d+)\./, (_, minor) => `.${Number(minor) + 1}.`)
    : manifest.version;
  // vsce makes tags of the aliases before it looks up their texts.
  const texts = JSON.parse(readFileSync('package.nls.json', 'utf8'));
  for (const language of manifest.contributes.languages)
    language.aliases = language.aliases.map((alias) => texts[alias.replaceAll('%', '')] ?? alias);
  const developers = {
    private: undefined,
    scripts: undefined,
    devDependencies: undefined,
    optionalDependencies: undefined,
  };
  const own = { ...manifest, ...developers, version };
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(own)}\n`);
  // What only programs read is packed without blanks.
  for (const path of listed.split(/\r?\n/).filter((one) => /^(?:schemas|syntaxes)\/.*\.json$/.test(one)))
    writeFileSync(join(to, path), JSON.stringify(JSON.parse(readFileSync(path, 'utf8'))));
  // vsce makes links relative to the root absolute, by the manifest's repository.
  const readme = readFileSync('packaging/vsix/README.md', 'utf8').replaceAll('](../../', '](');
  writeFileSync(join(to, 'README.md'), readme);
}

/** Gives what the program printed; ends this one where it failed. */
function run(args, cwd = '.') {
  const { status, stdout, stderr } = spawnSync(node, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) fail(`${stdout ?? ''}${stderr ?? ''}${args[0]} exited with ${status}.`);
  return `${stdout}${stderr}`;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
