import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { DiagnosisRule } from '../../src/core/diagnose/internal/ruleTable.ts';

const folder = fileURLToPath(new URL('../../src/core/diagnose/rules/', import.meta.url));

/** The rows of the diagnosis as their files have them, with example and source. */
export const diagnosisRows: readonly (DiagnosisRule & { example: string; source: string })[] = readdirSync(folder)
  .toSorted()
  .flatMap(
    (file) => parse(readFileSync(folder + file, 'utf8')) as (DiagnosisRule & { example: string; source: string })[],
  );

/** The examples by the ids of their rows. */
export const ruleExamples = new Map(diagnosisRows.map(({ id, example }) => [id, example]));
