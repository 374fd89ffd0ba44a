import { join } from 'node:path';
import * as vscode from 'vscode';
import { isSamePath } from '../../../kernel/node/files/pathKey.ts';
import { listBuilds } from '../../../kernel/node/store/buildHistory.ts';
import { type Build, readBuildFolder } from '../../../kernel/node/store/buildFolder.ts';
import type { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { adviceFor, stepsOf, stepWords } from '../../../kernel/build/diagnosis.ts';
import { stepCommand } from '../../../kernel/vscode/builds/takeStep.ts';
import { commands } from '../../../kernel/vscode/ids.ts';
import { diagnoseBuild, lostNodesOf, type NamedDiagnosis } from '../../../kernel/vscode/builds/diagnoseBuild.ts';
import { fileUri, isFileUri } from '../../../kernel/vscode/platform/fileUri.ts';

/** Names that are told of one diagnosis; the rest is counted. */
const mostNames = 20;

/** What went wrong in the newest build of each model, as problems of the model itself. */
export class BuildDiagnostics implements vscode.CodeActionProvider, vscode.Disposable {
  readonly #collection = vscode.languages.createDiagnosticCollection('TensorRT');
  readonly #files: ParsedFiles;
  /** By model: the build of which it is told, and what was found in it. */
  readonly #told = new Map<string, { uri: vscode.Uri; build: Build; found: NamedDiagnosis[] }>();

  constructor(files: ParsedFiles) {
    this.#files = files;
  }

  /** Replaces what was said of this model. Gives what was found, the first cause first. */
  async show(uri: vscode.Uri, build: Build): Promise<NamedDiagnosis[]> {
    const key = uri.toString();
    this.#told.set(key, { uri, build, found: [] });
    const [found, lost] = await Promise.all([diagnoseBuild(build, this.#files), lostNodesOf(build, this.#files)]);
    // Another build has ended meanwhile: what it says stays.
    if (this.#told.get(key)?.build.folder !== build.folder) return found;
    this.#told.set(key, { uri, build, found });
    const log = build.manifest.files.log;
    const logUri = log === null ? undefined : fileUri(join(build.folder, log));
    this.#collection.set(uri, [
      ...found.map((diagnosis, place) => toDiagnostic(diagnosis, logUri, fixLink(build, uri, diagnosis, place))),
      ...(lost === undefined ? [] : [warning('unaccounted-nodes', lost)]),
    ]);
    return found;
  }

  /**
   * Says of a model whose newest build failed what went wrong, and of one that passed which nodes may be lost, unless that
   * was done since the window was opened.
   */
  async recall(uri: vscode.Uri): Promise<void> {
    if (!isFileUri(uri) || this.#told.has(uri.toString())) return;
    const [newest] = await listBuilds(uri.fsPath);
    const isEnded = newest?.manifest.result === 'failed' || newest?.manifest.result === 'passed';
    if (isEnded && !this.#told.has(uri.toString())) await this.show(uri, newest);
  }

  /** Takes back what was said of builds that have been deleted since. */
  async forgetDeleted(): Promise<void> {
    const told = [...this.#told];
    const builds = await Promise.all(told.map(([, { build }]) => readBuildFolder(build.folder)));
    told.forEach(([key, { build }], index) => {
      if (builds[index] !== undefined || this.#told.get(key)?.build.folder !== build.folder) return;
      this.#told.delete(key);
      this.#collection.delete(vscode.Uri.parse(key, true));
    });
  }

  /** What may help against an error of the build whose problems are shown. `place`: its place among them. */
  fixesOf(model: string, place: number): BuildFix[] {
    const told = this.#told.get(model);
    const diagnosis = told?.found[place];
    return told && diagnosis ? fixes(told, diagnosis) : [];
  }

  /** In a build log that is open as text: fixes of the errors in these lines. */
  provideCodeActions(document: vscode.TextDocument, range: vscode.Range): vscode.CodeAction[] {
    const told = [...this.#told.values()].find(({ build }) => {
      const { log } = build.manifest.files;
      return log !== null && isSamePath(join(build.folder, log), document.uri.fsPath);
    });
    if (told === undefined) return [];
    const here = told.found.filter(({ line }) => line - 1 >= range.start.line && line - 1 <= range.end.line);
    return here.flatMap((diagnosis) =>
      fixes(told, diagnosis).map(({ title, command: [command, ...rest] }) => {
        const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
        action.command = { title, command, arguments: rest };
        return action;
      }),
    );
  }

  dispose(): void {
    this.#collection.dispose();
  }
}

/** A way out of a build error: a command with its arguments. */
export interface BuildFix {
  title: string;
  command: [command: string, ...rest: unknown[]];
}

function fixes({ uri, build: { manifest } }: { uri: vscode.Uri; build: Build }, diagnosis: NamedDiagnosis): BuildFix[] {
  return stepsOf(manifest, diagnosis).flatMap((step) =>
    step === 'log'
      ? []
      : [{ title: stepWords[step], command: stepCommand(step, { uri, manifest, nodes: diagnosis.nodes }) }],
  );
}

/** The editor shows no quick fixes for a file that is not open as text: the code of the problem leads to them. */
function fixLink(build: Build, uri: vscode.Uri, diagnosis: NamedDiagnosis, place: number): vscode.Uri | undefined {
  if (fixes({ uri, build }, diagnosis).length === 0) return undefined;
  const query = encodeURIComponent(JSON.stringify([uri.toString(), place]));
  return vscode.Uri.parse(`command:${commands.fixBuildProblem}?${query}`);
}

/** A problem of the whole model. */
function warning(code: string, message: string): vscode.Diagnostic {
  const shown = new vscode.Diagnostic(new vscode.Range(0, 0, 0, 0), message, vscode.DiagnosticSeverity.Warning);
  shown.source = 'TensorRT';
  shown.code = code;
  return shown;
}

function toDiagnostic(
  diagnosis: NamedDiagnosis,
  log: vscode.Uri | undefined,
  target: vscode.Uri | undefined,
): vscode.Diagnostic {
  const { severity, code, message, line, names } = diagnosis;
  const more = names.length > mostNames ? [`and ${names.length - mostNames} more`] : [];
  const nodes = names.length === 0 ? '' : `Nodes: ${[...names.slice(0, mostNames), ...more].join(', ')}.`;
  const shown = new vscode.Diagnostic(
    // A model has no lines: a problem is at its beginning.
    new vscode.Range(0, 0, 0, 0),
    [message, adviceFor(diagnosis), nodes].filter((part) => part !== '').join('\n'),
    severity === 'error' ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning,
  );
  shown.source = 'TensorRT';
  shown.code = target === undefined ? code : { value: code, target };
  if (log !== undefined && line > 0) {
    const place = new vscode.Location(log, new vscode.Position(line - 1, 0));
    shown.relatedInformation = [new vscode.DiagnosticRelatedInformation(place, `Line ${line} of the build log`)];
  }
  return shown;
}
