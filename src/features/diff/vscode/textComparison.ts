import * as vscode from 'vscode';
import { type Build, readBuildFolder } from '../../../kernel/node/store/buildFolder.ts';
import type { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { comparisonScheme } from '../../../kernel/vscode/ids.ts';
import { pairTitle } from '../../../kernel/vscode/builds/historyItem.ts';
import { requestText } from '../../../kernel/build/buildManifest.ts';
import type { Compared } from '../../../kernel/report/buildDiff.ts';

interface Query {
  folders: [string, string];
  side: 0 | 1;
}

/**
 * Returns the texts in which two builds are compared. They are made from the builds' files, so they outlive a restart.
 */
export function registerComparison(files: ParsedFiles): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(comparisonScheme, {
    provideTextDocumentContent: async ({ query }) => {
      const { folders, side } = JSON.parse(query) as Query;
      const [a, b] = await Promise.all(folders.map((folder) => read(folder, files)));
      if (a === undefined || b === undefined) return 'This build was deleted.';
      const { compareBuilds, comparisonTexts } = await import('../../../kernel/report/buildDiff.ts');
      const differences = compareBuilds(a, b);
      if (differences.length === 0) return 'The builds are identical.';
      const ends = ([a, b] as const).flatMap(({ manifest: { result, error } }, at) =>
        result === 'passed' ? [] : [`${at === 0 ? 'A' : 'B'} ${result}${error ? `: ${error}` : ''}`],
      );
      const request = requestText(a.manifest, b.manifest) || 'the same request';
      return `${[request, ...ends].join('\n')}\n\n${comparisonTexts(differences)[side]}`;
    },
  });
}

/** Shows two builds next to each other, reduced to the fields that differ: all there is to compare where one did not pass. */
export async function openTextComparison(older: Build, newer: Build): Promise<void> {
  const folders: [string, string] = [older.folder, newer.folder];
  const uri = (side: 0 | 1, { manifest }: Build) =>
    vscode.Uri.from({
      scheme: comparisonScheme,
      path: `/${manifest.id}.txt`,
      query: JSON.stringify({ folders, side } satisfies Query),
    });
  const title = pairTitle(older.manifest, newer.manifest);
  await vscode.commands.executeCommand('vscode.diff', uri(0, older), uri(1, newer), title);
}

async function read(folder: string, files: ParsedFiles): Promise<Compared | undefined> {
  const build = await readBuildFolder(folder);
  if (build === undefined) return undefined;
  const { log, layers } = build.manifest.files;
  if (log === null && layers === null) return { manifest: build.manifest, report: null };
  // What is gone or cannot be read is a difference in what is known, and no reason to show nothing.
  const { loadBuild } = await import('../../../kernel/node/store/loadBuild.ts');
  const read = await loadBuild(build, { files }).catch(() => undefined);
  return { manifest: build.manifest, report: read?.report ?? null };
}
