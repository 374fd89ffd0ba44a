/** The version of the standard operator set that a model imports; 1 where it names none. */
export function standardOpset({ opsets }: { opsets: readonly { domain: string; version: number }[] }): number {
  return opsets.find(({ domain }) => domain === '' || domain === 'ai.onnx')?.version ?? 1;
}
