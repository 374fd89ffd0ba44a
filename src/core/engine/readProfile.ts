import type { ProfileRow } from './buildLog.ts';
import type { Profile } from './profile.ts';
import type { Problem, Read } from '../text/problem.ts';
import { isRecord, numberOr, readJsonDocuments, textOr } from './readJson.ts';

const RAW_MEMBERS = new Set(['name']);

/**
 * Reads `--exportProfile`: `{ "count": n }` and one row per layer, in engine order, repeated names kept apart; or a
 * trace in Chrome's format with an event for each layer (Torch-TensorRT, Perfetto) or node (ONNX Runtime). Names that are
 * not escaped, `nan`, `inf` and a cut-off end are read as far as they go. `value` is undefined if the text is no profile.
 */
export function readProfile(text: string): Read<Profile> {
  const { documents, problems } = readJsonDocuments(text, { rawMembers: RAW_MEMBERS });
  const events = traceEvents(documents);
  if (events.length > 0) return { value: profileOfEvents(events), problems };
  const profile: Profile = { iterations: null, rows: [] };
  let found = false;
  for (const entry of documents.flat()) {
    if (!isRecord(entry)) continue;
    const row = rowOf(entry);
    if (row !== null) profile.rows.push(row);
    else if ('count' in entry) profile.iterations = numberOr(entry['count']);
    else continue;
    found = true;
  }
  if (found) return { value: profile, problems };
  const none: Problem = {
    severity: 'error',
    code: 'no-profile',
    message:
      'Not a profile: no entry has a name and "timeMs". Use the file that trtexec --exportProfile writes, or a trace in Chrome\'s format.',
  };
  // What another kind of file lacks for being JSON helps no one.
  return { value: undefined, problems: /"(?:timeMs|averageMs)"/.test(text) ? [...problems, none] : [none] };
}

function rowOf(entry: Record<string, unknown>): ProfileRow | null {
  const name = textOr(entry['name'], null);
  const timeMs = numberOr(entry['timeMs']);
  const averageMs = numberOr(entry['averageMs']);
  if (name === null || (timeMs === null && averageMs === null)) return null;
  return {
    name,
    timeMs: timeMs ?? Number.NaN,
    averageMs: averageMs ?? Number.NaN,
    medianMs: numberOr(entry['medianMs']),
    percentage: numberOr(entry['percentage']) ?? Number.NaN,
  };
}

/** A complete event of a trace in Chrome's format. */
interface TraceEvent {
  name: string;
  /** Microseconds. */
  ts: number;
  dur: number;
}

/**
 * The events of layers: all complete ones of Torch-TensorRT; of ONNX Runtime, which writes events of sessions and
 * threads, too, the kernels of its nodes.
 */
function traceEvents(documents: readonly unknown[]): TraceEvent[] {
  const entries = documents.flatMap((document) =>
    isRecord(document) ? (document['traceEvents'] ?? document) : document,
  );
  const events: TraceEvent[] = [];
  const kernels: TraceEvent[] = [];
  for (const entry of entries.flat()) {
    if (!isRecord(entry) || entry['ph'] !== 'X') continue;
    const [name, dur] = [textOr(entry['name'], null), numberOr(entry['dur'])];
    if (name === null || dur === null) continue;
    const event = { name, ts: numberOr(entry['ts']) ?? 0, dur };
    const isNode = entry['cat'] === 'Node' && name.endsWith('_kernel_time');
    if (isNode) kernels.push({ ...event, name: name.slice(0, -'_kernel_time'.length) });
    else events.push(event);
  }
  return kernels.length > 0 ? kernels : events;
}

/** Where the same names come again in the same order, they are further inferences; otherwise names are added up. */
function profileOfEvents(events: TraceEvent[]): Profile {
  const sorted = events.toSorted((a, b) => a.ts - b.ts);
  const period = periodOf(sorted.map(({ name }) => name));
  const rounds = sorted.length / period;
  const totals: { name: string; us: number }[] = [];
  for (const [index, { name, dur }] of sorted.entries()) {
    const row = totals[index % period];
    if (row) row.us += dur;
    else totals.push({ name, us: dur });
  }
  const whole = totals.reduce((sum, { us }) => sum + us, 0);
  const rows = totals.map(({ name, us }): ProfileRow => ({
    name,
    timeMs: us / 1000,
    averageMs: us / 1000 / rounds,
    medianMs: null,
    percentage: whole > 0 ? (100 * us) / whole : 0,
  }));
  return { iterations: rounds, rows };
}

/** The length after which a list repeats itself to its end; its own length if it does not. */
function periodOf(names: readonly string[]): number {
  // The length of the longest beginning of the list that also ends each part of it.
  const borders = new Int32Array(names.length);
  for (let at = 1, border = 0; at < names.length; at++) {
    while (border > 0 && names[at] !== names[border]) border = borders[border - 1]!;
    if (names[at] === names[border]) border++;
    borders[at] = border;
  }
  const period = names.length - (borders.at(-1) ?? 0);
  return names.length % period === 0 ? period : names.length;
}
