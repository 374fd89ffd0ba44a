import { type BuildLog, decodeVersion } from '../../formats/tensorrt/buildOutput.ts';
import { versionNumber } from './gpuSupport.ts';

/**
 * Lines of the source of 8.0 to 8.5 that messages name. Logs name one line with several of these versions (2011 with 8.2
 * and 8.4), so the line does not tell which it is. Sources: NVIDIA/TensorRT#1592, #1765, #2035, #2660, #2916, #2918,
 * NVIDIA-AI-IOT/Lidar_AI_Solution#44, xuanandsix/CLRNet-onnxruntime-and-tensorrt-demo#5.
 */
const COMPUTE_COSTS: ReadonlySet<string> = new Set(['1855', '1981', '2011', '2033', '3728']);

/** Whether a log is of a TensorRT before 8.6, by its version or, without one, by what its errors give away. */
export function isBefore86(version: string | null, { messages }: BuildLog): boolean {
  if (version !== null) return versionNumber(version) < versionNumber('8.6');
  return messages.some(({ text, severity }) => {
    const line = severity === 'error' ? /computeCosts::(\d+)\]/.exec(text)?.[1] : undefined;
    return line !== undefined && COMPUTE_COSTS.has(line);
  });
}

/** What people write above a log that they paste, and folders of TensorRT or of its sources. */
const STATED =
  /\b(?:(?:tensor-?rt|trt)(?:[ _-]?version)?\W{1,30}(?:version\W{1,5})?|libnvinfer\w* +|helpers[\\/]rel-|[\\/]release[\\/](?=\d\.\d[\\/]parsers))v?(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)(?!\d|:|-py)/gi;

/** The version of TensorRT that the log names, or the only one that the text around it does. */
export function versionOf({ version, product, strays = [], messages }: BuildLog): string | null {
  if (version !== null || product === 'tensorrt-rtx') return version;
  const stated = [...strays, ...messages].flatMap(({ text }) =>
    [...text.slice(0, 400).matchAll(STATED)].flatMap(([, found = '']) => {
      const whole = decodeVersion(/\..*\./.test(found) ? found : `${found}.0`);
      return whole !== null && versionNumber(whole) >= 400 && versionNumber(whole) < 2000 ? [whole] : [];
    }),
  );
  const [longest] = stated.toSorted((a, b) => Number(a.endsWith('.0')) - Number(b.endsWith('.0')));
  const isOne = stated.every((one) => versionNumber(one) === versionNumber(longest!));
  return longest !== undefined && isOne ? longest : null;
}
