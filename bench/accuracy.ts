// Judging and repairing models in low precision, as `trtlens accuracy` does: time of the whole run, memory of ONNX Runtime's process.
import { errorFigure } from '../src/kernel/simulation/simulated.ts';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { judgeAccuracy } from '../src/features/accuracy/node/judgeAccuracy.ts';
import { fillWeights } from '../src/kernel/node/files/fillWeights.ts';
import { openFile } from '../src/kernel/node/files/fileSource.ts';
import { ensurePackages } from '../src/kernel/node/tools/ensurePackages.ts';
import { readModel } from '../src/kernel/read/onnx/readModel.ts';

const fixtures = fileURLToPath(new URL('../test/fixtures/', import.meta.url));
const models = `${fixtures}models/`;
const script = fileURLToPath(new URL('../src/driver/simulate.py', import.meta.url));
const runtime = await ensurePackages('onnxruntime', { confirm: () => Promise.resolve(true) });

/** The largest resident size that any process below this one has had, in bytes. Linux only. */
function peakBelow(parent: number): number {
  const status = (pid: number | string) => {
    try {
      return readFileSync(`/proc/${pid}/status`, 'utf8');
    } catch {
      return '';
    }
  };
  const field = (text: string, name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => ({ pid: Number(pid), text: status(pid) }));
  const below = (pid: number): number =>
    Math.max(
      0,
      ...all
        .filter(({ text }) => field(text, 'PPid') === pid)
        .map((one) => Math.max(field(one.text, 'VmHWM') * 1024, below(one.pid))),
    );
  return below(parent);
}

interface MeasureOptions {
  inputs?: string[];
  shapes?: Map<string, number[]>;
  maxRuns?: number;
}

async function measure(model: string, options: MeasureOptions = {}) {
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, peakBelow(process.pid))), 250);
  const started = performance.now();
  const limits = { tolerance: 0.01, maxRuns: 1000, maxSeconds: 300, modelLine: './model.onnx' };
  const report = await judgeAccuracy({ ...limits, model, inputs: [], runtime, script, ...options });
  const seconds = (performance.now() - started) / 1000;
  clearInterval(timer);
  return { seconds, peak, report };
}

/** A copy of a model with external weights, those of two dimensions times ten: its rounding errors add up. */
async function scaled(path: string, folder: string): Promise<string> {
  const copy = join(folder, 'scaled.onnx');
  copyFileSync(path, copy);
  const source = await openFile(path);
  const { value } = await readModel(source);
  await source.close();
  const files = new Map<string, Buffer>();
  for (const { type, shape, data } of value!.graph.initializers) {
    if (!data || !('external' in data)) continue;
    const { location = '', offset = '0', length = '0' } = data.external;
    const bytes = files.get(location) ?? readFileSync(join(dirname(path), location));
    files.set(location, bytes);
    if (type !== 'float' || shape.length !== 2) continue;
    for (let at = Number(offset); at < Number(offset) + Number(length); at += 4)
      bytes.writeFloatLE(bytes.readFloatLE(at) * 10, at);
  }
  for (const [location, bytes] of files) writeFileSync(join(folder, basename(location)), bytes);
  return copy;
}

/** What another tool gave for the faulty models; see the README next to the file. */
const recorded = <T>(file: string): Record<string, T> =>
  (JSON.parse(readFileSync(`${fixtures}${file}`, 'utf8')) as { models: Record<string, T> }).models;

/** The smallest fix of each faulty model, next to what AutoCast found on the same model and inputs. */
async function comparedFixes(): Promise<string[]> {
  const autocast = recorded<{ fp32: string[]; error: number | null; seconds: number }>('autocast/results.json');
  const lines = [
    '| model | trtlens: nodes in FP32 | error | AutoCast: nodes in FP32 | error |',
    '|---|---|---|---|---|',
  ];
  const times: number[] = [];
  for (const [name, other] of Object.entries(autocast)) {
    const faulty = `${fixtures}faults/${name}/`;
    const { report, seconds: took } = await measure(`${faulty}model.onnx`, { inputs: [`${faulty}inputs.npz`] });
    const { nodes, error } = report.fix!;
    const cells = [name, nodes.length, errorFigure(error), other.fp32.length, errorFigure(other.error)];
    lines.push(`| ${cells.join(' | ')} |`);
    times.push(took);
  }
  const range = (all: number[]) => `${Math.min(...all).toFixed(1)} to ${Math.max(...all).toFixed(1)} s`;
  const others = Object.values(autocast).map(({ seconds: took }) => took);
  return [
    `What must stay in FP32 in twelve models with a fault in FP16 and a harmless one (test/fixtures/faults, with their inputs; tolerance 0.01), by trtlens accuracy (${range(times)} each) and by AutoCast of ModelOpt 0.47 (recorded in test/fixtures/autocast; ${range(others)} of processor time each, much of it to load PyTorch):`,
    '',
    ...lines,
    '',
    'AutoCast computes no error: it is that of trtlens accuracy with its nodes as rules. It chooses nodes by their range, so it does not find faults of rounding, and it keeps nodes whose overflow does no harm.',
  ];
}

const folder = mkdtempSync(join(tmpdir(), 'tensorrt-lens-bench-'));
const gigabytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(2)} GiB`;
const seconds = (time: number): string => `${time.toFixed(1)} s`;
const rows = [];
const compared = await comparedFixes();
try {
  const overflow = await measure(`${models}fp16_overflow.onnx`);
  const { fix } = overflow.report;
  rows.push({
    what: `fp16_overflow (255 nodes) judged and repaired: ${fix!.nodes.length} nodes, ${fix!.runs} runs`,
    ours: seconds(overflow.seconds),
    target: '≤ 5 s',
    ok: overflow.seconds <= 5,
  });
  const vit = await measure(await scaled(await fillWeights(`${models}vit_tiny.onnx`), folder));
  rows.push({
    what: `vit_tiny (636 nodes), 2-D weights × 10, judged and repaired: ${vit.report.fix!.nodes.length} nodes, ${vit.report.fix!.runs} runs`,
    ours: seconds(vit.seconds),
    target: '≤ 20 s',
    ok: vit.seconds <= 20,
  });
  const sequence = new Map(['input_ids', 'attention_mask', 'token_type_ids'].map((name) => [name, [1, 128]]));
  const bert = await measure(await fillWeights(`${models}bert_base.onnx`), { shapes: sequence });
  rows.push(
    {
      what: 'bert_base (438 MB), sequence of 128, judged',
      ours: seconds(bert.seconds),
      target: '≤ 30 s',
      ok: bert.seconds <= 30,
    },
    { what: 'the same: peak memory', ours: gigabytes(bert.peak), target: '≤ 2.5 GB', ok: bert.peak <= 2.5e9 },
  );
  const deep = await measure(await fillWeights(`${models}deep_encoder_11k.onnx`), { maxRuns: 1 });
  rows.push(
    { what: `deep_encoder_11k (14,163 nodes) judged`, ours: seconds(deep.seconds) },
    { what: 'the same: peak memory', ours: gigabytes(deep.peak), target: '≤ 4 GB', ok: deep.peak <= 4e9 },
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const notes = [
  'Random inputs. Reading the model, making the sessions and starting Python are part of the times.',
  '',
  ...compared,
  '',
  '`polygraphy debug precision` (0.49, TensorRT 10.6, an H100, --fp16, bisection with a timing cache, the same inputs and tolerance; recorded in test/fixtures/autocast/README.md), of which each step builds and runs an engine: gram_large_k (32 layers) ended after 67 s and 6 engines with the first 19 layers in FP32 (error 0.00066), from the other end after 66 s with the last 26 (0.00024); trtlens accuracy finds 4 nodes. For euler_small_updates it found no set after 92 s and 8 engines; trtlens accuracy finds 7 nodes.',
];
console.log(JSON.stringify({ title: 'Accuracy in low precision', rows, notes }));
