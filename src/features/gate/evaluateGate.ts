// Checks a build against a gate.
import type { GateSide } from '../../kernel/rules/gateSide.ts';
import { counted, sizeText, thousands, timeText } from '../../kernel/base/text.ts';
import { otherShapes } from '../diff/diffReports.ts';
import { exactRelease } from '../../kernel/base/text.ts';
import {
  type FusionReport,
  type HeldBack,
  mostHeldBack,
  opaqueForeignNodes,
  type ReportLayer,
  type ReportNode,
  totalMs,
} from '../../kernel/fusion/fusionReport.ts';
import { attentions } from '../../kernel/network/modelGraph.ts';
import { type AttentionFate, attentionFates, attentionText } from '../../kernel/fusion/attentionFates.ts';
import { planPrecision } from '../../kernel/rules/precisionPlan.ts';
import { compileGlob, matchesGlob, resolveOverrides } from '../../kernel/rules/resolveOverrides.ts';
import { computedTypes } from '../../kernel/rules/verifyPrecision.ts';
import {
  countRegions,
  isNoise,
  isPlanned,
  listsEngine,
  measuredEngine,
  type MeasuredTime,
  measuredTime,
  runningLayers,
} from '../../kernel/report/words.ts';
import type { Check, CheckResult, CheckVerdict, GateFile, GateResult, Limit, RuleName } from './gateFile.ts';
import { moduleTimes } from './internal/moduleTimes.ts';
import { readSelector } from './internal/gateSelector.ts';

/** Judges `precision: { selector: type }` by what the build shows, with the judgment of `trtlens precision verify`. */
export function judgePrecision({ key, limit }: Check, { types }: GateSide): GateFinding {
  if (limit.kind !== 'type') return { kept: null, message: 'This limit is not a type.' };
  if (!types) return { kept: null, message: 'This rule needs the nodes: pass the model with --onnx.' };
  const { facts, index } = types;
  const file = readSelector(key, limit.type);
  const resolved = resolveOverrides(file, index, facts);
  if (resolved.matches.every((match) => match.nodes.length === 0))
    return { kept: null, message: `${key} selects no node.` };
  const { nodes } = planPrecision(file, index, resolved);
  if (nodes.length === 0) return { kept: null, message: `${key} selects no node that accepts a precision.` };
  const judged = computedTypes(nodes, facts, index);
  const wrong = judged.filter(({ verdict }) => verdict === 'disobeyed');
  const named = (some: typeof judged) => some.map(({ node: { id, name } }) => ({ id, name }));
  const total = counted(nodes.length, 'node');
  if (wrong.length > 0)
    return {
      kept: false,
      message: `${wrong.length} of ${total} are not computed in ${limit.type}. For example, ${wrong[0]!.node.name}: ${wrong[0]!.reason}`,
      value: wrong.length,
      nodes: named(wrong),
    };
  const hidden = judged.filter(({ verdict }) => verdict === 'unseen');
  if (hidden.length > 0)
    return {
      kept: null,
      message: `The type of ${hidden.length} of ${total} cannot be verified. For example, ${hidden[0]!.node.name}: ${hidden[0]!.reason}`,
    };
  const probably = judged.filter(({ certain }) => !certain).length;
  const note = probably > 0 ? ` (${probably} of them probably, as verify says)` : '';
  return { kept: true, message: `${total} computed in ${limit.type}${note}.`, value: 0 };
}

/** Judges `attention: fused`. */
export function judgeAttention({ report, network }: GateSide): GateFinding {
  if (!network) return { kept: null, message: 'This rule needs the graph: pass the model with --onnx.' };
  const found = attentions(network);
  if (found.length === 0) return { kept: null, message: 'The model has no attention: no Softmax between two MatMuls.' };
  if (isPlanned(report))
    return { kept: null, message: 'The kernels are unknown: the log does not list the engine layers.' };
  const fates = attentionFates(report, network);
  const layers = new Map(report.layers.map((layer) => [layer.id, layer]));
  const of = (state: AttentionFate['state']) => fates.filter((fate) => fate.state === state);
  const broken = of('split').map(({ softmax }) => softmax);
  const hidden = of('unknown').map(({ softmax }) => softmax);
  const details = fates.map(attentionText);
  const total = counted(found.length, 'attention');
  if (broken.length > 0) {
    const first = fates.find(({ state }) => state === 'split')!;
    return {
      kept: false,
      message: `Not one kernel: ${broken.length} of ${total}. For example, ${attentionText(first)}.`,
      value: broken.length,
      nodes: broken,
      logLine: layers.get(broken[0]!.layers[0] ?? -1)?.line ?? null,
      details,
    };
  }
  if (hidden.length > 0)
    return {
      kept: null,
      message: `The kernels of ${hidden.length} of ${total} are unknown: this build does not list what the kernels inside ForeignNodes compute.`,
    };
  return { kept: true, message: `${total}: each is one kernel.`, value: 0, details };
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
      details?: readonly string[];
    }
  | { kept: null; message: string };

/**
 * Judges a build by a gate file.
 * @param gate path of the gate file, for the result
 */
export function evaluateGate(gate: string, file: GateFile, build: GateSide, baseline: GateSide | null): GateResult {
  const checks = file.checks.map((check) => judgeCheck(check, build, baseline));
  const counts: Record<CheckVerdict, number> = { passed: 0, failed: 0, skipped: 0 };
  for (const { verdict } of checks) counts[verdict] += 1;
  return {
    schema: 1,
    gate,
    source: build.source,
    model: build.report.model.file,
    tensorrt: build.report.tensorrt,
    gpu: build.figures?.gpu ?? null,
    ...(build.report.optimizationProfile && { optimizationProfile: build.report.optimizationProfile }),
    baseline: baseline?.source ?? null,
    passed: counts.failed === 0,
    counts,
    checks,
    notChecked: notChecked(file, build, baseline),
  };
}

/** What a reader of "all checks passed" could take for checked. */
function notChecked({ checks }: GateFile, build: GateSide, baseline: GateSide | null): string[] {
  const has = (rule: RuleName) => checks.some((check) => check.rule === rule);
  const notes: string[] = [];
  if (has('attention') && build.network) {
    const attention = new Set(attentions(build.network).map(({ softmax }) => softmax));
    const others = build.network.filter(({ op }, index) => op === 'Softmax' && !attention.has(index));
    const first = others[0] && (others[0].name || `node ${others[0].id}`);
    if (attention.size > 0 && first !== undefined)
      notes.push(
        `The rule attention does not cover ${counted(others.length, 'Softmax', 'Softmaxes')}, which ${others.length === 1 ? 'is' : 'are'} not between two MatMuls with only scale, mask or casts before: ${first}${others.length > 1 ? ', …' : ''}.`,
      );
  }
  if (!has('time') && totalMs(build.report.layers) === null)
    notes.push('Times: the build has no profile, and the gate has no rule on time.');
  if (baseline === null) return notes;
  const shapes = otherShapes(baseline.report, build.report).map(({ input, a, b }) => `${input} ${a} → ${b}`);
  if (shapes.length > 0)
    notes.push(
      `The build is for other shapes than the baseline, so times and memory are not of the same work: ${shapes.slice(0, 4).join(', ')}${shapes.length > 4 ? ', …' : ''}.`,
    );
  const made = [baseline, build].map(({ figures, report }) => [figures?.gpu ?? null, exactRelease(report.tensorrt)]);
  const [before, now] = made as [[string | null, string], [string | null, string]];
  if (before[0] !== null && now[0] !== null && before[0] !== now[0])
    notes.push(`The baseline is of another GPU: ${before[0]} → ${now[0]}.`);
  if (before[1] !== now[1]) notes.push(`The baseline is of another version: ${before[1]} → ${now[1]}.`);
  return notes;
}

function judgeCheck(check: Check, build: GateSide, baseline: GateSide | null): CheckResult {
  const finding = find(check, build, baseline);
  const before = baseline === null ? null : find(check, baseline, baseline).kept;
  const judged = finding.kept !== null;
  const verdict = finding.kept ? 'passed' : !judged && check.optional ? 'skipped' : 'failed';
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
    ...sourcesOf(details.nodes ?? [], build.report),
    logLine: details.logLine ?? null,
    ...(details.details && { details: [...details.details] }),
    place: check.place,
  };
}

/** The lines of the program that nodes come from, where any is recorded. */
function sourcesOf(nodes: readonly { id: string }[], report: FusionReport): Pick<CheckResult, 'sources'> {
  const ids = new Set(nodes.map(({ id }) => id));
  const known = new Map(report.nodes.flatMap(({ id, source }) => (ids.has(id) && source ? [[id, source]] : [])));
  return known.size === 0 ? {} : { sources: nodes.map(({ id }) => known.get(id) ?? null) };
}

function find(check: Check, build: GateSide, baseline: GateSide | null): GateFinding {
  switch (check.rule) {
    case 'attention':
      return judgeAttention(build);
    case 'precision':
      return judgePrecision(check, build);
    case 'tensorrt':
    case 'gpu':
      return judgeSame(check.rule, build, baseline);
    case 'time':
      return check.key === 'modules' ? judgeModules(check, build, baseline) : judgeNumber(check, build, baseline);
    default:
      return judgeNumber(check, build, baseline);
  }
}

/** Judges `tensorrt: same` and `gpu: same`. */
function judgeSame(rule: 'tensorrt' | 'gpu', build: GateSide, baseline: GateSide | null): GateFinding {
  if (baseline === null) return { kept: null, message: 'This rule needs a baseline.' };
  const [before, now] = [baseline, build].map(({ figures, report: { tensorrt } }) =>
    rule === 'gpu' ? (figures?.gpu ?? null) : tensorrt.version === null ? null : exactRelease(tensorrt),
  ) as [string | null, string | null];
  const what = rule === 'gpu' ? 'GPU' : 'version';
  if (before === null || now === null)
    return { kept: null, message: `The ${what} of the ${now === null ? 'build' : 'baseline'} is not known.` };
  return before === now
    ? { kept: true, message: `${now}, as the baseline.` }
    : { kept: false, message: `${now}; the baseline is of ${before}.` };
}

/** Judges `time: { modules: … }`: the worst module decides. */
function judgeModules(check: Check, build: GateSide, baseline: GateSide | null): GateFinding {
  const { limit } = check;
  const isRelative = limit.kind === 'percent' || limit.kind === 'difference';
  if (!isRelative && limit.kind !== 'max') return { kept: null, message: 'This limit is not a number.' };
  if (isRelative && baseline === null)
    return { kept: null, message: `${limit.text} needs a baseline: add \`baseline:\`, or pass --baseline.` };
  for (const { report } of isRelative ? [build, baseline!] : [build])
    if (totalMs(report.layers) === null)
      return { kept: null, message: report === build.report ? `${noTimes}.` : `In the baseline: ${noTimes}.` };
  if (isRelative && otherMethod(build, baseline!)) return { kept: null, message: otherTimes };
  const timesOf = ({ report, repeats = [] }: GateSide) => moduleTimes([report, ...repeats], opaqueForeignNodes(report));
  const before = isRelative ? timesOf(baseline!) : null;
  const compared = [...timesOf(build)].flatMap(([module, now]) => {
    const was = before?.get(module);
    if (before !== null && was === undefined) return [];
    const most =
      was === undefined
        ? limit.value
        : limit.kind === 'percent'
          ? was.ms * (1 + limit.value / 100)
          : was.ms + limit.value;
    const exceeds = now.ms > most * (1 + 1e-9) && (was === undefined || !isNoise(now, was));
    return [{ module, now, was, over: exceeds ? now.ms - most : 0 }];
  });
  const total = counted(compared.length, 'module');
  if (compared.length === 0)
    return {
      kept: null,
      message: 'No module to compare: the names of the nodes contain none, or all are in ForeignNodes.',
    };
  // Of modules within each other the innermost is the place to look at.
  const worst = compared
    .filter(({ over }) => over > 0)
    .toSorted((a, b) => b.over - a.over || b.module.length - a.module.length);
  const [first] = worst;
  if (first === undefined) return { kept: true, message: `${total} within the limit of ${limit.text}.` };
  const change =
    first.was === undefined ? '' : ` (baseline ${timeText(first.was.ms)}${percentText(first.now.ms, first.was.ms)})`;
  return {
    kept: false,
    message: `${worst.length} of ${total} over the limit of ${limit.text}. The most: ${first.module}, ${timeText(first.now.ms)}${change}.`,
    value: first.now.ms,
    ...(first.was && { baseline: first.was.ms }),
    nodes: build.report.nodes.filter(({ name, layers }) => layers.length > 0 && name.startsWith(`${first.module}/`)),
  };
}

const percentText = (now: number, before: number): string =>
  before === 0 ? '' : `, ${signed(((now - before) / before) * 100)}`;

/** A trace and a profile of one engine differ, because a profile adds to the time of each layer. */
const otherMethod = (a: GateSide, b: GateSide): boolean =>
  (a.report.profile === undefined) !== (b.report.profile === undefined);

const otherTimes = 'The times are not comparable: one is from a trace of the GPU, the other from a profile.';

/** The smallest and the largest value of several profiles. */
type Spread = readonly [number, number];

/** A number of a build, in the unit of its rule, or why it is not known. */
type Measured =
  | {
      value: number;
      spread?: Spread;
      range?: MeasuredTime['range'];
      nodes?: readonly ReportNode[];
      logLine?: number | null;
    }
  | { missing: string };

/** Judges a check that limits a number, by itself or against the baseline. */
export function judgeNumber(check: Check, build: GateSide, baseline: GateSide | null): GateFinding {
  const { limit } = check;
  const found = measure(check, build);
  if ('missing' in found) return { kept: null, message: `${found.missing}.` };
  const { value, nodes, logLine } = found;
  const text = textOf(check, value);
  const details = { value, ...(nodes && { nodes }), ...(logLine !== undefined && { logLine }) };
  if (limit.kind === 'max' || limit.kind === 'accuracy' || limit.kind === 'min') {
    const kept = limit.kind === 'min' ? value >= limit.value : value <= limit.value;
    const bound = limit.kind === 'min' ? 'minimum' : 'limit';
    const message = `${text}; the ${bound} is ${limitText(check, limit.value)}.`;
    return { kept, message: message + straddleText(check, found.spread, limit.value), ...details };
  }
  if (limit.kind !== 'percent' && limit.kind !== 'difference')
    return { kept: null, message: 'This limit is not a number.' };
  if (baseline === null)
    return { kept: null, message: `${limit.text} needs a baseline: add \`baseline:\`, or pass --baseline.` };
  const before = measure(check, baseline);
  if ('missing' in before) return { kept: null, message: `In the baseline: ${before.missing}.` };
  if (isTime(check) && otherMethod(build, baseline)) return { kept: null, message: otherTimes };
  return { ...againstBaseline(check, limit, found, before), ...details };
}

type Known = Extract<Measured, { value: number }>;

/** Judges a limit that is relative to the baseline. */
function againstBaseline(
  check: Check,
  limit: Extract<Limit, { kind: 'percent' | 'difference' }>,
  found: Known,
  before: Known,
) {
  const { value } = found;
  const most = limit.kind === 'percent' ? before.value * (1 + limit.value / 100) : before.value + limit.value;
  // A hair above the limit is rounding of sums, and a time within the noise is no more than the baseline's.
  const exceeds = value > most + Math.abs(most) * 1e-9;
  const isSame = exceeds && limit.value >= 0 && isTime(check) && isNoise(timeOf(found), timeOf(before));
  const change = percentText(value, before.value);
  const message = `${textOf(check, value)} (baseline ${textOf(check, before.value)}${change}); the limit is ${limit.text}.`;
  const note = isSame ? ' The difference is within the noise of the measurements.' : noiseText(found, before, limit);
  return { kept: !exceeds || isSame, message: message + note, baseline: before.value };
}

const timeOf = ({ value, spread, range }: Known): MeasuredTime => ({
  ms: value,
  range: range ?? spread,
});

const isTime = ({ rule, key }: Pick<Check, 'rule' | 'key'>): boolean => rule === 'time' || key === 'microseconds';

const signed = (percent: number): string => `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(1)} %`;

/** A limit finer than the spread of the measurements decides by chance; that is said. */
function noiseText(now: Known, before: typeof now, limit: Limit): string {
  if (limit.kind !== 'percent' && limit.kind !== 'difference') return '';
  const noise = ({ value, spread: [least, most] = [value, value] }: typeof now) =>
    limit.kind === 'difference' ? most - least : value === 0 ? 0 : ((most - least) / value) * 100;
  const largest = Math.max(noise(now), noise(before));
  if (largest <= Math.abs(limit.value)) return '';
  const text = limit.kind === 'percent' ? `${largest.toFixed(1)} %` : timeText(largest);
  return ` The profiles differ by ${text}, which is more than the limit. Profile longer, or raise the limit.`;
}

/** Profiles on both sides of a limit. */
function straddleText(check: Check, spread: Spread | undefined, limit: number): string {
  if (spread === undefined || spread[0] > limit || spread[1] <= limit) return '';
  const [least, most] = spread.map((value) => textOf(check, value)) as [string, string];
  return ` The profiles range from ${least} to ${most}, on both sides of the limit. Profile longer, or change the limit.`;
}

function textOf({ rule, key }: Check, value: number): string {
  if (rule === 'memory') return sizeText(value);
  if (isTime({ rule, key })) return timeText(value);
  if (rule === 'accuracy') return value === Infinity ? 'not finite' : `error ${Number(value.toPrecision(2))}`;
  const names: Record<string, [string, string]> = {
    foreignNodes: ['ForeignNode', 'ForeignNodes'],
    kernels: ['kernel', 'kernels'],
    layers: ['layer', 'layers'],
    dynamicShapes:
      key === 'fused'
        ? ['node fused only with fixed shapes', 'nodes fused only with fixed shapes']
        : ['kernel because of open dimensions', 'kernels because of open dimensions'],
    reformats: ['reformat layer', 'reformat layers'],
    nodes: [`${key} node`, `${key} nodes`],
    unaccounted: ['node lost or moved', 'nodes lost or moved'],
    marked: [`tensor marked ${marks[key]}`, `tensors marked ${marks[key]}`],
    heldBack: ['kernel held back', 'kernels held back'],
    quantized: ['Q/DQ node with a kernel of its own', 'Q/DQ nodes with kernels of their own'],
  };
  const [one, many] = names[rule] ?? ['', ''];
  return Number.isInteger(value) ? counted(value, one, many) : `${thousands(Math.floor(value))} ${many}`;
}

const marks: Readonly<Record<string, string>> = { outputs: 'as output', debug: 'for debugging' };

/** Without the noun, which the value has. */
function limitText(check: Check, value: number): string {
  return check.rule === 'memory' || isTime(check) ? textOf(check, value) : thousands(value);
}

const noLayers =
  'The engine layers are unknown: pass the layer info, or a verbose log of a complete build that lists them';

/** A rule that needs to know the engine's layers. */
const onLayers =
  (count: (check: Check, report: FusionReport) => Measured) =>
  (check: Check, { report }: GateSide): Measured =>
    listsEngine(report) ? count(check, report) : { missing: noLayers };

const measures: Partial<Record<RuleName, (check: Check, side: GateSide) => Measured>> = {
  foreignNodes: onLayers((_, { foreignNodes }) => ({
    value: countRegions(foreignNodes).foreignNodes,
    logLine: foreignNodes[0]?.line ?? null,
  })),
  kernels: onLayers((_, report) =>
    report.layers.some(({ kind }) => kind === 'foreign')
      ? { missing: noKernels }
      : { value: runningLayers(report).length },
  ),
  layers: onLayers((_, report) => ({ value: engineLayers(report) })),
  dynamicShapes: ({ key }, { report: { dynamicShapes: cost } }) =>
    cost === undefined
      ? {
          missing:
            'What open dimensions cost is unknown: pass a build folder for which trtlens show --build FOLDER --fixed-shapes was run',
        }
      : { value: key === 'fused' ? cost.fused.length : Math.max(0, cost.kernels.dynamic - cost.kernels.fixed) },
  reformats: onLayers((check, { layers }) => reformats(check, layers)),
  nodes: (check, { report }) => (isPlanned(report) ? { missing: noLayers } : nodesWithFate(check, report)),
  unaccounted: (_, { report }) =>
    report.lostNodes?.checked
      ? nodesWithFate({ key: 'unaccounted' }, report)
      : {
          missing: `Whether nodes are lost is unknown: ${withoutStop(report.lostNodes?.reason ?? 'the report was made by an older version, or without the model.')}`,
        },
  quantized: onLayers((_, report) => quantized(report)),
  heldBack: onLayers(({ key }, report) => heldBack(key, report)),
  marked: ({ key }, { marked }) =>
    marked === undefined
      ? { missing: 'Whether tensors are marked is unknown: pass a build folder, or the model with the layer info' }
      : { value: key === 'debug' ? marked.debug.length : marked.outputs.length },
  memory,
  time,
  accuracy: (_, side) => accuracy(side),
};

const noKernels = 'This TensorRT does not list the kernels inside a ForeignNode';

const opaqueForeignNode = 'The build does not list what the kernels inside a ForeignNode compute';

const measure = (check: Check, side: GateSide): Measured =>
  measures[check.rule]?.(check, side) ?? { missing: 'This rule has no number' };

/** Layers as the engine counts them: the kernels of one ForeignNode are one layer. */
function engineLayers({ layers }: FusionReport): number {
  const foreign = new Set(layers.map(({ foreignNode }) => foreignNode).filter((id) => id !== null));
  return layers.filter(({ foreignNode }) => foreignNode === null).length + foreign.size;
}

function reformats({ key }: Check, layers: readonly ReportLayer[]): Measured {
  const found = layers.filter(({ kind }) => kind === 'reformat');
  if (key !== 'microseconds') return { value: found.length, logLine: found[0]?.line ?? null };
  if (totalMs(layers) === null) return { missing: noTimes };
  return { value: totalMs(found) ?? 0, logLine: found[0]?.line ?? null };
}

const noTimes = 'The times are unknown: pass a profile';

/** A reason within a sentence. */
const withoutStop = (reason: string): string => reason.replace(/\.$/, '');

function nodesWithFate({ key }: Pick<Check, 'key'>, { nodes, accounting }: FusionReport): Measured {
  const fate = key as keyof typeof accounting;
  return { value: accounting[fate], nodes: nodes.filter((node) => node.fate === fate) };
}

/** Q/DQ nodes that no kernel computes together with anything but Q/DQ. */
function quantized(report: FusionReport): Measured {
  const { nodes, layers } = report;
  const isQuantizing = ({ op }: ReportNode) => op === 'QuantizeLinear' || op === 'DequantizeLinear';
  const all = nodes.filter(isQuantizing);
  if (all.length === 0) return { missing: 'The model has no QuantizeLinear or DequantizeLinear node' };
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const layerOf = new Map(layers.map((layer) => [layer.id, layer]));
  if (all.every(({ fate }) => fate === 'unknown')) return { missing: 'The fates of the Q/DQ nodes are unknown' };
  const opaque = opaqueForeignNodes(report);
  if (all.some(({ foreignNode }) => opaque.has(foreignNode ?? -1))) return { missing: opaqueForeignNode };
  const alone = all.filter(
    (node) =>
      node.layers.length > 0 &&
      node.layers.every((id) =>
        (layerOf.get(id)?.nodes ?? []).every((other) => byId.has(other) && isQuantizing(byId.get(other)!)),
      ),
  );
  return { value: alone.length, nodes: alone, logLine: layerOf.get(alone[0]?.layers[0] ?? -1)?.line ?? null };
}

/** Codes of the causes that a key of `heldBack` counts. */
const causes: Readonly<Record<string, readonly HeldBack['code'][]>> = {
  attention: ['attention-not-fused'],
  normalization: ['normalization-not-fused'],
  activation: ['activation-not-fused'],
  quantization: ['outside-quantization', 'attention-not-quantized', 'reformat-between-islands'],
};

/** Kernels of the causes that a report lists. */
function heldBack(key: string, { heldBack: all, nodes, layers }: FusionReport): Measured {
  if (all === undefined)
    return { missing: 'What holds the build back is unknown: pass the model, or a report of this version' };
  const found = all.filter(({ code }) => causes[key]?.includes(code) ?? true);
  // A full list may have left out a cheaper cause of this kind.
  if (found.length === 0 && all.length >= mostHeldBack)
    return { missing: `The report lists only the ${mostHeldBack} costliest causes, and none of this kind` };
  const [ids, own] = [new Set(found.flatMap((one) => one.nodes)), new Set(found.flatMap((one) => one.layers))];
  return {
    value: own.size,
    nodes: nodes.filter(({ id }) => ids.has(id)),
    logLine: layers.find(({ id }) => own.has(id))?.line ?? null,
  };
}

function memory({ key }: Check, { figures }: GateSide): Measured {
  const bytes = { activation: figures?.activationMemory, weights: figures?.weightsMemory, engine: figures?.engineSize }[
    key
  ];
  const what =
    key === 'engine'
      ? 'The size of the engine'
      : key === 'weights'
        ? 'The memory of the weights'
        : 'The activation memory';
  return typeof bytes === 'number'
    ? { value: bytes }
    : { missing: `${what} is unknown: pass a build folder, or a report that was made with the verbose build log` };
}

const percentiles = ['p50', 'p90', 'p99'] as const;

/** A percentile of the passes of a trace, as far as it has several. */
function passTime(reports: readonly FusionReport[], key: (typeof percentiles)[number]): Measured {
  const known = reports
    .flatMap(({ layers, profile }) => {
      const [ms, pass] = [totalMs(layers), profile?.pass];
      // A pass has gaps, too: its spread counts, not its length.
      return ms === null || !pass?.p50 ? [] : (ms * pass[key]) / pass.p50;
    })
    .toSorted((a, b) => a - b);
  if (known.length === 0)
    return { missing: 'Percentiles need a trace of several passes (Nsight Systems); a profile has only averages' };
  return { value: known[known.length >> 1]!, spread: [known[0]!, known.at(-1)!] };
}

function time({ key }: Check, { report, repeats = [] }: GateSide): Measured {
  const percentile = percentiles.find((one) => one === key);
  if (percentile) return passTime([report, ...repeats], percentile);
  const nodes = key === 'total' ? null : nodesUnder(report.nodes, key);
  if (nodes?.length === 0) return { missing: `No node or module matches ${key}` };
  const ids = nodes && new Set(nodes.map(({ id }) => id));
  const opaque = opaqueForeignNodes(report);
  const isTorn = ({ id, nodes: members }: FusionReport['foreignNodes'][number]) =>
    opaque.has(id) && ids !== null && members.some((one) => ids.has(one)) && !members.every((one) => ids.has(one));
  if (report.foreignNodes.some(isTorn)) return { missing: opaqueForeignNode };
  const measured = [report, ...repeats]
    .filter(({ layers }) => totalMs(layers) !== null)
    .map((one) =>
      ids
        ? (measuredTime(one.layers.filter((layer) => layer.nodes.some((id) => ids.has(id)))) ?? { ms: 0 })
        : measuredEngine(one)!,
    );
  const known = measured.map(({ ms }) => ms).toSorted((a, b) => a - b);
  if (known.length === 0) return { missing: noTimes };
  const middle = known.length >> 1;
  const value = known.length % 2 === 1 ? known[middle]! : (known[middle - 1]! + known[middle]!) / 2;
  // Several profiles show more than the samples of one.
  const range = known.length === 1 ? measured[0]!.range : undefined;
  return { value, spread: [known[0]!, known.at(-1)!], range };
}

/** Nodes whose name, or a module that they are in, matches a pattern. */
export function nodesUnder(nodes: readonly ReportNode[], pattern: string): ReportNode[] {
  const glob = compileGlob(pattern.replace(/(?<=.)\/$/, ''));
  const known = new Map<string, boolean>();
  const matches = (path: string): boolean => {
    let found = known.get(path);
    if (found === undefined) known.set(path, (found = matchesGlob(glob, path)));
    return found;
  };
  return nodes.filter(({ name }) => {
    for (let end = name.length; end > 0; end = name.lastIndexOf('/', end - 1))
      if (matches(name.slice(0, end))) return true;
    return false;
  });
}

function accuracy({ accuracy: found }: GateSide): Measured {
  if (found === undefined)
    return { missing: 'No accuracy result: add `inputs:`, or pass --accuracy with the JSON of `trtlens accuracy`' };
  return 'missing' in found ? found : { value: found.error ?? Infinity };
}
