// The budgets of the project: `npm run check` prints the table. A limit is what the design asks for where that is met,
// otherwise what there is, with the goal next to it. Lower a limit when something was deleted; raise none without a reason.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { commandTable, optionsOfCommand } from '../../src/shell/cli/commandTable.ts';
import { agentTools } from '../../src/shell/cli/agents/agentTools.ts';
import { manifest, menuOf, paletteOnGraph } from '../support/manifest.ts';

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => existsSync(file));
const matching = (pattern: RegExp): string[] => files.filter((file) => pattern.test(file));
const lines = (pattern: RegExp): number =>
  matching(pattern).reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length - 1, 0);

const wordsOf = (file: string): number => readFileSync(file, 'utf8').split(/\s+/).filter(Boolean).length;
const pages = matching(/^docs\/[\w.-]+\.md$/);
const docs = [...pages, 'README.md'];
const busy = ['quantized', 'building', 'searching'].map((key) => `tensorrtLens.${key}`);
const listed = Object.values(commandTable).filter(({ group }) => group !== undefined);
const options = new Set((await Promise.all(listed.map(optionsOfCommand))).flatMap((all) => Object.keys(all)));
const rules = matching(/^src\/features\/diagnose\/rules\/[\w-]+\.yaml$/).map((file) => readFileSync(file, 'utf8'));
const vsix = 'dist/tensorrt-lens.vsix';

interface Budget {
  what: string;
  /** null: not known, because it has not been made. */
  now: number | null;
  limit: number;
  /** What the design asks for, where it is less than the limit. */
  goal?: number;
}

const budgets: readonly Budget[] = [
  {
    what: 'lines of code in src and webview',
    now: lines(/^(?:src|webview)\/.*\.(?:ts|css|py)$/),
    limit: 130_600,
    goal: 98_000,
  },
  { what: 'lines of tests', now: lines(/^test\/(?!fixtures\/).*\.(?:ts|mjs|cjs|py)$/), limit: 72_400, goal: 52_000 },
  { what: 'diagnosis rules', now: rules.join('\n').match(/^- id:/gm)?.length ?? 0, limit: 260 },
  { what: 'lines of diagnosis rules', now: rules.join('').split('\n').length - 1, limit: 6000 },
  { what: 'commands contributed', now: manifest.contributes.commands.length, limit: 64 },
  {
    what: 'commands in the palette with a graph open',
    now: paletteOnGraph(manifest, busy).length,
    limit: 16,
    goal: 14,
  },
  {
    what: "first level of a node's menu",
    now: menuOf(manifest, 'webview/context', 'node', ['takesType']).length,
    limit: 9,
  },
  { what: 'tools for agents', now: Object.keys(agentTools).length, limit: 10, goal: 6 },
  { what: 'subcommands listed', now: listed.length, limit: 16 },
  { what: 'distinct options of the command line', now: options.size, limit: 135, goal: 100 },
  { what: 'words of docs', now: docs.reduce((sum, file) => sum + wordsOf(file), 0), limit: 28_000 },
  { what: 'pages of docs', now: pages.length, limit: 18 },
  { what: 'words of the longest page', now: Math.max(...docs.map(wordsOf)), limit: 2500 },
  {
    what: `bytes of ${basename(vsix)}`,
    now: existsSync(vsix) ? statSync(vsix).size : null,
    limit: 1_450_000,
    goal: 1_200_000,
  },
];

it('keeps to its budgets', () => {
  const number = (value: number | null) => (value === null ? '-' : value.toLocaleString('en')).padStart(10);
  const rows = budgets.map(
    ({ what, now, limit, goal }) =>
      `${what.padEnd(44)}${number(now)}  of${number(limit)}${goal === undefined ? '' : `  goal${number(goal)}`}`,
  );
  console.log(rows.join('\n'));
  expect(
    budgets.flatMap(({ what, now, limit }) => (now !== null && now > limit ? `${what}: ${now} > ${limit}` : [])),
  ).toEqual([]);
});

it('has no goal that is met already, and finds what it counts', () => {
  expect(budgets.filter(({ limit, goal }) => goal !== undefined && goal >= limit).map(({ what }) => what)).toEqual([]);
  expect(budgets.filter(({ now }) => now === 0).map(({ what }) => what)).toEqual([]);
});
