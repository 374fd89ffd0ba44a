import type { EngineLayer } from '../../../../src/kernel/read/tensorrt/buildOutput.ts';
import { createModelGraph, inDataOrder, type ModelGraph, readsOf } from '../../../../src/kernel/network/modelGraph.ts';
import { nodeRoles } from '../../../../src/kernel/network/nodeRoles.ts';
import { parserName } from '../../../../src/kernel/network/nodeNames.ts';
import type { OnnxModel } from '../../../../src/kernel/read/onnx/onnxModel.ts';
import { engineLayer } from './buildEngine.ts';

/** Numbers from 0 up to below 1, the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = (seed >>> 0) + 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Some nodes that the engine computes together. */
export interface Part {
  kind: 'native' | 'foreign';
  nodes: Set<number>;
}

/** A model's nodes cut at random into what TensorRT might have made of them. */
export interface RandomCut {
  graph: ModelGraph;
  parts: Part[];
}

/**
 * Cuts the working nodes of the main graph, in data order, into ForeignNodes and native layers. Data order makes every
 * part a group that can run as a whole. `foreign`: how likely a part is a ForeignNode; `size`: its most nodes.
 */
export function cutAtRandom(
  model: OnnxModel,
  random: () => number,
  options: { foreign: number; size: number; only?: (node: number) => boolean },
): RandomCut {
  const graph = createModelGraph(model);
  const { roles } = nodeRoles(graph, []);
  const order = inDataOrder(graph).filter((node) => graph.owner[node]! < 0 && roles[node] === 'data');
  const chosen = options.only ? order.filter(options.only) : order;
  const parts: Part[] = [];
  for (let at = 0; at < chosen.length;) {
    const kind = random() < options.foreign ? 'foreign' : 'native';
    const most = kind === 'foreign' ? options.size : 3;
    const nodes = new Set(chosen.slice(at, at + 1 + Math.floor(random() * most)));
    at += nodes.size;
    parts.push({ kind, nodes });
  }
  return { graph, parts };
}

/** Tensors that go into a part from outside and out of it, without constants and shapes. */
export function borderOfPart({ graph }: RandomCut, { nodes }: Part): { inputs: string[]; outputs: string[] } {
  const { roles } = nodeRoles(graph, []);
  const inputs = new Set<string>();
  const outputs = new Set<string>();
  const results = new Set(graph.graphOutputs);
  for (const node of nodes) {
    for (const tensor of readsOf(graph, node)) {
      const { producer, kind, name } = graph.tensors[tensor]!;
      if (kind === 'initializer' || kind === 'undefined' || (producer >= 0 && nodes.has(producer))) continue;
      if (producer >= 0 && roles[producer] !== 'data' && roles[producer] !== 'identity') continue;
      inputs.add(name);
    }
    for (const tensor of graph.outputs[node]!) {
      const { name, consumers } = graph.tensors[tensor]!;
      const leaves = consumers.some((consumer) => !nodes.has(consumer) && roles[consumer] !== 'dead');
      if (results.has(tensor) || leaves) outputs.add(name);
    }
  }
  return { inputs: [...inputs], outputs: [...outputs] };
}

/**
 * The layers as TensorRT 8.6 lists them: native ones with metadata, each ForeignNode as one opaque layer of which only
 * the tensors are known. Some borders get a reformat, which hides the tensor behind a name of its own.
 */
export function opaqueLayers(cut: RandomCut, random: () => number): EngineLayer[] {
  const layers: EngineLayer[] = [];
  const nameOf = (node: number) => parserName(cut.graph.nodes[node]!);
  for (const part of cut.parts) {
    const { inputs, outputs } = borderOfPart(cut, part);
    const nodes = [...part.nodes];
    if (outputs.length === 0) continue;
    if (part.kind === 'native') {
      const metadata = nodes.map((node) => `[ONNX Layer: ${nameOf(node)}]`).join('\u001e');
      layers.push(engineLayer(nodes.map(nameOf).join(' + '), { type: 'PointWiseV2', inputs, outputs, metadata }));
      continue;
    }
    const name = `{ForeignNode[${nameOf(nodes[0]!)}...${nameOf(nodes.at(-1)!)}]}`;
    const before: EngineLayer[] = [];
    const after: EngineLayer[] = [];
    const hide = (side: 'Input' | 'Output') => (tensor: string, index: number) => {
      if (random() < 0.7) return tensor;
      const hidden = `Reformatted ${side} Tensor ${index} to ${name}`;
      const [input, output] = side === 'Input' ? [tensor, hidden] : [hidden, tensor];
      const reformat = engineLayer(`Reformatting CopyNode for ${side} Tensor ${index} to ${name}`, {
        type: random() < 0.5 ? 'Reformat' : 'NoOp',
        inputs: [input],
        outputs: [output],
        metadata: '',
      });
      (side === 'Input' ? before : after).push(reformat);
      return hidden;
    };
    const own = engineLayer(name, {
      type: 'Myelin',
      inputs: inputs.map(hide('Input')),
      outputs: outputs.map(hide('Output')),
      metadata: '',
    });
    layers.push(...before, own, ...after);
  }
  return layers;
}

/**
 * Gives some borders between layers a name that TensorRT made, as where a node's last part lies in the next layer: the
 * tensor is then in no place of the model. Changes the layers.
 */
export function hideBorders(layers: EngineLayer[], model: OnnxModel, random: () => number, share: number): void {
  const bindings = new Set([...model.graph.inputs, ...model.graph.outputs].map(({ name }) => name));
  const names = new Map<string, string>();
  for (const layer of layers) {
    for (const tensor of [...layer.inputs, ...layer.outputs]) {
      if (bindings.has(tensor.name) || tensor.name.startsWith('Reformatted ')) continue;
      if (!names.has(tensor.name)) {
        names.set(tensor.name, random() < share ? `(Unnamed Layer* ${names.size}) [Shuffle]_output` : tensor.name);
      }
      tensor.name = names.get(tensor.name)!;
    }
  }
}
