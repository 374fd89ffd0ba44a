import type { FusionReport } from '../fusion/fusionReport.ts';
import type { InputShapes } from './buildDiff.ts';
import { addTo } from '../text/addTo.ts';

/** Inputs of both sides that the engines were built for with other shapes: their times are not of the same work. */
export function otherShapes(a: FusionReport, b: FusionReport): InputShapes[] {
  const others = shapesOf(b);
  return [...shapesOf(a)].flatMap(([input, shape]) => {
    const other = others.get(input);
    return other === undefined || other === shape ? [] : [{ input, a: shape, b: other }];
  });
}

/** Of each input whose shapes are known: `1×8 … 4×64 … 8×256`, one text for each optimization profile. */
function shapesOf({ tensors = [], builtShapes = [] }: Partial<FusionReport>): Map<string, string> {
  const found = new Map<string, string>();
  const end = tensors.findIndex(({ producer }) => producer !== null);
  for (const { name, shape } of end < 0 ? tensors : tensors.slice(0, end))
    if (shape?.every((size) => typeof size === 'number')) found.set(name, shape.join('×') || 'scalar');
  const open = new Map<string, string[]>();
  for (const { input, min, opt, max } of builtShapes) {
    const text = [...new Set([min, opt, max].map((sizes) => sizes.join('×')))].join(' … ');
    addTo(open, input, text);
  }
  for (const [input, texts] of open) if (!found.has(input)) found.set(input, texts.join('; '));
  return found;
}
