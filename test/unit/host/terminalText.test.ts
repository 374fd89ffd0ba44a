import fc from 'fast-check';
import { expect, it } from 'vitest';
import { terminalText } from '../../../src/host/builds/terminalText.ts';

it('ends each line as a terminal wants it, and colors it by severity', () => {
  expect(terminalText('[I] done', 'info')).toBe('[I] done\r\n');
  expect(terminalText('bad', 'error')).toBe('\u001b[31mbad\u001b[0m\r\n');
  expect(terminalText('one\ntwo', 'info')).toBe('one\r\ntwo\r\n');
});

it("shows TensorRT's separators of names as spaces", () => {
  expect(terminalText('[ONNX Layer: a]\u001e[ONNX Layer: b]\u001f[c]', 'info')).toBe(
    '[ONNX Layer: a] [ONNX Layer: b] [c]\r\n',
  );
});

it('lets no control character of a name through, whatever it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      const shown = terminalText(name, 'info');
      expect(shown.slice(0, -2).replaceAll('\r\n', '')).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }),
  );
});
