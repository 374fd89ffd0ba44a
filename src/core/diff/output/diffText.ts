import { counted, deltaText, isSameTime, sizeText, thousands, timeText } from '../../text/numbers.ts';
import type { Both, BuildDiff, Change, DiffSide, DiffTotals } from '../buildDiff.ts';
import { precisionSentence } from '../../report/precisionShare.ts';
import { otherMethods } from '../changeWords.ts';
import { markedSentences } from '../compareMarked.ts';
import { escapeCell } from './escapes.ts';

/** Changes that are alike but for the module that they are in, `layers.0` … `layers.11`, or of which B says nothing. */
interface Alike {
  changes: Change[];
  deltaMs: number | null;
}

/** Joins changes that say the same of repeated modules; the largest change of time first. */
export function alikeChanges(changes: readonly Change[]): Alike[] {
  const groups = new Map<string, Alike>();
  // B may end before it names its nodes: a list of them would say the same of each.
  const silent = changes.filter(({ kind }) => kind === 'unknown').length > 8;
  for (const change of changes) {
    const said = change.kind === 'unknown' && silent ? change.a : plain(change.message);
    const key = `${change.kind} ${change.exact} ${said}`;
    const group = groups.get(key);
    if (!group) groups.set(key, { changes: [change], deltaMs: change.deltaMs });
    else {
      group.changes.push(change);
      if (change.deltaMs !== null) group.deltaMs = (group.deltaMs ?? 0) + change.deltaMs;
    }
  }
  return [...groups.values()].toSorted((a, b) => Math.abs(b.deltaMs ?? 0) - Math.abs(a.deltaMs ?? 0));
}

/** Without numbers, hashes and the change of time. */
const plain = (message: string): string =>
  message
    .replace(/: [+−][\d.,]+ (?:ns|µs|ms|s)\.$/, '')
    .replaceAll(/_0x[0-9a-f]+/g, '')
    .replaceAll(/\d+/g, '#');

const sideText = ({ source, model, product, version, gpu }: DiffSide): string =>
  [source, model, `${product === 'tensorrt-rtx' ? 'TensorRT-RTX' : 'TensorRT'} ${version ?? '(version unknown)'}`, gpu]
    .filter(Boolean)
    .join(', ');

const bothText = ({ a, b }: Both, textOf: (value: number) => string = thousands): string =>
  `${a === null ? 'unknown' : textOf(a)} → ${b === null ? 'unknown' : textOf(b)}`;

/** What a build's figures are called; those that neither side knows are left out. */
function figuresText(totals: DiffTotals): string[] {
  const figures: [string, Both, (value: number) => string][] = [
    ['Activation memory', totals.activationMemory, sizeText],
    ['weights', totals.weightsMemory, sizeText],
    ['engine', totals.engineSize, sizeText],
    ['build time', totals.buildSeconds, (seconds) => timeText(seconds * 1000)],
    ['warnings', totals.warnings, thousands],
  ];
  const known = figures.filter(([, { a, b }]) => a !== null || b !== null);
  if (known.length === 0) return [];
  const text = known.map(([name, both, textOf]) => `${name} ${bothText(both, textOf)}`).join(', ');
  return [text[0]!.toUpperCase() + text.slice(1)];
}

/** A profiler of layers adds to the time of each, a trace does not. */
function methodText({ a, b, time }: BuildDiff): string[] {
  if (a.traced === b.traced || time.aMs === null || time.bMs === null) return [];
  return [`${otherMethods(a.traced)} The difference includes that.`];
}

/** The times of other shapes are of other work. */
function shapesText({ shapes }: BuildDiff): string[] {
  if (shapes.length === 0) return [];
  const texts = shapes.slice(0, 4).map(({ input, a, b }) => `${input} ${a} → ${b}`);
  const rest = shapes.length > 4 ? `, and ${counted(shapes.length - 4, 'other input')}` : '';
  return [`Built for other shapes, so the times are not of the same work: ${texts.join(', ')}${rest}`];
}

/** What each side lacks, and how much of its requested precision it has. */
const sideLines = ({ a, b, totals }: BuildDiff): string[] =>
  (
    [
      ['A', a, totals.precision.a],
      ['B', b, totals.precision.b],
    ] as const
  ).flatMap(([name, { planned }, share]) => [
    ...(planned ? [`${name} has no list of engine layers: compared is TensorRT's plan at the end of its log.`] : []),
    ...(share !== null && share.requested !== null ? [`${name}: ${precisionSentence(share)}`] : []),
  ]);

/** The lines above the changes: how nodes were matched, what happened to them, and the times. */
function headLines(diff: BuildDiff): string[] {
  const { matched, totals, time, marked } = diff;
  const { byName, byStructure, onlyA, onlyB } = matched;
  const states = Object.entries(totals.states).filter(([, count]) => count > 0);
  const words: Record<string, string> = { notComparable: 'not comparable', onlyA: 'only in A', onlyB: 'only in B' };
  const conversions = matched.conversions.a + matched.conversions.b;
  const only = onlyA.length + onlyB.length > 0 ? `; ${onlyA.length} only in A, ${onlyB.length} only in B` : '';
  return [
    `Nodes: ${byName} matched by name, ${byStructure} by structure${only}${conversions > 0 ? ` (${conversions} of them Q/DQ or Cast)` : ''}`,
    `States: ${states.map(([state, count]) => `${count} ${words[state] ?? state}`).join(', ')}`,
    `ForeignNodes ${bothText(totals.foreignNodes)}, kernels ${bothText(totals.kernels)}, reformats ${bothText(totals.reformats)}`,
    time.aMs !== null && time.bMs !== null
      ? `Time: ${timeText(time.aMs)} → ${timeText(time.bMs)} (${deltaText(time.bMs - time.aMs)})`
      : 'Time: not comparable, because at least one side has no profile',
    ...methodText(diff),
    ...shapesText(diff),
    ...figuresText(totals),
    ...sideLines(diff),
    ...(marked ? markedSentences(marked) : []),
  ];
}

/**
 * For a terminal: both sides, the totals, and the changes ranked by what they cost.
 * @param most how many kinds of change to show
 */
export function diffText(diff: BuildDiff, most = 30): string {
  const groups = alikeChanges(diff.changes);
  const rows = groups.slice(0, most).map((group) => `${sign(group)}  ${groupText(group)}`);
  const left = groups.length - rows.length;
  return [
    `A: ${sideText(diff.a)}`,
    `B: ${sideText(diff.b)}`,
    ...headLines(diff),
    groups.length === 0 ? 'No differences in what both sides know.' : `${counted(diff.changes.length, 'change')}:`,
    ...rows,
    ...(left > 0 ? [`… and ${counted(left, 'more kind')} of change; --json has all.`] : []),
    '',
  ].join('\n');
}

const sign = ({ deltaMs }: Alike): string =>
  deltaMs === null || isSameTime(deltaMs) ? '        ' : deltaText(deltaMs).padStart(8);

function groupText({ changes }: Alike): string {
  const [first] = changes;
  const times = changes.length > 1 ? `${changes.length} × ` : '';
  const others = changes.length > 1 ? ` (and ${counted(changes.length - 1, 'other')} alike).` : '.';
  return `${times}${kindText(first!)}: ${first!.message.replace(/\.$/, '')}${others}`;
}

/** The kind, and whether the report derived which nodes it concerns. What one side lacks was added or removed. */
function kindText({ kind, exact, a, b }: Change): string {
  const word = kind === 'folded' && b === '' ? 'removed' : kind === 'computed' && a === '' ? 'added' : kind;
  return exact || kind === 'unknown' ? word : `${word} (derived)`;
}

/** The same for a comment on a pull request. */
export function diffMarkdown(diff: BuildDiff, most = 20): string {
  const groups = alikeChanges(diff.changes);
  const rows = groups
    .slice(0, most)
    .map(
      ({ changes, deltaMs }) =>
        `| ${deltaMs === null || isSameTime(deltaMs) ? '' : deltaText(deltaMs)} | ${kindText(changes[0]!)} | ${changes.length} | ${escapeCell(changes[0]!.message)} |`,
    );
  const table =
    rows.length === 0
      ? ['No differences in what both sides know.']
      : ['| time | kind | times | change |', '|---|---|---|---|', ...rows];
  const left = groups.length - rows.length;
  return [
    `### ${escapeCell(diff.a.model)}: what changed`,
    '',
    `A: ${escapeCell(sideText(diff.a))}  `,
    `B: ${escapeCell(sideText(diff.b))}`,
    '',
    ...headLines(diff).map((line) => `- ${escapeCell(line)}`),
    '',
    ...table,
    ...(left > 0 ? ['', `… and ${counted(left, 'more kind')} of change.`] : []),
    '',
  ].join('\n');
}
