import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bundledCli } from '../../support/bundledCli.ts';
import { standInPython, standInTimingCache } from '../../support/standInTensorrt.ts';
import { temporaryFolder } from '../../support/rtx.ts';

const folder = temporaryFolder();
const trtlens = bundledCli(folder);
const file = (name: string) => join(folder, name);
const key = (digit: string) => `0x${digit.repeat(32)}`;
const python = (version = '10.8.0') => ['--python', standInPython(folder, { STANDIN_VERSION: version })];

function caches() {
  writeFileSync(
    file('a.cache'),
    standInTimingCache({ [key('1')]: [0xabc, 0.5], [key('2')]: [7, 1] }, { editable: true }),
  );
  writeFileSync(file('b.cache'), standInTimingCache({ [key('2')]: [8, 2], [key('3')]: [9, 3] }));
  writeFileSync(file('other.cache'), standInTimingCache({ [key('4')]: [1, 1] }, { device: 'other' }));
}

const entriesOf = (path: string) => {
  const bytes = readFileSync(path);
  return (JSON.parse(bytes.toString('utf8', bytes.indexOf('{'))) as { entries: object }).entries;
};

describe('trtlens timing-cache', () => {
  test('merge keeps the entries of the first file, and TensorRT itself writes the result', () => {
    caches();
    const { code, out, err } = trtlens(
      'timing-cache',
      'merge',
      file('a.cache'),
      file('b.cache'),
      '-o',
      file('both.cache'),
      ...python(),
    );
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/both\.cache: 3 entries, [\d,]+ bytes, TensorRT 10\.8\.0/);
    expect(entriesOf(file('both.cache'))).toEqual({ [key('1')]: [0xabc, 0.5], [key('2')]: [7, 1], [key('3')]: [9, 3] });
    expect(trtlens('inspect', file('both.cache')).out).toContain('entries: 3');
  });

  test('a version that cannot list entries merges, too; the file has their number', () => {
    caches();
    const { out } = trtlens(
      'timing-cache',
      'merge',
      file('a.cache'),
      file('b.cache'),
      '-o',
      file('old.cache'),
      ...python('10.6.0'),
    );
    expect(out).toContain('old.cache: 3 entries, ');
  });

  test('a cache whose entries TensorRT does not list merges, but cannot be pruned; invalid times are none', () => {
    const hidden = standInTimingCache({ [key('1')]: [1, 1], [key('2')]: [2, 2] }, { hidden: true, editable: true });
    writeFileSync(file('hidden.cache'), hidden);
    writeFileSync(file('one.cache'), standInTimingCache({ [key('3')]: [3, -1] }));
    const merged = trtlens('timing-cache', 'merge', file('hidden.cache'), file('one.cache'), '-o', file('h.cache'), ...python()); // oxfmt-ignore
    expect(merged).toMatchObject({ code: 0, out: expect.stringContaining('h.cache: 3 entries, ') as string });
    writeFileSync(file('one.log'), `[V] Autotuning op x(key: ${key('1')}):\n`);
    const pruned = trtlens('timing-cache', 'prune', file('hidden.cache'), '--log', file('one.log'), '-o', file('p.cache'), ...python()); // oxfmt-ignore
    expect(pruned).toMatchObject({ code: 2, err: expect.stringContaining('cannot list the entries') as string });
    const { timingCache } = JSON.parse(trtlens('inspect', file('one.cache'), '--read', '--json', ...python()).out) as { timingCache: object }; // oxfmt-ignore
    expect(timingCache).toMatchObject({ entries: [{ key: key('3'), milliseconds: null }] });
  });

  test('caches of another GPU, damaged ones and other files are refused, and nothing is written', () => {
    caches();
    const merge = (...args: string[]) =>
      trtlens('timing-cache', 'merge', file('a.cache'), ...args, '-o', file('never.cache'), ...python());
    expect(merge(file('other.cache'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('cannot be merged') as string,
    });
    writeFileSync(file('cut.cache'), readFileSync(file('b.cache')).subarray(0, 100));
    expect(merge(file('cut.cache'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('Failed to deserialize timing cache') as string,
    });
    writeFileSync(file('text.cache'), 'TRT-8601-EntropyCalibration2\nx: 3c010a14\n');
    expect(merge(file('text.cache'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('not a timing cache') as string,
    });
    expect(() => readFileSync(file('never.cache'))).toThrow();
    expect(merge(file('other.cache'), '--ignore-mismatch').code).toBe(0);
  });

  test('prune keeps the keys of the logs', () => {
    caches();
    writeFileSync(
      file('build.log'),
      `[V] Autotuning op matMul1(key: ${key('1')}):\n[V] Autotuning op x(key: ${key('9')}): [ONNX Layer: x]\n`,
    );
    const prune = (name: string, ...args: string[]) =>
      trtlens('timing-cache', 'prune', file(name), '--log', file('build.log'), '-o', file('less.cache'), ...args);
    const { code, out } = prune('a.cache', ...python());
    expect([code, out]).toEqual([0, expect.stringContaining('1 entry, 1 entry removed')]);
    expect(entriesOf(file('less.cache'))).toEqual({ [key('1')]: [0xabc, 0.5] });
    expect(prune('b.cache', ...python())).toMatchObject({
      code: 2,
      err: expect.stringContaining('EDITABLE_TIMING_CACHE') as string,
    });
    expect(prune('a.cache', ...python('10.6.0'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('10.8 and later') as string,
    });
  });

  test('inspect --read lists entries', () => {
    caches();
    const { out } = trtlens('inspect', file('a.cache'), '--read', ...python());
    expect(out).toContain(`  entry ${key('1')}: tactic 0xabc, 0.500 ms`);
    const json = JSON.parse(trtlens('inspect', file('a.cache'), '--read', '--json', ...python()).out) as object;
    expect(json).toMatchObject({
      kind: 'timing-cache',
      timingCache: { entries: [{ key: key('1'), tacticHash: '0xabc', milliseconds: 0.5 }, {}] },
    });
  });

  test('inspect lists the tensors and scales of a calibration cache', () => {
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
