// Why TensorRT runs a layer with the tactic that it has: the candidates that it timed, and what would change the choice.
import { counted, percentText, shorten, timeText, typeName } from '../../../base/text.ts';
import { type Block, type Document, facts, note, section, table } from '../../../document/document.ts';
import type { BuildLog, TimedCombination, TimedLayer, TimedOperation } from '../../tensorrt/buildOutput.ts';
import type { FusionReport, ReportLayer } from '../../../fusion/fusionReport.ts';
import { withoutProfile } from '../../../network/layerName.ts';
import { layoutWord, readFormats } from '../tensorFormats.ts';
import type { TensorFormat } from '../replayFile.ts';

/** A kernel for certain types and layouts, as the log timed it. */
interface Candidate {
  /** The kernel's name, or the number of the tactic. */
  kernel: string;
  /** The number of the tactic, as the log writes it: `0xdd39499496c9cc38`. */
  tactic: string;
  /** Of implementations: `CaskConvolution`. */
  runner: string;
  /** Milliseconds; null: listed without a time. */
  ms: number | null;
  /** `FP16, channels last → FP16, channels last`. */
  layouts: string;
  /** `FP16 → FP32`. */
  types: string;
  /** The best of its combination of types and layouts. */
  best: boolean;
  line: number;
}

/** What a log has on the choice for a layer. */
interface Timed {
  candidates: Candidate[];
  /** Combinations of types and layouts; of those a timing cache answered, the log has only the winner. */
  combinations: number;
  cached: number;
  /** Why tactics were not timed, with how many. */
  skipped: Map<string, number>;
  line: number;
}

/** Candidates beyond these are counted. */
const mostCandidates = 10;

/**
 * Why a layer runs with its tactic, as far as the log and the layer info of the build say.
 * @param log of the build; null: none is known
 */
export function explainTactics(report: FusionReport, layer: ReportLayer, log: BuildLog | null): Document {
  const foreign = report.foreignNodes.find(({ id }) => id === layer.foreignNode);
  const names = [withoutProfile(layer.name), ...(foreign === undefined ? [] : [withoutProfile(foreign.name)])];
  const phase = log?.phases.at(-1);
  const timed = phase?.tactics.find((one) => !one.reformat && names.includes(withoutProfile(one.name)));
  const operations = (foreign && phase?.operations?.filter((one) => isOperationOf(one, layer, foreign.name))) ?? [];
  const title = `${shorten(layer.name || foreign?.name || `layer ${layer.id}`, 100)}: why this tactic`;
  const head = facts([
    ['Runs', [layer.type, layer.tactic].filter((part) => part !== null && part !== '').join(', ') || null],
    ['Takes', layer.averageMs === null ? null : timeText(layer.averageMs)],
  ]);
  if (operations.length > 0) return { title, blocks: [...head, ...operationBlocks(operations, layer)] };
  if (timed === undefined || timed.combinations.every(({ tactics }) => tactics.length === 0))
    return { title, blocks: [...head, note(whyNothing(log, foreign !== undefined))] };
  if (foreign !== undefined) return { title, blocks: [...head, ...foreignBlocks(timed)] };
  return { title, blocks: [...head, ...candidateBlocks(timedOf(timed), layer)] };
}

/** A table of 10.8 and later is of a layer: its name, the nodes in its metadata, and the ForeignNode that it is in. */
function isOperationOf(
  { metadata, name, layer: within }: TimedOperation,
  layer: ReportLayer,
  foreign: string,
): boolean {
  if (within !== null && withoutProfile(within) !== withoutProfile(foreign)) return false;
  return (
    layer.kind === 'foreign' ||
    layer.name === name ||
    (metadata !== null && metadata !== '' && layer.metadata === metadata)
  );
}

function whyNothing(log: BuildLog | null, isForeign: boolean): string {
  if (log === null)
    return 'The candidates are in the verbose log of the build, which is not given. Pass it with --log.';
  if (log.product === 'tensorrt-rtx')
    return 'TensorRT-RTX times no tactics while it builds: its compiler on your GPU chooses when the engine is loaded.';
  if (isForeign)
    return 'Myelin chooses the kernels of a ForeignNode by itself; this version logs no candidates for them.';
  if (log.timingCacheHits > 0)
    return 'The log has no candidates for it: a timing cache answered. Build without the cache (trtexec --noTimingCache or an empty file) to see them.';
  return 'The log has no candidates for it. It must be verbose (trtexec --verbose, Polygraphy -vvv).';
}

function timedOf({ combinations, line }: TimedLayer): Timed {
  const timed: Timed = { candidates: [], combinations: combinations.length, cached: 0, skipped: new Map(), line };
  for (const combination of combinations) {
    if (combination.cached) timed.cached++;
    for (const { reason } of combination.skipped) timed.skipped.set(reason, (timed.skipped.get(reason) ?? 0) + 1);
    timed.candidates.push(...candidatesOf(combination));
  }
  timed.candidates.sort((a, b) => (a.ms ?? Infinity) - (b.ms ?? Infinity));
  return timed;
}

function candidatesOf({ formats, tactics, chosen, line }: TimedCombination): Candidate[] {
  const read = readFormats(formats);
  const sides = read === null ? null : [read.inputs, read.outputs];
  const words = (word: (format: TensorFormat) => string): string =>
    sides?.map((side) => [...new Set(side.map(word))].join(' and ') || 'nothing').join(' → ') ?? formats;
  const [layouts, types] = [words(shortFormat), words(({ dtype }) => typeName(dtype))];
  return tactics.map(({ name, tactic, runner, ms }) => ({
    kernel: name ?? tactic,
    tactic,
    runner,
    ms,
    layouts,
    types,
    best: chosen?.tactic === tactic,
    line,
  }));
}

/** `FP16 channels last ×8`: the type, the order, and how many values make a vector. */
function shortFormat(format: TensorFormat): string {
  const order = layoutWord(format).split(', ').at(-1)!;
  const components = format.components ?? 1;
  return `${typeName(format.dtype)} ${order}${components > 1 ? ` ×${components}` : ''}`;
}

/** A ForeignNode is timed as a whole, once for each combination at its boundary. */
function foreignBlocks(timed: TimedLayer): Block[] {
  const { candidates, line } = timedOf(timed);
  const rows = candidates.map(({ ms, layouts }) => ({ cells: [ms === null ? '' : timeText(ms), layouts] }));
  return [
    {
      kind: 'text',
      text: 'TensorRT times a ForeignNode as a whole, for each combination of types and layouts at its boundary; Myelin chooses the kernels inside by itself.',
    },
    ...table(['time#', 'inputs → outputs'], rows, 'combination'),
    ...facts([['Log', [{ text: `line ${line}`, to: { kind: 'log', line } }]]]),
    note('To change a kernel inside, change the network there (trtlens what-if), or keep a node in another type.'),
  ];
}

function operationBlocks(operations: readonly TimedOperation[], layer: ReportLayer): Block[] {
  const most = operations.length > 2 ? 3 : mostCandidates;
  return [
    {
      kind: 'text',
      text: `Myelin timed ${counted(operations.length, 'operation')}${layer.kind === 'foreign' ? ' in this ForeignNode' : ''}. Of several tables for one operation, each is for other types or layouts at the boundary.`,
    },
    ...operations.flatMap(({ name, tactics, chosen, line }) => {
      const sorted = tactics.toSorted((a, b) => (a.ms ?? Infinity) - (b.ms ?? Infinity)).slice(0, most);
      const nameOf = distinctEnds(sorted.map(({ kernel }) => kernel));
      const rows = sorted.map(({ ms, kernel, hash }) => ({
        cells: [ms === null ? '' : timeText(ms), nameOf(kernel)],
        ...((chosen?.hash === hash || layer.tactic?.startsWith(kernel)) && { state: 'good' as const }),
      }));
      return section(shorten(name, 80), [
        ...table(['time#', 'kernel'], rows, 'kernel'),
        ...more(tactics.length, most),
        ...facts([['Log', [{ text: `line ${line}`, to: { kind: 'log', line } }]]]),
      ]);
    }),
  ];
}

const more = (count: number, most = mostCandidates): Block[] =>
  count > most ? [note(`… and ${counted(count - most, 'slower one')}`)] : [];

function candidateBlocks({ candidates, combinations, cached, skipped, line }: Timed, layer: ReportLayer): Block[] {
  const used = usedOf(candidates, layer);
  const [fastest] = candidates;
  const shown = candidates.slice(0, mostCandidates);
  if (used !== null && !shown.includes(used)) shown.push(used);
  const nameOf = distinctEnds(shown.map(({ kernel }) => kernel));
  const rows = shown.map((one) => rowOf(one, nameOf(one.kernel), one === used));
  const types = bestOfOtherTypes(candidates, used).map((one) => ({
    cells: [one.types, one.ms === null ? '' : timeText(one.ms), slower(one, used), shorten(one.kernel, 60)],
  }));
  return [
    { kind: 'text', text: whyUsed(candidates, used, combinations) },
    ...table(['time#', 'types and layouts', 'kernel'], rows, 'candidate'),
    ...more(candidates.length),
    ...facts([
      ['Log', [{ text: `line ${line}`, to: { kind: 'log', line } }]],
      [
        'From a timing cache',
        cached === 0 ? null : `${counted(cached, 'combination')} of ${combinations}, with the winner only`,
      ],
      ['Not timed', skippedText(skipped)],
    ]),
    ...section('What another choice would take', [
      ...table(['types', 'time#', 'against this', 'kernel'], types, 'combination of types'),
      note(
        types.length === 0
          ? 'All candidates have the same types. A tactic replay can fix one of them.'
          : 'A rule in an override file asks for other types, a tactic replay for one of the candidates.',
      ),
      ...(fastest === undefined || used === null || fastest === used ? [] : [note(whySlower(fastest, used))]),
    ]),
  ];
}

const rowOf = ({ ms, layouts }: Candidate, kernel: string, isUsed: boolean) => ({
  cells: [ms === null ? '' : timeText(ms), layouts, kernel],
  ...(isUsed && { state: 'good' as const }),
});

/** Names of kernels are long and begin alike: what differs is shown. */
function distinctEnds(names: readonly string[]): (name: string) => string {
  const [first = ''] = names;
  let end = 0;
  while (end < first.length && names.every((name) => name[end] === first[end])) end++;
  const cut = new Set(names).size < 2 ? -1 : first.lastIndexOf('_', end);
  return (name) => shorten(cut < 12 ? name : `…${name.slice(cut)}`, 104);
}

/** The candidate that the engine runs: by the kernel's name and, where the layer info has them, the types. null: none fits. */
function usedOf(candidates: readonly Candidate[], { tactic, inputs, outputs }: ReportLayer): Candidate | null {
  if (tactic === null) return null;
  const named = candidates.filter((one) => one.kernel === tactic || one.tactic === tactic);
  const words = [inputs, outputs].map((side) =>
    [...new Set(side.map(({ type }) => (type === null ? '' : typeName(type))))].join(' and '),
  );
  const typed = named.filter(({ types }) => types === words.join(' → '));
  // Of several combinations for which the same kernel was timed, TensorRT prefers those that it found best.
  const fitting = typed.length > 0 ? typed : named;
  return fitting.find(({ best }) => best) ?? fitting[0] ?? null;
}

function whyUsed(candidates: readonly Candidate[], used: Candidate | null, combinations: number): string {
  const over = `${counted(candidates.length, 'candidate')} over ${counted(combinations, 'combination')} of types and layouts`;
  if (used === null)
    return `TensorRT timed ${over}. Which of them the engine runs is not known: pass the layer info with --layers.`;
  if (candidates.length === 1) return 'It is the only candidate that TensorRT timed.';
  const at = candidates.indexOf(used);
  const next = candidates.find((one) => one !== used && one.ms !== null);
  if (at === 0 && next?.ms !== undefined && next.ms !== null && used.ms !== null)
    return `It is the fastest of ${over}: ${timeText(used.ms)}, the next ${timeText(next.ms)} (+${percentText((100 * (next.ms - used.ms)) / used.ms)}).`;
  return `It is number ${at + 1} by time of ${over}.`;
}

const whySlower = (fastest: Candidate, used: Candidate): string =>
  `The fastest alone takes ${timeText(fastest.ms!)} (${fastest.layouts}), this one ${used.ms === null ? 'an unknown time' : timeText(used.ms)}. TensorRT chooses for the whole network: it counts the copies that other types and layouts need between layers (derived: the log does not say so for a layer).`;

/** The fastest of each combination of types other than that of the used one. */
function bestOfOtherTypes(candidates: readonly Candidate[], used: Candidate | null): Candidate[] {
  const best = new Map<string, Candidate>();
  for (const one of candidates) if (!best.has(one.types) && one.types !== used?.types) best.set(one.types, one);
  return [...best.values()];
}

function slower({ ms }: Candidate, used: Candidate | null): string {
  if (ms === null || used === null || used.ms === null) return '';
  const delta = ms - used.ms;
  return `${delta < 0 ? '−' : '+'}${timeText(Math.abs(delta))}`;
}

function skippedText(skipped: ReadonlyMap<string, number>): string | null {
  if (skipped.size === 0) return null;
  return [...skipped]
    .map(([reason, count]) => {
      const text = reason.replace(/^Skipping /, '').replace(/ for [^]*$/, '');
      return `${shorten(text, 80)}${count > 1 ? ` (${counted(count, 'time')})` : ''}`;
    })
    .join('; ');
}
