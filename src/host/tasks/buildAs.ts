import * as vscode from 'vscode';
import { presets } from '../builds/presets.ts';
import type { Preset } from '../builds/presets.ts';
import type { TaskOptions } from '../builds/taskProperties.ts';
import type { Sessions } from '../workspace/sessions.ts';
import { askShapes } from './askShapes.ts';
import { copyBuildCommand } from './copyBuildCommand.ts';
import { pickModel } from '../workspace/pickModel.ts';
import { mayBuild, startBuild } from './startBuild.ts';
import type { BuildParts } from './startBuild.ts';

/** Asks how a model should be built, then builds it or copies the command that would. `preset`: chosen already. */
export async function buildAs(parts: BuildParts, argument: unknown, preset?: unknown): Promise<void> {
  const uri = await pickModel(argument, parts.sessions);
  if (uri === undefined || !(await mayBuild(parts, uri))) return;
  const known = presets.find(({ id }) => id === preset);
  const picked = known === undefined ? await pickPreset() : { preset: known, copy: false };
  if (picked === undefined) return;
  const options = await complete(uri, picked.preset, parts.sessions);
  if (options === undefined) return;
  if (picked.copy) {
    await copyBuildCommand(parts, uri, options);
    return;
  }
  await startBuild(parts, uri, { ...options });
}

/** Copies the command that builds a model in the usual way. */
export async function copyUsualCommand(parts: BuildParts, argument: unknown): Promise<void> {
  const uri = await pickModel(argument, parts.sessions);
  if (uri !== undefined) await copyBuildCommand(parts, uri, {});
}

function describe(id: Preset['id']): { label: string; detail: string } {
  const texts: Record<Preset['id'], { label: string; detail: string }> = {
    default: { label: 'Default', detail: 'All options at their defaults' },
    fp16: { label: 'Quick FP16', detail: 'TensorRT may choose FP16 (TensorRT 10 and earlier)' },
    fp32: {
      label: 'FP32 Reference',
      detail: 'FP32 without TF32, a baseline for comparison',
    },
    unfused: { label: 'Unfused', detail: 'Marks every tensor as an output, so TensorRT fuses nothing across tensors' },
    int8: { label: 'INT8 with a Calibration Cache', detail: 'Takes the scales from a cache (TensorRT 10 and earlier)' },
    typed: { label: 'Strongly Typed', detail: 'Takes every type from the model' },
    shapes: { label: 'Dynamic Shapes…', detail: 'Asks for a range of each dynamic dimension' },
  };
  return texts[id];
}

function pickPreset(): Promise<{ preset: Preset; copy: boolean } | undefined> {
  const copy = { iconPath: new vscode.ThemeIcon('copy'), tooltip: 'Copy the Command Instead' };
  const picker = vscode.window.createQuickPick<vscode.QuickPickItem & { preset: Preset }>();
  picker.items = presets.map((preset) => ({ ...describe(preset.id), preset, buttons: [copy] }));
  picker.placeholder = 'Select a build preset';
  picker.matchOnDetail = true;
  return new Promise((resolve) => {
    const done = (result: { preset: Preset; copy: boolean } | undefined) => {
      resolve(result);
      picker.dispose();
    };
    picker.onDidAccept(() => {
      const [item] = picker.selectedItems;
      done(item && { preset: item.preset, copy: false });
    });
    picker.onDidTriggerItemButton(({ item }) => done({ preset: item.preset, copy: true }));
    picker.onDidHide(() => done(undefined));
    picker.show();
  });
}

/** Adds what a preset asks for; undefined: the user cancelled. */
async function complete(
  uri: vscode.Uri,
  { options, asks }: Preset,
  sessions: Sessions,
): Promise<Partial<TaskOptions> | undefined> {
  if (asks === 'calibration cache') {
    const [file] =
      (await vscode.window.showOpenDialog({
        title: 'Select the Calibration Cache of This Model',
        defaultUri: vscode.Uri.joinPath(uri, '..'),
        openLabel: 'Use Cache',
      })) ?? [];
    return file && { ...options, calibrationCache: file.fsPath };
  }
  if (asks === 'shapes') {
    const profiles = await askShapes(uri, sessions);
    return profiles && { ...options, profiles };
  }
  return { ...options };
}
