import type { Parsed, IndexedModel } from './parsedModel.ts';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { BuildLog, LayerInfo, LoggedBuild, Profile } from '../../read/tensorrt/buildOutput.ts';
import type { KernelCounters } from '../../read/tensorrt/readLayerInfo.ts';
import type { OnnxModel } from '../../read/onnx/onnxModel.ts';
import type { ByteSource, Read } from '../../base/problem.ts';
import { fileTrouble, UserError } from './userError.ts';
import { type FileSource, openFile } from './fileSource.ts';

/** Their code is loaded with the first file, so that who makes this object starts without it. */
const loadParsers = () => import('./internal/parsers.ts');
type Parsers = Awaited<ReturnType<typeof loadParsers>>;

/** A file to parse, on a disk or elsewhere. */
export interface FileOrigin {
  /** For messages and as a key: a path, or a URI. */
  name: string;
  /** Changes whenever the content does. Rejects if there is no such file. */
  stamp: () => Promise<string>;
  /** `unpack: false`: a gzip-compressed file may be given as it is. */
  open: (options?: { unpack: boolean }) => Promise<FileSource>;
}

/** Exports a report of Nsight Systems to SQLite and gives the file to `read`. */
export type TraceExport = <T>(path: string, read: (sqlite: string) => Promise<T>) => Promise<T>;

/** Whether a file is a report of Nsight Systems, which only its own nsys can read. */
export const isTraceReport = (path: string): boolean => /\.nsys-rep$/i.test(path);

const noExport: TraceExport = async (path) => {
  throw new UserError(`${path} cannot be read here. Run nsys export --type sqlite and use the file that it writes`);
};

/** Results that are kept: two builds of one model with all that they left. */
const keptResults = 10;

const nameOf = (file: string | FileOrigin): string => (typeof file === 'string' ? file : file.name);

const withSpans = 'model with spans';
const indexWithSpans = 'index with spans';
const keyOf = (what: string, origins: readonly FileOrigin[]): string =>
  [what, ...origins.map(({ name }) => name)].join('\n');

/**
 * Parses the files of builds, each once: asking for a file again gives the same result as long as its content is
 * the same (its size and its times) and it is among the ones asked for last. A result that several callers share must
 * not be changed. A failure is not kept.
 */
export class ParsedFiles {
  readonly #open: typeof openFile;
  readonly #keep: number;
  readonly #exportTrace: TraceExport;
  /** By what was asked; the one asked for last is last. */
  readonly #results = new Map<string, { stamp: string; result: Promise<unknown> }>();

  /** @param options.exportTrace reads reports of Nsight Systems; default: they are refused */
  constructor({
    open = openFile,
    keep = keptResults,
    exportTrace = noExport,
  }: { open?: typeof openFile; keep?: number; exportTrace?: TraceExport } = {}) {
    this.#open = open;
    this.#keep = keep;
    this.#exportTrace = exportTrace;
  }

  /**
   * An ONNX file's structure; what is wrong in it is in `problems`, which do not name it. Without a value: nothing in
   * it can be read.
   * @param options.spans keep where in the file its parts are, as editing needs
   * @throws {UserError} if it cannot be opened
   */
  readModel(file: string | FileOrigin, { spans = false } = {}): Promise<Read<OnnxModel>> {
    // A reading with spans serves those who need none.
    const known = this.#results.has(keyOf(withSpans, [this.#origin(file)]));
    const editable = spans || known;
    const what = editable ? withSpans : 'model';
    return this.#parse(what, file, (source, { parseModel }) => parseModel(source, editable));
  }

  /**
   * The same where there must be a model.
   * @throws {UserError} if it cannot be opened, or nothing in it can be read
   */
  async model(file: string | FileOrigin, options: { spans?: boolean } = {}): Promise<Parsed<OnnxModel>> {
    const { value, problems } = await this.readModel(file, options);
    if (value) return { value, problems: (await loadParsers()).named(nameOf(file), problems) };
    throw new UserError(`${nameOf(file)}: ${problems[0]?.message ?? 'cannot be read as an ONNX model'}`);
  }

  /**
   * The same with its facts and its index of nodes.
   * @throws {UserError} as `model`
   */
  indexed(file: string | FileOrigin, { spans = false } = {}): Promise<IndexedModel> {
    const known = this.#results.has(keyOf(indexWithSpans, [this.#origin(file)]));
    return this.once(spans || known ? indexWithSpans : 'index', [file], async () => {
      const { value, problems } = await this.model(file, { spans });
      return (await loadParsers()).indexModel(nameOf(file), value, problems);
    });
  }

  /**
   * A build log of any size, gzip-compressed or not.
   * @param options.only one build of several in it
   * @param options.times false: without what each tactic took and the optimizer did, as for a diagnosis
   * @param options.registered false: without the layers that the parser makes of each node, as without a model
   * @throws {UserError} if it cannot be opened
   */
  log(
    path: string,
    {
      only,
      times = true,
      registered = true,
    }: { only?: LoggedBuild | undefined; times?: boolean; registered?: boolean } = {},
  ): Promise<Parsed<BuildLog>> {
    const kept = { times, registered };
    const what = JSON.stringify(['log', kept, only?.line]);
    return this.#parse(what, path, (source, { parseLog }) => parseLog(source, path, only, kept), { unpack: false });
  }

  /** @throws {UserError} if it cannot be opened */
  layers(path: string): Promise<Read<LayerInfo>> {
    return this.#parse('layers', path, (source, { parseLayers }) => parseLayers(source, path));
  }

  /**
   * Layer times: a profile, or a trace of Nsight Systems as SQLite or as its own report.
   * @throws {UserError} if it cannot be opened
   */
  profile(path: string): Promise<Read<Profile>> {
    if (!isTraceReport(path))
      return this.#parse('profile', path, (source, { parseProfile }) => parseProfile(source, path));
    const read = async (sqlite: string) => {
      const source = await this.#open(sqlite);
      try {
        return await (await loadParsers()).parseProfile(source, path);
      } finally {
        await source.close();
      }
    };
    return this.once('profile', [path], () => this.#exportTrace(path, read));
  }

  /**
   * What Nsight Compute printed with --csv.
   * @throws {UserError} if it cannot be opened
   */
  counters(path: string): Promise<Read<KernelCounters[]>> {
    return this.#parse('counters', path, (source, { parseCounters }) => parseCounters(source, path));
  }

  /**
   * What was made of some files, once for as long as none of them has changed.
   * @param what names the result; with the files it says which one is meant
   */
  async once<T>(what: string, files: readonly (string | FileOrigin)[], make: () => Promise<T>): Promise<T> {
    const origins = files.map((file) => this.#origin(file));
    const stamp = (await Promise.all(origins.map((origin) => origin.stamp()))).join('\n');
    const key = keyOf(what, origins);
    const known = this.#results.get(key);
    this.#results.delete(key);
    const entry = known?.stamp === stamp ? known : { stamp, result: make() };
    this.#results.set(key, entry);
    for (const oldest of this.#results.keys()) {
      if (this.#results.size <= this.#keep) break;
      this.#results.delete(oldest);
    }
    // A request after a failure tries again.
    entry.result.catch(() => {
      if (this.#results.get(key) === entry) this.#results.delete(key);
    });
    return entry.result as Promise<T>;
  }

  #origin(file: string | FileOrigin): FileOrigin {
    if (typeof file !== 'string') return file;
    return { name: resolve(file), stamp: () => stampOf(file), open: (options) => this.#open(file, options) };
  }

  #parse<T>(
    what: string,
    file: string | FileOrigin,
    parse: (source: ByteSource, parsers: Parsers) => Promise<T>,
    options?: { unpack: boolean },
  ): Promise<T> {
    const origin = this.#origin(file);
    return this.once(what, [origin], async () => {
      const [parsers, source] = await Promise.all([loadParsers(), origin.open(options)]);
      try {
        return await parse(source, parsers);
      } finally {
        await source.close();
      }
    });
  }
}

/** A file's size and times, to the nanosecond. A pipe can be read only once: what it gave then is what it contains. */
async function stampOf(path: string): Promise<string> {
  try {
    const status = await stat(path, { bigint: true });
    if (!status.isFile()) return 'pipe';
    return `${status.ino} ${status.size} ${status.mtimeNs} ${status.ctimeNs}`;
  } catch (error) {
    throw fileTrouble(path, error);
  }
}
