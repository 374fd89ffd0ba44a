// `trtlens check` on a model of 10,000 nodes and `trtlens diagnose` on large logs, as whole processes in turns with their
// peers. CPU time, so that other work on the machine does not count. Prints one JSON object.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { buildCli } from './support/buildCli.ts';
import { decoderGraph, writeDecoder } from './support/decoderGraph.ts';

const ROUNDS = 7;
const LOG_BYTES = 200e6;
const captures = fileURLToPath(new URL('../test/fixtures/captures', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'check-and-diagnose-'));

const median = (times: number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1]!;

const figure = join(folder, 'figure');
const measure = join(folder, 'measure.cjs');
writeFileSync(
  measure,
  `process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  require('fs').writeFileSync(${JSON.stringify(figure)}, String((user + system) / 1e3));
});`,
);

/** Milliseconds of CPU that a process used, its garbage collection included. */
function cpu(args: string[], status: number): number {
  const run = spawnSync(process.execPath, ['--require', measure, ...args], { stdio: 'ignore' });
  if (run.status !== status) throw new Error(`${args.join(' ')} exited with ${run.status}`);
  return Number(readFileSync(figure, 'utf8'));
}

function compare(ours: string[], peer: string[]): { ours: number; peer: number } {
  const times: { ours: number[]; peer: number[] } = { ours: [], peer: [] };
  for (let round = 0; round < ROUNDS; round++) {
    times.ours.push(cpu(ours, 0));
    times.peer.push(cpu(peer, 0));
  }
  return { ours: median(times.ours), peer: median(times.peer) };
}

try {
  const rows: object[] = [];
  const cli = await buildCli(join(folder, 'dist'));

  const model = join(folder, 'decoder.onnx');
  await writeDecoder(model, decoderGraph(10_000));
  const empty = join(folder, 'empty.cjs');
  writeFileSync(empty, '');
  const check = compare([cli, 'check', model, '--tensorrt', '10.6'], [empty]);
  rows.push({
    what: 'trtlens check --tensorrt 10.6, a decoder of 10,000 nodes',
    ours: `${check.ours.toFixed(0)} ms`,
    peer: `empty process: ${check.peer.toFixed(0)} ms`,
    ratio: (check.ours / check.peer).toFixed(2),
    target: '≤ 500 ms',
    ok: check.ours <= 500,
  });

  const lines = join(folder, 'lines.cjs');
  writeFileSync(
    lines,
    `let lines = 0;
const input = require('fs').createReadStream(process.argv[2]);
require('readline').createInterface({ input, crlfDelay: Infinity }).on('line', () => lines++);`,
  );
  for (const [name, label] of [
    ['tensorrt-10.6.0/resnet18.fp32', 'resnet18, 10.6, mostly tactics'],
    ['tensorrt-10.6.0/deep_encoder_11k.fp32', 'deep_encoder_11k, 10.6, few tactics'],
  ] as const) {
    const bytes = gunzipSync(readFileSync(`${captures}/${name}/log.txt.gz`));
    const path = join(folder, 'log.txt');
    writeFileSync(path, '');
    const copies = Math.ceil(LOG_BYTES / bytes.length);
    for (let copy = 0; copy < copies; copy++) appendFileSync(path, bytes);
    const times = compare([cli, 'diagnose', path], [lines, path]);
    const ratio = times.ours / times.peer;
    const speed = (ms: number): string =>
      `${(ms / 1e3).toFixed(2)} s, ${((copies * bytes.length) / 1e3 / ms).toFixed(0)} MB/s`;
    rows.push({
      what: `trtlens diagnose, ${label}, ${copies} builds, ${((copies * bytes.length) / 1e6).toFixed(0)} MB`,
      ours: speed(times.ours),
      peer: `lines by readline: ${speed(times.peer)}`,
      ratio: ratio.toFixed(2),
      target: '≤ 1.20 ×',
      ok: ratio <= 1.2,
    });
  }
  const notes = [`CPU time of whole processes, start-up included; medians of ${ROUNDS} alternating runs.`];
  process.stdout.write(`${JSON.stringify({ title: 'Check of a model, diagnosis of a log', rows, notes })}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
