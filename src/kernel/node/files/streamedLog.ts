// A build log from standard input.
import type { BuildLogRead } from '../../read/tensorrt/buildOutput.ts';
import { BuildLogReader } from '../../read/tensorrt/readBuildLog.ts';

/**
 * Reads a build log from a stream, such as standard input, until it ends, for a diagnosis: without times of tactics, and
 * with the layers of each node only where there is a model.
 */
export async function streamedLog(stream: AsyncIterable<Uint8Array>, registered: boolean): Promise<BuildLogRead> {
  const reader = new BuildLogReader({ times: false, registered });
  for await (const piece of stream) reader.pushBytes(piece);
  return reader.end();
}
