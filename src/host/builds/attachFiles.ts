import { mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { buildsFolder, newBuildFolder, writeManifest, writeWhole } from '../../builder/buildFolder.ts';
import type { Build } from '../../builder/buildFolder.ts';
import { readWhole } from '../../builder/fileSource.ts';
import { Unusable } from '../../builder/unusable.ts';
import type { BuildLog } from '../../core/engine/buildLog.ts';
import { fileKind } from './fileKind.ts';

const names = { log: 'build.log', layers: 'layers.json', profile: 'profile.json' } as const;

/**
 * Makes a build of the model's history from files that a build elsewhere left: a log, layer info, a profile, in any
 * order and under any name. They are copied, so the originals may go.
 * @throws {Unusable} when a file is none of these, or two are of the same kind
 */
export async function attachFiles(model: vscode.Uri, files: vscode.Uri[]): Promise<Build> {
  const found = new Map<keyof typeof names, Uint8Array>();
  let log: BuildLog | undefined;
  for (const file of files) {
    // oxlint-disable-next-line no-await-in-loop -- a few files, which may be large: one in memory at a time
    const bytes = await readWhole(file.fsPath);
    const read = fileKind(new TextDecoder().decode(bytes));
    if (read.kind === 'unknown') {
      throw new Unusable(
        vscode.l10n.t(
          '{0} is neither a build log, nor layer info, nor a profile. Save what trtexec prints with --verbose, or the files of --exportLayerInfo and --exportProfile.',
          basename(file.fsPath),
        ),
      );
    }
    if (found.has(read.kind)) {
      throw new Unusable(
        vscode.l10n.t('Two of these files are of the same kind ({0}). Open one at a time.', read.kind),
      );
    }
    if (read.kind === 'log') log = read.log;
    found.set(read.kind, bytes);
  }
  if (!found.has('log') && !found.has('layers')) {
    throw new Unusable(
      vscode.l10n.t('A profile alone says nothing about nodes: open the build log or the layer info with it.'),
    );
  }
  const started = new Date();
  const parent = buildsFolder(model.fsPath);
  await mkdir(parent, { recursive: true });
  const { id, folder } = await newBuildFolder(parent, started);
  try {
    const written: Build['manifest']['files'] = { log: null, layers: null, profile: null, engine: null };
    for (const [kind, bytes] of found) {
      // oxlint-disable-next-line no-await-in-loop -- three files at most
      await writeWhole(join(folder, names[kind]), bytes);
      written[kind] = names[kind];
    }
    const build: Build = { folder, manifest: manifestOf(id, model, started, log, written) };
    await writeManifest(build);
    return build;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

function manifestOf(
  id: string,
  model: vscode.Uri,
  started: Date,
  log: BuildLog | undefined,
  files: Build['manifest']['files'],
): Build['manifest'] {
  const backend = log?.writer === 'polygraphy' || log?.writer === 'python' ? log.writer : 'trtexec';
  return {
    schema: 1,
    id,
    model: { file: model.fsPath, sha256: null, bytes: 0 },
    backend,
    origin: 'imported',
    tensorrt: { product: log?.product ?? null, version: log?.version ?? null },
    gpu: log?.gpu ?? null,
    driver: null,
    command: [],
    options: {},
    started: started.toISOString(),
    seconds: null,
    // What failed elsewhere is opened to be looked at: it counts as a build whose files can be shown.
    result: 'passed',
    error: null,
    files,
  };
}
