import type { EngineLayer } from '../../../read/tensorrt/buildOutput.ts';
import { atomsOf, type LayerName, parseLayerName, parseMetadata } from '../../../network/layerName.ts';
import { scopeOf } from '../../../network/layerName.ts';
import { lastPart } from '../hierarchy.ts';

/** What of the user's model a layer was made of, as far as TensorRT's texts name it. */
export interface LayerOrigin {
  /** The module that contains all of it, outermost part first, joined by `/`; '' for none. */
  scope: string;
  /** Names of the model's nodes as TensorRT's metadata or Torch-TensorRT's names give them; empty if neither does. */
  nodes: string[];
  /** In few words: `Conv + Relu`; the layer's own name if it contains no name of the model. */
  label: string;
}

/** How many parts a label names before it counts the rest. */
const mostParts = 4;

/**
 * Torch-TensorRT: `[CONVOLUTION]-[aten_ops.convolution.default]-[/features/0/convolution]`, newer
 * `[MATRIX_MULTIPLY]-[aten_ops.linear.default]-[blocks.0.fc/linear_0]`; also without the type.
 */
const torchPart = /\[\w+_ops\.[^[\]]*\]-\[([^[\]]*)\]/g;

/**
 * The origin of a layer: its metadata names ONNX nodes, Torch-TensorRT's layer names contain module paths; otherwise the
 * layer's name is made of names of layers, which have the nodes' paths. Never fails.
 */
export function layerOrigin({ name, metadata }: Pick<EngineLayer, 'name' | 'metadata'>): LayerOrigin {
  const tokens = metadata === null ? [] : parseMetadata(metadata).tokens.map(({ parts }) => parts[0] ?? '');
  if (tokens.length > 0) return originFrom([...new Set(tokens)], tokens);
  const torch = [...name.matchAll(torchPart)].map(([, path = '']) => torchPath(path));
  if (torch.length > 0) return originFrom([...new Set(torch)], torch);
  const parsed = parseLayerName(name);
  const origin = originFrom([], namesIn(parsed));
  return origin.label === '' ? { ...origin, label: parsed.kind === 'kernel' ? parsed.base : name } : origin;
}

/** The module of an FX node is a path with slashes, or with dots as PyTorch writes it; `__` stands for none. */
function torchPath(path: string): string {
  const [module = '', node, ...more] = path.split('/');
  if (node === undefined || more.length > 0 || !module.includes('.')) return path.replace(/^__(?=\/)/, '');
  return [...scopeOf(`${module}.${node}`, undefined), node].join('/');
}

function originFrom(nodes: string[], names: readonly string[]): LayerOrigin {
  const paths = names.map((name) => (name.includes('/') ? scopeOf(name, undefined) : []));
  const [first = [], ...others] = paths;
  let shared = first.length;
  for (const path of others) {
    shared = Math.min(shared, path.length);
    while (path.slice(0, shared).join('/') !== first.slice(0, shared).join('/')) shared -= 1;
  }
  const parts = [...new Set(names.map(lastPart))].filter((part) => part !== '');
  const more = parts.length > mostParts + 1 ? [`${parts.length - mostParts} more`] : [];
  const label = [...(more.length > 0 ? parts.slice(0, mostParts) : parts), ...more].join(' + ');
  return { scope: first.slice(0, shared).join('/'), nodes, label };
}

/** Names of layers and tensors in a layer's name, without those that TensorRT made up. */
function namesIn(name: LayerName): string[] {
  return rawNames(name).filter((part) => part !== '' && !/^(?:__|\$\$|\(Unnamed |_gem[mv]_)/.test(part));
}

function rawNames(name: LayerName): string[] {
  switch (name.kind) {
    case 'kernel':
      return name.base.split('+');
    case 'copy':
      return [name.tensor];
    case 'reformat':
    case 'profile':
      return rawNames(name.of);
    default:
      return atomsOf(name);
  }
}
