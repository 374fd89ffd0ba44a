import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Fate, FusionReport } from '../../../../src/kernel/fusion/fusionReport.ts';
import { formatReport } from '../../../../src/kernel/report/reportText.ts';
import { expectGolden, expectGoldenText, expectNoOtherGolden, goldenText } from '../../../support/golden.ts';
import { readSchema, schemaViolations, withoutOtherFields } from '../../../support/jsonSchema.ts';
import { captures, reportOf, rawInputOf } from './loadCapture.ts';
import { checkReport } from '../../../support/checker/checkReport.ts';

const goldenOf = (capture: string): string => `fusion/${capture.replace('/', '.')}`;

const asText = [
  'tensorrt-10.6.0/fusion_zoo.fp32',
  'tensorrt-10.6.0/vit_tiny.fp16',
  'tensorrt-8.6.1/two_inputs_multi_out.fp32',
  'tensorrt-8.6.1/bert_base.fp16',
  'tensorrt-10.6.0/resnet18.algolog',
  'tensorrt-rtx-1.7.1/loop_if',
  'tensorrt-10.6.0/unsupported_op.fp32',
];

const contract = withoutOtherFields(readSchema('fusion-report'));
const fates: Fate[] = ['foreign', 'fused', 'single', 'folded', 'removed', 'shape', 'unknown'];

/** Of captures that have a model and layers or a log: without, there is nothing to report on. */
const reports = new Map<string, FusionReport>();
/** By what became of the nodes: the first capture that has it. Its report is kept in full, those of the others as a digest. */
const firstWith = new Map<string, string>();

beforeAll(async () => {
  for (const capture of captures()) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other: each is large while it is read
    const report = await reportOf(capture);
    if (!report) continue;
    reports.set(capture, report);
    const outcome = outcomeOf(report);
    if (!firstWith.has(outcome)) firstWith.set(outcome, capture);
  }
});

/** Builds of the same engine differ in the lines of their logs. */
const outcomeOf = ({ model, nodes }: FusionReport): string =>
  JSON.stringify([model, nodes]).replaceAll(/log lines? \d+/g, 'log line');

describe('golden reports', () => {
  it.each(captures())('%s', (capture) => {
    const report = reports.get(capture);
    if (!report) return;
    if (firstWith.get(outcomeOf(report)) === capture) expectGolden(goldenOf(capture), report);
    expect(schemaViolations(JSON.parse(JSON.stringify(report)), contract)).toEqual([]);
  });

  it.each(asText)('%s as text', (capture) => {
    expectGoldenText(`${goldenOf(capture)}.txt`, formatReport(reports.get(capture)!));
  });

  it('no golden file is left over', () => {
    const kept = [...firstWith.values()].map(goldenOf);
    expectNoOtherGolden('fusion', [...kept, ...asText.map((name) => `${goldenOf(name)}.txt`)]);
  });
});

/**
 * Unknown may grow only where a line of the log refutes what was said before: the commit quotes it. A digest that changes
 * alone is a change in what the report says besides, which the golden reports show.
 */
it('how much is exact, derived and unknown, for every capture', () => {
  const head = ['capture', 'nodes', 'exact', 'derived', ...fates, 'digest', 'nodes as in'];
  const rows = [head];
  for (const [capture, report] of reports) {
    const { accounting, nodes } = report;
    const exact = nodes.filter((node) => node.exact).length;
    const counts = [accounting.total, exact, accounting.total - exact - accounting.unknown];
    const first = firstWith.get(outcomeOf(report))!;
    const digest = createHash('sha256').update(goldenText(report)).digest('hex').slice(0, 8);
    const cells = [...[...counts, ...fates.map((fate) => accounting[fate])].map(String), digest];
    rows.push([capture, ...cells, first === capture ? '' : first]);
  }
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 || column === row.length - 1 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  );
  expectGoldenText('fates.txt', `${lines.join('\n')}\n`);
});

it.each(captures())('nothing in the inputs of %s contradicts its report', { timeout: 60_000 }, async (capture) => {
  const report = await reportOf(capture);
  if (report) expect(checkReport(report, rawInputOf(capture), formatReport(report))).toEqual([]);
});
