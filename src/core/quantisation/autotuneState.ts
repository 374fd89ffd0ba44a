import { counted, timeText } from '../text/numbers.ts';

/** What ModelOpt's autotune has measured so far: its `autotuner_state.yaml`, as its guide documents it. */
export interface AutotuneState {
  /** Latency without Q/DQ nodes, in milliseconds; null: not measured. */
  baselineMs: number | null;
  /** Signature of the pattern at which the search was interrupted; null: it was not. */
  interrupted: string | null;
  patterns: AutotunePattern[];
}

/** Parts of the network that look alike, for which one placement of Q/DQ nodes is chosen. */
export interface AutotunePattern {
  signature: string;
  /** How many placements were tried. */
  schemes: number;
  /** The chosen one; null: none is better than no Q/DQ nodes, or none was measured. */
  best: { index: number; latencyMs: number | null } | null;
}

/** Reads the state from parsed YAML; null: it is something else. */
export function readAutotuneState(content: unknown): AutotuneState | null {
  if (!isRecord(content) || !('baseline_latency_ms' in content) || !Array.isArray(content['patterns'])) return null;
  const interrupted = content['current_profile_pattern_schemes_signature'];
  return {
    baselineMs: latency(content['baseline_latency_ms']),
    interrupted: typeof interrupted === 'string' ? interrupted : null,
    patterns: content['patterns'].filter(isRecord).map(readPattern),
  };
}

function readPattern(pattern: Record<string, unknown>): AutotunePattern {
  const schemes = Array.isArray(pattern['schemes']) ? (pattern['schemes'] as unknown[]) : [];
  const index = pattern['best_scheme_index'];
  const scheme = typeof index === 'number' ? schemes[index] : undefined;
  return {
    signature: typeof pattern['pattern_signature'] === 'string' ? pattern['pattern_signature'] : '',
    schemes: schemes.length,
    best: isRecord(scheme) ? { index: index as number, latencyMs: latency(scheme['latency_ms']) } : null,
  };
}

/** What was not measured is infinite there. */
const latency = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What was measured at all, in sentences for a terminal and a page. */
export function autotuneSummary({ baselineMs, patterns }: AutotuneState): string[] {
  const tried = patterns.reduce((sum, { schemes }) => sum + schemes, 0);
  return [
    `Without Q/DQ nodes: ${baselineMs === null ? 'not measured' : timeText(baselineMs)}`,
    `${counted(patterns.length, 'pattern')}, ${counted(tried, 'placement')} of Q/DQ nodes tried`,
  ];
}

/** What to do with it. */
export const autotuneNotes = ({ interrupted }: AutotuneState): string[] => [
  ...(interrupted === null ? [] : [`Interrupted at ${interrupted}: run autotune again to continue.`]),
  'Placements are relative to a pattern and name no nodes: pass optimized_final.onnx to trtlens quantisation for its pairs, or open it and select Show Quantization.',
];

/** The state as text for the terminal. */
export function autotuneText(state: AutotuneState): string {
  const lines = state.patterns.map(({ signature, schemes, best }) => {
    const chosen =
      best === null
        ? 'none chosen'
        : `number ${best.index} chosen${best.latencyMs === null ? '' : `, ${timeText(best.latencyMs)}`}`;
    return `${signature}: ${counted(schemes, 'placement')}, ${chosen}`;
  });
  return [...autotuneSummary(state), ...lines, ...autotuneNotes(state)].map((line) => `${line}\n`).join('');
}
