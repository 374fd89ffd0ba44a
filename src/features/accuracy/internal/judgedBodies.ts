import type { Measures } from '../../../kernel/simulation/simulated.ts';
import { isContainer } from '../../../kernel/network/outputTypes.ts';
import type { Network } from '../../../kernel/network/network.ts';
import { isStandardDomain } from '../../../kernel/network/modelGraph.ts';
import type { NewAttribute, NewGraph, NewNode, NewValue } from '../../../kernel/read/onnx/writeModel.ts';
import type { OnnxGraph, OnnxNode } from '../../../kernel/read/onnx/onnxModel.ts';
import { NOT_RUN } from './nodeMeasures.ts';
import type { RunWriter, Values } from './runWriter.ts';

/*
 * If, Loop and Scan whose bodies contain every node three times, as `judgeWriter.ts` writes them. The exact run decides
 * which branch is taken and how often a body runs; the low-precision run goes along in the same branch and iteration,
 * with a state of its own. What is measured inside leaves as further outputs: of an If in both branches, of Loop and
 * Scan as a list with one number for each iteration, of which the worst counts.
 */

/** Where the copies of one graph's nodes are written to, and what stands for its tensors in each of them. */
export interface JudgePlace {
  nodes: NewNode[];
  /** What both low-precision copies of a node read (weights, for instance) is rounded once. */
  shared: Values;
  shadows: Values;
  run: Values;
  /** Tensors that may have another shape in the low-precision run; all: that is not followed. */
  loose: Set<string> | 'all';
}

/** What writes a node with bodies needs to know, and to write. */
export interface BodyTools {
  network: Network;
  writer: RunWriter;
  /** Writes a body into a place of its own; `given`: what stands for its inputs in the low-precision run. */
  body(
    graph: OnnxGraph,
    around: JudgePlace,
    given: ReadonlyMap<string, string>,
  ): { place: JudgePlace; measures: Measures[] };
}

/** A number that is measured: of a body that did not run, and of all its iterations. */
const kinds: Readonly<Record<keyof Measures['numbers'], { none: number; reduce: 'ReduceMax' | 'ReduceSum' }>> = {
  max: { none: NOT_RUN, reduce: 'ReduceMax' },
  shadow: { none: 0, reduce: 'ReduceMax' },
  shadowSum: { none: 0, reduce: 'ReduceSum' },
  vanished: { none: 0, reduce: 'ReduceMax' },
  run: { none: 0, reduce: 'ReduceMax' },
  runSum: { none: 0, reduce: 'ReduceSum' },
};
const keys = Object.keys(kinds) as (keyof typeof kinds)[];

/** Whether the bodies of a node can be written so: of other operators, and with sequences as a state, they can not. */
export function canJudgeBodies({ op, domain, subgraphs }: OnnxNode, network: Network): boolean {
  if (!isStandardDomain(domain)) return false;
  if (op === 'If') return subgraphs.length === 2;
  const [body] = subgraphs;
  if ((op !== 'Loop' && op !== 'Scan') || !body) return false;
  return body.graph.inputs.slice(op === 'Loop' ? 2 : 0).every(({ name }) => {
    const type = network.typeOf(body.graph.path, name);
    return type !== null && !isContainer(type);
  });
}

/** Writes such a node; its own outputs are those of the exact run. Returns what is measured inside. */
export const writeJudgedBodies = (node: OnnxNode, place: JudgePlace, tools: BodyTools): Measures[] =>
  node.op === 'If' ? writeIf(node, place, tools) : writeLoop(node, place, tools);

const scalar = (name: string): NewValue => ({ name, newType: 'float', shape: [] });

function writeIf(node: OnnxNode, place: JudgePlace, tools: BodyTools): Measures[] {
  const { writer } = tools;
  const branches = node.subgraphs.map((branch) => ({ ...branch, ...tools.body(branch.graph, place, new Map()) }));
  const slots = branches.flatMap(({ measures }) => measures);
  const attributes = branches.map(({ attribute, graph, place: { nodes }, measures }): [string, { graph: NewGraph }] => {
    const own = new Set(measures);
    const outputs = slots.flatMap((slot) =>
      keys.map((key) => (own.has(slot) ? slot.numbers[key] : identity(writer.float(kinds[key].none), nodes, writer))),
    );
    return [attribute, { graph: { ...graph, nodes, outputs: [...graph.outputs, ...outputs.map(scalar)] } }];
  });
  const found = slots.map((slot) => renamed(slot, () => writer.fresh('m')));
  const outputs = [...formal(node, branches[0]!.graph.outputs.length, writer), ...found.flatMap(numbersOf)];
  const { op, inputs } = node;
  const name = writer.copyOf(node);
  place.nodes.push({ op, name, inputs, outputs, attributes: Object.fromEntries(attributes), like: node });
  return found;
}

/** A Loop or a Scan: the state of the low-precision run, and for Scan what it reads piece by piece, are further inputs. */
function writeLoop(node: OnnxNode, place: JudgePlace, tools: BodyTools): Measures[] {
  const { writer, network } = tools;
  const { attribute, graph } = node.subgraphs[0]!;
  const isLoop = node.op === 'Loop';
  const [fixedIn, fixedOut] = isLoop ? [2, 1] : [0, 0];
  const pieces = isLoop ? 0 : Number(valueOf(node, 'num_scan_inputs'));
  const copies = new Map(graph.inputs.slice(fixedIn).map(({ name }) => [name, writer.fresh('v')]));
  const states = graph.inputs.length - fixedIn - pieces;
  const body = tools.body(graph, place, copies);
  const copyOf = (name: string): NewValue => {
    const type = network.typeOf(graph.path, name)!;
    return { name: copies.get(name)!, newType: type };
  };
  const low = (names: readonly string[]) => names.map((name) => place.run.of(name));
  const kept = graph.outputs.slice(fixedOut, fixedOut + states);
  const keptLow = kept.map(({ name }, i): NewValue => {
    const copy = identity(body.place.run.of(name), body.place.nodes, writer);
    return { ...copyOf(graph.inputs[fixedIn + i]!.name), name: copy };
  });
  const [first, last] = [fixedIn + states, fixedOut + states];
  const inputs = doubled(graph.inputs, fixedIn, first, ({ name }) => copyOf(name));
  const numbers = body.measures.flatMap(numbersOf);
  const outputs = [...graph.outputs.slice(0, last), ...keptLow, ...graph.outputs.slice(last), ...numbers.map(scalar)];
  const lists = new Map(numbers.map((name) => [name, writer.fresh('m')]));
  const made = formal(node, graph.outputs.length - fixedOut, writer);
  place.nodes.push({
    op: node.op,
    name: writer.copyOf(node),
    inputs: [
      ...node.inputs.slice(0, first),
      ...low(node.inputs.slice(fixedIn, first)),
      ...node.inputs.slice(first, first + pieces),
      ...low(node.inputs.slice(first, first + pieces)),
    ],
    outputs: [...made.slice(0, states), ...kept.map(() => writer.fresh('v')), ...made.slice(states), ...lists.values()],
    attributes: {
      [attribute]: { graph: { ...graph, nodes: body.place.nodes, inputs, outputs } },
      ...(!isLoop && scanAttributes(node, pieces, numbers.length)),
    },
    like: node,
  });
  return body.measures.map((measures) =>
    renamed(measures, (key) => worst(lists.get(measures.numbers[key])!, key, place, writer)),
  );
}

/** Behind each range of inputs, its copies: the state from `from` to `to`, and what follows. */
function doubled<T>(all: readonly T[], from: number, to: number, copy: (one: T) => NewValue): (T | NewValue)[] {
  const [states, pieces] = [all.slice(from, to), all.slice(to)];
  return [...all.slice(0, to), ...states.map(copy), ...pieces, ...pieces.map(copy)];
}

/** The attributes of a Scan that count its inputs and outputs. */
function scanAttributes(node: OnnxNode, pieces: number, numbers: number): Record<string, NewAttribute> {
  const found: Record<string, NewAttribute> = { num_scan_inputs: { int: 2 * pieces } };
  for (const name of ['scan_input_axes', 'scan_input_directions'])
    if (valueOf(node, name)) found[name] = { ints: [...intsOf(node, name), ...intsOf(node, name)] };
  for (const name of ['scan_output_axes', 'scan_output_directions'])
    if (valueOf(node, name)) found[name] = { ints: [...intsOf(node, name), ...Array<number>(numbers).fill(0)] };
  return found;
}

const valueOf = (node: OnnxNode, name: string) => node.attributes.find((one) => one.name === name)?.value;
const intsOf = (node: OnnxNode, name: string): number[] => valueOf(node, name) as number[];

/** One number of all iterations; of none, what stands for that. */
function worst(list: string, key: keyof typeof kinds, { nodes }: JudgePlace, writer: RunWriter): string {
  const { none, reduce } = kinds[key];
  const [all, one] = [writer.fresh('m'), writer.fresh('m')];
  const inputs = [writer.floats(none), list];
  nodes.push({ op: 'Concat', name: writer.fresh('n'), inputs, outputs: [all], attributes: { axis: { int: 0 } } });
  nodes.push({
    op: reduce,
    name: writer.fresh('n'),
    inputs: [all],
    outputs: [one],
    attributes: { keepdims: { int: 0 } },
  });
  return one;
}

function identity(from: string, nodes: NewNode[], writer: RunWriter): string {
  const to = writer.fresh('i');
  nodes.push({ op: 'Identity', name: writer.fresh('n'), inputs: [from], outputs: [to] });
  return to;
}

const numbersOf = ({ numbers }: Measures): string[] => keys.map((key) => numbers[key]);

const renamed = ({ node, numbers }: Measures, to: (key: keyof typeof kinds) => string): Measures => {
  const names = keys.map((key) => [key, to(key)] as const);
  return { node, numbers: { ...numbers, ...Object.fromEntries(names) } };
};

/** All outputs of a node that has so many; those that it leaves out get a name. */
const formal = ({ outputs }: OnnxNode, count: number, writer: RunWriter): string[] =>
  Array.from({ length: count }, (_, i) => outputs[i] || writer.fresh('v'));
