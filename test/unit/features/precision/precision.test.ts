import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { onnx } from 'onnx-proto';
import { describe, expect, test } from 'vitest';
import { precision } from '../../../../src/features/precision/node/cli/precision.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { temporaryFolder } from '../../../support/rtx.ts';
import { runCommand as run } from '../../shell/cli/runCommand.ts';

const folder = temporaryFolder();
const capture = (name: string) => fixturePath(`captures/${name}`);
let count = 0;

/** A folder of a test's own, with a rules file in it. */
function rulesFile(text: string): { place: string; rules: string } {
  const place = join(folder, String(count++));
  mkdirSync(place);
  const rules = join(place, 'net.trtprec');
  writeFileSync(rules, text);
  return { place, rules };
}

describe('precision check', () => {
  test('says what is wrong with line and column, and how many nodes each rule selects', async () => {
    const { rules } = rulesFile(`model ${modelPath('vit_tiny')}\nop:Softmax fp32\nop:Softmx fp32\nop:MatMul fp9\n`);
    const { code, out } = await run(precision, 'check', rules);
    expect(code).toBe(1);
    expect(out).toContain(
      `${rules}:3:1: warning matches-nothing: The model has no node of type Softmx. Similar: Softmax.`,
    );
    expect(out).toContain(`${rules}:4:11: error unknown-type`);
    expect(out).toContain('line 2: 12 nodes\n');
    expect(out).toMatch(/\n1 error, 1 warning\n$/);
    expect(
      (await run(precision, 'check', rulesFile('op:Softmax fp32').rules, '--onnx', modelPath('vit_tiny'))).code,
    ).toBe(0);
  });

  test('--json is the language server’s diagnostics, and counts nodes inside ForeignNodes', async () => {
    const { rules } = rulesFile('op:Softmax fp32\nnothing fp32\n');
    const log = capture('tensorrt-10.6.0/vit_tiny.prec_obey/log.txt.gz');
    const { code, out } = await run(precision, 'check', rules, '--onnx', modelPath('vit_tiny'), '--log', log, '--json');
    expect(code).toBe(0);
    const { diagnostics, rules: found } = JSON.parse(out) as { diagnostics: object[]; rules: object[] };
    expect(found).toEqual([
      { line: 1, nodes: 12, foreign: 12 },
      { line: 2, nodes: 0, foreign: 0 },
    ]);
    expect(diagnostics).toContainEqual(
      expect.objectContaining({ code: 'matches-nothing', severity: 'warning', line: 2, column: 1, endColumn: 8 }),
    );
  });
});

test.each(['apply', 'check', 'flags', 'verify'])('precision %s: a model in the place of its rules', async (verb) => {
  const log = capture('tensorrt-10.6.0/vit_tiny.prec_obey/log.txt.gz');
  const more = verb === 'apply' ? ['-o', join(folder, 'none.onnx')] : ['--tensorrt', '10.6'];
  await expect(run(precision, verb, modelPath('vit_tiny'), ...more, '--log', log)).rejects.toThrow(
    /vit_tiny\.onnx is not UTF-8 text\. Pass an override file \(\*\.trtprec\)/,
  );
});

test.each([
  '10.6',
  'v10.6.0',
  '11',
  'tensorrt-8.6.1.6',
  'rtx',
  'RTX',
  'rtx-1.7',
  'tensorrt-rtx',
  '10.6.0+x',
  '-1',
  'ten',
  '',
  '10.',
  'rtx10',
  'rtx-',
])('--tensorrt=%s', async (version) => {
  const checked = run(precision, 'check', rulesFile('op:Softmax fp32').rules, `--tensorrt=${version}`);
  if (/^(v?10\.6(\.0)?|11|tensorrt-8\.6\.1\.6|(tensorrt-)?rtx(-1\.7)?)$/i.test(version))
    expect(await checked).toMatchObject({ code: 0 });
  else
    await expect(checked).rejects.toThrow(
      `--tensorrt: '${version}' is not a version. Use a version such as 10.6 or 11, or rtx`,
    );
});

test('of a model that is cut off no flags are made, and no check passes', async () => {
  const { place, rules } = rulesFile('op:Softmax fp32\n');
  const cut = join(place, 'cut.onnx');
  writeFileSync(cut, readFileSync(modelPath('vit_tiny')).subarray(0, 100_000));
  const more = ['--onnx', cut, '--tensorrt', '10.6'];
  const error = expect.stringContaining('error: cut.onnx: The file is truncated') as unknown;
  expect(await run(precision, 'check', rules, ...more)).toMatchObject({ code: 2, err: error });
  expect(await run(precision, 'flags', rules, ...more)).toMatchObject({ code: 2, err: error, out: '' });
  const log = capture('tensorrt-10.6.0/vit_tiny.prec_obey/log.txt.gz');
  for (const verb of ['check', 'verify'])
    expect(await run(precision, verb, rules, ...more, '--log', log)).toMatchObject({ code: 2, err: error });
});

describe('precision flags', () => {
  const { rules } = rulesFile(`model ${modelPath('vit_tiny')}\nbase fp16\n/blocks/blocks.0/attn/Softmax fp32\n`);

  test.each([
    [
      ['--tensorrt', '10.6'],
      ['--fp16', '--precisionConstraints=obey', '--layerPrecisions=/blocks/blocks.0/attn/Softmax:fp32'],
    ],
    [
      ['--tensorrt', '8.6', '--for', 'polygraphy'],
      ['--fp16', '--precision-constraints', 'obey', '--layer-precisions', '/blocks/blocks.0/attn/Softmax:float32'],
    ],
    [
      ['--for', 'autocast'],
      ['--low_precision_type', 'fp16', '--keep_io_types', '--nodes_to_exclude', '^/blocks/blocks\\.0/attn/Softmax$'],
    ],
  ])('%j', async (options, expected) => {
    const { code, out } = await run(precision, 'flags', rules, ...options);
    expect(code).toBe(0);
    expect(out.trimEnd().split('\n')).toEqual(expected);
  });

  test('TensorRT 11 and RTX have none, and say what to do', async () => {
    for (const version of ['11', 'rtx'])
      await expect(run(precision, 'flags', rules, '--tensorrt', version)).rejects.toThrow(/typed copy of the model/);
    await expect(run(precision, 'flags', rules)).rejects.toThrow(/--tensorrt VERSION is missing/);
    await expect(run(precision, 'flags', rules, '--for', 'nvcc')).rejects.toThrow(
      /expected one of trtexec, polygraphy, autocast/,
    );
  });

  test('before 8.4.1 there is nothing to do but to use a newer one', async () => {
    await expect(run(precision, 'flags', rules, '--tensorrt', '8.2')).rejects.toThrow(
      /\(since 8\.4\.1\) nor strongly typed networks\. Use a newer version\.$/,
    );
  });
});

describe('precision import', () => {
  test.each([
    [
      'trtexec --onnx=m.onnx --precisionConstraints=obey --layerPrecisions=a:fp32,*:fp16 --layerOutputTypes=a:fp32',
      '** fp16\na fp32 -> fp32\n',
    ],
    [
      'polygraphy run m.onnx --trt --layer-precisions a:float32 b:c:half --precision-constraints prefer',
      'require prefer\na fp32\nb:c fp16\n',
    ],
    // Which types TensorRT may use beside: without them the rules would ask for an engine in FP32 alone.
    ['trtexec --fp16 --precisionConstraints=obey --layerPrecisions=a:fp32', 'base fp16\na fp32\n'],
    ['polygraphy convert m.onnx --bf16 --layer-precisions a:float32 -v -o e.plan', 'base bf16\na fp32\n'],
    [
      'python -m modelopt.onnx.autocast --onnx_path=m.onnx --nodes_to_exclude /a/.* --op_types_to_exclude Exp',
      'base fp16\nop:Exp fp32\n/a/** fp32\n',
    ],
  ])('%s', async (command, expected) => {
    expect(await run(precision, 'import', '--', ...command.split(' '))).toEqual({ code: 0, out: expected, err: '' });
  });

  test('into a file, but none of the user; what cannot be read is said', async () => {
    const { place } = rulesFile('');
    const out = join(place, 'imported.trtprec');
    const command = ['import', '-o', out, '--', 'trtexec', '--layerPrecisions=a:fp32'];
    expect((await run(precision, ...command)).err).toContain('constraints-missing');
    expect(readFileSync(out, 'utf8')).toBe('# Written by TensorRT Lens\na fp32\n');
    writeFileSync(out, 'a fp32\n');
    await expect(run(precision, ...command)).rejects.toThrow(/already exists/);
    expect(
      await run(precision, 'import', '--', 'trtexec', '--best', '--int8', '--layerPrecisions=a:fp32'),
    ).toMatchObject({
      out: 'base fp16\na fp32\n',
      err: expect.stringMatching(/types-not-taken: .*--best, --int8/) as unknown,
    });
    await expect(run(precision, 'import', '--', 'trtexec', '--fp16')).rejects.toThrow(/no layer precisions/);
    await expect(run(precision, 'import')).rejects.toThrow(/command line to import is missing/);
    const quoted = run(precision, 'import', '--', 'trtexec --fp16 --layerPrecisions=a:fp32');
    await expect(quoted).rejects.toThrow(/not in one pair of quotes/);
    expect(await run(precision, 'import', '--', 'trtexec', "--layerPrecisions='a:fp32")).toMatchObject({ code: 1 });
  });
});

describe('precision apply', () => {
  test('the counts, the files, and what the model was', async () => {
    const { place, rules } = rulesFile(`model ${modelPath('fp16_overflow')}\nbase fp16\n/final_norm/** fp32\n`);
    const before = readFileSync(modelPath('fp16_overflow'));
    const out = join(place, 'typed.onnx');
    const ran = await run(precision, 'apply', rules, '-o', out);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toMatch(
      /^255 nodes; of those with a selectable type: 9 in FP32, 198 in FP16\n\d+ Casts added, \d+ constants converted\n/,
    );
    expect(ran.out).toContain(`${out}: ${readFileSync(out).length.toLocaleString('en-US')} bytes`);
    expect(readFileSync(modelPath('fp16_overflow')).equals(before)).toBe(true);
    expect(readdirSync(place).sort()).toEqual(['net.trtprec', 'typed.onnx']);
    const given = relative(process.cwd(), out);
    expect((await run(precision, 'apply', rules, '-o', given)).out).toContain(`\n${given}: `);
    expect((await run(precision, 'apply', rules, '-o', out, '--base', 'bf16')).out).toContain('198 in BF16');
  });

  test('a compressed model with external data: the new model lies with its own', async () => {
    const { place, rules } = rulesFile('base fp16\nb fp32\n');
    const model = join(place, 'small.onnx.gz');
    writeFileSync(model, gzipSync(external('weights.bin')));
    writeFileSync(join(place, 'weights.bin'), new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer));
    const out = join(place, 'out', 'small.onnx');
    const ran = await run(precision, 'apply', rules, '--onnx', model, '-o', out);
    expect(ran.code).toBe(0);
    expect(ran.out).toContain(' 1 constant converted\n');
    expect(readdirSync(join(place, 'out')).sort()).toEqual(['small.onnx', 'small.onnx.data', 'weights.bin']);
    expect([...readFileSync(`${out}.data`)]).toEqual([0, 0x3c, 0, 0x40]);
    const tensors = onnx.ModelProto.decode(readFileSync(out)).graph!.initializer!;
    expect(tensors.map(({ dataType }) => dataType)).toEqual([10, 1]);
  });

  test('weights that the new type cannot hold, by name', async () => {
    const { place, rules } = rulesFile('base fp16\n');
    const model = join(place, 'small.onnx');
    const weights = join(place, 'weights.bin');
    const out = join(place, 'typed', 'small.onnx');
    writeFileSync(model, external('weights.bin'));
    writeFileSync(weights, new Uint8Array(Float32Array.of(1e6, -70000, NaN, 1e-9).buffer));
    expect(await run(precision, 'apply', rules, '--onnx', model, '-o', out)).toMatchObject({
      code: 0,
      err:
        'warning weights-clamped: 2 weights exceeded the range of the new type and became its largest finite value: in "wa".\n' +
        'info weights-vanished: 1 weight was too small for the new type and became zero: in "wb".\n',
    });
    writeFileSync(weights, new Uint8Array(Float32Array.of(65519, -65504, Infinity, 0).buffer));
    expect((await run(precision, 'apply', rules, '--onnx', model, '-o', out)).err).toBe('');
  });

  test('never writes over the model or its weights, nor follows a model out of its folder', async () => {
    const { place, rules } = rulesFile('base fp16\n');
    const model = join(place, 'small.onnx');
    const weights = join(place, 'weights.bin');
    writeFileSync(weights, new Uint8Array(16));
    writeFileSync(model, external('weights.bin'));
    const apply = (out: string, ...more: string[]) =>
      run(precision, 'apply', rules, '--onnx', model, '-o', out, ...more);
    await expect(apply(model)).rejects.toThrow(/would overwrite the input/);
    await expect(apply(weights)).rejects.toThrow(/is not a model/);
    await expect(apply(weights, '--force')).rejects.toThrow(/would overwrite the input/);
    await expect(apply(place)).rejects.toThrow(/is a folder/);
    for (const [location, why] of [
      ['../secret', /points outside the model's folder/],
      ['/etc/hostname', /is not inside the model's folder/],
      ['C:\\x', /is not inside/],
      ['link.bin', /is a symbolic link/],
      ['gone.bin', /no such file/],
    ] as const) {
      if (location === 'link.bin') symlinkSync(weights, join(place, location));
      writeFileSync(model, external(location));
      await expect(apply(join(place, 'out.onnx'))).rejects.toThrow(why);
    }
    writeFileSync(model, external('short.bin'));
    writeFileSync(join(place, 'short.bin'), new Uint8Array(10));
    await expect(apply(join(place, 'out.onnx'))).rejects.toThrow(/short\.bin ends at byte/);
    writeFileSync(model, 'no model at all');
    await expect(apply(join(place, 'out.onnx'))).rejects.toThrow();
    expect(readdirSync(place).sort()).toEqual(['link.bin', 'net.trtprec', 'short.bin', 'small.onnx', 'weights.bin']);
    expect(readFileSync(weights).equals(Buffer.alloc(16))).toBe(true);
  });

  test('other people’s files of the same name stay', async () => {
    const { place, rules } = rulesFile('base fp16\nb fp32\n');
    const model = join(place, 'small.onnx');
    writeFileSync(model, external('weights.bin'));
    writeFileSync(join(place, 'weights.bin'), new Uint8Array(16));
    const out = join(place, 'out');
    mkdirSync(out);
    writeFileSync(join(out, 'weights.bin'), 'mine');
    await expect(run(precision, 'apply', rules, '--onnx', model, '-o', join(out, 'new.onnx'))).rejects.toThrow(
      /already exists with other content/,
    );
    expect(readdirSync(out)).toEqual(['weights.bin']);
    copyFileSync(join(place, 'weights.bin'), join(out, 'weights.bin'));
    writeFileSync(join(out, 'new.onnx.data'), 'mine, too');
    await expect(run(precision, 'apply', rules, '--onnx', model, '-o', join(out, 'new.onnx'))).rejects.toThrow(
      /already exists\. Remove it/,
    );
    expect(existsSync(join(out, 'new.onnx'))).toBe(false);
  });
});

/** y = (x + a) * b, with both weights outside of the model. */
function external(location: string): Uint8Array {
  const value = (name: string) => ({ name, type: { tensorType: { elemType: 1, shape: { dim: [{ dimValue: 2 }] } } } });
  const weight = (name: string, offset: number) => ({
    name,
    dims: [2],
    dataType: 1,
    dataLocation: onnx.TensorProto.DataLocation.EXTERNAL,
    externalData: Object.entries({ location, offset: String(offset), length: '8' }).map(([key, text]) => ({
      key,
      value: text,
    })),
  });
  return onnx.ModelProto.encode({
    irVersion: 8,
    opsetImport: [{ domain: '', version: 17 }],
    graph: {
      name: 'small',
      node: [
        { opType: 'Add', name: 'a', input: ['x', 'wa'], output: ['h'] },
        { opType: 'Mul', name: 'b', input: ['h', 'wb'], output: ['y'] },
      ],
      initializer: [weight('wa', 0), weight('wb', 8)],
      input: [value('x')],
      output: [value('y')],
    },
  }).finish();
}

describe('precision verify', () => {
  const log = capture('tensorrt-10.6.0/vit_tiny.prec_obey/log.txt.gz');
  const model = modelPath('vit_tiny');

  test('each rule with its evidence; the exit status is for CI', async () => {
    const { rules } = rulesFile('/blocks/blocks.0/attn/Softmax fp32\n');
    const ran = await run(precision, 'verify', rules, '--onnx', model, '--log', log);
    expect(ran.code).toBe(0);
    expect(ran.out).toContain(`${rules}:1: unverifiable: TensorRT accepted the request (log line `);
    const bad = rulesFile('/blocks/blocks.2/attn/Softmax fp32\n').rules;
    const { code, out } = await run(precision, 'verify', bad, '--onnx', model, '--log', log, '--json');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      tensorrt: { product: 'tensorrt', version: expect.stringMatching(/^10\.6/) as string },
      rules: [{ line: 1, verdict: 'unbuilt', counts: { obeyed: 0, disobeyed: 0, unseen: 0, unbuilt: 1 } }],
    });
  });

  test('the log of another model proves nothing of this one', async () => {
    const { rules } = rulesFile('/layers.0/attn/qk/MatMul fp16\n');
    const other = capture('tensorrt-rtx-1.7.1/fp16_overflow_mixed/log.txt.gz');
    const ran = await run(precision, 'verify', rules, '--onnx', modelPath('fp16_overflow'), '--log', other);
    expect(ran.err).toContain('Check that the engine was built from this file.');
    expect(ran.out).not.toContain('in the model this node makes');
  });

  test('nothing that is no build of this model lets CI pass', async () => {
    const { place, rules } = rulesFile('op:Softmax fp32\n');
    const onnx = modelPath('vit_tiny');
    const noLog = join(place, 'no.log');
    writeFileSync(noLog, 'hello');
    // The log of another model allowed FP32 only, and that of a failed build: neither proves anything.
    for (const log of [
      capture('tensorrt-8.6.1/fp16_overflow.fp32/log.txt.gz'),
      capture('tensorrt-10.6.0/unsupported_op.fp32/log.txt'),
      noLog,
    ]) {
      const ran = await run(precision, 'verify', rules, '--onnx', onnx, '--log', log);
      expect(ran).toMatchObject({ code: 2, err: expect.stringContaining('error: ') as unknown });
      expect(ran.out).toMatch(/: unverifiable: All 12 nodes: unverifiable\./);
    }
    const failed = capture('tensorrt-10.6.0/unsupported_op.fp32/log.txt');
    const own = rulesFile('** fp32\n').rules;
    expect((await run(precision, 'verify', own, '--onnx', modelPath('unsupported_op'), '--log', failed)).code).toBe(2);
  });

  test('the log of one build and the layers of another', async () => {
    const { rules } = rulesFile('op:Softmax fp32\n/patch_embed/proj/Conv fp32\n');
    const [log, layers] = ['fp32/log.txt.gz', 'prec_obey/layers.json'].map((name) =>
      capture(`tensorrt-10.6.0/vit_tiny.${name}`),
    );
    const ran = await run(
      precision,
      'verify',
      rules,
      '--onnx',
      modelPath('vit_tiny'),
      '--log',
      log!,
      '--layers',
      layers!,
    );
    expect(ran.code).toBe(1);
    expect(ran.out).toMatch(
      /:1: unbuilt: .*\n.*:2: unbuilt: Not built with these rules yet; .* weights are fp16, not fp32/,
    );
  });

  test('without a build there is nothing to hold against', async () => {
    await expect(run(precision, 'verify', rulesFile('a fp32').rules, '--onnx', model)).rejects.toThrow(
      /pass --build FOLDER, --log BUILD.log/,
    );
  });
});
