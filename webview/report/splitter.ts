/**
 * A bar between two parts of `whole` that is dragged or moved with the arrow keys. `apply` gets the new share of the left part in
 * percent (10…90), and once at the start.
 */
export function splitter(
  bar: HTMLElement,
  whole: HTMLElement,
  label: string,
  start: number,
  apply: (percent: number) => void,
): void {
  let value = start;
  bar.tabIndex = 0;
  bar.setAttribute('role', 'separator');
  bar.setAttribute('aria-orientation', 'vertical');
  bar.setAttribute('aria-label', label);
  bar.setAttribute('aria-valuemin', '10');
  bar.setAttribute('aria-valuemax', '90');
  const set = (next: number) => {
    value = Math.min(90, Math.max(10, next));
    bar.setAttribute('aria-valuenow', String(Math.round(value)));
    apply(value);
  };
  bar.addEventListener('pointerdown', (event) => {
    bar.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  bar.addEventListener('pointermove', (event) => {
    const { left, width } = whole.getBoundingClientRect();
    if (bar.hasPointerCapture(event.pointerId) && width > 0) set(((event.clientX - left) / width) * 100);
  });
  bar.addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowLeft' ? -2 : event.key === 'ArrowRight' ? 2 : 0;
    if (step === 0) return;
    event.preventDefault();
    set(value + step);
  });
  set(start);
}
