// `trtlens check` on a model of 10,000 nodes and `trtlens diagnose` on logs of 1 GB, as whole processes in turns with
// their peers. CPU time, so that other work on the machine does not count. Prints one JSON object.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { buildCli } from './support/buildCli.ts';
import { decoderGraph, writeDecoder } from './support/decoderGraph.ts';

const ROUNDS = 7;
const LOG_BYTES = 1e9;
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

/** Medians of several commands, each run in turn. */
function compare(commands: string[][]): number[] {
  const times = commands.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++)
    for (const [index, command] of commands.entries()) times[index]!.push(cpu(command, 0));
  return times.map(median);
}

try {
  const rows: object[] = [];
  const cli = await buildCli(join(folder, 'dist'));

  const model = join(folder, 'decoder.onnx');
  await writeDecoder(model, decoderGraph(10_000));
  const empty = join(folder, 'empty.cjs');
  writeFileSync(empty, '');
  const [check, nothing] = compare([[cli, 'check', model, '--tensorrt', '10.6'], [empty]]) as [number, number];
  rows.push({
    what: 'trtlens check --tensorrt 10.6, a decoder of 10,000 nodes',
    ours: `${check.toFixed(0)} ms`,
    peer: `empty process: ${nothing.toFixed(0)} ms`,
    ratio: (check / nothing).toFixed(2),
    target: '≤ 500 ms',
    ok: check <= 500,
  });

  const peers = {
    'lines by readline, for await': `(async () => {
  let lines = 0;
  for await (const line of lineReader) lines++;
})();`,
    "lines by readline, on('line')": `let lines = 0;
lineReader.on('line', () => lines++);`,
  };
  const scripts = Object.values(peers).map((script, index) => {
    const path = join(folder, `lines${index}.cjs`);
    writeFileSync(
      path,
      `const input = require('fs').createReadStream(process.argv[2]);
const lineReader = require('readline').createInterface({ input, crlfDelay: Infinity });
${script}`,
    );
    return path;
  });
  for (const [name, label] of [
    ['tensorrt-10.6.0/resnet18.fp32', 'resnet18, 10.6, mostly tactics'],
    ['tensorrt-10.6.0/deep_encoder_11k.fp32', 'deep_encoder_11k, 10.6, few tactics'],
  ] as const) {
    const bytes = gunzipSync(readFileSync(`${captures}/${name}/log.txt.gz`));
    const path = join(folder, 'log.txt');
    writeFileSync(path, '');
    const copies = Math.ceil(LOG_BYTES / bytes.length);
    for (let copy = 0; copy < copies; copy++) appendFileSync(path, bytes);
    const [ours, ...others] = compare([[cli, 'diagnose', path], ...scripts.map((script) => [script, path])]) as [
      number,
      ...number[],
    ];
    const size = copies * bytes.length;
    const speed = (ms: number): string => `${(ms / 1e3).toFixed(2)} s, ${(size / 1e3 / ms).toFixed(0)} MB/s`;
    Object.keys(peers).forEach((peer, index) => {
      const ratio = ours / others[index]!;
      const row = {
        what: `trtlens diagnose, ${label}, ${copies} builds, ${(size / 1e6).toFixed(0)} MB`,
        ours: speed(ours),
        peer: `${peer}: ${speed(others[index]!)}`,
        ratio: ratio.toFixed(2),
      };
      rows.push(index > 0 ? row : { ...row, target: '≤ 1.20 ×', ok: ratio <= 1.2 });
    });
  }
  const notes = [`CPU time of whole processes, start-up included; medians of ${ROUNDS} alternating runs.`];
  process.stdout.write(`${JSON.stringify({ title: 'Check of a model, diagnosis of a log', rows, notes })}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
