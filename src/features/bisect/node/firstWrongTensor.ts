import { join } from 'node:path';
import type { CheckedOutput, FirstWrong } from '../bisectReport.ts';
import { computingNodes } from '../searchPiece.ts';
import type { Network } from '../../../kernel/network/network.ts';
import { editsFor } from '../../surgery/changeModel.ts';
import type { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { writeChanged } from '../../surgery/node/writeChanged.ts';
import { isPossible } from './pieces.ts';
import type { Reference } from './reference.ts';
import type { WholeEngine } from './wholeEngine.ts';

export interface FirstWrongRequest {
  whole: WholeEngine;
  reference: Reference;
  files: ParsedFiles;
  graph: Network;
  linked: string;
  folder: string;
  /** Inputs of the whole model for the sample that fails worst, and its number. */
  sample: string;
  worst: number;
  tolerance: number;
  isOver: () => unknown;
  report: (left: number) => void;
}

export interface TriedMarks {
  first: FirstWrong | null;
  /** A tensor after whose marking every output of the model is right. */
  mends: string | null;
}

/**
 * For a fault that vanishes when the network is cut: where values become wrong in the whole network, by tensors that are
 * made outputs, one at a time. Half of the nodes in data order are left after each build.
 */
export async function firstWrongTensor(request: FirstWrongRequest): Promise<TriedMarks> {
  const { graph, files, linked, folder, isOver, report } = request;
  const tensors = computingNodes(graph)
    .map((node) => graph.outputs[node]![0] ?? -1)
    .filter(
      (tensor) =>
        tensor >= 0 &&
        !graph.graphOutputs.includes(tensor) &&
        /^b?float|^double/.test(graph.inferred.types[tensor] ?? '') &&
        !('reason' in editsFor(graph, graph.inferred, { outputs: [graph.tensors[tensor]!.name] })),
    );
  let [right, wrong] = [-1, tensors.length];
  let first: FirstWrong | null = null;
  while (wrong - right > 1 && isOver() === null) {
    report(wrong - right - 1);
    const middle = Math.floor((right + wrong) / 2);
    const { name, producer } = graph.tensors[tensors[middle]!]!;
    const model = join(folder, `trtlens-mark-${middle}.onnx`);
    if (!(await isPossible(() => writeChanged(linked, { outputs: [name] }, model, files)))) break;
    const built = await request.whole.try(request.whole.flags, model, request.worst);
    if (built === null) break;
    if (!built.wrong) return { first, mends: name };
    const marked = await compareMarked(request, name, built.runs[0]!.values);
    if (marked?.wrong) {
      wrong = middle;
      const { error, pattern = null } = marked;
      first = { tensor: name, node: graph.nodes[producer]!.id, error, pattern };
    } else right = middle;
  }
  return { first, mends: null };
}

async function compareMarked(
  { reference, sample, folder, tolerance }: FirstWrongRequest,
  name: string,
  values: string,
): Promise<CheckedOutput | undefined> {
  const right = join(folder, 'marked.npz');
  await reference.tensors(sample, [name], right);
  const [compared] = await reference.compare(right, values, { tolerances: { [name]: tolerance } });
  return compared;
}
