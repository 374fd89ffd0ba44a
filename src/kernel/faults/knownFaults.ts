// Models that build and whose engines give wrong values: rows of knownFaults.json, and what their forms mean.
import { addTo } from '../base/addTo.ts';
import { intAttribute, intsAttribute, type OnnxModel, textAttribute } from '../read/onnx/onnxModel.ts';
import { isStandardDomain, standardOpset } from '../network/modelGraph.ts';
import { builtNetworkOf, moving, type Network, scalesAt, transposedPadding } from '../network/network.ts';
import { versionNumber } from '../base/text.ts';
import rows from './internal/knownFaults.json' with { type: 'json' };

/** A node, what makes its inputs, and what must be true around it. All that is given has to fit. */
export interface FaultForm {
  op?: string;
  /** First and last version of ONNX's operator set; null: open. */
  opset?: readonly [number, number | null];
  /** Values of attributes, one of which it has; true: it has the attribute. */
  attributes?: Readonly<Record<string, true | readonly (string | number)[]>>;
  /** What its inputs are, by their place. */
  inputs?: Readonly<Record<string, FaultInput>>;
  where?: readonly Condition[];
}

/** An input: a tensor of which something is known, or what a node of a form makes. */
export interface FaultInput extends FaultForm {
  /** It is stored in the model. */
  constant?: true;
  rank?: number;
  /** The node may be behind others that only move elements. */
  through?: true;
}

/** A row of the table. */
export interface KnownFault {
  /** Kebab-case and stable. */
  id: string;
  /** `confirmed`: by an engine of ours, whose values are in `fixtures`; `reported`: in `sources`. */
  status: 'confirmed' | 'reported';
  form: FaultForm & { op: string };
  product: 'tensorrt' | 'tensorrt-rtx';
  /** First and last version for which this is known: major.minor; null: no later version is known to be right. */
  first: string;
  last: string | null;
  /** Where it was confirmed. */
  seen?: { version: string; gpus: readonly string[]; capabilities: readonly string[]; date: string };
  /** The form alone does not decide it: "It is wrong only if …". */
  only?: string;
  /** What comes out, a sentence. */
  fault: string;
  /** What to do, in sentences. */
  advice: string;
  /** Id of a repair that removes the form and keeps the values. */
  repair?: string;
  /** Public threads and release notes. */
  sources: readonly string[];
  /** Inputs, reference and what the engine gave, in test/fixtures. */
  fixtures?: readonly string[];
}

/** The TensorRT for which faults are looked up; null: not known. */
interface FaultTarget {
  product: KnownFault['product'];
  version: string | null;
  capability: string | null;
}

/** Nodes of a model in a form that is computed wrong: a finding of `checkModel`. */
export interface FoundFault {
  severity: 'error' | 'unknown';
  code: 'known-fault' | 'reported-fault';
  message: string;
  advice: string;
  /** Their ids. */
  nodes: string[];
  tensors: string[];
  repair?: string;
}

export const KNOWN_FAULTS = rows as unknown as readonly KnownFault[];

const byOperator = new Map<string, KnownFault[]>();
for (const row of KNOWN_FAULTS) addTo(byOperator, row.form.op, row);

/**
 * What a version of TensorRT builds of a model and computes wrong, as far as it is known: `error` where an engine of this
 * form was wrong on such a GPU, `unknown` where that depends on more than the form, or only others say it. Nothing is
 * said of versions that the table does not name.
 */
export function knownFaults(model: OnnxModel, { product, version, capability }: FaultTarget): FoundFault[] {
  if (version === null) return [];
  const here = versionNumber(version);
  const applies = (row: KnownFault): boolean =>
    row.product === product &&
    here >= versionNumber(row.first) &&
    (row.last === null || here <= versionNumber(row.last));
  if (!KNOWN_FAULTS.some(applies)) return [];
  const network = builtNetworkOf(model);
  const found = new Map<KnownFault, number[]>();
  for (const [index, { op }] of network.nodes.entries())
    for (const row of byOperator.get(op) ?? [])
      if (applies(row) && fits(network, index, row.form)) addTo(found, row, index);
  return [...found].map(([row, nodes]) => {
    const elsewhere = capability !== null && row.seen?.capabilities.includes(capability) === false;
    return {
      severity: row.status === 'confirmed' && row.only === undefined && !elsewhere ? 'error' : 'unknown',
      code: row.status === 'confirmed' ? 'known-fault' : 'reported-fault',
      message: `${row.fault}${row.only === undefined ? '' : ` It is wrong only if ${row.only}.`} ${basisOf(row)}`,
      advice: row.advice,
      nodes: nodes.map((node) => network.nodes[node]!.id),
      tensors: [],
      ...(row.repair !== undefined && { repair: row.repair }),
    };
  });
}

/** Whether an engine of some version was wrong for a form of the model. */
export function hasFaultyForm(model: OnnxModel): boolean {
  const network = builtNetworkOf(model);
  return network.nodes.some(({ op }, index) =>
    (byOperator.get(op) ?? []).some(
      ({ status, only, form }) => status === 'confirmed' && only === undefined && fits(network, index, form),
    ),
  );
}

function basisOf({ seen, sources, first, last }: KnownFault): string {
  if (seen)
    return `Seen in TensorRT ${seen.version} on ${seen.gpus.join(' and ')}; other versions and GPUs were not tried.`;
  const versions = last === null ? `${first} and newer` : first === last ? first : `${first} to ${last}`;
  return `Reported for TensorRT ${versions} (${sources.join(', ')}).`;
}

function fits(network: Network, node: number, { op, opset, attributes, inputs, where }: FaultForm): boolean {
  const one = network.nodes[node]!;
  if (op !== undefined && (one.op !== op || !isStandardDomain(one.domain))) return false;
  if (opset) {
    const version = standardOpset(network.model);
    if (version < opset[0] || (opset[1] !== null && version > opset[1])) return false;
  }
  for (const [name, values] of Object.entries(attributes ?? {})) {
    const attribute = one.attributes.find((other) => other.name === name);
    if (attribute === undefined) return false;
    if (values !== true && !values.includes(attribute.value as string | number)) return false;
  }
  return (
    Object.entries(inputs ?? {}).every(([at, form]) =>
      inputFits(network, network.inputs[node]![Number(at)] ?? -1, form),
    ) && (where ?? []).every((condition) => CONDITIONS[condition](network, node))
  );
}

function inputFits(network: Network, tensor: number, { constant, rank, through, ...form }: FaultInput): boolean {
  if (tensor < 0) return false;
  if (rank !== undefined && network.inferred.shapes[tensor]?.length !== rank) return false;
  const made = madeBy(network, tensor, through === true);
  if (constant) return network.tensors[tensor]!.kind === 'initializer' || network.nodes[made]?.op === 'Constant';
  return Object.keys(form).length === 0 || (made >= 0 && fits(network, made, form));
}

/** Index of the node that makes a tensor, perhaps behind others that only move elements; -1: none. */
function madeBy({ tensors, nodes, inputs }: Network, tensor: number, through: boolean): number {
  let { producer } = tensors[tensor]!;
  // A model may have a cycle, which is reported elsewhere.
  for (let steps = 0; through && producer >= 0 && moving.has(nodes[producer]!.op); steps++) {
    const [input = -1] = inputs[producer]!;
    producer = input < 0 || steps > nodes.length ? -1 : tensors[input]!.producer;
  }
  return producer;
}

type Condition = keyof typeof CONDITIONS;

/** What a form can ask for besides operators, attributes and inputs; nothing unknown fits. */
const CONDITIONS = {
  /** Both inputs are multiplied by a number each. */
  'scaled-twice': (network: Network, node: number): boolean =>
    scalesAt(network, network.inferred.shapes, node) !== null,

  /**
   * A scaled input is one of the parts of a product with stored weights: MatMul, Reshape to five dimensions, Transpose
   * that takes the third one to the front, and Gather or Split along it. Other orders of axes came out right.
   */
  'from-merged-product': (network: Network, node: number): boolean =>
    (scalesAt(network, network.inferred.shapes, node) ?? []).some(({ node: scale, at }) =>
      isPartOfProduct(network, network.inputs[scale]![1 - at]!),
    ),

  /** The same of any other order of axes. */
  'from-other-merged-product': (network: Network, node: number): boolean => {
    const scales = scalesAt(network, network.inferred.shapes, node) ?? [];
    const scaled = scales.map(({ node: scale, at }) => network.inputs[scale]![1 - at]!);
    return (
      !scaled.some((tensor) => isPartOfProduct(network, tensor)) &&
      scaled.some((tensor) => {
        const part = madeBy(network, tensor, true);
        return (
          /^(?:Gather|Split|Slice)$/.test(network.nodes[part]?.op ?? '') &&
          isProduct(network, madeBy(network, network.inputs[part]![0]!, true))
        );
      })
    );
  },

  /** Axes are given as an input, and they are not all. */
  'some-axes': ({ inputs, inferred }: Network, node: number): boolean => {
    const [input = -1, axes = -1] = inputs[node]!;
    const rank = inferred.shapes[input]?.length;
    const given = inferred.values?.get(axes);
    return rank !== undefined && given !== undefined && given.length > 0 && given.length < rank;
  },

  /** The padding that `output_shape` leaves cannot be divided evenly. */
  'odd-padding': ({ inputs, inferred, nodes }: Network, node: number): boolean =>
    textAttribute(nodes[node]!, 'auto_pad') !== 'SAME_UPPER' &&
    (
      transposedPadding(
        nodes[node]!,
        inferred.shapes[inputs[node]![0] ?? -1] ?? null,
        inferred.shapes[inputs[node]![1] ?? -1] ?? null,
      ) ?? []
    ).some((padding) => padding > 0 && padding % 2 === 1),

  /** The last window along an axis ends behind the padding. */
  'window-outside': ({ inputs, inferred, nodes }: Network, node: number): boolean => {
    const one = nodes[node]!;
    const sizes = inferred.shapes[inputs[node]![0] ?? -1]?.slice(2);
    const kernels = intsAttribute(one, 'kernel_shape') ?? [];
    const pads = intsAttribute(one, 'pads') ?? [];
    return (
      sizes?.length === kernels.length &&
      kernels.some((kernel, axis) => {
        const [size, step] = [sizes[axis], intsAttribute(one, 'strides')?.[axis] ?? 1];
        const reach = (intsAttribute(one, 'dilations')?.[axis] ?? 1) * (kernel - 1) + 1;
        const padded = Number(size) + (pads[axis] ?? 0) + (pads[axis + kernels.length] ?? 0);
        const left = (padded - reach) % step;
        // A window that begins in the padding at the end is left out.
        const begin = padded - reach - left + step;
        return typeof size === 'number' && left > 0 && begin < size + (pads[axis] ?? 0);
      })
    );
  },

  /** Another node of the operator has another axis or direction. */
  'differs-from-twin': (network: Network, node: number): boolean => waysOf(network, network.nodes[node]!.op).size > 1,

  /** A product whose rows or columns are one. */
  'vector-product': ({ inputs, inferred }: Network, node: number): boolean => {
    const [one, other] = inputs[node]!.map((input) => inferred.shapes[input]);
    return one?.at(-2) === 1 || other?.at(-1) === 1;
  },

  /** A strided Conv whose result, behind moves and a normalization, two products read that lead into one Softmax and out of it. */
  'reduces-keys': (network: Network, node: number): boolean => {
    if (!(intsAttribute(network.nodes[node]!, 'strides') ?? []).some((step) => step > 1)) return false;
    const products = readersBehind(
      network,
      node,
      (op) => moving.has(op) || op === 'LayerNormalization' || op === 'Add',
    ).filter((reader) => isProduct(network, reader));
    const scores = products.flatMap((product) =>
      readersBehind(network, product, (op) => /^(?:Mul|Div|Add)$/.test(op) || moving.has(op)),
    );
    const behind = scores.flatMap((reader) => [
      reader,
      ...readersBehind(network, reader, (op) => /^(?:Mul|Div|Add)$/.test(op)),
    ]);
    return products.length > 1 && behind.some((reader) => network.nodes[reader]!.op === 'Softmax');
  },

  /** The first dimension is larger than 1, or open. */
  batched: ({ inputs, inferred }: Network, node: number): boolean => {
    const [input = -1] = inputs[node]!;
    const shape = inferred.shapes[input];
    return shape === null || shape === undefined || shape[0] !== 1;
  },

  /** Of an Add, one operand is a part of a Split that a Concat joins with the sum; the other is an activation of a Conv. */
  'adds-view-to-concat': (network: Network, node: number): boolean => {
    const { nodes, inputs, outputs, tensors } = network;
    const concats = outputs[node]!.flatMap((tensor) =>
      tensors[tensor]!.consumers.filter((at) => nodes[at]!.op === 'Concat'),
    );
    const makers = inputs[node]!.map((tensor) => tensors[tensor]?.producer ?? -1);
    return [0, 1].some((at) => {
      const [view, other] = [makers[at] ?? -1, makers[1 - at] ?? -1];
      if (view < 0 || other < 0 || !/^(?:Split|Slice)$/.test(nodes[view]!.op)) return false;
      const isJoined = concats.some((concat) => inputs[concat]!.some((tensor) => outputs[view]!.includes(tensor)));
      const activated = /^(?:Mul|Relu|LeakyRelu|Clip|HardSwish|Swish|Sigmoid)$/.test(nodes[other]!.op);
      return (
        isJoined && activated && inputs[other]!.some((tensor) => nodes[madeBy(network, tensor, false)]?.op === 'Conv')
      );
    });
  },

  /** Its result is FP16. */
  half: ({ outputs, inferred }: Network, node: number): boolean =>
    outputs[node]!.some((tensor) => inferred.types[tensor] === 'float16'),
} satisfies Record<string, (network: Network, node: number) => boolean>;

/** The nodes that read what a node makes, behind those of which `isPassed` holds; each once, as far as 64 nodes. */
function readersBehind(
  { nodes, outputs, tensors }: Network,
  node: number,
  isPassed: (op: string) => boolean,
): number[] {
  const seen = new Set([node]);
  const found = new Set<number>();
  for (const at of seen) {
    if (seen.size > 64) break;
    for (const reader of outputs[at]!.flatMap((tensor) => tensors[tensor]!.consumers))
      if (isPassed(nodes[reader]!.op)) seen.add(reader);
      else found.add(reader);
  }
  return [...found];
}

const ways = new WeakMap<Network, Map<string, Set<string>>>();

/** The axes and directions in which the nodes of an operator accumulate. */
function waysOf(network: Network, op: string): ReadonlySet<string> {
  const known = ways.get(network)?.get(op);
  if (known) return known;
  const found = network.nodes.flatMap((node, index) => {
    if (node.op !== op) return [];
    const axis = network.inputs[index]![1] ?? -1;
    const values = network.inferred.values?.get(axis) ?? network.tensors[axis]?.name;
    return [[values, ...['exclusive', 'reverse'].map((name) => intAttribute(node, name) ?? 0)].join()];
  });
  const set = new Set(found);
  ways.set(network, (ways.get(network) ?? new Map<string, Set<string>>()).set(op, set));
  return set;
}

function isPartOfProduct(network: Network, tensor: number): boolean {
  const { nodes, inputs, inferred } = network;
  const part = madeBy(network, tensor, true);
  const one = nodes[part];
  if (one === undefined || !/^(?:Gather|Split)$/.test(one.op) || (intAttribute(one, 'axis') ?? 0) !== 0) return false;
  // One part of several, by a stored index.
  if (one.op === 'Gather' && inferred.values?.get(inputs[part]![1] ?? -1)?.length !== 1) return false;
  const moved = madeBy(network, inputs[part]![0]!, false);
  if (nodes[moved]?.op !== 'Transpose' || String(intsAttribute(nodes[moved], 'perm')) !== '2,0,3,1,4') return false;
  const shaped = madeBy(network, inputs[moved]![0]!, false);
  return nodes[shaped]?.op === 'Reshape' && isProduct(network, madeBy(network, inputs[shaped]![0]!, false));
}

/** Whether a node is a product, perhaps with a stored bias. */
function isProduct(network: Network, node: number): boolean {
  const { nodes, inputs, tensors } = network;
  if (nodes[node]?.op !== 'Add') return /^(?:MatMul|Gemm)$/.test(nodes[node]?.op ?? '');
  const sum = inputs[node]!.find((input) => tensors[input]?.kind !== 'initializer') ?? -1;
  return sum >= 0 && /^(?:MatMul|Gemm)$/.test(nodes[madeBy(network, sum, true)]?.op ?? '');
}
