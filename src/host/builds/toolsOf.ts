import type * as vscode from 'vscode';
import type { BuildTools } from '../../builder/buildPlan.ts';
import type { Backend } from '../../core/build/engineOptions.ts';
import { readSettings } from '../platform/settings.ts';
import { mayDownload } from './consent.ts';

/** The programs that the settings name for a model, and the backend: the one that was asked for, else that of the settings. */
export function toolsOf(
  context: vscode.ExtensionContext,
  uri: vscode.Uri,
  wanted: Backend | 'auto' | undefined,
): { tools: BuildTools; backend: Backend | 'auto' } {
  const settings = readSettings(uri);
  return {
    backend: wanted === undefined || wanted === 'auto' ? settings.backend : wanted,
    tools: {
      driver: context.asAbsolutePath('dist/driver/build_engine.py'),
      python: settings.pythonPath || undefined,
      trtexec: settings.trtexecPath || undefined,
      polygraphy: settings.polygraphyPath || undefined,
      confirm: (text) => mayDownload(text, context.globalState),
    },
  };
}
