import { gunzipSync } from 'node:zlib';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fusion } from '../../../../src/kernel/node/cli/fusion.ts';
import { type Placement, readPlacement } from '../../../../src/kernel/read/tensorrt/readLayerLine.ts';
import { noModel, placeNodes } from '../../../../src/kernel/fusion/createReport.ts';
import type { OnnxModel } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { fixturePath, modelPath } from '../../../support/fixtures.ts';
import { runCommand } from '../../shell/cli/runCommand.ts';
import { reportWith } from '../../features/diff/reportWith.ts';

const folder = mkdtempSync(join(tmpdir(), 'ort-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Lines as ONNX Runtime 1.31 writes them (session_state.cc); the TensorRT provider's are not recorded but made by its source. */
const log = (...lines: string[]) =>
  lines.map((line) => `2026-11-22 20:14:13.76 [V:onnxruntime:, session_state.cc:1578 Verify] ${line}`).join('\n');
const engine = 'TRTKernel_graph_main_9802349105639632351_0_0';
const split = log(
  'Node placements',
  ' Node(s) placed on [TensorrtExecutionProvider]. Number of nodes: 3',
  `  ${engine} (TensorrtExecutionProvider_${engine})`,
  '  MemcpyFromHost (Memcpy)',
  '  MemcpyToHost (Memcpy_token_2)',
  ' Node(s) placed on [CUDAExecutionProvider]. Number of nodes: 2',
  '  NonZero (NonZero3)',
  '  FusedConv (fused Conv4)',
  ' Node(s) placed on [CPUExecutionProvider]. Number of nodes: 1',
  '  Gather (Gather5)',
  'SaveMLValueNameIndexMapping (done)',
);
const why = log(
  'Force fallback to CPU execution for node: Gather5 because the CPU execution path is deemed faster than overhead',
  'CUDA kernel not found in registries for Op type: Foo node name: Foo9',
);

const value = (text: string): Placement => readPlacement(text).value!;

function placed(text: string, names: string[]) {
  const report = reportWith(names, []);
  const nodes = report.nodes.map(({ id, name, op }) => ({ ...noModel.nodes[0]!, id, name, op }));
  return placeNodes(report, { ...noModel, nodes } as OnnxModel, value(text));
}

const names = ['MatMul1', 'Relu2', 'NonZero3', 'Conv4', 'Gather5', 'Constant6'];

describe('the verbose log of ONNX Runtime', () => {
  it('says which provider runs which node, and why', () => {
    const { providers, reasons } = value(`${why}\n${split}`);
    expect(providers.map(({ name, count, nodes, line }) => [name, count, nodes?.length, line])).toEqual([
      ['TensorrtExecutionProvider', 3, 3, 4],
      ['CUDAExecutionProvider', 2, 2, 8],
      ['CPUExecutionProvider', 1, 1, 11],
    ]);
    expect(providers[1]!.nodes).toContainEqual({ op: 'FusedConv', name: 'fused Conv4' });
    expect([...reasons.keys()]).toEqual(['Gather5', 'Foo9']);
  });

  it('keeps the sessions of a log apart', () => {
    const whole = log(
      '[TensorRT EP] Whole graph will run on TensorRT execution provider',
      'Parsing node: MatMul1 [MatMul]',
      'Node placements',
      ' All nodes placed on [TensorrtExecutionProvider]. Number of nodes: 1',
    );
    const { wholeGraph, reasons, parsed } = value(`${whole}\n${why}\n${split}`);
    expect([wholeGraph, [...reasons.keys()], [...parsed]]).toEqual([false, ['Gather5', 'Foo9'], []]);
    const [first] = placed(`${whole}\n${split}`, names).nodes;
    expect(first!.placement).toMatchObject({ provider: null, exact: false });
    // An engine may be built at the first run.
    expect([...value(`${split}\n${log('Parsing node: Relu2 [Relu]')}`).parsed]).toEqual(['Relu2']);
  });

  it('is read as older versions wrote it, and of two sessions the last one', () => {
    const old = log('Node placements', ' Provider: [CPUExecutionProvider]: [Gather (Gather5), Relu (), ]');
    expect(value(`${split}\n${old}`).providers).toMatchObject([
      {
        name: 'CPUExecutionProvider',
        nodes: [
          { op: 'Gather', name: 'Gather5' },
          { op: 'Relu', name: '' },
        ],
      },
    ]);
    const all = log('Node placements', 'All nodes have been placed on [CUDAExecutionProvider].');
    expect(value(all).providers).toMatchObject([{ name: 'CUDAExecutionProvider', nodes: null }]);
  });

  it('of another level or kind says what to do', () => {
    for (const text of ['', 'hello', log('Session successfully initialized.'), 'Node placements\n  Gather (a)']) {
      const read = readPlacement(text);
      expect(read.value).toBeUndefined();
      expect(read.problems[0]!.message).toContain('log_severity_level=0');
    }
  });
});

describe('nodes on execution providers', () => {
  it('are where the log lists them, and nothing else is claimed', () => {
    const report = placed(`${why}\n${split}`, names);
    expect(report.nodes.map(({ name, placement }) => [name, placement!.provider, placement!.exact])).toEqual([
      ['MatMul1', null, false],
      ['Relu2', null, false],
      ['NonZero3', 'CUDAExecutionProvider', true],
      ['Conv4', 'CUDAExecutionProvider', false],
      ['Gather5', 'CPUExecutionProvider', true],
      ['Constant6', null, true],
    ]);
    expect(report.nodes[0]!.placement!.reason).toContain('inside a TensorRT engine, or was folded');
    expect(report.nodes[3]!.placement!.reason).toContain('FusedConv');
    expect(report.nodes[4]!.placement!.reason).toMatch(/CPU because the CPU execution path is deemed faster/);
    expect(report.placement).toEqual(
      [
        { provider: 'TensorrtExecutionProvider', nodes: 0, listed: 3, engines: 1, copies: 2, line: 4 },
        { provider: 'CUDAExecutionProvider', nodes: 2, listed: 2, engines: 0, copies: 0, line: 8 },
        { provider: 'CPUExecutionProvider', nodes: 1, listed: 1, engines: 0, copies: 0, line: 11 },
      ].map((share) => ({ ...share, line: expect.any(Number) as number })),
    );
  });

  it('are in TensorRT, derived, where its parser read them or it runs the whole graph', () => {
    const parse = log('[2026-11-22 19:14:13 VERBOSE] Parsing node: MatMul1 [MatMul]');
    const report = placed(`${parse}\n${split}`, names);
    expect(report.nodes[0]!.placement).toMatchObject({ provider: 'TensorrtExecutionProvider', exact: false });
    expect(report.nodes[1]!.placement!.provider).toBeNull();
    const whole = log(
      '[TensorRT EP] Whole graph will run on TensorRT execution provider',
      'Node placements',
      ' All nodes placed on [TensorrtExecutionProvider]. Number of nodes: 1',
    );
    const all = placed(whole, names);
    expect(new Set(all.nodes.slice(0, 5).map(({ placement }) => placement!.provider))).toEqual(
      new Set(['TensorrtExecutionProvider']),
    );
    expect(all.placement![0]).toMatchObject({ nodes: 5, engines: 1 });
  });

  it('that share a name or have none are not told apart', () => {
    const twins = placed(
      log('Node placements', ' Node(s) placed on [CPUExecutionProvider]. Number of nodes: 1', '  A (x)'),
      ['x', 'x'],
    );
    expect(twins.nodes.map(({ placement }) => placement!.provider)).toEqual([null, null]);
  });
});

describe('trtlens fusion --ort-log', () => {
  // A session of ONNX Runtime 1.31.1 on the CPU: 16 nodes are left of 20.
  const recorded = gunzipSync(readFileSync(fixturePath('ort/loop_if.cpu.log.gz'))).toString();

  it('reads a recorded log of a session on the CPU, compressed or not, without an engine', async () => {
    const plain = join(folder, 'ort.log');
    writeFileSync(plain, recorded);
    const model = ['--onnx', modelPath('loop_if')];
    const { out } = await runCommand(fusion, ...model, '--ort-log', plain, '--json');
    const report = JSON.parse(out) as ReturnType<typeof placed>;
    expect(report.placement).toMatchObject([{ provider: 'CPUExecutionProvider', listed: 16, engines: 0 }]);
    expect(report.nodes.every(({ placement }) => placement!.exact === false || placement!.provider === null)).toBe(
      true,
    );
    const packed = await runCommand(fusion, ...model, '--ort-log', fixturePath('ort/loop_if.cpu.log.gz'));
    expect(packed.out).toContain('Execution providers of ONNX Runtime\n  CPUExecutionProvider: ');
  });

  it('joins it with a build, and says of one node where it runs', async () => {
    const path = join(folder, 'split.log');
    const node = '/blocks/blocks.0/attn/Softmax';
    writeFileSync(
      path,
      log(
        'Node placements',
        ' Node(s) placed on [TensorrtExecutionProvider]. Number of nodes: 1',
        `  ${engine} (${engine})`,
        ' Node(s) placed on [CPUExecutionProvider]. Number of nodes: 1',
        `  Softmax (${node})`,
      ),
    );
    const build = [
      '--onnx',
      modelPath('vit_tiny'),
      '--layers',
      fixturePath('captures/tensorrt-10.6.0/vit_tiny.fp16/layers.json'),
    ];
    const { out } = await runCommand(fusion, ...build, '--ort-log', path, '--nodes', node);
    expect(out).toContain('ONNX Runtime: CPUExecutionProvider. The log lists it on CPUExecutionProvider.');
    const whole = await runCommand(fusion, ...build, '--ort-log', path);
    expect(whole.out).toContain('TensorrtExecutionProvider: 0 nodes (1 engine)');
    expect(whole.out).toContain(`${node} (Softmax): CPUExecutionProvider.`);
  });

  it('says what is wrong with another file', async () => {
    const path = join(folder, 'other.log');
    writeFileSync(path, 'hello\n');
    const { out } = await runCommand(fusion, '--onnx', modelPath('loop_if'), '--ort-log', path);
    expect(out.replaceAll(/\s+/g, ' ')).toContain('error: The log of ONNX Runtime does not say where nodes run');
    await expect(runCommand(fusion, '--layers', path, '--ort-log', path)).rejects.toThrow('--ort-log needs --onnx');
  });
});
