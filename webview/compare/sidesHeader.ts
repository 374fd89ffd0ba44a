import { select } from 'd3-selection';
import type { BuildComparison, DiffSide, DiffTotals } from '../../src/kernel/report/buildDiff.ts';
import {
  type ComparedFigure,
  comparedFigures,
  markedSentences,
  verdictSentence,
} from '../../src/features/diff/diffReports.ts';
import { otherMethods } from '../../src/features/diff/matchNodes.ts';
import { type PrecisionShare, profileWords } from '../../src/kernel/report/words.ts';
import { deltaText, percentText, releaseName, timeText } from '../../src/kernel/base/text.ts';
import { strings } from '../shared/strings.ts';

const texts = strings.compare;

/** What differs in the request, the verdict, both sides by name, and the figures of both. */
export function sidesHeader(parent: HTMLElement) {
  const head = select(parent);
  const title = head.append('h1');
  const verdict = head.append('p').attr('class', 'compare-verdict');
  const sides = head.append('div').attr('class', 'compare-sides');
  const main = head.append('dl').attr('class', 'compare-main-figures');
  const sentence = head.append('p').attr('class', 'compare-sentence');
  const details = head.append('details').attr('class', 'compare-figures');
  const summary = details.append('summary');
  const table = details.append('table');
  const heads = table.append('thead').append('tr');
  for (const text of ['', 'A', 'B', texts.delta]) heads.append('th').attr('scope', 'col').text(text);
  const rows = table.append('tbody');

  const show = ({ diff, names, facts }: BuildComparison) => {
    const models = texts.title(diff.a.model, diff.b.model);
    title.text(
      diff.request === '' ? models : diff.a.model === diff.b.model ? `${models}: ${diff.request}` : diff.request,
    );
    verdict.text(`${verdictSentence(diff)}.`);
    verdict.classed('failed', diff.a.failed !== undefined || diff.b.failed !== undefined);
    sides
      .selectAll('span')
      .data([
        ['A', names.a, sideText(diff.a, diff.b)],
        ['B', names.b, sideText(diff.b, diff.a)],
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
    const all = comparedFigures(diff.totals);
    const time: ComparedFigure[] =
      aMs === null || bMs === null
        ? []
        : [{ label: texts.time, a: timeText(aMs), b: timeText(bMs), delta: aMs === bMs ? '' : deltaText(bMs - aMs) }];
    main
      .selectAll<HTMLDivElement, ComparedFigure>('div')
      .data([...time, ...all.filter(({ label }) => mainFigures.has(label))])
      .join((enter) => {
        const figure = enter.append('div');
        figure.append('dt');
        figure.append('dd');
        return figure;
      })
      .each(function ({ label, a, b, delta }) {
        const figure = select(this);
        figure.select('dt').text(label);
        figure.select('dd').text(a === b ? a : `${a} → ${b}${delta === '' ? '' : ` (${delta})`}`);
      });
    const inputs = diff.shapes.map(({ input }) => input);
    const shapes = inputs.length === 0 ? [] : [texts.otherShapes(inputs)];
    const timed = aMs !== null && bMs !== null;
    const methods = timed && diff.a.traced !== diff.b.traced ? [otherMethods(diff.a.traced)] : [];
    const notes = [
      ...(timed ? [] : [texts.noTimes]),
      ...methods,
      ...shapes,
      ...(diff.marked ? markedSentences(diff.marked) : []),
    ];
    sentence.text(notes.join(' ')).property('hidden', notes.length === 0);
    const figures = [
      ...all.filter(({ label, a, b }) => a !== b && !mainFigures.has(label)),
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

/** What everybody asks for, also where it is the same. */
const mainFigures: ReadonlySet<string> = new Set<ComparedFigure['label']>([
  'Kernels',
  'ForeignNodes',
  'Reformats',
  'Activation memory',
  'Weights memory',
  'Engine size',
]);

/** What tells a side from the other one; what both have in common is said with neither. */
function sideText(side: DiffSide, other: DiffSide): string {
  const { model, product, version, gpu, planned, optimizationProfile: profile } = side;
  const release = version === null ? '' : releaseName({ product, version });
  return [
    model === other.model ? '' : model,
    release,
    gpu ?? '',
    profile ? profileWords(profile) : '',
    planned ? texts.plan : '',
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

/** How much of the requested precision both sides have. */
function requestedPrecision({ precision: { a, b } }: DiffTotals): ComparedFigure[] {
  const text = (share: PrecisionShare | null) =>
    share === null || share.requested === null || share.realised === null || share.tensors === 0
      ? texts.unknown
      : `${share.requested}: ${percentText((share.realised / share.tensors) * 100)}`;
  const [before, after] = [text(a), text(b)];
  return before === after ? [] : [{ label: texts.totals.requested, a: before, b: after, delta: '' }];
}
