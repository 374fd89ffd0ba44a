import { expect, it, vi } from 'vitest';
import { MAX_PREFIX } from '../../src/kernel/read/tensorrt/internal/logStrays.ts';
import { rowPatterns, ruleExamples } from '../support/diagnosisRows.ts';
import { literalsOf, patternsIn, slowestLine, type SourcePattern, timeOf } from '../support/slowPatterns.ts';

/** Longest line that patterns of features/diagnose see (`MOST_OF_A_LINE` in diagnoseLog.ts), in characters. */
const SHORT = 4000;

/** Readers see whole lines, however long: there no pattern may take the square of the line. */
const LONG = 16_000;

/** Patterns whose time grows with the square of the line, even if there are few places where they can begin. */
function quadratic(patterns: readonly SourcePattern[]): string[] {
  // The first run of a pattern is interpreted, the later ones are compiled.
  const square = [0, 1, 2].map(() => timeOf(/[.a]+$/, `${'a'.repeat(LONG)}\n`));
  const limit = Math.max(2, Math.min(...square) / 10);
  return patterns.flatMap(({ place, pattern }) => {
    const { time, line } = slowestLine(pattern, LONG, limit);
    if (time <= limit) return [];
    const half = line.slice(0, line.length / 2) + line.slice(-1);
    const least = (text: string) => Math.min(...[0, 1, 2].map(() => timeOf(pattern, text)));
    const grown = least(line) / least(half);
    return grown > 3 ? [`${place}: ${time.toFixed(0)} ms for ${JSON.stringify(line.slice(0, 60))}…`] : [];
  });
}

/** Patterns that take several times as long as one that takes the square of the line, on whatever machine this is. */
function tooSlow(patterns: readonly SourcePattern[], length: number, factor: number): string[] {
  const limit = factor * Math.max(10, slowestLine(/[.a]+$/, length, Infinity).time);
  return patterns.flatMap(({ place, pattern }) => {
    const { time, line } = slowestLine(pattern, length, limit);
    return time > limit ? [`${place}: ${time.toFixed(0)} ms for ${JSON.stringify(line.slice(0, 60))}…`] : [];
  });
}

it('no pattern of features/diagnose takes long for a line that is made against it', { timeout: 120_000 }, () => {
  const patterns = [...rowPatterns, ...patternsIn('src/features/diagnose')];
  expect(rowPatterns.length).toBeGreaterThan(300);
  expect(tooSlow(patterns, SHORT, 4)).toEqual([]);
});

it.each([
  'kernel/fusion',
  'kernel/read',
  'kernel/inspect',
  'kernel/network',
  'features/check',
  'features/replay',
  'features/quantization',
  'features/engines/triton',
])('no pattern of %s takes long for such a line', { timeout: 120_000 }, (folder) => {
  expect(quadratic(patternsIn(`src/${folder}`))).toEqual([]);
});

it('nor does one that is put together while the program runs', { timeout: 120_000 }, async () => {
  const made: SourcePattern[] = [];
  const Original = RegExp;
  vi.stubGlobal(
    'RegExp',
    class extends Original {
      constructor(source: string, flags = '') {
        super(source, flags);
        made.push({ place: source, pattern: new Original(source, flags.replace('g', '')) });
      }
    },
  );
  try {
    vi.resetModules();
    const { diagnoseLog } = await import('../../src/features/diagnose/diagnoseLog.ts');
    const { readBuildLog } = await import('../../src/kernel/read/tensorrt/readBuildLog.ts');
    diagnoseLog(readBuildLog([...ruleExamples.values()].join('\n')).value);
  } finally {
    vi.unstubAllGlobals();
  }
  expect(made.length).toBeGreaterThan(0);
  // Those of readers see the beginning of a line.
  const ofRules = new Set(rowPatterns.map(({ pattern }) => pattern.source));
  expect(
    tooSlow(
      made.filter(({ place }) => ofRules.has(place)),
      SHORT,
      4,
    ),
  ).toEqual([]);
  expect(
    tooSlow(
      made.filter(({ place }) => !ofRules.has(place)),
      MAX_PREFIX,
      4,
    ),
  ).toEqual([]);
});

it('a pattern with few beginnings would be found', () => {
  expect(
    quadratic(literalsOf('planted.ts', String.raw`const list = /(?<![\w.:])([\w.:]+) \((.*?)\), /g;`)),
  ).toHaveLength(1);
});

it.each([
  [SHORT, 'const r = { pattern: /condition: .*(?:strlen|length).*(?:length).*4096/ };'],
  [1000, String.raw`const name = (text) => /\w+\d*\w+: failed/.exec(text);`],
])('of %i characters, %s would be found', (length, source) => {
  expect(tooSlow(literalsOf('planted.ts', source), length, 4)).toHaveLength(1);
});
