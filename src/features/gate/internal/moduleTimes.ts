import type { FusionReport } from '../../../kernel/fusion/fusionReport.ts';
import { nodeTimes } from '../../../kernel/fusion/fusionReport.ts';
import type { MeasuredTime } from '../../../kernel/report/words.ts';

/** Modules that a node is in, by its name: `/layers.0/attn/MatMul` is in `/layers.0` and `/layers.0/attn`. */
function modulesOf(name: string): string[] {
  const modules: string[] = [];
  for (let end = name.indexOf('/', 1); end > 0; end = name.indexOf('/', end + 1)) modules.push(name.slice(0, end));
  return modules;
}

/**
 * The time of each module: a kernel that computes nodes of several is divided among them, so that another fusion moves no
 * time from one to the other. The median of several profiles, with their least and most. Modules with nodes in ForeignNodes
 * whose kernels are not listed are left out.
 */
export function moduleTimes(reports: readonly FusionReport[], opaque: ReadonlySet<number>): Map<string, MeasuredTime> {
  const all = reports.map((report) => timesOf(report, opaque));
  const found = new Map<string, MeasuredTime>();
  for (const module of all[0]?.keys() ?? []) {
    const times = all.flatMap((one) => one.get(module) ?? []).toSorted((a, b) => a - b);
    const middle = times.length >> 1;
    const ms = times.length % 2 === 1 ? times[middle]! : (times[middle - 1]! + times[middle]!) / 2;
    found.set(module, times.length === 1 ? { ms } : { ms, range: [times[0]!, times.at(-1)!] });
  }
  return found;
}

function timesOf(report: FusionReport, opaque: ReadonlySet<number>): Map<string, number> {
  const times = nodeTimes(report);
  const sums = new Map<string, number>();
  const hidden = new Set<string>();
  for (const [position, { name, foreignNode }] of report.nodes.entries())
    for (const module of modulesOf(name)) {
      if (foreignNode !== null && opaque.has(foreignNode)) hidden.add(module);
      sums.set(module, (sums.get(module) ?? 0) + (times[position] ?? 0));
    }
  for (const module of hidden) sums.delete(module);
  return sums;
}
