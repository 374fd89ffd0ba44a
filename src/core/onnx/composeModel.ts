import protobuf from 'protobufjs/minimal.js';
import { MODEL, OPSET } from './onnxFields.ts';
import type { OnnxModel } from './onnxModel.ts';
import { joinSegments, type Segment } from './segment.ts';
import { graphFields, message, type NewGraph } from './writeParts.ts';

/** As new files have it; external data and every operator set are allowed in it. */
const IR_VERSION = 10;

/**
 * A model with another graph, as pieces of the old file and new bytes; operator sets, functions and metadata stay.
 * `model` was read with spans.
 * @param weights the model's own file name: large weights inside the model become external data in that file, so
 * that the new model stays small. null: they are copied
 * @param irVersion the least that the new model has
 */
export function composeModel(
  model: OnnxModel,
  size: number,
  graph: NewGraph,
  weights: string | null,
  irVersion = IR_VERSION,
): Segment[] {
  const { at, offset, length } = model.graph.span!;
  const end = protobuf.Writer.create().uint32(MODEL.irVersion).uint32(Math.max(irVersion, model.irVersion));
  return joinSegments([
    { copy: { offset: 0, length: at } },
    ...message(MODEL.graph, graphFields(graph, weights)),
    { copy: { offset: offset + length, length: size - offset - length } },
    // Of a field that is written twice the last one counts.
    { bytes: end.finish() },
  ]);
}

/** What a model has more, at its end, that uses operators of another domain. */
export function importedDomain(domain: string): Segment {
  const writer = protobuf.Writer.create().uint32(MODEL.opset).fork();
  return { bytes: writer.uint32(OPSET.domain).string(domain).uint32(OPSET.version).int64(1).ldelim().finish() };
}
