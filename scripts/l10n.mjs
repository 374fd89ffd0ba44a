// `node scripts/l10n.mjs`: collects the extension's texts into l10n/bundle.l10n.json, which translators copy to
// bundle.l10n.LANGUAGE.json (and package.nls.json to package.nls.LANGUAGE.json). A test says when it is out of date.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const BUNDLE = 'l10n/bundle.l10n.json';

/** The bundle as it should be: every literal given to l10n.t in src/host, in the order of the alphabet. */
export function collectTexts() {
  const texts = new Set();
  for (const file of readdirSync(join(root, 'src/host'), { recursive: true })) {
    if (!file.endsWith('.ts')) continue;
    const source = readFileSync(join(root, 'src/host', file), 'utf8');
    for (const [, literal] of source.matchAll(/\bt\(\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")/g))
      texts.add(literal.slice(1, -1).replaceAll(/\\(n|.)/g, (_, c) => (c === 'n' ? '\n' : c)));
  }
  const sorted = [...texts].toSorted((a, b) => (a < b ? -1 : 1));
  return `${JSON.stringify(Object.fromEntries(sorted.map((text) => [text, text])), null, 2)}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) writeFileSync(join(root, BUNDLE), collectTexts());
