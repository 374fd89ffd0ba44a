import { sizeText } from '../text/numbers.ts';

/** What TensorRT itself says of an engine on one computer (`read_engine.py`). */
export interface EngineReading {
  module: 'tensorrt' | 'tensorrt_rtx';
  /** `10.6.0`, of TensorRT-RTX with the build number. */
  version: string;
  /** The GPU there; `cuda`: the version that its driver supports. null: no driver. */
  gpu: { name: string; computeCapability: string; cuda: string } | null;
  /** TensorRT-RTX's own check of the header (`get_engine_validity`); null: TensorRT has none, or it needs a driver. */
  validity: { verdict: 'VALID' | 'SUBOPTIMAL' | 'INVALID'; reasons: string[] } | null;
  /** null: it could not be loaded. */
  engine: EngineDetails | null;
  /** Why it could not be loaded. */
  error: string | null;
  /** The inspector's JSON; null: not loaded, or built without profiling verbosity. */
  layers: string | null;
  /** What TensorRT warned of: warnings, errors, fatal errors. */
  messages: { severity: 'W' | 'E' | 'F'; message: string }[];
}

/** An engine as TensorRT describes it. null: this version of TensorRT does not say. */
export interface EngineDetails {
  name: string;
  tensors: EngineBinding[];
  /** How many optimization profiles. */
  profiles: number;
  layers: number;
  auxStreams: number | null;
  /** Bytes that an execution context needs on the GPU. */
  deviceMemory: number | null;
  /** Bytes of weights that can be streamed. */
  streamableWeights: number | null;
  refittable: boolean | null;
  /** `NONE`, `AMPERE_PLUS`, `SAME_COMPUTE_CAPABILITY` */
  hardwareCompatibility: string | null;
  /** `STANDARD`, `SAFETY`, `DLA_STANDALONE` */
  capability: string | null;
  /** `LAYER_NAMES_ONLY`, `DETAILED`, `NONE` */
  profilingVerbosity: string | null;
}

/** An input or output. */
export interface EngineBinding {
  name: string;
  mode: 'input' | 'output';
  /** `fp32`, `int64`, … */
  type: string;
  /** -1: open. */
  shape: number[];
  /** `Row major linear FP32 format` */
  format: string | null;
  /** `DEVICE`, `HOST` */
  location: string | null;
  /** Shapes of an input in each optimization profile. */
  profiles: (ProfileRange | null)[];
  /** Values of an input that is a shape, in each optimization profile. */
  values: (ProfileRange | null)[] | null;
}

export interface ProfileRange {
  min: number[];
  opt: number[];
  max: number[];
}

/** `TensorRT 10.6.0 on NVIDIA H100 (compute capability 9.0, CUDA 12.8)` */
export function whereRead({ module, version, gpu }: EngineReading): string {
  const product = module === 'tensorrt_rtx' ? 'TensorRT-RTX' : 'TensorRT';
  const where =
    gpu === null
      ? 'without a driver'
      : `on ${gpu.name} (compute capability ${gpu.computeCapability}, CUDA ${gpu.cuda})`;
  return `${product} ${version} ${where}`;
}

/** `1x3x224x224 … 8x3x224x224, best 4x3x224x224`; `1x3`, where it is only one. */
export function profileRangeText({ min, opt, max }: ProfileRange): string {
  const [from, best, to] = [min, opt, max].map((one) => shapeText(one));
  return from === to ? from! : `${from} … ${to}, best ${best}`;
}

/** `-1x3x224x224`; `scalar` */
export const shapeText = (shape: readonly number[]): string => (shape.length === 0 ? 'scalar' : shape.join('x'));

/** An engine's facts besides its tensors, as label and value; what TensorRT does not say is left out. */
export function detailsOf(engine: EngineDetails): [label: string, value: string][] {
  const { hardwareCompatibility: level, deviceMemory, streamableWeights, refittable } = engine;
  const list: [string, string | null][] = [
    ['Network', engine.name === '' ? null : engine.name],
    ['Layers', String(engine.layers)],
    ['Optimization profiles', String(engine.profiles)],
    ['Auxiliary streams', engine.auxStreams === null ? null : String(engine.auxStreams)],
    ['Device memory of a context', deviceMemory === null ? null : sizeText(deviceMemory)],
    ['Weights that can be streamed', streamableWeights ? sizeText(streamableWeights) : null],
    ['Refittable', refittable === null ? null : refittable ? 'yes' : 'no'],
    ['Hardware compatibility', level === null ? null : words(level)],
    ['Capability', engine.capability === null ? null : words(engine.capability)],
    ['Profiling verbosity', engine.profilingVerbosity === null ? null : words(engine.profilingVerbosity)],
  ];
  return list.filter((fact): fact is [string, string] => fact[1] !== null);
}

const words = (name: string): string => name.toLowerCase().replaceAll('_', ' ');

/** The shapes, and for an input that is a shape the values, that each optimization profile takes, one text a profile. */
export function profilesOf({ profiles, values }: EngineBinding): string[] {
  return profiles.map((shape, index) => {
    const value = values?.[index];
    if (value) return `values ${profileRangeText(value)}`;
    return shape === null ? 'unknown' : profileRangeText(shape);
  });
}

/** Plugins that TensorRT missed when it loaded the engine: `name, version`. */
export function missingPlugins({ messages }: EngineReading): string[] {
  const names = messages.flatMap(({ message }) => {
    const found = /(?:cannot|could not) find plugin:? (?<name>\w+),?(?:\s*version:? (?<version>\w+))?/i.exec(message);
    const { name, version } = found?.groups ?? {};
    return name === undefined ? [] : [version === undefined ? name : `${name}, version ${version}`];
  });
  return [...new Set(names)];
}
