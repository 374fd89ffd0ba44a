import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diagnoseLog } from '../../../../../src/features/diagnose/diagnoseLog.ts';
import { BuildLogReader } from '../../../../../src/kernel/read/tensorrt/readBuildLog.ts';

const TIME = '[11/21/2026-09:20:34] ';
/** Past the lines in which another program's prefix is looked for. */
const START = `${TIME}[V] [TRT] Registering tensor: a for ONNX tensor: a\n`.repeat(220);

const PREFIXES = [
  `${TIME}[V] [TRT] `,
  `${TIME}[V] [TRT] `,
  `${TIME}[V] [TRT] `,
  `${TIME}[I] [TRT] `,
  `${TIME}[I] `,
  `${TIME}[E] `,
  `${TIME}[W] [TRT] `,
  `${TIME}[V] [TRT]  `,
  '[V] [TRT] ',
  '[TRT] [V] ',
  '',
  'builder-1  | ',
  '2026-11-21T09:20:34Z ',
  '\u001b[0;31m',
  `[1/\n1234567-01:23:45] [V] [TRT] `,
];
const TEXTS = [
  'Tactic Name: k Tactic: 0x1 Time: 0.1',
  'Searching for input: a',
  'Static check for parsing node: n [Relu]',
  'Registering layer: n for ONNX node: n',
  'Registering tensor: a',
  'Running: ConvReluFusion on a',
  'Removing a',
  'Reading weights from external file: w',
  'Importing initializer: w',
  'Found a to be part of b pattern.',
  'Found ',
  'Fastest Tactic: 0x1 Time: 0.1',
  '>>>>>>>>>>>>>>> Chose Runner Type: CaskConvolution Tactic: 0x1',
  'Running: ',
  'Parsing node: n [Relu]',
  'Parsing node: a name',
  'with breaks [Relu]',
  'n [Relu] inputs: [a -> (2, 4)[FLOAT]], ',
  'n [Relu] outputs: [b -> (2, 4)[FLOAT]], ',
  'Original: 5 layers',
  'After Myelin optimization: 1 layers',
  'GRAPH NODES',
  'FILL rnd',
  '  [2, 4]',
  '=============== Computing costs for conv',
  '=============== Computing reformatting costs',
  '*************** Autotuning Reformat: a -> b ***************',
  '--------------- Timing Runner: Optimizer Reformat(a -> b) (Reformat[0x1])',
  'Optimizer Reformat(a -> b) [a -> b] got cached result: R, tactic 0x1, 1 ms',
  '--------------- Timing Runner: other(14)',
  'Tactic: 0x4 scratch requested: 300, available: 100',
  'conv (CaskConvolution[0x1]) profiling completed in 0.1 seconds',
  'other [a -> b] got cached result: R, tactic 0x1, 1 ms',
  'Skipping CaskConvolution: No valid tactics for conv',
  'Tactic: 0x3 Time: 0.1',
  'Registered plugin creator - ::P version 1',
  'Layer: conv Host Persistent: 1 Device Persistent: 0 Scratch Memory: 5',
  '*************** Autotuning format combination: a -> b ***************',
  '--------------- Timing Runner: conv (CaskConvolution[0x1])',
  'Layers:',
  'Name: conv',
  'Bindings:',
  'a',
  'Tactic: 0x3 skipped. Scratch requested: 200, available: 100',
  'conv [a -> b] got cached result: R, tactic 0x1, 1 ms',
  'Error Code 10: Internal Error (Could not find any implementation for node conv.)',
  'Killed',
  '',
  'While parsing node number 3 [Foo -> "y"]:',
  'No importer registered for op: Foo',
  'name: "n"',
  'é',
  'x'.repeat(9000),
  '=== Profile (10 iterations ) ===',
  '   Layer   Time (ms)   Avg. (ms)   Time (%)',
  '&&&& PASSED TensorRT.trtexec',
];

const line = fc
  .tuple(fc.constantFrom(...PREFIXES), fc.constantFrom(...TEXTS), fc.constantFrom('\n', '\n', '\n', '\r\n', ''))
  .map((parts) => parts.join(''));

test('passing over quiet lines changes nothing, whatever is between them, in pieces cut anywhere', () => {
  const encode = {
    // A piece with any other character has no quiet lines.
    plain: (text: string) => Buffer.from(text.replaceAll('é', 'e')),
    utf8: (text: string) => Buffer.from(text),
    wide: (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  };
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 60 }),
      fc.array(fc.nat(1000), { maxLength: 6 }),
      fc.constantFrom('plain', 'plain', 'utf8', 'wide' as const),
      (lines, cuts, encoding) => {
        const bytes = encode[encoding](START + lines.join(''));
        const places = cuts.map((cut) => Math.max(0, bytes.length - cut * 3)).toSorted((a, b) => a - b);
        const read = (options: object) => {
          const reader = new BuildLogReader({ times: false, registered: false, ...options });
          [0, ...places].forEach((from, index) =>
            reader.pushBytes(bytes.subarray(from, places[index] ?? bytes.length)),
          );
          const { value, problems } = reader.end();
          return { found: diagnoseLog(value), value, problems };
        };
        // A listener gets every line.
        expect(read({})).toEqual(read({ onEvent: () => undefined }));
      },
    ),
    { numRuns: 120 },
  );
});

test('a quiet line that is the last one is the one that the log ends with', () => {
  const reader = new BuildLogReader({ times: false, registered: false });
  reader.pushBytes(Buffer.from(`${START}${TIME}[V] [TRT] Registering tensor: last\n`));
  const { value } = reader.end();
  expect(value.lines).toBe(221);
  expect(value.lastLine).toEqual({ line: 221, text: `${TIME}[V] [TRT] Registering tensor: last` });
});
