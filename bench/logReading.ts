// Reading the verbose log of a model of 14,000 nodes against taking the same file apart into lines and doing nothing
// with them, in the same process and the same run. Prints one JSON object.
import { createReadStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { BuildLogReader, readBuildLog } from '../src/kernel/read/tensorrt/readBuildLog.ts';

const ROUNDS = 15;
const captures = fileURLToPath(new URL('../test/fixtures/captures', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'tensorrt-lens-bench-'));

/** Middle of several times in milliseconds. */
const median = (times: number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1]!;

/** Runs both in turns, so that both see the same state of the machine; the first rounds warm up. */
async function compare(ours: () => unknown, peer: () => unknown): Promise<{ ours: number; peer: number }> {
  const times: { ours: number[]; peer: number[] } = { ours: [], peer: [] };
  for (let round = -3; round < ROUNDS; round++)
    for (const [name, run] of [
      ['ours', ours],
      ['peer', peer],
    ] as const) {
      const start = performance.now();
      await run();
      if (round >= 0) times[name].push(performance.now() - start);
    }
  return { ours: median(times.ours), peer: median(times.peer) };
}

async function readFileAsLog(path: string): Promise<number> {
  const reader = new BuildLogReader();
  for await (const bytes of createReadStream(path)) reader.pushBytes(bytes as Uint8Array);
  return reader.end().value.lines;
}

async function readFileAsLines(path: string): Promise<number> {
  let lines = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity }))
    lines += line === '' ? 0 : 1;
  return lines;
}

function readBytesAsLines(bytes: Uint8Array): number {
  let characters = 0;
  for (const line of new TextDecoder().decode(bytes).split('\n')) characters += line.length;
  return characters;
}

const row = (
  what: string,
  times: { ours: number; peer: number },
  peer: string,
  size: number,
  least?: number,
): object => {
  const ratio = times.peer / times.ours;
  const speed = (ms: number): string => `${ms.toFixed(1)} ms, ${(size / 1e3 / ms).toFixed(0)} MB/s`;
  const figures = { what, ours: speed(times.ours), peer: `${peer}: ${speed(times.peer)}`, ratio: ratio.toFixed(2) };
  return least === undefined ? figures : { ...figures, target: `at least ${least.toFixed(2)}`, ok: ratio >= least };
};

const rows: object[] = [];
try {
  for (const [name, label] of [
    ['tensorrt-10.6.0/deep_encoder_11k.fp32', '10.6, whole build'],
    ['tensorrt-11.2.1/deep_encoder_11k.typed', '11.2, cut off'],
    ['tensorrt-rtx-1.7.1/deep_encoder_11k', 'RTX 1.7, whole build'],
  ] as const) {
    const bytes = gunzipSync(readFileSync(`${captures}/${name}/log.txt.gz`));
    const path = join(folder, 'log.txt');
    writeFileSync(path, bytes);
    const text = bytes.toString('utf8');
    const size = bytes.length;
    const what = `deep_encoder_11k, ${label}, ${(size / 1e6).toFixed(0)} MB`;
    rows.push(
      row(
        `${what}: file in pieces`,
        await compare(
          () => readFileAsLog(path),
          () => readFileAsLines(path),
        ),
        'lines by readline',
        size,
        1 / 3,
      ),
      row(
        `${what}: bytes in memory`,
        await compare(
          () => readBuildLog(new TextDecoder().decode(bytes)),
          () => readBytesAsLines(bytes),
        ),
        'decode and split',
        size,
      ),
      row(
        `${what}: text in memory`,
        await compare(
          () => readBuildLog(text),
          () => text.split('\n').length,
        ),
        "split('\\n') of a flat string",
        size,
      ),
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

process.stdout.write(
  `${JSON.stringify({
    title: 'Build logs',
    rows,
    notes: [
      "Ratio: our speed divided by that of plain line splitting; medians of alternating rounds after a warm-up. The target applies to the first row of each log: the file is read in pieces, as during a build, and compared with Node's line reader.",
      'The other rows have no target. Splitting a string in memory neither copies nor inspects it, so it is the lower bound for any line reader.',
    ],
  })}\n`,
);
