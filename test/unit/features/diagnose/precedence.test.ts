import { describe, expect, it } from 'vitest';
import * as diagnosis from '../../../support/diagnosis.ts';
import { mutantOf } from '../../../support/mutants.ts';

/** What the first diagnosis is, which lines follow from it, and what comes after it. */
function told({ diagnoseLog, BuildLogReader }: typeof diagnosis, lines: readonly string[]): string[] {
  const reader = new BuildLogReader();
  reader.push(lines.join('\n'));
  return diagnoseLog(reader.end().value).map(
    ({ severity, rule, line, follows, advice }) =>
      `${line} ${severity} ${rule ?? '-'}${follows.length > 0 ? ` < ${follows.map((one) => one.line).join(' ')}` : ''}${/Did you mean [^?]*\?|Inputs of the model: .*/.exec(advice)?.[0].replace(/^/, ': ') ?? ''}`,
  );
}

const MISSING = '[E] [TRT] ModelImporter.cpp:5: Could not open file a.onnx';
const NO_MEMORY =
  '[W] [TRT] Tactic Device request: 448MB Available: 425MB. Device memory is insufficient to use tactic.';
const NO_MEMORY_ERROR = '[E] [TRT] 1: [defaultAllocator.cpp::allocate::19] Error Code 1: Cuda Runtime (out of memory)';
const NO_LIBRARY = '[W] [TRT] libnvinfer_plugin.so.10: cannot open shared object file: No such file or directory';
const BAD_GPU = '[W] [TRT] Target GPU SM 61 is not supported by this TensorRT release.';
const UNKNOWN = '[E] [TRT] something that is unheard of';
const UNKNOWN2 = '[E] [TRT] something else entirely new';
const REPEAT = '[E] Engine could not be created from network';
const NAN =
  '[E] [TRT] 2: [quantization.cpp::DynamicRange::65] Error Code 2: Internal Error (Assertion min_ <= max_ failed.)';
const CRASH = 'Segmentation fault (core dumped)';
const OTHER_WARNING =
  '[W] Dynamic dimensions required for input: x, but no shapes were provided. Automatically overriding shape to: 1x3';
const inputs = (...names: string[]) =>
  names.map((name) => `[V] [TRT] Adding network input: ${name} with dtype: float32, dimensions: (4, 16)`);
const NAMED = (name: string) => `[E] Cannot find input tensor with name "${name}" in the network inputs!`;

/** Logs by what they are about, each with what is told of it. */
const LOGS: Readonly<Record<string, readonly [lines: readonly string[], told: readonly string[]]>> = {
  'what only repeats that something failed is part of the cause': [[NAN, REPEAT], ['1 error calibration-nan < 2']],
  'a known cause comes before what no rule knows': [[UNKNOWN, NAN], ['2 error calibration-nan < 1']],
  'of unknown errors the first counts': [[UNKNOWN, UNKNOWN2], ['1 error - < 2']],
  'a heavy warning ends a build: memory': [[NO_MEMORY, REPEAT], ['1 error device-memory-of-tactic < 2']],
  'a heavy warning ends a build: a library': [[NO_LIBRARY, REPEAT], ['1 error library-missing < 2']],
  'a heavy warning ends a build: the GPU': [[BAD_GPU, REPEAT], ['1 error gpu-unsupported < 2']],
  'another warning does not': [
    [OTHER_WARNING, REPEAT],
    ['2 error -', '1 warning shapes-defaulted'],
  ],
  'a repeated cause is told once': [
    [
      NO_MEMORY_ERROR,
      '[E] [TRT] CUDA error 2 for 4963639552-byte allocation. Could not find any implementation for node {ForeignNode[a...b]}.',
      REPEAT,
    ],
    ['1 error out-of-memory < 2 3'],
  ],
  'a crash follows from what came before it': [[NAN, CRASH], ['1 error calibration-nan < 2']],
  'what comes before a crash does not follow from it': [[UNKNOWN, CRASH], ['1 error - < 2']],
  'errors come before warnings': [
    [NO_LIBRARY, UNKNOWN, NAN],
    ['3 error calibration-nan < 2', '1 warning library-missing'],
  ],
  'the nearest cause before a line takes it': [
    [NAN, MISSING, REPEAT],
    ['1 error calibration-nan', '2 error model-missing < 3'],
  ],
  'a misspelled input: the nearest name': [
    [...inputs('images', 'labels'), NAMED('imagse')],
    ['3 error unknown-input: Did you mean "images"?'],
  ],
  'no name is near': [
    [...inputs('a', 'b'), NAMED('something_else')],
    ['3 error unknown-input: Inputs of the model: a, b.'],
  ],
  'at most ten names': [
    [...inputs(...'abcdefghijkl'.split('').map((name) => `x${name}`)), NAMED('something_else')],
    ['13 error unknown-input: Inputs of the model: xa, xb, xc, xd, xe, xf, xg, xh, xi, xj.'],
  ],
  'of two rules for one text the first wins': [
    ['[E] Error[10]: Error Code 10: Internal Error (Could not find any implementation for node {ForeignNode[a...b]}.)'],
    ['1 error no-implementation-foreign'],
  ],
  'a sentence in the middle of other words is none of TensorRT': [
    ['I think that Assertion min_ <= max_ failed.', UNKNOWN],
    ['2 error -'],
  ],
  'after `Error: ` it is': [['ValueError: Assertion min_ <= max_ failed.'], ['1 error calibration-nan']],
  'a line that a terminal broke': [
    ['[E] [TRT] Network has dynamic or shape inputs, but no optimization pro', 'file has been defined.'],
    ['1 error profile-missing'],
  ],
};

describe('what is told first', () => {
  it.each(Object.entries(LOGS))('%s', (_, [lines, expected]) => {
    expect(told(diagnosis, lines)).toEqual(expected);
  });
});

const fold = 'src/features/diagnose/internal/foldConsequences.ts';
const match = 'src/features/diagnose/internal/matchRule.ts';
const all = 'src/features/diagnose/diagnoseLog.ts';

/** Mistakes that someone could make here: each has to make a log of the table fail. */
const MUTANTS: readonly (readonly [file: string, from: string, to: string])[] = [
  [fold, "['library-missing', 'gpu-unsupported', 'out-of-memory']", "['gpu-unsupported', 'out-of-memory']"],
  [fold, "['library-missing', 'gpu-unsupported', 'out-of-memory']", "['library-missing', 'out-of-memory']"],
  [fold, "['library-missing', 'gpu-unsupported', 'out-of-memory']", "['library-missing', 'gpu-unsupported']"],
  [fold, "  'out-of-memory',\n  'library-mismatch',", "  'library-mismatch',"],
  [fold, 'kept = known.length > 0 ? rest :', 'kept = known.length < 0 ? rest :'],
  [fold, 'unknown.slice(0, 1)', 'unknown.slice(0, 2)'],
  [fold, 'return errors.findLast(', 'return errors.find('],
  [fold, "severity: follows.some(({ diagnosis }) => diagnosis.severity === 'error')", 'severity: follows.length < 0'],
  [
    fold,
    'const repeats = (one: Judged) => one.rule === null &&',
    'const repeats = (one: Judged) => one.rule !== null &&',
  ],
  [
    fold,
    'kept.filter(({ rule, diagnosis }) => endsBuild(diagnosis)',
    'kept.filter(({ rule, diagnosis }) => diagnosis.line > 0',
  ],
  [match, 'for (const rule of rules) {', 'for (const rule of rules.toReversed()) {'],
  [match, "text.replaceAll('\\n', ''), ", ''],
  [all, 'inputs.slice(0, 10)', 'inputs.slice(0, 11)'],
  [all, 'closestWords(wrong, inputs, 1)[0]', 'inputs[0]'],
  [all, 'closestWords(wrong, inputs, 1)[0]', 'undefined'],
  [all, '(finding.rule.anywhere ?? BEGINS.test(finding.before))', 'true'],
  [
    all,
    "...causes.filter(({ severity }) => severity === 'error'),",
    "...causes.filter(({ severity }) => severity === 'warning'), ...causes.filter(({ severity }) => severity === 'error'),",
  ],
];

describe('a mistake is found', () => {
  it.each(MUTANTS)('%s: %s → %s', async (file, from, to) => {
    const mutant = await mutantOf<typeof diagnosis>('test/support/diagnosis.ts', file, [from, to]);
    const failing = Object.entries(LOGS).filter(
      ([, [lines, expected]]) => JSON.stringify(told(mutant, lines)) !== JSON.stringify(expected),
    );
    expect(failing.length).toBeGreaterThan(0);
  });
});
