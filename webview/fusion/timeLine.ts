import { select } from 'd3-selection';
import { stageWords, type TimeLine } from '../../src/kernel/build/buildManifest.ts';
import { percentText, timeText } from '../../src/kernel/base/text.ts';
import type { FusionReport } from '../../src/kernel/fusion/fusionReport.ts';
import { arrowKeys } from '../shared/arrowKeys.ts';
import { fitText } from '../shared/fitText.ts';
import type { ChartEvents } from './flowChart.ts';
import { axisHeight, zoomableAxis } from '../timeline/zoomableAxis.ts';
import './timeLine.css';

const texts = {
  title: 'Build time by stage',
  total: (time: string) =>
    `${time} in total, by the times of the log lines. Drag over it, or select a stage, to see a part.`,
  part: (from: string, to: string, time: string) => `${from} to ${to} of the build: ${time}`,
  help: 'Arrow keys move, Enter shows a stage alone, + and − zoom, 0 shows the whole axis, Escape the whole build.',
  whole: 'Show Whole Build',
  slowest: 'Layers that took longest to time',
};

const rowHeight = 22;
const labelWidth = 150;
const valueWidth = 130;
/** From here on, the axis is in seconds. */
const seconds = 10_000;

interface Row {
  index: number;
  words: string;
  /** Where it begins and ends, and how much of it is in the part of the build that is shown; milliseconds. */
  from: number;
  to: number;
  ms: number;
}

/**
 * What the build did and for how long, one row a stage in the order in which they came, on an axis that can be zoomed,
 * for the whole build or a part of it; and the layers that took longest.
 */
export function timeLine(parent: HTMLElement, events: Pick<ChartEvents, 'select'>) {
  const box = select(parent).append('section').attr('class', 'build-time').property('hidden', true);
  box.append('h2').text(texts.title);
  const head = box.append('div').attr('class', 'timeline-head');
  const note = head.append('p').attr('class', 'note').attr('role', 'status');
  const back = head.append('button').attr('type', 'button').text(texts.whole).property('hidden', true);
  const chart = box.append('div');
  const svg = chart.append('svg').attr('class', 'build-axis').attr('role', 'group').attr('aria-label', texts.title);
  svg.attr('aria-description', texts.help);
  const axis = zoomableAxis(head.node()!, svg.node()!, {
    viewed: () => drawRows(),
    dragged: (from, to) => showPart([Math.min(from, to) * unit(), Math.max(from, to) * unit()]),
  });
  const rows = svg.append('g');
  const keepFocus = arrowKeys(chart.node()!, '.stage');
  const slowest = box.append('div').attr('class', 'slowest');
  let shown: { line: TimeLine; width: number } | null = null;
  let part: [from: number, to: number] | null = null;

  const unit = () => (shown !== null && shown.line.totalMs >= seconds ? 1000 : 1);

  function showPart(next: [number, number] | null): void {
    part = next;
    if (next !== null) axis.zoomTo([next[0] / unit(), next[1] / unit()]);
    drawRows();
  }
  back.on('click', () => showPart(null));
  chart.on('keydown', (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || part === null) return;
    event.stopPropagation();
    showPart(null);
  });

  const draw = (line: TimeLine | null, report: FusionReport, width: number) => {
    box.property('hidden', line === null || line.stages.length === 0);
    if (line === null) return;
    if (shown?.line.totalMs !== line.totalMs) part = null;
    shown = { line, width };
    axis.set(line.totalMs / unit(), labelWidth, Math.max(labelWidth + 60, width - valueWidth));
    drawRows();
    drawSlowest(line, report);
  };

  function drawRows(): void {
    if (shown === null) return;
    const { line, width } = shown;
    const [from, to] = part ?? [0, line.totalMs];
    const whole = Math.max(0, to - from);
    back.property('hidden', part === null);
    note.text(
      part === null ? texts.total(timeText(line.totalMs)) : texts.part(timeText(from), timeText(to), timeText(whole)),
    );
    const data = rowsOf(line, from, to);
    const height = axisHeight + data.length * rowHeight;
    svg.attr('viewBox', `0 0 ${width} ${height}`).attr('width', width).attr('height', height);
    axis.drawTicks(height, unit() === 1 ? 'ms' : 's');
    const scale = axis.scale();
    const [left, right] = scale.range() as [number, number];
    const x = (ms: number) => Math.min(right, Math.max(left, scale(ms / unit())));
    rows
      .selectAll<SVGGElement, Row>('.stage')
      .data(data, ({ index }) => index)
      .join((enter) => {
        const row = enter.append('g').attr('class', 'stage').attr('role', 'button');
        row.append('rect').attr('class', 'reach');
        row.append('rect').attr('class', 'span');
        row.append('text').attr('class', 'words');
        row.append('text').attr('class', 'value');
        return row;
      })
      .order()
      .attr('data-id', ({ index }) => index)
      .attr('transform', (_, index) => `translate(0 ${axisHeight + index * rowHeight})`)
      .attr('aria-pressed', (row) => String(part !== null && part[0] === row.from && part[1] === row.to))
      .on('click', (_, row) => showPart(part?.[0] === row.from && part[1] === row.to ? null : [row.from, row.to]))
      .each(function (one) {
        const row = select(this);
        const end = Math.max(x(one.to), x(one.from) + 1.5);
        row.select('.reach').attr('width', width).attr('height', rowHeight);
        row
          .select('.span')
          .attr('x', x(one.from))
          .attr('y', 4)
          .attr('width', end - x(one.from))
          .attr('height', rowHeight - 8);
        row.select('.words').attr('y', 15).text(one.words);
        row
          .select('.value')
          .attr('x', end + 6)
          .attr('y', 15)
          // The space keeps the words of the row's name apart; it is not drawn.
          .text(` ${timeText(one.ms)} · ${percentText((100 * one.ms) / whole)}`);
      });
    keepFocus();
  }

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

/** The stages of a build that have a part between two times. */
function rowsOf({ stages }: TimeLine, start: number, end: number): Row[] {
  let at = 0;
  return stages.flatMap(({ stage, ms }, index) => {
    const [from, to] = [at, at + ms];
    at = to;
    const inside = Math.min(to, end) - Math.max(from, start);
    return inside < 0 || (inside === 0 && ms > 0) ? [] : [{ index, words: stageWords[stage], from, to, ms: inside }];
  });
}
