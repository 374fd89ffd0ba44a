// What holds a build back: fusions that did not happen with the condition that failed, and what quantization leaves in floating point.
import { counted, firstOf, oneLine, quoteCommand, releaseName, sizeText, timeText } from '../../base/text.ts';
import { attentionFacts } from '../attentionFacts.ts';
import { attentionNodes, type ModelGraph, products } from '../../network/modelGraph.ts';
import type { Network } from '../../network/network.ts';
import { floatIslands, QuantizedGraph, typeWord } from '../quantizedGraph.ts';
import { tensorBytes, tensorPrecision } from '../../read/tensorrt/buildOutput.ts';
import { attentionFates } from '../attentionFates.ts';
import {
  type FusionReport,
  type HeldBack,
  mostHeldBack,
  opaqueForeignNodes,
  type ReportLayer,
} from '../fusionReport.ts';
import { conditionsFor, type EngineAttention, fitsCondition } from './fusionConditions.ts';
import { withoutTensorCores } from './timeFindings.ts';

const mostEvidence = 4;

/** Each cause once, the costliest first: by time where layers were timed, otherwise by bytes and by how many layers there are. */
export function findHeldBack(report: FusionReport, network: Network): HeldBack[] {
  // A plan has no kernels yet, and what the parts of another model became is not known.
  if (report.layers.length === 0 || report.problems.some(({ code }) => code === 'planned-layers')) return [];
  const engine = new Engine(report, network);
  const found = [
    ...splitAttentions(engine),
    ...splitNorms(engine),
    ...splitActivations(engine),
    ...betweenPairs(engine),
    ...plainKernels(engine),
  ];
  return merged(found)
    .toSorted(
      (a, b) => (b.ms ?? -1) - (a.ms ?? -1) || (b.bytes ?? 0) - (a.bytes ?? 0) || b.layers.length - a.layers.length,
    )
    .slice(0, mostHeldBack);
}

/** Findings of one cause are one: its first message stands for all. */
function merged(all: readonly Cause[]): HeldBack[] {
  const causes = new Map<string, Cause[]>();
  for (const one of all) {
    const key = `${one.code} ${one.condition ?? ''} ${one.because}`;
    causes.set(key, [...(causes.get(key) ?? []), one]);
  }
  return [...causes.values()].map((same) => {
    const [first] = same as [Cause];
    const { because: _, parts, ...kept } = first;
    const layers = [...new Set(same.flatMap((one) => one.layers))];
    const sum = (of: (one: Cause) => number | null) =>
      same.every((one) => of(one) === null) ? null : same.reduce((total, one) => total + (of(one) ?? 0), 0);
    return {
      ...kept,
      nodes: [...new Set(same.flatMap((one) => one.nodes))],
      layers,
      ms: sum((one) => one.ms),
      bytes: sum((one) => one.bytes),
      message:
        same.length === 1
          ? first.message
          : `${first.message} So ${same.length === 2 ? 'is 1 more' : `are ${same.length - 1} more`}${parts === undefined ? '' : `, ${counted(layers.length, 'kernel')} in all`}.`,
      evidence: first.evidence.slice(0, mostEvidence),
    };
  });
}

interface Cause extends HeldBack {
  /** What makes two findings the same. */
  because: string;
  /** How many kernels the first one is. */
  parts?: number;
}

/** A report with what is asked of it here. */
class Engine {
  readonly report: FusionReport;
  readonly network: Network;
  readonly quantization: QuantizedGraph;
  readonly attentions: ReturnType<typeof attentionFacts>;
  readonly #layers: ReadonlyMap<number, ReportLayer>;
  readonly #opaque: ReadonlySet<number>;

  constructor(report: FusionReport, network: Network) {
    this.report = report;
    this.network = network;
    this.quantization = new QuantizedGraph(network);
    this.attentions = attentionFacts(network, this.quantization);
    this.#layers = new Map(report.layers.map((layer) => [layer.id, layer]));
    this.#opaque = opaqueForeignNodes(report);
  }

  /** Layers that compute a node; null: not known. */
  of(node: number): ReportLayer[] | null {
    const { fate, layers, foreignNode } = this.report.nodes[node]!;
    if (fate === 'folded' || fate === 'removed') return [];
    if (layers.length === 0 || this.#opaque.has(foreignNode ?? -1)) return null;
    return layers.flatMap((id) => this.#layers.get(id) ?? []);
  }

  name(node: number): string {
    const { name, op, id } = this.network.nodes[node]!;
    return oneLine(name) || `${op} (node ${id})`;
  }

  id = (node: number): string => this.network.nodes[node]!.id;

  /** What every finding has. `layers` in the order of the engine. */
  facts(nodes: readonly number[], layers: readonly ReportLayer[]): Pick<HeldBack, 'nodes' | 'layers' | 'ms' | 'bytes'> {
    const own = [...new Set(layers)].toSorted((a, b) => a.id - b.id);
    const timed = own.filter(({ averageMs }) => averageMs !== null);
    const read = new Set(own.flatMap(({ inputs }) => inputs.map(({ name }) => name)));
    const bytes = own.flatMap(({ outputs }) => outputs.filter(({ name }) => read.has(name)));
    return {
      nodes: nodes.map(this.id),
      layers: own.map(({ id }) => id),
      ms: timed.length === 0 ? null : Math.round(timed.reduce((sum, { averageMs }) => sum + averageMs!, 0) * 1e9) / 1e9,
      bytes: tensorBytes(bytes),
    };
  }

  command(name: string, ...rest: string[]): { command: string } {
    return { command: quoteCommand(['trtlens', name, this.report.model.file, ...rest]) };
  }

  /** A build that may compute in FP16: by a flag, or where types come from the model only, by rules: a file that has `base fp16`. */
  half(precision: string): { command: string } {
    const { product, version } = this.report.tensorrt;
    const isTyped = product === 'tensorrt-rtx' || Number.parseInt(version ?? '', 10) >= 11;
    return isTyped
      ? this.command('what-if', '--rules', 'fp16.trtprec')
      : this.command('build', '--precision', precision);
  }

  evidence = (layers: readonly ReportLayer[]): string[] =>
    layers.map(
      ({ id, name, averageMs }) =>
        `layer ${id}: ${oneLine(name)}${averageMs === null ? '' : `, ${timeText(averageMs)}`}`,
    );
}

/** The type in which a layer computes, by its first input with a floating-point or quantized type. */
const typeOf = ({ inputs }: ReportLayer): string | null =>
  inputs.map(tensorPrecision).find((type) => type !== null) ?? null;

const words: Readonly<Record<string, string>> = { float: 'fp32', float16: 'fp16', bfloat16: 'bf16' };

/** Why no condition is named. */
const unknownCause = ({ tensorrt }: FusionReport, rows: number): string =>
  tensorrt.product === null
    ? 'Which TensorRT built it is not known, so no condition is named: pass its log.'
    : rows === 0
      ? `No builds of ${releaseName(tensorrt)} are recorded that would say why.`
      : 'No condition that was tried in builds explains it.';

/** Attentions that several kernels compute. */
function splitAttentions(engine: Engine): Cause[] {
  const { network, report } = engine;
  if (engine.attentions.length === 0) return [];
  const fates = new Map(attentionFates(report, attentionNodes(network)).map((fate) => [fate.softmax.id, fate]));
  return engine.attentions.flatMap(({ attention, facts }): Cause[] => {
    const { scores, softmax, values, path } = attention;
    if (fates.get(engine.id(softmax))?.state !== 'split') return [];
    const nodes = [scores, ...path, values];
    const layers = [...new Set(nodes.flatMap((node) => engine.of(node) ?? []))];
    // A kernel that only casts what the product reads names it, too.
    const types = (engine.of(scores) ?? []).map(typeOf);
    const declared = words[facts.type ?? ''] ?? facts.type;
    const type = types.includes(declared) ? declared : (types[0] ?? declared);
    const asked: EngineAttention = { ...facts, type };
    const rows = conditionsFor(report.tensorrt);
    const row = rows.find((one) => fitsCondition(one, asked));
    const because = row?.because ?? '';
    const head = `The attention of ${engine.name(softmax)} runs as ${counted(layers.length, 'kernel')}, not as one`;
    const leaving = facts.leaving.map((tensor) => network.tensors[tensor]!.name);
    const given = leaving.find((name) => network.graphOutputs.some((tensor) => network.tensors[tensor]!.name === name));
    const changeFor = (condition: string | undefined) => {
      if (condition === 'type') return engine.half('fp16');
      if (condition === 'extra-consumer' && given !== undefined) return engine.command('what-if', '--unmark', given);
      return engine.command('what-if', '--fuse', [scores, softmax, values].map(engine.id).join(','));
    };
    return [
      {
        ...engine.facts(nodes, layers),
        because,
        parts: layers.length,
        code: 'attention-not-fused',
        condition: row?.condition ?? 'unknown',
        message: row ? `${head}, because ${because}. ${row.advice}` : `${head}. ${unknownCause(report, rows.length)}`,
        evidence: [
          ...engine.evidence(layers).slice(0, mostEvidence - 1),
          ...(row
            ? [
                `none of ${counted(row.seen, 'attention')} with this form is fused in recorded builds: ${releaseName({ product: row.product, version: row.version })}, ${row.gpu}`,
              ]
            : []),
          ...(leaving.length > 0 && row?.condition === 'extra-consumer'
            ? [`${firstOf(leaving.map(oneLine), 2)} leaves it`]
            : []),
        ].slice(-mostEvidence),
        change: changeFor(row?.condition),
      },
    ];
  });
}

/** The nodes of one pattern, if its layers are known and no layer computes all of it. */
function split(engine: Engine, core: readonly number[], all: readonly number[]): { layers: ReportLayer[] } | null {
  const layers = core.map((node) => engine.of(node));
  if (layers.some((of) => of === null)) return null;
  const computing = layers.filter((of) => of!.length > 0);
  if (computing.length < 2) return null;
  if (computing[0]!.some((layer) => computing.every((of) => of!.includes(layer)))) return null;
  return { layers: [...new Set(all.flatMap((node) => engine.of(node) ?? []))] };
}

const computed = ({ tensors }: ModelGraph, tensor: number): number => (tensor < 0 ? -1 : tensors[tensor]!.producer);

/** Normalizations that are written out: `(x − mean) ÷ √(mean((x − mean)²) + ε)`, or without the mean. */
function splitNorms(engine: Engine): Cause[] {
  const { network } = engine;
  const { nodes, inputs, outputs, tensors } = network;
  const op = (node: number) => (node < 0 ? '' : nodes[node]!.op);
  const back = (node: number, wanted: string) =>
    inputs[node]!.map((tensor) => computed(network, tensor)).find((maker) => op(maker) === wanted) ?? -1;
  return nodes.flatMap((_, sqrt): Cause[] => {
    if (op(sqrt) !== 'Sqrt') return [];
    const add = back(sqrt, 'Add');
    const mean = add < 0 ? -1 : back(add, 'ReduceMean');
    if (mean < 0) return [];
    const square = ['Pow', 'Mul'].map((name) => back(mean, name)).find((node) => node >= 0) ?? -1;
    const [reader = -1] = tensors[outputs[sqrt]![0] ?? -1]?.consumers ?? [];
    if (square < 0 || !['Div', 'Reciprocal', 'Mul'].includes(op(reader))) return [];
    const all = [square, mean, add, sqrt, reader];
    const found = split(engine, [square, mean, reader], all);
    if (!found) return [];
    return [cause(engine, 'normalization-not-fused', `The normalization at ${engine.name(sqrt)}`, all, found.layers)];
  });
}

const activations: ReadonlySet<string> = new Set(
  'Relu LeakyRelu PRelu Elu Selu Celu Gelu Sigmoid Tanh HardSwish HardSigmoid Mish Softplus Clip'.split(' '),
);

/** Activations behind a convolution or in a GELU that is written out. */
function splitActivations(engine: Engine): Cause[] {
  const { network } = engine;
  const { nodes, inputs, outputs, tensors } = network;
  const readers = (node: number) => outputs[node]!.flatMap((tensor) => tensors[tensor]!.consumers);
  return nodes.flatMap(({ op }, node): Cause[] => {
    if (op === 'Erf') {
      const [sum = -1] = readers(node);
      const [product = -1] = sum < 0 ? [] : readers(sum);
      const before = computed(network, inputs[node]![0] ?? -1);
      if (nodes[sum]?.op !== 'Add' || nodes[product]?.op !== 'Mul' || before < 0) return [];
      const found = split(engine, [node, sum, product], [before, node, sum, product]);
      return found
        ? [
            cause(
              engine,
              'activation-not-fused',
              `The GELU at ${engine.name(node)}`,
              [node, sum, product],
              found.layers,
            ),
          ]
        : [];
    }
    const maker = computed(network, inputs[node]![0] ?? -1);
    if (!activations.has(op) || maker < 0) return [];
    // A bias or a residual may be between; of two convolutions that are added, one takes the rest into its kernel.
    const sources = nodes[maker]!.op === 'Add' ? inputs[maker]!.map((tensor) => computed(network, tensor)) : [maker];
    const convs = sources.filter((one) => one >= 0 && nodes[one]!.op === 'Conv');
    const [conv] = convs;
    if (conv === undefined || readers(maker).length > 1) return [];
    const found = split(engine, [conv, node], [conv, maker, node]);
    if (!found || convs.some((one) => !split(engine, [one, node], []))) return [];
    const all = [...new Set([conv, maker, node])];
    const what = `${op} ${engine.name(node)} behind ${engine.name(conv)}`;
    return [cause(engine, 'activation-not-fused', what, all, found.layers, op)];
  });
}

function cause(
  engine: Engine,
  code: Cause['code'],
  what: string,
  nodes: readonly number[],
  layers: readonly ReportLayer[],
  because = '',
): Cause {
  const { network } = engine;
  const given = new Set(network.graphOutputs);
  const inner = nodes
    .slice(0, -1)
    .flatMap((node) => network.outputs[node]!)
    .find((tensor) => given.has(tensor));
  const name = inner === undefined ? undefined : network.tensors[inner]!.name;
  return {
    ...engine.facts(nodes, layers),
    because: `${because}${name === undefined ? '' : ' output'}`,
    parts: layers.length,
    code,
    condition: name === undefined ? 'unknown' : 'extra-consumer',
    message: `${what} runs as ${counted(layers.length, 'layer')}, not as one${name === undefined ? '.' : `: "${oneLine(name)}" inside of it is an output of the model.`}`,
    evidence: engine.evidence(layers),
    change:
      name === undefined
        ? engine.command('what-if', '--fuse', nodes.map(engine.id).join(','))
        : engine.command('what-if', '--unmark', name),
  };
}

/** What stays in floating point in a quantized model. */
function betweenPairs(engine: Engine): Cause[] {
  const { network, quantization, report } = engine;
  const reads = (node: number) => network.inputs[node]!.slice(0, 2).map((tensor) => quantization.dequantizedBy(tensor));
  const all = [...network.nodes.keys()].filter((node) => products.has(network.nodes[node]!.op));
  const low = all.filter((node) => reads(node).every((by) => by >= 0));
  if (low.length === 0) return [];
  const word = typeWord(quantization.quantizedType(reads(low[0]!)[0]!));
  const found: Cause[] = [];
  const inAttention = new Set(engine.attentions.flatMap(({ attention }) => [attention.scores, attention.values]));
  const float = all.filter((node) => reads(node).some((by) => by < 0) && (engine.of(node)?.length ?? 0) > 0);
  const attention = float.filter((node) => inAttention.has(node));
  if (attention.length > 0) {
    const layers = attention.flatMap((node) => engine.of(node)!);
    const types = [...new Set(layers.map(typeOf))].filter((type) => type !== null);
    found.push({
      ...engine.facts(attention, layers),
      because: '',
      code: 'attention-not-quantized',
      message: `${counted(attention.length, 'product')} of attentions ${attention.length === 1 ? 'is' : 'are'} not quantized and ${attention.length === 1 ? 'runs' : 'run'} in ${types.join(' and ').toUpperCase() || 'floating point'}: the model has Q/DQ pairs (${word}) in front of ${counted(low.length, 'other product')} only.`,
      evidence: engine.evidence([...new Set(layers)]),
      change: engine.command('quantization'),
    });
  }
  // Outside of the attentions, what computes in FP32.
  const outside = float.filter(
    (node) => !inAttention.has(node) && engine.of(node)!.every((layer) => typeOf(layer) === 'fp32'),
  );
  const rest = [...network.nodes.keys()].filter((node) => {
    const of = engine.of(node);
    return (
      of !== null &&
      of.length > 0 &&
      !low.includes(node) &&
      of.every(
        (layer) =>
          layer.nodes.length > 0 &&
          [...layer.inputs, ...layer.outputs].every((tensor) => (tensorPrecision(tensor) ?? 'fp32') === 'fp32'),
      )
    );
  });
  const wide = [...new Set([...outside, ...rest])].filter(
    (node) => !['QuantizeLinear', 'DequantizeLinear'].includes(network.nodes[node]!.op),
  );
  if (wide.length > 0) {
    const layers = [...new Set(wide.flatMap((node) => engine.of(node)!))];
    found.push({
      ...engine.facts(wide, layers),
      because: '',
      code: 'outside-quantization',
      message: `${counted(wide.length, 'node')} outside of the Q/DQ pairs ${wide.length === 1 ? 'runs' : 'run'} in FP32, in ${counted(layers.length, 'layer')}: a Q/DQ pair says nothing about them. FP16 is allowed for them by the precision of the build, or by rules with "base fp16".`,
      evidence: engine.evidence(layers),
      change: engine.half('int8'),
    });
  }
  const islands = floatIslands(quantization, new Set(low.map(engine.id)), network.inferred, report);
  for (const { nodes, first: start, bytes, ms } of islands) {
    const inside = nodes.flatMap((id) => network.indexOfId.get(id) ?? []);
    const layers = [...new Set(inside.flatMap((node) => engine.of(node) ?? []))];
    const own = layers.filter((layer) => layer.nodes.every((id) => nodes.includes(id)));
    // Fused into its neighbors, it moves nothing.
    if (own.length === 0) continue;
    found.push({
      ...engine.facts(inside, own),
      ms,
      bytes,
      because: '',
      code: 'reformat-between-islands',
      message: `${counted(nodes.length, 'node')} from ${start} on compute in floating point between quantized ones, in ${counted(own.length, 'layer')} of their own${bytes === null ? '' : `: ${sizeText(bytes)} go in and out in floating point`}. A Q/DQ pair in front of ${start} lets the kernels around it hand over ${word}, where its accuracy allows it.`,
      evidence: engine.evidence(own),
      change: engine.command('quantization'),
    });
  }
  return found;
}

/** Products without tensor cores, as the names of their kernels or counters say. */
function plainKernels(engine: Engine): Cause[] {
  const layers = withoutTensorCores(engine.report.layers);
  if (layers.length === 0) return [];
  const nodes = [...new Set(layers.flatMap((layer) => layer.nodes))].flatMap(
    (id) => engine.network.indexOfId.get(id) ?? [],
  );
  return [
    {
      ...engine.facts(nodes, layers),
      because: '',
      code: 'no-tensor-cores',
      message: `${counted(layers.length, 'layer')} ${layers.length === 1 ? 'multiplies' : 'multiply'} without tensor cores, as the names of the kernels or their counters say. FP16, BF16, INT8 or TF32 use them, with channels that are multiples of 8.`,
      evidence: layers.map(({ id, tactic }) => `layer ${id}: ${oneLine(tactic ?? '')}`),
      change: engine.half('fp16'),
    },
  ];
}
