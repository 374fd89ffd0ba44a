import type { Page } from 'playwright-core';

/** A text that one sees, where it is in the window, and the size of its letters in CSS pixels. */
export interface WrittenText {
  text: string;
  size: number;
  x: number;
  y: number;
  width: number;
  height: number;
  /** Where it is drawn or what element has it. */
  in: string;
}

interface Recorder {
  written: Omit<WrittenText, 'in'>[];
}

/** From now on the page keeps what it draws as text on its largest canvas. Before the page loads. */
export async function recordCanvasTexts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const own = window as unknown as Recorder;
    own.written = [];
    const { prototype } = CanvasRenderingContext2D;
    const own2d = (name: string): unknown => Object.getOwnPropertyDescriptor(prototype, name)!.value;
    const fillRect = own2d('fillRect') as (...args: number[]) => void;
    const fillText = own2d('fillText') as (...args: unknown[]) => void;
    const isStage = ({ canvas }: CanvasRenderingContext2D) =>
      canvas.isConnected && canvas.closest('.graph-stage') !== null;
    prototype.fillRect = function (x, y, width, height) {
      // A frame begins with its background.
      if (isStage(this) && x === 0 && y === 0 && width >= this.canvas.clientWidth && this.canvas.clientWidth > 300)
        own.written = [];
      fillRect.call(this, x, y, width, height);
    };
    prototype.fillText = function (text, x, y) {
      if (isStage(this)) {
        const { a, d, e, f } = this.getTransform();
        const size = Number(/([\d.]+)px/.exec(this.font)![1]) * d;
        const width = this.measureText(text).width * a;
        const left = this.textAlign === 'center' ? width / 2 : this.textAlign === 'right' ? width : 0;
        const { left: atX, top: atY } = this.canvas.getBoundingClientRect();
        const height = 0.7 * size;
        own.written.push({ text, size, x: atX + x * a + e - left, y: atY + y * d + f - height / 2, width, height });
      }
      fillText.call(this, text, x, y);
    };
  });
}

/** What the page's canvas and elements show as text now, inside the window. */
export const writtenTexts = (page: Page): Promise<WrittenText[]> =>
  page.evaluate(() => {
    const stage = document.querySelector('.graph-stage')!.getBoundingClientRect();
    const texts: WrittenText[] = (window as unknown as Recorder).written
      .map((one) => ({ ...one, in: 'canvas' }))
      .filter(({ x, y, width }) => x + width > stage.left && x < stage.right && y > stage.top && y < stage.bottom);
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const around = node.parentElement!;
      const text = node.textContent!.trim();
      if (text === '' || around.closest('[role=tree], option, script, .sr-only') !== null) continue;
      if (!around.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true }))
        continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) {
        // What is cut off by an element around it is not seen.
        let [left, top, right, bottom] = [rect.left, rect.top, rect.right, rect.bottom];
        for (let at: Element | null = around; at !== null; at = at.parentElement) {
          if (getComputedStyle(at).overflow === 'visible') continue;
          const box = at.getBoundingClientRect();
          [left, top] = [Math.max(left, box.left), Math.max(top, box.top)];
          [right, bottom] = [Math.min(right, box.right), Math.min(bottom, box.bottom)];
        }
        if (right - left < 2 || bottom - top < 2) continue;
        const size = parseFloat(getComputedStyle(around).fontSize);
        const middle = (top + bottom) / 2;
        const height = Math.min(bottom - top, 0.7 * size);
        const of = `${around.tagName.toLowerCase()}.${around.className}`;
        texts.push({ text, size, x: left, y: middle - height / 2, width: right - left, height, in: of });
      }
    }
    return texts;
  });

/** Pairs of texts of which one is on the other. */
export function overlapping(texts: readonly WrittenText[]): string[] {
  const covers = (a: WrittenText, b: WrittenText) =>
    a.x + 1 < b.x + b.width && b.x + 1 < a.x + a.width && a.y + 1 < b.y + b.height && b.y + 1 < a.y + a.height;
  return texts.flatMap((a, i) =>
    texts.slice(i + 1).flatMap((b) => (covers(a, b) ? [`${a.in} "${a.text}" and ${b.in} "${b.text}"`] : [])),
  );
}

/** Elements whose text is cut and that no tooltip completes. */
export const cutWithoutTooltip = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('body *')]
      .filter(
        (one) =>
          getComputedStyle(one).textOverflow === 'ellipsis' &&
          one.scrollWidth > one.clientWidth + 1 &&
          one.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
          one.closest('[title]') === null,
      )
      .map((one) => `${one.className}: ${one.textContent}`),
  );
