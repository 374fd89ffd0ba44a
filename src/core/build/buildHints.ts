import type { BuildManifest } from './buildManifest.ts';

/** What a person must know about a build before believing its pictures, one sentence each; often nothing. */
export function buildHints({ origin, tensorrt, gpu, options, warnings = [] }: BuildManifest): string[] {
  const hints = [...warnings];
  if (origin === 'recorded') hints.push('A recorded build, not made here.');
  if (tensorrt.product === 'tensorrt-rtx' && gpu === null && origin !== 'imported')
    hints.push(
      "Built without a GPU: this is the plan made ahead of time; the kernels that are compiled on the user's GPU may differ.",
    );
  if (options['randomWeights'] === true)
    hints.push('The weights are random: fusion hangs on structure, shapes and types, not on their values.');
  return hints;
}
