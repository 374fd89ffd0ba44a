import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PrecisionType } from '../../rules/overrideFile.ts';

/** `overrides.json` of a build folder: the rules that the build was made with, and how they reached TensorRT. */
export interface BuildOverrides {
  schema: 1;
  /** The rules as they were. */
  rules: string;
  /** `flags`: layer precisions; `model`: a strongly typed copy of the model. */
  way: 'flags' | 'model';
  /** The copy's compute type of each node by its position in the model; null: it had no choice. Only for `model`. */
  declared?: (PrecisionType | null)[];
  /** Names of the Casts that the copy has next to the model's own nodes. Only for `model`. */
  added?: string[];
  /** Nodes of the model that the copy does not have, by id: the line of the rules that removed each. Only for `model`. */
  removed?: Record<string, number>;
  /** Nodes of the model that the copy has with other types or inputs, by id: the line of the rules. Only for `model`. */
  changed?: Record<string, number>;
}

const recordName = 'overrides.json';

/** The rules that a build was made with; null: none, or not known. */
export async function readBuildOverrides(folder: string): Promise<BuildOverrides | null> {
  try {
    const record = JSON.parse(await readFile(join(folder, recordName), 'utf8')) as BuildOverrides;
    return record.schema === 1 && typeof record.rules === 'string' ? record : null;
  } catch {
    return null;
  }
}

/** Keeps with a build what it was made with. */
export const writeBuildOverrides = (folder: string, record: BuildOverrides): Promise<void> =>
  writeFile(join(folder, recordName), JSON.stringify(record));
