import type { NewNode } from '../onnx/writeParts.ts';
import type { TensorTypes } from '../model/tensorTypes.ts';
import { type Chunk, ChunkPlan, type ModelFile } from './chunkPlan.ts';
import { isQuantised, type LowModel } from './lowNodes.ts';
import { type Measures, writeMeasures } from './measures.ts';
import { Names, RunWriter, type Sheet, Values } from './runWriter.ts';

export interface JudgeChunk extends Chunk {
  measures: Measures[];
}

/**
 * A model in which every node is there three times: exactly (the reference), in low precision on what the low-precision
 * run gave before it, and in low precision on exact inputs (its shadow), of which only numbers are kept. So one pass
 * judges every node.
 */
export function* judgeChunks(low: LowModel, types: TensorTypes, file: ModelFile): Generator<JudgeChunk> {
  const plan = new ChunkPlan(low, types, false);
  const names = new Names(low);
  for (const cut of plan.cuts()) {
    const nodes: NewNode[] = [];
    const exact = new RunWriter(low, names, () => 'exact');
    const rounded = new RunWriter(low, names, () => 'low');
    // What both low-precision copies of a node read (weights, for instance) is rounded once.
    const shared: Sheet = { nodes, values: new Values() };
    const shadows: Sheet = { nodes, values: new Values(shared.values) };
    const run: Sheet = { nodes, values: new Values(shared.values) };
    for (const [name, value] of plan.kept) run.values.set(name, value);
    const measures: Measures[] = [];
    for (let position = cut.from; position < cut.to; position++) {
      const node = plan.graph.nodes[position]!;
      const isSame = (name: string) => run.values.of(name) === name;
      const readsSame = [...plan.reads[position]!].every(isSame);
      exact.node(node, { nodes, values: new Values() });
      const found = low.byId.get(node.id);
      const isRounded = found !== undefined && !isQuantised(found);
      for (const name of isRounded ? found.inputs.map((at) => node.inputs[at]!) : [])
        rounded.rounded(name, isRounded ? found.type : 'float16', isSame(name) ? shared : shadows);
      if (found || !readsSame || node.subgraphs.length > 0) rounded.node(node, run, true);
      if (!found) continue;
      const shadow: Sheet = { nodes, values: new Values(shadows.values) };
      rounded.node(node, shadow, true);
      for (const name of found.outputs.map((i) => node.outputs[i]!)) {
        const copies = { reference: name, run: run.values.of(name), shadow: shadow.values.of(name) };
        measures.push(writeMeasures(found, copies, nodes, rounded));
      }
    }
    const outputs = measures
      .flatMap(({ numbers }) => Object.values(numbers))
      .map((name) => ({ name, newType: 'float' }));
    const written = { nodes, constants: rounded.constants.values(), outputs, run: run.values };
    yield { ...plan.chunk(cut, written, file), measures };
  }
}
