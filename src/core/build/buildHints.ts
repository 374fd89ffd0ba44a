import type { BuildManifest } from './buildManifest.ts';

/** What the user must know about a build before believing its pictures, one sentence each; often nothing. */
export function buildHints({ origin, tensorrt, gpu, options, name, warnings = [] }: BuildManifest): string[] {
  const hints = [...(name === undefined ? [] : [`Build “${name}”.`]), ...warnings];
  if (origin === 'recorded') hints.push('This is a recorded build. It did not run on this machine.');
  if (tensorrt.product === 'tensorrt-rtx' && gpu === null && origin !== 'imported')
    hints.push(
      'Built without a GPU: these kernels were compiled ahead of time. The kernels that the JIT compiler runs on your GPU may differ.',
    );
  if (options['randomWeights'] === true)
    hints.push('The weights are random: fusion depends on structure, shapes and types, not on values.');
  return hints;
}
