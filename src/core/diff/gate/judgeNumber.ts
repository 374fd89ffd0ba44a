import { compileGlob, matchesGlob } from '../../precision/language/glob.ts';
import type { FusionReport, ReportLayer, ReportNode } from '../../fusion/fusionReport.ts';
import { counted, timeText, sizeText, thousands } from '../../text/numbers.ts';
import { isPlanned, listsEngine } from '../../report/layers.ts';
import { opaqueForeignNodes, timeOf } from '../groups.ts';
import type { Check, Limit, RuleName } from './gateFile.ts';
import type { GateFinding, GateSide } from './judgeGate.ts';

/** The smallest and the largest value of several profiles. */
type Spread = readonly [number, number];

/** A number of a build, in the unit of its rule, or why it is not known. */
type Measured =
  { value: number; spread?: Spread; nodes?: readonly ReportNode[]; logLine?: number | null } | { missing: string };

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
  if (isTime(check) && (build.report.profile === undefined) !== (baseline.report.profile === undefined))
    return {
      kept: null,
      message: 'The times are not comparable: one is from a trace of the GPU, the other from a profile.',
    };
  const most = limit.kind === 'percent' ? before.value * (1 + limit.value / 100) : before.value + limit.value;
  // A hair above the limit is rounding of sums.
  const kept = value <= most + Math.abs(most) * 1e-9;
  const change = before.value === 0 ? '' : `, ${signed(((value - before.value) / before.value) * 100)}`;
  const message = `${text} (baseline ${textOf(check, before.value)}${change}); the limit is ${limit.text}.`;
  return { kept, message: message + noiseText(found, before, limit), baseline: before.value, ...details };
}

const isTime = ({ rule, key }: Pick<Check, 'rule' | 'key'>): boolean => rule === 'time' || key === 'microseconds';

const signed = (percent: number): string => `${percent < 0 ? '−' : '+'}${Math.abs(percent).toFixed(1)} %`;

/** A limit finer than the spread of the measurements decides by chance; that is said. */
function noiseText(now: Extract<Measured, { value: number }>, before: typeof now, limit: Limit): string {
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
    reformats: ['reformat layer', 'reformat layers'],
    nodes: [`${key} node`, `${key} nodes`],
    quantised: ['Q/DQ node with a kernel of its own', 'Q/DQ nodes with kernels of their own'],
  };
  const [one, many] = names[rule] ?? ['', ''];
  return Number.isInteger(value) ? counted(value, one, many) : `${thousands(Math.floor(value))} ${many}`;
}

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
    value: foreignNodes.length,
    logLine: foreignNodes[0]?.line ?? null,
  })),
  kernels: onLayers((_, { layers }) =>
    layers.some(({ kind }) => kind === 'foreign') ? { missing: noKernels } : { value: layers.length },
  ),
  layers: onLayers((_, report) => ({ value: engineLayers(report) })),
  reformats: onLayers((check, { layers }) => reformats(check, layers)),
  nodes: (check, { report }) => (isPlanned(report) ? { missing: noLayers } : nodesWithFate(check, report)),
  quantised: onLayers((_, report) => quantised(report)),
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
  if (timeOf(layers) === null) return { missing: noTimes };
  return { value: timeOf(found) ?? 0, logLine: found[0]?.line ?? null };
}

const noTimes = 'The times are unknown: pass a profile';

function nodesWithFate({ key }: Check, { nodes, accounting }: FusionReport): Measured {
  const fate = key as keyof typeof accounting;
  return { value: accounting[fate], nodes: nodes.filter((node) => node.fate === fate) };
}

/** Q/DQ nodes that no kernel computes together with anything but Q/DQ. */
function quantised(report: FusionReport): Measured {
  const { nodes, layers } = report;
  const isQuantising = ({ op }: ReportNode) => op === 'QuantizeLinear' || op === 'DequantizeLinear';
  const all = nodes.filter(isQuantising);
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
        (layerOf.get(id)?.nodes ?? []).every((other) => byId.has(other) && isQuantising(byId.get(other)!)),
      ),
  );
  return { value: alone.length, nodes: alone, logLine: layerOf.get(alone[0]?.layers[0] ?? -1)?.line ?? null };
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

function time({ key }: Check, { report, repeats = [] }: GateSide): Measured {
  const nodes = key === 'total' ? null : nodesUnder(report.nodes, key);
  if (nodes?.length === 0) return { missing: `No node or module matches ${key}` };
  const ids = nodes && new Set(nodes.map(({ id }) => id));
  const opaque = opaqueForeignNodes(report);
  const isTorn = ({ id, nodes: members }: FusionReport['foreignNodes'][number]) =>
    opaque.has(id) && ids !== null && members.some((one) => ids.has(one)) && !members.every((one) => ids.has(one));
  if (report.foreignNodes.some(isTorn)) return { missing: opaqueForeignNode };
  const times = [report, ...repeats].map(({ layers }) =>
    timeOf(layers) === null
      ? null
      : (timeOf(ids ? layers.filter((layer) => layer.nodes.some((id) => ids.has(id))) : layers) ?? 0),
  );
  const known = times.filter((ms) => ms !== null).toSorted((a, b) => a - b);
  if (known.length === 0) return { missing: noTimes };
  const middle = known.length >> 1;
  const value = known.length % 2 === 1 ? known[middle]! : (known[middle - 1]! + known[middle]!) / 2;
  return { value, spread: [known[0]!, known.at(-1)!] };
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
