// Finds the causes in a log.
import type { BuildLog, LogMessage, StrayLine } from '../../kernel/read/tensorrt/buildOutput.ts';
import { isForeignNodeName } from '../../kernel/network/layerName.ts';
import type { OnnxModel } from '../../kernel/read/onnx/onnxModel.ts';
import { closestWords, counted } from '../../kernel/base/text.ts';
import { applyRules, type Finding, inWordsOf } from './internal/matchRule.ts';
import type { RuleContext } from './internal/ruleContext.ts';
import { endsWhereTimed, phaseReached, SOME_PHASE } from './internal/describePhase.ts';
import { causeText, isFrame } from '../../kernel/build/causeText.ts';
import type { Diagnosis, DiagnosisCode } from '../../kernel/build/diagnosis.ts';
import { dlaReport } from './internal/dlaReport.ts';
import { endsBuild, foldConsequences } from './internal/foldConsequences.ts';
import { gatherEvents } from './internal/gatherEvents.ts';
import { programsOf } from './internal/hostProgram.ts';
import { NodeFinder } from './internal/nodeFinder.ts';
import { parsedOp } from './parsedOp.ts';
import { packageOf } from './internal/raisedIn.ts';
import { type DiagnosisRule, patternOf, type Program, RULES } from './internal/ruleTable.ts';
import { knownFaults } from '../../kernel/faults/knownFaults.ts';
import { withModelCauses } from './internal/modelCause.ts';

export { diagnosisMarkdown, howItEnds } from './internal/describePhase.ts';

/** What one event of the log came to. */
interface Judged {
  diagnosis: Diagnosis;
  rule: DiagnosisRule | null;
  /** Equal for messages that say the same of several nodes. */
  key: string;
  /** Node, or else tensor, that the message is about. */
  subject: string | null;
  op: string | undefined;
}

/**
 * What went wrong in a build: errors first, the cause before others, each with what followed from it. Messages that say
 * the same of several nodes are one. With the model, the nodes concerned are named by their ids. A log without errors
 * gives only its warnings; one that ends in a failure that no message explains says where it ended, and what usually ends
 * a build there.
 */
export function diagnoseLog(whole: BuildLog, model?: OnnxModel): Diagnosis[] {
  const log = withShortLines(whole);
  const nodes = new NodeFinder(log, model);
  const judge = new Judge(log, nodes);
  const found: Judged[] = [];
  for (const event of gatherEvents(log.messages)) {
    const one = judge.message(withReason(event, log));
    if (one) found.push(one);
  }
  if (!asksForHelp(log))
    for (const { line, text } of log.strays ?? []) found.push(...judge.stray(strayEvent(line, text)));
  found.push(...pluginSought(log, judge));
  found.sort((a, b) => a.diagnosis.line - b.diagnosis.line);
  const leftDla = ({ rule }: Judged) => rule?.id === 'dla-fallback';
  const dla = dlaReport(
    found.filter(leftDla).map(({ diagnosis }) => diagnosis),
    log,
  );
  const merged = merge(found.filter((one) => !leftDla(one) && !isOvercome(one, log)));
  const { diagnoses, consequences } = foldConsequences(merged);
  const explained = [
    ...(log.sessionReady ? diagnoses.map(leftToOthers) : diagnoses),
    ...dla,
    ...skippedForWorkspace(log, diagnoses, judge),
    ...failedIterations(log),
  ];
  const isExplained = explained.some(({ severity }) => severity === 'error');
  const rest = isExplained
    ? []
    : unexplained(log, consequences).filter((one) => one.severity === 'error' || !explained.some(endsBuild));
  const out = [...explained, ...rest].map((one) => beforePassed(one, log));
  const causes = model ? withModelCauses(out, log, model) : out;
  // The cause first: warnings come after what ended the build.
  return [
    ...causes.filter(({ severity }) => severity === 'error'),
    ...causes.filter(({ severity }) => severity === 'warning'),
    ...(model ? wrongValues(log, model) : []),
  ];
}

/** What a build that passed is known to compute wrong: no line of the log says it. */
function wrongValues({ outcome, passed, product, version }: BuildLog, model: OnnxModel): Diagnosis[] {
  if (outcome !== 'passed' || product === null) return [];
  return knownFaults(model, { product, version, capability: null })
    .filter(({ severity }) => severity === 'error')
    .map(({ message, advice, nodes, repair }) => ({
      code: 'known-fault',
      rule: null,
      severity: 'warning',
      message,
      advice,
      sure: 'likely',
      line: passed ?? 1,
      evidence: '',
      nodes,
      layer: null,
      ...(repair !== undefined && { repair }),
      follows: [],
    }));
}

/**
 * What is read of a line, in characters. A pattern that looks for one word behind another takes time that grows with the
 * square of a line, so a line of a megabyte would take minutes.
 */
const MOST_OF_A_LINE = 4000;

function withShortLines(log: BuildLog): BuildLog {
  const short = <T extends { text: string }>(one: T): T =>
    one.text.length <= MOST_OF_A_LINE ? one : { ...one, text: one.text.split('\n').map(cut).join('\n') };
  const cut = (line: string) =>
    line.length <= MOST_OF_A_LINE ? line : `${line.slice(0, MOST_OF_A_LINE / 2)} … ${line.slice(-MOST_OF_A_LINE / 2)}`;
  return { ...log, messages: log.messages.map(short), ...(log.strays && { strays: log.strays.map(short) }) };
}

/** Whether a later line says what the message of a rule came to. */
function isOvercome({ rule, diagnosis }: Judged, { strays = [], messages }: BuildLog): boolean {
  const { overcome } = rule ?? {};
  const says = ({ line, text }: StrayLine) => line > diagnosis.line && patternOf(overcome!).test(text);
  return overcome !== undefined && (strays.some(says) || messages.some(says));
}

/** A log that ends where the parser looks for a plugin: it goes on, in words of its own, where it finds one. */
function pluginSought({ lastLine, sought }: BuildLog, judge: Judge): Judged[] {
  if (sought === undefined || lastLine === undefined || lastLine.line > sought.line + 1) return [];
  const event = strayEvent(sought.line, `No importer registered for op: ${sought.op}`);
  const one = judge.message({ ...event, severity: 'warning' });
  return one ? [one] : [];
}

/** What the parser says of a node, with the reason that an excerpt has in a line before it only: it found no plugin. */
function withReason(event: LogMessage, { sought }: BuildLog): LogMessage {
  const { text } = event;
  if (sought === undefined) return event;
  const isAbout =
    parsedOp(text) === sought.op
      ? CUT_AT_NODE.test(text)
      : parsedOp(text) === undefined && NO_NAMED_PLUGIN.test(text) && sought.line < event.line;
  if (!isAbout) return event;
  return { ...event, text: `${text}\nNo importer registered for op: ${sought.op}` };
}

/** The parser's reason in the words of its Python binding, which name no operator. */
const NO_NAMED_PLUGIN = /^(?![\s\S]*No importer registered)[\s\S]*Plugin not found, are the plugin name/;

const CUT_AT_NODE = /While parsing node number \d+ (?![\s\S]*(?:In function|In node|Assertion|Invalid Node))/;

/** Applies the rules to the messages of one log. */
class Judge {
  readonly programs: readonly Program[];
  readonly #log: BuildLog;
  readonly #nodes: NodeFinder;
  readonly #context: RuleContext;
  /** What the rules said of a text: a log of many builds repeats its messages. */
  readonly #found = new Map<string, Finding | undefined>();

  constructor(log: BuildLog, nodes: NodeFinder) {
    this.#log = log;
    this.#nodes = nodes;
    this.programs = programsOf(log);
    const commands = commandLines(log);
    this.#context = {
      op: undefined,
      product: log.product,
      version: log.version,
      gpu: log.gpu,
      since10: log.messages.some(({ text }) => /^(?:Error\[\d+\]: )?I[A-Z]\w+::\w+: Error Code \d+: /.test(text)),
      inputs: nodes.networkInputs,
      plugins: namesIn(log, /plugin creator\b[^\n]{0,40}?::(\w+)/i),
      types: namesIn(log, /Unsupported ONNX data type: (\w+)/),
      shaped: shapedInputs(commands),
      suspect: suspectOption(commands),
      lowered: loweredTypes(commands),
      ...phaseReached(log),
    };
  }

  message(message: LogMessage): Judged | undefined {
    const context = this.#contextOf(message);
    const finding = this.#rulesFor(message, context);
    if (finding) return this.#judged(finding, message);
    if (message.severity === 'warning' || isFrame(message.text)) return undefined;
    const layer = this.#nodes.parsed(message.text)?.name ?? message.subject;
    const text = sentence(causeText(message.text));
    const origin = originOf(message, this.#log);
    const raiser = origin === 'python' ? packageOf(this.#log, message) : undefined;
    return {
      rule: null,
      key: `internal\n${text}`,
      subject: layer,
      op: context.op,
      diagnosis: {
        code: 'internal',
        rule: null,
        severity: 'error',
        message: raiser === undefined ? text : `The Python package ${raiser} failed: ${text}`,
        advice: OWN_TEXT[origin](context),
        sure: 'possible',
        line: message.line,
        evidence: evidenceOf(message.text),
        nodes: this.#nodes.parsed(message.text)?.ids ?? this.#nodes.find(layer),
        layer,
        follows: [],
      },
    };
  }

  /** A line that no prefix marks as a message: only a rule can say that it is one. */
  stray(event: LogMessage): Judged[] {
    const finding = this.#rulesFor(event, this.#contextOf(event));
    if (!finding || !(finding.rule.anywhere ?? BEGINS.test(finding.before))) return [];
    return [this.#judged(finding, event)];
  }

  /** What the log reached is said of its last run. */
  #contextOf({ text, line }: LogMessage): RuleContext {
    const isEarlier = line < (this.#log.runs?.at(-1)?.line ?? 0);
    return { ...this.#context, ...(isEarlier && SOME_PHASE), op: parsedOp(text) };
  }

  #rulesFor(message: LogMessage, context: RuleContext): Finding | undefined {
    const key = `${message.severity} ${context.op} ${context.phase} ${message.text}`;
    if (!this.#found.has(key)) this.#found.set(key, applyRules(RULES, message, context, this.programs));
    return this.#found.get(key);
  }

  #judged(finding: Finding, message: LogMessage): Judged {
    const { rule, op } = finding;
    const parsed = this.#nodes.parsed(message.text);
    const timed = rule.code === 'no-implementation' || rule.code === 'type-mismatch';
    const layer =
      finding.layer ?? parsed?.name ?? message.subject ?? (timed ? this.#nodes.timedAt(message.line) : null) ?? null;
    const subject = layer ?? finding.tensors[0] ?? null;
    const ids = this.#nodesOf(finding, layer, parsed?.ids);
    const inputs = rule.code === 'shape-mismatch' ? (message.inputs ?? this.#nodes.inputsOf(ids[0])) : [];
    return {
      rule,
      op,
      key: rule.once
        ? rule.id
        : `${rule.id}\n${typeof rule.repair === 'object' ? (op ?? '') : ''}\n${subject === null ? finding.cause : finding.cause.replaceAll(subject, '')}${inputText(inputs)}`,
      subject,
      diagnosis: {
        code: rule.code,
        rule: rule.id,
        severity: finding.severity,
        message: withLayer(finding.cause, layer) + inputText(inputs) + this.#insideText(rule, layer),
        advice: this.#advice(finding),
        sure: rule.sure ?? 'stated',
        line: message.line,
        evidence: evidenceOf(message.text, patternOf(rule.pattern, rule.flags ?? '')),
        nodes: ids,
        layer,
        ...repairOf(rule, op),
        follows: [],
      },
    };
  }

  /** What is in a region that could not be built, as far as its name tells. */
  #insideText({ code }: DiagnosisRule, layer: string | null): string {
    if (code !== 'no-implementation' || layer === null) return '';
    const counts = [...this.#nodes.opsBetween(layer)].toSorted(([, a], [, b]) => b - a);
    const nodes = counts.reduce((sum, [, count]) => sum + count, 0);
    if (nodes < 2) return '';
    const shown = counts.slice(0, MAX_OPERATORS).map(([op, count]) => `${count} ${op}`);
    return ` From its first to its last node the model has ${nodes} nodes: ${shown.join(', ')}${counts.length > MAX_OPERATORS ? ' and others' : ''}.`;
  }

  #nodesOf(finding: Finding, layer: string | null, parsed: string[] | undefined): string[] {
    if (finding.names) return finding.names.flatMap((name) => this.#nodes.find(name));
    if (parsed && parsed.length > 0) return parsed;
    const ofTensors = finding.tensors.flatMap((tensor) => this.#nodes.ofTensor(tensor));
    return [...new Set([...ofTensors, ...this.#nodes.find(layer, finding.op)])];
  }

  /** Where the input that a message names is not one of the model, the nearest that is. */
  #advice({ input: wrong, advice }: Finding): string {
    if (wrong === undefined) return advice;
    const inputs = this.#nodes.networkInputs.map(({ name }) => name);
    if (inputs.length === 0 || inputs.includes(wrong) || wrong.includes(', ')) return advice;
    const nearest =
      inputs.find((name) => name.includes(wrong) || wrong.includes(name)) ?? closestWords(wrong, inputs, 1)[0];
    return `${nearest ? `Did you mean ${JSON.stringify(nearest)}? ` : ''}Inputs of the model: ${inputs.slice(0, 10).join(', ')}.`;
  }
}

/** Operators of a region that are listed, the most frequent first. */
const MAX_OPERATORS = 6;

/** The command of the last run, as far as the log has it. */
const commandOf = ({ runs, endedCommand = '' }: BuildLog): string => runs?.at(-1)?.command ?? endedCommand;

/** The lines in which a command may be: that of the last run, and what no prefix marks as a message. */
const commandLines = (log: BuildLog): string[] => [commandOf(log), ...(log.strays ?? []).map(({ text }) => text)];

/** Names in `--minShapes=a:1x3,b:1x4` and the like. */
function shapedInputs(lines: readonly string[]): string[] {
  const given = lines.flatMap((line) => [...line.matchAll(/--(?:(?:min|opt|max)S|s)hapes=(\S+)/g)]);
  return [...new Set(given.flatMap(([, shapes]) => shapes!.split(',').map((one) => one.replace(/:[\dx]*$/, ''))))];
}

/** What an option of the command in the log does that often ends a build, and what to do first. */
function suspectOption(lines: readonly string[]): string | undefined {
  if (lines.some((line) => ALL_MARKED.test(line)))
    return 'The command marks all tensors as outputs, which breaks what TensorRT fuses and quantizes: mark only those of a few nodes.';
  const [mebibytes] = lines.flatMap((line) => WORKSPACE_OPTION.exec(line)?.[1] ?? []);
  return Number(mebibytes) <= MOST_LIMITED
    ? `The command limits the workspace to ${mebibytes} MiB: remove that first.`
    : undefined;
}

/** The types below FP32 that the command in the log allows. */
function loweredTypes(lines: readonly string[]): string | undefined {
  const commands = lines.filter((line) => /\b(?:trtexec|polygraphy)\b/.test(line));
  const flags = commands.flatMap((line) => [...line.matchAll(/--(fp16|bf16|int8|fp8|best)\b/g)]);
  const types = new Set(flags.map(([, flag]) => flag!));
  if (types.delete('best')) for (const flag of ['fp16', 'int8']) types.add(flag);
  const [last, ...others] = [...types].map((flag) => flag.toUpperCase()).toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`;
}

const ALL_MARKED = /--trt-outputs[= ]mark all\b/;
const WORKSPACE_OPTION = /--(?:memPoolSize=(?:\w+:\w+,)*?workspace:|workspace=)(\d+)(?![\w.])/;

/** A limit above this, in MiB, fails no tactic of a usual network. */
const MOST_LIMITED = 8192;

/** What a pattern's group finds in any line: `Could not register plugin creator -  ::PillarScatterPlugin version 1`. */
function namesIn({ strays = [], messages }: BuildLog, pattern: RegExp): string[] {
  const names = [...strays, ...messages].flatMap(({ text }) => pattern.exec(text.slice(0, 300))?.[1] ?? []);
  return [...new Set(names)];
}

/** What the parser says of a node that it cannot take. */
const REFUSED: ReadonlySet<DiagnosisCode> = new Set([
  'unsupported-op',
  'unsupported-form',
  'unsupported-type',
  'plugin-missing',
  'shape-mismatch',
  'type-mismatch',
  'control-flow',
  'quantization',
]);

/** ONNX Runtime asks TensorRT's parser which nodes it takes, and runs the others itself: where the session came about, that is no failure. */
function leftToOthers(one: Diagnosis): Diagnosis {
  if (one.severity !== 'error' || !REFUSED.has(one.code)) return one;
  return {
    ...one,
    severity: 'warning',
    message: `${one.message} ONNX Runtime runs it with another execution provider, and the session was created.`,
    advice: `Nothing has to be done; each switch between the providers costs copies. To have TensorRT run it: ${one.advice}`,
  };
}

/**
 * What failed before a build that passed says so. It is no error where the frames of a program show that its run passed,
 * or that it was in none.
 */
function beforePassed(one: Diagnosis, log: BuildLog): Diagnosis {
  const { passed, runs = [] } = log;
  if (one.severity !== 'error' || passed === undefined || one.line >= passed) return one;
  const own = runs.findLast(({ line }) => line <= one.line);
  const wentOn = runs.length === 0 && wentOnWithoutMemory(one, log);
  const words = wentOn
    ? 'The build went on with other tactics and passed'
    : own !== undefined && own === runs.at(-1)
      ? 'The run passed all the same'
      : 'A build after it passed';
  const isOver = wentOn || (runs.length > 0 && (own === undefined || own.outcome === 'passed'));
  return {
    ...one,
    severity: isOver ? 'warning' : 'error',
    message: `${one.message} ${words} (line ${passed}).`,
    advice: wentOn ? `Nothing has to be done where the engine is fast enough. ${one.advice}` : one.advice,
  };
}

/** Whether only a tactic lacked memory, of which nothing failed until a build passed, where no frame shows which one. */
function wentOnWithoutMemory({ code, line, evidence }: Diagnosis, { messages, passed }: BuildLog): boolean {
  if (code !== 'out-of-memory') return false;
  const until = messages.filter((one) => one.line > line && one.line < passed!);
  return (
    (SKIPPED.test(evidence) || until.some(({ text }) => SKIPPED.test(text))) &&
    until.every(({ severity, text }) => severity !== 'error' || SHORT_OF_MEMORY.test(text))
  );
}

const SKIPPED = /Skipping tactic|error during getBestTactic/;
const SHORT_OF_MEMORY = /Skipping tactic|memory(?! access)|OutOfMemory/i;

/** Messages that say the same of several nodes become one, at the line of the first. */
function merge(found: readonly Judged[]): Judged[] {
  const byKey = new Map<string, Judged & { subjects: Set<string> }>();
  for (const one of found) {
    const earlier = byKey.get(one.key);
    if (earlier === undefined) {
      byKey.set(one.key, { ...one, subjects: new Set(one.subject === null ? [] : [one.subject]) });
      continue;
    }
    const { diagnosis } = earlier;
    if (one.subject !== null) earlier.subjects.add(one.subject);
    earlier.diagnosis = {
      ...diagnosis,
      severity: one.diagnosis.severity === 'error' ? 'error' : diagnosis.severity,
      nodes: [...new Set([...diagnosis.nodes, ...one.diagnosis.nodes])],
      count: (diagnosis.count ?? 1) + 1,
    };
  }
  return [...byKey.values()].map(({ subjects, ...one }) => {
    const { layer, nodes, message } = one.diagnosis;
    const { subject } = one;
    const more = Math.max(subjects.size, nodes.length > 1 && layer !== null ? nodes.length : 0) - 1;
    if (subject === null || more <= 0 || (one.diagnosis.count ?? 1) === 1) return one;
    const shown = message.includes(JSON.stringify(subject)) ? JSON.stringify(subject) : subject;
    const others = counted(more, layer === null ? 'more tensor' : 'more node');
    return {
      ...one,
      diagnosis: { ...one.diagnosis, message: message.replace(shown, () => `${shown} and ${others}`) },
    };
  });
}

const HELP = /--help|-h\b|--version/;

const asksForHelp = ({ runs, strays = [] }: BuildLog) =>
  HELP.test(runs?.at(-1)?.command ?? '') ||
  strays.slice(0, 100).some(({ text }) => text.includes('show this help message and exit'));

/** A failure that no message explains: where the build was, and what usually ends it there. */
function unexplained(log: BuildLog, consequences: readonly Diagnosis[]): Diagnosis[] {
  const [first] = consequences.filter(({ message }) => !(log.iterations && message.startsWith('FAILED | Iter')));
  if (log.outcome === 'passed') return unexplainedRun(log, first);
  const { phase, usual } = phaseReached(log);
  const end = { rule: null, severity: 'error', sure: 'possible', nodes: [], layer: null } as const;
  if (first === undefined) {
    if (log.outcome === 'cut-off' && !asksForHelp(log))
      return [
        {
          ...end,
          code: 'cut-off',
          message: `The log ends at line ${log.lines}, before the build does, while ${phase}.`,
          advice: `The build was stopped, ran out of memory or is still running. ${usual}`,
          line: log.lines,
          evidence: '',
          nodes: [],
          follows: [],
        },
      ];
    if (endsWhereTimed(log)) return [timedLast(log.lastLine!)];
    if (log.outcome !== 'failed') return [];
  }
  const evidence = first?.evidence ?? '';
  const said = evidence === '' ? '.' : `; it ends with: ${sentence(evidence)}`;
  return [
    {
      ...end,
      code: 'failed',
      message: `The build failed while ${phase}, and no line of the log says why${said}`,
      advice: `${usual} Build again with --verbose and keep the whole output, standard error included.`,
      line: first?.line ?? log.lines,
      evidence,
      nodes: [],
      follows: consequences.slice(1).map(({ line, message }) => ({ line, message })),
    },
  ];
}

/** A run before the one that passed, with what is said of its end. */
function unexplainedRun({ runs = [], iterations }: BuildLog, end: Diagnosis | undefined): Diagnosis[] {
  // What a search tries is no run of its own.
  if (iterations !== undefined) return [];
  const run = runs.find(({ outcome, command }) => outcome !== 'passed' && !HELP.test(command));
  if (run === undefined && end === undefined) return [];
  const failed = end !== undefined || run?.outcome === 'failed';
  const name = run === undefined ? 'A build' : `The run that begins in line ${run.line}`;
  const said = end === undefined ? '' : `; it ends with: ${sentence(end.evidence)}`;
  return [
    {
      code: failed ? 'failed' : 'cut-off',
      rule: null,
      severity: failed ? 'error' : 'warning',
      message: failed
        ? `${name} failed, and no line of the log says why${said || '.'}`
        : `${name} does not say how it ended: it was stopped, or crashed.`,
      advice: 'Run it again with --verbose and keep the whole output, standard error included.',
      sure: 'possible',
      line: end?.line ?? run!.line,
      evidence: end?.evidence ?? '',
      nodes: [],
      layer: null,
      follows: [],
    },
  ];
}

/** A log that ends where kernels are timed: perhaps the program went on, so this is no error. */
const timedLast = ({ line, text }: StrayLine): Diagnosis => ({
  code: 'cut-off',
  rule: null,
  severity: 'warning',
  message: `The log ends at line ${line}, while building the engine (timing its kernels), and does not say how that ended.`,
  advice:
    'The program was stopped there, is still at it, or wrote more than this. Builds that end there without a word most often ran out of memory: watch the RAM and the GPU memory. A crash there is most often a driver or CUDA, cuBLAS and cuDNN that do not fit this TensorRT, or a GPU that it is too old for.',
  sure: 'possible',
  line,
  evidence: text.trim().slice(0, MAX_EVIDENCE),
  nodes: [],
  layer: null,
  follows: [],
});

/** Whether a line is from TensorRT, or from a program that runs it. */
export const isAboutTensorRT = (log: BuildLog): boolean =>
  (log.runs ?? []).length > 0 ||
  programsOf(log).length > 0 ||
  [...(log.strays ?? []), ...log.messages, ...(log.lastLine ? [log.lastLine] : [])].some(({ text }) =>
    OWN_WORDS.test(text),
  );

/** Words that only programs around TensorRT write. */
const OWN_WORDS =
  /\[TRT\]|tensor_?rt(?:\b|[_A-Z])|TRTKernel|\btrtexec\b|\bnvinfer|\bNvDsInfer|\bnvds|\btorch2trt\b|\bvsmlrt\b|\b[Bb]uilding (?:the )?(?:\w+ )?engine\b|\.(?:engine|trt|plan)\b|-- prototxt\b|TRITONBACKEND_/i;

/** What may stand before a sentence of TensorRT in a line without a prefix: nothing, or what ends like `Error: ` or `[TRT] `. */
const BEGINS = /^(?:[^]*[:\])"'`])?[\s\W]*$/;

/** A line without a prefix as a message. */
const strayEvent = (line: number, text: string): LogMessage => ({
  severity: /^\W{0,8}warn(?:ing)?\b|^\S*:\d+: \w*Warning: |\bW(?:ARN)? ?:?onnxruntime\b/i.test(text)
    ? 'warning'
    : 'error',
  text,
  line,
  code: null,
  subject: null,
  library: false,
});

const OWN_TEXT = {
  tensorrt: ({ phase, usual }: RuleContext) =>
    `TensorRT wrote this while ${phase}; its own words say all that the log has of the cause. ${usual} Keep the whole verbose log, reduce the model to the part that fails, and try it with the next version of TensorRT.`,
  program: ({ phase, usual }: RuleContext) =>
    `The program wrote this while ${phase}; lines before it may say more of the cause. ${usual}`,
  python: () => "This is Python's own text; the lines above it in the log show where it was raised.",
  driver: () => 'Correct the option or file that it names and build again.',
};

/** Who wrote a message that no rule knows. */
function originOf({ text, library }: LogMessage, { writer }: BuildLog): keyof typeof OWN_TEXT {
  if (/^[\w.]+(?:Error|Exception): /.test(text)) return 'python';
  if (library !== false) return 'tensorrt';
  return writer === 'driver' ? 'driver' : writer === 'trtexec' || writer === 'polygraphy' ? 'tensorrt' : 'program';
}

const withLayer = (message: string, layer: string | null): string =>
  layer === null
    ? message.replace(/\b([Tt])his node\b/, (_, first: string) => (first === 'T' ? 'A node' : 'a node'))
    : message.replace(/\b[Tt]his node\b/, (words) =>
        isForeignNodeName(layer) ? layer : `${words.startsWith('T') ? 'Node' : 'node'} ${JSON.stringify(layer)}`,
      );

/** The repair of the model that removes the cause, by the operator where there are several. */
function repairOf({ repair }: DiagnosisRule, op: string | undefined): { repair?: string } {
  const id = typeof repair !== 'object' ? repair : Object.hasOwn(repair, op ?? '') ? repair[op!] : undefined;
  return id === undefined ? {} : { repair: id };
}

/** The shapes that do not fit, with their names. */
const inputText = (inputs: NonNullable<LogMessage['inputs']>): string =>
  inputs.length === 0 ? '' : ` Its inputs: ${inputs.map(({ name, shape }) => `${name} ${shape}`).join(', ')}.`;

const sentence = (text: string): string => (/[.!?:)]$/.test(text) ? text : `${text}.`);

const MAX_EVIDENCE = 300;

/** The line that a diagnosis rests on: the one that the pattern matches, otherwise the reason. */
function evidenceOf(text: string, pattern?: RegExp): string {
  const line = pattern && (text.split('\n').find((one) => pattern.test(one)) ?? firstLineOf(pattern.exec(text)?.[0]));
  return (line || causeText(text)).trim().slice(0, MAX_EVIDENCE);
}

const firstLineOf = (text: string | undefined): string | undefined => text?.trim().split('\n')[0];

/** Builds that pass although tactics did not fit: reported once, with the largest request. */
function skippedForWorkspace(log: BuildLog, found: readonly Diagnosis[], judge: Judge): Diagnosis[] {
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
  if (!worst || found.some(({ code }) => code === 'workspace-too-small')) return [];
  const message = `Tactics of ${worst.layer} were skipped: ${worst.bytes} bytes of workspace requested, ${worst.available} available.`;
  return [
    {
      code: 'workspace-too-small',
      rule: null,
      severity: 'warning',
      message,
      advice: inWordsOf(RULES.find(({ id }) => id === 'no-workspace')!.advice, judge.programs),
      sure: 'stated',
      line: worst.line,
      evidence: `Scratch requested: ${worst.bytes}, available: ${worst.available}`,
      nodes: [],
      layer: worst.layer,
      follows: [],
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
      rule: null,
      severity: 'warning',
      message: `${failed.length} of ${iterations!.length} iterations of polygraphy debug failed; the first is iteration ${first.number}.`,
      advice:
        'That is what the tool searches for. Its last lines say what it concludes; this log is not about one build.',
      sure: 'stated',
      line: first.line,
      evidence: `FAILED | Iteration ${first.number}`,
      nodes: [],
      layer: null,
      follows: [],
    },
  ];
}
