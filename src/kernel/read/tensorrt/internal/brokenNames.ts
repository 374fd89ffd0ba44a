/**
 * Names with line breaks, which TensorRT writes as they are: a line that ends where such a name has a break goes on in
 * the next one. The parser's lines say which names there are; everything else is matched against those.
 */
export class BrokenNames {
  /** For each break of each name: what is before it, and what is after it up to the next one. */
  readonly #breaks: { before: string; behind: string }[] = [];

  add(name: string): void {
    for (let at = name.indexOf('\n'); at >= 0; at = name.indexOf('\n', at + 1)) {
      const next = name.indexOf('\n', at + 1);
      this.#breaks.push({ before: name.slice(0, at), behind: name.slice(at + 1, next < 0 ? undefined : next) });
    }
  }

  /** Whether a name is broken at the end of the text. */
  endsAt(text: string): boolean {
    return this.#breaks.some(({ before }) => text.endsWith(before));
  }

  /** Whether the next line goes on with a name that is broken at the end of the text. */
  goesOn(text: string, next: string): boolean {
    return this.#breaks.some(({ before, behind }) => text.endsWith(before) && next.startsWith(behind));
  }

  get isEmpty(): boolean {
    return this.#breaks.length === 0;
  }
}

/** `Parsing node: a [Relu]` ends with its operator; without it, the name goes on in the next line. */
const nodeStart = 'Parsing node: ';
/** More lines than this are no name. */
const longest = 40;

/** A line whose message is not over yet, with the lines that continue it. */
export interface HeldLine {
  text: string;
  /** Where its message starts. */
  from: number;
  lines: number;
  isNode: boolean;
}

/** A line that may go on in the next one; null for any other. */
export function heldLine(broken: BrokenNames, text: string, from: number, to: number): HeldLine | null {
  const isNode = text.charCodeAt(from) === 0x50 && text.charCodeAt(to - 1) !== 0x5d && text.startsWith(nodeStart, from);
  if (!isNode && (broken.isEmpty || !broken.endsAt(text.slice(from, to)))) return null;
  return { text: text.slice(0, to), from, lines: 1, isNode };
}

/** Appends a line where it continues the one before; false if it does not. */
export function goOn(broken: BrokenNames, held: HeldLine, next: string): boolean {
  const goesOn = held.isNode ? held.lines < longest : broken.goesOn(held.text, next);
  if (!goesOn) return false;
  held.text += `\n${next}`;
  held.lines++;
  return true;
}

/** Whether the next line may belong to it, too. */
export function isOpen(broken: BrokenNames, held: HeldLine): boolean {
  return held.isNode ? !/ \[\w*\]$/.test(held.text) : broken.endsAt(held.text);
}
