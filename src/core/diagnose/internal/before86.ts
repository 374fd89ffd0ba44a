import type { BuildLog } from '../../formats/tensorrt/buildOutput.ts';
import { versionNumber } from './gpuSupport.ts';

/**
 * Lines of the source of 8.0 to 8.5 that messages name. Logs name one line with several of these versions (2011 with 8.2
 * and 8.4), so the line does not tell which it is. Sources: NVIDIA/TensorRT#1592, #1765, #2035, #2660, #2916, #2918,
 * NVIDIA-AI-IOT/Lidar_AI_Solution#44, xuanandsix/CLRNet-onnxruntime-and-tensorrt-demo#5.
 */
const COMPUTE_COSTS: ReadonlySet<string> = new Set(['1855', '1981', '2011', '2033', '3728']);

/** Whether a log is of a TensorRT before 8.6, by its version or, without one, by what its errors give away. */
export function isBefore86({ version, messages }: BuildLog): boolean {
  if (version !== null) return versionNumber(version) < versionNumber('8.6');
  return messages.some(({ text, severity }) => {
    const line = severity === 'error' ? /computeCosts::(\d+)\]/.exec(text)?.[1] : undefined;
    return line !== undefined && COMPUTE_COSTS.has(line);
  });
}
