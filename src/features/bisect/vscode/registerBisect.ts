import { join } from 'node:path';
import * as vscode from 'vscode';
import { keepResult, keptResult } from '../../../kernel/node/store/modelResults.ts';
import type { HistoryItem } from '../../../kernel/vscode/builds/historyItem.ts';
import { commands } from '../../../kernel/vscode/ids.ts';
import { pickFiles } from '../../../kernel/vscode/platform/askUser.ts';
import { fileUri, isFileUri } from '../../../kernel/vscode/platform/fileUri.ts';
import { isPaths } from '../../../kernel/vscode/platform/isPaths.ts';
import { showInformation } from '../../../kernel/vscode/platform/messages.ts';
import { besideModel } from '../../../kernel/vscode/platform/modelFile.ts';
import { modelToWrite } from '../../../kernel/vscode/platform/modelToWrite.ts';
import { nameOf } from '../../../kernel/vscode/platform/nameOf.ts';
import { registerCommands } from '../../../kernel/vscode/platform/registerCommands.ts';
import { revealFile } from '../../../kernel/vscode/platform/revealFile.ts';
import { mayRun, tellUntrusted } from '../../../kernel/vscode/platform/trust.ts';
import { pickModel } from '../../../kernel/vscode/workspace/pickModel.ts';
import type { Sessions } from '../../../kernel/vscode/workspace/sessions.ts';
import { isOnDisk } from '../../../kernel/vscode/workspace/startBuild.ts';
import { BisectPages, type FoundBisect } from './internal/bisectPages.ts';
import type { BisectSubject } from './internal/findWrongNodes.ts';

interface BisectParts {
  context: vscode.ExtensionContext;
  sessions: Sessions;
  log: vscode.LogOutputChannel;
}

/** A search that runs: what the next window needs to go on with it. */
interface Running {
  model: string;
  build: string | undefined;
  inputs: string[];
}

const runningKey = 'tensorrtLens.bisectRunning';

/** Finding the nodes that make an engine wrong: the command, its page, and what can be done with the result. */
export function registerBisect({ context, sessions, log }: BisectParts): vscode.Disposable {
  const memory = context.workspaceState;
  const pages = new BisectPages(memory, recall);
  const search = async (subject: BisectSubject): Promise<FoundBisect | undefined> => {
    const { findWrongNodes } = await import('./internal/findWrongNodes.ts');
    const key = subject.model.toString();
    const began = (inputs: string[]) =>
      memory.update(runningKey, { model: key, build: subject.build, inputs } satisfies Running);
    const found = await findWrongNodes(context, subject, log, began);
    await memory.update(runningKey, undefined);
    if (found === undefined) return undefined;
    const { model, ...result } = found;
    await keepResult(model.fsPath, 'bisect', result);
    pages.show(found);
    return found;
  };
  const find = async (argument: unknown, inputs: unknown): Promise<FoundBisect | undefined> => {
    if (!mayRun()) return tellUntrusted().then(() => undefined);
    const again = typeof argument === 'string' ? vscode.Uri.parse(argument, true) : undefined;
    const build = (argument as Partial<Pick<HistoryItem, 'build'>> | undefined)?.build ?? undefined;
    const model = again ?? (build ? fileUri(build.manifest.model.file) : await pickModel(argument, sessions));
    if (model === undefined || !(await isOnDisk(model))) return undefined;
    const before = again && (await recall(again));
    return search({ model, build: build?.folder ?? before?.build, inputs: isPaths(inputs) ? inputs : undefined });
  };
  const known = (argument: unknown): Promise<FoundBisect | undefined> =>
    typeof argument === 'string' ? recall(vscode.Uri.parse(argument, true)) : Promise.resolve(undefined);
  offerToGoOn(memory, search).catch((error: unknown) => log.error(String(error)));
  return vscode.Disposable.from(
    pages,
    registerCommands({
      [commands.findWrongNodes]: find,
      [commands.saveFixedModel]: async (argument, target) => {
        const found = await known(argument);
        const fixed = found?.result.fix?.model;
        if (!found || !fixed) return undefined;
        const words = { title: 'Save Fixed Model', ending: '-fixed.onnx', label: 'Save' };
        const out = await modelToWrite(target, found.model, words);
        if (out === undefined) return undefined;
        const { copyModel } = await import('../node/writePackage.ts');
        await copyModel(fixed, out.fsPath);
        await vscode.commands.executeCommand(commands.openGraph, out);
        return out;
      },
      [commands.saveWrongPiece]: async (argument, target) => {
        const found = await known(argument);
        if (!found?.result.piece) return undefined;
        const out = target instanceof vscode.Uri ? target : await folderFor(found.model);
        if (out === undefined) return undefined;
        const folder = join(out.fsPath, `${nameOf(found.model).replace(/\.onnx$/i, '')}-wrong`);
        const { copyPackage } = await import('../node/writePackage.ts');
        await copyPackage(found.folder, folder);
        await revealFile(join(folder, 'README.md'));
        return folder;
      },
      [commands.copyPolygraphyCommand]: async (argument) => {
        const found = await known(argument);
        if (!found?.result.piece) return;
        const { polygraphy } = await import('../node/writePackage.ts');
        await vscode.env.clipboard.writeText(polygraphy());
        void showInformation(`Copied. Run it in ${found.folder}, after python3 show.py --convert.`);
      },
    }),
  );
}

const folderFor = async (model: vscode.Uri): Promise<vscode.Uri | undefined> =>
  (
    await pickFiles({
      canSelectFiles: false,
      canSelectFolders: true,
      defaultUri: vscode.Uri.joinPath(besideModel(model, ''), '..'),
      openLabel: 'Save Here',
    })
  )?.[0];

/** A search that the end of the last window stopped: its answers are in its journal. */
async function offerToGoOn(
  memory: vscode.Memento,
  search: (subject: BisectSubject) => Promise<unknown>,
): Promise<void> {
  const running = memory.get<Running>(runningKey);
  if (running === undefined) return;
  await memory.update(runningKey, undefined);
  const { model, build, inputs } = running;
  const uri = vscode.Uri.parse(model, true);
  const goOn = 'Go On';
  const text = `The search for what is wrong in the engine of ${nameOf(uri)} was stopped when the window was closed.`;
  if ((await showInformation(text, goOn)) === goOn && mayRun()) await search({ model: uri, build, inputs });
}

type KeptBisect = Omit<FoundBisect, 'model'>;

/** What was found last about a model; undefined: nothing. Never rejects. */
async function recall(model: vscode.Uri): Promise<FoundBisect | undefined> {
  if (!isFileUri(model)) return undefined;
  const kept = await keptResult<KeptBisect>(model.fsPath, 'bisect');
  return kept && { ...kept, model };
}
