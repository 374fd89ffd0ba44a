import { describe, expect, it } from 'vitest';
import {
  counted,
  durationText,
  oneLine,
  percentText,
  shorten,
  sizeText,
  thousands,
  timeText,
} from '../../../../src/kernel/base/text.ts';

describe('numbers in prose', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1000, '1,000'],
    [22_753, '22,753'],
    [1_234_567, '1,234,567'],
    [1234.5, '1,234.5'],
    [-1234, '-1,234'],
  ])('%d with separators is %s', (value, text) => expect(thousands(value)).toBe(text));

  it('count one of a thing as one', () => {
    expect([0, 1, 2, 14_163].map((value) => counted(value, 'node'))).toEqual([
      '0 nodes',
      '1 node',
      '2 nodes',
      '14,163 nodes',
    ]);
    expect(counted(2, 'entry', 'entries')).toBe('2 entries');
  });

  it.each([
    [0, '0 %'],
    [Number.NaN, '0 %'],
    [0.01, '< 0.1 %'],
    [0.05, '0.1 %'],
    [4.14, '4.1 %'],
    [9.94, '9.9 %'],
    [9.96, '10 %'],
    [93.46, '93 %'],
    [99.6, '> 99 %'],
    [99.9997, '100 %'],
    [100, '100 %'],
  ])('%d percent is %s', (value, text) => expect(percentText(value)).toBe(text));

  it.each([
    [0, '0 ms'],
    [0.000_000_1, '< 0.001 µs'],
    [0.0123, '12.3 µs'],
    [0.099_99, '0.100 ms'],
    [0.35, '0.350 ms'],
    [35, '35.0 ms'],
    [999.4, '999 ms'],
    [999.6, '1.00 s'],
    [3420, '3.42 s'],
    [59_940, '59.9 s'],
    [125_000, '2 min 5 s'],
    [3_780_000, '1 h 3 min'],
  ])('%d ms is %s', (value, text) => expect(timeText(value)).toBe(text));

  it('has whole seconds on a clock that runs', () => {
    expect([400, 34_000, 60_000, 3_600_000].map(durationText)).toEqual(['0 s', '34 s', '1 min', '1 h']);
  });

  it.each([
    [1, '1 byte'],
    [999, '999 bytes'],
    [1024, '1.00 KiB'],
    [4_404_019, '4.20 MiB'],
    [13_207_024_435, '12.3 GiB'],
    [2 ** 41, '2,048 GiB'],
  ])('%d bytes are %s', (value, text) => expect(sizeText(value)).toBe(text));
});

describe('names in one line', () => {
  it('have no control characters, line ends or marks of direction', () => {
    expect(oneLine('a\u001e\u001fb\nc\u202ed')).toBe('a b c d');
  });

  it('are as long as asked for, with both ends', () => {
    expect(shorten('{ForeignNode[abcdef...uvwxyz]}', 11)).toBe('{Fore…xyz]}');
    expect(shorten('short', 5)).toBe('short');
    for (const most of [1, 2, 3, 10]) expect(shorten('x'.repeat(50), most)).toHaveLength(most);
  });
});
