import type { Diagnosis, DiagnosisCode } from '../../../kernel/build/diagnosis.ts';
import { type DiagnosisRule, isAfter } from './ruleTable.ts';

/** Lines that only repeat that something failed. */
const CONSEQUENCES =
  /^(?:\S+\.cpp:\d+: Failed to parse ONNX model from file|Failed to (?:create engine|parse onnx|build (?:engine|serialized))|failed to (?:parse|build|load)|Engine (?:set up failed|could not be created|deserialization failed|creation failed|building failed)|Building (?:engine|serialized network) failed|Parsing model failed|Could not parse ONNX correctly|Network And Config setup failed|Network validation failed|Inference set up failed|Got invalid engine|Invalid (?:Engine|Context|network\.)|Could not deserialize|Builder creation failed|(?:Network|Config|Runtime(?: object)?) creation failed|Empty serialized engine|Engine blob is empty|Build engine failed|Required optimization profile is invalid|Try (?:in|de)creasing the workspace size|FAILED \||=+ CAPTURED)|[Aa]lgorithm selection failed|selectAlgorithms returned|Assertion (?:engine|engineImpl|\w*[eE]ngine)(?:Ptr)? != nullptr failed/;

const isConsequence = (message: string): boolean => CONSEQUENCES.test(message);

/** `[graphContext.h::~MyelinGraphContext::55]`: what is destroyed after a failure reports what it finds, never the cause. */
const isOfDestructor = ({ diagnosis: { evidence } }: Judged): boolean =>
  /\[\S{1,120}::~\w{1,80}::\d{1,6}\]/.test(evidence);

interface Judged {
  diagnosis: Diagnosis;
  rule: DiagnosisRule | null;
}

/**
 * Errors that followed from others become a part of their cause: those whose rule says so, those that only repeat that
 * something failed, and those that no rule knows where a rule knows another. `consequences`: repetitions that follow from
 * nothing known.
 */
export function foldConsequences(found: readonly Judged[]): { diagnoses: Diagnosis[]; consequences: Diagnosis[] } {
  const repeats = (one: Judged) => one.rule === null && isConsequence(one.diagnosis.message);
  const isLast = (one: Judged) =>
    isOfDestructor(one) && found.some((other) => other.diagnosis.severity === 'error' && !isOfDestructor(other));
  const causes: Judged[] = [];
  const others: Judged[] = [];
  for (const one of found)
    (repeats(one) || isLast(one) || followsFrom(one, found) !== undefined ? others : causes).push(one);
  const isKnown = ({ rule }: Judged) => rule !== null;
  const known = causes.filter((one) => isKnown(one) && one.diagnosis.severity === 'error');
  const unknown = causes.filter((one) => !isKnown(one));
  const rest = causes.filter(isKnown);
  // A known cause explains what no rule knows; otherwise the first unknown one counts.
  const kept = known.length > 0 ? rest : [...rest, ...unknown.slice(0, 1)];
  others.push(...unknown.slice(known.length > 0 ? 0 : 1));
  const byCause = new Map<Judged, Judged[]>(kept.map((one) => [one, []]));
  const loose: Judged[] = [];
  for (const one of others.toSorted((a, b) => a.diagnosis.line - b.diagnosis.line)) {
    const cause = causeOf(one, kept);
    if (cause === undefined) loose.push(one);
    else byCause.get(cause)!.push(one);
  }
  const diagnoses = kept.map((one) => {
    const follows = byCause.get(one)!;
    if (follows.length === 0) return one.diagnosis;
    const nodes = [...new Set([one, ...follows].flatMap(({ diagnosis }) => diagnosis.nodes))];
    return {
      ...one.diagnosis,
      severity: follows.some(({ diagnosis }) => diagnosis.severity === 'error') ? 'error' : one.diagnosis.severity,
      nodes: one.diagnosis.nodes.length > 0 ? one.diagnosis.nodes : nodes,
      layer: one.diagnosis.layer ?? follows.find(({ diagnosis }) => diagnosis.layer !== null)?.diagnosis.layer ?? null,
      follows: follows.map(({ diagnosis: { line, message } }) => ({ line, message })),
    } satisfies Diagnosis;
  });
  return {
    diagnoses: diagnoses.toSorted((a, b) => a.line - b.line),
    consequences: loose.map(({ diagnosis }) => diagnosis),
  };
}

/** Causes that several messages report one after the other; the first of them says most. */
const REPEATED: ReadonlySet<DiagnosisCode> = new Set([
  'out-of-memory',
  'library-mismatch',
  'profile-inconsistent',
  'gpu-unsupported',
  'calibration-failed',
  'engine-invalid',
  'engine-other-version',
  'engine-other-device',
  'runtime-failed',
  'runtime-shape',
  'dla-failed',
  'crashed',
  'failed',
]);

/** What a message followed from, by its rule: one before it, otherwise one after it. */
function followsFrom(judged: Judged, found: readonly Judged[]): Judged | undefined {
  const { diagnosis } = judged;
  if (REPEATED.has(diagnosis.code) && diagnosis.severity === 'error') {
    const first = found.find(
      (one) =>
        one.diagnosis.code === diagnosis.code &&
        one.diagnosis.severity === 'error' &&
        causeByRule(one, found) === undefined,
    );
    if (first !== undefined && first.diagnosis !== diagnosis) return first;
  }
  return causeByRule(judged, found);
}

function causeByRule({ rule, diagnosis }: Judged, found: readonly Judged[]): Judged | undefined {
  if (rule?.after === undefined) return undefined;
  const causes = found.filter(
    (one) =>
      one.rule?.id !== rule.id &&
      one.rule?.harmless !== true &&
      isAfter(rule, one.diagnosis.code) &&
      // A crash ends the program: what came before it does not follow from it.
      !(one.diagnosis.code === 'crashed' && one.diagnosis.line > diagnosis.line) &&
      // Of two that may each follow from the other, the first is the cause.
      !(
        one.rule !== null &&
        isAfter(one.rule, rule.code) &&
        one.diagnosis.line >= diagnosis.line &&
        rule.harmless !== true
      ) &&
      // What no rule knows explains only what comes after it.
      !(one.rule === null && (isConsequence(one.diagnosis.message) || one.diagnosis.line > diagnosis.line)),
  );
  return causes.findLast((one) => one.diagnosis.line <= diagnosis.line) ?? causes[0];
}

/** Warnings of these codes end a build, where no error says anything else. */
const WEIGHTY: ReadonlySet<DiagnosisCode> = new Set(['library-missing', 'gpu-unsupported', 'out-of-memory']);
export const endsBuild = ({ code }: Diagnosis): boolean => WEIGHTY.has(code);

/** The cause under which an error is reported. */
function causeOf(one: Judged, kept: readonly Judged[]): Judged | undefined {
  const own = followsFrom(one, kept);
  if (own) return own;
  const severe = kept.filter(({ diagnosis }) => diagnosis.severity === 'error');
  const errors =
    severe.length > 0 ? severe : kept.filter(({ rule, diagnosis }) => endsBuild(diagnosis) && !rule?.harmless);
  return errors.findLast(({ diagnosis }) => diagnosis.line <= one.diagnosis.line) ?? errors[0];
}
