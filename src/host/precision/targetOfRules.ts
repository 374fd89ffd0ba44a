import { targetOf } from '../../core/precision/tensorrtTarget.ts';
import type { TensorrtTarget } from '../../core/precision/tensorrtTarget.ts';
import type { FactsParams } from '../../protocol/language.ts';

/** The TensorRT that a document is checked for: the one of the settings, else the last build's. */
export function targetOfRules(params: FactsParams | undefined): TensorrtTarget {
  const { product, version, gpu } = params?.target ?? params?.build ?? { product: null, version: null, gpu: null };
  return targetOf(product, version, gpu);
}
