import {
  type Action,
  type Block,
  type Document,
  facts,
  list,
  note,
  type Row,
  section,
  type State,
  table,
} from '../../kernel/document/document.ts';
import { counted, durationText, thousands, timeText } from '../../kernel/base/text.ts';
import type { BisectReason, BisectResult, CheckedOutput, WrongPattern, WrongPlace } from './bisectReport.ts';

export interface BisectContext {
  /** The model's name. */
  title: string;
  actions?: readonly Action[];
}

/** Where an engine goes wrong, for people. */
export function bisectDocument(result: BisectResult, { title, actions = [] }: BisectContext): Document {
  const { piece, fix, lost, first, tried, tensorrt, gpu, withFlags } = result;
  return {
    title: `Where the engine of ${title} goes wrong`,
    blocks: [
      { kind: 'verdict', state: stateOf(result.reason), text: verdicts[result.reason] },
      ...(fix === null ? [] : [{ kind: 'text', text: fixText(result) } as const]),
      ...(actions.length === 0 ? [] : [{ kind: 'actions', actions } as const]),
      ...facts([
        ['TensorRT', tensorrt === null ? null : `${tensorrt}, ${gpu}`],
        ['Exactness', result.reference.noise < 1e-4 ? null : exactnessText(result.reference.noise)],
        ['Error with your options', withFlags === null ? null : errorText(withFlags)],
        ['Search', piece === null && first === null ? null : searchText(result)],
        ['Fixed model', fix?.model ?? null],
      ]),
      ...section('Outputs', outputTable(result.outputs)),
      ...(piece === null ? [] : pieceBlocks(piece)),
      ...(first === null
        ? []
        : section('First wrong tensor', [
            {
              kind: 'text',
              text: [
                `${first.tensor}, the output of node `,
                { text: first.node, to: { kind: 'nodes', ids: [first.node] } },
                `, is the first that is wrong when it is made an output: ${errorText(first.error)}${patternBehind(first.pattern)}.`,
              ],
            },
          ])),
      ...section(
        'The piece elsewhere',
        table(
          ['TensorRT', 'GPU', 'error#', 'result'],
          result.elsewhere.map(({ tensorrt: version, gpu: card, error, wrong, problem }) => ({
            cells: [
              version ?? '-',
              card ?? '-',
              wrong === null ? '-' : errorText(error),
              problem ?? (wrong ? 'wrong' : 'right'),
            ],
            state: wrong === null ? ('unknown' as const) : wrong ? ('bad' as const) : ('good' as const),
          })),
          'place',
        ),
      ),
      ...section(
        'Nodes that TensorRT names nowhere',
        lost.length === 0
          ? []
          : [{ kind: 'text', text: lost.flatMap((id, at) => [at === 0 ? '' : ', ', nodeLink(id)]) }],
      ),
      ...section(
        'Changes tried',
        table(
          ['change', 'error#', 'time#'],
          tried.map(({ change, error, ms }) => ({
            cells: [change, errorText(error), ms === null ? '-' : timeText(ms)],
          })),
          'change',
        ),
      ),
    ],
  };
}

const exactnessText = (noise: number): string =>
  `ONNX Runtime differs by ${errorText(noise)} between FP32 and FP64, or when it optimizes: errors up to ten times that are not called wrong. Other inputs may be more exact.`;

const stateOf = (reason: BisectReason): State =>
  reason === 'right' ? 'good' : reason === 'random' ? 'unknown' : 'bad';

const verdicts: Readonly<Record<BisectReason, string>> = {
  right: 'The engine is right.',
  wrong: 'The engine is wrong.',
  export: 'The export is wrong: ONNX Runtime computes other outputs from this model than the reference.',
  precision:
    'The engine is right in FP32 and wrong with your options: trtlens accuracy finds the nodes that need FP32.',
  random: 'The network draws random numbers, so two runs differ; that is no fault.',
  nondeterministic: 'The engine gives different outputs for the same input.',
  remembers: 'The engine gives other outputs after it ran with another input.',
  'vanishes-when-cut':
    'The engine is wrong, but every piece of it is right alone: the fault depends on the whole network.',
  budget: 'The engine is wrong. The search stopped at its limit; the same command goes on from there.',
  cancelled: 'The engine is wrong. The search was cancelled; the same command goes on from there.',
};

const fixText = ({ fix }: BisectResult): string => {
  const { change, error, costMs } = fix!;
  const cost = costMs === null ? '' : `, ${costMs >= 0 ? '+' : ''}${costMs.toPrecision(2)} ms a run`;
  return `Right after this change: ${change}; error ${errorText(error)}${cost}.`;
};

/** `636 → 35 → 8 nodes`. */
export const stepsText = (steps: readonly number[]): string => `${steps.map(thousands).join(' → ')} nodes`;

const searchText = ({ steps, builds, seconds }: BisectResult): string =>
  `${steps.length === 0 ? '' : `${stepsText(steps)}, `}${counted(builds, 'build')}, ${durationText(seconds * 1000)}`;

function pieceBlocks({ nodes, model, output, error, pattern }: NonNullable<BisectResult['piece']>): Block[] {
  return [
    ...section('Smallest piece', [
      {
        kind: 'text',
        text: [
          `${counted(nodes.length, 'node')} (`,
          ...nodes.flatMap((id, at) => [at === 0 ? '' : ', ', nodeLink(id)]),
          `), error ${errorText(error)}${patternBehind(pattern)}.`,
        ],
      },
      ...facts([['Model', model]]),
    ]),
    ...(output === null
      ? []
      : section(`Values of ${output.name}`, [
          ...(output.where ? [note(placeText(output.where))] : []),
          ...table(
            ['at', 'reference#', 'engine#', 'factor#'],
            (output.rows ?? []).map(({ at, reference, value }): Row => ({
              cells: [`[${at.join(', ')}]`, numberText(reference), numberText(value), factorText(reference, value)],
            })),
            'value',
          ),
          ...table(
            ['values', 'reference#', 'engine#'],
            (output.histogram ?? []).map(({ from, to, reference, value }) => ({
              cells: [`${numberText(from)} to ${numberText(to)}`, thousands(reference), thousands(value)],
            })),
            'range',
          ),
        ])),
  ];
}

const nodeLink = (id: string) => ({ text: id, to: { kind: 'nodes', ids: [id] } }) as const;

const outputTable = (outputs: readonly CheckedOutput[]): Block[] =>
  outputs.length === 1 && outputs[0]!.pattern === undefined && !outputs[0]!.wrong
    ? list([`${outputs[0]!.name}: ${errorText(outputs[0]!.error)}`], 'output')
    : table(
        ['output', 'error#', 'mean#', 'median#', '99 %#', 'pattern'],
        outputs.map(({ name, wrong, error, mean, median, p99, pattern = null }) => ({
          cells: [
            name,
            errorText(error),
            ...[mean, median, p99].map((value) => (value == null ? '-' : numberText(value))),
            wrong ? patternBehind(pattern).slice(2) : '',
          ],
          state: wrong ? ('bad' as const) : ('good' as const),
        })),
        'output',
      );

const errorText = (error: number | null): string => (error === null ? 'not finite' : error.toPrecision(3));

const numberText = (value: number | string): string =>
  typeof value === 'number' ? String(Number(value.toPrecision(5))) : value;

const factorText = (reference: number | string, value: number | string): string =>
  typeof reference === 'number' && typeof value === 'number' && reference !== 0
    ? (value / reference).toPrecision(4)
    : '-';

const patternBehind = (pattern: WrongPattern | null): string =>
  pattern === null || pattern.kind === 'other' ? '' : `, ${patternText(pattern)}`;

/** Where values are wrong, as a sentence. */
function placeText(place: WrongPlace): string {
  switch (place.kind) {
    case 'all':
      return 'Values are wrong everywhere.';
    case 'none':
      return 'No value is wrong.';
    case 'axis':
    case 'tail':
      return `Values are wrong at indices ${place.from} to ${place.to ?? place.size - 1} of axis ${place.axis} only, which has ${place.size}.`;
    case 'some':
      return `${(place.share * 100).toPrecision(3)} % of the values are wrong.`;
  }
}

/** A pattern in words. */
export function patternText({ kind, value }: WrongPattern): string {
  const shown = typeof value === 'number' ? Number(value.toPrecision(4)).toString() : JSON.stringify(value);
  switch (kind) {
    case 'factor':
      return `a constant factor of ${shown}`;
    case 'offset':
      return `a constant offset of ${shown}`;
    case 'permuted-axis':
      return `axes in the order ${shown}`;
    case 'batch':
      return `samples of the batch: ${shown}`;
    case 'swapped':
      return `the values of ${String(value)}`;
    case 'shifted':
      return `values of neighbors, ${shown}`;
    case 'stale':
      return 'the values of the run before';
    case 'zeros':
      return 'all zero';
    case 'not-finite':
      return 'not finite';
    case 'other':
      return 'no simple pattern';
  }
}
