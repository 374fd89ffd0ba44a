// The kinds of values that options of a build have.

/** The shapes of one input in an optimization profile: `1x3x224x224`; empty for a scalar. */
export interface ShapeRange {
  min: string;
  opt: string;
  max: string;
}

/** A type that TensorRT 10 and earlier use only after a switch of that name: `--fp16`. */
export type TypeSwitch = 'fp16' | 'bf16' | 'int8' | 'fp8' | 'int4';

/**
 * The modes of the option `precision`: the types that each allows in addition to FP32, the same in every program. INT8
 * and FP8 alone leave FP32 for everything that they cannot compute; people who ask for them expect FP16 there.
 */
export const precisionModes = {
  fp32: [],
  fp16: ['fp16'],
  bf16: ['bf16'],
  int8: ['int8', 'fp16'],
  fp8: ['fp8', 'fp16'],
  // Not trtexec's own --best, which adds BF16 on some GPUs and not on others.
  best: ['fp16', 'int8'],
} as const satisfies Record<string, readonly TypeSwitch[]>;

/** What the value of an option is, by the name of its kind. */
export interface OptionValues {
  text: string;
  /** Of a file: relative ones are relative to whatever names the option. */
  path: string;
  flag: boolean;
  number: number;
  integer: number;
  texts: string[];
  textsOrAll: 'all' | string[];
  numbersByName: Record<string, number>;
  textsByName: Record<string, string>;
  /** One entry an optimization profile: input name → shapes. */
  profiles: Record<string, ShapeRange>[];
  /** Layer name and type. */
  layerTypes: { name: string; type: string }[];
  layerOutputTypes: { name: string; types: string[] }[];
}

/** The kind of an option's value: a name of `OptionValues`, or the words that it may be. */
export type OptionKind = keyof OptionValues | readonly string[];

/** Whether a value, which may be anything, is of a kind. */
export function fitsKind(value: unknown, kind: OptionKind): boolean {
  if (typeof kind !== 'string') return kind.some((word) => word === value);
  return fits[kind](value);
}

/** The kind as text, for a message: `expected a number`. */
export const kindText = (kind: OptionKind): string =>
  typeof kind === 'string' ? words[kind] : `one of ${kind.join(', ')}`;

const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\u0000');
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const byName = (value: unknown, fit: (one: unknown) => boolean): boolean =>
  isObject(value) && Object.values(value).every(fit);
const isRange = (value: unknown): boolean =>
  byName(value, isText) && ['min', 'opt', 'max'].every((name) => Object.hasOwn(value as object, name));

const fits: Record<keyof OptionValues, (value: unknown) => boolean> = {
  text: isText,
  path: isText,
  flag: (value) => typeof value === 'boolean',
  number: isNumber,
  integer: (value) => Number.isInteger(value),
  texts: isTexts,
  textsOrAll: (value) => value === 'all' || isTexts(value),
  numbersByName: (value) => byName(value, isNumber),
  textsByName: (value) => byName(value, isText),
  profiles: (value) => Array.isArray(value) && value.every((profile) => byName(profile, isRange)),
  layerTypes: (value) =>
    Array.isArray(value) && value.every((one) => isObject(one) && isText(one['name']) && isText(one['type'])),
  layerOutputTypes: (value) =>
    Array.isArray(value) && value.every((one) => isObject(one) && isText(one['name']) && isTexts(one['types'])),
};

const words: Record<keyof OptionValues, string> = {
  text: 'a string',
  path: 'a path',
  flag: 'true or false',
  number: 'a number',
  integer: 'an integer',
  texts: 'a list of strings',
  textsOrAll: 'a list of tensor names, or "all"',
  numbersByName: 'an object with a number for each name',
  textsByName: 'an object with a string for each name',
  profiles: 'a list of objects with min, opt and max for each input, such as "1x3x224x224"',
  layerTypes: 'a list of objects with name and type',
  layerOutputTypes: 'a list of objects with name and types',
};
