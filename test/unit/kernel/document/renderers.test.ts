import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Document, facts, list, note, section, table } from '../../../../src/kernel/document/document.ts';
import { pagePolicy, pageStyle } from '../../../../src/kernel/document/internal/pageStyle.ts';
import { renderHtml, renderMarkdown, renderText } from '../../../../src/kernel/document/render.ts';
import { exactRelease, releaseName, shapeRange, shapeText, typeName } from '../../../../src/kernel/base/text.ts';

const node = { text: 'conv<1>|x', to: { kind: 'nodes', ids: ['7'] } } as const;

const document: Document = {
  title: 'Accuracy of <b>net</b>.onnx',
  blocks: [
    { kind: 'verdict', state: 'bad', text: 'FP16 gives an error of 0.12.' },
    { kind: 'figures', figures: [{ label: 'Nodes', value: '12' }] },
    ...facts([
      ['Model', 'net.onnx'],
      ['GPU', null],
    ]),
    ...section('Outputs', [
      ...table(
        ['output', 'error#', 'shape'],
        [
          { cells: ['probs', '0.12', '1×10'], state: 'bad' },
          { cells: ['a', '0.0012', 'first\nsecond'], state: 'good' },
          { cells: ['b', '1', ''] },
        ],
        'output',
      ),
      note('Lower is better.'),
    ]),
    ...section('Empty', table(['x'], [])),
    {
      kind: 'findings',
      findings: [
        {
          severity: 'error',
          code: 'plugin-missing',
          place: 'line 12',
          text: 'There is no plugin.',
          facts: [{ label: 'nodes', value: [node] }],
          advice: 'Write one.',
          actions: [{ label: 'Write a Plugin', to: { kind: 'action', name: 'plugin' }, command: 'trtlens plugin m' }],
        },
      ],
    },
    ...list([{ text: [node, ' in a kernel'], detail: '3 ms' }]),
    { kind: 'source', title: 'Rules', text: '```\nconv fp32\n' },
  ],
};

describe('a document', () => {
  it('is aligned text on a terminal, with commands for actions and without what has nothing to show', () => {
    expect(renderText(document)).toBe(`Accuracy of <b>net</b>.onnx
✗ FP16 gives an error of 0.12.
Nodes: 12
Model: net.onnx

Outputs
    output   error  shape
  ✗ probs     0.12  1×10
  ✓ a       0.0012  first
                    second
    b            1
  Lower is better.

error plugin-missing, line 12: There is no plugin.
  nodes: conv<1>|x
  Write one.
  next: trtlens plugin m

conv<1>|x in a kernel  3 ms
Rules:
  \`\`\`
  conv fp32
`);
  });

  it('is Markdown in which no name is markup', () => {
    expect(renderMarkdown(document)).toBe(`### Accuracy of &lt;b>net&lt;/b>.onnx

✗ **FP16 gives an error of 0.12.**

- Nodes: 12

- Model: net.onnx

#### Outputs

|  | output | error | shape |
| --- | --- | ---: | --- |
| ✗ | probs | 0.12 | 1×10 |
| ✓ | a | 0.0012 | first<br>second |
|  | b | 1 |  |

Lower is better.

- **error plugin-missing**, line 12: There is no plugin.\\
  nodes: conv&lt;1>\\|x\\
  Write one.

- conv&lt;1>\\|x in a kernel (3 ms)

Rules:

\`\`\`\`
\`\`\`
conv fp32
\`\`\`\`
`);
  });

  it('is a page in which no name is markup, with links and buttons where the page has them', () => {
    const html = renderHtml(document, { hrefOf: (to) => `command:${to.kind}?"` });
    expect(html).not.toContain('<b>net');
    expect(html).toContain('<a href="command:nodes?&#34;">conv&#60;1&#62;|x</a> in a kernel <small>3 ms</small>');
    expect(html).toContain('<a class="action" href="command:action?&#34;">Write a Plugin</a>');
    expect(html).toContain(
      '<tr class="bad"><td class="s"><span class="sign bad" role="img" aria-label="failed">✗</span></td>',
    );
    expect(html).toContain('<th scope="col" class="n">error</th>');
    const alone = renderHtml(document);
    expect(alone).not.toContain('<a ');
    expect(alone).toContain('Write a Plugin: <code>trtlens plugin m</code>');
  });

  it('allows its own style and nothing else', () => {
    const hash = createHash('sha256').update(pageStyle).digest('base64');
    expect(pagePolicy).toBe(`default-src 'none'; style-src 'sha256-${hash}'`);
    expect(renderHtml(document)).toContain(`<style>${pageStyle}</style>`);
    expect(renderHtml(document)).not.toMatch(/<script| style=/);
  });

  it('says how many rows and items it leaves out, and where they are', () => {
    const rows = Array.from({ length: 1234 }, (_, i) => ({ cells: [`n${i}`] }));
    const long: Document = {
      title: 'T',
      blocks: [...table(['node'], rows, 'node'), ...list(['a', 'b', 'c'], 'layer')],
    };
    const text = renderText(long, { most: 2, moreHint: '--json lists all' });
    expect(text).toBe(
      'T\nnode\nn0\nn1\n… and 1,232 more nodes; --json lists all\na\nb\n… and 1 more layer; --json lists all\n',
    );
    expect(renderMarkdown(long, { most: 2 })).toContain('… and 1,232 more nodes.');
    const html = renderHtml(long, { most: 2, moreHint: '--json lists all' });
    expect(html).toContain('… and 1,232 more nodes; --json lists all.');
    expect(html).not.toContain('n2');
  });

  it('keeps control characters of names from the terminal', () => {
    const evil = 'a\u001b[31m\nb';
    const text = renderText({ title: evil, blocks: [...facts([['x', evil]]), { kind: 'text', text: evil }] });
    expect(text).toBe('a [31m b\nx: a [31m\n  b\na [31m b\n');
  });
});

it('writes products, types and shapes in one way', () => {
  expect(releaseName({ product: 'tensorrt-rtx', version: '1.7.1' })).toBe('TensorRT-RTX 1.7.1');
  expect(releaseName({ product: null, version: null })).toBe('TensorRT');
  expect(exactRelease({ product: 'tensorrt', version: null })).toBe('TensorRT (unknown version)');
  expect(['float', 'Half', 'fp16', 'BFloat16', 'float8e4m3fn', 'Int8', 'seq(float)'].map(typeName)).toEqual([
    'FP32',
    'FP16',
    'FP16',
    'BF16',
    'FP8',
    'INT8',
    'seq(float)',
  ]);
  expect(shapeText([])).toBe('scalar');
  expect(shapeText([1, 'batch', null, -1, 224])).toBe('1×batch×?×?×224');
  const derived = ['past + 1', 'h/2', 'floor(w/2)', '(n + 1)', 'seq-len', 'a - b'];
  expect(shapeText(derived)).toBe('(past + 1)×(h/2)×floor(w/2)×(n + 1)×seq-len×(a - b)');
  expect(shapeRange({ min: [1, 8], opt: [4, 64], max: [8, 256] })).toBe('1×8 to 8×256, optimum 4×64');
  expect(shapeRange({ min: [1], opt: [8], max: [8] })).toBe('1 to 8');
  expect(shapeRange({ min: [1], opt: [1], max: [1] })).toBe('1');
});
