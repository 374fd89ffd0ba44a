import { counted } from '../../base/text.ts';
import { addTo } from '../../base/addTo.ts';
import { parseMetadata, withoutKernelPlace } from '../../network/layerName.ts';
import type { Remark } from '../fusionReport.ts';
import { quote } from './namedMembers.ts';
import type { Resolution } from './resolution.ts';

/** TensorRT's layer types of 10.14 and later, by the type under `GRAPH NODES`; the class of its API names each. */
const newKinds: Readonly<Record<string, readonly [one: string, many: string, type: string]>> = {
  ATTENTION_INPUT: ['attention', 'attentions', 'IAttention'],
  ROTARY_EMBEDDING: ['rotary embedding', 'rotary embeddings', 'IRotaryEmbeddingLayer'],
  KVCACHE_UPDATE: ['KV cache update', 'KV cache updates', 'IKVCacheUpdateLayer'],
  MOE: ['mixture of experts', 'mixtures of experts', 'IMoELayer'],
  DIST_COLLECTIVE: ['collective operation', 'collective operations', 'IDistCollectiveLayer'],
  DYNAMIC_QUANTIZE: ['dynamic quantization', 'dynamic quantizations', 'IDynamicQuantizeLayer'],
};

/** The other types of TensorRT 8 to 11 and TensorRT-RTX 1.7. */
const knownKinds = new Set(
  'ACTIVATION ASSERTION ATTENTION_OUTPUT CAST CONCATENATION CONDITION CONDITIONAL_INPUT CONDITIONAL_OUTPUT CONSTANT CONVOLUTION CUMULATIVE DECONVOLUTION DEQUANTIZE EINSUM ELEMENTWISE FILL FULLY_CONNECTED GATHER GRAPH GRID_SAMPLE IDENTITY ITERATOR LOOP_OUTPUT LRN MATRIX_MULTIPLY NMS NON_ZERO NORMALIZATION ONE_HOT PADDING PARAMETRIC_RELU PLUGIN PLUGIN_V2 PLUGIN_V3 POINTWISE POOLING QUANTIZE RAGGED_SOFTMAX RECURRENCE REDUCE RESIZE REVERSE_SEQUENCE SCALE SCATTER SELECT SHAPE SHAPE_DEVICE_TO_HOST SHAPE_HOST_TO_DEVICE SHUFFLE SLICE SOFTMAX SQUEEZE TOPK TRIP_LIMIT UNARY UNSQUEEZE'.split(
    ' ',
  ),
);

/** Kinds in the title of a ForeignNode. */
const mostKinds = 3;

/** Layers of one type in the network that TensorRT was given. */
export interface NetworkLayers {
  kind: string;
  names: string[];
  /** Layers of the engine and ForeignNodes that contain them. */
  layers: number[];
  regions: number[];
  nodes: string[];
  /** Of the log; null: a kernel says so. */
  line: number | null;
}

/** Layers of the network of types that 10.14 and later have, or that are not known, and where they are. */
export function networkLayers(from: Resolution): NetworkLayers[] {
  const byKind = new Map<string, { name: string; line: number }[]>();
  for (const { kind, name, line } of from.view.phase?.graphNodes ?? []) {
    const type = kind === 'KV_CACHE_UPDATE' ? 'KVCACHE_UPDATE' : kind;
    if (!knownKinds.has(type)) addTo(byKind, type, { name, line });
  }
  const found = [...byKind].map(([kind, own]) =>
    placed(
      from,
      kind,
      own.map(({ name }) => name),
      own[0]!.line,
    ),
  );
  // Kernels show collectives and dynamic quantization also where there is no log.
  const shown = (kind: string, is: (name: string, type: string) => boolean): void => {
    if (byKind.has(kind)) return;
    const layers = from.view.layers.flatMap(({ name, type }, index) => (is(name, type) ? [index] : []));
    if (layers.length > 0) found.push(inLayers(from, kind, [], layers));
  };
  shown('DIST_COLLECTIVE', (_, type) => type.startsWith('comm_'));
  shown('DYNAMIC_QUANTIZE', (name) => /^__myl_(?:[A-Z][a-z]+)*?Dyna(?![a-z])/.test(name));
  return found;
}

/** What a ForeignNode of which no node is known contains, as far as the network's list says: `Attention ×2`. */
export function contentOfRegion(found: readonly NetworkLayers[], region: number): string {
  const parts = found
    .filter(({ regions, kind }) => regions.includes(region) && newKinds[kind] !== undefined)
    .map(({ kind, names, regions }) => {
      const [one] = newKinds[kind]!;
      const times = regions.length === 1 && names.length > 1 ? ` ×${names.length}` : '';
      return one[0]!.toUpperCase() + one.slice(1) + times;
    });
  return (parts.length > mostKinds ? [...parts.slice(0, mostKinds), '…'] : parts).join(' + ');
}

/** One remark for each type. */
export const networkRemarks = (found: readonly NetworkLayers[]): Remark[] =>
  found.map(({ kind, names, layers, regions, nodes, line }) => ({
    kind: 'analysis',
    code: newKinds[kind] === undefined ? 'unknown-layer-type' : 'layer-type',
    message: `${subject(kind, names, layers.length)}${placeText(regions, layers.length, names.length === 0)}.`,
    evidence: line === null ? { layer: layers[0]! } : { line },
    nodes,
    layers,
  }));

function subject(kind: string, names: readonly string[], kernels: number): string {
  const words = newKinds[kind];
  if (words !== undefined && names.length === 0)
    return `${counted(kernels, 'layer computes', 'layers compute')} ${words[1]} (${words[2]})`;
  const first = names.length === 1 ? quote(names[0]!) : `the first is ${quote(names[0]!)}`;
  if (words === undefined)
    return `The network has ${counted(names.length, 'layer')} of type ${kind}, which this version of TensorRT Lens does not know (${first})`;
  const [one, many, type] = words;
  return `The network has ${counted(names.length, one, many)} (${type}; ${first})`;
}

function placeText(regions: readonly number[], layers: number, isKernels: boolean): string {
  const where =
    regions.length === 0
      ? ''
      : regions.length <= 3
        ? ` in ForeignNode ${regions.join(', ')}`
        : ` in ${counted(regions.length, 'ForeignNode')}`;
  if (isKernels) return where;
  if (layers === 0) return `${where}; which kernels compute it is not known`;
  return `${where}, computed by ${counted(layers, 'layer or kernel', 'layers and kernels')} of the engine`;
}

/** Where the layers of these names are: by the nodes of the model, otherwise by the metadata of kernels and ForeignNodes. */
function placed(from: Resolution, kind: string, names: string[], line: number): NetworkLayers {
  const shown = names.map((name) => name.replace(/_AttentionInput(?=(?:_\d+)?$)/, ''));
  const nodes = new Set(shown.flatMap((name) => [...from.names.nodesOfLayer(name)]));
  if (nodes.size > 0) {
    const layers = [...new Set([...nodes].flatMap((node) => from.nodeLayers[node]!))].toSorted((a, b) => a - b);
    const regions = [...new Set([...nodes].map((node) => from.regionOf[node]!))].filter((region) => region >= 0);
    return {
      kind,
      names: shown,
      layers,
      regions: regions.toSorted((a, b) => a - b),
      nodes: [...nodes].toSorted((a, b) => a - b).map((node) => from.graph.nodes[node]!.id),
      line,
    };
  }
  const wanted = new Set(shown);
  const isNamedIn = (metadata: string | null): boolean =>
    metadata !== null &&
    parseMetadata(metadata, from.names.likeTokens).tokens.some(({ parts }) => wanted.has(parts[0]!));
  const layers = from.view.layers.flatMap(({ metadata, name }, index) =>
    isNamedIn(metadata) || wanted.has(withoutKernelPlace(name)) ? [index] : [],
  );
  const found = inLayers(from, kind, shown, layers, line);
  const regions = from.view.regions.flatMap(({ metadata, name }, region) =>
    isNamedIn(metadata) || shown.some((one) => name.includes(`[${one}]`)) ? [region] : [],
  );
  const all = [...new Set([...found.regions, ...regions])].toSorted((a, b) => a - b);
  return { ...found, regions: all.length === 0 && from.view.regions.length === 1 ? [0] : all };
}

function inLayers(
  from: Resolution,
  kind: string,
  names: string[],
  layers: number[],
  line: number | null = null,
): NetworkLayers {
  const regions = new Set(layers.map((layer) => from.view.regionOf[layer]!).filter((region) => region >= 0));
  const nodes = new Set(layers.flatMap((layer) => [...from.layerNodes[layer]!]));
  return {
    kind,
    names,
    layers,
    regions: [...regions].toSorted((a, b) => a - b),
    nodes: [...nodes].toSorted((a, b) => a - b).map((node) => from.graph.nodes[node]!.id),
    line,
  };
}
