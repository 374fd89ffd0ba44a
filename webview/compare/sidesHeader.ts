import { select } from 'd3-selection';
import type { DiffSide, DiffTotals } from '../../src/core/diff/buildDiff.ts';
import { markedSentences } from '../../src/core/diff/compareMarked.ts';
import { otherMethods } from '../../src/core/diff/changeWords.ts';
import type { BuildComparison } from '../../src/core/diff/comparison.ts';
import type { PrecisionShare } from '../../src/core/report/precisionShare.ts';
import { deltaText, percentText, sizeText, thousands, timeText } from '../../src/core/text/numbers.ts';
import { strings } from '../shared/strings.ts';

const texts = strings.compare;

interface Figure {
  label: string;
  a: string;
  b: string;
  delta: string;
}

/** Both sides by name, the change of time in a sentence, and the figures in which they differ. */
export function sidesHeader(parent: HTMLElement) {
  const head = select(parent);
  const title = head.append('h1');
  const sides = head.append('div').attr('class', 'compare-sides');
  const sentence = head.append('p').attr('class', 'compare-sentence');
  const details = head.append('details').attr('class', 'compare-figures');
  const summary = details.append('summary');
  const table = details.append('table');
  const heads = table.append('thead').append('tr');
  for (const text of ['', 'A', 'B', texts.delta]) heads.append('th').attr('scope', 'col').text(text);
  const rows = table.append('tbody');

  const show = ({ diff, names, facts }: BuildComparison) => {
    title.text(texts.title(diff.a.model, diff.b.model));
    sides
      .selectAll('span')
      .data([
        ['A', names.a, sideText(diff.a)],
        ['B', names.b, sideText(diff.b)],
      ])
      .join((enter) => {
        const side = enter.append('span');
        side.append('b').attr('class', 'badge');
        side.append('strong');
        side.append('small').attr('class', 'muted');
        return side;
      })
      .each(function ([letter, name, about]) {
        const side = select(this);
        side.select('b').text(letter!);
        side.select('strong').text(name!);
        side.select('small').text(about!);
      });
    const { aMs, bMs } = diff.time;
    const times =
      aMs === null || bMs === null
        ? texts.noTimes(diff.changes.length)
        : texts.times(timeText(aMs), timeText(bMs), deltaText(bMs - aMs), diff.changes.length);
    const inputs = diff.shapes.map(({ input }) => input);
    const shapes = inputs.length === 0 ? [] : [texts.otherShapes(inputs)];
    const methods =
      aMs !== null && bMs !== null && diff.a.traced !== diff.b.traced ? [otherMethods(diff.a.traced)] : [];
    sentence.text([times, ...methods, ...shapes, ...(diff.marked ? markedSentences(diff.marked) : [])].join(' '));
    const figures = [
      ...figuresOf(diff.totals),
      ...requestedPrecision(diff.totals),
      ...diff.shapes.map(({ input, a, b }): Figure => ({ label: texts.totals.shape(input), a, b, delta: '' })),
      ...facts.map(({ field, values: [a, b] }): Figure => ({ label: field, a: a || '–', b: b || '–', delta: '' })),
    ];
    const matched = diff.matched;
    summary.text(
      texts.figures(figures.length, matched.byName, matched.byStructure, matched.onlyA.length, matched.onlyB.length),
    );
    rows
      .selectAll<HTMLTableRowElement, Figure>('tr')
      .data(figures)
      .join((enter) => {
        const row = enter.append('tr');
        row.append('th').attr('scope', 'row');
        for (let cell = 0; cell < 3; cell += 1) row.append('td');
        return row;
      })
      .each(function ({ label, a, b, delta }) {
        const row = select(this);
        row.select('th').text(label);
        row
          .selectAll('td')
          .data([a, b, delta])
          .text((text) => text);
      });
  };
  return { show };
}

const sideText = ({ model, product, version, gpu, planned }: DiffSide): string =>
  [
    model,
    version === null ? '' : `${product === 'tensorrt-rtx' ? 'TensorRT-RTX' : 'TensorRT'} ${version}`,
    gpu ?? '',
    planned ? texts.plan : '',
  ]
    .filter((part) => part !== '')
    .join(' · ');

/** How much of the requested precision both sides have. */
function requestedPrecision({ precision: { a, b } }: DiffTotals): Figure[] {
  const text = (share: PrecisionShare | null) =>
    share === null || share.requested === null || share.realised === null || share.tensors === 0
      ? texts.unknown
      : `${share.requested}: ${percentText((share.realised / share.tensors) * 100)}`;
  const [before, after] = [text(a), text(b)];
  return before === after ? [] : [{ label: texts.totals.requested, a: before, b: after, delta: '' }];
}

/** What both sides know and what differs. */
function figuresOf(totals: DiffTotals): Figure[] {
  const kinds: [label: string, key: keyof DiffTotals, text: (value: number) => string][] = [
    [texts.totals.nodes, 'nodes', thousands],
    [texts.totals.layers, 'layers', thousands],
    [texts.totals.kernels, 'kernels', thousands],
    [texts.totals.foreignNodes, 'foreignNodes', thousands],
    [texts.totals.reformats, 'reformats', thousands],
    [texts.totals.activationMemory, 'activationMemory', sizeText],
    [texts.totals.weightsMemory, 'weightsMemory', sizeText],
    [texts.totals.engineSize, 'engineSize', sizeText],
    [texts.totals.buildSeconds, 'buildSeconds', (seconds) => timeText(seconds * 1000)],
    [texts.totals.warnings, 'warnings', thousands],
  ];
  return kinds.flatMap(([label, key, text]) => {
    const { a, b } = totals[key] as { a: number | null; b: number | null };
    if (a === b) return [];
    const delta = a === null || b === null ? '' : `${b > a ? '+' : '−'}${text(Math.abs(b - a))}`;
    return [{ label, a: a === null ? texts.unknown : text(a), b: b === null ? texts.unknown : text(b), delta }];
  });
}
