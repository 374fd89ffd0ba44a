import * as vscode from 'vscode';
import type { ParsedFiles } from '../../builder/files/parsedFiles.ts';
import type { CheckFinding } from '../../core/check/checkShapes.ts';
import type { OnnxModel } from '../../core/formats/onnx/onnxModel.ts';
import type { Session } from './session.ts';
import type { Sessions } from './sessions.ts';

/** Names that one problem lists; the rest is counted. */
const mostNames = 10;

/** What TensorRT will refuse in a model, as problems of the model, until a build says it. */
export class CheckDiagnostics implements vscode.Disposable {
  readonly #collection = vscode.languages.createDiagnosticCollection('TensorRT Check');
  readonly #files: ParsedFiles;
  readonly #subscription: vscode.Disposable;
  /** By model: the state that was checked. */
  readonly #checked = new Map<string, Session['state']>();

  constructor(sessions: Sessions, files: ParsedFiles, failed: (error: unknown) => void) {
    this.#files = files;
    this.#subscription = sessions.onDidChange((session) => {
      this.#check(session).catch(failed);
    });
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#collection.dispose();
  }

  async #check({ uri, key, state }: Session): Promise<void> {
    if (uri.scheme !== 'file' || !uri.fsPath.endsWith('.onnx') || state.model === 'loading') return;
    if (this.#checked.get(key) === state) return;
    this.#checked.set(key, state);
    // A build knows more, and its diagnoses are problems of the model already.
    if (state.graph === null || state.newest !== null) return this.#collection.delete(uri);
    const [{ checkModel }, model] = await Promise.all([
      import('../../core/check/checkModel.ts'),
      this.#files.model(uri.fsPath).catch(() => undefined),
    ]);
    if (model === undefined || this.#checked.get(key) !== state) return;
    const [rtx, full] = (['tensorrt-rtx', 'tensorrt'] as const).map((product) =>
      checkModel(model.value, { product, version: null, capability: null }),
    );
    const everywhere = new Set(full!.filter(isError).map(placeOf));
    const names = new Map(model.value.nodes.map((node) => [node.id, nameOf(node)]));
    this.#collection.set(
      uri,
      rtx!
        .filter(({ severity }) => severity !== 'unknown')
        .map((finding) => toDiagnostic(finding, names, everywhere.has(placeOf(finding)))),
    );
  }
}

const isError = ({ severity }: CheckFinding): boolean => severity === 'error';
const placeOf = ({ code, nodes, tensors }: CheckFinding): string => JSON.stringify([code, nodes, tensors]);
const nameOf = ({ id, name, op }: OnnxModel['nodes'][number]): string => `${name || `node ${id}`} (${op})`;

/** `everywhere`: the full TensorRT refuses it, too. */
function toDiagnostic(
  { severity, code, message, advice, nodes }: CheckFinding,
  names: ReadonlyMap<string, string>,
  everywhere: boolean,
): vscode.Diagnostic {
  const listed = nodes.slice(0, mostNames).map((id) => names.get(id) ?? id);
  const more = nodes.length > listed.length ? ` and ${nodes.length - listed.length} more` : '';
  const shown = new vscode.Diagnostic(
    // A model has no lines: a problem is at its beginning.
    new vscode.Range(0, 0, 0, 0),
    [message, advice, listed.length === 0 ? '' : `Nodes: ${listed.join(', ')}${more}.`].filter(Boolean).join('\n'),
    severity === 'error' && everywhere ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning,
  );
  shown.source = 'TensorRT check';
  shown.code = code;
  return shown;
}
