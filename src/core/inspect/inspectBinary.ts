import type { Inspection } from './inspection.ts';
import type { Problem } from '../text/problem.ts';
import { inspection } from './inspection.ts';
import type { EngineFacts, EngineTarget } from './engineKnowledge.ts';
import { capabilitiesOf, judgeEngine } from './portability.ts';
import { counted } from '../text/numbers.ts';

/**
 * Magic tags of TensorRT's archives. A plan starts with `ftrt` (`vtrt` in TensorRT-RTX), with the version of TensorRT in
 * bytes 24 to 27 since plan format 0; older plans and timing caches are one archive that starts with `ptrt`.
 */
const MAGICS = ['ftrt', 'vtrt', 'ptrt'] as const;
const HEADER = 28;
/** Ultralytics and others put a length and JSON metadata before the plan. */
const MAX_WRAPPER = 1 << 20;

/**
 * Recognises engines and timing caches by their first bytes (64 KB are plenty); null for anything else. `size` is the
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
