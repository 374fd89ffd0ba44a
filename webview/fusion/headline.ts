import { select } from 'd3-selection';
import type { Fate, FusionReport } from '../../src/kernel/fusion/fusionReport.ts';
import { strings } from '../shared/strings.ts';
import type { ChartEvents } from './flowChart.ts';
import { paintOf } from '../shared/paint.ts';
import type { SelectionSet } from './selectionSet.ts';
import { percentText, thousands } from '../../src/kernel/base/text.ts';
import { fateOrder, fateTooltip, fateWordsOf } from '../../src/kernel/report/words.ts';

interface Segment {
  fate: Fate;
  nodes: number;
  /** Of these, known from the graph only. */
  derived: number;
  share: number;
}

/** The whole model as one bar by fate, and the funnel as steps. */
export function headline(parent: HTMLElement, events: ChartEvents) {
  const pair = select(parent).append('div').attr('class', 'pair');
  const accounting = pair.append('section').attr('class', 'accounting');
  const accountingTitle = accounting.append('h2');
  const bar = accounting.append('div').attr('class', 'whole').attr('aria-hidden', 'true');
  const legend = accounting.append('div').attr('class', 'legend').attr('role', 'group');
  const funnel = pair.append('section').attr('class', 'funnel');
  const funnelTitle = funnel.append('h2');
  const steps = funnel.append('ol');
  const funnelNote = funnel.append('p').attr('class', 'note');

  const draw = (report: FusionReport) => {
    accountingTitle.text(accountingTitleOf(report));
    legend.attr('aria-label', accountingTitleOf(report));
    const segments = fateOrder
      .filter((fate) => report.subject !== 'engine' || report.accounting[fate] > 0)
      .map((fate): Segment => ({
        fate,
        nodes: report.accounting[fate],
        derived: report.nodes.filter((node) => node.fate === fate && !node.exact).length,
        share: report.accounting.total > 0 ? report.accounting[fate] / report.accounting.total : 0,
      }));
    bar
      .selectAll<HTMLDivElement, Segment>('div')
      .data(segments, ({ fate }) => fate)
      .join((enter) => {
        const segment = enter.append('div');
        segment.append('i');
        return segment;
      })
      .attr('data-fate', ({ fate }) => fate)
      .style('flex-grow', ({ share }) => share)
      .style('background', ({ fate }) => background(fate))
      .classed('empty', ({ nodes }) => nodes === 0)
      .on('click', (_, { fate }) => events.select({ kind: 'fate', fate }))
      .select('i')
      .style('width', ({ fate, derived, nodes }) => `${hatched.has(fate) && nodes > 0 ? (derived / nodes) * 100 : 0}%`);
    legend
      .selectAll<HTMLButtonElement, Segment>('button')
      .data(segments, ({ fate }) => fate)
      .join((enter) => {
        const button = enter.append('button').attr('type', 'button');
        button.append('i').attr('aria-hidden', 'true');
        button.append('span').attr('class', 'name');
        button.append('b');
        button.append('small');
        return button;
      })
      .attr('data-fate', ({ fate }) => fate)
      .classed('empty', ({ nodes }) => nodes === 0)
      .attr('title', ({ fate }) => fateTooltip(fate, report))
      .on('click', (_, { fate }) => events.select({ kind: 'fate', fate }))
      .each(function ({ fate, nodes, share, derived }) {
        const own = select(this);
        own.select('i').style('background', background(fate));
        own.select('.name').text(fateWordsOf(report)[fate].label);
        own.select('small').text(derived > 0 && fate !== 'unknown' ? strings.fusion.flow.someDerived(derived) : '');
        own.select('b').text(nodes === 0 ? '0' : `${thousands(nodes)} · ${percentText(share * 100)}`);
      });
    drawFunnel(report);
  };

  const drawFunnel = ({ funnel: stages }: FusionReport) => {
    const kept = stages.filter(
      ({ layers }, i) => i === 0 || i === stages.length - 1 || layers !== stages[i - 1]?.layers,
    );
    const most = Math.max(1, ...kept.map(({ layers }) => layers));
    const [first] = kept;
    const last = kept.at(-1);
    funnelTitle.text(
      first === undefined || last === undefined
        ? strings.fusion.funnel.one
        : strings.fusion.funnel.title(first.layers, last.layers),
    );
    funnelNote.text(kept.length === 0 ? strings.fusion.funnel.none : '');
    steps
      .selectAll<HTMLLIElement, { stage: string; layers: number }>('li')
      .data(kept)
      .join((enter) => {
        const step = enter.append('li');
        step.append('b');
        step.append('i').attr('aria-hidden', 'true');
        step.append('span');
        return step;
      })
      .attr('title', ({ stage, layers }) => strings.fusion.funnel.step(stage, layers))
      .each(function ({ stage, layers }) {
        const own = select(this);
        own.select('b').text(thousands(layers));
        own.select('i').style('width', `${(layers / most) * 100}%`);
        own.select('span').text(stage);
      });
  };

  const mark = (set: SelectionSet) => {
    const { selection } = set;
    const fate = selection.kind === 'fate' ? selection.fate : null;
    legend
      .selectAll<HTMLButtonElement, Segment>('button')
      .attr('aria-pressed', (segment) => String(segment.fate === fate));
    bar.classed('selecting', fate !== null);
    bar.selectAll<HTMLDivElement, Segment>('div').classed('on', (segment) => segment.fate === fate);
  };
  return { draw, mark };
}

/** Where a reader may act on a doubt: not on what no layer computes. */
const hatched: ReadonlySet<Fate> = new Set<Fate>(['foreign', 'fused', 'single', 'unknown']);

const accountingTitleOf = ({ subject, accounting: { total } }: FusionReport): string =>
  subject === 'engine' ? strings.fusion.accounting.engine(total) : strings.fusion.accounting.title(total);

const background = (fate: Fate): string =>
  fate === 'unknown'
    ? 'repeating-linear-gradient(45deg, var(--lens-muted) 0 2px, transparent 2px 6px)'
    : fate === 'unaccounted'
      ? 'repeating-linear-gradient(45deg, var(--lens-error) 0 2px, transparent 2px 6px), repeating-linear-gradient(135deg, var(--lens-error) 0 2px, transparent 2px 6px)'
      : paintOf({ kind: fate, foreignNode: null, exact: true });
