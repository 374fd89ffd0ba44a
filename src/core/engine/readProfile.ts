import type { ProfileRow } from './buildLog.ts';
import type { Profile } from './profile.ts';
import type { Problem, Read } from '../text/problem.ts';
import { isRecord, numberOr, readJsonDocuments, textOr } from './readJson.ts';

const RAW_MEMBERS = new Set(['name']);

/**
 * Reads `--exportProfile`: `{ "count": n }` and one row per layer, in engine order, repeated names kept apart. Names
 * that are not escaped, `nan`, `inf` and a cut-off end are read as far as they go. `value` is undefined if the text is
 * no profile.
 */
export function readProfile(text: string): Read<Profile> {
  const { documents, problems } = readJsonDocuments(text, { rawMembers: RAW_MEMBERS });
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
    message: 'Not a profile: no entry has a name and "timeMs". Use the file that trtexec --exportProfile writes.',
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
