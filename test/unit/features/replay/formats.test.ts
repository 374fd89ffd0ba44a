import { describe, expect, test } from 'vitest';
import { parseVersion } from '../../../../src/kernel/build/trtexecFlags.ts';
import { checkReplay, emptyContext, type ReplayContext } from '../../../../src/features/replay/checkReplay.ts';
import { applySpanEdits, diffReplays, ignoredText } from '../../../../src/features/replay/editReplay.ts';
import { readMismatches, readReplay } from '../../../../src/kernel/read/replay/readReplay.ts';

const tensor = (format: string, strides: number[], vectorizedDim = -1, components = 1, dtype = 'FLOAT') =>
  JSON.stringify({
    ...(format && { tensor_format: `TensorFormat.${format}` }),
    dtype: `DataType.${dtype}`,
    strides,
    vectorized_dim: vectorizedDim,
    components_per_element: components,
    polygraphy_class: 'TensorInfo',
  });
const replay = (io: string) =>
  `{"replay": {"conv": {"implementation": 7, "tactic": 7, "inputs": [${io}], "outputs": [], "polygraphy_class": "Algorithm"}}, "polygraphy_class": "TacticReplayData"}`;
const check = (source: string, context: Partial<ReplayContext> = {}) =>
  checkReplay(source, readReplay(source), { ...emptyContext, ...context });
const told = (source: string, context: Partial<ReplayContext> = {}) =>
  check(source, context).map(({ code, severity }) => `${severity} ${code}`);
const compared = (before: string, after: string) => diffReplays(readReplay(before).value!, readReplay(after).value!);

const linear = [784, 784, 28, 1];
const list = (format: string) => `["TensorFormat.${format}", "DataType.FLOAT", [784, 784, 28, 1]]`;

describe('"tensor_format", which Polygraphy after 0.49.0 ignores', () => {
  const before = replay(tensor('LINEAR', linear));
  const after = replay(tensor('HWC8', linear));

  test('a change of it alone is no difference, and is told', () => {
    const diff = compared(before, after);
    expect(diff).toEqual({ differences: [], same: 1, ignored: 1 });
    expect(ignoredText(diff)).toBe(
      '"tensor_format" differs in 1 input or output, which is no difference: Polygraphy after 0.49.0 ignores it.',
    );
    expect(ignoredText(compared(before, before))).toBeNull();
  });

  test('a change of the layout is one', () => {
    const { differences, ignored } = compared(before, replay(tensor('HWC8', [98, 1, 28, 1], 1, 8)));
    expect([differences.length, ignored]).toEqual([1, 0]);
  });

  test('in the lists of before 0.46 it is the layout', () => {
    expect(compared(replay(list('LINEAR')), replay(list('HWC8')))).toMatchObject({
      differences: [{ kind: 'changed' }],
      ignored: 0,
    });
  });

  test.each([
    ['LINEAR', linear, -1, 1],
    ['LINEAR', [1], -1, 1],
    ['HWC', [784, 1, 28, 1], -1, 1],
    ['HWC8', [98, 1, 28, 1], 1, 8],
    ['CHW32', [784, 784, 28, 1], 1, 32],
    ['CHW4', [784, 784, 28, 1], 1, 4],
    ['DHWC8', [98, 1, 28, 14, 7], 1, 8],
    ['DLA_LINEAR', [784, 784, 32, 1], -1, 1],
  ])('%s of strides %j, %i, %i is right', (format, strides, dim, components) => {
    expect(told(replay(tensor(format, strides, dim, components)))).toEqual([]);
  });

  test.each([
    ['CHW32', linear, -1, 1, 'LINEAR'],
    ['HWC', linear, -1, 1, 'LINEAR'],
    ['LINEAR', [784, 784, 28, 1], 1, 4, 'CHW4'],
    ['LINEAR', [784, 1, 28, 3], -1, 1, 'HWC'],
    ['HWC8', [784, 784, 28, 1], 1, 8, null],
  ])('%s of strides %j, %i, %i contradicts them', (format, strides, dim, components, right) => {
    const source = replay(tensor(format, strides, dim, components));
    const [problem, ...more] = check(source);
    expect(more).toEqual([]);
    expect(problem).toMatchObject({ severity: 'warning', code: 'format-ignored', layer: 'conv' });
    const [fix] = problem!.fixes;
    expect(fix ? applySpanEdits(source, fix.edits) : null).toBe(
      right && replay(tensor(right, strides, dim, components)),
    );
  });
});

describe('what a version does not load', () => {
  const target = (version: string) => ({
    product: 'tensorrt' as const,
    version: parseVersion(version)!,
    capability: null,
  });

  test.each([
    ['BF16', '8.6.1', true],
    ['BF16', '9.2', false],
    ['INT64', '8.6.1', true],
    ['INT64', '10.0.1', false],
    ['FP8', '8.5.3', true],
    ['FP8', '8.6.1', false],
    ['FP4', '10.7', true],
    ['FP4', '10.8', false],
    ['E8M0', '10.11', true],
    ['E8M0', '10.12', false],
    ['HALF', '8.0', false],
  ])('%s by TensorRT %s: refused is %s', (dtype, version, refused) => {
    const source = replay(tensor('', linear, -1, 1, dtype));
    expect(told(source)).toEqual([]);
    expect(told(source, { target: target(version) })).toEqual(refused ? ['error unknown-type'] : []);
  });

  test('a form of before 0.46 is refused, but by a Polygraphy that has shown to load it', () => {
    expect(told(replay(list('LINEAR')))).toEqual(['error old-form']);
    const log = `[!] Layer: other | Tactic in replay was not provided by TensorRT as a choice for this layer.
Note: Tactic in replay was:
    (Implementation: 7, Tactic: 7) | Inputs: (('TensorFormat.HWC8', 'DataType.FLOAT'),) | Outputs: ()
Provided choices were:
    (Implementation: 7, Tactic: 7) | Inputs: (('TensorFormat.LINEAR', 'DataType.FLOAT'),) | Outputs: ()`;
    expect(told(replay(list('LINEAR')), { mismatches: readMismatches(log) })).toEqual(['info old-form']);
  });

  test('an unknown format is refused in lists; of objects only older versions read it', () => {
    expect(told(replay(list('CHW64')))).toEqual(['error old-form', 'error unknown-format']);
    const problems = check(replay(tensor('CHW64', linear)));
    expect(problems).toMatchObject([{ severity: 'warning', code: 'unknown-format' }]);
    expect(problems[0]!.message).toContain('Polygraphy up to 0.49.0 cannot load it; later versions ignore');
  });
});
