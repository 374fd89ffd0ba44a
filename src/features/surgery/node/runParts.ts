import { randomInput } from '../../../kernel/build/randomInputs.ts';
import { absoluteInput } from '../../../kernel/node/files/inputFile.ts';
import { join, resolve } from 'node:path';
import { networkOf } from '../../../kernel/network/network.ts';
import { type ModelGraph } from '../../../kernel/network/modelGraph.ts';
import type { OnnxModel } from '../../../kernel/read/onnx/onnxModel.ts';
import { type BorderTensor, subgraphBetween } from '../extractModel.ts';
import { cacheFolder } from '../../../kernel/node/files/cacheFolder.ts';
import { checkOutput, filesOfModel, moveResult } from '../../../kernel/node/files/writeResult.ts';
import { extractSubgraph } from './extractSubgraph.ts';
import { withFile } from '../../../kernel/node/files/fileSource.ts';
import { linkWeights } from '../../../kernel/node/files/linkWeights.ts';
import { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import type { Chain } from './splitFile.ts';
import { runPythonJob } from '../../../kernel/node/tools/runPythonJob.ts';
import { temporaryFolder } from '../../../kernel/node/files/writeWhole.ts';
import { removeTree } from '../../../kernel/node/files/persist.ts';

/** How ONNX Runtime runs, and on what. */
export interface RunPartsOptions {
  /** Interpreter with ONNX Runtime. */
  runtime: { python: string; environment: Record<string, string> };
  /** Path of `run_parts.py`. */
  script: string;
  /** Files with inputs of the model; none: random ones. */
  samples: readonly string[];
  signal?: AbortSignal | undefined;
}

/** How far an output of the parts is from that of the whole: max|d| / max|whole|; null: not finite, or another shape. */
export interface PartDifference {
  name: string;
  error: number | null;
}

interface Answer {
  samples: number;
  differences: PartDifference[];
}

/**
 * Runs the parts of a chain one after the other, and compares their outputs with those of the whole model.
 * @throws {UserError} if the samples don't fit, or ONNX Runtime cannot run one of the models
 */
export async function compareChain(
  path: string,
  chain: Chain,
  folder: string,
  { runtime, script, samples, signal }: RunPartsOptions,
): Promise<PartDifference[]> {
  const { value: model } = await new ParsedFiles().model(path);
  const request = {
    parts: chain.parts.map((part) => resolve(folder, part.model)),
    whole: resolve(path),
    files: samples.map(absoluteInput),
    inputs: inputsOf(model),
    save: [],
  };
  return (await runPythonJob<Answer>({ ...runtime, script, request, signal })).differences;
}

/**
 * Runs the model up to the end of a cut, and stores what the cut reads and makes: `STEM.inputs.npz` and
 * `STEM.outputs.npz`, which runs of the cut alone can be compared with.
 * @param border names of the cut's inputs and outputs
 * @param stem path that the names of both files begin with
 * @returns paths of both files
 */
export async function recordCut(
  path: string,
  border: { inputs: readonly BorderTensor[]; outputs: readonly BorderTensor[] },
  stem: string,
  { runtime, script, samples, signal }: RunPartsOptions,
): Promise<string[]> {
  const saved = { inputs: `${stem}.inputs.npz`, outputs: `${stem}.outputs.npz` };
  const used = [...(await filesOfModel(path)), ...samples];
  for (const file of Object.values(saved)) await checkOutput(file, used, 'zip');
  const { value: model } = await new ParsedFiles().model(path);
  const parent = join(cacheFolder(), 'cuts');
  const folder = await temporaryFolder(parent, 'run-');
  try {
    return await withFile(path, async (source) => {
      const linked = await linkWeights(path, model, source, folder);
      const wanted = [...border.inputs, ...border.outputs].map(({ name }) => name);
      const before = await extractSubgraph({
        path: linked,
        pick: (graph) => subgraphBetween(graph, [], computed(graph, wanted)),
        out: join(folder, 'trtlens-before.onnx'),
        weights: 'references',
        anyRank: true,
        signal,
      });
      const request = {
        parts: [before.files[0]!.path],
        whole: null,
        files: samples.map(absoluteInput),
        inputs: inputsOf(model),
        save: [
          { path: join(folder, 'inputs.npz'), names: border.inputs.map(({ name }) => name) },
          { path: join(folder, 'outputs.npz'), names: border.outputs.map(({ name }) => name) },
        ],
      };
      await runPythonJob({ ...runtime, script, request, signal });
      for (const [at, file] of Object.values(saved).entries()) await moveResult(request.save[at]!.path, file, 'zip');
      return Object.values(saved);
    });
  } finally {
    await removeTree(folder);
  }
}

const computed = (graph: ModelGraph, names: readonly string[]): string[] =>
  names.filter((name) => graph.tensors[graph.byName.get(name) ?? -1]?.kind === 'node');

/** The inputs of a model, as `tensor_files.py` reads or makes them. */
function inputsOf(model: OnnxModel) {
  const { graph, tensors } = { graph: model.graph, tensors: networkOf(model).tensors };
  const given = new Set(tensors.filter(({ kind, owner }) => kind === 'input' && owner < 0).map(({ name }) => name));
  return graph.inputs
    .filter(({ name }) => given.has(name))
    .map(({ name, type, shape }) => ({
      name,
      type,
      shape: shape?.map((dim) => (typeof dim === 'number' ? dim : null)) ?? null,
      random: randomInput({ name, type, shape }, model, new Map()),
    }));
}
