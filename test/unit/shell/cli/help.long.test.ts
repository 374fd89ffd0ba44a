import { afterAll, expect, it } from 'vitest';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandTable } from '../../../../src/shell/cli/commandTable.ts';
import { helpTopics } from '../../../../src/shell/cli/helpTopics.ts';
import { bundledCli, copyCli } from '../../../support/bundledCli.ts';

const folder = mkdtempSync(join(tmpdir(), 'trtlens-help-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const trtlens = bundledCli(folder);
copyCli(folder);

it('lists every command once, in groups, on one screen; help COMMAND, version and near misses work', () => {
  const { code, out } = trtlens('help');
  expect(code).toBe(0);
  const listed = out.split('\n').flatMap((line) => /^ {2}([\w-]+) {2,}/.exec(line)?.[1] ?? []);
  const rows = Object.entries(commandTable).filter(([, { group }]) => group !== undefined);
  expect(listed.toSorted()).toEqual(rows.map(([name]) => name).toSorted());
  const lines = out.split('\n');
  expect(lines.length).toBeLessThan(42);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  for (const topic of Object.keys(helpTopics)) expect(trtlens('help', topic).out).toContain(helpTopics[topic]!.text);
  expect(trtlens('help', 'precision').out.endsWith(trtlens('precision', '--help').out)).toBe(true);
  expect(trtlens('help', 'diff')).toEqual(trtlens('diff', '--help'));
  expect(trtlens('version')).toEqual(trtlens('--version'));
  expect(trtlens('diagnos')).toMatchObject({
    code: 2,
    err: "trtlens: unknown command 'diagnos'; did you mean 'diagnose'?\n",
  });
  expect(trtlens('help', 'diagnos').code).toBe(2);
  expect(trtlens('help', 'cut', 'split')).toEqual(trtlens('cut', 'split', '--help'));
  const old = trtlens('compare', '--help');
  expect(old.err).toBe("note: 'trtlens compare' is now 'trtlens diff'; the old name works in this release only\n");
  expect(trtlens('compare', '--json').err).not.toContain('note:');
});
