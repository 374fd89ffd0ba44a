// What changed between two builds, as `trtlens diff` reads and compares them: the deepest captured model built
// in two ways, and networks of 50,000 nodes of which one was exported again under other names.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { ParsedFiles } from '../src/kernel/node/files/parsedFiles.ts';
import { readBuildSide } from '../src/kernel/node/store/buildSide.ts';
import type { FusionReport } from '../src/kernel/fusion/fusionReport.ts';
import type { DiffInput, NetworkNode } from '../src/kernel/report/buildDiff.ts';
import { diffReports } from '../src/features/diff/diffReports.ts';
import { captureData } from '../test/webview/support/captureData.ts';
import { manyLayers } from '../test/webview/support/manyLayers.ts';

const model = fileURLToPath(new URL('../test/fixtures/models/deep_encoder_11k.onnx', import.meta.url));
const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`;

interface Cost {
  ms: number;
  peak: number;
  changes: number;
}

/** In a process of its own: reads two reports with their model, and compares them. */
async function compareFiles(a: string, b: string): Promise<Cost> {
  const start = performance.now();
  const files = new ParsedFiles();
  const sides = await Promise.all([readBuildSide(a, model, files), readBuildSide(b, model, files)]);
  const { changes } = diffReports(...sides);
  return {
    ms: performance.now() - start,
    peak: process.resourceUsage().maxRSS * 1024,
    changes: changes.length,
  };
}

function inOwnProcess(a: string, b: string): Cost {
  const { stdout } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), a, b], { encoding: 'utf8' });
  return JSON.parse(stdout) as Cost;
}

/** The same build with every tenth kernel joined with the next one, and other times. */
function fusedOtherwise(report: FusionReport): FusionReport {
  const other = structuredClone(report);
  const nodes = new Map(other.nodes.map((node) => [node.id, node]));
  for (const layer of other.layers) {
    const next = other.layers[layer.id + 1];
    if (layer.averageMs !== null) layer.averageMs *= 1 + (layer.id % 7) / 10;
    if (layer.id % 10 !== 0 || next === undefined || layer.foreignNode !== next.foreignNode) continue;
    layer.nodes = [...new Set([...layer.nodes, ...next.nodes])];
    for (const id of next.nodes) nodes.get(id)!.layers = [layer.id];
    next.nodes = [];
  }
  return other;
}

/** A chain with a branch every fifth node; `renamed`: as a second export names it. */
function network(count: number, renamed: boolean): NetworkNode[] {
  const { report } = manyLayers(count);
  const tensor = (index: number) => (renamed ? `val_${index}` : `t${index}`);
  return report!.nodes.map(({ id, name, op }, index) => ({
    id,
    name: renamed ? `node_${op}_${index}` : name,
    op,
    inputs: [tensor(index), ...(index % 5 === 1 && index > 5 ? [tensor(index - 4)] : [])],
    outputs: [tensor(index + 1)],
    attributes: `layer=${Math.floor(index / 50)}`,
    constants: [],
  }));
}

function side(count: number, renamed: boolean): DiffInput {
  const { report } = manyLayers(count);
  const own = network(count, renamed);
  if (renamed) {
    // Every tenth pair of neighbors is computed by one kernel in the second build.
    for (let id = 0; id + 1 < count; id += 10) {
      report!.layers[id]!.nodes = [String(id), String(id + 1)];
      report!.layers[id + 1]!.nodes = [];
      report!.nodes[id]!.layers = report!.nodes[id + 1]!.layers = [id];
    }
    report!.nodes.forEach((node, index) => (node.name = own[index]!.name));
  }
  return { source: renamed ? 'b' : 'a', report: report!, network: own };
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'trtlens-bench-'));
  try {
    const { report } = await captureData('deep_encoder_11k', 'tensorrt-10.6.0/deep_encoder_11k.fp32');
    const files = [report!, fusedOtherwise(report!)].map((one, index) => {
      const file = join(folder, `${index}.json`);
      writeFileSync(file, JSON.stringify(one));
      return file;
    });
    const runs = Array.from({ length: 3 }, () => inOwnProcess(files[0]!, files[1]!));
    const ms = Math.min(...runs.map((run) => run.ms));
    const peak = Math.min(...runs.map((run) => run.peak));
    const [a, b] = [side(50_000, false), side(50_000, true)];
    const large = Array.from({ length: 3 }, () => {
      const start = performance.now();
      const { matched } = diffReports(a, b);
      return { ms: performance.now() - start, matched };
    });
    const largeMs = Math.min(...large.map((run) => run.ms));
    const { byName, byStructure } = large[0]!.matched;
    process.stdout.write(
      `${JSON.stringify({
        title: 'What changed between two builds',
        rows: [
          {
            what: `deep_encoder_11k against the same with every tenth kernel fused otherwise, 14,163 nodes each: read both reports and the model, compare (${runs[0]!.changes} changes)`,
            ours: `${ms.toFixed(0)} ms`,
            target: '≤ 1,000 ms',
            ok: ms <= 1000,
          },
          {
            what: 'the same: peak memory of the process',
            ours: megabytes(peak),
            target: '≤ 300 MB',
            ok: peak <= 300 * 2 ** 20,
          },
          {
            what: `50,000 nodes against 50,000 under other names (${byName + byStructure} matched)`,
            ours: `${largeMs.toFixed(0)} ms`,
            target: '≤ 4,000 ms',
            ok: largeMs <= 4000,
          },
        ],
        notes: ['The first two rows: the best of three fresh processes. The third: the best of three runs.'],
      })}\n`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [a, b] = process.argv.slice(2);
if (a !== undefined && b !== undefined) process.stdout.write(JSON.stringify(await compareFiles(a, b)));
else await main();
