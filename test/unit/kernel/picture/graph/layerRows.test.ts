import { describe, expect, it } from 'vitest';
import { engineMs } from '../../../../../src/kernel/report/words.ts';
import { modulePaths } from '../../../../../src/kernel/picture/graph/hierarchy.ts';
import {
  csvOf,
  filterLayers,
  layerColumns,
  sortRows,
  type TableColumn,
  toLayerRows,
} from '../../../../../src/kernel/picture/page/layerRows.ts';
import { handLayer, handReport } from './handReport.ts';
import { captureData } from '../../../../webview/support/captureData.ts';

const reportOf = async (model: string, capture: string) => (await captureData(model, capture)).report!;

describe('the rows of the table of layers', () => {
  it.each([
    ['vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16'],
    ['bert_base', 'tensorrt-10.6.0/bert_base.fp32'],
    ['fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.fp32'],
    ['vit_tiny', 'tensorrt-8.6.1/vit_tiny.fp16'],
    ['vit_tiny', 'tensorrt-10.6.0/vit_tiny.names_only'],
  ])('of %s as in %s are its layers, and their times and shares those of the report', async (model, capture) => {
    const report = await reportOf(model, capture);
    const rows = toLayerRows(report);
    expect(rows.map(({ layer }) => layer.id)).toEqual(report.layers.map(({ id }) => id));
    const whole = engineMs(report);
    const sum = (values: (number | null)[]) => values.reduce<number>((total, value) => total + (value ?? 0), 0);
    expect(sum(rows.map(({ ms }) => ms))).toBeCloseTo(whole ?? 0, 6);
    expect(sum(rows.map(({ share }) => share))).toBeCloseTo(whole === null ? 0 : 100, 6);
    const counted = sum(rows.map(({ nodes }) => nodes));
    expect(counted).toBe(report.layers.reduce((total, { nodes }) => total + nodes.length, 0));
  });

  it('say precision, formats and bytes of a convolution, and nothing where the layer info is silent', async () => {
    const report = await reportOf('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16');
    const rows = toLayerRows(report);
    const conv = rows.find(({ layer }) => layer.name === '/patch_embed/proj/Conv')!;
    const size = ({ dims }: { dims: number[] | null }) => dims!.reduce((product, one) => product * one, 1);
    const { inputs, outputs } = conv.layer;
    expect(conv.precision).toBe('fp16');
    expect(conv.formats).toBe(outputs[0]!.format);
    expect([...inputs, ...outputs].map(({ type }) => type)).toEqual(['Half', 'Half']);
    expect(conv.bytes).toBe(2 * (size(inputs[0]!) + size(outputs[0]!)));
    expect(conv.largest).toBe(2 * Math.max(size(inputs[0]!), size(outputs[0]!)));
    const nameOnly = { ...conv.layer, inputs: [], outputs: [], averageMs: null };
    const paths = modulePaths(report, null);
    const attention = toLayerRows(report, paths).find(({ layer }) => layer.name.includes('gemm_mha'))!;
    expect(attention.computes).toMatch(/^blocks\.\d+\/attn: Mul \+ MatMul \+ Softmax$/);
    const [silent] = toLayerRows({ ...report, layers: [nameOnly], foreignNodes: [] });
    expect(silent).toMatchObject({ computes: 'Conv', precision: '', formats: '', ms: null, share: null, bytes: null });
  });
});

describe('the filter of the table of layers', () => {
  it('takes the fields of the graph’s search', async () => {
    const report = await reportOf('vit_tiny', 'tensorrt-10.6.0/vit_tiny.fp16');
    const rows = toLayerRows(report);
    const found = (query: string) => filterLayers(report, rows, query).rows.map(({ layer }) => layer);
    const ops = new Map(report.nodes.map(({ id, op }) => [id, op]));
    expect(found('')).toHaveLength(rows.length);
    const softmax = found('op:Softmax');
    expect(softmax.length).toBeGreaterThan(0);
    expect(softmax).toEqual(report.layers.filter(({ nodes }) => nodes.some((id) => ops.get(id) === 'Softmax')));
    expect(found('op:softma')).toEqual([]);
    expect(found('group:0')).toEqual(report.layers.filter(({ foreignNode }) => foreignNode === 0));
    expect(found('fate:single').every(({ kind }) => kind === 'single')).toBe(true);
    expect(found('dtype:fp32 dtype:fp16')).toEqual([]);
    expect(found('kernel:gemm').every(({ tactic, name }) => /gemm/i.test(`${tactic} ${name}`))).toBe(true);
    expect(found('node:/blocks\\.3\\/attn/ op:Softmax')).toHaveLength(1);
    expect(found('PATCH_embed').map(({ name }) => name)).toContain('/patch_embed/proj/Conv');
  });

  it('names what is not a regular expression, and then hides nothing', async () => {
    const report = await reportOf('fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.fp32');
    const rows = toLayerRows(report);
    expect(filterLayers(report, rows, 'node:/(/')).toEqual({ rows, problem: '/(/ is not a regular expression' });
  });
});

describe('sorting rows', () => {
  interface Row {
    id: number;
    name: string | null;
    size: number | null;
  }
  const columns: TableColumn<Row>[] = [
    { id: 'name', title: 'Name', kind: 'text', value: ({ name }) => name, meaning: '' },
    { id: 'size', title: 'Size', kind: 'ms', value: ({ size }) => size, meaning: '' },
  ];
  const rows: Row[] = [
    { id: 0, name: 'conv10', size: 2 },
    { id: 1, name: null, size: null },
    { id: 2, name: 'Conv2', size: 1 },
    { id: 3, name: 'conv2', size: 2 },
    { id: 4, name: 'a,"b"', size: null },
  ];
  const order = (column: string, descending: boolean) =>
    sortRows(rows, columns, { column, descending }).map(({ id }) => id);

  it('is natural for text, stable among equals in both directions, with the unknown last', () => {
    expect(order('name', false)).toEqual([4, 2, 3, 0, 1]);
    expect(order('size', false)).toEqual([2, 0, 3, 1, 4]);
    expect(order('size', true)).toEqual([0, 3, 2, 1, 4]);
    expect(order('nothing', true)).toEqual([0, 1, 2, 3, 4]);
  });

  it('leaves the rows that it was given alone', () => {
    const before = [...rows];
    order('name', true);
    expect(rows).toEqual(before);
  });

  it('copies as RFC 4180 says', () => {
    expect(csvOf(rows.slice(3), columns)).toBe('Name,Size (ms)\r\nconv2,2\r\n"a,""b""",\r\n');
  });

  it('keeps names as text that a spreadsheet would compute', () => {
    const names = ['=HYPERLINK("x")', '+a', '-b', '@c', '\tabc'].map((name) => ({ ...rows[3]!, name, size: -1 }));
    const cells = csvOf(names, columns).trimEnd().split('\r\n').slice(1);
    expect(cells).toEqual([`"'=HYPERLINK(""x"")",-1`, "'+a,-1", "'-b,-1", "'@c,-1", "'\tabc,-1"]);
  });

  it('writes every column of a capture', async () => {
    const report = await reportOf('fusion_zoo', 'tensorrt-10.6.0/fusion_zoo.fp32');
    const shown = layerColumns.filter(({ optional }) => optional !== true);
    const [head, ...lines] = csvOf(toLayerRows(report), shown).trimEnd().split('\r\n');
    expect(head).toBe('Order,Name,Time (ms),Share (%),Nodes,Type,Precision,Tactic,Formats,Bytes,Largest Tensor');
    expect(lines).toHaveLength(report.layers.length);
  });

  it('has what only a trace, Nsight Compute or a second build says in columns of its own', () => {
    const counters = { sm: 10, dram: 20, tensor: 0, occupancy: null };
    const traced = { averageMs: 2, p50: 1, p90: 3, p99: 4, launches: 10, launchMs: 0.5, gapMs: 0.25, counters };
    const saved = { launches: 3, bytes: null, ms: -0.5 };
    const report = handReport([], [handLayer(0, 'other', [], { ...traced, saved }), handLayer(1, 'other', [])]);
    const own = layerColumns.filter(({ optional, id }) => optional === true && id !== 'computes');
    expect(csvOf(toLayerRows(report), own).split('\r\n')).toEqual([
      'Time Saved (ms),Launches Saved,Bytes Saved,p50 (ms),p90 (ms),p99 (ms),Launches,Launch (ms),Gap Before (ms),SM (%),Memory (%),Tensor Cores (%),Occupancy (%)',
      '-0.5,3,,1,3,4,10,0.5,0.25,10,20,0,',
      ',,,,,,,,,,,,',
      '',
    ]);
  });
});
