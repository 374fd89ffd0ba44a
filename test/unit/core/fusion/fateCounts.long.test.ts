import { it } from 'vitest';
import type { Fate } from '../../../../src/core/fusion/fusionReport.ts';
import { expectGoldenText } from '../../../support/golden.ts';
import { captures, reportOf } from './loadCapture.ts';

const fates: Fate[] = ['foreign', 'fused', 'single', 'folded', 'removed', 'shape', 'unknown'];

/** Unknown may grow only where a line of the log refutes what was said before: the commit quotes it. */
it('how much is exact, derived and unknown, for every capture', { timeout: 120_000 }, async () => {
  const head = ['capture', 'nodes', 'exact', 'derived', ...fates];
  const rows = [head];
  for (const capture of captures()) {
    const report = await reportOf(capture);
    if (!report) continue;
    const { accounting, nodes } = report;
    const exact = nodes.filter((node) => node.exact).length;
    const counts = [accounting.total, exact, accounting.total - exact - accounting.unknown];
    rows.push([capture, ...[...counts, ...fates.map((fate) => accounting[fate])].map(String)]);
  }
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('  '),
  );
  expectGoldenText('fates.txt', `${lines.join('\n')}\n`);
});
