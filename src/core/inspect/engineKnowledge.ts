import type { EngineOrigin } from './engineOrigin.ts';
import type { EngineReading } from './engineReading.ts';

/** Where an engine is to run; null: not known. */
export interface EngineTarget {
  product: 'tensorrt' | 'tensorrt-rtx' | null;
  /** `10.6.0`, or its beginning. */
  version: string | null;
  /** `8.9` */
  computeCapability: string | null;
  /** Which of TensorRT's libraries is to load it; null: the full one. */
  runtime: EngineRuntime | null;
  /** Its operating system. */
  platform: EnginePlatform | null;
}

/** Nothing is known of it. */
export const unknownTarget: EngineTarget = {
  product: null,
  version: null,
  computeCapability: null,
  runtime: null,
  platform: null,
};

export const engineRuntimes = ['full', 'lean', 'dispatch'] as const;
export type EngineRuntime = (typeof engineRuntimes)[number];

export const enginePlatforms = ['linux', 'windows'] as const;
export type EnginePlatform = (typeof enginePlatforms)[number];

/** What the header of an engine file says. */
export interface EngineFacts {
  product: 'tensorrt' | 'tensorrt-rtx' | null;
  version: string | null;
  /** The fourth part of the version; null: the format of the file does not have it. */
  buildNumber: number | null;
  /** TensorRT-RTX only: the compute capabilities that it was built for. null: the header does not say. */
  computeCapabilities: string[] | null;
}

/** One condition for an engine to load. */
export interface PortabilityCheck {
  check:
    | 'file'
    | 'version'
    | 'version-compatible'
    | 'gpu'
    | 'hardware-compatibility'
    | 'platform'
    | 'driver'
    | 'runtime'
    | 'plugins'
    | 'load';
  verdict: 'fits' | 'slower' | 'no' | 'unknown';
  message: string;
}

/** All that is known of an engine. */
export interface EngineKnowledge extends EngineFacts {
  /** The file has all bytes that its header specifies. */
  isWhole: boolean;
  /** Its build in the history; null: not known. */
  origin: EngineOrigin | null;
  /** What TensorRT says of it on one computer; null: it was not asked. */
  reading: EngineReading | null;
}
