import { createHash } from 'node:crypto';
import { nodesToMatch } from '../../../kernel/report/buildDiff.ts';
import { isSameNetwork } from '../matchNodes.ts';
import type { OnnxModel, OnnxTensor } from '../../../kernel/read/onnx/onnxModel.ts';
import { withFile } from '../../../kernel/node/files/fileSource.ts';
import type { BuildSide } from '../../../kernel/node/store/buildSide.ts';

/** Bytes of a tensor that are read, from its middle: enough to distinguish trained weights, cheap for any model. */
const sampleBytes = 512;

/**
 * Adds digests of the weights to two sides with different networks, so that twins (branches that are alike but for their
 * weights) are matched by them. External weights are not read: a viewer follows no path of a model.
 */
export async function withWeights(a: BuildSide, b: BuildSide): Promise<[BuildSide, BuildSide]> {
  if (!a.network || !b.network || isSameNetwork(a.network, b.network)) return [a, b];
  return Promise.all([digested(a), digested(b)]);
}

async function digested(side: BuildSide): Promise<BuildSide> {
  const { model, modelPath } = side;
  return model === null || modelPath === null
    ? side
    : { ...side, network: nodesToMatch(model, await weightDigests(modelPath, model)) };
}

/** Of each initializer in the file itself, a digest of a sample of its bytes. */
async function weightDigests(path: string, { graph, nodes }: OnnxModel): Promise<Map<string, string>> {
  const graphs = [graph, ...nodes.flatMap(({ subgraphs }) => subgraphs.map((inner) => inner.graph))];
  return withFile(path, async (file) => {
    const digests = new Map<string, string>();
    for (const tensor of graphs.flatMap(({ initializers }) => initializers)) {
      const range = sampleOf(tensor);
      // oxlint-disable-next-line no-await-in-loop -- one short read after the other, in file order
      if (range) digests.set(tensor.name, digest(tensor, await file.read(...range)));
    }
    return digests;
  });
}

function sampleOf({ data }: OnnxTensor): [offset: number, length: number] | null {
  if (data === null || !('inline' in data)) return null;
  const { offset, length } = data.inline;
  const size = Math.min(length, sampleBytes);
  return size === 0 ? null : [offset + ((length - size) >> 1), size];
}

const digest = ({ type, shape }: OnnxTensor, sample: Uint8Array): string =>
  createHash('sha256').update(`${type} ${shape.join()} `).update(sample).digest('hex').slice(0, 16);
