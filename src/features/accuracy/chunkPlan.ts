// Which parts of a model to run, and how.
import type { Chunk, JudgeChunk, SwitchedChunk } from '../../kernel/simulation/simulated.ts';
import type { Measures } from '../../kernel/simulation/simulated.ts';
import type { OnnxGraph, OnnxNode, OnnxValue } from '../../kernel/read/onnx/onnxModel.ts';
import { composeModel, type NewNode, type NewTensor, type NewValue } from '../../kernel/read/onnx/writeModel.ts';
import { type Network } from '../../kernel/network/network.ts';
import { standardOpset } from '../../kernel/network/modelGraph.ts';
import { isContainer } from '../../kernel/network/outputTypes.ts';
import { writeMeasures } from './internal/nodeMeasures.ts';
import { canJudgeBodies, type JudgePlace, writeJudgedBodies } from './internal/judgedBodies.ts';
import { int64 } from './internal/lowForms.ts';
import { isQuantized, type ReducedPrecisionModel } from './internal/reducedPrecisionModel.ts';
import { Names, RunWriter, Values } from './internal/runWriter.ts';

export { clamped, clampEnds, constantFault, constantsRead } from './internal/constantFaults.ts';
export { replacementEdits, scaleInputs } from './internal/remedyInputs.ts';
export {
  findLowNodes,
  findQuantizedNodes,
  isQuantized,
  type ReducedPrecisionModel,
  type Replacement,
  unmaterializedTensors,
  withReplaced,
  withUnmaterialized,
} from './internal/reducedPrecisionModel.ts';

/** Where a model is, and where its bytes come from. */
export interface ModelFile {
  /** Bytes in the file. */
  size: number;
  /** Its own name, for weights that are inside it; null: they are copied. */
  name: string | null;
}

/** Measured: twice as many take longer to make, half as many longer to run. */
const CHUNK = 32;

/** Cuts a model's nodes into chunks and finds what crosses from one to the next. */
export class ChunkPlan {
  readonly graph: OnnxGraph;
  /** What each node reads of the graph, also inside its bodies. */
  readonly reads: Set<string>[];
  /** Tensors that later chunks read, with the tensor that is in its place in a second run: perhaps the same. */
  readonly kept = new Map<string, string>();
  private readonly low: ReducedPrecisionModel;
  private readonly network: Network;
  private readonly inputs: Map<string, OnnxValue>;
  /** Position of the last node that reads a tensor; graph outputs are read behind all. */
  private readonly lastRead = new Map<string, number>();

  /** `kept`: tensors that are kept to the end. */
  constructor(low: ReducedPrecisionModel, network: Network, kept: readonly string[] = []) {
    this.low = low;
    this.graph = low.model.graph;
    this.network = network;
    const constants = new Set(this.graph.initializers.map(({ name }) => name));
    const inputs = this.graph.inputs.filter(({ name }) => !constants.has(name));
    this.inputs = new Map(inputs.map((input) => [input.name, input]));
    this.reads = this.graph.nodes.map((node) => {
      const found = low.byId.get(node.id);
      const pairs = found && isQuantized(found) ? [...found.sources.values(), found.bypass ?? ''] : [];
      const sources = [...pairs, ...(low.around?.get(node.id)?.values() ?? [])];
      return new Set([...namesReadBy(node), ...sources].filter((name) => name !== ''));
    });
    for (const [position, reads] of this.reads.entries()) for (const name of reads) this.lastRead.set(name, position);
    for (const name of kept) this.lastRead.set(name, Infinity);
  }

  /** Ranges of nodes, cut where the types of all tensors that cross are known. */
  *cuts(): Generator<{ from: number; to: number }> {
    const { nodes } = this.graph;
    const open = new Set<string>();
    for (let from = 0, to = 0; from < nodes.length; from = to) {
      do {
        for (const name of nodes[to]!.outputs) if (name !== '' && !this.isPlain(name)) open.add(name);
        to++;
        for (const name of open) if (!this.isReadFrom(name, to)) open.delete(name);
      } while (to < nodes.length && (to - from < CHUNK || open.size > 0));
      yield { from, to };
    }
  }

  private isPlain(name: string): boolean {
    const type = this.network.typeOf('', name);
    // NumPy has none of the small types, so what is in them cannot leave a session.
    return type !== null && !isContainer(type) && !/^float[84]|^u?int[42]$|^bfloat16$/.test(type);
  }

  private isReadFrom(name: string, position: number): boolean {
    return (this.lastRead.get(name) ?? -1) >= position;
  }

  /**
   * The chunk of the nodes `from` to `to`, which were written as `nodes`. `run` says what stands for a tensor in a second
   * run; `inputs` and `outputs` are added.
   */
  chunk(
    { from, to }: { from: number; to: number },
    { nodes, constants, inputs = [], outputs = [], run }: WrittenChunk,
    file: ModelFile,
  ): Chunk {
    const used = new Set(this.reads.slice(from, to).flatMap((reads) => [...reads]));
    const both = (name: string, other: string): NewValue[] =>
      [...new Set([name, other])].map((one) => ({ name: one, newType: this.network.typeOf('', name)! }));
    const given = [...used].flatMap((name): (OnnxValue | NewValue)[] => {
      const other = this.kept.get(name);
      if (other !== undefined) return both(name, other);
      const input = this.inputs.get(name);
      return input ? [input] : [];
    });
    const drops = [...this.kept].filter(([name]) => !this.isReadFrom(name, to)).flatMap((names) => [...new Set(names)]);
    for (const name of drops) this.kept.delete(name);
    const made = this.graph.nodes.slice(from, to).flatMap((node) => node.outputs);
    const keeps = made
      .filter((name) => name !== '' && this.isReadFrom(name, to))
      .flatMap((name) => {
        const other = run?.of(name) ?? name;
        this.kept.set(name, other);
        return both(name, other);
      });
    const weights = this.graph.initializers.filter(({ name }) => used.has(name));
    const graph = {
      name: 'chunk',
      nodes,
      inputs: [...given, ...inputs],
      outputs: [...keeps, ...outputs],
      initializers: [...weights, ...constants],
    };
    const names = (values: { name: string }[]) => values.map(({ name }) => name);
    return {
      segments: composeModel(this.low.model, file.size, graph, file.name),
      feeds: names(given),
      keeps: names(keeps),
      drops,
      nodes: to - from,
    };
  }
}

interface WrittenChunk {
  nodes: NewNode[];
  constants: Iterable<NewTensor>;
  inputs?: NewValue[];
  outputs?: NewValue[];
  run?: Values;
}

/** Tensors of its own graph, or of those around it, that a node reads, also inside its bodies. */
export function namesReadBy({ inputs, subgraphs }: OnnxNode): Set<string> {
  const reads = new Set(inputs.filter((name) => name !== ''));
  for (const { graph } of subgraphs) {
    const own = new Set([...graph.inputs, ...graph.initializers].map(({ name }) => name));
    for (const node of graph.nodes) {
      for (const name of namesReadBy(node)) if (!own.has(name)) reads.add(name);
      for (const name of node.outputs) own.add(name);
    }
    for (const { name } of graph.outputs) if (!own.has(name)) reads.add(name);
  }
  return reads;
}

/**
 * One model for all runs of a search: each low-precision node is switched by a Boolean of its own, so that no trial needs
 * new sessions. With all of them true it is the reference. `compared`: tensors that are kept to be compared.
 */
export function* switchedChunks(
  low: ReducedPrecisionModel,
  network: Network,
  file: ModelFile,
  compared: readonly string[],
): Generator<SwitchedChunk> {
  const plan = new ChunkPlan(low, network, compared);
  const names = new Names(low);
  const flags = names.fresh('flags');
  for (const cut of plan.cuts()) {
    const nodes: NewNode[] = [];
    const places: NewTensor[] = [];
    const switches = new Map<number, string>();
    const writer = new RunWriter(low, names, ({ index }) => {
      const known = switches.get(index);
      if (known !== undefined) return { exactIf: known };
      const [flag, place] = [names.fresh('flag'), names.fresh('place')];
      places.push({ name: place, newType: 'int64', shape: [], bytes: int64(BigInt(switches.size)) });
      nodes.unshift({ op: 'Gather', name: names.fresh('n'), inputs: [flags, place], outputs: [flag] });
      switches.set(index, flag);
      return { exactIf: flag };
    });
    const draft = { nodes, values: new Values() };
    for (const node of plan.graph.nodes.slice(cut.from, cut.to)) writer.node(node, draft);
    const inputs = switches.size > 0 ? [{ name: flags, newType: 'bool' }] : [];
    const written = { nodes, constants: [...places, ...writer.constants.values()], inputs };
    yield { ...plan.chunk(cut, written, file), switched: [...switches.keys()], flags };
  }
}

/**
 * Writes every node exactly (the reference) and, where it matters, in low precision on what the low-precision run gave
 * before it, and in low precision on exact inputs (its shadow), of which only numbers are kept.
 */
export class JudgeWriter {
  readonly writer: RunWriter;
  readonly network: Network;
  private readonly low: ReducedPrecisionModel;
  private readonly opset: number;
  private readonly exact: RunWriter;
  /** Tensors of the main graph that may have another shape in the low-precision run. */
  private readonly loose = new Set<string>();

  constructor(low: ReducedPrecisionModel, network: Network, names: Names) {
    this.low = low;
    this.network = network;
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
    if (low && !isQuantized(low))
      for (const name of low.inputs.map((at) => node.inputs[at]!))
        writer.rounded(name, low.type, { nodes, values: changed.includes(name) ? shadows : shared });
    const isLoose = this.isLoose(node, changed, graph, place.loose);
    if (isLoose && place.loose !== 'all') for (const name of node.outputs) place.loose.add(name);
    const isUnscaled = this.low.unscaled.includes(node.id);
    if (low || isUnscaled || node.subgraphs.length > 0 || changed.length > 0)
      writer.node(node, { nodes, values: run }, true);
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
    if (this.holdsLow(node) && canJudgeBodies(node, this.network)) return writeJudgedBodies(node, place, this);
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
    return shapedByInputs.has(op) && changed.some((name) => this.network.typeOf(graph, name) !== 'float');
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

/**
 * A model in which every node is there three times: exactly (the reference), in low precision on what the low-precision
 * run gave before it, and in low precision on exact inputs (its shadow), of which only numbers are kept. So one pass
 * judges every node.
 */
export function* judgeChunks(low: ReducedPrecisionModel, network: Network, file: ModelFile): Generator<JudgeChunk> {
  const plan = new ChunkPlan(low, network);
  const judge = new JudgeWriter(low, network, new Names(low));
  const { constants } = judge.writer;
  for (const cut of plan.cuts()) {
    constants.clear();
    const place = judge.place();
    for (const [name, value] of plan.kept) place.run.set(name, value);
    const measures: Measures[] = [];
    for (let position = cut.from; position < cut.to; position++)
      measures.push(...judge.node(plan.graph.nodes[position]!, plan.reads[position]!, '', place));
    const outputs = measures
      .flatMap(({ numbers }) => Object.values(numbers))
      .map((name) => ({ name, newType: 'float' }));
    const written = { nodes: place.nodes, constants: [...constants.values()], outputs, run: place.run };
    yield { ...plan.chunk(cut, written, file), measures };
  }
}
