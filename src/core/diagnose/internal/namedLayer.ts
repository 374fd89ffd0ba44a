import { causeText } from './causeText.ts';

/** The layer that a cause begins with: `mm: last dimension…`, `IConcatenationLayer cat: cat: axis 2…`. */
export function layerBefore(text: string, before: string): string | undefined {
  const cause = causeText(text);
  const at = cause.indexOf(before);
  if (at <= 0) return undefined;
  const name = cause
    .slice(0, at)
    .replace(/^.*?\bI[A-Z]\w+Layer /, '')
    .replace(/:? *$/, '');
  // `cat: cat`: once for the layer, once for the node inside it.
  const half = (name.length - 2) / 2;
  return half > 0 && name.slice(0, half) === name.slice(half + 2) ? name.slice(0, half) : name || undefined;
}
