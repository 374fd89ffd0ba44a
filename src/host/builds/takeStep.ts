import * as vscode from 'vscode';
import type { BuildManifest } from '../../core/build/buildManifest.ts';
import type { BuildStep } from '../../core/diagnose/buildState.ts';
import { commands } from '../ids.ts';

/** What was built, and where its log is open at the cause. */
export interface StepTarget {
  uri: vscode.Uri;
  /** null: nothing was. */
  manifest: BuildManifest | null;
  openLog: () => Thenable<unknown>;
}

/** Does what a button after a build offers. */
export async function takeStep(step: BuildStep, { uri, manifest, openLog }: StepTarget): Promise<void> {
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
      // With the same options, where there are any.
      if (manifest === null || manifest.origin !== 'built') await executeCommand(commands.build, uri);
      else await executeCommand(commands.rerunBuild, { context: 'build', build: { manifest } });
      return;
    case 'attach':
      await executeCommand(commands.attach, uri);
      return;
    case 'cancel':
      await executeCommand(commands.cancelBuild, uri);
      return;
    case 'chooseModel':
      await executeCommand(commands.chooseModel, uri);
      return;
    case 'reduce':
      await executeCommand(commands.reduceModel, uri, manifest);
      return;
    case 'log':
      await openLog();
  }
}
