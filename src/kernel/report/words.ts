// Names of fates and layers, sentences, counts, times.
import { counted, firstOf, oneLine, percentText, shorten, sizeText, thousands, timeText } from '../base/text.ts';
import { tensorPrecision } from '../read/tensorrt/buildOutput.ts';
import {
  type Fate,
  type FusionReport,
  type FusionSaving,
  type HeldBack,
  type LayerKind,
  measuredInside,
  type ReportForeignNode,
  type ReportLayer,
  type ReportNode,
  type TimeFinding,
  foreignNoun,
  foreignNumber,
  totalMs,
} from '../fusion/fusionReport.ts';
import { isProductFactor } from '../network/layerName.ts';

/** Kinds of engine layers in the order of every list and sentence: what computes nodes first. */
export const layerKinds: readonly LayerKind[] = [
  'foreign',
  'fused',
  'single',
  'kernel',
  'reformat',
  'shape',
  'constant',
  'other',
];

/** One and many of each kind of engine layer. A ForeignNode counts as one layer, its kernels are counted in it. */
const nouns: Readonly<Record<LayerKind, readonly [one: string, many: string]>> = {
  foreign: ['ForeignNode', 'ForeignNodes'],
  fused: ['fused layer', 'fused layers'],
  single: ['single-node layer', 'single-node layers'],
  kernel: ['kernel outside ForeignNodes', 'kernels outside ForeignNodes'],
  reformat: ['reformat', 'reformats'],
  shape: ['shape layer', 'shape layers'],
  constant: ['constant', 'constants'],
  other: ['other layer', 'other layers'],
};

/** Without a model, how many nodes a layer computes is not known. */
const engineNouns: typeof nouns = {
  ...nouns,
  single: ['native layer', 'native layers'],
  other: ['native layer', 'native layers'],
};

type Subject = Pick<FusionReport, 'subject'>;

const nounsOf = ({ subject }: Subject): typeof nouns => (subject === 'engine' ? engineNouns : nouns);

/** `1 reformat`, `3 fused layers` */
export const countedLayers = (
  count: number,
  kind: LayerKind,
  report: Subject & Partial<Pick<FusionReport, 'foreignNodes'>>,
): string =>
  kind === 'foreign' && report.foreignNodes?.length === count
    ? countedRegions(report.foreignNodes)
    : counted(count, ...nounsOf(report)[kind]);

const isLoadable = ({ device }: Pick<ReportForeignNode, 'device'>): boolean => device === 'dla';

/** How many groups are regions of Myelin, and how many are loadables of the DLA. */
export function countRegions(foreignNodes: FusionReport['foreignNodes']): { foreignNodes: number; loadables: number } {
  const loadables = foreignNodes.filter(isLoadable).length;
  return { foreignNodes: foreignNodes.length - loadables, loadables };
}

/** `2 ForeignNodes`, `1 ForeignNode, 2 DLA loadables` */
export const countedRegions = (groups: FusionReport['foreignNodes']): string => regionsText(countRegions(groups));

/** The same of the counts. */
export function regionsText({ foreignNodes, loadables }: ReturnType<typeof countRegions>): string {
  return [
    ...(foreignNodes > 0 || loadables === 0 ? [counted(foreignNodes, 'ForeignNode')] : []),
    ...(loadables > 0 ? [counted(loadables, 'DLA loadable')] : []),
  ].join(', ');
}

/** `Fused layers`: the heading of all layers of a kind. */
export function layerKindLabel(kind: LayerKind, report: Subject): string {
  const [, many] = nounsOf(report)[kind];
  return many[0]!.toUpperCase() + many.slice(1);
}

/** How many layers an engine has, counted in one way everywhere. */
export interface LayerCounts {
  /** Engine layers: each ForeignNode is one, and so is each native layer, reformats included. The sum of `kinds`. */
  total: number;
  kinds: Record<LayerKind, number>;
  /** Kernels of all ForeignNodes; 0 where the inputs list none. */
  kernels: number;
  /** True where the build ended before there was an engine: the layers are those that TensorRT had planned by then. */
  planned: boolean;
}

export function countLayers(report: FusionReport): LayerCounts {
  const kinds = { foreign: 0, fused: 0, single: 0, kernel: 0, reformat: 0, shape: 0, constant: 0, other: 0 };
  let kernels = 0;
  for (const { kind, foreignNode } of report.layers) {
    if (foreignNode === null) kinds[kind]++;
    else if (kind === 'kernel') kernels++;
  }
  kinds.foreign += report.foreignNodes.length;
  const total = Object.values(kinds).reduce((sum, count) => sum + count, 0);
  return { total, kinds, kernels, planned: isPlanned(report) };
}

/** What the nodes became: `323 nodes → 1 ForeignNode, 2 other layers, 96 kernels`; '' where no layers are known. */
export function becameText(report: FusionReport): string {
  const { total, kinds, kernels, planned } = countLayers(report);
  if (total === 0) return '';
  const others = total - kinds.foreign;
  const layers = planned ? 'planned layer' : 'layer';
  const parts: (string | false)[] =
    kinds.foreign === 0
      ? [counted(total, layers)]
      : [
          countedRegions(report.foreignNodes),
          others > 0 && counted(others, `other ${layers}`),
          kernels > 0 && counted(kernels, 'kernel'),
        ];
  return `${counted(report.accounting.total, 'node')} → ${parts.filter((part) => part !== false).join(', ')}`;
}

/** The layers are TensorRT's plan, without the reformats and kernels of an engine. */
export const isPlanned = ({ problems }: Pick<FusionReport, 'problems'>): boolean =>
  problems.some(({ code }) => code === 'planned-layers');

/** The layers are known, and those of an engine. */
export const listsEngine = (report: Pick<FusionReport, 'layers' | 'problems'>): boolean =>
  report.layers.length > 0 && !isPlanned(report);

/** What a ForeignNode has next to its kernels, such as jumps and memsets. */
export const isStep = ({ foreignNode, kind }: ReportLayer): boolean =>
  foreignNode !== null && kind !== 'kernel' && kind !== 'foreign';

/** Layers and kernels that run in the engine. */
export const runningLayers = ({ layers }: Pick<FusionReport, 'layers'>): ReportLayer[] =>
  layers.filter((layer) => !isStep(layer));

/** What a group is: Myelin's ForeignNode, or a loadable of the DLA. */
export const regionNoun = (report: Pick<FusionReport, 'foreignNodes'>, id: number): string =>
  foreignNoun(report.foreignNodes.find((foreign) => foreign.id === id)?.device);

export const numberOf = (report: Pick<FusionReport, 'foreignNodes'>, id: number): string =>
  foreignNumber(report.foreignNodes.find((foreign) => foreign.id === id) ?? { id });

/** What a ForeignNode is called: its title, otherwise its number. */
export function foreignTitle(report: Pick<FusionReport, 'foreignNodes'>, id: number): string {
  const { title } = report.foreignNodes.find((foreign) => foreign.id === id) ?? {};
  return title ?? numberOf(report, id);
}

/** The title behind a word that says what the group is: `conv (DLA)` does so itself. */
const titleBehindNoun = (report: Pick<FusionReport, 'foreignNodes'>, id: number): string | undefined =>
  report.foreignNodes.find((foreign) => foreign.id === id)?.title?.replace(/ \(DLA\)$/, '');

/** Where the nodes of a ForeignNode are: `in the ForeignNode fc · MatMul`, `in ForeignNode 3`, `in the DLA loadable conv`. */
export function inForeignNode(report: Pick<FusionReport, 'foreignNodes'>, id: number): string {
  const title = titleBehindNoun(report, id);
  return title === undefined ? `in ${numberOf(report, id)}` : `in the ${regionNoun(report, id)} ${title}`;
}

/** The same in a sentence, with the number by which commands take it: `ForeignNode 3 (stages.2/blocks.2 · LayerNorm + MLP)`. */
export function foreignName(report: Pick<FusionReport, 'foreignNodes'>, id: number): string {
  const title = titleBehindNoun(report, id);
  const number = numberOf(report, id);
  return title === undefined ? number : `${number} (${title})`;
}

/** Operators that a title lists. */
const mostOps = 3;

/** What layers are called that compute several nodes: where these are and what they compute, `layer2.0/conv1 · Conv + Relu`. */
const layerTitles = new WeakMap<FusionReport, ReadonlyMap<number, string>>();

export function titleOfLayer(report: FusionReport, id: number): string {
  let titles = layerTitles.get(report);
  if (titles === undefined) layerTitles.set(report, (titles = titlesOfLayers(report)));
  return titles.get(id) ?? `layer ${id}`;
}

function titlesOfLayers(report: FusionReport): Map<number, string> {
  const nodes = new Map(report.nodes.map((node) => [node.id, node]));
  const titles = new Map<number, string>();
  const seen = new Map<string, number>();
  for (const layer of report.layers) {
    if (layer.kind === 'foreign' || layer.kind === 'reformat') continue;
    if (layer.foreignNode !== null && layer.nodes.length === 0) continue;
    const own = layer.nodes.flatMap((node) => nodes.get(node) ?? []);
    const ops = [...new Set(own.map(({ op }) => op))];
    const what = ops.slice(0, mostOps).join(' + ') + (ops.length > mostOps ? ' …' : '');
    const title =
      [placeOf(own[0]), what].filter((part) => part !== '').join(' · ') || layer.type || `layer ${layer.id}`;
    const turn = (seen.get(title) ?? 0) + 1;
    seen.set(title, turn);
    titles.set(layer.id, turn === 1 ? title : `${title} #${turn}`);
  }
  return titles;
}

/** The last two modules around a node, by its name. */
function placeOf(node: ReportNode | undefined): string {
  const parts = oneLine(node?.name ?? '')
    .split('/')
    .filter((part) => part !== '');
  return parts
    .slice(-3, -1)
    .filter((part, at, all) => !all[at + 1]?.startsWith(`${part}.`))
    .join('/');
}

/** A layer by its id, which is its position unless a report was put together by hand. */
export function layerOf(report: FusionReport, id: number): ReportLayer | undefined {
  const layer = report.layers[id];
  return layer?.id === id ? layer : report.layers.find((other) => other.id === id);
}

/** What the engine computes as one: a ForeignNode with its kernels, or a native layer. */
export interface FusionGroup {
  kind: LayerKind;
  /** The ForeignNode; null for a native layer, which is then the only one in `layers`. */
  foreign: ReportForeignNode | null;
  layers: ReportLayer[];
  /** Nodes that are counted here. Every node that is computed is counted in one group, so that the groups add up. */
  counted: string[];
  /** Nodes of which this group computes a part, and that are counted in another one. */
  shared: string[];
}

/** Every ForeignNode and native layer, in the report's order, with the nodes that are counted in it. */
export function reportGroups(report: FusionReport): FusionGroup[] {
  const layers = new Map(report.layers.map((layer) => [layer.id, layer]));
  const homes = nodeHomes(report, layers);
  const group = (home: string, nodes: readonly string[]): Pick<FusionGroup, 'counted' | 'shared'> => ({
    counted: nodes.filter((id) => homes.get(id) === home),
    shared: nodes.filter((id) => homes.get(id) !== home),
  });
  const foreign = report.foreignNodes.map((one): FusionGroup => ({
    kind: 'foreign',
    foreign: one,
    layers: one.layers.flatMap((id) => layers.get(id) ?? []),
    ...group(`foreign ${one.id}`, one.nodes),
  }));
  const native = report.layers
    .filter(({ foreignNode }) => foreignNode === null)
    .map((layer): FusionGroup => ({
      kind: layer.kind,
      foreign: null,
      layers: [layer],
      ...group(`layer ${layer.id}`, layer.nodes),
    }));
  return [...foreign, ...native];
}

/**
 * Where each computed node is counted: in its ForeignNode, otherwise in the first layer of the kind that is its fate.
 */
function nodeHomes(report: FusionReport, layers: ReadonlyMap<number, ReportLayer>): Map<string, string> {
  const homes = new Map<string, string>();
  for (const node of report.nodes) {
    if (node.fate === 'foreign' && node.foreignNode !== null) homes.set(node.id, `foreign ${node.foreignNode}`);
    if (node.fate !== 'fused' && node.fate !== 'single') continue;
    const native = node.layers.filter((id) => layers.get(id)?.foreignNode === null);
    const home = native.find((id) => layers.get(id)?.kind === node.fate) ?? native[0];
    if (home !== undefined) homes.set(node.id, `layer ${home}`);
  }
  return homes;
}

/** Nodes of which a group computes a part and that are counted in another one; false for none. */
export const sharedText = ({ shared }: FusionGroup): string | false =>
  shared.length > 0 && `${counted(shared.length, 'shared node')}`;

/** How many members of a ForeignNode follow from the graph only: `120 derived`, `derived` for all, false for none. */
export function derivedText(report: FusionReport, { foreign, counted: nodes }: FusionGroup): string | false {
  if (foreign === null || foreign.exact) return false;
  const members = new Set(nodes);
  const derived = report.nodes.filter((node) => !node.exact && members.has(node.id)).length;
  return derived === 0 || derived === nodes.length ? 'derived' : `${thousands(derived)} derived`;
}

/** How much of the requested precision an engine has, by the tensors between its layers. */
export interface PrecisionShare {
  /** `fp16`, …; null: nothing was requested, or any type would do. */
  requested: string | null;
  /** Tensors with real numbers that layers write, and inputs of the engine. */
  tensors: number;
  /** How many of them have each type, the most frequent first. */
  types: Record<string, number>;
  /** Of `tensors`, those in the requested type; null: nothing was requested. */
  realised: number | null;
  /** ForeignNodes that this version shows as one layer: the types inside are not known. */
  opaque: number;
}

/**
 * Counts the types of an engine's tensors. null: its layer information has no types.
 * @param requested the type that the user asked for, as an option or as the `base` of override rules
 */
export function precisionShare({ layers }: FusionReport, requested: string | null): PrecisionShare | null {
  const found = new Map<string, string>();
  const made = new Set(layers.flatMap(({ outputs }) => outputs.map(({ name }) => name)));
  for (const { inputs, outputs } of layers)
    for (const tensor of [...outputs, ...inputs.filter(({ name }) => !made.has(name) && !isConstant(name))]) {
      const type = tensorPrecision(tensor);
      if (type !== null && type !== 'integer') found.set(tensor.name, type);
    }
  if (found.size === 0) return null;
  const counts = new Map<string, number>();
  for (const type of found.values()) counts.set(type, (counts.get(type) ?? 0) + 1);
  return {
    requested,
    tensors: found.size,
    types: Object.fromEntries([...counts].toSorted(([, a], [, b]) => b - a)),
    realised: requested === null ? null : (counts.get(requested) ?? 0),
    opaque: layers.filter(({ kind }) => kind === 'foreign').length,
  };
}

/** TensorRT 10 lists what is built into a kernel among its inputs, and the two factors of each product. */
const isConstant = (name: string): boolean => /dconst|constant|const-lit/i.test(name) || isProductFactor(name);

/**
 * `Requested fp16: 96 % of 54 floating-point tensors between layers are fp16, the others fp32 (2).` For a request without
 * effect the sentence says so.
 */
export function precisionSentence({ requested, tensors, types, realised, opaque }: PrecisionShare): string {
  const inside = opaque > 0 ? ` The types inside ${counted(opaque, 'ForeignNode')} are not known.` : '';
  const of = (count: number) => percentText((count / tensors) * 100);
  if (requested === null || realised === null) {
    const parts = Object.entries(types).map(([type, count]) => `${of(count)} ${type}`);
    return `Types of ${counted(tensors, 'floating-point tensor')} between layers: ${parts.join(', ')}.${inside}`;
  }
  const others = Object.entries(types)
    .filter(([type]) => type !== requested)
    .map(([type, count]) => `${type} (${thousands(count)})`);
  const rest = others.length > 0 ? `, the others ${others.join(', ')}` : '';
  if (realised === 0)
    return `Requested ${requested}, but none of ${counted(tensors, 'floating-point tensor')} between layers is ${requested}: they are ${others.join(', ')}.${inside}`;
  return `Requested ${requested}: ${of(realised)} of ${counted(tensors, 'floating-point tensor')} between layers ${realised === 1 ? 'is' : 'are'} ${requested}${rest}.${inside}`;
}

/** A longer layer name loses its middle: it may have hundreds of parts. */
export const longestName = 120;

/**
 * Facts in a row: `93 % · 453 nodes · 209 kernels`. A pair is a number with its noun; what is false or empty is
 * omitted.
 */
export function phrase(parts: (string | false | [number, string])[]): string {
  return parts
    .map((part) => (Array.isArray(part) ? counted(part[0], part[1]) : part))
    .filter((part): part is string => part !== false && part !== '')
    .join(' · ');
}

/** Share of time of a group, or its time where the whole is not known; false if it was not measured. */
export const aboutTime = (share: number | null, ms: number | null): string | false =>
  ms === null ? false : share === null ? timeText(ms) : percentText(share * 100);

/** A layer by its own name, in one line; by its type if it has none. */
export function layerLabel(layer: ReportLayer): string {
  const name = oneLine(layer.name.replace(/^Reformatting CopyNode for /, ''));
  if (name === '') return layer.type === '' ? `layer ${layer.id}` : layer.type;
  return layer.kind === 'reformat' ? `Reformat: ${name}` : name;
}

/** A node in few words: the last part of its name, or its op and id. */
export function nodeLabel(node: ReportNode): string {
  const name = oneLine(node.name);
  if (name === '') return `${node.op} (node ${node.id})`;
  const last = name.slice(name.lastIndexOf('/') + 1);
  return last === '' ? name : last;
}

/** `a`, `a or b`, `a, b or c` */
export const oneOf = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)!}`;

/** The fates in the order of every list, legend and sentence. */
export const fateOrder: readonly Fate[] = [
  'foreign',
  'fused',
  'single',
  'folded',
  'removed',
  'shape',
  'unaccounted',
  'unknown',
];

/** The words for each fate: a label, and what can be said of such a node ("it was fused into a ForeignNode"). */
export const fateWords: Readonly<Record<Fate, { label: string; predicate: string }>> = {
  foreign: { label: 'In ForeignNodes', predicate: 'was fused into a ForeignNode (Myelin)' },
  fused: { label: 'In fused layers', predicate: 'is computed by an engine layer together with other nodes' },
  single: { label: 'In single-node layers', predicate: 'has an engine layer of its own' },
  folded: { label: 'Folded', predicate: 'was constant-folded at build time' },
  removed: { label: 'Removed', predicate: 'needs no work in this engine' },
  shape: { label: 'Shapes on the host', predicate: 'computes shapes on the host' },
  unaccounted: {
    label: 'Lost?',
    predicate:
      'changes values, and TensorRT names it nowhere: it is lost, or another kernel computes it without its name',
  },
  unknown: { label: 'Unknown', predicate: 'has no known fate: the inputs do not show what became of it' },
};

/** The words where the nodes of a view are the layers of an engine, because there is no model. */
const engineWords: typeof fateWords = {
  ...fateWords,
  foreign: { label: 'Kernels of ForeignNodes', predicate: 'is a kernel of a ForeignNode (Myelin)' },
  single: { label: 'Outside ForeignNodes', predicate: 'is an engine layer of its own' },
};

/** The words where all regions are loadables of the DLA. */
const dlaWords: typeof fateWords = {
  ...fateWords,
  foreign: { label: 'In DLA loadables', predicate: 'runs on the DLA, in a loadable' },
};

/** The words that fit a report's nodes. */
export const fateWordsOf = ({
  subject,
  foreignNodes = [],
}: Pick<FusionReport, 'subject'> & Partial<Pick<FusionReport, 'foreignNodes'>>): typeof fateWords =>
  subject === 'engine' ? engineWords : foreignNodes.length > 0 && foreignNodes.every(isLoadable) ? dlaWords : fateWords;

/** A predicate as a sentence of its own, for a tooltip: `Was constant-folded at build time.` */
export function fateTooltip(fate: Fate, report: Pick<FusionReport, 'subject'> = {}): string {
  const { predicate } = fateWordsOf(report)[fate];
  return `${predicate[0]!.toUpperCase()}${predicate.slice(1)}.`;
}

/** What the nodes of a report are: `node`, or `layer` where there is no model. */
export const nounOf = ({ subject }: Pick<FusionReport, 'subject'>): 'node' | 'layer' =>
  subject === 'engine' ? 'layer' : 'node';

/**
 * What happened to a node, in one or two sentences: what it was fused into, the kernels that compute it, and with whom.
 * `Fused into ForeignNode 0 with 452 other nodes. Kernel _gemm_mha_v2 computes it together with qk/MatMul, scale/Mul.`
 */
export function fateSentence(report: FusionReport, node: ReportNode): string {
  const layers = node.layers.map((id) => layerOf(report, id)).filter((layer) => layer !== undefined);
  const derived = node.exact ? '' : ' (derived from the graph)';
  if (report.subject === 'engine') return engineSentence(report, node, layers);
  switch (node.fate) {
    case 'foreign': {
      const group = report.foreignNodes.find(({ id }) => id === node.foreignNode);
      const others = group === undefined ? 0 : group.nodes.length - 1;
      const company = others > 0 ? ` with ${counted(others, 'other node')}` : '';
      const kernels = layers.filter(({ kind }) => kind !== 'foreign');
      const into = node.foreignNode === null ? 'a ForeignNode' : foreignName(report, node.foreignNode);
      if (group?.device === 'dla') return `Runs on the DLA, in ${into}${company}${derived}.`;
      return `Fused into ${into}${company}${derived}. ${kernelSentence(report, node, kernels)}`;
    }
    case 'fused':
      return `Computed by ${layerPhrase(layers)}${company(report, node, layers)}${derived}.`;
    case 'single':
      return `Computed by ${layerPhrase(layers)}, which computes nothing else${derived}.`;
    case 'folded':
    case 'removed':
    case 'shape':
    case 'unaccounted':
    case 'unknown':
      return fateTooltip(node.fate);
  }
}

/** `Kernel of ForeignNode 0: layer 12 (kgen), 0.011 ms.` */
function engineSentence(report: FusionReport, node: ReportNode, layers: ReportLayer[]): string {
  if (node.foreignNode === null) return `Engine ${layerPhrase(layers)}.`;
  const whole = report.foreignNodes.length > 1 ? numberOf(report, node.foreignNode) : 'the ForeignNode';
  return `Kernel of ${whole}: ${layerPhrase(layers)}.`;
}

function kernelSentence(report: FusionReport, node: ReportNode, kernels: ReportLayer[]): string {
  if (kernels.length === 0) return candidateSentence(report, node);
  const one = kernels.length === 1;
  return `${one ? 'Kernel' : 'Kernels'} ${firstOf(
    kernels.map(({ name }) => shorten(name, longestName)),
    3,
  )} ${one ? 'computes' : 'compute'} it${company(report, node, kernels)}.`;
}

/** `Kernel a or b computes it (derived from the graph).` */
function candidateSentence(report: FusionReport, { within = [], view }: ReportNode): string {
  const names = within.flatMap((id) => layerOf(report, id) ?? []).map(({ name }) => shorten(name, longestName));
  if (view) {
    const where = names.length === 0 ? '' : `; if a kernel computes it, it is ${oneOf(names)}`;
    return `It changes no data${where} (derived from the graph).`;
  }
  if (names.length === 0) return 'Its kernel is not known.';
  const where = oneOf(names);
  return `${names.length === 1 ? `Kernel ${where}` : `Either kernel ${where}`} computes it (derived from the graph).`;
}

function layerPhrase(layers: ReportLayer[]): string {
  if (layers.length === 0) return 'an engine layer that is not listed';
  return layers
    .slice(0, 3)
    .map(
      ({ id, type, averageMs }) =>
        `layer ${id}${type === '' ? '' : ` (${type})`}${averageMs === null ? '' : `, ${timeText(averageMs)}`}`,
    )
    .join(' and ');
}

function company(report: FusionReport, node: ReportNode, layers: ReportLayer[]): string {
  const others = new Set(layers.flatMap(({ nodes }) => nodes));
  others.delete(node.id);
  if (others.size === 0) return '';
  const names = report.nodes.filter(({ id }) => others.has(id)).map(nodeLabel);
  return ` together with ${firstOf(names, 5)}`;
}

const titles: Readonly<Record<TimeFinding['code'], string>> = {
  'launch-bound': 'Launch-bound',
  'host-gaps': 'Waits for the host',
  'memory-bound': 'Memory-bound',
  'no-tensor-cores': 'No tensor cores',
  'misaligned-channels': 'Misaligned channels',
  'reformat-cost': 'Reformats',
};

/** `Launch-bound` */
export const findingTitle = ({ code }: TimeFinding): string => titles[code];

/** `Reformats, 12.0 µs`, with a mark where it is derived. */
export const findingHead = (finding: TimeFinding): string =>
  `${findingTitle(finding)}, ${timeText(finding.ms)}${finding.exact ? '' : ' (derived)'}`;

const causes: Record<HeldBack['code'], string> = {
  'attention-not-fused': 'Attention not fused',
  'normalization-not-fused': 'Normalization not fused',
  'activation-not-fused': 'Activation not fused',
  'outside-quantization': 'FP32 outside of Q/DQ pairs',
  'attention-not-quantized': 'Attention not quantized',
  'reformat-between-islands': 'Floating point between quantized nodes',
  'no-tensor-cores': 'No tensor cores',
};

/** `Attention not fused (head-size)`: what holds a build back. */
export const heldBackTitle = ({ code, condition }: HeldBack): string =>
  condition === undefined || condition === 'unknown' ? causes[code] : `${causes[code]} (${condition})`;

/** The same with what it takes, as far as it is known. */
export const heldBackHead = (one: HeldBack): string =>
  `${heldBackTitle(one)}${one.ms !== null ? `, ${timeText(one.ms)}` : one.bytes !== null && one.bytes > 0 ? `, ${sizeText(one.bytes)}` : ''}`;

/** What fusion saved in a group; undefined: nothing is known of it. */
export function savingOf(
  { savings = [] }: FusionReport,
  group: { foreignNode: number } | { layer: number },
): FusionSaving | undefined {
  return savings.find(({ of }) =>
    'foreignNode' in group
      ? 'foreignNode' in of && of.foreignNode === group.foreignNode
      : 'layer' in of && of.layer === group.layer,
  );
}

/** Fewer bytes than these are not worth a sentence. */
export const leastSaving = 1024;

/** `3 launches and 1.5 MiB of 4 tensors, derived`; '' where nothing was saved or is known. */
export function savingText({ launches, bytes, tensors, unknownTensors }: FusionSaving): string {
  const parts = [
    launches !== null && launches > 0 ? counted(launches, 'launch', 'launches') : '',
    bytes !== null && bytes >= leastSaving
      ? `${sizeText(bytes)} of ${counted(tensors, 'tensor')} that stay in kernels`
      : '',
    unknownTensors > 0 ? `${counted(unknownTensors, 'tensor')} of unknown size` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? '' : `${parts.join(', ')} (derived)`;
}

/** A time in milliseconds, and the p10 to p90 of its samples where the profile has them. */
export interface MeasuredTime {
  ms: number;
  range?: readonly [p10: number, p90: number] | undefined;
}

/** The time of these layers; their ranges add up, which is the widest that they can be together. null: none was measured. */
export function measuredTime(layers: readonly ReportLayer[]): MeasuredTime | null {
  const ms = totalMs(layers);
  if (ms === null) return null;
  const timed = layers.filter(({ averageMs }) => averageMs !== null);
  if (timed.some(({ p10, p90 }) => p10 === undefined || p90 === undefined)) return { ms };
  const sum = (key: 'p10' | 'p90') => timed.reduce((total, layer) => total + layer[key]!, 0);
  return { ms, range: [sum('p10'), sum('p90')] };
}

/** The time of the whole engine, with the range of the passes of a trace. */
export function measuredEngine({ layers, profile }: FusionReport): MeasuredTime | null {
  const ms = totalMs(layers);
  if (ms === null) return null;
  const { p10, p50, p90 } = profile?.pass ?? {};
  // A pass has gaps, too: its spread counts, not its length.
  return p10 === undefined || !p50 ? { ms } : { ms, range: [(ms * p10) / p50, (ms * p90!) / p50] };
}

/**
 * Whether two times differ by no more than two measurements of one engine do: their samples overlap between p10 and
 * p90, or they are within 2 % or 0.5 µs, which two profiles of an unchanged kernel reach.
 */
export function isNoise(a: MeasuredTime, b: MeasuredTime): boolean {
  if (Math.abs(b.ms - a.ms) <= Math.max(0.0005, 0.02 * Math.max(a.ms, b.ms))) return true;
  return a.range !== undefined && b.range !== undefined && a.range[0] <= b.range[1] && b.range[0] <= a.range[1];
}

/** Every share asks for the whole; a report never changes. */
const engineTimes = new WeakMap<FusionReport, number | null>();

/**
 * Milliseconds of the whole engine, the base of every share: its layers, and ForeignNodes that were measured only as
 * a whole. null without a profile.
 */
export function engineMs(report: FusionReport): number | null {
  const known = engineTimes.get(report);
  if (known !== undefined) return known;
  let sum = totalMs(report.layers);
  const measured = measuredInside(report);
  for (const { id, averageMs } of report.foreignNodes) {
    if (averageMs !== null && !measured.has(id)) sum = (sum ?? 0) + averageMs;
  }
  engineTimes.set(report, sum);
  return sum;
}

/** 0 … 1 of the engine's time; null if nothing was measured. */
export function shareOf(report: FusionReport, ms: number | null): number | null {
  const whole = engineMs(report);
  return ms === null || whole === null || whole <= 0 ? null : ms / whole;
}

/**
 * What TensorRT did with the model, in two sentences whose numbers add up:
 * `3 engine layers: 1 ForeignNode (209 kernels), 1 single-node layer, 1 reformat. Of 636 nodes, 379 are in the
 * ForeignNode (95 % of the time), 1 is in a single-node layer, 256 were folded, 0 are unknown.`
 */
export const summarySentence = (report: FusionReport): string => `${layersSentence(report)} ${nodesSentence(report)}`;

/** How many layers of which kinds the engine has, or one of its optimization profiles. */
export function layersSentence(report: FusionReport): string {
  const { total, kinds, kernels, planned } = countLayers(report);
  if (total === 0) return 'No engine layers are known.';
  const parts = layerKinds
    .filter((kind) => kinds[kind] > 0)
    .map(
      (kind) =>
        countedLayers(kinds[kind], kind, report) +
        (kind === 'foreign' && kernels > 0 ? ` (${counted(kernels, 'kernel')})` : ''),
    );
  // No engine was seen: the build may have failed, or the log ends before its layers are listed.
  const whole = planned
    ? `The inputs list no engine layers; TensorRT planned ${thousands(total)}`
    : counted(total, 'engine layer');
  const { optimizationProfile: profile } = report;
  const part = profile ? ` of ${profileWords(profile)}` : '';
  return `${whole}${part}: ${parts.join(', ')}.`;
}

/** `optimization profile 1 (the engine has 2)` */
export const profileWords = ({ shown, of }: NonNullable<FusionReport['optimizationProfile']>): string =>
  `optimization profile ${shown} (the engine has ${of})`;

/** `ForeignNodes`, `DLA loadables`, or both. */
function regionsOf({ foreignNodes = [] }: Partial<Pick<FusionReport, 'foreignNodes'>>): string {
  const count = countRegions(foreignNodes);
  if (count.loadables === 0) return 'ForeignNodes';
  return count.foreignNodes === 0 ? 'DLA loadables' : 'ForeignNodes and DLA loadables';
}

function nodesSentence(report: FusionReport): string {
  const { accounting } = report;
  if (report.subject === 'engine') return "Without the ONNX file, what happened to the model's nodes is unknown.";
  const one = report.foreignNodes.length === 1;
  const verbs: Record<Fate, (count: number) => string> = {
    foreign: (count) =>
      `${count === 1 ? 'is' : 'are'} in ${one ? `the ${regionNoun(report, report.foreignNodes[0]!.id)}` : regionsOf(report)}`,
    fused: (count) => `${count === 1 ? 'is in a fused layer' : 'are in fused layers'}`,
    single: (count) => `${count === 1 ? 'is in a single-node layer' : 'are in single-node layers'}`,
    folded: (count) => `${count === 1 ? 'was' : 'were'} folded`,
    removed: (count) => `${count === 1 ? 'was' : 'were'} removed`,
    shape: (count) => `${count === 1 ? 'computes' : 'compute'} shapes on the host`,
    unaccounted: (count) => `${count === 1 ? 'is' : 'are'} lost or moved`,
    unknown: (count) => `${count === 1 ? 'is' : 'are'} unknown`,
  };
  if (accounting.total === 0) return 'The model has no nodes.';
  const note = (fate: Fate): string =>
    fate === 'foreign' ? foreignNote(report) : fate === 'folded' || fate === 'removed' ? derivedNote(report, fate) : '';
  const all = fateOrder.find((fate) => accounting[fate] === accounting.total);
  if (all !== undefined) {
    const whole = accounting.total === 1 ? 'The only node' : `All ${thousands(accounting.total)} nodes`;
    return `${whole} ${verbs[all](accounting.total)}${note(all)}.`;
  }
  const parts = fateOrder
    .filter((fate) => accounting[fate] > 0 || fate === 'unknown')
    .map((fate) => `${thousands(accounting[fate])} ${verbs[fate](accounting[fate])}${note(fate)}`);
  return `Of ${counted(accounting.total, 'node')}, ${parts.join(', ')}.`;
}

/** ` (31 derived)`, ` (derived)` for all */
function derivedNote({ nodes, accounting }: FusionReport, fate: Fate): string {
  const derived = nodes.filter((node) => node.fate === fate && !node.exact).length;
  if (derived === 0) return '';
  return derived === accounting[fate] ? ' (derived)' : ` (${thousands(derived)} derived)`;
}

/** ` (12 derived; 93 % of the time)` */
function foreignNote(report: FusionReport): string {
  const derived = report.nodes.filter(({ fate, exact }) => fate === 'foreign' && !exact).length;
  const share = shareOf(report, totalMs(report.foreignNodes));
  const notes = [
    derived === 0 ? '' : `${derived === report.accounting.foreign ? 'all' : thousands(derived)} derived`,
    share === null ? '' : `${percentText(share * 100)} of the time`,
  ].filter((note) => note !== '');
  return notes.length === 0 ? '' : ` (${notes.join('; ')})`;
}
