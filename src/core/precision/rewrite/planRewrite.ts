import type { ModelEdits } from '../../onnx/editModel.ts';
import type { OnnxModel } from '../../onnx/onnxModel.ts';
import type { Problem } from '../../text/problem.ts';
import { growIslands } from './growIslands.ts';
import { inferTypes } from '../../model/tensorTypes.ts';
import { standardOpset } from '../../model/opset.ts';
import { outOfOrder, type ModelGraph } from '../../model/modelGraph.ts';
import type { TensorTypes } from '../../model/tensorTypes.ts';
import type { PrecisionPlan } from '../plan/precisionPlan.ts';
import { type Edits, rewriteEdits } from './rewriteEdits.ts';
import type { RewritePlan } from './rewritePlan.ts';
import { chooseTypes } from './rewriteTypes.ts';
import type { RealType } from '../plan/opTyping.ts';

export interface RewriteOptions {
  /** `keep`: graph inputs and outputs keep their types; `follow`: they take the type of what reads or makes them. */
  io?: 'keep' | 'follow';
  /** Move cheap nodes between and next to kept ones into the island if that saves Casts. */
  grow?: boolean;
  /** The Q/DQ pairs of `int8` rules, of another plan: what computes between them keeps its type. */
  pairs?: ModelEdits | undefined;
}

/** Turns a plan into edits of the model. Never throws; what cannot be done is in `problems`. */
export function planRewrite(
  model: OnnxModel,
  plan: PrecisionPlan,
  options: RewriteOptions = {},
  tensorTypes: TensorTypes = inferTypes(model),
): RewritePlan {
  const choice = chooseTypes(model, plan, tensorTypes, options.pairs);
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
    const problems = [...choice.problems, ...problemsOf(tensorTypes.graph, edits)];
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
