import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** Readers of whole lines of a log, in which such names occur. */
const readsLogs =
  /^src\/kernel\/(?:read\/tensorrt\/(?:readBuildLog|internal\/(?:logFrame|logMessages))|inspect\/inspection)\.ts$/;

/** Lines of code that take TensorRT's names apart by themselves. */
function grammarIn(file: string, text: string): string[] {
  if (file.startsWith('src/kernel/network/') || readsLogs.test(file)) return [];
  return text
    .split('\n')
    .filter((line) => !/^\s*(?:\/?\*|\/\/)/.test(line))
    .filter((line) =>
      /\\\[profile|_myl\\|ForeignNode\\\[|(?:startsWith|endsWith|includes)\('[^']*(?:ForeignNode\[|_myl)/.test(line),
    )
    .map((line) => `${file}: ${line.trim()}`);
}

it('only kernel/network knows the grammar of layer names', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map((file) => join('src', file).replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts'));
  expect(files.flatMap((file) => grammarIn(file, readFileSync(file, 'utf8')))).toEqual([]);
});

it.each([
  String.raw`const base = name.replace(/ \[profile \d+\]$/, '');`,
  String.raw`/_myl\d+$/.test(name)`,
  `name.startsWith('{ForeignNode[')`,
])('%s elsewhere would be found', (line) => {
  expect(grammarIn('src/features/diff/planted.ts', line)).toHaveLength(1);
  expect(grammarIn('src/kernel/network/planted.ts', line)).toEqual([]);
});
