import { select } from 'd3-selection';
import type { Selection } from 'd3-selection';
import { fitText } from '../shared/fitText.ts';

type Group = Selection<SVGGElement, unknown, null, undefined>;

/** How the bars of a timeline look and what they do. */
export interface BarLook<Bar> {
  /** The same for the same bar, and different from others of the drawing. */
  key(bar: Bar): string;
  /** Between which pixels it is, and its top. */
  place(bar: Bar): { left: number; right: number; top: number };
  height: number;
  spoken(bar: Bar): string;
  /** CSS paints. */
  fill(bar: Bar): string;
  stroke(bar: Bar): string;
  /** What is written on it where there is room; '' for nothing. */
  text(bar: Bar): string;
  click(bar: Bar): void;
}

/** Draws the bars into `bars`, each a button with its name for screen readers, and what is written on them into `names`. */
export function drawLaneBars<Bar>(bars: Group, names: Group, data: readonly Bar[], look: BarLook<Bar>): void {
  const width = (bar: Bar) => {
    const { left, right } = look.place(bar);
    return Math.max(1, right - left);
  };
  bars
    .selectAll<SVGGElement, Bar>('.bar')
    .data(data, (bar) => look.key(bar))
    .join((enter) => {
      const bar = enter.append('g').attr('class', 'bar').attr('role', 'button');
      bar.append('title');
      bar.append('rect').attr('class', 'body');
      return bar;
    })
    .order()
    .attr('data-id', (bar) => look.key(bar))
    .attr('aria-label', (bar) => look.spoken(bar))
    .on('click', (_, bar) => look.click(bar))
    .each(function (bar) {
      const own = select(this);
      const { left, top } = look.place(bar);
      const wide = width(bar);
      own.select('title').text(look.spoken(bar));
      own
        .select('.body')
        .attr('x', left)
        .attr('y', top)
        .attr('width', Math.max(1, wide - (wide > 6 ? 1 : 0)))
        .attr('height', look.height)
        .style('fill', look.fill(bar))
        .style('stroke', look.stroke(bar));
    });
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  names
    .selectAll<SVGTextElement, Bar>('text')
    .data(data.filter((bar) => width(bar) > 18 && look.text(bar) !== ''))
    .join('text')
    .attr('class', 'name')
    .attr('x', (bar) => look.place(bar).left + 5)
    .attr('y', (bar) => look.place(bar).top + look.height / 2 + 4)
    .text((bar) => fitText(look.text(bar), width(bar) - 8, font));
}
