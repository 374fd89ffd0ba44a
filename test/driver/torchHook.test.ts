// Networks that are built by TensorRT's API, node by node as Torch-TensorRT does it, from FX graphs that were recorded once
// (test/fixtures/torch): with the hook, TensorRT-RTX names the FX nodes of its kernels.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadFiles } from '../../src/kernel/node/store/loadBuild.ts';
import type { Installed } from '../../src/kernel/node/tools/ensurePackages.ts';
import { formatMembers } from '../../src/kernel/report/reportText.ts';
import { toGraphData } from '../../src/kernel/picture/graph/viewData.ts';
import { fixturePath } from '../support/fixtures.ts';
import { rtxForTests, temporaryFolder } from '../support/rtx.ts';

const folder = temporaryFolder();
const script = fileURLToPath(new URL('build_fx.py', import.meta.url));
let rtx: Installed;

beforeAll(async () => {
  rtx = await rtxForTests();
});

/** Builds a recorded graph with the hook; its own tree and the log of the build. */
async function built(name: string) {
  const [onnx, log] = [join(folder, `${name}.fx.json`), join(folder, `${name}.log`)] as [string, string];
  const ran = spawnSync(rtx.python, [script, fixturePath(`torch/${name}.fx.json`), onnx], {
    env: { ...process.env, ...rtx.environment },
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  expect(ran.status, ran.stderr).toBe(0);
  writeFileSync(log, ran.stdout);
  return { ...(await loadFiles({ onnx, log })), onnx };
}

interface Tree {
  graphs: { nodes: { name: string; source: string | null; layers: number }[] }[];
}
const treeOf = (path: string) => (JSON.parse(readFileSync(path, 'utf8')) as Tree).graphs[0]!;

describe.each([
  ['encoder', 72, 42],
  ['convnet', 22, 12],
])('%s', (name, nodes, kernels) => {
  test('every node of the exported graph is mapped exactly, with its module and source line', async () => {
    const { report, model, onnx } = await built(name);
    const tree = treeOf(onnx);
    expect(report.nodes).toHaveLength(nodes);
    const exact = report.nodes.filter((node) => node.exact && node.fate !== 'unknown');
    expect(exact.length / nodes).toBeGreaterThanOrEqual(0.99);
    for (const [at, { layers, source }] of tree.nodes.entries()) {
      const node = report.nodes[at]!;
      // What became layers is in the engine; what became none has no work there.
      expect(node.fate, node.name).toBe(layers > 0 ? 'foreign' : 'removed');
      expect(node.source ?? null).toBe(source);
    }
    expect(report.layers.filter(({ kind }) => kind === 'kernel')).toHaveLength(kernels);
    const text = formatMembers(report, report.foreignNodes[0]!);
    const named = tree.nodes.find(({ source }) => source !== null && text.includes(source))!;
    expect(text).toContain(`${named.name} @ ${named.source}`);
    // The recorded tree, but for the number of layers, is what the hook writes again.
    const recorded = treeOf(fixturePath(`torch/${name}.fx.json`));
    expect(tree.nodes.map((node) => ({ ...node, layers: 0 }))).toEqual(recorded.nodes);
    expect(toGraphData(model).nodes.some(({ scope }) => (scope ?? '').includes('/'))).toBe(true);
  });

  test('each kernel computes what its metadata names, and no node of another module than its own', async () => {
    const { report } = await built(name);
    for (const layer of report.layers) {
      const named = [...(layer.metadata ?? '').matchAll(/\[ONNX Layer: ([^\]]+)\]/g)].map(([, one]) => one!);
      const computed = layer.nodes.map((id) => report.nodes[Number(id)]!.name);
      expect(new Set(computed)).toEqual(new Set(named));
    }
  });
});

test('the hook leaves the class as it was, writes the file where a build fails, and reads ctx.net, too', () => {
  const program = `
import json, sys
sys.path.insert(0, ${JSON.stringify(fileURLToPath(new URL('../../src/driver', import.meta.url)))})
import trtlens_torch
from types import SimpleNamespace as N

class Network:
    def __init__(self): self.layers = []
    num_layers = property(lambda self: len(self.layers))
    def get_layer(self, index): return self.layers[index]

class Interpreter:
    def __init__(self): self.ctx = N(net=Network())
    def run_node(self, node):
        if node.name == "bad": raise ValueError("no converter")
        self.ctx.net.layers += [N(metadata="")] * 1
        return node.name

node = lambda name, **more: N(name=name, op="call_function", target="aten.relu.default", args=(), kwargs={}, meta=more)
plain = Interpreter.run_node
one, two = Interpreter(), Interpreter()
try:
    with trtlens_torch.recording(Interpreter, sys.argv[1]):
        trace = 'File "/x/site-packages/timm/vit.py", line 7, in f\\n  File "/x/site-packages/torch/nn/linear.py", line 1, in g'
        assert one.run_node(node("a", nn_module_stack={"k": ("L['self'].blocks.0", "T")}, stack_trace=trace)) == "a"
        two.run_node(node("b"))
        one.run_node(node("bad"))
except ValueError: pass
assert Interpreter.run_node is plain
print(json.dumps([one.ctx.net.layers[0].metadata, two.ctx.net.layers[0].metadata]))
`;
  const out = join(folder, 'hook.fx.json');
  const ran = spawnSync(rtx.python, ['-c', program, out], { encoding: 'utf8' });
  expect(ran.status, ran.stderr).toBe(0);
  expect(JSON.parse(ran.stdout)).toEqual(['[ONNX Layer: blocks.0/a]', '[ONNX Layer: b]']);
  const { graphs } = JSON.parse(readFileSync(out, 'utf8')) as Tree;
  expect(graphs.map(({ nodes }) => nodes.map(({ name, source, layers }) => [name, source, layers]))).toEqual([
    [['blocks.0/a', 'vit.py:7', 1]],
    [['b', null, 1]],
  ]);
});
