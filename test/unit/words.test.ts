import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

// Phrases that no engineer would write. Each once was in a text that users read; say the thing plainly instead.
const banned: [RegExp, string][] = [
  [
    /(?<!there )\bis no (whole )?(number|text|file|folder|model|list|log|type|version|path|data type|tactic replay|ONNX|JSON)\b/i,
    'is not a …',
  ],
  [/\bare no (ONNX|TensorRT|text)/, 'are not …'],
  [/\b(held|holds?|holding) (it |them |this |the \w+ )?against\b/i, 'compare with'],
  [/\bhangs? on\b/i, 'depends on'],
  [/\bfor want of\b/i, 'because there is no …'],
  [/\b(no|some|any)body\b/i, 'name who: the user, another process'],
  [/\bof no kind\b/i, 'unrecognised'],
  [/\bwish(es|ed)?\b/i, 'request'],
  [/\btook (the request|it away)\b/i, 'accepted, removed'],
  [/\btakes? the place of no\b/i, 'never overwrites'],
  [/\bended well\b/i, 'exited with 0'],
  [/\bthe (house|rooms?)\b/i, 'architecture, modules'],
  [/\bstands? (beside|behind)\b/i, 'is next to, follows'],
  [/\bbeside\b(?!\))/, 'next to, in addition to'],
  [/\bswallow/i, 'fused into'],
  [/\bshall\b/i, 'must, should or will'],
  [/\ba defect of\b/i, 'internal error'],
  [/\bpass(es|ed)? over (it|them|what|this|the)\b/i, 'skips'],
  [/\bdiffer in nothing\b/i, 'are identical'],
  [/\banew\b/i, 'again'],
  [/\bno telling\b/i, 'not known yet'],
  [/\bways? out of (it|the problem)/i, 'fix'],
  [/\bwould rather have\b/i, 'say what happened'],
  [/\bis not said\b/i, 'is not known'],
  [/\b(is|are) there already\b/i, 'already exists'],
  [/\btells? of\b/i, 'reports'],
  [/\bspeaks? of\b/i, 'mentions'],
  [/\bgives? out\b/i, 'outputs'],
  [/\bBuild how\b/i, 'Select a build preset'],
  [/\b(Delete|Compare with) which\b/i, 'Select …'],
  [/\bfolded away\b/i, 'constant-folded'],
  [/\bgravest\b/i, 'most severe'],
  [/\bwhereto\b/i, 'where to'],
  [/\bmended\b/i, 'fixed'],
  [/\bcannot be (seen|had)\b/i, 'cannot be verified, is not available'],
  [/\b(a|the) person\b/i, 'the user'],
  [/\bone a line\b/i, 'one per line'],
  [/\bget it again, whole\b/i, 'download or export it again'],
  [/\blies (in|inside|on|there|here)\b/i, 'is in'],
];

const root = join(import.meta.dirname, '../..');
const inFolder = (folder: string, extension: RegExp): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => extension.test(name))
    .map((name) => join(folder, name));
const files = [
  ...inFolder('src', /\.(ts|py|md)$/),
  ...inFolder('webview', /\.(ts|html|css)$/),
  ...inFolder('docs', /\.md$/),
  ...inFolder('schemas', /\.json$/),
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'package.json',
  'package.nls.json',
];

test('the files are there', () => {
  expect(files.length).toBeGreaterThan(300);
});

test.each(banned)('not %s, but %s', (phrase) => {
  const found = files.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => (phrase.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  );
  expect(found).toEqual([]);
});

test('docs are in American English, as are the terms of TensorRT; names of commands and of JSON stay as they are', () => {
  const british = /\b\w*(quantis(e|ing)|normalis|recognis|optimis|colour|neighbour|behaviour)/i;
  const found = files
    .filter((file) => file.endsWith('.md') && !file.startsWith('src'))
    .flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .replaceAll(/`[^`]*`/g, '')
        .split(/\s+/)
        .filter((word) => british.test(word))
        .map((word) => `${file}: ${word}`),
    );
  expect(found).toEqual([]);
});

test('the phrases are found in the texts that once had them', () => {
  const old = [
    "'abc' is no whole number",
    'what others are held against',
    'which may be missing: fusion hangs on structure',
    'Nobody is there to ask',
    'Put the weights beside the model',
    'took the wish',
    'swallowed by a ForeignNode',
    'The builds differ in nothing.',
  ];
  for (const text of old)
    expect(
      banned.some(([phrase]) => phrase.test(text)),
      text,
    ).toBe(true);
});
