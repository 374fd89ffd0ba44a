import { basename, join, resolve } from 'node:path';
import { countRegions } from '../../../kernel/report/words.ts';
import { partProfiles } from '../splitModel.ts';
import { cacheFolder } from '../../../kernel/node/files/cacheFolder.ts';
import { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import type { Chain } from './splitFile.ts';
import { loadBuild } from '../../../kernel/node/store/loadBuild.ts';
import { Cancelled } from '../../../kernel/node/files/userError.ts';
import { type BuildOptions, runBuild } from '../../../kernel/node/run/runBuild.ts';
import { temporaryFolder } from '../../../kernel/node/files/writeWhole.ts';
import { removeTree } from '../../../kernel/node/files/persist.ts';

/** What became of a model, or of one of its parts. */
export interface PartBuild {
  /** File name. */
  model: string;
  /** Why it does not build, in one line; null: it does. */
  error: string | null;
  seconds: number | null;
  /** Counts of the engine; null: it does not build. */
  layers: number | null;
  foreignNodes: number | null;
  loadables: number | null;
  /** Sum of the layers' average times in milliseconds; null: no profile, as without a GPU. */
  layerMs: number | null;
}

/**
 * Builds a model and its parts with the same options, one after the other. The builds are removed at the end.
 * @param options of the whole; its profiles are carried over to the parts
 * @param folder where the parts of the chain are
 * @param begin called with the file name before each build
 */
export async function buildEachPart(
  options: BuildOptions,
  chain: Chain,
  folder: string,
  begin: (model: string) => void = () => {},
  signal?: AbortSignal,
): Promise<PartBuild[]> {
  const parent = join(options.cache ?? cacheFolder(), 'split');
  const temporary = await temporaryFolder(parent, 'try-');
  const files = new ParsedFiles();
  const { inputs } = (await files.model(options.model)).value.graph;
  const { profiles, randomWeights: _, ...rest } = options;
  const parts = chain.parts.map((part) => ({
    ...rest,
    ...(profiles && { profiles: partProfiles(profiles, inputs, part.inputs) }),
    model: resolve(folder, part.model),
  }));
  try {
    const built: PartBuild[] = [];
    for (const one of [options, ...parts]) {
      const model = basename(one.model);
      begin(model);
      // oxlint-disable-next-line no-await-in-loop -- each build takes the whole machine
      const made = await runBuild({ ...one, folder: temporary }, {}, signal);
      const { result, error, seconds } = made.manifest;
      if (result === 'cancelled') throw new Cancelled();
      // oxlint-disable-next-line no-await-in-loop
      const report = result === 'passed' ? (await loadBuild(made, { onnx: one.model, files })).report : null;
      const times = report?.layers.flatMap(({ averageMs }) => averageMs ?? []) ?? [];
      built.push({
        model,
        error: report ? null : (error ?? result),
        seconds,
        layers: report?.layers.length ?? null,
        ...(report ? countRegions(report.foreignNodes) : { foreignNodes: null, loadables: null }),
        layerMs: times.length > 0 ? times.reduce((sum, ms) => sum + ms) : null,
      });
    }
    return built;
  } finally {
    await removeTree(temporary);
  }
}
