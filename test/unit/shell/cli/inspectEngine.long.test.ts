import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bundledCli } from '../../../support/bundledCli.ts';
import { temporaryFolder } from '../../../support/rtx.ts';
import { standInEngine, standInPython } from '../../../support/standInTensorrt.ts';

const folder = temporaryFolder();
const trtlens = bundledCli(folder);
const file = join(folder, 'net.engine');

function read(engine: Buffer, environment: Record<string, string> = {}, ...more: string[]) {
  writeFileSync(file, engine);
  return trtlens('inspect', file, '--read', '--python', standInPython(folder, environment), ...more);
}

describe('trtlens inspect --read', () => {
  test('lists inputs and outputs, memory and layers, and fills in the verdicts', () => {
    const layers = join(folder, 'layers.json');
    const { code, out } = read(standInEngine(), {}, '--layers', layers);
    expect(code).toBe(0);
    expect(out).toContain('read by TensorRT 10.6.0 on Stand-in GPU (compute capability 9.0, CUDA 12.8)');
    expect(out).toContain('input image: fp32 ?×3×8×8, Row major linear FP32 format (kLINEAR)\n');
    expect(out).toContain('profile 0: 1×3×8×8 to 8×3×8×8, optimum 4×3×8×8');
    expect(out).toContain('input sizes: int64 2, Row major linear INT64 format (kLINEAR), on the host');
    expect(out).toContain('profile 0: values 8×8 to 32×32, optimum 16×16');
    expect(out).toContain('output out: fp16 ?×8×?×?, Channel major FP16 format');
    expect(out).toContain('auxiliary streams: 1\n  device memory of a context: 12.0 MiB');
    expect(out).toContain('load: fits: TensorRT 10.6.0 on Stand-in GPU');
    expect(out).toContain('version: fits:');
    expect(JSON.parse(readFileSync(layers, 'utf8'))).toMatchObject({ Layers: [{ Name: 'conv1 + relu1' }, {}] });
  });

  test('JSON has the whole reading', () => {
    const { out } = read(standInEngine({ level: 'AMPERE_PLUS' }), {}, '--json');
    const { engine } = JSON.parse(out) as { engine: { reading: unknown; portability: unknown[] } };
    expect(engine.reading).toMatchObject({
      version: '10.6.0',
      gpu: { name: 'Stand-in GPU', computeCapability: '9.0', cuda: '12.8' },
      engine: { name: 'net', layers: 2, hardwareCompatibility: 'AMPERE_PLUS', capability: 'STANDARD' },
      error: null,
    });
    expect(engine.portability).toContainEqual(
      expect.objectContaining({ check: 'hardware-compatibility', verdict: 'slower' }),
    );
  });

  test('formats that differ between optimization profiles are listed, without a warning', () => {
    const shapes = [[1, 8], [4, 8], [8, 8]]; // oxfmt-ignore
    const input = { name: 'x', mode: 'INPUT', dtype: 'HALF', shape: [-1, 8], profiles: [shapes, shapes] };
    const one = standInEngine({ profiles: 2, tensors: [{ ...input, format: 'linear' }] });
    expect(read(one).out).toMatch(/input x: fp16 \?×8, linear\n {4}profile 0: .*\n {4}profile 1: /);
    const { out } = read(standInEngine({ profiles: 2, tensors: [{ ...input, format: ['linear', 'CHW32'] }] }));
    expect(out).toContain('input x: fp16 ?×8, profile 0: linear; profile 1: CHW32\n');
    expect(out).not.toContain('TensorRT: The engine contains');
  });

  test('an engine of another version: one line with the version to use', () => {
    const fails =
      'IRuntime::deserializeCudaEngine: Error Code 6: API Usage Error (The engine plan file is not compatible)';
    const { code, err } = read(standInEngine({ fails }, [10, 8, 0, 43]));
    expect(code).toBe(1);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(err).toContain('version 10.8.0 built it. Read it with a Python that has TensorRT 10.8.0.');
  });

  test('a missing plugin is named', () => {
    const fails =
      'IPluginRegistry::getCreator: Error Code 4: API Usage Error (Cannot find plugin: MyOp, version: 2, namespace:.)';
    const { code, out } = read(standInEngine({ fails }));
    expect(code).toBe(1);
    expect(out).toContain('plugins: no: Missing: MyOp, version 2.');
  });

  test('another model of GPU: it fits, slower', () => {
    const warns = ['Using an engine plan file across different models of devices is not recommended'];
    const { out } = read(standInEngine({ warns }));
    expect(out).toContain('gpu: slower: It loads on Stand-in GPU');
  });

  test('without a driver: one line, and the verdict stays unknown', () => {
    const { code, err, out } = read(standInEngine(), { STANDIN_GPU: '' });
    expect(code).toBe(1);
    expect(err.trim()).toBe(
      'trtlens inspect: net.engine was not loaded: no NVIDIA driver was found, which TensorRT needs to load an engine.',
    );
    expect(out).toContain('load: unknown: Unknown without a driver.');
  });

  test('a launcher runs it elsewhere: the engine is copied there, and nothing stays', () => {
    writeFileSync(file, standInEngine());
    const there = join(folder, 'there');
    const launcher = join(folder, 'launcher.json');
    const copy = ['sh', '-c', 'mkdir -p "$(dirname "$1")" && cp "$0" "$1"', '{here}', '{there}'];
    const template = { command: ['{command}'], folder: `${there}/{id}`, copyTo: copy, copyBack: copy };
    writeFileSync(launcher, JSON.stringify({ ...template, program: standInPython(folder) }));
    const { code, out, err } = trtlens('inspect', file, '--read', '--launcher', launcher);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('input image: fp32 ?×3×8×8');
    expect(readdirSync(there)).toEqual([]);
  });

  test('a file that is not an engine, and an interpreter without TensorRT, are refused', () => {
    const other = read(Buffer.from('not an engine'));
    expect([other.code, other.err]).toEqual([2, expect.stringContaining('net.engine is not an engine')]);
    writeFileSync(file, standInEngine());
    const none = trtlens('inspect', file, '--read', '--python', 'python3');
    expect([none.code, none.err]).toEqual([2, expect.stringContaining('the module `tensorrt` is missing')]);
  });
});
