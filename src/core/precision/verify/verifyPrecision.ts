import { builtRequests, namesRequests } from './builtRequests.ts';
import { before, parseVersion } from '../../build/trtexecFlags.ts';
import type { BuildFacts, BuiltLayer } from '../check/buildFacts.ts';
import { judgeLayers, mayConvert, normalisations } from './judgeLayers.ts';
import type { LayerJudgement } from './judgeLayers.ts';
import { judgeOutputs } from './judgeOutputs.ts';
import type { NodeFacts } from '../plan/modelFacts.ts';
import type { NodeIndex } from '../language/nodeIndex.ts';
import type { PlannedNode, PrecisionPlan } from '../plan/precisionPlan.ts';
import { type NodeVerdict, type RuleVerdict, type Verdict, verdictWords } from './precisionVerdict.ts';
import { isFloatType } from '../../onnx/tensorTypes.ts';
import { precisionType, typeOfEngineTensor } from '../language/precisionType.ts';
import type { PrecisionType } from '../language/precisionType.ts';
import { addTo } from '../../text/addTo.ts';
import { fateWords } from '../../report/fates.ts';
import { counted, thousands } from '../../text/numbers.ts';

/**
 * Compares a plan with the build that was made with it, rule by rule in the order of the file. `index` is the model that
 * was built: in a strongly typed build its own types tell where no kernel does.
 */
export function verifyPrecision(plan: PrecisionPlan, build: BuildFacts, index: NodeIndex | null = null): RuleVerdict[] {
  const byLine = new Map<number, NodeVerdict[]>();
  const log = readLines(build);
  // Without a layer nothing says that it was this model that was built.
  const typed = isStronglyTyped(build) && build.layers.length > 0 ? index : null;
  const wasAsked = builtRequests(build, index, isStronglyTyped(build), declaredType);
  for (const node of plan.nodes) {
    const facts = typed?.nodes[node.position] ?? null;
    const seen = judgeLayers(node, build, index?.nodes[node.position]?.weight);
    const judged = judgeNode(node, build, log, facts, seen);
    const known = !build.unfinished && !build.otherModel;
    const verdict =
      known && !wasAsked(node)
        ? notBuilt(node, judged, seen)
        : judgeOutputs(judged, build, isStronglyTyped(build), facts);
    addTo(byLine, node.line, verdict);
  }
  for (const { line } of plan.skipped) if (!byLine.has(line)) byLine.set(line, []);
  return [...byLine].sort(([a], [b]) => a - b).map(([line, nodes]) => ruleVerdict(line, nodes));
}

/** What the engine happens to do, if no one asked for it. */
function notBuilt(node: PlannedNode, judged: NodeVerdict, { verdict, reason, layer }: LayerJudgement): NodeVerdict {
  const happens =
    verdict === 'disobeyed'
      ? `; ${decapitalised(reason)}`
      : judged.verdict === 'obeyed' && judged.certain
        ? `; this node happens to run in ${node.compute}.`
        : '.';
  return { ...judged, verdict: 'unbuilt', certain: true, reason: `Not built with these rules yet${happens}`, layer };
}

function ruleVerdict(line: number, nodes: NodeVerdict[]): RuleVerdict {
  const counts: Record<Verdict, number> = { obeyed: 0, disobeyed: 0, unseen: 0, unbuilt: 0 };
  for (const { verdict } of nodes) counts[verdict]++;
  const verdict =
    KINDS.find((kind) => kind !== 'obeyed' && counts[kind] > 0) ?? (nodes.length === 0 ? 'unseen' : 'obeyed');
  const certain = nodes.every((node) => node.verdict !== verdict || node.certain);
  return { line, verdict, certain, counts, message: ruleMessage(verdict, counts, nodes), nodes };
}

/** The verdict of one node that applies to its rule, the most important first. */
const KINDS = ['disobeyed', 'unbuilt', 'unseen', 'obeyed'] as const;

function ruleMessage(verdict: Verdict, counts: Record<Verdict, number>, nodes: NodeVerdict[]): string {
  const total = nodes.length;
  if (total === 0) return 'None of the nodes of this rule accepts a precision.';
  const found = nodes.filter((node) => node.verdict === verdict);
  const telling = found.find(({ certain }) => !certain) ?? found[0];
  if (total === 1) return telling?.reason ?? '';
  const sure = verdict === 'obeyed' && nodes.some(({ certain }) => !certain) ? 'probably ' : '';
  const words = { ...verdictWords, obeyed: `${sure}obeyed` };
  const kinds = (['obeyed', 'disobeyed', 'unseen', 'unbuilt'] as const).filter((kind) => counts[kind] > 0);
  const parts = kinds.map((kind) => `${thousands(counts[kind])} ${words[kind]}`);
  const head =
    kinds.length > 1
      ? `Of ${counted(total, 'node')}: ${parts.join(', ')}`
      : `All ${counted(total, 'node')}: ${words[verdict]}`;
  return `${head}. ${telling ? `For example, "${telling.node.name}": ${telling.reason}` : ''}`;
}

/** What log and flags say about precisions, ready for look-ups. */
interface LogLines {
  /** Layer → type and line of `Set layer …`. */
  set: Map<string, { type: string | null; line: number }>;
  skipped: Map<string, { reason: string; line: number }>;
  nonConforming: Map<string, number>;
  /** Line of the warning that all were ignored. */
  ignored: number | null;
  /** The one type that the build could use; null: it had a choice, or it is not known. */
  only: PrecisionType | null;
  /** Nodes (positions) whose name no layer of the network has. */
  unregistered: Set<number>;
  /** The version writes `Set layer …` for each name that it found, and layer precisions were given. */
  tells: boolean;
}

function readLines(build: BuildFacts): LogLines {
  const result: LogLines = {
    set: new Map(),
    skipped: new Map(),
    nonConforming: new Map(),
    ignored: null,
    only: onlyType(build),
    unregistered: new Set(isStronglyTyped(build) ? [] : build.unregistered),
    tells: false,
  };
  for (const { kind, layer, type, reason, line } of build.lines ?? []) {
    if (kind === 'set') result.set.set(layer, { type, line });
    else if (kind === 'skipped') result.skipped.set(layer, { reason: reason ?? '', line });
    else if (kind === 'non-conforming') result.nonConforming.set(layer, line);
    else if (kind === 'ignored') result.ignored = line;
  }
  const asked = build.flags !== null && build.flags.constraints !== 'none' && !build.flags.stronglyTyped;
  result.tells = namesRequests(build) && asked && result.set.size > 0;
  return result;
}

function judgeNode(
  node: PlannedNode,
  build: BuildFacts,
  log: LogLines,
  typed: NodeFacts | null,
  seen: LayerJudgement,
): NodeVerdict {
  const give = (verdict: Verdict, reason: string, more: Partial<NodeVerdict> = {}): NodeVerdict => ({
    node,
    verdict,
    certain: true,
    reason,
    layer: null,
    logLine: null,
    ...more,
  });
  if (build.unfinished) return give('unseen', 'This build wrote no engine: it failed, or its log is incomplete.');
  if (build.otherModel) return give('unseen', 'This build is of another model.');
  const built = build.nodes[node.position];
  if (built && (built.fate === 'folded' || built.fate === 'removed' || built.fate === 'shape')) {
    return give('unseen', `It ${fateWords[built.fate].predicate}, so there is nothing to verify.`);
  }
  const { only } = log;
  if (only !== null && only !== node.compute) return give('disobeyed', `The build allowed ${only} only.`);
  const declared = build.declared ? (build.declared[node.position] ?? null) : typed && declaredType(typed);
  const model = build.declared ? 'copy of the model that was built' : 'model';
  if (declared) return judgeTyped(node.compute, declared, model, seen, give);
  // The model that was built is not known, and the kernel converts: it may well compute in what was requested.
  if (isStronglyTyped(build) && mayConvert(seen))
    return give('unseen', `${seen.reason} It converts internally, so the type of this node cannot be verified.`, {
      layer: seen.layer,
    });
  if (seen.verdict !== 'unseen') return give(seen.verdict, seen.reason, { certain: seen.certain, layer: seen.layer });
  if (only === node.compute && build.layers.length > 0) return give('obeyed', `The build allowed ${only} only.`);
  return judgeByLog(node, log, seen, give);
}

type Give = (verdict: Verdict, reason: string, more?: Partial<NodeVerdict>) => NodeVerdict;

/** A node of a strongly typed build, whose type the model declares. A kernel that took in the Casts around it shows their other side. */
function judgeTyped(
  asked: PrecisionType,
  declared: PrecisionType,
  model: string,
  seen: LayerJudgement,
  give: Give,
): NodeVerdict {
  const { layer, verdict } = seen;
  const said = `he build was strongly typed, and in the ${model} this node ${declared === 'int8' ? 'is between Q/DQ nodes' : `outputs ${declared}`}`;
  const within = mayConvert(seen) && declared === asked;
  if (verdict === 'disobeyed' && seen.byOperands && declared === asked) {
    const advice = seen.quantised
      ? 'The Q/DQ nodes around it make TensorRT compute it in integers.'
      : `TensorRT removed the Casts around it. Keep a neighboring node in ${asked}, too.`;
    return give(verdict, `${seen.reason} ${advice}`, { certain: seen.certain, layer });
  }
  if (verdict === 'disobeyed' ? !within : verdict === 'obeyed' && declared === asked)
    return give(verdict, seen.reason, { certain: seen.certain, layer });
  if (declared !== asked) return give('disobeyed', `T${said}.`, { layer });
  if (seen.otherwise || within) return give('unseen', `T${said}, but ${decapitalised(seen.reason)}`, { layer });
  return give('obeyed', `Probably: t${said}.`, { certain: false, layer });
}

/** What the log says of a node whose type no layer shows. */
function judgeByLog(node: PlannedNode, log: LogLines, seen: LayerJudgement, give: Give): NodeVerdict {
  if (node.later && log.ignored === null)
    return give('unseen', `${seen.reason} The log line with this name refers to an earlier node of the same name.`);
  const refused = log.nonConforming.get(node.name);
  if (refused !== undefined)
    return give('disobeyed', 'TensorRT chose an implementation that does not conform, according to the log.', {
      logLine: refused,
    });
  if (log.ignored !== null) {
    return give(
      'disobeyed',
      'TensorRT got no request: it ignored all layer precisions because --precisionConstraints was none.',
      { logLine: log.ignored },
    );
  }
  const skipped = log.skipped.get(node.name);
  if (skipped) return give('disobeyed', `trtexec skipped it: ${skipped.reason}`, { logLine: skipped.line });
  if (log.unregistered.has(node.position)) {
    const reason =
      'TensorRT got no request: the log shows that no layer of its network has the name of this node, so no layer precision applies to it.';
    // It computes in FP32 by default, NVIDIA says, and nothing shows whether it did.
    const ownWay = node.compute === 'fp32' && normalisations.has(node.op);
    return give(ownWay ? 'unseen' : 'disobeyed', reason);
  }
  const set = log.set.get(node.name);
  const type = set?.type == null ? null : precisionType(set.type);
  if (set && type !== null && type !== node.compute)
    return give('disobeyed', `The build requested ${type} (log line ${set.line}), not ${node.compute}.`, {
      logLine: set.line,
    });
  if (set)
    return give('unseen', `TensorRT accepted the request (log line ${set.line}), but ${decapitalised(seen.reason)}`, {
      layer: seen.layer,
      logLine: set.line,
    });
  if (log.tells)
    return give(
      'disobeyed',
      'The build did not request it: the log has "Set layer … to precision" for other nodes but not for this one.',
    );
  return give('unseen', seen.reason, { layer: seen.layer });
}

/** The one type that a weakly typed build could use; null if there was a choice or it is not known. */
function onlyType(build: BuildFacts): 'fp32' | null {
  const { flags } = build;
  if (isStronglyTyped(build) || build.layers.some(hasHalf)) return null;
  return flags !== null && !flags.stronglyTyped && flags.types.length === 1 && flags.types[0] === 'fp32'
    ? 'fp32'
    : null;
}

/** Layers in a half type are of no build that allowed FP32 only: flags and layers come from two builds. */
const hasHalf = ({ inputs, outputs }: BuiltLayer): boolean =>
  [...inputs, ...outputs].some(({ type }) => /^(?:fp|bf)16$/.test(typeOfEngineTensor(type) ?? ''));

/** TensorRT 11 and TensorRT-RTX know no other builds. */
function isStronglyTyped(build: BuildFacts): boolean {
  const version = parseVersion(build.version);
  if (build.product === 'tensorrt-rtx' || (version !== null && !before(version, [11, 0, 0]))) return true;
  return build.flags?.stronglyTyped ?? false;
}

/** The one floating-point type of a node's outputs; null for none or several. */
function declaredType(node: NodeFacts): PrecisionType | null {
  const types = new Set(node.types.filter((type) => type !== null && isFloatType(type)));
  const only = [...types][0];
  return types.size === 1 && only ? precisionType(only) : null;
}

function decapitalised(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
