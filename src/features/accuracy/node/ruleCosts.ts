import type { AccuracyFix, AccuracyReport } from '../../../kernel/simulation/simulated.ts';
import { join } from 'node:path';
import { rulesWithout } from '../accuracyReport.ts';
import type { FusionReport } from '../../../kernel/fusion/fusionReport.ts';
import { runningLayers } from '../../../kernel/report/words.ts';
import { cacheFolder } from '../../../kernel/node/files/cacheFolder.ts';
import { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { temporaryFolder, writeWhole } from '../../../kernel/node/files/writeWhole.ts';
import { removeTree } from '../../../kernel/node/files/persist.ts';
import { runBuild } from '../../../kernel/node/run/runBuild.ts';
import { readBuildSide } from '../../../kernel/node/store/buildSide.ts';
import { stopIfCancelled, UserError } from '../../../kernel/node/files/userError.ts';
import type { EngineRequest } from './measureEngine.ts';

/** As many rules are built without each; a build takes seconds to minutes. */
const MOST_RULES = 8;

/**
 * A fix with the kernels that each of its rules adds: the model is built with all rules, and without each. Leaves
 * nothing behind.
 * @throws {UserError} if the model does not build with the rules
 */
export async function withKernels(
  fix: AccuracyFix,
  model: string,
  build: EngineRequest['build'],
  { signal, progress }: { signal?: AbortSignal | undefined; progress?: (done: number, total: number) => void },
): Promise<AccuracyFix> {
  const parent = join(build.cache ?? cacheFolder(), 'what-if');
  const folder = await temporaryFolder(parent, 'rules-');
  const files = new ParsedFiles();
  const kernelsWith = async (text: string, name: string): Promise<number> => {
    const [rules, own] = [join(folder, `${name}.trtprec`), join(folder, name)];
    await writeWhole(rules, text);
    const made = await runBuild({ ...build, model, folder: own, stronglyTyped: true, overrides: rules }, {}, signal);
    if (made.manifest.result !== 'passed')
      throw new UserError(`the model with the rules does not build: ${made.manifest.error ?? made.manifest.result}`);
    return runningLayers((await readBuildSide(made.folder, model, files)).report).length;
  };
  try {
    const chosen = fix.without.slice(0, MOST_RULES);
    const all = await kernelsWith(rulesWithout(fix), 'all');
    const kernels = new Map<string, number>();
    for (const [at, { selector }] of chosen.entries()) {
      stopIfCancelled(signal);
      progress?.(at + 1, chosen.length);
      kernels.set(selector, all - (await kernelsWith(rulesWithout(fix, selector), `rule-${at}`)));
    }
    const without = fix.without.map((rule) => {
      const own = kernels.get(rule.selector);
      return own === undefined ? rule : { ...rule, kernels: own };
    });
    return { ...fix, without };
  } finally {
    await removeTree(folder);
  }
}

/** A report in which each rule has the time of the layers that compute its nodes in a build, where they were timed. */
export function withTimes(report: AccuracyReport, build: FusionReport): AccuracyReport {
  const names = new Map(report.nodes.map(({ id, name }) => [id, name]));
  const layersOf = new Map(build.nodes.map(({ name, layers }) => [name, layers]));
  const times = new Map(build.layers.map(({ id, averageMs }) => [id, averageMs]));
  if (!report.fix || ![...times.values()].some((ms) => ms !== null)) return report;
  const without = report.fix.without.map((rule) => {
    const layers = new Set(rule.nodes.flatMap((id) => layersOf.get(names.get(id) ?? '') ?? []));
    return { ...rule, ms: [...layers].reduce((sum, layer) => sum + (times.get(layer) ?? 0), 0) };
  });
  return { ...report, fix: { ...report.fix, without } };
}
