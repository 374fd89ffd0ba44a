import type { TimingSummary } from '../engine/readTiming.ts';
import type { Problem } from '../text/problem.ts';
import type { EngineFacts, PortabilityCheck } from './engineKnowledge.ts';

export type FileKind =
  | 'onnx'
  | 'layer-info'
  | 'build-log'
  | 'profile'
  | 'trace'
  | 'counters'
  | 'timing'
  | 'replay'
  | 'choices'
  | 'calibration-cache'
  | 'timing-cache'
  | 'engine'
  | 'overrides'
  | 'unknown';

/** What a file is, by its content. */
export interface Inspection {
  kind: FileKind;
  /** One sentence for the user: what it is and what it contains. */
  summary: string;
  tensorrt: { product: 'tensorrt' | 'tensorrt-rtx' | null; version: string | null };
  /** Numbers of what it contains: `nodes`, `layers`, `rows`, `tensors`, `bytes`, … */
  counts: Record<string, number>;
  /** Of an engine: what its header says, and whether it loads there. */
  engine?: EngineFacts & { portability: PortabilityCheck[] };
  /** Of times of inferences: their distribution in milliseconds; a part that was not recorded is omitted. */
  times?: TimingSummary;
  problems: Problem[];
}

export function inspection(
  kind: FileKind,
  summary: string,
  parts: Partial<Omit<Inspection, 'kind' | 'summary'>> = {},
): Inspection {
  return { kind, summary, tensorrt: { product: null, version: null }, counts: {}, problems: [], ...parts };
}
