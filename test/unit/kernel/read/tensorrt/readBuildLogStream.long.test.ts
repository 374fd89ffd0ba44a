import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BuildEvent, BuildLogRead } from '../../../../../src/kernel/read/tensorrt/buildOutput.ts';
import { BuildLogReader, readBuildLog } from '../../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import { captureBytes, captureText } from '../../../../support/fixtures.ts';

function inPieces(text: string, cuts: number[]): BuildLogRead & { events: BuildEvent[] } {
  const events: BuildEvent[] = [];
  const reader = new BuildLogReader({ onEvent: (event) => events.push(event) });
  let from = 0;
  for (const cut of [...cuts.toSorted((a, b) => a - b), text.length]) {
    reader.push(text.slice(from, cut));
    from = cut;
  }
  return { ...reader.end(), events };
}

/** Dialects side by side, with names outside of the BMP that a cut can halve. */
const MIXED = [
  captureText('tensorrt-10.6.0/loop_if.fp32/log.txt')!,
  captureText('tensorrt-rtx-1.7.1/loop_if/log.txt')!
    .replaceAll('loop/matmul', 'loop/𝛼𝛽/中文层')
    .replaceAll('\n', '\r\n'),
  captureText('tensorrt-8.6.1/unsupported_op.fp32/log.txt')!.slice(-9000),
  captureText('tensorrt-10.6.0/vit_tiny.poly_replay/log2.txt')!.slice(0, 20_000),
  // ONNX Runtime's prefix.
  '2024-09-20 12:15:43.563271041 [W:onnxruntime:Default, tensorrt_execution_provider.h:84 log] [2024-09-20 12:15:43 WARNING] Error Code: 9: Skipping tactic 0xaa15e43058248292 due to exception canImplement1',
].join('\n');

describe('pieces', () => {
  test('cut anywhere, a log says the same, with the same events', () => {
    const { value, problems } = readBuildLog(MIXED);
    const { events } = inPieces(MIXED, []);
    expect(value.parsedNodes.map(({ name }) => name)).toContain('loop/𝛼𝛽/中文层');
    fc.assert(
      fc.property(fc.array(fc.nat(MIXED.length), { maxLength: 40 }), (cuts) => {
        expect(inPieces(MIXED, cuts)).toEqual({ value, problems, events });
      }),
      { numRuns: 25 },
    );
  });

  test('even one character at a time', () => {
    const text = MIXED.slice(0, 60_000);
    const { value, problems } = readBuildLog(text);
    const reader = new BuildLogReader();
    for (const char of text.split('')) reader.push(char);
    expect(reader.end()).toEqual({ value, problems });
  });

  test('bytes may be cut inside of a character', () => {
    const bytes = new TextEncoder().encode(MIXED);
    const { value, problems } = readBuildLog(MIXED);
    const reader = new BuildLogReader();
    for (let at = 0; at < bytes.length; at += 331) reader.pushBytes(bytes.subarray(at, at + 331));
    expect(reader.end()).toEqual({ value, problems });
  });

  test('a large capture in pieces of 64 KB says what it says at once', () => {
    const text = captureText('tensorrt-10.6.0/deep_encoder_11k.fp32/log.txt')!;
    const cuts = Array.from({ length: Math.floor(text.length / 65_536) }, (_, index) => (index + 1) * 65_536);
    const { value, problems } = inPieces(text, cuts);
    expect({ value, problems }).toEqual(readBuildLog(text));
  });
});

describe('cut-off logs', () => {
  test('a prefix of a log keeps what was written by then, and says that it ends too early', () => {
    const text = captureText('tensorrt-10.6.0/two_inputs_multi_out.fp32/log.txt')!;
    const whole = readBuildLog(text).value;
    const lines = text.split('\n').length - 1;
    for (let length = 30_000; length < text.length - 2000; length += 9973) {
      const { value, problems } = readBuildLog(text.slice(0, length));
      expect(value.outcome).toBe('cut-off');
      expect(problems).toMatchObject([{ code: 'cut-off', severity: 'warning', line: value.lines }]);
      expect(value.lines).toBeLessThanOrEqual(lines);
      const nodes = value.parsedNodes.slice(0, -1);
      expect(nodes).toEqual(whole.parsedNodes.slice(0, nodes.length));
      const funnel = value.phases[0]?.funnel ?? [];
      expect(funnel.slice(0, -1)).toEqual((whole.phases[0]?.funnel ?? []).slice(0, Math.max(0, funnel.length - 1)));
    }
  });

  test('a list of layers that is cut keeps its whole lines', () => {
    const text = captureText('tensorrt-rtx-1.7.1/resnet18/log.txt')!;
    const at = text.indexOf('Name: /layer2/layer2.0/conv2/Conv_myl0_8');
    const { value } = readBuildLog(text.slice(0, at));
    expect(value.engineLayers.map(({ name }) => name)).toEqual(
      readBuildLog(text)
        .value.engineLayers.slice(0, 8)
        .map(({ name }) => name),
    );
  });
});

describe('whatever a log says', () => {
  test('mutations do not make it throw', () => {
    const text = MIXED.slice(0, 120_000);
    const edit = fc.tuple(
      fc.nat(text.length - 1),
      fc.constantFrom(
        '',
        '\n',
        '[',
        ']',
        '{',
        '}',
        '(',
        ')',
        ' -> ',
        ', ',
        ': ',
        '\u001e',
        '\u0000',
        '\ud800',
        'x'.repeat(50),
      ),
      fc.nat(40),
    );
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 60 }), (edits) => {
        let mutated = text;
        for (const [at, insert, remove] of edits) mutated = mutated.slice(0, at) + insert + mutated.slice(at + remove);
        const { value } = readBuildLog(mutated);
        expect(value.lines).toBeGreaterThan(0);
      }),
      { numRuns: 60 },
    );
  });

  test('lines put together from its own words do not, either', () => {
    const words = [
      '[V] [TRT] ',
      '[E] [TRT] ',
      '[W] ',
      '[I] ',
      '\x1b[31m',
      '[11/21/2026-09:29:17] ',
      '\n',
      ' ',
      'X',
      '0x1f',
      '17',
      ': ',
      ' layers',
      ' -> ',
      '(',
      ')',
      '[',
      ']',
      '{ForeignNode[',
      ']}',
      ', ',

      'Original: ',
      'After reformat layers: ',
      'Parsing node: ',
      'Registering layer: ',
      ' for ONNX node: ',
      ' required by ONNX-TRT',
      'ForeignNode ',
      ' metadata: ',
      '[ONNX Layer: a]',

      '=============== Computing costs for ',
      '*************** Autotuning format combination: ',
      '--------------- Timing Runner: ',
      'Tactic: ',
      ' Time: ',
      'Tactic Name: ',
      '>>>>>>>>>>>>>>> Chose Runner Type: ',

      'got cached result: ',
      'Adding reformat layer: ',
      ' from ',
      ' to ',
      'Layers:',
      'Engine Layer Information:',
      'Name: ',
      'LayerType: ',
      'Inputs: [ { Name: ',
      'Dimensions: [',
      'Metadata: ',
      'Layer(',
      'Bindings:',
      'I/O Tensors:',

      '=== Profile (',
      'Time(ms)',
      'Layer',
      '&&&& RUNNING ',
      '&&&& PASSED ',
      'While parsing node number ',
      '--- Begin node ---',
      'name: "',
      'Fusing A with ',
      'XFusion: ',
      'Autotuning op ',
      'Error Code 10',
      '{"event":"log","message":"',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 80 }), (parts) => {
        const events: BuildEvent[] = [];
        const reader = new BuildLogReader({ onEvent: (event) => events.push(event) });
        for (const part of parts) reader.push(part);
        const { value, problems } = reader.end();
        expect(value.lines).toBe(
          parts.join('').split('\n').length - (parts.join('').endsWith('\n') || parts.length === 0 ? 1 : 0),
        );
        for (const { message } of problems) expect(message).not.toBe('');
      }),
      { numRuns: 3000 },
    );
  });

  test('long lines of brackets, commas and arrows are read in linear time', () => {
    const long = (unit: string): string => unit.repeat(Math.ceil(300_000 / unit.length));
    const heads = [
      'X [',
      'Layer(A): ',
      'Name: X, LayerType: a, Inputs: [ ',
      'Adding reformat layer: ',
      'Generating copy for ',
      'XFusion: Fusing ',
      'Tactic Name: ',
      'ForeignNode {',
      'For layer ',
      'Merging layers: ',
      '--------------- Timing Runner: ',
    ];
    const units = [
      ' [',
      ' (',
      ') from ',
      ' to ',
      ' -> ',
      '{ Name: ',
      ' }, { Name: x',
      ', Dimensions: [',
      '}], ',
      ', A: ',
      'Tactic: ',
      ' with ',
      '] got cached result: ',
      '{ForeignNode[',
      ' || ',
      'numSplitK: ',
      ' because ',
    ];
    const tactics = '[V] [TRT] =============== Computing costs for X\n';
    for (const head of heads)
      for (const unit of units) {
        const text = `${tactics}[V] [TRT] Layers:\n${head}${long(unit)}\n[V] [TRT] ${head}${long(unit)}\n[E] [TRT] ${head}${long(unit)}\n`;
        expect(readBuildLog(text).value.lines).toBe(5);
      }
  });
});

const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
};

describe('memory', () => {
  test('of each kind a fixed number is kept, the rest is counted', () => {
    const reader = new BuildLogReader();
    reader.push(
      '[V] [TRT] Original: 5 layers\n[V] [TRT] =============== Computing costs for X\n[V] [TRT] *************** Autotuning format combination: A -> B ***************\n',
    );
    const tactics = Array.from(
      { length: 5000 },
      (_, index) => `[V] [TRT] Tactic: 0x${index.toString(16).padStart(16, '0')} Time: 0.5\n`,
    ).join('');
    const warnings = '[W] [TRT] Something is not quite right.\n'.repeat(1000);
    for (let index = 0; index < 20; index++) reader.push(tactics + warnings);
    const { value, problems } = reader.end();
    expect(value.phases[0]!.tactics[0]!.combinations[0]!.tactics).toHaveLength(1000);
    expect(value.messages).toHaveLength(5000);
    expect(value.dropped).toEqual({ messages: 15_000 });
    expect(problems.find(({ code }) => code === 'log-too-large')!.message).toContain('15000 messages');
    expect(value.lines).toBe(3 + 20 * 6000);
  });

  test('the time of a chosen tactic is known, also where it is not kept', () => {
    const lines = ['=============== Computing costs for X', '--------------- Timing Runner: X (Cask[0x1])'];
    for (let index = 0; index < 1500; index++) lines.push(`Tactic: 0x${index.toString(16)} Time: ${index}.5`);
    lines.push('>>>>>>>>>>>>>>> Chose Runner Type: Cask Tactic: 0x578');
    const { value } = readBuildLog(lines.map((line) => `[V] [TRT] ${line}\n`).join(''));
    const [combination] = value.phases[0]!.tactics[0]!.combinations;
    expect(combination!.tactics).toHaveLength(1000);
    expect(combination!.chosen).toEqual({ runner: 'Cask', tactic: '0x578', ms: 1400.5 });
  });

  test('the name of a kernel is kept once, however many lines name it', () => {
    const reader = new BuildLogReader();
    const names = Array.from({ length: 20 }, (_, index) => `sm80_xmma_fprop_implicit_gemm_${index}_`.padEnd(1000, 'x'));
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let index = 0; index < 2000; index++) {
      const tactics = names.map((name) => `[V] [TRT] Tactic Name: ${name} Tactic: 0x1 Time: 0.5\n`);
      reader.push(
        `[V] [TRT] *************** Autotuning format combination: A -> B ***************\n${tactics.join('')}`,
      );
    }
    collectGarbage();
    const grown = process.memoryUsage().heapUsed - before;
    expect(reader.end().value.phases[0]!.tactics[0]!.combinations).toHaveLength(2000);
    // 40 MB went through.
    expect(grown).toBeLessThan(12_000_000);
  });

  test('a line of any length is read once: its beginning is kept', () => {
    const reader = new BuildLogReader();
    reader.push('[V] [TRT] Original: 1 layers\n[V] [TRT] ForeignNode {ForeignNode[a...b]} metadata: ');
    const piece = '[ONNX Layer: /a/b/c/d/e/f/g]'.repeat(2500);
    for (let index = 0; index < 500; index++) reader.push(piece);
    reader.push('\n[V] [TRT] After reformat layers: 1 layers\n');
    const { value, problems } = reader.end();
    expect(value.lines).toBe(3);
    expect(value.phases[0]!.funnel).toHaveLength(2);
    expect(value.phases[0]!.foreignNodes[0]!.metadata!.length).toBeLessThan(16_000_001);
    expect(value.phases[0]!.foreignNodes[0]!.truncated).toBe(true);
    expect(problems).toContainEqual({
      severity: 'warning',
      code: 'line-too-long',
      message: expect.stringContaining('16000000'),
      line: 2,
    });
  });

  test('what is kept does not hold on to the text around it', () => {
    const reader = new BuildLogReader();
    const filler = '[V] [TRT] Searching for input: something that is not kept\n'.repeat(16_000);
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let index = 0; index < 150; index++)
      reader.push(
        `&&&& RUNNING TensorRT.trtexec [TensorRT v100600] # trtexec --onnx=${index}.onnx\n[V] [TRT] Parsing node: /a/long/enough/name/of/a/node/${index} [Conv]\n${filler}`,
      );
    collectGarbage();
    const grown = process.memoryUsage().heapUsed - before;
    const { value } = reader.end();
    expect(value.parsedNodes).toHaveLength(150);
    expect(value.runs).toHaveLength(150);
    // 139 MB went through; one piece of it may still be at hand.
    expect(grown).toBeLessThan(20_000_000);
  });
});

test('bytes that are no text do no harm', () => {
  const bytes = captureBytes('tensorrt-10.6.0/vit_tiny.timingcache/tc.bin')!;
  expect(readBuildLog(new TextDecoder().decode(bytes)).value.outcome).toBe('unknown');
});
