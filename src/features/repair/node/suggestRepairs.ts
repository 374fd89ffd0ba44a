import type { FailureWithRepair } from '../../../kernel/node/run/buildSteps.ts';
import { dirname } from 'node:path';
import type { ShapeRange } from '../../../kernel/build/buildManifest.ts';
import { candidates, catalogue, planRepair, preferred } from '../planRepair.ts';
import { givenValues, shapeSets } from '../repairResult.ts';
import type { RepairStep } from '../../../kernel/network/repairMap.ts';
import { RepairSubject } from '../subject.ts';
import { openExternal } from '../../../kernel/node/files/externalFile.ts';
import { type FileSource, withFile } from '../../../kernel/node/files/fileSource.ts';
import { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { refuseErrors } from '../../../kernel/node/files/refuseErrors.ts';

/**
 * The repairs that apply to a model, whether its build fails or not. Those that need a failure to know their places, such
 * as constant folding, are not among them.
 * @throws {UserError} if the model or its weights cannot be read
 */
export const suggestRepairs = (
  path: string,
  profiles: readonly Record<string, ShapeRange>[] | undefined,
): Promise<RepairStep[]> =>
  withSubject(path, profiles, async (subject) => {
    const found: RepairStep[] = [];
    for (const repair of catalogue) {
      // oxlint-disable-next-line no-await-in-loop -- one weight in memory at a time
      const planned = await planRepair(subject, repair, new Set());
      const { id, title, class: kind } = repair;
      if (planned.edits) found.push({ id, title, class: kind, places: planned.places });
    }
    return found;
  });

/**
 * Failures with the repair that answers each: the one that its rule names where it applies to the model, otherwise another
 * that changes its nodes, or none. Of a model that cannot be read, what the rules name stays.
 */
export async function withApplyingRepairs<T extends FailureWithRepair>(
  path: string,
  failures: readonly T[],
): Promise<T[]> {
  if (failures.every(({ repair }) => repair === undefined)) return [...failures];
  const applying = withSubject(path, undefined, async (subject, asked) => {
    const found: T[] = [];
    for (const failure of failures) {
      asked.computed = false;
      // oxlint-disable-next-line no-await-in-loop -- one weight in memory at a time
      const repair = await repairOf(failure, subject);
      const { repair: named, ...rest } = failure;
      // What ONNX Runtime has to compute first is known only then.
      const kept = repair ?? (asked.computed ? named : undefined);
      found.push({ ...rest, ...(kept !== undefined && { repair: kept }) } as T);
    }
    return found;
  });
  return applying.catch(() => [...failures]);
}

async function repairOf(
  { repair, nodes, message }: FailureWithRepair,
  subject: RepairSubject,
): Promise<string | undefined> {
  const own = catalogue.find(({ id }) => id === repair);
  if (own === undefined) return repair;
  const failing = new Set(nodes);
  // Nodes of a called function have ids only in the network that calls it.
  if (nodes.length > 0 && !subject.model.nodes.some(({ id }) => failing.has(id))) return repair;
  const { edits } = await planRepair(subject, own, failing);
  if (edits) return repair;
  const { found } = await candidates(subject, { nodes: failing, text: message }, new Set([own.id]));
  return preferred(found, false).find(({ answer }) => answer === 'direct')?.repair.id;
}

async function withSubject<T>(
  path: string,
  profiles: readonly Record<string, ShapeRange>[] | undefined,
  use: (subject: RepairSubject, asked: { computed: boolean }) => Promise<T>,
): Promise<T> {
  const { value: model, problems } = await new ParsedFiles().model(path, { spans: true });
  refuseErrors(path, problems);
  const opened = new Map<string, FileSource>();
  const asked = { computed: false };
  try {
    return await withFile(path, (source) =>
      use(
        new RepairSubject(model, source, {
          shapes: shapeSets(model, profiles).known,
          values: givenValues(model, profiles),
          open: async (location) => {
            const file = opened.get(location) ?? (await openExternal(dirname(path), location));
            opened.set(location, file);
            return file;
          },
          compute: () => {
            asked.computed = true;
            return Promise.resolve(new Map());
          },
        }),
        asked,
      ),
    );
  } finally {
    for (const file of opened.values()) await file.close();
  }
}
