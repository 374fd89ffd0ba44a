import { constants } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { type BuildManifest, programFailure } from '../../build/buildManifest.ts';
import type { BuildLog, LoggedBuild } from '../../read/tensorrt/buildOutput.ts';
import { BuildLogReader } from '../../read/tensorrt/readBuildLog.ts';
import { inspectFile } from '../../inspect/inspectFile.ts';
import { type Inspection, inspection } from '../../inspect/inspection.ts';
import { type ByteSource, bytesOf } from '../../base/problem.ts';
import { type Build, buildsFolder, newBuildFolder, writeManifest } from '../store/buildFolder.ts';
import { fingerprint } from '../files/fingerprint.ts';
import { writeWhole } from '../files/writeWhole.ts';
import { readWhole, withFile } from '../files/fileSource.ts';
import { openNsysTrace, SqliteFile } from '../../read/tensorrt/readTrace.ts';
import { isTraceReport } from '../files/parsedFiles.ts';
import { exportTrace } from '../tools/exportTrace.ts';
import { causeOf, failureLine } from './internal/buildFailure.ts';
import { fileTrouble, UserError } from '../files/userError.ts';
import { removeTree } from '../files/persist.ts';

/** One thing that a build elsewhere left: a file of any name, compressed or not, or a text from the clipboard. */
export type ImportedPiece = { file: string } | { text: string };

export interface ImportOptions {
  /** The ONNX file that was built. It need not be there. */
  model: string;
  /** Log, layer info, profile and counters of one build, in any order: what each is, its content says. */
  pieces: ImportedPiece[];
  /** Parent of the build's folder. Default: `buildsFolder(model, cache)`. */
  folder?: string;
  cache?: string;
  /** The nsys that reads reports of Nsight Systems: a path, or a name on the PATH, which is the default. */
  nsys?: () => string;
  /** Facts for the manifest that the pieces do not contain but the caller knows. */
  known?: Partial<Omit<BuildManifest, 'schema' | 'id' | 'model' | 'files'>>;
}

/** A file's bytes, unpacked; a trace stays where it is. */
type Content = Uint8Array | { trace: string };

/** Names inside the folder, as those of a build that ran here. */
const names = { log: 'build.log', layers: 'layers.json', profile: 'profile.json', counters: 'ncu.csv' } as const;
const kinds: Partial<Record<Inspection['kind'], keyof typeof names>> = {
  'build-log': 'log',
  'layer-info': 'layers',
  profile: 'profile',
  trace: 'profile',
  counters: 'counters',
};
/** Of a trace, which is a database. */
const traceName = 'trace.sqlite';

/**
 * Makes a build of the model's history from what a build on another machine left. It is copied, unpacked; the
 * manifest's `origin` is `imported`, its `started` the time of the import, and the rest what the log says.
 * @throws {UserError} if a piece is not one of these, two are of the same kind, or none describes layers
 */
export function importBuild(options: ImportOptions): Promise<Build> {
  const { pieces, nsys = () => 'nsys' } = options;
  const at = pieces.findIndex((piece) => 'file' in piece && isTraceReport(piece.file));
  const report = pieces[at];
  return report === undefined || 'text' in report
    ? importPieces(options)
    : exportTrace(report.file, nsys(), (file) => importBuild({ ...options, pieces: pieces.with(at, { file }) }));
}

async function importPieces(options: ImportOptions): Promise<Build> {
  const found = new Map<keyof typeof names, Content>();
  let tensorrt: BuildManifest['tensorrt'] = { product: null, version: null };
  for (const piece of options.pieces) {
    // oxlint-disable-next-line no-await-in-loop -- a few files, which may be large: one after the other
    const { kind, content, inspected, name } = await readPiece(piece);
    if (found.has(kind)) throw new UserError(`${name} is a second ${names[kind]}. Import one build at a time.`);
    if (inspected.tensorrt.version !== null || tensorrt.product === null) tensorrt = inspected.tensorrt;
    found.set(kind, content);
  }
  if (!found.has('log') && !found.has('layers'))
    throw new UserError('A profile alone does not name nodes. Add the build log or the layer info.');
  const text = found.get('log');
  const log = text instanceof Uint8Array ? readLog(text) : undefined;
  const started = new Date();
  const parent = options.folder ?? buildsFolder(options.model, options.cache);
  const { id, folder } = await newBuildFolder(parent, started);
  try {
    const files = await writePieces(folder, found);
    const build: Build = {
      folder,
      manifest: {
        schema: 1,
        id,
        model: await modelOf(options.model),
        backend: backendOf(log, tensorrt.product),
        origin: 'imported',
        tensorrt,
        gpu: log?.gpu ?? null,
        driver: null,
        command: log?.runs?.at(-1)?.command.split(' ').filter(Boolean) ?? [],
        options: {},
        started: started.toISOString(),
        seconds: log?.seconds.build ?? null,
        ...(await outcomeOf(log, options.model)),
        files,
        ...options.known,
      },
    };
    await writeManifest(build);
    return build;
  } catch (error) {
    await removeTree(folder);
    throw error;
  }
}

async function readPiece(piece: ImportedPiece) {
  const name = 'file' in piece ? basename(piece.file) : 'The pasted text';
  const content = 'file' in piece ? await contentOf(piece.file) : Buffer.from(piece.text);
  const inspected = await (content instanceof Uint8Array
    ? inspectFile(bytesOf(content), { name })
    : withFile(content.trace, inspectTrace));
  const kind = kinds[inspected.kind];
  if (kind !== undefined) return { name, content, inspected, kind };
  const reason = inspected.problems[0]?.message ?? `${inspected.summary}.`;
  throw new UserError(
    `${name}: ${reason} Supported are the output of trtexec --verbose, the files of --exportLayerInfo and --exportProfile, traces of Nsight Systems, and the output of ncu --csv.`,
  );
}

/** Without reading its rows: that takes seconds, and the views do it anyway. */
async function inspectTrace(source: ByteSource): Promise<Inspection> {
  const { value, problems } = await openNsysTrace(source);
  return inspection(value === undefined ? 'unknown' : 'trace', 'An SQLite file', { problems });
}

/** What a file contains, unpacked. A trace stays on disk: it may be larger than memory. */
async function contentOf(path: string): Promise<Content> {
  const isTrace = await withFile(path, async (source) => SqliteFile.sniff(await source.read(0, 16)), { unpack: false });
  return isTrace ? { trace: path } : readWhole(path);
}

/** Gives the names of the files in the folder. */
async function writePieces(folder: string, pieces: ReadonlyMap<keyof typeof names, Content>) {
  const files: BuildManifest['files'] = { log: null, layers: null, profile: null, engine: null };
  for (const [kind, content] of pieces) {
    const onDisk = !(content instanceof Uint8Array);
    const name = onDisk || SqliteFile.sniff(content) ? traceName : names[kind];
    const to = join(folder, name);
    // oxlint-disable-next-line no-await-in-loop -- four files at most
    await (onDisk ? copyTrace(content.trace, to) : writeWhole(to, content));
    files[kind] = name;
  }
  return files;
}

/** Shares the blocks of the disk where the file system can. */
async function copyTrace(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE).catch((error: unknown) => {
    throw fileTrouble(to, error);
  });
}

/** A log's last build. */
function readLog(bytes: Uint8Array | undefined, only?: LoggedBuild): BuildLog | undefined {
  if (!bytes) return undefined;
  const reader = new BuildLogReader(only && { only });
  reader.pushBytes(bytes);
  const log = reader.end().value;
  const last = log.builds?.at(-1);
  return last ? readLog(bytes, last) : log;
}

function backendOf(log: BuildLog | undefined, product: BuildManifest['tensorrt']['product']): BuildManifest['backend'] {
  if (log?.writer === 'polygraphy') return 'polygraphy';
  if (log?.writer === 'python' || log?.writer === 'driver') return product === 'tensorrt-rtx' ? 'rtx' : 'python';
  return log === undefined && product === 'tensorrt-rtx' ? 'rtx' : 'trtexec';
}

/** Layer info is of an engine that was built; a log that just ends is of a build that was stopped. */
async function outcomeOf(
  log: BuildLog | undefined,
  model: string,
): Promise<Pick<BuildManifest, 'result' | 'error' | 'failure'>> {
  switch (log?.outcome) {
    case 'failed': {
      const failure = (await causeOf(log, model)) ?? programFailure('exited', 'failed; the log has no cause');
      return { result: 'failed', error: failureLine(failure), failure };
    }
    case 'cut-off': {
      const message = 'cut off: the log ends before the build does';
      return {
        result: 'cancelled',
        error: message,
        failure: { ...programFailure('cancelled', message), code: 'cut-off' },
      };
    }
    default:
      return { result: 'passed', error: null };
  }
}

/** The model may be only on the other machine. */
async function modelOf(model: string): Promise<BuildManifest['model']> {
  const file = resolve(model);
  return { file, ...(await fingerprint(file).catch(() => ({ sha256: null, bytes: 0 }))) };
}
