import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { isGzip, openFile, piecesOf, readWhole } from '../../../../src/kernel/node/files/fileSource.ts';
import { UserError } from '../../../../src/kernel/node/files/userError.ts';
import { temporaryFolder } from '../../../support/rtx.ts';
import fc from 'fast-check';
import { LineSplitter } from '../../../../src/kernel/node/files/lineSplitter.ts';

const folder = temporaryFolder();
const file = (name: string, content: string | Uint8Array) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

test.each([
  ['plain', 'model.bin', (bytes: Uint8Array) => bytes],
  ['compressed, whatever its name', 'model.onnx', (bytes: Uint8Array) => gzipSync(bytes)],
])('reads any part of a file: %s', async (_, name, pack) => {
  const source = await openFile(file(name, pack(Buffer.from('0123456789'))));
  expect(source.size).toBe(10);
  expect(text(await source.read(3, 4))).toBe('3456');
  expect(text(await source.read(8, 100))).toBe('89');
  expect((await source.read(10, 5)).length).toBe(0);
  expect((await source.read(100, 5)).length).toBe(0);
  await source.close();
});

test.each([
  ['plain', (bytes: Uint8Array) => bytes],
  ['compressed', (bytes: Uint8Array) => gzipSync(bytes)],
  [
    'compressed in two parts',
    (bytes: Uint8Array) => Buffer.concat([gzipSync(bytes.subarray(0, 9)), gzipSync(bytes.subarray(9))]),
  ],
])('gives a file in pieces: %s', async (name, pack) => {
  const content = Buffer.alloc(700_001, 'all of the file, in order; ');
  const path = file(`pieces ${name}`, pack(content));
  const source = await openFile(path, { unpack: false });
  const pieces: Uint8Array[] = [];
  for await (const piece of piecesOf(source, path)) pieces.push(Uint8Array.from(piece));
  await source.close();
  expect(pieces.length).toBeGreaterThan(2);
  expect(Buffer.concat(pieces).equals(content)).toBe(true);
});

test('says in the pieces of a compressed file when it is cut off', async () => {
  const packed = gzipSync(Buffer.from('x'.repeat(100_000)));
  const cut = file('pieces cut.gz', packed.subarray(0, packed.length - 20));
  const source = await openFile(cut, { unpack: false });
  const readAll = async () => {
    for await (const piece of piecesOf(source, cut)) expect(piece.length).toBeGreaterThan(0);
  };
  await expect(readAll()).rejects.toThrow(/pieces cut\.gz: the gzip file is damaged/);
  await source.close();
});

test('reads an empty file, and one of a single byte', async () => {
  expect((await readWhole(file('empty', ''))).length).toBe(0);
  expect(text(await readWhole(file('one', 'x')))).toBe('x');
  expect(await isGzip(file('one', '\x1f'))).toBe(false);
});

test('says what is wrong with a file, with its name', async () => {
  mkdirSync(join(folder, 'sub'), { recursive: true });
  await expect(openFile(join(folder, 'none'))).rejects.toThrow(`${join(folder, 'none')}: no such file or folder`);
  await expect(openFile(join(folder, 'sub'))).rejects.toThrow('is a folder, not a file');
  await expect(openFile(join(file('flat', 'x'), 'y'))).rejects.toThrow(UserError);
});

test('says when a compressed file is damaged or cut off', async () => {
  const packed = gzipSync(Buffer.from('x'.repeat(100_000)));
  const cut = file('cut.gz', packed.subarray(0, packed.length - 20));
  await expect(openFile(cut)).rejects.toThrow(/cut\.gz: the gzip file is damaged or truncated/);
  await (await openFile(file('two.gz', '\x1f\x00'))).close();
  await expect(readWhole(file('head.gz', Buffer.from([0x1f, 0x8b])))).rejects.toThrow('damaged');
});

test.runIf(process.platform === 'linux')('does not read a device, which may never end, by a link either', async () => {
  const link = join(folder, 'endless.onnx');
  symlinkSync('/dev/zero', link);
  for (const read of [openFile, readWhole]) await expect(read(link)).rejects.toThrow('is a device, not a file');
});

test.skipIf(process.platform === 'win32')('does not wait at a named pipe that nobody may ever write to', async () => {
  const pipe = join(folder, 'pipe.log');
  execFileSync('sh', ['-c', 'mkfifo "$0"', pipe]);
  for (const read of [openFile, readWhole, isGzip]) await expect(read(pipe)).rejects.toThrow('is a named pipe');
});

function split(chunks: Buffer[]): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return lines;
}

test('ends lines at \\n alone: TensorRT separates with U+001E and U+001F', () => {
  expect(split([Buffer.from('a\u001eb\u001fc\u2028d\u0085e\rf\r\n\ng')])).toEqual([
    'a\u001eb\u001fc\u2028d\u0085e\rf',
    '',
    'g',
  ]);
});

test('gives the same lines wherever the chunks are cut, inside characters too', () => {
  const piece = fc.constantFrom('\n', '\r\n', 'ä', '𝄞', '\u001e', 'Conv', '', ' ');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.array(fc.nat(60), { maxLength: 10 }), (pieces, cuts) => {
      const bytes = Buffer.from(pieces.join(''));
      const at = [0, ...cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length];
      const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
      expect(split(chunks)).toEqual(split([bytes]));
    }),
  );
});
