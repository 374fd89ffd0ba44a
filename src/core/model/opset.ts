/** The version of the standard operator set that a model imports; 1 where it names none. */
export function standardOpset({ opsets }: { opsets: readonly { domain: string; version: number }[] }): number {
  return opsets.find(({ domain }) => isStandardDomain(domain))?.version ?? 1;
}

/** Whether a domain is that of ONNX's own operators. */
export const isStandardDomain = (domain: string): boolean => domain === '' || domain === 'ai.onnx';
