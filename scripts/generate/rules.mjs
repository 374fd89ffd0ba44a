// What is derived from the rows of the diagnosis: their JSON, with the texts of which one is in whatever a pattern matches.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RegExpParser } from '@eslint-community/regexpp';
import { parse } from 'yaml';

const folder = fileURLToPath(new URL('../../src/features/diagnose/rules', import.meta.url));

/** The rows of all files, by the files' names: what is more particular comes first. */
export const readRules = () =>
  readdirSync(folder)
    .toSorted()
    .flatMap((file) => parse(readFileSync(join(folder, file), 'utf8')))
    .map((row) => ({ ...row, literals: literalsOf(row.pattern, row.flags) }));

/** @type {import('../generate.mjs').Producer} */
export function rulesData() {
  // What only the tests and `npm run rules:coverage` need stays out.
  const rows = readRules().map((row) => ({ ...row, example: undefined, source: undefined }));
  const content = `// Generated from src/features/diagnose/rules by \`npm run generate\`: change the rows there.
export const RULES_JSON = ${JSON.stringify(JSON.stringify(rows))};
`;
  return [{ file: 'src/features/diagnose/internal/rulesData.ts', content }];
}

/** Shorter texts are in too many lines. */
const SHORTEST = 3;

/** Texts of which each match of a pattern holds one; null: there are no such texts. */
export function literalsOf(source, flags = '') {
  if (flags.includes('i')) return null;
  return ofAlternatives(new RegExpParser().parsePattern(source).alternatives);
}

/** Each alternative has to have some. */
function ofAlternatives(alternatives) {
  const found = alternatives.map(({ elements }) => ofElements(elements));
  return found.includes(null) ? null : [...new Set(found.flat())];
}

/** The best of what the parts of a sequence give: fewest texts, then the longest. */
function ofElements(elements) {
  const candidates = [];
  let run = '';
  const endRun = () => {
    if (run.length >= SHORTEST) candidates.push([run]);
    run = '';
  };
  for (const element of elements) {
    if (element.type === 'Character') run += String.fromCodePoint(element.value);
    // What has no width does not part what is around it.
    else if (element.type !== 'Assertion') {
      endRun();
      const inner = element.type === 'Quantifier' && element.min > 0 ? element.element : element;
      if (inner.type === 'Group' || inner.type === 'CapturingGroup') {
        const found = ofAlternatives(inner.alternatives);
        if (found !== null) candidates.push(found);
      }
    }
  }
  endRun();
  const shortest = (texts) => Math.min(...texts.map((text) => text.length));
  return candidates.toSorted((a, b) => a.length - b.length || shortest(b) - shortest(a))[0] ?? null;
}
