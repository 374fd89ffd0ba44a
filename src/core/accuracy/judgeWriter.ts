import { standardOpset } from '../model/opset.ts';
import type { TensorTypes } from '../model/tensorTypes.ts';
import type { OnnxGraph, OnnxNode } from '../onnx/onnxModel.ts';
import { namesReadBy } from './chunkPlan.ts';
import { canJudgeBodies, type JudgePlace, writeJudgedBodies } from './judgedBodies.ts';
import { isQuantised, type LowModel } from './lowNodes.ts';
import { type Measures, writeMeasures } from './measures.ts';
import { type Names, RunWriter, Values } from './runWriter.ts';

/**
 * Writes every node exactly (the reference) and, where it matters, in low precision on what the low-precision run gave
 * before it, and in low precision on exact inputs (its shadow), of which only numbers are kept.
 */
export class JudgeWriter {
  readonly writer: RunWriter;
  readonly types: TensorTypes;
  private readonly low: LowModel;
  private readonly opset: number;
  private readonly exact: RunWriter;
  /** Tensors of the main graph that may have another shape in the low-precision run. */
  private readonly loose = new Set<string>();

  constructor(low: LowModel, types: TensorTypes, names: Names) {
    this.low = low;
    this.types = types;
    this.opset = standardOpset(low.model);
    this.exact = new RunWriter(low, names, () => 'exact');
    this.writer = new RunWriter(low, names, () => 'low');
  }

  /** A place for nodes of the main graph. */
  place(): JudgePlace {
    const shared = new Values();
    return { nodes: [], shared, shadows: new Values(shared), run: new Values(shared), loose: this.loose };
  }

  /** Writes a node of the model; `reads`: the tensors that it reads, also inside its bodies. Returns what is measured. */
  node(node: OnnxNode, reads: ReadonlySet<string>, graph: string, place: JudgePlace): Measures[] {
    const { nodes, shared, shadows, run } = place;
    const { writer } = this;
    const low = this.low.byId.get(node.id);
    const changed = [...reads].filter((name) => run.of(name) !== name);
    const inside = this.reference(node, place);
    if (low && !isQuantised(low))
      for (const name of low.inputs.map((at) => node.inputs[at]!))
        writer.rounded(name, low.type, { nodes, values: changed.includes(name) ? shadows : shared });
    const isLoose = this.isLoose(node, changed, graph, place.loose);
    if (isLoose && place.loose !== 'all') for (const name of node.outputs) place.loose.add(name);
    if (low || node.subgraphs.length > 0 || changed.length > 0) writer.node(node, { nodes, values: run }, true);
    if (!low) return inside;
    const shadow = new Values(shadows);
    writer.node(node, { nodes, values: shadow }, true);
    return low.outputs.map((i) => {
      const reference = node.outputs[i]!;
      const copies = { reference, run: run.of(reference), shadow: shadow.of(reference) };
      return writeMeasures(low, copies, nodes, writer, { run: isLoose, shadow: shapedByData.has(node.op) });
    });
  }

  /** The node in the exact run, and with its bodies what is judged inside. */
  private reference(node: OnnxNode, place: JudgePlace): Measures[] {
    if (this.holdsLow(node) && canJudgeBodies(node, this.types)) return writeJudgedBodies(node, place, this);
    this.exact.node(node, { nodes: place.nodes, values: new Values() });
    return [];
  }

  /** Writes a body into a place of its own; `given`: what stands for its inputs in the low-precision run. */
  body(graph: OnnxGraph, around: JudgePlace, given: ReadonlyMap<string, string>) {
    const shadows = new Values(around.shadows);
    const place: JudgePlace = { nodes: [], shared: shadows, shadows, run: new Values(around.run), loose: 'all' };
    // What the body defines hides what has the same name around it.
    const own = [...graph.inputs, ...graph.initializers].map(({ name }) => name);
    for (const name of [...own, ...graph.nodes.flatMap(({ outputs }) => outputs)])
      if (name !== '') place.run.set(name, given.get(name) ?? name);
    const measures = graph.nodes.flatMap((node) => this.node(node, namesReadBy(node), graph.path, place));
    return { place, measures };
  }

  private holdsLow({ subgraphs }: OnnxNode): boolean {
    return subgraphs.some(({ graph }) => graph.nodes.some((node) => this.low.byId.has(node.id) || this.holdsLow(node)));
  }

  /** Whether a node's results may have another shape where these inputs have other values. */
  private isLoose({ op }: OnnxNode, changed: string[], graph: string, loose: ReadonlySet<string> | 'all'): boolean {
    // Older operator sets have no Slice with inputs, by which different sizes are compared.
    if (this.opset < 10) return false;
    if (loose === 'all') return true;
    if (changed.some((name) => loose.has(name))) return true;
    if (shapedByData.has(op)) return changed.length > 0;
    return shapedByInputs.has(op) && changed.some((name) => this.types.typeOf(graph, name) !== 'float');
  }
}

/** Operators whose results have a shape that depends on the values of their data. */
const shapedByData = new Set(['If', 'Loop', 'NonMaxSuppression', 'NonZero', 'Range', 'Scan', 'Unique']);

/** Operators whose results have a shape that depends on the values of an input that is not floating point. */
const shapedByInputs = new Set([
  'CenterCropPad',
  'Compress',
  'ConstantOfShape',
  'Expand',
  'OneHot',
  'Pad',
  'Reshape',
  'Resize',
  'Slice',
  'Split',
  'Squeeze',
  'Tile',
  'TopK',
  'Unsqueeze',
]);
