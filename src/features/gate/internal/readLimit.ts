import type { Limit, Unit } from '../gateFile.ts';

/** The units of each kind of number, and what they are in its own unit: milliseconds, bytes. */
export const units: Readonly<Record<Unit, Readonly<Record<string, number>>>> = {
  count: {},
  error: {},
  ms: { ns: 1e-6, µs: 1e-3, μs: 1e-3, us: 1e-3, ms: 1, s: 1000 },
  bytes: { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 },
};

const examples: Readonly<Record<Unit, string>> = {
  count: "12, '+5%' or '+2'",
  error: '0.01',
  ms: "'1.2 ms', '20 us' or '+3%'",
  bytes: "'512 MiB' or '+5%'",
};

/**
 * Reads a limit: a number with its unit, or a difference to the baseline.
 * @param scale what a number without a unit is multiplied by; undefined: a unit is needed, except for counts
 * @returns the limit, or what is wrong with the text, as text
 */
export function readLimit(
  text: string,
  unit: Unit,
  { low = false, absolute = false, scale }: { low?: boolean; absolute?: boolean; scale?: number } = {},
): Limit | string {
  const found = /^([+-]?)(\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?)\s*([%\p{L}]*)$/u.exec(text.trim());
  if (!found) return `'${text}' is not a limit: write ${examples[unit]}`;
  const [, sign, digits, suffix] = found as unknown as [string, string, string, string];
  const number = Number(digits) * (sign === '-' ? -1 : 1);
  // Finite in every unit.
  if (Math.abs(number) > 1e200) return `'${text}' is too large`;
  if (sign !== '' && absolute)
    return `'${text}' compares with the baseline, which this key does not support: write ${digits}`;
  if (suffix === '%')
    return sign === '' ? `'${text}' has no sign: write '+${text}'` : { kind: 'percent', value: number, text };
  const factor = factorOf(suffix, unit, number === 0 ? (scale ?? 1) : scale);
  if (typeof factor === 'string') return `'${suffix || text}' ${factor}`;
  if (unit === 'count' && !Number.isInteger(number)) return `'${text}' is not an integer`;
  if (sign !== '') return { kind: 'difference', value: number * factor, text };
  return { kind: low ? 'min' : 'max', value: number * factor, text };
}

/** What a number with this suffix is multiplied by, or what is wrong with the suffix. */
function factorOf(suffix: string, unit: Unit, scale: number | undefined): number | string {
  const known = units[unit];
  const names = Object.keys(known).filter((name) => name !== 'μs');
  if (suffix === '') return scale ?? (names.length === 0 ? 1 : `has no unit; units are ${names.join(', ')}`);
  if (Object.hasOwn(known, suffix)) return known[suffix]!;
  return names.length === 0
    ? `is a unit, which a ${unit} does not have`
    : `is not a unit of this key; units are ${names.join(', ')}`;
}
