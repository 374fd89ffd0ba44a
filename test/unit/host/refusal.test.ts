import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refusal } from '../../../src/host/lint/internal/refusal.ts';
import { temporaryFolder } from '../../support/rtx.ts';

const folder = temporaryFolder();

test('why the editor cannot create a file in a folder', () => {
  const file = join(folder, 'model.onnx');
  writeFileSync(file, '');
  expect(refusal(file)).toBe(`${file} is not a folder`);
  expect(refusal(join(file, 'rules'))).toBe(`${file} is not a folder`);
  expect(refusal(join(folder, 'none/none'))).toMatch(/^ENOENT: /);
  expect(refusal(folder)).toBe('the editor refused the edit');
});
