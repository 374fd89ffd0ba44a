import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { plainText } from '../../../src/host/platform/plainText.ts';

const root = join(import.meta.dirname, '../../../src/host');

/** What an argument may begin with: texts that hold nothing but our own words, and plain ones. */
const harmless = /^\s*(?:plainText\(|'[^'\n]*',?\s*[,);])|^\s*"[^"\n]*",?\s*[,);]/;
const places = [/\bprogress\.report\(\{ message:/g, /\bprompt:/g];
/** The editor's own functions, which make links. */
const messages = /\bshow(?:Error|Warning|Information)Message\b/;

it('makes no link', () => {
  expect(plainText('a [b](command:x) [c](d)')).toBe('a [b]\u200b(command:x) [c]\u200b(d)');
  expect(plainText('/a/b[0] (c)')).toBe('/a/b[0] (c)');
});

it('is asked for wherever the editor would make links of names', () => {
  const bare = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const found = places.flatMap((place) => [...text.matchAll(place)]);
      const arguments_ = found.map((call) => text.slice(call.index + call[0].length));
      return arguments_.filter((rest) => !harmless.test(rest)).map((rest) => `${file}: ${rest.slice(0, 80)}`);
    });
  expect(bare).toEqual([]);
});

it('every message goes through the one place that asks for it', () => {
  const direct = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts') && messages.test(readFileSync(join(root, file), 'utf8')));
  expect(direct).toEqual(['platform/messages.ts']);
});
