import {
  islandText,
  pairFates,
  rangeText,
  scaleText,
  sourceText,
} from '../../../../src/kernel/quantization/quantization.ts';
import { percentText } from '../../../../src/kernel/base/text.ts';
import type { GraphModel } from '../../view/graphModel.ts';
import { detailSection } from '../details.ts';
import { element } from '../../../shared/element.ts';
import { graphStrings } from '../graphStrings.ts';

const words = graphStrings.facts;

/** How a tensor is quantized: its scales with what they cover and where they are from; none if nothing says. */
export function scaleFacts(model: GraphModel, tensor: string): [string, string][] {
  return model.quantization.scalesOf(tensor).flatMap((scale): [string, string][] => {
    const range = rangeText(scale);
    const share = scale.observed?.clippedShare ?? null;
    return [
      [words.scale, `${scaleText(scale)}, ${sourceText(scale)}`],
      ...(range === '' ? [] : [[words.range, range] as [string, string]]),
      ...(share === null ? [] : [[words.clipped, percentText(share * 100)] as [string, string]]),
    ];
  });
}

/** What became of a Q/DQ node, and what about the placement around a node is against TensorRT's rules, with the fix. */
export function nodeQuantization(model: GraphModel, id: string): Node[] {
  const found = model.quantization.ofNode(id);
  if (found === null) return [];
  const list = element('ul', { class: 'quantization' });
  for (const { tensor, fate, why, fix } of found.pairs)
    list.append(element('li', {}, element('p', {}, words.pair(tensor, pairFates[fate])), explained(why, fix)));
  // A pair that the placement kept from being fused says so itself.
  const told = new Set(found.pairs.flatMap(({ fix }) => (fix === null ? [] : [fix])));
  for (const { message, fix } of found.misplaced)
    if (!told.has(fix))
      list.append(element('li', {}, element('div', { class: 'fault warning' }, explained(message, fix))));
  for (const island of found.islands) list.append(element('li', {}, islandText(island)));
  return list.childElementCount === 0 ? [] : [detailSection(words.quantization, list)];
}

const explained = (why: string, fix: string | null): Node =>
  element('div', { class: 'wrap' }, why, fix !== null && element('p', {}, element('strong', {}, fix)));
