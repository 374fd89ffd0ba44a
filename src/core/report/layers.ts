import type { FusionReport, LayerKind, ReportLayer } from '../fusion/fusionReport.ts';
import { counted } from '../text/numbers.ts';

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
export const countedLayers = (count: number, kind: LayerKind, report: Subject): string =>
  counted(count, ...nounsOf(report)[kind]);

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

/** The layers are TensorRT's plan, without the reformats and kernels of an engine. */
export const isPlanned = ({ problems }: Pick<FusionReport, 'problems'>): boolean =>
  problems.some(({ code }) => code === 'planned-layers');

/** The layers are known, and those of an engine. */
export const listsEngine = (report: Pick<FusionReport, 'layers' | 'problems'>): boolean =>
  report.layers.length > 0 && !isPlanned(report);

/** A layer by its id, which is its position unless a report was put together by hand. */
export function layerOf(report: FusionReport, id: number): ReportLayer | undefined {
  const layer = report.layers[id];
  return layer?.id === id ? layer : report.layers.find((other) => other.id === id);
}
