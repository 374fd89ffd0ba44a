// Compares two reports: the difference as data, as figures and as text.
import { addTo } from '../../kernel/base/addTo.ts';
import { shapeText } from '../../kernel/base/text.ts';
import type { FusionReport, FusionSaving, ReportLayer } from '../../kernel/fusion/fusionReport.ts';
import {
  countRegions,
  isNoise,
  isPlanned,
  listsEngine,
  measuredEngine,
  precisionShare,
  runningLayers,
} from '../../kernel/report/words.ts';
import {
  type Both,
  type BuildDiff,
  type Change,
  type DiffInput,
  type DiffSide,
  type InputShapes,
  namesOnly,
  type NetworkNode,
} from '../../kernel/report/buildDiff.ts';
import { sourceRanges } from '../../kernel/network/sourceLines.ts';
import { compareMarked } from './internal/markedComparison.ts';
import { NodeComparison } from './internal/nodeChanges.ts';
import { requestOfDiff, diffVerdict } from './internal/verdict.ts';
import { conversions, isSameNetwork, matchNodes, type NodeMatch } from './matchNodes.ts';

export {
  alikeChanges,
  type ComparedFigure,
  comparedFigures,
  diffDocument,
  verdictSentence,
} from './internal/diffDocument.ts';
export { markedSentences } from './internal/markedComparison.ts';

/**
 * Compares two builds node by node. What one side cannot know (kernels, times, types) is never a change.
 * Linear in nodes, edges and layers.
 */
export function diffReports(a: DiffInput, b: DiffInput, match = matchInputs(a, b)): BuildDiff {
  const comparison = new NodeComparison(a.report, b.report, match);
  const changes = comparison.changes();
  const engines = [measuredEngine(a.report), measuredEngine(b.report)] as const;
  const [aMs, bMs] = [engines[0]?.ms ?? null, engines[1]?.ms ?? null];
  const attributedMs =
    aMs === null || bMs === null ? null : changes.reduce((sum, { deltaMs }) => sum + (deltaMs ?? 0), 0);
  const onlyA = a.report.nodes.filter((_, index) => match.toB[index] === -1);
  const matchedB = new Set(match.toB);
  const marked = compareMarked(a, b, match, { aMs, bMs });
  const onlyB = b.report.nodes.filter((_, index) => !matchedB.has(index));
  const isNoiseOnly = engines[0] && engines[1] && isNoise(engines[0], engines[1]);
  const sorted = withCode(changes, a.report, b.report).toSorted(byWeight);
  return {
    schema: 1,
    a: sideOf(a),
    b: sideOf(b),
    request: requestOfDiff(a, b),
    verdict: diffVerdict([a, b], { aMs, bMs, isNoise: isNoiseOnly }, sorted),
    matched: {
      byName: match.byName,
      byStructure: match.byStructure.length,
      structure: match.byStructure.map((at) => ({ a: a.report.nodes[at]!.id, b: b.report.nodes[match.toB[at]!]!.id })),
      onlyA: onlyA.map(({ id }) => id),
      onlyB: onlyB.map(({ id }) => id),
      conversions: { a: onlyA.filter(isConversion).length, b: onlyB.filter(isConversion).length },
    },
    changes: sorted,
    shapes: otherShapes(a.report, b.report),
    time: {
      aMs,
      bMs,
      attributedMs,
      noiseMs: attributedMs === null ? null : bMs! - aMs! - attributedMs,
      isNoise: isNoiseOnly,
    },
    totals: {
      states: { ...comparison.states, onlyA: onlyA.length, onlyB: onlyB.length },
      comparedBy: comparison.comparedBy,
      ...totalsOf(a, b),
    },
    ...(marked && { marked }),
  };
}

/** Changes with the places of their code, of B where it has the nodes. */
function withCode(changes: Change[], a: FusionReport, b: FusionReport): Change[] {
  const [ofA, ofB] = [a, b].map(
    ({ nodes }) => new Map(nodes.flatMap(({ id, source }) => (source === undefined ? [] : [[id, source] as const]))),
  ) as [Map<string, string>, Map<string, string>];
  if (ofA.size + ofB.size === 0) return changes;
  return changes.map((change) => {
    const code =
      sourceRanges(change.nodesB.map((id) => ofB.get(id))) || sourceRanges(change.nodesA.map((id) => ofA.get(id)));
    return code === '' ? change : { ...change, code };
  });
}

/** Which node of A is which of B; by name alone where the models are not there. */
export const matchInputs = (a: DiffInput, b: DiffInput): NodeMatch =>
  matchNodes(a.network ?? namesOnly(a.report), b.network ?? namesOnly(b.report));

/**
 * How much of one network the other has, from 0 to 1: matched nodes of all of the larger one. Q/DQ nodes and Casts do not
 * count, since a copy in another precision has many more of them. null: it cannot be said, because most nodes have no name
 * and no model is at hand.
 */
export function sharedNodes(a: DiffInput, b: DiffInput): number | null {
  const [left, right] = [a, b].map(({ network, report }) =>
    (network ?? namesOnly(report)).filter(({ op }) => !conversions.has(op)),
  ) as [NetworkNode[], NetworkNode[]];
  const most = Math.max(left.length, right.length);
  if (most === 0) return null;
  const hasEdges = a.network !== undefined && b.network !== undefined;
  const unnamed = Math.max(...[left, right].map((nodes) => nodes.filter(({ name }) => name === '').length));
  if (!hasEdges && !isSameNetwork(left, right) && unnamed > most / 2) return null;
  return matchInputs(a, b).toB.reduce((sum, to, from) => sum + (to >= 0 && isCounted(a, from) ? 1 : 0), 0) / most;
}

const isCounted = ({ report }: DiffInput, index: number): boolean => !conversions.has(report.nodes[index]?.op ?? '');

/** Inputs of both sides that the engines were built for with other shapes: their times are not of the same work. */
export function otherShapes(a: FusionReport, b: FusionReport): InputShapes[] {
  const others = shapesOf(b);
  return [...shapesOf(a)].flatMap(([input, shape]) => {
    const other = others.get(input);
    return other === undefined || other === shape ? [] : [{ input, a: shape, b: other }];
  });
}

/** Of each input whose shapes are known: `1×8 … 4×64 … 8×256`, one text for each optimization profile. */
function shapesOf({ tensors = [], builtShapes = [] }: Partial<FusionReport>): Map<string, string> {
  const found = new Map<string, string>();
  const end = tensors.findIndex(({ producer }) => producer !== null);
  for (const { name, shape } of end < 0 ? tensors : tensors.slice(0, end))
    if (shape?.every((size) => typeof size === 'number')) found.set(name, shapeText(shape));
  const open = new Map<string, string[]>();
  for (const { input, min, opt, max } of builtShapes) {
    const text = [...new Set([min, opt, max].map(shapeText))].join(' … ');
    addTo(open, input, text);
  }
  for (const [input, texts] of open) if (!found.has(input)) found.set(input, texts.join('; '));
  return found;
}

const isConversion = ({ op }: { op: string }): boolean => conversions.has(op) && op !== 'Identity';

const sideOf = ({ source, report, figures, failed }: DiffInput): DiffSide => ({
  source,
  model: report.model.file,
  product: report.tensorrt.product,
  version: report.tensorrt.version,
  gpu: figures?.gpu ?? null,
  planned: isPlanned(report),
  traced: report.profile !== undefined,
  ...(report.optimizationProfile && { optimizationProfile: report.optimizationProfile }),
  ...(failed !== undefined && { failed }),
});

function totalsOf(a: DiffInput, b: DiffInput) {
  const both = (value: (side: DiffInput) => number | null | undefined): Both => ({
    a: value(a) ?? null,
    b: value(b) ?? null,
  });
  // A plan has neither the reformats nor the kernels of the engine, and need not be the last.
  const known = (report: FusionReport, count: (layer: ReportLayer) => boolean) =>
    listsEngine(report) ? runningLayers(report).filter(count).length : null;
  const regions = (report: FusionReport) => (listsEngine(report) ? countRegions(report.foreignNodes) : null);
  return {
    nodes: both(({ report }) => report.nodes.length),
    layers: both(({ report }) => known(report, () => true)),
    // An opaque ForeignNode has kernels that no one listed.
    kernels: both(({ report }) => (report.layers.some(isOpaque) ? null : known(report, () => true))),
    foreignNodes: both(({ report }) => regions(report)?.foreignNodes),
    loadables: both(({ report }) => regions(report)?.loadables),
    reformats: both(({ report }) => known(report, ({ kind }) => kind === 'reformat')),
    accounting: { a: a.report.accounting, b: b.report.accounting },
    precision: { a: precisionShare(a.report, a.requested ?? null), b: precisionShare(b.report, b.requested ?? null) },
    savedLaunches: both(({ report }) => sumOf(savingsOf(report), ({ launches }) => launches)),
    savedBytes: both(({ report }) => sumOf(savingsOf(report), ({ bytes }) => bytes)),
    savedMs: both(({ report: { layers } }) =>
      sumOf(
        layers.filter(({ saved }) => typeof saved?.ms === 'number'),
        ({ saved }) => saved!.ms,
      ),
    ),
    activationMemory: both(({ figures }) => figures?.activationMemory),
    weightsMemory: both(({ figures }) => figures?.weightsMemory),
    engineSize: both(({ figures }) => figures?.engineSize),
    buildSeconds: both(({ figures }) => figures?.buildSeconds),
    warnings: both(({ figures }) => figures?.warnings),
  };
}

/** None where it is not known which kernel computes most nodes of the ForeignNodes, or what became of one: too few are counted. */
function savingsOf(report: FusionReport): readonly FusionSaving[] {
  const members = report.nodes.filter(({ fate }) => fate === 'foreign');
  const placed = members.filter(({ layers }) => layers.length > 0).length;
  const known = listsEngine(report) && report.accounting.unknown === 0 && placed >= members.length / 2;
  return known ? (report.savings ?? []) : [];
}

/** null: of one it is not known, or there is none. */
function sumOf<T>(all: readonly T[], value: (one: T) => number | null): number | null {
  const known = all.map(value).filter((one) => one !== null);
  return known.length < all.length || all.length === 0 ? null : known.reduce((sum, one) => sum + one, 0);
}

const isOpaque = ({ kind }: ReportLayer): boolean => kind === 'foreign';

const kindOrder: Change['kind'][] = [
  'lost',
  'unknown',
  'split',
  'merged',
  'moved',
  'computed',
  'folded',
  'precision',
  'kernel',
  'format',
  'time',
];

const byWeight = (one: Change, other: Change): number =>
  Math.abs(other.deltaMs ?? 0) - Math.abs(one.deltaMs ?? 0) ||
  kindOrder.indexOf(one.kind) - kindOrder.indexOf(other.kind);
