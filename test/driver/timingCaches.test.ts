import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { driverPath, rtxForTests, temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();

// TensorRT-RTX has the classes of TensorRT, but writes and times nothing: without a GPU, only empty caches are read.
const script = `
import json, sys, warnings
sys.path.insert(0, sys.argv[1])
warnings.simplefilter('ignore')
import tensorrt_rtx as trt, timing_caches, trt_binding
logger = trt_binding.make_collector(trt)
builder = trt.Builder(logger)
config = builder.create_builder_config()
config.set_flag(trt.BuilderFlag.EDITABLE_TIMING_CACHE)
cache = timing_caches.open_cache(config, logger, 'empty.cache')
key = trt.TimingCacheKey.parse('0x1814870c44ff0f8574df6e3dda04cbd7')
said = []
try:
    timing_caches.open_cache(config, logger, 'damaged.cache')
except Exception as error:
    said.append(str(error))
found = cache.query(key)
print(json.dumps({
    'entries': timing_caches.entries_of(cache), 'key': str(key),
    'missing': [hex(found.tacticHash), found.timingMSec], 'magic': bytes(cache.serialize())[:4].decode(), 'said': said,
}))
`;

test("timing caches are read and listed through the classes of TensorRT's Python module", async () => {
  const rtx = await rtxForTests();
  writeFileSync(join(folder, 'empty.cache'), '');
  writeFileSync(join(folder, 'damaged.cache'), 'ptrt, and then something else');
  const { stdout, stderr } = spawnSync(rtx.python, ['-B', '-c', script, dirname(driverPath)], {
    cwd: folder,
    env: { ...process.env, ...rtx.environment },
    encoding: 'utf8',
  });
  const lines = stdout.trim().split('\n');
  expect(lines.at(-1), stderr).toMatch(/^\{/);
  expect(JSON.parse(lines.at(-1)!)).toEqual({
    entries: [],
    key: '0x1814870c44ff0f8574df6e3dda04cbd7',
    // What entries without a valid time look like.
    missing: ['0xffffffffffffffff', -1],
    magic: 'ptrt',
    said: [
      'damaged.cache: TensorRT cannot read this timing cache: Failed to deserialize timing cache. Returning an empty timing cache.',
    ],
  });
});
