import type { FusionReport, ReportNode } from '../../../src/kernel/fusion/fusionReport.ts';
import type { Violation } from './checkReport.ts';
import { checkInferred } from './checkInferred.ts';
import type { RawEvidence, RawLayer } from './rawEvidence.ts';
import type { RawModel, RawNode } from './rawModel.ts';
import { prefixesOf } from './rawNames.ts';

/** Layers of a ForeignNode that launch nothing, by their type. */
const launchesNothing = /^(?:signal|wait|jmp|cjmp|shape_call|copy|memset)$/;

/**
 * Checks the sentences and numbers that a report draws from its statements: the layers that a reason says name the node,
 * what is known at build time, what is exact although no line of the log says so, kernels and candidates for kernels.
 */
export function checkClaims(report: FusionReport, model: RawModel, raw: RawEvidence, text: string): Violation[] {
  const found: Violation[] = [];
  const wrong = (rule: Violation['rule'], node: string | null, message: string): void => {
    found.push({ rule, node, message });
  };
  const isOther = report.problems.some(({ code }) => code === 'other-model');
  const { layers } = raw;
  const alive = liveNodes(model);
  for (const node of report.nodes) {
    const own = model.byId.get(node.id);
    if (!own || isOther) continue;
    if (layers) checkNamed(node, own, layers, wrong);
    checkKnownShape(node, own, model, raw, wrong);
    checkExactFate(node, own, alive, wrong);
    checkCandidates(node, report, wrong);
  }
  if (!isOther) checkInferred(report, model, raw, wrong);
  if (layers) checkKernels(report, layers, text, wrong);
  for (const sentence of sentencesOf(report)) {
    if (!/[.)"”]$/.test(sentence)) wrong('text', null, `no period: ${sentence}`);
    if (/(?:^|[.:;(] )1 \w+ (?:are|have|share|were|take|compute|read|write)\b/.test(sentence.replace(/".*?"/g, '"…"')))
      wrong('text', null, `one thing with a plural verb: ${sentence}`);
    if (/ from ([^"]+) to \1[ (.]/.test(sentence)) wrong('text', null, `from a format to the same: ${sentence}`);
  }
  return found;
}

export type Wrong = (rule: Violation['rule'], node: string | null, message: string) => void;

/** `The metadata of layers 3, 5 names it`: the metadata of each of them does. */
function checkNamed({ id, reason, exact }: ReportNode, node: RawNode, layers: readonly RawLayer[], wrong: Wrong): void {
  const [, list] = /^The metadata of layers? ([\d, ]+)/.exec(reason) ?? [];
  for (const layer of list?.match(/\d+/g) ?? []) {
    const raw = layers[Number(layer)];
    const isNamed = raw?.isCut || raw?.tokens.some((token) => prefixesOf(token).includes(node.name));
    const isCalled = exact || node.hasBody;
    if (!isNamed && !(isCalled && raw?.tokens.some((token) => token.includes(`${node.name} (`))))
      wrong('named', id, `layer ${layer} is said to name it`);
  }
}

/**
 * A Shape is known at build time where the parser logged no open dimension, or nothing in the engine is open; of one that
 * only selections read, what they select counts.
 */
function checkKnownShape(
  { id, fate }: ReportNode,
  node: RawNode,
  { nodes }: RawModel,
  raw: RawEvidence,
  wrong: Wrong,
): void {
  if (fate !== 'folded' || (node.op !== 'Shape' && node.op !== 'Size')) return;
  if (node.ints.has('start') || node.ints.has('end')) return;
  const readers = nodes.filter(({ inputs }) => inputs.some((name) => node.outputs.includes(name)));
  if (readers.length > 0 && readers.every(({ op }) => op === 'Gather' || op === 'Slice')) return;
  const dims = raw.inputDims.get(node.name);
  const isOpen = dims?.length === 1 && /\(-1[,)]|, -1[,)]/.test(dims[0]!);
  const hasOpenTensors = raw.layers?.some(({ inputs, outputs }) =>
    [...inputs, ...outputs].some((tensor) => tensor.dims.some((dim) => dim < 0)),
  );
  if (isOpen && hasOpenTensors) wrong('dims', id, `known at build time, but the parser logs ${dims[0]!}`);
}

/** Exact without a layer: a Constant, a node without a path to an output, or what a line of the log says. */
function checkExactFate(
  { id, fate, exact, reason, foreignNode }: ReportNode,
  node: RawNode,
  alive: ReadonlySet<string>,
  wrong: Wrong,
): void {
  if (!exact || foreignNode !== null || /log line \d+/.test(reason)) return;
  if (fate === 'folded' && node.op !== 'Constant') wrong('exact', id, 'folded for sure, and no line says so');
  if (fate === 'shape') wrong('exact', id, 'on the host for sure, and no line says so');
  const isSaid = /'s parser did not read this one|'s parser took the other branch|Torch-TensorRT/.test(reason);
  if (fate === 'removed' && !isSaid && alive.has(id) && node.owner === null)
    wrong('exact', id, 'removed for sure, and an output depends on it');
}

/** One to three kernels of the node's ForeignNode, and only where no layer computes it. */
function checkCandidates(node: ReportNode, { layers }: FusionReport, wrong: Wrong): void {
  const { id, within = [], view, foreignNode } = node;
  if (within.length === 0 && !view) return;
  if (foreignNode === null) wrong('within', id, 'candidates outside of a ForeignNode');
  if (within.length > 3) wrong('within', id, `${within.length} candidates`);
  for (const layer of within) {
    const own = layers[layer];
    // A jump compares by itself what decides an If or a Loop.
    const isJump = own?.type === 'cjmp' && /^(?:Equal|Greater|Less)/.test(node.op);
    if (!(own?.kind === 'kernel' || isJump) || own?.foreignNode !== foreignNode)
      wrong('within', id, `layer ${layer} is no kernel of its ForeignNode`);
  }
  if (node.layers.some((layer) => layers[layer]?.foreignNode === foreignNode))
    wrong('within', id, 'candidates although a layer names it');
}

/** What the report and its text count as kernels launches something. */
function checkKernels(
  { layers, foreignNodes, savings = [], profile }: FusionReport,
  raw: readonly RawLayer[],
  text: string,
  wrong: Wrong,
): void {
  const isKernel = layers.map(({ foreignNode, name }, index) =>
    foreignNode !== null && /_myl\d+_\d+$/.test(name) ? !launchesNothing.test(raw[index]?.type ?? '') : false,
  );
  layers.forEach(({ id, kind }, index) => {
    if (kind === 'kernel' && !isKernel[index])
      wrong('kernels', null, `layer ${id} is a ${raw[index]?.type}, no kernel`);
  });
  const all = isKernel.filter(Boolean).length;
  const [, said] = /ForeignNodes? \((\d[\d,]*) kernels?\)/.exec(text) ?? [];
  if (said !== undefined && Number(said.replaceAll(',', '')) !== all)
    wrong('kernels', null, `${said} kernels in the text, ${all} in the engine`);
  if (profile) return;
  for (const { of, launches } of savings) {
    if (!('foreignNode' in of) || launches === null) continue;
    const foreign = foreignNodes[of.foreignNode]!;
    const own = foreign.layers.filter((layer) => isKernel[layer]).length;
    if (own > 0 && launches > Math.max(0, foreign.nodes.length - own))
      wrong('kernels', null, `${launches} launches saved by ${own} kernels of ${foreign.nodes.length} nodes`);
  }
}

const sentencesOf = ({ nodes, remarks, findings = [], problems }: FusionReport): string[] => [
  ...new Set([
    ...nodes.map(({ reason }) => reason),
    ...[...remarks, ...findings, ...problems].map(({ message }) => message),
  ]),
];

/** Ids of the nodes of the main graph on which an output depends, by the names of tensors. */
function liveNodes({ nodes, producers, graphOutputs }: RawModel): Set<string> {
  const alive = new Set<string>();
  const stack = [...graphOutputs];
  const bodies = new Map<string, RawNode[]>();
  for (const node of nodes) {
    if (node.owner === null) continue;
    const [outermost] = node.id.split('/');
    bodies.set(outermost!, [...(bodies.get(outermost!) ?? []), node]);
  }
  while (stack.length > 0) {
    const node = producers.get(stack.pop()!);
    if (!node || alive.has(node.id)) continue;
    alive.add(node.id);
    // A body may read any tensor around it.
    stack.push(...node.inputs, ...(bodies.get(node.id) ?? []).flatMap(({ inputs }) => inputs));
  }
  return alive;
}
