import { counted } from '../base/text.ts';
import type { Repair } from './repair.ts';
import type { RepairStep } from '../network/repairMap.ts';
import type { BuildManifest } from '../build/buildManifest.ts';
import type { Diagnosis } from '../diagnose/diagnosis.ts';
import type { Proof, ProofVerdict } from './proof.ts';

/** Places of one repair that are listed by name. */
const mostPlaces = 5;

/** The result of a repair as lines of text. @param commands advice for the command line, otherwise for the editor */
export function repairText(outcome: RepairResult, commands = true): string {
  return [...stepLines(outcome), ...endLines(outcome, commands)].map((line) => `${line}\n`).join('');
}

/** Repairs that apply to a model, as lines of text. */
export const suggestionText = (steps: readonly RepairStep[]): string =>
  steps
    .flatMap(placeLines)
    .map((line) => `${line}\n`)
    .join('');

function stepLines({ failure, repairs, status }: RepairResult): string[] {
  if (status === 'builds') return ['The model builds. Nothing to repair.'];
  const lines = failure ? [`Rejected: ${failure.message}`] : [];
  return [...lines, ...repairs.flatMap(placeLines)];
}

/** A repair with its places. */
function placeLines({ id, title, class: kind, places }: RepairStep): string[] {
  const lines = [`${title} (${id}, ${classWords[kind]}): ${counted(places.length, 'place')}`];
  for (const { name, operator, by, note } of places.slice(0, mostPlaces)) {
    const now = by.length > 1 ? ` → ${by.length} nodes` : '';
    lines.push(`  ${name} (${operator})${now}${note === null ? '' : `: ${note}`}`);
  }
  if (places.length > mostPlaces) lines.push(`  … ${counted(places.length - mostPlaces, 'more place')}`);
  return lines;
}

function endLines(outcome: RepairResult, commands: boolean): string[] {
  const { status, written, notAllowed, left, verdict, refused, repairs } = outcome;
  const proof = verdict ? [`${verdict.text}.`] : [];
  switch (status) {
    case 'builds':
      return [];
    case 'repaired':
      return [
        ...proof,
        `The model builds with ${counted(repairs.length, 'repair')}.`,
        ...(written === null ? [] : [`Written: ${written}`]),
      ];
    case 'not-allowed':
      return [
        ...proof,
        `The model would build, but these repairs are not exact: ${notAllowed.join(', ')}.${commands ? ` ${allowText(outcome)}` : ''}`,
      ];
    case 'unproved':
      return [
        ...proof,
        'The model would build, but its outputs are not proved to be what the repairs promise, so nothing was written.',
      ];
    case 'failed': {
      const reasons = refused
        .slice(0, mostPlaces)
        .map(({ repair, node, reason }) => `  ${repair} does not apply to node ${node}: ${reason}.`);
      const helped =
        repairs.length === 0
          ? []
          : [`With ${counted(repairs.length, 'repair')} it still fails: ${left?.message ?? ''}`];
      return [
        ...helped,
        'No repair makes this model build.',
        ...reasons,
        ...(left ? [left.advice] : []),
        ...(commands ? wayOut(outcome) : []),
      ];
    }
  }
}

/** What is left to do about a model that no repair helps. */
const wayOut = ({ model, left }: RepairResult): string[] => [
  `For the smallest model that fails alike: trtlens reduce ${model} -o reduced`,
  ...(left && left.nodes.length > 0
    ? [
        `For the failing nodes as a model of their own: trtlens extract ${model} --nodes ${left.nodes.join(',')} -o part.onnx`,
      ]
    : []),
];

function allowText({ notAllowed, repairs }: RepairResult): string {
  const wanted = repairs
    .filter(({ id }) => notAllowed.includes(id))
    .map(({ id, class: kind }) => (kind === 'meaning' ? id : kind));
  return `Pass --allow ${[...new Set(wanted)].join(',')} to accept them.`;
}

const classWords: Record<Repair['class'], string> = {
  exact: 'exact',
  rounding: 'rounding',
  signature: 'changes inputs or outputs',
  float: 'float in place of quantized',
  meaning: 'changes what the model computes',
};

/** What became of a model. */
export interface RepairResult {
  /**
   * - builds: there was nothing to repair
   * - repaired: it builds now, and the outputs are as promised
   * - unproved: it builds now, but the outputs are not as the classes of the repairs say
   * - not-allowed: it builds with repairs that are not allowed
   * - failed: no repair helps
   */
  status: 'builds' | 'repaired' | 'unproved' | 'not-allowed' | 'failed';
  /** Path of the original. */
  model: string;
  /** Path of the repaired model; null: none was written. */
  written: string | null;
  /** Each repair with its places, in the order in which they were made. */
  repairs: RepairStep[];
  /** Ids of those that are not allowed. */
  notAllowed: string[];
  /** Why the original does not build; why the repaired model does not. */
  failure: Diagnosis | null;
  left: Diagnosis | null;
  /** Places that were left as they are, with the reason. */
  refused: { repair: string; node: string; reason: string }[];
  proof: Proof | null;
  verdict: ProofVerdict | null;
  /** What built. */
  tensorrt: BuildManifest['tensorrt'];
  builds: number;
  seconds: number;
}
