import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dialectOf, parseVersion } from '../../../../src/kernel/build/trtexecFlags.ts';
import {
  autocastArguments,
  importAutocast,
  importPolygraphy,
  importTrtexec,
  layerRequests,
  nameRegex,
  polygraphyArguments,
  trtexecArguments,
} from '../../../../src/features/precision/importPrecision.ts';
import { missingCapability, type ModelFacts, targetOf } from '../../../../src/kernel/rules/buildFacts.ts';
import { NodeIndex, resolveOverrides } from '../../../../src/kernel/rules/resolveOverrides.ts';
import { planPrecision, type PrecisionPlan } from '../../../../src/kernel/rules/precisionPlan.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';
import { smallModel, transformer } from './overrideFixtures.ts';
import { InvalidArgument, layerPrecisions, plausible, ported, type PortedDialect } from './trtexecPort.ts';

function planOf(text: string, facts: ModelFacts = transformer): { plan: PrecisionPlan; index: NodeIndex } {
  const index = new NodeIndex(facts);
  const file = readOverrides(text);
  expect(file.problems).toEqual([]);
  return { index, plan: planPrecision(file, index, resolveOverrides(file, index, null)) };
}

/** What trtexec makes of a value; null: it refuses it. */
function readSpecs(value: string, port: PortedDialect): Map<string, string> | null {
  try {
    return layerPrecisions(value, port);
  } catch (error) {
    if (error instanceof InvalidArgument) return null;
    throw error;
  }
}

const trt106 = targetOf('tensorrt', '10.6', null);

describe('plans', () => {
  test('the last rule decides; nodes without precision are left out and counted', () => {
    const { plan } = planOf('base fp16\nrequire prefer\nop:Softmax fp16\n/layers.1/** fp32 -> fp32');
    expect(plan).toMatchObject({ base: 'fp16', require: 'prefer', skipped: [{ line: 4, nodes: 2 }] });
    expect(plan.nodes.map(({ name, compute, outputs, line }) => [name, compute, outputs, line])).toEqual([
      ['/layers.1/attn/MatMul', 'fp32', ['fp32'], 4],
      ['/layers.1/attn/Softmax', 'fp32', ['fp32'], 4],
      ['/layers.1/norm1/LayerNormalization', 'fp32', ['fp32'], 4],
      ['/layers.2/attn/Softmax', 'fp16', null, 3],
      ['/layers.10/attn/Softmax', 'fp16', null, 3],
    ]);
  });

  test('one output type for all outputs, or one each', () => {
    expect(planOf('op:Split fp32 -> fp16').plan.nodes[0]?.outputs).toEqual(['fp16', 'fp16']);
    expect(planOf('op:Split fp32 -> fp16, fp32').plan.nodes[0]?.outputs).toEqual(['fp16', 'fp32']);
  });
});

describe('trtexec', () => {
  test('exact names only', () => {
    const { plan, index } = planOf('base fp16\n/layers.1/attn/* fp32 -> fp32');
    expect(trtexecArguments(plan, trt106, index.names)).toEqual({
      args: [
        '--fp16',
        '--precisionConstraints=obey',
        '--layerPrecisions=/layers.1/attn/MatMul:fp32,/layers.1/attn/Softmax:fp32',
        '--layerOutputTypes=/layers.1/attn/MatMul:fp32,/layers.1/attn/Softmax:fp32',
      ],
      problems: [],
    });
  });

  test('output types as many as the layer has outputs: anything else fails the build', () => {
    const facts = smallModel(
      { name: 'split', op: 'Split', outputs: ['a', 'b'], types: ['float', 'float'] },
      { name: 'topk', op: 'TopK', outputs: ['c', 'd'], types: ['float', 'int64'] },
      { name: 'drop', op: 'Dropout', outputs: ['e', 'f'], types: ['float', 'bool'] },
    );
    const flag = (text: string) => {
      const { plan, index } = planOf(text, facts);
      const { args, problems } = trtexecArguments(plan, trt106, index.names);
      return [args.find((argument) => argument.startsWith('--layerOutputTypes')), problems.map(({ code }) => code)];
    };
    expect(flag('** fp32 -> fp16')).toEqual(['--layerOutputTypes=split:fp16,topk:fp16+int32,drop:fp16', []]);
    expect(flag('split fp32 -> fp32, fp16')).toEqual(['--layerOutputTypes=split:fp32', ['output-types-left-out']]);
  });

  test('what it cannot carry is left out and said', () => {
    const { plan, index } = planOf('op:Conv, twin fp32');
    const { args, problems } = trtexecArguments(plan, trt106, index.names);
    expect(args.at(-1)).toBe('--layerPrecisions=twin:fp32');
    expect(problems.map(({ code }) => code)).toEqual(['name-shared', 'trtexec-cannot-carry']);
    expect(layerRequests(plan).layerPrecisions).toHaveLength(2);
  });

  test('a name that an earlier node has would reach that one', () => {
    const facts = smallModel('twin Relu', 'other Tanh', 'twin Tanh', { name: '', op: 'Neg', outputs: ['c'] });
    const { plan, index } = planOf('op:Tanh fp32 -> fp32', facts);
    const { args, problems } = trtexecArguments(plan, trt106, index.names);
    expect(args).toEqual([
      '--precisionConstraints=obey',
      '--layerPrecisions=other:fp32',
      '--layerOutputTypes=other:fp32',
    ]);
    expect(problems.map(({ message }) => message)).toEqual([
      '"twin" is omitted: an earlier node has the same name, and a layer precision would apply to that one. Give the nodes unique names, or build a typed copy of the model.',
    ]);
    expect(polygraphyArguments(plan, trt106)).toMatchObject({
      args: ['--precision-constraints', 'obey', '--layer-precisions', 'other:float32'],
      problems: [{ code: 'name-shared' }, { code: 'no-output-types' }],
    });
    // A constant makes no layer of its own.
    const constant = smallModel({ name: 'twin', op: 'Constant', exempt: 'constant' }, 'twin Tanh');
    expect(layerRequests(planOf('op:Tanh fp32', constant).plan).layerPrecisions).toEqual([
      { name: 'twin', type: 'fp32' },
    ]);
  });

  test('no flags in TensorRT 11; arguments that Linux would not pass', () => {
    const { plan, index } = planOf('op:Softmax fp32');
    expect(trtexecArguments(plan, targetOf('tensorrt', '11.2', null), index.names)).toMatchObject({
      args: [],
      problems: [{ code: 'no-layer-flags' }],
    });
    const many = planOf(
      '** fp32',
      smallModel(...Array.from({ length: 4000 }, (_, i) => `/a/very/long/module/name/number/${i}/Add Add`)),
    );
    expect(trtexecArguments(many.plan, trt106, many.index.names).problems.map(({ code }) => code)).toEqual([
      'argument-too-long',
    ]);
  });

  test('what is written is what trtexec reads, for any names', () => {
    const names = fc.uniqueArray(
      fc.string({ unit: fc.constantFrom('a', 'b', '*', ',', "'", ':', '/', ' ', 'é'), minLength: 1, maxLength: 5 }),
      { minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(names, fc.nat(3), (all, picked) => {
        const facts = smallModel(...all.map((name) => ({ name, op: 'Add' })));
        const chosen = all[picked % all.length]!;
        const { plan, index } = planOf(`${JSON.stringify(chosen)} fp16`, facts);
        const { args, problems } = trtexecArguments(plan, trt106, index.names);
        const value = args.find((arg) => arg.startsWith('--layerPrecisions='))?.slice('--layerPrecisions='.length);
        expect(value === undefined).toBe(problems.length > 0);
        const map = layerPrecisions(value ?? '', ported.v10);
        for (const name of all)
          expect(plausible(map, name, ported.v10).keys).toEqual(value !== undefined && name === chosen ? [name] : []);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('other programs', () => {
  test('Polygraphy knows no INT4; of BF16 it knows, but not every TensorRT does', () => {
    const { plan } = planOf('op:MatMul int4\nop:Softmax bf16');
    const { args, problems } = polygraphyArguments(plan, targetOf('tensorrt', '8.6.1', null));
    expect(args.slice(0, 2)).toEqual(['--bf16', '--precision-constraints']);
    expect(problems.map(({ code, message }) => `${code}: ${message}`)).toEqual([
      'type-unsupported-version: --bf16 needs TensorRT 9.3 or later; it is passed anyway.',
      'polygraphy-cannot-carry: Polygraphy has no option --int4; it is omitted.',
    ]);
  });

  test('Polygraphy', () => {
    const { plan } = planOf('base bf16\nop:Softmax fp32 -> fp32\nop:Conv fp16');
    const { args, problems } = polygraphyArguments(plan, trt106);
    expect(args.slice(0, 5)).toEqual(['--fp16', '--bf16', '--precision-constraints', 'obey', '--layer-precisions']);
    expect(args).toContain('/layers.1/attn/Softmax:float32');
    expect(args).toContain('中文层/卷积_1, a:float16');
    expect(problems.map(({ code }) => code)).toEqual(['no-output-types']);
  });

  test('AutoCast: whole operator types, names as regular expressions', () => {
    const { plan, index } = planOf('base fp16\nop:Softmax fp32\n/layers.1/norm1/* fp32\n"blocks[0]/Mul" fp16');
    expect(autocastArguments(plan, index).args).toEqual([
      '--low_precision_type',
      'fp16',
      '--keep_io_types',
      '--op_types_to_exclude',
      'Softmax',
      '--nodes_to_exclude',
      String.raw`^/layers\.1/norm1/LayerNormalization$`,
      '--nodes_to_include',
      String.raw`^blocks\[0\]/Mul$`,
    ]);
  });
});

describe('imports', () => {
  const nodesOf = (text: string, facts: ModelFacts) =>
    new Map(planOf(text, facts).plan.nodes.map(({ name, compute }) => [name, compute]));

  test('trtexec: wildcards first, exact names win, output types', () => {
    const { text, problems } = importTrtexec(
      { layerPrecisions: "'a,b':fp16,x:fp32", precisionConstraints: 'prefer' },
      dialectOf([10, 6, 0]),
    );
    expect(problems.map(({ code }) => code)).toEqual(['bad-spec']);
    expect(text).toBe('require prefer\n');
    const good = importTrtexec(
      { layerPrecisions: 'x:fp32,l*/y:fp16,*:fp16', layerOutputTypes: 'x:fp32+fp16', precisionConstraints: 'obey' },
      dialectOf([10, 6, 0]),
    );
    expect(good.text).toBe('l**/y fp16\n** fp16\nx fp32 -> fp32, fp16\n');
    expect(importTrtexec({ layerPrecisions: 'x:fp32' }, dialectOf(null)).problems[0]?.code).toBe('constraints-missing');
    expect(
      importTrtexec({ layerPrecisions: 'x:fp16,*:fp32', precisionConstraints: 'obey' }, dialectOf([8, 6, 1])).text,
    ).toBe('** fp32\nx fp16\n');
  });

  test.each([
    ['8.4.3', ported.v84],
    ['8.6.1', ported.v86],
    ['10.6.0', ported.v10],
  ])('imported rules decide as trtexec %s does, on 5,000 random flags', (version, port) => {
    const dialect = dialectOf(parseVersion(version));
    const word = fc.constantFrom('a', 'b', 'ab', '/', '*', '.', ':', '?', '[', ']', '-', '!', 'op:', 'not:', 'group:');
    const spec = fc.tuple(
      fc.array(word, { minLength: 1, maxLength: 5 }).map((p) => p.join('')),
      fc.constantFrom('fp32', 'fp16'),
    );
    const layers = fc.uniqueArray(
      fc
        .array(fc.constantFrom('a', 'b', '/', '.', ':', '*', '?', '[', '-', 'op:', 'not:'), {
          minLength: 1,
          maxLength: 5,
        })
        .map((p) => p.join('')),
      { minLength: 1, maxLength: 5 },
    );
    let matched = 0;
    fc.assert(
      fc.property(fc.array(spec, { maxLength: 4 }), layers, (specs, names) => {
        const value = specs.map(([name, type]) => `${name}:${type}`).join(',');
        const { text, problems } = importTrtexec({ layerPrecisions: value, precisionConstraints: 'obey' }, dialect);
        const map = readSpecs(value, port);
        expect(map === null).toBe(problems.some(({ code }) => code === 'bad-spec'));
        if (!map) return;
        const decided = nodesOf(text, smallModel(...names.map((name) => ({ name, op: 'Add' }))));
        for (const name of names) {
          const { keys } = plausible(map, name, port);
          const types = keys.map((key) => map.get(key));
          if (keys.length === 0) expect(decided.get(name), `${name} by ${value}`).toBeUndefined();
          else expect(types, `${name} by ${value}`).toContain(decided.get(name));
          matched += keys.length;
        }
      }),
      { numRuns: 5000 },
    );
    expect(matched).toBeGreaterThan(200);
    expect(importTrtexec({ layerPrecisions: 'not:*a:fp16' }, dialectOf(null)).text).toBe('not[:]**a fp16\n');
  });

  test('Polygraphy splits at the last colon', () => {
    expect(importPolygraphy(['a:b:float32', 'x y:half', 'nothing']).text).toBe('a:b fp32\n"x y" fp16\n');
    expect(importPolygraphy(['nothing', 'a:fp23']).problems.map(({ message }) => message)).toEqual([
      '"nothing" does not have the form name:type.',
      '"a:fp23" has no type of override files.',
    ]);
  });

  test('AutoCast there and back', () => {
    const text = 'base fp16\nop:Softmax fp32\n/layers.1/norm1/* fp32\n"blocks[0]/Mul" fp16';
    const { plan, index } = planOf(text);
    const back = importAutocast(autocastArguments(plan, index).args);
    expect(back.problems).toEqual([]);
    expect(nodesOf(back.text, transformer)).toEqual(nodesOf(text, transformer));
    expect(
      importAutocast(['--nodes_to_exclude', '/a/.*', '.*norm', '(a|b)', 'x+', '--op_types_to_exclude', 'Exp']).text,
    ).toBe('base fp16\nop:Exp fp32\n/a/** fp32\n**norm** fp32\n');
  });

  test('AutoCast: an imported expression decides as Python does, or says that it may not', () => {
    const token = fc.constantFrom('a', 'b', '/', '\\.', '.', '.*', '.+', '[^/]*', '[^/]+', '[ab]', '[a/]', 'op:', '-');
    const text = fc
      .tuple(fc.constantFrom('', '^'), fc.array(token, { minLength: 1, maxLength: 5 }), fc.constantFrom('', '$'))
      .map(([start, tokens, end]) => start + tokens.join('') + end)
      .filter((one) => !one.startsWith('-'));
    const name = fc
      .array(fc.constantFrom('a', 'b', '/', '.', 'op:', '-'), { minLength: 1, maxLength: 6 })
      .map((parts) => parts.join(''));
    let [fitting, exact] = [0, 0];
    fc.assert(
      fc.property(text, fc.uniqueArray(name, { minLength: 1, maxLength: 6 }), (regex, names) => {
        const { text: rules, problems } = importAutocast(['--nodes_to_exclude', regex]);
        if (problems.length > 0) return;
        exact++;
        const decided = nodesOf(rules, smallModel(...names.map((one) => ({ name: one, op: 'Add' }))));
        for (const one of names) {
          const fits = new RegExp(`^(?:${regex})`).test(one);
          if (fits) fitting++;
          expect(decided.get(one) === 'fp32', `${regex} on ${one}: ${rules}`).toBe(fits);
        }
      }),
      { numRuns: 5000 },
    );
    expect(Math.min(fitting, exact)).toBeGreaterThan(300);
    const told = importAutocast(['--nodes_to_exclude', '.*/attn/.*', '[^/]*[^/]*$', 'op:.*']);
    expect(told.text).toBe('base fp16\n**/attn/** fp32\n* fp32\nop[:]** fp32\n');
    expect(told.problems.map(({ severity, code }) => [severity, code])).toEqual([['info', 'regex-approximated']]);
  });

  test('a name as a regular expression fits exactly itself', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const regex = new RegExp(nameRegex(a).replace(/\\([#&~-])/g, '$1'));
        expect(regex.test(a)).toBe(true);
        if (a !== b) expect(regex.test(b)).toBe(false);
      }),
    );
  });
});

test.each([
  ['NVIDIA H200', 90, 'fp8', null],
  ['NVIDIA A100-SXM4-80GB', 80, 'fp8', 89],
  ['NVIDIA A100-SXM4-80GB', 80, 'bf16', null],
  ['Tesla T4', 75, 'bf16', 80],
  ['NVIDIA GeForce RTX 4090 Laptop GPU', 89, 'fp8', null],
  ['NVIDIA RTX 6000 Ada Generation', 89, 'fp8', null],
  ['NVIDIA GeForce GTX 1080 Ti', 61, 'fp16', 70],
  ['Tesla P100-PCIE-16GB', 60, 'fp16', null],
  ['Tesla P100-PCIE-16GB', 60, 'int8', 61],
  ['Tesla M60', 52, 'fp16', 53],
  ['NVIDIA GB10', 121, 'fp8', null],
  ['NVIDIA B300', 103, 'fp8', null],
  ['NVIDIA RTX PRO 6000 Blackwell Workstation Edition', 120, 'fp8', null],
  ['SM89', 89, 'fp8', null],
  ['12.0', 120, 'fp8', null],
  ['a card of tomorrow', null, 'fp8', null],
] as const)('%s has compute capability %s; %s needs %s there', (gpu, capability, type, missing) => {
  const target = targetOf('tensorrt', '10.6', gpu);
  expect(target.capability).toBe(capability);
  expect(missingCapability(type, target)).toBe(missing);
});
