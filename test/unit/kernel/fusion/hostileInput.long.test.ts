import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createReport } from '../../../../src/kernel/fusion/createReport.ts';
import { parseMetadata } from '../../../../src/kernel/network/layerName.ts';
import { buildLog, buildPhase, engineLayer, layerInfo } from './buildEngine.ts';
import { buildModel, type ShortNode } from './buildModel.ts';
import { formatReport } from '../../../../src/kernel/report/reportText.ts';

const text = fc.oneof(
  fc.string(),
  fc.constantFrom(
    '',
    'a',
    'b',
    '[ONNX Layer: a]',
    '[ONNX Layer: ',
    '\u001e',
    '\u001f',
    '{ForeignNode[a...b]}',
    '__myl_A_myl0_0',
    '_myl0_1',
    'Reformatting CopyNode for Input Tensor 0 to a',
    'a copy',
    '__proto__',
    'constructor',
    'toString',
  ),
);
const texts = fc.array(text, { maxLength: 4 });
const layer = fc
  .record({
    name: text,
    type: text,
    inputs: texts,
    outputs: texts,
    metadata: fc.option(fc.array(text).map((list) => list.join(''))),
  })
  .map(({ name, ...rest }) => engineLayer(name, rest));
const nodes = fc.array(
  fc.tuple(text, fc.constantFrom('Add', 'Constant', 'Shape', 'Reshape', 'Identity', 'Loop', '__proto__'), texts, texts),
  { maxLength: 8 },
);

describe('input that makes no sense', () => {
  it('gives a report all the same', () => {
    fc.assert(
      fc.property(
        nodes,
        texts,
        texts,
        fc.array(layer, { maxLength: 8 }),
        texts,
        (list, inputs, outputs, layers, names) => {
          const model = buildModel({ inputs, outputs, initializers: names, nodes: list as ShortNode[] });
          const line = { name: names[0] ?? '', line: 1, metadata: names.join('') };
          const event = { pass: 'p', kind: 'fuse' as const, layers: names, line: 3 };
          const log = buildLog({
            phases: [
              buildPhase({
                foreignNodes: [line],
                events: [event, { ...event, kind: 'remove' }],
                tactics: [{ name: names[1] ?? '', line: 1, combinations: [] }],
              }),
            ],
            finalLayers: names,
            parsedNodes: names.map((name) => ({ name, op: 'Add', line: 1, layers: names, helpers: [] })),
            profile: names.map((name) => ({
              name,
              timeMs: 1,
              averageMs: Number.NaN,
              medianMs: null,
              percentage: Infinity,
            })),
          });
          for (const given of [
            { layerInfo: layerInfo(layers, names), log },
            { layerInfo: layerInfo(layers) },
            { log },
            {},
          ]) {
            const report = createReport({ model, modelFile: 'm', ...given });
            const { total, ...rest } = report.accounting;
            expect(Object.values(rest).reduce((sum, count) => sum + count, 0)).toBe(total);
            expect(total).toBe(list.length);
            for (const written of formatReport(report).split('\n')) expect(written.length).toBeLessThanOrEqual(100);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('with cycles, deep bodies and long chains comes to an end', () => {
    const cycle = buildModel({
      outputs: ['b'],
      nodes: [
        ['one', 'Add', ['b'], ['a']],
        ['two', 'Identity', ['a'], ['b']],
      ],
    });
    expect(
      createReport({
        model: cycle,
        modelFile: 'm',
        layerInfo: layerInfo([engineLayer('{ForeignNode[a]}', { outputs: ['b'] })]),
      }).accounting.total,
    ).toBe(2);
    const chain: ShortNode[] = Array.from({ length: 50_000 }, (_, i) => [
      `n${i}`,
      i % 3 === 0 ? 'Identity' : 'Add',
      [`t${i}`],
      [`t${i + 1}`],
    ]);
    const long = buildModel({ inputs: ['t0'], outputs: ['t50000'], nodes: chain });
    const report = createReport({
      model: long,
      modelFile: 'm',
      layerInfo: layerInfo([engineLayer('{ForeignNode[a]}', { inputs: ['t0'], outputs: ['t50000'] })]),
    });
    expect(report.accounting).toMatchObject({ foreign: 33_333, removed: 16_667 });
    let body: ShortNode[] = [['leaf', 'Relu', ['x'], ['y']]];
    for (let depth = 0; depth < 200; depth++)
      body = [[`loop${depth}`, 'Loop', ['x'], ['y'], { body: { outputs: ['y'], nodes: body } }]];
    const deep = buildModel({ inputs: ['x'], outputs: ['y'], nodes: body });
    const nested = createReport({
      model: deep,
      modelFile: 'm',
      layerInfo: layerInfo([engineLayer('{ForeignNode[a]}', { inputs: ['x'], outputs: ['y'] })]),
    });
    expect(nested.accounting).toMatchObject({ total: 201, foreign: 201 });
  });

  it('keeps metadata of any length in linear time', () => {
    for (const piece of ['[ONNX Layer: ', ']', '[ONNX Layer: a', '][ONNX Layer: ', '\u001e', ' ... ']) {
      const { tokens, rest } = parseMetadata(piece.repeat(50_000));
      expect(tokens.length + rest.length).toBeGreaterThanOrEqual(0);
    }
  });

  it('of very many nodes of one name, or very many parts of one, takes no square of their number', () => {
    const count = 150_000;
    const chain = (name: (i: number) => string) =>
      buildModel({
        inputs: ['t0'],
        outputs: [`t${count}`],
        nodes: Array.from({ length: count }, (_, i): ShortNode => [name(i), 'Relu', [`t${i}`], [`t${i + 1}`]]),
      });
    const same = chain(() => 'a');
    const kernel = createReport({
      model: same,
      modelFile: 'm.onnx',
      layerInfo: layerInfo([engineLayer('a+a_myl0_0')]),
    });
    expect(kernel.layers[0]!.nodes).toHaveLength(count);
    const registered = Array.from({ length: count }, (_, i) => ({
      name: 'a',
      op: 'Relu',
      line: i + 1,
      layers: [`a_${i}`],
      helpers: [],
    }));
    const parsed = createReport({
      model: same,
      modelFile: 'm.onnx',
      log: buildLog({ parsedNodes: registered, engineLayers: [engineLayer('a_70000')] }),
    });
    expect(parsed.layers[0]!.nodes).toEqual(['70000']);

    const named = chain((i) => `n${i}`);
    const metadata = `[ONNX Layer: ${Array.from({ length: count }, (_, i) => `p${i}`).join(' | ')}]`;
    // Of most nodes nothing is known: why is the same for all.
    const layers = Array.from({ length: count }, () => engineLayer('n1'));
    const report = createReport({
      model: named,
      modelFile: 'm.onnx',
      layerInfo: layerInfo([engineLayer('n0', { metadata }), ...layers]),
    });
    expect(report.accounting).toMatchObject({ total: count, unknown: count - 2 });

    const regions = Array.from({ length: 10_000 }, (_, i) =>
      engineLayer(`{ForeignNode[n0...n${i + 1}]}`, { inputs: [`m${i}`], outputs: [`m${i + 1}`] }),
    );
    const foreign = createReport({ model: named, modelFile: 'm.onnx', layerInfo: layerInfo(regions) });
    expect(foreign.foreignNodes).toHaveLength(regions.length);
  });

  it('of another kind than the model is called by its name', () => {
    const model = buildModel({ inputs: ['x'], outputs: ['y'], nodes: [['a', 'Relu', ['x'], ['y']]] });
    const parsedNodes = ['p', 'q', 'r'].map((name) => ({ name, op: 'Add', line: 1, layers: [name], helpers: [] }));
    const report = createReport({
      model,
      modelFile: 'm',
      log: buildLog({ parsedNodes, engineLayers: [engineLayer('p + q')] }),
    });
    expect(report.problems.map(({ code }) => code)).toEqual(['other-model']);
  });
});

describe('metadata', () => {
  it('is split at every separator that TensorRT uses', () => {
    const names = (value: string) => parseMetadata(value).tokens.map((token) => token.text);
    expect(names('[ONNX Layer: a]\u001e[ONNX Layer: b]\u001f[ONNX Layer: c]')).toEqual(['a', 'b', 'c']);
    expect(names('[ONNX Layer: a][ONNX Layer: b]')).toEqual(['a', 'b']);
    expect(names('[ONNX Layer: /fc/Gemm]\u001e\u001e')).toEqual(['/fc/Gemm']);
    expect(names('[ONNX Layer: x[0]]\u001e[ONNX Layer: y]]')).toEqual(['x[0]', 'y]']);
    expect(names('')).toEqual([]);
  });

  it('notices what was cut off', () => {
    expect(parseMetadata('[ONNX Layer: a]\u001e[ONNX Layer: b')).toMatchObject({ tokens: [{ text: 'a' }], cut: true });
    expect(parseMetadata('[CONVOLUTION]-[aten_ops.convolution.default]')).toEqual({
      tokens: [],
      cut: false,
      rest: '[CONVOLUTION]-[aten_ops.convolution.default]',
    });
    expect(parseMetadata('[ONNX Layer: act | then (then_branch) | if (If)]').tokens[0]!.parts).toEqual([
      'act',
      'then (then_branch)',
      'if (If)',
    ]);
  });
});
