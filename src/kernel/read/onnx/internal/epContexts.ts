import { intAttribute, isEpContext, type OnnxModel, type OnnxNode, textAttribute } from '../onnxModel.ts';

/** What ONNX Runtime wrote in place of a part of a model: an engine, in the node or in a file next to the model. */
export interface EpContext {
  node: OnnxNode;
  /** The part's name; '' if it has none. */
  partition: string;
  /** The execution provider that wrote it, as `NvTensorRTRTXExecutionProvider`; '' in old models of the TensorRT provider. */
  source: string;
  /** Place of the engine in the file of the model. */
  embedded: { offset: number; length: number } | null;
  /** Name of the engine's file, relative to the model's folder; both null: the node has neither. */
  file: string | null;
  /** Version and GPU as the provider noted them; '' if it did not. */
  sdk: string;
  hardware: string;
}

/** The nodes of a model that contain engines (`EPContext` of com.microsoft), of its main graph. */
export function epContexts({ nodes }: Pick<OnnxModel, 'nodes'>): EpContext[] {
  return nodes.filter(isEpContext).map(contextOf);
}

function contextOf(node: OnnxNode): EpContext {
  const text = (name: string): string => textAttribute(node, name) ?? '';
  const content = node.attributes.find(({ name }) => name === 'ep_cache_context');
  const { offset, count } = content ?? {};
  // 1 is the default: the node itself has the engine.
  const isEmbedded = (intAttribute(node, 'embed_mode') ?? 1) !== 0;
  const file = isEmbedded ? '' : text('ep_cache_context');
  return {
    node,
    partition: text('partition_name') || node.name,
    source: text('source'),
    embedded: isEmbedded && offset !== undefined && count !== undefined ? { offset, length: count } : null,
    file: file === '' ? null : file,
    sdk: text('ep_sdk_version'),
    // `89` is compute capability 8.9.
    hardware: (text('hardware_architecture') || text('hardware_arch')).replace(/^(\d+)(\d)$/, '$1.$2'),
  };
}
