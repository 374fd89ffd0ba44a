/** The part of an axis that is in view. */
export type AxisView = readonly [from: number, to: number];

/** How far in a view can zoom: this part of the whole. */
const deepest = 1e-5;

/**
 * Zooms about a point that stays where it is.
 * @param factor below 1: closer
 */
export function zoomed([from, to]: AxisView, end: number, at: number, factor: number): AxisView {
  const width = Math.min(end, Math.max(end * deepest, (to - from) * factor));
  const share = to > from ? (at - from) / (to - from) : 0.5;
  return moved([at - share * width, at - share * width + width], end, 0);
}

/** Moves a view along the axis, never past its ends. */
export function moved([from, to]: AxisView, end: number, by: number): AxisView {
  const width = Math.min(end, to - from);
  const start = Math.min(Math.max(0, from + by), end - width);
  return [start, start + width];
}

/** A view that has a part of the axis in it: as it is if it has, otherwise moved, and widened where it must be. */
export function including(view: AxisView, end: number, [from, to]: AxisView): AxisView {
  if (view[0] <= from && to <= view[1]) return view;
  const width = Math.max(view[1] - view[0], to - from);
  return moved([(from + to - width) / 2, (from + to + width) / 2], end, 0);
}
