import { fitText, textWidth } from '../../shared/fitText.ts';
import type { FitText } from './drawView.ts';

/** Fits texts of one font family, and remembers what came out: the same labels are drawn in every frame. */
export function makeFit(family: string): FitText {
  const cache = new Map<string, string>();
  const font = (size: number, bold: boolean) => `${bold ? '600 ' : ''}${size}px ${family}`;
  const fit = (text: string, width: number, size: number, bold: boolean, keep: 'start' | 'end'): string => {
    const room = Math.floor(width / 2) * 2;
    const key = `${text}\n${room}/${size}/${bold}/${keep}`;
    let fitted = cache.get(key);
    if (fitted === undefined) {
      fitted = fitText(text, room, font(size, bold), keep);
      if (cache.size > 20_000) cache.clear();
      cache.set(key, fitted);
    }
    return fitted;
  };
  return Object.assign(fit, {
    width: (text: string, size: number, bold: boolean) => textWidth(text, font(size, bold)),
  });
}
