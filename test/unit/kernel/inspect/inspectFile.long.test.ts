import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FileKind, Inspection } from '../../../../src/kernel/inspect/inspection.ts';
import { inspectFile } from '../../../../src/kernel/inspect/inspectFile.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { fixturePath } from '../../../support/fixtures.ts';

const inspect = (content: string | Uint8Array, name = ''): Promise<Inspection> =>
  inspectFile(bytesOf(typeof content === 'string' ? new TextEncoder().encode(content) : content), { name });

/** Every file below a folder, unpacked, by its path there. */
function filesBelow(folder: string): [string, Uint8Array][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry): [string, Uint8Array] => {
      const path = `${entry.parentPath}/${entry.name}`;
      const bytes = readFileSync(path);
      return [path.slice(folder.length).replace(/^\//, ''), path.endsWith('.gz') ? gunzipSync(bytes) : bytes];
    })
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** What the captures' README says that each file is. */
function kindOfCapture(path: string, size: number): FileKind {
  const name = basename(path).replace(/\.gz$/, '');
  if (name.endsWith('.onnx')) return 'onnx';
  if (name === 'layers.json') return 'layer-info';
  if (name === 'profile.json') return 'profile';
  if (name === 'choices.jsonl') return 'choices';
  if (name === 'tc.bin') return 'timing-cache';
  // A failed command left these empty.
  if (name === 'edited.json' && size === 0) return 'unknown';
  if (/^(?:replay|edited|polygraphy_debug_replay).*\.json$/.test(name)) return 'replay';
  // Answers to --help hold no log.
  if (/cli\.help|diff_tactics_help/.test(path) && name.startsWith('log')) return 'unknown';
  if (/^log\d*\.txt$/.test(name) || name === 'errors.txt') return 'build-log';
  return 'unknown';
}

describe('every file', () => {
  test('of the captures is named rightly', async () => {
    const files = [...filesBelow(fixturePath('captures')), ...filesBelow(fixturePath('models'))];
    for (const [path, bytes] of files) {
      // eslint-disable-next-line no-await-in-loop -- one after the other keeps memory low
      const { kind, summary } = await inspect(bytes, basename(path));
      expect([path, kind, summary !== '']).toEqual([path, kindOfCapture(path, bytes.length), true]);
    }
    expect(files.length).toBeGreaterThan(300);
  }, 60_000);
});

const capture = (name: string): Uint8Array => readFileSync(fixturePath(`captures/${name}`));

describe('what is known of each kind', () => {
  test('logs: version, product, counts', async () => {
    const log = await inspect(gunzipSync(capture('tensorrt-10.6.0/vit_tiny.fp16/log.txt.gz')));
    expect(log).toMatchObject({
      kind: 'build-log',
      tensorrt: { product: 'tensorrt', version: '10.6.0' },
      counts: { parsedNodes: 636, engineLayers: 90, foreignNodes: 1, builds: 1, profileRows: 90, errors: 0 },
      problems: [],
    });
    expect(log.summary).toBe('Log of TensorRT 10.6.0 by trtexec: passed, NVIDIA H200, built in 60.8 s, 7,205 lines');
    expect((await inspect(capture('tensorrt-rtx-1.7.1/resnet18/log.txt'))).tensorrt).toEqual({
      product: 'tensorrt-rtx',
      version: null,
    });
    expect((await inspect(capture('tensorrt-11.2.1/loop_if.typed/log.txt'))).problems).toMatchObject([
      { code: 'cut-off' },
    ]);
  });

  test('replays: four schemas and the debug replay', async () => {
    const entry = (io: string): string =>
      `{"replay": {"a": {"implementation": -2147483638, "tactic": 6596631851832846809, "inputs": [${io}], "outputs": [], "polygraphy_class": "Algorithm"}}, "polygraphy_class": "TacticReplayData"}`;
    const schemas = [
      '["TensorFormat.LINEAR", "DataType.FLOAT"]',
      '["TensorFormat.LINEAR", "DataType.FLOAT", [784, 784, 28, 1]]',
      '{"tensor_format":"TensorFormat.LINEAR","dtype":"DataType.FLOAT","strides":[1],"vectorized_dim":-1,"components_per_element":1,"polygraphy_class":"TensorInfo"}',
      '{"dtype":"DataType.FLOAT","strides":[1],"vectorized_dim":-1,"components_per_element":1,"polygraphy_class":"TensorInfo"}',
    ];
    const found = await Promise.all(schemas.map((io) => inspect(entry(io))));
    expect(found.map(({ kind, summary }) => [kind, /schema (\w)/.exec(summary)?.[1]])).toEqual([
      ['replay', 'A'],
      ['replay', 'B'],
      ['replay', 'C'],
      ['replay', 'D'],
    ]);
    const debug = await inspect(
      capture('tensorrt-10.6.0/fp16_overflow.poly_debug_precision/polygraphy_debug_replay.json'),
    );
    expect(debug).toMatchObject({
      kind: 'replay',
      counts: { iterations: 2 },
      problems: [{ code: 'debug-replay', severity: 'info' }],
    });
    expect(await inspect('{"replay": {}, "polygraphy_class": "TacticReplayData"}')).toMatchObject({
      kind: 'replay',
      counts: { layers: 0 },
    });
    expect(
      await inspect('{"__polygraphy_encoded_TacticReplayData": "polygraphy_serialized_json_type", "replay": {}}'),
    ).toMatchObject({ kind: 'replay' });
    expect(await inspect('{"replay": "a game"}')).toMatchObject({ kind: 'unknown' });
  });

  test('calibration caches, with a header, with another one, and without', async () => {
    expect(await inspect('TRT-8601-EntropyCalibration2\nx: 3f4014c9\na:b c: 3f4014c9\n')).toMatchObject({
      kind: 'calibration-cache',
      tensorrt: { version: '8.6.1' },
      counts: { tensors: 2 },
      problems: [],
    });
    expect(await inspect('x: 3f4014c9\r\n(Unnamed Layer* 0) [Convolution]_output: 3dcaa048\r\n')).toMatchObject({
      kind: 'calibration-cache',
      tensorrt: { version: null },
      counts: { tensors: 2 },
    });
    expect(await inspect('0 3ff0000000000000 3ff0000000000000\n1 3ff0000000000000\n')).toMatchObject({
      kind: 'calibration-cache',
    });
    expect(await inspect('TRT-100001-MinMaxCalibration\nx: 3f4014c9\nbroken line\n')).toMatchObject({
      kind: 'calibration-cache',
      tensorrt: { version: '10.0.1' },
      problems: [{ code: 'calibration-line', line: 3 }],
    });
    expect(await inspect('sum: deadbeef\nand a line of prose\n')).toMatchObject({ kind: 'unknown' });
  });

  test('a timing cache: as many entries as the log says that it saved', async () => {
    const cache = capture('tensorrt-10.6.0/vit_tiny.timingcache/tc.bin');
    expect(await inspect(cache)).toMatchObject({
      kind: 'timing-cache',
      counts: { entries: 15, bytes: 74236 },
      problems: [],
    });
    expect(await inspect(cache.subarray(0, 40_000))).toMatchObject({
      kind: 'timing-cache',
      problems: [{ code: 'truncated' }],
    });
  });

  test('engines: plans of TensorRT and TensorRT-RTX, old archives, a wrapped one, a cut one', async () => {
    const plan = (magic: string, version: number[], size = 1000): Uint8Array => {
      const bytes = new Uint8Array(size);
      bytes.set(new TextEncoder().encode(magic));
      new DataView(bytes.buffer).setUint32(8, 2, true);
      new DataView(bytes.buffer).setUint32(16, size, true);
      bytes.set(version, 24);
      return bytes;
    };
    expect(await inspect(plan('ftrt', [8, 6, 1, 6]))).toMatchObject({
      kind: 'engine',
      tensorrt: { product: 'tensorrt', version: '8.6.1' },
      counts: { bytes: 1000 },
      problems: [],
    });
    expect(await inspect(plan('vtrt', [1, 7, 1, 116]))).toMatchObject({
      kind: 'engine',
      tensorrt: { product: 'tensorrt-rtx', version: '1.7.1' },
    });
    expect(await inspect(plan('ftrt', [10, 6, 0, 26]).subarray(0, 500))).toMatchObject({
      kind: 'engine',
      problems: [{ code: 'truncated' }],
    });
    expect(await inspect(plan('ftrt', [10, 6, 0, 26]).subarray(0, 9))).toMatchObject({
      kind: 'engine',
      problems: [{ code: 'truncated' }],
    });
    const archive = Uint8Array.from([
      0x70,
      0x74,
      0x72,
      0x74,
      0x64,
      0,
      0,
      0,
      20,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
      ...[1, 7, 1, 0x74].flatMap((part) => [0x02, 0x80, 1, 0, part]),
    ]);
    expect(await inspect(archive)).toMatchObject({
      kind: 'engine',
      tensorrt: { product: 'tensorrt-rtx', version: '1.7.1' },
      problems: [],
    });
    const metadata = new TextEncoder().encode('{"task": "detect", "names": {"0": "person"}}');
    const wrapped = Uint8Array.from([metadata.length, 0, 0, 0, ...metadata, ...plan('ftrt', [10, 3, 0, 30])]);
    expect(await inspect(wrapped)).toMatchObject({ kind: 'engine', tensorrt: { version: '10.3.0' }, problems: [] });
  });

  test('overrides, by their grammar', async () => {
    const text =
      '# attention stays exact\nmodel bert.onnx\nrequire obey\n**/attn/** fp32\nop:Softmax, op:LayerNormalization fp32 -> fp16\n"中文层/卷积_1, a" bf16\ngroup:{ForeignNode[/bert/Cast fp16\n';
    expect(await inspect(text)).toMatchObject({ kind: 'overrides', counts: { rules: 4, directives: 2 } });
    expect(await inspect(`${text}this line is wrong\n`)).toMatchObject({
      kind: 'overrides',
      problems: [
        { severity: 'error', line: 8 },
        { severity: 'error', line: 8 },
      ],
    });
    for (const prose of [
      'Dear all,\nuse fp16 please.\n',
      'name: fp32\nother: fp16\n',
      '# only a comment\n',
      'x = 1\ny = 2\n',
      '<html>\n',
      'a,b,c\n1,2,fp32\n',
    ])
      // eslint-disable-next-line no-await-in-loop -- six short texts
      expect([prose, (await inspect(prose)).kind]).toEqual([prose, 'unknown']);
  });

  test('empty files, compressed files, other files say what they are', async () => {
    expect(await inspect('', 'layers.json')).toMatchObject({
      kind: 'layer-info',
      counts: { layers: 0 },
      problems: [{ code: 'empty-file' }],
    });
    expect(await inspect('', 'edited.json')).toMatchObject({ kind: 'unknown', problems: [{ code: 'empty-file' }] });
    expect(await inspect(capture('tensorrt-10.6.0/vit_tiny.fp16/log.txt.gz'))).toMatchObject({
      kind: 'unknown',
      problems: [{ code: 'compressed' }],
    });
    const json = await inspect('{"schema": 1, "id": "x", "note": "FileNotFoundError: TensorRT"}');
    expect(json.problems[0]!.message).toContain('"schema", "id", "note"');
    expect(await inspect(new Uint8Array(5000).fill(7))).toMatchObject({
      kind: 'unknown',
      problems: [{ code: 'unknown-kind' }],
    });
  });

  test('a source that fails is a problem, no crash', async () => {
    const failing = { size: 10, read: (): Promise<Uint8Array> => Promise.reject(new Error('the disk is gone')) };
    expect(await inspectFile(failing)).toMatchObject({
      kind: 'unknown',
      problems: [{ code: 'unreadable', message: expect.stringContaining('the disk is gone') }],
    });
  });
});

test('a large log is read in pieces', async () => {
  const text = gunzipSync(capture('tensorrt-10.6.0/deep_encoder_11k.fp32/log.txt.gz'));
  let largest = 0;
  const source = {
    size: text.length,
    read: (offset: number, length: number): Promise<Uint8Array> => {
      largest = Math.max(largest, length);
      return Promise.resolve(text.subarray(offset, offset + length));
    },
  };
  expect(await inspectFile(source)).toMatchObject({
    kind: 'build-log',
    counts: { parsedNodes: 14_163, engineLayers: 2322 },
  });
  expect(largest).toBeLessThanOrEqual(1 << 20);
});

test('damaged files of every kind never make it throw', async () => {
  const seeds = [
    'tensorrt-10.6.0/fp16_overflow.poly_replay/replay.json',
    'tensorrt-8.6.1/loop_if.fp32/layers.json',
    'tensorrt-8.6.1/loop_if.fp32/profile.json',
    'tensorrt-10.6.0/fp16_overflow.algolog/choices.jsonl',
    'tensorrt-10.6.0/vit_tiny.timingcache/tc.bin',
    'tensorrt-10.6.0/cli.bad_engine/log.txt',
  ].map((name) => capture(name).subarray(0, 20_000));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...seeds),
      fc.array(fc.tuple(fc.nat(20_000), fc.nat(255)), { maxLength: 20 }),
      fc.nat(20_000),
      async (seed, edits, length) => {
        const bytes = Uint8Array.from(seed.subarray(0, Math.max(1, length % (seed.length + 1))));
        for (const [at, value] of edits) bytes[at % bytes.length] = value;
        const { kind, problems } = await inspect(bytes);
        expect(kind).not.toBe('');
        for (const { code, message } of problems) expect([code !== '', message !== '']).toEqual([true, true]);
      },
    ),
    { numRuns: 400 },
  );
});
