import { expect, test } from 'vitest';
import { isViewMessage } from '../../../../src/kernel/protocol/isViewMessage.ts';

test.each([
  ['ready', false],
  ['selected', { kind: 'nodes', ids: ['0', '12'] }],
  ['selected', { kind: 'layers', ids: [3] }],
  ['selected', { kind: 'foreignNode', id: 0 }],
  ['selected', { kind: 'fate', fate: 'folded' }],
  ['selected', { kind: 'none' }],
  ['openLine', 'log', 12],
  ['exportPicture', 'svg', '<svg/>', 'vit_tiny'],
  ['run', 'keepFp32', ['12']],
  ['failed', 'TypeError'],
])('%s, as a view sends it', (method, ...args) => {
  expect(isViewMessage({ method, args })).toBe(true);
});

test.each([
  [undefined],
  ['ready'],
  [{ method: 'ready' }],
  [{ method: 'ready', args: ['yes'] }],
  [{ method: 'toString', args: [] }],
  [{ method: 'selected', args: [] }],
  [{ method: 'selected', args: [null] }],
  [{ method: 'selected', args: [{ kind: 'nodes', ids: 'all' }] }],
  [{ method: 'selected', args: [{ kind: 'layers', ids: ['3'] }] }],
  [{ method: 'selected', args: [{ kind: 'everything' }] }],
  [{ method: 'openLine', args: ['/etc/passwd', 1] }],
  [{ method: 'openLine', args: ['log', Number.NaN] }],
  [{ method: 'exportPicture', args: ['exe', '', ''] }],
  [{ method: 'exportPicture', args: ['svg', '<svg/>'] }],
  [{ method: 'run', args: ['build'] }],
  [{ method: 'run', args: ['deleteBuild', []] }],
  [{ method: 'run', args: ['keepFp32', [12]] }],
  [{ method: 'failed', args: [{}] }],
])('%j is none', (message) => {
  expect(isViewMessage(message)).toBe(false);
});
