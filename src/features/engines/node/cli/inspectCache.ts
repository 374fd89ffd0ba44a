import { readWhole } from '../../../../kernel/node/files/fileSource.ts';
import { type TimingCacheReading, readTimingCache } from '../../../../kernel/node/run/timingCaches.ts';
import { type CalibrationCache, readCalibrationCache } from '../../../../kernel/quantization/quantization.ts';
import { decodeUtf8, timeText } from '../../../../kernel/base/text.ts';
import type { Terminal } from '../../../../kernel/node/cli/terminal.ts';
import { type InspectValues, tensorrtPlace } from './inspectOptions.ts';

/** What `inspect` adds to a calibration cache: fields for --json, and lines. */
export async function inspectCalibrationCache(path: string): Promise<{ fields: object; lines: string[] }> {
  const cache = readCalibrationCache(decodeUtf8(await readWhole(path)));
  if (cache === null) return { fields: {}, lines: [] };
  const tensors = tensorsOf(cache);
  const lines = tensors.map(({ tensor, scale }) =>
    scale === null
      ? `  tensor ${tensor}: no usable scale`
      : `  tensor ${tensor}: scale ${digits(scale, 6)}, ±${digits(scale * 127, 4)}`,
  );
  return { fields: { calibration: { header: cache.header, tensors } }, lines };
}

const tensorsOf = ({ scales, unusable }: CalibrationCache) => [
  ...[...scales].map(([tensor, scale]) => ({ tensor, scale })),
  ...unusable.map((tensor) => ({ tensor, scale: null })),
];

const digits = (value: number, count: number): string => String(Number(value.toPrecision(count)));

/** The same for a timing cache that TensorRT reads. */
export async function inspectTimingCache(
  path: string,
  values: InspectValues,
  terminal: Terminal,
): Promise<{ fields: { timingCache: TimingCacheReading }; lines: string[] }> {
  const reading = await readTimingCache({ cache: path, ...(await tensorrtPlace(values, terminal)) });
  const { entries, version, gpu, messages } = reading;
  const lines = [
    `read by TensorRT ${version} on ${gpu}`,
    ...(entries ?? []).map(({ key, tacticHash, milliseconds }) => {
      const time = milliseconds === null ? '' : `, ${timeText(milliseconds)}`;
      return `  entry ${key}: tactic ${tacticHash}${time}`;
    }),
    ...(entries === null ? [`  TensorRT ${version} cannot list entries; 10.8 and later can`] : []),
    ...messages.map(({ message }) => `  TensorRT: ${message}`),
  ];
  return { fields: { timingCache: reading }, lines };
}
