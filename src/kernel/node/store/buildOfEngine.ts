import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { fingerprint } from '../files/fingerprint.ts';
import { readRules } from '../files/readRules.ts';
import type { ParsedFiles } from '../files/parsedFiles.ts';
import { type Build } from './buildFolder.ts';
import { listAllBuilds } from './buildHistory.ts';
import { modelChanged } from './modelChanged.ts';

/**
 * The build of the history that an engine's file came from, by the SHA-256 of its content; null: none is known. Builds
 * that did not record it are known by their own engine, where it has the same content.
 */
export async function buildOfEngine(path: string, options: { cache?: string } = {}): Promise<Build | null> {
  const status = await stat(path).catch(() => null);
  if (status === null || !status.isFile()) return null;
  const builds = (await listAllBuilds(options.cache)).filter(({ manifest }) => manifest.result === 'passed');
  let sha256: string | undefined;
  for (const build of builds) {
    // oxlint-disable-next-line no-await-in-loop -- the first that fits ends it
    const engine = await engineOf(build, status.size);
    if (engine === null) continue;
    // oxlint-disable-next-line no-await-in-loop -- once, and only where a size fits
    sha256 ??= (await fingerprint(path)).sha256;
    // oxlint-disable-next-line no-await-in-loop -- as above
    if ((await engine()) === sha256) return build;
  }
  return null;
}

/** How to get the hash of a build's engine; null: it has another size, or is gone. */
async function engineOf({ folder, manifest }: Build, bytes: number): Promise<(() => Promise<string | null>) | null> {
  const { engine, files } = manifest;
  if (engine !== undefined) return engine.bytes === bytes ? () => Promise.resolve(engine.sha256) : null;
  if (files.engine === null) return null;
  const own = resolve(folder, files.engine);
  const size = await stat(own).then(
    (status) => status.size,
    () => -1,
  );
  return size !== bytes
    ? null
    : () =>
        fingerprint(own).then(
          ({ sha256 }) => sha256,
          () => null,
        );
}

/** Why an engine is not up to date with what it was built from, in a sentence; null: it is, or nothing says. */
export async function whyStale({ manifest }: Build, files: ParsedFiles): Promise<string | null> {
  const { model, options, rulesSha256 } = manifest;
  if (await modelChanged(model.file, manifest, files)) return `${model.file} was changed after this build.`;
  const rules = options['overrides'];
  if (rulesSha256 === undefined || typeof rules !== 'string') return null;
  const now = await readRules(rules).catch(() => null);
  const same = now === null || createHash('sha256').update(now).digest('hex') === rulesSha256;
  return same ? null : `${rules} was changed after this build.`;
}
