import type { TensorTypes } from '../model/tensorTypes.ts';
import { type Chunk, ChunkPlan, type ModelFile } from './chunkPlan.ts';
import { JudgeWriter } from './judgeWriter.ts';
import type { LowModel } from './lowNodes.ts';
import type { Measures } from './measures.ts';
import { Names } from './runWriter.ts';

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
  const judge = new JudgeWriter(low, types, new Names(low));
  const { constants } = judge.writer;
  for (const cut of plan.cuts()) {
    constants.clear();
    const place = judge.place();
    for (const [name, value] of plan.kept) place.run.set(name, value);
    const measures: Measures[] = [];
    for (let position = cut.from; position < cut.to; position++)
      measures.push(...judge.node(plan.graph.nodes[position]!, plan.reads[position]!, '', place));
    const outputs = measures
      .flatMap(({ numbers }) => Object.values(numbers))
      .map((name) => ({ name, newType: 'float' }));
    const written = { nodes: place.nodes, constants: [...constants.values()], outputs, run: place.run };
    yield { ...plan.chunk(cut, written, file), measures };
  }
}
