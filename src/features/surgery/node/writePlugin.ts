import { mkdir, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type InferredTensors, networkOf } from '../../../kernel/network/network.ts';
import { type ModelGraph } from '../../../kernel/network/modelGraph.ts';
import {
  convertElements,
  type DataType,
  elementBytes,
  isRealElement,
  type OnnxTensor,
} from '../../../kernel/read/onnx/onnxModel.ts';
import {
  borderTensor,
  type BorderTensor,
  extractModel,
  type KnownTensors,
  type Subgraph,
  subgraphOfNodes,
  type Unfit,
} from '../extractModel.ts';
import {
  planPlugin,
  pluginModel,
  type PluginPlan,
  pluginSources,
  replacedModel,
  replacedSubgraph,
  withNamedSizes,
} from '../pluginSource.ts';
import type { ByteSource } from '../../../kernel/base/problem.ts';
import { fileTrouble, UserError } from '../../../kernel/node/files/userError.ts';
import { checkOutput, weightFiles, writeResult } from '../../../kernel/node/files/writeResult.ts';
import { withFile } from '../../../kernel/node/files/fileSource.ts';
import { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { externalFileFor, externalLocations, writeModel } from '../../../kernel/node/files/writeModel.ts';
import { refuseErrors } from '../../../kernel/node/files/refuseErrors.ts';
import { removeTree } from '../../../kernel/node/files/persist.ts';

export interface PluginRequest {
  /** Path of the model. */
  path: string;
  /** Ids of nodes of the main graph. */
  nodes: readonly string[];
  /** Of operator, classes and files; an identifier. */
  name: string;
  /** Of the node, and namespace of the plugin; an identifier. */
  domain: string;
  /** Folder for the result; it is made if it is missing. */
  out: string;
  /**
   * Asked for each output whose type no one knows, such as that of an unknown operator: whether it has the type and shape
   * of an input. Without it, such nodes are refused.
   */
  isLike?: (output: string, input: BorderTensor) => Promise<boolean>;
  signal?: AbortSignal | undefined;
}

export interface WrittenPlugin {
  /** Ids of the nodes that the custom node replaces. */
  nodes: string[];
  inputs: BorderTensor[];
  outputs: BorderTensor[];
  attributes: string[];
  /** Why the kernel is to be written by the user; null: it is complete. */
  missing: string | null;
  /** Paths, the model with the custom node first. */
  files: string[];
}

/**
 * Writes a model in which picked nodes are one custom node, and a plugin for it: C++ sources, and a program
 * that compares it with the nodes.
 * @throws {UserError} if these nodes cannot be a plugin, or a file cannot be written
 */
export async function writePlugin({
  path,
  nodes,
  name,
  domain,
  out,
  isLike,
  signal,
}: PluginRequest): Promise<WrittenPlugin> {
  const { value: model, problems } = await new ParsedFiles().model(path, { spans: true });
  refuseErrors(path, problems);
  const graph = networkOf(model);
  const fit = <T extends object>(value: T | Unfit): T => {
    if ('reason' in value) throw new UserError(`${basename(path)}: ${value.reason}`);
    return value as T;
  };
  return withFile(path, async (source) => {
    const subgraph = fit<Subgraph>(subgraphOfNodes(graph, nodes));
    const inferred = withNamedSizes(graph, graph.inferred, subgraph);
    const scalars = await readScalars(graph, subgraph, source);
    const known = await givenTypes(graph, inferred, subgraph, isLike);
    const plan = fit<PluginPlan>(planPlugin(graph, inferred, subgraph, scalars, { name, domain }, known));
    const used = externalLocations(model);
    const models = ['model.onnx', 'nodes.onnx', 'plugin.onnx'].map((file) => join(out, file)) as [
      string,
      string,
      string,
    ];
    const texts = pluginSources(plan);
    const sources = Object.entries(texts).map(([file, text]) => [join(out, file), text] as const);
    const paths = [...models, ...sources.map(([file]) => file)];
    const inputs = [path, ...weightFiles(path, used)];
    for (const file of models) await checkOutput(file, inputs, 'model');
    // A source with other content may be a kernel that the user wrote.
    for (const [file, text] of sources) await checkOutput(file, inputs, 'text', text);
    const place = { kind: 'data', location: externalFileFor(models[1], used) } as const;
    const replaced = fit(
      extractModel(graph, source.size, replacedSubgraph(graph, subgraph, plan), inferred, place, known),
    );
    const from = { path, source };
    const made = await mkdir(out, { recursive: true }).catch((reason: unknown) => {
      throw fileTrouble(out, reason);
    });
    const existed = new Set(await readdir(out));
    try {
      await writeModel(replaced, from, models[1], signal);
      await writeModel(pluginModel(graph, source.size, plan), from, models[2], signal);
      for (const [file, text] of sources) await writeResult(file, text, 'text');
      await writeModel(replacedModel(graph, source.size, plan), from, models[0], signal);
    } catch (error) {
      const added = [...paths.map((file) => basename(file)), place.location].filter((file) => !existed.has(file));
      for (const file of made === undefined ? added.map((one) => join(out, one)) : [made])
        await removeTree(file).catch(() => {});
      throw error;
    }
    return {
      nodes: plan.nodes.map((node) => graph.nodes[node]!.id),
      inputs: plan.inputs,
      outputs: plan.outputs,
      attributes: plan.attributes.map((attribute) => attribute.name),
      missing: Array.isArray(plan.chain) ? null : plan.chain.reason,
      files: paths,
    };
  });
}

/** The outputs whose type no one knows, as the user says what they are like. */
async function givenTypes(
  graph: ModelGraph,
  inferred: InferredTensors,
  { inputs, outputs }: Subgraph,
  isLike: PluginRequest['isLike'],
): Promise<KnownTensors> {
  const given = new Map<string, { type: DataType; shape: BorderTensor['shape'] }>();
  const [first] = inputs;
  const like = first === undefined ? '' : borderTensor(graph, first, inferred, given);
  if (typeof like === 'string') return given;
  for (const tensor of outputs) {
    const border = borderTensor(graph, tensor, inferred, given);
    if (typeof border === 'string' && (await isLike?.(border, like))) given.set(border, like);
  }
  return given;
}

/** Constants of a subgraph that are one floating-point number inside the model. */
async function readScalars(graph: ModelGraph, subgraph: Subgraph, source: ByteSource): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  const initializers = new Map(graph.model.graph.initializers.map((tensor) => [tensor.name, tensor]));
  for (const tensor of subgraph.initializers) {
    const value = await scalarOf(initializers.get(graph.tensors[tensor]!.name), source);
    if (value !== null) found.set(tensor, value);
  }
  for (const node of subgraph.nodes) {
    const { op, attributes } = graph.nodes[node]!;
    const [output = -1] = graph.outputs[node]!;
    if (op !== 'Constant' || output < 0) continue;
    for (const { name, kind, value } of attributes) {
      const number = name === 'value_float' ? (value as number) : null;
      const scalar = kind === 'tensor' ? await scalarOf(value as OnnxTensor, source) : number;
      if (scalar !== null) found.set(output, scalar);
    }
  }
  return found;
}

async function scalarOf(tensor: OnnxTensor | null | undefined, source: ByteSource): Promise<number | null> {
  if (!tensor?.data || !('inline' in tensor.data) || tensor.sparse || !isRealElement(tensor.type)) return null;
  const { offset, length, field, scattered } = tensor.data.inline;
  const asRaw = field === undefined || field === 'float' || field === 'double';
  if (tensor.shape.some((dim) => dim !== 1) || !asRaw || scattered || length !== elementBytes[tensor.type]) return null;
  const bytes = convertElements(await source.read(offset, length), tensor.type, 'float');
  return new DataView(bytes.buffer, bytes.byteOffset).getFloat32(0, true);
}
