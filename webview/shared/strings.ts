/**
 * Every text that a view shows, in one place, ready for translation. Functions take numbers already counted and give a
 * whole phrase, so that a language may order and inflect as it needs. One section a view.
 */

const whole = new Intl.NumberFormat('en-US');

/** `22753` → `22,753` */
export function count(value: number): string {
  return whole.format(value);
}

/** A number with its noun: `1 node`, `453 nodes`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Milliseconds with three significant digits at most, µs below a tenth: `0.352 ms`, `12.4 µs`. */
export function milliseconds(ms: number): string {
  if (ms === 0) return '0 ms';
  if (ms < 0.1) return `${Number((ms * 1000).toPrecision(3))} µs`;
  return ms < 100 ? `${Number(ms.toPrecision(3))} ms` : `${count(Math.round(ms))} ms`;
}

/** `93.46` → `93.5 %`; what is there but rounds to nothing is `< 0.1 %`. */
export function percent(value: number): string {
  if (value > 0 && value < 0.1) return '< 0.1 %';
  if (value > 99.9 && value < 100) return '> 99.9 %';
  return `${Number(value.toFixed(1))} %`;
}

export const strings = {
  common: {
    noData: 'Nothing to show yet.',
    derived: 'derived',
    exact: 'exact',
  },
};
