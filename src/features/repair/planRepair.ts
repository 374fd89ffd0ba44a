import type { CheckFinding } from '../../kernel/build/diagnosis.ts';
import type { ModelEdits } from '../../kernel/read/onnx/editModel.ts';
import { RepairDraft } from './internal/draft.ts';
import type { RefusedPlace, RepairClass, RepairPlace, RepairStep } from '../../kernel/network/repairMap.ts';
import type { Repair } from './internal/repair.ts';
import type { RepairSubject } from './subject.ts';
import { sliceAxes, squeezeAxes } from './internal/repairs/axes.ts';
import { knownBranch } from './internal/repairs/branches.ts';
import { castMixedTypes, denseInitializers, renameDimensions } from './internal/repairs/declarations.ts';
import { dequantizeConstants } from './internal/repairs/dequantizeConstants.ts';
import {
  dynamicQuantizationExact,
  dynamicQuantizationFloat,
  dynamicQuantizeLstm,
  integerProducts,
} from './internal/repairs/dynamicQuantization.ts';
import { fixInputs } from './internal/repairs/fixInputs.ts';
import { foldConstants, foldShapes } from './internal/repairs/foldConstants.ts';
import { batchNormInference, bernoulliUniform, dropoutInference } from './internal/repairs/inference.ts';
import { inlineFailingCalls } from './internal/repairs/inlineFunctions.ts';
import { narrowIntegers } from './internal/repairs/integers.ts';
import { innerUint8 } from './internal/repairs/innerUint8.ts';
import { packedWeights, packedWeightsFloat } from './internal/repairs/contrib/packedWeights.ts';
import { indexLabels } from './internal/repairs/contrib/labels.ts';
import { loopCondition } from './internal/repairs/loopCondition.ts';
import { indexTexts } from './internal/repairs/contrib/texts.ts';
import { mlLinear, mlLookup, mlZipmap } from './internal/repairs/contrib/machineLearning.ts';
import { mlTrees } from './internal/repairs/contrib/trees.ts';
import { expandAttention, expandDeterminant, shiftBits } from './internal/repairs/mathOperators.ts';
import {
  embedLayerNormalization,
  geluOperators,
  skipLayerNormalization,
} from './internal/repairs/contrib/microsoftNorms.ts';
import { contribAttention, fusedConv, fusedMatmul } from './internal/repairs/contrib/microsoftProducts.ts';
import { nameOutputs, shortenNames, uniqueNames } from './internal/repairs/names.ts';
import { qlinearPairs, qlinearProducts } from './internal/repairs/qlinear.ts';
import { dequantizeInFloat, quantizeInFloat, shiftUint8 } from './internal/repairs/quantization.ts';
import { scatterNone, scatterReduction } from './internal/repairs/scatter.ts';
import { countNonzero, maskWhere } from './internal/repairs/selections.ts';
import { splitSequences, unrollSequences, unwrapOptionals } from './internal/repairs/sequences.ts';
import { halfPixelNearest } from './internal/repairs/signals.ts';
import {
  dropStringOutputs,
  removeDeadNodes,
  removeUnusedInputs,
  removeUnusedOutputs,
  widenInputs,
} from './internal/repairs/unused.ts';
import {
  gridSampleNames,
  groupNormMeans,
  logSumExp,
  mergeScales,
  transposedPads,
} from './internal/repairs/wrongForms.ts';
import { knownFaults } from '../../kernel/faults/knownFaults.ts';
import { checkModel, type CheckTarget } from '../diagnose/checkModel.ts';
import { type BuildManifest, sizesOf, type BuiltShape } from '../../kernel/build/buildManifest.ts';
import type { Diagnosis, DiagnosisCode } from '../../kernel/build/diagnosis.ts';
import type { OnnxModel } from '../../kernel/read/onnx/onnxModel.ts';

export type { Repair } from './internal/repair.ts';

/** A repair as it would be made on a model. */
export interface PlannedRepair {
  repair: Repair;
  edits: ModelEdits;
  places: RepairPlace[];
  refused: RefusedPlace[];
  outputs: ReadonlyMap<string, string | null>;
  /** The texts for which inputs take the index now; empty: there are none. */
  texts: readonly string[];
}

/** What a failed build says. */
export interface RepairFailure {
  /** Ids of the nodes that it names. */
  nodes: ReadonlySet<string>;
  /** Its texts. */
  text: string;
}

/** A repair on a model; without edits where nothing applies. */
export async function planRepair(
  subject: RepairSubject,
  repair: Repair,
  blocked: ReadonlySet<string>,
): Promise<PlannedRepair | { edits: null; refused: RefusedPlace[] }> {
  const draft = new RepairDraft(subject, repair.id, blocked);
  await repair.apply(draft);
  const edits = draft.edits();
  const { places, refused, outputs, texts } = draft;
  return edits ? { repair, edits, places, refused, outputs, texts } : { edits: null, refused };
}

/** How a repair answers a failure: at its nodes, by its text, or by being worth a try. */
type Answer = 'direct' | 'text' | 'try';

/** A repair with how it answers the failure. */
export interface RankedRepair extends PlannedRepair {
  answer: Answer;
}

/** The repairs that apply to a failed model, in the catalogue's order. */
export async function candidates(
  subject: RepairSubject,
  failure: RepairFailure,
  excluded: ReadonlySet<string>,
): Promise<{
  found: RankedRepair[];
  refused: (RefusedPlace & { repair: string })[];
}> {
  const found: RankedRepair[] = [];
  const refused: (RefusedPlace & { repair: string })[] = [];
  const operators = new Set(
    [...failure.nodes].map((id) => subject.model.nodes.find((node) => node.id === id)?.op ?? ''),
  );
  for (const repair of catalogue) {
    if (excluded.has(repair.id)) continue;
    // oxlint-disable-next-line no-await-in-loop -- one weight in memory at a time
    const planned = await planRepair(subject, repair, failure.nodes);
    const about = planned.refused.filter(({ node }) => !repair.builds || failure.nodes.has(node));
    refused.push(...about.map((one) => ({ repair: repair.id, ...one })));
    if (!planned.edits) continue;
    const answer = answerOf(planned, failure, operators);
    if (answer === 'direct' || !repair.builds) found.push({ ...planned, answer });
  }
  return { found, refused };
}

function answerOf(
  { repair, places }: PlannedRepair,
  { nodes, text }: RepairFailure,
  operators: ReadonlySet<string>,
): Answer {
  if (places.some(({ node }) => node !== null && nodes.has(node))) return 'direct';
  if (repair.answers?.test(text) || repair.operators?.some((op) => operators.has(op))) return 'text';
  return 'try';
}

const answerRank: Record<Answer, number> = { direct: 0, text: 1, try: 2 };
const classRank: Record<RepairClass, number> = { exact: 0, rounding: 1, signature: 2, float: 3, meaning: 4 };

/** Those that answer the failure best first; of these, those that change least. @param float floating point is wanted in place of quantization */
export function preferred(found: readonly RankedRepair[], float: boolean): RankedRepair[] {
  const rank = ({ answer, repair: { class: kind } }: RankedRepair): number => {
    if (kind === 'float' && float && answer !== 'try') return -1;
    return 10 * answerRank[answer] + classRank[kind];
  };
  return found.toSorted((a, b) => rank(a) - rank(b));
}

/** Whether a repair does something at the failing nodes that no earlier one of the same round has repaired. */
export function isNew(
  { places }: PlannedRepair,
  earlier: readonly RepairStep[],
  failing: ReadonlySet<string>,
): boolean {
  const repaired = new Set(earlier.flatMap((step) => step.places).flatMap(({ name, by }) => [name, ...by]));
  return places.some(({ node, name }) => node !== null && failing.has(node) && !repaired.has(name));
}

/** Outputs of the original by the names that they have after two repairs; null: gone. */
export function joinOutputs(
  before: ReadonlyMap<string, string | null>,
  after: ReadonlyMap<string, string | null>,
): ReadonlyMap<string, string | null> {
  const all = new Map(before);
  for (const [name, other] of before) if (other !== null && after.has(other)) all.set(name, after.get(other)!);
  const known = new Set(before.values());
  for (const [name, other] of after) if (!known.has(name)) all.set(name, other);
  return all;
}

/** All repairs; of several that apply at the same place the first one is tried first. */
export const catalogue: readonly Repair[] = [
  inlineFailingCalls,
  removeDeadNodes,
  removeUnusedOutputs,
  squeezeAxes,
  sliceAxes,
  halfPixelNearest,
  loopCondition,
  nameOutputs,
  denseInitializers,
  unwrapOptionals,
  unrollSequences,
  splitSequences,
  maskWhere,
  countNonzero,
  dequantizeConstants,
  shiftUint8,
  quantizeInFloat,
  dequantizeInFloat,
  dynamicQuantizationExact,
  integerProducts,
  qlinearProducts,
  scatterNone,
  shiftBits,
  narrowIntegers,
  innerUint8,
  mlLookup,
  knownBranch,
  foldConstants,
  foldShapes,
  renameDimensions,
  shortenNames,
  uniqueNames,
  qlinearPairs,
  packedWeights,
  fusedMatmul,
  fusedConv,
  contribAttention,
  expandAttention,
  skipLayerNormalization,
  embedLayerNormalization,
  geluOperators,
  mlLinear,
  mlTrees,
  expandDeterminant,
  scatterReduction,
  mlZipmap,
  indexLabels,
  indexTexts,
  removeUnusedInputs,
  widenInputs,
  fixInputs,
  dropStringOutputs,
  dynamicQuantizationFloat,
  dynamicQuantizeLstm,
  packedWeightsFloat,
  dropoutInference,
  batchNormInference,
  bernoulliUniform,
  castMixedTypes,
  mergeScales,
  gridSampleNames,
  logSumExp,
  groupNormMeans,
  transposedPads,
];

/** What a build of a model on its way said. */
export interface RepairTrial {
  /** null: it passed. */
  error: Diagnosis | null;
  /** Names of the nodes that its errors name, or of their first outputs. */
  nodes: ReadonlySet<string>;
  text: string;
}

const passed: RepairTrial = { error: null, nodes: new Set(), text: '' };

/** A build that got further, or fails elsewhere. */
export const isProgress = (before: RepairTrial, after: RepairTrial): boolean =>
  after.error === null || after.text !== before.text || [...before.nodes].some((node) => !after.nodes.has(node));

/** @param error the build's own line, for a log without errors */
export function trialOf(found: Diagnosis[], model: OnnxModel, error: string): RepairTrial {
  const errors = found.filter(({ severity }) => severity === 'error');
  const names = new Map(model.nodes.map((node) => [node.id, keyOf(node)]));
  const nodes = new Set(errors.flatMap((one) => one.nodes).flatMap((id) => names.get(id) ?? []));
  const [first] = errors;
  const unknown: Diagnosis = {
    code: 'internal',
    rule: null,
    severity: 'error',
    message: error,
    advice: '',
    sure: 'stated',
    line: 0,
    evidence: error,
    nodes: [],
    layer: null,
    follows: [],
  };
  const text = [error, ...errors.map(({ message }) => message)].join('\n');
  return { error: first ?? unknown, nodes, text: text.replaceAll(/\S*trtlens-repair-\d+\.onnx|\S*build-\d+\S*/g, '') };
}

/** What a model that was built computes wrong, as far as it is known of this TensorRT. */
export const trialOfFaults = (model: OnnxModel, { product, version }: BuildManifest['tensorrt']): RepairTrial =>
  trialOfFindings(model, product === null ? [] : knownFaults(model, { product, version, capability: null }));

/** What the tables of a version say of a model, which is not built. */
export function trialByTables(model: OnnxModel, target: CheckTarget, shapes: readonly BuiltShape[][]): RepairTrial {
  return trialOfFindings(model, checkModel(model, target, sizesOf(shapes)));
}

function trialOfFindings(model: OnnxModel, findings: readonly CheckFinding[]): RepairTrial {
  const found = findings.filter(({ severity }) => severity === 'error');
  return found.length === 0 ? passed : trialOf(found.map(diagnosisOf), model, found[0]!.message);
}

const diagnosisOf = ({ code, message, advice, nodes, repair }: CheckFinding): Diagnosis => ({
  code: code as DiagnosisCode,
  rule: null,
  severity: 'error',
  message,
  advice,
  sure: 'likely',
  line: 0,
  evidence: message,
  nodes,
  layer: null,
  ...(repair !== undefined && { repair }),
  follows: [],
});

/** Ids change with each edit, names and outputs stay. */
const keyOf = ({ name, outputs }: OnnxModel['nodes'][number]): string => outputs.find(Boolean) ?? name;

/** The failure with the ids that its nodes have in a later model. */
export function failureOfTrial(model: OnnxModel, { nodes, text }: RepairTrial): RepairFailure {
  return { nodes: new Set(model.nodes.filter((node) => nodes.has(keyOf(node))).map(({ id }) => id)), text };
}
