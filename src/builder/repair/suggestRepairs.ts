import { dirname } from 'node:path';
import type { ShapeRange } from '../../core/build/buildManifest.ts';
import { catalogue, planRepair } from '../../core/repair/planRepair.ts';
import { givenValues, shapeSets } from '../../core/repair/repairResult.ts';
import type { RepairStep } from '../../core/network/repairMap.ts';
import { RepairSubject } from '../../core/repair/subject.ts';
import { openExternal } from '../files/externalFile.ts';
import { type FileSource, withFile } from '../files/fileSource.ts';
import { ParsedFiles } from '../files/parsedFiles.ts';
import { refuseErrors } from '../files/refuseErrors.ts';

/**
 * The repairs that apply to a model, whether its build fails or not. Those that need a failure to know their places, such
 * as constant folding, are not among them.
 * @throws {UserError} if the model or its weights cannot be read
 */
export async function suggestRepairs(
  path: string,
  profiles: readonly Record<string, ShapeRange>[] | undefined,
): Promise<RepairStep[]> {
  const { value: model, problems } = await new ParsedFiles().model(path, { spans: true });
  refuseErrors(path, problems);
  const opened = new Map<string, FileSource>();
  try {
    return await withFile(path, async (source) => {
      const subject = new RepairSubject(model, source, {
        shapes: shapeSets(model, profiles).known,
        values: givenValues(model, profiles),
        open: async (location) => {
          const file = opened.get(location) ?? (await openExternal(dirname(path), location));
          opened.set(location, file);
          return file;
        },
        compute: () => Promise.resolve(new Map()),
      });
      const found: RepairStep[] = [];
      for (const repair of catalogue) {
        // oxlint-disable-next-line no-await-in-loop -- one weight in memory at a time
        const planned = await planRepair(subject, repair, new Set());
        const { id, title, class: kind } = repair;
        if (planned.edits) found.push({ id, title, class: kind, places: planned.places });
      }
      return found;
    });
  } finally {
    for (const file of opened.values()) await file.close();
  }
}
