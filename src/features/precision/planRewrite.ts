// The edits that write them into the model.
import type { Problem } from '../../kernel/base/problem.ts';
import { counted, thousands } from '../../kernel/base/text.ts';
import type { ModelEdits } from '../../kernel/read/onnx/editModel.ts';
import type { ConversionLoss, OnnxGraph, OnnxModel, OnnxTensor } from '../../kernel/read/onnx/onnxModel.ts';
import { type ModelGraph, outOfOrder, standardOpset } from '../../kernel/network/modelGraph.ts';
import { growIslands } from './internal/growIslands.ts';
import { type Edits, rewriteEdits } from './internal/rewriteEdits.ts';
import type { PrecisionPlan, RealType } from '../../kernel/rules/precisionPlan.ts';
import { chooseTypes, type RewritePlan } from './internal/rewritePlan.ts';

export {
  type ChosenType,
  chooseTypes,
  linesOfRemoved,
  type RewritePlan,
  type TypeChoice,
  withPairs,
} from './internal/rewritePlan.ts';

export interface RewriteOptions {
  /** `keep`: graph inputs and outputs keep their types; `follow`: they take the type of what reads or makes them. */
  io?: 'keep' | 'follow';
  /** Move cheap nodes between and next to kept ones into the island if that saves Casts. */
  grow?: boolean;
  /** The Q/DQ pairs of `int8` rules, of another plan: what computes between them keeps its type. */
  pairs?: ModelEdits | undefined;
}

/** Turns a plan into edits of the model. Never throws; what cannot be done is in `problems`. */
export function planRewrite(model: OnnxModel, plan: PrecisionPlan, options: RewriteOptions = {}): RewritePlan {
  const choice = chooseTypes(model, plan, options.pairs);
  const io = options.io ?? 'keep';
  const before = rewriteEdits(choice, io, options.pairs);
  if (options.grow !== true || before.casts.length === 0) return finish(before, 0, 0);
  const types = new Map([...choice.nodes].map(([id, { type }]) => [id, type]));
  const grown = growIslands(choice);
  const after = rewriteEdits(choice, io, options.pairs);
  if (after.casts.length < before.casts.length) return finish(after, grown, before.casts.length - after.casts.length);
  for (const [id, type] of types) {
    const chosen = choice.nodes.get(id);
    if (chosen) chosen.type = type;
  }
  return finish(before, 0, 0);

  function finish(edits: Edits, grownNodes: number, castsSaved: number): RewritePlan {
    const byType: Record<RealType, number> = { float: 0, float16: 0, bfloat16: 0 };
    const nodes = [...choice.nodes.values()].filter((chosen) => chosen.typing === 'free');
    for (const { type } of nodes) byType[type]++;
    const problems = [...choice.problems, ...problemsOf(choice.network, edits)];
    return {
      ...edits,
      nodes: nodes.map(({ node, type, asked }) => ({ id: node.id, name: node.name, type, asked })),
      counts: { casts: edits.casts.length, grown: grownNodes, castsSaved, byType },
      problems,
    };
  }
}

/** What no Cast can be added to, and what no longer fits the edited graph. */
function problemsOf(graph: ModelGraph, { casts, initializers }: Edits): Problem[] {
  const { model } = graph;
  const problems: Problem[] = [];
  if (model.trains && casts.length + initializers.length > 0) {
    const message =
      'The training information (training_info) is unchanged and does not match the new types. TensorRT ignores it; train the original model.';
    problems.push({ severity: 'warning', code: 'training-left', message });
  }
  if (casts.length === 0) return problems;
  const opset = standardOpset(model);
  if (opset < 6) {
    const message = `Casts need opset 6 or later; this model ${opset > 1 ? `has ${opset}` : 'has none, or opset 1'}. Convert it first (onnx.version_converter).`;
    problems.push({ severity: 'error', code: 'opset-too-old', message });
  }
  const names = casts.flatMap(({ input, output }) => [input, output]);
  // Made up from the tensor's, the other name of a Cast is the longer one.
  const [odd] = names.filter((name) => name.includes('\ufffd')).sort((x, y) => x.length - y.length);
  if (odd !== undefined) {
    const message = `The name of tensor ${JSON.stringify(odd)} is not UTF-8, so no Cast can refer to it. Rename it first, or export the model with UTF-8 names.`;
    problems.push({ severity: 'error', code: 'name-no-utf8', message });
  }
  const early = outOfOrder(graph);
  if (early) {
    const { node, tensor } = early;
    const message = `The nodes are not in topological order: "${node.name || node.op}" reads "${tensor}", which a later node computes. Sort them first, for example with "polygraphy surgeon sanitize".`;
    problems.push({ severity: 'error', code: 'unsorted', message, node: node.id });
  }
  return problems;
}

/** Weights that their new types could not hold, as sentences that name the tensors; [] where all were held. */
export function lossNotes(model: OnnxModel, loss: ConversionLoss): Pick<Problem, 'severity' | 'code' | 'message'>[] {
  const names = loss.where && loss.where.length > 0 ? namesOfPlaces(model.graph) : new Map<string, string>();
  const named = (kind: 'clamped' | 'vanished'): string => {
    const found = (loss.where ?? []).filter((place) => place[kind] > 0);
    const first = found.slice(0, 3).map(({ file, offset }) => names.get(placeKey(file, offset)));
    const known = first.filter((name) => name !== undefined).map((name) => JSON.stringify(name));
    const more = found.length - known.length;
    // A number that is in an attribute has no place of its own.
    if (known.length === 0) return counted(more, 'constant');
    return `${known.join(', ')}${more > 0 ? ` and ${thousands(more)} more` : ''}`;
  };
  const weights = (count: number) => counted(count, 'weight');
  const notes: ReturnType<typeof lossNotes> = [];
  if (loss.clamped > 0) {
    const message = `${weights(loss.clamped)} exceeded the range of the new type and became its largest finite value: in ${named('clamped')}.`;
    notes.push({ severity: 'warning', code: 'weights-clamped', message });
  }
  if (loss.vanished > 0) {
    const message = `${weights(loss.vanished)} ${loss.vanished === 1 ? 'was' : 'were'} too small for the new type and became zero: in ${named('vanished')}.`;
    notes.push({ severity: 'info', code: 'weights-vanished', message });
  }
  return notes;
}

const placeKey = (file: string | undefined, offset: number): string => JSON.stringify([file ?? null, offset]);

/** Initializers by the place of their elements; a Constant has its node's name. */
function namesOfPlaces(graph: OnnxGraph, names = new Map<string, string>()): Map<string, string> {
  const note = ({ data }: OnnxTensor, name: string): void => {
    if (!data) return;
    const key =
      'inline' in data
        ? placeKey(undefined, data.inline.offset)
        : placeKey(data.external['location'], Number(data.external['offset'] ?? 0));
    if (!names.has(key)) names.set(key, name);
  };
  for (const tensor of graph.initializers) note(tensor, tensor.name);
  for (const { name, outputs, attributes, subgraphs } of graph.nodes) {
    for (const { kind, value } of attributes)
      if (kind === 'tensor' && value !== null) note(value as OnnxTensor, name || (outputs[0] ?? ''));
    for (const { graph: body } of subgraphs) namesOfPlaces(body, names);
  }
  return names;
}
