import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readLayerInfo } from '../../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { captureText, manifest } from '../../../../support/fixtures.ts';
import { readNativeLayer } from '../../../../../src/kernel/read/tensorrt/readLayerLine.ts';

describe('captures', () => {
  test('every layer info is read without a problem and has the layers of the manifest', () => {
    let read = 0;
    for (const row of manifest()) {
      const text = captureText(`tensorrt-${row['tensorrt']}/${row['case']}/layers.json`);
      if (text === undefined) continue;
      const { value, problems } = readLayerInfo(text);
      read++;
      if (row['case'] === 'vit_tiny.none') {
        expect([value!.detail, value!.layers.length]).toEqual(['none', 0]);
        expect(problems.map(({ code }) => code)).toEqual(['layer-info-empty']);
        continue;
      }
      expect([row['case'], value!.layers.length]).toEqual([row['case'], Number(row['engine_layers'])]);
      expect(value!.detail).toBe(row['case']!.endsWith('names_only') ? 'names' : 'detailed');
      expect(value!.unknownKeys).toEqual({});
      expect(problems.filter(({ severity }) => severity !== 'info')).toEqual([]);
      for (const layer of value!.layers)
        expect([layer.name !== '', layer.profile, layer.line]).toEqual([true, 0, null]);
    }
    expect(read).toBe(46);
  });

  test('counts by type, as observed', () => {
    const types: Record<string, Record<string, number>> = { '8.6.1': {}, '10.6.0': {} };
    for (const row of manifest()) {
      const text = captureText(`tensorrt-${row['tensorrt']}/${row['case']}/layers.json`);
      for (const [type, count] of Object.entries(readLayerInfo(text ?? '').value!.layerTypes ?? {})) {
        const counts = types[row['tensorrt']!]!;
        counts[type] = (counts[type] ?? 0) + count;
      }
    }
    expect(types['8.6.1']).toMatchObject({ Myelin: 14, CaskConvolution: 19 });
    expect(types['10.6.0']!['kgen']).toBeGreaterThan(1000);
    expect(types['10.6.0']!['gemm']).toBeGreaterThan(1000);
    expect(types['10.6.0']!['Myelin']).toBeUndefined();
  });

  test('8.6 gives a ForeignNode as one layer without metadata; 10.6 gives its kernels with theirs', () => {
    const old = readLayerInfo(captureText('tensorrt-8.6.1/fp16_overflow.fp16/layers.json')!).value!;
    expect(old.layers.map(({ type, metadata }) => [type, metadata])).toEqual([
      ['Reformat', ''],
      ['Myelin', ''],
      ['Reformat', ''],
    ]);
    expect(old.layers[0]!.outputs).toEqual([
      {
        name: 'Reformatted Input Tensor 0 to {ForeignNode[/layers.0/norm1/ReduceMean.../head/Add]}',
        dims: [1, 32, 128],
        type: 'Half',
        format: 'Row major linear FP16 format',
      },
    ]);
    const kernels = readLayerInfo(captureText('tensorrt-10.6.0/fusion_zoo.fp32/layers.json')!).value!.layers;
    const tokens = new Set(
      kernels.flatMap(({ metadata }) =>
        [...metadata!.matchAll(/\[ONNX Layer: (.*?)\](?=$|[\x1e\x1f])/g)].map((match) => match[1]),
      ),
    );
    expect(tokens.size).toBe(77);
    expect(
      kernels.find(({ metadata }) => metadata!.includes('\x1e') && metadata!.includes('\x1f'))!.metadata,
    ).toContain('\x1f[ONNX Layer: /to_map/Transpose]\x1e');
    const conv = kernels.find(({ type }) => type === 'CaskConvolution')!;
    expect(conv.tactic).toMatch(/^0x[0-9a-f]{16}$/);
    expect(conv.streamId).toBe(0);
    expect(conv.extra).toMatchObject({ ParameterType: 'Convolution', Groups: 1 });
  });
});

describe('other files', () => {
  test('of a log one thing is wrong: it is no layer info', () => {
    const { value, problems } = readLayerInfo(captureText('tensorrt-10.6.0/vit_tiny.fp16/log.txt')!);
    expect(value).toBeUndefined();
    expect(problems.map(({ code }) => code)).toEqual(['no-layer-info']);
    expect(readLayerInfo('{ "Layers" [').problems.map(({ code }) => code)).toContain('json-syntax');
  });
});

const layer = (name: string, more: object = {}): object => ({
  Name: name,
  LayerType: 'gemm',
  Inputs: [],
  Outputs: [],
  StreamId: 0,
  Metadata: '',
  ...more,
});

describe('forms', () => {
  test('TensorRT 11: I/O tensors, format and data type apart, any capitals', () => {
    const { value } = readLayerInfo(
      JSON.stringify({
        ProfilingVerbosity: 'DETAILED',
        Layers: [
          layer('a', {
            Inputs: [
              {
                Name: 'x',
                Dimensions: [-1, 3, 'n'],
                Strides: [1],
                Format: 'Row major linear format',
                Datatype: 'Half',
              },
            ],
            Outputs: [{ Name: 'y', DataType: 'FP8', Format: 'LINEAR' }],
          }),
        ],
        'I/O Tensors': [
          { Name: 'x', IOMode: 'Input', DataType: 'Half', Dimensions: [-1, 3] },
          { Name: 'y', IOMode: 'OUTPUT', Datatype: 'FP8', Location: 'DEVICE' },
          { Name: 'z', IOMode: 'None' },
        ],
      }),
    );
    expect(value!.layers[0]!.inputs).toEqual([
      { name: 'x', dims: [-1, 3, -1], type: 'Half', format: 'Row major linear format' },
    ]);
    expect(value!.layers[0]!.outputs).toEqual([{ name: 'y', dims: null, type: 'FP8', format: 'LINEAR' }]);
    expect(value!.ioTensors).toEqual([
      { name: 'x', mode: 'input', type: 'Half', dims: [-1, 3] },
      { name: 'y', mode: 'output', type: 'FP8', dims: null },
      { name: 'z', mode: null, type: null, dims: null },
    ]);
    expect(value!.bindings).toEqual(['x', 'y', 'z']);
  });

  test.each(['Layers', 'layers', 'LayerInfo', 'layerInfo'])('the list may be called %s', (key) => {
    expect(readLayerInfo(JSON.stringify({ [key]: [layer('a'), layer('b')], Bindings: ['x'] })).value).toMatchObject({
      detail: 'detailed',
      bindings: ['x'],
      layers: [{ name: 'a' }, { name: 'b' }],
    });
  });

  test('a bare list, one layer alone, several documents', () => {
    expect(readLayerInfo(JSON.stringify([layer('a'), layer('b')])).value!.layers).toHaveLength(2);
    expect(readLayerInfo(JSON.stringify(layer('a'))).value!.layers).toHaveLength(1);
    const two = readLayerInfo(
      `${JSON.stringify({ Layers: [layer('a')], Bindings: ['x'] })}\n${JSON.stringify({ Layers: [layer('a [profile 1]')], Bindings: ['x', 'x [profile 1]'] })}\n`,
    ).value!;
    expect([two.documents, two.layers.map(({ profile }) => profile), two.bindings]).toEqual([
      2,
      [0, 1],
      ['x', 'x [profile 1]'],
    ]);
  });

  test('profiles are numbered by the suffix, which kernels have inside of their names', () => {
    const names = ['a', 'a [profile 1]', 'node_linear [profile 2]_myl11_2', 'x [profile 3] y'];
    expect(readLayerInfo(JSON.stringify({ Layers: names })).value!.layers.map(({ profile }) => profile)).toEqual([
      0, 1, 2, 0,
    ]);
  });

  test('types come from short and from long formats', () => {
    const formats: Record<string, string | null> = {
      'Row major linear FP32': 'Float', 'Channel major FP16 format where channel % 8 == 0': 'Half', 'Thirty-two wide channel vectorized row major Int8 format': 'Int8',
      'Row major linear Int64 format': 'Int64', 'Row major linear BOOL': 'Bool', Half: 'Half', BFloat16: 'BFloat16', FP8: 'FP8', 'Row major linear BF16 format': 'BFloat16',
      Int4: 'Int4', 'something new': null, Newtype: 'Newtype',
    }; // oxfmt-ignore
    const { value } = readLayerInfo(
      JSON.stringify({
        Layers: [
          layer('a', { Inputs: Object.keys(formats).map((format) => ({ Name: 'x', 'Format/Datatype': format })) }),
        ],
      }),
    );
    expect(value!.layers[0]!.inputs.map(({ type }) => type)).toEqual(Object.values(formats));
  });

  test('values of the wrong kind do no harm', () => {
    const { value, problems } = readLayerInfo(
      JSON.stringify({
        Layers: [
          7,
          layer('a', {
            Inputs: 'x',
            Outputs: [1, null, { Name: 3 }],
            StreamId: 'two',
            Metadata: 5,
            TacticValue: 17,
            __proto__x: 1,
          }),
        ],
        Bindings: [1, null, { Name: 'y' }],
      }),
    );
    expect(value!.layers).toHaveLength(1);
    expect(value!.layers[0]).toMatchObject({
      inputs: [],
      outputs: [{ name: '3', dims: null }],
      streamId: null,
      metadata: '5',
      tactic: '17',
    });
    expect(problems.map(({ code }) => code)).toEqual(['layer-unreadable']);
    expect(value!.bindings).toEqual(['1', 'y']);
  });
});

describe('JSON as TensorRT writes it where names have odd characters', () => {
  const written = (name: string): string => `{"Layers": [{
  "Name": "${name}",
  "LayerType": "NoOp",
  "Inputs": [
  {
    "Name": "${name}_in",
    "Location": "Device",
    "Dimensions": [1,2],
    "Format/Datatype": "Row major linear FP32"
  }],
  "Outputs": [],
  "StreamId": 0,
  "Metadata": "[ONNX Layer: a]\\u001e[ONNX Layer: b]"
}],
"Bindings": ["x"
,"y"]
}
`;

  test.each([
    ['"a" b\\c'],
    ['tab\there'],
    ['中文层/卷积_1, a'],
    ['back\\slash\\'],
    ['a "quoted", name'],
    ['{"x": 1}'],
    ['C:\\users\\new'],
  ])('%j', (name) => {
    const { value, problems } = readLayerInfo(written(name));
    expect(value!.layers).toHaveLength(1);
    expect(value!.layers[0]).toMatchObject({
      name,
      metadata: '[ONNX Layer: a]\x1e[ONNX Layer: b]',
      inputs: [{ name: `${name}_in`, dims: [1, 2] }],
    });
    expect(value!.bindings).toEqual(['x', 'y']);
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  });

  test('lists of names, too', () => {
    const { value } = readLayerInfo('{"Layers": ["say "hi""\n,"C:\\new"\n,"c"],\n"Bindings": ["x"\n,"y"]\n}');
    expect(value!.layers.map(({ name }) => name)).toEqual(['say "hi"', 'C:\\new', 'c']);
  });

  test('text after the end is noticed', () => {
    const { value, problems } = readLayerInfo(`${JSON.stringify({ Layers: ['a'] })}\nDone writing.\n`);
    expect(value!.layers).toHaveLength(1);
    expect(problems).toMatchObject([{ code: 'json-trailing', line: 2 }, { code: 'layer-names-only' }]);
  });

  test('a cut-off file gives the layers that are whole', () => {
    const text = captureText('tensorrt-10.6.0/fusion_zoo.fp32/layers.json')!;
    const names = readLayerInfo(text).value!.layers.map(({ name }) => name);
    for (let length = 200; length < text.length; length += 1777) {
      const { value, problems } = readLayerInfo(text.slice(0, length));
      const found = value!.layers.map(({ name }) => name);
      expect(found.slice(0, -1)).toEqual(names.slice(0, found.length - 1));
      expect(problems.map(({ code }) => code)).toContain('json-end');
    }
  });
});

test('mutated files never make it throw', () => {
  const text = captureText('tensorrt-8.6.1/unnamed.fp32/layers.json')!.slice(0, 6000);
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(fc.nat(text.length - 1), fc.constantFrom('"', '{', '}', '[', ']', ',', ':', '\\', '\u0000', 'x', '')),
        { maxLength: 12 },
      ),
      (edits) => {
        let mutated = text;
        for (const [at, char] of edits) mutated = mutated.slice(0, at) + char + mutated.slice(at + 1);
        const { value } = readLayerInfo(mutated);
        for (const { name, inputs } of value?.layers ?? [])
          expect([typeof name, Array.isArray(inputs)]).toEqual(['string', true]);
      },
    ),
    { numRuns: 300 },
  );
});

test('what is nested 10,000 deep, and nothing else, is a problem of its own', () => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
  const { value, problems } = readLayerInfo(`{"Layers":[${deep},{"Name":"a","LayerType":"x","Inputs":${deep}}]}`);
  expect(problems[0]).toMatchObject({ code: 'layer-unreadable', message: expect.stringContaining('a list') as string });
  expect(value!.layers.map(({ name }) => name)).toEqual(['a']);
  // Where it is cut off, too: one problem for the depth, none for each bracket.
  const codes = readLayerInfo(`{"Layers":[${deep.slice(0, 9000)}`).problems.map(({ code }) => code);
  expect(codes).toContain('json-depth');
  expect(codes).not.toContain('json-end');
});

describe('a native layer of a log', () => {
  test('has its tensors with types, in either notation', () => {
    const layer = readNativeLayer('Layer(Myelin): a -> b, Tactic: 0x0, in (Half[1,192:8,14]) -> out[Float(1,3)]', 7);
    expect(layer).toMatchObject({ name: 'a -> b', type: 'Myelin', tactic: '0x0', line: 7 });
    expect(layer?.inputs).toMatchObject([{ name: 'in', type: 'Half', dims: [1, 192, 14] }]);
    expect(layer?.outputs).toMatchObject([{ name: 'out', type: 'Float', dims: [1, 3] }]);
  });

  test.each([' (Half[', '[Half('])('takes brackets that nobody closes for a name, and goes on: %s', (open) => {
    const layer = readNativeLayer(`Layer(Myelin): a, Tactic: 0x0, in${open.repeat(3)} -> out (Float[1])`, 1);
    expect(layer?.inputs).toMatchObject([{ name: `in${open.repeat(3)}`, type: null }]);
    expect(layer?.outputs).toMatchObject([{ name: 'out', type: 'Float', dims: [1] }]);
  });
});
