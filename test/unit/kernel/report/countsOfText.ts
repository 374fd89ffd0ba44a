import type { FusionReport } from '../../../../src/kernel/fusion/fusionReport.ts';

/** What a person reads of a report: engine layers by kind, kernels, nodes by fate. What is zero is left out. */
export interface Counts {
  layers: Record<string, number>;
  kernels: number;
  nodes: Record<string, number>;
  total: number;
}

/** Counted from the whole report, node by node and layer by layer, without the code that writes the texts. */
export function countsOfReport(report: FusionReport): Counts {
  const counts: Counts = { layers: {}, kernels: 0, nodes: {}, total: report.nodes.length };
  const add = (of: Record<string, number>, key: string) => (of[key] = (of[key] ?? 0) + 1);
  for (const { foreignNode, kind } of report.layers) {
    if (foreignNode === null) add(counts.layers, kind);
    else if (kind === 'kernel') counts.kernels++;
  }
  for (const _ of report.foreignNodes) add(counts.layers, 'foreign');
  for (const { fate } of report.nodes) add(counts.nodes, fate);
  return counts;
}

const layerWords: [RegExp, string][] = [
  [/^ForeignNodes?\b/, 'foreign'],
  [/^fused layers?$/, 'fused'],
  [/^single-node layers?$/, 'single'],
  [/^kernels? outside of ForeignNodes$/, 'kernel'],
  [/^reformats?$/, 'reformat'],
  [/^shape layers?$/, 'shape'],
  [/^constants?$/, 'constant'],
  [/^other layers?$/, 'other'],
];

const nodeWords: [RegExp, string][] = [
  [/(?:is|are) in (?:the ForeignNode|ForeignNodes)/, 'foreign'],
  [/in (?:a fused layer|fused layers)$/, 'fused'],
  [/in (?:a single-node layer|single-node layers)$/, 'single'],
  [/(?:was|were) folded$/, 'folded'],
  [/(?:was|were) removed$/, 'removed'],
  [/computes? shapes on the host$/, 'shape'],
  [/(?:is|are) lost or moved$/, 'unaccounted'],
  [/(?:is|are) unknown$/, 'unknown'],
];

const number = (text: string | undefined): number => Number((text ?? 'none').replaceAll(',', ''));
const wordOf = (words: [RegExp, string][], text: string): string =>
  words.find(([pattern]) => pattern.test(text))?.[1] ?? `nobody knows “${text}”`;

/** Reads the summary: `3 engine layers: … . Of 636 nodes, … .` Fails on what it does not understand. */
export function countsOfSentence(sentence: string): Counts {
  const [, layers, nodes] = /^(.*?)\. ((?:Of|All|The) .*)\.$/.exec(sentence) ?? [];
  if (layers === undefined || nodes === undefined) throw new Error(`no summary: ${sentence}`);
  return { ...layersOf(layers), ...nodesOf(nodes.replaceAll(/ \([^)]*\)/g, '')) };
}

/** `3 engine layers: 1 ForeignNode (209 kernels), 2 reformats` */
function layersOf(text: string): Pick<Counts, 'layers' | 'kernels'> {
  if (text === 'No engine layers are known') return { layers: {}, kernels: 0 };
  const [, listed, planned, list = ''] =
    /^(?:([\d,]+) engine layers?|.*TensorRT planned ([\d,]+)): (.*)$/.exec(text) ?? [];
  const layers = countsIn(list, layerWords, number(listed ?? planned));
  const kernels = /\(([\d,]+) kernels?\)/.exec(list)?.[1];
  return { layers, kernels: kernels === undefined ? 0 : number(kernels) };
}

/** `Of 636 nodes, 379 are in the ForeignNode, 0 are unknown`, or what all nodes are. */
function nodesOf(text: string): Pick<Counts, 'nodes' | 'total'> {
  const all = /^(?:All ([\d,]+) nodes|The only node) (.*)$/.exec(text);
  if (all !== null) {
    const total = number(all[1] ?? '1');
    return { nodes: { [wordOf(nodeWords, all[2]!)]: total }, total };
  }
  const [, total, list = ''] = /^Of ([\d,]+) nodes?, (.*)$/.exec(text) ?? [];
  return { nodes: countsIn(list, nodeWords, number(total)), total: number(total) };
}

function countsIn(list: string, words: [RegExp, string][], total: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const part of list.split(/, (?=[\d,]+ )/)) {
    const [, count, what = ''] = /^([\d,]+) (.*)$/.exec(part) ?? [];
    if (number(count) > 0) counts[wordOf(words, what)] = number(count);
  }
  const sum = Object.values(counts).reduce((a, b) => a + b, 0);
  if (sum !== total) throw new Error(`these do not add up to ${total}: ${list}`);
  return counts;
}
