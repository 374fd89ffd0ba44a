import type { BuildLog, LogMessage } from '../engine/buildLog.ts';
import { parserName } from '../model/parserName.ts';
import type { OnnxModel } from '../onnx/onnxModel.ts';
import type { Diagnosis } from './diagnosis.ts';
import { CONSEQUENCES, plain, RULES, WORKSPACE_ADVICE, type Finding } from './diagnosisRules.ts';
import { closestWords } from '../precision/language/closestWords.ts';
import { addTo } from '../text/addTo.ts';

/**
 * What went wrong in a build, the first cause first; repeated texts are told once. With the model, the nodes concerned
 * are named by their ids. A log without errors gives only its warnings, a log that just ends gives `cut-off`.
 */
export function diagnoseLog(log: BuildLog, model?: OnnxModel): Diagnosis[] {
  const nodes = new NodeFinder(model);
  const found: Diagnosis[] = [];
  const told = new Set<string>();
  const consequences: Diagnosis[] = [];
  for (const message of gather(log.messages)) {
    const diagnosis = judge(message, log, nodes);
    if (!diagnosis) continue;
    if (isConsequence(diagnosis, message)) consequences.push(diagnosis);
    else if (isNew(diagnosis, told)) found.push(diagnosis);
  }
  found.push(...skippedForWorkspace(log).filter((diagnosis) => isNew(diagnosis, told)));
  if (found.some(({ severity }) => severity === 'error')) return found;
  const first = consequences[0];
  if (log.outcome === 'cut-off' && !asksForHelp(log)) found.push(cutOff(log));
  else if (first && (log.outcome === 'failed' || first.code !== 'internal')) found.push(first);
  return found;
}

/** Without a driver, TensorRT follows many an error by one of CUDA's, which is not its cause. */
const isConsequence = ({ code, message }: Diagnosis, { text }: LogMessage): boolean =>
  (code === 'internal' && CONSEQUENCES.test(message)) ||
  (code === 'library-missing' && text.includes('catchCudaError'));

/** A text that says no more than an earlier one (same code, no other subject) is not told again. */
function isNew({ code, layer, message }: Diagnosis, told: Set<string>): boolean {
  const subject =
    code === 'internal' ? message : (layer ?? (code === 'profile-missing' || code === 'unknown-input' ? message : ''));
  if (told.has(`${code}\n${subject}`) || (subject === '' && told.has(code))) return false;
  told.add(`${code}\n${subject}`).add(code);
  return true;
}

/**
 * Several messages of one event become one: what the parser prints about a node (plugin look-up, position, the node's
 * text, the error), and the exceptions of skipped tactics before "Could not find any implementation".
 */
function gather(messages: LogMessage[]): LogMessage[] {
  const out: LogMessage[] = [];
  let event: LogMessage | undefined;
  for (const message of messages) {
    const { text } = message;
    const starts =
      /could not find plugin|Cannot find plugin|While parsing node number|Skipping tactic \S+ due to exception/.test(
        text,
      );
    const continues =
      event &&
      message.line <= event.line + MAX_EVENT_LINES &&
      /While parsing node number|--- (?:Begin|End) node|^\w+\.cpp:\d+: (?:input|output|name|op_type|attribute|domain)|ERROR: |Could not find any implementation|Skipping tactic/.test(
        text,
      );
    if (event && continues) {
      event.text += `\n${text}`;
      event.subject = event.subject ?? message.subject;
      event.severity = 'error';
    } else if (starts && message.severity === 'error') {
      event = { ...message };
      out.push(event);
    } else {
      event = undefined;
      out.push(message);
    }
  }
  return out;
}

/** A node's own text may hold long attributes; beyond this many lines two messages are two events. */
const MAX_EVENT_LINES = 400;

const asksForHelp = (log: BuildLog) => /--help|-h\b|--version/.test(log.runs?.at(-1)?.command ?? '');

function cutOff(log: BuildLog): Diagnosis {
  return {
    code: 'cut-off',
    severity: 'error',
    message: `The log ends at line ${log.lines}, before the build does${lastLayer(log)}.`,
    advice:
      'The build was stopped, ran out of memory or is still running. A long silence while one ForeignNode is compiled is normal.',
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
    const layer = finding.layer ?? nodes.parsed(message.text) ?? message.subject;
    return {
      code: rule.code,
      severity: finding.severity ?? message.severity,
      message:
        finding.op !== undefined && layer
          ? finding.message.replace('this node', JSON.stringify(layer))
          : finding.message,
      advice: adviceFor(finding, log, nodes),
      line: message.line,
      nodes: finding.names ? finding.names.flatMap((name) => nodes.find(name)) : nodes.find(layer, finding.op),
      layer,
    };
  }
  if (message.severity === 'warning') return undefined;
  return {
    code: 'internal',
    severity: 'error',
    message: plain(message.text),
    advice: "This is TensorRT's own text; search for it in NVIDIA's issue tracker together with the version.",
    line: message.line,
    nodes: nodes.find(message.subject),
    layer: message.subject,
  };
}

function adviceFor(finding: Finding, log: BuildLog, nodes: NodeFinder): string {
  if (finding.input === undefined) return finding.advice;
  const inputs = nodes.inputs.length > 0 ? nodes.inputs : (log.model?.inputs.map(({ name }) => name) ?? []);
  if (inputs.length === 0 || inputs.includes(finding.input)) return finding.advice;
  const wrong = finding.input;
  const nearest =
    inputs.find((name) => name.includes(wrong) || wrong.includes(name)) ?? closestWords(wrong, inputs, 1)[0];
  return `${nearest ? `Did you mean ${JSON.stringify(nearest)}? ` : ''}Inputs of the model: ${inputs.slice(0, 10).join(', ')}.`;
}

/** Builds that pass although tactics did not fit: said once, with the largest request. */
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
      message: `Tactics of ${worst.layer} were skipped: ${worst.bytes} bytes of workspace asked for, ${worst.available} available.`,
      advice: WORKSPACE_ADVICE,
      line: worst.line,
      nodes: [],
      layer: worst.layer,
    },
  ];
}

function lastLayer(log: BuildLog): string {
  const last = log.phases.at(-1)?.tactics.at(-1);
  return last ? `, while ${last.name} was being timed` : '';
}

/** Finds the nodes that a name of TensorRT's stands for; ids of the likeliest first. */
class NodeFinder {
  readonly inputs: string[];
  readonly #byName = new Map<string, string[]>();
  readonly #byOp = new Map<string, string[]>();
  readonly #producers = new Map<string, string>();
  readonly #order: string[];

  constructor(model: OnnxModel | undefined) {
    const initializers = new Set(model?.graph.initializers.map(({ name }) => name));
    this.inputs = model?.graph.inputs.map(({ name }) => name).filter((name) => !initializers.has(name)) ?? [];
    this.#order = model?.nodes.map(({ id }) => id) ?? [];
    for (const node of model?.nodes ?? []) {
      const name = parserName(node);
      for (const key of new Set([name, ...node.outputs])) addTo(this.#byName, key, node.id);
      addTo(this.#byOp, node.op, node.id);
      if (node.outputs[0] !== undefined) this.#producers.set(node.outputs[0], name);
    }
  }

  find(layer: string | null, op?: string): string[] {
    if (layer !== null) {
      const exact = this.#byName.get(layer);
      if (exact) return exact;
      const parts = this.#parts(layer);
      if (parts.length > 0) return parts;
    }
    return (op && this.#byOp.get(op)) || [];
  }

  /** The name of the node that a parser's error is about: by its first output in the model, else by the node's own text. */
  parsed(text: string): string | undefined {
    const output = /While parsing node number \d+ \[\S* -> "([^"]*)"/.exec(text)?.[1];
    if (output === undefined) return undefined;
    return (
      this.#producers.get(output) ??
      /\n(?:\w+\.cpp:\d+: )?(?:name: "(.*)"|Node name: (.*))/.exec(text)?.slice(1).find(Boolean)
    );
  }

  /** The ends of a ForeignNode's name and the parts of a fused one, as far as they are nodes. */
  #parts(layer: string): string[] {
    const inner = /^\{ForeignNode\[(.*)\]\}$/s.exec(layer)?.[1];
    const pieces = (inner ?? layer).split(/\.\.\.| \+ | \|\| |PWN\(|\)+|, /);
    const ids = new Set(pieces.flatMap((piece) => this.#byName.get(piece.trim()) ?? []));
    return this.#order.filter((id) => ids.has(id));
  }
}
