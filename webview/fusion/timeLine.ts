import { scaleLinear } from 'd3-scale';
import { select } from 'd3-selection';
import { stageWords } from '../../src/core/build/buildProgress.ts';
import type { TimeLine } from '../../src/core/build/buildProgress.ts';
import { percentText, timeText } from '../../src/core/text/numbers.ts';
import type { FusionReport } from '../../src/core/fusion/fusionReport.ts';
import { fitText } from '../shared/fitText.ts';
import type { ChartEvents } from './flowChart.ts';
import './timeLine.css';

const texts = {
  title: 'Build time by stage',
  total: (time: string) => `${time} in total, by the times of the log lines`,
  slowest: 'Layers that took longest to time',
  row: (words: string, time: string, share: string) => `${words}: ${time}, ${share}`,
};

const rowHeight = 22;
const labelWidth = 150;
const valueWidth = 130;

interface Row {
  words: string;
  from: number;
  ms: number;
}

/** What the build did and for how long, one row a stage in the order in which they came, and the layers that took longest. */
export function timeLine(parent: HTMLElement, events: ChartEvents) {
  const box = select(parent).append('section').attr('class', 'build-time').property('hidden', true);
  box.append('h2').text(texts.title);
  const note = box.append('p').attr('class', 'note');
  const svg = box.append('svg').attr('role', 'list').attr('aria-label', texts.title);
  const slowest = box.append('div').attr('class', 'slowest');

  const draw = (line: TimeLine | null, report: FusionReport, width: number) => {
    box.property('hidden', line === null || line.stages.length === 0);
    if (line === null) return;
    note.text(texts.total(timeText(line.totalMs)));
    const rows = rowsOf(line);
    const height = rows.length * rowHeight;
    const x = scaleLinear([0, line.totalMs || 1], [labelWidth, Math.max(labelWidth + 60, width - valueWidth)]);
    svg.attr('viewBox', `0 0 ${width} ${height}`).attr('width', width).attr('height', height);
    svg
      .selectAll<SVGGElement, Row>('g')
      .data(rows)
      .join((enter) => {
        const row = enter.append('g').attr('role', 'listitem');
        row.append('rect').attr('height', rowHeight - 8);
        row.append('text').attr('class', 'words');
        row.append('text').attr('class', 'value');
        return row;
      })
      .attr('transform', (_, index) => `translate(0 ${index * rowHeight})`)
      .attr('aria-label', ({ words, ms }) => texts.row(words, timeText(ms), percentText((100 * ms) / line.totalMs)))
      .each(function ({ words, from, ms }) {
        const row = select(this);
        const end = Math.max(x(from + ms), x(from) + 1.5);
        row
          .select('rect')
          .attr('x', x(from))
          .attr('y', 4)
          .attr('width', end - x(from));
        row.select('.words').attr('y', 15).text(words);
        const value = `${timeText(ms)} · ${percentText((100 * ms) / line.totalMs)}`;
        row
          .select('.value')
          .attr('x', end + 6)
          .attr('y', 15)
          .text(value);
      });
    drawSlowest(line, report);
  };

  function drawSlowest(line: TimeLine, report: FusionReport): void {
    slowest
      .property('hidden', line.slowest.length === 0)
      .selectChildren()
      .remove();
    slowest.append('h3').text(texts.slowest);
    const items = slowest.append('ol').selectAll('li').data(line.slowest).join('li');
    items
      .append('span')
      .attr('class', 'time')
      .text(({ ms }) => timeText(ms));
    items.each(function ({ layer }) {
      const selection = toSelection(report, layer);
      const text = fitText(layer, 560, `12px ${getComputedStyle(document.body).fontFamily}`);
      const item = select(this);
      // A layer that was timed may be fused into another in the end.
      if (selection === null) item.append('span').text(text).attr('title', layer);
      else
        item
          .append('button')
          .attr('type', 'button')
          .attr('class', 'link')
          .attr('title', layer)
          .text(text)
          .on('click', () => events.select(selection));
    });
  }
  return { draw };
}

function toSelection(report: FusionReport, name: string) {
  const foreign = report.foreignNodes.find((node) => node.name === name);
  if (foreign !== undefined) return { kind: 'foreignNode', id: foreign.id } as const;
  const layers = report.layers.filter((layer) => layer.name === name).map(({ id }) => id);
  return layers.length === 0 ? null : ({ kind: 'layers', ids: layers } as const);
}

function rowsOf({ stages }: TimeLine): Row[] {
  let from = 0;
  return stages.map(({ stage, ms }) => {
    const row = { words: stageWords[stage], from, ms };
    from += ms;
    return row;
  });
}
