import { select } from 'd3-selection';
import { type BuildComparison, type ChangeState, changeStates, statesOf } from '../../src/kernel/report/buildDiff.ts';
import type { FusionReport } from '../../src/kernel/fusion/fusionReport.ts';
import { type TimelineBar, timelineBars, toTimeline } from '../../src/kernel/picture/page/fusionTimeline.ts';
import { definePatterns } from '../shared/paint.ts';
import { arrowKeys } from '../shared/arrowKeys.ts';
import { strings } from '../shared/strings.ts';
import { drawLaneBars } from '../timeline/laneBars.ts';
import { axisHeight, zoomableAxis } from '../timeline/zoomableAxis.ts';
import { statePaint } from './statePaint.ts';

const laneHeight = 30;
const laneNames = 26;
const narrowest = 4;

type Side = 'a' | 'b';

interface SideBar extends TimelineBar {
  side: Side;
  state: ChangeState | null;
}

/** Layers of both sides, by id. */
export type MarkedLayers = Record<Side, ReadonlySet<number>>;

/** The kernels of both builds on one axis, A above B, painted by what happened to them. */
export function compareTimeline(parent: HTMLElement, select_: (side: Side, layers: number[]) => void) {
  const texts = strings.compare.timeline;
  const head = select(parent).append('div').attr('class', 'timeline-head');
  head.append('h2').text(texts.title);
  const svg = select(parent).append('svg').attr('class', 'timeline').attr('role', 'group');
  svg.attr('aria-label', texts.title).attr('aria-description', texts.help);
  definePatterns(svg.node()!);
  const axis = zoomableAxis(head.node()!, svg.node()!, {
    viewed: () => draw(),
    dragged: (from, to) => axis.zoomTo([Math.min(from, to), Math.max(from, to)]),
  });
  const lanes = svg.append('g').attr('aria-hidden', 'true');
  const bars = svg.append('g');
  const names = svg.append('g').attr('aria-hidden', 'true');
  const keepFocus = arrowKeys(parent, '.bar');
  let shown: { comparison: BuildComparison; after: FusionReport } | null = null;
  let marked: MarkedLayers = { a: new Set(), b: new Set() };

  function draw(): void {
    const width = Math.floor(head.node()!.clientWidth);
    if (shown === null || width === 0) return;
    const { comparison, after } = shown;
    const sides = { a: toTimeline(comparison.before), b: toTimeline(after) };
    // Without times on both sides, one axis would compare numbers of kernels with milliseconds.
    const timed = sides.a.timed && sides.b.timed;
    parent.hidden = !timed;
    if (!timed) return;
    const height = axisHeight + 2 * laneHeight;
    svg.attr('viewBox', `0 0 ${width} ${height}`).attr('width', width).attr('height', height);
    axis.set(Math.max(sides.a.end, sides.b.end), laneNames, width);
    axis.drawTicks(height, 'ms');
    const x = axis.scale();
    const view = axis.view();
    const perUnit = x(view[0] + 1) - x(view[0]);
    const states = statesOf(comparison.diff);
    const of = (side: Side): SideBar[] => {
      const own = side === 'a' ? states.layersA : states.layersB;
      // All streams in one lane: what is compared is the whole run.
      const flat = { ...sides[side], slots: sides[side].slots.map((slot) => ({ ...slot, stream: 0 })) };
      return timelineBars(flat, view, perUnit, narrowest).map((bar) => ({
        ...bar,
        side,
        state: bar.layers.map((id) => own.get(id)).find((state) => state !== undefined && state !== 'time') ?? null,
      }));
    };
    const all = [...of('a'), ...of('b')];
    const top = (side: Side) => axisHeight + (side === 'a' ? 0 : laneHeight) + 2;
    lanes
      .selectAll<SVGTextElement, Side>('text')
      .data(['a', 'b'] as const)
      .join('text')
      .attr('class', 'lane')
      .attr('y', (side) => top(side) + 17)
      .text((side) => side.toUpperCase());
    drawLaneBars(bars, names, all, {
      key: ({ side, layers }) => `${side}${layers[0]}`,
      place: ({ side, from, to }) => ({
        left: Math.max(laneNames, x(from)),
        right: Math.min(width, x(to)),
        top: top(side),
      }),
      height: laneHeight - 4,
      spoken: ({ side, name, ms, layers, state }) =>
        texts.bar(side.toUpperCase(), name, layers.length, ms, state === null ? texts.same : changeStates[state].label),
      fill: ({ state }) => statePaint(state),
      stroke: () => '',
      text: ({ state, layers, name }) =>
        layers.length > 1 ? '' : state === null ? name : `${changeStates[state].sign} ${name}`,
      click: ({ side, layers }) => select_(side, layers),
    });
    keepFocus();
    markBars();
  }

  function markBars(): void {
    const any = marked.a.size + marked.b.size > 0;
    svg.classed('selecting', any);
    bars
      .selectAll<SVGGElement, SideBar>('.bar')
      .classed('on', ({ side, layers }) => layers.some((id) => marked[side].has(id)))
      .attr('aria-pressed', ({ side, layers }) => String(layers.some((id) => marked[side].has(id))));
  }

  new ResizeObserver(draw).observe(parent.parentElement ?? parent);
  return {
    show(comparison: BuildComparison, after: FusionReport): void {
      shown = { comparison, after };
      parent.hidden = false;
      draw();
    },
    /** Marks the layers of both sides. */
    mark(layers: MarkedLayers): void {
      marked = layers;
      markBars();
    },
  };
}
