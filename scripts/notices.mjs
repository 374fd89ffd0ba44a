// Whose code the shipped bundles hold, under which licence: their names and licence texts, for THIRD_PARTY_NOTICES.txt.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundles } from '../esbuild.mjs';

/** Resolves to the text of the notices. Throws when a bundled package says nothing about its licence. */
export async function collectNotices() {
  const folders = new Set();
  const packed = readFileSync('.vscodeignore', 'utf8').split('\n');
  const shipped = bundles().filter((options) => outputsOf(options).some((path) => packed.includes(`!${path}`)));
  for (const options of shipped) {
    // oxlint-disable-next-line no-await-in-loop -- one bundle after the other: they share two cores
    const { metafile } = await build({ ...options, write: false, metafile: true });
    for (const input of Object.keys(metafile.inputs)) {
      const [, folder] = /^(?:\w+:)?((?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input) ?? [];
      if (folder) folders.add(folder);
    }
  }
  const parts = [...folders].toSorted((a, b) => a.localeCompare(b, 'en')).map(noticeOf);
  parts.push(icons);
  const head = `TensorRT Lens contains code of these ${parts.length} packages, unchanged but bundled and minified.`;
  return [head, ...parts].join(`\n\n${'='.repeat(100)}\n\n`) + '\n';
}

/** The files that a bundle's entries become. */
const outputsOf = ({ outfile, outdir, entryPoints, outExtension }) =>
  outfile ? [outfile] : Object.keys(entryPoints).map((name) => `${outdir}/${name}${outExtension?.['.js'] ?? '.js'}`);

/** The editor's icons, which are copied into webview/graph/icons. Their licence asks for its text or a link to it. */
const icons = [
  'Codicons 0.0.45 (twelve icons), copyright (c) Microsoft Corporation',
  'Licence: CC-BY-4.0, https://creativecommons.org/licenses/by/4.0/legalcode',
  'https://github.com/microsoft/vscode-codicons',
].join('\n');

function noticeOf(folder) {
  const { name, version, license, homepage } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((f) => /^(licen[cs]e|copying)/i.test(f));
  if (!license && !file) throw new Error(`${name} ${version} has no licence information and must not be shipped.`);
  const text = file ? readFileSync(join(folder, file), 'utf8').trim() : '(The package contains no licence text.)';
  return [`${name} ${version}`, `Licence: ${license ?? 'see below'}`, homepage ?? '', '', text].join('\n');
}
