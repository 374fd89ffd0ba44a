import * as vscode from 'vscode';
import { plainText } from './internal/plainText.ts';

/**
 * The editor's messages, for texts that contain what others wrote: names in models, lines of logs, paths. In its own
 * functions, which nothing else calls, such a text can contain a link that runs a command.
 */
export const showInformation = plain('showInformationMessage');
export const showWarning = plain('showWarningMessage');
export const showError = plain('showErrorMessage');

type Show = typeof vscode.window.showErrorMessage;

function plain(name: 'showInformationMessage' | 'showWarningMessage' | 'showErrorMessage'): Show {
  const show = (message: string, ...rest: unknown[]) =>
    (vscode.window[name] as (...all: unknown[]) => unknown)(plainText(message), ...rest);
  return show as Show;
}
