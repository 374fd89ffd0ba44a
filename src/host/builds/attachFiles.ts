import { mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { buildsFolder, newBuildFolder, writeManifest, writeWhole } from '../../builder/buildFolder.ts';
import type { Build } from '../../builder/buildFolder.ts';
import { readWhole } from '../../builder/fileSource.ts';
import { Unusable } from '../../builder/unusable.ts';
import { inspectFile } from '../../core/inspect/inspectFile.ts';
import type { Inspection } from '../../core/inspect/inspection.ts';
import { bytesOf } from '../../core/text/byteSource.ts';

const names = { log: 'build.log', layers: 'layers.json', profile: 'profile.json' } as const;
const kinds: Partial<Record<Inspection['kind'], keyof typeof names>> = {
  'build-log': 'log',
  'layer-info': 'layers',
  profile: 'profile',
};

/**
 * Makes a build of the model's history from files that a build elsewhere left: a log, layer info, a profile, in any
 * order and under any name, compressed or not. They are copied, so the originals may go.
 * @throws {Unusable} when a file is none of these, or two are of the same kind
 */
export async function attachFiles(model: vscode.Uri, files: vscode.Uri[]): Promise<Build> {
  const found = new Map<keyof typeof names, Uint8Array>();
  let tensorrt: Inspection['tensorrt'] = { product: null, version: null };
  for (const file of files) {
    // oxlint-disable-next-line no-await-in-loop -- a few files, which may be large: one after the other
    const bytes = await readWhole(file.fsPath);
    const name = basename(file.fsPath);
    // oxlint-disable-next-line no-await-in-loop -- as above
    const seen = await inspectFile(bytesOf(bytes), { name });
    const kind = kinds[seen.kind];
    if (kind === undefined) throw new Unusable(refusal(name, seen));
    if (found.has(kind)) {
      throw new Unusable(
        vscode.l10n.t(
          '{0} is of the same kind as a file before it ({1}). Open those of one build at a time.',
          name,
          kind,
        ),
      );
    }
    if (seen.tensorrt.version !== null) tensorrt = seen.tensorrt;
    found.set(kind, bytes);
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
    const build: Build = { folder, manifest: manifestOf(id, model, started, tensorrt, written) };
    await writeManifest(build);
    return build;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

function refusal(name: string, { summary, problems }: Inspection): string {
  const advice = vscode.l10n.t(
    'What can be opened here: what trtexec prints with --verbose, and the files of --exportLayerInfo and --exportProfile.',
  );
  return `${name}: ${problems[0]?.message ?? `${summary}.`} ${advice}`;
}

function manifestOf(
  id: string,
  model: vscode.Uri,
  started: Date,
  tensorrt: Inspection['tensorrt'],
  files: Build['manifest']['files'],
): Build['manifest'] {
  return {
    schema: 1,
    id,
    model: { file: model.fsPath, sha256: null, bytes: 0 },
    backend: tensorrt.product === 'tensorrt-rtx' ? 'rtx' : 'trtexec',
    origin: 'imported',
    tensorrt,
    gpu: null,
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
