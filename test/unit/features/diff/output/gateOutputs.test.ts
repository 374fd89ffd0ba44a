import type { GateSide } from '../../../../../src/kernel/rules/gateSide.ts';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import {
  type CheckResult,
  gateCodeQuality,
  gateDocument,
  gateJunit,
  type GateResult,
  gateSarif,
} from '../../../../../src/features/gate/gateFile.ts';
import { evaluateGate } from '../../../../../src/features/gate/evaluateGate.ts';
import { readGate } from '../../../../../src/features/gate/readGate.ts';
import { escapeMarkdown, renderMarkdown, renderText } from '../../../../../src/kernel/document/render.ts';
import { type JsonSchema, readSchema, schemaViolations, withoutOtherFields } from '../../../../support/jsonSchema.ts';
import { reportWith } from '../reportWith.ts';

const sarifSchema = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../../../fixtures/sarif/sarif-2.1.0-rtm.5.json', import.meta.url)), 'utf8'),
) as JsonSchema;

const odd = '/a "b"<c>&|`d`\n*e*\u0001';
const file = readGate(
  `rules:
  kernels: { max: +5% }
  reformats: 0
  nodes: { unknown: 0, single: 0 }
  time: { total: 1 us }
  attention: fused
  memory: { engine: 1 MiB, optional: true }
`,
).value!;
const before: GateSide = { source: 'before', report: reportWith([odd, 'Relu2'], [{ nodes: [odd, 'Relu2'] }]) };
const after: GateSide = {
  source: 'after',
  report: reportWith([odd, 'Relu2'], [{ nodes: [odd] }, { nodes: [], line: 7 }, { nodes: ['Relu2'] }]),
};
const judged = evaluateGate('vit.gate.yaml', file, after, before);
const paths = { gate: 'models of ours/vit.gate.yaml', log: 'builds/b 1/build.log' };
const hash = (text: string) => Buffer.from(text).toString('hex');

interface SarifRun {
  results: {
    ruleId: string;
    level: string;
    baselineState?: string;
    partialFingerprints: Record<string, string>;
    locations: { logicalLocations: object[]; physicalLocation: { artifactLocation: object; region: object } }[];
    relatedLocations?: object[];
    suppressions?: object[];
  }[];
  invocations?: object[];
}
const sarifOf = (results: GateResult[]) =>
  gateSarif(
    results.map((result) => ({ result, paths })),
    '0.1.0',
    hash,
  ) as { runs: [SarifRun] };

test('verdicts fit their schema', () => {
  expect(judged.counts).toEqual({ passed: 1, failed: 5, skipped: 1 });
  const schema = withoutOtherFields(readSchema('gate-result'));
  expect(schemaViolations(JSON.parse(JSON.stringify(judged)), schema)).toEqual([]);
  expect(schemaViolations({ ...judged, passed: 'no', more: 1 }, schema)).toEqual(['.passed', '.more']);
});

test('jobs of a matrix without a build are in SARIF and in the code quality report', () => {
  const unbuilt = [{ name: 'vit fp16 rtx-2.0', result: 'failed', error: 'out of memory' }];
  const text = 'vit fp16 rtx-2.0: not judged, because the build failed: out of memory';
  const sarif = gateSarif([{ result: judged, paths }], '0.1.0', hash, unbuilt);
  expect(schemaViolations(sarif, sarifSchema)).toEqual([]);
  expect((sarif as { runs: [SarifRun] }).runs[0].invocations).toEqual([
    { executionSuccessful: false, toolExecutionNotifications: [{ level: 'error', message: { text } }] },
  ]);
  const issues = gateCodeQuality([{ result: judged, paths }], hash, paths.gate, unbuilt) as { fingerprint: string }[];
  expect(issues.at(-1)).toMatchObject({ description: text, severity: 'major', location: { path: paths.gate } });
  expect(new Set(issues.map(({ fingerprint }) => fingerprint)).size).toBe(issues.length);
});

test('SARIF names the product and the GPU', () => {
  const rtx = { ...judged, tensorrt: { product: 'tensorrt-rtx' as const, version: '1.7.1' }, gpu: 'NVIDIA L40S' };
  expect(JSON.stringify(sarifOf([rtx]))).toContain('(m.onnx, TensorRT-RTX 1.7.1, NVIDIA L40S)');
});

test('what was not judged did not pass', () => {
  const { value } = readGate('rules: { memory: { engine: 1 MiB, optional: true } }');
  const text = renderText(gateDocument(evaluateGate('g', value!, after, null)));
  expect(text).toMatch(/\n✓ 0 checks passed, 1 not checked \(optional\)\.\n/);
  expect(text).toMatch(/\n– memory\.engine +\S/);
});

test('SARIF fits the official schema', () => {
  const sarif = sarifOf([judged]);
  expect(schemaViolations(sarif, sarifSchema)).toEqual([]);
  expect(sarif.runs[0].results).toHaveLength(5);

  // The schema would notice mistakes: a wrong level, a line of 0, a path that is not a URI, a field that does not exist.
  const [first] = sarif.runs[0].results;
  const { physicalLocation } = first!.locations[0]!;
  const wrong = (change: object) => [{ ...sarif.runs[0], results: [{ ...first, ...change }] }];
  const at = (change: object) => wrong({ locations: [{ physicalLocation: { ...physicalLocation, ...change } }] });
  for (const runs of [
    wrong({ level: 'major' }),
    wrong({ severity: 'error' }),
    wrong({ message: {} }),
    at({ region: { startLine: 0 } }),
    at({ artifactLocation: { uri: 'models of ours' } }),
  ])
    expect(schemaViolations({ ...sarif, runs }, sarifSchema)).not.toEqual([]);
});

test('SARIF points at the rule, its nodes and the line of the log, and says what is new', () => {
  const { results } = sarifOf([judged]).runs[0];
  expect(results.map(({ ruleId, level, baselineState }) => [ruleId, level, baselineState])).toEqual([
    ['kernels', 'error', 'new'],
    ['reformats', 'error', 'new'],
    ['nodes', 'error', 'new'],
    ['time', 'error', 'unchanged'],
    ['attention', 'error', undefined],
  ]);
  expect(results[2]!.locations).toEqual([
    {
      physicalLocation: {
        artifactLocation: { uri: 'models%20of%20ours/vit.gate.yaml' },
        region: { startLine: 4, startColumn: 24, endColumn: 30 },
      },
      logicalLocations: [
        { name: odd, fullyQualifiedName: 'm.onnx/0', kind: 'element' },
        { name: 'Relu2', fullyQualifiedName: 'm.onnx/1', kind: 'element' },
      ],
    },
  ]);
  expect(results[1]).toMatchObject({
    relatedLocations: [
      { physicalLocation: { artifactLocation: { uri: 'builds/b%201/build.log' }, region: { startLine: 7 } } },
    ],
  });
});

test('fingerprints are unique, and do not change with lines and values', () => {
  const prints = (results: GateResult[]) =>
    sarifOf(results).runs[0].results.map(({ partialFingerprints }) => partialFingerprints['primaryLocationLineHash']);
  const moved = {
    ...judged,
    checks: judged.checks.map((one) => ({ ...one, value: 9, place: { ...one.place, line: 40 } })),
  };
  expect(prints([moved])).toEqual(prints([judged]));
  // Two versions of TensorRT in one matrix: two alerts, not one.
  const both = prints([judged, judged]);
  expect(new Set(both).size).toBe(10);
  expect(both).toEqual(expect.arrayContaining(prints([judged])));
});

test('a matrix with any number of failures stays within the limits of GitHub', () => {
  const nodes = Array.from({ length: 120 }, (_, i) => String(i));
  const check: CheckResult = { ...judged.checks[0]!, verdict: 'failed', nodes: [], names: [] };
  const many = Array.from({ length: 25_010 }, (_, i) => ({ ...check, check: `time./blocks.${i}` }));
  const checks = [{ ...check, nodes, names: nodes }, ...many];
  const [run] = sarifOf([{ ...judged, checks }]).runs;
  expect(run.results).toHaveLength(25_000);
  expect(run.results.every(({ level }) => level === 'error')).toBe(true);
  expect(run.results[0]!.locations[0]!.logicalLocations).toHaveLength(100);
  expect(run.invocations).toMatchObject([
    {
      toolExecutionNotifications: [
        { message: { text: '11 of 25011 results are omitted: GitHub accepts 25000 of a run' } },
      ],
    },
  ]);
  const small = sarifOf([{ ...judged, checks: many.slice(0, 3) }]);
  expect(schemaViolations({ ...small, runs: [{ ...run, results: run.results.slice(0, 3) }] }, sarifSchema)).toEqual([]);
});

test('GitLab: the five fields of a code quality issue, each with its own fingerprint', () => {
  const issues = gateCodeQuality([{ result: judged, paths }], hash) as Record<string, unknown>[];
  expect(issues).toHaveLength(5);
  expect(new Set(issues.map(({ fingerprint }) => fingerprint)).size).toBe(5);
  expect(issues[0]).toMatchObject({
    check_name: 'trtlens-kernels',
    severity: 'major',
    location: { path: 'models of ours/vit.gate.yaml', lines: { begin: 2 } },
  });
});

test('JUnit and Markdown: names of nodes are text, never markup', () => {
  const junit = gateJunit([judged]);
  expect(junit).toContain('<testsuite name="m.onnx TensorRT 10.6.0" tests="7" failures="5" errors="0" skipped="1">');
  expect(junit).toContain('/a &quot;b&quot;&lt;c&gt;&amp;|`d`&#10;*e*\ufffd&#10;Relu2</failure>');
  const markdown = renderMarkdown(gateDocument(judged));
  expect(markdown).toContain('✗ **5 of 7 checks failed, 1 not checked (optional).**');
  expect(markdown).toMatch(/^### m\.onnx, TensorRT 10\.6\.0 against before\n/);
  expect(markdown).toContain('/a "b"&lt;c>&amp;\\|\\`d\\` \\*e\\* , Relu2 |');
  expect(markdown.trimEnd().split('\n')).toHaveLength(6 + 7);
  // GitHub takes what is between two $$ for a formula.
  expect(escapeMarkdown('$$myelin$$(Unnamed Loop)')).toBe('\\$\\$myelin\\$\\$(Unnamed Loop)');
});
