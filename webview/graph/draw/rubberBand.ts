import { element } from '../../shared/element.ts';

/** A rectangle in CSS pixels from the stage's corner. */
export interface Area {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Who moves the pointer by less, in CSS pixels, clicks. */
const leastDrag = 4;

/**
 * Draws the rectangle that a drag with Shift spans over the stage, and gives it to `select` at the end of the drag;
 * `add`: with Ctrl or Cmd, too, to keep what is selected. Escape ends the drag without a selection.
 */
export function listenToRubberBand(stage: HTMLElement, select: (area: Area, add: boolean) => void): void {
  const band = element('div', { class: 'rubber-band', hidden: true });
  stage.append(band);
  let start: { x: number; y: number } | null = null;
  let isDragged = false;

  const at = (event: PointerEvent) => {
    const box = stage.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const areaTo = (event: PointerEvent): Area => {
    const [a, b] = [start!, at(event)];
    return {
      left: Math.min(a.x, b.x),
      top: Math.min(a.y, b.y),
      right: Math.max(a.x, b.x),
      bottom: Math.max(a.y, b.y),
    };
  };
  const end = () => {
    start = null;
    band.hidden = true;
  };

  stage.addEventListener('pointerdown', (event) => {
    isDragged = false;
    if (event.shiftKey && event.button === 0) start = at(event);
  });
  stage.addEventListener('pointermove', (event) => {
    if (start === null) return;
    const { left, top, right, bottom } = areaTo(event);
    if (band.hidden && Math.max(right - left, bottom - top) < leastDrag) return;
    stage.setPointerCapture(event.pointerId);
    isDragged = true;
    band.hidden = false;
    Object.assign(band.style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${right - left}px`,
      height: `${bottom - top}px`,
    });
  });
  stage.addEventListener('pointerup', (event) => {
    const area = band.hidden || start === null ? null : areaTo(event);
    end();
    if (area !== null) select(area, event.ctrlKey || event.metaKey);
  });
  stage.addEventListener('lostpointercapture', end);
  // The click at the end of a drag would select what is below the pointer. A click without a pointer has no detail.
  stage.addEventListener(
    'click',
    (event) => {
      if (isDragged && event.detail > 0) event.stopImmediatePropagation();
      isDragged = false;
    },
    { capture: true },
  );
  document.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape' || band.hidden) return;
      end();
      event.stopImmediatePropagation();
    },
    { capture: true },
  );
}
