import { basename, resolve } from 'node:path';
import { toGraphData } from '../../../kernel/picture/graph/viewData.ts';
import { tritonModel, whyNotServed } from '../triton/tritonConfig.ts';
import { UserError } from '../../../kernel/node/files/userError.ts';
import type { Build } from '../../../kernel/node/store/buildFolder.ts';
import { loadBuild } from '../../../kernel/node/store/loadBuild.ts';

/**
 * The engine of a build as Triton serves it.
 * @throws {UserError} if Triton cannot serve it
 */
export async function tritonEngine(build: Build, given?: string): Promise<ReturnType<typeof tritonModel>> {
  const why = whyNotServed(build.manifest);
  if (why !== null) throw new UserError(`Triton can't serve ${build.folder}: ${why}.`);
  const { model, report } = await loadBuild(build);
  const name = given ?? basename(resolve(build.folder, build.manifest.model.file)).replace(/\.onnx$/i, '');
  return tritonModel(name, toGraphData(model), report);
}
