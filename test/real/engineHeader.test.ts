import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inspectFile } from '../../src/kernel/inspect/inspectFile.ts';
import { bytesOf } from '../../src/kernel/base/problem.ts';
import { rtxForTests, temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();

/** Builds one engine for each list of compute capabilities, as `0.engine`, `1.engine`, …; prints TensorRT's version. */
const script = `
import sys, tensorrt_rtx as trt
logger = trt.Logger(trt.Logger.ERROR)
for number, names in enumerate(sys.argv[2:]):
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    layer = network.add_activation(network.add_input('x', trt.float32, (1, 8)), trt.ActivationType.RELU)
    network.mark_output(layer.get_output(0))
    config = builder.create_builder_config()
    config.num_compute_capabilities = len(names.split(','))
    for index, name in enumerate(names.split(',')):
        config.set_compute_capability(getattr(trt.ComputeCapability, 'SM' + name.replace('.', '')), index)
    open('%s/%d.engine' % (sys.argv[1], number), 'wb').write(builder.build_serialized_network(network, config))
print(trt.__version__)
`;

test('the header of a TensorRT-RTX engine has its version and its compute capabilities', async () => {
  const rtx = await rtxForTests();
  const wanted = ['7.5', '8.0', '8.6', '8.9', '12.0', '12.1', '8.0,8.9', '8.6,12.0'];
  const { stdout, stderr } = spawnSync(rtx.python, ['-c', script, folder, ...wanted], {
    encoding: 'utf8',
    env: { ...process.env, ...rtx.environment },
  });
  const version = /(\d+\.\d+\.\d+)\.(\d+)/.exec(stdout);
  expect(version, stderr).not.toBeNull();
  for (const [number, names] of wanted.entries()) {
    const bytes = readFileSync(join(folder, `${number}.engine`));
    // oxlint-disable-next-line no-await-in-loop -- one engine after the other
    const { kind, engine, problems } = await inspectFile(bytesOf(bytes));
    expect([kind, problems]).toEqual(['engine', []]);
    expect(engine).toMatchObject({
      product: 'tensorrt-rtx',
      version: version![1],
      buildNumber: Number(version![2]),
      computeCapabilities: names.split(','),
    });
  }
});
