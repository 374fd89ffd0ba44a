// `npm run generate`: writes the files, and the parts of files, that are derived from the sources. With `--check` it
// writes nothing, names the files that are stale, and exits with 1.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { agentToolsManifest } from './generate/agentTools.mjs';
import { buildOptionFiles } from './generate/buildOptions.mjs';
import { contractFiles } from './generate/contracts.mjs';
import { gateSchema } from './generate/gateSchema.mjs';
import { manifestPages } from './generate/manifestPages.mjs';
import { manifestTexts } from './generate/manifestTexts.mjs';
import { referencePages } from './generate/reference.mjs';
import { repairPage } from './generate/repairs.mjs';
import { rulesData } from './generate/rules.mjs';
import { format } from 'oxfmt';

const root = fileURLToPath(new URL('..', import.meta.url));
/** As for `npm run format`; what is generated is ignored nowhere. */
const { ignorePatterns: _, ...options } = JSON.parse(readFileSync(join(root, '.oxfmtrc.json'), 'utf8'));

/**
 * A producer returns `{ file, content }[]`: whole files, by their path from the repository's root. `read(file)` gives
 * the current text, with what earlier producers made of it; undefined where there is no such file. The result is
 * formatted as `npm run format` does.
 * @typedef {(read: (file: string) => string | undefined) => Generated[] | Promise<Generated[]>} Producer
 * @typedef {{ file: string, content: string }} Generated
 * @type {Producer[]}
 */
const producers = [
  rulesData,
  agentToolsManifest,
  buildOptionFiles,
  contractFiles,
  gateSchema,
  manifestTexts,
  manifestPages,
  repairPage,
  referencePages,
];

/** Runs producers one after the other. Resolves to the text that each file should have, by its path. */
export async function generate(list = producers, folder = root) {
  const made = new Map();
  const current = (file) => (existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : undefined);
  const read = (file) => made.get(file) ?? current(file);
  for (const produce of list) {
    // oxlint-disable-next-line no-await-in-loop -- a producer may extend what an earlier one made
    for (const { file, content } of await produce(read)) made.set(file, content);
  }
  const formatted = [...made].map(async ([file, content]) => [file, await formatFile(join(folder, file), content)]);
  const files = new Map(await Promise.all(formatted));
  const stale = [...files].filter(([file, content]) => content !== current(file)).map(([file]) => file);
  return { files, stale };
}

async function formatFile(path, content) {
  const { code, errors } = await format(path, content, options);
  if (errors.length > 0)
    throw new Error(`${path} cannot be formatted: ${errors.map(({ message }) => message).join('; ')}`);
  return code;
}

async function main(flags) {
  const { files, stale } = await generate();
  if (flags.includes('--check')) {
    for (const file of stale) console.error(`${file} is stale: run npm run generate`);
    if (stale.length > 0) process.exitCode = 1;
    return;
  }
  for (const file of stale) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), files.get(file));
    console.log(file);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main(process.argv.slice(2));
