import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { driverPath, rtxForTests, temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();

// TensorRT-RTX has the classes of TensorRT, but writes and times nothing: without a GPU, only empty caches are read.
const script = `
import json, math, sys, types, warnings
sys.path.insert(0, sys.argv[1])
warnings.simplefilter('ignore')
import tensorrt_rtx as trt, timing_caches, trt_binding
logger = trt_binding.make_collector(trt)
builder = trt.Builder(logger)
config = builder.create_builder_config()
config.set_flag(trt.BuilderFlag.EDITABLE_TIMING_CACHE)
options = types.SimpleNamespace(cache=['first.cache', 'second.cache'], ignore_mismatch=False)
cache = timing_caches.merge(trt, config, logger, options)
key = trt.TimingCacheKey.parse('0x1814870c44ff0f8574df6e3dda04cbd7')
invalid = trt.TimingCacheValue(0, math.nan)
said = []
try:
    timing_caches.open_cache(config, logger, 'damaged.cache')
except Exception as error:
    said.append(str(error))
found = cache.query(key)
print(json.dumps({
    'entries': timing_caches.entries_of(cache), 'key': str(key), 'invalid': math.isnan(invalid.timingMSec),
    'missing': [hex(found.tacticHash), found.timingMSec], 'update': isinstance(cache.update(key, invalid), bool),
    'pruned': timing_caches.prune(trt, cache, 'keys.txt'), 'magic': bytes(cache.serialize())[:4].decode(), 'said': said,
}))
`;

test("timing caches are merged, listed and pruned through the classes of TensorRT's Python module", async () => {
  const rtx = await rtxForTests();
  for (const name of ['first.cache', 'second.cache']) writeFileSync(join(folder, name), '');
  writeFileSync(join(folder, 'damaged.cache'), 'ptrt, and then something else');
  writeFileSync(join(folder, 'keys.txt'), '');
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
    invalid: true,
    // What entries without a valid time look like.
    missing: ['0xffffffffffffffff', -1],
    update: true,
    pruned: 0,
    magic: 'ptrt',
    said: [
      'damaged.cache: TensorRT cannot read this timing cache: Failed to deserialize timing cache. Returning an empty timing cache.',
    ],
  });
});
