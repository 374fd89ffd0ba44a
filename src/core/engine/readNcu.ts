import type { Problem, Read } from '../text/problem.ts';

/** What Nsight Compute measured of one kernel: percent of what the GPU can do; null: not measured. */
export interface KernelCounters {
  /** The kernel's function, as ncu names it. */
  name: string;
  /** Throughput of the multiprocessors. */
  sm: number | null;
  /** Throughput of the GPU's memory. */
  dram: number | null;
  /** Use of the tensor cores, of the kind that is used most. */
  tensor: number | null;
  /** Warps that are active, of those that fit. */
  occupancy: number | null;
}

type Counter = Exclude<keyof KernelCounters, 'name'>;

/** Which counter a metric is: by its name in `--page raw`, by its words in `--page details`. */
const metrics: readonly [counter: Counter, name: RegExp][] = [
  ['sm', /^(?:sm__throughput\.avg\.pct_of_peak_sustained_elapsed|Compute \(SM\) Throughput|Compute \(SM\) \[%\])$/],
  ['dram', /^(?:(?:gpu__)?dram__?throughput\.avg\.pct_of_peak_sustained_elapsed|DRAM Throughput)$/],
  ['tensor', /^sm__(?:inst_executed_)?pipe_tensor\w*\.(?:avg|sum)\.pct_of_peak_sustained_(?:active|elapsed)$/],
  ['occupancy', /^(?:sm__warps_active\.avg\.pct_of_peak_sustained_active|Achieved Occupancy)$/],
];

/**
 * Reads what `ncu --csv` prints, `--page raw` (a column a metric, with a row of units) or `--page details` (a row a
 * metric), in the order of the launches. `value` is undefined, with the reason, if the text is neither.
 */
export function readNcu(text: string): Read<KernelCounters[]> {
  const rows = csvRows(text);
  const start = rows.findIndex((row) => row.includes('Kernel Name') && row.includes('ID'));
  if (start < 0)
    return fail(
      'no-counters',
      'Not the output of Nsight Compute: there is no column "Kernel Name". Use ncu --csv --page raw.',
    );
  const head = rows[start]!;
  const at = (name: string): number => head.indexOf(name);
  const kernels =
    at('Metric Name') >= 0
      ? byRow(rows.slice(start + 1), {
          id: at('ID'),
          name: at('Kernel Name'),
          metric: at('Metric Name'),
          value: at('Metric Value'),
        })
      : byColumn(rows.slice(start + 1), head, at('Kernel Name'));
  if (kernels.length === 0)
    return fail('no-counters', 'The output of Nsight Compute has no kernels. Check that ncu ran without errors.');
  if (kernels.every(({ sm, dram, tensor, occupancy }) => [sm, dram, tensor, occupancy].every((one) => one === null)))
    return fail(
      'no-counters',
      'The output of Nsight Compute has none of the metrics that are read. Record with ncu --set full, or with SpeedOfLight, Occupancy and ComputeWorkloadAnalysis.',
    );
  return { value: kernels, problems: [] };
}

const fail = (code: string, message: string): { value: undefined; problems: Problem[] } => ({
  value: undefined,
  problems: [{ severity: 'error', code, message }],
});

const empty = (name: string): KernelCounters => ({ name, sm: null, dram: null, tensor: null, occupancy: null });

/** Several metrics may be one counter: the largest counts. */
function put(kernel: KernelCounters, metric: string, text: string | undefined): void {
  const counter = metrics.find(([, name]) => name.test(metric))?.[0];
  const value = Number(text?.replaceAll(',', '').trim() || Number.NaN);
  if (counter !== undefined && Number.isFinite(value)) kernel[counter] = Math.max(kernel[counter] ?? 0, value);
}

function byColumn(rows: readonly string[][], head: readonly string[], name: number): KernelCounters[] {
  // The first row has the units, and no kernel.
  return rows
    .filter((row) => row.length === head.length && row[name] !== '')
    .map((row) => {
      const kernel = empty(row[name]!);
      head.forEach((metric, column) => put(kernel, metric, row[column]));
      return kernel;
    });
}

function byRow(
  rows: readonly string[][],
  { id, name, metric, value }: Record<'id' | 'name' | 'metric' | 'value', number>,
): KernelCounters[] {
  const byId = new Map<string, KernelCounters>();
  for (const row of rows) {
    const kernel = row[name];
    if (kernel === undefined || kernel === '' || row[metric] === undefined) continue;
    let known = byId.get(row[id]!);
    if (!known) byId.set(row[id]!, (known = empty(kernel)));
    put(known, row[metric], row[value]);
  }
  return [...byId.values()];
}

/** Rows as RFC 4180 has them; a line that is none, as ncu's own messages, is skipped. No cell goes over lines. */
const csvRows = (text: string): string[][] => text.split(/\r?\n/).flatMap((line) => csvCells(line) ?? []);

function csvCells(line: string): [string[]] | null {
  const cells: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/gy;
  for (let at = 0; ; at = cell.lastIndex) {
    cell.lastIndex = at;
    const found = cell.exec(line);
    if (found === null) return null;
    cells.push(found[1]?.replaceAll('""', '"') ?? found[2]!);
    if (found[3] === '') return [cells];
  }
}
