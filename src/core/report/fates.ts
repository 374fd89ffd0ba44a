import type { Fate, FusionReport } from '../fusion/fusionReport.ts';

/** The fates in the order of every list, legend and sentence. */
export const fateOrder: readonly Fate[] = ['foreign', 'fused', 'single', 'folded', 'removed', 'shape', 'unknown'];

/** The words for each fate: a label, and what can be said of such a node ("it was fused into a ForeignNode"). */
export const fateWords: Readonly<Record<Fate, { label: string; predicate: string }>> = {
  foreign: { label: 'In ForeignNodes', predicate: 'was fused into a ForeignNode (Myelin)' },
  fused: { label: 'In fused layers', predicate: 'is computed by an engine layer together with other nodes' },
  single: { label: 'In single-node layers', predicate: 'has an engine layer of its own' },
  folded: { label: 'Folded', predicate: 'was constant-folded at build time' },
  removed: { label: 'Removed', predicate: 'needs no work in this engine' },
  shape: { label: 'Shapes on the host', predicate: 'computes shapes on the host' },
  unknown: { label: 'Unknown', predicate: 'has no known fate: the inputs do not show what became of it' },
};

/** The words where the nodes of a view are the layers of an engine, because there is no model. */
const engineWords: typeof fateWords = {
  ...fateWords,
  foreign: { label: 'Kernels of ForeignNodes', predicate: 'is a kernel of a ForeignNode (Myelin)' },
  single: { label: 'Outside ForeignNodes', predicate: 'is an engine layer of its own' },
};

/** The words that fit a report's nodes. */
export const fateWordsOf = ({ subject }: Pick<FusionReport, 'subject'>): typeof fateWords =>
  subject === 'engine' ? engineWords : fateWords;

/** A predicate as a sentence of its own, for a tooltip: `Was constant-folded at build time.` */
export function fateTooltip(fate: Fate, report: Pick<FusionReport, 'subject'> = {}): string {
  const { predicate } = fateWordsOf(report)[fate];
  return `${predicate[0]!.toUpperCase()}${predicate.slice(1)}.`;
}

/** What the nodes of a report are: `node`, or `layer` where there is no model. */
export const nounOf = ({ subject }: Pick<FusionReport, 'subject'>): 'node' | 'layer' =>
  subject === 'engine' ? 'layer' : 'node';
