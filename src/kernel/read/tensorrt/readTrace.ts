// Reads a trace of Nsight Systems.
import type { ByteSource, Problem, Read } from '../../base/problem.ts';
import type { KernelTrace, MemoryOperations, Profile } from './buildOutput.ts';
import { ColumnMemory } from './internal/columns.ts';
import { joinKernels } from './internal/nsysKernels.ts';
import { placeLaunches } from './internal/nsysLaunches.ts';
import {
  CallIndex,
  CallKeys,
  callTable,
  kernelTable,
  rangeTable,
  readCalls,
  readKernels,
  readNames,
  readRanges,
  Threads,
} from './internal/nsysRows.ts';
import type { SqliteRow } from './internal/sqliteRecord.ts';
import { SqliteFile } from './internal/sqliteFile.ts';

export { SqliteFile } from './internal/sqliteFile.ts';

/** CUPTI's kinds of copies (`CUpti_ActivityMemcpyKind`) whose ends are the host and a device; 8 is within a device. */
const directions: Readonly<Record<number, MemoryOperations['kind']>> = {
  1: 'host-to-device',
  2: 'device-to-host',
  8: 'device-to-device',
};

/** The copies and memsets of a trace, added up by kind; empty where it has no table of them. */
export async function readMemory(file: SqliteFile): Promise<MemoryOperations[]> {
  const byKind = new Map<MemoryOperations['kind'], { count: number; ns: number; bytes: number }>();
  const add = (kind: MemoryOperations['kind'], row: SqliteRow) => {
    const took = row.number(1) - row.number(0);
    if (!(took >= 0 && took < 2 ** 53)) return;
    const sum = byKind.get(kind) ?? { count: 0, ns: 0, bytes: 0 };
    sum.count += 1;
    sum.ns += took;
    sum.bytes += row.number(2) || 0;
    byKind.set(kind, sum);
  };
  await file.rows('CUPTI_ACTIVITY_KIND_MEMCPY', ['start', 'end', 'bytes', 'copyKind'], (row) =>
    add(directions[row.number(3)] ?? 'other-copy', row),
  );
  await file.rows('CUPTI_ACTIVITY_KIND_MEMSET', ['start', 'end', 'bytes'], (row) => add('set', row));
  return [...byKind].map(([kind, { count, ns, bytes }]) => ({ kind, count, ms: ns / 1e6, bytes }));
}

/**
 * Reads the export of an Nsight Systems trace (`nsys export --type sqlite`, the schema of its documentation): each
 * kernel with the NVTX ranges around its launch. `value` is undefined, with the reason, if the file is not such a trace
 * or has no kernels.
 */
export async function readNsysTrace(source: ByteSource): Promise<Read<Profile>> {
  const { value: opened, problems: strange } = await openNsysTrace(source);
  if (opened === undefined) return { value: undefined, problems: strange };
  const { file, version } = opened;
  const names = await readNames(file);
  const shared = { keys: new CallKeys(file), threads: new Threads(), memory: new ColumnMemory() };
  const calls = await readCalls(file, names, shared);
  const ranges = await readRanges(file, names, shared);
  const placed = placeLaunches(calls, ranges, shared.memory);
  const kernels = await readKernels(file, new CallIndex(calls.key), shared);
  calls.key.release();
  const { trace, problems: unmatched } = joinKernels(kernels, calls, placed, shared.memory);
  const memory = await readMemory(file);
  const whole: KernelTrace = {
    ...trace,
    ...(memory.length > 0 && { memory }),
    ...(version !== null && { recorder: version }),
    ...(await readGpu(file, kernels.streams[0]?.device ?? 0)),
  };
  const missing = [callTable, rangeTable].filter((table) => !file.has(table)).map(noTable);
  return {
    value: { iterations: trace.passes, rows: [], trace: whole },
    problems: [...file.problems(), ...missing, ...strange, ...unmatched],
  };
}

/**
 * Opens such a file without reading its rows; `value` is undefined, with the reason, if it is another one. `version` is
 * that of the Nsight Systems that wrote it, null if it does not say.
 */
export async function openNsysTrace(source: ByteSource): Promise<Read<{ file: SqliteFile; version: string | null }>> {
  const { value: file, problems } = await SqliteFile.open(source);
  if (file === undefined) return { value: undefined, problems };
  if (!file.has(kernelTable)) return { value: undefined, problems: [...problems, noKernels(file)] };
  const version = await readVersion(file);
  const strange = missingColumns(file, version);
  const isOther = strange.some(({ severity }) => severity === 'error');
  return { value: isOther ? undefined : { file, version }, problems: strange };
}

const noKernels = (file: SqliteFile): Problem => ({
  severity: 'error',
  code: 'no-profile',
  message: file.has('StringIds')
    ? 'The trace has no kernels: record it with nsys profile --trace=cuda,nvtx while the engine runs.'
    : 'The SQLite file is not a trace of Nsight Systems. Use the file that nsys export --type sqlite writes.',
});

const noTable = (table: string): Problem => ({
  severity: 'warning',
  code: 'trace-table',
  message: `The trace has no table ${table}, so its kernels cannot be assigned to layers: record it with nsys profile --trace=cuda,nvtx.`,
});

/** Columns without which a table says nothing: another version of Nsight Systems may have renamed them. */
const needed: readonly [table: string, columns: readonly string[]][] = [
  [kernelTable, ['start', 'end', 'correlationId']],
  [callTable, ['start', 'globalTid', 'correlationId']],
  [rangeTable, ['start', 'end', 'globalTid']],
];

function missingColumns(file: SqliteFile, version: string | null): Problem[] {
  return needed.flatMap(([table, columns]) => {
    const missing = file.has(table) ? columns.filter((column) => !file.hasColumn(table, column)) : [];
    if (missing.length === 0) return [];
    const by = version === null ? 'another version of Nsight Systems' : `Nsight Systems ${version}`;
    return [
      {
        severity: table === kernelTable ? ('error' as const) : ('warning' as const),
        code: 'trace-schema',
        message: `The table ${table}, written by ${by}, has no column ${missing.join(', ')}${table === kernelTable ? '' : ', so kernels cannot be assigned to layers'}. Export the trace with another version of nsys.`,
      },
    ];
  });
}

/** Version of Nsight Systems that wrote the export, as `2023.4.4.54`; null: it does not say. */
async function readVersion(file: SqliteFile): Promise<string | null> {
  let version: string | null = null;
  await file.rows('META_DATA_EXPORT', ['name', 'value'], (row) => {
    if (row.text(0) === 'EXPORT_PRODUCT_VERSION') version = row.text(1);
  });
  return version;
}

/** The GPU that ran the kernels, where the trace describes it. */
async function readGpu(file: SqliteFile, device: number): Promise<Pick<KernelTrace, 'gpu'>> {
  let gpu: KernelTrace['gpu'];
  const columns = ['id', 'name', 'memoryBandwidth', 'l2CacheSize', 'computeMajor', 'computeMinor'];
  await file.rows('TARGET_INFO_GPU', columns, (row) => {
    const name = row.text(1);
    if (name === null || row.number(0) !== device) return;
    const [major, minor] = [row.number(4), row.number(5)];
    gpu = {
      name,
      bytesPerSecond: row.number(2) > 0 ? row.number(2) : null,
      cacheBytes: row.number(3) > 0 ? row.number(3) : null,
      computeCapability: major > 0 && minor >= 0 ? `${major}.${minor}` : null,
    };
  });
  return gpu ? { gpu } : {};
}
