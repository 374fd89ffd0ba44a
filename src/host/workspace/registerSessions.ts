import type * as vscode from 'vscode';
import { commands } from '../ids.ts';
import { registerCommands } from '../platform/registerCommands.ts';
import { openLogLine } from './openLogLine.ts';
import type { Sessions } from './sessions.ts';

/** The commands about the model that the side bar shows. */
export const registerSessions = (sessions: Sessions): vscode.Disposable =>
  registerCommands({
    [commands.openLog]: () => sessions.current && openLogLine(sessions.current, 1),
    [commands.refresh]: () => sessions.current && sessions.reload(sessions.current.uri),
  });
