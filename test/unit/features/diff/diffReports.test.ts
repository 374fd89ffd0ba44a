import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffDocument, diffReports } from '../../../../src/features/diff/diffReports.ts';
import type { FusionReport } from '../../../../src/kernel/fusion/fusionReport.ts';
import type { BuildDiff } from '../../../../src/kernel/report/buildDiff.ts';
import { renderText } from '../../../../src/kernel/document/render.ts';
import { randomFrom } from '../../kernel/fusion/randomEngine.ts';
import { type LayerSketch, reportWith } from './reportWith.ts';

const diffText = (found: BuildDiff) => renderText(diffDocument(found));
const diff = (a: FusionReport, b: FusionReport) => diffReports({ source: 'a', report: a }, { source: 'b', report: b });
const names = ['MatMul1', 'Mul2', 'Softmax3', 'MatMul4', 'Add5'];
const attention: LayerSketch[] = [{ nodes: names.slice(0, 4) }, { nodes: ['Add5'] }];

describe('what became of nodes that are computed together', () => {
  test('a kernel that was split', () => {
    const parts = [
      { nodes: ['MatMul1'] },
      { nodes: ['Mul2', 'Softmax3'] },
      { nodes: ['MatMul4'] },
      { nodes: ['Add5'] },
    ];
    const { changes, totals, time } = diff(reportWith(names, attention), reportWith(names, parts));
    expect(changes).toHaveLength(1);
    expect(changes[0]).toMatchObject({
      kind: 'split',
      nodesA: ['0', '1', '2', '3'],
      nodesB: ['0', '1', '2', '3'],
      layersA: [0],
      layersB: [0, 1, 2],
      deltaMs: 2,
      exact: true,
    });
    expect(changes[0]!.message).toBe(
      'MatMul1 … MatMul4 (4 nodes): computed together by layer kernel_MatMul1, now split into 3 layers, first layer kernel_MatMul1: +2.00 ms.',
    );
    expect(totals.states).toMatchObject({ split: 4, same: 1 });
    expect(time).toEqual({ aMs: 2, bMs: 4, attributedMs: 2, noiseMs: 0, isNoise: false });
  });

  test('the reverse is a merge, and a node that changes its group is a move', () => {
    const parts = [{ nodes: ['MatMul1', 'Mul2'] }, { nodes: ['Softmax3', 'MatMul4'] }, { nodes: ['Add5'] }];
    const other = [{ nodes: ['MatMul1'] }, { nodes: ['Mul2', 'Softmax3', 'MatMul4'] }, { nodes: ['Add5'] }];
    expect(diff(reportWith(names, parts), reportWith(names, attention)).changes.map(({ kind }) => kind)).toEqual([
      'merged',
    ]);
    const { changes, totals } = diff(reportWith(names, parts), reportWith(names, other));
    expect(changes.map(({ kind }) => kind)).toEqual(['moved']);
    expect(totals.states).toMatchObject({ moved: 4, same: 1 });
  });

  test('a node that goes into a ForeignNode moves, though it is computed alone there, too', () => {
    const [a, b] = [
      reportWith(['Conv1'], [{ nodes: ['Conv1'] }]),
      reportWith(['Conv1'], [{ nodes: ['Conv1'], kind: 'kernel', foreignNode: 0 }]),
    ];
    expect(diff(a, b).changes.map(({ kind, deltaMs }) => [kind, deltaMs])).toEqual([['moved', 0]]);
  });

  test('a node in two kernels on both sides ties nothing together', () => {
    const twice = [{ nodes: ['MatMul1', 'Mul2'] }, { nodes: ['Mul2', 'Softmax3'] }];
    const other = [{ nodes: ['MatMul1', 'Mul2'] }, { nodes: ['Mul2'] }, { nodes: ['Softmax3'] }];
    const { changes } = diff(reportWith(names, twice), reportWith(names, other));
    expect(changes.map(({ kind, nodesA }) => [kind, nodesA])).toEqual([['split', ['1', '2']]]);
  });
});

test('nodes of a renamed export are matched by structure, and the pairs say so', () => {
  const side = (first: string, second: string) => {
    const report = reportWith([first, second], [{ nodes: [first] }, { nodes: [second] }]);
    const node = (at: number, inputs: string[], outputs: string[]) => ({
      ...report.nodes[at]!,
      op: ['Conv', 'Relu'][at]!,
      inputs,
      outputs,
      attributes: '',
      constants: [],
    });
    return { source: first, report, network: [node(0, ['x'], ['t']), node(1, ['t'], ['y'])] };
  };
  const { matched } = diffReports(side('Conv1', 'Relu2'), side('Conv1', 'other'));
  expect(matched).toMatchObject({ byName: 1, byStructure: 1, structure: [{ a: '1', b: '1' }], onlyA: [], onlyB: [] });
});

describe('what one side cannot know', () => {
  const opaque: LayerSketch[] = [{ nodes: names, kind: 'foreign', foreignNode: 0, tactic: null, averageMs: 3 }];
  const kernels = names.map((name): LayerSketch => ({ nodes: [name], kind: 'kernel', foreignNode: 0 }));

  test('kernels of an opaque ForeignNode are not compared, its members are', () => {
    const same = diff(reportWith(names, opaque), reportWith(names, kernels));
    expect(same.changes.map(({ kind }) => kind)).toEqual(['time']);
    expect(same.changes[0]!.message).toContain('in one ForeignNode as before; its kernels are not comparable');
    expect(same.totals).toMatchObject({ states: { same: 5 }, comparedBy: { foreignNodes: 5, kernels: 0 } });
    expect(same.totals.kernels).toEqual({ a: null, b: 5 });
    const outside = diff(reportWith(names, opaque), reportWith(names, [...kernels.slice(0, 4), { nodes: ['Add5'] }]));
    expect(outside.changes.map(({ kind, nodesA }) => [kind, nodesA.length])).toEqual([['split', 5]]);
  });

  test('kernels by their names alone, which have one node at most, are not compared', () => {
    const inside = { kind: 'kernel', foreignNode: 0 } as const;
    const named: LayerSketch[] = [
      { ...inside, nodes: ['MatMul1'], evidence: ['name'], averageMs: 2 },
      { ...inside, nodes: [] },
    ];
    const report = reportWith(names, named);
    report.foreignNodes[0]!.nodes = names.map((_, index) => String(index));
    for (const node of report.nodes) Object.assign(node, { fate: 'foreign', foreignNode: 0 });
    const { changes, totals } = diff(report, reportWith(names, kernels));
    expect(changes.map(({ kind }) => kind)).toEqual(['time']);
    expect(totals).toMatchObject({ states: { same: 5 }, comparedBy: { foreignNodes: 5, kernels: 0 } });
  });

  test('the types at the border of an opaque ForeignNode are not those of its nodes', () => {
    const output = (type: string) => [{ name: 'y', dims: [1], type, format: 'Row major linear' }];
    const half: LayerSketch[] = [{ ...opaque[0]!, outputs: output('Half') }];
    const { changes } = diff(reportWith(names, [{ ...opaque[0]!, outputs: output('Float') }]), reportWith(names, half));
    expect(changes.map(({ kind, message }) => [kind, message])).toEqual([
      [
        'format',
        'MatMul1 … Add5 (5 nodes): output type of the ForeignNode changed from Float to Half, the types inside are unknown.',
      ],
    ]);
  });

  test('a node in no known kernel does not move the nodes of its group', () => {
    const kernel = { kind: 'kernel', foreignNode: 0 } as const;
    const a = reportWith(names, [
      { nodes: names.slice(0, 3), ...kernel },
      { nodes: names.slice(3), ...kernel },
    ]);
    const b = reportWith(names, [
      { nodes: ['MatMul1'], ...kernel },
      { nodes: names.slice(3), ...kernel, averageMs: 3 },
    ]);
    for (const at of [1, 2]) Object.assign(b.nodes[at]!, { fate: 'foreign', foreignNode: 0 });
    const { changes, totals, time } = diff(a, b);
    expect(changes.map(({ kind, message }) => [kind, message])).toEqual([
      ['time', 'MatMul4 and Add5: computed in the same way: +2.00 ms.'],
    ]);
    expect(totals.states).toMatchObject({ same: 5, moved: 0 });
    expect(time.attributedMs).toBe(2);
  });

  test('times of other shapes are of other work, which is said', () => {
    const tensor = (name: string, shape: (number | string)[], producer: string | null = null) => ({
      name,
      producer,
      consumers: [],
      type: 'float',
      shape,
      layers: [],
    });
    const with_ = (batch: number, ids: number) => ({
      ...reportWith(names, attention),
      tensors: [tensor('x', [batch, 64]), tensor('ids', ['seq']), tensor('y', [batch], '4')],
      builtShapes: [{ input: 'ids', profile: 0, min: [1], opt: [ids], max: [ids] }],
    });
    expect(diff(with_(4, 8), with_(4, 8)).shapes).toEqual([]);
    const found = diff(with_(4, 8), with_(9, 16));
    expect(found.shapes).toEqual([
      { input: 'x', a: '4×64', b: '9×64' },
      { input: 'ids', a: '1 … 8', b: '1 … 16' },
    ]);
    expect(diffText(found)).toContain(
      'Built for other shapes, so the times are not of the same work: x 4×64 → 9×64, ids 1 … 8 → 1 … 16\n',
    );
  });

  test('times of a trace and of a profile are not measured in the same way, which is said', () => {
    const report = reportWith(names, attention);
    const traced = { ...report, profile: { source: 'nsys' } as never };
    const sentence = 'The times of B are from a trace of the GPU, those of A from a profile of layers';
    expect(diffText(diff(report, traced))).toContain(sentence);
    expect(diffText(diff(traced, traced))).not.toContain('trace of the GPU');
  });

  test('a plan is not an engine: nothing in it was removed, and it counts nothing', () => {
    const plan = {
      ...reportWith(names, attention),
      problems: [{ severity: 'warning', code: 'planned-layers', message: '' }],
    };
    const untimed = (report: FusionReport) => ({
      ...report,
      layers: report.layers.map((layer) => ({ ...layer, averageMs: null })),
    });
    const engine = reportWith(names, [...attention, { nodes: [] }]);
    for (const [a, b] of [
      [engine, plan],
      [plan, engine],
    ] as [FusionReport, FusionReport][]) {
      const result = diff(untimed(a), untimed(b));
      expect(result.changes).toEqual([]);
      expect([result.a.planned, result.b.planned]).toEqual([a === plan, b === plan]);
      const side = a === plan ? 'a' : 'b';
      for (const total of ['layers', 'kernels', 'foreignNodes', 'reformats'] as const)
        expect(result.totals[total][side]).toBe(null);
      expect(diffText(result)).toContain(`${side.toUpperCase()} has no list of engine layers`);
    }
  });

  test('against a build that says nothing, its nodes are one line for each thing that they were', () => {
    const many = Array.from({ length: 8 }, (_, index) => `Relu${index + 6}`);
    const report = reportWith([...names, ...many], [...attention, ...many.map((name) => ({ nodes: [name] }))]);
    const silent = reportWith([...names, ...many], []);
    const nodes = silent.nodes.map((node) => ({ ...node, fate: 'unknown' as const }));
    const text = diffText(diff(report, { ...silent, nodes }));
    expect(text.split('\n').filter((line) => line.includes('now unknown'))).toEqual([
      expect.stringMatching(/4 × unknown +MatMul1: was .+, now unknown \(and 3 others alike\)\.$/),
      expect.stringMatching(/9 × unknown +Add5: was .+, now unknown \(and 8 others alike\)\.$/),
    ]);
  });

  test('the number of a tactic is no other kernel than a name, and nothing is said to be the same', () => {
    const with_ = (tactic: string, averageMs = 1) => reportWith(['Conv1'], [{ nodes: ['Conv1'], tactic, averageMs }]);
    const { changes } = diff(with_('0x112767cf498572ea'), with_('sm80_xmma', 2));
    expect(changes.map(({ kind, message }) => [kind, message])).toEqual([
      ['time', 'Conv1: computed together as before; the kernels are not comparable: +1.00 ms.'],
    ]);
    expect(diff(with_('0x11'), with_('0x12')).changes.map(({ kind }) => kind)).toEqual(['kernel']);
  });

  test('formats as the log writes them are not compared with the sentences of the engine inspector', () => {
    const with_ = (format: string) =>
      reportWith(['Conv1'], [{ nodes: ['Conv1'], outputs: [{ name: 'y', dims: [1], type: 'Half', format }] }]);
    const sentence = 'Channel major FP16 format where channel % 8 == 0';
    expect(diff(with_('Half[1,192:8,14,14]'), with_(sentence)).changes).toEqual([]);
    expect(diff(with_('Row major linear FP16 format'), with_(sentence)).changes).toHaveLength(1);
  });

  test('without times, types or tactics nothing is said of them', () => {
    const bare = (tactic: string | null) =>
      reportWith(['Conv1'], [{ nodes: ['Conv1'], averageMs: null, tactic, outputs: [], type: '' }]);
    const { changes, time } = diff(bare(null), bare('sm80'));
    expect(changes).toEqual([]);
    expect(time).toEqual({ aMs: null, bMs: null, attributedMs: null, noiseMs: null, isNoise: null });
  });

  test('a kernel that only the JIT compiler will choose is no other kernel', () => {
    const with_ = (tactic: string) => reportWith(['Conv1'], [{ nodes: ['Conv1'], tactic }]);
    for (const tactic of ['', '__myelin_CASK_STUB']) expect(diff(with_('sm80'), with_(tactic)).changes).toEqual([]);
  });

  test('unknown in A is not comparable, unknown in B is news', () => {
    const [known, unknown] = [
      reportWith(['Conv1'], [{ nodes: ['Conv1'] }]),
      reportWith(['Conv1'], [], { Conv1: 'unknown' }),
    ];
    const news = diff(known, unknown);
    expect(news.changes.map(({ kind, deltaMs }) => [kind, deltaMs])).toEqual([['unknown', null]]);
    const { changes, totals } = diff(unknown, known);
    expect(changes).toEqual([]);
    expect(totals.states.notComparable).toBe(1);
  });
});

describe('what differs beside the grouping', () => {
  const one = (layer: Partial<LayerSketch>) => reportWith(['Conv1'], [{ nodes: ['Conv1'], ...layer }]);
  const half = [{ name: 'y', dims: [1], type: 'Half', format: 'Row major linear FP16' }];

  test('types come first and carry the time; kernels and formats are told beside them', () => {
    const { changes } = diff(one({}), one({ outputs: half, tactic: 'h', averageMs: 0.5 }));
    expect(changes.map(({ kind, a, b, deltaMs }) => [kind, a, b, deltaMs])).toEqual([
      ['precision', 'Float', 'Half', -0.5],
      ['kernel', 'kernel_Conv1', 'h', null],
      ['format', 'Row major linear FP32', 'Row major linear FP16', null],
    ]);
  });

  test('a layer whose output only changed computes in the type that verify sees', () => {
    const gemm = (weight: string, type: string) =>
      reportWith(
        ['Gemm1'],
        [
          {
            nodes: ['Gemm1'],
            type: 'gemm',
            tactic: 'g',
            inputs: [{ name: 'x', dims: [64], type: weight, format: null }],
            outputs: [{ name: 'y', dims: [64], type, format: null }],
          },
        ],
      );
    const found = (a: FusionReport, b: FusionReport) => diff(a, b).changes.map(({ kind, message }) => [kind, message]);
    expect(found(gemm('Float', 'Float'), gemm('Float', 'Half'))).toEqual([
      ['format', 'Gemm1: output type changed from Float to Half, computed in fp32 in both.'],
    ]);
    expect(found(gemm('Float', 'Float'), gemm('Half', 'Half'))).toEqual([
      ['precision', 'Gemm1: output type changed from Float to Half, computed in fp16 instead of fp32.'],
    ]);
  });

  test('kernels that Myelin generated differ by their operations, not by their hashes', () => {
    const kernel = (tactic: string) => one({ tactic });
    const [a, b] = ['__myl_AddMul_0x45758f32c66a2be5cfd53a3e25683f2', '__myl_AddSub_0x045758f32c66a2be5cfd53a3e25683f'];
    expect(diff(kernel(a!), kernel(b!)).changes.map(({ kind, a: before, b: after }) => [kind, before, after])).toEqual([
      ['kernel', '__myl_AddMul', '__myl_AddSub'],
    ]);
    expect(diff(kernel(a!), kernel(a!.replace('45758', '99999'))).changes).toEqual([]);
  });

  test('kernels without nodes are the same in spite of their numbers, and other kernels are not', () => {
    const with_ = (name: string) => reportWith(['Conv1'], [{ nodes: ['Conv1'] }, { nodes: [], kind: 'kernel', name }]);
    for (const [a, b] of [
      ['cast_hvar^65561i64_myl1_30', 'cast_hvar^71315i64_myl1_103'],
      ['dummy_shape_call__mye143289_0_myl3_0', 'dummy_shape_call__mye47562_0_myl0_0'],
      ['__myl_Res_myl0_244', '__myl_Res_myl0_66'],
    ])
      expect(diff(with_(a!), with_(b!)).changes).toEqual([]);
    expect(diff(with_('__myl_Res_myl0_1'), with_('__myl_Move_myl0_1')).changes.map(({ message }) => message)).toEqual([
      'Kernel without nodes __myl_Res_myl0_1 was removed: −1.00 ms.',
      'Kernel without nodes __myl_Move_myl0_1 was added: +1.00 ms.',
    ]);
  });

  test('which of several kernels of one node became which is not guessed', () => {
    const with_ = (...tactics: string[]) =>
      reportWith(
        ['LSTM1'],
        tactics.map((tactic) => ({ nodes: ['LSTM1'], tactic })),
      );
    expect(diff(with_('a', 'b', 'c'), with_('c', 'a', 'b')).changes).toEqual([]);
    expect(diff(with_('a', 'b'), with_('b', 'd')).changes.map(({ kind, a, b }) => [kind, a, b])).toEqual([
      ['kernel', 'a, b', 'b, d'],
    ]);
  });

  test('one node is not computed together with itself', () => {
    const with_ = (...tactics: string[]) =>
      reportWith(
        ['Gemm1'],
        tactics.map((tactic) => ({ nodes: ['Gemm1'], tactic })),
      );
    expect(diff(with_('a'), with_('a', 'b')).changes[0]!.message).toBe(
      'Gemm1: computed by layer a, now split into layer a and layer b: +1.00 ms.',
    );
    expect(diff(with_('a', 'b'), with_('a')).changes[0]!.message).toBe(
      'Gemm1: computed by layer a and layer b, now by layer a: −1.00 ms.',
    );
  });

  test('less than a nanosecond is no change', () => {
    expect(diff(one({}), one({ averageMs: 1 + 2e-7 })).changes).toEqual([]);
  });

  test('only the time', () => {
    expect(diff(one({}), one({ averageMs: 1.041 })).changes[0]).toMatchObject({
      kind: 'time',
      message: 'Conv1: computed in the same way: +41.0 µs.',
    });
  });

  test('a time within the noise is no change: 2 % and 0.5 µs without samples, p10 to p90 with them', () => {
    const kinds = (a: Partial<LayerSketch>, b: Partial<LayerSketch>) =>
      diff(one(a), one(b)).changes.map(({ kind }) => kind);
    expect(kinds({}, { averageMs: 1.02 })).toEqual([]);
    expect(kinds({}, { averageMs: 1.03 })).toEqual(['time']);
    expect(kinds({ averageMs: 0.001 }, { averageMs: 0.0014 })).toEqual([]);
    expect(kinds({ averageMs: 0.001 }, { averageMs: 0.0016 })).toEqual(['time']);
    const samples = { averageMs: 1, p10: 0.9, p90: 1.2 };
    expect(kinds(samples, { averageMs: 1.3, p10: 1.1, p90: 1.5 })).toEqual([]);
    expect(kinds(samples, { averageMs: 1.3, p10: 1.25, p90: 1.35 })).toEqual(['time']);
    expect(kinds(samples, { averageMs: 1.1 }), 'samples on one side only').toEqual(['time']);
    const { time } = diff(one({}), one({ averageMs: 1.02 }));
    expect(time).toMatchObject({ attributedMs: 0, isNoise: true });
    expect(time.noiseMs).toBeCloseTo(0.02, 9);
    expect(diffText(diff(one({}), one({ averageMs: 1.02 })))).toContain('(+20.0 µs, within the noise)');
  });

  test('reformat layers come and go', () => {
    const [without, with_] = [one({}), reportWith(['Conv1'], [{ nodes: ['Conv1'] }, { nodes: [] }])];
    expect(diff(without, with_).changes).toMatchObject([
      { kind: 'format', a: '', b: 'Reformatting CopyNode 1', deltaMs: 1 },
    ]);
    expect(diff(with_, without).changes).toMatchObject([{ kind: 'format', b: '', deltaMs: -1 }]);
  });

  test('nodes that are no longer computed, computed anew, added and gone', () => {
    const [computed, folded] = [one({}), reportWith(['Conv1'], [])];
    expect(diff(computed, folded).changes).toMatchObject([
      { kind: 'folded', deltaMs: null, message: 'Conv1: was computed by a layer of its own, now constant-folded.' },
    ]);
    const inside = reportWith(['Conv1'], [{ nodes: ['Conv1'], kind: 'kernel', foreignNode: 0 }]);
    expect(diff(computed, inside).changes[0]!.message).toBe(
      'Conv1: moved into a ForeignNode, from layer kernel_Conv1 to kernel kernel_Conv1.',
    );
    // A shape that one build computes on the host and the other knows.
    const host = reportWith(['Conv1'], [], { Conv1: 'shape' });
    const toFolded = diff(host, folded);
    expect(toFolded.totals.states).toMatchObject({ same: 0, folded: 1 });
    expect(toFolded.changes).toMatchObject([
      { kind: 'folded', message: 'Conv1: was computed on the host, now constant-folded.' },
    ]);
    expect(diff(folded, host).totals.states).toMatchObject({ same: 0, computed: 1 });
    const [a, b] = [reportWith(names, attention), reportWith(names, [attention[0]!])];
    expect(diff(a, b).changes).toMatchObject([{ kind: 'folded', nodesA: ['4'], nodesB: ['4'], deltaMs: -1 }]);
    expect(diff(b, a).changes).toMatchObject([{ kind: 'computed', deltaMs: 1 }]);
    const added = diff(reportWith(names.slice(0, 4), [attention[0]!]), a);
    expect(added.matched).toMatchObject({ byName: 4, onlyA: [], onlyB: ['4'] });
    expect(added.changes).toMatchObject([{ kind: 'computed', nodesA: [], nodesB: ['4'], deltaMs: 1 }]);
  });
});

describe('random regroupings', () => {
  const many = Array.from({ length: 40 }, (_, index) => `Op${index}`);
  const grouped = (cuts: readonly boolean[]): string[][] => {
    const groups: string[][] = [];
    many.forEach((name, index) => {
      if (index === 0 || cuts[index]) groups.push([name]);
      else groups.at(-1)!.push(name);
    });
    return groups;
  };

  test('splits and merges are recovered, each node in the state that the groups imply, and time adds up', () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const random = randomFrom(seed);
        const layersOf = (groups: string[][]) => groups.map((nodes) => ({ nodes, averageMs: random() }));
        const [a, b] = [many.map(() => random() < 0.4), many.map(() => random() < 0.4)];
        const [before, after] = [grouped(a), grouped(b)];
        const { totals, time, changes } = diff(reportWith(many, layersOf(before)), reportWith(many, layersOf(after)));
        // Consecutive groups: clusters are what lies between cuts that both sides have.
        const expected = { same: 0, split: 0, merged: 0, moved: 0 };
        const common = grouped(many.map((_, index) => a[index]! && b[index]!));
        for (const cluster of common) {
          const within = (groups: string[][]) => groups.filter((group) => cluster.includes(group[0]!)).length;
          const [x, y] = [within(before), within(after)];
          expected[x === 1 && y === 1 ? 'same' : x === 1 ? 'split' : y === 1 ? 'merged' : 'moved'] += cluster.length;
        }
        expect(totals.states).toMatchObject(expected);
        expect(time.attributedMs! + time.noiseMs!).toBeCloseTo(time.bMs! - time.aMs!, 9);
        expect(changes.reduce((sum, { deltaMs }) => sum + (deltaMs ?? 0), 0)).toBeCloseTo(time.attributedMs!, 9);
      }),
      { numRuns: 200 },
    );
  });
});
