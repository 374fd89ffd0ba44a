import { deflateRawSync } from 'node:zlib';
import type { ViewData } from '../../picture/graph/viewData.ts';
import type { PostedData } from '../../protocol/views.ts';

/** Characters of JSON up to which data are posted as they are. */
const small = 2 ** 17;

/** Made once for the same data: each view of a model, and each that is shown again, gets the same. */
const made = new WeakMap<ViewData, PostedData>();

/** What to post to a view in place of its data. */
export function postedData(data: ViewData | null): PostedData {
  if (data === null) return null;
  const known = made.get(data);
  if (known !== undefined) return known;
  const text = JSON.stringify(data);
  // The fastest level: what is left to gain costs more than it saves. A copy, because the editor does not know Buffer.
  const posted = text.length <= small ? data : new Uint8Array(deflateRawSync(text, { level: 1 }));
  made.set(data, posted);
  return posted;
}
