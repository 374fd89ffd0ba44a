import { describe, expect, test } from 'vitest';
import { readNcu } from '../../../../../src/kernel/read/tensorrt/readLayerInfo.ts';
import { joinCounters } from '../../../../../src/kernel/fusion/internal/counterJoin.ts';
import { findTimes } from '../../../../../src/kernel/fusion/internal/timeFindings.ts';
import { handLayer, handReport } from '../../picture/graph/handReport.ts';

const tensor = 'sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active';
const other = 'sm__inst_executed_pipe_tensor_op_imma.avg.pct_of_peak_sustained_active';
const raw = (rows: string[][]) =>
  [
    '==PROF== Connected to process 4711 (/usr/bin/trtexec)',
    '"quote in a message" and more, of a program',
    [
      'ID',
      'Kernel Name',
      'sm__throughput.avg.pct_of_peak_sustained_elapsed',
      'gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed',
      tensor,
      other,
      'sm__warps_active.avg.pct_of_peak_sustained_active',
      'gpu__time_duration.sum',
    ],
    ['', '', '%', '%', '%', '%', '%', 'ns'],
    ...rows,
  ]
    .map((row) => (typeof row === 'string' ? row : row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')))
    .join('\n');

describe('ncu --csv', () => {
  test('raw: a column a metric, the largest of several pipes, thousands with commas, names with commas', () => {
    const { value, problems } = readNcu(
      raw([
        ['0', 'void gemm<float, 4>(int, "x")', '81.5', '22', '70.25', '3', '50', '1,234'],
        ['1', 'copyPackedKernel', '10', '1,0.5', '', 'n/a', '', '10'],
      ]),
    );
    expect(problems).toEqual([]);
    expect(value).toEqual([
      { name: 'void gemm<float, 4>(int, "x")', sm: 81.5, dram: 22, tensor: 70.25, occupancy: 50 },
      { name: 'copyPackedKernel', sm: 10, dram: 10.5, tensor: null, occupancy: null },
    ]);
  });

  test('details: a row a metric', () => {
    const text = [
      '"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"',
      '"0","a","GPU Speed Of Light Throughput","DRAM Throughput","%","61.2"',
      '"0","a","GPU Speed Of Light Throughput","Compute (SM) Throughput","%","12"',
      '"1","a","GPU Speed Of Light Throughput","DRAM Throughput","%","20"',
      '"0","a","Occupancy","Achieved Occupancy","%","33"',
    ].join('\r\n');
    expect(readNcu(text).value).toEqual([
      { name: 'a', sm: 12, dram: 61.2, tensor: null, occupancy: 33 },
      { name: 'a', sm: null, dram: 20, tensor: null, occupancy: null },
    ]);
  });

  test.each([
    ['{}', 'there is no column "Kernel Name"'],
    ['', 'there is no column "Kernel Name"'],
    [raw([]), 'has no kernels'],
    ['"ID","Kernel Name","launch__grid_size"\n"","",""\n"0","a","8"', 'none of the metrics that are read'],
  ])('%j is no measurement', (text, reason) => {
    const { value, problems } = readNcu(text);
    expect([value, problems.length]).toEqual([undefined, 1]);
    expect(problems[0]!.message).toContain(reason);
  });

  test('any part of the text is read or refused', () => {
    const whole = raw([['0', 'a"b', '1', '2', '3', '4', '5', '6']]);
    for (let end = 0; end <= whole.length; end++) {
      const { value, problems } = readNcu(whole.slice(0, end));
      expect(value !== undefined || problems.length === 1).toBe(true);
    }
  });
});

describe('kernels are put to layers', () => {
  const kernel = (name: string, dram: number, used: number | null = null) => ({
    name,
    sm: 10,
    dram,
    tensor: used,
    occupancy: null,
  });
  const layers = [
    handLayer(0, 'kernel', [], { tactic: 'sm80_xmma_gemm_a', averageMs: 1 }),
    handLayer(1, 'kernel', [], { tactic: 'sm80_xmma_gemm_a_long', averageMs: 1 }),
    handLayer(2, 'kernel', [], { tactic: 'sm80_xmma_gemm_a', averageMs: 1 }),
    handLayer(3, 'reformat', [], { tactic: '0x00000000000003e8', averageMs: 1 }),
    handLayer(4, 'reformat', [], { tactic: '', averageMs: 1 }),
  ];

  test('by the longest name that they begin with, in turns, averaged over inferences', () => {
    const { counters, problems } = joinCounters(layers, [
      kernel('sm80_xmma_gemm_a_execute_kernel_trt', 10),
      kernel('sm80_xmma_gemm_a_long_execute_kernel_trt', 20),
      kernel('copyPackedKernel', 99),
      kernel('sm80_xmma_gemm_a_execute_kernel_trt', 30),
      kernel('sm80_xmma_gemm_a_execute_kernel_trt', 20),
      kernel('sm80_xmma_gemm_a_execute_kernel_trt', 50),
    ]);
    expect(problems).toEqual([]);
    expect(counters.map((one) => one?.dram)).toEqual([15, 20, 40, undefined, undefined]);
  });

  test('not where some are missing, or none fits', () => {
    const some = joinCounters(layers, [kernel('sm80_xmma_gemm_a_x', 1), kernel('sm80_xmma_gemm_a_long', 2)]);
    expect(some.counters.map((one) => one?.dram)).toEqual([undefined, 2, undefined, undefined, undefined]);
    expect(some.problems.map(({ code }) => code)).toEqual(['counters-order']);
    const none = joinCounters(layers, [kernel('0x00000000000003e8', 1)]);
    expect(none.problems.map(({ code }) => code)).toEqual(['counters-mismatch']);
  });

  test('and findings are measured by them', () => {
    const found = (dram: number, used: number, tactic = 'sm80_xmma_gemm_a') => {
      const counters = { sm: 20, dram, tensor: used, occupancy: null };
      return findTimes(handReport([], [handLayer(0, 'kernel', [], { averageMs: 1, tactic, counters })])).map(
        ({ code, exact }) => [code, exact],
      );
    };
    expect(found(80, 40)).toEqual([['memory-bound', true]]);
    expect(found(30, 0)).toEqual([['no-tensor-cores', true]]);
    // What is measured counts more than the name.
    expect(found(30, 12, 'sm80_xmma_gemm_x_ffma')).toEqual([]);
    expect(found(10, 0, '__myl_AddMul_0x12')).toEqual([]);
  });
});
