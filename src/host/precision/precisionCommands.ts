import * as vscode from 'vscode';
import type { ParsedFiles } from '../../builder/files/parsedFiles.ts';
import { commands } from '../ids.ts';
import type { LanguageFeatures } from '../language/languageFeatures.ts';
import type { CommandHandlers } from '../platform/registerCommands.ts';
import type { BuildParts } from '../tasks/startBuild.ts';
import { pickModel } from '../workspace/pickModel.ts';
import { buildWithOverrides } from './buildWithOverrides.ts';
import { copyPrecisionFlags } from './copyPrecisionFlags.ts';
import { importPrecisionFlags } from './importPrecisionFlags.ts';
import { keepFp32 } from './keepFp32.ts';
import { openOverrides } from './openOverrides.ts';
import { verifyOverrides } from './verifyOverrides.ts';
import { writeTypedCopy } from './writeTypedCopy.ts';

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
    [commands.keepFp32]: async (argument, ids) => {
      const model = await pickModel(argument, sessions);
      const session = model && sessions.find(model);
      if (session && Array.isArray(ids)) await keepFp32(session, ids.map(String), language);
    },
  };
}
