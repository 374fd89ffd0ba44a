import { appendFile, type FileHandle, lstat, mkdir, open, rmdir, statfs } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import {
  type ConversionLoss,
  modelTensors,
  type OnnxModel,
  type Segment,
  segmentBytes,
} from '../../read/onnx/onnxModel.ts';
import type { EditedModel } from '../../read/onnx/editModel.ts';
import { isMarked, modelMark } from '../../read/onnx/writeModel.ts';
import { readModel } from '../../read/onnx/readModel.ts';
import type { ByteSource } from '../../base/problem.ts';
import { externalPath, openExternal } from './externalFile.ts';
import { type FileSource, withFile } from './fileSource.ts';
import { fileTrouble, stopIfCancelled, UserError } from './userError.ts';
import { sizeText } from '../../base/text.ts';
import { isSamePath } from './pathKey.ts';
import { temporaryFor } from './writeWhole.ts';
import { makeFolder, realFolder, removeTree, renamePersistently } from './persist.ts';

/** Files that were written, the model first, and what the conversion of weights could not keep. */
export interface WrittenModel {
  files: { path: string; size: number }[];
  loss: ConversionLoss;
}

/** Bytes that are gathered before they are written. */
const gathered = 1 << 20;

/** Names of the files in which a model keeps its external data, as it spells them. */
export function externalLocations(model: OnnxModel): Set<string> {
  const found = new Set<string>();
  for (const { data } of modelTensors(model))
    if (data && 'external' in data && data.external['location']) found.add(data.external['location']);
  return found;
}

/**
 * A name for the external data of the model `out`: one that the model does not use already.
 */
export function externalFileFor(out: string, used: ReadonlySet<string>): string {
  const taken = new Set([...used].map((location) => location.replace(/^(?:\.\/)+/, '').toLowerCase()));
  for (let number = 0; ; number++) {
    const name = `${basename(out)}${number === 0 ? '' : `.${number}`}.data`;
    if (!taken.has(name.toLowerCase())) return name;
  }
}

/**
 * Writes an edited model: piece by piece, never whole in memory, under temporary names that become the real ones when
 * all is written. External data that is still used goes along where `out` is in another folder than the model.
 * @param path of the model that was edited; `source` is its content
 * @throws {UserError} if it cannot be written, or external data is missing or outside the model's folder; then nothing
 * is left behind
 */
export async function writeModel(
  edited: EditedModel,
  { path, source }: { path: string; source: ByteSource },
  out: string,
  signal?: AbortSignal,
): Promise<WrittenModel> {
  const writer = new ModelWriter(dirname(path), dirname(resolve(out)), source, signal);
  try {
    return await writer.write(edited, resolve(out));
  } finally {
    await writer.close();
  }
}

class ModelWriter {
  private readonly from: string;
  private readonly to: string;
  private readonly source: ByteSource;
  private readonly signal: AbortSignal | undefined;
  private readonly opened = new Map<string, FileSource>();
  /** Written, and waiting for their names. */
  private readonly waiting: { temporary: string; path: string; size: number }[] = [];
  private readonly loss: ConversionLoss = { clamped: 0, vanished: 0 };
  /** The outermost folder that was made for the model. */
  private made: string | undefined;

  constructor(from: string, to: string, source: ByteSource, signal: AbortSignal | undefined) {
    this.from = from;
    this.to = to;
    this.source = source;
    this.signal = signal;
  }

  async write(edited: EditedModel, out: string): Promise<WrittenModel> {
    try {
      this.made = await makeFolder(this.to);
    } catch (error) {
      throw fileTrouble(this.to, error);
    }
    await this.checkSpace(edited.size + (edited.external?.size ?? 0));
    await this.put(out, edited.segments);
    await this.mark();
    if (edited.external) await this.putExternal(edited.external, out);
    if (!isSamePath(await realFolder(this.from), await realFolder(this.to)))
      await this.takeAlong(out, edited.external?.location);
    // The model last: it names the others.
    const files = this.waiting.map(({ path, size }) => ({ path, size }));
    for (const { temporary, path } of this.waiting.toReversed()) {
      await renamePersistently(temporary, path).catch((error: unknown) => {
        throw fileTrouble(path, error);
      });
      this.waiting.pop();
    }
    return { files, loss: this.loss };
  }

  private async putExternal({ location, segments }: NonNullable<EditedModel['external']>, out: string): Promise<void> {
    const path = await externalPath(this.to, location);
    // Next to a model that is replaced it belongs to that model; otherwise it belongs to another one.
    if (!(await exists(out)) && (await exists(path)))
      throw new UserError(`${path} already exists. Remove it, or choose another file.`);
    await this.put(path, segments);
  }

  /** Copies the external data that the new model still uses next to it. */
  private async takeAlong(out: string, own: string | undefined): Promise<void> {
    for (const location of await this.locationsOfResult()) {
      if (location === own) continue;
      const path = await externalPath(this.to, location);
      const source = await this.external(location);
      if (path === out) throw new UserError(`${out} is a weights file of the model. Choose another file`);
      if (await exists(path)) {
        if (await this.sameContent(path, source)) continue;
        throw new UserError(
          `${path} already exists with other content, but the new model needs the file with this name from ${this.from}. Choose another folder.`,
        );
      }
      await this.checkSpace(source.size);
      await mkdir(dirname(path), { recursive: true });
      await this.put(path, [{ copy: { file: location, offset: 0, length: source.size } }]);
    }
  }

  /** Marks the new model as one that trtlens wrote: its next version may replace it. */
  private async mark(): Promise<void> {
    const file = this.waiting[0]!;
    if (await withFile(file.temporary, isMarked, { unpack: false })) return;
    await appendFile(file.temporary, modelMark);
    file.size += modelMark.length;
  }

  /** Reads the new model back from where it waits. */
  private async locationsOfResult(): Promise<Set<string>> {
    return withFile(
      this.waiting[0]!.temporary,
      async (written) => {
        const { value, problems } = await readModel(written);
        const error = problems.find(({ severity }) => severity === 'error');
        if (!value || error) throw new Error(`the edited model cannot be read: ${error?.message}`);
        return externalLocations(value);
      },
      { unpack: false },
    );
  }

  private async put(path: string, segments: Segment[]): Promise<void> {
    const temporary = await temporaryFor(path);
    let handle: FileHandle;
    try {
      handle = await open(temporary, 'wx');
    } catch (error) {
      throw fileTrouble(path, error);
    }
    const file = { temporary, path, size: 0 };
    this.waiting.push(file);
    try {
      file.size = await this.fill(handle, segments);
    } catch (error) {
      if (error instanceof UserError) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      throw code === undefined ? new UserError(`${path} cannot be written: ${message}`) : fileTrouble(path, error);
    } finally {
      await handle.close();
    }
  }

  private async fill(handle: FileHandle, segments: Segment[]): Promise<number> {
    let size = 0;
    let pieces: Uint8Array[] = [];
    let held = 0;
    const flush = async () => {
      const bytes = Buffer.concat(pieces);
      // Zeros need not be written: they become a hole, as they often were one.
      if (!isZero(bytes)) {
        for (let done = 0; done < bytes.length;)
          done += (await handle.write(bytes, done, bytes.length - done, size + done)).bytesWritten;
      }
      size += held;
      pieces = [];
      held = 0;
    };
    const openSource = (file?: string) => (file === undefined ? this.source : this.external(file));
    for await (const bytes of segmentBytes(segments, openSource, this.loss)) {
      stopIfCancelled(this.signal);
      pieces.push(bytes);
      held += bytes.length;
      if (held >= gathered) await flush();
    }
    await flush();
    await handle.truncate(size);
    return size;
  }

  private async external(location: string): Promise<FileSource> {
    const known = this.opened.get(location);
    if (known) return known;
    const source = await openExternal(this.from, location);
    this.opened.set(location, source);
    return source;
  }

  private async sameContent(path: string, source: ByteSource): Promise<boolean> {
    return withFile(
      path,
      async (other) => {
        if (other.size !== source.size) return false;
        for (let at = 0; at < source.size; at += gathered) {
          stopIfCancelled(this.signal);
          const [a, b] = [await source.read(at, gathered), await other.read(at, gathered)];
          if (Buffer.compare(a, b) !== 0) return false;
        }
        return true;
      },
      { unpack: false },
    );
  }

  private async checkSpace(needed: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.to);
    if (needed > bavail * bsize)
      throw new UserError(
        `${this.to}: the model needs ${sizeText(needed)}, but only ${sizeText(bavail * bsize)} are free`,
      );
  }

  async close(): Promise<void> {
    for (const source of this.opened.values()) await source.close();
    for (const { temporary } of this.waiting) await removeTree(temporary);
    if (this.made !== undefined) await removeEmpty(this.to, this.made);
  }
}

/** Removes folders from the innermost to the outermost, as long as nothing is in them. */
async function removeEmpty(inner: string, outer: string): Promise<void> {
  for (let folder = inner; folder.length >= outer.length; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch {
      return;
    }
  }
}

const zeros = Buffer.alloc(2 * gathered);

const isZero = (bytes: Uint8Array): boolean =>
  bytes.length > 4096 && bytes.length <= zeros.length && zeros.compare(bytes, 0, bytes.length, 0, bytes.length) === 0;

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
