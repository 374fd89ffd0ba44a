import { scaleLinear } from 'd3-scale';
import { select } from 'd3-selection';
import type { FusionReport } from '../../src/core/fusion/fusionReport.ts';
import { toTimeline } from '../../src/core/scene/page/fusionTimeline.ts';
import type { TimelineBar } from '../../src/core/scene/page/fusionTimeline.ts';
import { arrowKeys } from '../shared/arrowKeys.ts';
import { strings } from '../shared/strings.ts';
import type { ChartEvents } from './flowChart.ts';
import { lineOf, paintOf } from './paint.ts';
import { sameSelection } from '../shared/sameSelection.ts';
import type { SelectionSet } from './selectionSet.ts';

const tallest = 84;
const narrowest = 4;

/** A bar a kernel in order of execution, runs of kernels where there are more than fit. */
export function timelineChart(parent: HTMLElement, events: ChartEvents) {
  const note = select(parent).append('p').attr('class', 'note');
  const svg = select(parent).append('svg').attr('class', 'timeline').attr('role', 'group');
  svg.attr('aria-label', strings.fusion.timeline.title);
  const bars = svg.append('g');
  svg.append('line').attr('class', 'ground');
  const keepFocus = arrowKeys(parent, '.bar');
  let report: FusionReport | null = null;

  const draw = (data: FusionReport, width: number) => {
    report = data;
    const runs = toTimeline(data, Math.floor(width / narrowest));
    const most = Math.max(0, ...runs.map(({ ms }) => ms));
    const height = most === 0 ? 14 : tallest;
    const step = Math.max(1, ...runs.map(({ layers }) => layers.length));
    const said = most === 0 ? [strings.fusion.timeline.none] : [strings.fusion.timeline.most(most)];
    if (step > 1) said.push(strings.fusion.timeline.runs(step));
    note.text(said.join(' · '));
    svg.attr('viewBox', `0 0 ${width} ${height}`).attr('width', width).attr('height', height);
    svg
      .select('.ground')
      .attr('x1', 0)
      .attr('x2', width)
      .attr('y1', height - 0.5)
      .attr('y2', height - 0.5);
    const x = scaleLinear([0, Math.max(runs.length, 12)], [0, width]);
    const y = scaleLinear([0, most || 1], [0, height - 6]);
    const gap = x(1) > 8 ? 2 : x(1) > 3 ? 1 : 0;
    bars
      .selectAll<SVGGElement, TimelineBar>('.bar')
      .data(runs, ({ layers }) => String(layers[0]))
      .join((enter) => {
        const bar = enter.append('g').attr('class', 'bar').attr('role', 'button');
        bar.append('title');
        bar.append('rect').attr('class', 'reach');
        bar.append('rect').attr('class', 'body');
        return bar;
      })
      .order()
      .attr('data-id', ({ layers }) => layers[0] ?? 0)
      .attr('aria-label', (bar) => spoken(bar))
      .on('click', (_, { layers }) => events.select({ kind: 'layers', ids: layers }))
      .each(function (bar, index) {
        const own = select(this);
        const painted = { kind: bar.kind, foreignNode: bar.foreignNode, exact: true };
        const tall = most === 0 ? 6 : Math.max(1, y(bar.ms));
        const width = Math.max(1, x(1) - gap);
        own.select('title').text(spoken(bar));
        own.select('.reach').attr('x', x(index)).attr('y', 0).attr('width', x(1)).attr('height', height);
        own
          .select('.body')
          .attr('x', x(index))
          .attr('y', height - tall)
          .attr('width', width)
          .attr('height', tall)
          .style('fill', paintOf(painted))
          .style('stroke', lineOf(painted));
      });
    keepFocus();
  };

  const mark = (set: SelectionSet) => {
    if (report === null) return;
    svg.classed('selecting', !set.none);
    bars
      .selectAll<SVGGElement, TimelineBar>('.bar')
      .classed('on', ({ layers }) => layers.some((id) => set.layers.has(id)))
      .attr('aria-pressed', ({ layers }) => String(sameSelection(set.selection, { kind: 'layers', ids: layers })));
  };
  return { draw, mark };
}

const spoken = ({ layers, name, ms }: TimelineBar): string =>
  strings.fusion.timeline.bar(layers[0] ?? 0, layers.at(-1) ?? 0, name, ms);
