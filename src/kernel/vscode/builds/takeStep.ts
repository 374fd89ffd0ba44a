import * as vscode from 'vscode';
import type { BuildManifest } from '../../build/buildManifest.ts';
import type { BuildStep } from '../../build/diagnosis.ts';
import { commands } from '../ids.ts';
import { fileUri } from '../platform/fileUri.ts';

/** What was built, and where its log is open at the cause. */
export interface StepTarget {
  uri: vscode.Uri;
  /** null: nothing was. */
  manifest: BuildManifest | null;
  openLog: () => Thenable<unknown>;
  /** Ids of the nodes that the error names. */
  nodes: readonly string[];
  /** Files of a build next to the model. */
  near?: readonly string[];
}

/** Does what a button after a build offers. */
export async function takeStep(step: BuildStep, target: StepTarget): Promise<void> {
  if (step === 'log') await target.openLog();
  else await vscode.commands.executeCommand(...stepCommand(step, target));
}

/** The command of a step, with its arguments. */
export function stepCommand(
  step: Exclude<BuildStep, 'log'>,
  { uri, manifest, nodes, near = [] }: Omit<StepTarget, 'openLog'>,
): [command: string, ...rest: unknown[]] {
  switch (step) {
    case 'randomWeights':
      return [commands.build, uri, { randomWeights: true }];
    case 'profile':
      return [commands.build, uri, { profileRun: true }];
    case 'shapes':
      return [commands.buildAs, uri, 'shapes'];
    case 'buildAs':
      return [commands.buildAs, uri];
    case 'build':
      // With the same options, where there are any.
      return manifest === null || manifest.origin !== 'built'
        ? [commands.build, uri]
        : [commands.rerunBuild, { context: 'build', build: { manifest } }];
    case 'check':
      return [commands.checkModel, uri];
    case 'attach':
      return [commands.attach, uri];
    case 'attachNear':
      return [commands.attach, uri, near.map(fileUri)];
    case 'cancel':
      return [commands.cancelBuild, uri];
    case 'chooseModel':
      return [commands.chooseModel, uri];
    case 'optimizationProfile':
      return [commands.selectOptimizationProfile, uri];
    case 'plugin':
      return [commands.replaceByPlugin, uri, nodes];
    case 'repair':
      return [commands.repairModel, uri, manifest];
    case 'reduce':
      return [commands.reduceModel, uri, manifest];
    case 'memory':
      return [commands.showMemory];
  }
}
