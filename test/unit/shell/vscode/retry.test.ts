import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Retry } from '../../../../src/kernel/vscode/platform/internal/retry.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function retrying() {
  const again = vi.fn();
  const giveUp = vi.fn();
  return { retry: new Retry(again, giveUp), again, giveUp };
}

test('does it three times again, longer apart each time, and gives up once', () => {
  const { retry, again, giveUp } = retrying();
  retry.begin();
  const after = [8000, 16_000, 32_000].map((time) => {
    vi.advanceTimersByTime(time - 1);
    const before = again.mock.calls.length;
    vi.advanceTimersByTime(1);
    return again.mock.calls.length - before;
  });
  expect(after).toEqual([1, 1, 1]);
  expect(giveUp).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1_000_000);
  expect(again).toHaveBeenCalledTimes(3);
  expect(giveUp).toHaveBeenCalledTimes(1);
});

test('rests when the sign has come, and has all of its patience when it begins again', () => {
  const { retry, again, giveUp } = retrying();
  retry.begin();
  vi.advanceTimersByTime(20_000);
  expect(again).toHaveBeenCalledTimes(1);
  retry.end();
  vi.advanceTimersByTime(1_000_000);
  expect(again).toHaveBeenCalledTimes(1);
  expect(giveUp).not.toHaveBeenCalled();
  retry.begin();
  vi.advanceTimersByTime(7999);
  expect(again).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  expect(again).toHaveBeenCalledTimes(2);
});
