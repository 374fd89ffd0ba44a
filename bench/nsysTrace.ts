// `trtlens fusion` with a trace of Nsight Systems that has a million kernels: the whole command in a fresh process,
// reading, joining and the report; and by how much the extension host grows when the same trace opens in VS Code. The trace is made by SQLite itself (bench/support/synthetic_trace.py, Python).
// The peer is sql.js (MIT), SQLite as WebAssembly, from the registry of npm. BENCH_NODE: the Node that runs both, such as
// the 20 of the oldest editor.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildCli } from './support/buildCli.ts';
import { measuredProcesses } from './support/measuredProcess.ts';

const kernels = 1_000_000;
const node = process.env['BENCH_NODE'] ?? process.execPath;
/** Bytes by which the extension host of a real VS Code grows at most while the trace opens. */
function hostGrowth(trace: string, warm: string): number {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const figure = join(folder, 'growth.json');
  const env = { ...process.env, HOST_TESTS: 'bench/host', TRACE: trace, WARM: warm, GROWTH: figure };
  const { status, stdout } = spawnSync(process.execPath, [join(root, 'test/host/run.mjs'), 'host'], {
    env,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`VS Code did not open the trace\n${stdout}`);
  const grown = JSON.parse(readFileSync(figure, 'utf8')) as { kernels: number; bytes: number };
  if (grown.kernels !== kernels) throw new Error(`VS Code read ${grown.kernels} kernels`);
  return grown.bytes;
}

const folder = mkdtempSync(join(tmpdir(), 'trace-bench-'));
try {
  const generator = fileURLToPath(new URL('support/synthetic_trace.py', import.meta.url));
  execFileSync('python3', [generator, folder, String(kernels)]);
  const small = join(folder, 'small');
  mkdirSync(small);
  execFileSync('python3', [generator, small, '2000']);
  const trace = join(folder, 'trace.sqlite');
  const cli = await buildCli(join(folder, 'cli'));
  const args = [cli, 'fusion', '--layers', join(folder, 'layers.json'), '--profile', trace, '--json'];
  const { stdout } = spawnSync(node, args, { encoding: 'utf8', maxBuffer: 2 ** 30 });
  const { profile } = JSON.parse(stdout) as { profile: { kernels: number; attributed: number } };
  if (profile.kernels !== kernels || profile.attributed !== kernels)
    throw new Error(`${profile.attributed} of ${profile.kernels} kernels were attributed`);
  const installed = spawnSync('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', 'sql.js@1.16.0'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (installed.status !== 0) throw new Error('sql.js could not be installed.');
  const rows = fileURLToPath(new URL('support/sqljs_rows.cjs', import.meta.url));
  const peerArgs = [rows, join(folder, 'node_modules/sql.js'), trace];
  if (execFileSync(node, peerArgs, { encoding: 'utf8' }) !== String(kernels)) throw new Error('sql.js read other rows');
  const measure = measuredProcesses(folder);
  // In turn, so that other work on the machine slows both.
  const costs = Array.from({ length: 3 }, () => ({ ours: measure(node, args), peer: measure(node, peerArgs) }));
  const ms = Math.min(...costs.map(({ ours }) => ours.milliseconds));
  const peerMs = Math.min(...costs.map(({ peer }) => peer.milliseconds));
  const mebibytes = Math.max(...costs.map(({ ours }) => ours.mebibytes));
  const peerMebibytes = Math.min(...costs.map(({ peer }) => peer.mebibytes));
  const grown = hostGrowth(trace, join(small, 'trace.sqlite'));
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  const what = `10⁶ kernels, launches and NVTX ranges (${Math.round(statSync(trace).size / 1e6)} MB): read, put to layers, report`;
  process.stdout.write(
    `${JSON.stringify({
      title: 'Traces of Nsight Systems',
      rows: [
        {
          what,
          ours: `${(ms / 1000).toFixed(2)} s`,
          peer: `${(peerMs / 1000).toFixed(2)} s`,
          ratio: (ms / peerMs).toFixed(2),
          target: '≤ 3.5 s, or 0.35 of sql.js',
          ok: ms <= 3500 || ms <= 0.35 * peerMs,
        },
        {
          what: 'the same: peak memory of the process',
          ours: `${Math.round(mebibytes)} MiB`,
          peer: `${Math.round(peerMebibytes)} MiB`,
          ratio: (mebibytes / peerMebibytes).toFixed(2),
          target: '≤ 160 MB',
          ok: mebibytes * 2 ** 20 <= 160e6,
        },
        {
          what: 'the same in VS Code: growth of the extension host at its peak',
          ours: `${Math.round(grown / 2 ** 20)} MiB`,
          target: '≤ 160 MB',
          ok: grown <= 160e6,
        },
      ],
      notes: [
        `\`trtlens fusion\` in a fresh process of Node ${version}. Fastest of three runs, largest memory of three. Compared with sql.js 1.16.0 (SQLite as WebAssembly), which only joins kernels with their calls and adds up kernels and ranges by name, without putting one to the other; its fastest and smallest run of three, in turn with ours. The extension host has opened a small trace before.`,
      ],
    })}\n`,
  );
} finally {
  rmSync(folder, { recursive: true });
}
