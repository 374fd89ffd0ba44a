import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quoteCommand, splitCommand } from '../../../../src/kernel/base/text.ts';

const shells = ['posix', 'powershell'] as const;
/** PowerShell needs no quotes for it; here it is the sign of a line that goes on. */
const LONE = '\\';

describe('a copied command', () => {
  test.each(shells)('is what was quoted, for any arguments (%s)', (shell) => {
    const argument = fc.oneof(
      fc.string({
        unit: fc.constantFrom('a', ' ', "'", '"', '\\', '`', '^', '$', '\n', ',', ':', '*', '-', '&', '|', 'é'),
      }),
      fc.string({ unit: 'grapheme' }),
    );
    fc.assert(
      fc.property(fc.array(argument, { maxLength: 5 }), (args) => {
        const command = ['trtexec', ...args.filter((arg) => arg !== LONE)];
        expect(splitCommand(quoteCommand(command, shell), shell)).toEqual([command]);
      }),
      { numRuns: 3000 },
    );
  });

  test('goes on over lines as its shell has it, also where the box for it took the line ends away', () => {
    const words = ['trtexec', '--fp16', "--layerPrecisions=a b:fp16,'c,d':fp32", '-v'];
    const spec = `--layerPrecisions="a b:fp16,'c,d':fp32"`;
    for (const [shell, end] of [
      ['posix', '\\\n'],
      ['posix', '\\\r\n'],
      ['posix', '\\'],
      ['posix', '\n'],
      ['posix', '^\r\n'],
      ['powershell', '`\r\n'],
      ['powershell', '\\\n'],
    ] as const)
      expect(splitCommand(`trtexec --fp16 ${end}  ${spec} ${end} -v\n`, shell)).toEqual([words]);
    expect(splitCommand('a\\\nb "c\\\nd"')).toEqual([['ab', 'cd']]);
  });

  test('ends at what stands between commands, not inside of words', () => {
    expect(splitCommand('cd /m && polygraphy run a;b/Conv:float32 2>&1 | tee log > x')).toEqual([
      ['cd', '/m'],
      ['polygraphy', 'run', 'a;b/Conv:float32'],
      ['tee', 'log'],
      ['x'],
    ]);
    expect(splitCommand("x '|' \\; y")).toEqual([['x', '|', ';', 'y']]);
    expect(splitCommand("& 'C:\\a b\\trtexec.exe' --onnx=C:\\m.onnx", 'powershell')).toEqual([
      [String.raw`C:\a b\trtexec.exe`, String.raw`--onnx=C:\m.onnx`],
    ]);
  });

  test('is read to its end, whatever it is', () => {
    expect(splitCommand(`it's "half`)).toEqual([["it's", '"half']]);
    expect(splitCommand(' \n')).toEqual([]);
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), fc.constantFrom(...shells), (text, shell) => {
        expect(splitCommand(text, shell).flat().join('').length).toBeLessThanOrEqual(text.length);
      }),
    );
  });
});
