import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { type DriverEvent, readDriverEvent } from '../../src/kernel/node/run/internal/driverEvent.ts';
import { fillWeights } from '../../src/kernel/node/files/fillWeights.ts';
import type { Installed } from '../../src/kernel/node/tools/ensurePackages.ts';
import { modelPath } from '../support/fixtures.ts';
import { driverPath, rtxForTests, temporaryFolder } from '../support/rtx.ts';

let rtx: Installed;
const folder = temporaryFolder();
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  rtx = await rtxForTests();
});

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
  events: DriverEvent[];
}

/** Runs the driver; `poke` is called with each event as it comes. */
function drive(args: string[], poke?: (event: DriverEvent, child: ReturnType<typeof spawn>) => void): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(rtx.python, [driverPath, ...args], {
      env: { ...process.env, ...rtx.environment },
      cwd: folder,
    });
    const ran: Ran = { code: null, stdout: '', stderr: '', events: [] };
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      ran.stdout += text;
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        const event = readDriverEvent(line);
        expect(event, `not an event: ${line}`).toBeDefined();
        ran.events.push(event!);
        poke?.(event!, child);
      }
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (ran.stderr += text));
    child.once('close', (code) => resolve({ ...ran, code }));
  });
}

const last = ({ events }: Ran) => events.at(-1)!;
const failure = (ran: Ran) => {
  const event = last(ran);
  if (event.event !== 'error') throw new Error(`ended with ${JSON.stringify(event)}`);
  return event;
};

test('its parts do what they should, without TensorRT', () => {
  const { status, stderr } = spawnSync(rtx.python, ['-B', '-m', 'unittest', 'discover', '-s', __dirname], {
    encoding: 'utf8',
  });
  expect(stderr).toMatch(/Ran [1-9]\d* tests[^]*OK/);
  expect(status).toBe(0);
});

describe('a build that succeeds', () => {
  let ran: Ran;
  beforeAll(async () => {
    ran = await drive(['--onnx', await fillWeights(modelPath('vit_tiny')), '--engine', file('vit.engine')]);
  });

  test('says what runs first and what came of it last', () => {
    expect(ran.code).toBe(0);
    expect(ran.events[0]).toMatchObject({
      event: 'start',
      module: 'tensorrt_rtx',
      version: rtx.version,
      targets: ['89'],
    });
    expect(last(ran)).toMatchObject({ event: 'done', engineBytes: readFileSync(file('vit.engine')).length });
    expect(ran.events.filter(({ event }) => event === 'done' || event === 'error')).toHaveLength(1);
  });

  test('tells the network, the log with its separators, and progress', () => {
    expect(ran.events).toContainEqual({
      event: 'network',
      inputs: [{ name: 'input', type: 'float', shape: [1, 3, 224, 224] }],
      outputs: [{ name: 'output', type: 'float', shape: [1, 1000] }],
      layers: expect.any(Number) as number,
    });
    const log = ran.events.flatMap((event) => (event.event === 'log' ? [event.message] : []));
    expect(log.filter((message) => /^ForeignNode .* metadata: .*\u001e/.test(message)).length).toBeGreaterThan(0);
    expect(log.some((message) => message.startsWith('Layers:\n'))).toBe(true);
    const progress = ran.events.filter((event) => event.event === 'progress');
    expect(progress.find(({ phase }) => phase === 'Building engine')).toMatchObject({ step: 0, parent: null });
    expect(progress.filter(({ finished }) => finished).length).toBeGreaterThan(5);
  });

  test('leaves the engine and no other file', () => {
    expect(readdirSync(folder)).toEqual(['vit.engine']);
  });
});

describe('what cannot be built', () => {
  test.each([
    ['a missing file', 'none.onnx', undefined, /none\.onnx: no such file/],
    ['an empty file', 'empty.onnx', '', /empty\.onnx: the file is empty/],
    ['a text file', 'text.onnx', 'This is no model.\n', /text\.onnx: this is a text file/],
    ['random bytes', 'bytes.onnx', '\u0001\u0002\u00ff\u0000\u0017 and more', /bytes\.onnx: not an ONNX model/],
  ])('%s', async (_, name, content, message) => {
    if (content !== undefined) writeFileSync(file(name), content);
    const ran = await drive(['--onnx', file(name), '--engine', file('never.engine')]);
    expect(failure(ran)).toMatchObject({ stage: 'parse', message: expect.stringMatching(message) as string });
    expect(ran.code).toBe(1);
    expect(existsSync(file('never.engine'))).toBe(false);
  });

  test('a file that was cut off', async () => {
    writeFileSync(file('cut.onnx'), readFileSync(modelPath('vit_tiny')).subarray(0, 100_000));
    expect(failure(await drive(['--onnx', file('cut.onnx')])).message).toMatch(
      /cut\.onnx: not an ONNX model, or a truncated one/,
    );
  });

  test('a model whose weights are missing', async () => {
    mkdirSync(file('bare'), { recursive: true });
    copyFileSync(modelPath('resnet18'), file('bare/model.onnx'));
    const { message } = failure(await drive(['--onnx', 'bare/model.onnx']));
    expect(message).toMatch(/^bare\/model\.onnx: the weights file bare\/weights\.bin cannot be opened/);
  });

  test('an operator that TensorRT does not have: its node, name and operator', async () => {
    const { message, details } = failure(await drive(['--onnx', await fillWeights(modelPath('unsupported_op'))]));
    expect(message).toContain("node 11 '/custom/MyCustomOp' (MyCustomOp)");
    expect(details).toMatchObject([
      { node: 11, nodeName: '/custom/MyCustomOp', operator: 'MyCustomOp', code: 'INVALID_NODE' },
    ]);
  });

  test.each([
    [['--fp16'], 2, /strongly typed/],
    [['--compute-capability', '7.0'], 2, /unknown value '70'; expected one of CURRENT, SM75/],
    [['--pool=workspace=much'], 2, /NAME=MIB/],
    [['--output=nowhere'], 2, /'nowhere'/],
    [['--profile', '{"image":{"opt":[1]}}'], 1, /'image'.*inputs are input/],
    [['--module', 'tensorrt'], 1, /cannot import tensorrt/],
  ])('%j', async (args, code, message) => {
    const ran = await drive(['--onnx', await fillWeights(modelPath('unnamed')), ...args]);
    expect(failure(ran).message).toMatch(message);
    expect(ran.code).toBe(code);
  });

  test('a place where no engine can be written', async () => {
    const ran = await drive([
      '--onnx',
      await fillWeights(modelPath('unnamed')),
      '--engine',
      file('no/such/folder.engine'),
    ]);
    expect(failure(ran)).toMatchObject({
      stage: 'write',
      message: `${file('no/such/folder.engine')}: No such file or directory`,
    });
  });
});

describe('cancelled', () => {
  const started = (event: DriverEvent) => event.event === 'progress' && event.phase === 'Building engine';

  test.each(['SIGTERM', 'SIGINT'] as const)('by %s: ends in time and leaves nothing', async (signal) => {
    const model = await fillWeights(modelPath('deep_encoder_11k'));
    let asked = 0;
    const ran = await drive(['--onnx', model, '--engine', file('cut.engine'), '--grace', '0.5'], (event, child) => {
      if (!started(event) || asked > 0) return;
      asked = Date.now();
      child.kill(signal);
    });
    expect(asked).toBeGreaterThan(0);
    expect(failure(ran)).toMatchObject({ stage: 'cancelled', message: 'cancelled' });
    expect(ran.code).toBe(143);
    expect(readdirSync(folder).filter((name) => name.startsWith('cut.engine'))).toEqual([]);
  });

  test('by the end of the caller, whose pipe closes', async () => {
    const model = await fillWeights(modelPath('deep_encoder_11k'));
    const ran = await drive(
      ['--onnx', model, '--engine', file('cut.engine'), '--until-stdin-closes'],
      (event, child) => {
        if (started(event)) child.stdin!.end();
      },
    );
    expect(ran.code).toBe(143);
    expect(readdirSync(folder).filter((name) => name.startsWith('cut.engine'))).toEqual([]);
  });
});

test('a timing cache is written and read again', async () => {
  const args = ['--onnx', await fillWeights(modelPath('unnamed')), '--timing-cache', file('timing.cache')];
  expect((await drive(args)).code).toBe(0);
  const size = readFileSync(file('timing.cache')).length;
  expect(size).toBeGreaterThan(0);
  expect((await drive(args)).code).toBe(0);
  writeFileSync(file('timing.cache'), 'of another program');
  expect((await drive(args)).code).toBe(0);
});

test('every tensor as an output, and one by name', async () => {
  const outputs = ({ events }: Ran) =>
    events.findLast((event) => event.event === 'log' && event.message.startsWith('Layers:'));
  const model = await fillWeights(modelPath('fusion_zoo'));
  const count = (ran: Ran) => JSON.stringify(outputs(ran)).split('Name: ').length;
  const plain = await drive(['--onnx', model]);
  const all = await drive(['--onnx', model, '--all-outputs']);
  expect(all.code).toBe(0);
  expect(count(all)).toBeGreaterThan(count(plain));
});
