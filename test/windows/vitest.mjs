// What the unit tests use of vitest, which does not start under Wine, over Node's own runner.
import fs from 'node:fs';
import { after, afterEach as afterOne, before, beforeEach, describe as suite, test as one } from 'node:test';
import { expect, vi } from 'vitest';

// What is removed may be there a moment longer.
const { rmSync } = fs;
fs.rmSync = (path, options) => rmSync(path, { maxRetries: 20, retryDelay: 50, ...options });

export { before as beforeAll, beforeEach, expect, vi };

/** What a test leaves behind is Wine's to remove, which it may do a moment later than it says. */
const cleaning = (hook) => (body) =>
  hook(async () => {
    try {
      await body();
    } catch (error) {
      if (!/^(?:ENOTEMPTY|EBUSY|EPERM)$/.test(error.code)) throw error;
    }
  });
export const afterAll = cleaning(after);
export const afterEach = cleaning(afterOne);

/** Fills in the `%s` of a title, and `$name`. */
const titled = (title, row, index) => {
  const rest = [...row];
  const filled = String(title).replaceAll(/%[sdifjo#]/g, (mark) => (mark === '%#' ? index : String(rest.shift())));
  return filled.replaceAll(/\$(\w+)/g, (mark, name) => row[0]?.[name] ?? mark);
};

/** @param run declares one test or one group */
function declaring(run) {
  const declare = (title, ...rest) =>
    run(
      title,
      rest.find((part) => typeof part === 'function'),
    );
  const rows = (list, title, rest, spread) =>
    list.forEach((row, index) => {
      const values = spread && Array.isArray(row) ? row : [row];
      const body = rest.find((part) => typeof part === 'function');
      run(titled(title, values, index), () => body(...values));
    });
  return Object.assign(declare, {
    each:
      (list) =>
      (title, ...rest) =>
        rows(list, title, rest, true),
    for:
      (list) =>
      (title, ...rest) =>
        rows(list, title, rest, false),
    // Not counted: what it tests is not this system's.
    skipIf: (skip) => (skip ? () => {} : declare),
    runIf: (runs) => (runs ? declare : () => {}),
  });
}

export const describe = declaring((title, body) => void suite(String(title), () => void body()));
const declareTest = (title, body) => void one(String(title), () => body({}));
export const test = declaring(declareTest);
export const it = declaring(declareTest);
