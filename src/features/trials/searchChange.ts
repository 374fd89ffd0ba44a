// The search for a change that reaches a goal.
import { foreignName } from '../../kernel/report/words.ts';
import { counted, deltaText, releaseName } from '../../kernel/base/text.ts';
import type { ShapeRange } from '../../kernel/build/buildManifest.ts';
import type { PrecisionMode } from '../../kernel/build/buildOptions.ts';
import type { Both, BuildDiff, DiffSide, NetworkNode } from '../../kernel/report/buildDiff.ts';
import { matchNodes, nodeWords, tacticOf } from '../diff/matchNodes.ts';
import { type Document, list, note, section, table } from '../../kernel/document/document.ts';
import type { Fate, FusionReport } from '../../kernel/fusion/fusionReport.ts';
import { type InferredTensors } from '../../kernel/network/network.ts';
import { attentions, inDataOrder, type ModelGraph, readsOf } from '../../kernel/network/modelGraph.ts';
import { parserName } from '../../kernel/network/nodeNames.ts';
import { writeName } from '../../kernel/rules/overrideFile.ts';
import { closed, outermost, type Unfit } from '../surgery/extractModel.ts';
import { editsFor, type ModelChange } from '../surgery/changeModel.ts';

/**
 * What a change is to bring about:
 * - `break`: nodes that one kernel computes are computed by several
 * - `separate`: nodes of a ForeignNode are outside of every ForeignNode
 * - `fuse`: nodes of several kernels are computed by one
 */
export type SearchKind = 'break' | 'separate' | 'fuse';

/** One build, with the network in the order of `report.nodes`. */
export interface SearchSide {
  report: FusionReport;
  network: NetworkNode[];
}

/** What to reach, in a build of the model as it is. */
export interface SearchGoal {
  kind: SearchKind;
  /** Positions in `report.nodes` of the nodes that it is about. */
  nodes: number[];
  /** The nodes that are computed together with them: the kernel to break, or nothing. */
  around: number[];
  /** What the build of the model as it is does with the nodes, as a sentence. */
  before: string;
}

/**
 * What the user means by some nodes in the build of the model as it is.
 * @param chosen positions in `report.nodes`
 */
export function readGoal(kind: SearchKind, chosen: readonly number[], side: SearchSide): SearchGoal | Unfit {
  const computed = chosen.filter((node) => isComputed(side.report, node));
  if (computed.length === 0)
    return { reason: 'This build computes none of these nodes: they are folded, removed or unknown' };
  if (kind === 'break') return breakGoal(computed, side);
  return kind === 'separate' ? separateGoal(computed, side) : fuseGoal(computed, side);
}

function breakGoal(chosen: readonly number[], { report, network }: SearchSide): SearchGoal | Unfit {
  const wanted = new Set(chosen);
  const shared = [...new Set(chosen.flatMap((node) => kernelsOf(report, node)))]
    .map((layer) => ({ layer, members: membersOf(report, layer) }))
    .filter(({ members }) => members.length > 1);
  const cores = attentions(network)
    .map(({ scores, softmax, values }) => [scores, softmax, values])
    .filter((core) => core.some((node) => wanted.has(node)));
  const fused = shared.flatMap(({ layer, members }) => {
    const inside = new Set(members);
    return cores
      .filter((core) => core.every((node) => inside.has(node)))
      .map((core) => ({ layer, members, nodes: core }));
  });
  const together = shared.map(({ layer, members }) => {
    const both = members.filter((node) => wanted.has(node));
    return { layer, members, nodes: both.length > 1 ? both : members };
  });
  // An attention counts before the kernels around it.
  const found = fused.length > 0 ? fused : together;
  const [only, another] = found;
  if (!only)
    return {
      reason: chosen.some((node) => report.nodes[node]!.foreignNode !== null && kernelsOf(report, node).length === 0)
        ? 'This build does not list the kernels inside its ForeignNodes, so it is unknown what is computed together'
        : `${labels(report, chosen)}: computed alone, so there is nothing to break`,
    };
  if (another)
    return {
      reason: `These nodes are in ${found.length} kernels, ${labels(report, only.nodes)} in one, ${labels(report, another.nodes)} in another. Pass nodes of one`,
    };
  const name = kernelName(report, only.layer);
  const before = `${labels(report, only.nodes)}: computed together with ${counted(only.members.length - only.nodes.length, 'other node')} by kernel ${name}.`;
  return { kind: 'break', nodes: only.nodes, around: only.members, before };
}

function separateGoal(chosen: readonly number[], { report }: SearchSide): SearchGoal | Unfit {
  const inside = chosen.filter((node) => report.nodes[node]!.foreignNode !== null);
  if (inside.length === 0) return { reason: `${labels(report, chosen)}: in no ForeignNode already` };
  const ids = [...new Set(inside.map((node) => report.nodes[node]!.foreignNode!))];
  return {
    kind: 'separate',
    nodes: inside,
    around: [],
    before: `${labels(report, inside)}: in ${ids.map((id) => foreignName(report, id)).join(', ')}.`,
  };
}

function fuseGoal(chosen: readonly number[], { report }: SearchSide): SearchGoal | Unfit {
  const nodes = [...new Set(chosen)];
  if (nodes.length < 2) return { reason: 'Pass at least two nodes to fuse that this build computes' };
  const layers = nodes.map((node) => kernelsOf(report, node));
  if (layers.some((kernels) => kernels.length === 0))
    return {
      reason:
        'This build does not list the kernels inside its ForeignNodes, so it is unknown what is computed together',
    };
  const common = layers[0]!.find((layer) => layers.every((kernels) => kernels.includes(layer)));
  if (common !== undefined)
    return { reason: `${labels(report, nodes)}: one kernel computes them already, ${kernelName(report, common)}` };
  const kernels = new Set(layers.flat()).size;
  return {
    kind: 'fuse',
    nodes,
    around: [],
    before: `${labels(report, nodes)}: computed by ${counted(kernels, 'kernel')}.`,
  };
}

/** Whether a build with a change reaches the goal; null: it does not list the kernels that would tell. */
export function reachesGoal({ kind, nodes }: SearchGoal, before: SearchSide, after: SearchSide): boolean | null {
  const { toB } = matchNodes(before.network, after.network);
  const there = nodes.map((node) => toB[node]!);
  if (there.some((node) => node === -1 || after.report.nodes[node]!.fate === 'unknown')) return null;
  // A node that is no longer computed is neither apart nor together with another one.
  if (there.some((node) => !isComputed(after.report, node))) return false;
  if (kind === 'separate') return there.every((node) => after.report.nodes[node]!.foreignNode === null);
  const kernels = there.map((node) => kernelsOf(after.report, node));
  if (kernels.some((own) => own.length === 0)) return null;
  const together = kernels[0]!.some((layer) => kernels.every((own) => own.includes(layer)));
  return kind === 'fuse' ? together : !together;
}

const computedFates: ReadonlySet<Fate> = new Set(['foreign', 'fused', 'single']);

const isComputed = ({ nodes }: FusionReport, node: number): boolean => computedFates.has(nodes[node]!.fate);

/** Layers that compute a node; a ForeignNode whose kernels are not listed does not count. */
const kernelsOf = ({ nodes, layers }: FusionReport, node: number): number[] =>
  nodes[node]!.layers.filter((id) => {
    const layer = layers[id];
    return layer?.foreignNode === null || layer?.kind === 'kernel';
  });

function membersOf(report: FusionReport, layer: number): number[] {
  const ids = new Set(report.layers[layer]!.nodes);
  return report.nodes.flatMap(({ id }, node) => (ids.has(id) && isComputed(report, node) ? [node] : []));
}

const kernelName = ({ layers }: FusionReport, layer: number): string => tacticOf(layers[layer]!) ?? layers[layer]!.name;

const labels = ({ nodes }: FusionReport, some: readonly number[]): string =>
  nodeWords(some.map((node) => nodes[node]!));

/** A change to try. */
export interface Candidate {
  /** The option of `trtlens what-if` that makes it. */
  option: 'output' | 'unmark' | 'cut' | 'add' | 'remove' | 'rules' | 'shapes';
  /** Its values, one each time it is given; of `rules` the rules themselves. */
  values: string[];
  /**
   * What it does to the values that the model computes: `same`, `rounded` (in other types), `cut` (a part of the network
   * reads a new input, which must be fed), `other` (another model).
   */
  results: 'same' | 'rounded' | 'cut' | 'other';
  /** The edit of the model; null: options change. */
  change: ModelChange | null;
  /** The rules to build with. */
  rules?: string;
  /** The optimization profiles to build with. */
  profiles?: Record<string, ShapeRange>[];
}

/** The model that is searched, and how it is built. */
export interface SearchedModel {
  graph: ModelGraph;
  inferred: InferredTensors;
  profiles: readonly Record<string, ShapeRange>[];
  precision: PrecisionMode | undefined;
  /** It is built with rules already, to which none can be added. */
  hasRules: boolean;
}

/** Nodes that give what they read. */
const passing: ReadonlySet<string> = new Set(['Identity', 'Dropout']);

/** The changes that may reach a goal, the most likely and the cheapest first. */
export function candidatesFor(goal: SearchGoal, side: SearchSide, model: SearchedModel): Candidate[] {
  const main = (positions: readonly number[]) => mainNodes(model.graph, side, positions);
  const nodes = main(goal.nodes);
  const found = {
    break: () => breaking(model, nodes, main(goal.around)),
    separate: () => separating(model, nodes),
    fuse: () => fusing(model, nodes),
  };
  // What cannot be done to this model is no candidate.
  return found[goal.kind]().filter(
    ({ change }) => change === null || !('reason' in editsFor(model.graph, model.inferred, change)),
  );
}

/** Indices in the main graph, in data order. */
function mainNodes(graph: ModelGraph, { report }: SearchSide, positions: readonly number[]): number[] {
  const found = new Set(
    positions.flatMap((position) => {
      // A node of a function is known by its call.
      const { id } = report.nodes[position]!;
      const index = graph.indexOfId.get(id) ?? graph.indexOfId.get(id.split('/')[0]!);
      return index === undefined ? [] : [outermost(graph, index)];
    }),
  );
  return inDataOrder(graph).filter((node) => found.has(node));
}

function breaking(model: SearchedModel, nodes: readonly number[], members: readonly number[]): Candidate[] {
  const { graph } = model;
  const wanted = new Set(nodes);
  const isMember = new Set(members);
  const inside = members.flatMap((node) =>
    graph.outputs[node]!.filter((tensor) => graph.tensors[tensor]!.consumers.some((reader) => isMember.has(reader))),
  );
  const isNear = (tensor: number) =>
    [graph.tensors[tensor]!.producer, ...graph.tensors[tensor]!.consumers].some((node) => wanted.has(node));
  const near = inside.filter(isNear);
  const tensors = [...near, ...inside.filter((tensor) => !isNear(tensor))].map((tensor) => graph.tensors[tensor]!.name);
  const [first] = tensors;
  return [
    ...tensors.slice(0, near.length).map(output),
    ...nodes.flatMap((node) => typed(model, [node])),
    ...(members.length > 1 ? typed(model, members) : []),
    ...(first === undefined ? [] : ['Identity', 'Neg', 'Cast'].map((op) => added(model, op, first))),
    ...tensors.slice(0, near.length).map((tensor) => cut([tensor])),
    ...tensors.slice(near.length).map(output),
    ...removing(
      model,
      members.filter((node) => !wanted.has(node)),
    ),
  ];
}

function separating(model: SearchedModel, nodes: readonly number[]): Candidate[] {
  const { graph } = model;
  const chosen = new Set(nodes);
  const before = nodes.flatMap((node) =>
    readsOf(graph, node).filter((tensor) => {
      const { producer } = graph.tensors[tensor]!;
      return producer >= 0 && !chosen.has(producer) && graph.nodes[producer]!.op !== 'Constant';
    }),
  );
  const behind = nodes.flatMap((node) =>
    graph.outputs[node]!.filter((tensor) => graph.tensors[tensor]!.consumers.some((reader) => !chosen.has(reader))),
  );
  const names = (tensors: readonly number[]) => [...new Set(tensors)].map((tensor) => graph.tensors[tensor]!.name);
  const sides = [names(behind), names(before), names([...before, ...behind])].filter(
    (tensors, place) => tensors.length > 0 && (place < 2 || (before.length > 0 && behind.length > 0)),
  );
  const isOutput = (name: string) => graph.graphOutputs.some((tensor) => graph.tensors[tensor]!.name === name);
  return [
    ...sides.map((tensors) => tensors.filter((name) => !isOutput(name))).flatMap((tensors) => outputs(tensors)),
    ...typed(model, nodes),
    ...sides.map((tensors) => cut(tensors)),
    ...names(before).flatMap((tensor) => ['Identity', 'Cast'].map((op) => added(model, op, tensor))),
  ];
}

function fusing(model: SearchedModel, nodes: readonly number[]): Candidate[] {
  const { graph } = model;
  const wanted = new Set(nodes);
  const region = closed(graph, wanted).filter((node) => graph.nodes[node]!.op !== 'Constant');
  const isInside = new Set(region);
  const marked = graph.graphOutputs.filter((tensor) => {
    const { producer, consumers } = graph.tensors[tensor]!;
    return isInside.has(producer) && consumers.some((reader) => isInside.has(reader));
  });
  const between = region.filter((node) => !wanted.has(node));
  return [
    ...marked.map((tensor): Candidate => {
      const { name } = graph.tensors[tensor]!;
      return { option: 'unmark', values: [name], results: 'same', change: { unmark: name } };
    }),
    ...removing(
      model,
      between.filter((node) => passing.has(graph.nodes[node]!.op)),
    ),
    ...typed(model, region),
    ...fixed(model.profiles),
    ...removing(
      model,
      between.filter((node) => !passing.has(graph.nodes[node]!.op)),
    ),
  ];
}

const output = (name: string): Candidate => ({
  option: 'output',
  values: [name],
  results: 'same',
  change: { outputs: [name] },
});

const outputs = (names: string[]): Candidate[] =>
  names.length === 0 ? [] : [{ option: 'output', values: names, results: 'same', change: { outputs: names } }];

const cut = (names: string[]): Candidate => ({
  option: 'cut',
  values: names,
  results: 'cut',
  change: { cuts: names },
});

function added({ graph, inferred }: SearchedModel, op: string, tensor: string): Candidate {
  const rounds = op === 'Cast' && inferred.types[graph.byName.get(tensor)!] === 'float';
  return {
    option: 'add',
    values: [`${op}:${tensor}`],
    results: rounds ? 'rounded' : 'same',
    change: { add: op, at: tensor },
  };
}

const removing = ({ graph }: SearchedModel, nodes: readonly number[]): Candidate[] =>
  nodes.map((node) => {
    const { id, op } = graph.nodes[node]!;
    return { option: 'remove', values: [id], results: passing.has(op) ? 'same' : 'other', change: { remove: id } };
  });

/** Nodes that compute floating-point numbers, in another type than now; several in one type, whichever they have. */
function typed({ graph, inferred, precision, hasRules }: SearchedModel, nodes: readonly number[]): Candidate[] {
  const typeOf = (node: number) => inferred.types[graph.outputs[node]![0] ?? -1] ?? '';
  const floats = nodes.filter((node) => ['float', 'float16', 'bfloat16'].includes(typeOf(node)));
  if (hasRules || floats.length === 0) return [];
  const has = new Set(floats.map(typeOf));
  // A weakly typed build computes float tensors in the lower type already.
  const lowered = precision !== undefined && precision !== 'fp32';
  const wanted = has.size > 1 ? ['fp32', 'fp16'] : has.has('float') && !lowered ? ['fp16'] : ['fp32'];
  const names = floats.map((node) => writeName(parserName(graph.nodes[node]!)));
  return wanted.map((type) => {
    const rules = `${[...new Set(names)].join(', ')}  ${type}`;
    return { option: 'rules', values: [rules], results: 'rounded', change: null, rules };
  });
}

/** The sizes for which a dynamic build is tuned, as the only ones. */
function fixed(profiles: readonly Record<string, ShapeRange>[]): Candidate[] {
  const [profile] = profiles;
  const ranges = Object.entries(profile ?? {});
  if (ranges.every(([, { min, max }]) => min === max)) return [];
  const only = Object.fromEntries(ranges.map(([name, { opt }]) => [name, { min: opt, opt, max: opt }]));
  const value = ranges.map(([name, { opt }]) => `${name}:${opt}`).join(',');
  return [{ option: 'shapes', values: [value], results: 'same', change: null, profiles: [only] }];
}

/** What came of a change that was tried, and what it costs compared with the model as it is. null: not known. */
export interface Tried extends Pick<Candidate, 'option' | 'values' | 'results'> {
  /** null: it could not be built, or the build does not list what would tell. */
  reached: boolean | null;
  /** Why `reached` is null; otherwise null. */
  why: string | null;
  /** Kernels and layers more than without the change. */
  kernels: number | null;
  /** Reformat layers more. */
  reformats: number | null;
  /** Milliseconds more, of all layers, where both builds were timed. */
  ms: number | null;
}

/** What a change costs, from the comparison with the model as it is. */
export function costOf({ totals, time }: BuildDiff): Pick<Tried, 'kernels' | 'reformats' | 'ms'> {
  const more = ({ a, b }: Both) => (a === null || b === null ? null : b - a);
  return { kernels: more(totals.kernels), reformats: more(totals.reformats), ms: more({ a: time.aMs, b: time.bMs }) };
}

const resultsOrder: Candidate['results'][] = ['same', 'rounded', 'cut', 'other'];

/**
 * Changes in the order in which to consider them: what reaches the goal first; of these what leaves the values of the
 * model as they are; then by time, kernels and reformats. Ties stay in the order in which they were tried.
 */
export function rankTried(tried: readonly Tried[]): Tried[] {
  const verdict = ({ reached }: Tried) => (reached === null ? 1 : reached ? 0 : 2);
  return tried.toSorted(
    (a, b) =>
      verdict(a) - verdict(b) ||
      resultsOrder.indexOf(a.results) - resultsOrder.indexOf(b.results) ||
      less(a.ms, b.ms) ||
      less(a.kernels, b.kernels) ||
      less(a.reformats, b.reformats),
  );
}

/** What is not known comes last. */
const less = (a: number | null, b: number | null): number =>
  a === b ? 0 : (a ?? Number.POSITIVE_INFINITY) - (b ?? Number.POSITIVE_INFINITY);

/** What a search found: the changes, the best first. */
export interface FoundChanges {
  tensorrt: Pick<DiffSide, 'product' | 'version'>;
  goal: { before: string };
  tried: readonly Tried[];
  left: number;
}

/** What the model as it is does, the changes that work with their cost, and those that do not. */
export function searchDocument({ tensorrt, goal, tried, left }: FoundChanges): Document {
  const [works, unknown, not] = [true, null, false].map((verdict) =>
    tried.filter(({ reached }) => reached === verdict),
  );
  const total = counted(tried.length, 'change');
  return {
    title: goal.before,
    blocks: [
      ...(works!.length === 0
        ? [{ kind: 'text', text: `None of ${total} works.` } as const]
        : section(
            `${works!.length} of ${total} ${works!.length === 1 ? 'works' : 'work'}, the best first`,
            table(
              ['change', 'effect'],
              works!.map((one) => ({ cells: [changeText(one), costText(one)] })),
              'change',
            ),
          )),
      ...section('No effect', list(not!.map(changeText), 'change')),
      ...section(
        'Unknown',
        table(
          ['change', 'why'],
          unknown!.map((one) => ({ cells: [changeText(one), one.why ?? ''] })),
          'change',
        ),
      ),
      ...(left > 0 ? [note(`${counted(left, 'more change')} not tried.`)] : []),
      note(versionNote(tensorrt)),
    ],
  };
}

/** The option of `trtlens what-if` that makes a change. */
export const changeText = ({ option, values }: Pick<Tried, 'option' | 'values'>): string =>
  option === 'rules' ? `--rules with '${values[0]}'` : values.map((value) => `--${option} ${value}`).join(' ');

/** `+4 kernels, +0 reformats` and what the change does to values. */
export function costText({ kernels, reformats, ms, results }: Tried): string {
  const more = (count: number | null, noun: string) =>
    count === null ? [] : [`${count < 0 ? '−' : '+'}${counted(Math.abs(count), noun)}`];
  return [
    ...(ms === null ? [] : [deltaText(ms)]),
    ...more(kernels, 'kernel'),
    ...more(reformats, 'reformat'),
    resultsText[results],
  ].join(', ');
}

const resultsText: Record<Candidate['results'], string> = {
  same: 'same values',
  rounded: 'values are rounded differently',
  cut: 'a part of the network gets a new input',
  other: 'another model, with other values',
};

/** Which TensorRT a result is about. */
export const versionNote = (release: Pick<DiffSide, 'product' | 'version'>): string =>
  `This is the result of ${releaseName(release)}. It says nothing about other versions, which may fuse differently.`;
