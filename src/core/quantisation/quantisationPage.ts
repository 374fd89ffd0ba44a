import { escaped, pageActions, pageStyle, staticPage } from '../text/htmlPage.ts';
import { counted, percentText, thousands } from '../text/numbers.ts';
import { type Quantisation, rangeText, scaleText, sourceText } from './quantisation.ts';
import { islandText, pairCounts, pairFates } from './quantisationText.ts';

/** What the page around the results offers. */
export interface QuantisationPageOptions {
  /** The model's name. */
  title: string;
  /** What the fates are from, such as the id of a build; null: there is no build. */
  build: string | null;
  /** Path of the calibration cache whose scales are shown; null: none. */
  cache: string | null;
  /** A node's name by its id. */
  nameOf: (id: string) => string;
  /** Where nodes lead to, by their ids. */
  nodeLink: (ids: readonly string[]) => string;
  /** Links above the results, such as commands of the editor. */
  links: { label: string; href: string }[];
}

const style = `${pageStyle}
td { overflow-wrap: anywhere; } td:first-child { min-width: 9em; } .code { white-space: nowrap; }`;

/** Longer tables are of use to programs only. */
const mostRows = 500;

/** The quantization of a model as one page of HTML without scripts. Everything from the model enters it escaped. */
export function quantisationPage(found: Quantisation, options: QuantisationPageOptions): string {
  const { title, build, cache, links } = options;
  const body = `<p>${escaped(summary(found, build !== null, cache !== null))}</p>
<p class="note">${escaped([fateSource(found, build), ...(cache === null ? [] : [`Calibrated scales are from ${cache}.`]), ...(found.notes ?? [])].join(' '))}</p>
${pageActions(links)}
${placements(found, options)}
${pairs(found, options)}
${islands(found, options)}
${scales(found)}`;
  return staticPage(`Quantization of ${title}`, style, body);
}

function summary(
  { tensors, pairs: all, misplaced, islands: parts }: Quantisation,
  built: boolean,
  cached: boolean,
): string {
  if (tensors.length + misplaced.length === 0)
    return `The model has no Q/DQ nodes, and ${cached ? 'the calibration cache has no usable scale' : 'no calibration cache is in use'}.`;
  const activations = all.filter(({ constant }) => !constant).length;
  const against = `${counted(misplaced.length, 'placement')} against TensorRT's rules.`;
  if (tensors.length === 0) return `The model has no Q/DQ nodes. ${against}`;
  if (all.length === 0) return 'The model has no Q/DQ nodes; the scales are those of a calibration cache.';
  return [
    `${counted(activations, 'Q/DQ pair')} of activations${built && activations > 0 ? ` (${pairCounts(all)})` : ''} and ${thousands(all.length - activations)} of weights.`,
    against,
    `${counted(parts.length, 'part')} in floating point between INT8 nodes.`,
  ].join(' ');
}

function fateSource({ pairs: all }: Quantisation, build: string | null): string {
  if (all.length === 0) return '';
  return build === null
    ? 'There is no build, so it is not known what TensorRT makes of the pairs. Build an engine.'
    : `Fates are those of build ${build}.`;
}

function placements({ misplaced }: Quantisation, { nameOf, nodeLink }: QuantisationPageOptions): string {
  const rows = misplaced.map(
    ({ code, nodes, message, fix }) =>
      `<tr><td>${link(nodeLink(nodes), nameOf(nodes[0]!))}</td><td class="code">${escaped(code)}</td><td>${escaped(message)}</td><td>${escaped(fix)}</td></tr>`,
  );
  return table('Placements That Can Prevent INT8 Kernels', ['node', 'code', 'what is wrong', 'fix'], rows);
}

/** Pairs that cost a kernel first, those that cost nothing last. */
const order = ['kernel', 'reformat', 'moved', 'unknown', 'fused', 'removed', 'folded'];

function pairs({ pairs: all }: Quantisation, { nodeLink }: QuantisationPageOptions): string {
  const rows = all
    .toSorted((a, b) => order.indexOf(a.fate) - order.indexOf(b.fate) || Number(a.constant) - Number(b.constant))
    .map(({ tensor, constant, quantize, dequantize, fate, why, fix }) => {
      const href = nodeLink([...(quantize === null ? [] : [quantize]), ...dequantize]);
      const own = fate === 'kernel' || fate === 'reformat';
      return `<tr${own ? ' class="bad"' : ''}><td>${link(href, tensor)}</td><td>${constant ? 'weights' : 'activation'}</td><td>${pairFates[fate]}</td><td>${escaped(why)}${fix === null ? '' : ` ${escaped(fix)}`}</td></tr>`;
    });
  return table('Q/DQ Pairs', ['tensor', '', 'what TensorRT made of it', 'why'], rows);
}

function islands({ islands: parts }: Quantisation, { nameOf, nodeLink }: QuantisationPageOptions): string {
  const rows = parts.map((island) => {
    const [first] = island.nodes;
    return `<tr><td>${link(nodeLink(island.nodes), nameOf(first!))}</td><td>${escaped(islandText(island))}</td></tr>`;
  });
  return table('Floating Point Between INT8 Nodes', ['first node', 'cost'], rows);
}

function scales({ tensors }: Quantisation): string {
  const measured = tensors.some(({ observed }) => observed !== undefined);
  const rows = tensors.map((tensor) => {
    const { observed } = tensor;
    const share = observed?.clippedShare ?? null;
    const seen = measured
      ? `<td class="n">${share === null ? '' : percentText(share * 100)}</td><td class="n">${observed?.largest?.toPrecision(4) ?? ''}</td>`
      : '';
    return `<tr><td>${escaped(tensor.tensor)}</td><td class="n">${escaped(scaleText(tensor))}</td><td class="n">${escaped(rangeText(tensor))}</td>${seen}<td>${sourceText(tensor)}</td></tr>`;
  });
  const head = ['tensor', 'scale', 'range', ...(measured ? ['clipped', 'largest value'] : []), 'source'];
  return table('Scales', head, rows);
}

function table(title: string, head: readonly string[], rows: readonly string[]): string {
  if (rows.length === 0) return '';
  const more = rows.length - mostRows;
  return `<h2>${title}</h2>
<table><tr>${head.map((name) => `<th>${name}</th>`).join('')}</tr>
${rows.slice(0, mostRows).join('\n')}
</table>${more > 0 ? `\n<p class="note">… ${thousands(more)} more: trtlens quantisation MODEL --json lists all.</p>` : ''}`;
}

const link = (href: string, text: string): string => `<a href="${escaped(href)}">${escaped(text)}</a>`;
