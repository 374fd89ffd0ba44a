import { type KnownTensors, TensorsInLog } from '../../core/surgery/extractModel.ts';
import { UserError } from '../userError.ts';
import { piecesOf, withFile } from './fileSource.ts';
import { LineSplitter } from './lineSplitter.ts';

/**
 * Types and shapes of tensors in a verbose build log, gzip-compressed or not.
 * @throws {UserError} if it cannot be opened, or has none
 */
export async function loggedTensors(path: string): Promise<KnownTensors> {
  const known = await withFile(
    path,
    async (source) => {
      const found = new TensorsInLog();
      const lines = new LineSplitter((line) => found.push(line));
      for await (const piece of piecesOf(source, path)) lines.push(Buffer.from(piece));
      lines.end();
      return found.known;
    },
    { unpack: false },
  );
  if (known.size > 0) return known;
  throw new UserError(`${path} has no types of tensors. Build with verbose output (trtexec --verbose)`);
}
