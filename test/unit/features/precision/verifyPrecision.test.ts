import { describe, expect, test } from 'vitest';
import { bytesOf } from '../../../../src/kernel/base/problem.ts';
import { readModel } from '../../../../src/kernel/read/onnx/readModel.ts';
import { type BuildFacts, buildFacts, flagsOfCommand, modelFacts } from '../../../../src/kernel/rules/buildFacts.ts';
import { checkOverrides } from '../../../../src/features/precision/checkOverrides.ts';
import { NodeIndex, resolveOverrides } from '../../../../src/kernel/rules/resolveOverrides.ts';
import { planPrecision } from '../../../../src/kernel/rules/precisionPlan.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';
import { verifyPrecision } from '../../../../src/kernel/rules/verifyPrecision.ts';
import { hardModel, reportOnBuild } from '../../../support/hardModels/builtModels.ts';
import { captured } from './overrideFixtures.ts';

/** The rules compared with a build that is on record as made with them, or with `rules`. */
function verify(text: string, built: { index: NodeIndex; build: BuildFacts }, rules: string | null = text) {
  return verifyUnknown(text, { ...built, build: { ...built.build, rules } });
}

/** The same where nothing is on record. */
function verifyUnknown(text: string, { index, build }: { index: NodeIndex; build: BuildFacts }) {
  const file = readOverrides(text);
  return verifyPrecision(planPrecision(file, index, resolveOverrides(file, index, build)), build, index);
}

describe('what became of a rule', () => {
  test('10.6, obey: a native layer, a normalization, a fused attention', async () => {
    const [softmax, norm, conv, wrong] = verify(
      '/blocks/blocks.0/attn/Softmax fp32\n/blocks/blocks.0/norm1/LayerNormalization fp32\n/patch_embed/proj/Conv fp16\n/blocks/blocks.2/attn/Softmax fp32',
      await captured('tensorrt-10.6.0/vit_tiny.prec_obey'),
    );
    expect(softmax?.verdict).toBe('unseen');
    expect(softmax?.nodes[0]).toMatchObject({ logLine: 5966 });
    expect(softmax?.message).toContain('_gemm_mha_v2');
    expect(norm).toMatchObject({ verdict: 'obeyed', counts: { obeyed: 1, disobeyed: 0, unseen: 0 } });
    expect(norm?.nodes[0]?.certain).toBe(false);
    expect(norm?.message).toMatch(/^Probably/);
    expect(conv?.nodes[0]).toMatchObject({ verdict: 'obeyed', certain: true, layer: '/patch_embed/proj/Conv' });
    expect(wrong?.verdict).toBe('disobeyed');
    expect(wrong?.message).toContain('did not request it');
  });

  test('10.6, another type than asked is seen in a native layer', async () => {
    const [conv] = verify('/patch_embed/proj/Conv fp32', await captured('tensorrt-10.6.0/vit_tiny.fp16'));
    expect(conv).toMatchObject({
      verdict: 'disobeyed',
      message: 'In the layer /patch_embed/proj/Conv its weights are fp16, not fp32.',
    });
  });

  test('10.6, everything FP32: what stands alone is certain, what shares a kernel is probable, attention is seen', async () => {
    const [all] = verify('** fp32', await captured('tensorrt-10.6.0/vit_tiny.prec_wild'));
    expect(all?.counts.disobeyed).toBe(0);
    expect(all?.counts.obeyed).toBeGreaterThan(250);
    const softmax = all?.nodes.find(({ node }) => node.name === '/blocks/blocks.0/attn/Softmax');
    expect(softmax).toMatchObject({ verdict: 'obeyed', certain: true });
  });

  test('10.6, ignored flags: disobeyed, with the line that says so', async () => {
    const [softmax] = verify('op:Softmax fp32', await captured('tensorrt-10.6.0/vit_tiny.prec_noconstraint'));
    expect(softmax).toMatchObject({ verdict: 'disobeyed', counts: { disobeyed: 12 } });
    expect(softmax?.nodes[0]?.logLine).toBeGreaterThan(0);
  });

  test('a build that allowed FP32 only obeys fp32 and nothing else', async () => {
    const verdicts = verify(
      'op:Softmax fp32\nop:LayerNormalization fp16',
      await captured('tensorrt-8.6.1/vit_tiny.fp32'),
    );
    expect(verdicts.map(({ verdict }) => verdict)).toEqual(['obeyed', 'disobeyed']);
  });

  test('8.6: nothing inside a ForeignNode can be seen', async () => {
    const [softmax, conv] = verify(
      'op:Softmax fp32\n/patch_embed/proj/Conv fp16',
      await captured('tensorrt-8.6.1/vit_tiny.prec_obey'),
    );
    expect(softmax).toMatchObject({ verdict: 'unseen', counts: { unseen: 12 } });
    expect(conv?.verdict).toBe('obeyed');
  });

  test('8.6: a LayerNormalization has no layer of its name, so flags never reached it', async () => {
    const built = await captured('tensorrt-8.6.1/vit_tiny.prec_obey');
    const [norm, half] = verify(
      '/blocks/blocks.0/norm1/LayerNormalization fp32\n/blocks/blocks.1/norm1/LayerNormalization fp16',
      built,
    );
    expect([norm?.verdict, half?.verdict]).toEqual(['unseen', 'disobeyed']);
    expect(norm?.message).toContain('no layer of its network has the name of this node');
  });

  test('a strongly typed build with Casts: kernels first, the model where they do not tell', async () => {
    const mixed = await captured('tensorrt-10.6.0/fp16_overflow_mixed.typed');
    const [matmul, scale, down, kept] = verify(
      '/layers.1/attn/qk/MatMul fp32\n/layers.1/attn/scale/Mul fp32\n/layers.3/ffn/down/MatMul fp32\n/layers.2/ffn/down/MatMul fp32',
      mixed,
    );
    expect(matmul?.nodes[0]).toMatchObject({ verdict: 'obeyed', certain: true });
    expect(scale?.nodes[0]).toMatchObject({ verdict: 'obeyed', certain: false });
    expect(scale?.message).toContain('strongly typed');
    expect(down?.verdict).toBe('obeyed');
    expect(kept?.verdict).toBe('disobeyed');
    const typed = await captured('tensorrt-10.6.0/fp16_overflow_fp16.typed');
    const [qk, add] = verify('/layers.1/attn/qk/MatMul fp32\n/final_norm/Add_1 fp32', typed);
    expect([qk?.verdict, add?.verdict]).toEqual(['disobeyed', 'disobeyed']);
  });

  test('strongly typed, but inside a fused attention kernel: a Softmax is unverifiable whatever its border, a product is not', async () => {
    const { index, build } = await captured('tensorrt-10.6.0/fp16_overflow_fp16.typed');
    // As if the model that was built had Casts around this node.
    const softmax = index.names.indexOf('/layers.1/attn/softmax/Softmax');
    const declared = index.nodes.map((_, i) => (i === softmax ? ('fp32' as const) : ('fp16' as const)));
    const rules = [
      '/layers.1/attn/softmax/Softmax fp32',
      '/layers.0/attn/softmax/Softmax fp16',
      '/layers.0/attn/qk/MatMul fp16',
    ];
    const [kept, other, product] = verify(rules.join('\n'), { index, build: { ...build, declared } });
    expect(kept).toMatchObject({ verdict: 'unseen' });
    expect(kept?.message).toMatch(
      /^The build was strongly typed, and in the copy .* outputs fp32, but it is inside the fused attention kernel _gemm_mha_v2\S*, which has fp16 at its boundary, so its own type cannot be verified\.$/,
    );
    expect(other).toMatchObject({ verdict: 'unseen' });
    expect(product).toMatchObject({ verdict: 'obeyed', certain: false });
  });

  test('names only: the list in a verbose log still tells, without it nothing does', async () => {
    const [logged] = verify('/patch_embed/proj/Conv fp32', await captured('tensorrt-10.6.0/vit_tiny.names_only'));
    expect(logged).toMatchObject({ verdict: 'disobeyed' });
    expect(logged?.message).toContain('it reads fp16');
    const names = await captured('tensorrt-10.6.0/vit_tiny.names_only', false);
    const [conv, none] = verify('/patch_embed/proj/Conv fp32\nop:Constant fp32', names);
    expect(conv?.verdict).toBe('unseen');
    expect(none).toMatchObject({ verdict: 'unseen', nodes: [], counts: { unseen: 0 } });
  });

  test('TensorRT-RTX: kernels from the log', async () => {
    const rtx = await captured('tensorrt-rtx-1.7.1/fp16_overflow_mixed');
    expect(rtx.build.product).toBe('tensorrt-rtx');
    const [matmul, other] = verify('/layers.1/attn/qk/MatMul fp32\n/layers.0/ffn/down/MatMul fp32', rtx);
    expect(matmul?.verdict).toBe('obeyed');
    expect(other?.verdict).toBe('disobeyed');
  });
});

describe('a build that was not made with the rules', () => {
  const conv = '/patch_embed/proj/Conv';

  test('of our own, without rules: nothing is obeyed, what it happens to do is said', async () => {
    const plain = await captured('tensorrt-10.6.0/vit_tiny.fp32');
    const [kept, half] = verify(`${conv} fp32\nop:Softmax fp16`, plain, null);
    expect(kept).toMatchObject({
      verdict: 'unbuilt',
      message: 'Not built with these rules yet; this node happens to run in fp32.',
    });
    expect(half).toMatchObject({ verdict: 'unbuilt', counts: { obeyed: 0, disobeyed: 0, unseen: 0, unbuilt: 12 } });
  });

  test('made with other rules: each node by its own request', async () => {
    const built = await captured('tensorrt-10.6.0/vit_tiny.prec_obey');
    const before = `# first try\nop:Softmax fp32\n${conv} fp16\n`;
    const after = `${conv} fp16\n/blocks/blocks.0/attn/Softmax fp32\n/blocks/blocks.1/attn/Softmax fp16\nop:Erf fp32\n`;
    expect(verify(after, built, before).map(({ verdict }) => verdict)).toEqual([
      'obeyed',
      'unseen',
      'unbuilt',
      'unbuilt',
    ]);
    const outputs = verify(`${conv} fp16 -> fp32`, built, before)[0];
    expect(outputs?.verdict).toBe('unbuilt');
  });

  test('of unknown origin: by its command, its log, or the types of its model', async () => {
    const verdict = async (name: string, rule: string) =>
      verifyUnknown(rule, await captured(name)).map((found) => found.verdict);
    // No layer precisions in the command.
    expect(await verdict('tensorrt-8.6.1/vit_tiny.fp32', 'op:Softmax fp32')).toEqual(['unbuilt']);
    expect(await verdict('tensorrt-10.6.0/vit_tiny.fp16', `${conv} fp16`)).toEqual(['unbuilt']);
    // The log names what was asked.
    const asked =
      '/blocks/blocks.0/attn/Softmax fp32\n/blocks/blocks.2/attn/Softmax fp32\n/blocks/blocks.0/attn/Softmax bf16';
    expect(await verdict('tensorrt-10.6.0/vit_tiny.prec_obey', asked.split('\n').slice(0, 2).join('\n'))).toEqual([
      'unseen',
      'unbuilt',
    ]);
    expect(await verdict('tensorrt-10.6.0/vit_tiny.prec_obey', asked.split('\n')[2]!)).toEqual(['unbuilt']);
    // TensorRT 8 does not write them: whoever verifies is believed.
    expect(await verdict('tensorrt-8.6.1/vit_tiny.prec_obey', `${conv} fp16`)).toEqual(['obeyed']);
    // A model of one type asks for nothing, one of several asks for what it declares.
    expect(await verdict('tensorrt-rtx-1.7.1/fp16_overflow', '/final_norm/Pow fp32')).toEqual(['unbuilt']);
    const mixed = '/layers.1/attn/qk/MatMul fp32\n/layers.0/ffn/down/MatMul fp32';
    expect(await verdict('tensorrt-rtx-1.7.1/fp16_overflow_mixed', mixed)).toEqual(['obeyed', 'unbuilt']);
  });
});

test('flags of a command', () => {
  expect(flagsOfCommand(['trtexec', '--onnx=m', '--best', '--precisionConstraints=prefer'])).toEqual({
    types: ['fp32', 'fp16', 'bf16', 'int8', 'fp8'],
    constraints: 'prefer',
    stronglyTyped: false,
    layers: false,
  });
  expect(flagsOfCommand(['polygraphy', 'run', 'm.onnx', '--trt', '--fp16', '--precision-constraints', 'obey'])).toEqual(
    {
      types: ['fp32', 'fp16'],
      constraints: 'obey',
      stronglyTyped: false,
      layers: false,
    },
  );
  expect(flagsOfCommand(['/opt/x/trtexec', '--stronglyTyped'])?.stronglyTyped).toBe(true);
  expect(flagsOfCommand(['python', 'build.py'])).toBeNull();
});

describe('nodes that are not in the main graph', () => {
  const modelOf = async (name: string) => {
    const { value } = await readModel(bytesOf(hardModel(name).bytes));
    const report = await reportOnBuild(name);
    return { index: new NodeIndex(modelFacts(value!, 'm')), build: buildFacts(report, null, null, null, value!.nodes) };
  };

  test('of a branch: the result says in which', async () => {
    const built = await modelOf('if_names_of_main');
    const [rule] = verify('b0 fp16\nop:Sigmoid fp16', built).slice(-1);
    const inside = rule!.nodes.find(({ node }) => node.id.includes('/'))!;
    expect(inside.verdict).not.toBe('obeyed');
    expect(inside.reason).toMatch(/ The node is in else_branch of "if"\.$/);
    expect(rule!.nodes.find(({ node }) => !node.id.includes('/'))!.reason).not.toContain('The node is in');
  });

  test('of a function: rules do not reach it', async () => {
    const { index } = await modelOf('function_in_if');
    const { problems } = checkOverrides(readOverrides('mul fp32'), index, null);
    expect(problems).toMatchObject([{ code: 'in-function' }]);
    expect(problems[0]!.message).toContain('"mul" is in the function Gate');
  });
});
