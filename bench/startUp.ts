// What the command line costs as a whole process: its start against an empty Node process, and its memory on the deepest
// captured model. Prints one JSON object.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { buildCli } from './support/buildCli.ts';
import { measuredProcesses } from './support/measuredProcess.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const RUNS = 25;
/** What starts and ends; the commands are those that load most. */
const commandLines = [['--version'], ...['precision', 'fusion', 'build', 'accuracy'].map((name) => [name, '--help'])];

/** This Node, the one that a shell finds and the one among the packages, by version. */
const nodes = new Map<string, string>();
for (const program of [process.execPath, 'node', join(root, 'node_modules/.bin/node')]) {
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  if (status === 0) nodes.set(stdout.trim(), program);
}

function milliseconds(program: string, args: string[]): number {
  const start = performance.now();
  if (spawnSync(program, args, { stdio: 'ignore' }).status !== 0) throw new Error(`${args.join(' ')} failed`);
  return performance.now() - start;
}

const median = (times: number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1]!;

const folder = mkdtempSync(join(tmpdir(), 'start-up-'));
try {
  const rows = [];
  const empty = join(folder, 'empty.cjs');
  writeFileSync(empty, '');
  const cli = await buildCli(join(folder, 'dist'));
  for (const [version, program] of nodes) {
    const none: number[] = [];
    const starts = commandLines.map(() => [] as number[]);
    for (let run = 0; run < RUNS; run++) {
      none.push(milliseconds(program, [empty]));
      for (const [i, args] of commandLines.entries()) starts[i]!.push(milliseconds(program, [cli, ...args]));
    }
    const modern = Number(version.slice(1).split('.')[0]) >= 22;
    for (const [i, args] of commandLines.entries()) {
      const most = args.includes('--help') ? 1.5 : modern ? 1.6 : 1.4;
      const ratio = median(starts[i]!) / median(none);
      rows.push({
        what: `trtlens ${args.join(' ')}, Node ${version}`,
        ours: `${median(starts[i]!).toFixed(0)} ms`,
        peer: `empty process: ${median(none).toFixed(0)} ms`,
        ratio: ratio.toFixed(2),
        target: `≤ ${most}`,
        ok: ratio <= most,
      });
    }
  }
  const measure = measuredProcesses(folder);
  const capture = join(root, 'test/fixtures/captures/tensorrt-10.6.0/deep_encoder_11k.fp32');
  const files = ['--onnx', join(root, 'test/fixtures/models/deep_encoder_11k.onnx')];
  files.push('--log', `${capture}/log.txt.gz`, '--layers', `${capture}/layers.json.gz`);
  for (const [version, program] of nodes) {
    const held = Array.from({ length: 5 }, () => measure(program, [cli, 'fusion', ...files, '--json']).mebibytes);
    const most = Math.max(...held);
    rows.push({
      what: `trtlens fusion --json on deep_encoder_11k with log and layers: peak memory, Node ${version}`,
      ours: `${Math.round(most)} MiB`,
      target: '≤ 200 MiB',
      ok: most <= 200,
    });
  }
  const notes = [
    `Median of ${RUNS} alternating processes. Memory: the maximum of five processes with V8's default flags.`,
  ];
  process.stdout.write(`${JSON.stringify({ title: 'Start-up and memory of the command line', rows, notes })}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
