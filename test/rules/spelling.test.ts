// American spelling in the pages that people read: Hunspell's English dictionary, and the words of this field in words.txt.
import { readdirSync, readFileSync } from 'node:fs';
import dictionary from 'dictionary-en';
import nspell from 'nspell';
import { expect, it } from 'vitest';

const spell = nspell({ aff: Buffer.from(dictionary.aff), dic: Buffer.from(dictionary.dic) });
spell.personal(readFileSync(new URL('words.txt', import.meta.url), 'utf8'));

/** Words of a page's prose: no code, addresses, names of files, or names with capitals, digits or underscores inside. */
function wordsOf(page: string): string[] {
  const prose = page
    .replaceAll(/^(```|~~~)[^]*?^\1/gm, ' ')
    .replaceAll(/<!--[^]*?-->|<[^>]*>|`[^`]*`|\]\([^)]*\)|https?:\S+|&\w+;/g, ' ')
    .replaceAll('’', "'");
  return prose.match(/(?<![\w./@-])[A-Za-z][a-z]+(?:'[a-z]+)?(?![\w/@]|\.[a-z])/g) ?? [];
}

it('spells the words of README, docs, CHANGELOG and CONTRIBUTING', () => {
  const docs = readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []));
  const pages = ['README.md', 'README.zh-CN.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...docs];
  expect(pages.length).toBeGreaterThan(15);
  const unknown = pages.flatMap((page) =>
    [...new Set(wordsOf(readFileSync(page, 'utf8')))].flatMap((word) =>
      spell.correct(word) ? [] : `${page}: ${word}`,
    ),
  );
  expect(unknown).toEqual([]);
});

it('finds a word that is misspelled, in prose alone', () => {
  const text = 'An engnie of `trtexce`\n```\nbiuld\n```\nand [a lnik](pgae.md), in the colour of FP16.';
  expect(wordsOf(text).filter((word) => !spell.correct(word))).toEqual(['engnie', 'lnik', 'colour']);
});
