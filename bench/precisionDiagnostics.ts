// From a keystroke to the diagnostics of an override file: 5,000 rules against a model of 20,000 nodes, with a build.
import { performance } from 'node:perf_hooks';
import type { BuildFacts } from '../src/core/precision/buildFacts.ts';
import { checkOverrides } from '../src/core/precision/checkOverrides.ts';
import type { ModelFacts, NodeFacts } from '../src/core/precision/modelFacts.ts';
import { NodeIndex } from '../src/core/precision/nodeIndex.ts';
import { readOverrides } from '../src/core/precision/readOverrides.ts';

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
          role: 'compute',
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
    flags: { types: ['fp32', 'fp16'], constraints: 'obey', stronglyTyped: false },
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
const last = build(facts);
const lines = rules();
const times = (run: () => void, runs: number): number => {
  const all: number[] = [];
  for (let i = 0; i < runs; i++) {
    const start = performance.now();
    run();
    all.push(performance.now() - start);
  }
  return all.sort((a, b) => a - b)[Math.floor(runs / 2)] ?? 0;
};

const start = performance.now();
const index = new NodeIndex(facts);
const indexed = performance.now() - start;
const coldStart = performance.now();
const first = checkOverrides(readOverrides(lines.join('\n')), index, last);
const cold = performance.now() - coldStart;
let edit = 0;
const keystroke = times(() => {
  const edited = [...lines];
  edited[2500] = `/encoder/layers.${edit++ % 200}/attn*/so fp3${edit % 10}`;
  checkOverrides(readOverrides(edited.join('\n')), index, last);
}, 21);

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
      row('index 20,000 nodes (once a model)', indexed, null),
      row('first diagnostics of 5,000 rules × 20,000 nodes', cold, null),
      row('keystroke to diagnostics, 5,000 rules × 20,000 nodes', keystroke, 100),
    ],
    notes: [`${first.problems.length} problems found; median of 21 keystrokes, each with one new pattern.`],
  }),
);
