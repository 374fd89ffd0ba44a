// What fails and which nodes a smaller failure needs.
import type { Diagnosis, DiagnosisCode } from '../../kernel/build/diagnosis.ts';
import type { OnnxModel } from '../../kernel/read/onnx/onnxModel.ts';
import type { CheckResult, GateFile } from '../gate/gateFile.ts';
import { readGate } from '../gate/readGate.ts';
import { isForeignNodeName } from '../../kernel/network/layerName.ts';
import { inDataOrder, type ModelGraph } from '../../kernel/network/modelGraph.ts';
import { nodesWithin, outermost, type Unfit } from '../surgery/extractModel.ts';

/** What two builds that fail alike have in common. */
export interface Failure {
  code: DiagnosisCode;
  /** Operator of the node concerned; null: the log names no node, or a ForeignNode, whose nodes differ from part to part. */
  operator: string | null;
  /** TensorRT's text without names and numbers, where the code is only `internal`; otherwise null. */
  text: string | null;
}

/** The failure that a diagnosis stands for. */
export function failureOf({ code, layer, nodes, message }: Diagnosis, model: OnnxModel): Failure {
  const [first] = nodes;
  const foreign = layer !== null && isForeignNodeName(layer);
  const node = foreign || first === undefined ? undefined : model.nodes.find(({ id }) => id === first);
  return { code, operator: node?.op ?? null, text: code === 'internal' ? plain(message) : null };
}

/** Whether one of the errors of another build is this failure. */
export const failsAlike = (failure: Failure, found: readonly Diagnosis[], model: OnnxModel): boolean =>
  found
    .filter(({ severity }) => severity === 'error')
    .map((diagnosis) => failureOf(diagnosis, model))
    .some(
      ({ code, operator, text }) =>
        code === failure.code && (failure.operator === null || operator === failure.operator) && text === failure.text,
    );

/** A message without what differs between a network and a part of it: quoted names, lists, paths and numbers. */
const plain = (message: string): string =>
  message.replaceAll(/"[^"]*"|'[^']*'|\[[^\]]*\]|\([^)]*\)|\S*\/\S*|\d+/g, '#').replaceAll(/\s+/g, ' ');

/** What parts of a model are to have in common with the whole: a failed build, or a build that breaks a rule. */
export type Symptom = { failure: Failure } | { rule: string };

/**
 * Reads one rule as a gate file has it: `kernels: 12`, `attention: fused`, `precision: { 'op:Softmax': fp32 }`.
 * @returns a gate file with this one check, or what is wrong with it
 */
export function readRule(text: string): GateFile | Unfit {
  const { value, problems } = readGate(`rules:\n  ${text}\n`);
  const [problem] = problems;
  if (!value || problem) return { reason: problem?.message ?? 'There is no rule' };
  const [check, another] = value.checks;
  if (!check) return { reason: 'There is no rule' };
  if (another) return { reason: `There are two rules, ${check.id} and ${another.id}. Give one` };
  if (check.limit.kind === 'percent' || check.limit.kind === 'difference')
    return { reason: `${check.limit.text} needs a baseline. Give a number without a sign` };
  if (check.limit.kind === 'accuracy') return { reason: 'The error of a part cannot be judged. Give another rule' };
  return { ...value };
}

/** Whether a rule is broken. What cannot be judged is not broken. */
export const breaksRule = (check: CheckResult | null): boolean =>
  check !== null && check.judged && check.verdict === 'failed';

/**
 * A search for the smallest part of a network that still fails. It asks about candidates, one or two at a time
 * (indices of nodes of the main graph, in data order; they need not be convex), and gets for each whether it fails
 * alike; it returns the last one that did. Whoever runs it may stop after any answer.
 */
export type Reduction = Generator<number[][], number[], boolean[]>;

/**
 * Starts from all nodes, which fail. First the neighborhood of the nodes that the failure names; otherwise the
 * shortest beginning of the network that fails, and the neighborhood of its last node, or the shortest end of that
 * beginning. Then everything that can be omitted is. Constant nodes come along with those that read them.
 * @param named ids of nodes that the failure names, the most likely first
 */
export function* reduceNodes(graph: ModelGraph, named: readonly string[]): Reduction {
  const all = inDataOrder(graph).filter((node) => graph.owner[node]! < 0 && graph.nodes[node]!.op !== 'Constant');
  const seeds = named.flatMap((id) => graph.indexOfId.get(id) ?? []).map((node) => outermost(graph, node));
  const near = yield* growing(graph, all, seeds);
  if (near) return yield* withoutChunks(near);
  const beginning = yield* shortest(all.length, (length) => all.slice(0, length));
  const around = yield* growing(graph, beginning, beginning.slice(-1));
  if (around) return yield* withoutChunks(around);
  return yield* withoutChunks(yield* shortest(beginning.length, (length) => beginning.slice(-length)));
}

/** The place of the first candidate that fails alike; -1: none. */
function* firstOf(candidates: number[][]): Generator<number[][], number, boolean[]> {
  return candidates.length === 0 ? -1 : (yield candidates).indexOf(true);
}

/** Twice as far each time, as long as that is much less than everything. */
function* growing(
  graph: ModelGraph,
  within: readonly number[],
  seeds: readonly number[],
): Generator<number[][], number[] | null, boolean[]> {
  const allowed = new Set(within);
  const start = seeds.filter((node) => allowed.has(node));
  let sizes = 0;
  for (let radius = 0; start.length > 0; radius = radius * 4 + 2) {
    const balls = [radius, radius === 0 ? 1 : radius * 2].map((distance) =>
      nodesWithin(graph, start, distance, (node) => allowed.has(node)),
    );
    const useful = balls.filter((nodes, index) => {
      const larger = nodes.size > (index === 0 ? sizes : balls[0]!.size);
      return larger && nodes.size * 2 <= within.length;
    });
    if (useful.length === 0) return null;
    const candidates = useful.map((nodes) => within.filter((node) => nodes.has(node)));
    const found = yield* firstOf(candidates);
    if (found >= 0) return candidates[found]!;
    sizes = balls[1]!.size;
  }
  return null;
}

/** The shortest of growing candidates, of which the one of full length fails: a third is left after each pair. */
function* shortest(full: number, candidate: (length: number) => number[]): Generator<number[][], number[], boolean[]> {
  let [passes, fails] = [0, full];
  while (fails - passes > 1) {
    const third = Math.ceil((fails - passes) / 3);
    const lengths = [passes + third, passes + 2 * third].filter((length) => length < fails);
    const found = yield* firstOf(lengths.map(candidate));
    if (found < 0) passes = lengths.at(-1)!;
    else [passes, fails] = [found === 0 ? passes : lengths[0]!, lengths[found]!];
  }
  return candidate(fails);
}

/** Delta debugging: leaves out chunks, half as large each time, until no single node can be omitted. */
function* withoutChunks(failing: number[]): Reduction {
  let current = failing;
  for (let size = Math.ceil(current.length / 2); ; size = Math.ceil(size / 2)) {
    const before = current.length;
    for (let at = 0; at < current.length;) {
      const candidates = [at, at + size]
        .filter((start) => start < current.length)
        .map((start) => [...current.slice(0, start), ...current.slice(start + size)])
        .filter((nodes) => nodes.length > 0);
      const found = yield* firstOf(candidates);
      // What precedes the chunk that is gone was needed.
      at += found < 0 ? 2 * size : found * size;
      if (found >= 0) current = candidates[found]!;
    }
    if (size <= 1 && current.length === before) return current;
  }
}
