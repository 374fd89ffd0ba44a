import { thousands } from '../text/numbers.ts';
import { oneLine } from '../text/oneLine.ts';

const HEADER = /^TRT-\d+-\w+$/;
const LINE = /^(.+): ([0-9a-fA-F]{8})$/;

/** A calibration cache of TensorRT 10 and earlier: INT8 scales by tensor. */
export interface CalibrationCache {
  /** First line, such as `TRT-8601-EntropyCalibration2`; null: none. */
  header: string | null;
  /** Scale by tensor name: the dynamic range is 127 times that. */
  scales: Map<string, number>;
  /** Tensors whose scale is zero, negative or not finite. */
  unusable: string[];
  /** Numbers of the lines behind the first that are not a tensor with its scale. */
  unread: number[];
}

/** What in a cache has no effect, in sentences. */
export function cacheNotes({ unusable, unread }: CalibrationCache): string[] {
  return [
    ...unusable.map((tensor) => `The calibration cache has no positive finite scale for "${oneLine(tensor)}".`),
    ...(unread.length === 0
      ? []
      : [
          `${unread.length === 1 ? `Line ${unread[0]!} of the calibration cache is` : `${thousands(unread.length)} lines of the calibration cache, the first of them ${unread[0]!}, are`} not a tensor with its scale. Write the cache again if it was cut off.`,
        ]),
  ];
}

/** Reads the text of a calibration cache: `tensor: 3ebfcfb9`, a float in big-endian hexadecimal digits. null: it is none. */
export function readCalibrationCache(text: string): CalibrationCache | null {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const header = HEADER.test(lines[0] ?? '') ? lines[0]! : null;
  const cache: CalibrationCache = { header, scales: new Map(), unusable: [], unread: [] };
  const bits = new DataView(new ArrayBuffer(4));
  for (const [index, line] of lines.entries()) {
    const found = index === 0 && header !== null ? null : LINE.exec(line);
    if (!found) {
      if (index > 0 && line.trim() !== '') cache.unread.push(index + 1);
      continue;
    }
    bits.setUint32(0, Number.parseInt(found[2]!, 16));
    const scale = bits.getFloat32(0);
    if (scale > 0 && Number.isFinite(scale)) cache.scales.set(found[1]!, scale);
    else cache.unusable.push(found[1]!);
  }
  cache.unusable = cache.unusable.filter((tensor) => !cache.scales.has(tensor));
  return header === null && cache.scales.size === 0 ? null : cache;
}
