// A comparison as text for people.
import {
  counted,
  deltaText,
  exactRelease,
  isSameTime,
  sizeText,
  thousands,
  timeText,
} from '../../../kernel/base/text.ts';
import { precisionSentence, profileWords } from '../../../kernel/report/words.ts';
import type { BuildDiff, Change, DiffSide, DiffTotals } from '../../../kernel/report/buildDiff.ts';
import { otherMethods } from '../matchNodes.ts';
import { markedSentences } from './markedComparison.ts';
import { type Document, facts, note, table } from '../../../kernel/document/document.ts';

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

const sideText = (side: DiffSide): string =>
  [
    side.source,
    side.model,
    exactRelease(side),
    side.gpu,
    side.optimizationProfile && profileWords(side.optimizationProfile),
  ]
    .filter(Boolean)
    .join(', ');

/** A number of both sides, written for the user. */
export interface ComparedFigure {
  label: string;
  a: string;
  b: string;
  /** `+12`; '' where it is the same or one side does not know it. */
  delta: string;
}

/** Every figure that a side knows, in one order for all pages. */
export function comparedFigures(totals: DiffTotals): ComparedFigure[] {
  const kinds: [label: string, key: keyof DiffTotals, text: (value: number) => string][] = [
    ['Nodes', 'nodes', thousands],
    ['Layers and kernels listed', 'layers', thousands],
    ['Kernels', 'kernels', thousands],
    ['ForeignNodes', 'foreignNodes', thousands],
    ['DLA loadables', 'loadables', thousands],
    ['Reformats', 'reformats', thousands],
    ['Launches saved (derived)', 'savedLaunches', thousands],
    ['Bytes saved (derived)', 'savedBytes', sizeText],
    ['Time saved (derived)', 'savedMs', timeText],
    ['Activation memory', 'activationMemory', sizeText],
    ['Weights memory', 'weightsMemory', sizeText],
    ['Engine size', 'engineSize', sizeText],
    ['Build time', 'buildSeconds', (seconds) => timeText(seconds * 1000)],
    ['Warnings in the log', 'warnings', thousands],
  ];
  return kinds.flatMap(([label, key, text]) => {
    const { a, b } = totals[key] as { a: number | null; b: number | null };
    if ((a === null && b === null) || (key === 'loadables' && !a && !b)) return [];
    const delta = a === null || b === null || a === b ? '' : `${b > a ? '+' : '−'}${text(Math.abs(b - a))}`;
    return [{ label, a: a === null ? 'unknown' : text(a), b: b === null ? 'unknown' : text(b), delta }];
  });
}

/** What must be known before the figures are compared. */
function caveats({ a, b, time, shapes, totals, marked }: BuildDiff): string[] {
  const methods = a.traced !== b.traced && time.aMs !== null && time.bMs !== null;
  const inputs = shapes.slice(0, 4).map((one) => `${one.input} ${one.a} → ${one.b}`);
  const rest = shapes.length > 4 ? `, and ${counted(shapes.length - 4, 'other input')}` : '';
  const sides = [
    { name: 'A', side: a, share: totals.precision.a },
    { name: 'B', side: b, share: totals.precision.b },
  ];
  const profiles = [a, b].map(({ optimizationProfile }) => optimizationProfile?.shown ?? 0);
  return [
    ...(profiles[0] === profiles[1]
      ? []
      : [`Compared are optimization profile ${profiles[0]} of A and ${profiles[1]} of B.`]),
    // A profiler of layers adds to the time of each, a trace does not.
    ...(methods ? [`${otherMethods(a.traced)} The difference includes that.`] : []),
    ...(shapes.length > 0
      ? [`Built for other shapes, so the times are not of the same work: ${inputs.join(', ')}${rest}`]
      : []),
    ...sides.flatMap(({ name, side, share }) => [
      ...(side.planned
        ? [`${name} has no list of engine layers: compared is TensorRT's plan at the end of its log.`]
        : []),
      ...(share !== null && share.requested !== null ? [`${name}: ${precisionSentence(share)}`] : []),
    ]),
    ...(marked ? markedSentences(marked) : []),
  ];
}

/** The verdict as a sentence without its period. */
export const verdictSentence = ({ verdict }: Pick<BuildDiff, 'verdict'>): string =>
  verdict.slice(0, 1).toUpperCase() + verdict.slice(1);

/** Kernels by a name that tells them apart for a reader: without most of a hash, and without the middle of a long name. */
function withShortKernels(text: string): string {
  return text
    .replaceAll(/(?<=\w_0x[\da-f]{4})[\da-f]{12,}\b/g, '…')
    .replaceAll(/(?<![/\w.])\w{72,}(?![/\w]|\.\w)/g, (name) => `${name.slice(0, 48)}…${name.slice(-16)}`);
}

/** Both sides, how their nodes were matched, the figures, and the changes ranked by what they cost. */
export function diffDocument(diff: BuildDiff): Document {
  const { matched, totals, time } = diff;
  const { byName, byStructure, onlyA, onlyB } = matched;
  const states = Object.entries(totals.states).filter(([, count]) => count > 0);
  const words: Record<string, string> = { notComparable: 'not comparable', onlyA: 'only in A', onlyB: 'only in B' };
  const conversions = matched.conversions.a + matched.conversions.b;
  const only = onlyA.length + onlyB.length > 0 ? `; ${onlyA.length} only in A, ${onlyB.length} only in B` : '';
  const timed = time.aMs !== null && time.bMs !== null;
  const changes = alikeChanges(diff.changes).map(({ changes: alike, deltaMs }) => {
    const [first] = alike;
    const code = first!.code === undefined ? '' : `, ${first!.code}`;
    const others = `${code}${alike.length > 1 ? ` (and ${counted(alike.length - 1, 'other')} alike).` : '.'}`;
    return {
      cells: [
        deltaMs === null || isSameTime(deltaMs) ? '' : deltaText(deltaMs),
        `${alike.length > 1 ? `${alike.length} × ` : ''}${kindText(first!)}`,
        withShortKernels(first!.message).replace(/\.$/, '') + others,
      ],
    };
  });
  return {
    title: `${diff.b.model}: ${diff.request || 'two builds'}`,
    blocks: [
      diff.a.failed === undefined && diff.b.failed === undefined
        ? { kind: 'text', text: `${verdictSentence(diff)}.` }
        : { kind: 'verdict', state: 'bad', text: `${verdictSentence(diff)}.` },
      ...facts([
        ['A', sideText(diff.a)],
        ['B', sideText(diff.b)],
        [
          'Nodes',
          `${byName} matched by name, ${byStructure} by structure${only}${conversions > 0 ? ` (${conversions} of them Q/DQ or Cast)` : ''}`,
        ],
        ['States', states.map(([state, count]) => `${count} ${words[state] ?? state}`).join(', ')],
        [
          'Time',
          timed
            ? `${timeText(time.aMs!)} → ${timeText(time.bMs!)} (${deltaText(time.bMs! - time.aMs!)}${time.isNoise ? ', within the noise' : ''})`
            : 'not comparable, because at least one side has no profile',
        ],
      ]),
      ...caveats(diff).map(note),
      ...table(
        ['', 'A#', 'B#', 'change#'],
        comparedFigures(totals).map(({ label, a, b, delta }) => ({ cells: [label, a, b, delta] })),
      ),
      ...(changes.length === 0
        ? [{ kind: 'text', text: 'No differences in what both sides know.' } as const]
        : [
            {
              kind: 'section',
              title: 'Changes',
              blocks: table(['time#', 'kind', 'change'], changes, 'kind of change'),
            } as const,
          ]),
    ],
  };
}

/** The kind, and whether the report derived which nodes it concerns. What one side lacks was added or removed. */
function kindText({ kind, exact, a, b }: Change): string {
  const word = kind === 'folded' && b === '' ? 'removed' : kind === 'computed' && a === '' ? 'added' : kind;
  return exact || kind === 'unknown' ? word : `${word} (derived)`;
}
