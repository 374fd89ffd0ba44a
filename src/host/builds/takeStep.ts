import * as vscode from 'vscode';
import type { BuildStep } from '../../core/diagnose/buildState.ts';
import { commands } from '../ids.ts';

/** What was built, and where its log is open at the cause. */
export interface StepTarget {
  uri: vscode.Uri;
  openLog: () => Thenable<unknown>;
}

/** Does what a button after a build offers. */
export async function takeStep(step: BuildStep, { uri, openLog }: StepTarget): Promise<void> {
  const { executeCommand } = vscode.commands;
  switch (step) {
    case 'randomWeights':
      await executeCommand(commands.build, uri, { randomWeights: true });
      return;
    case 'profile':
      await executeCommand(commands.build, uri, { profileRun: true });
      return;
    case 'shapes':
      await executeCommand(commands.buildAs, uri, 'shapes');
      return;
    case 'buildAs':
      await executeCommand(commands.buildAs, uri);
      return;
    case 'build':
      await executeCommand(commands.build, uri);
      return;
    case 'attach':
      await executeCommand(commands.attach, uri);
      return;
    case 'cancel':
      await executeCommand(commands.cancelBuild, uri);
      return;
    case 'log':
      await openLog();
  }
}
