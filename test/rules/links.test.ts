import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { expect, it } from 'vitest';

type Read = (file: string) => string | undefined;

/** A Markdown text without its blocks of code, and without code in the line. */
const withoutCode = (text: string): string =>
  text.replaceAll(/^( *)(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1\2 *$/gm, '').replaceAll(/(`+)(?!`).*?[^`]\1(?!`)/g, '');

/** The anchors that GitHub and VS Code make of a file's headings, and those that it sets itself. */
function anchorsOf(text: string): Set<string> {
  const fences = text.replaceAll(/^( *)(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1\2 *$/gm, '');
  const anchors = new Set<string>();
  for (const [, heading] of fences.matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const shown = heading!.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = shown.replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '').replaceAll(' ', '-');
    let anchor = slug;
    for (let again = 1; anchors.has(anchor); again += 1) anchor = `${slug}-${again}`;
    anchors.add(anchor);
  }
  for (const [, id] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id!);
  return anchors;
}

/** Every link of a Markdown file, relative to it, that leads to no file, or to no heading of one. */
function brokenLinks(file: string, read: Read): string[] {
  const text = withoutCode(read(file) ?? '');
  const inline = [...text.matchAll(/\]\(<?([^\s)>]+)>?(?: "[^"]*")?\)/g)];
  const defined = [...text.matchAll(/^\[[^\]]+\]: +(\S+)/gm)];
  const html = [...text.matchAll(/<(?:a|img|source)\b[^>]*? (?:href|src|srcset)="([^"]+)"/g)];
  return [...inline, ...defined, ...html]
    .map(([, link]) => link!)
    .filter((link) => !/^[a-z][a-z+.-]*:/i.test(link))
    .filter((link) => {
      const [path = '', anchor] = link.split('#', 2);
      const to = path === '' ? file : join(dirname(file), decodeURI(path));
      const target = read(to);
      if (target === undefined) return true;
      return anchor !== undefined && to.endsWith('.md') && !anchorsOf(target).has(anchor);
    })
    .map((link) => `${file}: ${link}`);
}

it('every link in a Markdown file leads to a file, and to a heading of it', () => {
  const { stdout } = spawnSync('git', ['ls-files', '-z', '*.md'], { encoding: 'utf8' });
  const files = stdout.split('\0').filter((file) => file !== '' && existsSync(file));
  expect(files).toContain('docs/architecture.md');
  const read: Read = (file) => {
    if (!existsSync(file)) return undefined;
    return file.endsWith('.md') ? readFileSync(file, 'utf8') : '';
  };
  expect(files.flatMap((file) => brokenLinks(file, read))).toEqual([]);
});

it('a missing file, a missing heading and the second heading of a name are noticed', () => {
  const texts: Record<string, string> = {
    'docs/a.md': [
      '# One: `code` & *two*',
      '[same](#one-code--two), [next](b.md#tests), [up](../C.md#tests-1), [web](https://x.y/z#q)',
      '[gone](b.md#tests-fastest-first), [no file](c.md), ![no picture](p.png), [no second](../C.md#tests-2)',
      '`[code](nowhere.md)`',
      '```',
      '[block](nowhere.md)',
      '# Block',
      '```',
      '[heading in a block](#block)',
      '[named]: d.md',
      '<img alt="x" src="e.png">',
    ].join('\n'),
    'docs/b.md': '## Tests\n',
    'C.md': '## Tests\n\n## Tests\n',
  };
  expect(brokenLinks('docs/a.md', (file) => texts[file])).toEqual(
    ['b.md#tests-fastest-first', 'c.md', 'p.png', '../C.md#tests-2', '#block', 'd.md', 'e.png'].map(
      (link) => `docs/a.md: ${link}`,
    ),
  );
});
