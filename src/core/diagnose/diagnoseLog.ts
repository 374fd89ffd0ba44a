import type { BuildLog, LogMessage } from '../engine/buildLog.ts';
import type { OnnxModel } from '../onnx/onnxModel.ts';
import { closestWords } from '../precision/language/closestWords.ts';
import { BUILDER_RULES, WORKSPACE_ADVICE } from './builderRules.ts';
import { causeText } from './causeText.ts';
import type { Diagnosis } from './diagnosis.ts';
import type { DiagnosisRule, Finding } from './diagnosisRule.ts';
import { gatherEvents } from './gatherEvents.ts';
import { MODEL_RULES } from './modelRules.ts';
import { NodeFinder } from './nodeFinder.ts';
import { PROGRAM_RULES, REPLAY_RULES } from './programRules.ts';
import { isForeignNodeName } from '../model/layerNameParts.ts';

/** From real messages of TensorRT 7 to 11, TensorRT-RTX and Polygraphy. More particular texts come before more general ones. */
const RULES: readonly DiagnosisRule[] = [...REPLAY_RULES, ...MODEL_RULES, ...BUILDER_RULES, ...PROGRAM_RULES];

/** Lines that only repeat that something failed. */
const CONSEQUENCES =
  /^(?:\S+\.cpp:\d+: Failed to parse ONNX model from file|Failed to (?:create engine|parse onnx)|Engine (?:set up failed|could not be created|deserialization failed)|Building engine failed|Parsing model failed|Could not parse ONNX correctly|Network And Config setup failed|Inference set up failed|Got invalid engine|Invalid Engine|Could not deserialize|Required optimization profile is invalid|FAILED \||=+ CAPTURED)|[Aa]lgorithm selection failed|selectAlgorithms returned|Assertion engine(?:Ptr)? != nullptr failed/;

/**
 * What went wrong in a build, the first cause first; repeated texts are reported once. With the model, the nodes concerned
 * are named by their ids. A log without errors gives only its warnings, a log that just ends gives `cut-off`.
 */
export function diagnoseLog(log: BuildLog, model?: OnnxModel): Diagnosis[] {
  const nodes = new NodeFinder(log, model);
  const found: Diagnosis[] = [];
  const told = new Set<string>();
  const consequences: Diagnosis[] = [];
  for (const event of gatherEvents(log.messages)) {
    const diagnosis = judge(event, log, nodes);
    if (!diagnosis) continue;
    if (diagnosis.code === 'internal' && CONSEQUENCES.test(diagnosis.message)) consequences.push(diagnosis);
    else if (isNew(diagnosis, told)) found.push(diagnosis);
  }
  found.push(...skippedForWorkspace(log).filter((diagnosis) => isNew(diagnosis, told)));
  found.push(...failedIterations(log));
  if (found.some(({ severity }) => severity === 'error')) return found;
  const first = consequences[0];
  if (log.outcome === 'cut-off' && !asksForHelp(log)) found.push(cutOff(log));
  else if (first && log.outcome === 'failed') found.push(first);
  return found;
}

/** A text that says no more than an earlier one (same code, no other subject) is not reported again. */
function isNew({ code, layer, message }: Diagnosis, told: Set<string>): boolean {
  const subject =
    code === 'internal' ? message : (layer ?? (code === 'profile-missing' || code === 'unknown-input' ? message : ''));
  if (told.has(`${code}\n${subject}`) || (subject === '' && told.has(code))) return false;
  told.add(`${code}\n${subject}`).add(code);
  return true;
}

const asksForHelp = (log: BuildLog) => /--help|-h\b|--version/.test(log.runs?.at(-1)?.command ?? '');

function cutOff(log: BuildLog): Diagnosis {
  return {
    code: 'cut-off',
    severity: 'error',
    message: `The log ends at line ${log.lines}, before the build does${lastLayer(log)}.`,
    advice:
      'The build was stopped, ran out of memory or is still running. Compiling one ForeignNode can take long without any output.',
    line: log.lines,
    nodes: [],
    layer: null,
  };
}

function judge(message: LogMessage, log: BuildLog, nodes: NodeFinder): Diagnosis | undefined {
  for (const rule of RULES) {
    const match = rule.pattern.exec(message.text);
    if (!match) continue;
    const finding = rule.say(match, message.text);
    const layer =
      (finding.layer || null) ??
      nodes.parsed(message.text) ??
      message.subject ??
      (rule.code === 'no-implementation' || rule.code === 'type-mismatch' ? nodes.timedAt(message.line) : null) ??
      null;
    const ids = nodesOf(finding, layer, nodes);
    const inputs = rule.code === 'shape-mismatch' ? (message.inputs ?? nodes.inputsOf(ids[0])) : [];
    return {
      code: rule.code,
      severity: finding.severity ?? message.severity,
      message: withLayer(finding.message, layer) + inputText(inputs),
      advice: adviceFor(finding, log, nodes),
      line: message.line,
      nodes: ids,
      layer,
    };
  }
  if (message.severity === 'warning') return undefined;
  const layer = nodes.parsed(message.text) ?? message.subject;
  return {
    code: 'internal',
    severity: 'error',
    message: sentence(causeText(message.text)),
    advice: OWN_TEXT[originOf(message, log)],
    line: message.line,
    nodes: nodes.find(layer),
    layer,
  };
}

const OWN_TEXT = {
  tensorrt: "This is TensorRT's own message. Search for it in NVIDIA's issue tracker, together with the version.",
  python: "This is Python's own text; the lines above it in the log show where it was raised.",
  driver: 'Correct the option or file that it names and build again.',
};

/** Who wrote a message that no rule knows. */
function originOf({ text, library }: LogMessage, { writer }: BuildLog): keyof typeof OWN_TEXT {
  if (/^[\w.]+(?:Error|Exception): /.test(text)) return 'python';
  return writer === 'driver' && library === false ? 'driver' : 'tensorrt';
}

function nodesOf(finding: Finding, layer: string | null, nodes: NodeFinder): string[] {
  if (finding.names) return finding.names.flatMap((name) => nodes.find(name));
  const ofTensors = (finding.tensors ?? []).flatMap((tensor) => nodes.ofTensor(tensor));
  return [...new Set([...ofTensors, ...nodes.find(layer, finding.op)])];
}

const withLayer = (message: string, layer: string | null): string =>
  layer === null
    ? message
    : message.replace(/\b[Tt]his node\b/, (words) =>
        isForeignNodeName(layer) ? layer : `${words.startsWith('T') ? 'Node' : 'node'} ${JSON.stringify(layer)}`,
      );

/** The shapes that do not fit, with their names. */
const inputText = (inputs: NonNullable<LogMessage['inputs']>): string =>
  inputs.length === 0 ? '' : ` Its inputs: ${inputs.map(({ name, shape }) => `${name} ${shape}`).join(', ')}.`;

const sentence = (text: string): string => (/[.!?:)]$/.test(text) ? text : `${text}.`);

function adviceFor(finding: Finding, log: BuildLog, nodes: NodeFinder): string {
  if (finding.input === undefined) return finding.advice;
  const inputs = nodes.inputs.length > 0 ? nodes.inputs : (log.model?.inputs.map(({ name }) => name) ?? []);
  if (inputs.length === 0 || inputs.includes(finding.input)) return finding.advice;
  const wrong = finding.input;
  const nearest =
    inputs.find((name) => name.includes(wrong) || wrong.includes(name)) ?? closestWords(wrong, inputs, 1)[0];
  return `${nearest ? `Did you mean ${JSON.stringify(nearest)}? ` : ''}Inputs of the model: ${inputs.slice(0, 10).join(', ')}.`;
}

/** Builds that pass although tactics did not fit: reported once, with the largest request. */
function skippedForWorkspace(log: BuildLog): Diagnosis[] {
  let worst: { bytes: number; available: string; line: number; layer: string } | undefined;
  for (const phase of log.phases) {
    for (const layer of phase.tactics) {
      for (const { reason, line } of layer.combinations.flatMap(({ skipped }) => skipped)) {
        const match = /[Ss]cratch requested: (\d+), available: (\d+)/.exec(reason);
        if (match && (!worst || Number(match[1]) > worst.bytes))
          worst = { bytes: Number(match[1]), available: match[2]!, line, layer: layer.name };
      }
    }
  }
  if (!worst) return [];
  return [
    {
      code: 'workspace-too-small',
      severity: 'warning',
      message: `Tactics of ${worst.layer} were skipped: ${worst.bytes} bytes of workspace requested, ${worst.available} available.`,
      advice: WORKSPACE_ADVICE,
      line: worst.line,
      nodes: [],
      layer: worst.layer,
    },
  ];
}

/** `polygraphy debug` exits with 0 after trying everything, whatever its builds did. */
function failedIterations({ iterations }: BuildLog): Diagnosis[] {
  const failed = iterations?.filter(({ outcome }) => outcome === 'failed') ?? [];
  const first = failed[0];
  if (!first) return [];
  return [
    {
      code: 'iteration-failed',
      severity: 'warning',
      message: `${failed.length} of ${iterations!.length} iterations of polygraphy debug failed; the first is iteration ${first.number}.`,
      advice:
        'That is what the tool searches for. Its last lines say what it concludes; this log is not about one build.',
      line: first.line,
      nodes: [],
      layer: null,
    },
  ];
}

function lastLayer(log: BuildLog): string {
  const last = log.phases.at(-1)?.tactics.at(-1);
  return last ? `, while ${last.name} was being timed` : '';
}
