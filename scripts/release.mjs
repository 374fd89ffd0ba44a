// `npm run release`: everything that a release consists of, in out/release with checksums. Nothing is published.
//   tensorrt-lens.vsix, tensorrt-lens-pre-release.vsix   the extension
//   trtlens-VERSION-py3-none-any.whl                     the command line and a Python module (packaging/pip)
//   trtlens-VERSION.tgz                                  the command line for npx (packaging/npm)
//   sbom.cdx.json                                        the packages that their bundles contain
// `npm run release -- wheel npm` makes only these; with `--no-build`, of what is in dist.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readManifest } from './generate/manifestTexts.mjs';
import { installPackages } from './install.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
installPackages();
const { collectNotices, packagesOf } = await import('./notices.mjs');

const artifacts = { vsix, 'pre-release': preRelease, wheel, npm };
const builds = !process.argv.includes('--no-build');
const asked = process.argv.slice(2).filter((argument) => argument !== '--no-build');
const unknown = asked.filter((name) => !(name in artifacts));
if (unknown.length > 0)
  fail(`unknown artifact ${unknown.join(', ')}; artifacts are ${Object.keys(artifacts).join(', ')}`);

const manifest = readManifest((file) => readFileSync(file, 'utf8'));
const out = resolve('out/release');
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const folder = mkdtempSync(join(tmpdir(), 'tensorrt-lens-'));
try {
  for (const name of asked.length > 0 ? asked : Object.keys(artifacts))
    // oxlint-disable-next-line no-await-in-loop -- each empties and fills dist
    await artifacts[name]();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
writeFileSync(
  join(out, 'sbom.cdx.json'),
  sbomOf(await packagesOf(['dist/cli.js', 'dist/webview/report.js', 'dist/extension.cjs'])),
);
const sums = readdirSync(out)
  .toSorted()
  .map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(join(out, name)))
        .digest('hex')}  ${name}\n`,
  );
writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
process.stdout.write(sums.join(''));

function vsix() {
  run(process.execPath, ['scripts/package.mjs']);
  copyFileSync('dist/tensorrt-lens.vsix', join(out, 'tensorrt-lens.vsix'));
}

function preRelease() {
  run(process.execPath, ['scripts/package.mjs', '--pre-release']);
  copyFileSync('dist/tensorrt-lens.vsix', join(out, 'tensorrt-lens-pre-release.vsix'));
}

/** setuptools builds it, in an environment of its own: the Python in use needs pip only. */
async function wheel() {
  const project = join(folder, 'pip');
  cpSync('packaging/pip', project, { recursive: true, filter: (path) => !path.includes('__pycache__') });
  copyFileSync('LICENSE', join(project, 'LICENSE'));
  writeFileSync(join(project, 'VERSION'), `${manifest.version}\n`);
  await copyCommandLine(join(project, 'tensorrt_lens', 'dist'));
  const python = process.platform === 'win32' ? 'python' : 'python3';
  run(python, [
    '-m',
    'pip',
    'wheel',
    '--quiet',
    '--no-deps',
    '--disable-pip-version-check',
    '--wheel-dir',
    out,
    project,
  ]);
}

/** Its manifest is that of the command line alone; what the two have in common stands in package.json. */
async function npm() {
  const project = join(folder, 'npm');
  mkdirSync(project, { recursive: true });
  for (const path of ['packaging/npm/README.md', 'LICENSE', 'CHANGELOG.md'])
    copyFileSync(path, join(project, path.split('/').at(-1)));
  await copyCommandLine(join(project, 'dist'));
  const { version, description, license, keywords, repository, bugs, homepage, bin } = manifest;
  const engines = { node: manifest.engines.node };
  const publishConfig = { access: 'public', provenance: true };
  const own = { name: 'trtlens', version, description, license, keywords, repository, bugs, homepage };
  const text = JSON.stringify({ ...own, bin, files: ['dist', 'CHANGELOG.md'], engines, publishConfig }, null, 2);
  writeFileSync(join(project, 'package.json'), `${text}\n`);
  const program = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  run(program, ['pack', '--silent', '--pack-destination', out], { cwd: project, shell: process.platform === 'win32' });
}

/** What the command line needs of dist: all but the extension and its views in the editor. */
async function copyCommandLine(to) {
  if (builds) run(process.execPath, ['esbuild.mjs', '--minify', '--clean']);
  const notices = await collectNotices(['dist/cli.js', 'dist/webview/report.js']);
  const extension =
    /[\\/]dist[\\/](?:extension\.mjs|server\.mjs|part-\w+\.mjs|webview[\\/]editor\..*|.*\.vsix|THIRD.*)$/;
  cpSync(resolve('dist'), to, { recursive: true, filter: (path) => !extension.test(path) });
  writeFileSync(join(to, 'THIRD_PARTY_NOTICES.txt'), notices);
  cpSync('schemas', join(to, 'schemas'), { recursive: true });
}

/** What the bundles contain, as CycloneDX. */
function sbomOf(packages) {
  const components = packages.map(({ name, version, license }) => ({
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(license && { licenses: [{ expression: license }] }),
  }));
  const component = { type: 'application', name: 'trtlens', version: manifest.version };
  const sbom = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata: { component }, components };
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

function run(program, args, options = {}) {
  const { status, error } = spawnSync(program, args, { stdio: ['ignore', 2, 2], ...options });
  if (status !== 0) fail(`${program} ${args.join(' ')}: ${error ? error.message : `exited with ${status}`}`);
}

function fail(message) {
  console.error(`npm run release: ${message}`);
  process.exit(2);
}
