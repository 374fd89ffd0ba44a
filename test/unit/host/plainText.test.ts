import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { plainText } from '../../../src/host/platform/internal/plainText.ts';

const root = join(import.meta.dirname, '../../../src/host');

/** The editor's own functions, which make links in messages, prompts and progress. */
const own =
  /\b(?:show(?:Error|Warning|Information)Message|show(?:QuickPick|InputBox|OpenDialog|SaveDialog)|create(?:QuickPick|InputBox)|window\.withProgress)\b/;
/** The only places that call them; each takes plain texts. */
const wrappers = ['platform/askUser.ts', 'platform/messages.ts', 'platform/withProgress.ts'];

it('makes no link', () => {
  expect(plainText('a [b](command:x) [c](d)')).toBe('a [b]\u200b(command:x) [c]\u200b(d)');
  expect(plainText('/a/b[0] (c)')).toBe('/a/b[0] (c)');
});

it('texts of messages, questions and progress go through the places that make them plain', () => {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => ({ file: file.replaceAll('\\', '/'), text: readFileSync(join(root, file), 'utf8') }));
  expect(
    files
      .filter(({ text }) => own.test(text))
      .map(({ file }) => file)
      .toSorted(),
  ).toEqual(wrappers);
});
