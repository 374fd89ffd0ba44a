import type { FusionReport } from '../../../../src/core/fusion/fusionReport.ts';

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
  [/(?:is|are) unknown$/, 'unknown'],
];

const number = (text: string | undefined): number => Number((text ?? 'none').replaceAll(',', ''));
const wordOf = (words: [RegExp, string][], text: string): string =>
  words.find(([pattern]) => pattern.test(text))?.[1] ?? `nobody knows “${text}”`;

/** Reads the summary: `3 engine layers: … . Of 636 nodes, … .` Fails on what it does not understand. */
export function countsOfSentence(sentence: string): Counts {
  const counts: Counts = { layers: {}, kernels: 0, nodes: {}, total: 0 };
  const [, layers, nodes] = /^(.*?)\. ((?:Of|All|The) .*)\.$/.exec(sentence) ?? [];
  if (layers === undefined || nodes === undefined) throw new Error(`no summary: ${sentence}`);
  const list = /^(?:([\d,]+) engine layers?|.*TensorRT planned ([\d,]+)): (.*)$/.exec(layers);
  if (list !== null) {
    for (const part of list[3]!.split(/, (?=[\d,]+ )/)) {
      const [, count, what = ''] = /^([\d,]+) (.*)$/.exec(part) ?? [];
      counts.layers[wordOf(layerWords, what)] = number(count);
      counts.kernels += number(/\(([\d,]+) kernels?\)$/.exec(what)?.[1] ?? '0');
    }
    const sum = Object.values(counts.layers).reduce((a, b) => a + b, 0);
    if (sum !== number(list[1] ?? list[2])) throw new Error(`the layers do not add up: ${layers}`);
  } else if (layers !== 'No engine layers are known') throw new Error(`no layers: ${layers}`);
  const all = /^(?:All ([\d,]+) nodes|The only node) (.*)$/.exec(nodes.replaceAll(/ \([^)]*\)/g, ''));
  if (all !== null) {
    counts.total = number(all[1] ?? '1');
    counts.nodes[wordOf(nodeWords, all[2]!)] = counts.total;
    return counts;
  }
  const [, total, rest = ''] = /^Of ([\d,]+) nodes?, (.*)$/.exec(nodes.replaceAll(/ \([^)]*\)/g, '')) ?? [];
  counts.total = number(total);
  for (const part of rest.split(/, (?=[\d,]+ )/)) {
    const [, count, what = ''] = /^([\d,]+) (.*)$/.exec(part) ?? [];
    if (number(count) > 0) counts.nodes[wordOf(nodeWords, what)] = number(count);
  }
  const sum = Object.values(counts.nodes).reduce((a, b) => a + b, 0);
  if (sum !== counts.total) throw new Error(`the nodes do not add up: ${nodes}`);
  return counts;
}
