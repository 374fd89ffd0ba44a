import { describe, expect, test } from 'vitest';
import { type BuildFacts, flagsOfCommand } from '../../../../src/kernel/rules/buildFacts.ts';
import { type NodeIndex, resolveOverrides } from '../../../../src/kernel/rules/resolveOverrides.ts';
import { planPrecision } from '../../../../src/kernel/rules/precisionPlan.ts';
import { readOverrides } from '../../../../src/kernel/rules/readOverrides.ts';
import { verifyPrecision } from '../../../../src/kernel/rules/verifyPrecision.ts';
import { captured } from './overrideFixtures.ts';

/** The rules compared with a build that is on record as made with them. */
function verify(text: string, { index, build }: { index: NodeIndex; build: BuildFacts }) {
  const file = readOverrides(text);
  const facts = { ...build, rules: text };
  return verifyPrecision(planPrecision(file, index, resolveOverrides(file, index, build)), facts, index);
}

describe('obeyed only with evidence', () => {
  test.each(['tensorrt-10.6.0/unsupported_op.fp32', 'tensorrt-8.6.1/unsupported_op.fp32'])(
    '%s: a build that failed obeys nothing, though it allowed FP32 only',
    async (name) => {
      const [all] = verify('** fp32', await captured(name));
      expect(all?.counts).toEqual({ obeyed: 0, disobeyed: 0, unseen: all?.nodes.length, unbuilt: 0 });
      expect(all?.message).toContain('This build wrote no engine');
    },
  );

  test.each(['tensorrt-10.6.0/vit_tiny.fp32', 'tensorrt-rtx-1.7.1/fp16_overflow'])(
    '%s: without a layer nothing says that it was this model that was built',
    async (name) => {
      const capture = await captured(name);
      expect(verify('** fp32', capture)[0]).toMatchObject({ verdict: 'obeyed' });
      capture.build.layers = [];
      for (const node of capture.build.nodes) node.layers = [];
      expect(verify('** fp32', capture)[0]).toMatchObject({ verdict: 'unseen', counts: { obeyed: 0, disobeyed: 0 } });
    },
  );

  test('no node obeys two types at once', async () => {
    let nodes = 0;
    for (const name of ['vit_tiny.prec_obey', 'vit_tiny.fp16', 'vit_tiny.prec_wild', 'fp16_overflow_mixed.typed']) {
      const build = await captured(`tensorrt-10.6.0/${name}`);
      const obeying = (type: string) =>
        verify(`** ${type}`, build).flatMap((rule) =>
          rule.nodes.filter(({ verdict }) => verdict === 'obeyed').map(({ node }) => node.name),
        );
      const half = new Set(obeying('fp16'));
      const single = obeying('fp32');
      expect(single.filter((node) => half.has(node))).toEqual([]);
      expect(obeying('bf16')).toEqual([]);
      nodes += half.size + single.length;
    }
    expect(nodes).toBeGreaterThan(500);
  });

  test('the log says which type was asked for', async () => {
    const capture = await captured('tensorrt-10.6.0/vit_tiny.prec_obey');
    const [asked] = verify('/blocks/blocks.0/attn/Softmax fp32', capture);
    expect(asked).toMatchObject({ verdict: 'unseen', nodes: [{ logLine: 5966 }] });
    const [other] = verify('/blocks/blocks.0/attn/Softmax bf16', capture);
    expect(other).toMatchObject({
      verdict: 'disobeyed',
      message: 'The build requested fp32 (log line 5966), not bf16.',
    });
  });

  test('a strongly typed model knows better than the border of a kernel that took in its Casts', async () => {
    const capture = await captured('tensorrt-rtx-1.7.1/fp16_overflow_mixed');
    const position = capture.index.names.indexOf('/layers.1/attn/scale/Mul');
    const float = { type: 'Float', elements: 64 };
    const kernel = (name: string) => ({
      ...capture.build.layers[0]!,
      name,
      kind: 'kernel' as const,
      weights: null,
      nodes: [position],
      inputs: [{ name: 'in', ...float }],
      outputs: [{ name: 'out', ...float }],
    });
    const verdictOf = (name: string, declared: 'fp16' | 'fp32', type: string) => {
      const nodes = capture.build.nodes.map((node, i) => (i === position ? { ...node, layers: [0] } : node));
      const types = capture.index.nodes.map(() => declared);
      const build = { ...capture.build, layers: [kernel(name)], nodes, declared: types };
      return verify(`/layers.1/attn/scale/Mul ${type}`, { ...capture, build })[0];
    };
    expect(verdictOf('__myl_CastMulCast_myl0_1', 'fp16', 'fp32')).toMatchObject({ verdict: 'disobeyed' });
    expect(verdictOf('__myl_CastMulCast_myl0_1', 'fp16', 'fp16')).toMatchObject({ verdict: 'unseen' });
    expect(verdictOf('__myl_Mul_myl0_1', 'fp16', 'fp16')).toMatchObject({ verdict: 'disobeyed' });
    expect(verdictOf('__myl_Mul_myl0_1', 'fp32', 'fp32')).toMatchObject({ verdict: 'obeyed', certain: true });
  });

  test('the weights of a product tell what it multiplies in, whatever Casts its kernel has taken in', async () => {
    const capture = await captured('tensorrt-rtx-1.7.1/fp16_overflow_mixed');
    const name = '/layers.2/ffn/up/MatMul';
    const position = capture.index.names.indexOf(name);
    const weight = capture.index.nodes[position]!.weight!.reduce((size, dim) => size * dim, 1);
    expect(weight).toBeGreaterThan(1000);
    const kernel = (made: string, border: string, constants: [string, number][]) => ({
      ...capture.build.layers[0]!,
      name: made,
      kind: 'kernel' as const,
      weights: null,
      // Its Casts are nodes, too.
      nodes: [position, position + 1, position + 2],
      inputs: [{ name: 'in', type: border, elements: 64 }],
      outputs: [{ name: 'out', type: border, elements: 64 }],
      constants: constants.map(([type, elements], i) => ({ name: `__mye${i}`, type, elements })),
    });
    const verdictOf = (layer: ReturnType<typeof kernel>, declared: 'fp32' | null, index: NodeIndex | null) => {
      const nodes = capture.build.nodes.map((node, i) => (i === position ? { ...node, layers: [0] } : node));
      const { declared: _, ...rest } = capture.build;
      const types = declared && capture.index.nodes.map(() => declared);
      const rules = `${name} fp32`;
      const build = { ...rest, rules, layers: [layer], nodes, ...(types && { declared: types }) };
      const file = readOverrides(`${name} fp32`);
      const plan = planPrecision(file, capture.index, resolveOverrides(file, capture.index, build));
      return verifyPrecision(plan, build, index)[0];
    };
    const casts = '__myl_CastFcCastAdd_myl0_1';
    const half = kernel(casts, 'Half', [['Half', weight]]);
    expect(verdictOf(half, 'fp32', capture.index)).toMatchObject({
      verdict: 'disobeyed',
      message:
        'In the layer __myl_CastFcCastAdd_myl0_1 its weights are fp16, not fp32. TensorRT removed the Casts around it. Keep a neighboring node in fp32, too.',
    });
    const float = kernel(casts, 'Half', [
      ['Float', weight],
      ['Half', 64],
    ]);
    expect(verdictOf(float, 'fp32', capture.index)).toMatchObject({ verdict: 'obeyed', certain: true });
    // Two constants of that size: nobody knows which of them it is.
    const both = kernel(casts, 'Half', [
      ['Float', weight],
      ['Half', weight],
    ]);
    expect(verdictOf(both, 'fp32', capture.index)).toMatchObject({ verdict: 'obeyed', certain: false });
    // A kernel of a library multiplies what it reads; scalars beside it mean nothing.
    const gemm = { ...kernel('__mye12_myl0_3', 'Half', [['Float', 1]]), type: 'gemm' };
    expect(verdictOf(gemm, 'fp32', capture.index)).toMatchObject({
      verdict: 'disobeyed',
      certain: true,
      message: expect.stringContaining(
        'In the layer __mye12_myl0_3 it multiplies fp16, not fp32. TensorRT removed',
      ) as unknown,
    });
    // Without Casts in it, nothing in the kernel is in FP32, whatever the model says.
    const none = kernel('__myl_FcAdd_myl0_1', 'Half', [['Half', 64]]);
    expect(verdictOf(none, 'fp32', capture.index)).toMatchObject({ verdict: 'unseen' });
  });

  test('a kernel that converts inside does not accuse a node while the model that was built is not known', async () => {
    const capture = await captured('tensorrt-rtx-1.7.1/fp16_overflow_mixed');
    const position = capture.index.names.indexOf('/layers.1/attn/scale/Mul');
    const border = [{ name: 'tensor', type: 'Half', elements: 64 }];
    const verdictOf = (name: string) => {
      const layer = {
        ...capture.build.layers[0]!,
        name,
        weights: null,
        nodes: [position],
        inputs: border,
        outputs: border,
      };
      const nodes = capture.build.nodes.map((node, i) => (i === position ? { ...node, layers: [0] } : node));
      const build = { ...capture.build, layers: [layer], nodes };
      const file = readOverrides('/layers.1/attn/scale/Mul fp32');
      return verifyPrecision(
        planPrecision(file, capture.index, resolveOverrides(file, capture.index, build)),
        build,
      )[0];
    };
    expect(verdictOf('__myl_CastMulCast_myl0_1')).toMatchObject({ verdict: 'unseen' });
    expect(verdictOf('__myl_Mul_myl0_1')).toMatchObject({ verdict: 'disobeyed' });
  });

  test('a node is not judged by what its kernel reads before it casts', async () => {
    const capture = await captured('tensorrt-10.6.0/vit_tiny.prec_obey');
    const verdictOf = (node: string, kernel: string) => {
      const position = capture.index.names.indexOf(`/blocks/blocks.0/${node}`);
      const layer = {
        ...capture.build.layers[0]!,
        name: kernel,
        kind: 'kernel' as const,
        type: 'kgen',
        weights: null,
        nodes: [position],
        inputs: [{ name: 'in', type: 'Half', elements: 64 }],
        outputs: [{ name: 'out', type: 'Float', elements: 64 }],
      };
      const nodes = capture.build.nodes.map((one, i) => (i === position ? { ...one, layers: [0] } : one));
      const build = { ...capture.build, layers: [layer], nodes };
      return verify(`/blocks/blocks.0/${node} fp32`, { ...capture, build })[0];
    };
    expect(verdictOf('attn/Softmax', '__myl_CasSliMaxSubExp_myl1_5')).toMatchObject({ verdict: 'unseen' });
    expect(verdictOf('attn/Softmax', '__myl_SliMaxSubExp_myl1_5')).toMatchObject({
      verdict: 'disobeyed',
      certain: true,
    });
    expect(verdictOf('norm1/LayerNormalization', '__myl_CasMeaSubMulMea_myl1_1')).toMatchObject({
      verdict: 'obeyed',
      certain: false,
    });
  });

  test('a run that loads an engine says nothing of how it was built', () => {
    expect(flagsOfCommand(['trtexec', '--loadEngine=model.engine', '--dumpProfile'])).toBeNull();
    expect(flagsOfCommand(['polygraphy', 'run', 'model.engine', '--trt', '--model-type', 'engine'])).toBeNull();
    expect(flagsOfCommand(['polygraphy', 'run', 'm.onnx', '--trt', '--trt-config-script', 'c.py'])).toBeNull();
    expect(flagsOfCommand(['trtexec', '--onnx=engine.onnx', '--saveEngine=engine'])?.types).toEqual(['fp32']);
  });
});

describe('output types', () => {
  const conv = '/patch_embed/proj/Conv';

  test('are seen at computed by computed by a layer of its own', async () => {
    const capture = await captured('tensorrt-10.6.0/vit_tiny.prec_obey');
    const verdictOf = (types: string) => verify(`${conv} ${types}`, capture)[0];
    expect(verdictOf('fp16 -> fp16')).toMatchObject({ verdict: 'obeyed' });
    expect(verdictOf('fp16 -> fp32')).toMatchObject({
      verdict: 'disobeyed',
      message: 'The layer /patch_embed/proj/Conv outputs fp16, not fp32.',
    });
  });

  test('are not taken for granted inside of shared kernels', async () => {
    const capture = await captured('tensorrt-10.6.0/vit_tiny.prec_wild');
    const norm = '/blocks/blocks.1/norm2/LayerNormalization';
    expect(verify(`${norm} fp32 -> fp32`, capture)[0]).toMatchObject({ verdict: 'obeyed' });
    expect(verify(`${norm} fp32 -> fp16`, capture)[0]).toMatchObject({ verdict: 'unseen' });
  });

  test('of a build in FP32 only', async () => {
    const capture = await captured('tensorrt-8.6.1/vit_tiny.fp32');
    const [same, other] = verify('op:Softmax fp32 -> fp32\nop:Erf fp32 -> fp16', capture);
    expect([same?.verdict, other?.verdict]).toEqual(['obeyed', 'disobeyed']);
  });

  test('of a strongly typed build are the model’s own, or made by the Cast behind the node', async () => {
    const capture = await captured('tensorrt-10.6.0/fp16_overflow_mixed.typed');
    const verdictOf = (node: string, types: string) => verify(`${node} ${types}`, capture)[0];
    const cast = '/layers.1/attn/scale/Mul';
    expect(verdictOf(cast, 'fp32 -> fp32')).toMatchObject({ verdict: 'obeyed' });
    expect(verdictOf(cast, 'fp32 -> fp16')).toMatchObject({ verdict: 'obeyed' });
    expect(verdictOf(cast, 'fp32 -> bf16')).toMatchObject({
      verdict: 'disobeyed',
      message: 'The build was strongly typed, and in the model output 0 of this node is fp32, cast to fp16, not bf16.',
    });
    // Read by its neighbor as it is.
    expect(verdictOf('/layers.1/attn/qk/MatMul', 'fp32 -> fp16')).toMatchObject({ verdict: 'disobeyed' });
    capture.build.declared = capture.index.nodes.map(() => 'fp32');
    expect(verdictOf(cast, 'fp32 -> bf16')).toMatchObject({ verdict: 'obeyed' });
  });
});
