import * as vscode from 'vscode';
import { activate as activateAll, deactivate, type ExtensionApi } from '../extension.ts';
import { contextKeys } from '../ids.ts';
import { addPlace } from './internal/fileUri.ts';
import { serverScript } from './internal/serverScript.ts';

export { deactivate };

/**
 * The extension in a browser without a computer behind it. The same code as elsewhere: what it uses of Node is over the
 * editor's file systems (`internal/node`), and what runs programs is left out of the bundle (`esbuild.mjs`).
 * @param script what the language server's worker starts from
 */
export function activate(context: vscode.ExtensionContext, script: string): ExtensionApi {
  serverScript.text = script;
  addPlace(context.globalStorageUri);
  process.env['TENSORRT_LENS_CACHE'] = context.globalStorageUri.path;
  // What runs programs is hidden.
  void vscode.commands.executeCommand('setContext', contextKeys.inBrowser, true);
  return activateAll(context);
}
