import type { FusionReport, ReportNode } from '../../../src/kernel/fusion/fusionReport.ts';
import type { Wrong } from './checkClaims.ts';
import type { RawEvidence, RawLayer } from './rawEvidence.ts';
import type { RawModel, RawNode } from './rawModel.ts';

/**
 * What a generated kernel that computes such a node lists in its name, by the kernels of all captures whose metadata
 * name one: `Sub` in `__myl_AddMeaSub…`, shortened to three or four letters.
 */
const words: Readonly<Record<string, RegExp>> = {
  Cos: /^Cos/,
  Erf: /^Erf/,
  Exp: /^Exp/,
  Sin: /^Sin/,
  Sqrt: /^Sqr|^Rsq/,
  Tanh: /^Tan/,
  Sigmoid: /^Sig|^Sil/,
  Softmax: /^Exp/,
  Where: /^Sel/,
};

/** Operators that the number of a run, or chance, decides. */
const random = /^Random|^Multinomial$|^Bernoulli$/;

/** Checks what a report infers where TensorRT names nothing, by the model and the raw text alone. */
export function checkInferred(report: FusionReport, model: RawModel, raw: RawEvidence, wrong: Wrong): void {
  const byId = new Map(report.nodes.map((node) => [node.id, node]));
  const known = knownSizes(model, raw);
  const dead = deadNodes(model);
  for (const node of report.nodes) {
    const own = model.byId.get(node.id);
    if (!own) continue;
    for (const layer of node.within ?? []) checkCandidate(node, own, layer, model, raw.layers ?? [], wrong);
    if (node.fate === 'shape' && known.has(own))
      wrong('shape', node.id, 'is said to be computed on the host, but the parser or the optimizer knew its result');
    if (dead.has(own) && !node.exact && !isNone(node))
      wrong('dead', node.id, `${node.fate}, but nothing that is given back depends on it`);
    checkBody(node, own, report, raw, wrong);
    const owner = own.owner === null ? undefined : byId.get(own.owner);
    if (owner?.fate === 'removed' && owner.exact && !isNone(node) && !node.exact)
      wrong('dead', node.id, `${node.fate}, but ${owner.name}, in which it is, is gone`);
  }
}

const isNone = (node: ReportNode): boolean => node.layers.length === 0 && node.foreignNode === null;

/** What is gone has no body with a place and draws no random numbers, and nothing is gone by a list that is cut off. */
function checkBody(node: ReportNode, own: RawNode, report: FusionReport, raw: RawEvidence, wrong: Wrong): void {
  const inside = report.nodes.filter(({ id }) => own.hasBody && id.startsWith(`${node.id}/`));
  if (own.hasBody && (node.fate === 'removed' || node.fate === 'folded') && inside.some((other) => !isNone(other)))
    wrong('gone', node.id, `${node.fate}, but nodes of its body have a place`);
  if (node.fate === 'folded' && [node, ...inside].some(({ op }) => random.test(op)))
    wrong('gone', node.id, 'folded, but its result is random');
  if (raw.isCutInLayers && node.fate === 'removed' && !node.exact && !/log line \d+/.test(node.reason))
    wrong('gone', node.id, 'needs no work, by a list of layers that is cut off');
}

/** A kernel that can compute a node lists its operation, and reads what the node reads. */
function checkCandidate(
  { id, op }: ReportNode,
  own: RawNode,
  layer: number,
  model: RawModel,
  layers: readonly RawLayer[],
  wrong: Wrong,
): void {
  const kernel = layers[layer];
  if (!kernel) return;
  const steps = kernel.type === 'kgen' ? /^__myl_((?:[A-Z][a-z0-9]+)+)_myl/.exec(kernel.name)?.[1] : undefined;
  const list = steps?.match(/[A-Z][a-z0-9]+/g) ?? [];
  const word = words[op];
  if (word && list.length > 0 && !list.some((step) => word.test(step) || step === 'Etc'))
    wrong('within', id, `layer ${layer} (${kernel.name}) lists no ${op}`);
  const data = own.inputs.filter((name) => name !== '' && !model.constants.has(name));
  if (own.owner !== null || data.length === 0 || data.some((name) => model.producers.has(name))) return;
  if (kernel.inputs.length === 0 || layers.every(({ inputs }) => !data.some((name) => isNamed(inputs, name)))) return;
  if (!reads(kernel, data, layers))
    wrong('within', id, `layer ${layer} (${kernel.name}) does not read ${data.join(', ')}`);
}

/** A kernel reads one of the tensors, perhaps as what layers that name no node made of it. */
function reads(kernel: RawLayer, data: readonly string[], layers: readonly RawLayer[]): boolean {
  const seen = new Set<RawLayer>();
  const stack = [kernel];
  for (let at = stack.pop(); at; at = stack.pop()) {
    if (data.some((name) => isNamed(at!.inputs, name))) return true;
    seen.add(at);
    // What names no node may have moved it.
    for (const other of layers)
      if (
        !seen.has(other) &&
        (other.tokens.length === 0 || other.isCut) &&
        at.inputs.some(({ name }) => isNamed(other.outputs, name))
      )
        stack.push(other);
  }
  return false;
}

const isNamed = (tensors: readonly { name: string }[], wanted: string): boolean =>
  tensors.some(({ name }) => name === wanted);

/**
 * Nodes of the main graph whose result is known before the engine runs: a Shape of which the parser logged the dimensions
 * from start to end, a Gather of one of those, what `CONSTANT x[Constant]` names, and what only such nodes read.
 */
function knownSizes({ nodes, producers, scalars, graphOutputs }: RawModel, raw: RawEvidence): Set<RawNode> {
  const main = nodes.filter(({ owner }) => owner === null);
  const dimsOf = (node: RawNode | undefined): number[] | undefined => {
    const logged = node?.op === 'Shape' ? raw.inputDims.get(node.name) : undefined;
    const dims = logged?.length === 1 ? / -> \(([-\d, ]+)\)/.exec(logged[0]!)?.[1]!.split(',').map(Number) : undefined;
    return dims?.slice(node!.ints.get('start') ?? 0, node!.ints.get('end') ?? dims.length);
  };
  const isKnown = (node: RawNode): boolean => {
    const dims = dimsOf(node);
    if (dims && !dims.includes(-1)) return true;
    if (node.outputs.some((name) => raw.graphNodes.get(`${name}[Constant]`) === 'CONSTANT')) return true;
    const source = node.op === 'Gather' ? dimsOf(producers.get(node.inputs[0]!)) : undefined;
    const at = scalars.get(node.inputs[1] ?? '');
    return source !== undefined && at !== undefined && (source.at(at) ?? -1) >= 0;
  };
  const known = new Set(main.filter(isKnown));
  for (const node of main.toReversed()) {
    if (node.op !== 'Shape' || node.outputs.some((name) => graphOutputs.has(name))) continue;
    const readers = nodes.filter(({ inputs }) => inputs.includes(node.outputs[0]!));
    if (readers.length > 0 && readers.every((reader) => known.has(reader))) known.add(node);
  }
  return known;
}

/** Nodes on which nothing depends that their graph gives back; in a body, whatever else happens to what it gives back. */
function deadNodes({ nodes, byId, graphOutputs, bodyOutputs }: RawModel): Set<RawNode> {
  const graphs = new Map<string, RawNode[]>();
  for (const node of nodes) {
    const path = node.id.slice(0, Math.max(0, node.id.lastIndexOf('/')));
    graphs.set(path, [...(graphs.get(path) ?? []), node]);
  }
  const dead = new Set<RawNode>();
  for (const [path, own] of graphs) {
    const inner = nodes.filter(({ id }) => own.some((node) => node.hasBody && id.startsWith(`${node.id}/`)));
    // A body may read any tensor around it.
    const needed = new Set(path === '' ? graphOutputs : bodyOutputs.get(path));
    for (const { inputs } of inner) for (const name of inputs) needed.add(name);
    for (const [owner, given] of bodyOutputs)
      if (own.some((node) => owner.startsWith(`${node.id}/`))) for (const name of given) needed.add(name);
    // Nodes may be in any order.
    const open = new Set(own);
    for (let size = -1; size !== open.size;) {
      size = open.size;
      for (const node of open) {
        if (!node.outputs.some((name) => needed.has(name))) continue;
        for (const name of node.inputs) needed.add(name);
        open.delete(node);
      }
    }
    for (const node of open) dead.add(node);
  }
  for (const node of nodes) if (node.owner !== null && dead.has(byId.get(node.owner)!)) dead.add(node);
  return dead;
}
