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
}

/** Reads the text of a calibration cache: `tensor: 3ebfcfb9`, a float in big-endian hexadecimal digits. null: it is none. */
export function readCalibrationCache(text: string): CalibrationCache | null {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const header = HEADER.test(lines[0] ?? '') ? lines[0]! : null;
  const cache: CalibrationCache = { header, scales: new Map(), unusable: [] };
  const bits = new DataView(new ArrayBuffer(4));
  for (const line of header === null ? lines : lines.slice(1)) {
    const found = LINE.exec(line);
    if (!found) continue;
    bits.setUint32(0, Number.parseInt(found[2]!, 16));
    const scale = bits.getFloat32(0);
    if (scale > 0 && Number.isFinite(scale)) cache.scales.set(found[1]!, scale);
    else cache.unusable.push(found[1]!);
  }
  return header === null && cache.scales.size === 0 ? null : cache;
}
