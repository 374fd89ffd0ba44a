import { join } from 'node:path';
import * as vscode from 'vscode';
import { readBuildFolder } from '../../builder/store/buildFolder.ts';
import type { Build } from '../../builder/store/buildFolder.ts';
import type { ParsedFiles } from '../../builder/files/parsedFiles.ts';
import { diagnoseBuild } from './diagnoseBuild.ts';
import type { NamedDiagnosis } from './diagnoseBuild.ts';

/** Names that are told of one diagnosis; the rest is counted. */
const mostNames = 20;

/** What went wrong in the newest build of each model, as problems of the model itself. */
export class BuildDiagnostics implements vscode.Disposable {
  readonly #collection = vscode.languages.createDiagnosticCollection('TensorRT');
  readonly #files: ParsedFiles;
  /** By model: the folder of the build of which it is told. */
  readonly #folders = new Map<string, string>();

  constructor(files: ParsedFiles) {
    this.#files = files;
  }

  /** Replaces what was said of this model. Gives what was found, the first cause first. */
  async show(uri: vscode.Uri, build: Build): Promise<NamedDiagnosis[]> {
    const key = uri.toString();
    this.#folders.set(key, build.folder);
    const found = await diagnoseBuild(build, this.#files);
    // Another build has ended meanwhile: what it says stays.
    if (this.#folders.get(key) !== build.folder) return found;
    const log = build.manifest.files.log;
    const logUri = log === null ? undefined : vscode.Uri.file(join(build.folder, log));
    this.#collection.set(
      uri,
      found.map((diagnosis) => toDiagnostic(diagnosis, logUri)),
    );
    return found;
  }

  /** Takes back what was said of builds that have been deleted since. */
  async forgetDeleted(): Promise<void> {
    const told = [...this.#folders];
    const builds = await Promise.all(told.map(([, folder]) => readBuildFolder(folder)));
    told.forEach(([key, folder], index) => {
      if (builds[index] !== undefined || this.#folders.get(key) !== folder) return;
      this.#folders.delete(key);
      this.#collection.delete(vscode.Uri.parse(key, true));
    });
  }

  dispose(): void {
    this.#collection.dispose();
  }
}

function toDiagnostic(diagnosis: NamedDiagnosis, log: vscode.Uri | undefined): vscode.Diagnostic {
  const { severity, code, message, advice, line, names } = diagnosis;
  const more = names.length > mostNames ? [`and ${names.length - mostNames} more`] : [];
  const nodes = names.length === 0 ? '' : `Nodes: ${[...names.slice(0, mostNames), ...more].join(', ')}.`;
  const shown = new vscode.Diagnostic(
    // A model has no lines: a problem is at its beginning.
    new vscode.Range(0, 0, 0, 0),
    [message, advice, nodes].filter((part) => part !== '').join('\n'),
    severity === 'error' ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning,
  );
  shown.source = 'TensorRT';
  shown.code = code;
  if (log !== undefined && line > 0) {
    const place = new vscode.Location(log, new vscode.Position(line - 1, 0));
    shown.relatedInformation = [new vscode.DiagnosticRelatedInformation(place, `Line ${line} of the build log`)];
  }
  return shown;
}
