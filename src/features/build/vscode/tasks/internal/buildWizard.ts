import * as vscode from 'vscode';
import { type BackendCapability, backendCapabilityOf } from '../../../../../kernel/node/run/buildPlan.ts';
import { buildOptions } from '../../../../../kernel/build/buildOptions.ts';
import { errorText } from '../../../../../kernel/base/problem.ts';
import { optionWords } from '../../../../../kernel/vscode/builds/optionWords.ts';
import type { TaskOptions } from '../../../../../kernel/vscode/builds/taskProperties.ts';
import { toolsOf } from '../../../../../kernel/vscode/builds/toolsOf.ts';
import { nameOf } from '../../../../../kernel/vscode/platform/nameOf.ts';
import { showError } from '../../../../../kernel/vscode/platform/messages.ts';
import { askPick, askText, back, type QuickStep, runSteps } from '../../../../../kernel/vscode/platform/quickSteps.ts';
import { readSettings } from '../../../../../kernel/vscode/platform/settings.ts';
import { askShapes, type ShapeQuestion } from '../../../../../kernel/vscode/builds/askShapes.ts';
import { precisionChoices } from './precisionChoices.ts';

/** Options, and what to do with them. */
export interface WizardAnswers {
  options: Partial<TaskOptions>;
  copy: boolean;
}

/**
 * What would build a model with these options; undefined: nothing can, and the user has been told why.
 */
export async function findProspect(
  context: vscode.ExtensionContext,
  uri: vscode.Uri,
  options: Partial<TaskOptions>,
): Promise<BackendCapability | undefined> {
  try {
    const { tools, backend } = toolsOf(context, uri, options);
    return await backendCapabilityOf({ model: uri.fsPath, backend }, tools);
  } catch (error) {
    void showError(errorText(error));
    return undefined;
  }
}

/**
 * Asks for everything that matters for a build, with the answers of the last time; undefined: the user cancelled.
 * @param shapes what to ask about shapes; null: the model leaves none open
 */
export async function askBuildOptions(
  context: vscode.ExtensionContext,
  uri: vscode.Uri,
  last: Partial<TaskOptions>,
  shapes: ShapeQuestion | null,
): Promise<WizardAnswers | undefined> {
  const steps = [
    backendStep(uri),
    launcherStep(uri),
    ...(shapes === null ? [] : [shapesStep(shapes)]),
    precisionStep(context, uri),
    workspaceStep,
    extrasStep,
    reviewStep,
  ];
  const first = { options: last, copy: false };
  const answers = await runSteps<WizardAnswers>(first, steps, `Build ${nameOf(uri)}`);
  return answers === back ? undefined : answers;
}

type Step = QuickStep<WizardAnswers>;

/** The answers with some options changed; undefined takes one out. */
function withOptions(answers: WizardAnswers, changes: { [Name in keyof TaskOptions]?: TaskOptions[Name] | undefined }) {
  const options = Object.fromEntries(
    Object.entries({ ...answers.options, ...changes }).filter(([, value]) => value !== undefined),
  ) as Partial<TaskOptions>;
  return { ...answers, options };
}

function backendStep(uri: vscode.Uri): Step {
  const { kind, schema } = buildOptions.backend;
  const usual = readSettings(uri).backend;
  const items = kind.map((backend, index) => ({
    label: backend,
    description: backend === usual ? 'default' : '',
    detail: schema.enumDescriptions[index] ?? '',
    backend,
  }));
  return {
    ask: async (answers, place) => {
      const chosen = items.filter(({ backend }) => backend === (answers.options.backend ?? usual));
      const picked = await askPick(place, items, { placeholder: 'Select the back-end', chosen });
      if (picked === undefined || picked === back) return picked;
      return withOptions(answers, { backend: picked[0]!.backend });
    },
  };
}

function launcherStep(uri: vscode.Uri): Step {
  const { launchers, launcher: usual } = readSettings(uri);
  const names = Object.keys(launchers);
  const items = [
    { label: 'This Machine', detail: '', launcher: 'none' },
    ...names.map((name) => ({ label: name, detail: 'Launcher of the settings', launcher: name })),
  ];
  return {
    applies: () => names.length > 0,
    ask: async (answers, place) => {
      const wanted = (answers.options.launcher ?? usual) || 'none';
      const chosen = items.filter(({ launcher }) => launcher === wanted);
      const picked = await askPick(place, items, { placeholder: 'Select where to build', chosen });
      if (picked === undefined || picked === back) return picked;
      return withOptions(answers, { launcher: picked[0]!.launcher });
    },
  };
}

const shapesStep = (question: ShapeQuestion): Step => ({
  ask: async (answers, place) => {
    const profiles = await askShapes(question, answers.options.profiles ?? [], place);
    if (profiles === undefined || profiles === back) return profiles;
    return withOptions(answers, { profiles: profiles.length === 0 ? undefined : profiles });
  },
});

function precisionStep(context: vscode.ExtensionContext, uri: vscode.Uri): Step {
  return {
    ask: async (answers, place) => {
      const prospect = await findProspect(context, uri, answers.options);
      // The back-end is not there: another one can be chosen.
      if (prospect === undefined) return back;
      const items = await precisionChoices(context.globalStorageUri, uri, prospect);
      const { precision, stronglyTyped, overrides, noTF32 } = answers.options;
      const now = JSON.stringify([precision, stronglyTyped, overrides, noTF32]);
      const chosen = items.filter(
        ({ choice }) =>
          JSON.stringify([choice.precision, choice.stronglyTyped, choice.overrides, choice.noTF32]) === now,
      );
      const placeholder = `Select the precision (${prospect.backend} ${prospect.version ?? ''}`.trim() + ')';
      const picked = await askPick(place, items, { placeholder, chosen });
      if (picked === undefined || picked === back) return picked;
      const none = { precision: undefined, stronglyTyped: undefined, overrides: undefined, noTF32: undefined };
      return withOptions(answers, { ...none, ...picked[0]!.choice });
    },
  };
}

const workspaceStep: Step = {
  ask: async (answers, place) => {
    const text = await askText(place, {
      question: 'Workspace in MiB: memory that tactics may use while the engine runs. Leave it empty for no limit.',
      value: String(answers.options.workspace ?? ''),
      validate: (value) =>
        /^\s*(?:[1-9]\d{0,8})?\s*$/.test(value) ? undefined : 'Enter a positive integer, or nothing',
    });
    if (text === undefined || text === back) return text;
    return withOptions(answers, { workspace: text.trim() === '' ? undefined : Number(text) });
  },
};

const extrasStep: Step = {
  ask: async (answers, place) => {
    const { backend, randomWeights, profileRun } = answers.options;
    const random = {
      label: 'Random Weights',
      detail: 'In place of external weights, which may be missing. Fusion depends on structure, shapes and types.',
    };
    const times = { label: 'Time Each Layer', detail: 'Runs the engine after the build (trtexec; needs a GPU)' };
    const items = [random, ...(backend === undefined || backend === 'auto' || backend === 'trtexec' ? [times] : [])];
    const chosen = [...(randomWeights ? [random] : []), ...(profileRun ? [times] : [])];
    const picked = await askPick(place, items, { placeholder: 'Select what else to do', chosen, many: true });
    if (picked === undefined || picked === back) return picked;
    return withOptions(answers, {
      randomWeights: picked.includes(random) || undefined,
      profileRun: picked.includes(times) || undefined,
    });
  },
};

const reviewStep: Step = {
  ask: async (answers, place) => {
    const { backend = 'auto', launcher = 'none' } = answers.options;
    const where = launcher === 'none' ? [] : [launcher];
    const detail = [backend, ...where, ...optionWords(answers.options)].join(' · ');
    const items = [
      { label: 'Build', detail, copy: false },
      { label: 'Copy Command', detail: 'To build elsewhere', copy: true },
    ];
    const picked = await askPick(place, items, { placeholder: 'Build with these options' });
    return picked === undefined || picked === back ? picked : { ...answers, copy: picked[0]!.copy };
  },
};
