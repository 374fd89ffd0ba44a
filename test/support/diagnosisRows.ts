import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { SourcePattern } from './slowPatterns.ts';
import type { DiagnosisRule } from '../../src/features/diagnose/internal/ruleTable.ts';

const folder = fileURLToPath(new URL('../../src/features/diagnose/rules/', import.meta.url));

/** The rows of the diagnosis as their files have them, with example and source. */
export const diagnosisRows: readonly (DiagnosisRule & { example: string; source: string })[] = readdirSync(folder)
  .toSorted()
  .flatMap(
    (file) => parse(readFileSync(folder + file, 'utf8')) as (DiagnosisRule & { example: string; source: string })[],
  );

/** The examples by the ids of their rows. */
export const ruleExamples = new Map(diagnosisRows.map(({ id, example }) => [id, example]));

/** All patterns of a row, with its tables and cases. */
function patternsIn(value: unknown, key = ''): string[] {
  if (typeof value === 'string')
    return ['pattern', 'at', 'overcome', 'find', 'is', 'layer'].includes(key) ? [value] : [];
  if (Array.isArray(value) && key === 'rows') return (value as [string, unknown][]).map(([pattern]) => pattern);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) =>
    patternsIn(one, Array.isArray(value) || key === 'at' ? key : name),
  );
}

/** Every pattern of every row, by the row's id. */
export const rowPatterns: readonly SourcePattern[] = diagnosisRows.flatMap(
  ({ id, flags = 'm', values = {}, ...rule }) =>
    [...patternsIn(rule), ...Object.values(values).flatMap((value) => patternsIn(value))].map((source) => ({
      place: `${id}: ${source}`,
      pattern: new RegExp(source, flags),
    })),
);
