// A build log from standard input.
import { Utf8Decoder } from '../../core/base/text.ts';
import type { BuildLogRead } from '../../core/formats/tensorrt/buildOutput.ts';
import { BuildLogReader } from '../../core/formats/tensorrt/readBuildLog.ts';

/** Reads a build log from a stream, such as standard input, until it ends, for a diagnosis: without times of tactics. */
export async function streamedLog(stream: AsyncIterable<Uint8Array>): Promise<BuildLogRead> {
  const reader = new BuildLogReader({ times: false });
  const decoder = new Utf8Decoder();
  for await (const piece of stream) reader.push(decoder.push(piece));
  reader.push(decoder.end());
  return reader.end();
}
