import * as vscode from 'vscode';
import type { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { commands } from '../../../../kernel/vscode/ids.ts';
import { commandTarget, documentToBuildWith } from '../../../../kernel/vscode/language/commandTarget.ts';
import type { FactsFeed } from '../../../../kernel/vscode/language/factsFeed.ts';
import type { LanguageFeatures } from '../../../../kernel/vscode/language/languageFeatures.ts';
import type { LanguageService } from '../../../../kernel/vscode/language/languageService.ts';
import { selectedNodes } from '../../../../kernel/picture/page/selectionText.ts';
import { pointedAt } from '../../../../kernel/vscode/graph/pointedAt.ts';
import { stepWords } from '../../../../kernel/build/diagnosis.ts';
import { pickItem } from '../../../../kernel/vscode/platform/askUser.ts';
import { showError, showInformation } from '../../../../kernel/vscode/platform/messages.ts';
import type { CommandHandlers } from '../../../../kernel/vscode/platform/registerCommands.ts';
import { type BuildParts, isOnDisk, mayBuild, startBuild } from '../../../../kernel/vscode/workspace/startBuild.ts';
import { pickModel } from '../../../../kernel/vscode/workspace/pickModel.ts';
import { openOverrides } from '../openOverrides.ts';
import { copyPrecisionFlags } from './copyPrecisionFlags.ts';
import { importPrecisionFlags } from './importPrecisionFlags.ts';
import { type KeptType, keepPrecision } from './keepPrecision.ts';
import { verdictIcon, verdictWord } from './verdictWords.ts';
import { writeTypedCopy } from './writeTypedCopy.ts';

/** Lists what happened to each rule in the last build; the one that is picked is shown in the file. */
export async function verifyOverrides(feed: FactsFeed, language: LanguageService, argument: unknown): Promise<void> {
  const target = commandTarget(argument);
  if (target === undefined) return;
  await feed.settled(target.uri);
  const verdicts = await language.verify(target.uri);
  if (verdicts.length === 0) {
    await showInformation('Nothing to verify: this model has no build, or no rule applies to any node.');
    return;
  }
  const document = await vscode.workspace.openTextDocument(target.uri);
  const items: (vscode.QuickPickItem & { line?: number })[] = verdicts.map((info) => {
    const { line, verdict, message } = info;
    const text = document.lineAt(Math.min(line, document.lineCount - 1)).text.trim();
    return { label: `$(${verdictIcon[verdict]}) ${text}`, description: verdictWord(info), detail: message, line };
  });
  const { profile } = verdicts[0]!;
  if (profile !== undefined) items.push({ label: `$(layers) ${stepWords.optimizationProfile}` });
  const placeHolder = ['Result of each rule in the last build', ...(profile === undefined ? [] : [profile])].join(', ');
  const picked = await pickItem(items, { placeHolder, matchOnDetail: true });
  if (picked === undefined) return;
  if (picked.line === undefined) {
    await vscode.commands.executeCommand(commands.selectOptimizationProfile, await feed.modelOf(target.uri));
    return;
  }
  await vscode.window.showTextDocument(document, {
    selection: new vscode.Range(picked.line, 0, picked.line, 0),
  });
}

/** Builds a model with an override file: as a typed copy of the model, or as flags where TensorRT has them. */
export async function buildWithOverrides(
  parts: Pick<BuildParts, 'sessions' | 'builds' | 'tasks'>,
  feed: FactsFeed,
  argument: unknown,
): Promise<void> {
  const document = await documentToBuildWith(argument);
  if (document === undefined) return;
  const { uri } = document;
  const model = await feed.modelOf(uri);
  if (model === undefined) {
    const problem = feed.paramsOf(uri)?.modelProblem;
    await showError(problem || 'This file has no model. Add a line such as "model ./model.onnx".');
    return;
  }
  if (!(await isOnDisk(uri)) || !(await mayBuild(parts, model))) return;
  await startBuild(parts, model, { overrides: uri.fsPath });
}

/** What the feature needs of the extension. */
export interface PrecisionParts {
  features: LanguageFeatures;
  building: Pick<BuildParts, 'context' | 'sessions' | 'builds' | 'tasks'>;
  files: ParsedFiles;
  log: vscode.LogOutputChannel;
}

/** What the commands for override files do. */
export function precisionCommands({ features, building, files, log }: PrecisionParts): CommandHandlers {
  const { feed, language, served } = features;
  const { sessions } = building;
  /** Of a model the nodes with these ids; without ids what a context menu is about, or what is selected. */
  const keep = (type: KeptType) => async (argument: unknown, ids: unknown) => {
    const session = argument instanceof vscode.Uri ? sessions.find(argument) : sessions.current;
    if (session === undefined) return;
    const nodes = Array.isArray(ids) ? ids.map(String) : selectedNodes(pointedAt(session, argument));
    await keepPrecision(session, nodes, type, language);
  };
  return {
    [commands.buildWithOverrides]: served((target) => buildWithOverrides(building, feed, target)),
    [commands.applyOverrides]: served((target, to) =>
      writeTypedCopy(building.context, feed, { files, log }, target, to),
    ),
    [commands.verifyOverrides]: served((target) => verifyOverrides(feed, language, target)),
    [commands.openOverrides]: async (argument) => {
      const model = await pickModel(argument, sessions);
      if (model !== undefined) await vscode.window.showTextDocument(await openOverrides(model));
    },
    [commands.importPrecisionFlags]: () => importPrecisionFlags(feed),
    [commands.copyPrecisionFlags]: served((target, to) => copyPrecisionFlags(feed, log, target, to)),
    [commands.keepFp32]: keep('fp32'),
    [commands.keepFp16]: keep('fp16'),
    [commands.keepBf16]: keep('bf16'),
  };
}
