import type { MemoryOperations } from '../engine/profile.ts';
import type { FusionReport } from '../fusion/fusionReport.ts';
import { counted, percentText, sizeText, thousands, timeText } from '../text/numbers.ts';

/** What a trace says of something: times in milliseconds, each with what took it. */
export interface TraceSection {
  title: string;
  rows: { ms: number; text: string }[];
}

const memoryNouns: Readonly<Record<MemoryOperations['kind'], readonly [one: string, many: string]>> = {
  'host-to-device': ['copy to the device', 'copies to the device'],
  'device-to-host': ['copy to the host', 'copies to the host'],
  'device-to-device': ['copy within the device', 'copies within the device'],
  'other-copy': ['other copy', 'other copies'],
  set: ['memset', 'memsets'],
};

/** Whole passes through the engine; null without a trace. */
export function passSection({ profile }: FusionReport): TraceSection | null {
  const { pass, launches, passes = 0 } = profile ?? {};
  if (pass === undefined) return null;
  const { averageMs, p50, p90, p99, gapMs } = pass;
  const gap = `no kernel runs for ${timeText(gapMs)} of the median pass (${percentText((100 * gapMs) / p50)})`;
  const rows = [
    {
      ms: averageMs,
      text: `on average on the GPU (p50 ${timeText(p50)}, p90 ${timeText(p90)}, p99 ${timeText(p99)}); ${gap}`,
    },
  ];
  if (launches !== undefined)
    rows.push({
      ms: launches.ms / launches.calls,
      text: `of the host for each of ${counted(launches.calls, 'launch', 'launches')}, ${timeText(launches.ms)} altogether`,
    });
  return { title: `A pass through the engine, of ${thousands(passes)} in the trace`, rows };
}

/** Kernels, copies and memsets of no layer, in all passes and outside them; null if there are none. */
export function restSection({ profile }: FusionReport): TraceSection | null {
  if (profile === undefined) return null;
  const others = profile.kernels - profile.attributed;
  const rows = [
    ...(others > 0 ? [{ ms: profile.otherMs, text: `${counted(others, 'kernel')} of no layer` }] : []),
    ...(profile.memory ?? []).map(({ kind, count, ms, bytes }) => ({
      ms,
      text: `${counted(count, ...memoryNouns[kind])}, ${sizeText(bytes)}`,
    })),
  ];
  return rows.length === 0 ? null : { title: 'In the whole trace, next to the layers', rows };
}
