import * as vscode from 'vscode';
import { commands } from '../../../../../kernel/vscode/ids.ts';
import { errorText } from '../../../../../kernel/base/problem.ts';
import { optionWords } from '../../../../../kernel/vscode/builds/optionWords.ts';
import {
  type OfferedPreset,
  offeredPresets,
  type Preset,
  presets,
} from '../../../../../kernel/vscode/builds/presets.ts';
import type { TaskOptions } from '../../../../../kernel/vscode/builds/taskProperties.ts';
import { createPicker, pickFiles } from '../../../../../kernel/vscode/platform/askUser.ts';
import { nameOf } from '../../../../../kernel/vscode/platform/nameOf.ts';
import { back } from '../../../../../kernel/vscode/platform/quickSteps.ts';
import { pickModel } from '../../../../../kernel/vscode/workspace/pickModel.ts';
import { chooseShapes, shapeQuestion } from '../../../../../kernel/vscode/builds/askShapes.ts';
import { askBuildOptions, findProspect } from './buildWizard.ts';
import { warnOfFaults } from './warnOfFaults.ts';
import { copyBuildCommand } from './copyBuildCommand.ts';
import { type BuildParts, mayBuild, startBuild } from '../../../../../kernel/vscode/workspace/startBuild.ts';
import { typedRules } from './typedRules.ts';
import { showError, showInformation } from '../../../../../kernel/vscode/platform/messages.ts';

/** Asks how a model should be built, then builds it or copies the command that would. `preset`: chosen already. */
export async function buildAs(parts: BuildParts, argument: unknown, preset?: unknown): Promise<void> {
  const uri = await pickModel(argument, parts.sessions);
  if (uri === undefined || !(await mayBuild(parts, uri))) return;
  const known = presets.find(({ id }) => id === preset);
  const picked = known === undefined ? await pickWay(parts, uri) : wayOf({ preset: known, way: 'options' });
  if (picked === undefined) return;
  const chosen = await picked.complete(parts, uri);
  if (chosen === undefined) return;
  const { options, copy } = { copy: picked.copy, ...chosen };
  if (copy) {
    await copyBuildCommand(parts, uri, options);
    return;
  }
  await parts.remembered.put(uri, options);
  void warnOfFaults(parts, uri, options);
  await startBuild(parts, uri, { ...options });
}

interface Completed {
  options: Partial<TaskOptions>;
  copy?: boolean;
}

/** A line of the first list. */
interface BuildChoice {
  label: string;
  detail: string;
  copy: boolean;
  /** Asks for what is still open; undefined: the user cancelled. */
  complete: (parts: BuildParts, uri: vscode.Uri) => Promise<Completed | undefined>;
}

const texts: Record<Preset['id'], { label: string; detail: string }> = {
  default: { label: 'Default', detail: 'All options at their defaults' },
  fp16: { label: 'Quick FP16', detail: 'TensorRT may choose FP16 (TensorRT 10 and earlier)' },
  bf16: { label: 'Quick BF16', detail: 'TensorRT may choose BF16 (TensorRT 10 and earlier)' },
  fp32: { label: 'FP32 Reference', detail: 'FP32 without TF32, a baseline for comparison' },
  unfused: { label: 'Unfused', detail: 'Marks every tensor as an output, so TensorRT fuses nothing across tensors' },
  int8: { label: 'INT8 with a Calibration Cache', detail: 'Takes the scales from a cache (TensorRT 10 and earlier)' },
  typed: { label: 'Strongly Typed', detail: 'Takes every type from the model' },
  shapes: { label: 'Dynamic Shapes…', detail: 'Asks for a range of each dynamic dimension' },
};

function wayOf({ preset, way }: OfferedPreset): BuildChoice {
  const { label, detail } = texts[preset.id];
  const typed = preset.typed;
  if (way === 'options' || typed === undefined)
    return { label, detail, copy: false, complete: (_, uri) => complete(uri, preset) };
  return {
    label: `${typed.toUpperCase()} by a Typed Copy`,
    detail: `This TensorRT takes types from the model: builds a copy of it in ${typed.toUpperCase()}`,
    copy: false,
    complete: async ({ context }) => ({ options: { overrides: await typedRules(context.globalStorageUri, typed) } }),
  };
}

/** The presets that the back-end can build, the options of the last time, and all options one by one. */
async function pickWay(parts: BuildParts, uri: vscode.Uri): Promise<BuildChoice | undefined> {
  const last = parts.remembered.of(uri);
  const all: BuildChoice = {
    label: 'Choose Options…',
    detail: 'Back-end, shapes, precision, workspace, weights',
    copy: false,
    complete: () => chooseAll(parts, uri, last),
  };
  const sweep: BuildChoice = {
    label: 'Precision Sweep…',
    detail: 'Compares the accuracy of FP32, FP16, BF16 and INT8, without a GPU',
    copy: false,
    complete: async () => void (await vscode.commands.executeCommand(commands.comparePrecisions, uri)),
  };
  const words = [last.backend ?? 'auto', ...optionWords(last)].join(' · ');
  const again: BuildChoice = {
    label: 'Last Options',
    detail: words,
    copy: false,
    complete: async () => ({ options: last }),
  };
  const picker = createPicker<vscode.QuickPickItem & { way: BuildChoice }>(`Build ${nameOf(uri)}`);
  picker.placeholder = 'Select a build preset';
  picker.matchOnDetail = true;
  picker.busy = true;
  picker.ignoreFocusOut = true;
  const copy = { iconPath: new vscode.ThemeIcon('copy'), tooltip: 'Copy the Command Instead' };
  const item = (way: BuildChoice, buttons: vscode.QuickInputButton[]) => ({
    label: way.label,
    detail: way.detail,
    way,
    buttons,
  });
  const lasting = Object.keys(last).length > 0 ? [item(again, [copy])] : [];
  let closed = false;
  const answer = new Promise<BuildChoice | undefined>((resolve) => {
    const done = (way: BuildChoice | undefined) => {
      closed = true;
      resolve(way);
      picker.dispose();
    };
    picker.onDidAccept(() => {
      const [chosen] = picker.selectedItems;
      if (chosen !== undefined) done(chosen.way);
    });
    picker.onDidTriggerItemButton((event) => done({ ...event.item.way, copy: true }));
    picker.onDidHide(() => done(undefined));
  });
  picker.show();
  // Which back-end builds is found by running it, which takes a moment.
  const prospect = await findProspect(parts.context, uri, {});
  const offered = prospect === undefined ? [] : offeredPresets((options) => prospect.refuses(options));
  if (!closed) {
    const ways = offered.map((one) => item(wayOf(one), [copy]));
    picker.items = [...lasting, ...ways, item(all, []), item(sweep, [])];
    picker.busy = false;
  }
  return answer;
}

async function chooseAll(
  parts: BuildParts,
  uri: vscode.Uri,
  last: Partial<TaskOptions>,
): Promise<Completed | undefined> {
  // The build itself says best what is wrong with the file.
  const question = await shapeQuestion(uri).catch(() => null);
  return askBuildOptions(parts.context, uri, last, question?.sizes.length ? question : null);
}

/** Adds what a preset asks for; undefined: the user cancelled. */
async function complete(uri: vscode.Uri, { options, asks }: Preset): Promise<Completed | undefined> {
  if (asks === 'calibration cache') {
    const [file] =
      (await pickFiles({
        title: 'Select the Calibration Cache of This Model',
        defaultUri: vscode.Uri.joinPath(uri, '..'),
        openLabel: 'Use Cache',
      })) ?? [];
    return file && { options: { ...options, calibrationCache: file.fsPath } };
  }
  if (asks === 'shapes') {
    const profiles = await askOpenShapes(uri);
    return profiles && { options: { ...options, ...(profiles.length > 0 && { profiles }) } };
  }
  return { options: { ...options } };
}

async function askOpenShapes(uri: vscode.Uri) {
  try {
    const question = await shapeQuestion(uri);
    if (question.sizes.length > 0) {
      const profiles = await chooseShapes(question, `Shapes of ${nameOf(uri)}`);
      return profiles === back ? undefined : profiles;
    }
  } catch (error) {
    await showError(errorText(error));
    return undefined;
  }
  const build = 'Build Without Profile';
  const text = 'Every input of this model has a fixed shape, so there are no shapes to choose.';
  return (await showInformation(text, build)) === build ? [] : undefined;
}
