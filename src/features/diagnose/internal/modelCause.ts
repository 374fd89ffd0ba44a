import type { CheckFinding } from '../../../kernel/build/diagnosis.ts';
import type { BuildLog } from '../../../kernel/read/tensorrt/buildOutput.ts';
import type { OnnxModel } from '../../../kernel/read/onnx/onnxModel.ts';
import { checkModel } from '../checkModel.ts';
import type { Diagnosis, DiagnosisCode } from '../../../kernel/build/diagnosis.ts';

/** What a log may say of a build that a property of the model ended. */
const OF_MODEL: ReadonlySet<DiagnosisCode> = new Set([
  'internal',
  'cut-off',
  'failed',
  'crashed',
  'killed',
  'model-invalid',
  'model-unreadable',
  'unsupported-form',
  'unsupported-type',
  'type-mismatch',
  'shape-mismatch',
  'control-flow',
  'no-implementation',
]);
/** The log says where the build ended, and not why. */
const ENDS: ReadonlySet<DiagnosisCode> = new Set(['cut-off', 'failed', 'crashed', 'killed']);

/**
 * Causes that the log does not state, in the words of what `check` finds in the model: at the same node or tensor, or
 * anywhere where the log names none.
 */
export function withModelCauses(found: readonly Diagnosis[], log: BuildLog, model: OnnxModel): Diagnosis[] {
  let checked: CheckFinding[] | undefined;
  return found.map((one) => {
    // A layer without a name is one of many that the parser made of a node.
    const isPart = one.layer?.startsWith('(Unnamed Layer') === true;
    if (one.severity !== 'error' || (one.sure === 'stated' && !isPart) || !OF_MODEL.has(one.code)) return one;
    checked ??= checkModel(model, {
      product: log.product ?? 'tensorrt',
      version: log.version,
      capability: null,
    }).filter(({ severity, code }) => severity === 'error' && code !== 'known-fault');
    const finding = findingFor(one, checked);
    if (finding === undefined) return one;
    const { code, message, advice, nodes, repair } = finding;
    const { repair: _, ...rest } = one;
    return {
      ...rest,
      code: code as DiagnosisCode,
      message: ENDS.has(one.code)
        ? `${one.message} The model explains it: ${message}`
        : atLayer(message, isPart ? null : one.layer),
      advice,
      sure: 'likely',
      nodes: one.nodes.length > 0 && !ENDS.has(one.code) ? one.nodes : nodes,
      ...(repair !== undefined && { repair }),
    };
  });
}

/** With the node's name, which stands in a list next to the text only where there is room. */
const atLayer = (message: string, layer: string | null): string =>
  layer === null || message.includes(layer)
    ? message
    : message.replace(/\.$/, () => ` (node ${JSON.stringify(layer)}).`);

function findingFor({ code, nodes, evidence }: Diagnosis, checked: readonly CheckFinding[]): CheckFinding | undefined {
  // Of an operator that it lacks the log says so; where it says something else, that is nearer.
  const fitting = checked.filter((one) => one.code !== 'unsupported-op' || ENDS.has(code));
  const words = new Set(evidence.split(/\s+/).map((word) => word.replace(/[:,.!]+$/, '')));
  return (
    fitting.find(({ tensors }) => tensors.some((name) => words.has(name))) ??
    fitting.find((finding) => finding.nodes.some((id) => nodes.includes(id))) ??
    (nodes.length === 0 ? fitting[0] : undefined)
  );
}
