import { select } from 'd3-selection';
import type { BuildComparison, DiffSide, DiffTotals } from '../../src/core/diff/buildDiff.ts';
import { type ComparedFigure, comparedFigures, markedSentences } from '../../src/core/diff/diffReports.ts';
import { otherMethods } from '../../src/core/diff/matchNodes.ts';
import type { PrecisionShare } from '../../src/core/report/words.ts';
import { deltaText, percentText, releaseName, timeText } from '../../src/core/base/text.ts';
import { strings } from '../shared/strings.ts';

const texts = strings.compare;

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
      ...comparedFigures(diff.totals).filter(({ a, b }) => a !== b),
      ...requestedPrecision(diff.totals),
      ...diff.shapes.map(({ input, a, b }): ComparedFigure => ({ label: texts.totals.shape(input), a, b, delta: '' })),
      ...facts.map(({ field, values: [a, b] }): ComparedFigure => ({
        label: field,
        a: a || '–',
        b: b || '–',
        delta: '',
      })),
    ];
    const matched = diff.matched;
    summary.text(
      texts.figures(figures.length, matched.byName, matched.byStructure, matched.onlyA.length, matched.onlyB.length),
    );
    rows
      .selectAll<HTMLTableRowElement, ComparedFigure>('tr')
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
  [model, version === null ? '' : releaseName({ product, version }), gpu ?? '', planned ? texts.plan : '']
    .filter((part) => part !== '')
    .join(' · ');

/** How much of the requested precision both sides have. */
function requestedPrecision({ precision: { a, b } }: DiffTotals): ComparedFigure[] {
  const text = (share: PrecisionShare | null) =>
    share === null || share.requested === null || share.realised === null || share.tensors === 0
      ? texts.unknown
      : `${share.requested}: ${percentText((share.realised / share.tensors) * 100)}`;
  const [before, after] = [text(a), text(b)];
  return before === after ? [] : [{ label: texts.totals.requested, a: before, b: after, delta: '' }];
}
