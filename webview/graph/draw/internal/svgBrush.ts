import type { Outline } from '../../../../src/kernel/picture/graph/fusionGroups.ts';
import { type BoxStyle, type Brush, type Fill, roundedCorners, type TextStyle, type Camera } from '../brush.ts';

/** Draws into SVG text. Names come from models: every text is escaped, what XML cannot hold is dropped. */
export class SvgBrush implements Brush {
  readonly #family: string;
  readonly #parts: string[] = [];
  readonly #patterns = new Map<string, string>();
  #path: string[] = [];
  #pen = '';

  constructor(family: string) {
    this.#family = family;
  }

  box(x: number, y: number, width: number, height: number, style: BoxStyle): void {
    const corner = style.radius === undefined ? '' : ` rx="${round(style.radius)}"`;
    const place = `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"`;
    this.#parts.push(`<rect ${place}${this.#style(style)}${corner}/>`);
  }

  shape(loops: Outline, camera: Camera, style: BoxStyle): void {
    const paths = loops.map((loop) => {
      const corners = roundedCorners(loop, camera, style.radius ?? 0).map(
        ({ x0, y0, x, y, x1, y1 }) => `${round(x0)} ${round(y0)}Q${round(x)} ${round(y)} ${round(x1)} ${round(y1)}`,
      );
      return `M${corners.join('L')}Z`;
    });
    this.#parts.push(`<path d="${paths.join('')}" fill-rule="evenodd"${this.#style(style)}/>`);
  }

  #style({ fill, stroke, lineWidth, dashed }: BoxStyle): string {
    const paint = fill === undefined ? 'none' : this.#fill(fill);
    const line = stroke === undefined ? '' : ` stroke="${escape(stroke)}" stroke-width="${round(lineWidth ?? 1)}"`;
    return ` fill="${escape(paint)}"${line}${dashed === true ? ' stroke-dasharray="4 3"' : ''}`;
  }

  line(x0: number, y0: number, x1: number, y1: number, y2: number, c: number): void {
    this.#path.push(
      `M${round(x0)} ${round(y0)}C${round(x0)} ${round(c)} ${round(x1)} ${round(c)} ${round(x1)} ${round(y1)}V${round(y2)}`,
    );
  }

  beginLines(color: string, lineWidth: number, dashed: boolean): void {
    const dash = dashed ? ' stroke-dasharray="5 4"' : '';
    this.#pen = `stroke="${escape(color)}" stroke-width="${round(lineWidth)}"${dash}`;
    this.#path = [];
  }

  endLines(): void {
    if (this.#path.length > 0) this.#parts.push(`<path d="${this.#path.join('')}" fill="none" ${this.#pen}/>`);
  }

  text(text: string, x: number, y: number, { size, color, bold, align }: TextStyle): void {
    const anchor = align === 'center' ? 'middle' : align === 'right' ? 'end' : 'start';
    const weight = bold === true ? ' font-weight="600"' : '';
    this.#parts.push(
      `<text x="${round(x)}" y="${round(y)}" font-size="${size}"${weight} fill="${escape(color)}" text-anchor="${anchor}" dominant-baseline="central">${escape(text)}</text>`,
    );
  }

  tip(x: number, y: number, size: number, color: string): void {
    const half = size * 0.6;
    this.#parts.push(
      `<path d="M${round(x)} ${round(y)}L${round(x - half)} ${round(y - size)}H${round(x + half)}Z" fill="${escape(color)}"/>`,
    );
  }

  /** The whole file. */
  finish(width: number, height: number, background: string, title: string): string {
    const patterns = [...this.#patterns.values()].join('');
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${round(width)}" height="${round(height)}" viewBox="0 0 ${round(width)} ${round(height)}" font-family="${escape(this.#family)}">` +
      `<title>${escape(title)}</title><defs>${patterns}</defs><rect width="100%" height="100%" fill="${escape(background)}"/>${this.#parts.join('\n')}</svg>\n`
    );
  }

  #fill(fill: Fill): string {
    if (typeof fill === 'string') return fill;
    const key = `${fill.stripes}/${fill.over}/${fill.crossed ?? false}`;
    const id = `stripes${[...this.#patterns.keys()].indexOf(key) < 0 ? this.#patterns.size : [...this.#patterns.keys()].indexOf(key)}`;
    this.#patterns.set(
      key,
      `<pattern id="${id}" width="8" height="8" patternUnits="userSpaceOnUse"><rect width="8" height="8" fill="${escape(fill.over)}"/><path d="M-8 8L0 0M0 8L8 0M8 8L16 0${fill.crossed ? crossing : ''}" stroke="${escape(fill.stripes)}" stroke-width="2"/></pattern>`,
    );
    return `url(#${id})`;
  }
}

/** The second lines of a crossed pattern. */
const crossing = 'M-8 0L0 8M0 0L8 8M8 0L16 8';

const round = (value: number): number => Math.round(value * 10) / 10;

function escape(text: string): string {
  return text
    .replaceAll(/[\u0000-\u001f\u007f\ufffe\uffff]|\p{Surrogate}/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
