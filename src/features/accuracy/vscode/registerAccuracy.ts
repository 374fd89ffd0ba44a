import { hasRandomInputs } from '../../../kernel/build/randomInputs.ts';
import * as vscode from 'vscode';
import type { Build } from '../../../kernel/node/store/buildFolder.ts';
import { ruleHints } from '../accuracyReport.ts';
import { counted } from '../../../kernel/base/text.ts';
import type { GraphMenuContext } from '../../../kernel/protocol/graphMenu.ts';
import type { HistoryItem } from '../../../kernel/vscode/builds/historyItem.ts';
import { commands } from '../../../kernel/vscode/ids.ts';
import { commandTarget } from '../../../kernel/vscode/language/commandTarget.ts';
import type { FactsFeed } from '../../../kernel/vscode/language/factsFeed.ts';
import type { LanguageFeatures } from '../../../kernel/vscode/language/languageFeatures.ts';
import { isPaths } from '../../../kernel/vscode/platform/isPaths.ts';
import { showError } from '../../../kernel/vscode/platform/messages.ts';
import { registerCommands } from '../../../kernel/vscode/platform/registerCommands.ts';
import { mayRun, tellUntrusted } from '../../../kernel/vscode/platform/trust.ts';
import { isOnDisk } from '../../../kernel/vscode/workspace/startBuild.ts';
import { pickModel } from '../../../kernel/vscode/workspace/pickModel.ts';
import type { Session } from '../../../kernel/vscode/workspace/session.ts';
import type { Sessions } from '../../../kernel/vscode/workspace/sessions.ts';
import type { AccuracySubject, FoundAccuracy } from './findSensitiveNodes.ts';
import { AccuracyPages } from './internal/accuracyPages.ts';
import { changesSince, hashOf } from './internal/circumstances.ts';
import type { SearchSettings } from '../../../kernel/vscode/workspace/searchSettings.ts';
import { fileUri, isFileUri } from '../../../kernel/vscode/platform/fileUri.ts';
import { keepResult, keptResult } from '../../../kernel/node/store/modelResults.ts';

/** At the end of each rule of an override file that a search has found: the error with it and without it. */
export class RuleErrorHints implements vscode.InlayHintsProvider {
  readonly #feed: FactsFeed;
  /** The last search of each model that found rules. Judged again with them in place, nothing is left to find. */
  readonly #found = new Map<string, FoundAccuracy>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeInlayHints = this.#changed.event;

  constructor(feed: FactsFeed) {
    this.#feed = feed;
  }

  add(found: FoundAccuracy): void {
    if ((found.report.fix?.without.length ?? 0) === 0) return;
    this.#found.set(found.model.toString(), found);
    this.#changed.fire();
  }

  async provideInlayHints(document: vscode.TextDocument, range: vscode.Range): Promise<vscode.InlayHint[]> {
    if (this.#found.size === 0) return [];
    const model = await this.#feed.modelOf(document.uri);
    const found = model && this.#found.get(model.toString());
    if (!found) return [];
    return ruleHints(document.getText(), found.report)
      .filter(({ line }) => line >= range.start.line && line <= range.end.line)
      .map(({ line, column, label }) => {
        const hint = new vscode.InlayHint(new vscode.Position(line, column), label);
        hint.paddingLeft = true;
        hint.tooltip = `Simulated in ${found.report.low.toUpperCase()}: the error of the outputs with all rules of the fix, and without this one.`;
        return hint;
      });
  }
}

/** What the feature needs of the extension. */
interface AccuracyParts {
  context: vscode.ExtensionContext;
  sessions: Sessions;
  features: Pick<LanguageFeatures, 'feed' | 'language'>;
  log: vscode.LogOutputChannel;
}

/** Finding what breaks in low precision: its commands, its page, and the code action in override files. */
export function registerAccuracy(parts: AccuracyParts): vscode.Disposable {
  const { context, sessions, log } = parts;
  const found = new Map<string, FoundAccuracy>();
  const hints = new RuleErrorHints(parts.features.feed);
  /** What was found last about a model, in this window or an earlier one. */
  const recall = async (model: vscode.Uri): Promise<FoundAccuracy | undefined> => {
    const key = model.toString();
    const last = found.get(key) ?? (await keptAccuracy(model));
    if (last === undefined || found.has(key)) return found.get(key);
    found.set(key, last);
    hints.add(last);
    return last;
  };
  const pages = new AccuracyPages(context.workspaceState, recall);
  /** The views of a model show the result of an earlier window, as long as it is about this model. */
  const recalled = new Set<string>();
  const recallFor = async ({ key, uri, accuracy }: Session): Promise<void> => {
    if (accuracy !== null || recalled.has(key)) return;
    recalled.add(key);
    const last = await recall(uri);
    if (last !== undefined && (await changesSince(uri, last.since)).length === 0)
      sessions.recallAccuracy(uri, last.report);
  };
  const keep = (result: FoundAccuracy, reveal: boolean): void => {
    found.set(result.model.toString(), result);
    recalled.add(result.model.toString());
    hints.add(result);
    sessions.setAccuracy(result.model, result.report);
    const failed = (error: unknown) => log.error(String(error));
    keepAccuracy(result).catch(failed);
    pages.show(result, reveal).catch(failed);
  };
  const compare = async (argument: unknown, inputs?: unknown): Promise<FoundAccuracy | undefined> => {
    if (!mayRun()) return tellUntrusted().then(() => undefined);
    const model = typeof argument === 'string' ? found.get(argument)?.model : await pickModel(argument, sessions);
    if (model === undefined || !(await isOnDisk(model))) return undefined;
    const { comparePrecisions } = await import('./internal/comparePrecisions.ts');
    const result = await comparePrecisions(context, model, log, isPaths(inputs) ? inputs : undefined);
    if (result !== undefined) keep(result, true);
    return result;
  };
  const search = async (
    subject: AccuracySubject,
    given?: { inputs: string[]; settings?: SearchSettings },
  ): Promise<FoundAccuracy | undefined> => {
    const { findSensitiveNodes, tellFound } = await import('./findSensitiveNodes.ts');
    let last: FoundAccuracy | undefined;
    const partly = (now: FoundAccuracy): void => {
      last = now;
      sessions.setAccuracy(now.model, now.report);
      pages.show(now, false).catch((error: unknown) => log.error(String(error)));
    };
    const result = await findSensitiveNodes(context, subject, log, { given, partly });
    // What failed on its way leaves what it had found, and says that it is not complete.
    if (result === undefined && last) partly({ ...last, report: { ...last.report, search: 'stopped' } });
    if (result === undefined) return undefined;
    const before = await recall(subject.model);
    // The sweep is about the model without rules, so other rules leave it as it is.
    const isSame = before?.since.stamp === result.since.stamp && String(before.inputs) === String(result.inputs);
    if (isSame && before.sweep !== undefined) result.sweep = before.sweep;
    keep(result, false);
    void tellFound(result, {
      show: () => void pages.show(result, true),
      addRules: () => add(result),
      again: async () => {
        await search(subject);
      },
    });
    return result;
  };
  const find = async (argument: unknown, inputs?: unknown): Promise<FoundAccuracy | undefined> => {
    if (!mayRun()) return tellUntrusted().then(() => undefined);
    const last = typeof argument === 'string' ? found.get(argument) : undefined;
    const subject = last === undefined ? await subjectOf(argument, parts) : await subjectAgain(last);
    if (subject === undefined || !(await isOnDisk(subject.model))) return undefined;
    return search(subject, isPaths(inputs) ? { inputs, ...(last && { settings: last.settings }) } : undefined);
  };
  /** Adds the rules of a result, then judges the model with them on the same inputs: the page tells what they bring. */
  const add = async (result: FoundAccuracy): Promise<void> => {
    const { addFix } = await import('./internal/addFix.ts');
    const { model, output, inputs, settings } = result;
    const rules = await addFix(result);
    if (rules !== undefined) await search({ model, output, rules }, { inputs, settings });
  };
  const known = async (argument: unknown): Promise<FoundAccuracy | undefined> => {
    if (typeof argument === 'string') return found.get(argument);
    const model = await pickModel(argument, sessions);
    if (model === undefined) return undefined;
    return (await recall(model)) ?? find(model);
  };
  const refresh = () => {
    for (const model of pages.models) pages.refresh(model).catch((error: unknown) => log.error(String(error)));
  };
  return vscode.Disposable.from(
    pages,
    sessions.onDidChange((session) => {
      refresh();
      recallFor(session).catch((error: unknown) => log.error(String(error)));
    }),
    vscode.workspace.onDidSaveTextDocument(({ languageId }) => {
      if (languageId === 'trtprec') refresh();
    }),
    vscode.languages.registerInlayHintsProvider({ language: 'trtprec' }, hints),
    vscode.languages.registerCodeActionsProvider({ language: 'trtprec' }, new RepairActions(found), {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
    registerCommands({
      [commands.findSensitiveNodes]: find,
      [commands.comparePrecisions]: compare,
      [commands.openAccuracyPage]: async (argument) => {
        const result = await known(argument);
        if (result !== undefined) await pages.show(result, true);
      },
      [commands.runEngine]: async (argument) => {
        const build = buildOf(argument);
        if (build === undefined) return;
        const { runBuildEngine } = await import('./internal/runBuildEngine.ts');
        await runBuildEngine(context, build, log);
      },
      [commands.writeRemedy]: async (argument, to) => {
        const result = await known(argument);
        if (result === undefined) return;
        const { writeRemedyOf } = await import('./internal/writeRemedyOf.ts');
        await writeRemedyOf(result, log, to);
      },
      [commands.addFix]: async (argument) => {
        const result = await known(argument);
        if (result !== undefined) await add(result);
      },
    }),
  );
}

/** What a result is about, once more. */
async function subjectAgain({ model, output, since }: FoundAccuracy): Promise<AccuracySubject> {
  const rules = since.rules && (await vscode.workspace.openTextDocument(vscode.Uri.parse(since.rules.uri)));
  return { model, output, rules: rules ?? undefined };
}

/** The model and rules that a command is about: an override file with its model, a build of the history, or a model. */
async function subjectOf(
  argument: unknown,
  { sessions, features: { feed, language } }: AccuracyParts,
): Promise<AccuracySubject | undefined> {
  const build = buildOf(argument);
  if (build !== undefined) return { model: fileUri(build.manifest.model.file), rules: undefined, build };
  const target = commandTarget(argument)?.uri;
  if (target?.path.toLowerCase().endsWith('.trtprec') !== true) {
    const model = await pickModel(argument, sessions);
    return model && { model, rules: undefined, output: outputOf(argument) };
  }
  const rules = await vscode.workspace.openTextDocument(target);
  // The file may be closed, and nothing is known of it before the server has it.
  await language.serve(target);
  const model = await feed.modelOf(target);
  if (model !== undefined) return { model, rules };
  const text =
    feed.paramsOf(target)?.modelProblem || 'This file has no model. Add a line such as "model ./model.onnx".';
  await showError(text);
  return undefined;
}

/** The output of the model that a menu of the graph is about. */
function outputOf(argument: unknown): string | undefined {
  const { webviewSection, tensor } = (argument ?? {}) as Partial<GraphMenuContext>;
  return webviewSection === 'output' ? tensor?.name : undefined;
}

/** The build of a line of the build history. */
const buildOf = (argument: unknown): Build | undefined =>
  (argument as Partial<Pick<HistoryItem, 'build'>> | undefined)?.build ?? undefined;

/** "Add the 3 rules that repair this", while the rules are those that were judged. */
class RepairActions implements vscode.CodeActionProvider {
  readonly #found: ReadonlyMap<string, FoundAccuracy>;

  constructor(found: ReadonlyMap<string, FoundAccuracy>) {
    this.#found = found;
  }

  provideCodeActions(document: vscode.TextDocument): vscode.CodeAction[] {
    return [...this.#found].flatMap(
      ([
        key,
        {
          since: { rules },
          report,
        },
      ]) => {
        const count = report.fix?.without.length ?? 0;
        if (rules?.uri !== document.uri.toString() || count === 0 || hasRandomInputs(report)) return [];
        if (rules.sha256 !== hashOf(document.getText())) return [];
        const title = `Add the ${counted(count, 'rule')} that repair${count === 1 ? 's' : ''} ${report.low.toUpperCase()}`;
        const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
        action.command = { command: commands.addFix, title, arguments: [key] };
        return [action];
      },
    );
  }
}

type KeptAccuracy = Omit<FoundAccuracy, 'model'>;

/** Keeps what was found with the model, so that it comes back in the next window. */
const keepAccuracy = ({ model, ...result }: FoundAccuracy): Promise<void> =>
  keepResult(model.fsPath, 'accuracy', result satisfies KeptAccuracy);

/** What was found last about a model; undefined: nothing. Never rejects. */
async function keptAccuracy(model: vscode.Uri): Promise<FoundAccuracy | undefined> {
  if (!isFileUri(model)) return undefined;
  const kept = await keptResult<KeptAccuracy>(model.fsPath, 'accuracy');
  return kept && { ...kept, model };
}
