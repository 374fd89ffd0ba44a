import { expandFunctions } from '../model/expandFunctions.ts';
import type { BuildFigures } from '../engine/buildFigures.ts';
import type { FusionReport } from '../fusion/fusionReport.ts';
import type { MarkedTensors } from './buildDiff.ts';
import type { OnnxAttribute, OnnxModel, OnnxTensor } from '../onnx/onnxModel.ts';
import { isStandardDomain } from '../model/opset.ts';

/** One side of a comparison: a report, and what else is known of its build and model. */
export interface DiffInput {
  /** The build folder or report file, as given. */
  source: string;
  report: FusionReport;
  /** Nodes with their edges, in the order of `report.nodes`; absent where only the report is there. */
  network?: NetworkNode[] | undefined;
  figures?: BuildFigures | undefined;
  /** The precision that the build was requested: `fp16`. Absent or null: none, any, or not known. */
  requested?: string | null | undefined;
  /** Absent: not known. */
  marked?: MarkedTensors | undefined;
}

/**
 * What an engine's bindings, or its build's options, say of tensors that the model does not make outputs.
 * @param bindings names of the engine's inputs and outputs; empty: not known
 * @param options those of the build: `outputs` (a list, or `all`) and `debugTensors`
 */
export function markedTensors(
  { graph, nodes }: OnnxModel,
  bindings: readonly string[],
  options: Readonly<Record<string, unknown>> = {},
): MarkedTensors | undefined {
  const { outputs, debugTensors } = options;
  if (bindings.length === 0 && outputs === undefined && debugTensors === undefined) return undefined;
  const own = new Set([...graph.inputs, ...graph.outputs].map(({ name }) => name));
  const asked = listOf(outputs);
  const marked = (bindings.length > 0 ? bindings : asked).filter((name) => !own.has(name));
  const isBound = new Set(bindings);
  const made = nodes.flatMap((node) => node.outputs).filter((name) => name !== '');
  // Constants and shapes are no outputs: TensorRT marks what its network computes.
  const all =
    outputs === 'all' || (made.length > 4 && made.filter((name) => isBound.has(name)).length > made.length / 2);
  return { outputs: marked, debug: listOf(debugTensors), all };
}

const listOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

/** A node as far as matching needs it. */
export interface NetworkNode {
  id: string;
  name: string;
  /** Operator, with its domain unless that is ONNX's own. */
  op: string;
  /** Tensors by name; '' for an optional input that is not given. */
  inputs: string[];
  outputs: string[];
  /** Its attributes as one text; '' if they are not known. */
  attributes: string;
  /** Shapes of the inputs that are initializers, by position, as text: `[64,3,7,7]`. */
  constants: string[];
  /** Digests of these inputs' values, as one text; absent or '': not known. */
  weights?: string;
}

/**
 * The nodes of a model, in the order of a report on it.
 * @param digests of the values of initializers, by name
 */
export function networkOf(model: OnnxModel, digests?: ReadonlyMap<string, string>): NetworkNode[] {
  const { nodes, graph } = expandFunctions(model);
  const shapes = new Map<string, string>();
  const addAll = (tensors: readonly OnnxTensor[]) => {
    for (const { name, shape } of tensors) shapes.set(name, `[${shape.join(',')}]`);
  };
  addAll(graph.initializers);
  for (const node of nodes) for (const { graph: inner } of node.subgraphs) addAll(inner.initializers);
  return nodes.map(({ id, name, op, domain, inputs, outputs, attributes }) => ({
    id,
    name,
    op: isStandardDomain(domain) ? op : `${domain}::${op}`,
    inputs,
    outputs,
    attributes: attributes.map(attributeText).toSorted().join(';'),
    constants: inputs.map((input) => shapes.get(input) ?? ''),
    ...(digests && { weights: inputs.map((input) => digests.get(input) ?? '').join('') }),
  }));
}

/** The nodes of a report whose model is not at hand: names and operators only. */
export const namesOnly = ({ nodes }: FusionReport): NetworkNode[] =>
  nodes.map(({ id, name, op }) => ({ id, name, op, inputs: [], outputs: [], attributes: '', constants: [] }));

const attributeText = ({ name, kind, value, count }: OnnxAttribute): string => {
  if (kind === 'graph' || kind === 'graphs') return name;
  const text =
    Array.isArray(value) && typeof value[0] === 'object' ? `${value.length}` : JSON.stringify(value, noPlace);
  return `${name}=${text}${count === undefined ? '' : `#${count}`}`;
};

/** Where a tensor's bytes are in its file, and what it is called, says nothing about what it is. */
const noPlace = (key: string, value: unknown): unknown =>
  key === 'data' || key === 'span' || key === 'name' ? undefined : value;
