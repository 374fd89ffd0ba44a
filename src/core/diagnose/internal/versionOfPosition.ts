import type { BuildLog } from '../../formats/tensorrt/buildOutput.ts';

/**
 * TensorRT's version by the line of its source that a message names, where no banner tells it. Sources: logs that have
 * both, in NVIDIA/TensorRT#1592, #1765, #2035, #2660, #2916, #2918, #3930 and NVIDIA-AI-IOT/Lidar_AI_Solution#44.
 */
const COMPUTE_COSTS: Readonly<Record<string, string>> = {
  1855: '8.0',
  2011: '8.2',
  2033: '8.4',
  3728: '8.5',
  3869: '8.6',
  3873: '8.6',
};

/** The version that the messages of a log give away; null: none does. */
export function versionOfPosition({ messages }: BuildLog): string | null {
  for (const { text, severity } of messages) {
    if (severity !== 'error') continue;
    const line = /computeCosts::(\d+)\]/.exec(text)?.[1];
    if (line !== undefined && Object.hasOwn(COMPUTE_COSTS, line)) return COMPUTE_COSTS[line]!;
  }
  return null;
}
