// `trtlens fusion` with a trace of Nsight Systems that has a million kernels: the whole command in a fresh process,
// reading, joining and the report. The trace is made by SQLite itself (bench/support/synthetic_trace.py, Python).
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildCli } from './support/buildCli.ts';
import { measuredProcesses } from './support/measuredProcess.ts';

const kernels = 1_000_000;
const folder = mkdtempSync(join(tmpdir(), 'trace-bench-'));
try {
  const generator = fileURLToPath(new URL('support/synthetic_trace.py', import.meta.url));
  execFileSync('python3', [generator, folder, String(kernels)]);
  const trace = join(folder, 'trace.sqlite');
  const cli = await buildCli(join(folder, 'cli'));
  const args = [cli, 'fusion', '--layers', join(folder, 'layers.json'), '--profile', trace, '--json'];
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 2 ** 30 });
  const { profile } = JSON.parse(stdout) as { profile: { kernels: number; attributed: number } };
  if (profile.kernels !== kernels || profile.attributed !== kernels)
    throw new Error(`${profile.attributed} of ${profile.kernels} kernels were attributed`);
  const measure = measuredProcesses(folder);
  const costs = Array.from({ length: 3 }, () => measure(process.execPath, args));
  const ms = Math.min(...costs.map(({ milliseconds }) => milliseconds));
  const mebibytes = Math.max(...costs.map(({ mebibytes: peak }) => peak));
  const what = `10⁶ kernels, launches and NVTX ranges (${Math.round(statSync(trace).size / 1e6)} MB): read, put to layers, report`;
  process.stdout.write(
    `${JSON.stringify({
      title: 'Traces of Nsight Systems',
      rows: [
        { what, ours: `${(ms / 1000).toFixed(2)} s`, target: '≤ 3.5 s', ok: ms <= 3500 },
        {
          what: 'the same: peak memory of the process',
          ours: `${Math.round(mebibytes)} MiB`,
          target: '≤ 160 MB',
          ok: mebibytes * 2 ** 20 <= 160e6,
        },
      ],
      notes: ['`trtlens fusion` in a fresh process. Fastest of three runs, largest memory of three.'],
    })}\n`,
  );
} finally {
  rmSync(folder, { recursive: true });
}
