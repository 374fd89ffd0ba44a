import { type TensorrtTarget, targetOf } from '../../rules/buildFacts.ts';
import { Usage } from './command.ts';

/**
 * `10.6`, `v10.6.0`, `rtx`, `rtx-1.7`
 * @throws {Usage} if it is not a version
 */
export function readTarget(text: string): TensorrtTarget {
  const [, alone, rtx, version] = /^(?:tensorrt-)?(?:(rtx)|(rtx-)?v?(\d+(?:\.\d+)*))$/i.exec(text) ?? [];
  if (alone === undefined && version === undefined)
    throw new Usage(`--tensorrt: '${text}' is not a version. Use a version such as 10.6 or 11, or rtx`);
  return targetOf((alone ?? rtx) ? 'tensorrt-rtx' : 'tensorrt', version ?? null, null);
}
