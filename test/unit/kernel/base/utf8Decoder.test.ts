import { expect, it } from 'vitest';
import { inspectFile } from '../../../../src/kernel/inspect/inspectFile.ts';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { decodeUtf8, Utf8Decoder } from '../../../../src/kernel/base/text.ts';

const text =
  '&&&& RUNNING TensorRT.trtexec [TensorRT v100600] [b26] # trtexec\n[V] [TRT] Parsing node: /é/日本 [Relu]\n';

const utf16 = (order: 'le' | 'be', mark = '\ufeff'): Uint8Array => {
  const bytes = Buffer.from(mark + text, 'utf16le');
  return order === 'le' ? bytes : bytes.swap16();
};

it.each([
  ['UTF-8', Buffer.from(text)],
  ['UTF-8 with a mark', Buffer.from(`\ufeff${text}`)],
  ['UTF-16, as PowerShell writes it', utf16('le')],
  ['UTF-16, big end first', utf16('be')],
  ['UTF-16 without a mark', utf16('le', '')],
  ['UTF-16 without a mark, big end first', utf16('be', '')],
])('%s is read, whole and in pieces', async (_, bytes) => {
  expect(decodeUtf8(bytes)).toBe(text);
  const decoder = new Utf8Decoder();
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 17) parts.push(decoder.push(bytes.subarray(at, at + 17)));
  expect(parts.join('') + decoder.end()).toBe(text);
  expect(await inspectFile(bytesOf(bytes))).toMatchObject({ kind: 'build-log', tensorrt: { version: '10.6.0' } });
});

it('no bytes are no text', () => {
  const decoder = new Utf8Decoder();
  expect(decoder.push(new Uint8Array()) + decoder.end()).toBe('');
  expect(decodeUtf8(new Uint8Array())).toBe('');
});

it('says whether each byte is one character', () => {
  const smile = Buffer.from('😀');
  const decoder = new Utf8Decoder();
  const isPlain = (bytes: Uint8Array): boolean => {
    decoder.push(bytes);
    return decoder.isPlain;
  };
  expect(isPlain(Buffer.from('plain'))).toBe(true);
  expect(isPlain(Buffer.from('caf\u00e9'))).toBe(false);
  expect(isPlain(Buffer.concat([Buffer.from('cut'), smile.subarray(0, 3)]))).toBe(false);
  // As many characters as bytes, but not at the same places.
  expect(isPlain(Buffer.concat([smile.subarray(3), Buffer.from('caf\u00e9')]))).toBe(false);
  expect(isPlain(Buffer.from('plain again'))).toBe(true);
  expect(isPlain(new Uint8Array())).toBe(false);
  const wide = new Utf8Decoder();
  wide.push(utf16('le'));
  expect(wide.isPlain).toBe(false);
});
