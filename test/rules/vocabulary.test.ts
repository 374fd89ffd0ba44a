import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** Words that one place owns: what says them elsewhere would sooner or later say them in another way. */
const owned: readonly [what: string, pattern: RegExp][] = [
  ['the name of a product (productName)', /\? 'TensorRT-RTX' : 'TensorRT'/],
  ['an unknown version (exactRelease)', /\((?:version unknown|unknown version)\)/],
  ['a type (typeName)', /\b(?:float16|[Hh]alf|HALF|fp16): 'FP16'/],
  ['a shape (shapeText, shapeArgument)', /join\('[×x]'\)/],
  ['a size (sizeText)', /\} (?:KiB|GiB)\b/],
  ['a time (timeText)', /toFixed\(\d\)\}? (?:ms|µs|s)\b/],
  ['HTML (renderHtml)', /<(?:table|tr|td|dl|h2)\b/],
  ['Markdown tables (renderMarkdown)', /\| ?--- ?\|/],
];

const owners = /^src\/kernel\/(?:document\/|base\/text\.ts$)/;

const sources = ['src', 'webview'].flatMap((root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((file) => join(root, file).replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts')),
);

/** `FILE: what` for each word that a file says although it owns none. Comments may. */
const found = (files: readonly string[], read: (file: string) => string): string[] =>
  files
    .filter((file) => !owners.test(file))
    .flatMap((file) => {
      const code = read(file)
        .split('\n')
        .filter((line) => !/^\s*(?:\*|\/[/*])/.test(line))
        .join('\n');
      return owned.filter(([, pattern]) => pattern.test(code)).map(([what]) => `${file}: ${what}`);
    });

it('products, versions, types, shapes, sizes, times, HTML and Markdown are written by kernel/document and kernel/base/text', () => {
  expect(found(sources, (file) => readFileSync(file, 'utf8'))).toEqual([]);
});

it.each([
  "const name = product === 'tensorrt-rtx' ? 'TensorRT-RTX' : 'TensorRT';",
  "const text = version ?? '(version unknown)';",
  "const words = { float16: 'FP16' };",
  "const text = shape.map(String).join('×');",
  'const text = `${bytes / 1024} KiB`;',
  'const text = `${took.toFixed(1)} ms`;',
  'const html = `<table>${rows}</table>`;',
  "const head = '|---|---|';",
])('%s would be found', (planted) => {
  expect(found(['src/kernel/planted.ts'], () => planted)).toHaveLength(1);
  expect(found(['src/kernel/document/planted.ts'], () => planted)).toEqual([]);
  expect(found(['src/kernel/planted.ts'], () => `// ${planted}`)).toEqual([]);
});
