import { gateRules } from '../gate/gateRules.ts';
import type { RuleName } from '../gate/gateFile.ts';
import type { CheckResult, GateResult } from '../gate/gateResult.ts';
import { builtWith, reasonOf, type Unbuilt } from './gateText.ts';

/** Files as a code host shows them: relative to the repository's root, with `/`. */
export interface SarifPaths {
  gate: string;
  /** Log of the build; null: not inside the repository, or not there. */
  log: string | null;
}

/** What GitHub takes: 25,000 results of a run, 1,000 locations of a result, of which it shows 100. */
const mostResults = 25_000;
const mostNodes = 100;

/** One finding of a gate that a code host shows. */
interface Shown {
  check: CheckResult;
  result: GateResult;
  paths: SarifPaths;
  /** The same for the same check of the same model, whatever its line and value; unique in a file. */
  fingerprint: string;
}

/** What failed or was allowed to fail, failures first. */
function shown(results: readonly { result: GateResult; paths: SarifPaths }[], hash: (text: string) => string): Shown[] {
  const seen = new Map<string, number>();
  const all = results.flatMap(({ result, paths }) =>
    result.checks
      .filter(({ verdict }) => verdict === 'failed' || verdict === 'allowed')
      .map((check) => {
        const key = `${paths.gate}\n${result.model}\n${check.check}`;
        const count = (seen.get(key) ?? 0) + 1;
        seen.set(key, count);
        // Builds of one model by several versions, in the order of the matrix.
        return { check, result, paths, fingerprint: hash(count === 1 ? key : `${key}\n${count}`) };
      }),
  );
  return all.toSorted((a, b) => Number(a.check.verdict === 'allowed') - Number(b.check.verdict === 'allowed'));
}

/**
 * SARIF 2.1.0 of what failed or was allowed to fail: the rule's line in the gate file, the nodes as logical locations, the log's
 * line as a related one. Fingerprints do not change with line numbers or values.
 * @param unbuilt jobs of a matrix without a build: they fail the run, and belong to no rule
 * @param version of trtlens
 * @param hash gives a short text the same hexadecimal hash everywhere
 */
export function gateSarif(
  results: readonly { result: GateResult; paths: SarifPaths }[],
  version: string,
  hash: (text: string) => string,
  unbuilt: readonly Unbuilt[] = [],
): object {
  const rules = Object.entries(gateRules).map(([id, { about }]) => ({
    id,
    shortDescription: { text: about },
    defaultConfiguration: { level: 'error' },
  }));
  const all = shown(results, hash);
  const omitted = all.length - mostResults;
  const notes = [
    ...unbuilt.map((job) => ({ level: 'error', message: { text: `${job.name}: ${reasonOf(job)}` } })),
    ...(omitted > 0
      ? [
          {
            level: 'warning',
            message: {
              text: `${omitted} of ${all.length} results are omitted: GitHub accepts ${mostResults} of a run`,
            },
          },
        ]
      : []),
  ];
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'trtlens gate', version, rules } },
        columnKind: 'utf16CodeUnits',
        ...(notes.length > 0 && {
          invocations: [{ executionSuccessful: unbuilt.length === 0, toolExecutionNotifications: notes }],
        }),
        results: all.slice(0, mostResults).map(sarifResult),
      },
    ],
  };
}

function sarifResult({ check, result, paths, fingerprint }: Shown): object {
  const { line, column, endColumn } = check.place;
  const name = `${result.model}, ${builtWith(result)}`;
  return {
    ruleId: check.rule,
    ruleIndex: Object.keys(gateRules).indexOf(check.rule as RuleName),
    level: check.verdict === 'failed' ? 'error' : 'note',
    message: { text: `${check.check} (${name}): ${check.message}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(paths.gate) },
          region: { startLine: line, startColumn: column, endColumn: Math.max(endColumn, column + 1) },
        },
        logicalLocations: check.names.slice(0, mostNodes).map((node, index) => ({
          name: node,
          fullyQualifiedName: `${result.model}/${check.nodes[index]}`,
          kind: 'element',
        })),
      },
    ],
    ...(check.logLine !== null &&
      paths.log !== null && {
        relatedLocations: [
          {
            id: 1,
            message: { text: 'The line of the build log that shows it' },
            physicalLocation: { artifactLocation: { uri: uriOf(paths.log) }, region: { startLine: check.logLine } },
          },
        ],
      }),
    // GitHub looks at the first only, and would compute it from the line's text.
    partialFingerprints: { primaryLocationLineHash: fingerprint, 'trtlensCheck/v1': fingerprint },
    ...(check.failsOnBaseline !== null && { baselineState: check.failsOnBaseline ? 'unchanged' : 'new' }),
    ...(check.permission && {
      suppressions: [
        { kind: 'external', justification: `Allowed until ${check.permission.until}: ${check.permission.why}` },
      ],
    }),
  };
}

/** A path as a relative URI reference. */
const uriOf = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/**
 * GitLab's code quality report (a subset of Code Climate's): a list of issues.
 * @param gate path of the gate file, where jobs of a matrix without a build are reported
 */
export function gateCodeQuality(
  results: readonly { result: GateResult; paths: SarifPaths }[],
  hash: (text: string) => string,
  gate = '',
  unbuilt: readonly Unbuilt[] = [],
): object[] {
  const jobs = unbuilt.map((job) => ({
    description: `${job.name}: ${reasonOf(job)}`,
    check_name: 'trtlens-build',
    fingerprint: hash(`${gate}\n${job.name}\nbuild`),
    severity: 'major',
    location: { path: gate, lines: { begin: 1 } },
  }));
  const checks = shown(results, hash).map(({ check, result, paths, fingerprint }) => ({
    description: `${check.check} (${result.model}): ${check.message}`,
    check_name: `trtlens-${check.rule}`,
    fingerprint,
    severity: check.verdict === 'failed' ? 'major' : 'info',
    location: { path: paths.gate, lines: { begin: check.place.line } },
  }));
  return [...checks, ...jobs];
}
