import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { fitText } from '../../../webview/shared/fitText.ts';

/** Lengths of what was measured. Every letter is 7 wide. */
const measured: number[] = [];

beforeAll(() => {
  const measureText = (text: string) => {
    measured.push(text.length);
    return { width: text.length * 7 };
  };
  vi.stubGlobal('document', { createElement: () => ({ getContext: () => ({ measureText }) }) });
});
afterAll(() => {
  vi.unstubAllGlobals();
});

it('keeps the end that is asked for, and says that something is missing', () => {
  expect(fitText('blocks.0/attn', 91, '12px x')).toBe('blocks.0/attn');
  expect(fitText('blocks.0/attn', 70, '12px x')).toBe('blocks.0/…');
  expect(fitText('blocks.0/attn', 70, '12px x', 'end')).toBe('…ks.0/attn');
  expect(fitText('blocks.0/attn', 20, '12px x')).toBe('');
});

it('measures no more of a name than any place could hold', () => {
  measured.length = 0;
  expect(fitText('n'.repeat(1_000_000), 70, '12px x')).toBe('nnnnnnnnn…');
  expect(Math.max(...measured)).toBeLessThanOrEqual(1001);
  // Also where there is room for all of that.
  expect(fitText('n'.repeat(1_000_000), 1e9, '12px x')).toBe(`${'n'.repeat(1000)}…`);
});
