// From a keystroke to the diagnostics of an override file, as an editor sees it: the packaged language server in its own
// process, 5,000 rules against a model of 20,000 nodes, with a build. Needs `npm run package` (or the bundles) first.
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { PublishDiagnosticsParams } from 'vscode-languageserver';
import { createProtocolConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-languageserver/node';
import type { BuildFacts, ModelFacts, NodeFacts } from '../src/kernel/rules/buildFacts.ts';
import { type FactsParams, languageMessages } from '../src/kernel/protocol/language.ts';

const ops = ['MatMul', 'Add', 'Mul', 'Softmax', 'LayerNormalization', 'Reshape', 'Transpose', 'Relu', 'Div', 'Sqrt'];
const parts = [
  'attn/q',
  'attn/k',
  'attn/v',
  'attn/scale',
  'attn/softmax',
  'attn/out',
  'norm1',
  'norm2',
  'mlp/up',
  'mlp/down',
];

function model(): ModelFacts {
  const nodes: NodeFacts[] = [];
  for (let layer = 0; nodes.length < 20_000; layer++) {
    for (const part of parts) {
      for (const op of ops) {
        const name = `/encoder/layers.${layer}/${part}/${op}`;
        nodes.push({
          id: String(nodes.length),
          name,
          op,
          domain: '',
          outputs: [`${name}_output_0`],
          types: ['float'],
          exempt: null,
        });
      }
    }
  }
  return { file: 'model.onnx', opset: 17, nodes };
}

function build(facts: ModelFacts): BuildFacts {
  return {
    product: 'tensorrt',
    version: '10.6.0',
    gpu: 'NVIDIA H200',
    flags: { types: ['fp32', 'fp16'], constraints: 'obey', stronglyTyped: false, layers: true },
    foreignNodes: [{ name: '{ForeignNode[a...b]}', exact: true }],
    nodes: facts.nodes.map((_, i) => ({ fate: 'foreign', foreign: 0, layers: [i % 4000], averageMs: null })),
    layers: Array.from({ length: 4000 }, (_, i) => ({
      name: `__myl_Add_myl0_${i}`,
      type: 'kgen',
      kind: 'kernel',
      tactic: null,
      nodes: [],
      inputs: [],
      outputs: [],
      weights: null,
      averageMs: null,
    })),
    aliases: [],
    lines: [],
  };
}

/** Exact names, patterns of every kind, operators, names that match nothing, and repeats. */
function rules(): string[] {
  const lines = ['base fp16'];
  for (let i = 0; i < 5000; i++) {
    const layer = i % 200;
    const part = parts[(i >> 3) % parts.length] ?? '';
    const op = ops[i % ops.length] ?? '';
    const kinds = [
      `/encoder/layers.${layer}/${part}/${op} fp32`,
      `/encoder/layers.${layer}/${part}/* fp32`,
      `**/layers.${layer}/**/${op} fp32 -> fp32`,
      `/encoder/layers.${layer}*/norm?/** fp16`,
      `**/attn/*max/${op}, not:/encoder/layers.${layer}/** fp32`,
      `/encoder/layer.${layer}/${part}/${op}s fp32`,
      `**/l*s.${layer}/m[lp]p/** bf16`,
      `op:${op} fp32`,
    ];
    lines.push(kinds[i % kinds.length] ?? '');
  }
  return lines;
}

const facts = model();
const lines = rules();
const uri = 'file:///model.trtprec';
const known: FactsParams = {
  uri,
  modelUri: 'file:///model.onnx',
  modelProblem: '',
  model: facts,
  build: build(facts),
  target: null,
  choices: [],
  mismatches: [],
  recorded: null,
};

const server = spawn(process.execPath, ['dist/server.cjs', '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
const editor = createProtocolConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
let arrived: (params: PublishDiagnosticsParams) => void = () => undefined;
editor.onNotification('textDocument/publishDiagnostics', (params: PublishDiagnosticsParams) => arrived(params));
editor.onRequest('workspace/inlayHint/refresh', () => null);
editor.onRequest('workspace/codeLens/refresh', () => null);
editor.listen();
await editor.sendRequest('initialize', { processId: process.pid, rootUri: null, capabilities: {} });
await editor.sendNotification('initialized', {});

let version = 1;
let shown = 0;
/** Milliseconds from a message to the diagnostics that answer it. */
async function answered(method: string, params: object): Promise<number> {
  const answer = new Promise<PublishDiagnosticsParams>((resolve) => {
    arrived = (diagnostics) => diagnostics.version === version && resolve(diagnostics);
  });
  const start = performance.now();
  await editor.sendNotification(method, params);
  shown = (await answer).diagnostics.length;
  return performance.now() - start;
}

const textDocument = { uri, languageId: 'trtprec', version, text: lines.join('\n') };
await answered('textDocument/didOpen', { textDocument });
const first = await answered(languageMessages.facts, known);

/** Median of 41 edits, each of which puts a text in place of a line's beginning. */
async function edits(line: number, text: (i: number) => string, over: (i: number) => number): Promise<number> {
  const all: number[] = [];
  for (let i = 0; i < 41; i++) {
    await wait(40);
    version++;
    const range = { start: { line, character: 0 }, end: { line, character: over(i) } };
    const contentChanges = [{ range, text: text(i) }];
    all.push(await answered('textDocument/didChange', { textDocument: { uri, version }, contentChanges }));
  }
  return all.sort((a, b) => a - b)[20] ?? 0;
}
const typed = (i: number) => `/encoder/layers.${i % 200}/attn*/so fp3${i % 10}`;
const typing = await edits(2500, typed, (i) => (i === 0 ? (lines[2500] ?? '') : typed(i - 1)).length);
const returns = await edits(
  10,
  () => '\n',
  () => 0,
);
editor.dispose();
server.kill();

const row = (what: string, ms: number, target: number | null) => ({
  what,
  ours: `${ms.toFixed(1)} ms`,
  target: target === null ? '' : `≤ ${target} ms`,
  ...(target === null ? {} : { ok: ms <= target }),
});
console.log(
  JSON.stringify({
    title: 'Diagnostics of an override file',
    rows: [
      row('first diagnostics of 5,000 rules after loading a model of 20,000 nodes and its build', first, null),
      row('keystroke to diagnostics, 5,000 rules × 20,000 nodes', typing, 100),
      row('insert a line near the top, which moves nearly all rules', returns, 100),
    ],
    notes: [
      `From the editor's message to the ${shown.toLocaleString('en-US')} diagnostics that it receives, with the server in its own process; median of 41 edits.`,
    ],
  }),
);
