import { scaleLinear } from 'd3-scale';
import { select } from 'd3-selection';
import { type AxisView, including, moved, zoomed } from '../../src/kernel/picture/page/fusionTimeline.ts';
import { strings } from '../shared/strings.ts';
import './timeline.css';

export const axisHeight = 22;
/** A press that moves less is a click. */
const leastDrag = 4;
const step = 1.6;

export interface AxisEvents {
  /** Another part is in view: draw again. */
  viewed(): void;
  /** The user dragged from one point of the axis to another. */
  dragged(from: number, to: number): void;
}

/**
 * A time axis in a drawing: ticks, zoom by Ctrl and wheel, pinch, buttons and keys (+, −, 0, arrows at the edges), and a
 * range by dragging. A plain wheel scrolls the page.
 */
export function zoomableAxis(tools: HTMLElement, svg: SVGSVGElement, events: AxisEvents) {
  const texts = strings.timeline;
  let end = 0;
  let view: AxisView = [0, 0];
  let sides: [number, number] = [0, 1];
  let drag: { pointer: number; from: number; x: number; moving: boolean } | null = null;

  const drawing = select(svg);
  const ticks = drawing.append('g').attr('class', 'axis').attr('aria-hidden', 'true');
  const brush = drawing.append('rect').attr('class', 'brush').property('hidden', true).style('display', 'none');
  const scale = () => scaleLinear([view[0], view[1] > view[0] ? view[1] : view[0] + 1], sides);
  const pointAt = (clientX: number) => {
    const { left, width } = svg.getBoundingClientRect();
    const drawn = svg.viewBox.baseVal.width || width;
    const at = scale().invert(((clientX - left) / (width || 1)) * drawn);
    return Math.min(end, Math.max(0, at));
  };
  const look = (next: AxisView) => {
    if (next[0] === view[0] && next[1] === view[1]) return;
    view = next;
    events.viewed();
  };
  const middle = () => (view[0] + view[1]) / 2;
  const zoom = (factor: number, at = middle()) => look(zoomed(view, end, at, factor));
  const whole = () => look([0, end]);

  const group = select(tools).append('div').attr('class', 'axis-tools').attr('role', 'group');
  group.attr('aria-label', texts.tools);
  const button = (text: string, label: string, act: () => void) =>
    group
      .append('button')
      .attr('type', 'button')
      .attr('aria-label', label)
      .attr('title', label)
      .text(text)
      .on('click', act);
  const buttons = {
    in: button('+', texts.zoomIn, () => zoom(1 / step)),
    out: button('−', texts.zoomOut, () => zoom(step)),
    whole: button(texts.whole, texts.whole, whole),
  };

  svg.addEventListener(
    'wheel',
    (event) => {
      const across = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
      // A pinch on a touchpad arrives as a wheel with Ctrl.
      if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY * 0.01), pointAt(event.clientX));
      else if (across !== 0 && view[1] - view[0] < end)
        look(moved(view, end, (across / (sides[1] - sides[0])) * (view[1] - view[0])));
      else return;
      event.preventDefault();
    },
    { passive: false },
  );
  svg.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    drag = { pointer: event.pointerId, from: pointAt(event.clientX), x: event.clientX, moving: false };
  });
  svg.addEventListener('pointermove', (event) => {
    if (drag?.pointer !== event.pointerId) return;
    if (!drag.moving && Math.abs(event.clientX - drag.x) < leastDrag) return;
    if (!drag.moving) svg.setPointerCapture(event.pointerId);
    drag.moving = true;
    const [a, b] = [drag.from, pointAt(event.clientX)].toSorted((one, other) => one - other).map((at) => scale()(at));
    brush
      .style('display', null)
      .attr('x', a!)
      .attr('width', b! - a!)
      .attr('y', 0)
      .attr('height', svg.viewBox.baseVal.height);
  });
  const drop = (event: PointerEvent) => {
    if (drag?.pointer !== event.pointerId) return;
    const { moving, from } = drag;
    drag = null;
    brush.style('display', 'none');
    if (!moving || event.type !== 'pointerup') return;
    // The click that follows belongs to the drag, not to a bar.
    const ignore = (click: Event) => click.stopPropagation();
    svg.addEventListener('click', ignore, { capture: true, once: true });
    requestAnimationFrame(() => svg.removeEventListener('click', ignore, { capture: true }));
    events.dragged(from, pointAt(event.clientX));
  };
  svg.addEventListener('pointerup', drop);
  svg.addEventListener('pointercancel', drop);
  svg.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === '+' || event.key === '=') zoom(1 / step);
    else if (event.key === '-') zoom(step);
    else if (event.key === '0') whole();
    else if (event.shiftKey && event.key === 'ArrowRight') look(moved(view, end, (view[1] - view[0]) / 4));
    else if (event.shiftKey && event.key === 'ArrowLeft') look(moved(view, end, (view[0] - view[1]) / 4));
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  return {
    /** What the axis is over, and between which pixels; what was in view stays there while the end is the same. */
    set(newEnd: number, left: number, right: number): void {
      if (newEnd !== end) view = [0, newEnd];
      end = newEnd;
      sides = [left, Math.max(left + 1, right)];
    },
    view: (): AxisView => view,
    scale,
    /** Shows a part of the axis, if it is not in view. */
    reveal(part: AxisView): void {
      look(including(view, end, part));
    },
    zoomTo(part: AxisView): void {
      look(moved(part, end, 0));
    },
    /** Draws the ticks at the top of the drawing, and lines down to `height`; `unit` follows each number. */
    drawTicks(height: number, unit: string): void {
      const x = scale();
      const count = Math.max(2, Math.floor((sides[1] - sides[0]) / 110));
      const format = x.tickFormat(count);
      const places = x.ticks(count);
      ticks
        .selectAll<SVGGElement, number>('g')
        .data(places)
        .join((enter) => {
          const tick = enter.append('g');
          tick.append('line');
          tick.append('text');
          return tick;
        })
        .attr('transform', (at) => `translate(${x(at)} 0)`)
        .each(function (at) {
          const tick = select(this);
          tick.select('line').attr('y1', 16).attr('y2', height);
          tick
            .select('text')
            .attr('y', 12)
            .attr('text-anchor', x(at) > sides[1] - 36 ? 'end' : x(at) < sides[0] + 36 ? 'start' : 'middle')
            .text(`${format(at)}${unit === '' ? '' : ` ${unit}`}`);
        });
      const all = view[0] <= 0 && view[1] >= end;
      buttons.out.property('disabled', all);
      buttons.whole.property('disabled', all);
      buttons.in.property('disabled', end === 0);
    },
  };
}
