import type { EngineLayer } from './engineLayer.ts';

/** Layer info as IEngineInspector / `--exportLayerInfo` writes it, of any version since 8.2. */
export interface LayerInfo {
  /** What was recorded: whole layers, only names, or nothing (profiling verbosity none, engine without layers). */
  detail: 'detailed' | 'names' | 'none';
  layers: EngineLayer[];
  /** Names of the engine's inputs and outputs, as far as given. */
  bindings: string[];
  /** TensorRT 11's "I/O Tensors", else empty. */
  ioTensors: { name: string; mode: 'input' | 'output' | null; type: string | null; dims: number[] | null }[];
  /** How many JSON documents the file held. */
  documents: number;
  /** Keys that this reader does not know, with the number of layers that carry them. */
  unknownKeys: Record<string, number>;
  /** Number of layers by LayerType. */
  layerTypes?: Record<string, number>;
}
