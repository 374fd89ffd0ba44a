import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { FusionReport } from '../../../../src/core/fusion/fusionReport.ts';
import { formatReport } from '../../../../src/core/fusion/reportText.ts';
import { captures, reportOf } from './loadCapture.ts';

const folder = fileURLToPath(new URL('../../../golden/fusion', import.meta.url));
const update = process.env['UPDATE_GOLDEN'] === '1';
/** Longer lists are kept as their hash and length: enough to see that something changed, and where to look. */
const longest = 1500;

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
const short = (text: string): string =>
  text.length <= longest ? text : `sha256:${hash(text)}, ${text.length} characters`;

/** `foreign 3, folded, foreign 12`: the fates in node order. */
function runs(values: string[]): string {
  const parts: string[] = [];
  for (let i = 0; i < values.length;) {
    let end = i;
    while (values[end] === values[i]) end++;
    parts.push(end - i === 1 ? values[i]! : `${values[i]!} ${end - i}`);
    i = end;
  }
  return parts.join(', ');
}

function counts(values: string[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const value of values.toSorted()) sum[value] = (sum[value] ?? 0) + 1;
  return sum;
}

/** A report small enough to keep and to read, in which every fact of the whole report shows. */
function digest(report: FusionReport): unknown {
  return {
    tensorrt: report.tensorrt,
    accounting: report.accounting,
    funnel: report.funnel.map(({ stage, layers }) => `${stage} ${layers}`).join(', '),
    layers: {
      kinds: counts(report.layers.map(({ kind }) => kind)),
      nodes: short(
        report.layers.map(({ nodes, evidence }) => `${nodes.join(' ')} ${evidence.join('+')}`.trim()).join('; '),
      ),
      // Raw metadata is as long as the layer information itself, and says what `nodes` says.
      whole: hash(JSON.stringify(report.layers, (key, value: unknown) => (key === 'metadata' ? undefined : value))),
    },
    foreignNodes: report.foreignNodes.map(({ nodes, layers, ...rest }) => ({
      ...rest,
      nodes: `${nodes.length}: ${short(nodes.join(' '))}`,
      layers: layers.length,
    })),
    fates: short(runs(report.nodes.map(({ fate, exact }) => fate + (exact ? '' : '~')))),
    reasons: counts(report.nodes.map(({ reason }) => reason.replace(/\d+/g, 'N'))),
    nodes: hash(JSON.stringify(report.nodes)),
    remarks: {
      codes: counts(report.remarks.map(({ kind, code }) => `${kind} ${code}`)),
      whole: hash(JSON.stringify(report.remarks)),
    },
    problems: report.problems.map(({ severity, code, message }) => `${severity} ${code}: ${message}`),
  };
}

describe('golden reports', () => {
  it.each(captures())('%s', { timeout: 30_000 }, async (capture) => {
    const report = await reportOf(capture);
    if (!report) return;
    const path = `${folder}/${capture.replace('/', '.')}.json`;
    const text = `${JSON.stringify(digest(report), null, 1)}\n`;
    compareWith(path, text);
  });

  it.each([
    'tensorrt-10.6.0/fusion_zoo.fp32',
    'tensorrt-10.6.0/vit_tiny.fp16',
    'tensorrt-8.6.1/two_inputs_multi_out.fp32',
    'tensorrt-8.6.1/bert_base.fp16',
    'tensorrt-10.6.0/resnet18.algolog',
    'tensorrt-rtx-1.7.1/loop_if',
    'tensorrt-10.6.0/unsupported_op.fp32',
  ])('%s as text', async (capture) => {
    compareWith(`${folder}/${capture.replace('/', '.')}.txt`, formatReport((await reportOf(capture))!));
  });
});

function compareWith(path: string, text: string): void {
  if (update) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, text);
  }
  expect(existsSync(path), `${path} is missing: UPDATE_GOLDEN=1 writes it`).toBe(true);
  expect(text).toBe(readFileSync(path, 'utf8'));
}
