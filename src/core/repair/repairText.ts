import { counted, releaseName } from '../base/text.ts';
import { type Block, type Document, facts, list, note, type Row, section, table } from '../document/document.ts';
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

function stepLines(result: RepairResult): string[] {
  const { failure, repairs, status } = result;
  if (status === 'builds') return [`${buildsText(result)} Nothing to repair.`, ...basisLines(result)];
  const lines = failure ? [`Rejected: ${failure.message}`] : [];
  return [...lines, ...repairs.flatMap(placeLines)];
}

/** What accepts the model: a build, or tables. */
const buildsText = ({ tensorrt, tables, repairs }: RepairResult): string => {
  const how = repairs.length === 0 ? '' : ` with ${counted(repairs.length, 'repair')}`;
  return tables === null
    ? `The model builds${how}.`
    : `${releaseName(tensorrt)} accepts the model${how}, as far as its tables know: nothing was built.`;
};

/** Where the tables are not those of the version. */
const basisLines = ({ tables }: RepairResult): string[] => (tables ? [tables] : []);

/** A repair with its places. */
function placeLines(step: RepairStep): string[] {
  const { places } = step;
  const lines = [headLine(step)];
  for (const { name, operator, by, note } of places.slice(0, mostPlaces)) {
    const now = by.length > 1 ? ` → ${by.length} nodes` : '';
    lines.push(`  ${name} (${operator})${now}${note === null ? '' : `: ${note}`}`);
  }
  if (places.length > mostPlaces) lines.push(`  … ${counted(places.length - mostPlaces, 'more place')}`);
  return lines;
}

const headLine = ({ id, title, class: kind, places }: RepairStep): string =>
  `${title} (${id}, ${classWords[kind]}): ${counted(places.length, 'place')}`;

function endLines(outcome: RepairResult, commands: boolean): string[] {
  const { status, written, notAllowed, left, verdict, refused, repairs } = outcome;
  const would =
    outcome.tables === null ? 'The model would build' : `${releaseName(outcome.tensorrt)} would accept the model`;
  const proof = verdict ? [`${verdict.text}.`] : [];
  switch (status) {
    case 'builds':
      return [];
    case 'repaired':
      return [
        ...proof,
        buildsText(outcome),
        ...basisLines(outcome),
        ...(written === null ? [] : [`Written: ${written}`]),
      ];
    case 'not-allowed':
      return [
        ...proof,
        `${would}, but these repairs are not exact: ${notAllowed.join(', ')}.${commands ? ` ${allowText(outcome)}` : ''}`,
      ];
    case 'unproved':
      return [
        ...proof,
        `${would}, but its outputs are not proved to be what the repairs promise, so nothing was written.`,
      ];
    case 'failed': {
      const reasons = refused.slice(0, mostPlaces).map((one) => `  ${refusedText(one)}`);
      const helped =
        repairs.length === 0
          ? []
          : [`With ${counted(repairs.length, 'repair')} it still fails: ${left?.message ?? ''}`];
      return [
        ...helped,
        `No repair makes ${outcome.tables === null ? 'this model build' : `${releaseName(outcome.tensorrt)} accept this model`}.`,
        ...basisLines(outcome),
        ...reasons,
        ...(left ? [left.advice] : []),
        ...(commands ? wayOut(outcome) : []),
      ];
    }
  }
}

const refusedText = ({ repair, node, reason }: RepairResult['refused'][number]): string =>
  `${repair} does not apply to node ${node}: ${reason}.`;

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

/** The result of a repair as a page: what was rejected, each place before and after, and the proof. */
export function repairDocument(outcome: RepairResult): Document {
  const { model, status, failure, repairs, proof, tensorrt, builds } = outcome;
  const good = status === 'repaired' || status === 'builds';
  return {
    title: `Repair of ${model.split(/[\\/]/).at(-1)}`,
    blocks: [
      {
        kind: 'verdict',
        state: good ? 'good' : 'bad',
        text: good ? buildsText(outcome) : endLines(outcome, true).at(-1)!,
      },
      ...facts([
        ['Rejected', failure?.message ?? null],
        ['TensorRT', releaseName(tensorrt)],
        ['Builds', builds === 0 ? null : String(builds)],
        ['Written', outcome.written],
      ]),
      ...repairs.flatMap((step) => section(headLine(step), placeBlocks(step))),
      ...section('Proof', proof ? proofBlocks(proof, outcome.verdict) : []),
      ...section('Not repaired', list(outcome.refused.map(refusedText), 'place')),
      ...section('Result', list(endLines(outcome, true), 'line')),
    ],
  };
}

const placeBlocks = ({ places }: RepairStep): Block[] =>
  table(
    ['Before', 'Operator', 'After', ''],
    places.map(({ name, operator, by, operators, note: remark }): Row => ({
      cells: [
        name,
        operator,
        by.length === 0 ? 'removed' : operators ? countedOperators(operators) : by.join(', '),
        remark ?? '',
      ],
    })),
    'place',
  );

/** `Gather, 2 Mul, Sub` */
function countedOperators(operators: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const op of operators) counts.set(op, (counts.get(op) ?? 0) + 1);
  return [...counts].map(([op, count]) => (count === 1 ? op : `${count} ${op}`)).join(', ');
}

function proofBlocks({ cases, outputs }: Proof, verdict: ProofVerdict | null): Block[] {
  const ran = cases.filter((one) => one.ran).map(({ kind }) => kind);
  return [
    ...(verdict ? [{ kind: 'text', text: `${verdict.text}.` } satisfies Block] : []),
    ...table(
      ['Output', 'Result', 'Error#', 'Noise of the original#'],
      outputs.map(({ name, dropped, identical, error, noise }): Row => ({
        cells: [
          name,
          dropped ? 'removed or renamed' : identical ? 'bit-identical' : 'differs',
          dropped || identical ? '' : size(error),
          size(noise),
        ],
      })),
      'output',
    ),
    note(`Inputs: ${ran.join(', ')}. Error and noise are the largest difference by the largest value.`),
  ];
}

const size = (value: number | null): string =>
  value === null ? 'no bound' : value === 0 ? '0' : value.toExponential(1);

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
  /** Nothing was built: tables of this version decided; where they are not its own, what they are instead. null: it was built. */
  tables: string | null;
  builds: number;
  seconds: number;
}
