let context: CanvasRenderingContext2D | null | undefined;
const widths = new Map<string, number>();

/** Width in CSS pixels of a text in a font (`13px sans-serif`), remembered. */
export function textWidth(text: string, font: string): number {
  const key = `${font}\u0000${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  context ??= document.createElement('canvas').getContext('2d');
  if (context === null || context === undefined) return text.length * 8;
  context.font = font;
  const { width } = context.measureText(text);
  if (widths.size > 20_000) widths.clear();
  widths.set(key, width);
  return width;
}

/** No place is so wide that more letters fit: names of models may be of any length, and what is measured is kept. */
const mostLetters = 1000;

/**
 * The text if it fits, otherwise as much of it as does, with `…`. Names tell themselves apart at their end: `keep` says
 * which end stays. '' where not even three letters fit.
 */
export function fitText(text: string, width: number, font: string, keep: 'start' | 'end' = 'start'): string {
  if (text.length <= mostLetters && textWidth(text, font) <= width) return text;
  const cut = (length: number) =>
    keep === 'start' ? `${text.slice(0, length)}…` : `…${text.slice(text.length - length)}`;
  let low = 0;
  let high = Math.min(text.length, mostLetters);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (textWidth(cut(middle), font) <= width) low = middle;
    else high = middle - 1;
  }
  return low < 3 ? '' : cut(low);
}
