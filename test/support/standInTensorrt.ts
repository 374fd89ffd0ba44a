import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const module = fileURLToPath(new URL('standIn', import.meta.url));

/** An interpreter of this machine that has the stand-in for TensorRT's Python module (`standIn/tensorrt.py`). */
export function standInPython(folder: string, environment: Record<string, string> = {}): string {
  const path = join(folder, `python-${Object.values(environment).join('-').replaceAll(/\W/g, '') || 'standard'}`);
  const variables = Object.entries({ PYTHONPATH: module, ...environment }).map(([name, value]) => `${name}='${value}'`);
  writeFileSync(path, `#!/bin/sh\nexec env ${variables.join(' ')} python3 "$@"\n`, { mode: 0o755 });
  return path;
}

/** An engine of the stand-in, behind a header of TensorRT. */
export function standInEngine(content: object = {}, version: readonly number[] = [10, 6, 0, 26]): Buffer {
  const body = Buffer.from(JSON.stringify({ ...plain, ...content }));
  const header = Buffer.alloc(64);
  header.write('ftrt', 0);
  header.writeBigUInt64LE(BigInt(64 + body.length), 16);
  header.set(version, 24);
  header.write('ftrt', 28);
  return Buffer.concat([header, body]);
}

/** Layer info as TensorRT 10.6 writes it, of a network of two layers. */
const inspector = JSON.stringify({
  Layers: [
    {
      Name: 'conv1 + relu1',
      LayerType: 'CaskConvolution',
      Inputs: [
        { Name: 'image', Location: 'Device', Dimensions: [4, 3, 8, 8], 'Format/Datatype': 'Row major linear FP32' },
      ],
      Outputs: [
        { Name: 'mid', Location: 'Device', Dimensions: [4, 8, 8, 8], 'Format/Datatype': 'Row major linear FP32' },
      ],
      TacticName: 'sm80_xmma_fprop_implicit_gemm',
      StreamId: 0,
      Metadata: '[ONNX Layer: conv1]\u001E[ONNX Layer: relu1]',
    },
    {
      Name: 'resize',
      LayerType: 'Resize',
      Inputs: [
        { Name: 'mid', Location: 'Device', Dimensions: [4, 8, 8, 8], 'Format/Datatype': 'Row major linear FP32' },
      ],
      Outputs: [
        { Name: 'out', Location: 'Device', Dimensions: [4, 8, 16, 16], 'Format/Datatype': 'Row major linear FP32' },
      ],
      TacticName: '',
      StreamId: 0,
      Metadata: '[ONNX Layer: resize]',
    },
  ],
  Bindings: ['image', 'sizes', 'out'],
});

const plain = {
  name: 'net',
  tensors: [
    {
      name: 'image',
      mode: 'INPUT',
      dtype: 'FLOAT',
      shape: [-1, 3, 8, 8],
      format: 'Row major linear FP32 format (kLINEAR)',
      profiles: [
        [
          [1, 3, 8, 8],
          [4, 3, 8, 8],
          [8, 3, 8, 8],
        ],
      ],
    },
    {
      name: 'sizes',
      mode: 'INPUT',
      dtype: 'INT64',
      shape: [2],
      format: 'Row major linear INT64 format (kLINEAR)',
      location: 'HOST',
      profiles: [[[2], [2], [2]]],
      values: [
        [
          [8, 8],
          [16, 16],
          [32, 32],
        ],
      ],
    },
    {
      name: 'out',
      mode: 'OUTPUT',
      dtype: 'HALF',
      shape: [-1, 8, -1, -1],
      format: 'Channel major FP16 format where channel % 8 == 0 (kHWC8)',
    },
  ],
  profiles: 1,
  layers: 2,
  inspector,
  level: 'NONE',
};

/** A timing cache of the stand-in: entries by key, with the tactic's hash and milliseconds; `hidden`: it cannot be listed. */
export function standInTimingCache(
  entries: Record<string, [hash: number, milliseconds: number]>,
  { device = 'Stand-in GPU', editable = false, hidden = false } = {},
): Buffer {
  const list = Buffer.from('1380010000000000000000000180' + '0c8001000000000000000000', 'hex');
  const count = Buffer.from('080001000000000000000000', 'hex');
  count.writeUInt32LE(0x00018008, 0);
  count.writeBigUInt64LE(BigInt(Object.keys(entries).length), 4);
  const rest = Buffer.concat([list, list, count, Buffer.from(JSON.stringify({ device, entries, editable, hidden }))]);
  const header = Buffer.alloc(20);
  header.write('ptrt', 0);
  header.writeBigUInt64LE(BigInt(rest.length), 8);
  return Buffer.concat([header, rest]);
}
