// The writer: every file that a user names as an output is checked and written here.
import { constants } from 'node:fs';
import { access, lstat, mkdir, open, readlink, stat } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { isMarked } from '../../read/onnx/writeModel.ts';
import { inspectFile } from '../../inspect/inspectFile.ts';
import { fileTrouble, UserError } from './userError.ts';
import { readWhole, withFile } from './fileSource.ts';
import { ParsedFiles } from './parsedFiles.ts';
import { isSamePath } from './pathKey.ts';
import { mayReplace } from './replacing.ts';
import { externalLocations } from './writeModel.ts';
import { moveAtomically, writeWhole } from './writeWhole.ts';

/** Inserts a first property into the text of a JSON object. */
const withGenerator = (text: string): string => text.replace(/^\{/, '{"generator":"TensorRT Lens",');

/**
 * What trtlens writes. `made` recognizes a file that it wrote by its beginning and end, or by its kind where any file
 * of the kind may be replaced; `mark` adds what `made` looks for. Without `made`, only the same content is replaced.
 */
interface Row {
  shown: string;
  /** As `inspectFile` has it. */
  found?: string;
  made?: RegExp;
  mark?: (text: string) => string;
}
const kinds = {
  model: { shown: 'a model' },
  engine: { shown: 'an engine', found: 'engine' },
  'timing-cache': { shown: 'a timing cache', found: 'timing-cache' },
  'calibration-cache': { shown: 'a calibration cache', found: 'calibration-cache' },
  page: { shown: 'a page', made: /<title>TensorRT Lens<\/title>|<meta name="generator" content="TensorRT Lens">/ },
  data: { shown: 'data', made: /^\{"generator":"TensorRT Lens",/, mark: withGenerator },
  // A baseline, as `trtlens show --json` prints it, too.
  report: { shown: 'a report', made: /^\{\s*"schema": ?\d+,\s*"tensorrt": ?\{/ },
  // Perfetto reads nothing after a property that it doesn't know: the mark is the last one.
  trace: {
    shown: 'a trace',
    made: /^\{"traceEvents":[^]*"otherData":\{"generator":"TensorRT Lens"\}\}\s*$/,
    mark: (text: string) => text.replace(/\}\s*$/, ',"otherData":{"generator":"TensorRT Lens"}}'),
  },
  'node-data': { shown: 'node data', made: /^\{"(?:[^"\\]|\\.)*":\{"name":/ },
  rules: {
    shown: 'a file of rules',
    made: /^# Written by TensorRT Lens\n/,
    mark: (text: string) => `# Written by TensorRT Lens\n${text}`,
  },
  markdown: {
    shown: 'a report in Markdown',
    made: /^<!-- Written by TensorRT Lens -->\n/,
    mark: (text: string) => `<!-- Written by TensorRT Lens -->\n\n${text}`,
  },
  junit: {
    shown: 'a report of JUnit',
    made: /^<\?xml[^>]*>\n<!-- Written by TensorRT Lens -->\n/,
    mark: (text: string) => text.replace('\n', '\n<!-- Written by TensorRT Lens -->\n'),
  },
  sarif: { shown: 'a report in SARIF', made: /"driver": \{\s*"name": "trtlens gate"/ },
  'code-quality': { shown: 'a report for GitLab', made: /^\[\s*(?:\]|\{[^]*?"check_name": "trtlens-)/ },
  zip: { shown: 'an archive', made: /TensorRT Lens$/ },
  hook: { shown: 'the hook', made: /^"""Names the nodes of a PyTorch graph in the layers of TensorRT/ },
  script: { shown: 'the script', made: /^"""Builds model\.onnx with TensorRT/ },
  log: { shown: 'a build log', made: /^\[[VIWEF]\] \[TRT\] |^stand-in\n/ },
  state: { shown: 'the state of a search', made: /^\{"question":"/ },
  text: { shown: 'a file with the same content' },
  new: { shown: 'a new file' },
} as const satisfies Record<string, Row>;
export type OutputKind = keyof typeof kinds;

/** In a page, the title comes after comments and the policy. */
const headBytes = 1 << 14;
const tailBytes = 256;

/**
 * Makes sure, before any work is done, that a result can be written to `out`: that it is no input of the same command,
 * no link, and missing, empty, or made by trtlens as the same kind. Its folder may be missing: who writes makes it.
 * @param used files that are read or written as well, and folders, whose files are inputs; a name that is missing counts as none
 * @param kind null: it goes with another result, which was checked
 * @param content of a text, which has no mark; while it is missing, the file is not compared
 * @throws {UserError} if it cannot be written or something would be lost
 */
export async function checkOutput(
  out: string,
  used: readonly (string | undefined)[],
  kind: OutputKind | null,
  content?: string,
): Promise<void> {
  if (!(await checkName(out, used))) return checkFolder(out);
  if (kind === null || mayReplace(out) || (await isMade(out, kind))) return;
  if (kind === 'text' && (content === undefined || Buffer.from(content).equals(await readWhole(out)))) return;
  throw foreign(out, kind);
}

/** Checks several results of one command, of which none may be another. A name that is missing is no result. */
export async function checkEachOutput(
  outputs: readonly (readonly [out: string | undefined, kind: OutputKind | null])[],
  used: readonly (string | undefined)[],
): Promise<void> {
  const before: string[] = [];
  for (const [out, kind] of outputs) {
    if (out === undefined) continue;
    // oxlint-disable-next-line no-await-in-loop -- a few files
    await checkOutput(out, [...used, ...before], kind);
    before.push(out);
  }
}

function foreign(out: string, kind: OutputKind): UserError {
  const isOurs = !/^(?:engine|text|.*-cache)$/.test(kind);
  const what = kind === 'new' ? '' : ` and is not ${kinds[kind].shown}${isOurs ? ' that trtlens wrote' : ''}`;
  return new UserError(`${out} already exists${what}. Choose another file, or pass --force to overwrite it`);
}

/**
 * Writes the text of a result whole or not at all, with the mark of its kind, and makes its folder.
 * @throws {UserError} as `checkOutput` does, or if it cannot be written
 */
export async function writeResult(out: string, text: string, kind: OutputKind): Promise<void> {
  const { made, mark }: Row = kinds[kind];
  const content = mark && made?.test(text) !== true ? mark(text) : text;
  await checkOutput(out, [], kind, content);
  await makeFolderOf(out);
  await writeWhole(out, content);
}

/**
 * Moves a result that a program wrote under another name to its place, whole or not at all.
 * @throws {UserError} as `checkOutput` does; then the file stays where it is
 */
export async function moveResult(from: string, out: string, kind: OutputKind): Promise<void> {
  await checkOutput(out, [], kind);
  if (kind === 'zip') await markZip(from);
  await moveAtomically(from, out);
}

/** The files that a model consists of: itself, and those of its weights, as far as it can be read. */
export async function filesOfModel(path: string): Promise<string[]> {
  const model = await new ParsedFiles().model(path).catch(() => undefined);
  return [path, ...(model ? weightFiles(path, externalLocations(model.value)) : [])];
}

/** Paths of a model's weights by the names that it has for them. */
export const weightFiles = (model: string, locations: Iterable<string>): string[] =>
  [...locations].map((location) => resolve(dirname(model), location));

/** Whether the file already exists. */
async function checkName(out: string, used: readonly (string | undefined)[]): Promise<boolean> {
  if (out === '' || out.endsWith(sep) || out.endsWith('/'))
    throw new UserError(`'${out}' is not a file name. Pass the file to write`);
  const target = await existing(out);
  if (target?.isDirectory()) throw new UserError(`${out} is a folder. Pass the file to write`);
  // What is written takes the name: of /dev/null nothing would be left.
  if (target && !target.isFile()) throw new UserError(`${out} is not a regular file. Choose another file`);
  for (const file of used) {
    if (file === undefined) continue;
    const status = await stat(file).catch(() => undefined);
    const isSame =
      status !== undefined && target !== undefined && status.dev === target.dev && status.ino === target.ino;
    const isInside = target !== undefined && status?.isDirectory() === true && isWithin(resolve(file), resolve(out));
    if (isSame || isInside || isSamePath(file, out))
      throw new UserError(`${out} would overwrite the input ${file}. Choose another file`);
  }
  const link = await readlink(out).catch(() => undefined);
  if (link !== undefined)
    throw new UserError(`${out} is a link to ${link}. Pass the file that it leads to, or remove the link`);
  return target !== undefined;
}

const isWithin = (folder: string, path: string): boolean =>
  !/^\.\.(?:[/\\]|$)|^(?:[A-Za-z]:)?[/\\]/.test(relative(folder, path)) && !isSamePath(folder, path);

/** Whether trtlens made a file as a result of this kind, or it is one that any of its kind may replace. */
async function isMade(path: string, kind: OutputKind): Promise<boolean> {
  if ((await sizeOf(path)) === 0) return true;
  if (kind === 'model') return withFile(path, isMarked);
  const row: Row = kinds[kind];
  if (row.found !== undefined)
    return withFile(path, async (source) => (await inspectFile(source)).kind === row.found, { unpack: false });
  return row.made?.test(await endsOf(path)) === true;
}

const sizeOf = (path: string): Promise<number> =>
  lstat(path).then(
    ({ size }) => size,
    () => 0,
  );

/** The beginning of a file and, if that is not all of it, its end. */
async function endsOf(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { size } = await file.stat();
      const read = async (at: number, length: number) => {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
        return buffer.toString('utf8', 0, bytesRead);
      };
      const head = await read(0, headBytes);
      return size <= headBytes ? head : head + (await read(Math.max(headBytes, size - tailBytes), tailBytes));
    } finally {
      await file.close();
    }
  } catch (error) {
    throw fileTrouble(path, error);
  }
}

const zipComment = 'TensorRT Lens';

/** Marks a zip file, such as an .npz, by its comment, if it has none. */
async function markZip(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    const end = Buffer.alloc(22);
    await file.read(end, 0, end.length, Math.max(0, size - end.length));
    if (end.readUInt32LE(0) !== 0x06054b50 || end.readUInt16LE(20) !== 0) return;
    end.writeUInt16LE(zipComment.length, 20);
    await file.write(
      Buffer.concat([end, Buffer.from(zipComment)]),
      0,
      end.length + zipComment.length,
      size - end.length,
    );
  } finally {
    await file.close();
  }
}

async function existing(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw fileTrouble(path, error);
  }
}

/** The folder, or the nearest one above it that is there, must be one to write to. */
async function checkFolder(out: string): Promise<void> {
  for (let folder = dirname(resolve(out)); ; folder = dirname(folder)) {
    // oxlint-disable-next-line no-await-in-loop -- the next one counts only where this one is missing
    const status = await existing(folder);
    if (!status) continue;
    if (!status.isDirectory()) throw new UserError(`${folder} is a file, not a folder`);
    return access(folder, constants.W_OK).catch((error: unknown) => {
      throw fileTrouble(folder, error);
    });
  }
}

async function makeFolderOf(out: string): Promise<void> {
  await mkdir(dirname(resolve(out)), { recursive: true }).catch((error: unknown) => {
    throw fileTrouble(dirname(out), error);
  });
}
