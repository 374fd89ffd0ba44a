import * as vscode from 'vscode';
import { progressLine } from '../../build/buildManifest.ts';
import { thousands } from '../../base/text.ts';
import { fusionTreeId } from '../ids.ts';
import type { Builds, RunningBuild } from './builds.ts';
import { nameOf } from '../platform/nameOf.ts';

/** The status bar while builds run: what they do and for how long; a click brings up the side bar. */
export function showBuildStatus(builds: Builds): vscode.Disposable {
  const item = vscode.window.createStatusBarItem('tensorrtLens.builds', vscode.StatusBarAlignment.Left);
  item.name = 'TensorRT Builds';
  item.command = `${fusionTreeId}.focus`;
  const show = () => {
    const running = builds.running;
    const [first] = running;
    if (first === undefined) {
      item.hide();
      return;
    }
    const text = running.length === 1 ? short(first) : `${running.length} builds are running`;
    item.text = `$(sync~spin) ${plain(text)}`;
    item.tooltip = running.map(whole).join('\n');
    item.accessibilityInformation = { label: running.map(whole).join('. ') };
    item.show();
  };
  return vscode.Disposable.from(item, builds.onDidChange(show));
}

/** A name in `$(…)` would be drawn as an icon. */
const plain = (text: string): string => text.replaceAll('$(', '$ (');

const whole = (running: RunningBuild): string =>
  `${nameOf(running.uri)}: ${running.state === null ? running.text : progressLine(running.state)}`;

/** `vit_tiny.onnx: timing tactics 4,976 of 12,000` */
function short(running: RunningBuild): string {
  const { state } = running;
  if (state === null) return `Building ${nameOf(running.uri)}`;
  const counted = state.of !== null && state.of > 1 ? ` ${thousands(state.done ?? 0)} of ${thousands(state.of)}` : '';
  return `${nameOf(running.uri)}: ${state.phase}${counted}`;
}
