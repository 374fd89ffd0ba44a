import type { DiagnosisCode } from '../../../build/diagnosis.ts';
import { readEventLine } from '../../tools/readEventLine.ts';

/** A tensor at the network's border, as the binding names its type. */
export interface NetworkTensor {
  name: string;
  type: string;
  shape: number[] | null;
}

/** One of the parser's errors. `node` counts the main graph's nodes; -1: no node. */
export interface ParserError {
  code: string;
  message: string;
  node: number | null;
  nodeName: string | null;
  operator: string | null;
  file: string | null;
  line: number | null;
  function: string | null;
}

/** Progress as TensorRT itself reports it. `step`: steps done of `steps`; 0: the phase begins. */
export interface DriverProgress {
  phase: string;
  parent?: string | null;
  step?: number | null;
  steps?: number | null;
  finished?: boolean;
}

/** What `build_engine.py` says, one JSON object per line. */
export type DriverEvent =
  | {
      event: 'start';
      module: string;
      version: string;
      python: string;
      gpu: string | null;
      driver: string | null;
      targets: string[];
    }
  | { event: 'log'; severity: 'V' | 'I' | 'W' | 'E' | 'F'; message: string }
  | { event: 'network'; inputs: NetworkTensor[]; outputs: NetworkTensor[]; layers: number }
  | ({ event: 'progress' } & DriverProgress)
  | { event: 'layers'; text: string }
  | {
      event: 'done';
      engineBytes: number;
      seconds: number;
      parseSeconds: number;
      buildSeconds: number;
      peakMemoryBytes: number | null;
    }
  /** `code`: of `trtlens diagnose`, where the driver itself knows what went wrong. */
  | { event: 'error'; stage: string; message: string; details: ParserError[]; code?: DiagnosisCode };

const known = new Set(['start', 'log', 'network', 'progress', 'layers', 'done', 'error']);

/** The event in one line of the driver's output; undefined for any other line. */
export function readDriverEvent(line: string): DriverEvent | undefined {
  const event = readEventLine<DriverEvent>(line);
  return event && known.has(event.event) ? event : undefined;
}
