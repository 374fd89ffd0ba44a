import type { BuildFacts } from '../../precision/check/buildFacts.ts';
import type { FusionReport } from '../../fusion/fusionReport.ts';
import type { NodeIndex } from '../../precision/language/nodeIndex.ts';
import type { DiffInput } from '../diffInput.ts';
import { judgeAttention } from './judgeAttention.ts';
import { judgeNumber } from './judgeNumber.ts';
import { judgePrecision } from './judgePrecision.ts';
import type { Check, GateFile } from './gateFile.ts';
import type { CheckResult, CheckVerdict, GateResult } from './gateResult.ts';

/** A build, or the baseline, as far as a gate looks at it. */
export interface GateSide extends DiffInput {
  /** Reports on further profiles of the same build: a time is the median of all. */
  repeats?: readonly FusionReport[] | undefined;
  /** What layers show of types, with the model's index; absent without the model. */
  types?: { facts: BuildFacts; index: NodeIndex } | undefined;
  /** The largest error of an output, as `trtlens accuracy` finds it (null: an output is not finite), or why it is not known. */
  accuracy?: { error: number | null } | { missing: string } | undefined;
}

/** What a rule finds: whether its limit is kept, or why it cannot be said. */
export type GateFinding =
  | {
      kept: boolean;
      message: string;
      value?: number;
      baseline?: number;
      nodes?: readonly { id: string; name: string }[];
      logLine?: number | null;
    }
  | { kept: null; message: string };

/**
 * Judges a build by a gate file.
 * @param gate path of the gate file, for the result
 */
export function judgeGate(gate: string, file: GateFile, build: GateSide, baseline: GateSide | null): GateResult {
  const checks = file.checks.map((check) => judgeCheck(check, file, build, baseline));
  const counts: Record<CheckVerdict, number> = { passed: 0, failed: 0, allowed: 0, skipped: 0 };
  for (const { verdict } of checks) counts[verdict] += 1;
  return {
    schema: 1,
    gate,
    source: build.source,
    model: build.report.model.file,
    tensorrt: build.report.tensorrt,
    gpu: build.figures?.gpu ?? null,
    baseline: baseline?.source ?? null,
    passed: counts.failed === 0,
    counts,
    checks,
  };
}

function judgeCheck(check: Check, { allow }: GateFile, build: GateSide, baseline: GateSide | null): CheckResult {
  const finding = find(check, build, baseline);
  const before = baseline === null ? null : find(check, baseline, baseline).kept;
  const permission = allow.find(({ rule }) => rule === check.rule || rule === check.id) ?? null;
  const judged = finding.kept !== null;
  const verdict = finding.kept ? 'passed' : !judged && check.optional ? 'skipped' : permission ? 'allowed' : 'failed';
  const details: Partial<Extract<GateFinding, { kept: boolean }>> = finding.kept === null ? {} : finding;
  return {
    rule: check.rule,
    check: check.id,
    verdict,
    judged,
    message: finding.message,
    limit: check.limit.text,
    value: details.value ?? null,
    baseline: details.baseline ?? null,
    failsOnBaseline: before === null ? null : !before,
    nodes: (details.nodes ?? []).map(({ id }) => id),
    names: (details.nodes ?? []).map(({ id, name }) => name || `node ${id}`),
    logLine: details.logLine ?? null,
    place: check.place,
    permission: verdict === 'allowed' && permission ? { until: permission.until, why: permission.why } : null,
  };
}

function find(check: Check, build: GateSide, baseline: GateSide | null): GateFinding {
  switch (check.rule) {
    case 'attention':
      return judgeAttention(build);
    case 'precision':
      return judgePrecision(check, build);
    default:
      return judgeNumber(check, build, baseline);
  }
}
