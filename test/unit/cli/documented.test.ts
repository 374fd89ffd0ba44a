import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { accuracy } from '../../../src/cli/accuracy/accuracy.ts';
import { build } from '../../../src/cli/build/build.ts';
import { compare } from '../../../src/cli/accuracy/compare.ts';
import { diagnose } from '../../../src/cli/diagnose.ts';
import { inspect } from '../../../src/cli/inspect/inspect.ts';
import { sweep } from '../../../src/cli/accuracy/sweep.ts';
import { matrix } from '../../../src/cli/matrix.ts';
import { run } from '../../../src/cli/accuracy/run.ts';
import { setup } from '../../../src/cli/setup.ts';
import { timingCache } from '../../../src/cli/timingCache.ts';

const docs = ['command-line.md', 'matrix.md', 'engines.md', 'profiling.md', 'quantization.md']
  .map((name) => readFileSync(join(import.meta.dirname, '../../../docs', name), 'utf8'))
  .join('\n');

const commands = { accuracy, build, compare, inspect, timingCache, sweep, run, diagnose, matrix, setup };

test.each(Object.entries(commands))('every option of trtlens %s is documented', (name, { help }) => {
  const options = [...new Set(help.match(/(?<![\w-])--?[a-zA-Z][\w-]*/g))];
  expect(options.length).toBeGreaterThan(name === 'diagnose' ? 1 : 2);
  expect(options.filter((option) => !docs.includes(option))).toEqual([]);
});
