import type { MemoryOperations } from '../profile.ts';
import type { SqliteFile } from './sqliteFile.ts';
import type { SqliteRow } from './sqliteRecord.ts';

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
