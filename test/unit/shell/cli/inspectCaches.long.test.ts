import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bundledCli } from '../../../support/bundledCli.ts';
import { standInPython, standInTimingCache } from '../../../support/standInTensorrt.ts';
import { temporaryFolder } from '../../../support/rtx.ts';

const folder = temporaryFolder();
const trtlens = bundledCli(folder);
const file = (name: string) => join(folder, name);
const key = (digit: string) => `0x${digit.repeat(32)}`;
const python = (version = '10.8.0') => ['--python', standInPython(folder, { STANDIN_VERSION: version })];

describe('trtlens inspect of caches', () => {
  test('--read lists the entries of a timing cache; a time that is not valid is none', () => {
    const entries = { [key('1')]: [0xabc, 0.5], [key('3')]: [3, -1] } satisfies Record<string, [number, number]>;
    writeFileSync(file('a.cache'), standInTimingCache(entries));
    const { out } = trtlens('inspect', file('a.cache'), '--read', ...python());
    expect(out).toContain(`  entry ${key('1')}: tactic 0xabc, 0.500 ms`);
    const json = JSON.parse(trtlens('inspect', file('a.cache'), '--read', '--json', ...python()).out) as object;
    expect(json).toMatchObject({
      kind: 'timing-cache',
      timingCache: {
        entries: [
          { key: key('1'), tacticHash: '0xabc', milliseconds: 0.5 },
          { key: key('3'), milliseconds: null },
        ],
      },
    });
    const old = JSON.parse(trtlens('inspect', file('a.cache'), '--read', '--json', ...python('10.6.0')).out) as object;
    expect(old).toMatchObject({ timingCache: { entries: null } });
    writeFileSync(file('cut.cache'), readFileSync(file('a.cache')).subarray(0, 100));
    expect(trtlens('inspect', file('cut.cache'), '--read', ...python())).toMatchObject({
      code: 2,
      err: expect.stringContaining('Failed to deserialize timing cache') as string,
    });
  });

  test('lists the tensors and scales of a calibration cache', () => {
    writeFileSync(file('calib.cache'), 'TRT-8601-EntropyCalibration2\nimage: 3c010a14\nzero: 00000000\n');
    const { out } = trtlens('inspect', file('calib.cache'));
    expect(out).toContain('  tensor image: scale 0.00787594, ±1\n');
    expect(out).toContain('  tensor zero: no usable scale');
    const json = JSON.parse(trtlens('inspect', file('calib.cache'), '--json').out) as { calibration: object };
    expect(json.calibration).toMatchObject({
      header: 'TRT-8601-EntropyCalibration2',
      tensors: [{ tensor: 'image' }, { tensor: 'zero', scale: null }],
    });
  });
});
