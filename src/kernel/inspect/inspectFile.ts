// Identifies a file; whether an engine loads on a version and GPU.
import { type ByteSource, errorText, type Problem } from '../base/problem.ts';
import { counted, encodingOf } from '../base/text.ts';
import { epContexts, readModel, sniffModel } from '../read/onnx/readModel.ts';
import { SqliteFile } from '../read/tensorrt/readTrace.ts';
import {
  type EngineContext,
  type EngineFacts,
  type EngineKnowledge,
  type EnginePlatform,
  type EngineReading,
  type EngineTarget,
  type Inspection,
  inspection,
  type PortabilityCheck,
  unknownTarget,
} from './inspection.ts';
import { gpuCheck, hardwareCheck } from './internal/gpuChecks.ts';
import { driverCheck, loadCheck, pluginCheck } from './internal/readingChecks.ts';
import { compatibleCheck, runtimeCheck, versionCheck } from './internal/versionChecks.ts';

const names: Readonly<Record<EnginePlatform, string>> = { linux: 'Linux', windows: 'Windows' };

/**
 * An engine of TensorRT loads on the operating system for which it was built: that of the build, or the one of
 * `--runtimePlatform` (10.2 and later, only from Linux to Windows), and then not where it was built.
 */
export function platformCheck(engine: EngineKnowledge, target: EngineTarget): PortabilityCheck {
  const result = (verdict: PortabilityCheck['verdict'], message: string): PortabilityCheck => ({
    check: 'platform',
    verdict,
    message,
  });
  if (engine.product === 'tensorrt-rtx') return result('fits', 'Engines of TensorRT-RTX load on Linux and on Windows.');
  const built = engine.origin?.platform ?? null;
  const wanted = target.platform;
  if (built === null)
    return engine.reading?.engine && wanted === null
      ? result('fits', 'It loads on the operating system where TensorRT read it, and only there.')
      : result(
          'unknown',
          `The header does not name the operating system${engine.origin === null ? '' : `, and its build (${engine.origin.build}) does not either`}. An engine loads only on the one for which it was built.`,
        );
  const source = built.exact ? 'by --runtimePlatform' : 'derived from the paths in the command';
  const known = `Built for ${names[built.name]} (build ${engine.origin!.build}, ${source}).`;
  if (wanted === null) return result('unknown', `${known} To compare, name the operating system that will run it.`);
  // Of Windows, TensorRT knows only AMD64.
  if (wanted === built.name)
    return result('fits', wanted === 'linux' ? `${known} The CPU must have the same architecture, too.` : known);
  return result(
    'no',
    wanted === 'windows'
      ? `${known} Build it on Windows, or with --runtimePlatform=WindowsAMD64 (TensorRT 10.2 or later).`
      : `${known} Build it on Linux, without --runtimePlatform.`,
  );
}

/** Bits of the mask in a header of TensorRT-RTX, as 1.7.1 writes them for each `ComputeCapability` of its API. */
const CAPABILITIES = ['7.5', '8.0', '8.6', '8.9', '12.0', '12.1'];

/** The compute capabilities of a mask; null if it is empty. A bit that is not known is named by its number. */
export function capabilitiesOf(mask: number): string[] | null {
  if (mask === 0) return null;
  const bits = Array.from({ length: 32 }, (_, bit) => bit).filter((bit) => Math.floor(mask / 2 ** bit) % 2 === 1);
  return bits.map((bit) => CAPABILITIES[bit] ?? `bit ${bit}`);
}

/**
 * Will an engine load there? One row for each condition that NVIDIA documents: TensorRT's "Engine Compatibility" and
 * Support Matrix (11.1 and 11.4), the headers of 10.6, and TensorRT-RTX's "Engine Compatibility" and "CPU-Only AOT"
 * (1.7); `portabilityTable.test.ts` cites the source of each row. What neither the header nor the build nor TensorRT says
 * is unknown.
 */
export function portabilityOf(engine: EngineKnowledge, target: EngineTarget): PortabilityCheck[] {
  return [
    engine.isWhole
      ? { check: 'file', verdict: 'fits', message: 'The file has all bytes that its header specifies.' }
      : { check: 'file', verdict: 'no', message: 'The file is truncated. Build or copy the engine again.' },
    versionCheck(engine, target),
    compatibleCheck(engine, target),
    gpuCheck(engine, target),
    hardwareCheck(engine, target),
    platformCheck(engine, target),
    driverCheck(engine),
    runtimeCheck(engine, target),
    pluginCheck(engine),
    loadCheck(engine),
  ];
}

/**
 * The same engine, judged with what its build and TensorRT say of it; what the target leaves open is where TensorRT read
 * it. Other files stay as they are.
 */
export function judgeEngine(
  found: Inspection,
  target: EngineTarget,
  known: Partial<Pick<EngineKnowledge, 'origin' | 'reading'>> = {},
): Inspection {
  if (found.engine === undefined) return found;
  const isWhole = !found.problems.some(({ code }) => code === 'truncated');
  const engine = { ...found.engine, isWhole, origin: null, reading: null, ...known };
  return { ...found, engine: { ...found.engine, portability: portabilityOf(engine, filled(target, engine.reading)) } };
}

function filled(target: EngineTarget, reading: EngineReading | null): EngineTarget {
  if (reading === null) return target;
  const named = target.version !== null;
  return {
    ...target,
    product: named ? target.product : reading.module === 'tensorrt_rtx' ? 'tensorrt-rtx' : 'tensorrt',
    version: target.version ?? reading.version,
    computeCapability: target.computeCapability ?? reading.gpu?.computeCapability ?? null,
  };
}

/**
 * Magic tags of TensorRT's archives. A plan starts with `ftrt` (`vtrt` in TensorRT-RTX), with the version of TensorRT in
 * bytes 24 to 27 since plan format 0; older plans and timing caches are one archive that starts with `ptrt`.
 */
const MAGICS = ['ftrt', 'vtrt', 'ptrt'] as const;
const HEADER = 28;
/** Ultralytics and others put a length and JSON metadata before the plan. */
const MAX_WRAPPER = 1 << 20;

/**
 * Recognizes engines and timing caches by their first bytes (64 KB are plenty); null for anything else. `size` is the
 * file's whole size in bytes, `target` where an engine is to run.
 */
export function inspectBinary(head: Uint8Array, size: number, target: EngineTarget): Inspection | null {
  const found = inspectHead(head, size);
  if (found?.kind !== 'engine') return found;
  const { product, version } = found.tensorrt;
  const facts = { product, version, ...headerFacts(head, product, version) };
  return judgeEngine({ ...found, engine: { ...facts, portability: [] } }, target);
}

/** What a plan's header has besides the version. */
function headerFacts(
  head: Uint8Array,
  product: EngineFacts['product'],
  version: string | null,
): Pick<EngineFacts, 'buildNumber' | 'computeCapabilities'> {
  const start = planStart(head) ?? 0;
  if (version === null || magicAt(head, start) === 'ptrt') return { buildNumber: null, computeCapabilities: null };
  const hasMask = product === 'tensorrt-rtx' && magicAt(head, start + 28) === 'vtrt' && head.length >= start + 40;
  return {
    buildNumber: head[start + 27] ?? null,
    computeCapabilities: hasMask ? capabilitiesOf(number32(head, start + 32)) : null,
  };
}

function inspectHead(head: Uint8Array, size: number): Inspection | null {
  const start = planStart(head);
  if (start === null) return null;
  const magic = magicAt(head, start)!;
  if (head.length - start < HEADER) return cutEngine(size);
  if (magic === 'ptrt') return inspectArchive(head, start, size);
  const version = planVersion(head, start);
  const problems = lengthProblems(number64(head, start + 16), size - start);
  const product = magic === 'vtrt' ? 'tensorrt-rtx' : 'tensorrt';
  return engine(product, version, size, problems);
}

function engine(
  product: 'tensorrt' | 'tensorrt-rtx' | null,
  version: string | null,
  size: number,
  problems: Problem[],
): Inspection {
  const name = product === 'tensorrt-rtx' ? 'TensorRT-RTX engine' : 'TensorRT engine';
  return inspection('engine', `${name}${version === null ? '' : ` of version ${version}`}, ${counted(size, 'byte')}`, {
    tensorrt: { product, version },
    counts: { bytes: size },
    problems,
  });
}

function cutEngine(size: number): Inspection {
  return engine(null, null, size, [
    {
      severity: 'error',
      code: 'truncated',
      message: `The file ends after ${counted(size, 'byte')}, inside its header. Build or copy the engine again.`,
    },
  ]);
}

function magicAt(bytes: Uint8Array, at: number): (typeof MAGICS)[number] | undefined {
  const tag = String.fromCharCode(...bytes.subarray(at, at + 4));
  return MAGICS.find((magic) => magic === tag);
}

function planStart(head: Uint8Array): number | null {
  if (magicAt(head, 0) !== undefined) return 0;
  if (head.length < 8 || head[4] !== 0x7b) return null;
  const length = number32(head, 0);
  return length < MAX_WRAPPER && magicAt(head, length + 4) !== undefined ? length + 4 : null;
}

function planVersion(head: Uint8Array, start: number): string | null {
  if (number32(head, start + 4) !== 0) return null;
  const [major = 0, minor = 0, patch = 0] = head.subarray(start + 24, start + 28);
  return major === 0 ? null : `${major}.${minor}.${patch}`;
}

/** One archive: the first record of an engine is its version, that of a timing cache is not. */
function inspectArchive(head: Uint8Array, start: number, size: number): Inspection {
  const problems = lengthProblems(number64(head, start + 8) + 20, size - start);
  const version = archiveVersion(head, start + 20);
  if (version !== null) return engine(version.major < 8 ? 'tensorrt-rtx' : 'tensorrt', version.text, size, problems);
  const cache = timingCacheEntries(head, start + 20);
  if (cache !== null) {
    const entries = cache === undefined ? '' : ` with ${counted(cache, 'entry', 'entries')}`;
    return inspection('timing-cache', `TensorRT timing cache${entries}, ${counted(size, 'byte')}`, {
      counts: cache === undefined ? { bytes: size } : { entries: cache, bytes: size },
      problems,
    });
  }
  return engine('tensorrt', null, size, problems);
}

/** Records of one byte, tagged `02 80 01 00`: major, minor, patch, build. */
function archiveVersion(head: Uint8Array, at: number): { major: number; text: string } | null {
  const parts: number[] = [];
  for (let place = at; parts.length < 4; place += 5) {
    if (number32(head, place) !== 0x00018002) return null;
    parts.push(head[place + 4] ?? 0);
  }
  return { major: parts[0]!, text: parts.slice(0, 3).join('.') };
}

/**
 * A timing cache starts with two lists of bytes, the device's UUID and the builder's commit; the number of entries follows.
 * null: this is something else; undefined: a timing cache whose entries are out of sight.
 */
function timingCacheEntries(head: Uint8Array, start: number): number | undefined | null {
  let at = start;
  for (let lists = 0; lists < 2; lists++) {
    if (!isByteList(head, at)) return lists === 0 ? null : undefined;
    at += 26 + number64(head, at + 4);
  }
  return number32(head, at) === 0x00018008 && at + 12 <= head.length ? number64(head, at + 4) : undefined;
}

/** Tag, length, 01 80, tag of bytes, length again. */
function isByteList(head: Uint8Array, at: number): boolean {
  const length = number64(head, at + 4);
  return (
    number32(head, at) >>> 8 === 0x000180 &&
    head[at + 12] === 0x01 &&
    head[at + 13] === 0x80 &&
    number32(head, at + 14) >>> 8 === 0x000180 &&
    length === number64(head, at + 18) &&
    length <= 64
  );
}

function number32(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>> 0
  );
}

function number64(bytes: Uint8Array, at: number): number {
  return number32(bytes, at) + number32(bytes, at + 4) * 2 ** 32;
}

function lengthProblems(expected: number, actual: number): Problem[] {
  if (expected <= actual) return [];
  return [
    {
      severity: 'error',
      code: 'truncated',
      message: `The header specifies ${counted(expected, 'byte')}, but the file has ${counted(actual, 'byte')}: it is truncated. Build or copy it again.`,
    },
  ];
}

const HEAD = 1 << 16;

/** Opens a file that a model names, in the model's folder. */
export type OpenBeside = <Found>(name: string, use: (source: ByteSource) => Promise<Found>) => Promise<Found>;

/**
 * Identifies a file by its content, never by its name, except that an empty file whose name mentions layers is the
 * layer info that trtexec leaves when the engine keeps none. The source holds the file unpacked (no gzip). Never throws
 * on content; a source that fails makes it `unknown` with the problem `unreadable`.
 */
export async function inspectFile(
  source: ByteSource,
  {
    name = '',
    target = unknownTarget,
    openBeside,
  }: { name?: string; target?: EngineTarget; openBeside?: OpenBeside } = {},
): Promise<Inspection> {
  try {
    return await inspectContent(source, name, target, openBeside);
  } catch (error) {
    return unknown('The file cannot be read', 'unreadable', `The file cannot be read: ${errorText(error)}`);
  }
}

function unknown(summary: string, code: string, message: string): Inspection {
  return inspection('unknown', summary, { problems: [{ severity: 'error', code, message }] });
}

async function inspectContent(
  source: ByteSource,
  name: string,
  target: EngineTarget,
  openBeside: OpenBeside | undefined,
): Promise<Inspection> {
  if (source.size === 0) return inspectEmpty(name);
  const head = await source.read(0, Math.min(HEAD, source.size));
  if (head[0] === 0x1f && head[1] === 0x8b)
    return unknown('A gzip-compressed file', 'compressed', 'The file is compressed with gzip. Unpack it first.');
  if (SqliteFile.sniff(head)) return inspectTrace(source);
  const binary = inspectBinary(head, source.size, target);
  if (binary !== null) return binary;
  // Text may happen to read as the first fields of a model, but no model is text throughout.
  if (!isText(head))
    return (await inspectModel(source, head, { target, openBeside })) ?? inspectUnknownBinary(source.size);
  // Models are many; the readers of all texts are loaded only for a text.
  const { inspectTextFile } = await import('./internal/inspectTextFile.ts');
  return (await inspectTextFile(source)) ?? (await inspectModel(source, head, { target, openBeside })) ?? unknownText();
}

async function inspectTrace(source: ByteSource): Promise<Inspection> {
  const { readNsysTrace } = await import('../read/tensorrt/readTrace.ts');
  const { value, problems } = await readNsysTrace(source);
  if (!value?.trace) return inspection('unknown', 'An SQLite file without kernels of Nsight Systems', { problems });
  const { kernels, passes } = value.trace;
  return inspection('trace', `Trace of Nsight Systems: ${counted(kernels, 'kernel')}`, {
    counts: { kernels, passes },
    problems,
  });
}

function inspectEmpty(name: string): Inspection {
  const message =
    'The file is empty (0 bytes). trtexec writes empty layer info if the engine was built with profilingVerbosity=none. Build with --profilingVerbosity=detailed.';
  const problems = [{ severity: 'warning' as const, code: 'empty-file', message }];
  if (/layer|graph\.json$|engine_info/i.test(name))
    return inspection('layer-info', 'Layer info without layers: an empty file', { counts: { layers: 0 }, problems });
  return inspection('unknown', 'An empty file', { problems });
}

/** Text has no control characters but tabs, line ends, escapes and TensorRT's separators. */
function isText(head: Uint8Array): boolean {
  if (encodingOf(head) !== 'utf-8') return true;
  for (const byte of head)
    if (
      byte < 0x20 &&
      byte !== 0x09 &&
      byte !== 0x0a &&
      byte !== 0x0d &&
      byte !== 0x1b &&
      byte !== 0x1e &&
      byte !== 0x1f
    )
      return false;
  return true;
}

async function inspectModel(
  source: ByteSource,
  head: Uint8Array,
  { target, openBeside }: { target: EngineTarget; openBeside: OpenBeside | undefined },
): Promise<Inspection | null> {
  if (!sniffModel(head)) return null;
  const { value, problems } = await readModel(source, { counting: true });
  if (value === undefined) return null;
  const counts = { nodes: value.nodes.length, inputs: value.graph.inputs.length, outputs: value.graph.outputs.length };
  const summary = `ONNX model: ${counted(counts.nodes, 'node')}`;
  const found = inspection('onnx', summary, { counts, problems });
  if (!value.opsets.some(({ domain }) => domain === 'com.microsoft')) return found;
  const contexts = await inspectContexts(source, target, openBeside);
  if (contexts.length === 0) return found;
  const engines = `${counted(contexts.length, 'engine')} of ONNX Runtime (EPContext)`;
  return { ...found, summary: `${summary}, ${engines}`, contexts };
}

/** The engines in a model of ONNX Runtime, judged for where they are to run. */
async function inspectContexts(
  source: ByteSource,
  target: EngineTarget,
  openBeside: OpenBeside | undefined,
): Promise<EngineContext[]> {
  const { value } = await readModel(source);
  const found: EngineContext[] = [];
  for (const { partition, source: provider, sdk, hardware, embedded, file } of value ? epContexts(value) : []) {
    const facts = { partition, source: provider, sdk, hardware, file };
    const engineOf = async (bytes: ByteSource): Promise<Inspection | null> =>
      inspectBinary(await bytes.read(0, Math.min(HEAD, bytes.size)), bytes.size, target);
    try {
      const engine =
        embedded !== null
          ? await engineOf(partOf(source, embedded))
          : file !== null && openBeside !== undefined
            ? await openBeside(file, engineOf)
            : null;
      const problem =
        engine !== null
          ? null
          : embedded === null && file === null
            ? 'The node has neither an engine nor the name of its file.'
            : embedded === null && openBeside === undefined
              ? 'The engine is in a file next to the model.'
              : 'It is not an engine of TensorRT: another provider wrote it, or it is damaged.';
      found.push({ ...facts, engine, problem });
    } catch (error) {
      found.push({ ...facts, engine: null, problem: `${errorText(error).replace(/\.$/, '')}.` });
    }
  }
  return found;
}

const partOf = (source: ByteSource, { offset, length }: { offset: number; length: number }): ByteSource => ({
  size: length,
  read: (at, count) => source.read(offset + at, Math.max(0, Math.min(count, length - at))),
});

function inspectUnknownBinary(size: number): Inspection {
  return unknown(
    'Unrecognized binary file',
    'unknown-kind',
    `The ${counted(size, 'byte')} are not an ONNX model, a TensorRT engine or a timing cache.`,
  );
}

function unknownText(): Inspection {
  return unknown(
    'Unrecognized text file',
    'unknown-kind',
    'The text is not a build log, layer info, profile, replay or calibration cache of TensorRT, and not a precision override file.',
  );
}
