// The figures above every view, each a filter, and what to look at next.
import { totalMs } from '../../fusion/fusionReport.ts';
import { counted, oneLine, percentText, shorten, thousands, timeText, typeName } from '../../base/text.ts';
import { isEpContext } from '../../read/onnx/onnxModel.ts';
import { tensorPrecision } from '../../read/tensorrt/buildOutput.ts';
import { type BuildStep, profileNotice, stepWords } from '../../build/diagnosis.ts';
import type { Fate, FusionReport, ReportLayer } from '../../fusion/fusionReport.ts';
import {
  countLayers,
  engineMs,
  fateOrder,
  fateWordsOf,
  findingTitle,
  heldBackHead,
  layerLabel,
  layersSentence,
  nounOf,
  precisionSentence,
  precisionShare,
  runningLayers,
  shareOf,
  countedRegions,
} from '../../report/words.ts';
import type { PanelSelection, ViewData } from '../graph/viewData.ts';

/** A number about a build: `20 ForeignNodes 77 %`. */
export interface Figure {
  /** What it is about: a fate, `layers`, `precision`, `time`. */
  key: string;
  text: string;
  /** The same in full, for a tooltip. */
  meaning: string;
  /** What it counts; `none`: there is nothing to select. */
  selection: PanelSelection;
}

/** Something to look at or to do next. */
export interface NextStep {
  text: string;
  /** Why, for a tooltip. */
  meaning: string;
  /** What it is about. */
  selection?: PanelSelection;
  /** Or what it does. */
  run?: BuildStep;
}

/** What a view says above everything else. */
export interface Headline {
  /** Of what it is, for screen readers. */
  title: string;
  figures: Figure[];
  next: NextStep[];
  /** What else is to be known of the build, a sentence each. */
  notes: string[];
}

export function headlineOf(data: ViewData): Headline {
  const { title, graph, report, hints: notes } = data;
  if (report !== null)
    return { title, figures: figuresOf(report, data.requested ?? null), next: nextSteps(data, report), notes };
  const nodes = counted(graph?.nodes.length ?? 0, 'node');
  const isTried = data.build !== null;
  const figures: Figure[] = [
    { key: 'nodes', text: nodes, meaning: `The model has ${nodes}.`, selection: { kind: 'none' } },
    {
      key: 'build',
      text: isTried ? 'no build passed' : 'no build',
      meaning: isTried ? 'No build of this model has passed yet.' : 'No build of this model is known.',
      selection: { kind: 'none' },
    },
  ];
  if (graph?.nodes.some(isEpContext))
    return { title, figures, next: firstSteps.filter(({ run }) => run === 'attach'), notes: [...notes, keptEngines] };
  return { title, figures, next: isTried ? [] : firstSteps, notes };
}

const keptEngines =
  'ONNX Runtime keeps TensorRT engines in this model (EPContext). To see what is in them, open the model from which it was made, with the log of the session.';

/** In one line: `52 layers · 20 ForeignNodes 77 % · 23 single · 54 folded · 0 unknown · 0.99 ms`. */
export const figuresText = (figures: readonly Figure[]): string => figures.map(({ text }) => text).join(' · ');

const firstSteps: NextStep[] = [
  {
    text: 'Build TensorRT Engine',
    meaning: 'Build an engine to see what TensorRT does with this model.',
    run: 'build',
  },
  { text: stepWords.check, meaning: 'See what TensorRT would refuse in this model, without a build.', run: 'check' },
  { text: 'Open Build Log', meaning: 'Open the log, layer info or profile of an earlier build.', run: 'attach' },
];

/**
 * The figures of a report, those without nodes left out but for `unknown`, where zero says something.
 * @param requested the precision that was asked for; null: none, or any
 */
export function figuresOf(report: FusionReport, requested: string | null): Figure[] {
  return [
    layersFigure(report),
    ...fateOrder
      .filter((fate) => report.accounting[fate] > 0 || (fate === 'unknown' && report.subject !== 'engine'))
      .map((fate) => fateFigure(report, fate)),
    ...precisionFigure(report, requested),
    ...timeFigure(report),
  ];
}

function layersFigure(report: FusionReport): Figure {
  const { total, planned } = countLayers(report);
  const { optimizationProfile: profile } = report;
  return {
    key: 'layers',
    text: counted(total, planned ? 'planned layer' : 'layer') + (profile ? ` of profile ${profile.shown}` : ''),
    meaning: layersSentence(report),
    selection: total === 0 ? { kind: 'none' } : { kind: 'layers', ids: report.layers.map(({ id }) => id) },
  };
}

/** How a figure names the nodes of a fate. ForeignNodes are counted themselves. */
const nouns: Record<Fate, string> = {
  foreign: 'in ForeignNodes',
  fused: 'fused',
  single: 'single',
  folded: 'folded',
  removed: 'removed',
  shape: 'on the host',
  unaccounted: 'lost?',
  unknown: 'unknown',
};

function fateFigure(report: FusionReport, fate: Fate): Figure {
  const { nodes, accounting, foreignNodes } = report;
  const count = accounting[fate];
  const share = fate === 'foreign' ? shareOf(report, totalMs(foreignNodes)) : null;
  const time = share === null ? '' : percentText(share * 100);
  const derived = nodes.filter((node) => node.fate === fate && !node.exact).length;
  const isEngine = report.subject === 'engine';
  const own =
    fate === 'foreign' && foreignNodes.length > 0
      ? countedRegions(foreignNodes)
      : `${thousands(count)} ${isEngine && fate === 'single' ? 'native' : nouns[fate]}`;
  const meaning = [
    `${fateWordsOf(report)[fate].label}: ${thousands(count)} of ${counted(accounting.total, nounOf(report))}`,
    derived > 0 && fate !== 'unknown' && `${derived === count ? 'all' : thousands(derived)} derived from the graph`,
    time !== '' && `${time} of the time`,
  ];
  return {
    key: fate,
    text: [own, time].filter((part) => part !== '').join(' '),
    meaning: `${meaning.filter((part) => part !== false).join(', ')}.`,
    selection: count === 0 ? { kind: 'none' } : { kind: 'fate', fate },
  };
}

function precisionFigure(report: FusionReport, requested: string | null): Figure[] {
  const share = precisionShare(report, requested);
  if (share === null) return [];
  const type = requested ?? Object.keys(share.types)[0]!;
  const layers = report.layers.filter(({ outputs }) => outputs.some((tensor) => tensorPrecision(tensor) === type));
  return [
    {
      key: 'precision',
      text: `${typeName(type)} ${percentText(((share.types[type] ?? 0) / share.tensors) * 100)}`,
      meaning: precisionSentence(share),
      selection: layers.length === 0 ? { kind: 'none' } : { kind: 'layers', ids: layers.map(({ id }) => id) },
    },
  ];
}

/** Layers and kernels that were timed, the slowest first. */
const slowestFirst = (report: FusionReport): ReportLayer[] =>
  runningLayers(report)
    .filter(({ averageMs }) => averageMs !== null)
    .toSorted((a, b) => b.averageMs! - a.averageMs!);

function timeFigure(report: FusionReport): Figure[] {
  const whole = engineMs(report);
  if (whole === null) return [];
  const half: number[] = [];
  let sum = 0;
  for (const { id, averageMs } of slowestFirst(report)) {
    if (sum >= whole / 2) break;
    sum += averageMs!;
    half.push(id);
  }
  return [
    {
      key: 'time',
      text: timeText(whole),
      meaning: `All layers together take ${timeText(whole)}. Selects the slowest ${counted(half.length, 'layer')}, which take half of it.`,
      selection: { kind: 'layers', ids: half },
    },
  ];
}

/** The two most important findings, and the slowest kernel; of those that lead to the same layers the first. */
function nextSteps({ asked = [], build }: ViewData, report: FusionReport): NextStep[] {
  const found: NextStep[] = [];
  const disobeyed = asked.filter(({ verdict }) => verdict === 'disobeyed');
  if (disobeyed.length > 0)
    found.push({
      text: `${counted(disobeyed.length, 'node')} not in the requested precision`,
      meaning: disobeyed[0]!.reason,
      selection: { kind: 'nodes', ids: disobeyed.map(({ node }) => node) },
    });
  for (const one of report.heldBack?.slice(0, 1) ?? [])
    found.push({
      text: heldBackHead(one),
      meaning: [one.message, ...one.evidence].join('\n'),
      selection: { kind: 'layers', ids: one.layers },
    });
  for (const finding of (report.findings ?? []).toSorted((a, b) => b.ms - a.ms))
    found.push({
      text: `${findingTitle(finding)} ${share(report, finding.ms)}`,
      meaning: [finding.message, ...finding.evidence].join('\n'),
      selection: { kind: 'layers', ids: finding.layers },
    });
  const [slowest] = slowestFirst(report);
  const steps = found.filter((one, at) => found.findIndex((other) => leadsTo(other, one)) === at).slice(0, 2);
  if (slowest !== undefined) {
    const step: NextStep = {
      text: `Slowest kernel: ${workOf(report, slowest)} ${share(report, slowest.averageMs!)}`,
      meaning: `${slowest.name}\n${timeText(slowest.averageMs!)}, the longest of all layers and kernels.`,
      selection: { kind: 'layers', ids: [slowest.id] },
    };
    if (!steps.some((one) => leadsTo(one, step))) steps.push(step);
  } else if (build !== null) {
    const { message, advice, steps: ways } = profileNotice(build);
    steps.push({ text: stepWords[ways[0]!], meaning: `${message} ${advice}`, run: ways[0]! });
  }
  return steps;
}

const leadsTo = (one: NextStep, other: NextStep): boolean =>
  JSON.stringify(one.selection) === JSON.stringify(other.selection);

/** What a kernel computes, by its nodes; by its own name where none is known: `…3/blocks.1/mlp/fc2/MatMul + 2`. */
function workOf(report: FusionReport, layer: ReportLayer): string {
  const [first, ...others] = layer.nodes;
  const name = report.nodes.find(({ id }) => id === first)?.name ?? '';
  if (name === '') return shorten(layerLabel(layer), 40);
  const end = name.length > 40 ? `…${name.slice(-39)}` : name;
  return oneLine(end) + (others.length === 0 ? '' : ` + ${thousands(others.length)}`);
}

/** `41.1 µs (4.2 %)` */
function share(report: FusionReport, ms: number): string {
  const part = shareOf(report, ms);
  return timeText(ms) + (part === null ? '' : ` (${percentText(part * 100)})`);
}
