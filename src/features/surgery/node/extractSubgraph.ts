import { basename, dirname, resolve } from 'node:path';
import { networkOf } from '../../../kernel/network/network.ts';
import { type ModelGraph } from '../../../kernel/network/modelGraph.ts';
import {
  type BorderTensor,
  type ExtractedModel,
  extractModel,
  type KnownTensors,
  type Subgraph,
  type Unfit,
  type WeightsPlace,
} from '../extractModel.ts';
import { UserError } from '../../../kernel/node/files/userError.ts';
import { checkOutput, weightFiles } from '../../../kernel/node/files/writeResult.ts';
import { isGzip, withFile } from '../../../kernel/node/files/fileSource.ts';
import { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import {
  externalFileFor,
  externalLocations,
  writeModel,
  type WrittenModel,
} from '../../../kernel/node/files/writeModel.ts';
import { refuseErrors } from '../../../kernel/node/files/refuseErrors.ts';
import { isSamePath } from '../../../kernel/node/files/pathKey.ts';
import { realFolder } from '../../../kernel/node/files/persist.ts';

export interface ExtractRequest {
  /** Path of the model. */
  path: string;
  /** Chooses what to extract. */
  pick: (graph: ModelGraph) => Subgraph | Unfit;
  /** Path of the model to write; a file of this name is replaced. */
  out: string;
  /**
   * Where weights go. `auto`: they stay where they are if `out` is in the same folder, otherwise the ranges used are
   * copied. `copy`: always copied. `none`: large weights are left out; a file is named that would have them.
   */
  weights?: 'auto' | 'references' | 'embed' | 'copy' | 'none';
  known?: KnownTensors | undefined;
  /** Not even the ranks of the inputs and outputs need be known. ONNX's checker rejects such a model; programs run it. */
  anyRank?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** Several parts of one model, each with a file of its own. */
export interface ExtractAllRequest extends Omit<ExtractRequest, 'pick' | 'out'> {
  pick: (graph: ModelGraph) => Subgraph[] | Unfit;
  /** Path of each part, by its place. */
  out: (place: number) => string;
}

export interface ExtractedSubgraph extends WrittenModel {
  /** Ids of the extracted nodes. */
  nodes: string[];
  inputs: BorderTensor[];
  outputs: BorderTensor[];
}

/**
 * Writes a part of a model as a model of its own.
 * @throws {UserError} if the part cannot be a model, or cannot be written; nothing is left behind then
 */
export async function extractSubgraph(
  { pick, out, ...request }: ExtractRequest,
  files = new ParsedFiles(),
): Promise<ExtractedSubgraph> {
  const one = (graph: ModelGraph) => {
    const subgraph = pick(graph);
    return 'reason' in subgraph ? subgraph : [subgraph];
  };
  const [made] = await extractSubgraphs({ ...request, pick: one, out: () => out }, files);
  return made!;
}

/**
 * Writes parts of a model as models of their own.
 * @throws {UserError} if one of the parts cannot be a model; then none is written. If one cannot be written, the
 * earlier ones stay
 */
export async function extractSubgraphs(
  { path, pick, out, weights = 'auto', known, anyRank, signal }: ExtractAllRequest,
  files = new ParsedFiles(),
): Promise<ExtractedSubgraph[]> {
  const { value: model, problems } = await files.model(path, { spans: true });
  refuseErrors(path, problems);
  const used = externalLocations(model);
  const graph = networkOf(model);
  const pieces = pick(graph);
  if ('reason' in pieces) throw new UserError(`${basename(path)}: ${pieces.reason}`);
  for (const place of pieces.keys()) await checkOutput(out(place), [path, ...weightFiles(path, used)], 'model');
  const inferred = graph.inferred;
  return withFile(path, async (source) => {
    const planned: { subgraph: Subgraph; made: ExtractedModel }[] = [];
    for (const [place, subgraph] of pieces.entries()) {
      const kept = await placeOf(path, out(place), weights, used);
      const made = extractModel(graph, source.size, subgraph, inferred, kept, known);
      if ('reason' in made) throw new UserError(`${basename(path)}: ${made.reason}`);
      const open = anyRank ? undefined : openRank(graph, made);
      if (open !== undefined)
        throw new UserError(
          `${basename(path)}: The number of dimensions of tensor "${open}" is unknown. Cut elsewhere, or pass a verbose build log of the model`,
        );
      planned.push({ subgraph, made });
    }
    const all: ExtractedSubgraph[] = [];
    for (const [place, { subgraph, made }] of planned.entries()) {
      const written = await writeModel(made, { path, source }, out(place), signal);
      const nodes = subgraph.nodes.map((node) => graph.nodes[node]!.id);
      all.push({ ...written, nodes, inputs: made.inputs, outputs: made.outputs });
    }
    return all;
  });
}

/** A tensor at the border of which not even the rank is known, unless the model itself leaves it open there. */
function openRank({ model }: ModelGraph, { inputs, outputs }: ExtractedModel): string | undefined {
  const own = new Set([...model.graph.inputs, ...model.graph.outputs].map(({ name }) => name));
  return [...inputs, ...outputs].find(({ name, shape }) => shape === null && !own.has(name))?.name;
}

async function placeOf(
  path: string,
  out: string,
  wanted: NonNullable<ExtractRequest['weights']>,
  used: ReadonlySet<string>,
): Promise<WeightsPlace> {
  if (wanted === 'embed') return { kind: 'embed' };
  const location = externalFileFor(out, new Set([...used, basename(path)]));
  if (wanted === 'none') return { kind: 'none', location };
  if (wanted === 'copy') return { kind: 'data', location };
  const whyNot = !isSamePath(await realFolder(dirname(resolve(path))), await realFolder(dirname(resolve(out))))
    ? `${out} is in another folder than ${basename(path)}, and ONNX Runtime refuses paths that lead out of the model's folder`
    : (await isGzip(path))
      ? `${basename(path)} is compressed`
      : null;
  if (whyNot === null) return { kind: 'references', modelFile: basename(path) };
  if (wanted === 'references') throw new UserError(`The weights cannot stay where they are: ${whyNot}`);
  return { kind: 'data', location };
}
