/**
 * How numbers are written for the user, everywhere: thousands separators, three significant digits for what was
 * measured, percent with one decimal below ten. JSON has the plain numbers. Without `Intl`: the product speaks English
 * only, the language server writes thousands of these at every keystroke, and a locale takes milliseconds to load.
 */

/** `22753` → `22,753` */
export function thousands(value: number): string {
  const [whole = '', fraction] = String(value).split('.');
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** A number with its noun: `1 node`, `14,163 nodes`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${thousands(value)} ${value === 1 ? one : many}`;
}

/** 0 … 100 → `4.1 %`, `93 %`; what is there but rounds to nothing is `< 0.1 %`, and what is not all is `> 99 %`. */
export function percentText(percent: number): string {
  // A share of nothing: of no nodes, of no time.
  if (Number.isNaN(percent) || percent === 0) return '0 %';
  if (percent > 0 && percent < 0.05) return '< 0.1 %';
  // A profile rounds the share of each of its layers, so all of them may add up to a little less.
  if (percent > 99 && percent < 99.999 && Math.round(percent) === 100) return '> 99 %';
  return `${percent < 9.95 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** Milliseconds that were measured, with three significant digits: `12.4 µs`, `0.352 ms`, `3.42 s`, from a minute on `2 min 5 s`. */
export function timeText(ms: number): string {
  if (ms === 0) return '0 ms';
  if (ms < 0.09995) return `${significant(ms * 1000)} µs`;
  if (ms < 999.5) return `${significant(ms)} ms`;
  return ms < 59_950 ? `${significant(ms / 1000)} s` : durationText(ms);
}

/** A change in milliseconds, with its sign: `+12.4 µs`, `−0.352 ms`; `0 ms` for what no profiler resolves. */
export const deltaText = (ms: number): string =>
  isSameTime(ms) ? '0 ms' : `${ms > 0 ? '+' : '−'}${timeText(Math.abs(ms))}`;

/** Less than a nanosecond is rounding. */
export const isSameTime = (ms: number): boolean => Math.abs(ms) < 1e-6;

/** Milliseconds in whole seconds, for a clock that runs: `34 s`, `2 min 5 s`, `1 h 3 min`. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min${seconds % 60 ? ` ${seconds % 60} s` : ''}`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ''}`;
}

/** Bytes with three significant digits: `312 bytes`, `4.20 MiB`, `12.3 GiB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return counted(bytes, 'byte');
  let value = bytes / 1024;
  for (const unit of ['KiB', 'MiB']) {
    if (value < 999.5) return `${significant(value)} ${unit}`;
    value /= 1024;
  }
  return `${value < 999.5 ? significant(value) : thousands(Math.round(value))} GiB`;
}

/** Three significant digits, never as a power of ten. */
const significant = (value: number): string => (value < 0.001 ? '< 0.001' : value.toPrecision(3));
