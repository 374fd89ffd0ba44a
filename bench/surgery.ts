// What it costs to take a part out of a large model. Prints one JSON object.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fillWeights } from '../src/kernel/node/files/fillWeights.ts';
import { writeModel } from './onnxStructure/writeModel.ts';
import { buildCli } from './support/buildCli.ts';
import { measuredProcesses } from './support/measuredProcess.ts';

const RUNS = 5;

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'surgery-'));
try {
  const cli = await buildCli(join(folder, 'dist'));
  const measure = measuredProcesses(folder);
  const large = join(folder, 'large.onnx');
  const { nodes } = await writeModel(large);
  const deep = await fillWeights(join(root, 'test/fixtures/models/deep_encoder_11k.onnx'), join(folder, 'deep'));
  const parts = [
    {
      what: 'ten nodes of deep_encoder_11k (14,163 nodes)',
      args: [deep, '--nodes', list(7000, 10)],
    },
    {
      // The output projection of an attention in the middle.
      what: `a product of a model with ${nodes} nodes and 1.9 GB of weights, with its weights`,
      args: [large, '--nodes', '4996'],
    },
  ];
  const rows = parts.flatMap(({ what, args }, i) => {
    const out = join(folder, `part-${i}.onnx`);
    const costs = Array.from({ length: RUNS }, () => {
      for (const file of [out, `${out}.data`]) rmSync(file, { force: true });
      return measure(process.execPath, [cli, 'extract', ...args, '-o', out]);
    });
    const time = costs.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b)[RUNS >> 1]!;
    const memory = Math.max(...costs.map(({ mebibytes }) => mebibytes));
    return [
      { what: `trtlens extract: ${what}`, ours: `${time.toFixed(0)} ms`, target: '≤ 500 ms', ok: time <= 500 },
      { what: 'the same: peak memory', ours: `${Math.round(memory)} MiB`, target: '≤ 120 MiB', ok: memory <= 120 },
    ];
  });
  const notes = [`Whole processes, Node ${process.version}: median time and largest memory of ${RUNS}.`];
  process.stdout.write(`${JSON.stringify({ title: 'Parts of models', rows, notes })}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** `7000,7001,…` */
function list(first: number, count: number): string {
  return Array.from({ length: count }, (_, i) => first + i).join(',');
}
