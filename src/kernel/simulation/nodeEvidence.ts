// Why a node loses accuracy in low precision, in words.
import { counted, percentText, thousands, typeName } from '../base/text.ts';
import { limitsOf } from '../quantization/quantization.ts';
import { errorFigure, exactFigure } from './simulated.ts';
import type { JudgedNode } from './simulated.ts';

/** From which magnitude on rounding to a low type gives infinity: half a step above its largest number. */
export const overflowFrom: Readonly<Record<JudgedNode['type'], number>> = {
  float16: 65520,
  bfloat16: (2 - 2 ** -8) * 2 ** 127,
  // What is out of the range of a scale becomes its end, not infinity.
  int8: Infinity,
  float8: Infinity,
};

/** A magnitude for the user: `8.48`, `710,000`, `4.4e+11`. */
export function magnitude(value: number): string {
  if (value === 0) return '0';
  if (value >= 1e7 || value < 1e-3) return value.toExponential(1);
  const rounded = Number(value.toPrecision(3));
  return rounded >= 1000 ? thousands(Math.round(rounded)) : String(rounded);
}

/** The largest number of a type for the user; INT8 and FP8 have a scale instead. */
const endText = (type: JudgedNode['type']): string => (type === 'float16' ? '65,504' : '3.39e38');

/** A magnitude that overflows, with as many digits as set it apart from the end of the type. */
function aboveEnd(max: number, type: JudgedNode['type']): string {
  if (max > 1.1 * overflowFrom[type]) return magnitude(max);
  return type === 'float16' ? thousands(Math.round(max)) : max.toExponential(2);
}

/** `reads mask = -1e9, which FP16 makes -infinity`; '' for none. */
function constantsText({ constants = [], type }: Pick<JudgedNode, 'constants' | 'type'>): string {
  const texts = constants.slice(0, 2).map(({ tensor, kind, value, elements, of }) => {
    const becomes = kind === 'underflow' ? '0' : value < 0 ? '-infinity' : 'infinity';
    const share = of > 1 ? ` (${thousands(elements)} of ${counted(of, 'element')})` : '';
    return `${tensor} = ${exactFigure(value)}${share}, which ${typeName(type)} makes ${becomes}`;
  });
  return texts.length === 0 ? '' : `reads ${texts.join(', ')}`;
}

/** `reads x with scale 0.01 (1.27, zero point 0), largest value 25: 12 % clipped`; '' for nothing known. */
function quantizedText({ quantized = [] }: Pick<JudgedNode, 'quantized'>): string {
  const texts = quantized.slice(0, 3).map(({ tensor, scale, scales, type, zeroPoint, largest, clipped, spread }) => {
    const limit = limitsOf(type);
    const end = scale === null || !limit ? null : (limit[1] - (zeroPoint ?? 0)) * scale;
    const known =
      scales !== null && scales > 1
        ? `${thousands(scales)} scales up to ${exactFigure(scale ?? 0)}`
        : scale === null
          ? 'a scale that is not known'
          : `scale ${exactFigure(scale)}`;
    const parts = [
      ...(end === null ? [] : [`up to ${magnitude(end)}`]),
      ...(zeroPoint === null ? [] : [`zero point ${zeroPoint}`]),
    ];
    const facts = [
      ...(largest === null ? [] : [`largest value ${magnitude(largest)}`]),
      ...(clipped === null ? [] : [clipped === 0 ? 'nothing clipped' : `${percentText(100 * clipped)} clipped`]),
      ...(spread !== null && spread > 1 ? [`ranges of channels ${magnitude(spread)} times apart`] : []),
    ];
    return `${tensor}: ${known}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}${facts.length > 0 ? `, ${facts.join(', ')}` : ''}`;
  });
  return texts.length === 0 ? '' : `reads ${texts.join('; ')}`;
}
/** Why a node is to blame, in one sentence without its name. `withAlone`: also the error that it alone gives. */
export function accuracyEvidence(node: Omit<JudgedNode, 'name' | 'op'>, withAlone = true): string {
  const { max, overflow, underflow, localError, alone, outside, type, role, notJudged } = node;
  const name = typeName(type);
  const only =
    alone === undefined || !withAlone
      ? ''
      : alone === null
        ? `; alone in ${name} it makes ${outside ? 'an index leave its table' : 'the outputs not finite'}`
        : `; alone in ${name} it gives an error of ${errorFigure(alone)}`;
  const result = max === null ? '' : `largest result ${magnitude(max)}`;
  const because = constantsText(node) || quantizedText(node);
  if (because !== '') return `${because}${only}`;
  if (notJudged !== undefined) return `${notJudged}${only}`;
  if (role === 'victim') return `reads a value that ${name} cannot represent or that was already wrong; ${result}`;
  if (max !== null && max >= overflowFrom[type])
    return `largest result ${aboveEnd(max, type)}, ${name} ends at ${endText(type)}${only}`;
  if (overflow) return `gives infinity or NaN in ${name}, although its ${result} fits${only}`;
  if (underflow) return `results become 0 in ${name}; ${result}${only}`;
  return `local error ${errorFigure(localError)}, ${result}${only}`;
}
