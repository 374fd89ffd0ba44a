import type { NewNode, NewTensor } from '../onnx/writeParts.ts';
import type { TensorTypes } from '../model/tensorTypes.ts';
import { type Chunk, ChunkPlan, type ModelFile } from './chunkPlan.ts';
import type { LowModel } from './lowNodes.ts';
import { int64, Names, RunWriter, Values } from './runWriter.ts';

export interface SwitchedChunk extends Chunk {
  /** The low-precision nodes that it contains, by `LowNode.index`, in the order of its switches. */
  switched: number[];
  /** Name of the input with a Boolean for each of them; true: it computes exactly. */
  flags: string;
}

/**
 * One model for all runs of a search: each low-precision node is switched by a Boolean of its own, so that no trial needs
 * new sessions. With all of them true it is the reference.
 */
export function* switchedChunks(low: LowModel, types: TensorTypes, file: ModelFile): Generator<SwitchedChunk> {
  const plan = new ChunkPlan(low, types, true);
  const names = new Names(low);
  const flags = names.fresh('flags');
  for (const cut of plan.cuts()) {
    const nodes: NewNode[] = [];
    const places: NewTensor[] = [];
    const switches = new Map<number, string>();
    const writer = new RunWriter(low, names, ({ index }) => {
      const known = switches.get(index);
      if (known !== undefined) return { exactIf: known };
      const [flag, place] = [names.fresh('flag'), names.fresh('place')];
      places.push({ name: place, newType: 'int64', shape: [], bytes: int64(BigInt(switches.size)) });
      nodes.unshift({ op: 'Gather', name: names.fresh('n'), inputs: [flags, place], outputs: [flag] });
      switches.set(index, flag);
      return { exactIf: flag };
    });
    const sheet = { nodes, values: new Values() };
    for (const node of plan.graph.nodes.slice(cut.from, cut.to)) writer.node(node, sheet);
    const inputs = switches.size > 0 ? [{ name: flags, newType: 'bool' }] : [];
    const written = { nodes, constants: [...places, ...writer.constants.values()], inputs };
    yield { ...plan.chunk(cut, written, file), switched: [...switches.keys()], flags };
  }
}
