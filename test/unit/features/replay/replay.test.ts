import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Algorithm,
  algorithmKey,
  implementationId,
  type OfferedChoice,
  type ReplayFile,
  sameAlgorithm,
  tacticHex,
  tacticId,
} from '../../../../src/kernel/read/replay/replayFile.ts';
import {
  type Choices,
  choicesOfLog,
  choiceTitle,
  describeAlgorithm,
  freeLayers,
  implementationName,
  readChoices,
  sniffChoices,
  titleOf,
  titlesOf,
} from '../../../../src/kernel/read/replay/readChoices.ts';
import { readFormats } from '../../../../src/kernel/read/replay/tensorFormats.ts';
import {
  checkReplay,
  emptyContext,
  type ReplayContext,
  replayHints,
} from '../../../../src/features/replay/checkReplay.ts';
import {
  addEntry,
  applySpanEdits,
  diffReplays,
  formatName,
  removeEntry,
  replaceAlgorithm,
} from '../../../../src/features/replay/editReplay.ts';
import {
  choicesOfMismatches,
  readAlgorithm,
  readMismatches,
  readReplay,
  sniffReplay,
} from '../../../../src/kernel/read/replay/readReplay.ts';
import { readBuildLog } from '../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { captureText } from '../../../support/fixtures.ts';
import { captured } from '../precision/overrideFixtures.ts';

function text(name: string): string {
  const found = captureText(name);
  if (found === undefined) throw new Error(`The capture ${name} is missing`);
  return found;
}

function file(source: string): ReplayFile {
  const { value, problems } = readReplay(source);
  expect(problems).toEqual([]);
  if (!value) throw new Error('no replay');
  return value;
}

const vit = 'tensorrt-10.6.0/vit_tiny';
const recorded = (): string => text(`${vit}.poly_replay/replay.json`);
const edited = (): string => text(`${vit}.poly_replay/edited.json`);
const sidecar = () => readChoices(text(`${vit}.algolog/choices.jsonl`)).value!;
const codes = (source: string, context: Partial<ReplayContext> = {}) =>
  checkReplay(source, readReplay(source), { ...emptyContext, ...context }).map(({ code, line }) => `${line} ${code}`);

/** One entry in each of the four forms. */
const forms = {
  A: '["TensorFormat.LINEAR", "DataType.FLOAT"]',
  B: '["TensorFormat.LINEAR", "DataType.FLOAT", [784, 784, 28, 1]]',
  C: '{"tensor_format": "TensorFormat.LINEAR", "dtype": "DataType.FLOAT", "strides": [784, 784, 28, 1], "vectorized_dim": -1, "components_per_element": 1, "polygraphy_class": "TensorInfo"}',
  D: '{"dtype": "DataType.FLOAT", "strides": [784, 784, 28, 1], "vectorized_dim": -1, "components_per_element": 1, "polygraphy_class": "TensorInfo"}',
};
const inForm = (io: string, tactic = '6596631851832846809') =>
  `{"replay": {"conv": {"implementation": -2147483638, "tactic": ${tactic}, "inputs": [${io}], "outputs": [${io}], "polygraphy_class": "Algorithm"}}, "polygraphy_class": "TacticReplayData"}`;

describe('ids', () => {
  test('64 bits stay whole, negative and hexadecimal ones are the same', () => {
    expect(tacticHex('6596631851832846809')).toBe('0x5b8bf1b8028629d9');
    expect(tacticId('0x8ad32616b1424be4')).toBe('-8443362997484499996');
    expect(tacticId('18446744073709551616')).toBeNull();
    expect(tacticId('1.5')).toBeNull();
    expect(implementationId('-2147483638')).toBe(0x8000000a);
    expect(implementationId('2147483683')).toBe(0x80000023);
    expect(implementationId('4294967296')).toBeNull();
  });
});

describe('reading', () => {
  test.each(Object.entries(forms))('form %s, with places', (variant, io) => {
    const source = inForm(io);
    const replay = file(source);
    expect(replay.variant).toBe(variant);
    const entry = replay.entries[0]!;
    expect(entry.algorithm).toMatchObject({ implementation: '-2147483638', tactic: '6596631851832846809' });
    expect(entry.algorithm.inputs[0]).toEqual({
      dtype: 'FLOAT',
      format: variant === 'D' ? null : 'LINEAR',
      strides: variant === 'A' ? null : [784, 784, 28, 1],
      vectorizedDim: variant < 'C' ? null : -1,
      components: variant < 'C' ? null : 1,
    });
    const at = ({ start, end }: { start: number; end: number }) => source.slice(start, end);
    expect(at(entry.key)).toBe('"conv"');
    expect(at(entry.places.tactic!)).toBe('6596631851832846809');
    expect(at(entry.places.tensors[1]!.dtype!)).toBe('"DataType.FLOAT"');
    expect(entry.places.tensors[0]!.strideNumbers.map(at)).toEqual(variant === 'A' ? [] : ['784', '784', '28', '1']);
  });

  test('the oldest class markers', () => {
    const old = inForm(forms.A).replaceAll(
      /"polygraphy_class": "(\w+)"/g,
      '"__polygraphy_encoded_$1": "polygraphy_serialized_json_type"',
    );
    expect(file(old)).toMatchObject({ marker: 'encoded', entries: [{ layer: 'conv' }] });
  });

  test.each([
    ['another value', (old: string) => old.replace('"polygraphy_serialized_json_type"', '"constant"')],
    ['no text', (old: string) => old.replace('"polygraphy_serialized_json_type"', 'true')],
    ['another class', (old: string) => old.replace('_encoded_Algorithm"', '_encoded_TensorInfo"')],
  ])('an old class marker with %s is wrong, and put right', (_, change) => {
    const old = inForm('').replaceAll(
      /"polygraphy_class": "(\w+)"/g,
      '"__polygraphy_encoded_$1": "polygraphy_serialized_json_type"',
    );
    const broken = change(old);
    expect(broken).not.toBe(old);
    const { problems } = readReplay(broken);
    expect(problems).toMatchObject([{ severity: 'error', code: 'bad-class' }]);
    expect(applySpanEdits(broken, problems[0]!.fixes[0]!.edits)).toBe(old);
  });

  test('every capture reads without a problem', () => {
    for (const version of ['8.6.1', '10.6.0']) {
      for (const model of ['vit_tiny', 'fp16_overflow']) {
        expect(file(text(`tensorrt-${version}/${model}.poly_replay/replay.json`)).variant).toBe('D');
      }
    }
    const debug = text('tensorrt-10.6.0/fp16_overflow.poly_debug_precision/polygraphy_debug_replay.json');
    expect([sniffReplay(debug), readReplay(debug).kind]).toEqual(['debug', 'debug']);
  });

  test.each([
    ['', ['no-replay']],
    ['[1]', ['no-replay']],
    ['{"a": 1}', ['no-replay']],
    [inForm(forms.D, '1.5'), ['bad-id']],
    [inForm(forms.D, '99999999999999999999'), ['bad-id']],
    [inForm(forms.D, '"7"'), ['bad-id']],
    [inForm(forms.D, '14666461089709386752'), ['bad-id']],
    [inForm(forms.D).replace('DataType.FLOAT', 'DataType.FLOOT'), ['unknown-type']],
    [inForm(forms.D).replace('"DataType.FLOAT"', '"FLOAT"'), ['unknown-type']],
    [inForm(forms.A).replace('TensorFormat.LINEAR', 'TensorFormat.LINEAL'), ['unknown-format']],
    [inForm(forms.B).replace('TensorFormat.LINEAR', 'LINEAR'), ['unknown-format']],
    [inForm(forms.C).replace('TensorFormat.LINEAR', 'TensorFormat.CHW64'), ['unknown-format']],
    [inForm(forms.D).replace('"implementation": -2147483638, ', ''), ['missing-member']],
    [inForm(`${forms.D}, ${forms.B}`), ['mixed-variants', 'mixed-variants']],
    [inForm(forms.D).replace('[784, 784, 28, 1]', '"x"'), ['bad-tensor']],
    [inForm(forms.D).replace('"strides": [784, 784, 28, 1], ', ''), ['missing-member']],
    [inForm(forms.D).replace('"vectorized_dim": -1, ', ''), ['missing-member']],
    [inForm(forms.D).replace('"components_per_element": 1, ', ''), ['missing-member']],
    ['{"replay": {"a": 3}, "polygraphy_class": "TacticReplayData"}', ['bad-entry']],
  ])('%s', (source, expected) => {
    expect(readReplay(source).problems.map(({ code }) => code)).toEqual(expected);
  });

  test.each([
    ['a tactic with zeros before it', (source: string) => source.replace('"tactic": 0', '"tactic": 00'), 'json-number'],
    ['a stray comma', (source: string) => source.replace('"strides": [', '"strides": [,'), 'json-comma'],
    ['a comma before the end', (source: string) => source.replace(/(\d)(\s*\])/, '$1,$2'), 'json-syntax'],
    ['a comment', (source: string) => source.replace('"inputs"', '// no "FLOAT"\n"inputs"'), 'json-comment'],
    ['Python', (source: string) => source.replace(/"vectorized_dim": -?\d+/, '"vectorized_dim": None'), 'json-word'],
    ['a tab in a name', (source: string) => source.replace('proj/', 'proj\t/'), 'json-control'],
    ['an escape of another language', (source: string) => source.replace('proj/', 'proj\\x2f'), 'json-string'],
    ['text after the end', (source: string) => `${source}\nend`, 'json-trailing'],
    ['a second replay after it', (source: string) => `${source}\n${source}`, 'json-trailing'],
    ['a byte order mark', (source: string) => `\uFEFF${source}`, 'json-bom'],
  ])('%s is an error: Python would load nothing', (_, change, code) => {
    const source = change(recorded());
    expect(readReplay(source).problems).toMatchObject([{ severity: 'error', code }]);
  });

  test('what is no JSON is never passed', () => {
    const source = recorded();
    const places = [...source.matchAll(/"[^"]*"|-?\d+|[{}[\],:]/g)];
    fc.assert(
      fc.property(
        fc.constantFrom(...places),
        fc.constantFrom(
          '',
          ',',
          '[',
          '}',
          '"',
          ':',
          '00',
          '0x12',
          '.5',
          'NaN',
          'None',
          '\\',
          '\u0001',
          '/*c*/',
          '\uFEFF',
        ),
        ({ 0: token, index }, put) => {
          const broken = source.slice(0, index) + put + source.slice(index + token.length);
          const said = readReplay(broken).problems.some(({ severity }) => severity === 'error');
          let isJson = true;
          try {
            JSON.parse(broken);
          } catch {
            isJson = false;
          }
          expect(said || isJson).toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('two forms that one Polygraphy loads together are a warning', () => {
    const { problems } = readReplay(inForm(`${forms.D}, ${forms.C}`));
    expect(problems.map(({ severity, code }) => `${severity} ${code}`)).toEqual([
      'warning mixed-variants',
      'warning mixed-variants',
    ]);
  });

  test.each(['TensorInfo', 'Algorithm', 'TacticReplayData'])(
    'the class %s, missing or wrong, and put right',
    (name) => {
      const source = recorded();
      const marker = new RegExp(`,\\s*"polygraphy_class": "${name}"`);
      for (const broken of [source.replace(marker, ''), source.replace(`"${name}"`, '"TensorInf"')]) {
        expect(broken).not.toBe(source);
        const { problems } = readReplay(broken);
        expect(problems).toMatchObject([{ severity: 'error', code: 'bad-class' }]);
        expect(applySpanEdits(broken, problems[0]!.fixes[0]!.edits)).toBe(source);
      }
    },
  );

  test('a missing class is put into an empty object, and not into one that is cut off', () => {
    const fixed = (text: string) => {
      const edits = readReplay(text).problems.flatMap(({ fixes }) => fixes.flatMap((fix) => fix.edits));
      return applySpanEdits(text, edits);
    };
    expect(JSON.parse(fixed('{"replay": {"a": {}}}'))).toEqual({
      replay: { a: { polygraphy_class: 'Algorithm' } },
      polygraphy_class: 'TacticReplayData',
    });
    for (const cut of ['{"replay": {"a": {"implementation": 1}', '{"replay": {"a": {"tactic": 1}}'])
      expect(fixed(cut)).not.toContain('TacticReplayData');
    const cut = '{"replay": {"a": {"implementation": 1, "outputs": [';
    expect(fixed(cut)).toBe(cut);
  });

  test('an unsigned tactic id is none of TensorRT’s, and is written as it offers it', () => {
    const source = recorded().replace('1236070762725864170', '14666461089709386752');
    const { problems } = readReplay(source);
    expect(problems).toMatchObject([{ code: 'bad-id', line: 5 }]);
    expect(applySpanEdits(source, problems[0]!.fixes[0]!.edits)).toContain('"tactic": -3780282984000164864,');
  });

  test('broken JSON spoils the entry that it stands in, and no other', () => {
    const source = recorded();
    const wholes = (of: string) => readReplay(of).value!.entries.map(({ whole }) => whole);
    expect(wholes(source.replace('},\n        "{ForeignNode', '},,\n        "{ForeignNode'))).toEqual([true, true]);
    expect(wholes(source.replace('224,', '224'))).toEqual([false, true]);
    expect(wholes(source.slice(0, source.indexOf('"outputs"', 1200)))).toEqual([true, false]);
  });

  test('an entry twice', () => {
    const source = inForm(forms.D).replace('{"conv": ', '{"conv": {}, "conv": ');
    expect(readReplay(source).problems.filter(({ code }) => code === 'duplicate-entry')).toHaveLength(1);
  });

  test('broken text never throws, and places stay inside', () => {
    const source = recorded();
    fc.assert(
      fc.property(
        fc.nat(source.length),
        fc.nat(40),
        fc.constantFrom('', '"', '{', ']', ',', '0', 'x', '\u0000'),
        (at, cut, put) => {
          const broken = source.slice(0, at) + put + source.slice(at + cut);
          const read = readReplay(broken);
          for (const { start, end } of checkReplay(broken, read, { ...emptyContext, choices: [sidecar()] })) {
            expect(start).toBeGreaterThanOrEqual(0);
            expect(end).toBeLessThanOrEqual(broken.length + 1);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('offered choices', () => {
  test('the sidecar', () => {
    expect(sniffChoices(text(`${vit}.algolog/choices.jsonl`))).toBe(true);
    const choices = sidecar();
    const [conv, foreign] = [...choices.offered];
    expect([conv?.[0], conv?.[1].length, foreign?.[1].length]).toEqual(['/patch_embed/proj/Conv', 168, 3]);
    expect(conv?.[1][0]?.ms).toBeLessThanOrEqual(conv?.[1][1]?.ms ?? 0);
    expect(choices.chosen.get('/patch_embed/proj/Conv')?.tactic).toBe('1236070762725864170');
    const timed = (ms: string) =>
      readChoices(
        `{"layer": "a", "inputs": 0, "outputs": 0, "choices": [{"implementation": 1, "tactic": 2, "timingMs": ${ms}, "io": []}]}`,
      ).value?.offered.get('a')?.[0]?.ms;
    expect(['0.5', '0', '0.0', '-1', 'Infinity', '"x"'].map(timed)).toEqual([0.5, null, null, null, null, null]);
    const cut = readChoices(`${text(`${vit}.algolog/choices.jsonl`).slice(0, 60_000)}\n{"layer": "x"`);
    expect(cut.problems.map(({ code }) => code)).toContain('bad-choice');
  });

  test.each(['8.6.1', '10.6.0'])('the mismatch error of a %s build, once', (version) => {
    const found = readMismatches(text(`tensorrt-${version}/vit_tiny.poly_replay/log2.txt`));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({
      kind: 'not-offered',
      layer: '/patch_embed/proj/Conv',
      inReplay: { tactic: '1236070762725864170' },
    });
    expect(found[0]?.choices).toHaveLength(123);
    const types = found[0]?.choices.map(({ inputs }) => inputs[0]?.dtype);
    expect(types?.filter((type) => type === 'FLOAT')).toHaveLength(11);
  });

  test('the mismatch error in a log of Windows, in colors, behind what a container puts before each line', () => {
    const log = text(`${vit}.poly_replay/log2.txt`);
    const expected = readMismatches(log);
    const changes: ((source: string) => string)[] = [
      (source) => source.replaceAll('\n', '\r\n'),
      (source) => source.replaceAll(/^(?=\[)/gm, '\u001b[38;5;9m').replaceAll(/$/gm, '\u001b[0m'),
      (source) => source.replaceAll(/^/gm, 'builder-1  | '),
    ];
    for (const change of changes) expect(readMismatches(change(log))).toEqual(expected);
  });

  test('a line that names thousands of layers is looked at once', () => {
    const metadata = 'Metadata: '.concat('[ONNX Layer: /layers.0/attn/MatMul] '.repeat(100_000));
    const log = `[W] Layer: a was not found in the tactic replay. Falling back to default tactics.\n${metadata}\n`;
    expect(readMismatches(log + metadata.replaceAll('ONNX Layer', '(Implementation'))).toHaveLength(1);
  });

  test('layers that a replay lacks', () => {
    const log = '[W] Layer: a + b was not found in the tactic replay. Falling back to default tactics.\n[W] x';
    expect(readMismatches(log)).toEqual([{ kind: 'not-found', layer: 'a + b', line: 1, inReplay: null, choices: [] }]);
  });

  test('a tactic that TensorRT did not take though it was told to, as Polygraphy says it', () => {
    const tensor = 'TensorInfo(DataType.FLOAT, (4, 1), -1, 1)';
    const algorithm = (tactic: number) =>
      `(Implementation: 2147483657, Tactic: ${tactic}) | Inputs: (${tensor},) | Outputs: (${tensor},)`;
    const log = `[!] Layer: a | TensorRT selected a tactic different than the one specified in the tactic replay.
    Note: Tactic in replay was:
        ${algorithm(1)}, but TensorRT selected:
        ${algorithm(-2)}
[E] IBuilder::buildSerializedNetwork: Error Code 9`;
    const [mismatch, ...more] = readMismatches(log);
    expect(more).toEqual([]);
    expect(mismatch).toMatchObject({ kind: 'overruled', layer: 'a', inReplay: { tactic: '1' } });
    expect(mismatch!.choices.map(({ tactic }) => tactic)).toEqual(['-2']);
    const io =
      '{"dtype": "DataType.FLOAT", "strides": [4, 1], "vectorized_dim": -1, "components_per_element": 1, "polygraphy_class": "TensorInfo"}';
    const source = inForm(io, '1').replace('"conv"', '"a"').replace('-2147483638', '2147483657');
    const problems = checkReplay(source, readReplay(source), { ...emptyContext, mismatches: [mismatch!] });
    expect(problems).toMatchObject([{ severity: 'error', code: 'overruled', layer: 'a' }]);
    const fixed = applySpanEdits(source, problems[0]!.fixes[0]!.edits);
    expect(fixed).toBe(source.replace('"tactic": 1', '"tactic": -2'));
    expect(codes(fixed, { mismatches: [mismatch!] })).toEqual([]);
  });

  test('a choice in the spelling of every version', () => {
    expect(
      readAlgorithm(
        "(Implementation: 2147483651, Tactic: 1) | Inputs: (('TensorFormat.LINEAR', 'DataType.FLOAT'), ('TensorFormat.LINEAR', 'DataType.FLOAT')) | Outputs: (('TensorFormat.HWC', 'DataType.HALF'),)",
      ),
    ).toEqual({
      implementation: '2147483651',
      tactic: '1',
      inputs: Array.from({ length: 2 }, () => ({
        dtype: 'FLOAT',
        format: 'LINEAR',
        strides: null,
        vectorizedDim: null,
        components: null,
      })),
      outputs: [{ dtype: 'HALF', format: 'HWC', strides: null, vectorizedDim: null, components: null }],
    });
    expect(
      readAlgorithm(
        'x (Implementation: 1, Tactic: -2) | Inputs: (TensorInfo(DataType.INT64, (1,), -1, 1),) | Outputs: ()',
      ),
    ).toMatchObject({
      inputs: [{ dtype: 'INT64', strides: [1] }],
      outputs: [],
    });
    expect(readAlgorithm('(Implementation: 1, Tactic: 2) | Inputs: nonsense | Outputs: ()')).toBeNull();
  });

  test('the tactics of a verbose log are the sidecar’s', () => {
    expect(readFormats('Half(50176,1:4,224,1), Float(1000,1) long-strided -> Int64()')).toEqual({
      inputs: [
        { dtype: 'HALF', format: null, strides: [50176, 1, 224, 1], vectorizedDim: 1, components: 4 },
        { dtype: 'FLOAT', format: null, strides: [1000, 1], vectorizedDim: -1, components: 1 },
      ],
      outputs: [{ dtype: 'INT64', format: null, strides: [], vectorizedDim: -1, components: 1 }],
    });
    expect(readFormats('-> Int64(1)')).toMatchObject({ inputs: [], outputs: [{ dtype: 'INT64', strides: [1] }] });
    expect(readFormats('Int64(1) ->')).toMatchObject({ inputs: [{ dtype: 'INT64' }], outputs: [] });
    expect(readFormats('Int64(1)')).toBeNull();
    const log = choicesOfLog(readBuildLog(text(`${vit}.fp16/log.txt`)).value);
    expect([...log.offered.keys()]).toEqual([...sidecar().offered.keys()]);
    const offered = log.offered.get('/patch_embed/proj/Conv');
    const known = sidecar().offered.get('/patch_embed/proj/Conv')!;
    const keys = (choices: readonly OfferedChoice[]) => choices.map(({ algorithm }) => algorithmKey(algorithm)).sort();
    expect(keys(offered!)).toEqual(keys(known));
  });
});

describe('checking', () => {
  test('what was recorded is fine', () => {
    expect(codes(recorded(), { choices: [sidecar()] })).toEqual(['36 foreign-entry']);
  });

  test('the article’s edit: not offered, and the whole entry can change to one that is', () => {
    const source = edited();
    const mismatches = readMismatches(text(`${vit}.poly_replay/log2.txt`));
    for (const choices of [[sidecar()], [choicesOfMismatches(mismatches)]]) {
      const context = { ...emptyContext, choices, mismatches };
      const [problem] = checkReplay(source, readReplay(source), context);
      expect(problem).toMatchObject({
        code: 'not-offered',
        severity: 'error',
        layer: '/patch_embed/proj/Conv',
        line: 3,
      });
      expect(problem?.message).toContain('have the types FLOAT → FLOAT, but in another layout');
      expect(problem?.fixes.length).toBeGreaterThan(2);
      for (const fix of problem!.fixes) {
        const fixed = applySpanEdits(source, fix.edits);
        const after = checkReplay(fixed, readReplay(fixed), context);
        expect(after.filter(({ layer, code }) => layer === '/patch_embed/proj/Conv' && code === 'not-offered')).toEqual(
          [],
        );
      }
      const fixed = file(applySpanEdits(source, problem!.fixes[0]!.edits)).entries[0]!.algorithm;
      expect([fixed.inputs[0]?.dtype, fixed.outputs[0]?.dtype]).toEqual(['FLOAT', 'FLOAT']);
    }
    expect(codes(source, { mismatches })).toContain('3 not-offered');
    expect(codes(recorded(), { mismatches })).toEqual(['36 foreign-entry']);
  });

  test.each(['8.6.1', '10.6.0'])(
    'the article’s edit when nothing but the layer info of a %s build is known',
    async (v) => {
      const { index, build } = await captured(`tensorrt-${v}/vit_tiny.quiet_log`);
      const source = text(`tensorrt-${v}/vit_tiny.poly_replay/edited.json`);
      const problems = checkReplay(source, readReplay(source), { ...emptyContext, index, build });
      expect(problems.map(({ code, severity, line }) => `${line} ${severity} ${code}`)).toEqual([
        '8 warning type-changed',
        '36 info foreign-entry',
      ]);
      expect(problems[0]!.message).toMatch(/ran this layer with HALF → HALF, but this entry requests FLOAT → FLOAT\./);
      const before = text(`tensorrt-${v}/vit_tiny.poly_replay/replay.json`);
      expect(codes(before, { index, build })).toEqual(['36 foreign-entry']);
    },
  );

  test('what the failed build offered comes first, with the times of others; TF32 kernels last', () => {
    const source = edited();
    const mismatches = readMismatches(text(`${vit}.poly_replay/log2.txt`));
    const log = choicesOfLog(readBuildLog(text(`${vit}.fp16/log.txt`)).value);
    const fixesBy = (choices: Choices[]) =>
      checkReplay(source, readReplay(source), { ...emptyContext, choices })[0]!.fixes.map((fix) => {
        const { algorithm } = file(applySpanEdits(source, fix.edits)).entries[0]!;
        return { title: fix.title, algorithm };
      });
    const failed = choicesOfMismatches(mismatches);
    const provided = failed.offered.get('/patch_embed/proj/Conv')!;
    const isProvided = (algorithm: Algorithm) => provided.some((choice) => sameAlgorithm(choice.algorithm, algorithm));
    // Polygraphy switches TF32 off, where trtexec and TensorRT itself have it on.
    for (const choices of [[failed, sidecar(), log], [log]]) {
      const [first, ...more] = fixesBy(choices);
      expect(first!.title).toMatch(/^Change the whole entry to FP32 → FP32, .* \d+\.\d µs$/);
      for (const { algorithm } of [first!, ...more]) expect(isProvided(algorithm)).toBe(true);
    }
    expect(fixesBy([sidecar()]).some(({ algorithm }) => !isProvided(algorithm))).toBe(true);
    const tf32 = log.offered.get('/patch_embed/proj/Conv')!.filter((choice) => choice.tf32);
    expect([tf32.length, tf32.filter(({ algorithm }) => isProvided(algorithm)).length]).toEqual([45, 0]);
  });

  test('a layer that was freed is pinned to what TensorRT chose, else to its best offer', () => {
    const records = [
      choicesOfMismatches(readMismatches(text(`${vit}.poly_replay/log2.txt`))),
      { ...sidecar(), chosen: new Map<string, Algorithm>() },
      choicesOfLog(readBuildLog(text(`${vit}.fp16/log.txt`)).value),
    ];
    const { entries } = file(recorded());
    expect(freeLayers(entries, records)).toEqual([]);
    const [conv, foreign, ...more] = freeLayers([], records);
    expect(more).toEqual([]);
    expect([conv!.layer, foreign!.layer]).toEqual(entries.map(({ layer }) => layer));
    // The failed build tells no times; the fastest of what it offered is by those of the recording.
    expect(conv!.offered).toMatchObject({ ms: 0.0177302435 });
    expect(sameAlgorithm(conv!.algorithm, entries[0]!.algorithm)).toBe(true);
    expect(freeLayers(entries.slice(0, 1), [...records, sidecar()])).toMatchObject([
      { layer: foreign!.layer, offered: null },
    ]);
  });

  test('a TF32 kernel of another tool’s log', () => {
    const log = choicesOfLog(readBuildLog(text(`${vit}.fp16/log.txt`)).value);
    const replay = file(recorded());
    const { algorithm } = log.offered.get('/patch_embed/proj/Conv')!.find((choice) => choice.tf32)!;
    const source = applySpanEdits(recorded(), replaceAlgorithm(recorded(), replay, replay.entries[0]!, algorithm)!);
    expect(codes(source, { choices: [log] })).toEqual(['5 needs-tf32', '36 foreign-entry']);
    expect(codes(source, { choices: [sidecar(), log] })).toEqual(['5 needs-tf32', '36 foreign-entry']);
    expect(codes(source, { choices: [sidecar()] })).toEqual(['36 foreign-entry']);
  });

  test('an id that a JSON tool has rounded', () => {
    const rounded = recorded().replace('1236070762725864170', String(Number('1236070762725864170')));
    expect(rounded).not.toBe(recorded());
    const problems = checkReplay(rounded, readReplay(rounded), { ...emptyContext, choices: [sidecar()] });
    expect(problems[0]).toMatchObject({ code: 'rounded-id', line: 5 });
    expect(applySpanEdits(rounded, problems[0]!.fixes[0]!.edits)).toBe(recorded());
  });

  test('a ForeignNode has tactic 0', () => {
    const source = recorded().replace('"tactic": 0', '"tactic": 7');
    expect(codes(source)).toEqual(['36 foreign-entry', '38 foreign-tactic']);
    const { fixes } = checkReplay(source, readReplay(source), emptyContext).find(
      ({ code }) => code === 'foreign-tactic',
    )!;
    expect(applySpanEdits(source, fixes[0]!.edits)).toBe(recorded());
  });

  test('a region that a DLA runs may have other tactics', () => {
    const source = recorded().replace('"tactic": 0', '"tactic": 3').replace('2147483683', '2147483692');
    expect(codes(source)).toEqual(['36 foreign-entry']);
  });

  test('a replay of TensorRT before 8.6, which knew no vectorized dimension, is not what later ones offer', () => {
    const source = recorded()
      .replaceAll(/"vectorized_dim": -?\d+/g, '"vectorized_dim": null')
      .replaceAll(/"components_per_element": -?\d+/g, '"components_per_element": null');
    const problems = checkReplay(source, readReplay(source), { ...emptyContext, choices: [sidecar()] });
    const refused = problems.filter(({ code }) => code === 'not-offered');
    expect(refused).toHaveLength(2);
    const fixed = refused.flatMap(({ fixes }) => fixes[0]!.edits);
    // The fastest HALF → HALF of all is the one that was recorded.
    expect(applySpanEdits(source, fixed)).toBe(recorded());
  });

  test('in the oldest forms the layout’s name is what must be offered', () => {
    const log = `[!] Layer: conv | Tactic in replay was not provided by TensorRT as a choice for this layer.
Note: Tactic in replay was:
    (Implementation: -2147483638, Tactic: 7) | Inputs: (('TensorFormat.HWC8', 'DataType.FLOAT'),) | Outputs: (('TensorFormat.LINEAR', 'DataType.FLOAT'),)
Provided choices were:
    (Implementation: -2147483638, Tactic: 7) | Inputs: (('TensorFormat.LINEAR', 'DataType.FLOAT'),) | Outputs: (('TensorFormat.LINEAR', 'DataType.FLOAT'),)`;
    const mismatches = readMismatches(log);
    const right = inForm(forms.A, '7');
    const wrong = right.replace('LINEAR', 'HWC8');
    const context = { mismatches, choices: [choicesOfMismatches(mismatches)] };
    expect(codes(right, context)).toEqual(['1 old-form']);
    expect(codes(wrong, context)).toEqual(['1 old-form', '1 not-offered']);
    const refused = checkReplay(wrong, readReplay(wrong), { ...emptyContext, ...context })[1]!;
    expect(refused.message).toContain('but in another layout');
    expect(applySpanEdits(wrong, refused.fixes[0]!.edits)).toBe(right);
  });

  test('layers of another network, of another version, of TensorRT 11', async () => {
    const own = await captured('tensorrt-10.6.0/vit_tiny.fp16');
    expect(codes(recorded(), { ...own })).toEqual(['36 foreign-entry']);
    const older = await captured('tensorrt-8.6.1/vit_tiny.fp16');
    expect(codes(recorded(), { ...older })).toContain('36 layer-not-found');
    const other = await captured('tensorrt-10.6.0/resnet18.fp32');
    expect(codes(recorded(), { index: other.index })).toContain('3 layer-not-found');
    expect(
      codes(recorded(), { ...own, recorded: { version: '8.6.1', gpu: 'Tesla T4' } }).filter((code) =>
        code.startsWith('3 '),
      ),
    ).toEqual(['3 other-version', '3 other-gpu']);
    const { version, gpu } = own.build;
    expect(codes(recorded(), { ...own, recorded: { version: `${version}.26`, gpu } })).toEqual(['36 foreign-entry']);
    const rtx = await captured('tensorrt-rtx-1.7.1/vit_tiny');
    // Its layers are no witness against the entries, nor is its version: it would not load them in any case.
    const rtxCodes = codes(recorded(), { ...rtx, recorded: { version: '10.6.0', gpu: null } });
    expect(rtxCodes).toEqual(['3 no-replay-support', '36 foreign-entry']);
    const mistyped = recorded().replace('/patch_embed/proj/Conv', '/patch_embed/proj/Cnv');
    const [problem] = checkReplay(mistyped, readReplay(mistyped), { ...emptyContext, ...own });
    expect(applySpanEdits(mistyped, problem!.fixes[0]!.edits)).toBe(recorded());
  });

  test('a layer that is asked about is there, and a build that names no ForeignNodes is no witness against them', async () => {
    const quiet = await captured('tensorrt-10.6.0/vit_tiny.quiet_log');
    expect(quiet.build.layers.length).toBeGreaterThan(50);
    expect(codes(recorded(), { ...quiet })).toEqual(['36 foreign-entry']);
    const silent = { ...quiet.build, foreignNodes: [] };
    expect(codes(recorded(), { ...quiet, build: silent })).toEqual(['36 foreign-entry']);
    const older = await captured('tensorrt-8.6.1/vit_tiny.fp16');
    for (const chosen of [sidecar().chosen, new Map()])
      expect(codes(recorded(), { ...older, choices: [{ ...sidecar(), chosen }] })).toEqual(['36 foreign-entry']);
  });

  test('forms that later versions do not load', () => {
    expect(codes(inForm(forms.A))).toEqual(['1 old-form']);
    expect(codes(inForm(forms.C))).toEqual([]);
  });
});

describe('edits keep every other byte', () => {
  test('any offered choice, in every form, spacing and place', () => {
    const offered = sidecar().offered.get('/patch_embed/proj/Conv')!;
    fc.assert(
      fc.property(
        fc.constantFrom(...offered),
        fc.constantFrom('A', 'B', 'C', 'D'),
        fc.constantFrom(0, 1, 4),
        fc.constantFrom('\n', '\r\n'),
        (choice, form, indent, end) => {
          const io = JSON.parse(forms[form as keyof typeof forms]) as unknown;
          const big = '\u0001';
          const json = JSON.stringify(
            {
              'other é': 1,
              replay: {
                'layer " ,': {
                  implementation: 5,
                  tactic: big,
                  inputs: [io],
                  outputs: [io],
                  polygraphy_class: 'Algorithm',
                  note: big,
                },
              },
            },
            null,
            indent,
          )
            .replaceAll(JSON.stringify(big), '9007199254740993')
            .replaceAll('\n', end);
          const { value } = readReplay(json);
          const edits = replaceAlgorithm(json, value!, value!.entries[0]!, choice.algorithm);
          if (!edits) return;
          const after = applySpanEdits(json, edits);
          const again = readReplay(after).value!.entries[0]!;
          expect(sameAlgorithm(again.algorithm, choice.algorithm)).toBe(true);
          expect(after).toContain('"note":');
          expect(after.match(/9007199254740993/g)).toHaveLength(1);
          const skeleton = (of: string) => of.replace(/(?:TensorFormat|DataType)\.\w+|-?\d+/g, '');
          expect(skeleton(after)).toBe(skeleton(json));
        },
      ),
      { numRuns: 500 },
    );
  });

  test('layouts get the names that TensorRT gave them', () => {
    const packed = forms.C.replace('LINEAR', 'CHW2')
      .replace('"vectorized_dim": -1', '"vectorized_dim": 1')
      .replace('"components_per_element": 1', '"components_per_element": 2');
    for (const [io, name] of [
      [forms.C, 'LINEAR'],
      [packed, 'CHW2'],
    ] as const) {
      const [entry] = file(inForm(io)).entries;
      expect(
        entry!.algorithm.inputs.map(({ format, ...input }) => [format, formatName({ format: null, ...input })]),
      ).toEqual([[name, name]]);
    }
  });

  test('another number of outputs is written like the file', () => {
    const source = recorded();
    const replay = file(source);
    const [conv] = replay.entries;
    const two = { ...conv!.algorithm, outputs: [conv!.algorithm.outputs[0]!, conv!.algorithm.inputs[0]!] };
    const after = applySpanEdits(source, replaceAlgorithm(source, replay, conv!, two)!);
    const entry = file(after).entries[0]!;
    expect(entry.algorithm.outputs).toHaveLength(2);
    const back = applySpanEdits(after, replaceAlgorithm(after, file(after), entry, conv!.algorithm)!);
    expect(back).toBe(source);
  });

  test('an entry in which something is missing or unreadable becomes a whole one, written like the others', () => {
    const source = recorded();
    const [conv] = file(source).entries;
    const cuts: [string | RegExp, string][] = [
      [/"tactic": \d+,\s*/, ''],
      [/"outputs": \[[^]*?\}\s*\],\s*/, ''],
      [/"vectorized_dim": 1,\s*/, ''],
      [/,\s*"polygraphy_class": "Algorithm"/, ''],
      [/("inputs": \[\s*)/, '$13, '],
      [/\{\s*"implementation": 2147483657[^]*?"Algorithm"\s*\}/, 'null'],
      ['224,', '224{'],
      ['"tactic":', '"tactic"'],
      ['1236070762725864170,', '1236070762725864170'],
    ];
    for (const [cut, put] of cuts) {
      const broken = source.replace(cut, put);
      const { value } = readReplay(broken);
      expect(value!.entries[0]!.whole, String(cut)).toBe(false);
      const edits = replaceAlgorithm(broken, value!, value!.entries[0]!, conv!.algorithm)!;
      expect(applySpanEdits(broken, edits), String(cut)).toBe(source);
    }
  });

  test('free a layer and pin it again', () => {
    const source = recorded();
    const replay = file(source);
    const [conv, foreign] = replay.entries;
    const without = applySpanEdits(source, removeEntry(source, replay, foreign!));
    expect(file(without).entries.map(({ layer }) => layer)).toEqual([conv!.layer]);
    const again = applySpanEdits(without, addEntry(without, file(without), foreign!.layer, foreign!.algorithm)!);
    expect(again).toBe(source);
    const first = applySpanEdits(source, removeEntry(source, replay, conv!));
    expect(file(first).entries.map(({ layer }) => layer)).toEqual([foreign!.layer]);
    const empty = applySpanEdits(without, removeEntry(without, file(without), file(without).entries[0]!));
    expect(file(empty).entries).toEqual([]);
    const refilled = applySpanEdits(empty, addEntry(empty, file(empty), 'x "y"', conv!.algorithm)!);
    expect(file(refilled).entries[0]).toMatchObject({ layer: 'x "y"', algorithm: { tactic: '1236070762725864170' } });
  });
});

describe('in words', () => {
  test('a choice', () => {
    const [conv, foreign] = file(recorded()).entries;
    expect(choiceTitle(conv!.algorithm)).toBe('FP16 → FP16, CaskConvolution (0x80000009), tactic 0x112767cf498572ea');
    expect(describeAlgorithm(conv!.algorithm)).toEqual([
      'CaskConvolution (0x80000009)',
      'Tactic 0x112767cf498572ea (1236070762725864170)',
      'Input 0: FP16, vectors of 4 along dimension 1, channels last (strides 50176, 1, 224, 1)',
      expect.stringMatching(/^Output 0: FP16, vectors of 8 along dimension 1, channels last \(strides [\d, ]+\)$/),
    ]);
    expect(describeAlgorithm(file(inForm(forms.A)).entries[0]!.algorithm)).toContain('Input 0: FP32, LINEAR');
    expect(choiceTitle(foreign!.algorithm)).toBe('FP16 → FP32, Myelin (0x80000023)');
  });

  test('choices of one kernel in one list are told apart', () => {
    const log = choicesOfLog(readBuildLog(text('tensorrt-10.6.0/fusion_zoo.fp32/log.txt')).value);
    const unique = (layer: string) => {
      const choices = [...log.offered].find(([name]) => name.startsWith(layer))![1];
      const distinct = [...new Map(choices.map((choice) => [algorithmKey(choice.algorithm), choice])).values()];
      const titles = titlesOf(distinct).map((title) => title.replace(/, [\d.]+ [mµ]s/, ''));
      expect(new Set(titles).size).toBe(distinct.length);
      return titles;
    };
    const longStrided = unique('/concat_branches/right/conv/Conv');
    expect(longStrided).toContain(
      'FP32 → FP32, CaskConvolution (0x80000009), tactic 0xd3a0b9f271d4432a, linear (32768, 1024, 32, 1) → linear (16384, 1024, 32, 1)',
    );
    expect(unique('PWN(PWN(/pointwise_swish/Sigmoid)')).toContain(
      'FP32 → FP32, PointWiseV2 (0x80000028), tactic 0x0000000000000000, linear → linear',
    );
    const [offered] = [...sidecar().offered.values()];
    expect(titlesOf(offered!.slice(0, 1))).toEqual([titleOf(offered![0]!)]);
  });

  test('an id whose meaning depends on the version', () => {
    expect(implementationName('-2147483613')).toBe('implementation 0x80000023');
    expect(codes(inForm(forms.B, '7').replace('-2147483638', '-2147483613'))).toEqual(['1 old-form']);
  });

  test('a diff by meaning', () => {
    const a = file(recorded());
    expect(diffReplays(a, file(recorded().replace(/\n\s*/g, '')))).toEqual({ differences: [], same: 2, ignored: 0 });
    const { differences, same } = diffReplays(a, file(edited()));
    expect(same).toBe(0);
    expect(differences.map(({ kind, changes }) => [kind, changes])).toEqual([
      [
        'changed',
        [
          'Input 0: FP16, vectors of 4 along dimension 1, channels last → FP32, vectors of 4 along dimension 1, channels last',
          'Output 0: FP16, vectors of 8 along dimension 1, channels last → FP32, vectors of 8 along dimension 1, channels last',
        ],
      ],
      [
        'changed',
        [
          'Input 0: FP16, vectors of 8 along dimension 1, channels last → FP32, vectors of 8 along dimension 1, channels last',
        ],
      ],
    ]);
    const signed = file(inForm(forms.D));
    const unsigned = file(inForm(forms.C).replace('-2147483638', '2147483658'));
    expect(diffReplays(signed, unsigned)).toEqual({ differences: [], same: 1, ignored: 0 });
    expect(diffReplays(a, signed).differences.map(({ kind }) => kind)).toEqual(['removed', 'removed', 'added']);
  });

  test('hints: the nodes that a layer swallowed', async () => {
    const { index, build } = await captured('tensorrt-10.6.0/vit_tiny.fp16');
    const [conv, foreign] = replayHints(file(recorded()), index, build);
    expect(conv).toMatchObject({ kind: 'single', source: 'build', exact: true });
    expect(conv?.nodes.map((i) => index.names[i])).toEqual(['/patch_embed/proj/Conv']);
    expect(foreign).toMatchObject({ kind: 'foreign', source: 'build', foreign: 0 });
    expect(foreign?.nodes.length).toBeGreaterThan(200);
    expect(foreign?.averageMs).toBeGreaterThan(0);
    const second = recorded().replaceAll(/(?<=\n {8}"[^"]*)": \{/g, ' [profile 1]": {');
    const hints = replayHints(file(second), index, build);
    expect(hints.map(({ entry }) => entry.layer.endsWith(' [profile 1]'))).toEqual([true, true]);
    expect(hints.map(({ nodes }) => nodes)).toEqual([conv?.nodes, foreign?.nodes]);
    const [named, unknown] = replayHints(file(recorded()), index, null);
    expect(named).toMatchObject({ kind: 'single', source: 'name', exact: false });
    expect(unknown).toMatchObject({ kind: 'foreign', source: 'none', nodes: [] });
  });
});
