/** A place in a text, both counted from 1; columns count UTF-16 units. */
export interface TextPlace {
  line: number;
  column: number;
}

/** Turns offsets of a text into lines and columns. Lines end at LF only. */
export class LineIndex {
  readonly #text: string;
  #starts: number[] | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  /** Place of `offset`; offsets outside the text give the nearest place inside. */
  placeOf(offset: number): TextPlace {
    const starts = (this.#starts ??= lineStarts(this.#text));
    const inside = Math.max(0, Math.min(offset, this.#text.length));
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= inside) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: inside - starts[low]! + 1 };
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
