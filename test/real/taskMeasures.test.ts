import type { AccuracyReport, MeasureKind } from '../../src/kernel/simulation/simulated.ts';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { accuracyDocument } from '../../src/features/accuracy/accuracyDocument.ts';
import { accuracyVerdict, helpfulRemedy, passesTolerance } from '../../src/features/accuracy/accuracyReport.ts';
import { writeRemedy } from '../../src/features/accuracy/node/writeRemedy.ts';
import { fixturePath } from '../support/fixtures.ts';
import { renderText } from '../../src/kernel/document/render.ts';
import { pythonForTests } from '../support/python.ts';
import { temporaryFolder } from '../support/rtx.ts';
import { judge } from '../support/runtime.ts';

const folder = temporaryFolder();
const judgeTask = (name: string, measures?: [string, MeasureKind][], more = {}): Promise<AccuracyReport> =>
  judge(join(folder, `${name}.onnx`), [join(folder, `${name}.npz`)], { measures: new Map(measures), ...more });
const outputOf = ({ outputs }: AccuracyReport, name: string) => outputs.find((output) => output.name === name)!;
const text = (report: AccuracyReport) => renderText(accuracyDocument(report, { title: 'm' }));

beforeAll(async () => void (await (await pythonForTests()).taskModels(folder)));

test('a detector whose scores vanish: boxes up to 640 do not hide them', async () => {
  const report = await judgeTask('detector');
  const output = outputOf(report, 'output0');
  expect(output.groups).toMatchObject([
    { axis: 1, channels: [[0, 3]], error: expect.closeTo(0, 2) },
    { axis: 1, channels: [[4, 11]], error: expect.closeTo(1, 1) },
  ]);
  expect(output).toMatchObject({ judged: true, measure: { kind: 'boxes', by: 'numeric' } });
  expect(report.fix!.names).toContain('/head/cls/scale/Mul_1');
  expect(text(report)).toMatch(/channels 0 to 3 \(up to 6\d\d\): \S+; 4 to 11/);
  const sound = await judgeTask('detector_sound');
  expect(passesTolerance(sound)).toBe(true);
  expect(outputOf(sound, 'output0').measure!.text).toMatch(/^all 288 boxes matched, mean IoU 0\.99/);
});

test.each([
  ['classifier', 'logits', 'top1', '/pool/ReduceSum'],
  ['segmenter', 'large', 'iou', '/neck/norm/Mul'],
  ['recognizer', 'probs', 'tokens', '/head/softmax/Exp'],
  ['speech', 'token_logits', 'tokens', '/frontend/Add'],
  ['suppressed', 'boxes4', 'boxes', '/decode/Mul'],
] as const)('%s: %s is measured by %s, and the planted fault is named', async (task, name, kind, node) => {
  const report = await judgeTask(task);
  const output = outputOf(report, name);
  expect([output.judged, output.measure?.kind]).toEqual([true, kind]);
  expect(passesTolerance(report)).toBe(false);
  expect(report.fix!.names).toContain(node);
  expect(report.nodes.find((one) => one.name === node)!.role).toBe('root');
  // How choices are judged instead is on the page.
  if (task !== 'segmenter' && task !== 'suppressed') return;
  expect(report.outputs.filter(({ before }) => before).map(({ judged }) => judged)).toContain(false);
  expect(text(report)).toMatch(/chosen from \S+.* Near a tie, any error changes a choice/);
  if (task === 'segmenter') {
    expect(outputOf(report, 'labels')).toMatchObject({ judged: false, before: ['large'] });
    expect(output.feeds).toMatchObject({ op: 'ArgMax', output: 'labels' });
    expect(accuracyVerdict(report)).toContain('in what ArgMax reads ("large")');
  } else {
    expect(outputOf(report, 'picked')).toMatchObject({ judged: false, before: ['boxes4', 's'] });
    expect(outputOf(report, 'boxes')).toMatchObject({ judged: true, finite: false, measure: { kind: 'boxes' } });
    expect(outputOf(report, 'scores')).toMatchObject({ judged: true, measure: { kind: 'set', by: 'measure' } });
  }
});

test('a chosen measure alone decides', async () => {
  // Rounding changes the numbers by more than this tolerance, but no character.
  const rules = 'base fp16\n/head/softmax/* fp32\n';
  const tokens = await judgeTask('recognizer', [['', 'tokens']], { rules, tolerance: 0.001 });
  expect(passesTolerance(tokens)).toBe(true);
  expect(outputOf(tokens, 'probs')).toMatchObject({ error: 0, measure: { chosen: true, by: 'measure' } });
  expect(outputOf(tokens, 'probs').numeric).toBeGreaterThan(0.001);
  await expect(judgeTask('classifier', [['logits', 'boxes']])).rejects.toThrow('cannot be judged by boxes');
  await expect(judgeTask('classifier', [['none', 'top1']])).rejects.toThrow('has no output "none"');
});

test('BF16 in an old opset: the result is that of a typed copy, and that of a build with a flag is a remark', async () => {
  const report = await judgeTask('waves', [], { low: 'bf16' });
  const { typedCopy, outputs } = report;
  // Only Concat is in BF16 there.
  expect(typedCopy).toMatchObject({ nodes: 4, operators: ['Conv', 'Cos', 'Sin'], opset: 17 });
  expect(report.nodes.map(({ op }) => op)).not.toContain('Conv');
  expect(outputs[0]!.error).toBeLessThan(0.005);
  expect(typedCopy!.error).toBe(outputs[0]!.error);
  expect(typedCopy!.worst).toBeGreaterThan(0.05);
  expect([passesTolerance(report), report.fix!.nodes]).toEqual([true, []]);
  expect(text(report)).toMatch(/In opset 17 ONNX has no BF16 for Conv, Cos, Sin \(4 nodes\).*: error up to 0\.\d/);
  expect((await judgeTask('waves')).typedCopy).toBeUndefined();
});

test('what fewer nodes bring is known while the search runs, and a stop keeps it', async () => {
  const seen: AccuracyReport[] = [];
  const end = new AbortController();
  const found = (now: AccuracyReport) => void seen.push(now);
  const whole = await judgeTask('segmenter', [], { tolerance: 0.0003, found });
  const { points, knee, rules } = whole.trade!;
  expect(points.map(({ nodes }) => nodes.length)).toEqual(
    points.map(({ nodes }) => nodes.length).toSorted((a, b) => a - b),
  );
  expect([points[knee!]!.nodes.length, points.at(-1)!.nodes.length]).toEqual([2, whole.fix!.nodes.length]);
  expect(rules).toContain('/neck/norm/Mul');
  // The rules of the knee give its error; asked for so many nodes, they are the fix.
  const judged = await judgeTask('segmenter', [], { tolerance: 0.0003, rules: rules!, maxRuns: 1 });
  expect(judged.outputs.find((one) => one.judged)!.error).toBeCloseTo(points[knee!]!.error!, 6);
  const few = await judgeTask('segmenter', [], { tolerance: 0.0003, mostNodes: 2 });
  expect(few.fix!).toMatchObject({ nodes: points[knee!]!.nodes, error: points[knee!]!.error, minimal: false });
  expect(seen[0]).toMatchObject({ search: 'running', fix: null, outputs: whole.outputs });
  const runs = { tolerance: 0.0003, keepFound: true, signal: end.signal };
  const stopped = await judgeTask('segmenter', [], { ...runs, found: () => end.abort() });
  expect(stopped.search).toBe('stopped');
  expect(stopped.trade!.points.length).toBeGreaterThan(1);
  await expect(judgeTask('segmenter', [], { ...runs, keepFound: false })).rejects.toThrow('cancelled');
});

test('a mask of -1e9 is clamped instead: no Cast, and the copy that is written passes', async () => {
  const [model, inputs] = ['model.onnx', 'inputs.npz'].map((name) => fixturePath(`faults/mask_1e9_full_row/${name}`));
  const report = await judge(model!, [inputs!]);
  const { remedies } = report;
  expect(remedies).toHaveLength(1);
  expect(remedies![0]!.tensors.map(({ kind, from, to }) => [kind, from, to])).toEqual([
    ['clamp', -1e9, -65_504],
    ['clamp', -1e9, -65_504],
  ]);
  expect(remedies![0]!.rest!.nodes).toEqual([]);
  expect(text(report)).toMatch(/Where +cause +not finite +reads \S+ = -1e\+9, which FP16 makes -infinity/);
  expect(text(report)).toContain('with every node in FP16, without a Cast.');
  const copy = join(folder, 'clamped.onnx');
  await writeRemedy(model!, remedies![0]!, copy);
  const again = await judge(copy, [inputs!]);
  expect(passesTolerance(again)).toBe(true);
  expect(again.outputs[0]!.error).toBeCloseTo(remedies![0]!.error!, 6);
});

test('a constant that means what it says is named, and clamping it is tried and not offered', async () => {
  const report = await judge(fixturePath('faults/pressure_constant/model.onnx'), [
    fixturePath('faults/pressure_constant/inputs.npz'),
  ]);
  expect(text(report)).toMatch(/\/normalize\/Sub .* = 101,325, which FP16 makes infinity/);
  expect(helpfulRemedy(report)).toBeUndefined();
  expect(text(report)).toContain('so this does not help.');
  const { nodes } = await judgeTask('speech');
  expect(nodes.find(({ name }) => name === '/frontend/Add')!.constants).toEqual([
    { tensor: 'floor', kind: 'underflow', value: expect.closeTo(1e-10, 16), elements: 1, of: 1 },
  ]);
});

test('INT8: scale, clipped share and channels of what a guilty node reads, and new scales that repair it', async () => {
  const report = await judgeTask('quantized', [], { low: 'int8', tolerance: 0.03 });
  const [data, channels] = report.nodes.find(({ name }) => name === '/fc2/MatMul')!.quantized!;
  expect(data).toMatchObject({ tensor: 'ar', scale: expect.closeTo(0.3 / 127, 6), zeroPoint: 0, scales: 1 });
  expect([data!.clipped! > 0.3, data!.largest! > 1]).toEqual([true, true]);
  expect(channels).toMatchObject({ tensor: 'w2', clipped: null });
  expect(channels!.spread).toBeGreaterThan(100);
  const remedy = helpfulRemedy(report)!;
  expect(remedy.tensors.map(({ kind, tensor }) => [kind, tensor])).toEqual([
    ['scale', 'ar'],
    ['channels', 'w2'],
  ]);
  expect([remedy.rest!.nodes, remedy.error! < 0.03]).toEqual([[], true]);
  expect(text(report)).toMatch(
    /reads ar: scale 0\.0023622 \(up to 0\.3, zero point 0\), largest value \S+, 3\d % clipped; w2: /,
  );
  const copy = join(folder, 'rescaled.onnx');
  await writeRemedy(join(folder, 'quantized.onnx'), remedy, copy);
  const again = await judge(copy, [join(folder, 'quantized.npz')], { low: 'int8', tolerance: 0.03 });
  expect([passesTolerance(again), again.outputs[0]!.error]).toEqual([true, expect.closeTo(remedy.error!, 6)]);
});
