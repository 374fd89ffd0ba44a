// The whole report of the deepest captured model from its files, and how its cost grows with the number of nodes.
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { readBuildLog } from '../src/kernel/read/tensorrt/readBuildLog.ts';
import { readLayerInfo } from '../src/kernel/read/tensorrt/readLayerInfo.ts';
import type { EngineLayer } from '../src/kernel/read/tensorrt/buildOutput.ts';
import { createReport } from '../src/kernel/fusion/createReport.ts';
import type { OnnxModel, OnnxNode } from '../src/kernel/read/onnx/onnxModel.ts';
import { readModel } from '../src/kernel/read/onnx/readModel.ts';
import { bytesOf } from '../src/kernel/base/problem.ts';

const fixtures = fileURLToPath(new URL('../test/fixtures', import.meta.url));
const unpacked = (name: string): Buffer => gunzipSync(readFileSync(`${fixtures}/captures/${name}.gz`));
const megabytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MB`;
/** The least of several times: what the work costs when nothing else disturbs it. */
const least = (times: number[]): number => Math.min(...times);

/** Files to report, as `trtlens fusion` goes: read the model, the layers and the log, and join them. */
async function wholeReport() {
  const model = await readModel(bytesOf(readFileSync(`${fixtures}/models/deep_encoder_11k.onnx`)));
  const log = readBuildLog(unpacked('tensorrt-10.6.0/deep_encoder_11k.fp32/log.txt').toString('utf8'));
  const layers = readLayerInfo(unpacked('tensorrt-10.6.0/deep_encoder_11k.fp32/layers.json').toString('utf8'));
  return createReport({
    model: model.value!,
    modelFile: 'deep_encoder_11k.onnx',
    layerInfo: layers.value,
    log: log.value,
  });
}

/** Blocks of ten nodes, every tenth block a native layer between ForeignNodes whose members must be derived. */
function synthetic(count: number): { model: OnnxModel; layers: EngineLayer[] } {
  const nodes: OnnxNode[] = [];
  const layers: EngineLayer[] = [];
  const ops = ['MatMul', 'Add', 'Reshape', 'Transpose', 'Softmax', 'Mul', 'Relu', 'LayerNormalization', 'Div', 'Conv'];
  const tensor = (name: string) => ({ name, dims: [1, 8], type: 'Float', format: 'Float' });
  let begin = 'x';
  for (let i = 0; i < count; i++) {
    const op = ops[i % 10]!;
    const from = i === 0 ? 'x' : `t${i - 1}`;
    const skip = i > 8 && op === 'Add' ? [`t${i - 8}`] : [];
    const name = `/encoder/layers.${Math.floor(i / 10)}/${op}`;
    nodes.push({
      id: String(i),
      name,
      op,
      domain: '',
      inputs: [from, ...skip, `w${i % 100}`],
      outputs: [`t${i}`],
      attributes: [],
      subgraphs: [],
      metadata: [],
    });
    const native = op === 'Conv' && Math.floor(i / 10) % 10 === 9;
    if (!native && i < count - 1) continue;
    const layer = (layerName: string, inputs: string[], outputs: string[], metadata: string): EngineLayer => ({
      name: layerName,
      type: metadata === '' ? 'Myelin' : 'CaskConvolution',
      inputs: inputs.map(tensor),
      outputs: outputs.map(tensor),
      metadata,
      tacticName: null,
      tactic: null,
      streamId: 0,
      profile: 0,
      line: null,
      extra: {},
    });
    layers.push(layer(`{ForeignNode[a${i}...b${i}]}`, [begin], [from], ''));
    layers.push(layer(name, [from], [`t${i}`], `[ONNX Layer: ${name}]`));
    begin = `t${i}`;
  }
  const value = (name: string) => ({ name, type: 'float', shape: [1, 8] });
  const initializers = Array.from({ length: 100 }, (_, i) => ({
    name: `w${i}`,
    type: 'float',
    shape: [8],
    data: null,
  }));
  const graph = {
    name: 'main',
    path: '',
    nodes,
    inputs: [value('x')],
    outputs: [value(`t${count - 1}`)],
    values: [],
    initializers,
  };
  const head = { irVersion: 8, producer: '', producerVersion: '', domain: '', opsets: [], metadata: [], functions: [] };
  return { model: { ...head, graph, nodes }, layers };
}

function costOf(count: number): number {
  const { model, layers } = synthetic(count);
  const layerInfo = {
    detail: 'detailed' as const,
    layers,
    bindings: ['x'],
    ioTensors: [],
    documents: 1,
    unknownKeys: {},
  };
  const run = (): number => {
    const start = performance.now();
    createReport({ model, modelFile: 'synthetic.onnx', layerInfo });
    return performance.now() - start;
  };
  run();
  return least(Array.from({ length: 7 }, run));
}

const start = performance.now();
const first = await wholeReport();
const firstMs = performance.now() - start;
const peak = process.resourceUsage().maxRSS * 1024;

const sizes = [25_000, 50_000, 100_000];
const costs = sizes.map(costOf);
const grows = costs.slice(1).map((cost, i) => {
  const [small, large] = [sizes[i]!, sizes[i + 1]!];
  const nLogN = (large * Math.log2(large)) / (small * Math.log2(small));
  // A third more than n log n leaves room for caches that larger inputs no longer fit into.
  return { from: small, to: large, ratio: cost / costs[i]!, most: nLogN * 1.33 };
});

process.stdout.write(
  `${JSON.stringify({
    title: 'Fusion report',
    rows: [
      {
        what: `deep_encoder_11k (${first.model.nodes} nodes, ${first.layers.length} layers, 19 MB of log): read model, log and layers, create the report`,
        ours: `${(firstMs / 1000).toFixed(2)} s`,
        target: 'at most 1.5 s',
        ok: firstMs <= 1500,
      },
      {
        what: 'the same: peak memory of the process',
        ours: megabytes(peak),
        target: 'at most 300 MB',
        ok: peak <= 300 * 2 ** 20,
      },
      ...grows.map(({ from, to, ratio, most }) => ({
        what: `report on ${to} nodes against ${from}`,
        ours: `${costs[sizes.indexOf(to)]!.toFixed(0)} ms`,
        peer: `${costs[sizes.indexOf(from)]!.toFixed(0)} ms`,
        ratio: ratio.toFixed(2),
        target: `at most ${most.toFixed(2)} (n log n plus a third)`,
        ok: ratio <= most,
      })),
    ],
    notes: ['The first two rows measure a fresh process, including decompression.'],
  })}\n`,
);
