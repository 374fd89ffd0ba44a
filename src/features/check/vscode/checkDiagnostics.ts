import * as vscode from 'vscode';
import type { RepairStep } from '../../../kernel/network/repairMap.ts';
import type { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { stepWords, type CheckFinding } from '../../../kernel/build/diagnosis.ts';
import type { OnnxModel } from '../../../kernel/read/onnx/onnxModel.ts';
import { counted } from '../../../kernel/base/text.ts';
import { commands } from '../../../kernel/vscode/ids.ts';
import { rtxOfTables } from '../../diagnose/operatorTable.ts';
import type { BuildFix } from '../../diagnose/vscode/buildDiagnostics.ts';
import type { Session } from '../../../kernel/vscode/workspace/session.ts';
import type { Sessions } from '../../../kernel/vscode/workspace/sessions.ts';
import { isFileUri } from '../../../kernel/vscode/platform/fileUri.ts';

/** Names that one problem lists; the rest is counted. */
const mostNames = 10;

/** What TensorRT will refuse in a model, as problems of the model, until a build says it. */
export class CheckDiagnostics implements vscode.Disposable {
  readonly #sessions: Sessions;
  readonly #collection = vscode.languages.createDiagnosticCollection('TensorRT Check');
  readonly #files: ParsedFiles;
  readonly #subscription: vscode.Disposable;
  /** By model: the state that was checked, and what was found in it. */
  readonly #checked = new Map<string, { state: Session['state']; found: Promise<Found> }>();
  /** By model: what helps against each of its problems. */
  readonly #fixes = new Map<string, BuildFix[][]>();

  constructor(sessions: Sessions, files: ParsedFiles, failed: (error: unknown) => void) {
    this.#sessions = sessions;
    this.#files = files;
    this.#subscription = sessions.onDidChange((session) => {
      this.#check(session).catch(failed);
    });
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#collection.dispose();
  }

  /** What may help against a problem of a model. `place`: its place among them. */
  fixesOf(model: string, place: number): BuildFix[] {
    return this.#fixes.get(model)?.[place] ?? [];
  }

  /** Shows what was found in a model: its problems, or, above its graph, that there are none. */
  async show(uri: vscode.Uri): Promise<void> {
    const session = this.#sessions.find(uri);
    const found = session && (await this.#check(session));
    if (session === undefined || found === undefined || found.some(isJudged)) {
      await vscode.commands.executeCommand('workbench.action.view.problems');
      return;
    }
    const message = `Checked against TensorRT-RTX ${rtxOfTables}: nothing found.`;
    const advice = found.length === 0 ? '' : `${counted(found.length, 'place')} could not be judged without a build.`;
    this.#sessions.showChecked(session, { kind: 'checked', message, advice, steps: [] });
  }

  #check(session: Session): Promise<Found> {
    const { uri, key, state } = session;
    if (!isFileUri(uri) || !uri.fsPath.endsWith('.onnx') || state.model === 'loading')
      return Promise.resolve(undefined);
    const known = this.#checked.get(key);
    if (known?.state === state) return known.found;
    const found = this.#checkState(session);
    this.#checked.set(key, { state, found });
    return found;
  }

  async #checkState({ uri, key, state }: Session): Promise<Found> {
    // A build knows more, and its diagnoses are problems of the model already.
    if (state.graph === null || state.newest !== null) {
      this.#fixes.delete(uri.toString());
      this.#collection.delete(uri);
      return undefined;
    }
    const [{ checkModel }, model] = await Promise.all([
      import('../../diagnose/checkModel.ts'),
      this.#files.model(uri.fsPath).catch(() => undefined),
    ]);
    if (model === undefined || this.#checked.get(key)?.state !== state) return undefined;
    const [rtx, full] = (['tensorrt-rtx', 'tensorrt'] as const).map((product) =>
      checkModel(model.value, { product, version: null, capability: null }),
    );
    const everywhere = new Set(full!.filter(isError).map(placeOf));
    const names = new Map(model.value.nodes.map((node) => [node.id, nameOf(node)]));
    const found = rtx!.filter(isJudged);
    const show = (repairs: readonly RepairStep[]): void => {
      const fixes = found.map((finding) => fixesFor(uri, finding, repairs));
      this.#fixes.set(uri.toString(), fixes);
      this.#collection.set(
        uri,
        found.map((finding, place) =>
          toDiagnostic(
            finding,
            names,
            everywhere.has(placeOf(finding)),
            fixes[place]!.length > 0 && fixLink(uri, place),
          ),
        ),
      );
    };
    show([]);
    if (!found.some(isError)) return rtx;
    const { buildSteps } = await import('../../../kernel/node/run/buildSteps.ts');
    const repairs = await buildSteps.suggestRepairs(uri.fsPath, undefined).catch(() => []);
    if (repairs.length > 0 && this.#checked.get(key)?.state === state) show(repairs);
    return rtx;
  }
}

/** A repair that applies comes first, then the nodes, then a plugin where an operator is missing. */
function fixesFor(uri: vscode.Uri, { code, nodes, repair }: CheckFinding, repairs: readonly RepairStep[]): BuildFix[] {
  const repaired = repairs.some(
    ({ id, places }) =>
      id === repair || (repair === undefined && places.some(({ node }) => node !== null && nodes.includes(node))),
  );
  const missing = code === 'unsupported-op' || code === 'plugin-missing';
  return [
    ...(repaired ? [{ title: stepWords.repair, command: [commands.repairModel, uri] } satisfies BuildFix] : []),
    ...(nodes.length === 0
      ? []
      : [
          {
            title: nodes.length === 1 ? 'Show Node' : `Show ${nodes.length} Nodes`,
            command: [commands.showNodes, { uri: uri.toString(), nodes }],
          } satisfies BuildFix,
        ]),
    ...(missing && nodes.length > 0
      ? [{ title: stepWords.plugin, command: [commands.replaceByPlugin, uri, nodes] } satisfies BuildFix]
      : []),
  ];
}

/** The editor shows no quick fixes for a file that is not open as text: the code of the problem leads to them. */
function fixLink(uri: vscode.Uri, place: number): vscode.Uri {
  const query = encodeURIComponent(JSON.stringify([uri.toString(), place, 'check']));
  return vscode.Uri.parse(`command:${commands.fixBuildProblem}?${query}`);
}

/** undefined: the model was not checked, because it cannot be read or because a build knows more. */
type Found = readonly CheckFinding[] | undefined;

const isJudged = ({ severity }: CheckFinding): boolean => severity !== 'unknown';
const isError = ({ severity }: CheckFinding): boolean => severity === 'error';
const placeOf = ({ code, nodes, tensors }: CheckFinding): string => JSON.stringify([code, nodes, tensors]);
const nameOf = ({ id, name, op }: OnnxModel['nodes'][number]): string => `${name || `node ${id}`} (${op})`;

/** `everywhere`: the full TensorRT refuses it, too. */
function toDiagnostic(
  { severity, code, message, advice, nodes }: CheckFinding,
  names: ReadonlyMap<string, string>,
  everywhere: boolean,
  target: vscode.Uri | false,
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
  shown.code = target ? { value: code, target } : code;
  return shown;
}
