import { accuracyEvidence, magnitude } from '../../kernel/simulation/nodeEvidence.ts';
import { errorFigure, exactFigure, measureNames } from '../../kernel/simulation/simulated.ts';
import type {
  AccuracyFix,
  AccuracyOutput,
  AccuracyReport,
  FixRuleGain,
  JudgedNode,
} from '../../kernel/simulation/simulated.ts';
import { randomWarning } from '../../kernel/build/randomInputs.ts';
import {
  type Action,
  type Block,
  type Chart,
  type Document,
  list,
  note,
  section,
  type State,
  table,
  type Text,
} from '../../kernel/document/document.ts';
import { shapeText, timeText, typeName } from '../../kernel/base/text.ts';
import { counted, percentText, thousands } from '../../kernel/base/text.ts';
import {
  accuracyVerdict,
  castsText,
  channelsText,
  isWithin,
  measureErrorTexts,
  moduleOf,
  nodeLevel,
  nodeTitle,
  notJudgedTexts,
  outsideTable,
  passesTolerance,
  unscaledError,
} from './accuracyReport.ts';
import { type PrecisionSweep, runtimeNote, sweepBlocks } from './precisionSweep.ts';

/** What is around a report. */
export interface AccuracyContext {
  /** The model's name. */
  title: string;
  /** Name of the file of rules that it was judged with; absent: none. */
  rules?: string | undefined;
  actions?: readonly Action[];
  /** The precisions compared; undefined: they were not. */
  sweep?: PrecisionSweep | undefined;
  /** What has changed since the result, one sentence each. */
  changes?: readonly string[];
}

/** What a low precision does to the outputs, which nodes cause it, and the smallest set to keep in FP32. */
export function accuracyDocument(
  given: AccuracyReport,
  { title, rules, actions = [], sweep, changes = [] }: AccuracyContext,
): Document {
  const report = nodeLevel(given);
  const { low, outputs, nodes, fix, inputs, samples, tolerance } = report;
  const type = typeName(low);
  const warning = randomWarning(inputs);
  const causes = nodes.filter(({ role, alone }) => role === 'root' || alone !== undefined);
  return {
    title: `${title} in ${type}${rules === undefined ? '' : ` with ${rules}`}`,
    blocks: [
      ...(changes.length === 0 ? [] : [{ kind: 'warning', text: `Out of date. ${changes.join(' ')}` } as const]),
      { kind: 'verdict', state: passesTolerance(report) ? 'good' : 'bad', text: accuracyVerdict(report) },
      { kind: 'actions', actions },
      ...searchWarning(report),
      ...(warning === null
        ? []
        : [{ kind: 'warning', text: `${warning.slice(0, 1).toUpperCase()}${warning.slice(1)}.` } as const]),
      ...refusedWarning(given),
      ...(unscaledError(report) === '' ? [] : [{ kind: 'warning', text: unscaledError(report) } as const]),
      {
        kind: 'figures',
        figures: [
          { label: `Nodes in ${type}`, value: thousands(nodes.length) },
          { label: 'Samples', value: thousands(samples) },
          { label: 'Tolerance', value: String(tolerance) },
          ...(fix && fix.nodes.length > 0
            ? [{ label: 'Nodes to keep in FP32', value: thousands(fix.nodes.length) }]
            : []),
        ],
      },
      ...section('Outputs', [
        ...outputTable(outputs, tolerance),
        note(`Error: ${errorMeaning(outputs)}, of ${counted(samples, 'sample')}. ${howSimulated(low)}`),
        ...outputNotes(outputs),
        ...typedCopyNote(report),
        ...unscaledNote(report),
        ...referenceNote(report),
        note(inputsText(inputs)),
        ...runtimeNote(report),
      ]),
      ...kernelSection(given),
      ...(sweep === undefined ? [] : section('Precisions', sweepBlocks(sweep))),
      ...section('Error over Depth', [
        { kind: 'chart', chart: depthChart(nodes, tolerance) },
        ...notJudgedTexts(nodes).map((text) => note(`${text}.`)),
      ]),
      ...section('Nodes That Cause the Error', [
        ...table(
          ['node', 'operator', 'role', 'alone#', 'evidence'],
          causes.map((node) => ({
            cells: [
              nodeLink(node, report),
              node.op,
              node.role === 'root' ? 'cause' : node.role === 'victim' ? 'passes it on' : '',
              node.alone === undefined ? '' : errorFigure(node.alone, node.outside),
              accuracyEvidence(node, false),
            ],
            ...(node.role === 'root' && { state: 'bad' as const }),
          })),
          'node',
        ),
        ...(causes.length === 0 ? [] : [note(`Alone: error of the outputs when only this node is in ${type}.`)]),
      ]),
      ...section('Before You Use FP32', [...remedyBlocks(report), ...placementBlocks(report)]),
      ...sensitivitySection(report),
      ...section('Fix', fixBlocks(report)),
      ...section('What Fewer Nodes Bring', tradeBlocks(report)),
    ],
  };
}

/** Why the low-precision run ended early. */
function refusedWarning({ refused, outputs, low }: AccuracyReport): Block[] {
  const outside = outsideTable(outputs);
  const why = outside ?? refused;
  if (why === undefined) return [];
  const known =
    outside === undefined
      ? 'Its outputs count as not finite'
      : 'TensorRT does not report such an index (10.6 was seen to give zeros, or other values), so nothing is predicted for its outputs';
  const text = `The model runs in FP32 but not in ${typeName(low)}: ${why.replace(/\.$/, '')}. ${known}, and errors of single nodes were not measured from there on.`;
  return [{ kind: 'warning', text }];
}

/** That the result is not the last word. */
const searchWarning = ({ search }: AccuracyReport): Block[] =>
  search === undefined
    ? []
    : [
        {
          kind: 'warning',
          text:
            search === 'running'
              ? 'Still searching: this is what is known so far.'
              : 'The search was stopped: this is what it had found.',
        },
      ];

const nodeLink = (node: JudgedNode, report: AccuracyReport): Text => [
  { text: nodeTitle(node, report), to: { kind: 'nodes', ids: [node.id] } },
];

/** What became of an output, and why where that is not its error. */
function outputState({ judged, finite, error, shapeDiffers }: AccuracyOutput, tolerance: number): State {
  if (!judged) return 'skipped';
  return finite && !shapeDiffers && isWithin(error, tolerance) ? 'good' : 'bad';
}

function outputTable(outputs: readonly AccuracyOutput[], tolerance: number): Block[] {
  const errorText = ({ max, error, finite, shapeDiffers, measure, outside }: AccuracyOutput): string => {
    if (outside !== undefined) return errorFigure(error, true);
    if (shapeDiffers && measure?.by !== 'measure') return 'its shape differs';
    if (max === null && !finite) return 'its shape differs';
    return max === null ? `${percentText(100 * (error ?? 0))} of its elements differ` : errorFigure(error);
  };
  const hasMeasures = outputs.some(({ measure, max }) => measure !== undefined && max !== null);
  const verdictOf = (output: AccuracyOutput, state: State): string =>
    output.judged ? (state === 'good' ? 'passes' : 'fails') : output.before ? 'judged before it' : 'not judged';
  return table(
    ['output', '', 'error#', 'mean#', 'largest value#', ...(hasMeasures ? ['measure'] : [])],
    outputs.map((output) => {
      const { name, max, mean, measure } = output;
      const state = outputState(output, tolerance);
      return {
        cells: [
          name,
          verdictOf(output, state),
          errorText(output),
          max === null ? '' : errorFigure(mean, output.outside !== undefined),
          max === null ? '' : magnitude(max),
          ...(hasMeasures ? [max === null ? '' : (measure?.text ?? '')] : []),
        ],
        state,
      };
    }),
    'output',
  );
}

/** What the outputs were taken for, and what is judged instead of choices. */
const outputNotes = (outputs: readonly AccuracyOutput[]): Block[] => [
  ...outputs.flatMap(({ name, groups }) => (groups ? [note(groupsText(name, groups))] : [])),
  ...choicesNote(outputs),
  ...outputs.flatMap(({ name, measure, before }) =>
    measure && !before && (measure.kind !== 'elements' || measure.chosen)
      ? [note(`${name} is judged by ${measuredBy(measure)}: ${measure.chosen ? 'chosen' : measure.reason}.`)]
      : [],
  ),
];

/** What the outputs are compared with, and what that leaves unjudged. */
function referenceNote({ reference, storedQuantized = 0, low }: AccuracyReport): Block[] {
  if (reference)
    return [
      note(
        `Compared with ${reference.model}. With every node exact the error is ${errorFigure(reference.exact)}${storedQuantized > 0 ? `: that of ${counted(storedQuantized, 'tensor')} stored quantized` : ''}.`,
      ),
    ];
  if (storedQuantized === 0) return [];
  return [
    note(
      `Not judged: ${counted(storedQuantized, 'tensor')} that the model stores in ${typeName(low)}. The reference is the model without its Q/DQ pairs, and has the same weights. Pass the FP32 model to judge them (--reference MODEL).`,
    ),
  ];
}

/** What differs between a typed copy and an engine that may choose its types. */
function typedCopyNote({ typedCopy, low }: AccuracyReport): Block[] {
  if (!typedCopy) return [];
  const { nodes, operators, opset, worst } = typedCopy;
  const names = `${operators.slice(0, 6).join(', ')}${operators.length > 6 ? ', …' : ''}`;
  return [
    note(
      `In opset ${opset} ONNX has no ${typeName(low)} for ${names} (${counted(nodes, 'node')}), so a typed copy of this model keeps them in FP32: that is what is simulated. A build with --${low}, or a copy in a newer opset, may compute them in ${typeName(low)}: error up to ${errorFigure(worst)}.`,
    ),
  ];
}

/** That an operator is not simulated as ONNX defines it. */
const unscaledNote = ({ unscaled }: AccuracyReport): Block[] =>
  unscaled
    ? [
        note(
          'ReduceLogSumExp is simulated as TensorRT 10.6 computes it, without subtracting the largest value. In FP16, its exponentials overflow from 11.1 on where it is fused with a MatMul, which is simulated; a kernel of its own keeps them in FP32, up to 88.7.',
        ),
      ]
    : [];

/** What the errors of the judged outputs are. */
function errorMeaning(outputs: readonly AccuracyOutput[]): string {
  const kinds = outputs
    .filter(({ judged }) => judged)
    .map(({ measure }) => (measure?.by === 'measure' ? measure.kind : 'numeric'));
  return [...new Set(kinds.length > 0 ? kinds : ['numeric' as const])]
    .map((kind) => measureErrorTexts[kind])
    .join('; ');
}

/** Which outputs hold choices, and what is judged for them. */
function choicesNote(outputs: readonly AccuracyOutput[]): Block[] {
  const choices = outputs.filter(({ before }) => before !== undefined);
  if (choices.length === 0) return [];
  const from = [...new Set(choices.flatMap(({ before }) => before!))];
  const names = choices.map(({ name }) => name).join(', ');
  return [
    note(
      `${names}: chosen from ${from.join(', ')}. Near a tie, any error changes a choice, so ${from.length === 1 ? 'that is' : 'those are'} judged.`,
    ),
  ];
}

const measuredBy = ({ kind, by }: NonNullable<AccuracyOutput['measure']>): string => {
  const name = measureNames[kind];
  return by === 'numeric' ? `its numbers; also shown is ${name}` : name;
};

/** `output0: channels 0 to 3 of axis 1 (up to 640) …`. */
function groupsText(name: string, groups: NonNullable<AccuracyOutput['groups']>): string {
  const described = groups
    .slice(0, 4)
    .map((group) => `${channelsText(group)} (up to ${magnitude(group.max)}): ${errorFigure(group.error)}`);
  return `${name}: its channels have ranges more than 10 times apart, so each group is compared with its own largest value. Errors on axis ${groups[0]!.axis}: channels ${described.join('; ')}${groups.length > 4 ? '; …' : ''}.`;
}

/** What a build's kernels may change: a second opinion, never the basis of the fix. */
function kernelSection({ kernel, outputs, tolerance }: AccuracyReport): Block[] {
  if (!kernel) return [];
  const inside = kernel.held.filter(({ culprit }) => culprit);
  return section("In This Build's Kernels", [
    ...outputTable(outputs, tolerance),
    note(
      `The kernels of the build use ${counted(kernel.held.length, 'value')} without storing them. If TensorRT leaves these unrounded, the errors are those of this table. This is a hypothesis: run the engine to confirm it. The fix does not rely on it.`,
    ),
    ...list(
      inside.map(({ name, kernel: by }) => `${name}: inside ${by}`),
      'value',
    ),
  ]);
}

/** `Inputs: image 1×3×64×64 from files.` */
const inputsText = (inputs: AccuracyReport['inputs']): string =>
  `Inputs: ${inputs.map(({ name, shape, source }) => `${name} ${shapeText(shape)} ${source === 'file' ? 'from files' : 'random'}`).join(', ') || 'none'}.`;

/** The worst of what was run alone in low precision. */
const sensitivitySection = ({ sensitivity = [], low }: AccuracyReport): Block[] =>
  sensitivity.length === 0
    ? []
    : section('Sensitivity', [
        ...table(
          ['only', '', 'nodes#', 'error#'],
          sensitivity.slice(0, 20).map(({ kind, name, nodes, error }) => ({
            cells: [kind, name, thousands(nodes.length), errorFigure(error)],
          })),
        ),
        note(`Error of the outputs when nothing else is in ${typeName(low)}.`),
      ]);

/** What the numbers are, for a low precision. */
function howSimulated(low: string): string {
  const type = typeName(low);
  if (low !== 'fp16' && low !== 'bf16')
    return `The Q/DQ nodes of the model make ${type}; without them, a node is exact.`;
  return `Each node computes in FP32, and every value is rounded to ${type}. This is what a strongly typed engine gives; with a flag such as --${low}, TensorRT keeps some nodes in FP32 by itself, so this is the worst case there.`;
}

function fixBlocks({ fix, reason, outputs, goal, tolerance }: AccuracyReport): Block[] {
  if (!fix) return [{ kind: 'text', text: `No fix: ${reason ?? ''}` }];
  // Without an output to judge, the verdict says why.
  if (fix.nodes.length === 0)
    return outputs.some(({ judged }) => judged) ? [{ kind: 'text', text: 'Nothing to fix.' }] : [];
  const least = fix.minimal ? 'none of them can be omitted' : 'the search stopped early, so a smaller set may exist';
  return [
    {
      kind: 'text',
      text: `Keep ${counted(fix.nodes.length, 'node')} in FP32: error ${errorFigure(fix.error)}${castsText(fix)} (${least}; ${counted(fix.runs, 'run')}).`,
    },
    ...(goal < tolerance
      ? [
          note(
            `A fix aims at an error of ${errorFigure(goal)}, below the tolerance of ${tolerance}: engines differ a little from the simulation (--aim).`,
          ),
        ]
      : []),
    ...ruleTable(fix),
    { kind: 'source', title: 'The rules as text', text: fix.rules, folded: true },
  ];
}

/** Where pairs of the nodes to blame belong. */
const placementBlocks = ({ placements = [] }: AccuracyReport): Block[] =>
  list(
    placements.map(({ message, fix }) => ({ text: message, detail: fix })),
    'pair',
  );

const remedyVerbs = {
  clamp: 'Clamp',
  scale: 'Set the scale of',
  channels: 'Use a scale for each channel of',
} as const;

/** Changes of constants that help, instead of nodes in FP32. */
function remedyBlocks({ remedies = [], low, fix }: AccuracyReport): Block[] {
  const isQdq = low === 'int8' || low === 'fp8';
  return remedies.flatMap(({ tensors, error, rest }): Block[] => {
    const changes = (['clamp', 'scale', 'channels'] as const).flatMap((kind) => {
      const own = tensors.filter((tensor) => tensor.kind === kind);
      const named = own
        .slice(0, 6)
        .map(({ tensor, from, to }) =>
          kind === 'channels' ? tensor : `${tensor} from ${exactFigure(from)} to ${exactFigure(to)}`,
        );
      return own.length === 0 ? [] : [`${remedyVerbs[kind]} ${named.join(', ')}${own.length > 6 ? ', …' : ''}`];
    });
    const what = changes.join('. ');
    const needed = rest?.nodes.length ?? 0;
    const result =
      rest === null
        ? `error ${errorFigure(error)}, so this does not help`
        : needed === 0
          ? `error ${errorFigure(error)} with every node in ${typeName(low)}${isQdq ? '' : ', without a Cast'}`
          : `error ${errorFigure(rest.error)} with ${counted(needed, 'node')} in FP32 instead of ${thousands(fix?.nodes.length ?? 0)}`;
    return [
      { kind: 'text', text: `${what}: ${result}.` },
      ...(needed === 0 ? [] : list(rest!.names, 'node')),
      note('Tried by simulation, and compared with the model as it is.'),
    ];
  });
}

/** What each rule buys, and next to it what it costs. */
function ruleTable({ without, minimal }: AccuracyFix): Block[] {
  const has = (known: (rule: FixRuleGain) => unknown) => without.some((rule) => known(rule) !== undefined);
  // The Casts of a single rule are those of all.
  const casts = without.length > 1 && without.some((rule) => typeof rule.casts === 'number');
  const [kernels, ms] = [has((rule) => rule.kernels), has((rule) => rule.ms)];
  return [
    ...table(
      [
        'rule',
        'nodes#',
        'error without it#',
        ...(casts ? ['Casts#'] : []),
        ...(kernels ? ['kernels#'] : []),
        ...(ms ? ['time now#'] : []),
      ],
      without.map((rule) => ({
        cells: [
          `${rule.selector} fp32`,
          thousands(rule.nodes.length),
          rule.error === null && !minimal ? 'not tried' : errorFigure(rule.error),
          ...(casts ? [signed(rule.casts)] : []),
          ...(kernels ? [signed(rule.kernels)] : []),
          ...(ms ? [rule.ms === undefined ? '-' : timeText(rule.ms)] : []),
        ],
      })),
      'rule',
    ),
    ...(casts || kernels ? [note(costNote(kernels, ms))] : []),
  ];
}

const signed = (count: number | null | undefined): string =>
  typeof count !== 'number' ? '-' : count > 0 ? `+${count}` : String(count);

const costNote = (kernels: boolean, ms: boolean): string =>
  [
    `Casts${kernels ? ' and kernels' : ''}: what the rule adds to the others.`,
    ...(kernels ? ['Kernels: of engines that were built here.'] : []),
    ...(ms ? ['Time now: of the layers that compute its nodes in the build.'] : []),
  ].join(' ');

/** The error against the number of nodes in FP32. */
function tradeBlocks({ trade, fix, tolerance, low }: AccuracyReport): Block[] {
  if (!trade) return [];
  const { points, knee, rules } = trade;
  const counts = points.map(({ nodes }) => nodes.length);
  const last = points.length - 1;
  const remark = (at: number): string =>
    at === knee ? 'knee' : at === 0 ? `all in ${typeName(low)}` : at === last && fix ? 'the fix' : '';
  return [
    ...(knee === null
      ? []
      : [
          {
            kind: 'text',
            text: `${counted(counts[knee]!, 'node')} in FP32 ${counts[knee] === 1 ? 'brings' : 'bring'} the error from ${errorFigure(points[0]!.error)} to ${errorFigure(points[knee]!.error)}; the next ${thousands(counts[last]! - counts[knee]!)} to ${errorFigure(points[last]!.error)}.`,
          } as const,
        ]),
    {
      kind: 'curve',
      curve: {
        label: 'Error of the outputs over the number of nodes in FP32',
        legend: `From left to right nodes in FP32, upwards the error. Dashed: the tolerance.${knee === null ? '' : ' Ring: the knee.'}`,
        points: points.map(({ nodes, error }, at) => ({
          x: nodes.length,
          y: error,
          marked: at === knee,
          title: `${counted(nodes.length, 'node')} in FP32: ${errorFigure(error)}`,
        })),
        limit: tolerance,
      },
    },
    ...table(
      ['nodes in FP32#', 'error#', ''],
      points.map(({ error }, at) => ({
        cells: [thousands(counts[at]!), errorFigure(error), remark(at)],
        state: isWithin(error, tolerance) ? 'good' : 'bad',
      })),
      'step',
    ),
    ...(rules === null
      ? []
      : [{ kind: 'source', title: 'The rules of the knee as text', text: rules, folded: true } as const]),
  ];
}

/** The error of each node along the model: bars for its own, the line for what reaches it. */
const depthChart = (nodes: readonly JudgedNode[], tolerance: number): Chart => ({
  label: 'Error of each node over the depth of the model',
  legend: [
    `From left to right ${counted(nodes.length, 'node')} in the model's order, with its modules below.`,
    'Line: error in the low-precision run. Bars: what the node alone loses on exact inputs, from 1e-7 to 1.',
    'Dashed: the tolerance. Marks at the top: not finite. Red: causes the error.',
  ].join(' '),
  points: nodes.map((node) => ({
    bar: node.localError,
    line: node.propagatedError,
    marked: node.role === 'root',
    title: `${node.name || node.id}: ${errorFigure(node.localError)}`,
  })),
  limit: tolerance,
  bands: modules(nodes).map(({ module, from, to }) => ({
    name: module,
    short: module.slice(module.lastIndexOf('/') + 1),
    from,
    to,
  })),
});

/** As many modules as have room for their names. */
const mostModules = 24;

interface ModuleRun {
  module: string;
  from: number;
  to: number;
}

/** The modules of the innermost level that has few enough of them. */
function modules(nodes: readonly JudgedNode[]): ModuleRun[] {
  let runs: ModuleRun[] = [];
  for (let depth = 1; depth <= 8; depth++) {
    const found = moduleRuns(nodes, depth);
    if (found.length > mostModules || found.length === runs.length) break;
    runs = found;
  }
  return runs.length < 2 ? [] : runs;
}

/** Consecutive nodes of one module; nodes outside of modules belong to the run around them. */
function moduleRuns(nodes: readonly JudgedNode[], depth: number): ModuleRun[] {
  const runs: ModuleRun[] = [];
  for (const [i, { name }] of nodes.entries()) {
    let module = '';
    for (let level = depth; level > 0 && module === ''; level--) module = moduleOf(name, level);
    const last = runs.at(-1);
    if (last && (last.module === module || module === '')) last.to = i + 1;
    else runs.push({ module, from: i, to: i + 1 });
  }
  return runs;
}
