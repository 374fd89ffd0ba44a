import { basename } from 'node:path';
import type * as vscode from 'vscode';
import type { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import type { Build } from '../../../../kernel/node/store/buildFolder.ts';
import type { FusionReport } from '../../../../kernel/fusion/fusionReport.ts';
import { openGraph } from '../../../../kernel/vscode/graph/graphEditorProvider.ts';
import { fileUri } from '../../../../kernel/vscode/platform/fileUri.ts';
import type { Sessions } from '../../../../kernel/vscode/workspace/sessions.ts';

/** The layers of an engine by the build that it came from, or by layer info next to it; null: nothing lists them. */
export async function engineLayers(
  uri: vscode.Uri,
  build: Build | null,
  files: ParsedFiles,
): Promise<{ from: string; report: FusionReport } | null> {
  try {
    if (build !== null && (build.manifest.files.layers !== null || build.manifest.files.log !== null)) {
      const { loadBuild } = await import('../../../../kernel/node/store/loadBuild.ts');
      const { report } = await loadBuild(build, { onnx: build.manifest.model.file, files });
      if (report.layers.length > 0) return { from: `build ${build.manifest.id}`, report };
    }
    const [{ filesNearEngine }, { loadEngine }] = await Promise.all([
      import('../../../../kernel/node/store/engineFiles.ts'),
      import('../../../../kernel/node/store/loadEngine.ts'),
    ]);
    const near = await filesNearEngine(uri.fsPath, files);
    if (near?.layers === undefined) return null;
    const { report } = await loadEngine(near, files);
    return report.layers.length > 0 ? { from: `${basename(near.layers)} in the same folder`, report } : null;
  } catch {
    // The model may be gone: the page says what is left.
    return null;
  }
}

/** Opens the graph of an engine by its build or by layer info next to it; false: nothing lists its layers. */
export async function openEngineGraph(uri: vscode.Uri, sessions: Sessions, files: ParsedFiles): Promise<boolean> {
  const [{ buildOfEngine }, { filesNearEngine }] = await Promise.all([
    import('../../../../kernel/node/store/buildOfEngine.ts'),
    import('../../../../kernel/node/store/engineFiles.ts'),
  ]);
  const build = await buildOfEngine(uri.fsPath).catch(() => null);
  if (build !== null && (await engineLayers(uri, build, files)) !== null) {
    const model = fileUri(build.manifest.model.file);
    await sessions.showBuild(model, build.manifest.id);
    await openGraph(model);
    return true;
  }
  const near = await filesNearEngine(uri.fsPath, files);
  if (near?.layers === undefined) return false;
  await openGraph(fileUri(near.layers));
  return true;
}
