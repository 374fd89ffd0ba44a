import { counted } from '../../text/numbers.ts';
import type { CheckResult, CheckVerdict, GateResult } from '../gate/gateResult.ts';
import { escapeCell, escapeXml } from './escapes.ts';

const signs: Record<CheckVerdict, string> = { passed: '✓', failed: '✗', allowed: '!', skipped: '–' };

/** `2 of 9 checks failed`, `9 checks passed`. */
export function gateSummary({ checks, counts }: GateResult): string {
  const total = counted(checks.length, 'check');
  const rest = [
    counts.allowed > 0 && `${counts.allowed} allowed to fail`,
    counts.skipped > 0 && `${counts.skipped} not judged (optional)`,
  ].filter(Boolean);
  const head = counts.failed > 0 ? `${counts.failed} of ${total} failed` : `${counted(counts.passed, 'check')} passed`;
  return rest.length > 0 ? `${head}, ${rest.join(', ')}` : head;
}

/** For a terminal: a line a check, failures with their nodes, then the summary. */
export function gateText(result: GateResult): string {
  const width = Math.max(...result.checks.map(({ check }) => check.length), 0);
  const lines = result.checks.flatMap((check) => [
    `${signs[check.verdict]} ${check.check.padEnd(width)}  ${check.message}${allowedText(check)}`,
    ...(check.verdict === 'failed' && check.names.length > 0 ? [`  ${' '.repeat(width)}  ${someNames(check)}`] : []),
  ]);
  const against = result.baseline === null ? '' : ` against ${result.baseline}`;
  return `${result.model}, ${builtWith(result)}${against}\n${lines.join('\n')}\n${gateSummary(result)}.\n`;
}

const allowedText = ({ permission }: CheckResult): string =>
  permission ? ` Allowed until ${permission.until}: ${permission.why}.` : '';

/** `TensorRT 10.6.0, NVIDIA H200` */
export const builtWith = ({ tensorrt: { product, version }, gpu }: GateResult): string =>
  `${product === 'tensorrt-rtx' ? 'TensorRT-RTX' : 'TensorRT'} ${version ?? '(version unknown)'}${gpu === null ? '' : `, ${gpu}`}`;

function someNames({ names }: CheckResult): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown}, and ${names.length - 5} more` : shown;
}

/** A job of a matrix that left no build to judge. */
export interface Unbuilt {
  /** Name of the job: model, precision and target. */
  name: string;
  /** `failed`, `cancelled`, `missing`. */
  result: string;
  /** One line; null: not known. */
  error: string | null;
}

/** For a terminal: every build of a matrix with its checks, then one line each, those that were not built last. */
export function matrixText(results: readonly GateResult[], unbuilt: readonly Unbuilt[]): string {
  const width = Math.max(...results.map(({ source }) => source.length));
  const lines = [
    ...results.map(
      (result) =>
        `${signs[result.passed ? 'passed' : 'failed']} ${result.source.padEnd(width)}  ${result.model}, ${builtWith(result)}: ${gateSummary(result)}`,
    ),
    ...unbuilt.map((job) => `${signs.failed} ${job.name}: ${reasonOf(job)}`),
  ];
  return `${results.map(gateText).join('\n')}\n${lines.join('\n')}\n`;
}

/** Why a job was not judged. */
export const reasonOf = ({ result, error }: Unbuilt): string => {
  const what = { failed: 'the build failed', cancelled: 'the build was cancelled' }[result] ?? 'it was not built';
  return `not judged, because ${what}${error === null ? '' : `: ${error}`}`;
};

/** One line a build, where there are several: the retest at a glance. */
function overview(results: readonly GateResult[], unbuilt: readonly Unbuilt[]): string {
  if (results.length + unbuilt.length < 2) return '';
  const rows = [
    ...results.map(
      (result) =>
        `| ${result.passed ? '✓' : '✗'} | ${escapeCell(result.source)} | ${escapeCell(`${result.model}, ${builtWith(result)}`)} | ${gateSummary(result)} |`,
    ),
    ...unbuilt.map((job) => `| ✗ | ${escapeCell(job.name)} | | ${escapeCell(reasonOf(job))} |`),
  ];
  return `| | build | made of | checks |\n|---|---|---|---|\n${rows.join('\n')}\n\n`;
}

/** For a job summary or a comment on a pull request. */
export function gateMarkdown(results: readonly GateResult[], unbuilt: readonly Unbuilt[] = []): string {
  const sections = results
    .map((result) => {
      const rows = result.checks.map(
        (check) =>
          `| ${signs[check.verdict]} | ${escapeCell(check.check)} | ${escapeCell(check.message + allowedText(check))}${check.verdict === 'failed' && check.names.length > 0 ? `<br>${escapeCell(someNames(check))}` : ''} |`,
      );
      const title = `### ${result.passed ? '✅' : '❌'} ${escapeCell(`${result.model}, ${builtWith(result)}`)}: ${gateSummary(result)}`;
      return `${title}\n\n| | check | result |\n|---|---|---|\n${rows.join('\n')}\n`;
    })
    .join('\n');
  return overview(results, unbuilt) + sections;
}

/** JUnit XML: a suite a build, a test case a check. */
export function gateJunit(results: readonly GateResult[], unbuilt: readonly Unbuilt[] = []): string {
  const suites = results.map((result) => {
    const cases = result.checks.map((check) => {
      const head = `    <testcase classname="${escapeXml(result.gate)}" name="${escapeXml(check.check)}" file="${escapeXml(result.gate)}" line="${check.place.line}"`;
      const text = escapeXml(check.message + allowedText(check));
      if (check.verdict === 'failed')
        return `${head}>\n      <failure message="${text}">${escapeXml(check.names.join('\n'))}</failure>\n    </testcase>`;
      if (check.verdict === 'passed') return `${head}/>`;
      return `${head}>\n      <skipped message="${text}"/>\n    </testcase>`;
    });
    const { failed, allowed, skipped } = result.counts;
    const name = escapeXml(`${result.model} ${builtWith(result)}`);
    return `  <testsuite name="${name}" tests="${result.checks.length}" failures="${failed}" errors="0" skipped="${allowed + skipped}">\n${cases.join('\n')}\n  </testsuite>`;
  });
  const missing = unbuilt.map((job) => {
    const name = escapeXml(job.name);
    return `  <testsuite name="${name}" tests="1" failures="1" errors="0" skipped="0">\n    <testcase classname="${name}" name="build">\n      <failure message="${escapeXml(reasonOf(job))}"/>\n    </testcase>\n  </testsuite>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${[...suites, ...missing].join('\n')}\n</testsuites>\n`;
}
