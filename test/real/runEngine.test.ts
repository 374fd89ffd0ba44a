import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { type EngineRun, runEngine } from '../../src/features/accuracy/node/runEngine.ts';
import { requireBuild } from '../../src/kernel/node/store/buildFolder.ts';
import type { Installed } from '../../src/kernel/node/tools/ensurePackages.ts';
import { runProcess } from '../../src/kernel/node/tools/runProcess.ts';
import { buildManifest } from '../support/buildManifest.ts';
import { temporaryFolder } from '../support/rtx.ts';
import { runtimeForTests } from '../support/runtime.ts';

const folder = temporaryFolder();
const standIn = fileURLToPath(new URL('../support/stand_in_engine.py', import.meta.url));
const scripts = fileURLToPath(new URL('../../src/driver', import.meta.url));
let runtime: Installed;

beforeAll(async () => {
  runtime = await runtimeForTests();
});

const python = async (code: string, ...args: string[]): Promise<string> => {
  const lines: string[] = [];
  const { code: status } = await runProcess({
    program: runtime.python,
    args: ['-c', code, ...args],
    environment: runtime.environment,
    stdout: (line) => lines.push(line),
    stderr: (line) => lines.push(line),
  });
  expect([status, lines]).toEqual([0, lines]);
  return lines.join('\n');
};

let count = 0;

/** Runs an engine of the stand-in, which a launcher puts in the place of TensorRT's own runtime. */
async function run(engine: object | string, inputs: string[]): Promise<EngineRun & { out: string; log: string[] }> {
  const own = join(folder, `build${count++}`);
  mkdirSync(own);
  writeFileSync(join(own, 'model.engine'), typeof engine === 'string' ? engine : JSON.stringify(engine));
  const files = { log: null, layers: null, profile: null, engine: 'model.engine' };
  const manifest = buildManifest({ files, model: { file: join(own, 'model.onnx'), sha256: null, bytes: 0 } });
  writeFileSync(join(own, 'manifest.json'), JSON.stringify(manifest));
  const out = join(own, 'out.npz');
  const log: string[] = [];
  // The command begins with the launcher's program and -B.
  const command = ['sh', '-c', 'own=$1; shift 3; exec "$0" -B "$own" "$@"', runtime.python, standIn, '{command}'];
  const launcher = {
    command,
    paths: [folder, scripts].map((path) => ({ here: path, there: path })),
    program: 'python3',
    guard: false,
  };
  const build = await requireBuild(own);
  const result = await runEngine({ build, inputs, out, scripts, launcher, output: (line) => log.push(line) });
  return { ...result, out, log };
}

const engine = {
  inputs: { x: ['FLOAT', [-1, 3]], half: ['BF16', [2]] },
  outputs: {
    y: ['HALF', 'x', 'x * 2'],
    same: ['BF16', [2], 'half'],
    large: ['FLOAT', null, 'x[x > 0]'],
  },
  profiles: [
    {
      x: [
        [1, 3],
        [1, 3],
      ],
    },
    {
      x: [
        [2, 3],
        [4, 3],
      ],
    },
  ],
};

test('inputs reach the engine, its outputs the file: FP16, BF16, a shape that depends on values, a second profile', async () => {
  const inputs = join(folder, 'in.npz');
  await python(
    'import sys, numpy as np; np.savez(sys.argv[1], x=np.float32([[-1, 2, 3], [4, -5, 6]]), half=np.float32([1.5, 3.14159]))',
    inputs,
  );
  const { out, outputs, gpu, version, milliseconds, samples } = await run(engine, [inputs]);
  expect({ gpu, version, milliseconds, samples }).toEqual({
    gpu: 'stand-in GPU',
    version: '10.6.0',
    milliseconds: 0.25,
    samples: 1,
  });
  expect(outputs).toEqual([
    { name: 'y', shape: [2, 3], type: 'float16' },
    { name: 'same', shape: [2], type: 'float32' },
    { name: 'large', shape: [4], type: 'float32' },
  ]);
  const text = await python(
    'import sys, json, numpy as np; print(json.dumps({k: v.tolist() for k, v in np.load(sys.argv[1]).items()}))',
    out,
  );
  // BF16 has eight significant bits.
  expect(JSON.parse(text)).toEqual({
    y: [
      [-2, 4, 6],
      [8, -10, 12],
    ],
    same: [1.5, 3.140625],
    large: [2, 3, 4, 6],
  });
});

test('what cannot be run is said in words', async () => {
  const inputs = join(folder, 'odd.npz');
  await python(
    'import sys, numpy as np; np.savez(sys.argv[1], x=np.zeros((9, 3), np.float32), half=np.zeros(2))',
    inputs,
  );
  await expect(run(engine, [inputs])).rejects.toThrow(
    'no optimization profile of the engine takes these shapes: x 9x3',
  );
  await expect(run('not a plan', [inputs])).rejects.toThrow('cannot load this engine on this GPU');
  const missing = join(folder, 'missing.npz');
  await python('import sys, numpy as np; np.savez(sys.argv[1], x=np.zeros((1, 3), np.float32))', missing);
  await expect(run(engine, [missing])).rejects.toThrow("input 'half' is missing");
});
