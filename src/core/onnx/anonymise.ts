import protobuf from 'protobufjs/minimal.js';
import type { ByteSource } from '../text/byteSource.ts';
import { decodeUtf8 } from '../text/utf8Decoder.ts';
import type { EditedModel } from './editModel.ts';
import { MessagePatch } from './messagePatch.ts';
import {
  ATTRIBUTE,
  DIMENSION,
  FUNCTION,
  GRAPH,
  MODEL,
  NODE,
  SHAPE,
  SPARSE_TENSOR,
  TENSOR,
  TENSOR_TYPE,
  TYPE,
  VALUE,
} from './onnxFields.ts';
import { fieldEnd, scanFields } from './scanFields.ts';
import { segmentsSize } from './segment.ts';
import { bytesTag } from './wireCursor.ts';

/** What a name is of: each kind is numbered for itself. */
type Named = 'tensor' | 'node' | 'graph' | 'dimension';

/** What happens to the fields of a message, by tag; the others stay. A message inside is given by the name of its rules. */
type Rules = Readonly<Record<number, Named | 'drop' | { message: keyof typeof rules }>>;

const rules = {
  model: {
    [MODEL.producer]: 'drop',
    [MODEL.producerVersion]: 'drop',
    [MODEL.domain]: 'drop',
    [MODEL.docString]: 'drop',
    [MODEL.metadata]: 'drop',
    [MODEL.trainingInfo]: 'drop',
    [MODEL.configuration]: 'drop',
    [MODEL.graph]: { message: 'graph' },
    [MODEL.function]: { message: 'function' },
  },
  graph: {
    [GRAPH.name]: 'graph',
    [GRAPH.docString]: 'drop',
    [GRAPH.metadata]: 'drop',
    [GRAPH.quantization]: 'drop',
    [GRAPH.node]: { message: 'node' },
    [GRAPH.initializer]: { message: 'tensor' },
    [GRAPH.sparseInitializer]: { message: 'sparse' },
    [GRAPH.input]: { message: 'value' },
    [GRAPH.output]: { message: 'value' },
    [GRAPH.value]: { message: 'value' },
  },
  // Operators, domains and attributes stay: without them it would be another network.
  node: {
    [NODE.input]: 'tensor',
    [NODE.output]: 'tensor',
    [NODE.name]: 'node',
    [NODE.metadata]: 'drop',
    [bytesTag(6)]: 'drop', // doc_string
    [bytesTag(10)]: 'drop', // device_configurations
    [NODE.attribute]: { message: 'attribute' },
  },
  attribute: {
    [bytesTag(13)]: 'drop', // doc_string
    [ATTRIBUTE.tensor]: { message: 'tensor' },
    [ATTRIBUTE.tensors]: { message: 'tensor' },
    [ATTRIBUTE.graph]: { message: 'graph' },
    [ATTRIBUTE.graphs]: { message: 'graph' },
    [ATTRIBUTE.sparseTensor]: { message: 'sparse' },
    [bytesTag(23)]: { message: 'sparse' },
    [bytesTag(14)]: { message: 'type' },
    [bytesTag(15)]: { message: 'type' },
  },
  tensor: {
    [TENSOR.name]: 'tensor',
    [bytesTag(12)]: 'drop', // doc_string
    [bytesTag(16)]: 'drop', // metadata_props
  },
  sparse: { [SPARSE_TENSOR.values]: { message: 'tensor' }, [SPARSE_TENSOR.indices]: { message: 'tensor' } },
  value: {
    [VALUE.name]: 'tensor',
    [VALUE.type]: { message: 'type' },
    [bytesTag(3)]: 'drop', // doc_string
    [bytesTag(4)]: 'drop', // metadata_props
  },
  type: {
    [TYPE.tensor]: { message: 'tensorType' },
    [TYPE.sparseTensor]: { message: 'tensorType' },
    [bytesTag(4)]: { message: 'element' }, // sequence_type
    [bytesTag(5)]: { message: 'element' }, // map_type
    [bytesTag(9)]: { message: 'element' }, // optional_type
    [bytesTag(6)]: 'drop', // denotation
  },
  element: { [bytesTag(1)]: { message: 'type' }, [bytesTag(2)]: { message: 'type' } },
  tensorType: { [TENSOR_TYPE.shape]: { message: 'shape' } },
  shape: { [SHAPE.dimension]: { message: 'dimension' } },
  dimension: { [DIMENSION.parameter]: 'dimension', [bytesTag(3)]: 'drop' },
  function: {
    [FUNCTION.input]: 'tensor',
    [FUNCTION.output]: 'tensor',
    [FUNCTION.node]: { message: 'node' },
    [bytesTag(8)]: 'drop', // doc_string
    [bytesTag(12)]: { message: 'value' },
    [bytesTag(14)]: 'drop', // metadata_props
  },
} as const satisfies Record<string, Record<number, string | { message: string }>>;

/** A model without the names that its author gave. */
export interface AnonymousModel extends EditedModel {
  /** New names of tensors by the old ones. */
  tensors: Map<string, string>;
}

/**
 * A copy of a model in which nodes, tensors, graphs and symbolic dimensions are numbered, and descriptions, metadata and
 * the producer are left out. Operators, attributes, local functions' names, weights and the places of external data stay.
 * @throws WireError where the model is damaged
 */
export async function planAnonymous(source: ByteSource): Promise<AnonymousModel> {
  const names: Record<Named, Map<string, string>> = {
    tensor: new Map(),
    node: new Map(),
    graph: new Map(),
    dimension: new Map(),
  };
  const file = new MessagePatch({ at: 0, offset: 0, length: source.size }, 0);
  const rewrite = async (patch: MessagePatch, message: keyof typeof rules): Promise<void> => {
    const of: Rules = rules[message];
    for (const field of await scanFields(source, patch.span)) {
      const rule = of[field.tag];
      if (rule === undefined) continue;
      if (rule === 'drop') patch.replace(field.at, fieldEnd(field));
      else if (typeof rule === 'object') await rewrite(patch.child(field, field.tag), rule.message);
      else {
        const old = decodeUtf8(await source.read(field.offset, field.length));
        // The empty name is an input that is not given.
        if (old === '') continue;
        const fresh = names[rule].get(old) ?? `${rule}${names[rule].size}`;
        names[rule].set(old, fresh);
        patch.replace(field.at, fieldEnd(field), {
          bytes: protobuf.Writer.create().uint32(field.tag).string(fresh).finish(),
        });
      }
    }
  };
  await rewrite(file, 'model');
  const segments = file.payload();
  return { segments, size: segmentsSize(segments), external: null, tensors: names.tensor };
}
