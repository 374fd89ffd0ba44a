import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { readEngine } from '../../src/kernel/node/run/readEngine.ts';
import { inspectFile, judgeEngine } from '../../src/kernel/inspect/inspectFile.ts';
import { unknownTarget } from '../../src/kernel/inspect/inspection.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { rtxForTests, temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();
const scripts = fileURLToPath(new URL('../../src/driver', import.meta.url));
const engine = join(folder, 'net.engine');

const script = `
import sys, tensorrt_rtx as trt
logger = trt.Logger(trt.Logger.ERROR)
builder = trt.Builder(logger)
network = builder.create_network(0)
layer = network.add_activation(network.add_input('x', trt.float32, (1, 8)), trt.ActivationType.RELU)
network.mark_output(layer.get_output(0))
open(sys.argv[1], 'wb').write(builder.build_serialized_network(network, builder.create_builder_config()))
`;

beforeAll(async () => {
  const rtx = await rtxForTests();
  const { status, stderr } = spawnSync(rtx.python, ['-c', script, engine], {
    encoding: 'utf8',
    env: { ...process.env, ...rtx.environment },
  });
  expect(status, stderr).toBe(0);
});

const loadRow = async (path: string) => {
  const reading = await readEngine({ path, product: 'tensorrt-rtx', scripts });
  const found = await inspectFile(bytesOf(readFileSync(path)));
  const { portability } = judgeEngine(found, unknownTarget, { reading }).engine!;
  return { reading, load: portability.find(({ check }) => check === 'load')! };
};

test('TensorRT-RTX reads its own engine where there is a GPU; without a driver the verdict is unknown', async () => {
  const { reading, load } = await loadRow(engine);
  expect(reading.version).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
  if (reading.gpu === null) {
    expect(reading).toMatchObject({ validity: null, engine: null, layers: null });
    expect(reading.error).toContain('no NVIDIA driver was found');
    expect(load).toMatchObject({ verdict: 'unknown', message: expect.stringContaining('without a driver') as string });
  } else {
    expect(reading.validity).not.toBeNull();
    expect(load.verdict).not.toBe('unknown');
  }
});

test('TensorRT-RTX itself refuses half a header, also without a driver', async () => {
  const broken = join(folder, 'broken.engine');
  writeFileSync(broken, readFileSync(engine).subarray(0, 60));
  const { reading, load } = await loadRow(broken);
  expect(reading.validity).toEqual({ verdict: 'INVALID', reasons: ['MALFORMED_ENGINE'] });
  expect(load).toMatchObject({
    verdict: 'no',
    message: expect.stringContaining('damaged or of another product') as string,
  });
});
