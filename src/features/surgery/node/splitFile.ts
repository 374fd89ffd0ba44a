import { basename, join } from 'node:path';
import type { BorderTensor } from '../extractModel.ts';
import { splitAt } from '../splitModel.ts';
import { checkOutput, filesOfModel, writeResult } from '../../../kernel/node/files/writeResult.ts';
import { extractSubgraphs } from './extractSubgraph.ts';

/** What `chain.json` says: run the parts in this order; a tensor has the same name wherever it is read or written. */
export interface Chain {
  /** File name of the model that was split. */
  model: string;
  /** The tensors where it was cut. */
  at: string[];
  parts: {
    /** File next to the chain. */
    model: string;
    nodes: number;
    /** Inputs of the model, and outputs of earlier parts. */
    inputs: BorderTensor[];
    outputs: BorderTensor[];
    /** Of the model and of the weights that were copied for it. */
    bytes: number;
  }[];
}

/**
 * Writes the parts of a model that is cut at some tensors into a folder, with `chain.json`.
 * @throws {UserError} if it cannot be cut there, or the parts cannot be written
 */
export async function splitFile(
  path: string,
  at: readonly string[],
  folder: string,
  signal?: AbortSignal,
): Promise<Chain> {
  const chainFile = join(folder, 'chain.json');
  await checkOutput(chainFile, await filesOfModel(path), 'data');
  const name = (place: number) => `part-${place}.onnx`;
  const pieces = await extractSubgraphs({
    path,
    pick: (graph) => splitAt(graph, at),
    out: (place) => join(folder, name(place)),
    signal,
  });
  const chain: Chain = {
    model: basename(path),
    at: [...at],
    parts: pieces.map(({ nodes, inputs, outputs, files }, place) => ({
      model: name(place),
      nodes: nodes.length,
      inputs,
      outputs,
      bytes: files.reduce((sum, { size }) => sum + size, 0),
    })),
  };
  await writeResult(chainFile, `${JSON.stringify(chain, null, 2)}\n`, 'data');
  return chain;
}
