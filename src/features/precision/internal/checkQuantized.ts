import { addProblem, type CheckContext, someNames } from '../../../kernel/rules/precisionPlan.ts';
import { quantizable } from '../../../kernel/network/modelGraph.ts';
import { changeTo } from './changeType.ts';
import type { TypeWord } from '../../../kernel/rules/overrideFile.ts';
import { hasLayerFlags, type NodeFacts, targetName } from '../../../kernel/rules/buildFacts.ts';

/** Types that are nothing without scales: int8, fp8, int4. `nodes` are those of the rule that accept a precision. */
export function checkQuantized(context: CheckContext, word: TypeWord, nodes: readonly NodeFacts[] | null): void {
  const { target, scales } = context;
  if (word.type === 'int8' && nodes !== null && scales !== null) {
    checkScales(context, word, nodes, scales);
    return;
  }
  if (word.type === 'int8' && hasLayerFlags(target) !== false) {
    const message =
      'INT8 also needs scales from calibration, dynamic ranges, Q/DQ nodes or a line "scales FILE". Without them TensorRT keeps the layer in floating point.';
    addProblem(context, word.range, 'info', 'type-needs-scales', message, changeTo(word));
    return;
  }
  if (word.type === 'int8' && nodes !== null) {
    const message =
      'Nothing gives the scales of INT8. Add a line "scales FILE" with a calibration cache or samples (.npz), or quantize the model first.';
    addProblem(context, word.range, 'error', 'type-needs-scales', message, changeTo(word));
    return;
  }
  const message = `${targetName(target)} uses ${word.type} only between Q/DQ nodes of the model, so a rule cannot set it. Quantize the model first.`;
  addProblem(context, word.range, 'error', 'type-needs-qdq', message, changeTo(word));
}

/** Whether pairs can be inserted at the nodes of a rule. */
function checkScales(
  context: CheckContext,
  word: TypeWord,
  nodes: readonly NodeFacts[],
  { tensors }: NonNullable<CheckContext['scales']>,
): void {
  const able = nodes.filter(({ op }) => quantizable.has(op));
  if (able.length === 0) {
    const message = `TensorRT quantizes ${[...quantizable].join(', ')}, not ${someNames([...new Set(nodes.map(({ op }) => op))])}.`;
    addProblem(context, word.range, 'error', 'type-unsupported-op', message, changeTo(word));
    return;
  }
  if (context.index.facts.opset < 13) {
    const message = `INT8 needs opset 13 or later; this model has ${context.index.facts.opset}. Convert it first (onnx.version_converter).`;
    addProblem(context, word.range, 'error', 'opset-too-old', message, changeTo(word));
    return;
  }
  if (tensors === null) return;
  const missing = [...new Set(able.flatMap(({ activations = [] }) => activations))].filter(
    (name) => !tensors.has(name),
  );
  if (missing.length === 0) return;
  const message = `The file of the "scales" line has no scale for ${someNames(missing)}: nodes that read ${missing.length === 1 ? 'it' : 'them'} stay in floating point.`;
  addProblem(context, word.range, 'warning', 'scale-missing', message);
}
