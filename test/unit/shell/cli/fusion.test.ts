import { describe, expect, it } from 'vitest';
import type { WhyNotFused } from '../../../../src/kernel/report/whyNotFused.ts';
import { fusion } from '../../../../src/kernel/node/cli/fusion.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { runCommand } from './runCommand.ts';

const capture = (model: string, name: string, ...files: string[]): string[] => [
  '--onnx',
  modelPath(model),
  ...files.flatMap((file) => [`--${file.split('.')[0]}`, fixturePath(`captures/${name}/${file}`)]),
];
const vit = capture('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16', 'layers.json', 'profile.json').concat(
  '--log',
  fixturePath('captures/tensorrt-10.6.0/vit_tiny.fp16/log.txt.gz'),
);
const bert = capture('bert_base', 'tensorrt-10.6.0/bert_base.fp16', 'layers.json.gz');

describe('the header', () => {
  it('has the version and the shape of each input', async () => {
    const { out } = await runCommand(fusion, ...vit);
    expect(out.split('\n').slice(0, 3)).toEqual([
      'vit_tiny.onnx · TensorRT 10.6.0',
      'Inputs: input float 1×3×224×224',
      '',
    ]);
  });

  it('has the sizes that were built for where the model leaves them open', async () => {
    const { out } = await runCommand(fusion, ...bert);
    expect(out.split('\n\n')[0]!.replaceAll(/\s+/g, ' ')).toBe(
      'bert_base.onnx Inputs: input_ids int64 batch×seq (dynamic in the engine), attention_mask int64 batch×seq (dynamic in the engine)',
    );
    const dynamic = await runCommand(fusion, ...capture('bert_base', 'tensorrt-10.6.0/bert_base.fp16', 'log.txt.gz'));
    expect(dynamic.out).toContain('input_ids int64 batch×seq (built for 1×8 to 8×256, optimum 4×64)');
    // TensorRT 8 writes the sizes of a run into the layer info: they are not those of the engine.
    const old = await runCommand(
      fusion,
      ...capture('bert_base', 'tensorrt-8.6.1/bert_base.fp16', 'log.txt.gz', 'layers.json'),
    );
    expect(old.out).toContain('input_ids int64 batch×seq (built for 1×8 to 8×256, optimum 4×64)');
    const fixed = await runCommand(
      fusion,
      ...capture('bert_base', 'tensorrt-10.6.0/bert_base.noprofile', 'log.txt.gz', 'layers.json.gz'),
    );
    expect(fixed.out).toContain('input_ids int64 batch×seq (built as 1×1)');
  });
});

describe('--nodes', () => {
  it('gives fate, evidence, layer and neighbors', async () => {
    const { out } = await runCommand(fusion, ...vit, '--nodes', '/blocks/blocks.0/attn/Softmax');
    expect(out).toBe(`/blocks/blocks.0/attn/Softmax (Softmax, node 50)
  Fused into ForeignNode 0 (blocks.0–11 · Attention ×12 + MLP ×12) with 366 other nodes. Kernel
  _gemm_mha_v2_myl2_3 computes it together with Mul, MatMul, MatMul_1.
  Exact: The metadata of layer 5 of ForeignNode 0 names it.
  Log: line 6873
Layers
  layer 5: _gemm_mha_v2_myl2_3
    kernel of ForeignNode 0, 6.68 µs, 1.2 % of the time, 4 nodes, tactic
    _gemm_mha_v2_0xcba8fd614e4ee34df02ecfd98ce1106d, evidence: metadata
Inputs
  /blocks/blocks.0/attn/MatMul_output_0 float 1×3×197×197
    /blocks/blocks.0/attn/MatMul (MatMul, node 49): same kernel
Outputs
  /blocks/blocks.0/attn/Softmax_output_0 float 1×3×197×197
    /blocks/blocks.0/attn/MatMul_1 (MatMul, node 51): same kernel
`);
  });

  it('takes an id as well, and writes the same facts as JSON', async () => {
    const { out } = await runCommand(fusion, ...vit, '--nodes', '50', '--json');
    const { nodes } = JSON.parse(out) as {
      nodes: { node: { name: string }; layers: { id: number }[]; inputs: { producer: string }[]; outputs: unknown[] }[];
    };
    expect(nodes).toHaveLength(1);
    expect(nodes[0]!.node.name).toBe('/blocks/blocks.0/attn/Softmax');
    expect(nodes[0]!.layers.map(({ id }) => id)).toEqual([5]);
    expect(nodes[0]!.inputs.map(({ producer }) => producer)).toEqual(['49']);
    expect(nodes[0]!.outputs).toHaveLength(1);
  });

  it('has a text for every node, in lines that fit', async () => {
    const { out } = await runCommand(fusion, ...vit, '--json');
    const { nodes } = JSON.parse(out) as { nodes: { id: string; fate: string }[] };
    const oneOfEach = new Map(nodes.map((node) => [node.fate, node.id]));
    expect(oneOfEach.size).toBeGreaterThan(2);
    for (const id of oneOfEach.values()) {
      const text = (await runCommand(fusion, ...vit, '--nodes', id)).out;
      expect(text).toMatch(/\n {2}(Exact|Evidence|Reason): /);
      for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
    }
  });

  it('names similar nodes where there is none of the name', async () => {
    await expect(runCommand(fusion, ...vit, '--nodes', 'blocks.0/attn/Softmax')).rejects.toThrow(
      'The model has no node with the name or id "blocks.0/attn/Softmax". Similar names: "/blocks/blocks.0/attn/Softmax".',
    );
    await expect(runCommand(fusion, ...vit, '--nodes', 'attn/Softmaxx')).rejects.toThrow(
      'Similar names: "/blocks/blocks.0/attn/Softmax", "/blocks/blocks.1/attn/Softmax"',
    );
  });
});

describe('--group', () => {
  it('lists kernels in order with their nodes, those without a node, and members without a kernel', async () => {
    const { out } = await runCommand(fusion, ...vit, '--group', '0');
    const { out: json } = await runCommand(fusion, ...vit, '--group', '0', '--json');
    const { foreignNode, layers, nodes } = JSON.parse(json) as {
      foreignNode: { nodes: string[] };
      layers: { id: number; kind: string; nodes: string[] }[];
      nodes: { id: string; within?: number[]; view?: true }[];
    };
    expect(nodes.map(({ id }) => id)).toEqual(foreignNode.nodes);
    const kernels = [...out.matchAll(/^layer (\d+): [^]*?, (?:(\d+) nodes?|no known node)$/gm)];
    expect(kernels.map(([, id, count]) => [Number(id), Number(count ?? 0)])).toEqual(
      layers.filter(({ kind }) => kind === 'kernel').map((layer) => [layer.id, layer.nodes.length]),
    );
    expect(out).toContain('367 nodes, 87 kernels, 1 other step (1 shape_call)');
    const rest = 367 - new Set(layers.flatMap((layer) => layer.nodes)).size;
    expect(out).toContain(`Members that no kernel names: ${rest} nodes\n`);
    const open = out.slice(out.indexOf('Members that')).trimEnd().split('\n').slice(1);
    expect(open).toHaveLength(rest);
    const within = nodes.filter((node) => node.within && !node.view);
    expect(open.filter((line) => / in layer \d+(?:(?:, \d+)? or \d+)?$/.test(line))).toHaveLength(within.length);
    expect(open.filter((line) => line.endsWith('changes no data'))).toHaveLength(
      nodes.filter(({ view }) => view).length,
    );
  });

  it('lists the members alone where no kernel is known', async () => {
    const files = capture('vit_tiny', 'tensorrt-8.6.1/vit_tiny.fp16', 'layers.json');
    const { out } = await runCommand(fusion, ...files, '--group', '0');
    expect(out).toContain('Members (the inputs do not list the kernels)\n');
    expect(out.split('\n').filter((line) => line.endsWith(', derived')).length).toBeGreaterThan(300);
  });

  it('says which ForeignNodes there are', async () => {
    await expect(runCommand(fusion, ...vit, '--group', '3')).rejects.toThrow(
      'There is no ForeignNode 3: the only one is 0.',
    );
    await expect(runCommand(fusion, ...vit, '--group', 'x')).rejects.toThrow("--group: 'x' is not an integer");
    await expect(runCommand(fusion, ...vit, '--group', '0', '--nodes', '1')).rejects.toThrow('pass only one of');
  });
});

describe('--why', () => {
  const inFp32 = capture('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp32', 'layers.json.gz', 'log.txt.gz');
  const softmax = '/blocks/blocks.0/attn/Softmax';

  it('names what other kernels compute around a node, the condition and what to run', async () => {
    const { out } = await runCommand(fusion, ...inFp32, '--why', softmax);
    expect(out).toContain('(MatMul, node\n    49), in another kernel of the same ForeignNode');
    expect(out).toContain('Attention not fused (type)');
    expect(out).toContain('  > trtlens build vit_tiny.onnx --precision fp16\n');
    const { why } = JSON.parse((await runCommand(fusion, ...inFp32, '--why', '50', '--json')).out) as {
      why: [WhyNotFused];
    };
    expect(why[0].apart.map(({ neighbor, direction }) => [neighbor, direction])).toEqual([
      ['49', 'input'],
      ['51', 'output'],
    ]);
    expect(why[0].heldBack.map(({ code }) => code)).toEqual(['attention-not-fused']);
  });

  it.each([
    [softmax, vit, 'Nothing is apart: every neighbor that has a layer is computed with it.'],
    [
      '0',
      inFp32,
      'No cause that recorded builds show concerns it. To find a change that fuses the first two:\n  > trtlens what-if vit_tiny.onnx --fuse 0,8',
    ],
    [
      'ForeignNode 0',
      inFp32,
      'ForeignNode 0: 367 nodes\nOther layers compute\n  before, over /patch_embed/proj/Conv_output_0: ',
    ],
  ])('%s', async (name, files, text) => {
    expect((await runCommand(fusion, ...files, '--why', name)).out).toContain(text);
  });

  it('says of a ForeignNode where it begins', async () => {
    const { out } = await runCommand(fusion, ...vit, '--why', 'ForeignNode 0');
    expect(out).toContain('ForeignNode 0 begins at "/patch_embed/proj/Conv_output_0"');
  });

  it('refuses what there is not', async () => {
    await expect(runCommand(fusion, ...inFp32, '--why', 'nope')).rejects.toThrow('no node with the name or id "nope"');
    await expect(runCommand(fusion, ...inFp32, '--why', 'ForeignNode 7')).rejects.toThrow('There is no ForeignNode 7');
    await expect(runCommand(fusion, ...vit, '--why', '1', '--nodes', '1')).rejects.toThrow('pass only one of');
  });
});

describe('without the model', () => {
  const engine = vit.slice(2);

  it('lists the layers, and says that the nodes are unknown', async () => {
    const { out } = await runCommand(fusion, ...engine);
    expect(out.replaceAll(/\s+/g, ' ')).toContain(
      "Without the ONNX file, what happened to the model's nodes is unknown.",
    );
    expect(out).toContain('CaskConvolution');
    expect(out).not.toMatch(/\d nodes?\b/);
    const { out: members } = await runCommand(fusion, ...engine, '--group', '0');
    expect(members).toContain('\n  /blocks/blocks.0/attn/Softmax\n');
    expect(members).not.toMatch(/\d nodes?\b/);
  });

  it('needs a file that lists layers, and the model for --node', async () => {
    await expect(runCommand(fusion)).rejects.toThrow(/--layers, --log or --profile/);
    await expect(runCommand(fusion, ...engine, '--nodes', 'a')).rejects.toThrow('--nodes needs --onnx MODEL.onnx');
  });
});

it('lists the copies and memsets of a trace next to the layers', async () => {
  const trace = (file: string) => fixturePath(`traces/vit_tiny.fp16/${file}`);
  const { out } = await runCommand(fusion, '--layers', trace('layers.json.gz'), '--profile', trace('plain.sqlite.gz'));
  expect(out).toContain(
    'In the whole trace, next to the layers\n   1.93 ms  5 copies to the device, 12.7 MiB\n   22.7 µs  15 copies to the host, 12.5 KiB\n   4.70 µs  2 memsets, 11.3 MiB\n',
  );
});

it('files that say nothing about the build are exit status 1, a build without an engine is not', async () => {
  const none = fixturePath('captures/manifest.json');
  for (const given of [
    ['--layers', none],
    ['--log', none],
    ['--onnx', modelPath('vit_tiny'), '--log', none],
  ])
    // oxlint-disable-next-line no-await-in-loop -- three
    expect((await runCommand(fusion, ...given)).code, given.join(' ')).toBe(1);
  expect((await runCommand(fusion, ...vit)).code).toBe(0);
});
