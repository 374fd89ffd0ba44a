import type { AccuracyReport, JudgedNode } from '../../../../src/kernel/simulation/simulated.ts';
import { expect, test } from 'vitest';
import { type AccuracyContext, accuracyDocument } from '../../../../src/features/accuracy/accuracyDocument.ts';
import { accuracyVerdict } from '../../../../src/features/accuracy/accuracyReport.ts';
import { type HtmlOptions, renderHtml, renderText } from '../../../../src/kernel/document/render.ts';

const judged = (id: string, more: Partial<JudgedNode> = {}): JudgedNode => ({
  id,
  name: `/n${id}`,
  op: 'Add',
  type: 'float16',
  localError: 1e-4,
  propagatedError: 1e-3,
  max: 2,
  overflow: false,
  underflow: false,
  role: 'fine',
  amplification: 1,
  ...more,
});

const report = (more: Partial<AccuracyReport> = {}): AccuracyReport => ({
  low: 'fp16',
  level: 'node',
  samples: 1,
  tolerance: 0.01,
  goal: 0.008,
  inputs: [{ name: 'x', source: 'file', shape: [1] }],
  outputs: [{ name: 'y', max: 2, error: null, finite: false, judged: true, mean: null }],
  nodes: [
    judged('0', { name: '/pow', op: 'Pow', role: 'root', max: 4.4e11, overflow: true, localError: null, alone: null }),
    judged('1', { role: 'victim', propagatedError: null }),
  ],
  fix: {
    nodes: ['0'],
    names: ['/pow'],
    error: 0.0009,
    minimal: true,
    casts: 3,
    runs: 12,
    rules: 'model ./m.onnx\nbase fp16\n\n/pow fp32\n',
    added: '/pow fp32\n',
    without: [{ selector: '/pow', nodes: ['0'], error: null }],
  },
  reason: null,
  ...more,
});

const accuracyPage = (given: AccuracyReport, context: AccuracyContext, options?: HtmlOptions) =>
  renderHtml(accuracyDocument(given, context), options);

test('the verdict, the culprit with its evidence, and what its rule buys', () => {
  const page = accuracyPage(report(), { title: 'm.onnx' });
  expect(accuracyVerdict(report())).toBe(
    'FP16 gives outputs that are not finite; with 1 node in FP32 the error is 0.0009.',
  );
  for (const words of ['largest result 4.4e+11, FP16 ends at 65,504', '/pow fp32', 'error without it'])
    expect(page).toContain(words);
  const text = renderText(accuracyDocument(report(), { title: 'm.onnx' }));
  expect(text).toMatch(/^m\.onnx in FP16\n✗ FP16 gives outputs that are not finite;/);
  expect(text).toMatch(/\n {2}✗ y +fails +not finite +not finite +2\n/);
  expect(text).toMatch(/\n {2}✗ \/pow +Pow +cause +not finite +largest result 4\.4e\+11, FP16 ends at 65,504/);
  expect(text).toMatch(/\n {2}\/pow fp32 +1 +not finite\n/);
  expect(text).toContain('(none of them can be omitted; 12 runs).');
});

test('what kernels may change is a hypothesis of its own: verdict and outputs are those with every value rounded', () => {
  const held = [{ tensor: 't', node: '0', name: '/pow', kernel: '<k>', culprit: true }];
  const inKernels = [{ name: 'y', max: 2, error: 0.002, finite: true, judged: true, mean: 0.002 }];
  const page = accuracyPage(
    report({ level: 'kernel', outputs: inKernels, kernel: { outputs: report().outputs, held } }),
    { title: 'm.onnx' },
  );
  const [node, kernel] = page.split('<h2>In This Build&#39;s Kernels</h2>');
  expect(node).toContain('FP16 gives outputs that are not finite');
  expect(node).toContain('<td class="n">not finite</td>');
  expect(kernel).toContain('<td class="n">0.002</td>');
  expect(kernel).toContain('hypothesis');
  expect(kernel).toContain('/pow: inside &#60;k&#62;');
});

test('the precisions are on the page once they were compared', () => {
  const step = { measured: null, milliseconds: null, notMeasured: null, culprits: [], fix: null };
  const rungs = [{ ...step, precision: 'int8' as const, predicted: null, lowNodes: null, reason: 'not run: why' }];
  const page = accuracyPage(report(), { title: 'm.onnx', sweep: { tolerance: 0.01, samples: 1, rungs } });
  expect(page).toContain('<h2>Precisions</h2>');
  expect(page).toContain('not run: why');
  expect(accuracyPage(report(), { title: 'm.onnx' })).not.toContain('<h2>Precisions</h2>');
});

test('the page states its inputs, a scale, and what is in low precision alone', () => {
  const sensitivity = [{ kind: 'operator' as const, name: 'Pow', nodes: ['0'], error: 0.3 }];
  const page = accuracyPage(report({ sensitivity }), { title: 'm.onnx' });
  expect(page).toContain('Inputs: x 1 from files.');
  expect(page).toContain('<th scope="row">operator</th><td>Pow</td><td class="n">1</td><td class="n">0.3</td>');
  expect([...page.matchAll(/class="scale"[^>]*>([^<]*)</g)].map(([, text]) => text)).toEqual(['1', '1e-7', '0.01']);
});

test('nothing from the model becomes markup, and nothing on the page can run or load', () => {
  const evil = '</title><script>alert(1)</script>"\'';
  const page = accuracyPage(
    report({
      nodes: [judged('0', { name: evil, op: evil, role: 'root', alone: 0.5 })],
      outputs: [{ name: evil, max: 1, error: 0.5, finite: true, judged: true, mean: 0.5 }],
      inputs: [{ name: evil, source: 'random', shape: [] }],
      fix: null,
      reason: evil,
    }),
    { title: evil, actions: [{ label: evil, to: { kind: 'action', name: evil } }] },
    { hrefOf: () => evil },
  );
  expect(page).not.toContain('<script');
  expect(page).toContain(`default-src 'none'`);
  expect(page.match(/<(?:img|link|iframe|object|form)\b/g)).toBeNull();
});

test('thousands of nodes are drawn in a bounded number of columns', () => {
  const nodes = Array.from({ length: 14_163 }, (_, i) => judged(`${i}`));
  const page = accuracyPage(report({ nodes, fix: null }), { title: 'm.onnx' });
  expect(page.match(/<rect /g)!.length).toBeLessThanOrEqual(500);
});

test('the modules are below the strip: the innermost level that has room', () => {
  const names = ['0', '1'].flatMap((layer) =>
    ['attn/MatMul', 'attn/Softmax', 'ffn/MatMul'].map((part) => `/layers.${layer}/${part}`),
  );
  const nodes = [...names, '/norm/Pow'].map((name, i) => judged(`${i}`, { name }));
  const modules = (page: string) => [...page.matchAll(/<g><title>([^<]*)<\/title>/g)].map(([, title]) => title);
  expect(modules(accuracyPage(report({ nodes }), { title: 'm.onnx' }))).toEqual([
    '/layers.0/attn',
    '/layers.0/ffn',
    '/layers.1/attn',
    '/layers.1/ffn',
    '/norm',
  ]);
  const many = Array.from({ length: 90 }, (_, i) => judged(`${i}`, { name: `/layers.${i % 30}/part/${i}` }));
  expect(modules(accuracyPage(report({ nodes: many }), { title: 'm.onnx' }))).toEqual([]);
});

test('within the tolerance there is nothing to fix', () => {
  const outputs = [{ name: 'y', max: 2, error: 0.002, finite: true, judged: true, mean: 0.002 }];
  const fix = { ...report().fix!, nodes: [], names: [], without: [] };
  expect(accuracyVerdict(report({ outputs, fix }))).toBe('FP16 gives an error of 0.002, within the tolerance of 0.01.');
  expect(accuracyPage(report({ outputs, fix }), { title: 'm.onnx' })).toContain('Nothing to fix.');
});

test('what fewer nodes bring is a curve with its knee, and each rule has its cost next to its gain', () => {
  const trade = {
    points: [
      { nodes: [], error: null },
      { nodes: ['0'], error: 0.08 },
      { nodes: ['0', '1', '2', '3'], error: 0.0009 },
    ],
    knee: 1,
    rules: 'base fp16\n\n/pow fp32\n',
  };
  const without = [
    { selector: '/pow', nodes: ['0'], error: null, casts: 2, kernels: 3, ms: 0.25 },
    { selector: '/n*', nodes: ['1', '2', '3'], error: 0.08, casts: -1 },
  ];
  const given = report({ trade, fix: { ...report().fix!, without } });
  const text = renderText(accuracyDocument(given, { title: 'm.onnx' }));
  expect(text).toContain('1 node in FP32 brings the error from not finite to 0.08; the next 3 to 0.0009.');
  expect(text).toMatch(/\n {2}✗ +1 +0\.08 +knee\n {2}✓ +4 +0\.0009 +the fix\n/);
  expect(text).toMatch(/\n {2}\/pow fp32 +1 +not finite +\+2 +\+3 +0\.250 ms\n {2}\/n\* fp32 +3 +0\.08 +-1 +- +-\n/);
  const page = accuracyPage(given, { title: 'm.onnx' });
  expect(page).toContain('<circle cx="205.0" cy="16.5" r="6" class="knee"><title>1 node in FP32: 0.08</title>');
  expect(page).toContain('Ring: the knee.');
  expect(page).toContain('The rules of the knee as text');
  const straight = report({ trade: { ...trade, knee: null }, fix: { ...report().fix!, without } });
  expect(accuracyPage(straight, { title: 'm.onnx' })).not.toContain('Ring');
  // A search that is not over says so, with what it has.
  const stopped = report({ trade, fix: null, reason: 'why', search: 'stopped' });
  expect(accuracyVerdict(stopped)).toContain('stopped before it found a fix; so far 1 node in FP32 brings it to 0.08.');
  expect(accuracyPage(stopped, { title: 'm' })).toContain(
    'Warning: The search was stopped: this is what it had found.',
  );
});
