import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { processTerminal } from '../../../../src/kernel/node/cli/processTerminal.ts';

let written = '';
const isTerminal = process.stderr.isTTY;

beforeEach(() => {
  vi.useFakeTimers();
  written = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written += String(text);
    return true;
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  process.stderr.isTTY = isTerminal;
});

const lines = () => written.split('\r\x1b[K');

test('progress on a terminal counts the seconds until something else is written', () => {
  process.stderr.isTTY = true;
  const terminal = processTerminal();
  terminal.status('Reading the model…');
  vi.advanceTimersByTime(2000);
  expect(lines()).toEqual(['Reading the model…', 'Reading the model… 1 s', 'Reading the model… 2 s']);
  terminal.note('note: x');
  vi.advanceTimersByTime(5000);
  expect(lines().at(-1)).toBe('note: x\n');
  terminal.status('Building…');
  terminal.status(null);
  vi.advanceTimersByTime(5000);
  expect(lines().slice(-2)).toEqual(['note: x\nBuilding…', '']);
});

test('in a pipe there is none', () => {
  process.stderr.isTTY = false;
  processTerminal().status('Reading the model…');
  vi.advanceTimersByTime(5000);
  expect(written).toBe('');
});
