import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './rtx.ts';

const root = join(import.meta.dirname, '../..');
const update = process.env['UPDATE_GOLDEN'] === '1';

/** Pages whose commands run: README, docs/*.md, and the pages of the packages. */
export const docPages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  'packaging/pip/README.md',
  'packaging/npm/README.md',
];

export const readPage = (page: string): string => readFileSync(join(root, page), 'utf8');

interface Block {
  language: string;
  text: string;
  /** What the first line says that it needs, such as `a GPU`. */
  needs: string | undefined;
}

/** The fenced blocks of a page, in their order. */
export const blocksOf = (page: string): Block[] =>
  [...readPage(page).matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(([, language, text]) => ({
    language: language!,
    text: text!,
    // `npm start` runs the bundles of dist.
    needs: text!.startsWith('npm ') ? 'TensorRT' : /^# needs (.+)\n/.exec(text!)?.[1],
  }));

/**
 * Runs the blocks of a page as a reader would: one after the other, in a fresh folder with what `trtlens setup samples`
 * writes, each by a shell that finds `trtlens`. A block whose first line is a comment with the name of a file becomes
 * that file. Blocks that need something run if `has` says so.
 * @param cli the bundled command line
 * @param figures whether figures count where a block needs something: they are those of another computer
 * @returns the page with what its `console` blocks print, and for each `sh` block that failed why
 */
export function runPage(page: string, cli: string, has: (needs: string) => boolean, figures = true) {
  const folder = temporaryFolder();
  const bin = join(folder, 'bin');
  const place = join(folder, 'place');
  for (const made of [bin, place]) mkdirSync(made);
  const start = `[ "$1" = start ] || exit 0\nshift; [ "$1" = -- ] && shift
case $1 in [a-z]*[!a-z]*|"") more=--no-serve;; esac\nINIT_CWD=$PWD exec '${process.execPath}' '${root}/scripts/start.mjs' "$@" $more`;
  for (const [name, script] of Object.entries({ trtlens: `exec '${process.execPath}' '${cli}' "$@"`, npm: start })) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, NO_COLOR: '1' };
  const shell = (script: string) =>
    spawnSync('bash', ['-c', script], { cwd: place, encoding: 'utf8', env, timeout: 300_000 });
  if (!/^(?:npm start --|trtlens) setup samples$/m.test(readPage(page))) shell('trtlens setup samples');
  const failed: string[] = [];
  let text = readPage(page);
  for (const { language, text: block, needs } of blocksOf(page)) {
    const file = /^# ([\w.-]+\.\w+)\n/.exec(block)?.[1];
    if (file) writeFileSync(join(place, file), block);
    if (needs !== undefined && !has(needs)) continue;
    if (language === 'sh') {
      const { status, stderr } = shell(`set -euo pipefail\n${block}`);
      const expected = Number(/# exit status (\d)/.exec(block)?.[1] ?? 0);
      if (status !== expected) failed.push(`${page}: ${block}exit status ${status}: ${stderr}`);
    } else if (language === 'console') {
      let status = 0;
      const made = block.replaceAll(/^\$ (.+)\n((?:(?!\$ ).*\n)*)/gm, (_, command: string, shown: string) => {
        const ran = shell(command === 'echo $?' ? `echo ${status}` : command);
        status = ran.status ?? -1;
        const output = `${ran.stdout}${ran.stderr}`.replaceAll(`${place}/`, '').trimEnd().split('\n');
        if (command !== 'echo $?' && status !== 0 && !block.includes(`$ echo $?\n${status}\n`))
          failed.push(`${page}: ${command}: exit status ${status}: ${ran.stderr}`);
        const lines = shown.trimEnd().split('\n');
        // `…` as the last line stands for the rest; `… 8` asks for so many lines before it.
        const [, asked] = /^…(?: (\d+))?$/.exec(lines.at(-1)!) ?? [undefined, null];
        const kept = asked === null ? output : [...output.slice(0, Number(asked ?? lines.length - 1)), '…'];
        const same = !figures && needs !== undefined && essence(kept.join('\n')) === essence(lines.join('\n'));
        return `$ ${command}\n${(same ? lines : kept).join('\n').trimEnd()}\n`.replace(/\n\n$/, '\n');
      });
      text = text.replace(block, () => made);
    }
  }
  if (update) writeFileSync(join(root, page), text);
  return { text: update ? readPage(page) : text, failed };
}

/** Text without figures, units and versions. */
const essence = (text: string): string => text.replaceAll(/\d[\d.,e-]*/g, '#').replaceAll(/[#\s]+/g, ' ');
