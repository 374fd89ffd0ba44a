// Whose code the shipped bundles hold, under which license: their names and license texts, for THIRD_PARTY_NOTICES.txt.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundles } from '../esbuild.mjs';

/** What the extension's package contains of `dist`. */
export const packedFiles = () =>
  readFileSync('.vscodeignore', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));

/**
 * Resolves to the text of the notices for bundles whose files are among these paths. Throws when a bundled package says
 * nothing about its license.
 */
export async function collectNotices(packed) {
  const { folders, inside } = await foldersOf(packed);
  const parts = [...folders].toSorted((a, b) => a.localeCompare(b, 'en')).map(noticeOf);
  parts.push(...[...inside].toSorted((a, b) => a.localeCompare(b, 'en')).map(noticeInside));
  parts.push(icons);
  const head = `TensorRT Lens contains code of these ${parts.length} packages, unchanged but bundled and minified.`;
  return [head, ...parts].join(`\n\n${'='.repeat(100)}\n\n`) + '\n';
}

/** Resolves to the manifests of the packages in the bundles whose files are among these paths. */
export const packagesOf = async (packed) =>
  [...(await foldersOf(packed)).folders]
    .toSorted((a, b) => a.localeCompare(b, 'en'))
    .map((folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));

async function foldersOf(packed) {
  const folders = new Set();
  const inside = new Set();
  const shipped = bundles().filter((options) => outputsOf(options).some((path) => packed.includes(path)));
  for (const options of shipped) {
    // oxlint-disable-next-line no-await-in-loop -- one bundle after the other: they share two cores
    const { metafile } = await build({ ...options, write: false, metafile: true });
    for (const input of Object.keys(metafile.inputs)) {
      const [, folder] = /^(?:\w+:)?((?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input) ?? [];
      if (folder) folders.add(folder);
      if (folder && input.endsWith('.mjs')) for (const name of packagesInside(input)) inside.add(name);
    }
  }
  return { folders, inside };
}

/** The files that a bundle's entries become. */
const outputsOf = ({ outfile, outdir, entryPoints, outExtension }) =>
  outfile ? [outfile] : Object.keys(entryPoints).map((name) => `${outdir}/${name}${outExtension?.['.js'] ?? '.js'}`);

/** The editor's icons, which are copied into webview/graph/icons. Their license asks for its text or a link to it. */
const icons = [
  'Codicons 0.0.45 (twelve icons), copyright (c) Microsoft Corporation',
  'License: CC-BY-4.0, https://creativecommons.org/licenses/by/4.0/legalcode',
  'https://github.com/microsoft/vscode-codicons',
].join('\n');

/** Packages that another one has bundled into this file: bundlers mark where their code begins. */
const packagesInside = (file) =>
  [...readFileSync(file, 'utf8').matchAll(/^\/\/#region .*node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\//gm)].map(
    ([, name]) => name,
  );

/** These packages are not installed: their license texts are in the folder `licenses`. */
function noticeInside(name) {
  const path = join(import.meta.dirname, 'licenses', `${name.replace('/', '-')}.txt`);
  if (!existsSync(path)) throw new Error(`${name} is bundled inside another package: add its license text as ${path}.`);
  return [`${name} (bundled in another package)`, '', readFileSync(path, 'utf8').trim()].join('\n');
}

function noticeOf(folder) {
  const { name, version, license, homepage } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((f) => /^(licen[cs]e|copying)/i.test(f));
  if (!license && !file) throw new Error(`${name} ${version} has no license information and must not be shipped.`);
  const text = file ? readFileSync(join(folder, file), 'utf8').trim() : '(The package contains no license text.)';
  return [`${name} ${version}`, `License: ${license ?? 'see below'}`, homepage ?? '', '', text].join('\n');
}
