import { select } from 'd3-selection';
import type { FusionReport } from '../../src/kernel/fusion/fusionReport.ts';
import {
  type LayerRange,
  rangeBetween,
  rangeEnds,
  type Timeline,
  type TimelineBar,
  timelineBars,
  toRecordedTimeline,
  toTimeline,
} from '../../src/kernel/picture/page/fusionTimeline.ts';
import { oneLine } from '../../src/kernel/base/text.ts';
import { arrowKeys } from '../shared/arrowKeys.ts';
import { sameSelection } from '../shared/sameSelection.ts';
import { strings } from '../shared/strings.ts';
import { drawLaneBars } from '../timeline/laneBars.ts';
import { axisHeight, zoomableAxis } from '../timeline/zoomableAxis.ts';
import type { ChartEvents } from './flowChart.ts';
import { lineOf, paintOf } from '../shared/paint.ts';
import type { SelectionSet } from './selectionSet.ts';

const laneHeight = 30;
const laneNames = 70;
const narrowest = 4;

/** Kernels on an axis of milliseconds, a lane a stream; runs of those that are too narrow to hit are one bar. */
export function timelineChart(
  parent: HTMLElement,
  events: Pick<ChartEvents, 'select'> & { ranged(range: LayerRange | null): void },
) {
  const texts = strings.fusion.timeline;
  const head = select(parent).append('div').attr('class', 'timeline-head');
  const note = head.append('p').attr('class', 'note');
  const svg = select(parent).append('svg').attr('class', 'timeline').attr('role', 'group');
  svg.attr('aria-label', texts.title).attr('aria-description', texts.help);
  const element = svg.node()!;
  const axis = zoomableAxis(head.node()!, element, {
    viewed: () => drawBars(),
    dragged: (from, to) => {
      if (shown !== null) events.ranged(rangeBetween(shown.timeline, from, to));
    },
  });
  const lanes = svg.append('g').attr('aria-hidden', 'true');
  const bars = svg.append('g');
  const names = svg.append('g').attr('aria-hidden', 'true');
  const outline = svg.append('rect').attr('class', 'range').attr('aria-hidden', 'true');
  const keepFocus = arrowKeys(parent, '.bar');
  let shown: { timeline: Timeline; width: number; range: LayerRange | null } | null = null;
  let last: SelectionSet | null = null;

  svg.on('keydown.range', (event: KeyboardEvent) => {
    if (shown === null || (event.key !== '[' && event.key !== ']')) return;
    const bar = event.target instanceof SVGElement ? select<SVGElement, TimelineBar>(event.target).datum() : undefined;
    if (bar === undefined) return;
    const { range } = shown;
    const next =
      event.key === '['
        ? { first: bar.first, last: Math.max(bar.last, range?.last ?? bar.last) }
        : { first: Math.min(bar.first, range?.first ?? bar.first), last: bar.last };
    events.ranged(next);
    event.preventDefault();
  });

  const draw = (report: FusionReport, width: number, range: LayerRange | null) => {
    const timeline = toRecordedTimeline(report) ?? toTimeline(report);
    shown = { timeline, width, range };
    axis.set(timeline.end, timeline.streams.length > 1 ? laneNames : 0, width);
    drawBars();
  };

  function drawBars(): void {
    if (shown === null) return;
    const { timeline, width, range } = shown;
    const { streams, timed, recorded } = timeline;
    const height = axisHeight + streams.length * laneHeight;
    svg.attr('viewBox', `0 0 ${width} ${height}`).attr('width', width).attr('height', height);
    axis.drawTicks(height, timed ? 'ms' : '');
    const x = axis.scale();
    const [left, right] = x.range() as [number, number];
    const view = axis.view();
    const shownBars = timelineBars(timeline, view, x(view[0] + 1) - x(view[0]), narrowest);
    const joined = shownBars.some(({ layers }) => layers.length > 1);
    note.text(
      [recorded ? texts.recorded : timed ? texts.order : texts.none, joined ? texts.joined : '']
        .filter(Boolean)
        .join(' · '),
    );
    const y = ({ stream }: TimelineBar) => axisHeight + streams.indexOf(stream) * laneHeight + 2;
    lanes
      .selectAll<SVGTextElement, number>('text')
      .data(streams.length > 1 ? streams : [])
      .join('text')
      .attr('class', 'lane')
      .attr('y', (_, lane) => axisHeight + lane * laneHeight + 19)
      .text((stream) => texts.stream(stream));
    const painted = ({ kind, foreignNode }: TimelineBar) => ({ kind, foreignNode, exact: true });
    drawLaneBars(bars, names, shownBars, {
      key: ({ layers }) => String(layers[0]),
      place: (bar) => ({ left: Math.max(left, x(bar.from)), right: Math.min(right, x(bar.to)), top: y(bar) }),
      height: laneHeight - 4,
      spoken,
      fill: (bar) => paintOf(painted(bar)),
      stroke: (bar) => lineOf(painted(bar)),
      text: ({ layers, name }) => (layers.length === 1 ? oneLine(name) : ''),
      click: ({ layers }) => events.select({ kind: 'layers', ids: layers }),
    });
    const ends = range === null ? null : rangeEnds(timeline, range).map((at) => Math.min(right, Math.max(left, x(at))));
    outline
      .style('display', ends === null ? 'none' : 'inline')
      .attr('x', ends?.[0] ?? 0)
      .attr('width', ends === null ? 0 : Math.max(2, ends[1]! - ends[0]!))
      .attr('y', axisHeight)
      .attr('height', height - axisHeight);
    keepFocus();
    if (last !== null) markBars(last);
  }

  function markBars(set: SelectionSet): void {
    svg.classed('selecting', !set.none);
    bars
      .selectAll<SVGGElement, TimelineBar>('.bar')
      .classed('on', ({ layers }) => layers.some((id) => set.layers.has(id)))
      .attr('aria-pressed', ({ layers }) => String(sameSelection(set.selection, { kind: 'layers', ids: layers })));
  }

  const mark = (set: SelectionSet) => {
    last = set;
    if (shown !== null) markBars(set);
  };

  /** Brings a range to the full width. */
  const zoomTo = (range: LayerRange) => {
    if (shown !== null) axis.zoomTo(rangeEnds(shown.timeline, range));
  };
  return { draw, mark, zoomTo };
}

const spoken = ({ layers, name, ms }: TimelineBar): string =>
  strings.fusion.timeline.bar(layers[0] ?? 0, layers.at(-1) ?? 0, name, ms);
