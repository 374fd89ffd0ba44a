import { describe, expect, test } from 'vitest';
import type { EngineTarget, Inspection } from '../../../../src/kernel/inspect/inspection.ts';
import { inspectFile } from '../../../../src/kernel/inspect/inspectFile.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';

/** A header by its documented offsets: magic, format, length, version; of TensorRT-RTX also the mask. */
function header(magic: 'ftrt' | 'vtrt', version: number[], mask = 0): Uint8Array {
  const bytes = new Uint8Array(64);
  const view = new DataView(bytes.buffer);
  const tag = new TextEncoder().encode(magic);
  bytes.set(tag);
  view.setUint32(8, magic === 'vtrt' ? 2 : 0, true);
  view.setUint32(16, 64, true);
  bytes.set(version, 24);
  bytes.set(tag, 28);
  view.setUint32(32, mask, true);
  return bytes;
}
const tensorrt = (version: string): EngineTarget => ({
  product: 'tensorrt',
  version,
  computeCapability: null,
  runtime: null,
  platform: null,
});
const inspect = (bytes: Uint8Array, target?: EngineTarget): Promise<Inspection> =>
  inspectFile(bytesOf(bytes), target && { target });
const verdict = async (bytes: Uint8Array, target: EngineTarget, check: string) =>
  (await inspect(bytes, target)).engine!.portability.find((one) => one.check === check)!.verdict;

test.each([
  ['8.6.1', '8.6.1', 'fits'],
  ['8.6.1', '8.6', 'unknown'],
  ['8.6.1', '8.6.2', 'unknown'],
  ['8.6.2', '8.6.1', 'no'],
  ['8.6.1', '10.0.0', 'unknown'],
  ['8.6.1', '11.2.1', 'no'],
  ['10.6.0', '11.2.1', 'unknown'],
  ['10.6.0', '8.6.1', 'no'],
  ['11.2.1', '10.6.0', 'no'],
])('an engine of %s in TensorRT %s: %s', async (built, runs, expected) => {
  const bytes = header('ftrt', [...built.split('.').map(Number), 26]);
  expect((await inspect(bytes)).engine).toMatchObject({ version: built, buildNumber: 26, computeCapabilities: null });
  expect(await verdict(bytes, tensorrt(runs), 'version')).toBe(expected);
  expect(
    await verdict(
      bytes,
      { product: 'tensorrt-rtx', version: built, computeCapability: null, runtime: null, platform: null },
      'version',
    ),
  ).toBe('no');
});

describe('TensorRT-RTX', () => {
  const rtx = (version: string | null, computeCapability: string | null): EngineTarget => ({
    product: 'tensorrt-rtx',
    version,
    computeCapability,
    runtime: null,
    platform: null,
  });

  test.each([
    [0x01, ['7.5']], [0x02, ['8.0']], [0x04, ['8.6']], [0x08, ['8.9']], [0x10, ['12.0']], [0x20, ['12.1']],
    [0x0a, ['8.0', '8.9']], [0x7e, ['8.0', '8.6', '8.9', '12.0', '12.1', 'bit 6']],
  ])('mask %i is %j', async (mask, expected) => {
    const { engine } = await inspect(header('vtrt', [1, 7, 1, 116], mask));
    expect(engine).toMatchObject({ version: '1.7.1', buildNumber: 116, computeCapabilities: expected });
  }); // oxfmt-ignore

  test('loads in the release that built it, on the GPUs that it was built for', async () => {
    const bytes = header('vtrt', [1, 7, 1, 116], 0x0a);
    expect(await verdict(bytes, rtx('1.7.1', '8.9'), 'version')).toBe('fits');
    expect(await verdict(bytes, rtx('1.7.2', '8.9'), 'version')).toBe('no');
    expect(await verdict(bytes, rtx(null, '8.9'), 'gpu')).toBe('fits');
    expect(await verdict(bytes, rtx(null, '8.6'), 'gpu')).toBe('no');
    expect(await verdict(header('vtrt', [1, 7, 1, 116], 0x42), rtx(null, '8.6'), 'gpu')).toBe('unknown');
  });
});

test('truncated and mutated headers never fail', async () => {
  const whole = header('vtrt', [1, 7, 1, 116], 0x7e);
  for (let length = 1; length < 64; length++) {
    // oxlint-disable-next-line no-await-in-loop -- one case after the other
    const { engine } = await inspect(whole.slice(0, length));
    if (engine) expect([length, engine.portability[0]!.verdict]).toEqual([length, 'no']);
    for (const value of [0, 1, 0x7f, 0xff]) {
      const bytes = whole.slice();
      bytes[length] = value;
      // oxlint-disable-next-line no-await-in-loop -- one case after the other
      expect((await inspect(bytes)).kind).not.toBe('');
    }
  }
});
