import type { AccuracyReport } from '../../src/kernel/simulation/simulated.ts';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onnx } from 'onnx-proto';
import { beforeAll, expect, test } from 'vitest';
import type { AccuracyRequest } from '../../src/features/accuracy/node/judgeAccuracy.ts';
import { accuracyVerdict } from '../../src/features/accuracy/accuracyReport.ts';
import { accuracyEvidence } from '../../src/kernel/simulation/nodeEvidence.ts';
import { accuracyDocument } from '../../src/features/accuracy/accuracyDocument.ts';
import { renderText } from '../../src/kernel/document/render.ts';
import { pythonForTests } from '../support/python.ts';
import { temporaryFolder } from '../support/rtx.ts';
import { judge } from '../support/runtime.ts';

const folder = temporaryFolder();
const accuracyText = (report: AccuracyReport) => renderText(accuracyDocument(report, { title: 'm' }));
const judgeOdd = (name: string, options?: Partial<AccuracyRequest>): Promise<AccuracyReport> =>
  judge(join(folder, `${name}.onnx`), [join(folder, `${name}.npz`)], options);
const nodeOf = ({ nodes }: AccuracyReport, name: string) => nodes.find((node) => node.name === name)!;

beforeAll(async () => void (await (await pythonForTests()).oddModels(folder)));

test('a tensor that has another size in the low-precision run has no error there, and a local one', async () => {
  const report = await judgeOdd('count', { measures: new Map([['y', 'numeric']]) });
  expect(nodeOf(report, '/gather')).toMatchObject({ propagatedError: null });
  expect(nodeOf(report, '/gather').localError).toBeLessThan(0.001);
  expect(report.outputs[0]).toMatchObject({ error: null, finite: false, shapeDiffers: true });
  expect(accuracyText(report)).toMatch(/✗ y +fails +its shape differs/);
  expect(report.fix!.error).toBeLessThanOrEqual(0.01);
});

test('an all-zero reference: the error is the largest difference', async () => {
  const { outputs, fix } = await judgeOdd('zeros');
  expect(outputs[0]).toMatchObject({ max: 0, error: null, finite: false });
  expect(fix).toMatchObject({ error: 0, names: ['/exp', '/sub'] });
});

test('nothing was judged, which is not the same as "passes"', async () => {
  const report = await judgeOdd('no_output');
  const words = 'No node computes an output of the model';
  expect(accuracyVerdict(report)).toContain(words);
  expect(accuracyText(report)).toContain(words);
  expect(accuracyText(report)).not.toContain('Nothing to fix');
});

test('an ArgMax at the end is judged by what it reads', async () => {
  const { outputs, fix } = await judgeOdd('integers');
  expect(outputs).toMatchObject([
    { name: 'y', judged: false, before: ['a'] },
    { name: 'a', judged: true, finite: false, measure: { kind: 'top1' } },
  ]);
  expect(fix!.names).toEqual(['/scale']);
});

test('NaN in the reference does not count, unless all of it is NaN', async () => {
  const { outputs, fix } = await judgeOdd('some_nan');
  expect(outputs[0]).toMatchObject({ finite: false });
  expect(fix!.names).toEqual(['/mul']);
  await expect(judgeOdd('all_nan')).rejects.toThrow('Output "y" is not finite in FP32');
});

test('a search about one output says so, and the others do not count', async () => {
  const all = await judgeOdd('two_outputs');
  expect(all.fix!.names).toEqual(['/square']);
  expect(accuracyVerdict(all)).not.toContain(' in output');
  const small = await judgeOdd('two_outputs', { judgedOutputs: ['small'] });
  expect(small.outputs.map(({ name, judged }) => [name, judged])).toEqual([
    ['large', false],
    ['small', true],
    ['more', false],
  ]);
  expect(small.fix!.nodes).toEqual([]);
  expect(accuracyVerdict(small)).toMatch(/^FP16 gives an error of \S+ in output "small", within the tolerance/);
  expect(accuracyText(small)).toMatch(/– large +not judged +not finite/);
  // Of any type; the search does not end at the first sample that another output misses.
  const more = await judgeOdd('two_outputs', { judgedOutputs: ['more'] });
  expect(more.outputs.find(({ name }) => name === 'more')).toMatchObject({ judged: true, max: null });
  await expect(judgeOdd('two_outputs', { judgedOutputs: ['none'] })).rejects.toThrow(
    'has no output "none". Its outputs are: large, small, more',
  );
});

test('a node that no output needs is never to blame', async () => {
  const report = await judgeOdd('unused');
  expect(nodeOf(report, '/dead')).toMatchObject({ overflow: true, role: 'fine' });
  expect(report.fix!.nodes).toEqual([]);
});

test('no elements: no errors', async () => {
  const { nodes, outputs } = await judgeOdd('empty');
  expect(nodes.map(({ localError, notJudged }) => [localError, notJudged])).toEqual([
    [0, undefined],
    [0, undefined],
  ]);
  expect(outputs[0]).toMatchObject({ error: 0, finite: true });
});

test('open dimensions take the shape of the inputs; one tensor may have hundreds of readers', async () => {
  expect((await judgeOdd('dynamic')).fix!.names).toEqual(['/exp']);
  const { nodes, fix } = await judgeOdd('fan_out');
  expect(nodes).toHaveLength(502);
  expect(fix).toMatchObject({ minimal: true, names: ['/sum'] });
});

test('what is rounded to the largest number is not an overflow; a node without a name has that of its rule', async () => {
  const rounded = await judgeOdd('rounded');
  const [add] = rounded.nodes;
  expect(add).toMatchObject({ name: '', role: 'root', overflow: false });
  expect(accuracyEvidence(add!)).toMatch(/^local error \d\.\de-5, largest result 65,500; alone in FP16/);
  expect(accuracyText(rounded)).toMatch(new RegExp(`✗ ${rounded.fix!.names[0]} +Add +cause`));
  const [first] = (await judgeOdd('ended')).nodes;
  expect(accuracyEvidence(first!)).toMatch(/^reads k = 65,520, which FP16 makes infinity; /);
});

test('an operator that ONNX Runtime does not have: its node, without names of the simulation', async () => {
  const message = await judgeOdd('custom').then(String, String);
  expect(message).toMatch(/ONNX Runtime cannot run node "\/fake" \(Fake\): No opset import for domain 'acme'$/);
});

test('a file without tensors', async () => {
  const judged = judge(join(folder, 'dynamic.onnx'), [join(folder, 'nothing.npz')]);
  await expect(judged).rejects.toThrow(/^input 'x' is missing in the given files, which hold no tensor$/);
});

test('the oldest operator set that is supported', async () => {
  expect((await judgeOdd('opset_9')).fix!.names).toEqual(['/exp']);
});

test('what ONNX Runtime refuses is told with the names of the model; an input without a shape is asked for', async () => {
  await expect(judgeOdd('unfit')).rejects.toThrow(/^ONNX Runtime cannot run (?:this model: .*'\/mul'|node "\/mul")/);
  await expect(judge(join(folder, 'no_shape.onnx'), [])).rejects.toThrow('Input "x" has no shape in the model');
  expect((await judgeOdd('no_shape')).outputs[0]).toMatchObject({ finite: true });
});

test('a loop that runs longer in FP16: compared are the iterations of the exact run', async () => {
  const report = await judgeOdd('trips');
  expect(nodeOf(report, '/add')).toMatchObject({ role: 'root' });
  expect(nodeOf(report, '/add').localError).toBeLessThan(0.001);
  expect(nodeOf(report, '/add').propagatedError).toBeGreaterThan(0.01);
  expect(report.outputs[1]).toMatchObject({ name: 'y', shapeDiffers: true });
  expect(report.fix!.names).toContain('/add');
});

test('a loop over sequences: its nodes are searched, and not measured', async () => {
  const report = await judgeOdd('sequences');
  const node = nodeOf(report, '/mul');
  expect(node).toMatchObject({ role: 'root', localError: null, max: null });
  expect(accuracyEvidence(node)).toBe(
    'inside a body that cannot be measured, such as a loop over sequences; alone in FP16 it makes the outputs not finite',
  );
  expect(report.fix!.names).toEqual(['/mul']);
});

test('what ONNX Runtime refuses in low precision is not finite, and the node that causes it is named', async () => {
  const float = (name: string) => ({ name, type: { tensorType: { elemType: 1, shape: { dim: [{ dimValue: 1 }] } } } });
  // 4095 is 4096 in FP16, which is outside the table.
  const graph = {
    name: 'g',
    node: [
      { opType: 'Relu', name: '/relu', input: ['x'], output: ['a'] },
      { opType: 'Add', name: '/index', input: ['a', 'last'], output: ['f'] },
      { opType: 'Cast', name: '/cast', input: ['f'], output: ['i'], attribute: [{ name: 'to', type: 2, i: 7 }] },
      { opType: 'Gather', name: '/gather', input: ['table', 'i'], output: ['g'] },
      { opType: 'Exp', name: '/exp', input: ['g'], output: ['y'] },
    ],
    input: [float('x')],
    output: [float('y')],
    initializer: [
      { name: 'table', dims: [4096], dataType: 1, floatData: Array.from({ length: 4096 }, (_, at) => Math.sin(at)) },
      { name: 'last', dims: [1], dataType: 1, floatData: [4095] },
    ],
  };
  const write = (name: string, last: number) => {
    const path = join(folder, name);
    const initializer = [graph.initializer[0]!, { ...graph.initializer[1]!, floatData: [last] }];
    const model = { irVersion: 9, opsetImport: [{ domain: '', version: 17 }], graph: { ...graph, initializer } };
    writeFileSync(path, onnx.ModelProto.encode(model as onnx.IModelProto).finish());
    return path;
  };
  const inputs = join(folder, 'zero.bin');
  writeFileSync(inputs, Buffer.alloc(4));
  const report = await judge(write('index.onnx', 4095), [`x:${inputs}`]);
  expect(report.outputs[0]).toMatchObject({ error: null, finite: false });
  expect(report.fix!.names).toEqual(['/index']);
  expect(report.refused).toContain('idx=4096');
  expect(accuracyText(report)).toContain('runs in FP32 but not in FP16');
  // A model that cannot run in FP32 either says so.
  await expect(judge(write('outside.onnx', 5000), [`x:${inputs}`])).rejects.toThrow(
    'indices element out of data bounds',
  );
});
